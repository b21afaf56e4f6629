// SPDX-License-Identifier: Apache-2.0

#include "framework/train/optdiff/locked_run.h"

#include <utility>

#include "framework/core/text.h"
#include "framework/file/csv.h"
#include "framework/testing/limit/limit.h"

namespace assay::optdiff {
namespace {

using file::ToText;

/// The roundings that an update in float32 may be off by
/// (framework/train/quad/README.md), and the share of float64, where
/// corrections subtract numbers near 1 from 1.
constexpr double kUpdateRoundings = 8;
constexpr double kUpdateDouble = 1e-12;

std::string Roundings(const Distance& distance) {
  return StrCat("; its distance is that of ", ToText(distance.share()),
                " roundings");
}

}  // namespace

double UpdateLimit(DType type) {
  return type == DType::kFloat64 ? kUpdateDouble
                                 : kUpdateRoundings * limit::UnitRoundoff(type);
}

Result<std::unique_ptr<LockedRun>> LockedRun::Begin(
    const Course& course, quad::OptimizerSetup optimizer, Backend& backend,
    const JudgeOf& judge, draw::Draw draw, int64_t rounded_every) {
  ASSAY_ASSIGN_OR_RETURN(auto network, Load(course.narrow, backend));
  auto objective = std::make_unique<BesideJudge>(
      std::move(network), judge.network, draw, rounded_every);
  return std::unique_ptr<LockedRun>(new LockedRun(
      course, std::move(optimizer), std::move(objective), judge.oracle));
}

Result<StepFault> LockedRun::Step(int64_t step, StepRows* rows) {
  ASSAY_ASSIGN_OR_RETURN(const StepBatch batch, course_.batch(step));
  objective_.At(step - 1);
  ASSAY_RETURN_IF_ERROR(objective_.Put(batch.narrow, batch.wide));
  ASSAY_RETURN_IF_ERROR(lockstep_.Step(quad::Gradients::kGiven));
  updates_ = lockstep_.Compare();
  rows->Begin(step, objective_.backend_loss(), objective_.judge_loss());
  ASSAY_ASSIGN_OR_RETURN(StepFault fault, Loss(batch, rows));
  if (!fault.what.empty()) return fault;
  ASSAY_ASSIGN_OR_RETURN(fault, Gradients(batch, rows));
  if (!fault.what.empty()) return fault;
  fault = Statistics(rows);
  if (!fault.what.empty()) return fault;
  return Update(rows);
}

Result<ExactGradients*> LockedRun::Oracle() {
  if (exact_ == nullptr) {
    ASSAY_ASSIGN_OR_RETURN(exact_,
                           ExactGradients::Load(oracle_, course_.narrow.model));
  }
  return exact_.get();
}

Result<StepFault> LockedRun::Loss(const StepBatch& batch, StepRows* rows) {
  const Distance& loss = objective_.loss();
  std::string fault;
  if (!(loss.share() <= loss_sieve_)) {
    ASSAY_ASSIGN_OR_RETURN(ExactGradients* const oracle, Oracle());
    ASSAY_ASSIGN_OR_RETURN(
        fault, oracle->FaultOfLoss(objective_.PlaceOf(batch.narrow),
                                   objective_.backend_loss(),
                                   lockstep_.parameters()[0].value.dtype()));
    // The oracle let it pass: look less closely from here on.
    if (fault.empty()) loss_sieve_ = 2 * loss.share();
  }
  rows->Add("loss", loss, loss.l2, loss_sieve_ * loss.explained);
  if (fault.empty()) return StepFault();
  return StepFault{kFailLoss, "loss",
                   StrCat("the loss: ", fault, Roundings(loss))};
}

Result<StepFault> LockedRun::Gradients(const StepBatch& batch, StepRows* rows) {
  for (size_t p = 0; p < objective_.gradients().size(); ++p) {
    const Distance& distance = objective_.gradients()[p];
    std::string fault;
    ASSAY_RETURN_IF_ERROR(objective_.LookAgain(p, sieve_));
    if (!(distance.share() <= sieve_)) {
      ASSAY_ASSIGN_OR_RETURN(ExactGradients* const oracle, Oracle());
      ASSAY_ASSIGN_OR_RETURN(
          fault,
          oracle->FaultOf(objective_.PlaceOf(batch.narrow), objective_.got()));
      if (fault.empty()) sieve_ = 2 * distance.share();
    }
    const std::string tensor = objective_.place()[p].name + ".gradient";
    rows->Add(tensor, distance, distance.l2, sieve_ * distance.explained);
    if (fault.empty()) continue;
    return StepFault{kFailGradient, tensor,
                     StrCat("the gradient of ", fault, Roundings(distance))};
  }
  return StepFault();
}

StepFault LockedRun::Statistics(StepRows* rows) const {
  for (const BesideJudge::FedBack& fed : objective_.statistics()) {
    const Distance& distance = fed.distance;
    const double limit = kSieve * distance.explained;
    if (rows->Add(fed.name, distance, distance.l2, limit)) continue;
    return {
        kFailStatistic, fed.name,
        StrCat("the statistic ", fed.name, " is off by ", ToText(distance.l2),
               ", wanted within ", ToText(limit), Roundings(distance))};
  }
  return {};
}

StepFault LockedRun::Update(StepRows* rows) {
  const double allowed = UpdateLimit(lockstep_.parameters()[0].value.dtype());
  for (const quad::TensorDifference& difference : updates_) {
    const Distance distance = {.l2 = difference.l2,
                               .linf = difference.linf,
                               .norm = difference.norm,
                               .explained = allowed * difference.greatest};
    const double limit = allowed * difference.greatest;
    if (rows->Add(difference.name(), distance, difference.linf, limit)) {
      continue;
    }
    return {kFailUpdate, difference.name(),
            StrCat(difference.name(), " is off by ", ToText(difference.linf),
                   " where the gradients are its own, wanted within ",
                   ToText(limit))};
  }
  return {};
}

}  // namespace assay::optdiff
