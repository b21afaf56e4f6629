// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/suite/question.h"

#include <utility>

namespace assay::suite {
namespace {

Result<std::vector<measure::ExactAnswer>> Evaluate(Exact& exact,
                                                   const cases::DataSet& set,
                                                   Precision precision) {
  ASSAY_ASSIGN_OR_RETURN(std::vector<ExactValue> values,
                         exact.Evaluate(set.inputs, precision));
  std::vector<measure::ExactAnswer> answers;
  for (ExactValue& value : values) {
    answers.emplace_back(measure::ExactAnswer{std::move(value), {}});
  }
  // They are for the reader; distances are told without them.
  auto units = exact.ConditionUnits(set.inputs);
  for (size_t i = 0; units.ok() && i < units->size(); ++i) {
    if (i < answers.size()) answers[i].units = std::move((*units)[i]);
  }
  return answers;
}

}  // namespace

Question EvaluationOf(const record::PlanRow& row) {
  const Precision precision = measure::OraclePrecision(row.dtypes);
  return {StrCat("evaluate ", measure::ToString(precision)),
          [precision](Exact& exact, const cases::DataSet& set) {
            return Evaluate(exact, set, precision);
          }};
}

}  // namespace assay::suite
