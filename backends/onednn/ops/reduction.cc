// SPDX-License-Identifier: Apache-2.0
//
// Reductions over any set of axes, and the normalizations that are made of
// them.
#include <limits>
#include <memory>
#include <vector>

#include "backends/onednn/ops/families.h"

namespace assay::onednn {
namespace {

using dnnl::algorithm;

/// Which axes are reduced: extents before and after, with neighbours of one
/// kind taken together, and the shape that ONNX gives the result.
struct Axes {
  memory::dims from, to;
  Shape shape;

  bool nothing_reduced() const { return from == to; }
};

Result<Axes> FoldAxes(const Shape& shape, const std::vector<int64_t>& listed,
                      bool keepdims) {
  std::vector<bool> reduced(static_cast<size_t>(shape.rank()), false);
  for (const int64_t axis : listed) {
    ASSAY_ASSIGN_OR_RETURN(const int at,
                           kernels::NormalizeAxis(axis, shape.rank()));
    reduced[static_cast<size_t>(at)] = true;
  }
  Axes axes;
  std::vector<int64_t> dims;
  bool last_reduced = false;
  for (int i = 0; i < shape.rank(); ++i) {
    const bool now = reduced[static_cast<size_t>(i)];
    if (!now || keepdims) dims.push_back(now ? 1 : shape[i]);
    if (shape[i] == 1) continue;
    if (axes.from.empty() || now != last_reduced) {
      axes.from.push_back(shape[i]);
      axes.to.push_back(now ? 1 : shape[i]);
    } else {
      axes.from.back() *= shape[i];
      if (!now) axes.to.back() *= shape[i];
    }
    last_reduced = now;
  }
  if (axes.from.empty()) axes.from = axes.to = {1};
  axes.shape = Shape(dims);
  return axes;
}

std::vector<int64_t> AllAxes(const Shape& shape) {
  std::vector<int64_t> all;
  for (int i = 0; i < shape.rank(); ++i) all.push_back(i);
  return all;
}

/// A reduction, and what it is where there is nothing to reduce: the same
/// with one term.
struct Reduction {
  algorithm kind;
  float p = 0;
  algorithm of_one_term = algorithm::undef;  // undef: a copy
};

/// The axes that a Reduce operator names.
template <class Op>
Result<Axes> ReadAxes(ChainBuilder& chain, const Op& op, const Shape& shape) {
  std::vector<int64_t> listed;
  if (op.axes.present) {
    ASSAY_ASSIGN_OR_RETURN(listed, chain.Integers(op.axes, "axes"));
  }
  if (listed.empty() && op.noop_with_empty_axes == 0) listed = AllAxes(shape);
  return FoldAxes(shape, listed, op.keepdims != 0);
}

void AddReduction(ChainBuilder& chain, const Reduction& reduction,
                  const Axes& axes, const memory& from, const memory& to) {
  chain.DeclineFor(Reason::kShape);
  if (!axes.nothing_reduced()) {
    chain.Reduce(reduction.kind, from, to, reduction.p);
  } else if (reduction.of_one_term == algorithm::undef) {
    chain.Copy(from, to);
  } else {
    chain.Eltwise(reduction.of_one_term, 0, 0, from, to);
  }
}

template <class Op>
auto Reduces(const Reduction& reduction, ChainBuilder::TypeCheck check) {
  return On<Op>([=](const Op& op, ChainBuilder& chain) -> Status {
    ASSAY_ASSIGN_OR_RETURN(const TensorView x, chain.View(op.data, check));
    ASSAY_ASSIGN_OR_RETURN(const Axes axes, ReadAxes(chain, op, x.shape));
    ASSAY_ASSIGN_OR_RETURN(const TensorView y, chain.View(x.dtype, axes.shape));
    AddReduction(chain, reduction, axes, chain.In(op.data, x.As(axes.from)),
                 chain.Out(op.reduced, y, y.As(axes.to)));
    return OkStatus();
  });
}

Status AddReduceLogSum(const op::ReduceLogSum& op, ChainBuilder& chain) {
  ASSAY_ASSIGN_OR_RETURN(const TensorView x, chain.View(op.data, CheckFloat32));
  ASSAY_ASSIGN_OR_RETURN(const Axes axes, ReadAxes(chain, op, x.shape));
  ASSAY_ASSIGN_OR_RETURN(const TensorView y, chain.View(x.dtype, axes.shape));
  const memory to = chain.Out(op.reduced, y, y.As(axes.to));
  const memory sum = chain.Apart(to);
  AddReduction(chain, {algorithm::reduction_sum}, axes,
               chain.In(op.data, x.As(axes.from)), sum);
  chain.Eltwise(algorithm::eltwise_log, 0, 0, sum, to);
  return OkStatus();
}

/// m + log(sum(exp(x - m))) with m = max(x) brought into the finite range, so
/// that rows of one infinity stay that infinity.
Status AddReduceLogSumExp(const op::ReduceLogSumExp& op, ChainBuilder& chain) {
  ASSAY_ASSIGN_OR_RETURN(const TensorView x, chain.View(op.data, CheckFloat32));
  ASSAY_ASSIGN_OR_RETURN(const Axes axes, ReadAxes(chain, op, x.shape));
  ASSAY_ASSIGN_OR_RETURN(const TensorView y, chain.View(x.dtype, axes.shape));
  const memory from = chain.In(op.data, x.As(axes.from));
  const memory to = chain.Out(op.reduced, y, y.As(axes.to));
  if (axes.nothing_reduced()) {
    chain.Copy(from, to);
    return OkStatus();
  }
  constexpr float kMost = std::numeric_limits<float>::max();
  const memory greatest = chain.Temporary(y.As(axes.to));
  const memory most = chain.Apart(greatest);
  const memory exponents = chain.Temporary(x.As(axes.from));
  const memory terms = chain.Apart(exponents);
  const memory sum = chain.Apart(to);
  const memory log = chain.Apart(to);
  AddReduction(chain, {algorithm::reduction_max}, axes, from, greatest);
  chain.Eltwise(algorithm::eltwise_clip, -kMost, kMost, greatest, most);
  chain.Binary(algorithm::binary_sub, from, most, exponents);
  chain.Eltwise(algorithm::eltwise_exp, 0, 0, exponents, terms);
  AddReduction(chain, {algorithm::reduction_sum}, axes, terms, sum);
  chain.Eltwise(algorithm::eltwise_log, 0, 0, sum, log);
  chain.Binary(algorithm::binary_add, log, most, to);
  return OkStatus();
}

/// x / ||x||_p, and 0 where the norm is 0.
Status AddLpNormalization(const op::LpNormalization& op, ChainBuilder& chain) {
  ASSAY_ASSIGN_OR_RETURN(const auto x, chain.View(op.input, CheckFloat32));
  if (op.p != 1 && op.p != 2) {
    return InvalidArgument("p is ", op.p, ", wanted 1 or 2");
  }
  ASSAY_ASSIGN_OR_RETURN(const Axes axes, FoldAxes(x.shape, {op.axis}, true));
  const TensorView norms = MakeView(x.dtype, x.type, axes.shape);
  const memory from = chain.In(op.input, x.As(axes.from));
  const memory to = chain.Out(op.output, x, x.As(axes.from));
  const memory norm = chain.Temporary(norms.As(axes.to));
  const memory divisor = chain.Apart(norm);
  const memory quotient = chain.Apart(to);
  const memory some = chain.Temporary(norms.As(axes.to));
  AddReduction(chain,
               {algorithm::reduction_norm_lp_sum, static_cast<float>(op.p),
                algorithm::eltwise_abs},
               axes, from, norm);
  const memory zero = chain.Constant(0, axes.to.size());
  const memory tiny =
      chain.Constant(std::numeric_limits<float>::min(), axes.to.size());
  chain.Binary(algorithm::binary_gt, norm, zero, some);
  chain.Binary(algorithm::binary_max, norm, tiny, divisor);
  chain.Binary(algorithm::binary_div, from, divisor, quotient);
  chain.Binary(algorithm::binary_mul, quotient, some, to);
  return OkStatus();
}

/// (x - E x) / (sqrt(E (x - E x)^2) + 1e-9), as ONNX's function body states.
Status AddMeanVarianceNormalization(const op::MeanVarianceNormalization& op,
                                    ChainBuilder& chain) {
  ASSAY_ASSIGN_OR_RETURN(const TensorView x, chain.View(op.x, CheckFloat32));
  ASSAY_ASSIGN_OR_RETURN(const Axes axes, FoldAxes(x.shape, op.axes, true));
  const TensorView stats = MakeView(x.dtype, x.type, axes.shape);
  const memory from = chain.In(op.x, x.As(axes.from));
  const memory to = chain.Out(op.y, x, x.As(axes.from));
  const memory mean = chain.Temporary(stats.As(axes.to));
  const memory variance = chain.Apart(mean);
  const memory root = chain.Apart(mean);
  const memory divisor = chain.Apart(mean);
  const memory centred = chain.Apart(to);
  const memory squares = chain.Temporary(x.As(axes.from));
  constexpr Reduction kMean = {algorithm::reduction_mean};
  AddReduction(chain, kMean, axes, from, mean);
  chain.Binary(algorithm::binary_sub, from, mean, centred);
  chain.Eltwise(algorithm::eltwise_square, 0, 0, centred, squares);
  AddReduction(chain, kMean, axes, squares, variance);
  chain.Eltwise(algorithm::eltwise_sqrt, 0, 0, variance, root);
  chain.Eltwise(algorithm::eltwise_linear, 1, 1e-9F, root, divisor);
  chain.Binary(algorithm::binary_div, centred, divisor, to);
  return OkStatus();
}

}  // namespace

FamilyPointer MakeReduction(const std::shared_ptr<const Device>& device) {
  return FamilyOf(
      device, AddLpNormalization, AddMeanVarianceNormalization,
      Reduces<op::ReduceL1>(
          {algorithm::reduction_norm_lp_sum, 1, algorithm::eltwise_abs},
          CheckFloat),
      Reduces<op::ReduceL2>(
          {algorithm::reduction_norm_lp_sum, 2, algorithm::eltwise_abs},
          CheckFloat),
      AddReduceLogSum, AddReduceLogSumExp,
      Reduces<op::ReduceMax>({algorithm::reduction_max}, CheckExact),
      Reduces<op::ReduceMean>({algorithm::reduction_mean}, CheckFloat),
      Reduces<op::ReduceMin>({algorithm::reduction_min}, CheckExact),
      Reduces<op::ReduceProd>({algorithm::reduction_mul}, CheckFloat),
      Reduces<op::ReduceSum>({algorithm::reduction_sum}, CheckFloat),
      Reduces<op::ReduceSumSquare>({algorithm::reduction_norm_lp_power_p_sum, 2,
                                    algorithm::eltwise_square},
                                   CheckFloat));
}

}  // namespace assay::onednn
