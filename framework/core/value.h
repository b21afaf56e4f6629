// SPDX-License-Identifier: Apache-2.0
//
// Value: whatever flows along an edge of an ONNX graph - a tensor, a sparse
// tensor, a sequence, an optional or a map - and ValueType, what a model
// declares about it.
//
//   Value value = tensor;
//   if (const Tensor* t = value.tensor()) Use(*t);
//   ValueType::OfTensor(DType::kFloat32, {Dim(2), Dim("N")}).ToString();
//   // "float32[2,N]"
//
// Copying a Value shares its tensors' bytes. A default Value is absent: an
// omitted optional input, or an output that the backend is to allocate.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "framework/core/tensor.h"

namespace assay::inline v1 {

enum class ValueKind : uint8_t {
  kNone,
  kTensor,
  kSparseTensor,
  kSequence,
  kOptional,
  kMap
};

std::string_view ToString(ValueKind kind);

/// An extent: known, or known by a name only, or not known at all.
struct Dim {
  Dim() = default;
  explicit Dim(int64_t extent) : extent(extent) {}
  explicit Dim(std::string symbol) : symbol(std::move(symbol)) {}

  bool known() const { return extent >= 0; }
  friend bool operator==(const Dim&, const Dim&) = default;

  int64_t extent = -1;
  std::string symbol;
};

/// The declared type of a value. For a tensor, `dtype` and, when the rank is
/// known, `dims`. For a sequence or an optional, `element`. For a map, `dtype`
/// is the key's type and `element` the value's.
struct ValueType {
  static ValueType OfTensor(DType dtype, std::vector<Dim> dims);
  static ValueType OfTensor(const Tensor& tensor);

  /// The shape of a tensor type whose every extent is known.
  std::optional<Shape> StaticShape() const;

  /// "float32[2,N]", "float32" with unknown rank, "seq(float32)", "none".
  std::string ToString() const;

  friend bool operator==(const ValueType&, const ValueType&);

  ValueKind kind = ValueKind::kNone;
  DType dtype = DType::kUndefined;
  std::optional<std::vector<Dim>> dims;
  std::shared_ptr<const ValueType> element;
};

class Value;

/// Items of one type; `element` is kept so that an empty sequence has a type.
struct Sequence {
  ValueType element;
  std::vector<Value> items;
};

/// A value or none of a known type.
struct Optional {
  ValueType element;
  std::shared_ptr<const Value> value;  // null: none

  bool has_value() const { return value != nullptr; }
};

/// Pairs of a key (an integer or string element of the rank-1 tensor `keys`)
/// and a value, in the order in which they were given.
struct Map {
  Tensor keys;
  std::vector<Value> values;
};

/// A sparse tensor in ONNX's coordinate form: rank-1 `values`, and `indices`
/// of shape [n] (linear) or [n, rank].
struct SparseTensor {
  Tensor values;
  Tensor indices;
  Shape shape;
};

class Value {
 public:
  Value() = default;
  Value(Tensor tensor) : held_(std::move(tensor)) {}
  Value(SparseTensor sparse) : held_(std::move(sparse)) {}
  Value(Sequence sequence)
      : held_(std::make_shared<const Sequence>(std::move(sequence))) {}
  Value(Optional optional) : held_(std::move(optional)) {}
  Value(Map map) : held_(std::make_shared<const Map>(std::move(map))) {}

  ValueKind kind() const { return static_cast<ValueKind>(held_.index()); }
  bool present() const { return kind() != ValueKind::kNone; }

  /// The held value, or null when it is of another kind.
  const Tensor* tensor() const { return std::get_if<Tensor>(&held_); }
  Tensor* mutable_tensor() { return std::get_if<Tensor>(&held_); }
  const SparseTensor* sparse() const {
    return std::get_if<SparseTensor>(&held_);
  }
  const Sequence* sequence() const;
  const Optional* optional() const { return std::get_if<Optional>(&held_); }
  const Map* map() const;

  /// The exact type of this value.
  ValueType Type() const;

 private:
  // In the order of ValueKind.
  std::variant<std::monostate, Tensor, SparseTensor,
               std::shared_ptr<const Sequence>, Optional,
               std::shared_ptr<const Map>>
      held_;
};

/// True when a value of type `actual` may stand where `declared` is wanted:
/// same kinds and element types, and extents equal where both are known. A
/// declared type of kind kNone accepts everything.
bool Accepts(const ValueType& declared, const ValueType& actual);

}  // namespace assay::inline v1
