// SPDX-License-Identifier: Apache-2.0
//
// A model of images with fewer channels and smaller images: every node stays,
// and only shapes and what follows from them change, so that its gradients by
// all weights can be known exactly within a second.
//
//   ASSAY_ASSIGN_OR_RETURN(auto small, ScaledDown(*resnet, {.divisor = 32,
//                                                           .image = 33}));
//   // Conv [64,3,7,7] is [2,3,7,7] there, Gemm [1000,2048] is [32,64].
//
// New shapes are those that follow from node to node. Numbers of channels that
// are equal in the model stay so, those behind a Concat are the sum of its
// parts; a pool over the whole image remains one.

#pragma once

#include <cstdint>
#include <memory>

#include "framework/core/status.h"
#include "framework/graph/model.h"

namespace assay::gradcheck {

struct Scale {
  /// Numbers of channels and features are divided by it and rounded up, to a
  /// multiple of the groups of the model's convolutions. Those of the inputs
  /// stay.
  int64_t divisor = 1;
  /// No number of channels becomes less than this, unless it was.
  int64_t least = 1;
  /// Both extents of each input of rank 4; 0 leaves them.
  int64_t image = 0;
};

/// A weight of the result is what it is in the model: an initializer, which
/// keeps its first numbers, or a ConstantOfShape. Unsupported, reason operator,
/// for an operator that no model of images has needed yet; reason shape for a
/// shape that does not tell how it shrinks. Invalid argument for a scale that
/// leaves an image of more than one pixel a single one.
Result<std::shared_ptr<const Model>> ScaledDown(const Model& model,
                                                const Scale& scale);

}  // namespace assay::gradcheck
