// SPDX-License-Identifier: Apache-2.0
//
// Networks with gradient targets: what a binding keeps for backward, the
// gradients that a call names, and what is declined. The numbers of all
// operators are in ../gradients_test.cc.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "backends/onednn/primitive/test_graph_fixture.h"
#include "framework/backend/network_interfaces.h"
#include "framework/testing/support/statuses_fixture.h"

namespace assay::onednn {
namespace {

using ::testing::ElementsAre;

using Names = std::vector<std::string>;

/// A loaded network, bound to some inputs and run.
struct Bound {
  Bound(Network& network, const std::vector<Value>& inputs)
      : network(network), binding(*network.Bind(inputs, {})) {
    EXPECT_TRUE(network.Forward(*binding).ok());
  }

  std::vector<float> Gradient(const Tensor& cotangent,
                              const std::string& target) {
    const std::vector<Value> cotangents = {cotangent};
    const auto gradients =
        network.differentiable()->Backward(*binding, cotangents, Names{target});
    EXPECT_TRUE(gradients.ok()) << gradients.status().ToString();
    if (!gradients.ok()) return {};
    const auto numbers = gradients->at(0).tensor()->elements<float>();
    return {numbers.begin(), numbers.end()};
  }

  Network& network;
  std::unique_ptr<Binding> binding;
};

TEST(OneDnnReverse, EachBindingKeepsWhatItsBackwardReads) {
  const auto network =
      Got(Load("g (float[1,1,4] x) => (float[1,1,2] y) "
               "{ y = MaxPool <kernel_shape = [2], strides = [2]> (x) }",
               {.gradient_targets = {"x"}}));
  Bound first(*network, {Floats({1, 1, 4}, {1, 2, 4, 3})});
  Bound second(*network, {Floats({1, 1, 4}, {2, 1, 3, 4})});
  const Tensor dy = Floats({1, 1, 2}, {5, 6});
  for (int repeat = 0; repeat < 2; ++repeat) {
    EXPECT_THAT(first.Gradient(dy, "x"), ElementsAre(0, 5, 6, 0));
    EXPECT_THAT(second.Gradient(dy, "x"), ElementsAre(5, 0, 0, 6));
  }
}

TEST(OneDnnReverse, ACallNamesTheGradientsItWants) {
  const auto network =
      Got(Load("g (float[2] a, float[2] b) => (float[2] y) { y = Mul(a, b) }",
               {.gradient_targets = {"a", "b"}}));
  Bound bound(*network, {Floats({2}, {1, 2}), Floats({2}, {3, 4})});
  const Tensor dy = Floats({2}, {1, 10});
  EXPECT_THAT(bound.Gradient(dy, "a"), ElementsAre(3, 40));
  EXPECT_THAT(bound.Gradient(dy, "b"), ElementsAre(1, 20));
}

TEST(OneDnnReverse, AValueThatIsReadTwiceGetsBothGradients) {
  const auto network =
      Got(Load("g (float[2] a) => (float[2] y) { h = Mul(a, a) y = Add(h, a) }",
               {.gradient_targets = {"a"}}));
  Bound bound(*network, {Floats({2}, {1, 3})});
  EXPECT_THAT(bound.Gradient(Floats({2}, {1, 2}), "a"), ElementsAre(3, 14));
}

TEST(OneDnnReverse, ExtentsMayBeFed) {
  const auto network =
      Got(Load("g (float[N,2] x) => (float[N,1] y) <int64[1] axes = {1}> "
               "{ y = ReduceMean(x, axes) }",
               {.gradient_targets = {"x"}}));
  Bound one(*network, {Floats({1, 2}, {1, 2})});
  Bound two(*network, {Floats({2, 2}, {1, 2, 3, 4})});
  EXPECT_THAT(one.Gradient(Floats({1, 1}, {4}), "x"), ElementsAre(2, 2));
  EXPECT_THAT(two.Gradient(Floats({2, 1}, {4, 6}), "x"),
              ElementsAre(2, 2, 3, 3));
}

TEST(OneDnnReverse, GradientsOfParametersAreOfWhatWasWritten) {
  const auto network = Got(Load(
      "g (float[2] x) => (float[2] y) <float[2] w = {3, 4}> { y = Mul(x, w) }",
      {.gradient_targets = {"x", "w"}}));
  ASSERT_TRUE(network->parameters()->Write("w", Floats({2}, {5, 6})).ok());
  Bound bound(*network, {Floats({2}, {1, 2})});
  const Tensor dy = Floats({2}, {1, 1});
  EXPECT_THAT(bound.Gradient(dy, "x"), ElementsAre(5, 6));
  EXPECT_THAT(bound.Gradient(dy, "w"), ElementsAre(1, 2));
}

TEST(OneDnnReverse, TensorsMayBeEmpty) {
  const auto network =
      Got(Load("g (float[0,2] a, float[1,2] b) => (float[1,2] y, float[0,1] z) "
               "<int64[1] axes = {1}> "
               "{ y = Concat <axis = 0> (a, b) z = ReduceMean(a, axes) }",
               {.gradient_targets = {"a", "b"}}));
  Bound bound(*network, {Floats({0, 2}, {}), Floats({1, 2}, {1, 2})});
  const std::vector<Value> cotangents = {Floats({1, 2}, {3, 4}),
                                         Floats({0, 1}, {})};
  const auto gradients = Got(network->differentiable()->Backward(
      *bound.binding, cotangents, Names{"a", "b"}));
  EXPECT_EQ(gradients[0].tensor()->shape(), (Shape{0, 2}));
  EXPECT_THAT(gradients[1].tensor()->elements<float>(), ElementsAre(3, 4));
}

TEST(OneDnnReverse, DeclinesAtLoadWhatTheLibraryHasNoBackwardOf) {
  for (const std::string graph :
       {"g (float[2] x) => (float y) { y = ReduceProd <keepdims = 0> (x) }",
        "g (float[2] x, float[1] e) => (float[2] y) { y = Pow(x, e) }",
        "g (float[1,1,2] x, float[3] s) => (float[1,1,4] y) "
        "{ y = Resize(x, , s) }"}) {
    const Status status = Load(graph, {.gradient_targets = {"x"}}).status();
    EXPECT_EQ(status.reason(), Reason::kGradient)
        << graph << ": " << status.ToString();
  }
}

TEST(OneDnnReverse, DeclinesAtBindWhatShapesDecide) {
  const auto network =
      Got(Load("g (float[N] x) => (float[1] y) { y = ReduceProd(x) }",
               {.gradient_targets = {"x"}}));
  const std::vector<Value> inputs = {Floats({2}, {1, 2})};
  EXPECT_EQ(network->Bind(inputs, {}).status().reason(), Reason::kGradient);
}

TEST(OneDnnReverse, ANodeOffTheWayNeedsNoBackward) {
  const auto network = Load(
      "g (float[2] x, float[2] z) => (float[2] y, float[1] p) "
      "{ y = Relu(x) p = ReduceProd(z) }",
      {.gradient_targets = {"x"}});
  EXPECT_TRUE(network.ok()) << network.status().ToString();
}

}  // namespace
}  // namespace assay::onednn
