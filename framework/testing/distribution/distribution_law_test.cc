// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/distribution/distribution_law.h"

#include <cmath>
#include <cstdint>

#include "framework/graph/model_text.h"
#include "framework/testing/measure/measure_rows_fixture.h"
#include "framework/testing/support/statuses_fixture.h"
#include "framework/testing/support/tensors_fixture.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace assay::distribution {
namespace {

using testing::ElementsAre;

Result<Law> Read(const std::string& graph, const std::vector<Value>& inputs) {
  return LawOf(*graph::ModelOfText(graph), inputs, measure::kRandom);
}

std::vector<double> Least(const Law& law) {
  std::vector<double> least;
  for (const Chance& chance : law.chances) least.push_back(chance.least);
  return least;
}
std::vector<double> Most(const Law& law) {
  std::vector<double> most;
  for (const Chance& chance : law.chances) most.push_back(chance.most);
  return most;
}

TEST(LawTest, BernoulliIsOnWithTheProbabilityOfItsInput) {
  const Law law = Got(
      Read("g (float[3] x) => (int8[3] y) { y = Bernoulli <dtype = 3> (x) }",
           {Floats({0, 0.25, 1})}));
  EXPECT_EQ(law.name, "Bernoulli");
  EXPECT_FALSE(law.seeded);
  EXPECT_THAT(Least(law), ElementsAre(0, 0.25, 1));
  EXPECT_THAT(Most(law), ElementsAre(0, 0.25, 1));
  ASSERT_EQ(law.outputs.size(), 1U);
  EXPECT_THAT(law.outputs[0].on, ElementsAre(1, 1, 1));
  EXPECT_THAT(law.outputs[0].off, ElementsAre(0, 0, 0));
  EXPECT_EQ(law.outputs[0].rtol + law.outputs[0].atol, 0);
}

TEST(LawTest, DropoutKeepsAndScales) {
  const Law law =
      Got(Read("g (float[2] x, float r, bool t) => (float[2] y, bool[2] m) "
               "{ y, m = Dropout <seed = 0> (x, r, t) }",
               {Floats({-3, 0.5}), Scalar<float>(0.75), Scalar<bool>(true)}));
  EXPECT_TRUE(law.seeded);
  EXPECT_THAT(Least(law), ElementsAre(0.25, 0.25));
  ASSERT_EQ(law.outputs.size(), 2U);
  EXPECT_THAT(law.outputs[0].on, ElementsAre(-12, 2));
  EXPECT_THAT(law.outputs[0].off, ElementsAre(0, 0));
  EXPECT_THAT(law.outputs[1].on, ElementsAre(1, 1));
  // Two units in the last place of float32 are less than the case's limit.
  EXPECT_EQ(law.outputs[0].rtol, 0x1p-22);
  const Law by_default = Got(
      Read("g (float[1] x, bool t) => (float[1] y) { y = Dropout(x, \"\", t) }",
           {Floats({3}), Scalar<bool>(true)}));
  EXPECT_THAT(Least(by_default), ElementsAre(0.5));
  const Law all =
      Got(Read("g (float[1] x, float r, bool t) => (float[1] y) "
               "{ y = Dropout(x, r, t) }",
               {Floats({3}), Scalar<float>(0), Scalar<bool>(true)}));
  EXPECT_THAT(Least(all), ElementsAre(1));
}

// Kills: the range or the digits of a type taken for another's.
TEST(LawTest, DropoutScalesWithinTheRangeOfItsType) {
  const struct {
    const char* type;
    uint64_t half;  // bits of half the greatest number; one more is too much
    double rtol;
  } rows[] = {
      {"double", 0x7FDFFFFFFFFFFFFF, 0x1p-51},
      {"float", 0x7EFFFFFF, 0x1p-22},
      {"float16", 0x77FF, 0x1p-9},
      {"bfloat16", 0x7EFF, 0x1p-6},
      {"float8e4m3fn", 0x76, 0x1p-2},
      {"float8e4m3fnuz", 0x77, 0x1p-2},
      {"float8e5m2", 0x77, 0x1p-1},
      {"float8e5m2fnuz", 0x7B, 0x1p-1},
  };
  for (const auto& row : rows) {
    for (const uint64_t bits : {row.half, row.half + 1}) {
      const auto model = graph::ModelOfText(
          StrCat("g (", row.type, "[1] x, float r, bool t) => (", row.type,
                 "[1] y) { y = Dropout(x, r, t) }"));
      const DType type = model->graph().values[0].type.dtype;
      const auto size = static_cast<size_t>(PackedBytes(type, 1));
      const Tensor x = *Tensor::FromBytes(
          type, {1}, std::as_bytes(std::span(&bits, 1)).first(size));
      const auto law =
          LawOf(*model, {{x, Scalar<float>(0.5), Scalar<bool>(true)}},
                measure::kRandom);
      ASSERT_EQ(law.ok(), bits == row.half) << row.type;
      if (!law.ok()) continue;
      EXPECT_EQ(law->outputs[0].rtol, row.rtol) << row.type;
    }
  }
}

// In ONNX's expansion of Bernoulli the on value has 1 - p; its text says p.
TEST(LawTest, ComparisonsOfUniformNumbersAreReadAsTheyStand) {
  constexpr double kStep = 0x1p-23;
  const struct {
    const char* comparison;
    double first;  // its probability where 0.25 is compared with
  } rows[] = {
      {"b = Greater(u, x) y = Cast <to = 1> (b)", 0.75},
      {"b = GreaterOrEqual(u, x) y = Cast <to = 1> (b)", 0.75},
      {"b = Less(u, x) y = Cast <to = 1> (b)", 0.25},
      {"b = LessOrEqual(x, u) y = Cast <to = 1> (b)", 0.75},
      {"b = Greater(x, u) c = Identity(b) y = Cast <to = 1> (c)", 0.25},
  };
  for (const auto& row : rows) {
    const auto law = Read(StrCat("g (float[4] x) => (float[4] y) "
                                 "{ u = RandomUniformLike <seed = 0.0> (x) ",
                                 row.comparison, " }"),
                          {Floats({0.25, 0, 1, 1.5})});
    ASSERT_TRUE(law.ok()) << row.comparison << law.status().ToString();
    EXPECT_TRUE(law->seeded);
    const double p = row.first;
    const double at_one = p == 0.25 ? 1 : 0;
    EXPECT_THAT(Least(*law), ElementsAre(p - kStep, at_one == 0 ? 1 - kStep : 0,
                                         at_one == 0 ? 0 : 1 - kStep, at_one))
        << row.comparison;
    EXPECT_THAT(Most(*law), ElementsAre(p + kStep, at_one == 0 ? 1 : kStep,
                                        at_one == 0 ? kStep : 1, at_one))
        << row.comparison;
    EXPECT_THAT(law->outputs[0].on, ElementsAre(1, 1, 1, 1));
  }
}

TEST(LawTest, BoundsOfUniformNumbersScaleAndNotSwapsTheValues) {
  const Law law = Got(Read(
      "g () => (float[1] y) <float[1] x = {3.0}> "
      "{ u = RandomUniform <shape = [1], low = -1.0, high = 7.0, dtype = 10> "
      "() b = Less(u, x) c = Not(b) y = Cast <to = 1> (c) }",
      {}));
  EXPECT_THAT(Least(law), ElementsAre(0.5 - 0x1p-10));
  EXPECT_THAT(law.outputs[0].on, ElementsAre(0));
  EXPECT_THAT(law.outputs[0].off, ElementsAre(1));
}

TEST(LawTest, WhatIsNotKnownSaysWhy) {
  const Value x = Floats({0.5, 0.5});
  const struct {
    const char *graph, *message;
    std::vector<Value> inputs = {Floats({0.5, 0.5})};
  } rows[] = {
      {"g (float[2] x) => (float[2] y) { b = Bernoulli(x) y = Add(b, x) }",
       "output y is not drawn element by element"},
      {"g (float[2] x) => (float[2] y) { y = RandomNormalLike(x) }",
       "output y is not drawn"},
      {"g (float[2] x) => (float[2] y) { y = RandomUniformLike(x) }",
       "output y is not drawn"},
      {"g (float[2] x) => (float[2] y) { b = Neg(x) y = Bernoulli(b) }",
       "input 0 of Bernoulli is not fixed"},
      {"g (float[2] x, float[2] p) => (float[2] y) { y = Bernoulli(p) }",
       "input 0 of Bernoulli is not fixed"},
      {"g (float[2] x) => (float[2] y, float[2] z) "
       "{ y = Bernoulli(x) z = Bernoulli(x) }",
       "both Bernoulli and Bernoulli"},
      {"g (float[2] x, float r, bool t) => (float[2] y) "
       "{ y = Dropout(x, r, t) }",
       "training_mode of Dropout is not fixed to true",
       {x, Scalar<float>(0.5), Scalar<bool>(false)}},
      {"g (float[2] x, float r, bool t) => (float[2] y) "
       "{ y = Dropout(x, r, t) }",
       "not finite",
       {Floats({1, kInf}), Scalar<float>(0.5), Scalar<bool>(true)}},
      {"g (float[2] x) => (bool[2] y, bool[2] z) "
       "{ u = RandomUniformLike(x) y = Less(u, x) z = Greater(u, x) }",
       "second comparison"},
      {"g (float[2] x, float[1] z) => (bool[2] y) "
       "{ u = RandomUniformLike(x) y = Less(u, z) }",
       "compares 2 random numbers with 1",
       {x, Floats({0.5})}},
      {"g (float[2] x, float r, bool t) => (float16[2] z) "
       "{ y = Dropout(x, r, t) z = Cast <to = 10> (y) }",
       "output z is not drawn",
       {x, Scalar<float>(0.5), Scalar<bool>(true)}},
      {"g (float[2] x) => (float[2] y) "
       "{ n = RandomNormalLike(x) y = Bernoulli(x) }",
       "both RandomNormalLike and Bernoulli"},
  };
  for (const auto& row : rows) {
    const auto law = Read(row.graph, row.inputs);
    EXPECT_THAT(law, IsStatus(StatusCode::kUnsupported, row.message))
        << row.graph;
    EXPECT_EQ(law.status().reason(), Reason::kValue) << row.graph;
  }
}

TEST(LawTest, WrongInputsAreNamed) {
  const auto p = Read("g (float[1] x) => (float[1] y) { y = Bernoulli(x) }",
                      {Floats({1.5})});
  EXPECT_EQ(p.status().code(), StatusCode::kInvalidArgument);
  for (const Tensor& wrong : {Scalar<float>(1), Scalar<float>(-0.25),
                              Scalar<float>(NAN), Floats({0, 0})}) {
    const auto ratio = Read(
        "g (float[1] x, float[a] r, bool t) => (float[1] y) "
        "{ y = Dropout(x, r, t) }",
        {Floats({1}), wrong, Scalar<bool>(true)});
    EXPECT_EQ(ratio.status().code(), StatusCode::kInvalidArgument);
  }
}

TEST(NumbersOfTest, ReadsEveryRealType) {
  const struct {
    Tensor tensor;
    double value;
  } rows[] = {
      {Floats({0.1F}), 0.1F},
      {Doubles({0.1}), 0.1},
      {Elements<int8_t>({-128}), -128},
      {Elements<int64_t>({INT64_MIN}), -0x1p63},
      {Elements<uint64_t>({1ULL << 60}), 0x1p60},
      {Raw<uint8_t>(DType::kBool, {1}, {1}), 1},
      {Raw<uint16_t>(DType::kBFloat16, {1}, {0xC000}), -2},
      {Raw<uint8_t>(DType::kInt4, {1}, {0x08}), -8},
  };
  for (const auto& row : rows) {
    const auto numbers = NumbersOf(row.tensor);
    ASSERT_TRUE(numbers.ok()) << row.tensor.Signature();
    EXPECT_THAT(*numbers, ElementsAre(row.value)) << row.tensor.Signature();
  }
  EXPECT_FALSE(NumbersOf(Strings({"a"})).ok());
  EXPECT_FALSE(NumbersOf(Tensor()).ok());
}

}  // namespace
}  // namespace assay::distribution
