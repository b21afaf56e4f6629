// SPDX-License-Identifier: Apache-2.0

#include "conformance/optimizer/run.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "conformance/optimizer/native_run.h"
#include "framework/core/text.h"
#include "framework/file/csv.h"
#include "framework/testing/limit/limit.h"
#include "framework/train/graph_rule/graph_optimizer.h"
#include "framework/train/optdiff/band.h"
#include "framework/train/optdiff/course.h"
#include "framework/train/optdiff/judge_network.h"
#include "framework/train/optdiff/locked_run.h"
#include "framework/train/optdiff/network.h"
#include "framework/train/optimizer/schedule.h"
#include "framework/train/quad/lockstep_quad.h"

namespace assay::optimizer {
namespace {

using file::ToText;
using quad::LockstepQuad;
using quad::QuadTensor;
using record::Outcome;

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

Result<optdiff::Course> CourseOf(const StepCase& step_case) {
  ASSAY_ASSIGN_OR_RETURN(optdiff::TrainedNetwork narrow,
                         optdiff::MakeNetwork(step_case.network, step_case.type,
                                              step_case.Drawn("network")));
  ASSAY_ASSIGN_OR_RETURN(
      optdiff::TrainedNetwork wide,
      optdiff::MakeNetwork(step_case.network, DType::kFloat64,
                           step_case.Drawn("network")));
  return optdiff::CourseOf(step_case.network, std::move(narrow),
                           std::move(wide), step_case.steps());
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

/// Runs a case whose steps each begin where the backend's last one ended.
Result<measure::Judgement> RunLocked(const optdiff::Course& course,
                                     const StepCase& step_case,
                                     quad::OptimizerSetup optimizer,
                                     const Parties& parties,
                                     optdiff::StepRows* rows) {
  ASSAY_ASSIGN_OR_RETURN(auto wide, optdiff::Load(course.wide, parties.judge));
  const optdiff::JudgeOf judge{
      parties.judge, std::make_shared<optdiff::JudgeNetwork>(std::move(wide))};
  ASSAY_ASSIGN_OR_RETURN(
      const auto run,
      optdiff::LockedRun::Begin(course, std::move(optimizer), parties.backend,
                                judge, step_case.Drawn("roundings")));
  return Walk(course, *run, rows, [&] { run->Lock(); });
}

/// Runs a case whose steps the backend takes as a whole.
Result<measure::Judgement> RunNative(const optdiff::Course& course,
                                     const StepCase& step_case,
                                     const Parties& parties,
                                     optdiff::StepRows* rows) {
  ASSAY_ASSIGN_OR_RETURN(auto wide, optdiff::Load(course.wide, parties.judge));
  ASSAY_ASSIGN_OR_RETURN(
      const auto run,
      NativeRun::Begin(course, {step_case.optimizer, step_case.preset},
                       parties.backend,
                       std::make_shared<optdiff::JudgeNetwork>(std::move(wide)),
                       step_case.Drawn("roundings")));
  return Walk(course, *run, rows, [] {});
}

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
        optdiff::Band band,
        optdiff::Band::Of({optimizer, lockstep_.settings()}, lockstep_.wanted(),
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
          [](quad::Quad number) { return static_cast<double>(number); });
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

}  // namespace

Result<measure::Judgement> RunCase(const StepCase& step_case,
                                   const Parties& parties,
                                   optdiff::StepRows* rows) {
  ASSAY_ASSIGN_OR_RETURN(const optdiff::Course course, CourseOf(step_case));
  if (step_case.tier == Tier::kNative) {
    return RunNative(course, step_case, parties, rows);
  }
  ASSAY_ASSIGN_OR_RETURN(quad::OptimizerSetup optimizer,
                         SetupOf(step_case, parties.backend));
  if (step_case.mode == Mode::kLocked) {
    return RunLocked(course, step_case, std::move(optimizer), parties, rows);
  }
  ASSAY_ASSIGN_OR_RETURN(auto network,
                         optdiff::Load(course.narrow, parties.backend));
  ASSAY_ASSIGN_OR_RETURN(auto judge, optdiff::Load(course.wide, parties.judge));
  auto answers = std::make_shared<optdiff::JudgeNetwork>(std::move(judge));
  FreeRun run(
      std::make_unique<optdiff::BesideJudge>(
          std::move(network), answers, step_case.Drawn("sieve"), kRoundedEvery),
      answers, std::move(optimizer));
  return run.Go(course, step_case.optimizer, step_case.Drawn("roundings"),
                rows);
}

}  // namespace assay::optimizer
