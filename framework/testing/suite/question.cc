// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/suite/question.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <sstream>
#include <utility>

#include "framework/file/file.h"
#include "framework/testing/case/test_case.h"

namespace assay::suite {
namespace {

using Answers = std::vector<measure::ExactAnswer>;

/// A bound that leaves no doubt about a verdict, in ULP.
constexpr double kEnough = 1.0 / 8;

Result<Answers> EvaluateIn(ExactRun& run, Precision precision) {
  ASSAY_ASSIGN_OR_RETURN(std::vector<ExactValue> values,
                         run.Evaluate(precision));
  Answers answers;
  for (ExactValue& value : values) {
    answers.emplace_back(measure::ExactAnswer{std::move(value)});
  }
  return answers;
}

/// True when each element is known to kEnough of a unit in the last place: of
/// float32 where the least precision is double, of float64 where it is quad.
bool IsEnough(const Answers& answers, Precision least) {
  const double half_ulp = least == Precision::kDouble ? 0x1p-24 : 0x1p-53;
  const double smallest = least == Precision::kDouble ? 0x1p-149 : 0x1p-1074;
  return std::ranges::all_of(answers, [&](const measure::ExactAnswer& answer) {
    if (!answer.bound.defined()) return answer.value.present();
    const auto values = answer.value.tensor()->elements<double>();
    const auto bounds = answer.bound.elements<double>();
    for (size_t i = 0; i < bounds.size(); ++i) {
      // Never more than the unit at the value.
      const double unit = std::max(half_ulp * std::abs(values[i]), smallest);
      if (std::isfinite(values[i]) && !(bounds[i] <= kEnough * unit)) {
        return false;
      }
    }
    return true;
  });
}

/// In this precision, or in the least that is worth it, and in more for as long
/// as the answer is not known well enough and the oracle can.
Result<Answers> EvaluateFrom(ExactRun& run, Precision least) {
  Precision more = std::max(least, run.LeastPrecision());
  ASSAY_ASSIGN_OR_RETURN(Answers answers, EvaluateIn(run, more));
  while (more != Precision::kArbitrary && !IsEnough(answers, least)) {
    more =
        more == Precision::kDouble ? Precision::kQuad : Precision::kArbitrary;
    auto better = EvaluateIn(run, more);
    if (!better.ok()) break;
    answers = *std::move(better);
  }
  // They are for the reader; distances are told without them.
  auto units = run.EvaluateUnits(UnitKind::kCondition);
  for (size_t i = 0; units.ok() && i < units->size(); ++i) {
    if (i < answers.size()) answers[i].units = std::move((*units)[i]);
  }
  return answers;
}

}  // namespace

Result<std::optional<Subject>> SubjectInFiles(const record::PlanRow& row) {
  const auto file = std::filesystem::path(row.directory) / kTargetsFile;
  std::error_code error;
  if (row.directory.empty() || !std::filesystem::exists(file, error)) {
    return std::optional<Subject>();
  }
  ASSAY_ASSIGN_OR_RETURN(const std::string text, file::ReadFile(file));
  ASSAY_ASSIGN_OR_RETURN(cases::CaseData data,
                         cases::ReadCaseInputs(row.directory, 1));
  Subject subject{std::move(data.model), {std::move(data.sets[0].inputs)}, {}};
  const Graph& graph = subject.model->graph();
  std::istringstream lines(text);
  for (std::string name; std::getline(lines, name);) {
    const auto named = [&](ValueId id) { return graph[id].name == name; };
    if (std::ranges::none_of(graph.inputs, named)) {
      return DataLoss(file.string(), ": found '", name,
                      "', wanted an input of the model");
    }
    subject.targets.push_back(std::move(name));
  }
  return std::optional(std::move(subject));
}

Status CheckAnswered(const record::PlanRow& row, Reason declined) {
  if (!row.oracle.empty()) return OkStatus();
  if (!row.oracle_outcome.has_value()) {
    return NotFound("no exact answer: the oracle was not asked");
  }
  if (*row.oracle_outcome == record::Outcome::kUnsupported) {
    return Unsupported(
        declined, "no exact answer: the oracle declined: ", row.oracle_message);
  }
  return DataLoss("no exact answer: the oracle ended with ",
                  *row.oracle_outcome, ": ", row.oracle_message);
}

Question EvaluationOf(const record::PlanRow& row) {
  const Precision precision = measure::OraclePrecision(row.dtypes);
  return {StrCat("evaluate from ", measure::ToString(precision)),
          [precision](ExactRun& run, const Subject&) {
            return EvaluateFrom(run, precision);
          }};
}

}  // namespace assay::suite
