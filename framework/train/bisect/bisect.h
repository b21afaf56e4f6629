// SPDX-License-Identifier: Apache-2.0
//
// Bisect: the first cause of a difference between two training runs.
//
// Both runs begin each step from one state. The first weights are compared
// once, then in each step the batch, the loss, the gradients, the running
// statistics and the update, in this order. Where a value is wrong, the inner
// values of both networks show the first wrong node. Where an update is wrong,
// or the two follow different conventions, settings are exchanged one by one in
// quad until they give the update that was seen.
//
// Side: one of the two runs, with its judge and a record of its last step; the
// causes for which a step of it may be wrong, and a finding that names one.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "framework/backend/backend.h"
#include "framework/core/status.h"
#include "framework/train/bisect/convention.h"
#include "framework/train/optdiff/course.h"
#include "framework/train/optdiff/locked_run.h"
#include "framework/train/quad/lockstep_quad.h"

namespace assay::bisect {

enum class Cause : uint8_t {
  kNone,
  kInitialWeights,
  kDataOrder,
  kForward,
  kLossReduction,
  kGradient,
  kUpdateRule,
  kConvention,
  kSchedule,
  kState,
  kAccumulation,
  kRunningStatistics,
};

/// "initial weights", "data order", "forward", "loss reduction", "gradient",
/// "update rule", "convention", "schedule", "state", "accumulation",
/// "running statistics", "none".
std::string_view ToString(Cause cause);

struct Finding {
  Cause cause = Cause::kNone;
  int64_t step = 0;   // 0: before the first
  std::string run;    // "a" or "b"; empty: neither is wrong by itself
  std::string where;  // a tensor, an operator, a setting
  std::string sentence;
};

/// Makes a finding whose sentence begins with its step, where it has one.
Finding Say(Cause cause, int64_t step, const std::string& run,
            std::string where, const std::string& what);

/// One of the two runs: its backend, its course and its optimizer.
struct BisectRun {
  Backend& backend;
  const optdiff::Course& course;
  quad::OptimizerSetup setup;
  /// For tests: changes parameters or state between steps. May be empty.
  std::function<void(int64_t step, quad::LockstepQuad& lockstep)> between = {};
};

struct BisectOptions {
  Backend& oracle;
  int64_t steps = 100;
  uint64_t seed = 0;  // of roundings
};

/// A run with its judge and a record of its last step.
struct Side {
  const char* name;  // "a" or "b"
  Backend& backend;
  const optdiff::Course& course;
  std::string rule;
  std::function<void(int64_t, quad::LockstepQuad&)> between;
  std::unique_ptr<optdiff::LockedRun> run;
  SeenStep seen = {};  // of the last step
  optdiff::StepFault fault = {};

  /// Declines as NetworkObjective::Load does.
  static Result<Side> Begin(const char* name, BisectRun run,
                            const BisectOptions& options);

  quad::LockstepQuad& lockstep() const { return run->lockstep(); }

  /// Takes one step and records its beginning, its gradients and its end.
  Status Step(int64_t step);

  /// Copies parameters, state and statistics of `other`; both judges go on from
  /// there.
  void Take(const Side& other);
};

/// Finds the first node that makes a loss or a gradient wrong.
Result<Finding> WrongNode(const Side& side, int64_t step,
                          const BisectOptions& options);

/// Both courses have models with the same parameters and running statistics.
/// Declines as NetworkObjective::Load does.
Result<Finding> Bisect(BisectRun a, BisectRun b, const BisectOptions& options);

}  // namespace assay::bisect
