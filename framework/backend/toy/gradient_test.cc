// SPDX-License-Identifier: Apache-2.0

#include "framework/backend/eager/gradient.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "framework/backend/toy/toy_backend.h"
#include "framework/graph/model_text.h"
#include "framework/testing/support/statuses_fixture.h"
#include "framework/testing/support/tensors_fixture.h"

namespace assay::toy {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

using NameList = std::vector<std::string>;

Result<std::unique_ptr<Network>> LoadFor(const std::string& text,
                                         const NameList& targets,
                                         const NameList& extra_outputs = {}) {
  return Toy().Load(graph::ModelOfText(text), {.mode = Mode::kTraining,
                                               .extra_outputs = extra_outputs,
                                               .gradient_targets = targets});
}

/// A network after Forward.
struct Forwarded {
  Forwarded(const std::string& text, const NameList& targets,
            std::vector<Value> inputs, const NameList& extra_outputs = {})
      : network(*LoadFor(text, targets, extra_outputs)),
        binding(*network->Bind(inputs, {})) {
    const Status status = network->Forward(*binding);
    EXPECT_TRUE(status.ok()) << status.ToString();
  }

  Result<std::vector<Value>> Backward(const std::vector<Value>& cotangents,
                                      const NameList& targets) {
    return network->differentiable()->Backward(*binding, cotangents, targets);
  }

  std::unique_ptr<Network> network;
  std::unique_ptr<Binding> binding;
};

constexpr char kMatrixLayer[] =
    "g (double[2,3] x) => (double[2,2] y) "
    "<double[3,2] w = {1, -2, 3, 0.5, -1, 2}> "
    "{ h = MatMul(x, w) y = Relu(h) }";

/// The inner product of the outputs with `cotangent` at x and w.
double Loss(Network& network, const Tensor& x, const Tensor& w,
            const std::vector<double>& cotangent) {
  EXPECT_TRUE(network.parameters()->Write("w", w).ok());
  const std::vector<double> y =
      DoublesOf((*assay::Run(network, {{"x", x}}))[0]);
  double sum = 0;
  for (size_t i = 0; i < y.size(); ++i) sum += y[i] * cotangent[i];
  return sum;
}

TEST(Gradient, AgreesWithCentralDifferences) {
  Tensor x = Doubles({2, 3}, {0.3, -0.7, 1.1, 0.9, 0.4, -0.6});
  Tensor w = Doubles({3, 2}, {1, -2, 3, 0.5, -1, 2});
  const std::vector<double> cotangent = {0.5, -1.5, 2, 0.25};
  Forwarded run(kMatrixLayer, {"x", "w"}, {x});
  const auto gradients =
      Got(run.Backward({Doubles({2, 2}, cotangent)}, {"x", "w"}));

  constexpr double kStep = 1e-6;
  std::array<Tensor*, 2> values = {&x, &w};
  int not_zero = 0;
  for (size_t k = 0; k < values.size(); ++k) {
    const std::vector<double> found = DoublesOf(gradients[k]);
    const std::span<double> at = values[k]->mutable_elements<double>();
    ASSERT_EQ(found.size(), at.size());
    for (size_t i = 0; i < at.size(); ++i) {
      const double center = at[i];
      at[i] = center + kStep;
      const double above = Loss(*run.network, x, w, cotangent);
      at[i] = center - kStep;
      const double below = Loss(*run.network, x, w, cotangent);
      at[i] = center;
      EXPECT_NEAR(found[i], (above - below) / (2 * kStep), 1e-7) << k << i;
      not_zero += found[i] != 0 ? 1 : 0;
    }
  }
  EXPECT_GT(not_zero, 6);  // or the test would show nothing
}

TEST(Gradient, ReadsOfOneValueAreSummed) {
  const struct {
    const char* text;
    std::vector<double> want;
  } rows[] = {
      {"g (double[2] x) => (double[2] y) { y = Add(x, x) }", {2, 6}},
      {"g (double[2] x) => (double[2] y) "
       "{ a = Relu(x) b = Add(x, a) y = Add(a, b) }",
       {3, 9}},
      {"g (double[2] x) => (double[2] y, double[2] y) { y = Relu(x) }", {2, 6}},
      {"g (double[2] x) => (double[2] y, double[2] x) { y = Relu(x) }", {2, 6}},
  };
  for (const auto& row : rows) {
    Forwarded run(row.text, {"x"}, {Doubles({2}, {4, 5})});
    const std::vector<Value> cotangents(run.network->outputs().size(),
                                        Doubles({2}, {1, 3}));
    const auto gradients = Got(run.Backward(cotangents, {"x"}));
    EXPECT_EQ(DoublesOf(gradients[0]), row.want) << row.text;
    EXPECT_EQ(DoublesOf(cotangents[0]), (std::vector<double>{1, 3}));
  }
}

TEST(Gradient, EveryKindOfValueMayBeATarget) {
  constexpr char kText[] =
      "g (double[2] x) => (double[2] y) <double[2] w = {1, 1}> "
      "{ h = Relu(x) y = Add(h, w) }";
  Forwarded run(kText, {"x", "w", "h", "y"}, {Doubles({2}, {-1, 2})}, {"h"});
  const Tensor dy = Doubles({2}, {3, 4});
  const Tensor dh = Doubles({2}, {10, 20});
  const auto gradients = Got(run.Backward({dy, dh}, {"y", "h", "w", "x", "w"}));
  EXPECT_THAT(DoublesOf(gradients[0]), ElementsAre(3, 4));
  EXPECT_THAT(DoublesOf(gradients[1]), ElementsAre(13, 24));
  EXPECT_THAT(DoublesOf(gradients[2]), ElementsAre(3, 4));
  EXPECT_THAT(DoublesOf(gradients[3]), ElementsAre(0, 24));
  // Freshly owned: neither the cotangent's memory nor another gradient's.
  EXPECT_NE(gradients[0].tensor()->data(), dy.data());
  EXPECT_NE(gradients[2].tensor()->data(), gradients[4].tensor()->data());
}

TEST(Gradient, WhatIsNotReachedIsZero) {
  constexpr char kText[] =
      "g (double[2] x, double[3] z) => (double[2] y, double[3] u) "
      "{ y = Relu(x) u = Relu(z) }";
  Forwarded run(kText, {"x", "z"},
                {Doubles({2}, {1, 2}), Doubles({3}, {1, 2, 3})});
  const auto gradients =
      Got(run.Backward({Doubles({2}, {5, 5}), Value()}, {"x", "z"}));
  EXPECT_THAT(DoublesOf(gradients[0]), ElementsAre(5, 5));
  EXPECT_THAT(DoublesOf(gradients[1]), ElementsAre(0, 0, 0));
}

TEST(Gradient, BackwardMayBeRepeatedAndNamesASubset) {
  Forwarded run(kMatrixLayer, {"x", "w"},
                {Doubles({2, 3}, {1, 2, 3, 4, 5, 6})});
  const std::vector<Value> cotangents = {Doubles({2, 2}, {1, 0, 0, 1})};
  const auto both = *run.Backward(cotangents, {"x", "w"});
  const auto only = *run.Backward(cotangents, {"w"});
  EXPECT_EQ(DoublesOf(only[0]), DoublesOf(both[1]));
  EXPECT_EQ(run.Backward(cotangents, {})->size(), 0u);
}

TEST(Gradient, SavedValuesAreThoseOfTheLastForward) {
  constexpr char kText[] =
      "g (double[2] x) => (double[2] y) { h = Relu(x) y = test.Twice(h) }";
  Forwarded run(kText, {"x"}, {Doubles({2}, {1, 2})});
  ASSERT_TRUE(run.network->Forward(*run.binding).ok());
  const auto gradients = run.Backward({Doubles({2}, {1, 3})}, {"x"});
  EXPECT_THAT(DoublesOf((*gradients)[0]), ElementsAre(2, 6));
}

TEST(Gradient, NodesOffThePathNeedNoBackward) {
  // Floor has none, but neither depends on a target nor, in the second, leads
  // to an output that does.
  const std::vector<std::string> texts = {
      "g (double[2] x, double[2] z) => (double[2] y) "
      "{ f = Floor(z) y = Add(x, f) }",
      "g (double[2] x, double[2] z) => (double[2] y) "
      "{ f = Floor(x) y = Add(x, z) }",
  };
  for (const std::string& text : texts) {
    Forwarded run(text, {"x"}, {Doubles({2}, {1, 2}), Doubles({2}, {3, 4})});
    EXPECT_THAT(DoublesOf((*run.Backward({Doubles({2}, {7, 8})}, {"x"}))[0]),
                ElementsAre(7, 8))
        << text;
  }
}

TEST(Gradient, LoadDeclinesWhatCannotBeDifferentiated) {
  const struct {
    const char* text;
    const char* target;
    StatusCode code;
    const char* message;
  } rows[] = {
      {"g (double[2] x) => (double[2] y) { h = Floor(x) y = Relu(h) }", "x",
       StatusCode::kUnsupported, "Floor: the kernel has no backward"},
      {"g (double[2] x, bool c) => (double[2] y) { y = If(c) <"
       "then_branch = t () => (double[2] a) { a = Relu(x) },"
       "else_branch = e () => (double[2] b) { b = Relu(x) }> }",
       "x", StatusCode::kUnsupported, "If: gradients through subgraphs"},
      {"g (double[2] x) => (double[2] y) "
       "{ h = test.Twice(x) y = test.Twice(h) }",
       "x", StatusCode::kUnsupported, "Twice: value 'h' is none"},
      {"g (int64[2] x) => (int64[2] y) { y = Identity(x) }", "x",
       StatusCode::kUnsupported, "target 'x' is int64[2]"},
      {"g (float8e5m2[2] x) => (float8e5m2[2] y) { y = Identity(x) }", "x",
       StatusCode::kUnsupported, "target 'x' is float8e5m2[2]"},
      {"g (double[2] x) => (double[2] y) { y = Relu(x) }", "q",
       StatusCode::kNotFound, "target 'q' is no value"},
  };
  for (const auto& row : rows) {
    const Status status = LoadFor(row.text, {row.target}).status();
    EXPECT_THAT(status, IsStatus(row.code, row.message)) << row.text;
    if (row.code != StatusCode::kUnsupported) continue;
    EXPECT_EQ(status.reason(), Reason::kGradient) << row.text;
  }
}

TEST(Gradient, WrongCallsAreRefused) {
  Forwarded run(kMatrixLayer, {"x"}, {Doubles({2, 3}, {1, 2, 3, 4, 5, 6})});
  const Value good = Doubles({2, 2}, {1, 0, 0, 1});
  const struct {
    std::vector<Value> cotangents;
    NameList targets;
    const char* message;
  } rows[] = {
      {{}, {"x"}, "found 0 cotangents, wanted 1"},
      {{Doubles({4}, {1, 0, 0, 1})},
       {"x"},
       "'y' is float64[4], wanted float64"},
      {{*Tensor::Allocate(DType::kFloat32, {2, 2})}, {"x"}, "is float32[2,2]"},
      {{good}, {"w"}, "'w' is none of the network's gradient targets"},
  };
  for (const auto& row : rows) {
    const Status status = run.Backward(row.cotangents, row.targets).status();
    EXPECT_THAT(status, IsStatus(StatusCode::kInvalidArgument, row.message))
        << row.message;
  }
}

TEST(Gradient, BackwardNeedsAForward) {
  const auto network = *LoadFor(kMatrixLayer, {"x"});
  const auto binding = *network->Bind(
      std::vector<Value>{Doubles({2, 3}, {1, 2, 3, 4, 5, 6})}, {});
  const Status status =
      network->differentiable()
          ->Backward(*binding, std::vector<Value>(1), NameList{"x"})
          .status();
  EXPECT_EQ(status.code(), StatusCode::kFailedPrecondition);
}

TEST(Gradient, AThrowingBackwardBecomesAStatusThatNamesTheNode) {
  Forwarded run("g (double[1] x) => (double[1] y) { y = test.ThrowBack(x) }",
                {"x"}, {Doubles({1}, {1})});
  const Status status = run.Backward({Doubles({1}, {1})}, {"x"}).status();
  EXPECT_THAT(status, IsStatus(StatusCode::kInternal, "ThrowBack: backward: "));
  EXPECT_THAT(status.message(), HasSubstr("the tape tore"));
}

TEST(Gradient, NetworksWithoutTargetsAreNotDifferentiable) {
  EXPECT_EQ((*LoadFor(kMatrixLayer, {}))->differentiable(), nullptr);
}

}  // namespace
}  // namespace assay::toy
