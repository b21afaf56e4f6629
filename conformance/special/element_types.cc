// SPDX-License-Identifier: Apache-2.0

#include "conformance/special/element_types.h"

#include <algorithm>
#include <string>

#include "conformance/special/case_lines.h"
#include "conformance/special/formula.h"
#include "framework/core/text.h"

namespace assay::special {
namespace {

struct TypeClass {
  std::string_view name;
  std::string_view types;
};
constexpr TypeClass kClasses[] = {
    {"floats", "bfloat16 float16 float32 float64"},
    {"ints", "int8 int16 int32 int64"},
    {"uints", "uint8 uint16 uint32 uint64"},
    {"numbers", "floats ints uints"},
    {"tensors", "numbers bool string complex64 complex128"},
    {"floats8", "float8e4m3fn float8e4m3fnuz float8e5m2 float8e5m2fnuz"},
    {"all", "tensors floats8 int2 int4 uint2 uint4 float4e2m1 float8e8m0"}};

}  // namespace

DType TypeOfText(std::string_view name) {
  if (name == "float") return DType::kFloat32;
  if (name == "double") return DType::kFloat64;
  const auto type = ParseDType(name);
  if (!type) Fail(name, "a type of elements");
  return *type;
}

std::string_view TextName(DType type) {
  if (type == DType::kFloat32) return "float";
  return type == DType::kFloat64 ? "double" : ToString(type);
}

/// A class may name classes.
std::vector<DType> TypesOf(std::string_view words) {
  std::vector<DType> types;
  for (const std::string& word : WordsOf(words)) {
    const bool without = word.starts_with('-');
    const std::string name = word.substr(without ? 1 : 0);
    const auto known = std::ranges::find(kClasses, name, &TypeClass::name);
    const auto named = known == std::end(kClasses)
                           ? std::vector{TypeOfText(name)}
                           : TypesOf(known->types);
    for (const DType type : named) {
      std::erase(types, type);
      if (!without) types.push_back(type);
    }
  }
  return types;
}

DType UnsignedOf(DType type) {
  switch (BitsOf(type)) {
    case 2:
      return DType::kUint2;
    case 4:
      return DType::kUint4;
    case 8:
      return DType::kUint8;
    case 16:
      return DType::kUint16;
    case 32:
      return DType::kUint32;
    default:
      return DType::kUint64;
  }
}

}  // namespace assay::special
