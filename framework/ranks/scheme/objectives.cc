// SPDX-License-Identifier: Apache-2.0

#include "framework/ranks/scheme/objectives.h"

#include "framework/core/numbers.h"
#include "framework/core/text.h"
#include "framework/ranks/endpoint.h"

namespace assay::ranks {

WholeObjective::WholeObjective(int rank, int ranks, int64_t together)
    : rank_(rank), ranks_(ranks), together_(together) {
  for (const int64_t size : kSizes) {
    std::vector<float> start;
    for (int i = 0; i < size; ++i) start.push_back(static_cast<float>(i % 5));
    parameters_.push_back(
        {StrCat("w", size),
         Tensor::Of<float>({size}, std::span<const float>(start)).value()});
    gradients_.push_back(Tensor::Allocate(DType::kFloat32, {size}).value());
  }
}

Result<train::Evaluation> WholeObjective::Evaluate() {
  for (size_t p = 0; p < gradients_.size(); ++p) {
    const auto gradient = gradients_[p].mutable_elements<float>();
    for (size_t i = 0; i < gradient.size(); ++i) {
      gradient[i] = rank_ == kNobody ? Mean(p, i) : Of(rank_, steps_, p, i);
    }
  }
  steps_ += together_;
  return train::Evaluation{static_cast<double>(rank_), gradients_};
}

std::vector<float> WholeObjective::Numbers() const {
  std::vector<float> all;
  for (const train::Parameter& each : parameters_) {
    const auto elements = each.value.elements<float>();
    all.insert(all.end(), elements.begin(), elements.end());
  }
  return all;
}

float WholeObjective::Of(int rank, int64_t step, size_t parameter,
                         size_t i) const {
  constexpr uint64_t kGradients = 17;
  // A key takes the place of a drawn number here: a generator would be filled
  // anew for each element.
  const uint64_t key =
      core::KeyOf(core::KeyOf(static_cast<uint64_t>(rank), step),
                  static_cast<int64_t>(100 * parameter + i));
  return static_cast<float>(key % kGradients) - 6;
}

float WholeObjective::Mean(size_t parameter, size_t i) const {
  float sum = 0;
  for (int rank = 0; rank < ranks_; ++rank) {
    for (int64_t step = steps_; step < steps_ + together_; ++step) {
      sum += Of(rank, step, parameter, i);
    }
  }
  return sum / static_cast<float>(together_) / static_cast<float>(ranks_);
}

}  // namespace assay::ranks
