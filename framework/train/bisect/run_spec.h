// SPDX-License-Identifier: Apache-2.0
//
// RunSpec and ModelCourse: a training run as a person names it: a backend with
// an optimizer, and a model on a dataset.
//
//   ASSAY_ASSIGN_OR_RETURN(
//       const RunSpec run,
//       ParseRunSpec("onednn+threads=1:adam/pytorch:rate=0.01 beta1=0.8"));
//   run.backend;               // "onednn+threads=1"
//   run.optimizer.preset;      // "pytorch"

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "framework/core/status.h"
#include "framework/train/data/dataset.h"
#include "framework/train/optdiff/course.h"
#include "framework/train/quad/lockstep_quad.h"

namespace assay::bisect {

struct RunSpec {
  std::string backend;  // instance
  quad::OptimizerSpec optimizer;
};

/// Parses "BACKEND[:OPTIMIZER[/PRESET][:SETTINGS]]" as train::SplitRun and
/// WantedOf do. Invalid argument for an unknown optimizer, preset or setting,
/// and where no backend is named.
Result<RunSpec> ParseRunSpec(std::string_view text);

/// A model, by its name or from a file, on a dataset.
struct ModelChoice {
  std::string model = "lenet5";  // or FILE.onnx, which has weights of its own
  const train::Dataset* dataset = nullptr;  // float32; outlives the course
  int64_t batch = 64;
  int64_t steps = 100;
  uint64_t weights_seed = 0;
  uint64_t order_seed = 0;
};

/// float32, with softmax cross entropy of one-hot rows, which every backend
/// with gradients of LogSoftmax, Mul and ReduceSum has. Batches are shuffled;
/// the last of an epoch is dropped where it is not whole.
Result<optdiff::Course> ModelCourse(const ModelChoice& choice);

}  // namespace assay::bisect
