// SPDX-License-Identifier: Apache-2.0
//
// Converge: the samples that a backend takes to learn, over several seeds,
// compared with those of another run or of a table.
//
//   ASSAY_ASSIGN_OR_RETURN(const int code, Converge(wanted, std::cout));

#pragma once

#include <ostream>

#include "framework/core/status.h"
#include "framework/train/program/trainer_request.h"

namespace assay::program {

/// Writes each run and the comparison. Returns 0 where the two cannot be told
/// apart, or where there is one run and it learnt with every seed; 1 otherwise.
/// Invalid argument for a number of seeds that Compare does not take, before
/// anything is trained.
Result<int> Converge(const ConvergeRequest& request, std::ostream& out);

}  // namespace assay::program
