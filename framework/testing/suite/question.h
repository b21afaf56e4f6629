// SPDX-License-Identifier: Apache-2.0
//
// Question: something that an oracle is asked about a case, before a backend is
// judged by the answer. A suite has as many as it needs; the usual one is what
// the outputs are.
//
//   ASSAY_ASSIGN_OR_RETURN(const Subject subject, SubjectOf(row, facts));
//   ASSAY_ASSIGN_OR_RETURN(auto run,
//                          exact->At(subject.inputs[0], subject.targets));
//   const auto answers = EvaluationOf(row).ask(*run, subject);

#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "framework/backend/exact.h"
#include "framework/core/status.h"
#include "framework/core/value.h"
#include "framework/graph/model.h"
#include "framework/testing/measure/exact_answers.h"
#include "framework/testing/record/rows.h"

namespace assay::suite {

/// What a case is about: the model, its inputs, a list for each data set, and
/// the values that derivatives are taken of.
struct Subject {
  std::shared_ptr<const Model> model;
  std::vector<std::vector<Value>> inputs;
  std::vector<std::string> targets;
};

/// The file beside a case's model that says that its inputs are those of a
/// subject as they are, not what one is made from: the names of its targets, a
/// line each.
inline constexpr char kTargetsFile[] = "targets.txt";

/// The subject in the files of a case; nothing where these hold none.
Result<std::optional<Subject>> SubjectInFiles(const record::PlanRow& row);

struct Question {
  /// The list of answers on file. It says all that the answer depends on beside
  /// the files of the case: kept answers to a question of another name are
  /// stale.
  std::string name;
  /// Unsupported and unavailable where the oracle declines.
  std::function<Result<std::vector<measure::ExactAnswer>>(ExactRun&,
                                                          const Subject&)>
      ask;
};

/// Ok where a case has answers. Not found where the oracle was not asked,
/// unsupported for this reason where it declined, data loss where it failed.
Status CheckAnswered(const record::PlanRow& row, Reason declined);

/// The outputs, with their condition units: in twice the precision of the
/// case's widest type, or in more until they are known to an eighth of an ULP.
Question EvaluationOf(const record::PlanRow& row);

}  // namespace assay::suite
