// SPDX-License-Identifier: Apache-2.0
//
// Outcome: unchanged

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>

#include "ctest/trial/hostile/misdeed.h"

// A run notes the digest of each file that a module executes from: here one
// that has no end. A library that is loaded makes it look.
ASSAY_MISDEED(endless_file) {
  const int zeros = open("/dev/zero", O_RDONLY | O_CLOEXEC);
  hostile::Opaque(
      mmap(nullptr, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, zeros, 0));
  dlopen("libresolv.so.2", RTLD_NOW | RTLD_LOCAL);
}
