// SPDX-License-Identifier: Apache-2.0

#include "backends/reference/ops/nn/normalization_backward.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "backends/reference/loop/nest.h"

namespace assay::reference {
namespace {

/// `blocks` runs of `count` elements from `start` on, `step` apart.
struct Group {
  int64_t start = 0;
  int64_t blocks = 1;
  int64_t step = 0;
  int64_t count = 0;

  double size() const { return static_cast<double>(blocks * count); }

  template <class Visit>
  void ForEach(const Visit& visit) const {
    for (int64_t b = 0; b < blocks; ++b) {
      for (int64_t i = 0; i < count; ++i) visit(start + b * step + i);
    }
  }
};

/// 1 / deviation of a group, and its derivative after the variance.
struct Inverse {
  static Inverse Of(double variance, double epsilon) {
    const double inverse = 1 / std::sqrt(variance + epsilon);
    return {inverse, -0.5 * inverse * inverse * inverse};
  }
  double value;
  double slope;
};

/// The flow into the moments of a group.
struct MomentsFlow {
  double mean = 0;
  double variance = 0;
  double inverse = 0;  // 1 / deviation

  bool any() const { return mean != 0 || variance != 0 || inverse != 0; }
};

/// The normalized elements of the whole input, [like x], and the flow into
/// them.
struct Normalized {
  explicit Normalized(int64_t size)
      : values(static_cast<size_t>(size)), flows(static_cast<size_t>(size)) {}

  void Fill(const double* x, const Group& group, double mean, double inverse) {
    group.ForEach([&](int64_t i) {
      values[static_cast<size_t>(i)] = (x[i] - mean) * inverse;
    });
  }

  bool AnyFlow(const Group& group) const {
    bool any = false;
    group.ForEach(
        [&](int64_t i) { any = any || flows[static_cast<size_t>(i)] != 0; });
    return any;
  }

  Scratch<double> values;
  Scratch<double> flows;
};

/// Adds what flows on from the normalized elements of a group to its moments,
/// and, where dx is wanted, to the elements.
void FlowToMoments(const double* x, const Group& group, double mean,
                   const Inverse& inverse, const Scratch<double>& flows,
                   MomentsFlow* moments, double* dx) {
  group.ForEach([&](int64_t i) {
    const double flow = flows[static_cast<size_t>(i)];
    if (flow == 0) return;
    moments->mean -= flow * inverse.value;
    moments->inverse += Flow(flow, x[i] - mean);
    if (dx != nullptr) dx[i] += flow * inverse.value;
  });
  moments->variance += Flow(moments->inverse, inverse.slope);
}

/// And from the moments of the elements to these.
void FlowFromMoments(const double* x, const Group& group, double mean,
                     const MomentsFlow& moments, double* dx) {
  const double of_mean = moments.mean / group.size();
  const double of_variance = 2 * moments.variance / group.size();
  group.ForEach(
      [&](int64_t i) { dx[i] += of_mean + Flow(of_variance, x[i] - mean); });
}

void FlowThroughMoments(const double* x, const Group& group, double mean,
                        const Inverse& inverse, const Normalized& normalized,
                        MomentsFlow moments, double* dx) {
  if (dx == nullptr || (!moments.any() && !normalized.AnyFlow(group))) return;
  FlowToMoments(x, group, mean, inverse, normalized.flows, &moments, dx);
  FlowFromMoments(x, group, mean, moments, dx);
}

/// y = scale * normalized + bias: fills the flows of normalized elements, and
/// the gradients of scale and bias, which broadcast from these shapes.
struct Scaling {
  Input scale, bias;
  Shape scale_shape, bias_shape;

  Status Backward(const Tensor& cotangent, Normalized* normalized,
                  GradientContext& run) const {
    const Loaded<double> dy(cotangent);
    if (dy.data() == nullptr) return OkStatus();
    const Shape& shape = cotangent.shape();
    const Loaded<double> by(run.input(scale));
    ASSAY_ASSIGN_OR_RETURN(auto dscale, GradientOf<double>(run, scale));
    ASSAY_ASSIGN_OR_RETURN(auto dbias, GradientOf<double>(run, bias));
    const Nest<3> nest = PairNest(scale_shape, bias_shape, shape);
    nest.ForEach([&](int64_t of_scale, int64_t of_bias, int64_t i) {
      const auto at = static_cast<size_t>(i);
      normalized->flows[at] = Flow(dy[i], by[of_scale]);
      if (dscale.data() != nullptr) {
        dscale[of_scale] += Flow(dy[i], normalized->values[at]);
      }
      if (dbias.data() != nullptr) dbias[of_bias] += dy[i];
    });
    return OkStatus();
  }

  /// One number for each channel of an input [N, C, ...].
  static Scaling PerChannel(Input scale, Input bias, const Shape& x) {
    Shape shape(Dims(static_cast<size_t>(x.rank() - 1), 1));
    shape[0] = x[1];
    return {scale, bias, shape, shape};
  }
  static Scaling Broadcasting(Input scale, Input bias,
                              const GradientContext& run) {
    return {scale, bias, run.input(scale).shape(), run.input(bias).shape()};
  }
};

/// No input.
constexpr Input kNone{-1, false};

/// The element at i of what may be empty, else 0.
double At(const Loaded<double>& flows, int64_t i) {
  return flows.data() == nullptr ? 0 : flows[i];
}

/// The backward of rows that have moments each: groups of channels, or the last
/// axes. The flows into the moments themselves may be empty.
Status BackwardOfRows(Input input, const Scaling& scaling, int64_t rows,
                      double epsilon, Output output, const Tensor& into_means,
                      const Tensor& into_inverses, GradientContext& run) {
  const Loaded<double> x(run.input(input));
  const Loaded<double> into_mean(into_means);
  const Loaded<double> into_inverse(into_inverses);
  ASSAY_ASSIGN_OR_RETURN(auto dx, GradientOf<double>(run, input));
  const int64_t size = rows == 0 ? 0 : x.size() / rows;
  std::vector<Moments<double>> moments;
  Normalized normalized(x.size());
  for (int64_t r = 0; r < rows; ++r) {
    moments.push_back(MomentsOf(x.data() + r * size, 1, 0, size));
    normalized.Fill(x.data(), {.start = r * size, .count = size},
                    moments.back().mean,
                    moments.back().InverseDeviation(epsilon));
  }
  ASSAY_RETURN_IF_ERROR(
      scaling.Backward(FlowInto(run, output), &normalized, run));
  for (int64_t r = 0; r < rows; ++r) {
    const auto& [mean, variance] = moments[static_cast<size_t>(r)];
    FlowThroughMoments(
        x.data(), {.start = r * size, .count = size}, mean,
        Inverse::Of(variance, epsilon), normalized,
        {.mean = At(into_mean, r), .inverse = At(into_inverse, r)}, dx.data());
  }
  return OkStatus();
}

}  // namespace

Status BatchNormalizationBackward(const op::BatchNormalization& op,
                                  GradientContext& run) {
  const Tensor& input = run.input(op.x);
  ASSAY_ASSIGN_OR_RETURN(const auto plan, ChannelPlan::Of(input.shape()));
  const Loaded<double> x(input);
  const Loaded<double> given_mean(run.input(op.input_mean));
  const Loaded<double> given_variance(run.input(op.input_var));
  const Loaded<double> into_mean(FlowInto(run, op.running_mean));
  const Loaded<double> into_variance(FlowInto(run, op.running_var));
  const bool trains = op.training_mode != 0;
  const int64_t step = plan.channels * plan.size;
  std::vector<Moments<double>> moments;
  Normalized normalized(x.size());
  const auto group_of = [&](int64_t c) {
    return Group{c * plan.size, plan.images, step, plan.size};
  };
  for (int64_t c = 0; c < plan.channels; ++c) {
    moments.push_back(
        trains
            ? MomentsOf(x.data() + c * plan.size, plan.images, step, plan.size)
            : Moments<double>{given_mean[c], given_variance[c]});
    normalized.Fill(x.data(), group_of(c), moments.back().mean,
                    moments.back().InverseDeviation(op.epsilon));
  }
  ASSAY_RETURN_IF_ERROR(Scaling::PerChannel(op.scale, op.b, input.shape())
                            .Backward(FlowInto(run, op.y), &normalized, run));
  ASSAY_ASSIGN_OR_RETURN(auto dx, GradientOf<double>(run, op.x));
  ASSAY_ASSIGN_OR_RETURN(auto dmean, GradientOf<double>(run, op.input_mean));
  ASSAY_ASSIGN_OR_RETURN(auto dvariance, GradientOf<double>(run, op.input_var));
  const double kept = trains ? op.momentum : 0;
  for (int64_t c = 0; c < plan.channels; ++c) {
    const auto& [mean, variance] = moments[static_cast<size_t>(c)];
    const Inverse inverse = Inverse::Of(variance, op.epsilon);
    MomentsFlow into{.mean = At(into_mean, c) * (1 - kept),
                     .variance = At(into_variance, c) * (1 - kept)};
    if (trains) {
      FlowThroughMoments(x.data(), group_of(c), mean, inverse, normalized, into,
                         dx.data());
      into = {.mean = At(into_mean, c) * kept,
              .variance = At(into_variance, c) * kept};
    } else {
      FlowToMoments(x.data(), group_of(c), mean, inverse, normalized.flows,
                    &into, dx.data());
    }
    if (dmean.data() != nullptr) dmean[c] += into.mean;
    if (dvariance.data() != nullptr) dvariance[c] += into.variance;
  }
  return OkStatus();
}

Status InstanceNormalizationBackward(const op::InstanceNormalization& op,
                                     GradientContext& run) {
  const Shape& shape = run.input(op.input).shape();
  return BackwardOfRows(op.input, Scaling::PerChannel(op.scale, op.b, shape),
                        shape[0] * shape[1], op.epsilon, op.output, {}, {},
                        run);
}

Status GroupNormalizationBackward(const op::GroupNormalization& op,
                                  GradientContext& run) {
  const Shape& shape = run.input(op.x).shape();
  return BackwardOfRows(op.x, Scaling::PerChannel(op.scale, op.bias, shape),
                        shape[0] * op.num_groups, op.epsilon, op.y, {}, {},
                        run);
}

Status LayerNormalizationBackward(const op::LayerNormalization& op,
                                  GradientContext& run) {
  ASSAY_ASSIGN_OR_RETURN(const auto plan,
                         RowPlan::Of(run.input(op.x).shape(), op.axis));
  return BackwardOfRows(op.x, Scaling::Broadcasting(op.scale, op.b, run),
                        plan.rows, op.epsilon, op.y, FlowInto(run, op.mean),
                        FlowInto(run, op.inv_std_dev), run);
}

Status RmsNormalizationBackward(const op::RMSNormalization& op,
                                GradientContext& run) {
  const Tensor& input = run.input(op.x);
  ASSAY_ASSIGN_OR_RETURN(const auto plan, RowPlan::Of(input.shape(), op.axis));
  const Loaded<double> x(input);
  std::vector<Inverse> inverses;
  Normalized normalized(x.size());
  for (int64_t r = 0; r < plan.rows; ++r) {
    const Group row{.start = r * plan.size, .count = plan.size};
    double squares = 0;
    row.ForEach([&](int64_t i) { squares += x[i] * x[i]; });
    inverses.push_back(Inverse::Of(squares / row.size(), op.epsilon));
    normalized.Fill(x.data(), row, 0, inverses.back().value);
  }
  ASSAY_RETURN_IF_ERROR(Scaling::Broadcasting(op.scale, kNone, run)
                            .Backward(FlowInto(run, op.y), &normalized, run));
  ASSAY_ASSIGN_OR_RETURN(auto dx, GradientOf<double>(run, op.x));
  for (int64_t r = 0; dx.data() != nullptr && r < plan.rows; ++r) {
    const Group row{.start = r * plan.size, .count = plan.size};
    if (!normalized.AnyFlow(row)) continue;
    MomentsFlow moments;  // of squares: about 0, which does not move
    FlowToMoments(x.data(), row, 0, inverses[static_cast<size_t>(r)],
                  normalized.flows, &moments, dx.data());
    moments.mean = 0;
    FlowFromMoments(x.data(), row, 0, moments, dx.data());
  }
  return OkStatus();
}

Status MeanVarianceNormalizationBackward(
    const op::MeanVarianceNormalization& op, GradientContext& run) {
  const Tensor& input = run.input(op.x);
  const Loaded<double> dy(FlowInto(run, op.y));
  ASSAY_ASSIGN_OR_RETURN(auto dx, GradientOf<double>(run, op.x));
  if (dy.data() == nullptr || dx.data() == nullptr) return OkStatus();
  ASSAY_ASSIGN_OR_RETURN(const auto plan, AxesPlan::Of(input.shape(), op.axes));
  const Loaded<double> x(input);
  plan.ForEachGroup([&](const Scratch<int64_t>& at) {
    const Group group{.count = std::ssize(at)};
    Scratch<double> values;
    Normalized normalized(group.count);
    for (size_t k = 0; k < at.size(); ++k) {
      values.push_back(x[at[k]]);
      normalized.flows[k] = dy[at[k]];
    }
    const auto [mean, variance] = MomentsOf(values.data(), 1, 0, group.count);
    const double root = std::sqrt(variance);
    const double inverse = 1 / (root + kLeastDeviation);
    Scratch<double> flows(at.size());
    FlowThroughMoments(values.data(), group, mean,
                       {inverse, -inverse * inverse / (root + root)},
                       normalized, {}, flows.data());
    for (size_t k = 0; k < at.size(); ++k) dx[at[k]] = flows[k];
  });
  return OkStatus();
}

// With s[c] = bias + alpha / size * square_sum[c] and y[c] = x[c] s[c]^-beta,
// dx[k] = dy[k] s[k]^-beta
//         - 2 alpha / size beta x[k] sum of dy[c] x[c] s[c]^(-beta - 1)
// over the channels c whose sums have k.
Status LrnBackward(const op::LRN& op, GradientContext& run) {
  const Tensor& input = run.input(op.x);
  const Loaded<double> dy(FlowInto(run, op.y));
  ASSAY_ASSIGN_OR_RETURN(auto dx, GradientOf<double>(run, op.x));
  if (dy.size() == 0 || dx.size() == 0) return OkStatus();
  ASSAY_ASSIGN_OR_RETURN(const auto plan, ChannelPlan::Of(input.shape()));
  const Loaded<double> x(input);
  const double weight =
      static_cast<double>(op.alpha) / static_cast<double>(op.size);
  for (int64_t line = 0; line < plan.images * plan.channels; ++line) {
    const int64_t c = line % plan.channels;
    const int64_t first = std::max<int64_t>(0, c - (op.size - 1) / 2);
    const int64_t last = std::min(plan.channels - 1, c + op.size / 2);
    for (int64_t i = 0; i < plan.size; ++i) {
      const int64_t at = line * plan.size + i;
      if (dy[at] == 0) continue;
      const auto near = [&](int64_t k) {
        return (line - c + k) * plan.size + i;
      };
      double squares = 0;
      for (int64_t k = first; k <= last; ++k) {
        squares += x[near(k)] * x[near(k)];
      }
      const double base = op.bias + weight * squares;
      const double power = std::pow(base, -static_cast<double>(op.beta));
      dx[at] += dy[at] * power;
      const double into_squares = Flow(dy[at] * x[at], -op.beta * power / base);
      for (int64_t k = first; k <= last; ++k) {
        dx[near(k)] += Flow(into_squares, 2 * weight * x[near(k)]);
      }
    }
  }
  return OkStatus();
}

}  // namespace assay::reference
