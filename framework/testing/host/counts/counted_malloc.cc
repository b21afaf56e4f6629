// SPDX-License-Identifier: Apache-2.0
//
// The functions that allocate, in the place of the C library's, for a whole
// program and all libraries that it loads: they count, where somebody asked for
// it (counted_malloc.h), and leave all else to the C library. A sanitizer has
// functions of its own, and goes without.

#include "framework/testing/host/counts/counted_malloc.h"

#include <cerrno>
#include <cstddef>
#include <cstdlib>

#if defined(__GLIBC__)

// glibc's own, which its functions of the usual names are other names of.
extern "C" {
void* __libc_malloc(std::size_t size) noexcept;
void* __libc_calloc(std::size_t count, std::size_t size) noexcept;
void* __libc_realloc(void* memory, std::size_t size) noexcept;
void* __libc_memalign(std::size_t alignment, std::size_t size) noexcept;
}

namespace assay::counts {
namespace {

inline void Count(std::size_t size) {
  AllocationCount& count = allocation_count;
  if (!count.is_on.load(std::memory_order_relaxed)) [[likely]]
    return;
  count.calls.fetch_add(1, std::memory_order_relaxed);
  count.bytes.fetch_add(static_cast<int64_t>(size), std::memory_order_relaxed);
}

}  // namespace
}  // namespace assay::counts

extern "C" {

[[gnu::visibility("default")]] void* malloc(std::size_t size) noexcept {
  assay::counts::Count(size);
  return __libc_malloc(size);
}

[[gnu::visibility("default")]] void* calloc(std::size_t count,
                                            std::size_t size) noexcept {
  assay::counts::Count(count * size);
  return __libc_calloc(count, size);
}

[[gnu::visibility("default")]] void* realloc(void* memory,
                                             std::size_t size) noexcept {
  assay::counts::Count(size);
  return __libc_realloc(memory, size);
}

[[gnu::visibility("default")]] void* memalign(std::size_t alignment,
                                              std::size_t size) noexcept {
  assay::counts::Count(size);
  return __libc_memalign(alignment, size);
}

[[gnu::visibility("default")]] void* aligned_alloc(std::size_t alignment,
                                                   std::size_t size) noexcept {
  assay::counts::Count(size);
  return __libc_memalign(alignment, size);
}

[[gnu::visibility("default")]] int posix_memalign(void** memory,
                                                  std::size_t alignment,
                                                  std::size_t size) noexcept {
  const bool is_power = alignment != 0 && (alignment & (alignment - 1)) == 0;
  if (!is_power || alignment % sizeof(void*) != 0) return EINVAL;
  assay::counts::Count(size);
  void* const found = __libc_memalign(alignment, size);
  if (found == nullptr) return ENOMEM;
  *memory = found;
  return 0;
}

}  // extern "C"

#endif  // defined(__GLIBC__)
