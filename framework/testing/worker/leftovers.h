// SPDX-License-Identifier: Apache-2.0
//
// Leftovers: what a backend leaves behind in its process that nobody can put
// back: limits, another root folder or user, timers, threads and processes that run on,
// descriptors. None of it changes the verdict of the case; all of it may reach
// a later one, which therefore gets another process.
//
//   const Leftovers before;
//   run_vendor_code();
//   if (std::string what = before.Found(); !what.empty()) Report(what);

#pragma once

#include <sched.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/types.h>

#include <array>
#include <string>

namespace assay::worker {

class Leftovers {
 public:
  /// As this process is now.
  Leftovers();

  /// "threads, limits": what differs now; empty when nothing does. A thread
  /// that waits on a lock, as those of a library's pool do, is none.
  std::string Found() const;

 private:
  using Limits = std::array<struct rlimit, RLIMIT_NLIMITS>;
  static Limits LimitsNow();

  Limits limits_;
  struct stat root_ = {};
  uid_t user_;
  gid_t group_;
  cpu_set_t processors_;
  int policy_;
  int filter_;  // of system calls
  int next_descriptor_;
  int n_threads_;
};

}  // namespace assay::worker
