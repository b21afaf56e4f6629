// SPDX-License-Identifier: Apache-2.0

#include "conformance/optimizer/judge.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "conformance/optimizer/case.h"
#include "conformance/optimizer/native_run.h"
#include "framework/backend/registry.h"
#include "framework/core/dtype.h"
#include "framework/core/status.h"
#include "framework/core/text.h"
#include "framework/file/csv.h"
#include "framework/testing/draw/draw.h"
#include "framework/testing/limit/limit.h"
#include "framework/testing/suite/suite.h"
#include "framework/train/graph_rule/graph_rules.h"
#include "framework/train/optdiff/beside_judge.h"
#include "framework/train/optdiff/course.h"
#include "framework/train/optdiff/locked_run.h"
#include "framework/train/optdiff/step_rows.h"
#include "framework/train/optimizer/recipe.h"
#include "framework/train/quad/lockstep_quad.h"
#include "framework/train/quad/quad.h"

namespace assay::optimizer {
namespace {

using file::ToText;
using quad::LockstepQuad;
using quad::Quad;
using quad::QuadTensor;
using record::Outcome;

struct Parties {
  Backend& backend;
  Backend& judge;
};

/// A free run may be off by this many times the reach of the band. The band's
/// roundings have random signs and add up to sqrt(n) after n steps. Those of an
/// approximation may have one sign and add up to n.
double GrowthAt(int64_t step) {
  constexpr double kGrowth = 8;
  return kGrowth * std::sqrt(static_cast<double>(step));
}

/// The steps between two looks at what roundings explain.
constexpr int64_t kRoundedEvery = 10;

const measure::Judgement kPass = {Outcome::kPass, Reason::kNone, ""};

measure::Judgement Fail(const char* reason, std::string message) {
  return {Outcome::kFail, record::ReasonCode(std::string(reason)),
          std::move(message)};
}

/// A backend may decline before it has run. A later failure is an error at its
/// step.
Result<measure::Judgement> Stopped(const Status& status, bool has_run,
                                   int64_t step) {
  if (!has_run) return status;
  return measure::Judgement{Outcome::kError, status.reason(),
                            StrCat("at step ", step, ": ", status.message())};
}

/// Makes the optimizer of a case, whose rule runs here or on the backend.
Result<quad::OptimizerSetup> SetupOf(const StepCase& step_case,
                                     Backend& backend) {
  if (step_case.tier == Tier::kRule) {
    return quad::SetupOf({step_case.optimizer, step_case.preset, ""});
  }
  // These cases have fewer steps; the rate changes within them.
  const train::Recipe recipe = {
      .schedule = train::StepSchedule(
          0.5, {3 * step_case.steps() / 10, 7 * step_case.steps() / 10})};
  ASSAY_ASSIGN_OR_RETURN(
      train::Made made,
      train::MakeGraphOptimizer({step_case.optimizer, step_case.preset},
                                backend, recipe));
  return quad::OptimizerSetup{step_case.optimizer, std::move(made),
                              recipe.schedule};
}

/// Takes the steps of a course up to the first that is wrong, and calls `then`
/// after each.
template <class Run>
Result<measure::Judgement> Walk(const optdiff::Course& course, Run& run,
                                optdiff::StepRows* rows, const auto& then) {
  for (int64_t step = 1; step <= course.steps; ++step) {
    const Result<optdiff::StepFault> fault = run.Step(step, rows);
    if (!fault.ok()) return Stopped(fault.status(), run.has_run(), step);
    if (!fault->what.empty()) {
      return Fail(fault->reason, StrCat("at step ", step, " ", fault->what));
    }
    then();
  }
  return kPass;
}

/// How far runs of one optimizer drift apart by roundings alone. It runs the
/// rule in quad several times. At each step one rounding of the judged type, up
/// or down, is added to every parameter before the gradient is taken, to every
/// element of the gradient, and to every parameter after the step. The gradient
/// is also moved by as much as the judged run's gradient was off.
class Band {
 public:
  /// `start` are the parameters.
  static Result<Band> Of(const std::string& optimizer,
                         const quad::SettingTexts& settings,
                         const std::vector<QuadTensor>& start, DType type,
                         draw::Draw draw) {
    Band band(limit::UnitRoundoff(type), draw);
    band.reach_.resize(start.size(), 0);
    for (int i = 0; i < kRuns; ++i) {
      ASSAY_ASSIGN_OR_RETURN(
          auto made, quad::MakeQuadRule(optimizer, settings, start.size()));
      band.runs_.push_back({std::move(made), start});
    }
    return band;
  }

  /// `off` has the l2 by which each gradient of the judged run is off.
  void Step(const quad::QuadRule::StepInfo& at,
            const quad::GradientOf& gradient_of, std::span<const double> off) {
    for (Run& run : runs_) {
      run.rule->Prepare(at, &run.x);
      // The gradient is taken at rounded parameters, and rounded itself.
      std::vector<QuadTensor> gradients = gradient_of(Rounded(run.x));
      gradients = Rounded(std::move(gradients));
      for (size_t p = 0; p < gradients.size(); ++p) {
        const Quad each = Quad(off[p]) / quad::Root(Quad(gradients[p].size()));
        for (Quad& x : gradients[p]) x += Quad(draw_.Sign()) * each;
      }
      run.rule->Update(at, gradients, &run.x);
      run.x = Rounded(std::move(run.x));
    }
  }

  /// For each parameter the greatest l2 distance of a run from `wanted`, the
  /// parameters of the run without roundings, in this step or any before it.
  std::vector<double> Reach(const std::vector<QuadTensor>& wanted) {
    for (size_t p = 0; p < wanted.size(); ++p) {
      for (const Run& run : runs_) {
        QuadTensor apart = run.x[p];
        for (size_t i = 0; i < apart.size(); ++i) apart[i] -= wanted[p][i];
        reach_[p] = std::max(
            reach_[p],
            static_cast<double>(quad::Root(quad::SumOfSquares(apart))));
      }
    }
    return reach_;
  }

 private:
  static constexpr int kRuns = 5;
  struct Run {
    std::unique_ptr<quad::QuadRule> rule;
    std::vector<QuadTensor> x;
  };

  Band(double roundoff, draw::Draw draw) : roundoff_(roundoff), draw_(draw) {}

  std::vector<QuadTensor> Rounded(std::vector<QuadTensor> tensors) {
    for (QuadTensor& tensor : tensors) {
      // Its own roundings are drawn.
      for (Quad& x : tensor) {
        x = x.value * (1 + quad::Float128(draw_.Sign() * roundoff_));
      }
    }
    return tensors;
  }

  double roundoff_;
  draw::Draw draw_;
  std::vector<Run> runs_;
  std::vector<double> reach_;
};

/// A run in which the judge goes its own way, beside a band of runs with
/// roundings.
class FreeRun {
 public:
  FreeRun(std::unique_ptr<optdiff::BesideJudge> backend,
          std::shared_ptr<optdiff::JudgeNetwork> judge,
          quad::OptimizerSetup optimizer)
      : backend_(*backend),
        judge_(std::move(judge)),
        lockstep_(std::move(optimizer), std::move(backend),
                  [this](const std::vector<QuadTensor>& x) { return At(x); }) {}

  Result<measure::Judgement> Go(const optdiff::Course& course,
                                const std::string& optimizer, draw::Draw draw,
                                optdiff::StepRows* rows) {
    ASSAY_ASSIGN_OR_RETURN(
        Band band, Band::Of(optimizer, lockstep_.settings(), lockstep_.wanted(),
                            course.narrow.parameters[0].value.dtype(), draw));
    for (const train::Parameter& parameter : course.wide.parameters) {
      ASSAY_ASSIGN_OR_RETURN(Tensor value, parameter.value.Clone());
      place_.push_back({parameter.name, std::move(value)});
    }
    for (int64_t step = 1; step <= course.steps; ++step) {
      ASSAY_ASSIGN_OR_RETURN(const optdiff::StepBatch batch,
                             course.batch(step));
      batch_ = batch.wide;
      ASSAY_RETURN_IF_ERROR(backend_.Put(batch.narrow, batch.wide));
      const Status stepped = lockstep_.Step(quad::Gradients::kOwn);
      if (!stepped.ok()) return Stopped(stepped, backend_.has_run(), step);
      rows->Begin(step, backend_.backend_loss(), judge_loss_);
      band.Step(
          {.step = step, .schedule = lockstep_.ScheduleAt(step)},
          [this](const std::vector<QuadTensor>& x) { return At(x); }, Off());
      measure::Judgement verdict = Judge(band.Reach(lockstep_.wanted()), rows);
      if (verdict.outcome != Outcome::kPass) return verdict;
    }
    return kPass;
  }

 private:
  /// Asks the judge's network for its gradients at `x`.
  std::vector<QuadTensor> At(const std::vector<QuadTensor>& x) {
    for (size_t p = 0; p < x.size(); ++p) {
      std::ranges::transform(
          x[p], place_[p].value.mutable_elements<double>().begin(),
          [](Quad number) { return static_cast<double>(number); });
    }
    const auto found = judge_->At({batch_, place_});
    if (!found.ok()) throw std::runtime_error(found.status().ToString());
    judge_loss_ = (*found)->loss;
    std::vector<QuadTensor> gradients;
    for (const std::vector<double>& gradient : (*found)->gradients) {
      gradients.emplace_back(gradient.begin(), gradient.end());
    }
    return gradients;
  }

  /// How far each gradient of the backend is off, at most as far as the sieve
  /// of a locked run allows.
  std::vector<double> Off() const {
    std::vector<double> off;
    for (const optdiff::Distance& gradient : backend_.gradients()) {
      off.push_back(
          std::min(gradient.l2, optdiff::kSieve * gradient.explained));
    }
    return off;
  }

  measure::Judgement Judge(std::span<const double> reach,
                           optdiff::StepRows* rows) {
    const std::vector<quad::TensorDifference> compared = lockstep_.Compare();
    const double roundoff =
        limit::UnitRoundoff(lockstep_.parameters()[0].value.dtype());
    for (size_t p = 0; p < reach.size(); ++p) {
      const quad::TensorDifference& difference = compared[p];
      const double explained = std::max(reach[p], roundoff * difference.norm);
      const double limit = GrowthAt(rows->step()) * explained;
      if (rows->Add(difference.name(),
                    {.l2 = difference.l2,
                     .linf = difference.linf,
                     .norm = difference.norm,
                     .explained = explained},
                    difference.l2, limit)) {
        continue;
      }
      return Fail(
          kFailGrowth,
          StrCat("at step ", rows->step(), " ", difference.name(),
                 " is away from the exact run by ", ToText(difference.l2),
                 ", wanted within ", ToText(limit), ": roundings reach ",
                 ToText(explained)));
    }
    return kPass;
  }

  optdiff::BesideJudge& backend_;
  std::shared_ptr<optdiff::JudgeNetwork> judge_;
  std::vector<Tensor> batch_;
  std::vector<train::Parameter> place_;
  double judge_loss_ = 0;
  LockstepQuad lockstep_;
};

/// Gives the verdict of a run, which ends at the first step beyond a limit. A
/// failed Status where the backend declines before its first step; an error
/// after it is the verdict `error`.
Result<measure::Judgement> RunCase(const StepCase& step_case,
                                   const Parties& parties,
                                   optdiff::StepRows* rows) {
  ASSAY_ASSIGN_OR_RETURN(
      const optdiff::Course course,
      optdiff::MakeCourse(step_case.network, step_case.type,
                          step_case.Drawn("network"), step_case.steps()));
  const draw::Draw roundings = step_case.Drawn("roundings");
  if (step_case.tier == Tier::kNative) {
    ASSAY_ASSIGN_OR_RETURN(const optdiff::JudgeOf judge,
                           optdiff::JudgeFor(course, parties.judge));
    ASSAY_ASSIGN_OR_RETURN(
        const auto run,
        NativeRun::Begin(course, {step_case.optimizer, step_case.preset},
                         parties.backend, judge.network, roundings));
    return Walk(course, *run, rows, [] {});
  }
  ASSAY_ASSIGN_OR_RETURN(quad::OptimizerSetup optimizer,
                         SetupOf(step_case, parties.backend));
  ASSAY_ASSIGN_OR_RETURN(const optdiff::JudgeOf judge,
                         optdiff::JudgeFor(course, parties.judge));
  if (step_case.mode == Mode::kLocked) {
    ASSAY_ASSIGN_OR_RETURN(
        const auto run,
        optdiff::LockedRun::Begin(course, std::move(optimizer), parties.backend,
                                  judge, roundings));
    ASSAY_ASSIGN_OR_RETURN(const measure::Judgement verdict,
                           Walk(course, *run, rows, [&] { run->Lock(); }));
    return Decided(verdict, run->undecided());
  }
  ASSAY_ASSIGN_OR_RETURN(auto network,
                         optdiff::Load(course.narrow, parties.backend));
  FreeRun run(std::make_unique<optdiff::BesideJudge>(
                  std::move(network), judge.network, step_case.Drawn("sieve"),
                  kRoundedEvery),
              judge.network, std::move(optimizer));
  return run.Go(course, step_case.optimizer, roundings, rows);
}

/// The number of later steps whose rows are kept.
constexpr int64_t kParts = 10;

optdiff::StepRow NamesOf(const StepCase& step_case, const std::string& backend,
                         const std::string& oracle) {
  optdiff::StepRow row;
  row.run_a = row.backend_a = backend;
  row.run_b = row.backend_b = oracle;
  row.optimizer_a = row.optimizer_b = step_case.optimizer;
  row.preset_a = row.preset_b = step_case.preset;
  row.tier_a = ToString(step_case.tier);
  row.tier_b = "quad";
  row.network = step_case.network;
  row.mode = ToString(step_case.mode);
  return row;
}

}  // namespace

Result<std::unique_ptr<Backend>> OpenOracle(const record::RunFacts& facts) {
  if (facts.oracle.empty()) {
    return FailedPrecondition(
        "found no oracle of the run, wanted one that judges");
  }
  auto made = MakeBackend(facts.oracle);
  if (made.ok()) return made;
  ASSAY_RETURN_IF_ERROR(LoadBackendModule(facts.oracle_module).status());
  return MakeBackend(facts.oracle);
}

measure::Judgement Decided(measure::Judgement verdict,
                           const optdiff::Undecided& undecided) {
  const bool is_decided = std::ranges::none_of(undecided, [](const auto& each) {
    return each.first == "loss" || each.first.ends_with(".gradient");
  });
  if (is_decided || verdict.outcome != Outcome::kPass) return verdict;
  return {Outcome::kSuspect, record::ReasonCode(std::string(kUndecided)),
          StrCat("undecided: ", optdiff::UndecidedText(undecided))};
}

measure::Judgement Judge(const StepCase& step_case, Backend& backend,
                         const record::RunFacts& facts,
                         record::Record* record) {
  const auto oracle = OpenOracle(facts);
  if (!oracle.ok()) {
    return {record::Outcome::kError, oracle.status().reason(),
            oracle.status().message()};
  }
  optdiff::StepRows rows(
      NamesOf(step_case, record->result.backend, facts.oracle),
      {.every = step_case.steps() / kParts}, record);
  const int64_t began = record::SteadyMicroseconds();
  const auto verdict = RunCase(step_case, {backend, **oracle}, &rows);
  record->result.run_us = record::SteadyMicroseconds() - began;
  if (verdict.ok()) return *verdict;
  const Status& status = verdict.status();
  return {suite::OutcomeOf(status), status.reason(), status.message()};
}

}  // namespace assay::optimizer
