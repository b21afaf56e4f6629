// SPDX-License-Identifier: Apache-2.0
//
// Normalizations: batch, instance, group, layer, root mean square, and local
// response.

#include <algorithm>

#include "backends/reference/families.h"
#include "backends/reference/loop/nest.h"
#include "backends/reference/ops/nn/normalization_backward.h"
#include "backends/reference/scalar/codec.h"
#include "backends/reference/scalar/scalar.h"
#include "backends/reference/typed_rows.h"

namespace assay::reference {
namespace {

template <class T>
Status CheckPerChannel(std::string_view name, const Loaded<T>& values,
                       int64_t channels) {
  if (values.size() == channels) return OkStatus();
  return InvalidArgument("input ", name, " has ", values.size(),
                         " elements, wanted ", channels);
}

// BatchNormalization-15:
//   Y = (X - mean) / sqrt(var + epsilon) * scale + B
// with the given mean and variance; in training mode with those of the batch,
// and running = running * momentum + batch * (1 - momentum).
template <class T>
Status BatchNormalization(const op::BatchNormalization& op,
                          KernelContext& run) {
  const Tensor& input = run.input(op.x);
  ASSAY_ASSIGN_OR_RETURN(const auto plan, ChannelPlan::Of(input.shape()));
  const Loaded<T> x(input);
  const Loaded<T> scale(run.input(op.scale));
  const Loaded<T> bias(run.input(op.b));
  const Loaded<T> mean(run.input(op.input_mean));
  const Loaded<T> variance(run.input(op.input_var));
  ASSAY_RETURN_IF_ERROR(CheckPerChannel("scale", scale, plan.channels));
  ASSAY_RETURN_IF_ERROR(CheckPerChannel("B", bias, plan.channels));
  ASSAY_RETURN_IF_ERROR(CheckPerChannel("input_mean", mean, plan.channels));
  ASSAY_RETURN_IF_ERROR(CheckPerChannel("input_var", variance, plan.channels));
  ASSAY_ASSIGN_OR_RETURN(auto y,
                         Store<T>(run, op.y, input.dtype(), input.shape()));
  const DType stored = run.input(op.input_mean).dtype();
  const Shape per_channel = {plan.channels};
  ASSAY_ASSIGN_OR_RETURN(auto new_mean,
                         Store<T>(run, op.running_mean, stored, per_channel));
  ASSAY_ASSIGN_OR_RETURN(auto new_variance,
                         Store<T>(run, op.running_var, stored, per_channel));
  const int64_t step = plan.channels * plan.size;
  const T momentum(op.momentum);
  for (int64_t c = 0; c < plan.channels; ++c) {
    const T* from = x.data() + c * plan.size;
    Moments<T> used{mean[c], variance[c]};
    if (op.training_mode != 0) {
      used = MomentsOf(from, plan.images, step, plan.size);
    }
    // Outside training the outputs, where there are any, are the inputs.
    const T kept = op.training_mode != 0 ? momentum : T(0);
    if (new_mean.data() != nullptr) {
      new_mean[c] = mean[c] * kept + used.mean * (T(1) - kept);
    }
    if (new_variance.data() != nullptr) {
      new_variance[c] = variance[c] * kept + used.variance * (T(1) - kept);
    }
    const T factor = used.InverseDeviation(T(op.epsilon)) * scale[c];
    for (int64_t n = 0; n < plan.images; ++n) {
      T* to = y.data() + n * step + c * plan.size;
      for (int64_t i = 0; i < plan.size; ++i) {
        to[i] = (from[n * step + i] - used.mean) * factor + bias[c];
      }
    }
  }
  return OkStatus();
}

// InstanceNormalization-22 (one channel a group) and GroupNormalization-21:
//   y = scale * (x - mean) / sqrt(variance + epsilon) + bias
// with the moments of each group of channels of each image.
template <class T, class Op>
Status NormalizeGroups(const Op& op, KernelContext& run) {
  const Tensor& input = run.input(kFirst);
  const Loaded<T> scale(run.input(kSecond));
  const Loaded<T> bias(run.input(Input{2, true}));
  ASSAY_ASSIGN_OR_RETURN(const auto plan, ChannelPlan::Of(input.shape()));
  int64_t groups = plan.channels;
  if constexpr (requires { op.num_groups; }) groups = op.num_groups;
  if (groups > 0 && plan.channels % groups != 0) {
    return InvalidArgument("num_groups is ", groups, ", which does not divide ",
                           plan.channels, " channels");
  }
  const Loaded<T> x(input);
  ASSAY_RETURN_IF_ERROR(CheckPerChannel("scale", scale, plan.channels));
  ASSAY_RETURN_IF_ERROR(CheckPerChannel("bias", bias, plan.channels));
  ASSAY_ASSIGN_OR_RETURN(auto y,
                         Store<T>(run, kResult, input.dtype(), input.shape()));
  const int64_t members = groups == 0 ? 0 : plan.channels / groups;
  const int64_t group_size = members * plan.size;
  for (int64_t g = 0; g < plan.images * groups; ++g) {
    const T* from = x.data() + g * group_size;
    T* to = y.data() + g * group_size;
    const Moments<T> moments = MomentsOf(from, 1, 0, group_size);
    const T inverse = moments.InverseDeviation(T(op.epsilon));
    for (int64_t i = 0; i < group_size; ++i) {
      const int64_t c = g % groups * members + i / plan.size;
      to[i] = scale[c] * ((from[i] - moments.mean) * inverse) + bias[c];
    }
  }
  return OkStatus();
}

/// Multiplies y by a scale, and adds a bias if there is one, both of which
/// broadcast to y's shape.
template <class T>
Status ScaleAndShift(const Shape& shape, const Tensor& scales,
                     const Tensor& biases, T* y) {
  const Loaded<T> scale(scales);
  const Loaded<T> bias(biases);
  for (const Tensor* given : {&scales, &biases}) {
    ASSAY_ASSIGN_OR_RETURN(const Shape both, Broadcast(given->shape(), shape));
    if (both != shape) {
      return InvalidArgument("a scale or bias of shape ",
                             given->shape().ToString(),
                             " does not broadcast to ", shape.ToString());
    }
  }
  const Nest<3> nest = PairNest(scales.shape(), biases.shape(), shape);
  nest.ForEach([&](int64_t of_scale, int64_t of_bias, int64_t i) {
    y[i] = y[i] * scale[of_scale];
    if (bias.data() != nullptr) y[i] = y[i] + bias[of_bias];
  });
  return OkStatus();
}

// LayerNormalization-17 (Ba, Kiros, Hinton 2016): over the axes from `axis` on
//   Y = (X - Mean) * InvStdDev * Scale + B
template <class T>
Status LayerNormalization(const op::LayerNormalization& op,
                          KernelContext& run) {
  const Tensor& input = run.input(op.x);
  ASSAY_ASSIGN_OR_RETURN(const auto plan, RowPlan::Of(input.shape(), op.axis));
  const Loaded<T> x(input);
  const DType stash =
      DTypeFromOnnx(static_cast<int>(op.stash_type)).value_or(DType::kFloat32);
  ASSAY_ASSIGN_OR_RETURN(auto y,
                         Store<T>(run, op.y, input.dtype(), input.shape()));
  ASSAY_ASSIGN_OR_RETURN(auto means,
                         Store<T>(run, op.mean, stash, plan.row_shape));
  ASSAY_ASSIGN_OR_RETURN(auto inverses,
                         Store<T>(run, op.inv_std_dev, stash, plan.row_shape));
  for (int64_t r = 0; r < plan.rows; ++r) {
    const T* from = x.data() + r * plan.size;
    T* to = y.data() + r * plan.size;
    const Moments<T> moments = MomentsOf(from, 1, 0, plan.size);
    const T inverse = moments.InverseDeviation(T(op.epsilon));
    for (int64_t i = 0; i < plan.size; ++i) {
      to[i] = (from[i] - moments.mean) * inverse;
    }
    if (means.data() != nullptr) means[r] = moments.mean;
    if (inverses.data() != nullptr) inverses[r] = inverse;
  }
  return ScaleAndShift(input.shape(), run.input(op.scale), run.input(op.b),
                       y.data());
}

// RMSNormalization-23 (Zhang, Sennrich 2019): over the axes from `axis` on
//   Y = X / sqrt(mean of X^2 + epsilon) * scale
template <class T>
Status RmsNormalization(const op::RMSNormalization& op, KernelContext& run) {
  const Tensor& input = run.input(op.x);
  ASSAY_ASSIGN_OR_RETURN(const auto plan, RowPlan::Of(input.shape(), op.axis));
  const Loaded<T> x(input);
  const DType type = run.input(op.scale).dtype();  // Y has the scale's type
  ASSAY_ASSIGN_OR_RETURN(auto y, Store<T>(run, op.y, type, input.shape()));
  for (int64_t r = 0; r < plan.rows; ++r) {
    const T* from = x.data() + r * plan.size;
    T* to = y.data() + r * plan.size;
    T squares(0);
    for (int64_t i = 0; i < plan.size; ++i) squares += from[i] * from[i];
    const T mean = squares / static_cast<T>(plan.size);
    const T inverse = T(1) / sqrt(mean + T(op.epsilon));
    for (int64_t i = 0; i < plan.size; ++i) to[i] = from[i] * inverse;
  }
  return ScaleAndShift(input.shape(), run.input(op.scale), Tensor(), y.data());
}

// x^y; for the usual 3/4 by square roots, which are exactly rounded and fast.
template <class T>
T PowerOfSum(T x, T y) {
  if (Value(y) != 0.75) return pow(x, y);
  const T root = sqrt(x);
  return root * sqrt(root);
}

// LRN-13 (Krizhevsky et al. 2012):
//   y[c] = x[c] / (bias + alpha / size * square_sum[c])^beta
// square_sum[c] being over channels c - floor((size - 1) / 2) to
// c + ceil((size - 1) / 2).
template <class T>
Status Lrn(const op::LRN& op, KernelContext& run) {
  const Tensor& input = run.input(op.x);
  ASSAY_ASSIGN_OR_RETURN(const auto plan, ChannelPlan::Of(input.shape()));
  if (op.size < 1) {
    return InvalidArgument("size is ", op.size, ", wanted at least 1");
  }
  const Loaded<T> x(input);
  ASSAY_ASSIGN_OR_RETURN(auto y,
                         Store<T>(run, op.y, input.dtype(), input.shape()));
  const T weight = T(op.alpha) / static_cast<T>(op.size);
  Scratch<T> square_sum(static_cast<size_t>(y.size() == 0 ? 0 : plan.size));
  for (int64_t line = 0; line < plan.images * plan.channels; ++line) {
    const int64_t c = line % plan.channels;
    const int64_t first = std::max<int64_t>(0, c - (op.size - 1) / 2);
    const int64_t last = std::min(plan.channels - 1, c + op.size / 2);
    std::ranges::fill(square_sum, T(0));
    for (int64_t k = first; k <= last; ++k) {
      const T* near = x.data() + (line - c + k) * plan.size;
      for (size_t i = 0; i < square_sum.size(); ++i) {
        square_sum[i] += near[i] * near[i];
      }
    }
    const T* from = x.data() + line * plan.size;
    T* to = y.data() + line * plan.size;
    for (size_t i = 0; i < square_sum.size(); ++i) {
      to[i] =
          from[i] / PowerOfSum(T(op.bias) + weight * square_sum[i], T(op.beta));
    }
  }
  return OkStatus();
}

// MeanVarianceNormalization-13: over the axes, or all where there are none,
//   Y = (X - EX) / sqrt(E(X - EX)^2)
template <class T>
Status MeanVarianceNormalization(const op::MeanVarianceNormalization& op,
                                 KernelContext& run) {
  const Tensor& input = run.input(op.x);
  const Shape& shape = input.shape();
  ASSAY_ASSIGN_OR_RETURN(const auto plan, AxesPlan::Of(shape, op.axes));
  const Loaded<T> x(input);
  ASSAY_ASSIGN_OR_RETURN(auto y, Store<T>(run, op.y, input.dtype(), shape));
  Scratch<T> values;
  plan.ForEachGroup([&](const Scratch<int64_t>& at) {
    values.clear();
    for (const int64_t i : at) values.push_back(x[i]);
    const Moments<T> moments =
        MomentsOf(values.data(), 1, 0, std::ssize(values));
    const T deviation = sqrt(moments.variance) + T(kLeastDeviation);
    for (size_t k = 0; k < at.size(); ++k) {
      y[at[k]] = (values[k] - moments.mean) / deviation;
    }
  });
  return OkStatus();
}

Result<Kernel> MakeBatchNormalization(const op::BatchNormalization& op,
                                      LoadContext& load) {
  return Dispatch(load, op.x, kFloats, [&]<class T>() {
    return std::bind_front(op.training_mode != 0 ? &BatchNormalization<Wide<T>>
                                                 : &BatchNormalization<T>,
                           op);
  });
}

Result<Kernel> MakeGroupNormalization(const op::GroupNormalization& op,
                                      LoadContext& load) {
  if (op.num_groups < 1) {
    return InvalidArgument("num_groups is ", op.num_groups,
                           ", wanted at least 1");
  }
  return Dispatch(load, op.x, kFloats, [&]<class T>() {
    return std::bind_front(&NormalizeGroups<Wide<T>, op::GroupNormalization>,
                           op);
  });
}

}  // namespace

Family NormalizationFamily() {
  return FamilyOf(
      WithBackward(
          Typed(kFloats,
                []<class T>() { return &MeanVarianceNormalization<Wide<T>>; }),
          MeanVarianceNormalizationBackward),
      WithBackward(RowOf(MakeBatchNormalization), BatchNormalizationBackward),
      WithBackward(
          Typed(kFloats,
                []<class T>() {
                  return &NormalizeGroups<Wide<T>, op::InstanceNormalization>;
                }),
          InstanceNormalizationBackward),
      WithBackward(RowOf(MakeGroupNormalization), GroupNormalizationBackward),
      WithBackward(
          Typed(kFloats,
                []<class T>() { return &LayerNormalization<Wide<T>>; }),
          LayerNormalizationBackward),
      WithBackward(
          Typed(kFloats, []<class T>() { return &RmsNormalization<Wide<T>>; }),
          RmsNormalizationBackward),
      WithBackward(Typed(kFloats, []<class T>() { return &Lrn<T>; }),
                   LrnBackward));
}

}  // namespace assay::reference
