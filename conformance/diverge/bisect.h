// SPDX-License-Identifier: Apache-2.0
//
// Bisect: the first cause of a difference between two training runs.
//
//   ASSAY_ASSIGN_OR_RETURN(const Finding found, Bisect(std::move(a), std::move(b),
//                                                      options));
//   found.sentence;   // "at step 3 the Conv of run b is wrong: ..."
//
// At each step everything is compared in the order in which it comes about, from one
// state: the first weights once, then the batch, the loss, the gradients, the step.
// Where a value is wrong the node is searched by inner values of both networks;
// where a step is, or where the two have other conventions, one setting after the
// other is exchanged in quad until the step comes about.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "conformance/optdiff/course.h"
#include "conformance/optimizer/beside_quad.h"
#include "framework/backend/backend.h"
#include "framework/core/status.h"

namespace assay::diverge {

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
};

/// "initial weights", "data order", "forward", "loss reduction", "gradient",
/// "update rule", "convention", "schedule", "state", "accumulation", "none".
std::string_view ToString(Cause cause);

struct Finding {
  Cause cause = Cause::kNone;
  int64_t step = 0;   // 0: before the first
  std::string run;    // "a" or "b"; empty: both do as they say
  std::string where;  // a tensor, an operator, a setting
  std::string sentence;
};

/// One of the two: what it says it is, and what runs.
struct BisectRun {
  Backend& backend;
  const optdiff::Course& course;
  optimizer::Trial trial;
  /// What becomes of its parameters and state between steps, where something does.
  std::function<void(int64_t step, optimizer::BesideQuad& both)> between = {};
};

struct BisectOptions {
  Backend& oracle;
  int64_t steps = 100;
  uint64_t seed = 0;  // of roundings
};

/// Both courses have models with the same parameters. As NetworkObjective::Load
/// declines.
Result<Finding> Bisect(BisectRun a, BisectRun b, const BisectOptions& options);

}  // namespace assay::diverge
