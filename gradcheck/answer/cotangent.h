// SPDX-License-Identifier: Apache-2.0
//
// The directions of a gradient case: cotangents, one for each output, and the
// tangents, one for each target.
//
//   for (const Cotangent kind : kCotangents) {
//     const auto dy = CotangentsOf(kind, bits, shapes, Draw(...));
//   }

#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "framework/core/shape.h"
#include "framework/core/status.h"
#include "framework/core/value.h"
#include "gradcheck/draw/draw.h"

namespace assay::gradcheck {

enum class Cotangent : uint8_t { kFirst, kSecond, kOnes, kOneHot };

inline constexpr std::array kCotangents = {Cotangent::kFirst,
                                           Cotangent::kSecond, Cotangent::kOnes,
                                           Cotangent::kOneHot};

/// "random 1", "random 2", "ones", "one-hot".
std::string_view ToString(Cotangent kind);

/// Tensors of float64 of these shapes, of as many significant bits as are given
/// for each, and default Values where these are none. Of one-hot one element of
/// all of them is 1.
Result<std::vector<Value>> CotangentsOf(Cotangent kind,
                                        std::span<const int> bits,
                                        std::span<const Shape> shapes,
                                        Draw draw);

/// 1 or -1 for each element of tensors of these shapes, in float64.
Result<std::vector<Value>> TangentsOf(std::span<const Shape> shapes, Draw draw);

}  // namespace assay::gradcheck
