// SPDX-License-Identifier: Apache-2.0
//
// The standard streams of a program whose output is its result: one that was
// cut off must not end as if all were well.
//
//   ASSAY_RETURN_IF_ERROR(HoldStandardStreams());
//   std::puts("the result");
//   return FlushOutput();

#pragma once

#include "framework/core/status.h"

namespace assay::file {

/// Puts the null device where a standard stream is closed, so that no file that
/// is opened later gets its number. Failed precondition where standard output
/// is closed.
Status HoldStandardStreams();

/// Writes out what std::cout holds. Resource exhausted, with the system's
/// reason, when some of all that was printed did not get through, OK when the
/// reader of a pipe has gone.
Status FlushOutput();

}  // namespace assay::file
