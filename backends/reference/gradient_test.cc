// SPDX-License-Identifier: Apache-2.0
//
// Backward of every kernel that has one, against central differences in
// float64, and the conventions that no difference can show.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "backends/reference/kernel_rows.h"

namespace assay::reference {
namespace {

using ::testing::ElementsAre;

struct GradientRow {
  std::string graph;  // inputs a, b, ... to y
  std::vector<Feed> feeds;
};

// Values away from kinks and zeros.
const std::vector<GradientRow> kRows = {
    {"g (double[3] a) => (double[3] y) { y = Relu(a) }",
     {D({3}, {-1.5, 0.5, 2})}},
    {"g (double[2,1] a, double[3] b) => (double[2,3] y) { y = Add(a, b) }",
     {D({2, 1}, {1, 2}), D({3}, {3, 4, 5})}},
    {"g (double[2] a, double b) => (double[2] y) { y = Sub(a, b) }",
     {D({2}, {1, 2}), D({}, {3})}},
    {"g (double[2,1] a, double[1,3] b) => (double[2,3] y) { y = Mul(a, b) }",
     {D({2, 1}, {1, 2}), D({1, 3}, {3, 4, 5})}},
    {"g (double[2] a, double[1] b) => (double[2] y) { y = Div(a, b) }",
     {D({2}, {1, -2}), D({1}, {1.5})}},
    {"g (double[2,2] a, double[2,3] b) => (double[2,3] y) { y = MatMul(a, b) }",
     {D({2, 2}, {1, 2, 3, 4}), D({2, 3}, {1, -1, 2, 0.5, 3, 1})}},
    {"g (double[2] a, double[2,2] b) => (double[2] y) { y = MatMul(a, b) }",
     {D({2}, {1, 2}), D({2, 2}, {1, -1, 2, 0.5})}},
    {"g (double[2,1,2] a, double[2,2,1] b) => (double[2,1,1] y) "
     "{ y = MatMul(a, b) }",
     {D({2, 1, 2}, {1, 2, 3, 4}), D({2, 2, 1}, {1, -1, 2, 0.5})}},
    // Both sides repeat along a batch axis, whose gradients are sums.
    {"g (double[2,1,1,2] a, double[3,2,1] b) => (double[2,3,1,1] y) "
     "{ y = MatMul(a, b) }",
     {D({2, 1, 1, 2}, {1, 2, 3, 4}), D({3, 2, 1}, {1, -1, 2, 0.5, 3, 1})}},
    {"g (double[2,3] a, double[2,2] b, double[2] c) => (double[3,2] y) "
     "{ y = Gemm <transA = 1, transB = 1, alpha = 0.5, beta = 2.0> (a, b, c) }",
     {D({2, 3}, {1, 2, 3, 4, 5, 6}), D({2, 2}, {1, -1, 2, 0.5}),
      D({2}, {1, 2})}},
    {"g (double[2,2] a, double[2] b) => (double[4] y) "
     "{ s = Constant <value_ints = [4]> () m = Mul(a, a) n = Add(m, b) "
     "y = Reshape(n, s) }",
     {D({2, 2}, {1, 2, 3, 4}), D({2}, {1, 2})}},
};

/// Sum of weight[i] * y[i], the weights being 1, 2, 3, ...
double Weighted(const std::string& graph, const std::vector<Feed>& feeds) {
  const auto outputs = Compute(graph, feeds);
  EXPECT_TRUE(outputs.ok()) << graph << outputs.status().ToString();
  double sum = 0;
  double weight = 0;
  for (const double y : (*outputs)[0].tensor()->elements<double>()) {
    sum += ++weight * y;
  }
  return sum;
}

std::vector<double> Differences(const GradientRow& row, size_t input) {
  constexpr double kStep = 1e-5;
  std::vector<double> differences;
  for (size_t i = 0; i < row.feeds[input].values.size(); ++i) {
    std::vector<Feed> above = row.feeds;
    std::vector<Feed> below = row.feeds;
    above[input].values[i] += kStep;
    below[input].values[i] -= kStep;
    differences.push_back(
        (Weighted(row.graph, above) - Weighted(row.graph, below)) /
        (2 * kStep));
  }
  return differences;
}

Result<std::vector<Value>> Gradients(const GradientRow& row,
                                     std::vector<double> weights) {
  LoadOptions options;
  std::vector<Value> inputs;
  for (size_t i = 0; i < row.feeds.size(); ++i) {
    options.gradient_targets.emplace_back(1, static_cast<char>('a' + i));
    inputs.emplace_back(row.feeds[i].Make());
  }
  RowBackend backend;
  ASSAY_ASSIGN_OR_RETURN(auto network,
                         backend.Load(ModelOf(row.graph), options));
  ASSAY_ASSIGN_OR_RETURN(auto binding, network->Bind(inputs, {}));
  ASSAY_RETURN_IF_ERROR(network->Forward(*binding));
  const Tensor& y = *binding->outputs()[0].tensor();
  if (weights.empty()) {
    weights.resize(static_cast<size_t>(y.num_elements()));
    std::iota(weights.begin(), weights.end(), 1);
  }
  const Value cotangent = Feed{y.dtype(), y.shape(), weights}.Make();
  return network->differentiable()->Backward(*binding, {&cotangent, 1},
                                             options.gradient_targets);
}

TEST(Gradients, AgreeWithCentralDifferences) {
  for (const GradientRow& row : kRows) {
    const auto gradients = Gradients(row, {});
    ASSERT_TRUE(gradients.ok()) << row.graph << gradients.status().ToString();
    for (size_t k = 0; k < row.feeds.size(); ++k) {
      const std::vector<double> wanted = Differences(row, k);
      const auto got = (*gradients)[k].tensor()->elements<double>();
      ASSERT_EQ(got.size(), wanted.size());
      for (size_t i = 0; i < got.size(); ++i) {
        EXPECT_NEAR(got[i], wanted[i], 1e-7 * (1 + std::abs(wanted[i])))
            << row.graph << " input " << k << " element " << i;
      }
    }
  }
}

TEST(Gradients, ReluIsFlatAtItsKink) {
  const auto gradients =
      Gradients({"g (float[3] a) => (float[3] y) { y = Relu(a) }",
                 {F({3}, {0, -0.0, 1})}},
                {5, 6, 7});
  ASSERT_TRUE(gradients.ok()) << gradients.status().ToString();
  EXPECT_THAT((*gradients)[0].tensor()->elements<float>(),
              ElementsAre(0, 0, 7));
}

// 0 * infinity would be NaN: what nothing flows into stays without gradient.
TEST(Gradients, ZeroCotangentsCountAsNothing) {
  const auto gradients =
      Gradients({"g (double[2] a, double[2] b) => (double[2] y) "
                 "{ y = Div(a, b) }",
                 {D({2}, {1, 1}), D({2}, {0, 2})}},
                {0, 1});
  ASSERT_TRUE(gradients.ok()) << gradients.status().ToString();
  EXPECT_THAT((*gradients)[0].tensor()->elements<double>(),
              ElementsAre(0, 0.5));
  EXPECT_THAT((*gradients)[1].tensor()->elements<double>(),
              ElementsAre(0, -0.25));
}

TEST(Gradients, AreDeclinedWhereAKernelHasNone) {
  LoadOptions options;
  options.gradient_targets = {"a"};
  RowBackend backend;
  const Status status =
      backend
          .Load(ModelOf("g (float[2] a) => (float[2] y) { y = Softsign(a) }"),
                options)
          .status();
  EXPECT_EQ(status.code(), StatusCode::kUnsupported);
  EXPECT_EQ(status.reason(), Reason::kGradient);
}

}  // namespace
}  // namespace assay::reference
