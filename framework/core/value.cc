// SPDX-License-Identifier: Apache-2.0

#include "framework/core/value.h"

#include <array>

namespace assay::inline v1 {
namespace {

ValueType Nested(ValueKind kind, ValueType element) {
  ValueType type;
  type.kind = kind;
  type.element = std::make_shared<const ValueType>(std::move(element));
  return type;
}

}  // namespace

std::string_view ToString(ValueKind kind) {
  constexpr std::array<std::string_view, 6> kNames = {
      "none", "tensor", "sparse_tensor", "sequence", "optional", "map"};
  return kNames.at(static_cast<size_t>(kind));
}

ValueType ValueType::OfTensor(DType dtype, std::vector<Dim> dims) {
  ValueType type;
  type.kind = ValueKind::kTensor;
  type.dtype = dtype;
  type.dims = std::move(dims);
  return type;
}

ValueType ValueType::OfTensor(const Tensor& tensor) {
  std::vector<Dim> dims;
  for (const int64_t extent : tensor.shape()) dims.emplace_back(extent);
  return OfTensor(tensor.dtype(), std::move(dims));
}

std::optional<Shape> ValueType::StaticShape() const {
  if (kind != ValueKind::kTensor || !dims.has_value()) return std::nullopt;
  std::vector<int64_t> extents;
  for (const Dim& dim : *dims) {
    if (!dim.known()) return std::nullopt;
    extents.push_back(dim.extent);
  }
  return Shape(extents);
}

std::string ValueType::ToString() const {
  const std::string inner = element ? element->ToString() : "none";
  switch (kind) {
    case ValueKind::kNone:
      return "none";
    case ValueKind::kSequence:
      return StrCat("seq(", inner, ")");
    case ValueKind::kOptional:
      return StrCat("optional(", inner, ")");
    case ValueKind::kMap:
      return StrCat("map(", dtype, ",", inner, ")");
    case ValueKind::kTensor:
    case ValueKind::kSparseTensor:
      break;
  }
  std::string text = StrCat(kind == ValueKind::kTensor ? "" : "sparse ", dtype);
  if (!dims.has_value()) return text;
  text += '[';
  for (size_t i = 0; i < dims->size(); ++i) {
    const Dim& dim = (*dims)[i];
    if (i > 0) text += ',';
    text += dim.known()          ? std::to_string(dim.extent)
            : dim.symbol.empty() ? "?"
                                 : dim.symbol;
  }
  return text + "]";
}

bool operator==(const ValueType& a, const ValueType& b) {
  if (a.kind != b.kind || a.dtype != b.dtype || a.dims != b.dims) return false;
  if (a.element == nullptr || b.element == nullptr) {
    return a.element == b.element;
  }
  return *a.element == *b.element;
}

const Sequence* Value::sequence() const {
  const auto* held = std::get_if<std::shared_ptr<const Sequence>>(&held_);
  return held == nullptr ? nullptr : held->get();
}

const Map* Value::map() const {
  const auto* held = std::get_if<std::shared_ptr<const Map>>(&held_);
  return held == nullptr ? nullptr : held->get();
}

ValueType Value::Type() const {
  switch (kind()) {
    case ValueKind::kNone:
      return {};
    case ValueKind::kTensor:
      return ValueType::OfTensor(*tensor());
    case ValueKind::kSparseTensor: {
      ValueType type = ValueType::OfTensor(sparse()->values);
      type.kind = ValueKind::kSparseTensor;
      type.dims.emplace();
      for (const int64_t extent : sparse()->shape) {
        type.dims->emplace_back(extent);
      }
      return type;
    }
    case ValueKind::kSequence:
      return Nested(ValueKind::kSequence, sequence()->element);
    case ValueKind::kOptional:
      return Nested(ValueKind::kOptional, optional()->element);
    case ValueKind::kMap: {
      const Map& held = *map();
      ValueType type =
          Nested(ValueKind::kMap,
                 held.values.empty() ? ValueType() : held.values[0].Type());
      type.dtype = held.keys.dtype();
      return type;
    }
  }
  return {};
}

bool Accepts(const ValueType& declared, const ValueType& actual) {
  if (declared.kind == ValueKind::kNone) return true;
  if (declared.kind != actual.kind) return false;
  if (declared.dtype != DType::kUndefined && declared.dtype != actual.dtype) {
    return false;
  }
  if (declared.element != nullptr && actual.element != nullptr &&
      !Accepts(*declared.element, *actual.element)) {
    return false;
  }
  if (!declared.dims.has_value() || !actual.dims.has_value()) return true;
  if (declared.dims->size() != actual.dims->size()) return false;
  for (size_t i = 0; i < declared.dims->size(); ++i) {
    const Dim& want = (*declared.dims)[i];
    const Dim& got = (*actual.dims)[i];
    if (want.known() && got.known() && want.extent != got.extent) return false;
  }
  return true;
}

}  // namespace assay::inline v1
