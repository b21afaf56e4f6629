// SPDX-License-Identifier: Apache-2.0

#include "framework/graph/value_bytes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "framework/graph/model.h"
#include "framework/testing/support/statuses_fixture.h"
#include "framework/testing/support/tensors_fixture.h"

namespace assay::graph {
namespace {

using ::testing::ElementsAre;

/// Written and read back, as the type of the value itself says.
Value There(const Value& value) {
  const auto bytes = SerializeValue(value, "v");
  if (!bytes.ok()) throw std::runtime_error(bytes.status().ToString());
  auto read = ParseValue(std::as_bytes(std::span(*bytes)), value.Type());
  if (!read.ok()) throw std::runtime_error(read.status().ToString());
  return *read;
}

TEST(SerializeValue, TensorsOfEveryTypeReadBackAsTheyWere) {
  for (int type = 1; type < 64; ++type) {
    const auto dtype = DTypeFromOnnx(type);
    if (!dtype.has_value() || *dtype == DType::kUndefined) continue;
    Tensor tensor = *Tensor::Allocate(*dtype, {2, 3});
    if (*dtype == DType::kString) {
      tensor.mutable_strings()[4] = "five";
    } else if (*dtype != DType::kBool) {
      *tensor.mutable_data() = std::byte{0x12};
    }
    const Value read = There(tensor);
    ASSERT_NE(read.tensor(), nullptr) << *dtype;
    EXPECT_EQ(read.tensor()->Signature(), tensor.Signature());
    EXPECT_TRUE(std::ranges::equal(read.tensor()->bytes(), tensor.bytes()));
    if (*dtype == DType::kString) {
      EXPECT_EQ(read.tensor()->strings()[4], "five");
    }
  }
}

TEST(SerializeValue, SequencesOptionalsAndMapsReadBackAsTheyWere) {
  const Tensor two = Floats({1, 2});
  const Sequence sequence{ValueType::OfTensor(two), {two, two}};
  const Value list = There(sequence);
  ASSERT_EQ(list.sequence()->items.size(), 2U);
  EXPECT_THAT(list.sequence()->items[1].tensor()->elements<float>(),
              ElementsAre(1, 2));
  EXPECT_TRUE(
      There(Sequence{ValueType::OfTensor(two), {}}).sequence()->items.empty());

  const Value some = There(
      Optional{Value(sequence).Type(), std::make_shared<Value>(sequence)});
  ASSERT_TRUE(some.optional()->has_value());
  EXPECT_EQ(some.optional()->value->sequence()->items.size(), 2U);
  EXPECT_FALSE(There(Optional{ValueType::OfTensor(two), nullptr})
                   .optional()
                   ->has_value());

  const Value map = There(Map{Int64s({3, -4}), {two, two}});
  EXPECT_THAT(map.map()->keys.elements<int64_t>(), ElementsAre(3, -4));
  EXPECT_EQ(map.map()->values.size(), 2U);
}

TEST(SerializeValue, SparseTensorsReadBackAsTheyWere) {
  const SparseTensor sparse{Floats({5, 7}), Int64s({0, 3}), {4}};
  const Value read = There(sparse);
  EXPECT_THAT(read.sparse()->values.elements<float>(), ElementsAre(5, 7));
  EXPECT_THAT(read.sparse()->indices.elements<int64_t>(), ElementsAre(0, 3));
  EXPECT_EQ(read.sparse()->shape, Shape({4}));
}

TEST(SerializeValue, RefusesAnAbsentValue) {
  EXPECT_THAT(SerializeValue(Value(), "v"),
              IsStatus(StatusCode::kInvalidArgument, "'v'"));
}

}  // namespace
}  // namespace assay::graph
