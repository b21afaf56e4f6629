// SPDX-License-Identifier: Apache-2.0
//
// Pair: two training runs in step, each in a host of its own, beside one judge.
//
//   ASSAY_ASSIGN_OR_RETURN(const int code, OptDiff(wanted, std::cout));

#pragma once

#include <ostream>

#include "framework/core/status.h"
#include "framework/train/program/trainer_request.h"

namespace assay::program {

// Both write what they found. They return 0 where the two runs do the same, and
// 1 otherwise.

Result<int> OptDiff(const OptDiffRequest& request, std::ostream& out);
Result<int> FindCause(const BisectRequest& request, std::ostream& out);

}  // namespace assay::program
