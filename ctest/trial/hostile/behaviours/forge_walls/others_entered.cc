// SPDX-License-Identifier: Apache-2.0
//
// Outcome: unchanged
// Tries: enters the namespaces of each process that it sees
// Noted: entered 0
// Needs: walls

#include <fcntl.h>
#include <sched.h>

#include "ctest/trial/hostile/attempt.h"

namespace fs = std::filesystem;

ASSAY_MISDEED(others_entered) {
  if (!hostile::BehindWalls()) return;
  int entered = 0;
  std::error_code error;
  for (const auto& process : fs::directory_iterator("/proc", error)) {
    for (const char* space : {"user", "pid", "mnt", "ipc"}) {
      const fs::path file = process.path() / "ns" / space;
      const int fd = open(file.c_str(), O_RDONLY | O_CLOEXEC);
      if (fd < 0) continue;
      entered += setns(fd, 0) == 0 ? 1 : 0;
      close(fd);
    }
  }
  hostile::Note("entered " + std::to_string(entered));
}
