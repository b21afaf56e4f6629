// SPDX-License-Identifier: Apache-2.0
//
// LockedRun: an optimizer on a network of a backend beside the judge. Each step
// of both begins from one state.
//
//   ASSAY_ASSIGN_OR_RETURN(
//       auto run,
//       LockedRun::Begin(course, std::move(setup), backend, judge, draw));
//   for (int64_t step = 1; step <= course.steps; ++step) {
//     ASSAY_ASSIGN_OR_RETURN(const StepFault fault, run->Step(step, &rows));
//     if (!fault.what.empty()) return fault;
//     run->Lock();
//   }
//
// A loss or a gradient that is farther from the judge's than roundings seem to
// explain is shown to an oracle, which decides. An element may be off by its
// limit in condition units (framework/testing/limit) and by the oracle's bound.
// At a kink all that lies in the hull is right.

#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "framework/backend/backend.h"
#include "framework/backend/exact.h"
#include "framework/core/dtype.h"
#include "framework/core/status.h"
#include "framework/testing/draw/draw.h"
#include "framework/train/optdiff/beside_judge.h"
#include "framework/train/optdiff/course.h"
#include "framework/train/optdiff/step_rows.h"
#include "framework/train/quad/lockstep_quad.h"

namespace assay::optdiff {

// The reasons of a step that is wrong.
inline constexpr char kFailLoss[] = "fail_loss";
inline constexpr char kFailGradient[] = "fail_gradient";
inline constexpr char kFailUpdate[] = "fail_update";
inline constexpr char kFailStatistic[] = "fail_statistic";

/// A loss or a gradient that is off by more than this number of roundings is
/// shown to the oracle.
inline constexpr double kSieve = 32;

/// The greatest linf error of an update, as a share of the greatest number of
/// its tensor.
double UpdateLimit(DType type);

/// Who judges: an oracle, and the course's network on it.
struct JudgeOf {
  Backend& oracle;
  std::shared_ptr<JudgeNetwork> network;
};

/// Loads the course's network on an oracle. Declines as NetworkObjective::Load
/// does.
Result<JudgeOf> JudgeFor(const Course& course, Backend& oracle);

/// The first fault of a step; none where `what` is empty.
struct StepFault {
  const char* reason = "";
  // "loss", a parameter, PARAMETER.gradient, PARAMETER.STATE, a statistic
  std::string tensor;
  std::string what;
};

class LockedRun {
 public:
  /// Declines as NetworkObjective::Load does. Throws std::runtime_error for an
  /// optimizer that has no rule in quad. The course must outlive it.
  static Result<std::unique_ptr<LockedRun>> Begin(
      const Course& course, quad::OptimizerSetup optimizer, Backend& backend,
      const JudgeOf& judge, draw::Draw draw, int64_t rounded_every = 1);

  /// Takes one step of both and says what is wrong with it. A failed Status
  /// where one of them did not run.
  Result<StepFault> Step(int64_t step, StepRows* rows);
  /// Copies parameters, state and statistics of the other's optimizer and
  /// backend.
  void Take(LockedRun& other);
  /// Sets the judge's parameters and state to the backend's.
  void Lock() { lockstep_.Lock(); }

  /// True once the backend has answered; before that it may decline.
  bool has_run() const { return objective_.has_run(); }
  const BesideJudge& objective() const { return objective_; }
  /// kSieve, or more where the oracle has let a farther gradient pass.
  double sieve() const { return sieve_; }
  double loss_sieve() const { return loss_sieve_; }
  /// Parameters and state after the last step, compared with the rule's.
  std::span<const quad::TensorDifference> updates() const { return updates_; }
  quad::LockstepQuad& lockstep() { return lockstep_; }

 private:
  LockedRun(const Course& course, quad::OptimizerSetup optimizer,
            std::unique_ptr<BesideJudge> objective, Backend& oracle)
      : course_(course),
        objective_(*objective),
        lockstep_(std::move(optimizer), std::move(objective), nullptr),
        oracle_(oracle) {}

  Result<std::unique_ptr<ExactRun>> ExactAt(const Place& place);
  Result<StepFault> Loss(const StepBatch& batch, StepRows* rows);
  Result<StepFault> Gradients(const StepBatch& batch, StepRows* rows);
  StepFault Statistics(StepRows* rows) const;
  StepFault Update(StepRows* rows);

  const Course& course_;
  BesideJudge& objective_;
  quad::LockstepQuad lockstep_;
  Backend& oracle_;
  std::unique_ptr<Network> exact_;  // of the oracle, once it is asked
  std::vector<quad::TensorDifference> updates_;
  double loss_sieve_ = kSieve;
  double sieve_ = kSieve;
};

}  // namespace assay::optdiff
