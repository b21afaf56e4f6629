// SPDX-License-Identifier: Apache-2.0
//
// The judge of a run of an optimizer: the oracle of the run, in this process,
// and the verdict where some tensor could not be judged.
//
//   ASSAY_ASSIGN_OR_RETURN(const auto oracle, OpenOracle(facts));
//   ASSAY_ASSIGN_OR_RETURN(const optdiff::JudgeOf judge,
//                          optdiff::JudgeFor(course, *oracle));
//   return Decided(verdict, run->undecided());

#pragma once

#include <memory>

#include "framework/backend/backend.h"
#include "framework/core/status.h"
#include "framework/testing/measure/measure.h"
#include "framework/testing/record/record.h"
#include "framework/train/optdiff/locked_run.h"

namespace assay::optimizer {

/// Makes the oracle; loads its module where no module has registered it. Failed
/// precondition where the run has none.
Result<std::unique_ptr<Backend>> OpenOracle(const record::RunFacts& facts);

/// Suspect, reason undecided, for a pass with a loss or a gradient that is
/// neither right nor wrong: it proves nothing.
measure::Judgement Decided(measure::Judgement verdict,
                           const optdiff::Undecided& undecided);

}  // namespace assay::optimizer
