// SPDX-License-Identifier: Apache-2.0
//
// Real models with random weights: ONNX's light models repeat one value in each
// weight, so that any output proves little. Here they get seeded random
// weights, made in memory and never stored.
//
// The same seed gives the same bits on every machine.

#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "framework/core/status.h"
#include "framework/core/tensor.h"
#include "framework/core/value.h"
#include "framework/graph/model.h"

namespace assay::cases {

/// A case made of a model of another case: its folder has the file
/// random_weights.txt with two lines, `model PATH`, relative to the folder, and
/// `seed N`, and the outputs that are expected.
struct RandomCase {
  std::shared_ptr<const Model> source;
  std::map<std::string, Tensor> weights;
  std::vector<Value> inputs;
};
Result<RandomCase> ReadRandomCase(const std::filesystem::path& directory);

/// The model's file and the seed that random_weights.txt names. Not found when
/// there is no such file.
struct RandomSource {
  std::filesystem::path model;
  int64_t seed = 0;
};
Result<RandomSource> ReadRandomSource(const std::filesystem::path& directory);

/// float32 values, uniform in [low, high). A value depends on seed, name and
/// its index alone.
Result<Tensor> UniformTensor(const Shape& shape, float low, float high,
                             int64_t seed, std::string_view name);

/// The signs of the factors of sums (RandomWeights).
enum class Signs : uint8_t { kEven, kMostlyPositive };

/// A tensor for each float32 weight of the main graph: its initializers, and
/// the results of ConstantOfShape of a fixed shape. By the use of a weight,
/// through reshapes:
///   factor of Conv, Gemm  uniform of variance 2 / fan-in behind a Relu (He et
///                         al., arXiv 1502.01852, equation 10), else of
///                         1 / fan-in (the same, equation 7)
///   scale, Mul            0.8 to 1.2; before a Sum 0.2 to 0.4, so that
///                         residual sums do not grow without bound
///   variance              0.8 to 1.2
///   mean, bias, anything else -0.1 to 0.1
///
/// With `signs` mostly positive a factor is uniform from -1 / fan-in to
/// 3 / fan-in instead, and what Conv and Gemm add from -0.3 to 0.3: sums of
/// positive numbers keep their mean and cancel little, so that the rounding of
/// many layers stays far below what they compute.
Result<std::map<std::string, Tensor>> RandomWeights(const Model& model,
                                                    int64_t seed,
                                                    Signs signs = Signs::kEven);

/// Values for the graph's inputs, -1.7 to 1.7 (about variance 1). Unsupported
/// for an input that is no float32 tensor of static shape.
Result<std::vector<Value>> RandomInputs(const Model& model, int64_t seed);

}  // namespace assay::cases
