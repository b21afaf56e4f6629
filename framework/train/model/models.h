// SPDX-License-Identifier: Apache-2.0
//
// Models to train, made by our own code: their parameters are inputs, with first
// values that a seed gives.
//
//   ASSAY_ASSIGN_OR_RETURN(NewModel lenet, MakeModel("lenet5", {.seed = 7}));
//   const std::vector<Parameter>& weights = lenet.parameters;

#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "framework/core/dtype.h"
#include "framework/core/status.h"
#include "framework/train/model/new_model.h"

namespace assay::train {

struct ModelOptions {
  uint64_t seed = 0;
  DType type = DType::kFloat32;  // or kFloat64
};

/// Images are [N, 1, 28, 28] and there are 10 classes:
///
///   mlp         784 - 128 - 10 with Relu
///   lenet5      two convolutions of 5 x 5 and three layers (Y. LeCun et al.,
///               "Gradient-based learning applied to document recognition", 1998,
///               with Relu and maxima in place of tanh and means)
///   small_cnn   two convolutions of 3 x 3, the second with a stride, and a layer
///
/// Weights are uniform within sqrt(6 / (fan in + fan out)) of zero (X. Glorot, Y.
/// Bengio, "Understanding the difficulty of training deep feedforward neural
/// networks", 2010, equation 16), biases zero. Invalid argument for another name or
/// type.
Result<NewModel> MakeModel(std::string_view name, const ModelOptions& options);

std::vector<std::string_view> ModelNames();

}  // namespace assay::train
