// SPDX-License-Identifier: Apache-2.0
//
// Processes: ranks of an MPI that are processes of its launcher.
//
//   Processes ranks(/*patience=*/std::chrono::seconds(10));
//   ASSAY_ASSIGN_OR_RETURN(const auto ended, ranks.Run(2, [](Endpoint& mine) {
//     return mine.Exchange(kNobody, {}, kNobody, {});
//   }));

#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "backends/mpi_process/patience.h"
#include "framework/backend/backend.h"
#include "framework/backend/communicator.h"
#include "framework/core/status.h"

namespace assay::mpi_process {

class Processes final : public Ranks {
 public:
  using Rank = std::function<Status(Endpoint&)>;
  /// Runs a rank with the messages of MPI and with something of its own.
  using Around = std::function<Status(Endpoint& messages, const Rank& rank)>;

  /// A rank that waits longer for others gives up.
  explicit Processes(std::chrono::seconds patience, Around around = nullptr)
      : around_(std::move(around)), patience_(patience) {}

  bool spans_processes() const override { return true; }
  /// Unsupported for more ranks than were launched.
  Result<std::vector<RankEnd>> Run(int count, const Rank& rank) override;

 private:
  const Around around_;
  Patience patience_;
};

/// The ranks of a communicator with the setting `patience`: whole seconds, 60
/// by default.
class ProcessRanks {
 public:
  explicit ProcessRanks(Processes::Around around = nullptr)
      : around_(std::move(around)) {}

  static std::vector<std::string> setting_names();
  /// Invalid argument for a patience of other than 1 to 3600 seconds. The ranks
  /// live as long as this.
  Result<Ranks*> With(const Settings& settings);

 private:
  const Processes::Around around_;
  std::mutex mutex_;
  std::map<int, Processes> ranks_;  // by the seconds
};

/// Starts MPI, if nobody has, so that what it starts is there before the first
/// case, and returns its library's version, "4.1.4".
Result<std::string> StartedVersion();

}  // namespace assay::mpi_process
