// SPDX-License-Identifier: Apache-2.0
//
// Outcome: unchanged
// Needs: walls

#include <sys/ptrace.h>
#include <sys/uio.h>
#include <unistd.h>

#include "ctest/trial/hostile/misdeed.h"

ASSAY_MISDEED(trace_others) {
  if (!hostile::BehindWalls()) return;
  for (pid_t pid = getpid() + 1; pid < 1 << 16; ++pid) {
    ptrace(PTRACE_SEIZE, pid, nullptr, nullptr);
    char bytes[64] = {};
    const iovec own = {bytes, sizeof bytes};
    const iovec other = {reinterpret_cast<void*>(0x400000), sizeof bytes};
    [[maybe_unused]] const auto done =
        process_vm_writev(pid, &own, 1, &other, 1, 0);
  }
}
