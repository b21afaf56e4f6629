// SPDX-License-Identifier: Apache-2.0
//
// Draws for gradients, beside numbers of a range (framework/testing/draw):
// inputs with ties, integers, and the directions of a case: cotangents, one for
// each output, and tangents, one for each target.

#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "framework/core/shape.h"
#include "framework/core/status.h"
#include "framework/core/tensor.h"
#include "framework/core/value.h"
#include "framework/testing/draw/draw.h"

namespace assay::gradcheck {

using draw::Carries;
using draw::Draw;
using draw::NumbersOf;
using draw::Redrawn;
using draw::TensorOf;

/// Integers from -2 to 2.
Result<Tensor> Integers(const Tensor& official, Draw& draw);

/// Draws from few values, so that most numbers tie: -1, -0, 0, 0.5, 1, 2 and
/// the `marks` with both signs.
Result<Tensor> Tied(const Tensor& official, std::span<const double> marks,
                    Draw& draw);

/// Copies `drawn`, and overwrites each element with a chance of three in four
/// by the element at the same flat index of one of `others`, drawn for each
/// element. An index beyond the end starts again at 0. No tensor of `others`
/// is empty.
Result<Tensor> Met(const Tensor& drawn, std::span<const Tensor> others,
                   Draw& draw);

/// Numbers of magnitude 1 to 2, of either sign, with `bits` significant bits.
std::vector<double> Weights(int64_t count, int bits, Draw& draw);

/// 1 or -1 each, so that no element counts less than another (Rademacher).
std::vector<double> Signs(int64_t count, Draw& draw);

enum class Cotangent : uint8_t { kFirst, kSecond, kOnes, kOneHot };

inline constexpr std::array kCotangents = {Cotangent::kFirst,
                                           Cotangent::kSecond, Cotangent::kOnes,
                                           Cotangent::kOneHot};

/// "random 1", "random 2", "ones", "one-hot".
std::string_view ToString(Cotangent kind);

/// Tensors of float64 of these shapes, each with its number of significant
/// bits; a default Value where that is 0. For one-hot, one element of all
/// tensors is 1.
Result<std::vector<Value>> CotangentsOf(Cotangent kind,
                                        std::span<const int> bits,
                                        std::span<const Shape> shapes,
                                        Draw draw);

/// 1 or -1 for each element of tensors of these shapes, in float64.
Result<std::vector<Value>> TangentsOf(std::span<const Shape> shapes, Draw draw);

}  // namespace assay::gradcheck
