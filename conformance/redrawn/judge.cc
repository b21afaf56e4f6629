// SPDX-License-Identifier: Apache-2.0

#include "conformance/redrawn/judge.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/redrawn/case.h"
#include "framework/core/text.h"
#include "framework/testing/limit/limit.h"
#include "framework/testing/suite/suite.h"

namespace assay::redrawn {
namespace {

/// Every output of these operators is an element of an input as it is, or with
/// its sign changed, or an integer.
constexpr std::string_view kCopies =
    "Abs CenterCropPad Compress Concat ConcatFromSequence DepthToSpace Expand "
    "Flatten Gather GatherElements GatherND GlobalMaxPool Identity Max "
    "MaxPool MaxUnpool Min Neg OneHot Pad ReduceMax ReduceMin Relu Reshape "
    "ReverseSequence SequenceInsert Slice SpaceToDepth Split SplitToSequence "
    "Squeeze TensorScatter Tile TopK Transpose Trilu Unique Unsqueeze Where";

int64_t CountFinite(const Tensor& numbers) {
  return std::ranges::count_if(numbers.elements<double>(),
                               [](double x) { return std::isfinite(x); });
}

/// Units that are not known say nothing: the tolerance alone decides.
Tensor Known(const Tensor& units) {
  if (!units.defined()) return units;
  auto known = units.Clone();
  if (!known.ok()) return Tensor();
  for (double& x : known->mutable_elements<double>()) {
    if (!std::isfinite(x)) x = 0;
  }
  return *std::move(known);
}

using record::Outcome;

measure::Judgement Stopped(const Status& status) {
  return {suite::OutcomeOf(status), status.reason(), status.message()};
}

measure::Judgement Fail(std::string message) {
  return {Outcome::kFail, Reason::kValue, std::move(message)};
}

/// Holds the outputs of a run against the answers.
measure::Judgement JudgeOutputs(
    const Graph& graph, const cases::Limit& limit,
    const measure::Observation& seen,
    const std::vector<measure::ExactAnswer>& answers) {
  if (seen.outputs.size() != answers.size()) {
    return Fail(StrCat("found ", seen.outputs.size(), " outputs, wanted ",
                       answers.size()));
  }
  OutputJudge judge(graph, limit);
  for (size_t i = 0; i < answers.size(); ++i) {
    const std::string fault = judge.FaultOf(i, seen.outputs[i], answers[i]);
    if (fault.empty()) continue;
    return Fail(StrCat("at inputs drawn for this run output ",
                       seen.output_names[i], ": ", fault));
  }
  if (judge.known() > 0) return {Outcome::kPass, Reason::kNone, ""};
  return {Outcome::kSuspect, Reason::kValue,
          "the oracle knows no element of the outputs at these inputs"};
}

}  // namespace

bool OnlyCopies(const Graph& graph) {
  return std::ranges::all_of(graph.nodes, [](const Node& node) {
    return node.domain.empty() &&
           StrCat(" ", kCopies, " ").find(StrCat(" ", node.op_type, " ")) !=
               std::string::npos;
  });
}

OutputJudge::OutputJudge(const Graph& graph, const cases::Limit& limit)
    : graph_(graph), limit_(limit), exact_(OnlyCopies(graph)) {
  if (exact_) limit_.rtol = limit_.atol = 0;
}

std::string OutputJudge::FaultOf(size_t index, const Value& got,
                                 const measure::ExactAnswer& answer) {
  if (!answer.value.present()) return "";
  const DType declared = graph_[graph_.outputs[index]].type.dtype;
  const Tensor* const tensor = got.tensor();
  if (tensor != nullptr && declared != DType::kUndefined &&
      tensor->dtype() != declared) {
    return StrCat("found ", tensor->Signature(), ", wanted ", declared);
  }
  return FaultOfValue(got, answer);
}

std::string OutputJudge::FaultOfTensor(const Tensor& got,
                                       const measure::ExactAnswer& answer) {
  measure::ExactAnswer known = answer;
  // Sequences and optionals hold numbers without a bound: as they are.
  if (!known.bound.defined()) {
    auto zeros =
        Tensor::Allocate(DType::kFloat64, known.value.tensor()->shape());
    if (!zeros.ok()) return zeros.status().message();
    known.bound = *std::move(zeros);
  }
  known.units = exact_ ? Tensor() : Known(known.units);
  known.hard_units = exact_ ? Tensor() : Known(known.hard_units);
  known_ += CountFinite(known.bound);
  return limit::FaultOf(got, known, {got.dtype(), limit_.rtol, limit_.atol});
}

std::string OutputJudge::FaultOfValue(const Value& got,
                                      const measure::ExactAnswer& answer) {
  const Value& want = answer.value;
  const Tensor* const tensor = got.tensor();
  if (tensor != nullptr && IsFloatingPoint(tensor->dtype()) &&
      want.tensor() != nullptr && want.tensor()->dtype() == DType::kFloat64) {
    return FaultOfTensor(*tensor, answer);
  }
  const Sequence* const items = got.sequence();
  if (items != nullptr && want.sequence() != nullptr &&
      items->items.size() == want.sequence()->items.size()) {
    for (size_t i = 0; i < items->items.size(); ++i) {
      measure::ExactAnswer part;
      part.value = want.sequence()->items[i];
      const std::string fault = FaultOfValue(items->items[i], part);
      if (!fault.empty()) return StrCat("item ", i, ": ", fault);
    }
    ++known_;
    return "";
  }
  if (got.optional() != nullptr && want.optional() != nullptr &&
      got.optional()->has_value() && want.optional()->has_value()) {
    measure::ExactAnswer part;
    part.value = *want.optional()->value;
    return FaultOfValue(*got.optional()->value, part);
  }
  ++known_;
  measure::Observation seen;
  const auto verdict = measure::Judge(
      seen, measure::Measure({&got, 1}, {&want, 1}, {},
                             {.comparator = record::Comparator::kExact}));
  return verdict.outcome == record::Outcome::kPass ? "" : verdict.message;
}

measure::Judgement Judge(const record::PlanRow& row, Backend& backend,
                         const record::RunFacts& facts,
                         record::Record* record) {
  const auto subject = SubjectOf(row, facts);
  if (!subject.ok()) return Stopped(subject.status());
  const auto answers = ReadAnswers(row, facts);
  if (!answers.ok()) return Stopped(answers.status());
  const measure::Observation seen =
      measure::Run(backend, subject->model, subject->inputs[0], {});
  record::ResultRow& result = record->result;
  result.load_us = seen.load_us;
  if (seen.stage != measure::Stage::kLoad) result.run_us = seen.run_us;
  result.placement = seen.placement;
  result.via_function = seen.via_function;
  if (!seen.status.ok()) return measure::Judge(seen, {});
  const int64_t judging = record::SteadyMicroseconds();
  const cases::Limit limit = {row.comparator, row.rtol.value_or(0),
                              row.atol.value_or(0), row.limit_source};
  for (const measure::OutputMetrics& m : measure::MeasureExact(
           seen.outputs, *answers, seen.output_names, limit, "oracle")) {
    record->Add(suite::AccuracyRowOf(m));
  }
  measure::Judgement verdict =
      JudgeOutputs(subject->model->graph(), limit, seen, *answers);
  result.judge_us = record::SteadyMicroseconds() - judging;
  return verdict;
}

}  // namespace assay::redrawn
