// SPDX-License-Identifier: Apache-2.0

#include "framework/train/bisect/run_spec.h"

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "framework/core/text.h"
#include "framework/graph/edit/model_edit.h"
#include "framework/graph/edit/training.h"
#include "framework/testing/draw/draw.h"
#include "framework/train/model/model_file.h"
#include "framework/train/rule/optimizers.h"

namespace assay::bisect {
namespace {

/// Makes the same model with the same numbers in float64.
Result<train::NewModel> Widened(const train::NewModel& narrow) {
  train::NewModel wide;
  ASSAY_ASSIGN_OR_RETURN(wide.model,
                         edit::Retyped(*narrow.model, DType::kFloat64));
  ASSAY_ASSIGN_OR_RETURN(wide.parameters, optdiff::Widened(narrow.parameters));
  return wide;
}

/// The batches of all epochs one after the other.
class Batches {
 public:
  Batches(const train::Dataset& dataset, train::Sampler sampler)
      : dataset_(dataset), sampler_(std::move(sampler)) {}

  /// Gives the same tensors to all who ask for one step.
  Result<optdiff::StepBatch> At(int64_t step) {
    const std::lock_guard lock(mutex_);
    if (step == step_) return last_;
    ASSAY_ASSIGN_OR_RETURN(last_, Make(step));
    step_ = step;
    return last_;
  }

 private:
  Result<optdiff::StepBatch> Make(int64_t step) {
    if (order_.empty()) order_ = sampler_(0);
    const int64_t epoch = (step - 1) / std::ssize(order_);
    if (epoch != epoch_) order_ = sampler_(epoch_ = epoch);
    const train::Batch& batch =
        order_[static_cast<size_t>((step - 1) % std::ssize(order_))];
    optdiff::StepBatch made;
    ASSAY_ASSIGN_OR_RETURN(Tensor inputs, dataset_.Inputs(batch));
    for (const DType type : {DType::kFloat32, DType::kFloat64}) {
      auto& tensors = type == DType::kFloat32 ? made.narrow : made.wide;
      ASSAY_ASSIGN_OR_RETURN(Tensor rows, dataset_.OneHot(batch, type));
      tensors = {inputs, std::move(rows)};
    }
    ASSAY_ASSIGN_OR_RETURN(made.wide[0],
                           draw::TensorOf(DType::kFloat64, inputs.shape(),
                                          draw::NumbersOf(inputs)));
    return made;
  }

  const train::Dataset& dataset_;
  train::Sampler sampler_;
  int64_t epoch_ = 0;
  std::vector<train::Batch> order_;
  std::mutex mutex_;
  int64_t step_ = 0;
  optdiff::StepBatch last_;
};

}  // namespace

Result<RunSpec> ParseRunSpec(std::string_view text) {
  const auto [backend, optimizer] = train::SplitRun(text);
  if (backend.empty()) {
    return InvalidArgument("found the run '", text,
                           "', wanted BACKEND[:OPTIMIZER[/PRESET][:SETTINGS]]");
  }
  const train::Wanted wanted = train::WantedOf(optimizer);
  const Status made = train::MakeOptimizer(wanted).status();
  if (!made.ok()) return made.WithContext(text);
  RunSpec spec;
  spec.backend = backend;
  spec.optimizer.optimizer = wanted.name;
  spec.optimizer.preset = wanted.preset;
  spec.optimizer.settings = wanted.settings;
  return spec;
}

Result<optdiff::Course> ModelCourse(const ModelChoice& choice) {
  optdiff::Course course;
  course.name = choice.model;
  course.steps = choice.steps;
  ASSAY_ASSIGN_OR_RETURN(
      const train::NewModel narrow,
      train::ModelFor(choice.model, *choice.dataset, choice.weights_seed));
  ASSAY_ASSIGN_OR_RETURN(const train::NewModel wide, Widened(narrow));
  const edit::LossEdit loss = {.loss =
                                   edit::Loss::kSoftmaxCrossEntropyOfOneHot};
  ASSAY_ASSIGN_OR_RETURN(course.narrow,
                         train::TraineeOf(narrow, loss, choice.weights_seed));
  ASSAY_ASSIGN_OR_RETURN(course.wide,
                         train::TraineeOf(wide, loss, choice.weights_seed));
  ASSAY_ASSIGN_OR_RETURN(
      train::Sampler sampler,
      train::ShuffledSampler({.samples = choice.dataset->samples(),
                              .batch = choice.batch,
                              .drop_last = true},
                             choice.order_seed));
  const auto batches =
      std::make_shared<Batches>(*choice.dataset, std::move(sampler));
  course.batch = [batches](int64_t step) { return batches->At(step); };
  return course;
}

}  // namespace assay::bisect
