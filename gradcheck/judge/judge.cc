// SPDX-License-Identifier: Apache-2.0

#include "gradcheck/judge/judge.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "framework/file/csv.h"
#include "framework/testing/limit/limit.h"
#include "gradcheck/answer/questions.h"
#include "gradcheck/case/subject.h"
#include "gradcheck/draw/draw.h"
#include "gradcheck/judge/checks.h"
#include "gradcheck/judge/gradient_row.h"

namespace assay::gradcheck {
namespace {

using record::Outcome;

/// The checks in their order: the first that decides the case is the last to
/// run.
constexpr Check kOfGradients[] = {&CheckForward, &CheckElements, &CheckTangent};
constexpr Check kOfManyRuns[] = {&CheckStructure, &CheckJacobian};

Decided FirstOf(std::span<const Check> checks, const Context& context,
                Trial& trial, Findings* found) {
  for (const Check check : checks) {
    Decided decided = check(context, trial, found);
    if (decided.has_value()) return decided;
  }
  return std::nullopt;
}

measure::Judgement Passed(const Findings& found) {
  if (found.judged == 0) {
    return Verdict(Outcome::kPass, kVacuous,
                   "no element of a gradient is known or there is none");
  }
  if (found.non_zero == 0) return Verdict(Outcome::kPass, kZero, "");
  if (found.non_finite > 0) return Verdict(Outcome::kPass, kMasked, "");
  if (found.telling == 0) {
    return Verdict(Outcome::kPass, kVacuous,
                   "all that is known of the gradients is where they are zero");
  }
  if (found.kinks > 0) return Verdict(Outcome::kPass, kSubgradient, "");
  return {Outcome::kPass, Reason::kNone, ""};
}

void AddTo(const Findings& found, const Trial& trial,
           const measure::Judgement& verdict, record::Record* record) {
  record::ResultRow& result = record->result;
  for (GradientRow row : found.rows) {
    row.forward_us = found.forward_us;
    row.n_forward = trial.n_forward();
    row.n_backward = trial.n_backward();
    row.reason_code = verdict.reason.text();
    record->Add(row);
    if (row.headroom.has_value()) {
      result.headroom = std::min(result.headroom.value_or(1), *row.headroom);
    }
  }
  result.limit_source = "units";
  result.run_us = trial.forward_us() + trial.backward_us();
  result.vacuous = verdict.outcome == Outcome::kPass && found.telling == 0;
}

measure::Judgement JudgeTrial(const Context& context, Trial& trial,
                              record::Record* record) {
  // The forward runs of other inputs come first, so that all checks see a
  // backend that keeps anything of them.
  for (const auto forward : {&Trial::ForwardOfOthers, &Trial::ForwardOfOwn}) {
    if (const Status ran = (trial.*forward)(); !ran.ok()) {
      return StoppedRunning(ran, "Forward");
    }
  }
  Findings found;
  found.forward_us = trial.forward_us() / trial.n_forward();
  Decided decided = FirstOf(kOfGradients, context, trial, &found);
  decided = BesideDifferences(context, trial, &found, std::move(decided));
  if (!decided.has_value()) {
    decided = FirstOf(kOfManyRuns, context, trial, &found);
  }
  measure::Judgement verdict =
      decided.has_value() ? *std::move(decided) : Passed(found);
  AddTo(found, trial, verdict, record);
  return verdict;
}

/// A case that draws at random has no exact answer, but may have one given the
/// draw.
measure::Judgement JudgeUnanswered(const GradientCase& c, const Status& why,
                                   Trial& trial) {
  if (why.code() == StatusCode::kDataLoss) {
    return Verdict(Outcome::kError, kFailOracle, why.message());
  }
  const auto drawn = JudgeDrawnMask(c, trial);
  if (!drawn.ok()) {
    return Verdict(Outcome::kUnsupported, kFailOracle, why.message());
  }
  if (drawn->empty()) return Verdict(Outcome::kPass, kStochastic, "");
  return Verdict(Outcome::kFail, kFailBackward, *drawn);
}

bool HasGradients(const suite::Subject& subject) {
  return !subject.targets.empty() &&
         std::ranges::count(CarryingOutputs(*subject.model), true) > 0;
}

constexpr double kRoundings = 4;  // of a product, the mask's number and of ours

/// y / x for each element; 0 where x is 0. Not found where they are not zeros
/// and one other number.
Result<std::vector<double>> MaskOf(const std::vector<double>& x,
                                   const std::vector<double>& y,
                                   double roundoff) {
  std::vector<double> mask(x.size());
  double scale = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    if (x[i] == 0) continue;
    mask[i] = y[i] / x[i];
    if (mask[i] == 0) continue;
    if (scale == 0) scale = mask[i];
    if (!(std::abs(mask[i] - scale) <= kRoundings * roundoff * scale)) {
      return NotFound("the output is no mask times the input");
    }
  }
  return mask;
}

}  // namespace

measure::Judgement Judge(const GradientCase& c, Backend& backend,
                         record::Record* record) {
  const auto subject = SubjectOf(c);
  if (!subject.ok()) {
    measure::Judgement verdict = Stopped(subject.status());
    verdict.reason = Reason::kReader;
    return verdict;
  }
  if (!HasGradients(*subject)) {
    return Verdict(Outcome::kUnsupported, kNotDifferentiable,
                   "no input and output that the catalogue calls "
                   "differentiable");
  }
  auto trial = Trial::Load(backend, *subject);
  if (!trial.ok()) return Stopped(trial.status());
  record->result.load_us = trial->load_us();
  const int64_t began = record::SteadyMicroseconds();
  const auto answers = ReadGradientAnswers(c);
  if (!answers.ok()) return JudgeUnanswered(c, answers.status(), *trial);
  const std::string disagreement = answers->ladder.Disagreement();
  if (!disagreement.empty()) {
    return Verdict(Outcome::kError, kFailOracle, disagreement);
  }
  measure::Judgement verdict = JudgeTrial(
      {c, *subject, *answers, trial->Accumulator(c)}, *trial, record);
  record->result.judge_us =
      record::SteadyMicroseconds() - began - record->result.run_us.value_or(0);
  return verdict;
}

Result<std::string> JudgeDrawnMask(const GradientCase& c, Trial& trial) {
  ASSAY_RETURN_IF_ERROR(trial.Forward());
  const Tensor* const y =
      trial.outputs().empty() ? nullptr : trial.outputs()[0].tensor();
  if (trial.targets().size() != 1 || !trial.FeedsTargets() || y == nullptr ||
      !Carries(y->dtype())) {
    return NotFound("no output of one differentiable input");
  }
  const double roundoff = limit::UnitRoundoff(y->dtype());
  ASSAY_ASSIGN_OR_RETURN(const std::vector<double> x, trial.NumbersOf(0));
  const std::vector<double> of_y = NumbersOf(*y);
  if (of_y.size() != x.size()) return NotFound("the output has another shape");
  ASSAY_ASSIGN_OR_RETURN(const auto mask, MaskOf(x, of_y, roundoff));
  Draw draw = c.Drawn("random 1");
  const int bits = CotangentBits(y->dtype(), c.variant.input_class);
  const std::vector<double> weights = Weights(std::ssize(x), bits, draw);
  std::vector<Value> dy(trial.outputs().size());
  ASSAY_ASSIGN_OR_RETURN(dy[0], Tensor::Of<double>(y->shape(), weights));
  ASSAY_ASSIGN_OR_RETURN(const auto gradients,
                         trial.Backward(dy, trial.targets()));
  const std::vector<double> got = NumbersOf(*gradients[0].tensor());
  if (got.size() != x.size()) return std::string("the gradient's shape");
  for (size_t i = 0; i < x.size(); ++i) {
    const double want = weights[i] * mask[i];
    if (x[i] == 0 ||
        std::abs(got[i] - want) <= kRoundings * roundoff * std::abs(want)) {
      continue;
    }
    return StrCat("element ", i, " of the gradient of '", trial.targets()[0],
                  "' is ", file::ToText(got[i]),
                  ", the drawn mask times the cotangent is ",
                  file::ToText(want));
  }
  return trial.Damage();
}

}  // namespace assay::gradcheck
