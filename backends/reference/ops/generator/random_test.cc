// SPDX-License-Identifier: Apache-2.0
//
// Operators that draw: their laws over many elements, within six standard
// deviations; what seeds promise; what is declined. Seeds are fixed, so that
// nothing here fails by chance. And the memory of constants.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "backends/reference/kernel_rows.h"
#include "backends/reference/scalar/seeds.h"
#include "framework/backend/exact.h"
#include "framework/testing/support/statuses_fixture.h"

namespace assay::reference {
namespace {

using ::testing::HasSubstr;

std::vector<double> First(const std::string& graph,
                          const std::vector<Feed>& feeds) {
  return NumbersOf(OutputsOf(graph, feeds)[0]);
}

double Mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) /
         static_cast<double>(values.size());
}

double Deviation(const std::vector<double>& values) {
  const double mean = Mean(values);
  double sum = 0;
  for (const double x : values) sum += (x - mean) * (x - mean);
  return std::sqrt(sum / static_cast<double>(values.size()));
}

constexpr int64_t kMany = 10000;

Feed FilledWith(DType type, double value) {
  return {type, {kMany}, std::vector<double>(kMany, value)};
}

TEST(Random, EveryTypeOfBernoulliHasTheShareOfItsProbability) {
  const struct {
    const char* node;
    DType from, to;
  } rows[] = {
      {"Bernoulli<seed = 1.0>(x)", DType::kFloat32, DType::kFloat32},
      {"Bernoulli<seed = 2.0>(x)", DType::kFloat64, DType::kFloat64},
      {"Bernoulli<seed = 3.0, dtype = 9>(x)", DType::kFloat16, DType::kBool},
      {"Bernoulli<seed = 4.0, dtype = 3>(x)", DType::kBFloat16, DType::kInt8},
      {"Bernoulli<seed = 5.0, dtype = 13>(x)", DType::kFloat32, DType::kUint64},
  };
  for (const auto& row : rows) {
    const Row of =
        Of(row.node, {FilledWith(row.from, 0.25)}, {FilledWith(row.to, 0)});
    const auto outputs = OutputsOf(of.graph, of.feeds);
    EXPECT_EQ(outputs[0].tensor()->dtype(), row.to) << row.node;
    const std::vector<double> drawn = NumbersOf(outputs[0]);
    EXPECT_NEAR(Mean(drawn), 0.25, 6 * std::sqrt(0.25 * 0.75 / kMany));
    for (const double x : drawn) EXPECT_TRUE(x == 0 || x == 1) << x;
  }
}

TEST(Random, ProbabilitiesZeroAndOneAreCertain) {
  const char* graph = "g (float[N] x) => (float[N] y) { y = Bernoulli(x) }";
  EXPECT_EQ(Mean(First(graph, {FilledWith(DType::kFloat32, 0)})), 0);
  EXPECT_EQ(Mean(First(graph, {FilledWith(DType::kFloat32, 1)})), 1);
}

TEST(Random, DropoutScalesWhatItKeepsAndSaysSoInTheMask) {
  const struct {
    const char* node;
    DType type, of_ratio;
  } rows[] = {
      {"y, m = Dropout<seed = 7>(x, r, t)", DType::kFloat32, DType::kFloat32},
      {"y, m = Dropout<seed = 8>(x, r, t)", DType::kBFloat16, DType::kFloat64},
      {"y, m = Dropout<seed = 9>(x, r, t)", DType::kFloat8E5M2,
       DType::kFloat16}};
  for (const auto& [node, type, of_ratio] : rows) {
    const Row of =
        Of(node, {FilledWith(type, -3), {of_ratio, {}, {0.75}}, B({}, {1})},
           {FilledWith(type, 0), FilledWith(DType::kBool, 0)});
    const auto outputs = OutputsOf(of.graph, of.feeds);
    const std::vector<double> y = NumbersOf(outputs[0]);
    const std::vector<double> mask = NumbersOf(outputs[1]);
    EXPECT_NEAR(Mean(mask), 0.25, 6 * std::sqrt(0.25 * 0.75 / kMany));
    for (size_t k = 0; k < y.size(); ++k) EXPECT_EQ(y[k], mask[k] * -12);
  }
}

TEST(Random, DropoutOfRatioZeroOrOfInferenceKeepsAll) {
  const char* graph =
      "g (float[N] x, float r, bool t) => (float[N] y, bool[N] m) "
      "{ y, m = Dropout(x, r, t) }";
  for (const auto& [ratio, training] : {std::pair(0.0, 1), std::pair(0.5, 0)}) {
    const auto outputs =
        OutputsOf(graph, {FilledWith(DType::kFloat32, 3), F({}, {ratio}),
                          B({}, {static_cast<double>(training)})});
    EXPECT_EQ(Mean(NumbersOf(outputs[0])), 3);
    EXPECT_EQ(Mean(NumbersOf(outputs[1])), 1);
  }
}

TEST(Random, ContinuousLawsHaveTheirMomentsAndBounds) {
  const struct {
    const char* graph;
    double mean, deviation;
  } rows[] = {
      {"g () => (float[10000] y) { y = RandomUniform "
       "<shape = [10000], low = -1.0, high = 3.0, seed = 1.0> () }",
       1, 4 / std::sqrt(12)},
      {"g () => (double[10000] y) { y = RandomNormal <dtype = 11, "
       "shape = [100, 100], mean = 2.0, scale = 0.5, seed = 2.0> () }",
       2, 0.5},
  };
  for (const auto& row : rows) {
    const std::vector<double> y = First(row.graph, {});
    ASSERT_EQ(y.size(), 10000U) << row.graph;
    EXPECT_NEAR(Mean(y), row.mean, 6 * row.deviation / 100) << row.graph;
    EXPECT_NEAR(Deviation(y), row.deviation, 0.05 * row.deviation);
  }
  // The narrower the type, the likelier is a number that is rounded up to 1.
  for (const char* type : {"float16", "bfloat16"}) {
    const std::string graph =
        StrCat("g (", type, "[N] x) => (", type,
               "[N] y) { y = RandomUniformLike <seed = 3.0> (x) }");
    const auto y = First(graph, {FilledWith(*ParseDType(type), 0)});
    EXPECT_GE(*std::ranges::min_element(y), 0) << type;
    EXPECT_LT(*std::ranges::max_element(y), 1) << type;
    EXPECT_NEAR(Mean(y), 0.5, 0.02) << type;
  }
}

TEST(Random, MultinomialDrawsEachClassByItsWeight) {
  // exp of the logarithms: weights 1, 0, 3.
  const double minus_infinity = -std::numeric_limits<double>::infinity();
  const auto y = First(
      "g (float[1,3] x) => (int64[1,10000] y) "
      "{ y = Multinomial <dtype = 7, sample_size = 10000, seed = 4.0> (x) }",
      {F({1, 3}, {5, minus_infinity, 5 + std::log(3)})});
  ASSERT_EQ(y.size(), 10000U);
  EXPECT_EQ(std::ranges::count(y, 1), 0);
  EXPECT_NEAR(static_cast<double>(std::ranges::count(y, 2)), 7500,
              6 * std::sqrt(10000 * 0.75 * 0.25));
  EXPECT_EQ(std::ranges::count(y, 0) + std::ranges::count(y, 2), 10000);
}

/// Two runs of each of two networks of one graph.
std::vector<std::vector<double>> FourRuns(const std::string& graph) {
  std::vector<std::vector<double>> runs;
  const assay::Value x = FilledWith(DType::kFloat32, 0.5).Make();
  for (int load = 0; load < 2; ++load) {
    const auto network = NetworkOf(graph);
    const auto binding = network->Bind({&x, 1}, {});
    for (int run = 0; run < 2; ++run) {
      EXPECT_TRUE(network->Forward(**binding).ok());
      runs.push_back(NumbersOf((*binding)->outputs()[0]));
    }
  }
  return runs;
}

TEST(Random, EqualSeedsGiveEqualResultsAndNoSeedNewOnes) {
  const auto of = [](const std::string& attributes) {
    return "g (float[N] x) => (float[N] y) { y = Bernoulli " + attributes +
           " (x) }";
  };
  const auto seeded = FourRuns(of("<seed = 0.0>"));
  for (const auto& run : seeded) EXPECT_EQ(run, seeded[0]);
  EXPECT_NE(FourRuns(of("<seed = 1.0>"))[0], seeded[0]);
  const auto fresh = FourRuns(of(""));
  for (size_t i = 0; i < fresh.size(); ++i) {
    for (size_t j = 0; j < i; ++j) EXPECT_NE(fresh[i], fresh[j]) << i << j;
  }
}

TEST(Random, DropoutPassesGradientsThroughWhatItKept) {
  const std::vector<std::string> targets = {"x"};
  const std::map<bool, double> scales = {{true, 2}, {false, 1}};
  for (const auto& [training, scale] : scales) {
    const auto network = NetworkOf(
        "g (float[N] x, float r, bool t) => (float[N] y, bool[N] m) "
        "{ y, m = Dropout <seed = 7> (x, r, t) }",
        {.gradient_targets = targets});
    const std::vector<assay::Value> inputs =
        ValuesOf({FilledWith(DType::kFloat32, 3), F({}, {0.5}),
                  B({}, {training ? 1.0 : 0.0})});
    auto binding = network->Bind(inputs, {});
    ASSERT_TRUE(network->Forward(**binding).ok());
    const std::vector<assay::Value> dy = {FilledWith(DType::kFloat32, 5).Make(),
                                          assay::Value()};
    const auto gradients =
        Got(network->differentiable()->Backward(**binding, dy, targets));
    const auto dx = NumbersOf(gradients[0]);
    const auto mask = NumbersOf((*binding)->outputs()[1]);
    for (size_t i = 0; i < dx.size(); ++i) {
      EXPECT_EQ(dx[i], 5 * scale * mask[i]) << i;
    }
  }
}

// A body that runs again for its gradient may draw; nobody else who asks for
// what is exact may.
TEST(Random, HasNoExactValueByAnySetting) {
  const char* graph = "g (float[1] x) => (float[1] y) { y = Bernoulli(x) }";
  const auto code = [&](const LoadOptions& options) {
    return Compute(graph, {F({1}, {1})}, options).status().code();
  };
  EXPECT_EQ(code({}), StatusCode::kOk);
  EXPECT_EQ(code({.exact = true}), StatusCode::kUnsupported);
  EXPECT_EQ(code(Repeating({.exact = true})), StatusCode::kInvalidArgument);
}

// Only a run says how much a Dropout drops.
TEST(Random, DropoutHasAnExactValueWhereItDropsNothing) {
  const auto network = NetworkOf(
      "g (float[1] x, float r, bool t) => (float[1] y) "
      "{ y = Dropout(x, r, t) }",
      {.exact = true});
  for (const double ratio : {0.0, 0.5}) {
    const Status status =
        network->exact()
            ->At(ValuesOf({F({1}, {3}), F({}, {ratio}), B({}, {1})}), {})
            .status();
    EXPECT_EQ(status.ok(), ratio == 0) << ratio << status.ToString();
    if (ratio == 0) continue;
    EXPECT_THAT(status.message(), HasSubstr("a ratio of 0.5 draws at random"));
  }
}

TEST(Random, WhatHasNoLawIsRefusedWithTheReason) {
  const struct {
    const char* graph;
    std::vector<Feed> feeds;
    const char* message;
  } rows[] = {
      {"g (float[2] x) => (float[2] y) { y = Bernoulli(x) }",
       {F({2}, {0.5, 1.5})},
       "element 1 is 1.5, wanted a probability in [0, 1]"},
      {"g (float[2] x, float r, bool t) => (float[2] y) "
       "{ y = Dropout(x, r, t) }",
       {F({2}, {1, 2}), F({}, {1}), B({}, {1})},
       "ratio is 1"},
      {"g (float[2] x) => (int32[2,1] y) { y = Multinomial(x) }",
       {F({2}, {1, 2})},
       "[batch, classes]"},
      {"g (float[2] x) => (int32[2] y) { y = RandomUniformLike <dtype = 6> "
       "(x)}",
       {F({2}, {1, 2})},
       "output 0 is int32[2], which"},
  };
  for (const auto& row : rows) {
    const auto outputs = Compute(row.graph, row.feeds);
    ASSERT_FALSE(outputs.ok()) << row.graph;
    EXPECT_THAT(outputs.status().message(), HasSubstr(row.message));
  }
}

// Where the constant of a network lies, which lives on with it.
struct Constant {
  explicit Constant(const std::string& type, const std::string& value,
                    const std::string& shape)
      : network(*RowBackend().Load(
            ModelOf("g () => (" + type + "[m, n] y) <int64[2] s = {" + shape +
                    "}> { y = ConstantOfShape <value = " + type + "[1] {" +
                    value + "}> (s) }"),
            {})),
        binding(*network->Bind({}, {})) {
    EXPECT_TRUE(network->Forward(*binding).ok());
  }
  const Tensor& y() const { return *binding->outputs()[0].tensor(); }

  std::unique_ptr<Network> network;
  std::unique_ptr<Binding> binding;
};

// Kills: memory for each of two that are equal; one that another type, number
// or shape is given.
TEST(ConstantOfShape, EqualOnesShareTheirMemory) {
  const Constant one("int32", "1", "2, 3");
  const Constant again("int32", "1", "2, 3");
  EXPECT_EQ(one.y().data(), again.y().data());
  for (const Constant& other :
       {Constant("uint32", "1", "2, 3"), Constant("int32", "2", "2, 3"),
        Constant("int32", "1", "3, 2")}) {
    EXPECT_NE(one.y().data(), other.y().data());
  }
  EXPECT_EQ(again.y().elements<int32_t>()[5], 1);
}

}  // namespace
}  // namespace assay::reference
