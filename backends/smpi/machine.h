// SPDX-License-Identifier: Apache-2.0
//
// SimGrid's simulation of computers in this process, each with one link to a
// switch, and its ranks. A rank is a context of the calling thread: ranks take
// turns where they call MPI, in the same order each time, and seconds are those
// of the simulated clock.
//
// Sources: Degomme, Legrand, Markomanolis, Quinson, Stillwell and Suter,
// "Simulating MPI applications: the SMPI approach" (2017); the manual of
// SimGrid 3.32, page "SMPI as a library".

#pragma once

#include <simgrid/forward.h>

#include <functional>
#include <vector>

#include "framework/backend/communicator.h"
#include "framework/core/status.h"

namespace assay::smpi {

inline constexpr int kMostRanks = 1024;

/// A link. A message of b bytes takes `latency + b / bandwidth` seconds over
/// two of them.
inline constexpr double kLinkSeconds = 0.5e-6;
inline constexpr double kLinkBytesPerSecond = 1.25e9;

/// For one thread.
class Machine {
 public:
  /// The machine, which the first call makes, with the process' signal handlers
  /// kept as they were.
  static Machine& Get();

  /// Calls `rank` as each of 1 to kMostRanks ranks of an MPI world of its own,
  /// between MPI_Init and MPI_Finalize. Ranks that nobody can answer are
  /// unwound.
  void Run(int count, const std::function<void(int rank)>& rank);

  /// Seconds that have been simulated.
  double seconds() const;

 private:
  Machine();

  simgrid::s4u::Engine& engine_;
  std::vector<simgrid::s4u::Host*> hosts_;
  int runs_ = 0;
};

/// For the thread that calls Run first.
class SmpiRanks final : public Ranks {
 public:
  /// Ranks that nobody can answer end with failed precondition and who waits
  /// for what, or, where a rank failed, cancelled.
  Result<std::vector<RankEnd>> Run(
      int count, const std::function<Status(Endpoint&)>& rank) override;
};

}  // namespace assay::smpi
