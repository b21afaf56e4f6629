// SPDX-License-Identifier: Apache-2.0
//
// Behaviours that end their worker: by a signal, an early exit, an exception
// that nothing may catch, or at exit, when every case is judged. The supervisor
// must name the end and go on with the rest.

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <csetjmp>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

#include "ctest/trial/hostile/misdeed.h"

// Outcome: crash
// Message: SIGABRT
ASSAY_MISDEED(abort) { std::abort(); }

// A mapping behind the end of its file.
// Outcome: crash
// Message: SIGBUS
ASSAY_MISDEED(bus_error) {
  const int fd = memfd_create("empty", MFD_CLOEXEC);
  void* const page = mmap(nullptr, 4096, PROT_READ, MAP_SHARED, fd, 0);
  hostile::Opaque(*static_cast<volatile char*>(page));
}

// Outcome: unchanged
// Backend: the worker ended after its last case: signal SIGABRT
ASSAY_MISDEED(crash_at_exit) { std::atexit(std::abort); }

namespace {
struct Late {
  ~Late() { *hostile::Opaque(static_cast<volatile int*>(nullptr)) = 1; }
};
}  // namespace

// Outcome: unchanged
// Backend: the worker ended after its last case: signal SIGSEGV
ASSAY_MISDEED(crash_in_destructor) {
  static Late late;
  hostile::Opaque(&late);
}

namespace {

jmp_buf frame;

[[gnu::noinline]] int Leave() {
  volatile char kept[256] = {};
  return setjmp(frame) + kept[0];
}

[[gnu::noinline]] void WriteOver() {
  char other[4096];
  std::memset(hostile::Opaque(&other[0]), 0x41, sizeof other);
  hostile::Opaque(&other[0]);
}

}  // namespace

// Jumps into a function that has returned.
// Outcome: crash
// Message: see crash+act=dead_frame
ASSAY_MISDEED(dead_frame) {
  if (Leave() != 0) return;
  WriteOver();
  std::longjmp(frame, 1);
}

// Outcome: crash
// Message: SIGABRT
ASSAY_MISDEED(double_free) {
  void* block = std::malloc(64);
  std::free(hostile::Opaque(block));
  std::free(hostile::Opaque(block));
}

// Outcome: unchanged
// Backend: the worker ended after its last case: exit code 99
ASSAY_MISDEED(exit_code_at_exit) {
  std::atexit([] { _exit(99); });
}

// The worker itself ends so when its journal cannot be written.
// Outcome: crash
// Message: exit code 99
ASSAY_MISDEED(exit_harness) { _exit(99); }

// Outcome: crash
// Message: exit code 0
ASSAY_MISDEED(exit_zero) { std::exit(0); }

// Outcome: crash
// Message: SIGSEGV
ASSAY_MISDEED(heap_read_only) {
  const auto block = reinterpret_cast<uintptr_t>(std::malloc(64));
  constexpr uintptr_t kPages = 1 << 20;
  for (uintptr_t at = (block & ~uintptr_t{4095}) - kPages; at < block + kPages;
       at += 4096) {
    mprotect(reinterpret_cast<void*>(at), 4096, PROT_READ);
  }
}

// Outcome: crash
// Message: SIGABRT
ASSAY_MISDEED(heap_smash) {
  char* block = hostile::Opaque(static_cast<char*>(std::malloc(2000)));
  char* next = hostile::Opaque(static_cast<char*>(std::malloc(2000)));
  std::memset(hostile::Opaque(block), 0x41, 2100);
  std::free(next);
  std::free(block);
}

// Outcome: crash
// Message: SIGKILL
ASSAY_MISDEED(kill_group) { kill(0, SIGKILL); }

// Outcome: crash
// Message: exit code 0
ASSAY_MISDEED(other_program) { execl("/bin/true", "true", nullptr); }

// Outcome: crash
// Message: SIGSEGV
ASSAY_MISDEED(segfault) {
  *hostile::Opaque(static_cast<volatile int*>(nullptr)) = 1;
}

namespace {
int Deeper(int depth) {
  volatile unsigned char page[4096];
  page[0] = static_cast<unsigned char>(depth);
  if (hostile::Opaque(depth) < 0) return page[0];
  return Deeper(hostile::Opaque(depth + 1)) + page[0];
}
}  // namespace

// Outcome: crash
// Message: SIGSEGV
ASSAY_MISDEED(stack_overflow) { hostile::Opaque(Deeper(0)); }

// Ends the worker's only thread through every frame above.
// Outcome: crash
// Message: SIGABRT
ASSAY_MISDEED(thread_exit) { pthread_exit(nullptr); }

// Outcome: error
// Message: an exception was thrown: boo
ASSAY_MISDEED(throw_standard) { throw std::runtime_error("boo"); }

namespace {
struct Nothing {};
}  // namespace

// Outcome: error
// Message: unknown type
ASSAY_MISDEED(throw_unknown) { throw Nothing(); }

// As a module does that was built for another processor.
// Outcome: crash
// Message: SIGILL
ASSAY_MISDEED(undefined_instruction) { asm volatile("ud2"); }
