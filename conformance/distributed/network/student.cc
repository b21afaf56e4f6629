// SPDX-License-Identifier: Apache-2.0

#include "conformance/distributed/network/student.h"

#include <mutex>

#include "framework/core/tensor.h"
#include "framework/file/module_path.h"
#include "framework/graph/edit/training.h"
#include "framework/train/format/datasets.h"
#include "framework/train/model/models.h"

namespace assay::distributed {

Result<const train::Split*> Digits() {
  static const Result<train::Split> digits =
      train::MakeDataset("digits", {file::DatasetDirectory(), /*seed=*/0});
  if (!digits.ok()) return Unavailable(digits.status().message());
  return &*digits;
}

Result<std::unique_ptr<Student>> Student::Of(const std::string& model,
                                             Backend& backend,
                                             const train::Dataset& digits) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  edit::LossEdit loss;
  loss.loss = edit::Loss::kSoftmaxCrossEntropyOfOneHot;
  ASSAY_ASSIGN_OR_RETURN(const train::NewModel made,
                         train::MakeModel(model, {.seed = 1}));
  ASSAY_ASSIGN_OR_RETURN(train::Trainee trainee,
                         train::TraineeOf(made, loss, /*seed=*/1));
  ASSAY_ASSIGN_OR_RETURN(
      auto network, train::NetworkObjective::Load(backend, std::move(trainee)));
  return std::make_unique<Student>(std::move(network), digits);
}

Status Student::Put(std::span<const int64_t> samples) {
  const train::Batch own(samples.begin(), samples.end());
  std::vector<Tensor> batch(2);
  ASSAY_ASSIGN_OR_RETURN(batch[0], digits_.Inputs(own));
  ASSAY_ASSIGN_OR_RETURN(batch[1], digits_.OneHot(own, DType::kFloat32));
  return network_->Put(batch);
}

std::vector<int64_t> Student::Sizes() {
  std::vector<int64_t> sizes;
  for (const train::Parameter& each : network_->parameters()) {
    sizes.push_back(each.value.num_elements());
  }
  return sizes;
}

}  // namespace assay::distributed
