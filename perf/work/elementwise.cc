// SPDX-License-Identifier: Apache-2.0
//
// Operators that treat every element alike, by the formulas of their pages.

#include "perf/work/rules.h"

namespace assay::work {
namespace {

/// Sum, Max and Min of n inputs: n - 1 an element; a Mean divides as well.
void CountFold(const NodeFacts& facts, Work* work) {
  const auto n = static_cast<double>(facts.node().inputs.size());
  work->flops += (n - 1) * facts.CountOut(0);
}

/// Gelu-20: x / 2 * (1 + erf(x / sqrt 2)), or with tanh of
/// sqrt(2 / pi) * (x + 0.044715 * x * x * x).
void CountGelu(const NodeFacts& facts, Work* work) {
  const bool by_tanh = facts.Text("approximate", "none") == "tanh";
  work->flops += (by_tanh ? 8 : 4) * facts.CountOut(0);
  work->transcendentals += facts.CountOut(0);
}

/// Clip-13: one comparison a bound.
void CountClip(const NodeFacts& facts, Work* work) {
  const double bounds = (facts.HasIn(1) ? 1 : 0) + (facts.HasIn(2) ? 1 : 0);
  work->flops += bounds * facts.CountOut(0);
}

/// Dropout-22 in training: a comparison for the mask, and two products. The
/// draw is not counted.
void CountDropout(const NodeFacts& facts, Work* work) {
  const bool trains = facts.HasIn(2) && facts.FixedNumber(2, "training_mode");
  if (trains) work->flops += 3 * facts.CountOut(0);
}

/// QuantizeLinear-28: division, rounding, the zero point, and two comparisons
/// that saturate.
void CountQuantize(const NodeFacts& facts, Work* work) {
  work->flops += (facts.HasIn(2) ? 5 : 4) * facts.CountOut(0);
}

/// DequantizeLinear-28: (x - zero point) * scale.
void CountDequantize(const NodeFacts& facts, Work* work) {
  work->flops += (facts.HasIn(2) ? 2 : 1) * facts.CountOut(0);
}

/// An update of parameters: the inputs behind R and T are so many lists of
/// equally many tensors.
template <int kLists>
double Updated(const NodeFacts& facts) {
  double elements = 0;
  const size_t n = (facts.node().inputs.size() - 2) / kLists;
  for (size_t i = 0; i < n; ++i) elements += facts.CountIn(2 + i);
  return elements;
}

/// Adam-1: regularised gradient 2, first moment 3, second moment 4, root and
/// epsilon 1, step 3, shrinking 1; and a root.
void CountAdam(const NodeFacts& facts, Work* work) {
  work->flops += 14 * Updated<4>(facts);
  work->transcendentals += Updated<4>(facts);
}

/// Adagrad-1: regularised gradient 2, sum of squares 2, epsilon 1, step 3; and
/// a root.
void CountAdagrad(const NodeFacts& facts, Work* work) {
  work->flops += 8 * Updated<3>(facts);
  work->transcendentals += Updated<3>(facts);
}

/// Momentum-1: regularised gradient 2, momentum 3, step 2; Nesterov's looks
/// ahead by 2 more.
void CountMomentum(const NodeFacts& facts, Work* work) {
  const bool looks_ahead = facts.Text("mode", "") == "nesterov";
  work->flops += (looks_ahead ? 9 : 7) * Updated<3>(facts);
}

constexpr Rule kElementwises[] = {
    {"Abs", {.flops = 1}},
    {"Acos", {.transcendentals = 1}},
    {"Acosh", {.transcendentals = 1}},
    {"Add", {.flops = 1}},
    {"And", {.flops = 1}},
    {"Asin", {.transcendentals = 1}},
    {"Asinh", {.transcendentals = 1}},
    {"Atan", {.transcendentals = 1}},
    {"Atanh", {.transcendentals = 1}},
    {"BitShift", {.flops = 1}},
    {"BitwiseAnd", {.flops = 1}},
    {"BitwiseNot", {.flops = 1}},
    {"BitwiseOr", {.flops = 1}},
    {"BitwiseXor", {.flops = 1}},
    {"Ceil", {.flops = 1}},
    // max(0, x) + min(0, alpha * (exp(x / alpha) - 1))
    {"Celu", {.flops = 6, .transcendentals = 1}},
    {"Clip", {.count = CountClip}},
    {"Cos", {.transcendentals = 1}},
    {"Cosh", {.transcendentals = 1}},
    {"DequantizeLinear", {.count = CountDequantize}},
    {"Div", {.flops = 1}},
    {"Dropout", {.count = CountDropout}},
    // Least, greatest; division, rounding, zero point, two comparisons.
    {"DynamicQuantizeLinear", {.flops = 7}},
    // x < 0 ? alpha * (exp(x) - 1) : x
    {"Elu", {.flops = 3, .transcendentals = 1}},
    {"Equal", {.flops = 1}},
    {"Erf", {.transcendentals = 1}},
    {"Exp", {.transcendentals = 1}},
    {"Floor", {.flops = 1}},
    {"Gelu", {.count = CountGelu}},
    {"Greater", {.flops = 1}},
    {"GreaterOrEqual", {.flops = 1}},
    // max(0, min(1, alpha * x + beta))
    {"HardSigmoid", {.flops = 4}},
    {"HardSwish", {.flops = 5}},
    {"IsInf", {.flops = 1}},
    {"IsNaN", {.flops = 1}},
    // x < 0 ? alpha * x : x
    {"LeakyRelu", {.flops = 2}},
    {"Less", {.flops = 1}},
    {"LessOrEqual", {.flops = 1}},
    {"Log", {.transcendentals = 1}},
    {"Max", {.count = CountFold}},
    {"Mean", {.flops = 1, .count = CountFold}},
    {"Min", {.count = CountFold}},
    // x * tanh(log(1 + exp(x)))
    {"Mish", {.flops = 2, .transcendentals = 3}},
    {"Mod", {.flops = 1}},
    {"Mul", {.flops = 1}},
    {"Neg", {.flops = 1}},
    {"Not", {.flops = 1}},
    {"Or", {.flops = 1}},
    {"PRelu", {.flops = 2}},
    {"Pow", {.transcendentals = 1}},
    {"QuantizeLinear", {.count = CountQuantize}},
    {"Reciprocal", {.flops = 1}},
    {"Relu", {.flops = 1}},
    {"Round", {.flops = 1}},
    // gamma * (x < 0 ? alpha * exp(x) - alpha : x)
    {"Selu", {.flops = 4, .transcendentals = 1}},
    // x < -lambd ? x + bias : x > lambd ? x - bias : 0
    {"Shrink", {.flops = 3}},
    // 1 / (1 + exp(-x))
    {"Sigmoid", {.flops = 3, .transcendentals = 1}},
    {"Sign", {.flops = 1}},
    {"Sin", {.transcendentals = 1}},
    {"Sinh", {.transcendentals = 1}},
    {"Softplus", {.flops = 1, .transcendentals = 2}},
    {"Softsign", {.flops = 3}},
    {"Sqrt", {.transcendentals = 1}},
    {"Sub", {.flops = 1}},
    {"Sum", {.count = CountFold}},
    // Swish of a, times b.
    {"SwiGLU", {.flops = 6, .transcendentals = 1}},
    // x * sigmoid(alpha * x)
    {"Swish", {.flops = 5, .transcendentals = 1}},
    {"Tan", {.transcendentals = 1}},
    {"Tanh", {.transcendentals = 1}},
    {"ThresholdedRelu", {.flops = 1}},
    {"Where", {.flops = 1}},
    {"Xor", {.flops = 1}},
    {"ai.onnx.preview.training:Adagrad", {.count = CountAdagrad}},
    {"ai.onnx.preview.training:Adam", {.count = CountAdam}},
    {"ai.onnx.preview.training:Momentum", {.count = CountMomentum}},
};

}  // namespace

std::span<const Rule> ElementwiseRules() { return kElementwises; }

}  // namespace assay::work
