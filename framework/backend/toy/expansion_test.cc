// SPDX-License-Identifier: Apache-2.0

#include "framework/backend/eager/expansion.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "framework/backend/toy/toy_backend.h"
#include "framework/graph/model_text.h"
#include "framework/testing/support/tensors_fixture.h"

namespace assay::toy {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Sigmoid and Mul of float32 (the first operand of Mul may be one number),
/// with gradients, and Cast of float32 to itself; nothing of float16.
class Products : public OperatorVisitor {
  Result<Kernel> Visit(const op::Mul& op, LoadContext& load) override {
    ASSAY_RETURN_IF_ERROR(CheckFloat(load.dtype(op.a)));
    return Kernel{[op](KernelContext& run) -> Status {
                    const Tensor& b = run.input(op.b);
                    ASSAY_ASSIGN_OR_RETURN(
                        Tensor* const c,
                        run.Output(op.c, b.dtype(), b.shape()));
                    Multiply(run.input(op.a), b, *c);
                    return OkStatus();
                  },
                  [op](GradientContext& run) -> Status {
                    ASSAY_RETURN_IF_ERROR(Pass(run, op.c, op.a, op.b));
                    return Pass(run, op.c, op.b, op.a);
                  },
                  {}};
  }
  Result<Kernel> Visit(const op::Sigmoid& op, LoadContext& load) override {
    ASSAY_RETURN_IF_ERROR(CheckFloat(load.dtype(op.x)));
    return Kernel{
        [op](KernelContext& run) -> Status {
          const Tensor& x = run.input(op.x);
          ASSAY_ASSIGN_OR_RETURN(Tensor* const y,
                                 run.Output(op.y, x.dtype(), x.shape()));
          for (size_t i = 0; i < Count(x); ++i) {
            y->mutable_elements<float>()[i] =
                1 / (1 + std::exp(-x.elements<float>()[i]));
          }
          return OkStatus();
        },
        [op](GradientContext& run) -> Status {
          const auto y = run.output(op.y).elements<float>();
          const Tensor* const dy = run.cotangent(op.y);
          if (dy == nullptr) return OkStatus();
          ASSAY_ASSIGN_OR_RETURN(Tensor* const dx, run.Gradient(op.x));
          for (size_t i = 0; i < y.size(); ++i) {
            dx->mutable_elements<float>()[i] =
                dy->elements<float>()[i] * y[i] * (1 - y[i]);
          }
          return OkStatus();
        },
        {}};
  }
  Result<Kernel> Visit(const op::Cast& op, LoadContext& load) override {
    ASSAY_RETURN_IF_ERROR(CheckFloat(load.dtype(op.input)));
    return Kernel{[op](KernelContext& run) {
                    return run.SetOutput(op.output, run.value(op.input));
                  },
                  {},
                  {}};
  }
  Result<Kernel> Visit(const op::Swish& op, LoadContext& load) override {
    if (load.dtype(op.x) == DType::kFloat32) {
      return OperatorVisitor::Visit(op, load);
    }
    return Unsupported(Reason::kDType, "Swish of ", load.dtype(op.x));
  }

  static size_t Count(const Tensor& tensor) {
    return static_cast<size_t>(tensor.num_elements());
  }
  static Status CheckFloat(DType type) {
    if (type == DType::kFloat32) return OkStatus();
    return Unsupported(Reason::kDType, "product of ", type);
  }
  static void Multiply(const Tensor& a, const Tensor& b, Tensor& c) {
    for (size_t i = 0; i < Count(c); ++i) {
      c.mutable_elements<float>()[i] =
          a.elements<float>()[i % Count(a)] * b.elements<float>()[i % Count(b)];
    }
  }
  static Status Pass(GradientContext& run, Output from, Input to, Input other) {
    const Tensor* const flowing = run.cotangent(from);
    if (flowing == nullptr || !run.wanted(to)) return OkStatus();
    ASSAY_ASSIGN_OR_RETURN(Tensor* const gradient, run.Gradient(to));
    Multiply(*flowing, run.input(other), *gradient);
    return OkStatus();
  }
};

class Expanding : public Toy {
 public:
  explicit Expanding(bool willing = true) : willing_(willing) {
    AddFamily(std::make_unique<Products>());
  }

 protected:
  bool MayExpand(const Node& node) const override {
    return willing_ || node.op_type != "SwiGLU";
  }

 private:
  const bool willing_;
};

constexpr char kSwiGlu[] =
    "g (float[2] a, float[2] b) => (float[2] y) "
    "{ h = SwiGLU(a, b) y = Relu(h) }";

float Sigmoid(float x) { return 1 / (1 + std::exp(-x)); }

TEST(Expansion, ABodyInABodyRunsAndIsTold) {
  Expanding backend;
  auto network = *backend.Load(graph::ModelOfText(kSwiGlu), {});
  const auto outputs = assay::Run(
      *network, {{"a", Floats({2}, {1, 2})}, {"b", Floats({2}, {3, 5})}});
  ASSERT_TRUE(outputs.ok()) << outputs.status().ToString();
  const auto y = (*outputs)[0].tensor()->elements<float>();
  EXPECT_FLOAT_EQ(y[0], 1 * Sigmoid(1) * 3);
  EXPECT_FLOAT_EQ(y[1], 2 * Sigmoid(2) * 5);
  const auto placed = network->placement()->Placed();
  std::vector<std::string> functions;
  for (const PlacedNode& node : placed) functions.push_back(node.function);
  // Sigmoid and two Mul come from the one call; Relu is the model's own.
  EXPECT_EQ(functions.size(), placed.size());
  EXPECT_THAT(functions.back(), "");
  EXPECT_THAT(functions.front(), "SwiGLU");
}

TEST(Expansion, GradientsPass) {
  Expanding backend;
  LoadOptions options;
  options.gradient_targets = {"a", "b"};
  auto network = *backend.Load(graph::ModelOfText(kSwiGlu), options);
  ASSERT_NE(network->differentiable(), nullptr);
  const auto binding = *network->Bind(
      std::vector<Value>{Floats({2}, {1, 2}), Floats({2}, {3, 5})}, {});
  ASSERT_TRUE(network->Forward(*binding).ok());
  const auto gradients = network->differentiable()->Backward(
      *binding, std::vector<Value>{Floats({2}, {1, 1})},
      std::vector<std::string>{"a", "b"});
  ASSERT_TRUE(gradients.ok()) << gradients.status().ToString();
  const float s = Sigmoid(2);
  EXPECT_FLOAT_EQ((*gradients)[0].tensor()->elements<float>()[1],
                  5 * (s + 2 * s * (1 - s)));
  EXPECT_FLOAT_EQ((*gradients)[1].tensor()->elements<float>()[1], 2 * s);
}

TEST(Expansion, FunctionsOfTheModelAreInlined) {
  Expanding backend;
  auto network = backend.Load(
      graph::ModelOfText(
          "g (float[2] x) => (float[2] y) { y = test.f(x) }\n"
          "<domain: \"test\", opset_import: [\"\" : 28]> f (u) => (v) "
          "{ v = SwiGLU(u, u) }"),
      {});
  ASSERT_TRUE(network.ok()) << network.status().ToString();
  EXPECT_EQ((*network)->placement()->Placed()[0].function, "SwiGLU in f");
}

TEST(Expansion, ReachesIntoSubgraphs) {
  Expanding backend;
  auto network = backend.Load(
      graph::ModelOfText(
          "g (bool c, float[1] x) => (float[1] y) { y = If(c) <"
          "then_branch = t () => (float[1] r) { r = SwiGLU(x, x) },"
          "else_branch = e () => (float[1] r) { r = Relu(x) }> }"),
      {});
  ASSERT_TRUE(network.ok()) << network.status().ToString();
  bool yes = true;
  const auto outputs = assay::Run(
      **network,
      {{"c", *Tensor::Of<bool>({}, {&yes, 1})}, {"x", Floats({1}, {2})}});
  ASSERT_TRUE(outputs.ok()) << outputs.status().ToString();
  EXPECT_FLOAT_EQ((*outputs)[0].tensor()->elements<float>()[0],
                  2 * Sigmoid(2) * 2);
}

struct Refusal {
  std::string text;
  bool willing;
  Reason reason;
  std::string message;
};

TEST(Expansion, WhatABodyLacksIsToldByTheRightReason) {
  const Refusal rows[] = {
      // No kernel: the error says what the body lacks.
      {"g (float16[2] a) => (float16[2] y) { y = SwiGLU(a, a) }", true,
       Reason::kDType, "Swish of float16"},
      // Declined for its type: that reason stands, not the body's.
      {"g (float16[2] a) => (float16[2] y) { y = Swish(a) }", true,
       Reason::kDType, "Swish of float16"},
      // The backend wants the operator whole.
      {kSwiGlu, false, Reason::kOperator, "has no operator SwiGLU"},
      // No body at all.
      {"g (float[2] a) => (float[2] y) { y = Tan(a) }", true, Reason::kOperator,
       "has no operator Tan"},
      // A body whose own operators are missing.
      {"g (float[2] a) => (float[2] y) { y = HardSwish(a) }", true,
       Reason::kOperator, "HardSigmoid"},
  };
  for (const Refusal& row : rows) {
    Expanding backend(row.willing);
    const Status status =
        backend.Load(graph::ModelOfText(row.text), {}).status();
    EXPECT_EQ(status.code(), StatusCode::kUnsupported) << row.text;
    EXPECT_EQ(status.reason(), row.reason) << row.text;
    EXPECT_THAT(status.message(), HasSubstr(row.message)) << row.text;
  }
}

}  // namespace
}  // namespace assay::toy
