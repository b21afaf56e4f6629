// SPDX-License-Identifier: Apache-2.0
//
// Checks that the memory of a collective has the size that its operation wants.
//
//   ASSAY_RETURN_IF_ERROR(CheckMemory(call, /*rank=*/0, /*ranks=*/4));

#pragma once

#include "framework/backend/communicator.h"
#include "framework/core/status.h"

namespace assay::mpi_rank {

/// Invalid argument for other bytes than CollectiveCall says.
Status CheckMemory(const CollectiveCall& call, int rank, int ranks);

}  // namespace assay::mpi_rank
