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

measure::Judgement Undecided(std::string message) {
  return {Outcome::kUnsupported,
          record::ReasonCode(std::string(record::kUndecided)),
          std::move(message)};
}

/// The share of an output's size that may stay open where it is judged: 1 %, or
/// 16 roundings of a type that has fewer digits.
double MostOpen(DType type) {
  return std::max(0.01, 16 * limit::UnitRoundoff(type));
}

/// A run on inputs of a case, or on others that were drawn.
struct Ran {
  const Graph& graph;
  bool is_drawn;
  const measure::Observation& seen;
  const std::vector<measure::ExactAnswer>& answers;
};

/// Holds the outputs of a run against the answers. Drawn inputs are beside the
/// case's own: one number of all outputs is worth a verdict.
measure::Judgement JudgeOutputs(const Ran& ran, const cases::Limit& limit) {
  const auto& [graph, is_drawn, seen, answers] = ran;
  if (seen.outputs.size() != answers.size()) {
    return Fail(StrCat("found ", seen.outputs.size(), " outputs, wanted ",
                       answers.size()));
  }
  OutputJudge judge(graph, limit);
  std::vector<std::string> doubts;
  for (size_t i = 0; i < answers.size(); ++i) {
    const std::string fault = judge.FaultOf(i, seen.outputs[i], answers[i]);
    const std::string output = StrCat("output ", seen.output_names[i], ": ");
    if (!judge.doubt().empty()) doubts.push_back(output + judge.doubt());
    if (fault.empty()) continue;
    return Fail(
        StrCat(is_drawn ? "at inputs drawn for this run " : "", output, fault));
  }
  if (is_drawn && judge.known() == 0) {
    return Undecided(
        "the oracle knows no element of the outputs at these inputs");
  }
  if (!is_drawn && !doubts.empty()) return Undecided(Joined(doubts, "; "));
  return {Outcome::kPass, Reason::kNone, ""};
}

/// Runs the backend on inputs, and adds what it took to the record.
measure::Observation Observe(const suite::Subject& subject, size_t set,
                             Backend& backend, record::ResultRow* result) {
  measure::Observation seen =
      measure::Run(backend, subject.model, subject.inputs[set], {});
  result->load_us = result->load_us.value_or(0) + seen.load_us;
  if (seen.stage != measure::Stage::kLoad) {
    result->run_us = result->run_us.value_or(0) + seen.run_us;
  }
  result->placement = seen.placement;
  result->via_function = seen.via_function;
  return seen;
}

/// Measures the outputs of a run, and judges them.
measure::Judgement Measured(const Ran& ran, const record::PlanRow& row,
                            record::Record* record) {
  const int64_t judging = record::SteadyMicroseconds();
  const cases::Limit limit = {row.comparator, row.rtol.value_or(0),
                              row.atol.value_or(0), row.limit_source};
  for (const measure::OutputMetrics& m :
       measure::MeasureExact(ran.seen.outputs, ran.answers,
                             ran.seen.output_names, limit, "oracle")) {
    record->Add(suite::AccuracyRowOf(m));
  }
  measure::Judgement verdict = JudgeOutputs(ran, limit);
  record::ResultRow& result = record->result;
  result.judge_us =
      result.judge_us.value_or(0) + record::SteadyMicroseconds() - judging;
  return verdict;
}

bool IsEmpty(const std::vector<Value>& outputs) {
  return std::ranges::all_of(outputs, [](const Value& value) {
    return value.tensor() != nullptr && value.tensor()->num_elements() == 0;
  });
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
  doubt_.clear();
  if (!answer.value.present()) {
    doubt_ = "the oracle knows nothing of it";
    return "";
  }
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
  const limit::OutputLimit within = {got.dtype(), limit_.rtol, limit_.atol};
  std::string fault = limit::FaultOf(got, known, within);
  if (!fault.empty()) return fault;
  const double open = limit::OpenShare(known, within);
  const double most = MostOpen(got.dtype());
  if (std::isinf(open)) {
    doubt_ = "the oracle knows none of its elements";
  } else if (open > most && limit::ErrorShare(got, known) > limit_.rtol) {
    doubt_ =
        StrCat("it is off by ", limit::ErrorShare(got, known),
               " of its size and may be by ", open, ", wanted at most ", most);
  }
  return "";
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
  if (answers.status().code() == StatusCode::kUnsupported) {
    return Undecided(answers.status().message());
  }
  if (!answers.ok()) return Stopped(answers.status());
  const measure::Observation seen =
      Observe(*subject, 0, backend, &record->result);
  if (!seen.status.ok()) return measure::Judge(seen, {});
  return Measured({subject->model->graph(), true, seen, *answers}, row, record);
}

measure::Judgement JudgeUnstated(const record::PlanRow& row, Backend& backend,
                                 const record::RunFacts& facts,
                                 record::Record* record) {
  const auto subject = suite::SubjectOf(row, facts);
  if (!subject.ok()) return Stopped(subject.status());
  measure::Judgement verdict;
  bool is_empty = true;
  for (size_t i = 0; i < subject->inputs.size(); ++i) {
    const measure::Observation seen =
        Observe(*subject, i, backend, &record->result);
    if (!seen.status.ok()) return measure::Judge(seen, {});
    const auto answers = ReadUnstated(row, i);
    if (!answers.ok() && row.oracle.empty()) {
      return Undecided(answers.status().message());
    }
    if (!answers.ok()) return Stopped(answers.status());
    is_empty = is_empty && IsEmpty(seen.outputs);
    verdict =
        Measured({subject->model->graph(), false, seen, *answers}, row, record);
    if (verdict.outcome == Outcome::kPass) continue;
    if (subject->inputs.size() > 1) {
      verdict.message = StrCat("data set ", i, ": ", verdict.message);
    }
    return verdict;
  }
  record->result.vacuous = is_empty;
  return verdict;
}

}  // namespace assay::redrawn
