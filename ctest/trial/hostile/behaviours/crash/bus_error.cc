// SPDX-License-Identifier: Apache-2.0
//
// Outcome: crash
// Message: SIGBUS

#include <sys/mman.h>

#include "ctest/trial/hostile/misdeed.h"

// A mapping behind the end of its file.
ASSAY_MISDEED(bus_error) {
  const int fd = memfd_create("empty", MFD_CLOEXEC);
  void* const page = mmap(nullptr, 4096, PROT_READ, MAP_SHARED, fd, 0);
  hostile::Opaque(*static_cast<volatile char*>(page));
}
