// SPDX-License-Identifier: Apache-2.0

#include "backends/smpi/smpi_ranks.h"

#include <mpi.h>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "backends/mpi_rank/call.h"
#include "backends/mpi_rank/endpoint.h"
#include "backends/mpi_rank/waiting.h"
#include "backends/smpi/machine.h"
#include "framework/core/text.h"

namespace assay::smpi {
namespace {

/// The waiting of a rank: the simulation knows when no message can come.
class Rank final : public mpi_rank::Waiting {
 public:
  Status ForAll(std::span<MPI_Request> requests, std::span<MPI_Status> ended,
                const mpi_rank::Awaited& awaited) override {
    awaited_ = awaited;
    ASSAY_ASSIGN_OR_RETURN(const int count, mpi_rank::CountOf(requests.size()));
    const int code = MPI_Waitall(count, requests.data(), ended.data());
    awaited_.reset();
    return mpi_rank::Checked(code, "MPI_Waitall");
  }

  bool MayBlock(const mpi_rank::Awaited& awaited) override {
    awaited_ = awaited;
    return true;
  }

  std::optional<double> simulated_seconds() const override {
    return Machine::Get().seconds();
  }
  /// SMPI 3.32 declares MPI's neighbour collectives, and ends the process where
  /// they are called.
  bool HasNeighbors() const override { return false; }

  void Run(const std::function<Status(Endpoint&)>& rank) {
    status_ = RunIn(rank);
  }

  /// The rank's Status; nothing where it has not ended.
  const std::optional<Status>& status() const { return status_; }
  std::string awaited() const {
    return awaited_.has_value() ? awaited_->text() : "in a call of MPI";
  }

 private:
  Status RunIn(const std::function<Status(Endpoint&)>& rank) {
    // SMPI 3.32 crashes on a message from MPI_ANY_SOURCE in MPI_COMM_WORLD
    // itself, which is another communicator for each rank.
    MPI_Comm world = MPI_COMM_NULL;
    ASSAY_MPI(MPI_Comm_dup, MPI_COMM_WORLD, &world);
    ASSAY_ASSIGN_OR_RETURN(
        const auto endpoint,
        mpi_rank::MpiEndpoint::Of(world, /*tag=*/0, *this, /*owns=*/true));
    return rank(*endpoint);
  }

  std::optional<mpi_rank::Awaited> awaited_;
  std::optional<Status> status_;
};

/// The reason of ranks that did not end: the first rank that failed, or who
/// waits for what.
Status WhyOf(std::span<const Rank> ranks) {
  constexpr size_t kMostNamed = 8;
  std::vector<std::string> texts;
  for (size_t i = 0; i < ranks.size(); ++i) {
    const std::optional<Status>& status = ranks[i].status();
    if (status.has_value() && !status->ok()) {
      return Cancelled("rank ", i, ": ", status->message());
    }
    if (!status.has_value()) {
      texts.push_back(StrCat("rank ", i, " waits ", ranks[i].awaited()));
    }
  }
  if (texts.size() > kMostNamed) {
    const size_t others = texts.size() - kMostNamed;
    texts.resize(kMostNamed);
    texts.push_back(StrCat("and ", others, " more"));
  }
  return FailedPrecondition("ranks stand still: ", Joined(texts, "; "));
}

}  // namespace

Result<std::vector<RankEnd>> SmpiRanks::Run(
    int count, const std::function<Status(Endpoint&)>& rank) {
  if (count < 1 || count > kMostRanks) {
    return Unsupported(Reason::kShape, "found ", count, " ranks, wanted 1 to ",
                       kMostRanks);
  }
  std::vector<Rank> ranks(static_cast<size_t>(count));
  Machine::Get().Run(count,
                     [&](int i) { ranks[static_cast<size_t>(i)].Run(rank); });
  const Status why = WhyOf(ranks);
  std::vector<RankEnd> ended;
  for (const Rank& each : ranks) {
    ended.push_back(
        {static_cast<int>(ended.size()), each.status().value_or(why)});
  }
  return ended;
}

}  // namespace assay::smpi
