// SPDX-License-Identifier: Apache-2.0
//
// The seam for backwards that kernels do not have: MakeBackward and LoadNode,
// by a backend that differentiates any node by differences.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "framework/backend/toy/toy_backend.h"
#include "framework/graph/model_text.h"
#include "framework/testing/support/tensors_fixture.h"

namespace assay::toy {
namespace {

using ::testing::DoubleNear;
using ::testing::HasSubstr;
using ::testing::Pointwise;

/// The sum of cotangent times output over the outputs of the node.
Result<double> Weighted(const NodeNetwork& node, const GradientContext& run,
                        std::span<const Value> inputs) {
  ASSAY_ASSIGN_OR_RETURN(const auto binding, node.network->Bind(inputs, {}));
  ASSAY_RETURN_IF_ERROR(node.network->Forward(*binding));
  double sum = 0;
  for (size_t k = 0; k < node.outputs.size(); ++k) {
    const Tensor* const cotangent = run.cotangent(node.outputs[k]);
    if (cotangent == nullptr) continue;
    const auto y = binding->outputs()[k].tensor()->elements<double>();
    for (size_t i = 0; i < y.size(); ++i) {
      sum += cotangent->elements<double>()[i] * y[i];
    }
  }
  return sum;
}

Status Differ(const NodeNetwork& node, GradientContext& run) {
  constexpr double kStep = 0x1p-20;
  std::vector<Value> inputs;
  for (const Input input : node.inputs) inputs.push_back(run.value(input));
  for (size_t k = 0; k < inputs.size(); ++k) {
    if (!run.wanted(node.inputs[k])) continue;
    ASSAY_ASSIGN_OR_RETURN(Tensor* const gradient,
                           run.Gradient(node.inputs[k]));
    const Value held = inputs[k];
    for (size_t i = 0; i < gradient->elements<double>().size(); ++i) {
      ASSAY_ASSIGN_OR_RETURN(Tensor moved, held.tensor()->Clone());
      inputs[k] = moved;
      ASSAY_ASSIGN_OR_RETURN(const double here, Weighted(node, run, inputs));
      moved.mutable_elements<double>()[i] += kStep;
      inputs[k] = moved;
      ASSAY_ASSIGN_OR_RETURN(const double there, Weighted(node, run, inputs));
      gradient->mutable_elements<double>()[i] = (there - here) / kStep;
    }
    inputs[k] = held;
  }
  return OkStatus();
}

class Differencing : public Toy {
 protected:
  Result<BackwardFunction> MakeBackward(LoadContext& load) override {
    if (load.node().op_type == "Gather") {
      return Unsupported(Reason::kAttribute, "Gather is not to be moved");
    }
    LoadOptions options = load.options();
    options.gradient_targets.clear();
    ASSAY_ASSIGN_OR_RETURN(NodeNetwork node, LoadNode(load, options));
    return [node = std::move(node)](GradientContext& run) {
      return Differ(node, run);
    };
  }
};

struct Row {
  const char* what;
  const char* text;
  std::vector<Value> inputs;
  std::vector<std::string> targets;
  std::vector<std::vector<double>> wanted;  // of the sum of y's elements
};

TEST(NodeTest, ABackendMakesTheBackwardThatAKernelLacks) {
  const Value yes = *Tensor::Of<bool>({}, std::array{true});
  const std::vector<Row> rows = {
      {"a kernel without a backward",
       "g (double[2] x) => (double[2] y) { h = Identity(x) y = Add(h, x) }",
       {Doubles({2}, {1, 2})},
       {"x"},
       {{2, 2}}},
      {"captures, one of them an input of the graph and one computed",
       "g (double[1,2] x, double[2,1] z, bool c) => (double[1,1] y) "
       "{ h = Relu(x) y = If(c) <"
       "then_branch = t () => (double[1,1] a) { a = MatMul(h, z) },"
       "else_branch = e () => (double[1,1] b) { b = MatMul(x, z) }> }",
       {Doubles({1, 2}, {1, -2}), Doubles({2, 1}, {3, 4}), yes},
       {"x", "z"},
       {{3, 0}, {1, 0}}},
      {"a body within a body, and a parameter that it captures",
       "g (double[2] x, bool c) => (double[2] y) <double[2] w = {5, -6}> "
       "{ y = If(c) <"
       "then_branch = t () => (double[2] a) { a = If(c) <"
       "then_branch = u () => (double[2] p) { s = Add(x, w) p = Relu(s) },"
       "else_branch = v () => (double[2] q) { q = Relu(x) }> },"
       "else_branch = e () => (double[2] b) { b = Relu(x) }> }",
       {Doubles({2}, {1, 2}), yes},
       {"x", "w"},
       {{1, 0}, {1, 0}}},
  };
  for (const Row& row : rows) {
    Differencing backend;
    LoadOptions options;
    options.gradient_targets = row.targets;
    const auto network = backend.Load(graph::ModelOfText(row.text), options);
    ASSERT_TRUE(network.ok()) << row.what << network.status().ToString();
    const auto binding = *(*network)->Bind(row.inputs, {});
    ASSERT_TRUE((*network)->Forward(*binding).ok()) << row.what;
    const Tensor& y = *binding->outputs()[0].tensor();
    const Value ones =
        Doubles(y.shape(),
                std::vector<double>(static_cast<size_t>(y.num_elements()), 1));
    const auto gradients = (*network)->differentiable()->Backward(
        *binding, {&ones, 1}, row.targets);
    ASSERT_TRUE(gradients.ok()) << row.what << gradients.status().ToString();
    for (size_t k = 0; k < row.wanted.size(); ++k) {
      EXPECT_THAT((*gradients)[k].tensor()->elements<double>(),
                  Pointwise(DoubleNear(1e-9), row.wanted[k]))
          << row.what << ", " << row.targets[k];
    }
  }
}

TEST(NodeTest, WhatMakeBackwardDeclinesIsADeclinedGradient) {
  LoadOptions options;
  options.gradient_targets = {"x"};
  const Status status =
      Differencing()
          .Load(graph::ModelOfText("g (float[2] x, int64[1] i) => "
                                   "(float[1] y) { y = Gather(x, i) }"),
                options)
          .status();
  EXPECT_EQ(status.code(), StatusCode::kUnsupported);
  EXPECT_EQ(status.reason(), Reason::kGradient);
  EXPECT_THAT(status.message(), HasSubstr("Gather is not to be moved"));
}

}  // namespace
}  // namespace assay::toy
