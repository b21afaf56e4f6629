// SPDX-License-Identifier: Apache-2.0

#include "framework/supervise/process/worker_limits.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define ASSAY_SHADOW_MEMORY_ 1
#endif
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define ASSAY_SHADOW_MEMORY_ 1
#endif

namespace assay::process {
namespace {

#ifdef ASSAY_SHADOW_MEMORY_
constexpr bool kShadowMemory = true;
#else
constexpr bool kShadowMemory = false;
#endif

constexpr int64_t kEnough = int64_t{4} << 30;
// Memory that processes have beside what they ask for: stacks, and pages that
// they wrote to since a fork, of a worker and of those that host its backend.
constexpr int64_t kOfMany = int64_t{256} << 20;

int64_t MemoryBytes() {
  const int64_t machine =
      static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  int64_t group = 0;
  // "max" where there is no limit, which is no number.
  std::ifstream file("/sys/fs/cgroup/memory.max");
  return file >> group && group > 0 ? std::min(machine, group) : machine;
}

void Limit(__rlimit_resource what, int64_t bytes) {
  struct rlimit now = {};
  if (getrlimit(what, &now) != 0) return;
  const auto wanted = std::min<rlim_t>(now.rlim_max, bytes);
  const struct rlimit limit = {std::min(now.rlim_cur, wanted), wanted};
  setrlimit(what, &limit);
}

}  // namespace

int64_t MemoryShare(int workers) {
  const int64_t all = MemoryBytes();
  return std::max(all / 5 * 4 / std::max(workers, 1),
                  std::min(kEnough, all / 2));
}

int64_t TreeLimit(const WorkerLimits& limits) {
  if (kShadowMemory || limits.memory_bytes == 0) return 0;
  return limits.memory_bytes + limits.memory_bytes / 16 + kOfMany;
}

void ApplyLimits(const WorkerLimits& limits) {
  if (limits.memory_bytes > 0 && !kShadowMemory) {
    Limit(RLIMIT_DATA, limits.memory_bytes);
  }
  if (limits.file_bytes > 0) Limit(RLIMIT_FSIZE, limits.file_bytes);
  const int score = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (score < 0) return;
  [[maybe_unused]] const auto written = write(score, "1000", 4);
  close(score);
}

}  // namespace assay::process
