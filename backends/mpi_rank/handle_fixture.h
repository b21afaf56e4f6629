// SPDX-License-Identifier: Apache-2.0
//
// The ground that the tests of ranks of an MPI share.
//
//   ExpectItsCommunicator(mine);

#pragma once

#include <gtest/gtest.h>
#include <mpi.h>

#include <vector>

#include "framework/backend/communicator.h"

namespace assay::mpi_rank {

/// All ranks end well.
inline void ExpectAllEnd(const std::vector<RankEnd>& ended) {
  for (const RankEnd& end : ended) {
    EXPECT_TRUE(end.status.ok()) << end.rank << ": " << end.status.message();
  }
}

/// Uses the endpoint's native handle as code that is written against MPI. All
/// of its ranks call it.
inline void ExpectItsCommunicator(const Endpoint& mine) {
  const auto* const group = static_cast<const MPI_Comm*>(mine.native_handle());
  ASSERT_NE(group, nullptr);
  int size = 0;
  int rank = 0;
  MPI_Comm_size(*group, &size);
  MPI_Comm_rank(*group, &rank);
  EXPECT_EQ(size, mine.size());
  EXPECT_EQ(rank, mine.rank());
  const int own = rank + 1;
  int sum = 0;
  MPI_Allreduce(&own, &sum, 1, MPI_INT, MPI_SUM, *group);
  EXPECT_EQ(sum, size * (size + 1) / 2);
}

}  // namespace assay::mpi_rank
