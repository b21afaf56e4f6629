// SPDX-License-Identifier: Apache-2.0
//
// Each of two processes of a launcher runs this program.

#include "backends/mpi_process/processes.h"

#include <gtest/gtest.h>

#include <vector>

#include "backends/mpi_rank/handle_fixture.h"
#include "framework/backend/communicator.h"
#include "framework/core/status.h"

namespace assay::mpi_process {
namespace {

// Kills: the communicator of the world in place of a part's.
TEST(ProcessesTest, AnEndpointHasItsCommunicator) {
  Processes ranks;
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
    ASSERT_TRUE(ended.ok()) << ended.status().message();
    for (const RankEnd& end : *ended) {
      EXPECT_TRUE(end.status.ok()) << end.status.message();
    }
  }
  EXPECT_GE(ran, 1);
}

}  // namespace
}  // namespace assay::mpi_process
