// SPDX-License-Identifier: Apache-2.0
//
// MPI's neighbour collectives.
//
//   ASSAY_ASSIGN_OR_RETURN(const auto neighbors,
//                          ConnectNeighbors(group, to, from, waiting));
//   ASSAY_RETURN_IF_ERROR(neighbors->Exchange(out, in));

#pragma once

#include <mpi.h>

#include <memory>
#include <span>

#include "backends/mpi_rank/waiting.h"
#include "framework/backend/communicator.h"
#include "framework/core/status.h"

namespace assay::mpi_rank {

/// As Endpoint::Connect, on a communicator of its own that has the graph. An
/// exchange is unsupported from blocks of 2^31 bytes on, and ends the process
/// as a collective does. `waiting` must outlive it.
Result<std::unique_ptr<Neighbors>> ConnectNeighbors(MPI_Comm group,
                                                    std::span<const int> to,
                                                    std::span<const int> from,
                                                    Waiting& waiting);

}  // namespace assay::mpi_rank
