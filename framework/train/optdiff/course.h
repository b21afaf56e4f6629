// SPDX-License-Identifier: Apache-2.0
//
// Course: a judged training run as data: a network in its own type and in
// float64, its first parameters, and the batches of its steps.
//
//   ASSAY_ASSIGN_OR_RETURN(const Course course,
//                          CourseOf(network, wide_network));
//   ASSAY_ASSIGN_OR_RETURN(auto objective, Load(course.narrow, backend));
//   ASSAY_ASSIGN_OR_RETURN(const StepBatch first, course.batch(1));

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "framework/backend/backend.h"
#include "framework/core/status.h"
#include "framework/graph/model.h"
#include "framework/train/network_objective.h"
#include "framework/train/optdiff/network.h"
#include "framework/train/optimizer/optimizer.h"

namespace assay::optdiff {

/// The inputs of a step other than parameters, for both networks.
struct StepBatch {
  std::vector<Tensor> narrow, wide;
};

/// A model with its loss, and the first values of its parameters and running
/// statistics. Its masks are drawn from the seed.
struct Beginning {
  std::shared_ptr<const Model> model;
  std::vector<train::Parameter> parameters;
  std::vector<train::Statistic> statistics = {};
  std::vector<train::Mask> masks = {};
  uint64_t seed = 0;
};

struct Course {
  std::string name;
  Beginning narrow, wide;
  /// The batch of a step, counted from 1.
  std::function<Result<StepBatch>(int64_t step)> batch;
  int64_t steps = 0;
};

/// The two networks hold the same numbers.
Course CourseOf(std::string name, TrainedNetwork narrow, TrainedNetwork wide,
                int64_t steps);

/// Loads a network on a backend, with parameters of its own. Declines as
/// NetworkObjective::Load does.
Result<std::unique_ptr<train::NetworkObjective>> Load(
    const Beginning& beginning, Backend& backend);

}  // namespace assay::optdiff
