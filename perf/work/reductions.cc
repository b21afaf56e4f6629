// SPDX-License-Identifier: Apache-2.0
//
// Reductions, normalisations, softmax and the losses made of it.

#include <algorithm>
#include <string>

#include "perf/work/rules.h"

namespace assay::work {
namespace {

/// `kIn` operations and `kInCalls` calls of each element that goes in, one
/// operation for each that is folded, then `kOut` and `kOutCalls` a result.
template <int kIn, int kInCalls, int kOut, int kOutCalls>
void CountReduce(const NodeFacts& facts, Work* work) {
  const double in = facts.CountIn(0);
  const double out = facts.CountOut(0);
  work->flops += kIn * in + std::max(0.0, in - out) + kOut * out;
  work->transcendentals += kInCalls * in + kOutCalls * out;
}

/// A comparison for each element but the first of each line: no algorithm
/// takes fewer.
void CountLeast(const NodeFacts& facts, Work* work) {
  work->flops += std::max(0.0, facts.CountIn(0) - facts.CountOut(0));
}

/// CumSum and CumProd: all but the first of a line.
void CountCumulative(const NodeFacts& facts, Work* work) {
  const Shape x = facts.In(0);
  const int axis = facts.Axis(facts.FixedNumber(1, "axis"), x.rank());
  const auto extent = static_cast<double>(x[axis]);
  if (extent > 0) work->flops += facts.CountIn(0) * (extent - 1) / extent;
}

/// (x - mean) / sqrt(var + epsilon) * scale + bias for each of `groups`: mean,
/// difference, square, sum of squares and the quotient are 5 an element, scale
/// and bias one each; a group divides twice, adds epsilon and takes a root.
void CountNormalized(const NodeFacts& facts, double groups, int affine,
                     Work* work) {
  work->flops += (5 + affine) * facts.CountIn(0) + 3 * groups;
  work->transcendentals += groups;
}

void CountLayerNorm(const NodeFacts& facts, Work* work) {
  const Shape x = facts.In(0);
  const int axis = facts.Axis(facts.Integer("axis", -1), x.rank());
  CountNormalized(facts, Extent(x, 0, axis), facts.HasIn(2) ? 2 : 1, work);
}

void CountInstanceNorm(const NodeFacts& facts, Work* work) {
  CountNormalized(facts, Extent(facts.In(0), 0, 2), 2, work);
}

void CountGroupNorm(const NodeFacts& facts, Work* work) {
  const auto groups = static_cast<double>(facts.Integer("num_groups", 1));
  CountNormalized(facts, groups * Extent(facts.In(0), 0, 1), 2, work);
}

void CountMeanVarianceNorm(const NodeFacts& facts, Work* work) {
  const Shape x = facts.In(0);
  std::vector<int64_t> axes = facts.Integers("axes");
  if (axes.empty()) axes = {0, 2, 3};
  double reduced = 1;
  for (const int64_t axis : axes) {
    reduced *= static_cast<double>(x[facts.Axis(axis, x.rank())]);
  }
  CountNormalized(facts, facts.CountIn(0) / reduced, 0, work);
}

/// RMSNormalization-23: square, sum, quotient and scale.
void CountRmsNorm(const NodeFacts& facts, Work* work) {
  const Shape x = facts.In(0);
  const double groups =
      Extent(x, 0, facts.Axis(facts.Integer("axis", -1), x.rank()));
  work->flops += 4 * facts.CountIn(0) + 2 * groups;
  work->transcendentals += groups;
}

/// BatchNormalization-15: difference, quotient, scale and bias. In training the
/// mean, the square and its sum as well, and the running statistics: two
/// products and a sum each.
void CountBatchNorm(const NodeFacts& facts, Work* work) {
  const double channels = facts.CountIn(1);
  const bool trains = facts.Integer("training_mode", 0) != 0;
  work->flops += (trains ? 7 : 4) * facts.CountIn(0);
  work->flops += (trains ? 9 : 1) * channels;
  work->transcendentals += channels;
}

/// LpNormalization-22: |x| or a square, the sum and the quotient.
void CountLpNorm(const NodeFacts& facts, Work* work) {
  const Shape x = facts.In(0);
  const int axis = facts.Axis(facts.Integer("axis", -1), x.rank());
  work->flops += 3 * facts.CountIn(0);
  if (facts.Integer("p", 2) == 2 && x[axis] > 0) {
    work->transcendentals += facts.CountIn(0) / static_cast<double>(x[axis]);
  }
}

/// LRN-13: x / pow(bias + alpha / size * sum of squares, beta), the sum over
/// `size` channels.
void CountLrn(const NodeFacts& facts, Work* work) {
  const auto size = static_cast<double>(facts.Integer("size", 1));
  work->flops += (1 + (size - 1) + 3) * facts.CountIn(0);
  work->transcendentals += facts.CountIn(0);
}

/// Lines along the axis.
double LinesOf(const NodeFacts& facts, int64_t axis) {
  const Shape x = facts.In(0);
  const auto extent = static_cast<double>(x[facts.Axis(axis, x.rank())]);
  return extent > 0 ? facts.CountIn(0) / extent : 0;
}

/// Softmax: greatest, difference, sum and quotient, and exp. LogSoftmax takes
/// the log of the sum off in place of the quotient.
void CountSoftmax(const NodeFacts& facts, Work* work) {
  work->flops += 4 * facts.CountIn(0);
  work->transcendentals += facts.CountIn(0);
}

void CountLogSoftmax(const NodeFacts& facts, Work* work) {
  CountSoftmax(facts, work);
  work->transcendentals += LinesOf(facts, facts.Integer("axis", -1));
}

/// -x at the class, weighed; summed, and divided by the sum of weights. The
/// scores of the classes alone are read.
double LossOf(const NodeFacts& facts) {
  const bool weighed = facts.HasIn(2);
  double each = weighed ? 2 : 1;
  if (facts.Text("reduction", "mean") != "none") each += 1;
  if (weighed && facts.Text("reduction", "mean") == "mean") each += 1;
  return each * facts.CountIn(1);
}

void CountNegativeLogLikelihood(const NodeFacts& facts, Work* work) {
  work->flops += LossOf(facts);
  work->bytes_read =
      facts.BytesIn(0, facts.CountIn(1)) + facts.BytesIn(1) + facts.BytesIn(2);
  work->bytes_written = facts.BytesOfOutputs();
}

void CountCrossEntropy(const NodeFacts& facts, Work* work) {
  CountSoftmax(facts, work);
  work->transcendentals += LinesOf(facts, 1);
  work->flops += LossOf(facts);
}

constexpr Rule kReductions[] = {
    {"ArgMax", {.count = CountLeast}},
    {"ArgMin", {.count = CountLeast}},
    {"BatchNormalization", {.count = CountBatchNorm}},
    {"CumProd", {.count = CountCumulative}},
    {"CumSum", {.count = CountCumulative}},
    {"GroupNormalization", {.count = CountGroupNorm}},
    {"Hardmax", {.flops = 1}},
    {"InstanceNormalization", {.count = CountInstanceNorm}},
    {"LRN", {.count = CountLrn}},
    {"LayerNormalization", {.count = CountLayerNorm}},
    {"LogSoftmax", {.count = CountLogSoftmax}},
    {"LpNormalization", {.count = CountLpNorm}},
    {"MeanVarianceNormalization", {.count = CountMeanVarianceNorm}},
    {"NegativeLogLikelihoodLoss",
     {.count = CountNegativeLogLikelihood, .moves = Moves::kCounted}},
    {"RMSNormalization", {.count = CountRmsNorm}},
    {"ReduceL1", {.count = CountReduce<1, 0, 0, 0>}},
    {"ReduceL2", {.count = CountReduce<1, 0, 0, 1>}},
    {"ReduceLogSum", {.count = CountReduce<0, 0, 0, 1>}},
    // Greatest and difference before exp; the greatest is added at the end.
    {"ReduceLogSumExp", {.count = CountReduce<2, 1, 1, 1>}},
    {"ReduceMax", {.count = CountReduce<0, 0, 0, 0>}},
    {"ReduceMean", {.count = CountReduce<0, 0, 1, 0>}},
    {"ReduceMin", {.count = CountReduce<0, 0, 0, 0>}},
    {"ReduceProd", {.count = CountReduce<0, 0, 0, 0>}},
    {"ReduceSum", {.count = CountReduce<0, 0, 0, 0>}},
    {"ReduceSumSquare", {.count = CountReduce<1, 0, 0, 0>}},
    {"Softmax", {.count = CountSoftmax}},
    {"SoftmaxCrossEntropyLoss", {.count = CountCrossEntropy}},
    {"TopK", {.count = CountLeast}},
};

}  // namespace

std::span<const Rule> ReductionRules() { return kReductions; }

}  // namespace assay::work
