// SPDX-License-Identifier: Apache-2.0
//
// Calls of MPI as Status.
//
//   ASSAY_MPI(MPI_Barrier, MPI_COMM_WORLD);

#pragma once

#include <mpi.h>

#include <cstddef>
#include <string>

#include "framework/core/status.h"

namespace assay::mpi_rank {

std::string ErrorText(int code);
Status Checked(int code, const char* call);

#define ASSAY_MPI(call, ...) \
  ASSAY_RETURN_IF_ERROR(::assay::mpi_rank::Checked(call(__VA_ARGS__), #call))

/// A count as MPI's int. Unsupported from 2^31 on.
Result<int> CountOf(size_t count);

}  // namespace assay::mpi_rank
