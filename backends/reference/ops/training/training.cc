// SPDX-License-Identifier: Apache-2.0
//
// ai.onnx.preview.training: Gradient, whose derivatives the framework computes,
// and Adagrad, Adam and Momentum, one update of any number of tensors. Source:
// the pages of Adagrad-1, Adam-1 and Momentum-1, whose pseudo code the kernels
// read like. A scalar float is computed in double, so that 1 - beta^T keeps its
// digits, and rounded once.

#include <array>
#include <functional>
#include <utility>

#include "backends/reference/families.h"
#include "backends/reference/ops/tensor/movement.h"
#include "backends/reference/scalar/codec.h"
#include "backends/reference/scalar/scalar.h"
#include "framework/backend/backend.h"

namespace assay::reference {
namespace {

/// R and T: the learning rate, and how many updates there have been.
template <class T>
struct Progress {
  T rate;
  int64_t count;
};

/// One element: the tensor to optimize, its gradient, then what the operator
/// accumulates, as they are and as they become. kCount is how many tensors
/// there are of each.
template <class T, int kCount>
using Element = std::array<T, kCount>;

template <class T>
struct AdagradRule {
  static constexpr int kCount = 3;

  AdagradRule(const op::training::Adagrad& op, const Progress<T>& progress)
      : rate(progress.rate /
             (T(1) + static_cast<T>(progress.count) * T(op.decay_factor))),
        norm(op.norm_coefficient),
        epsilon(op.epsilon) {}

  void Apply(Element<T, kCount>& element) const {
    auto& [x, g, h] = element;
    const T regularized = norm * x + g;
    h += regularized * regularized;
    const T adaptive = sqrt(h) + epsilon;
    x -= rate * regularized / adaptive;
  }

  T rate, norm, epsilon;
};

template <class T>
struct AdamRule {
  static constexpr int kCount = 4;

  AdamRule(const op::training::Adam& op, const Progress<T>& progress)
      : rate(progress.rate),
        alpha(op.alpha),
        beta(op.beta),
        norm(op.norm_coefficient),
        norm_post(op.norm_coefficient_post),
        epsilon(op.epsilon) {
    if (progress.count > 0) {
      const T count = static_cast<T>(progress.count);
      rate = rate * sqrt(T(1) - pow(beta, count)) / (T(1) - pow(alpha, count));
    }
  }

  void Apply(Element<T, kCount>& element) const {
    auto& [x, g, v, h] = element;
    const T regularized = norm * x + g;
    v = alpha * v + (T(1) - alpha) * regularized;
    h = beta * h + (T(1) - beta) * regularized * regularized;
    const T root = sqrt(h) + epsilon;
    x -= rate * v / root;
    x = (T(1) - norm_post) * x;
  }

  T rate, alpha, beta, norm, norm_post, epsilon;
};

template <class T>
struct MomentumRule {
  static constexpr int kCount = 3;

  MomentumRule(const op::training::Momentum& op, const Progress<T>& progress)
      : rate(progress.rate),
        alpha(op.alpha),
        beta(progress.count > 0 ? T(op.beta) : T(1)),
        norm(op.norm_coefficient),
        nesterov(op.mode == "nesterov") {}

  void Apply(Element<T, kCount>& element) const {
    auto& [x, g, v] = element;
    const T regularized = norm * x + g;
    v = alpha * v + beta * regularized;
    x -= rate * (nesterov ? regularized + alpha * v : v);
  }

  T rate, alpha, beta, norm;
  bool nesterov;
};

// The outputs have the shapes of the inputs that they take the place of, so
// what belongs to one tensor has one shape.
Status CheckShapes(const KernelContext& run, const VariadicInput& inputs,
                   int tensors) {
  for (int i = tensors; i < inputs.count; ++i) {
    const Shape& found = run.input(inputs[i]).shape();
    const Shape& wanted = run.input(inputs[i % tensors]).shape();
    if (found == wanted) continue;
    return InvalidArgument("input ", inputs[i].position, " has shape ",
                           found.ToString(), ", wanted ", wanted.ToString(),
                           " as input ", inputs[i % tensors].position);
  }
  return OkStatus();
}

template <class T>
Result<Progress<T>> ProgressOf(const KernelContext& run, Input rate,
                               Input count) {
  const Loaded<T> r(run.input(rate));
  const Scratch<int64_t> t = IntegersOf(run.input(count));
  if (r.size() == 1 && t.size() == 1) return Progress<T>{r[0], t[0]};
  return InvalidArgument("R has ", r.size(), " and T ", t.size(),
                         " elements, wanted scalars");
}

// Inputs are kCount lists of tensors, outputs the same without the gradients.
template <class T, template <class> class Rule, class Op>
Status Optimize(const Op& op, KernelContext& run) {
  constexpr int kCount = Rule<T>::kCount;
  const int tensors = op.inputs.count / kCount;
  ASSAY_RETURN_IF_ERROR(CheckShapes(run, op.inputs, tensors));
  ASSAY_ASSIGN_OR_RETURN(const Progress<T> progress,
                         ProgressOf<T>(run, op.r, op.t));
  const Rule<T> rule(op, progress);
  for (int i = 0; i < tensors; ++i) {
    Scratch<Tensor> given;
    Scratch<Scratch<T>> values;
    for (int k = 0; k < kCount; ++k) {
      given.push_back(run.input(op.inputs[k * tensors + i]));
      values.emplace_back(static_cast<size_t>(given.back().num_elements()));
      Decode(given.back(), values.back().data());
    }
    for (size_t at = 0; at < values[0].size(); ++at) {
      Element<T, kCount> element;
      for (size_t k = 0; k < kCount; ++k) element[k] = values[k][at];
      rule.Apply(element);
      for (size_t k = 0; k < kCount; ++k) values[k][at] = element[k];
    }
    int output = i;
    for (size_t k = 0; k < kCount; ++k) {
      if (k == 1) continue;  // the gradient
      ASSAY_ASSIGN_OR_RETURN(
          Tensor * to,
          run.Output(op.outputs[output], given[k].dtype(), given[k].shape()));
      if (to != nullptr) Encode(values[k].data(), *to);
      output += tensors;
    }
  }
  return OkStatus();
}

Status Gradient(const op::training::Gradient& op, KernelContext& run) {
  std::vector<assay::Value> values;
  for (int i = 0; i < op.inputs.count; ++i) {
    values.push_back(run.value(op.inputs[i]));
  }
  ASSAY_ASSIGN_OR_RETURN(const std::vector<assay::Value> gradients,
                         run.Differentiate(values));
  for (int i = 0; i < op.outputs.count; ++i) {
    ASSAY_RETURN_IF_ERROR(
        run.SetOutput(op.outputs[i], gradients[static_cast<size_t>(i)]));
  }
  return OkStatus();
}

// R and the tensors may be float32 or float64 each: the widest says in what is
// computed.
Input WidestOf(const LoadContext& load, Input rate,
               const VariadicInput& inputs) {
  for (int i = 0; i < inputs.count; ++i) {
    if (load.dtype(inputs[i]) == DType::kFloat64) return inputs[i];
  }
  return rate;
}

template <template <class> class Rule, class Op>
Result<Kernel> Make(const Op& op, LoadContext& load) {
  constexpr int kCount = Rule<double>::kCount;
  const int tensors = op.inputs.count / kCount;
  if (tensors < 1 || op.inputs.count % kCount != 0 ||
      op.outputs.count > tensors * (kCount - 1)) {
    return InvalidArgument("found ", op.inputs.count, " tensors and ",
                           op.outputs.count, " outputs, wanted ", kCount,
                           " and ", kCount - 1, " for each one to optimize");
  }
  return Dispatch(load, WidestOf(load, op.r, op.inputs), kFloats,
                  [&]<class S>() {
                    using T = Wide<S>;
                    return std::bind_front(&Optimize<T, Rule, Op>, op);
                  });
}

Result<Kernel> MakeMomentum(const op::training::Momentum& op,
                            LoadContext& load) {
  if (op.mode != "standard" && op.mode != "nesterov") {
    return InvalidArgument("mode is '", op.mode,
                           "', wanted 'standard' or 'nesterov'");
  }
  return Make<MomentumRule>(op, load);
}

// Gradient-1: the inputs are the values of xs, then of zs; each output is the
// gradient of y with respect to one of xs.
Result<Kernel> MakeGradient(const op::training::Gradient& op, LoadContext&) {
  if (op.xs.empty() || std::cmp_greater(op.outputs.count, op.xs.size())) {
    return InvalidArgument("found ", op.outputs.count, " outputs for ",
                           op.xs.size(), " tensors in xs");
  }
  GraphPart part{.inputs = op.xs,
                 .output = op.y,
                 .targets = static_cast<int>(op.xs.size())};
  part.inputs.insert(part.inputs.end(), op.zs.begin(), op.zs.end());
  return Kernel{.forward = std::bind_front(&Gradient, op),
                .part = std::move(part)};
}

}  // namespace

Family TrainingFamily() {
  return FamilyOf(Make<AdagradRule, op::training::Adagrad>,
                  Make<AdamRule, op::training::Adam>, MakeMomentum,
                  MakeGradient);
}

}  // namespace assay::reference
