// SPDX-License-Identifier: Apache-2.0
//
// Variant: what stands behind the # of a gradient case: where its inputs come
// from, and their element type.
//
//   Variant variant = *VariantOf("gradcheck/Relu/test_relu#redrawn.float64");
//   variant.input_class;  // InputClass::kRedrawn
//   variant.type;         // DType::kFloat64

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "framework/core/dtype.h"

namespace assay::gradcheck {

enum class InputClass : uint8_t {
  kOfficial,  // those of the case
  kRedrawn,   // drawn within their range, without ties
  kExact,     // small integers, so that sums are exact in any order
  kKinks,     // few values, so that many are tied or stand at a kink
  kJacobian,  // redrawn, for every element of every Jacobian
  kField,     // a shape or a value that a public thread reports
  kBorders,   // by hand, where two pieces of a function meet or values tie
  kSpecial,   // by hand, zeros, extremes and what is not finite
  kComposed,  // a network at random
};

std::string_view ToString(InputClass input_class);

/// True where the inputs are those of a text (gradcheck/field), not derived
/// from a case of ONNX.
bool IsWritten(InputClass input_class);

struct Variant {
  InputClass input_class = InputClass::kOfficial;
  DType type = DType::kFloat32;
};

/// Nothing for an id that has no such end.
std::optional<Variant> VariantOf(std::string_view test_id);

/// "#redrawn.float64".
std::string Suffix(const Variant& variant);

}  // namespace assay::gradcheck
