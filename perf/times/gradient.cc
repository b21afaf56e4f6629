// SPDX-License-Identifier: Apache-2.0

#include "perf/times/gradient.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "conformance/redrawn/case.h"
#include "framework/core/text.h"
#include "gradcheck/case/subject.h"
#include "gradcheck/draw/draw.h"
#include "gradcheck/run/compare.h"
#include "perf/times/sources.h"

namespace assay::times {
namespace {

using gradcheck::Compared;
using gradcheck::Cotangent;
using gradcheck::GradientCase;

/// The cotangents of a judged set. Those of the last one are in no call before.
Cotangent KindOf(size_t set) {
  return set + 1 < kJudgedSets ? Cotangent::kFirst : Cotangent::kSecond;
}

/// The answers about a set of inputs.
struct SetAnswers {
  std::vector<measure::ExactAnswer> outputs, gradients;
};

/// Not found where the oracle was not asked, unsupported where it declined;
/// data loss for answers that were lost.
Result<SetAnswers> ReadSet(const GradientCase& c, size_t set) {
  ASSAY_RETURN_IF_ERROR(suite::CheckAnswered(c.row, Reason::kGradient));
  ASSAY_ASSIGN_OR_RETURN(
      measure::ExactAnswers lists,
      measure::ReadAnswers(measure::AnswersFile(c.row.oracle, set)));
  SetAnswers answers;
  for (const suite::Question& question : GradientQuestions(c)) {
    std::vector<measure::ExactAnswer>& list = lists[question.name];
    if (Asks(question, "outputs")) answers.outputs = std::move(list);
    if (Asks(question, gradcheck::ToString(KindOf(set)))) {
      answers.gradients = std::move(list);
    }
  }
  if (!answers.outputs.empty() && !answers.gradients.empty()) return answers;
  return DataLoss(c.row.oracle, ": found no answers to ", c.row.test_id);
}

Compared CompareOne(const Tensor& got, const measure::ExactAnswer& answer) {
  return gradcheck::Compare(got, answer, {.type = kTimedVariant.type});
}

JudgesOutputs ByGradients(std::vector<std::string> targets,
                          std::vector<measure::ExactAnswer> answers) {
  return [targets = std::move(targets), answers = std::move(answers)](
             std::span<const Value> gradients) -> std::string {
    if (gradients.size() != answers.size()) {
      return StrCat("found ", gradients.size(), " gradients, wanted ",
                    answers.size());
    }
    for (size_t i = 0; i < answers.size(); ++i) {
      const std::string head = StrCat("the gradient of '", targets[i], "': ");
      if (gradients[i].tensor() == nullptr) return head + "found no tensor";
      const Compared found = CompareOne(*gradients[i].tensor(), answers[i]);
      if (!found.mismatch.empty()) return head + found.mismatch;
      if (found.beyond > 0) {
        return head + gradcheck::InWords(found.worst, kTimedVariant.type);
      }
    }
    return "";
  };
}

/// The elements of the exact gradients that have a limit.
Result<int64_t> JudgedIn(std::span<const measure::ExactAnswer> answers) {
  int64_t judged = 0;
  for (const measure::ExactAnswer& answer : answers) {
    const Tensor& exact = *answer.value.tensor();
    ASSAY_ASSIGN_OR_RETURN(
        const Tensor typed,
        gradcheck::TensorOf(kTimedVariant.type, exact.shape(),
                            gradcheck::NumbersOf(exact)));
    const Compared found = CompareOne(typed, answer);
    judged += found.count - found.unknown - found.refused;
  }
  return judged;
}

/// Those that there are, in the types of their outputs.
Result<std::vector<Value>> CotangentsIn(
    const GradientCase& c, Cotangent kind,
    std::span<const measure::ExactAnswer> outputs, const Model& model) {
  std::vector<Shape> shapes;
  for (const measure::ExactAnswer& answer : outputs) {
    const Tensor* const tensor = answer.value.tensor();
    shapes.push_back(tensor == nullptr ? Shape() : tensor->shape());
  }
  ASSAY_ASSIGN_OR_RETURN(
      const std::vector<Value> all,
      gradcheck::CotangentsOf(
          kind, gradcheck::CotangentBits(model, c.variant.input_class), shapes,
          c.Drawn(gradcheck::ToString(kind))));
  const Graph& graph = model.graph();
  std::vector<Value> typed;
  for (size_t i = 0; i < all.size(); ++i) {
    if (!all[i].present()) continue;
    const Tensor& dy = *all[i].tensor();
    ASSAY_ASSIGN_OR_RETURN(
        typed.emplace_back(),
        gradcheck::TensorOf(graph[graph.outputs[i]].type.dtype, dy.shape(),
                            dy.elements<double>()));
  }
  return typed;
}

/// The values that gradients are taken by: inputs and initializers.
std::vector<Value> ValuesOfTargets(const suite::Subject& subject) {
  const Graph& graph = subject.model->graph();
  std::vector<Value> values;
  for (const std::string& target : subject.targets) {
    const ValueId id = graph.FindValue(target);
    const auto at = std::ranges::find(graph.inputs, id);
    values.push_back(
        at == graph.inputs.end()
            ? *graph.FindInitializer(id)
            : subject
                  .inputs[0][static_cast<size_t>(at - graph.inputs.begin())]);
  }
  return values;
}

/// The cotangents and the judge of one more set.
Status AddSet(const GradientCase& c, TimedSubject* timed) {
  const size_t set = timed->judges.size();
  ASSAY_ASSIGN_OR_RETURN(SetAnswers answers, ReadSet(c, set));
  ASSAY_ASSIGN_OR_RETURN(const int64_t judged, JudgedIn(answers.gradients));
  if (judged == 0) {
    return Unsupported(Reason::kGradient,
                       "no element of a gradient is known or there is none");
  }
  ASSAY_ASSIGN_OR_RETURN(
      timed->backward->cotangents.emplace_back(),
      CotangentsIn(c, KindOf(set), answers.outputs, *timed->subject.model));
  timed->judges.push_back(
      ByGradients(timed->backward->targets, std::move(answers.gradients)));
  return OkStatus();
}

}  // namespace

Result<TimedSubject> OpenGradients(const record::PlanRow& row,
                                   const record::RunFacts& facts) {
  const GradientCase c = *GradientCaseOf(row, facts);
  TimedSubject timed;
  ASSAY_ASSIGN_OR_RETURN(timed.subject, SubjectOf(row, facts));
  const Model& model = *timed.subject.model;
  timed.kinds = redrawn::KindsOf(row, model);
  timed.backward = Backward{.targets = timed.subject.targets,
                            .gradients = ValuesOfTargets(timed.subject),
                            .takes = gradcheck::CarryingOutputs(model),
                            .cotangents = {}};
  for (int set = 0; set < kJudgedSets; ++set) {
    ASSAY_RETURN_IF_ERROR(AddSet(c, &timed));
  }
  return timed;
}

}  // namespace assay::times
