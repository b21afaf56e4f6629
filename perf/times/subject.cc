// SPDX-License-Identifier: Apache-2.0

#include "perf/times/subject.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "conformance/redrawn/case.h"
#include "conformance/redrawn/judge.h"
#include "framework/core/numbers.h"
#include "framework/core/text.h"
#include "framework/testing/measure/exact_answers.h"
#include "framework/timing/clock.h"

namespace assay::times {
namespace {

using record::Outcome;

/// The inputs of a call of a whole model: the extent of its first axis.
int64_t BatchOf(const record::PlanRow& row, const suite::Subject& subject) {
  if (row.kind != "model") return 0;
  const std::vector<Value>& inputs = subject.inputs[0];
  const Tensor* const first = inputs.empty() ? nullptr : inputs[0].tensor();
  return first == nullptr || first->shape().rank() == 0 ? 1 : first->shape()[0];
}

}  // namespace

cases::Limit LimitOf(const record::PlanRow& row) {
  return {row.comparator, row.rtol.value_or(0), row.atol.value_or(0),
          row.limit_source};
}

JudgesOutputs ByAnswers(std::shared_ptr<const Model> model, cases::Limit limit,
                        std::vector<measure::ExactAnswer> answers) {
  return [model = std::move(model), limit = std::move(limit),
          answers = std::move(answers)](
             std::span<const Value> outputs) -> std::string {
    if (outputs.size() != answers.size()) {
      return StrCat("found ", outputs.size(), " outputs, wanted ",
                    answers.size());
    }
    redrawn::OutputJudge judge(model->graph(), limit);
    for (size_t i = 0; i < answers.size(); ++i) {
      const std::string fault = judge.FaultOf(i, outputs[i], answers[i]);
      if (!fault.empty()) return StrCat("output ", i, ": ", fault);
    }
    return "";
  };
}

namespace {

JudgesOutputs ByExpected(cases::Limit limit, std::vector<Value> want) {
  return [limit = std::move(limit), want = std::move(want)](
             std::span<const Value> outputs) -> std::string {
    const auto verdict =
        measure::Judge({}, measure::Measure(outputs, want, {}, limit));
    return verdict.outcome == Outcome::kPass ? "" : verdict.message;
  };
}

/// Sets of inputs, with their cotangents behind them.
std::vector<Judged> JudgedOf(const TimedSubject& timed) {
  std::vector<Judged> judged;
  for (size_t i = 0; i < timed.judges.size(); ++i) {
    judged.push_back({timed.subject.inputs[i], timed.judges[i]});
    if (!timed.backward.has_value()) continue;
    std::ranges::copy(timed.backward->cotangents[i],
                      std::back_inserter(judged.back().inputs));
  }
  return judged;
}

measure::Judgement Suspect(const std::string& forgery) {
  return {Outcome::kSuspect, record::ReasonCode(std::string(kForgedTime)),
          forgery};
}

/// Binds the timer. Judges the outputs that were seen, before memory like
/// theirs is bound, or the gradients of a first call.
measure::Judgement FirstVerdict(const TimedSubject& timed, Network& network,
                                const measure::Observation& seen,
                                Timer* timer) {
  const Backward* const backward =
      timed.backward.has_value() ? &*timed.backward : nullptr;
  Result<std::string> fault = std::string();
  if (backward == nullptr) fault = timed.judges[0](seen.outputs);
  if (fault->empty()) {
    const Status bound = timer->Bind(network, seen.outputs, backward);
    if (!bound.ok()) return FailedIn(bound);
    if (backward != nullptr) fault = timer->FirstFault();
  }
  if (!fault.ok()) return FailedIn(fault.status(), *timer);
  if (!fault->empty()) return {Outcome::kFail, Reason::kValue, *fault};
  return {Outcome::kPass, Reason::kNone, ""};
}

}  // namespace

LoadOptions TimedSubject::options() const {
  LoadOptions options;
  if (backward.has_value()) options.gradient_targets = backward->targets;
  return options;
}

measure::Judgement Unopened(const Status& status) {
  measure::Judgement judged = StoppedBy(status);
  if (judged.outcome == Outcome::kUnsupported) {
    judged.reason = record::ReasonCode(std::string(record::kUndecided));
  }
  return judged;
}

measure::Judgement StoppedBy(const Status& status) {
  return {suite::OutcomeOf(status), status.reason(), status.message()};
}

measure::Judgement FailedIn(const Status& status) {
  return {Outcome::kError, status.reason(), status.message()};
}

measure::Judgement FailedIn(const Status& status, const Timer& timer) {
  return timer.forged().empty() ? FailedIn(status) : Suspect(timer.forged());
}

Result<measure::Judgement> CheckHonest(double call_ns, int64_t calls,
                                       const IsNoisy& is_noisy, Timer* timer) {
  const Meanwhile meanwhile;
  ASSAY_ASSIGN_OR_RETURN(const Forgery forgery,
                         timer->ForgeryOf(call_ns, calls));
  if (!timer->fault().empty()) {
    return measure::Judgement{Outcome::kFail, Reason::kValue,
                              StrCat("in a timed call, ", timer->fault())};
  }
  if (!forgery.why.empty() && (forgery.may_be_noise || is_noisy(meanwhile))) {
    return measure::Judgement{
        Outcome::kUnsupported,
        record::ReasonCode(std::string(record::kUndecided)),
        StrCat("the machine was not quiet: ", forgery.why)};
  }
  if (!forgery.why.empty()) return Suspect(forgery.why);
  return measure::Judgement{Outcome::kPass, Reason::kNone, ""};
}

int64_t BudgetOf(const record::RunFacts& facts) {
  return static_cast<int64_t>(facts.time_budget_s * 1e9);
}

uint64_t SeedOf(const record::PlanRow& row, const record::RunFacts& facts) {
  return core::KeyOf(
      core::StableHash(row.test_id) + static_cast<uint64_t>(facts.seed),
      facts.attempt);
}

Result<TimedSubject> OpenSubject(const record::PlanRow& row,
                                 const record::RunFacts& facts) {
  TimedSubject timed;
  ASSAY_ASSIGN_OR_RETURN(timed.subject, SubjectOf(row, facts));
  timed.batch = BatchOf(row, timed.subject);
  if (row.drawn) {
    timed.kinds = redrawn::KindsOf(row, *timed.subject.model);
    for (size_t i = 0; i < timed.subject.inputs.size(); ++i) {
      ASSAY_ASSIGN_OR_RETURN(auto answers, ReadAnswers(row, facts, i));
      timed.judges.push_back(
          ByAnswers(timed.subject.model, LimitOf(row), std::move(answers)));
    }
    return timed;
  }
  ASSAY_ASSIGN_OR_RETURN(auto data, cases::ReadCaseData(row.directory, 1));
  timed.judges = {ByExpected(LimitOf(row), std::move(data.sets[0].expected))};
  return timed;
}

Ready MakeReady(const TimedSubject& timed, Backend& backend, int64_t budget_ns,
                uint64_t seed, record::ResultRow* result) {
  Ready ready;
  const auto& model = timed.subject.model;
  const measure::Observation seen = measure::Run(
      backend, model, timed.subject.inputs[0], timed.options(), &ready.network);
  result->load_us = seen.load_us;
  if (!seen.status.ok()) {
    ready.verdict = measure::Judge(seen, {});
    return ready;
  }
  result->run_us = seen.run_us;
  result->placement = seen.placement;
  result->via_function = seen.via_function;
  std::vector<Judged> judged = JudgedOf(timed);
  const size_t n_cotangents =
      timed.backward.has_value() ? timed.backward->cotangents[0].size() : 0;
  FreshInputs fresh(timed.kinds, model->graph(), judged[0].inputs, seed,
                    n_cotangents);
  ready.timer = std::make_unique<Timer>(std::move(fresh), std::move(judged),
                                        budget_ns, seed);
  ready.verdict = FirstVerdict(timed, *ready.network, seen, ready.timer.get());
  if (ready.verdict.outcome != Outcome::kPass) ready.timer.reset();
  return ready;
}

Meanwhile::Meanwhile()
    : before_(machine::ConditionsOf("/")), start_ns_(timing::SteadyNow()) {}

machine::Disturbance Meanwhile::disturbance() const {
  return machine::DisturbanceOf(before_, machine::ConditionsOf("/"),
                                timing::SteadyNow() - start_ns_);
}

bool Meanwhile::noisy() const {
  const double loss = machine::SpinLoss(timing::SteadyNow);
  return !machine::NoiseOf(disturbance(), loss, {}).empty();
}

}  // namespace assay::times
