// SPDX-License-Identifier: Apache-2.0
//
// Each rule where it shows: small gradients by hand, while forwards are right.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "backends/faulty/faulty_fixture.h"
#include "backends/faulty/gradient_defect.h"
#include "backends/faulty/numbers.h"
#include "framework/testing/support/statuses_fixture.h"
#include "framework/testing/support/tensors_fixture.h"

namespace assay::faulty {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;

constexpr char kProduct[] =
    "g (float[2,2] a, float[2] b) => (float[2,2] y) { y = Mul(a, b) }";

/// y = a * b with b broadcast, under a mutant: a = [1 2; 3 4], b = [5 6],
/// dy = [1 2; 3 4]; right are dA = [5 12; 15 24] and dB = [10 20].
struct Product {
  explicit Product(const std::string& mutant) {
    network = Got(LoadWith(mutant, kProduct, {.gradient_targets = {"a", "b"}}));
    binding = *network->Bind({{a, b}}, {});
    EXPECT_TRUE(network->Forward(*binding).ok());
    EXPECT_THAT(FloatsOf(binding->outputs()[0]), ElementsAre(5, 12, 15, 24));
  }

  std::vector<float> Gradient(const std::string& target) {
    const std::vector<std::string> targets = {"a", "b"};
    return FloatsOf(Got(network->differentiable()->Backward(
        *binding, {{dy}}, targets))[target == "a" ? 0 : 1]);
  }

  std::vector<float> Alone(const std::string& target) {
    const std::vector<std::string> targets = {target};
    return FloatsOf(
        (*network->differentiable()->Backward(*binding, {{dy}}, targets))[0]);
  }

  Tensor a = Floats({2, 2}, {1, 2, 3, 4});
  Tensor b = Floats({2}, {5, 6});
  Tensor dy = Floats({2, 2}, {1, 2, 3, 4});
  std::unique_ptr<Network> network;
  std::unique_ptr<Binding> binding;
};

struct Row {
  std::string mutant;
  std::vector<float> a, b;
};

TEST(GradientRules, SpoilTheGradientOfTheirInputAlone) {
  const std::vector<float> a = {5, 12, 15, 24}, b = {10, 20};
  const Row rows[] = {
      {"", a, b},
      {"gradient:sign:Mul.1", a, {-10, -20}},
      {"gradient:sign:Mul.0", {-5, -12, -15, -24}, b},
      {"gradient:sign:Add.0", a, b},
      {"gradient:half:Mul.1", a, {5, 10}},
      {"gradient:zeros:Mul.1", a, {0, 0}},
      {"gradient:one_zeroed:Mul.0", {5, 12, 0, 24}, b},
      {"gradient:one_negated:Mul.0", {5, 12, -15, 24}, b},
      {"gradient:last_zeroed:Mul.0", {5, 12, 15, 0}, b},
      {"gradient:clipped:Mul.1", a, {0.5, 0.5}},
      {"gradient:transposed:Mul.0", {5, 15, 12, 24}, b},
      {"gradient:shifted:Mul.0", {0, 5, 0, 15}, b},
      {"gradient:reversed:Mul.1", a, {20, 10}},
      {"gradient:first_slice:Mul.1", a, {1, 4}},
      {"gradient:mean_of_slices:Mul.1", a, {5, 10}},
      {"gradient:last_use:Mul.1", a, {9, 16}},
      {"gradient:last_cotangent_dropped:Mul.1", a, {10, 4}},
      {"gradient:cotangents_taken_for_ones:Mul.1", a, {4, 6}},
      {"gradient:as:elementwise_last_unwritten", a, b},
  };
  for (const Row& row : rows) {
    Product product(row.mutant);
    EXPECT_THAT(product.Gradient("a"), ElementsAreArray(row.a)) << row.mutant;
    EXPECT_THAT(product.Gradient("b"), ElementsAreArray(row.b)) << row.mutant;
  }
}

// 2048 and three ones: a half that holds the sum so far never leaves 2048.
TEST(GradientRules, RoundSumsInTheGradientsOwnType) {
  const struct {
    const char* type;
    DType dtype;
    std::string mutant;
    double sum;
  } rows[] = {
      {"float16", DType::kFloat16, "", 2052},
      {"float16", DType::kFloat16, "gradient:sums_rounded:Mul.1", 2048},
      {"float16", DType::kFloat16, "gradient:sums_rounded:Mul.0", 2052},
      {"float", DType::kFloat32, "gradient:sums_rounded:Mul.1", 2051},
  };
  for (const auto& row : rows) {
    const std::vector<std::string> targets = {"b"};
    const std::string type = row.type;
    const auto network =
        *LoadWith(row.mutant,
                  "g (" + type + "[4] a, " + type + "[1] b) => (" + type +
                      "[4] y) { y = Mul(a, b) }",
                  {.gradient_targets = targets});
    const Value ones = *OfNumbers(row.dtype, {4}, {1, 1, 1, 1});
    const Value one = *OfNumbers(row.dtype, {1}, {1});
    const Value dy = *OfNumbers(row.dtype, {4}, {2048, 1, 1, 1});
    const auto binding = *network->Bind({{ones, one}}, {});
    ASSERT_TRUE(network->Forward(*binding).ok());
    const auto gradients =
        Got(network->differentiable()->Backward(*binding, {{dy}}, targets));
    EXPECT_THAT(Numbers(*gradients[0].tensor()), ElementsAre(row.sum))
        << row.type << " " << row.mutant;
  }
}

TEST(GradientRules, ShowBetweenRuns) {
  Product bit("gradient:last_bit:Mul.1");
  EXPECT_THAT(bit.Gradient("b"), ElementsAre(10, 20));
  EXPECT_NE(bit.Gradient("b")[1], 20);

  Product added("gradient:runs_added:Mul.1");
  EXPECT_THAT(added.Gradient("b"), ElementsAre(10, 20));
  EXPECT_THAT(added.Gradient("b"), ElementsAre(20, 40));

  Product alone("gradient:alone_doubled:Mul.1");
  EXPECT_THAT(alone.Gradient("b"), ElementsAre(10, 20));
  EXPECT_THAT(alone.Alone("b"), ElementsAre(20, 40));
}

/// The first gradients of a network whose inputs change after a first forward.
std::vector<float> GradientsAfterAChange(const std::string& mutant,
                                         const char* model,
                                         std::vector<Value> inputs,
                                         const std::vector<Value>& others,
                                         const std::vector<Value>& dy) {
  const std::vector<std::string> targets = {"x"};
  const auto network = *LoadWith(mutant, model, {.gradient_targets = targets});
  EXPECT_TRUE(network->Forward(**network->Bind(others, {})).ok());
  const auto binding = *network->Bind(inputs, {});
  EXPECT_TRUE(network->Forward(*binding).ok());
  return FloatsOf(
      (*network->differentiable()->Backward(*binding, dy, targets))[0]);
}

TEST(GradientRules, ShowWithOtherInputsAndReaders) {
  const char* const loss =
      "g (float[1,2] x, int64[1] t) => (float[1] y) "
      "{ y = NegativeLogLikelihoodLoss<reduction = \"none\">(x, t) }";
  const Tensor x = Floats({1, 2}, {1, 2});
  const Tensor twice = Floats({1, 2}, {2, 4});
  const Tensor one = Int64s({1});
  const Tensor zero = Int64s({0});
  const Tensor dy = Floats({1}, {1});
  const std::string name = "gradient:labels_of_first_run:";
  EXPECT_THAT(
      GradientsAfterAChange(name + "Add.0", loss, {x, one}, {x, zero}, {dy}),
      ElementsAre(0, -1));
  EXPECT_THAT(GradientsAfterAChange(name + "NegativeLogLikelihoodLoss.0", loss,
                                    {x, one}, {x, zero}, {dy}),
              ElementsAre(-1, 0));
  const char* const readers =
      "g (float[1,2] x) => (float[1,2] y, float[1,2] z) "
      "{ y = Mul(x, x) z = Mul(x, x) }";
  const Tensor ones = Floats({1, 2}, {1, 1});
  EXPECT_THAT(GradientsAfterAChange("", readers, {x}, {twice}, {ones, ones}),
              ElementsAre(4, 8));
  EXPECT_THAT(GradientsAfterAChange("gradient:last_reader:Mul.0", readers, {x},
                                    {twice}, {ones, ones}),
              ElementsAre(2, 4));
  EXPECT_THAT(GradientsAfterAChange("gradient:first_run:Mul.0", readers, {x},
                                    {twice}, {ones, ones}),
              ElementsAre(8, 16));
}

// The network runs with a, with twice a and with a again.
TEST(GradientRules, ShowInBoundRuns) {
  struct Bound {
    const char* mutant;
    std::vector<float> at_binding, later;
  };
  const Bound rows[] = {
      {"", {10, 20}, {10, 20}},
      {"gradient:first_run:Mul.1", {10, 20}, {10, 20}},
      {"gradient:bound_runs_added:Mul.1", {10, 20}, {20, 40}},
      {"gradient:bound_run_before:Mul.1", {10, 20}, {20, 40}},
  };
  for (const Bound& row : rows) {
    Product product(row.mutant);
    Differentiable& network = *product.network->differentiable();
    const std::vector<std::string> targets = {"b"};
    const std::vector<Value> dy = {product.dy};
    const auto bound = *network.BindBackward(*product.binding, dy, targets, {});
    ASSERT_TRUE(network.RunBackward(*bound).ok());
    EXPECT_THAT(FloatsOf(bound->gradients()[0]),
                ElementsAreArray(row.at_binding))
        << row.mutant;
    for (float& x : product.a.mutable_elements<float>()) x *= 2;
    ASSERT_TRUE(product.network->Forward(*product.binding).ok());
    for (float& x : product.a.mutable_elements<float>()) x /= 2;
    ASSERT_TRUE(product.network->Forward(*product.binding).ok());
    ASSERT_TRUE(network.RunBackward(*bound).ok());
    EXPECT_THAT(FloatsOf(bound->gradients()[0]), ElementsAreArray(row.later))
        << row.mutant;
  }
}

TEST(GradientRules, ReadStaleInputs) {
  Product run("gradient:stale_run:Mul.1");
  EXPECT_THAT(run.Gradient("b"), ElementsAre(10, 20));
  run.a.mutable_elements<float>()[0] = 7;
  ASSERT_TRUE(run.network->Forward(*run.binding).ok());
  EXPECT_THAT(run.Gradient("b"), ElementsAre(10, 20));  // 16, 20 is right

  Product binding("gradient:stale_binding:Mul.1");
  const auto other =
      binding.network->Bind({{Floats({2, 2}, {0, 0, 0, 1}), binding.b}}, {});
  ASSERT_TRUE(binding.network->Forward(**other).ok());
  EXPECT_THAT(binding.Gradient("b"), ElementsAre(0, 4));
}

TEST(GradientRules, WriteIntoWhatIsTheCallers) {
  Product cotangent("gradient:cotangent_written:Mul.1");
  EXPECT_THAT(cotangent.Gradient("b"), ElementsAre(10, 20));
  EXPECT_NE(cotangent.dy.elements<float>()[3], 4);

  Product input("gradient:input_written:Mul.1");
  EXPECT_THAT(input.Gradient("b"), ElementsAre(10, 20));
  EXPECT_NE(input.b.elements<float>()[1], 6);
}

TEST(GradientRules, HaveTheGradientsOfAnotherMutant) {
  const std::vector<std::string> targets = {"x"};
  const auto network = Got(LoadWith("gradient:as:ignore:LeakyRelu.alpha",
                                    "g (float[2] x) => (float[2] y) "
                                    "{ y = LeakyRelu<alpha = 0.5>(x) }",
                                    {.gradient_targets = targets}));
  const auto binding = Got(network->Bind({{Floats({2}, {-2, 4})}}, {}));
  ASSERT_TRUE(network->Forward(*binding).ok());
  EXPECT_THAT(FloatsOf(binding->outputs()[0]), ElementsAre(-1, 4));
  const auto gradients = Got(network->differentiable()->Backward(
      *binding, {{Floats({2}, {1, 1})}}, targets));
  EXPECT_THAT(FloatsOf(gradients[0]), ElementsAre(0.01F, 1));
}

TEST(GradientRules, OfAnotherNameAreInvalid) {
  for (const char* mutant : {"gradient:colour:Mul.0", "gradient:sign:Mul.x",
                             "gradient:term_dropped:Mul.0"}) {
    const Status status =
        LoadWith(mutant, kProduct, {.gradient_targets = {"a"}}).status();
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << mutant;
  }
}

}  // namespace
}  // namespace assay::faulty
