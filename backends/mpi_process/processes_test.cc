// SPDX-License-Identifier: Apache-2.0
//
// Each of two processes of a launcher runs this program.

#include "backends/mpi_process/processes.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>

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
    return OkStatus();
  };
  mpi_rank::ExpectAllEnd(ranks.Run(2, exchange).value());
}

}  // namespace
}  // namespace assay::mpi_process
