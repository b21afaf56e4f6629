// SPDX-License-Identifier: Apache-2.0

#include "gradcheck/case/variant.h"

#include <array>

#include "framework/core/text.h"

namespace assay::gradcheck {
namespace {

constexpr std::array kClasses = {
    InputClass::kOfficial, InputClass::kRedrawn,  InputClass::kExact,
    InputClass::kKinks,    InputClass::kJacobian, InputClass::kField,
    InputClass::kBorders,  InputClass::kSpecial,  InputClass::kComposed};
constexpr std::array kTypes = {DType::kFloat32, DType::kFloat64,
                               DType::kFloat16, DType::kBFloat16};

}  // namespace

std::string_view ToString(InputClass input_class) {
  switch (input_class) {
    case InputClass::kOfficial:
      return "official";
    case InputClass::kRedrawn:
      return "redrawn";
    case InputClass::kExact:
      return "exact";
    case InputClass::kKinks:
      return "kinks";
    case InputClass::kJacobian:
      return "jacobian";
    case InputClass::kField:
      return "field";
    case InputClass::kBorders:
      return "borders";
    case InputClass::kSpecial:
      return "special";
    case InputClass::kComposed:
      return "composed";
  }
  return "";
}

bool IsWritten(InputClass input_class) {
  return input_class == InputClass::kField ||
         input_class == InputClass::kBorders ||
         input_class == InputClass::kSpecial ||
         input_class == InputClass::kComposed;
}

std::optional<Variant> VariantOf(std::string_view test_id) {
  const size_t hash = test_id.rfind('#');
  if (hash == std::string_view::npos) return std::nullopt;
  const std::string_view end = test_id.substr(hash);
  for (const InputClass input_class : kClasses) {
    for (const DType type : kTypes) {
      const Variant variant{input_class, type};
      if (Suffix(variant) == end) return variant;
    }
  }
  return std::nullopt;
}

std::string Suffix(const Variant& variant) {
  return StrCat("#", ToString(variant.input_class), ".",
                assay::ToString(variant.type));
}

}  // namespace assay::gradcheck
