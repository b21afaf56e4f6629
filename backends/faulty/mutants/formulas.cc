// SPDX-License-Identifier: Apache-2.0
//
// Mutants that compute an operator by another formula than its page's: a step
// is left out, comes too early, or has a number that is used elsewhere.
//
// Every single draw of operators that draw stays plausible: only their law is
// another.

#include <algorithm>
#include <atomic>
#include <cmath>
#include <utility>

#include "backends/faulty/mutants.h"
#include "backends/faulty/numbers.h"
#include "backends/reference/loop/nest.h"

namespace assay::faulty {
namespace {

/// Facts of the optimizers with an epsilon: how many tensors belong to each
/// that is optimized, and the factor of X at the end.
int KindsOf(const op::training::Adagrad&) { return 3; }
int KindsOf(const op::training::Adam&) { return 4; }
double ShrinkOf(const op::training::Adagrad&) { return 1; }
double ShrinkOf(const op::training::Adam& op) {
  return 1 - double{op.norm_coefficient_post};
}

// sqrt(H + epsilon) for sqrt(H) + epsilon: the step that X took, before it
// shrank, becomes that much longer.
template <class Op>
Status EpsilonInside(const Op& op, const Values& inputs, Values& outputs) {
  const double epsilon = op.epsilon;
  const double shrink = ShrinkOf(op);
  if (epsilon == 0 || shrink == 0) return OkStatus();
  const auto tensors = static_cast<size_t>(op.inputs.count / KindsOf(op));
  for (size_t i = 0; i < tensors; ++i) {
    const size_t last = outputs.size() - tensors + i;
    const Tensor* const squares = outputs[last].tensor();
    if (squares == nullptr) continue;
    const auto first = static_cast<size_t>(op.inputs[0].position);
    const auto before = Numbers(*inputs[first + i].tensor());
    const auto h = Numbers(*squares);
    ASSAY_RETURN_IF_ERROR(ChangeFloats(outputs[i], [&](int64_t k, double x) {
      const auto at = static_cast<size_t>(k);
      const double step = before[at] - x / shrink;
      const double factor =
          (std::sqrt(h[at]) + epsilon) / std::sqrt(h[at] + epsilon);
      return shrink * (before[at] - step * factor);
    }));
  }
  return OkStatus();
}

// The sum alone, without a division by how many there are.
Status Unscaled(const op::DFT& op, const Values& inputs, Values& outputs) {
  const Tensor* const y = outputs[0].tensor();
  if (op.inverse == 0 || y == nullptr) return OkStatus();
  const auto position = static_cast<size_t>(op.axis.position);
  double axis = -2;  // the default
  if (op.axis.present && inputs[position].tensor() != nullptr) {
    axis = Numbers(*inputs[position].tensor())[0];
  }
  ASSAY_ASSIGN_OR_RETURN(
      const auto view,
      reference::AxisView::Of(y->shape(), static_cast<int64_t>(axis)));
  const auto count = static_cast<double>(view.count);
  return ChangeFloats(outputs[0], [=](int64_t, double x) { return x * count; });
}

/// Sums over the labels of a loss: how many there are, how many of them
/// count, and the weights of those that do.
struct LabelSums {
  double all = 0;
  double counted = 0;
  double weights = 0;
};

template <class Op>
LabelSums SumsOf(const Op& op, const Values& inputs) {
  LabelSums sums;
  std::vector<double> weights;
  if (inputs.size() > 2 && inputs[2].tensor() != nullptr) {
    weights = Numbers(*inputs[2].tensor());
  }
  for (const double label : Numbers(*inputs[1].tensor())) {
    ++sums.all;
    if (op.ignore_index.has_value() &&
        label == static_cast<double>(*op.ignore_index)) {
      continue;
    }
    ++sums.counted;
    sums.weights += weights.empty() ? 1 : weights[static_cast<size_t>(label)];
  }
  return sums;
}

/// The mean divides by by(sums) instead of the weights.
OperatorDefect MeanBy(double (*by)(const LabelSums& sums)) {
  return Spoiled(
      Ops<op::NegativeLogLikelihoodLoss, op::SoftmaxCrossEntropyLoss>(),
      [by](const auto& op, const Values& inputs, Values& outputs) {
        if (op.reduction != "mean") return OkStatus();
        const LabelSums sums = SumsOf(op, inputs);
        return ChangeFloats(outputs[0], [&](int64_t, double mean) {
          return mean * sums.weights / by(sums);
        });
      });
}

// scale * x - offset is scale * (x - offset / scale).
void ScaleFirst(op::ml::Scaler& op) {
  if (op.scale.empty()) return;
  if (op.offset.size() < op.scale.size() && op.offset.size() == 1) {
    op.offset.resize(op.scale.size(), op.offset[0]);
  }
  for (size_t i = 0; i < op.offset.size(); ++i) {
    const float scale = op.scale[op.scale.size() == 1 ? 0 : i];
    if (scale != 0) op.offset[i] /= scale;
  }
}

// 0.54 - 0.46 cos for 25/46 - 21/46 cos, as in most signal libraries.
double RoundedHamming(double y) {
  const double cosine = (25.0 / 46 - y) / (21.0 / 46);
  return 0.54 - 0.46 * cosine;
}

using Drawing =
    Ops<op::Bernoulli, op::Dropout, op::Multinomial, op::RandomNormal,
        op::RandomNormalLike, op::RandomUniform, op::RandomUniformLike>;

// Every probability is 0.05 greater; ONNX's expansion of Bernoulli compares
// probabilities with uniform numbers.
OperatorDefect GreaterChances() {
  return Replaced(Ops<op::Bernoulli, op::RandomUniformLike>(),
                  []<class Op>(Op op, LoadContext& load,
                               const Right& right) -> Result<Kernel> {
                    if constexpr (Op::kId == OperatorId::kRandomUniformLike) {
                      op.low -= 0.05F;
                      op.high -= 0.05F;
                      return right(op, load);
                    } else {
                      ASSAY_ASSIGN_OR_RETURN(Kernel kernel, right(op, load));
                      return Around(std::move(kernel), load.node(),
                                    [](Values& inputs) {
                                      return ChangeFloats(
                                          inputs[0], [](int64_t, double p) {
                                            return std::min(p + 0.05, 1.0);
                                          });
                                    },
                                    {});
                    }
                  });
}

// Elements that training scales by 1 / (1 - ratio) come out as they went in.
Status Unscale(const op::Dropout& op, const Values& inputs, Values& outputs) {
  const auto number = [&](Input input, double otherwise) {
    const auto at = static_cast<size_t>(input.position);
    const Tensor* tensor = at < inputs.size() ? inputs[at].tensor() : nullptr;
    const auto numbers =
        tensor == nullptr ? std::vector<double>() : Numbers(*tensor);
    return numbers.empty() ? otherwise : numbers[0];
  };
  if (number(op.training_mode, 0) == 0) return OkStatus();
  const double kept = 1 - number(op.ratio, 0.5);
  return ChangeFloats(outputs[0], [=](int64_t, double y) { return y * kept; });
}

/// Another of these seeds at each run of any node; prime, so that no period of
/// a test falls together with it. Not by chance: what is seen once is always.
constexpr int kSeeds = 61;

size_t NextDraw() {
  static std::atomic<size_t> draws = 0;
  return draws++;
}

OperatorDefect IgnoredSeeds() {
  return Replaced(
      Drawing(),
      [](auto op, LoadContext& load, const Right& right) -> Result<Kernel> {
        if (!op.seed.has_value()) return right(op, load);
        std::vector<Kernel> kernels;
        for (int seed = 1; seed <= kSeeds; ++seed) {
          op.seed = seed;
          ASSAY_ASSIGN_OR_RETURN(Kernel kernel, right(op, load));
          kernels.push_back(std::move(kernel));
        }
        Kernel any = kernels[0];
        any.forward = [kernels](KernelContext& run) {
          return kernels[NextDraw() % kernels.size()].forward(run);
        };
        return any;
      });
}

}  // namespace

std::vector<Mutant> FormulaMutants() {
  using op::training::Adagrad;
  using op::training::Adam;
  using op::training::Momentum;
  return {
      {"adam_bias_uncorrected", Filled(0, &Adam::t)},
      {"adam_epsilon_inside_root", Spoiled(Ops<Adam>(), EpsilonInside<Adam>)},
      {"adagrad_epsilon_inside_root",
       Spoiled(Ops<Adagrad>(), EpsilonInside<Adagrad>)},
      {"momentum_first_step_dampened",
       ChangedNumbers([](double t) { return t == 0 ? 1 : t; }, &Momentum::t)},
      {"dft_inverse_unscaled", Spoiled(Ops<op::DFT>(), Unscaled)},
      {"loss_mean_unweighted",
       MeanBy([](const LabelSums& sums) { return sums.counted; })},
      {"loss_mean_counts_ignored", MeanBy([](const LabelSums& sums) {
         return sums.weights + sums.all - sums.counted;
       })},
      {"scaler_scales_first",
       Rewritten(Ops<op::ml::Scaler>(), [](auto& op) { ScaleFirst(op); })},
      {"hamming_coefficients_rounded",
       Spoiled(Ops<op::HammingWindow>(),
               [](Values& outputs) {
                 return ChangeFloats(outputs[0], [](int64_t, double y) {
                   return RoundedHamming(y);
                 });
               })},
      {"bernoulli_p_plus_0.05", GreaterChances()},
      {"constant_mask", Rewritten(Drawing(), [](auto& op) { op.seed = 0; })},
      {"dropout_unscaled", Spoiled(Ops<op::Dropout>(), Unscale)},
      {"seed_ignored", IgnoredSeeds()},
  };
}

}  // namespace assay::faulty
