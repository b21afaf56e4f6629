// SPDX-License-Identifier: Apache-2.0

#include "framework/core/value_walk.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::core {
namespace {

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

std::vector<int64_t> Numbers(const Value& value) {
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
    EXPECT_EQ(Numbers(row.value), row.met);
    const auto mapped = MapTensors(row.value, twice);
    ASSERT_TRUE(mapped.ok());
    EXPECT_EQ(Numbers(*mapped), row.doubled);
    EXPECT_EQ(mapped->Type(), row.value.Type());
    EXPECT_EQ(Numbers(row.value), row.met) << "the value itself has changed";
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
