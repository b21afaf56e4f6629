// SPDX-License-Identifier: Apache-2.0
//
// MPI's own collectives.
//
//   ASSAY_ASSIGN_OR_RETURN(const auto pending, StartCollective(group, call));
//   ASSAY_RETURN_IF_ERROR(pending->Wait());

#pragma once

#include <mpi.h>

#include <memory>

#include "framework/backend/communicator.h"
#include "framework/core/status.h"

namespace assay::openmpi {

/// A collective that others do not come to ends the process. Invalid argument for memory of another size than the collective's; unsupported for a
/// type other than float32, float64, int32 and int64, and from 2^31 elements on.
Result<std::unique_ptr<Pending>> StartCollective(MPI_Comm group,
                                                 const CollectiveCall& call);

}  // namespace assay::openmpi
