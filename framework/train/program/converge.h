// SPDX-License-Identifier: Apache-2.0
//
// Converge: the samples that a backend takes to learn, over seeds, beside those of
// another run or of a table.
//
//   ASSAY_ASSIGN_OR_RETURN(const int code, Converge(wanted, std::cout));

#pragma once

#include <ostream>

#include "framework/core/status.h"
#include "framework/train/program/trainer_request.h"

namespace assay::program {

/// Writes each run and what their numbers show. 0 where the two are not told
/// apart, or where there is one that learnt with every seed, 1 otherwise.
/// Invalid argument as Compare, before anything is trained.
Result<int> Converge(const ConvergeRequest& request, std::ostream& out);

}  // namespace assay::program
