// SPDX-License-Identifier: Apache-2.0
//
// ModelCourse: the course of a model, by its name or from a file, on a dataset.
//
//   const ModelChoice choice{
//       .model = "lenet5", .dataset = &digits, .batch = 64};
//   ASSAY_ASSIGN_OR_RETURN(const optdiff::Course course, ModelCourse(choice));

#pragma once

#include <cstdint>
#include <string>

#include "framework/core/status.h"
#include "framework/graph/edit/training.h"
#include "framework/train/data/dataset.h"
#include "framework/train/model/new_model.h"
#include "framework/train/optdiff/course.h"

namespace assay::bisect {

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

/// The training form of a model. Declines as train::TraineeOf does.
Result<optdiff::Beginning> BeginningOf(const train::NewModel& made,
                                       const edit::LossEdit& loss,
                                       uint64_t seed);

}  // namespace assay::bisect
