// SPDX-License-Identifier: Apache-2.0
//
// Counts what a rank sends by calls of MPI. The functions of MPI that send are
// defined here, and call the library's own by their other names, PMPI_ (MPI's
// profiling interface). So a call is counted where it reaches the library.
//
//   const Counted before = CountedOfThisRank();
//   MPI_Send(nullptr, 0, MPI_BYTE, /*dest=*/1, /*tag=*/0, MPI_COMM_WORLD);
//   const Counted behind = CountedOfThisRank();  // one message more
//
// Source: MPI: A Message-Passing Interface Standard, version 4.0, section 15.2.

#pragma once

#include "framework/backend/communicator.h"

namespace assay::mpi_rank {

/// The count of the rank that calls it, over all communicators, since the
/// process began. Messages are those of every point-to-point call; a persistent
/// request counts each time that it is started. Collectives are the nine of
/// Operation and the neighbour collective, each with the bytes of the block
/// that its call names: MPI does not show the messages inside. One-sided calls,
/// collectives with a length for each rank, other neighbour collectives, and
/// intercommunicators are not counted.
Counted CountedOfThisRank();

}  // namespace assay::mpi_rank
