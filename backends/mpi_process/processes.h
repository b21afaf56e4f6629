// SPDX-License-Identifier: Apache-2.0
//
// Processes: ranks of an MPI that are processes of its launcher.
//
//   Processes ranks;
//   ASSAY_ASSIGN_OR_RETURN(const auto ended, ranks.Run(2, [](Endpoint& mine) {
//     return mine.Exchange(kNobody, {}, kNobody, {});
//   }));

#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "backends/mpi_process/patience.h"
#include "framework/backend/communicator.h"
#include "framework/core/status.h"

namespace assay::mpi_process {

class Processes final : public Ranks {
 public:
  using Rank = std::function<Status(Endpoint&)>;
  /// Runs a rank with the messages of MPI and with something of its own.
  using Around = std::function<Status(Endpoint& messages, const Rank& rank)>;

  explicit Processes(Around around = nullptr) : around_(std::move(around)) {}

  bool spans_processes() const override { return true; }
  /// Unsupported for more ranks than were launched.
  Result<std::vector<RankEnd>> Run(int count, const Rank& rank) override;

 private:
  const Around around_;
  int runs_ = 0;
  Patience patience_;
};

/// Starts MPI where nobody has, so that what it starts is there before the first case, and
/// returns its library's version, "4.1.4".
Result<std::string> StartedVersion();

}  // namespace assay::mpi_process
