// SPDX-License-Identifier: Apache-2.0
//
// A count of what a rank sends by calls of MPI. The functions of MPI that send are defined
// here, and call the library's own by their other names, PMPI_, which is MPI's profiling
// interface. So a call of the module is counted where it reaches the library.
//
//   const Counted before = CountedOfThisRank();
//   MPI_Send(nullptr, 0, MPI_BYTE, /*dest=*/1, /*tag=*/0, MPI_COMM_WORLD);
//   const Counted behind = CountedOfThisRank();  // one message more
//
// Source: MPI: A Message-Passing Interface Standard, version 4.0, section 15.2.

#pragma once

#include "framework/backend/communicator.h"

namespace assay::mpi_rank {

/// The count of the rank that calls it, over all communicators, since the process began.
/// Messages are those of every call between two ranks; a request that is kept counts each
/// time that it is started. Collectives are the nine of Operation and the exchange with
/// neighbours, each with the bytes of the block that its call names: MPI does not show what
/// it sends for them. One-sided calls, collectives of other lengths for each rank, other
/// ones of neighbours, and communicators between two groups are not counted.
Counted CountedOfThisRank();

}  // namespace assay::mpi_rank
