// SPDX-License-Identifier: Apache-2.0
//
// Models to train, made by our own code: their parameters are inputs, with
// first values that a seed gives.

#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "framework/core/status.h"
#include "framework/train/data/dataset.h"
#include "framework/train/model/new_model.h"

namespace assay::train {

/// Makes a model that maps images [N, channels, rows, columns] to the scores of
/// classes:
///
///   mlp          a layer of 128 with Relu, and one
///   lenet5       two convolutions of 5 x 5 and three layers (Y. LeCun et al.,
///                "Gradient-based learning applied to document recognition",
///                1998, with Relu and maxima in place of tanh and means)
///   small_cnn    two convolutions of 3 x 3, the second with a stride, a layer
///   resnet8, resnet20, lstm, transformer   as models.cc says
///
/// Weights are uniform as Glorot in sketch.h says where the sources say nothing
/// else, biases zero. Invalid argument for another name or type, and for an
/// image that has too few rows or columns.
Result<NewModel> MakeModel(std::string_view name, const ModelOptions& options);

std::vector<std::string_view> ModelNames();

/// For the images and classes of a dataset. Invalid argument where its samples
/// are not of channels, rows and columns.
Result<ModelOptions> OptionsFor(const Dataset& dataset, uint64_t seed);

}  // namespace assay::train
