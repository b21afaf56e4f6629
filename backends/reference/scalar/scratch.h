// SPDX-License-Identifier: Apache-2.0
//
// Scratch: memory that a kernel needs for one call. A thread keeps what its
// kernels gave back, so that a network that runs again, as each step of a
// training does, asks the system for none.
//
//   Scratch<double> sums(static_cast<size_t>(rows));

#pragma once

#include <cstddef>
#include <memory_resource>
#include <vector>

namespace assay::reference {

/// Of this thread, for as long as it lives.
std::pmr::memory_resource& ScratchMemory();

template <class T>
struct ScratchAllocator {
  using value_type = T;

  ScratchAllocator() = default;
  template <class U>
  ScratchAllocator(const ScratchAllocator<U>&) {}

  T* allocate(size_t count) {
    return static_cast<T*>(
        ScratchMemory().allocate(count * sizeof(T), alignof(T)));
  }
  void deallocate(T* memory, size_t count) {
    ScratchMemory().deallocate(memory, count * sizeof(T), alignof(T));
  }

  friend bool operator==(ScratchAllocator, ScratchAllocator) { return true; }
};

/// Ends in the thread that made it.
template <class T>
using Scratch = std::vector<T, ScratchAllocator<T>>;

}  // namespace assay::reference
