// SPDX-License-Identifier: Apache-2.0
//
// Each of two processes of a launcher runs this program.

#include "backends/mpi_process/processes.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <functional>
#include <span>

#include "backends/mpi_rank/endpoint.h"
#include "backends/mpi_rank/handle_fixture.h"

namespace assay::mpi_process {
namespace {

constexpr std::chrono::seconds kPatience(10);

// Kills: the communicator of the world in place of a part's.
TEST(ProcessesTest, AnEndpointHasItsCommunicator) {
  Processes ranks(kPatience);
  int ran = 0;
  for (const int count : {1, 2}) {
    const auto ended = ranks.Run(count, [&](Endpoint& mine) -> Status {
      ++ran;
      EXPECT_EQ(mine.size(), count);
      mpi_rank::ExpectItsCommunicator(mine);
      ASSAY_ASSIGN_OR_RETURN(const auto turned, mine.Split(0, -mine.rank()));
      EXPECT_EQ(turned->rank(), count - 1 - mine.rank());
      mpi_rank::ExpectItsCommunicator(*turned);
      return OkStatus();
    });
    mpi_rank::ExpectAllEnd(ended.value());
  }
  EXPECT_GE(ran, 1);
}

/// Counts the calls that block and the waits for those that do not.
class Counting final : public mpi_rank::Waiting {
 public:
  Status ForAll(std::span<MPI_Request> requests, std::span<MPI_Status> ended,
                const mpi_rank::Awaited&) override {
    ++waits;
    ASSAY_ASSIGN_OR_RETURN(const int count, mpi_rank::CountOf(requests.size()));
    return mpi_rank::Checked(MPI_Waitall(count, requests.data(), ended.data()),
                             "MPI_Waitall");
  }
  Status During(const mpi_rank::Awaited&,
                const std::function<Status()>& call) override {
    ++blocked;
    return call();
  }

  int waits = 0, blocked = 0;
};

// Kills: the nonblocking call in the place of the blocking one.
TEST(ProcessesTest, ACollectiveBlocksUnlessItIsBegun) {
  Processes ranks(kPatience);
  const auto both = [](Endpoint& outer) -> Status {
    Counting waiting;
    ASSAY_ASSIGN_OR_RETURN(
        const auto mine,
        mpi_rank::MpiEndpoint::Of(
            *static_cast<const MPI_Comm*>(outer.native_handle()), 0, waiting));
    const uint64_t in = uint64_t{2} << 32 | static_cast<unsigned>(mine->rank());
    uint64_t out = 0;
    const CollectiveCall call{
        .operation = Operation::kAllReduce,
        .reduction = Reduction::kCompose,
        .type = DType::kUint64,
        .count = 1,
        .root = 0,
        .in = std::as_bytes(std::span(&in, 1)),
        .out = std::as_writable_bytes(std::span(&out, 1))};
    // x -> 2 (2 x + 1) + 0: that of rank 0 is the outer function.
    constexpr uint64_t kBoth = uint64_t{4} << 32 | 2;
    ASSAY_RETURN_IF_ERROR(mine->Collect(call));
    EXPECT_EQ(out, kBoth);
    EXPECT_EQ(waiting.blocked, 1);
    EXPECT_EQ(waiting.waits, 0);
    ASSAY_ASSIGN_OR_RETURN(const auto pending, mine->Start(call));
    ASSAY_RETURN_IF_ERROR(pending->Wait());
    EXPECT_EQ(out, kBoth);
    EXPECT_EQ(waiting.blocked, 1);
    EXPECT_EQ(waiting.waits, 1);
    ASSAY_ASSIGN_OR_RETURN(const auto part,
                           mine->Split(mine->rank() == 0 ? 0 : kNoColor, 0));
    EXPECT_EQ(part == nullptr, mine->rank() == 1);
    return OkStatus();
  };
  mpi_rank::ExpectAllEnd(ranks.Run(2, both).value());
}

// Kills: a copy of the input, so that nothing stands in place. MPI puts the
// result in front.
TEST(ProcessesTest, AReduceScatterInPlaceIsThatOfMpi) {
  Processes ranks(kPatience);
  const auto scatter = [](Endpoint& mine) -> Status {
    for (const bool starts : {false, true}) {
      std::array<int32_t, 2> both = {1, 10};
      const auto at = static_cast<size_t>(mine.rank());
      const CollectiveCall call{
          .operation = Operation::kReduceScatter,
          .type = DType::kInt32,
          .count = 1,
          .in = std::as_bytes(std::span(both)),
          .out = std::as_writable_bytes(std::span(both).subspan(at, 1))};
      if (starts) {
        ASSAY_ASSIGN_OR_RETURN(const auto pending, mine.Start(call));
        ASSAY_RETURN_IF_ERROR(pending->Wait());
      } else {
        ASSAY_RETURN_IF_ERROR(mine.Collect(call));
      }
      EXPECT_EQ(both[at], mine.rank() == 0 ? 2 : 20);
      EXPECT_EQ(both[0], both[at]);
    }
    return OkStatus();
  };
  mpi_rank::ExpectAllEnd(ranks.Run(2, scatter).value());
}

// Kills: an exchange that is not counted, or whose messages are said to be
// seen.
TEST(ProcessesTest, AnExchangeWithNeighborsIsACallWithItsBytes) {
  Processes ranks(kPatience);
  const auto exchange = [](Endpoint& mine) -> Status {
    const std::array other = {1 - mine.rank()};
    ASSAY_ASSIGN_OR_RETURN(const auto neighbors, mine.Connect(other, other));
    ASSAY_ASSIGN_OR_RETURN(const Counted before, mine.counted());
    const int32_t out = mine.rank() + 1;
    int32_t in = 0;
    ASSAY_RETURN_IF_ERROR(
        neighbors->Exchange(std::as_bytes(std::span(&out, 1)),
                            std::as_writable_bytes(std::span(&in, 1))));
    EXPECT_EQ(in, 2 - mine.rank());
    ASSAY_ASSIGN_OR_RETURN(const Counted now, mine.counted());
    EXPECT_EQ(now.sent, before.sent);
    EXPECT_EQ(now.collectives - before.collectives, 1);
    EXPECT_EQ(now.collective_bytes - before.collective_bytes, 4);
    in = 0;
    ASSAY_ASSIGN_OR_RETURN(
        const auto pending,
        neighbors->Start(std::as_bytes(std::span(&out, 1)),
                         std::as_writable_bytes(std::span(&in, 1))));
    ASSAY_RETURN_IF_ERROR(pending->Wait());
    EXPECT_EQ(in, 2 - mine.rank());
    return OkStatus();
  };
  mpi_rank::ExpectAllEnd(ranks.Run(2, exchange).value());
}

}  // namespace
}  // namespace assay::mpi_process
