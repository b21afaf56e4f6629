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
// At a kink all that lies in the hull is right. Where these limits are so wide
// that they would show nothing, the tensor is undecided, and no other tensor's
// sieve changes for it. An element of an update has the limit that its formula
// has at its operands (framework/train/quad/number.h).

#pragma once

#include <cstdint>
#include <map>
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

/// The oracle about one tensor: so many roundings it has let pass, or it cannot
/// decide it.
struct Sieve {
  double roundings = kSieve;
  bool is_blind = false;
  double passed = 0;  // the l2 that it has let pass in the last step
};

/// Tensors that could not be judged, each with the number of its steps.
using Undecided = std::map<std::string, int64_t>;

/// "loss at 2 steps, w.gradient at 5 steps and 3 more tensors".
std::string UndecidedText(const Undecided& undecided);

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
  /// Takes the batch of a step for steps of the backend alone, which nobody
  /// judges and which look to it like any other. Lock before the next Step.
  Status Put(int64_t step);
  Status StepAlone();
  /// Copies parameters, state and statistics of the other's optimizer and
  /// backend.
  void Take(LockedRun& other);
  /// Sets the judge's parameters and state to the backend's.
  void Lock() { lockstep_.Lock(); }

  /// True once the backend has answered; before that it may decline.
  bool has_run() const { return objective_.has_run(); }
  const BesideJudge& objective() const { return objective_; }
  /// The l2 by which a gradient, or the loss, of the last step may be off
  /// unseen: kSieve roundings, or more where the oracle has let a farther one
  /// of that tensor pass.
  double GradientLimit(size_t parameter) const;
  double LossLimit() const;
  /// Losses, gradients and updates that were neither right nor wrong.
  const Undecided& undecided() const { return undecided_; }
  /// Parameters and state after the last step, compared with the rule's.
  std::span<const quad::TensorDifference> updates() const { return updates_; }
  quad::LockstepQuad& lockstep() { return lockstep_; }

 private:
  LockedRun(const Course& course, quad::OptimizerSetup optimizer,
            std::unique_ptr<BesideJudge> objective, Backend& oracle)
      : course_(course),
        objective_(*objective),
        lockstep_(std::move(optimizer), std::move(objective), nullptr),
        oracle_(oracle),
        sieves_(lockstep_.parameters().size()) {}

  Result<std::unique_ptr<ExactRun>> ExactAt(const Place& place);
  Result<StepFault> Loss(const StepBatch& batch, StepRows* rows);
  Result<StepFault> Gradients(const StepBatch& batch, StepRows* rows);
  double LeastGradient() const;
  void Settle(const std::string& tensor, const Distance& distance, double limit,
              StepRows* rows);
  StepFault Statistics(StepRows* rows) const;
  StepFault Update(StepRows* rows);

  const Course& course_;
  BesideJudge& objective_;
  quad::LockstepQuad lockstep_;
  Backend& oracle_;
  std::unique_ptr<Network> exact_;  // of the oracle, once it is asked
  std::vector<quad::TensorDifference> updates_;
  Sieve loss_sieve_;
  std::vector<Sieve> sieves_;  // of each gradient
  Undecided undecided_;
};

}  // namespace assay::optdiff
