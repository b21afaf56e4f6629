// SPDX-License-Identifier: Apache-2.0
//
// Calls of MPI as Status.
//
//   ASSAY_MPI(MPI_Barrier, MPI_COMM_WORLD);

#pragma once

#include <mpi.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>

#include "framework/core/status.h"

namespace assay::openmpi {

/// A rank that waits so long for others gives up, so that a case ends by itself.
inline constexpr std::chrono::seconds kPatience(10);

std::string ErrorText(int code);
Status Checked(int code, const char* call);

#define ASSAY_MPI(call, ...) \
  ASSAY_RETURN_IF_ERROR(::assay::openmpi::Checked(call(__VA_ARGS__), #call))

/// What MPI counts with: unsupported from 2^31 on.
Result<int> CountOf(size_t count);

/// Asks until it is done, and gives way to others between. False where patience ends
/// first.
Result<bool> IsDoneInTime(const std::function<Result<bool>()>& is_done);

}  // namespace assay::openmpi
