// SPDX-License-Identifier: Apache-2.0

#include "framework/core/value.h"

#include <gtest/gtest.h>

#include "framework/core/value_walk.h"

namespace assay::core {
namespace {

Tensor AnyFloats(Shape shape) {
  return *Tensor::Allocate(DType::kFloat32, std::move(shape));
}

ValueType Of(ValueKind kind, ValueType element) {
  ValueType type;
  type.kind = kind;
  type.element = std::make_shared<const ValueType>(std::move(element));
  return type;
}

const ValueType kFloats = ValueType::OfTensor(AnyFloats({2}));

TEST(Value, KnowsItsKindAndType) {
  const Tensor keys = *Tensor::FromStrings({1}, {"a"});
  const Tensor index = *Tensor::Allocate(DType::kInt64, {2});
  const struct {
    Value value;
    ValueKind kind;
    std::string type;
  } rows[] = {
      {Value(), ValueKind::kNone, "none"},
      {AnyFloats({2, 3}), ValueKind::kTensor, "float32[2,3]"},
      {SparseTensor{AnyFloats({2}), index, {5, 5}}, ValueKind::kSparseTensor,
       "sparse float32[5,5]"},
      {Sequence{kFloats, {}}, ValueKind::kSequence, "seq(float32[2])"},
      {Optional{kFloats, nullptr}, ValueKind::kOptional,
       "optional(float32[2])"},
      {Map{keys, {Value(AnyFloats({2}))}}, ValueKind::kMap,
       "map(string,float32[2])"},
  };
  for (const auto& row : rows) {
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
  const struct {
    ValueType declared;
    ValueType actual;
    bool accepted;
  } rows[] = {
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
  for (const auto& row : rows) {
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

Tensor Number(int64_t number) {
  Tensor tensor = *Tensor::Allocate(DType::kInt64, {1});
  tensor.mutable_elements<int64_t>()[0] = number;
  return tensor;
}

const ValueType kNumber = ValueType::OfTensor(Number(0));

Value Held(Value value) {
  const ValueType type = value.Type();
  return Optional{type, std::make_shared<const Value>(std::move(value))};
}

std::vector<int64_t> NumbersIn(const Value& value) {
  std::vector<int64_t> numbers;
  ForEachTensor(value, [&](const Tensor& tensor) {
    numbers.push_back(tensor.elements<int64_t>()[0]);
  });
  return numbers;
}

TEST(ValueWalk, MeetsTheTensorsOfEveryKind) {
  const Value items = Sequence{kNumber, {Number(1), Number(2)}};
  const struct {
    Value value;
    std::vector<int64_t> met;
    std::vector<int64_t> doubled;
  } rows[] = {{Value(), {}, {}},
              {Number(3), {3}, {6}},
              {SparseTensor{Number(4), Number(0), {5}}, {4}, {8}},
              {items, {1, 2}, {2, 4}},
              {Held(items), {1, 2}, {2, 4}},
              {Optional{kNumber, nullptr}, {}, {}},
              {Map{Number(5), {items}}, {5, 1, 2}, {10, 2, 4}}};
  const auto twice = [](const Tensor& tensor) -> Result<Tensor> {
    return Number(2 * tensor.elements<int64_t>()[0]);
  };
  for (const auto& row : rows) {
    EXPECT_EQ(NumbersIn(row.value), row.met);
    const auto mapped = MapTensors(row.value, twice);
    ASSERT_TRUE(mapped.ok());
    EXPECT_EQ(NumbersIn(*mapped), row.doubled);
    EXPECT_EQ(mapped->Type(), row.value.Type());
    EXPECT_EQ(NumbersIn(row.value), row.met) << "the value itself has changed";
  }
}

TEST(ValueWalk, StopsAtWhatCannotBeChanged) {
  const auto refuse = [](const Tensor& tensor) -> Result<Tensor> {
    if (tensor.elements<int64_t>()[0] == 2) return Internal("two");
    return tensor;
  };
  const Value nested = Held(Map{Number(0), {Number(1), Number(2)}});
  EXPECT_EQ(MapTensors(nested, refuse).status().message(), "two");
}

TEST(ValueWalk, DeclaresOtherTypes) {
  const auto type = MapTensors(
      Held(Sequence{kNumber, {}}), [](const Tensor& t) { return t.Clone(); },
      [](DType) { return DType::kInt8; });
  EXPECT_EQ(type->Type().ToString(), "optional(seq(int8[1]))");
}

}  // namespace
}  // namespace assay::core
