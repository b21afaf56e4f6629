// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/draw/inputs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "framework/graph/model_text.h"
#include "framework/testing/measure/recheck.h"
#include "framework/testing/support/tensors_fixture.h"

namespace assay::draw {
namespace {

using testing::AllOf;
using testing::Each;
using testing::Ge;
using testing::IsSupersetOf;
using testing::Le;
using testing::Ne;
using testing::UnorderedElementsAreArray;

std::vector<Value> DrawnOf(std::string_view model,
                           const std::vector<Value>& inputs, int64_t seed = 7) {
  const auto read = graph::ModelOfText(model);
  Draw draw("redrawn/A/b", seed, "inputs");
  const auto drawn =
      DrawnInputs(read->graph(), KindsOf(read->graph()), inputs, draw);
  EXPECT_TRUE(drawn.ok()) << drawn.status().ToString();
  return *drawn;
}

template <class T>
std::vector<T> ElementsOf(const Value& value) {
  const auto elements = value.tensor()->elements<T>();
  return {elements.begin(), elements.end()};
}

// Kills: a setting that is drawn, numbers that are kept, and an input of
// another place taken for it.
TEST(KindsOf, AreThoseOfTheOperatorsThatReadAnInput) {
  using enum InputKind;
  const struct {
    const char* model;
    InputKinds kinds;
  } rows[] = {
      {"g (float[2] a, float[2] b) => (float[2] y) { y = Add(a, b) }",
       {{"a", kNumbers}, {"b", kNumbers}}},
      {"g (int8[2] a, int8[2] b) => (int8[2] y) { y = BitShift(a, b) }",
       {{"a", kNumbers}, {"b", kNumbers}}},
      {"g (float[2] x, int64[1] a) => (float y) { y = ReduceSum(x, a) }",
       {{"x", kNumbers}, {"a", kKept}}},
      {"g (float[2] x, int64[1] i) => (float[1] y) { y = Gather(x, i) }",
       {{"x", kNumbers}, {"i", kNumbers}}},
      {"g (float[1,1,2] x, float[3] s) => (float[1,1,4] y) "
       "{ y = Resize(x, , s) }",
       {{"x", kNumbers}, {"s", kKept}}},
      {"g (float a, float b, float d) => (float[N] y) { y = Range(a, b, d) }",
       {{"a", kShifted}, {"b", kShifted}, {"d", kKept}}},
      {"g (float[2] x) => (int64[N] y) { y = NonZero(x) }", {{"x", kShuffled}}},
      // The strictest of several readers decides, and an integer is kept.
      {"g (float[3] s, float[1,1,2] x, int64[2] i) => (float[1,1,4] y, "
       "float[3] z, int64[2] j) { z = Neg(s) y = Resize(x, , s) j = Neg(i) }",
       {{"s", kKept}, {"x", kNumbers}, {"i", kKept}}},
      // A reader of a type or a shape alone does not decide.
      {"g (float[2] x, float[2] t) => (float[2] y, int64[1] s) "
       "{ y = CastLike(x, t) s = Shape(x) }",
       {{"x", kNumbers}, {"t", kUnread}}},
      {"g (float[2] x) => (string[2] y) { y = Cast<to = 8>(x) }",
       {{"x", kShuffled}}},
      {"g (float[2] x) => (float[2] y) { y = test.Relu(x) }", {{"x", kKept}}},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(KindsOf(graph::ModelOfText(row.model)->graph()), row.kinds)
        << row.model;
  }
}

// Kills: a range that is left or not filled, and a 0 for a divisor.
TEST(DrawnInputs, IntegersAreOfTheRangeWithoutNewZeros) {
  const std::vector<Value> inputs = {
      Elements<int32_t>({200},
                        [] {
                          std::vector<int32_t> numbers(200, -3);
                          numbers[7] = 4;
                          return numbers;
                        }()),
      Elements<uint8_t>({4}, {250, 252, 255, 251})};
  const auto drawn = DrawnOf(
      "g (int32[200] a, uint8[4] b) => (int32[200] y, uint8[4] z) "
      "{ y, z = Loose(a, b) }",
      inputs);
  EXPECT_TRUE(std::ranges::equal(drawn, inputs, measure::SameBits));
  const auto x = ElementsOf<int32_t>(DrawnOf(
      "g (int32[200] a) => (int32[200] y) { y = Neg(a) }", {inputs[0]})[0]);
  EXPECT_THAT(x, Each(AllOf(Ge(-3), Le(4), Ne(0))));
  EXPECT_THAT(std::set<int32_t>(x.begin(), x.end()),
              IsSupersetOf({-3, -2, -1, 1, 2, 3, 4}));
  const auto y = ElementsOf<uint8_t>(DrawnOf(
      "g (uint8[4] a) => (uint8[4] y) { y = BitwiseNot(a) }", {inputs[1]})[0]);
  EXPECT_THAT(y, Each(Ge(250)));
}

// Kills: an element that is not one of the input's own, and a shuffle that
// loses or keeps what it is given.
TEST(DrawnInputs, WhatHasNoRangeIsOfTheInputsOwnElements) {
  const Value strings = Strings({"a", "b", "c", "d", "e", "f"});
  const Value s = DrawnOf(
      "g (string[6] x, string[6] z) => (string[6] y) { y = StringConcat(x, z) "
      "}",
      {strings, strings})[0];
  EXPECT_THAT(s.tensor()->strings(),
              Each(testing::AnyOf("a", "b", "c", "d", "e", "f")));
  EXPECT_FALSE(measure::SameBits(s, strings));
  const std::vector<float> with_zeros = {0, 1, 0, 2, 3, 0, 4, 5};
  const auto shuffled = ElementsOf<float>(
      DrawnOf("g (float[8] x) => (int64[1,N] y) { y = NonZero(x) }",
              {Floats({8}, with_zeros)})[0]);
  EXPECT_THAT(shuffled, UnorderedElementsAreArray(with_zeros));
  EXPECT_NE(shuffled, with_zeros);
  const Tensor packed = *Tensor::FromBytes(
      DType::kInt4, {4},
      std::vector<std::byte>{std::byte{0x21}, std::byte{0x43}});
  const Value narrow =
      DrawnOf("g (int4[4] x) => (int4[4] y) { y = Identity(x) }", {packed})[0];
  EXPECT_FALSE(measure::SameBits(narrow, packed));
  for (const std::byte two : narrow.tensor()->bytes()) {
    EXPECT_THAT(std::to_integer<int>(two & std::byte{15}), AllOf(Ge(1), Le(4)));
    EXPECT_THAT(std::to_integer<int>(two >> 4), AllOf(Ge(1), Le(4)));
  }
}

// Kills: values that were alike and are not any more, or the reverse.
TEST(DrawnInputs, RenamedValuesStayAlike) {
  const std::vector<float> own = {1, 2, 1, 3, 4, 3, 5, 5};
  const auto x = ElementsOf<float>(
      DrawnOf("g (float[8] x) => (float[N] y) { y = Unique(x) }",
              {Floats({8}, own)})[0]);
  EXPECT_NE(x, own);
  for (size_t i = 0; i < own.size(); ++i) {
    for (size_t j = 0; j < own.size(); ++j) {
      EXPECT_EQ(x[i] == x[j], own[i] == own[j]) << i << " " << j;
    }
  }
}

// Kills: a range of another extent than the model declares.
TEST(DrawnInputs, ShiftsBothEndsOfARangeAlike) {
  const char* const model =
      "g (int32 a, int32 b, int32 d) => (int32[2] y) { y = Range(a, b, d) }";
  const auto drawn =
      DrawnOf(model, {Elements<int32_t>({}, {10}), Elements<int32_t>({}, {6}),
                      Elements<int32_t>({}, {-3})});
  EXPECT_EQ(ElementsOf<int32_t>(drawn[0])[0] - ElementsOf<int32_t>(drawn[1])[0],
            4);
  EXPECT_NE(ElementsOf<int32_t>(drawn[0])[0], 10);
  EXPECT_EQ(ElementsOf<int32_t>(drawn[2])[0], -3);
}

// Kills: an item of a sequence, or what an optional holds, that is passed over.
TEST(DrawnInputs, CollectionsAreDrawnElementByElement) {
  const Value tensor = Floats({2}, {1, 2});
  const ValueType element = ValueType::OfTensor(*tensor.tensor());
  const Value items = Sequence{element, {tensor, tensor}};
  const auto sequence = DrawnOf(
      "g (seq(float[2]) x) => (seq(float[2]) y) { y = Identity(x) }", {items});
  const auto& drawn = sequence[0].sequence()->items;
  EXPECT_FALSE(measure::SameBits(drawn[0], tensor));
  EXPECT_FALSE(measure::SameBits(drawn[1], drawn[0]));
  const Value held = Optional{element, std::make_shared<const Value>(tensor)};
  const auto optional = DrawnOf(
      "g (optional(float[2]) x) => (float[2] y) { y = OptionalGetElement(x) }",
      {held});
  EXPECT_FALSE(measure::SameBits(*optional[0].optional()->value, tensor));
}

// Kills: a size of 0 in the place of 1, and sizes that stay as they are.
TEST(OtherSizes, ArePositiveWhereTheirOwnAre) {
  const auto other = [](const std::vector<int64_t>& sizes) {
    return OtherSizes(Int64s(sizes));
  };
  EXPECT_EQ(ElementsOf<int64_t>(*other({1, 2, 3, 4, 0, -1})),
            (std::vector<int64_t>{2, 1, 4, 3, 0, -1}));
  EXPECT_FALSE(other({0, 0}).has_value());
  EXPECT_FALSE(other({}).has_value());
  EXPECT_FALSE(OtherSizes(Floats({2})).has_value());
}

// Kills: inputs of an oracle that are not those of the judge.
TEST(DrawnInputs, AreTheSameForTheSameSeedOnly) {
  const char* const model = "g (float[9] x) => (float[9] y) { y = Neg(x) }";
  const std::vector<Value> own = {Floats({9}, {1, 2, 3, 4, 5, 6, 7, 8, 9})};
  EXPECT_TRUE(std::ranges::equal(DrawnOf(model, own), DrawnOf(model, own),
                                 measure::SameBits));
  EXPECT_FALSE(std::ranges::equal(DrawnOf(model, own), DrawnOf(model, own, 8),
                                  measure::SameBits));
}

// Kills: a line of the table about an operator or an input that is not there.
TEST(KindLines, AreAboutInputsOfOperators) {
  for (const KindLine& line : KindLines()) {
    const size_t colons = line.op.rfind("::");
    const bool own = colons == std::string_view::npos;
    const auto op = FindOperator(own ? "" : line.op.substr(0, colons),
                                 own ? line.op : line.op.substr(colons + 2));
    ASSERT_TRUE(op.has_value()) << line.op;
    const auto& inputs = types::SignatureOf(*op).inputs;
    EXPECT_NE(
        std::ranges::find(inputs, line.input, &types::FormalParameter::name),
        inputs.end())
        << line.op << " " << line.input;
    EXPECT_FALSE(line.because.empty());
  }
}

}  // namespace
}  // namespace assay::draw
