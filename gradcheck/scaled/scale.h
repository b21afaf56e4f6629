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
// parts; a pool over the whole image remains one. scaled_corpus.cc makes a
// corpus of gradient cases of ONNX's light models so.

#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string_view>
#include <vector>

#include "framework/core/shape.h"
#include "framework/core/status.h"
#include "framework/graph/model.h"
#include "framework/testing/case/test_case.h"

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

/// The output shape of Reshape for a new input, given the old shapes of both:
///
///   // [1,112,56,56] to [1,4,28,56,56] where 112 channels are now 8, 56 now 7
///   Regrouped({1, 112, 56, 56}, {1, 4, 28, 56, 56}, {1, 8, 7, 7});
///   // [1,4,2,7,7]
///
/// Extents of the output that are one extent of the input follow it, those that
/// are a product become the new product; where one extent becomes several, all
/// but the last stay. Unsupported, reason shape, for any other regrouping.
Result<Shape> Regrouped(const Shape& old_input, const Shape& old_output,
                        const Shape& input);

/// The output of a convolution or a pool with such a kernel, of so many
/// channels. Images are [N,C,D1,...].
Result<Shape> Windowed(const Node& node, std::vector<int64_t> kernel,
                       const Shape& input, int64_t channels);

/// The integers of an attribute; none where the node does not have it.
std::vector<int64_t> Integers(const Node& node, std::string_view name);

/// The integer of an attribute, or what it is by default.
int64_t Integer(const Node& node, std::string_view name, int64_t by_default);

/// The least divisor, a multiple of 4, that leaves a model at most so many
/// numbers in its weights, with the smallest images that have 2 pixels wherever
/// the model has several. Resource exhausted where no divisor does.
Result<Scale> ScaleWithin(const Model& model, int64_t most_weights);

/// The model at that scale, with random weights, and inputs (random_weights.h).
Result<cases::CaseData> ScaledCase(const Model& model, const Scale& scale,
                                   int64_t seed);

/// Writes a case for each folder of `models` that has a model.onnx.
Status WriteScaledCorpus(const std::filesystem::path& models,
                         const std::filesystem::path& place);

}  // namespace assay::gradcheck
