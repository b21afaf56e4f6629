// SPDX-License-Identifier: Apache-2.0

#include "gradcheck/judge/judge.h"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "framework/testing/suite/suite.h"
#include "gradcheck/answer/questions.h"
#include "gradcheck/case/subject.h"
#include "gradcheck/judge/checks.h"
#include "gradcheck/judge/drawn_mask.h"
#include "gradcheck/judge/gradient_row.h"
#include "gradcheck/judge/verdict.h"
#include "gradcheck/run/trial.h"

namespace assay::gradcheck {
namespace {

using record::Outcome;

/// In order: the first that decides the case is the last that is asked.
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
  // Of others first, so that what keeps anything of it is seen by all checks.
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

/// What is drawn at random has no exact answer, but may have one given the
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

}  // namespace assay::gradcheck
