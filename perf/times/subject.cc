// SPDX-License-Identifier: Apache-2.0

#include "perf/times/subject.h"

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

JudgesOutputs ByExpected(cases::Limit limit, std::vector<Value> want) {
  return [limit = std::move(limit), want = std::move(want)](
             std::span<const Value> outputs) -> std::string {
    const auto verdict =
        measure::Judge({}, measure::Measure(outputs, want, {}, limit));
    return verdict.outcome == Outcome::kPass ? "" : verdict.message;
  };
}

measure::Judgement Suspect(const std::string& forgery) {
  return {Outcome::kSuspect, record::ReasonCode(std::string(kForgedTime)),
          forgery};
}

}  // namespace

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
                                       Timer* timer) {
  ASSAY_ASSIGN_OR_RETURN(const std::string forgery,
                         timer->Forgery(call_ns, calls));
  if (!timer->fault().empty()) {
    return measure::Judgement{Outcome::kFail, Reason::kValue,
                              StrCat("in a timed call, ", timer->fault())};
  }
  if (!forgery.empty()) return Suspect(forgery);
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
  const auto& [model, inputs, targets] = timed.subject;
  const measure::Observation seen =
      measure::Run(backend, model, inputs[0], {}, &ready.network);
  result->load_us = seen.load_us;
  if (!seen.status.ok()) {
    ready.verdict = measure::Judge(seen, {});
    return ready;
  }
  result->run_us = seen.run_us;
  result->placement = seen.placement;
  result->via_function = seen.via_function;
  if (std::string fault = timed.judges[0](seen.outputs); !fault.empty()) {
    ready.verdict = {Outcome::kFail, Reason::kValue, std::move(fault)};
    return ready;
  }
  std::vector<Judged> judged;
  for (size_t i = 0; i < inputs.size(); ++i) {
    judged.push_back({inputs[i], timed.judges[i]});
  }
  ready.timer = std::make_unique<Timer>(
      FreshInputs(timed.kinds, model->graph(), inputs[0], seed),
      std::move(judged), budget_ns, seed);
  const Status bound = ready.timer->Bind(*ready.network, seen.outputs);
  if (bound.ok()) {
    ready.verdict = {Outcome::kPass, Reason::kNone, ""};
  } else {
    ready.verdict = FailedIn(bound);
    ready.timer.reset();
  }
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
