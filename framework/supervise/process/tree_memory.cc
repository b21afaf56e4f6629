// SPDX-License-Identifier: Apache-2.0

#include "framework/supervise/process/tree_memory.h"

#include <unistd.h>

#include <fstream>
#include <string>

namespace assay::process {
namespace {

std::ifstream OpenProc(pid_t pid, const char* name) {
  return std::ifstream("/proc/" + std::to_string(pid) + "/" + name);
}

/// All pages in memory, those of files too, and shared ones for each process.
int64_t ResidentBytes(pid_t pid) {
  int64_t size = 0;
  int64_t resident = 0;
  OpenProc(pid, "statm") >> size >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

/// A page that n processes share counts for an n-th:
/// https://www.kernel.org/doc/html/latest/filesystems/proc.html, smaps_rollup.
int64_t ShareBytes(pid_t pid) {
  std::ifstream rollup = OpenProc(pid, "smaps_rollup");
  int64_t kilobytes = 0;
  for (std::string word; rollup >> word;) {
    int64_t value = 0;
    if ((word == "Pss_Anon:" || word == "Pss_Shmem:") && rollup >> value) {
      kilobytes += value;
    }
  }
  return kilobytes << 10U;
}

}  // namespace

int64_t TreeMemory(const std::vector<pid_t>& processes, int64_t enough) {
  int64_t bytes = 0;
  for (const pid_t pid : processes) bytes += ResidentBytes(pid);
  if (bytes <= enough) return bytes;
  bytes = 0;
  for (const pid_t pid : processes) bytes += ShareBytes(pid);
  return bytes;
}

}  // namespace assay::process
