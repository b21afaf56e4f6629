// SPDX-License-Identifier: Apache-2.0
//
// MPI's own collectives.
//
//   ASSAY_ASSIGN_OR_RETURN(const auto pending,
//                          StartCollective(group, call, waiting));
//   ASSAY_RETURN_IF_ERROR(pending->Wait());

#pragma once

#include <mpi.h>

#include <memory>

#include "backends/mpi_rank/waiting.h"
#include "framework/backend/communicator.h"
#include "framework/core/status.h"

namespace assay::mpi_rank {

/// Begins a nonblocking collective. One that other ranks do not come to ends
/// the process, where the library lets a rank give up. Invalid argument for
/// memory of another size than the collective's; unsupported for a type other
/// than float32, float64, int32 and int64, and from 2^31 elements on. `waiting`
/// must outlive it.
Result<std::unique_ptr<Pending>> StartCollective(MPI_Comm group,
                                                 const CollectiveCall& call,
                                                 Waiting& waiting);

/// Returns when a collective of the group is done that MPI has begun. Ends the
/// process where the rank gives up: MPI cancels no collective, and would write
/// into memory that has another owner by then.
Status WaitForCollective(MPI_Comm group, MPI_Request* request,
                         const Awaited& awaited, Waiting& waiting);

/// A blocking collective, by MPI's blocking calls. Errors as above.
Status RunCollective(MPI_Comm group, const CollectiveCall& call,
                     Waiting& waiting);

}  // namespace assay::mpi_rank
