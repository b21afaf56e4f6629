// SPDX-License-Identifier: Apache-2.0
//
// ProcessTree: everything that descends from the workers of this process, so
// that nothing a backend started outlives its worker, whatever session or group
// it moved to. The supervisor is a subreaper: what loses its parent becomes a
// child of the supervisor, never of init.
//
// An orphan is known by the variable that it inherited. One whose worker still
// runs is left alone; one that shed the variable goes with the last worker.
// Not thread-safe: one thread supervises.

#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace assay::process {

class ProcessTree {
 public:
  /// Makes this process the parent of its orphaned descendants, and one that
  /// does not stay stopped. The children that it has now are nobody's business.
  static void Adopt();

  /// `mark` is the entry of its environment that tells a worker's descendants.
  static void Join(pid_t worker, const std::string& mark);

  /// A worker with all that descends from it, orphans too.
  static std::vector<pid_t> Members(pid_t worker);

  /// Kills a worker that still runs with all that descends from it; does not
  /// reap the worker.
  static void Kill(pid_t worker);

  /// The worker has been reaped: kills and reaps what it left behind. Gives up
  /// after a second with what cannot be killed.
  static void Leave(pid_t worker);
};

/// Everything below `root`, children before their own children.
std::vector<pid_t> DescendantsOf(pid_t root);

/// The memory that processes hold together: private pages and shared ones,
/// which RLIMIT_DATA does not count, and those of children, which it counts for
/// each alone. Bytes in memory that are no file's, each page once. Up to
/// `enough` bytes it may be more than that: a number that is quicker to have.
int64_t TreeMemory(const std::vector<pid_t>& processes, int64_t enough);

/// As TreeMemory, of all processes of the machine, of which none need be looked
/// at: no tree has more. INT64_MAX where the kernel does not tell.
int64_t MachineMemory();

/// Starts a process that looks each half second whether this one is stopped, as
/// by a SIGSTOP of a backend that no walls hold, and then lets it go on. It
/// ends with this one. A terminal's Ctrl-Z stops both, and its `fg` both go on.
void WakeWhenStopped();

}  // namespace assay::process
