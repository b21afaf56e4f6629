// SPDX-License-Identifier: Apache-2.0

#include "framework/ranks/scheme/codec/rests.h"

#include <algorithm>
#include <cstddef>

#include "framework/core/tensor.h"
#include "framework/ranks/scheme/between.h"

namespace assay::ranks {
namespace {

Status SendOne(const Rests::Send& send, std::vector<float>* rest,
               Tensor* gradient) {
  if (gradient->dtype() != DType::kFloat32) {
    return Unsupported(Reason::kDType, "found a gradient of type ",
                       ToString(gradient->dtype()), ", wanted float32");
  }
  const auto numbers = gradient->mutable_elements<float>();
  rest->resize(numbers.size());
  std::ranges::transform(*rest, numbers, rest->begin(), std::plus());
  return send(*rest, numbers);
}

}  // namespace

Result<double> Rests::Step(train::Objective& objective,
                           train::Optimizer& optimizer, const Send& send) {
  Between together(objective, {}, [&](std::span<Tensor> gradients) {
    rests_.resize(gradients.size());
    for (size_t i = 0; i < gradients.size(); ++i) {
      ASSAY_RETURN_IF_ERROR(SendOne(send, &rests_[i], &gradients[i]));
    }
    return OkStatus();
  });
  return optimizer.Step(together);
}

}  // namespace assay::ranks
