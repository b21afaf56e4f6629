// SPDX-License-Identifier: Apache-2.0
//
// Outcome: unchanged
// Tries: reads the memory of all processes in the kernel's files
// Noted: none can be read
// Needs: walls

#include "ctest/trial/hostile/attempt.h"

ASSAY_MISDEED(answers_in_kernel) {
  int read_ones = 0;
  for (const char* const file : {"/proc/kcore", "/dev/mem", "/dev/kmem"}) {
    const int fd = open(file, O_RDONLY | O_CLOEXEC);
    char byte = 0;
    if (fd >= 0 && pread(fd, &byte, 1, 0) == 1) ++read_ones;
    if (fd >= 0) close(fd);
  }
  hostile::Note(read_ones == 0 ? "none can be read" : "read");
}
