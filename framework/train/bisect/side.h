// SPDX-License-Identifier: Apache-2.0
//
// Side: one of two training runs that are bisected, with its judge and with what its
// last step saw; and why a step of it is wrong.
//
//   ASSAY_ASSIGN_OR_RETURN(Side a, Side::Begin("a", std::move(run), options));
//   ASSAY_RETURN_IF_ERROR(a.Step(1));
//   if (!a.fault.what.empty()) ASSAY_ASSIGN_OR_RETURN(found, WrongNode(a, 1, options));

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "framework/backend/backend.h"
#include "framework/core/status.h"
#include "framework/train/bisect/cause.h"
#include "framework/train/bisect/convention.h"
#include "framework/train/optdiff/course.h"
#include "framework/train/optdiff/locked_run.h"
#include "framework/train/quad/lockstep_quad.h"

namespace assay::bisect {

/// One of the two: what it says it is, and what runs.
struct BisectRun {
  Backend& backend;
  const optdiff::Course& course;
  quad::OptimizerSetup setup;
  /// What becomes of its parameters and state between steps, where something does.
  std::function<void(int64_t step, quad::LockstepQuad& lockstep)> between = {};
};

struct BisectOptions {
  Backend& oracle;
  int64_t steps = 100;
  uint64_t seed = 0;  // of roundings
};

struct Side {
  const char* name;  // "a" or "b"
  Backend& backend;
  const optdiff::Course& course;
  std::string rule;
  std::function<void(int64_t, quad::LockstepQuad&)> between;
  std::unique_ptr<optdiff::LockedRun> run;
  SeenStep seen = {};  // of the last step
  optdiff::StepFault fault = {};

  /// As NetworkObjective::Load declines.
  static Result<Side> Begin(const char* name, BisectRun run,
                            const BisectOptions& options);

  quad::LockstepQuad& lockstep() const { return run->lockstep(); }

  /// Takes one step and keeps what it began with, its gradients and its end.
  Status Step(int64_t step);

  /// The parameters and state of another; both judges go on from there.
  void Take(const Side& other);
};

/// The first node by which a loss or a gradient is wrong.
Result<Finding> WrongNode(const Side& side, int64_t step,
                          const BisectOptions& options);

/// What the step of a side was meant to be; it takes some more steps to tell.
Result<Finding> WrongRule(Side* side, int64_t step);

}  // namespace assay::bisect
