// SPDX-License-Identifier: Apache-2.0

#include "framework/train/micro_batches.h"

#include <algorithm>

#include "framework/train/optimizer/in_place.h"
#include "framework/train/optimizer/reserve.h"

namespace assay::train {

Result<Evaluation> MicroBatches::Evaluate() {
  Evaluation whole;
  sums_.clear();
  const std::span<const int64_t> batch = batch_;
  const auto most = static_cast<size_t>(most_);
  for (size_t at = 0; at < batch.size(); at += most) {
    const auto samples = batch.subspan(at, std::min(most, batch.size() - at));
    ASSAY_RETURN_IF_ERROR(put_(Batch(samples.begin(), samples.end())));
    ASSAY_ASSIGN_OR_RETURN(const Evaluation part, network_.Evaluate());
    const double weight =
        static_cast<double>(samples.size()) / static_cast<double>(batch.size());
    whole.loss += weight * part.loss;
    ASSAY_RETURN_IF_ERROR(Add(weight, part.gradients));
    ASSAY_RETURN_IF_ERROR(seen_(part.loss));
  }
  ASSAY_RETURN_IF_ERROR(Round());
  whole.gradients = gradients_;
  return whole;
}

Status MicroBatches::Add(double weight, std::span<const Tensor> gradients) {
  sums_.resize(gradients.size());
  gradients_.resize(gradients.size());
  for (size_t p = 0; p < gradients.size(); ++p) {
    const Tensor& part = gradients[p];
    ASSAY_RETURN_IF_ERROR(Reserve(part, &gradients_[p]));
    std::vector<double>& sum = sums_[p];
    sum.resize(static_cast<size_t>(part.num_elements()));
    ASSAY_RETURN_IF_ERROR(
        InPlace(&gradients_[p], part, {}, [&](const auto& each) {
          for (size_t i = 0; i < sum.size(); ++i) {
            sum[i] += weight * double{each.g[i]};
          }
        }));
  }
  return OkStatus();
}

Status MicroBatches::Round() {
  for (size_t p = 0; p < gradients_.size(); ++p) {
    ASSAY_RETURN_IF_ERROR(InPlace(
        &gradients_[p], gradients_[p], {},
        [&]<class T>(const Elements<T>& each) {
          std::ranges::transform(sums_[p], each.x.begin(), [](double sum) {
            return static_cast<T>(sum);
          });
        }));
  }
  return OkStatus();
}

}  // namespace assay::train
