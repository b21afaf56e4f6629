// SPDX-License-Identifier: Apache-2.0
//
// An MPI whose ranks are processes of its launcher: MPI in this process, how a
// rank waits for others, the ranks, and the communicator but for its name.
//
//   class Acme final : public MpiCommunicator {
//    public:
//     std::string_view name() const override { return "acme"; }
//   };

#pragma once

#include <mpi.h>

#include <chrono>
#include <functional>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "backends/mpi_rank/call.h"
#include "framework/backend/backend.h"
#include "framework/backend/communicator.h"
#include "framework/core/status.h"

namespace assay::mpi_process {

/// MPI in this process. It is started once, and ended with the process.
class World {
 public:
  static Result<World*> Get();

  int size() const { return size_; }
  /// The communicator of the first `count` ranks of all; null where this rank
  /// is none of them.
  MPI_Comm First(int count) const {
    return groups_[static_cast<size_t>(count)];
  }
  /// The tag of the next run's messages, which no recent run has.
  int NextTag();

 private:
  World() : begun_(Begin()) {}
  Status Begin();

  int size_ = 1;
  int tag_ = 0;
  std::vector<MPI_Comm> groups_;  // by their sizes
  Status begun_;
};

/// A rank asks whether it is done, gives way to others between, and gives up in
/// time, so that a case ends by itself. From a call that blocks there is no way
/// back: an alarm (SIGALRM) ends its process, with the same words.
class Patience final : public mpi_rank::Waiting {
 public:
  explicit Patience(std::chrono::seconds longest) : longest_(longest) {}

  Status ForAll(std::span<MPI_Request> requests, std::span<MPI_Status> ended,
                const mpi_rank::Awaited& awaited) override;
  Status During(const mpi_rank::Awaited& awaited,
                const std::function<Status()>& call) override;

 private:
  std::string TextOf(const mpi_rank::Awaited& awaited) const;

  const std::chrono::seconds longest_;
};

class Processes final : public Ranks {
 public:
  using Rank = std::function<Status(Endpoint&)>;
  /// Runs a rank with the messages of MPI and with something of its own.
  using Around = std::function<Status(Endpoint& messages, const Rank& rank)>;

  /// A rank that waits longer for others gives up.
  explicit Processes(std::chrono::seconds patience, Around around = nullptr)
      : around_(std::move(around)), patience_(patience) {}

  bool spans_processes() const override { return true; }
  /// Ranks begin together, so that none waits in a call that blocks, and takes
  /// the processor, while another one judges the case before. Unsupported for
  /// more ranks than were launched.
  Result<std::vector<RankEnd>> Run(int count, const Rank& rank) override;

 private:
  const Around around_;
  // Ranks that a run wants none of come to the next one early, and are not to
  // blame: the supervisor limits the time of a case.
  Patience meeting_{std::chrono::hours(1)};
  Patience patience_;
};

/// A communicator with the setting `patience`: whole seconds, 1 to 3600, 60 by
/// default.
class MpiCommunicator : public Communicator {
 public:
  explicit MpiCommunicator(Processes::Around around = nullptr)
      : around_(std::move(around)) {}

  /// Starts MPI, if nobody has, so that what it starts is there before the
  /// first case. The version is that of the library, "4.1.4".
  Result<Probe> Inspect() override;

 private:
  std::vector<std::string> setting_names() const final;
  Result<Ranks*> RanksWith(const Settings& settings) final;

  const Processes::Around around_;
  std::mutex mutex_;
  std::map<int, Processes> ranks_;  // by the seconds
};

}  // namespace assay::mpi_process
