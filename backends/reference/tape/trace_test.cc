// SPDX-License-Identifier: Apache-2.0

#include "backends/reference/tape/trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "backends/reference/exact/gather.h"
#include "backends/reference/exact/sampled.h"
#include "backends/reference/kernel_rows.h"
#include "backends/reference/tape/steps.h"
#include "framework/testing/support/statuses_fixture.h"

namespace assay::reference {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr size_t kKeepAll = size_t{1} << 28;

/// A backend whose networks run on Vars.
class TracedBackend final : public RowBackend {
 public:
  Result<std::unique_ptr<Network>> Load(std::shared_ptr<const Model> model,
                                        const LoadOptions& options) override {
    LoadOptions exact = options;
    exact.exact = true;
    return EagerBackend::Load(std::move(model), exact);
  }
};

/// A run of a graph with its first input as the target.
struct TracedRun {
  TracedRun(const std::string& graph, const Feed& feed, size_t most_kept_bytes)
      : trace(Ties::kFalse, Trace::Between::kUnrounded, most_kept_bytes) {
    const Status status = Run(graph, feed);
    EXPECT_TRUE(status.ok()) << status.message();
  }

  Status Run(const std::string& graph, const Feed& feed) {
    ASSAY_ASSIGN_OR_RETURN(network, backend.Load(ModelOf(graph), {}));
    const v1::Value input(feed.Make());
    ASSAY_ASSIGN_OR_RETURN(target, trace.AddTarget(*input.tensor(), nullptr));
    ASSAY_ASSIGN_OR_RETURN(binding, network->Bind(std::vector{input}, {}));
    const Trace::Scope running(&trace);
    ASSAY_RETURN_IF_ERROR(network->Forward(*binding));
    ASSAY_ASSIGN_OR_RETURN(unpacked, trace.Unpacked(binding->outputs()[0]));
    trace.Keep(std::span(&unpacked, 1));
    return OkStatus();
  }

  const Tensor& output() const { return *unpacked.tensor(); }

  TracedBackend backend;
  std::unique_ptr<Network> network;
  std::unique_ptr<Binding> binding;
  Tensor target;       // its Vars
  v1::Value unpacked;  // the first output
  Trace trace;
};

template <class S>
void Ignore(uint32_t, const Tape&, const std::vector<S>&) {}

// Values and adjoints of a run, with what they are charged.
std::vector<double> PassedNumbers(TracedRun& run, Left left) {
  using Number = Bounded<double>;
  std::vector<double> all;
  const auto add = [&](const Number& number) {
    all.push_back(number.value);
    all.push_back(number.units);
  };
  Borders<Number> numbers;
  EXPECT_TRUE(ReplaySteps(run.trace, left, &numbers, Ignore<Number>).ok());
  for (const Var& y : run.output().elements<Var>()) add(numbers.Of(y));
  if (left == Left::kKept) return all;
  Borders<Number> adjoints(NothingGiven<Number>());
  for (const Var& y : run.output().elements<Var>()) {
    AddTo(run.trace, y.source(), y.node(), Number(1 + y.value()), &adjoints);
  }
  EXPECT_TRUE(ReverseSteps(run.trace, numbers, &adjoints).ok());
  for (const Var& x : run.target.elements<Var>()) add(adjoints.Of(x));
  return all;
}

// A product of weights, a loop that captures the input, outputs that are set, a
// selection and a choice; y reads what was computed long before.
const std::string kGraph =
    "g (double[2,3] x) => (double[2,3] y)"
    "<double[3,3] w = {0.3, -0.7, 1.1, 0.2, 0.9, -0.4, 1.3, 0.1, -0.6},"
    " int64 three = {3}, bool yes = {1}, int64[2] flat = {3, 2},"
    " int64[2] wide = {2, 3}> {"
    "  a = MatMul(x, w) b = Relu(a) c = Reshape(b, flat) d = Exp(c)"
    "  n, e = Loop(three, yes, d) <body = body (int64 i, bool on, double[3,2] "
    "s)"
    "    => (bool more, double[3,2] t, double[2,3] u) {"
    "      more = Identity(on) h = Reshape(x, flat) q = Mul(s, h) t = Tanh(q)"
    "      u = Reshape(t, wide) }>"
    "  f = ReduceMax <keepdims = 0> (e) k = Add(n, d) l = Reshape(k, wide)"
    "  m = Sub(l, f) y = Add(m, a) }";

const Feed kX = D({2, 3}, {0.5, -1.25, 2, 0.125, 0.75, -0.3});

// Kills: a step that is recorded again otherwise, or into other numbers;
// numbers that are dropped before their last reader; a body that is a step.
TEST(TraceTest, TapesThatAreRecordedAgainGiveTheSame) {
  TracedRun kept(kGraph, kX, kKeepAll);
  TracedRun again(kGraph, kX, 0);
  EXPECT_TRUE(kept.trace.is_kept());
  EXPECT_FALSE(again.trace.is_kept());
  EXPECT_EQ(kept.trace.steps(), again.trace.steps());
  EXPECT_EQ(kept.trace.node_count(), again.trace.node_count());
  for (const Left left : {Left::kAll, Left::kKept}) {
    const std::vector<double> wanted = PassedNumbers(kept, left);
    EXPECT_EQ(PassedNumbers(again, left), wanted);
    EXPECT_EQ(PassedNumbers(again, left), wanted);
  }
}

// Kills: a step for what only moves numbers; nodes for weights.
TEST(TraceTest, AStepIsAKernelThatComputes) {
  TracedRun run(
      "g (float[1,2] x) => (float[2] y) <float[2,2] w = {3, 4, 5, 6},"
      " int64[1] n = {2}> { a = MatMul(x, w) b = Transpose(a) y = Reshape(b, n)"
      " }",
      F({1, 2}, {1, 2}), kKeepAll);
  ASSERT_EQ(run.trace.steps().size(), 1U);
  const auto tape = Got(run.trace.TapeOf(run.trace.steps()[0]));
  EXPECT_EQ(tape->size(), 5U) << "a constant, two inputs, two sums";
  EXPECT_THAT(tape->Sources(), ElementsAre(1U));
  const Block& block = tape->blocks()[0];
  EXPECT_FALSE(block.b.has_nodes());
  EXPECT_EQ(block.b.number(2), 5);
}

// Kills: weights that are no nodes where derivatives of them are wanted.
TEST(TraceTest, ATargetHasNodes) {
  TracedRun run(
      "g (float[1,2] x) => (float[1,1] y) <float[1,2] u = {3, 4}> "
      "{ t = Transpose(x) y = MatMul(u, t) }",
      F({1, 2}, {1, 2}), kKeepAll);
  const auto tape = Got(run.trace.TapeOf(run.trace.steps()[0]));
  EXPECT_TRUE(tape->blocks()[0].b.has_nodes());
  EXPECT_FALSE(tape->blocks()[0].a.has_nodes());
}

// Kills: nodes, of 16 bytes and more, for constants that kernels make or move;
// a constant that is rounded to float32 on the way.
TEST(TraceTest, ConstantsBetweenKernelsAreNumbersGiven) {
  TracedRun run(
      "g (double[1,2] x) => (double[1,3] y) <int64[2] s = {3, 2},"
      " double[3,2] w = {1, 2, 3, 4, 5, 6}> {"
      " c = ConstantOfShape <value = double[1] {0.1}> (s) t = Transpose(c)"
      " a = MatMul(x, t) v = Transpose(w) b = MatMul(x, v) y = Add(a, b) }",
      D({1, 2}, {1, 2}), kKeepAll);
  ASSERT_EQ(run.trace.steps().size(), 3U);
  const auto factor = [&](size_t step) {
    const auto tape = run.trace.TapeOf(run.trace.steps()[step]);
    return tape.ok() ? (*tape)->blocks().at(0).b : Factor();
  };
  for (const size_t step : {0, 1}) {
    ASSERT_TRUE(factor(step).given.has_value()) << step;
  }
  EXPECT_EQ(factor(0).given->tensor.dtype(), DType::kFloat64);
  EXPECT_EQ(factor(0).number(4), 0.1);
  EXPECT_EQ(factor(1).given->tensor.dtype(), DType::kFloat32);
  EXPECT_EQ(factor(1).number(1), 3);
}

// Kills: lanes that end at a border.
TEST(TraceTest, SampledErrorsCancelAcrossSteps) {
  // x - x / c * c in steps, forty times: charges add up, errors do not.
  std::string graph = "g (double[4] x) => (double[4] y) <double c = {7.3}> {";
  std::string at = "x";
  for (int i = 0; i < 40; ++i) {
    const std::string n = std::to_string(i);
    graph += " a" + n + " = Div(" + at + ", c) b" + n + " = Mul(a" + n +
             ", c) d" + n + " = Sub(" + at + ", b" + n + ") e" + n +
             " = Sub(b" + n + ", d" + n + ")";
    at = "e" + n;
  }
  graph += " y = Identity(" + at + ") }";
  TracedRun run(graph, D({4}, {0.7, 1.3, -2.3, 0.31}), 0);
  using Number = Bounded<double>;
  Borders<Number> charged, sampled;
  EXPECT_TRUE(
      ReplaySteps(run.trace, Left::kKept, &charged, Ignore<Number>).ok());
  EXPECT_TRUE(
      SampleSteps<double>(run.trace, Left::kKept, &sampled, Ignore<Number>)
          .ok());
  for (const Var& y : run.output().elements<Var>()) {
    EXPECT_LT(sampled.Of(y).Error(), 1e-3 * charged.Of(y).Error());
    EXPECT_GE(sampled.Of(y).Error(), 0x1p-60);
  }
}

// Kills: numbers, constants or names that are others after they were packed; a
// body that gets or gives what stands for a value.
TEST(TraceTest, GreatTensorsArePackedBetweenKernels) {
  std::vector<double> x;
  for (int i = 0; i < 6000; ++i) x.push_back(2 * std::sin(i));
  const std::string graph =
      "g (double[6000] x) => (double[12000] y) <int64[2] two = {2, 6000},"
      " bool yes = {1}, int64[1] all = {12000}, int64[2] pads = {10, 10}> {"
      " a = Exp(x) s = Sin(a) r = Neg(s) c = Concat <axis = 0> (r, s)"
      " m = Reshape(c, two) i = If(yes) <then_branch = t () =>"
      " (double[2,6000] u) { u = Identity(m) }, else_branch = e () =>"
      " (double[2,6000] u) { u = Abs(m) }> p = Pad(s, pads)"
      " k = Reshape(i, all) h = ReduceSum <keepdims = 0> (p) y = Mul(k, h) }";
  TracedRun run(graph, D({6000}, x), 0);
  EXPECT_NE(run.binding->outputs()[0].tensor()->dtype(), kDTypeOf<Var>);
  const auto y = run.output().elements<Var>();
  ASSERT_EQ(y.size(), 12000U);
  Borders<double> numbers;
  ASSERT_TRUE(
      ReplaySteps(run.trace, Left::kAll, &numbers, Ignore<double>).ok());
  double sum = 0;
  for (const double one : x) sum += std::sin(std::exp(one));
  for (size_t k = 0; k < y.size(); ++k) {
    const double sine = std::sin(std::exp(x[k % 6000]));
    EXPECT_NEAR(y[k].value(), (k < 6000 ? -sine : sine) * sum, 1e-9) << k;
    EXPECT_EQ(numbers.Of(y[k]), y[k].value()) << k;
  }
}

// Kills: an input that is handed through as the number 0, or with an error.
TEST(TraceTest, WhatNoKernelComputesIsAsGiven) {
  TracedRun run("g (double[2] x) => (double[2] y) { y = Identity(x) }",
                D({2}, {0.5, -3}), kKeepAll);
  EXPECT_THAT(run.trace.steps(), IsEmpty());
  EXPECT_EQ(PassedNumbers(run, Left::kAll),
            (std::vector<double>{0.5, 0, -3, 0, 1.5, 0, -2, 0}));
}

}  // namespace
}  // namespace assay::reference
