// SPDX-License-Identifier: Apache-2.0

#include "framework/core/value.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace assay::core {
namespace {

Tensor Floats(Shape shape) {
  return *Tensor::Allocate(DType::kFloat32, std::move(shape));
}

ValueType Of(ValueKind kind, ValueType element) {
  ValueType type;
  type.kind = kind;
  type.element = std::make_shared<const ValueType>(std::move(element));
  return type;
}

const ValueType kFloats = ValueType::OfTensor(Floats({2}));

TEST(Value, KnowsItsKindAndType) {
  const Tensor keys = *Tensor::FromStrings({1}, {"a"});
  const Tensor index = *Tensor::Allocate(DType::kInt64, {2});
  struct Row {
    Value value;
    ValueKind kind;
    std::string type;
  };
  const Row rows[] = {
      {Value(), ValueKind::kNone, "none"},
      {Floats({2, 3}), ValueKind::kTensor, "float32[2,3]"},
      {SparseTensor{Floats({2}), index, {5, 5}}, ValueKind::kSparseTensor,
       "sparse float32[5,5]"},
      {Sequence{kFloats, {}}, ValueKind::kSequence, "seq(float32[2])"},
      {Optional{kFloats, nullptr}, ValueKind::kOptional,
       "optional(float32[2])"},
      {Map{keys, {Value(Floats({2}))}}, ValueKind::kMap,
       "map(string,float32[2])"},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(row.value.kind(), row.kind);
    EXPECT_EQ(row.value.Type().ToString(), row.type);
    EXPECT_EQ(row.value.present(), row.kind != ValueKind::kNone);
    EXPECT_EQ(row.value.tensor() != nullptr, row.kind == ValueKind::kTensor);
    EXPECT_EQ(row.value.sequence() != nullptr,
              row.kind == ValueKind::kSequence);
    EXPECT_EQ(row.value.map() != nullptr, row.kind == ValueKind::kMap);
  }
}

TEST(ValueType, PrintsUnknownExtents) {
  EXPECT_EQ(
      ValueType::OfTensor(DType::kInt8, {Dim(2), Dim("N"), Dim()}).ToString(),
      "int8[2,N,?]");
  ValueType unranked = ValueType::OfTensor(DType::kInt8, {});
  unranked.dims.reset();
  EXPECT_EQ(unranked.ToString(), "int8");
}

TEST(ValueType, AcceptsWhatFits) {
  const auto tensor = [](DType type, std::vector<Dim> dims) {
    return ValueType::OfTensor(type, std::move(dims));
  };
  ValueType unranked = tensor(DType::kFloat32, {});
  unranked.dims.reset();
  const ValueType two = tensor(DType::kFloat32, {Dim(2)});
  const ValueType three = tensor(DType::kFloat32, {Dim(3)});
  const ValueType named = tensor(DType::kFloat32, {Dim("N")});
  const ValueType integers = tensor(DType::kInt32, {Dim(2)});
  const ValueType matrix = tensor(DType::kFloat32, {Dim(2), Dim(2)});
  struct Row {
    ValueType declared;
    ValueType actual;
    bool accepted;
  };
  const Row rows[] = {
      {{}, two, true},
      {two, two, true},
      {named, two, true},
      {unranked, matrix, true},
      {two, three, false},
      {two, integers, false},
      {two, matrix, false},
      {two, Of(ValueKind::kSequence, two), false},
      {Of(ValueKind::kSequence, named), Of(ValueKind::kSequence, two), true},
      {Of(ValueKind::kSequence, three), Of(ValueKind::kSequence, two), false},
      {Of(ValueKind::kOptional, two), Of(ValueKind::kSequence, two), false},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(Accepts(row.declared, row.actual), row.accepted)
        << row.declared.ToString() << " against " << row.actual.ToString();
  }
}

TEST(ValueType, StaticShapeNeedsEveryExtent) {
  EXPECT_EQ(*kFloats.StaticShape(), Shape({2}));
  EXPECT_EQ(ValueType::OfTensor(DType::kInt8, {Dim(2), Dim("N")}).StaticShape(),
            std::nullopt);
  EXPECT_EQ(Of(ValueKind::kSequence, kFloats).StaticShape(), std::nullopt);
}

TEST(ValueType, EqualityLooksInside) {
  EXPECT_EQ(Of(ValueKind::kSequence, kFloats),
            Of(ValueKind::kSequence, kFloats));
  EXPECT_NE(Of(ValueKind::kSequence, kFloats),
            Of(ValueKind::kOptional, kFloats));
  EXPECT_NE(Of(ValueKind::kSequence, kFloats), Of(ValueKind::kSequence, {}));
}

}  // namespace
}  // namespace assay::core
