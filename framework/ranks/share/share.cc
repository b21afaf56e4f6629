// SPDX-License-Identifier: Apache-2.0

#include "framework/ranks/share/share.h"

#include <algorithm>
#include <cstddef>

#include "framework/train/optimizer/in_place.h"

namespace assay::ranks {

Share ShareOf(std::span<const int64_t> batch, int rank, int ranks) {
  const auto all = static_cast<size_t>(ranks);
  const auto place = static_cast<size_t>(rank);
  const size_t first = batch.size() * place / all;
  const size_t end = batch.size() * (place + 1) / all;
  if (first == end) return {};
  const std::span<const int64_t> mine = batch.subspan(first, end - first);
  return {{mine.begin(), mine.end()},
          static_cast<double>(all * mine.size()) /
              static_cast<double>(batch.size())};
}

Result<train::Evaluation> SharedObjective::Evaluate() {
  if (share_.samples.empty()) {
    ASSAY_RETURN_IF_ERROR(Zero());
    return train::Evaluation{0, gradients_};
  }
  ASSAY_RETURN_IF_ERROR(put_(share_.samples));
  ASSAY_ASSIGN_OR_RETURN(const train::Evaluation own, inner_.Evaluate());
  // A weight of 1 changes nothing: most batches divide without a remainder.
  if (share_.weight == 1) return own;
  ASSAY_RETURN_IF_ERROR(Weigh(own.gradients));
  return train::Evaluation{share_.weight * own.loss, gradients_};
}

Status SharedObjective::Weigh(std::span<const Tensor> gradients) {
  gradients_.resize(gradients.size());
  for (size_t p = 0; p < gradients.size(); ++p) {
    ASSAY_RETURN_IF_ERROR(train::Reserve(gradients[p], &gradients_[p]));
    ASSAY_RETURN_IF_ERROR(train::InPlace(
        &gradients_[p], gradients[p], {},
        [&]<class T>(const train::Elements<T>& each) {
          for (size_t i = 0; i < each.x.size(); ++i) {
            each.x[i] = static_cast<T>(share_.weight * double{each.g[i]});
          }
        }));
  }
  return OkStatus();
}

Status SharedObjective::Zero() {
  const std::span<const train::Parameter> parameters = inner_.parameters();
  gradients_.resize(parameters.size());
  for (size_t p = 0; p < parameters.size(); ++p) {
    Tensor& gradient = gradients_[p];
    ASSAY_RETURN_IF_ERROR(train::Reserve(parameters[p].value, &gradient));
    std::fill_n(gradient.mutable_data(), gradient.bytes().size(), std::byte{});
  }
  return OkStatus();
}

}  // namespace assay::ranks
