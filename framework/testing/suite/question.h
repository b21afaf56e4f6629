// SPDX-License-Identifier: Apache-2.0
//
// Question: something that an oracle is asked about a case, before a backend is
// judged by the answer. A suite has as many as it needs; the usual one is what
// the outputs are.
//
//   const Question question = EvaluationOf(row);
//   ASSAY_ASSIGN_OR_RETURN(auto run, exact->At(inputs, question.targets));
//   const auto answers = question.ask(*run);

#pragma once

#include <functional>
#include <string>
#include <vector>

#include "framework/backend/exact.h"
#include "framework/core/status.h"
#include "framework/testing/measure/exact_answers.h"
#include "framework/testing/record/rows.h"

namespace assay::suite {

struct Question {
  /// The list of answers on file. It says all that the answer depends on beside
  /// model and inputs: kept answers to a question of another name are stale.
  std::string name;
  /// What derivatives are taken of. Questions of the same targets share a run.
  std::vector<std::string> targets;
  /// Unsupported and unavailable where the oracle declines.
  std::function<Result<std::vector<measure::ExactAnswer>>(ExactRun&)> ask;
};

/// The outputs, with their condition units: in twice the precision of the case's
/// widest type, or in more until they are known to an eighth of an ULP.
Question EvaluationOf(const record::PlanRow& row);

}  // namespace assay::suite
