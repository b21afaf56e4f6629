// SPDX-License-Identifier: Apache-2.0
//
// The seams for what kernels do not have: MakeBackward and LoadNode, by a
// backend that differentiates any node by differences, the parts of graphs that
// a kernel names, and function bodies in place of kernels.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "framework/backend/eager/compile.h"
#include "framework/backend/eager/part.h"
#include "framework/backend/toy/toy_backend.h"
#include "framework/backend/toy/toy_fixture.h"

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
  const Value yes = Scalar(true);
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
    SCOPED_TRACE(row.what);
    const auto network =
        LoadedBy(backend, row.text, {.gradient_targets = row.targets});
    const auto binding = BoundTo(*network, row.inputs);
    ASSERT_TRUE(network->Forward(*binding).ok());
    Tensor ones = binding->outputs()[0].tensor()->Clone().value();
    std::ranges::fill(ones.mutable_elements<double>(), 1);
    const Value dy = ones;
    const auto gradients = Got(
        network->differentiable()->Backward(*binding, {&dy, 1}, row.targets));
    for (size_t k = 0; k < row.wanted.size(); ++k) {
      EXPECT_THAT(DoublesOf(gradients[k]),
                  Pointwise(DoubleNear(1e-9), row.wanted[k]))
          << row.targets[k];
    }
  }
}

TEST(NodeTest, WhatMakeBackwardDeclinesIsADeclinedGradient) {
  const Status status =
      Differencing()
          .Load(graph::ModelOfText("g (float[2] x, int64[1] i) => "
                                   "(float[1] y) { y = Gather(x, i) }"),
                {.gradient_targets = {"x"}})
          .status();
  EXPECT_EQ(status.code(), StatusCode::kUnsupported);
  EXPECT_EQ(status.reason(), Reason::kGradient);
  EXPECT_THAT(status.message(), HasSubstr("Gather is not to be moved"));
}

// Two ways from a to e, one of them by way of a node with two outputs.
constexpr std::string_view kGraph =
    "g (float[2] a, float[2] b) => (float[2] e) <float[2] w = {1.0, 2.0}, "
    "int64[1] k = {2}> "
    "{ c = Mul(a, w) d, i = TopK(b, k) f = Neg(d) e = Add(c, f) }";

std::string Names(const Graph& graph) {
  std::string names = Joined(graph.nodes, " ", &Node::op_type);
  for (const Capture& capture : graph.captures) {
    names += StrCat(" ", graph[capture.inner].name);
  }
  return names;
}

TEST(CutPart, TakesWhatLiesBetween) {
  const auto model = graph::ModelOfText(kGraph);
  const struct {
    std::vector<std::string> inputs;
    std::string output;
    std::string takes;  // nodes, then captured values
  } rows[] = {
      {{"a", "b"}, "e", "Mul TopK Neg Add w k"},
      {{"c", "b"}, "e", "TopK Neg Add k"},
      {{"a", "d"}, "e", "Mul Neg Add w"},
      {{"a", "f"}, "e", "Mul Add w"},
      {{"a"}, "c", "Mul w"},
      {{"a", "w"}, "c", "Mul"},
      {{"b"}, "b", ""},
      {{"b"}, "w", " w"},
      {{"d", "b"}, "i", "TopK k"},
  };
  for (const auto& row : rows) {
    const auto part =
        Got(eager::CutPart(model->graph(), {row.inputs, row.output, 1}));
    EXPECT_EQ(Names(part), row.takes) << row.output;
    EXPECT_EQ(part.inputs.size(), row.inputs.size());
    EXPECT_EQ(part.outputs, std::vector{model->graph().FindValue(row.output)});
  }
}

// d is fed, so the node that computes it beside i leaves it alone.
TEST(CutPart, DoesNotWriteOverAnInput) {
  const auto model = graph::ModelOfText(kGraph);
  const auto part = Got(eager::CutPart(model->graph(), {{"d", "b"}, "i", 1}));
  EXPECT_EQ(part.nodes[0].outputs[0], kNoValue);
}

TEST(CutPart, NamesWhatIsMissing) {
  const auto model = graph::ModelOfText(kGraph);
  const struct {
    std::vector<std::string> inputs;
    std::string output;
    std::string says;
  } rows[] = {
      {{"a"}, "e", "'e' depends on 'b', which is none"},
      {{"z"}, "e", "'z' is no value of the graph"},
      {{"a"}, "z", "'z' is no value of the graph"},
      {{"a", "a"}, "c", "'a' stands twice"},
  };
  for (const auto& row : rows) {
    EXPECT_THAT(
        eager::CutPart(model->graph(), {row.inputs, row.output, 1}).status(),
        IsStatus(StatusCode::kInvalidArgument, row.says));
  }
}

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
                  }};
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
        }};
  }
  Result<Kernel> Visit(const op::Cast& op, LoadContext& load) override {
    ASSAY_RETURN_IF_ERROR(CheckFloat(load.dtype(op.input)));
    return Kernel{[op](KernelContext& run) {
      return run.SetOutput(op.output, run.value(op.input));
    }};
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
  const auto network = LoadedBy(backend, kSwiGlu);
  const auto binding = BoundTo(*network, {Floats({1, 2}), Floats({3, 5})});
  const auto y = Forward(*network, *binding);
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
  const auto network =
      LoadedBy(backend, kSwiGlu, {.gradient_targets = {"a", "b"}});
  ASSERT_NE(network->differentiable(), nullptr);
  const auto binding = BoundTo(*network, {Floats({1, 2}), Floats({3, 5})});
  ASSERT_TRUE(network->Forward(*binding).ok());
  const auto gradients = Got(network->differentiable()->Backward(
      *binding, std::vector<Value>{Floats({2}, {1, 1})},
      std::vector<std::string>{"a", "b"}));
  const float s = Sigmoid(2);
  EXPECT_FLOAT_EQ(gradients[0].tensor()->elements<float>()[1],
                  5 * (s + 2 * s * (1 - s)));
  EXPECT_FLOAT_EQ(gradients[1].tensor()->elements<float>()[1], 2 * s);
}

TEST(Expansion, FunctionsOfTheModelAreInlined) {
  Expanding backend;
  const auto network =
      LoadedBy(backend,
               "g (float[2] x) => (float[2] y) { y = test.f(x) }\n"
               "<domain: \"test\", opset_import: [\"\" : 28]> f (u) => (v) "
               "{ v = SwiGLU(u, u) }");
  EXPECT_EQ(network->placement()->Placed()[0].function, "SwiGLU in f");
}

TEST(Expansion, ReachesIntoSubgraphs) {
  Expanding backend;
  const auto network =
      LoadedBy(backend,
               "g (bool c, float[1] x) => (float[1] y) { y = If(c) <"
               "then_branch = t () => (float[1] r) { r = SwiGLU(x, x) },"
               "else_branch = e () => (float[1] r) { r = Relu(x) }> }");
  const auto binding = BoundTo(*network, {Scalar(true), Floats({2})});
  EXPECT_FLOAT_EQ(Forward(*network, *binding)[0], 2 * Sigmoid(2) * 2);
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
