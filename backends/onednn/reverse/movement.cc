// SPDX-License-Identifier: Apache-2.0
//
// Backward of reorder, concat, sum and reduction.
#include <limits>

#include "backends/onednn/reverse/reverse.h"

namespace assay::onednn {
namespace {

using dnnl::algorithm;

bool IsPlain(const memory::desc& desc) {
  return desc.get_format_kind() == memory::format_kind::blocked &&
         desc.get_inner_nblks() == 0;
}

}  // namespace

/// The cotangents of an element that a source with stride 0 repeats are summed.
Status ReverseReorder(Reverse& reverse, const Taped& entry) {
  const memory from = entry.at(DNNL_ARG_FROM);
  const memory dy = reverse.Cotangent(entry.at(DNNL_ARG_TO));
  const memory::desc desc = from.get_desc();
  memory::dims dims = desc.get_dims();
  if (IsPlain(desc)) {
    const memory::dims strides = desc.get_strides();
    for (size_t i = 0; i < dims.size(); ++i) {
      if (strides[i] == 0) dims[i] = 1;
    }
  }
  if (dims == desc.get_dims()) {
    reverse.Pass(from, dy);
    return OkStatus();
  }
  if (!reverse.Leads(from)) return OkStatus();
  ChainBuilder& chain = reverse.chain();
  const memory sum = chain.Temporary(
      StridedDesc(dims, memory::data_type::f32, RowMajorStrides(dims)));
  SumInto(chain, dy, sum);
  reverse.PassAs(
      from, StridedDesc(dims, memory::data_type::f32, desc.get_strides()), sum);
  return OkStatus();
}

/// Sources stand side by side along one axis of the result.
Status ReverseConcat(Reverse& reverse, const Taped& entry) {
  const memory to = entry.at(DNNL_ARG_DST);
  const memory::dims whole = to.get_desc().get_dims();
  const memory::dims strides = to.get_desc().get_strides();
  int64_t offset = 0;
  for (int i = 0; i + 1 < std::ssize(entry.arguments); ++i) {
    const memory from = entry.at(DNNL_ARG_MULTIPLE_SRC + i);
    const memory::dims dims = from.get_desc().get_dims();
    reverse.Pass(from,
                 reverse.CotangentAs(
                     to, StridedDesc(dims, memory::data_type::f32, strides),
                     offset * static_cast<int64_t>(sizeof(float))));
    for (size_t axis = 0; axis < dims.size(); ++axis) {
      if (dims[axis] != whole[axis]) offset += dims[axis] * strides[axis];
    }
  }
  return OkStatus();
}

Status ReverseSum(Reverse& reverse, const Taped& entry) {
  const memory dy = reverse.Cotangent(entry.at(DNNL_ARG_DST));
  for (size_t i = 0; i < entry.scales.size(); ++i) {
    const float scale = entry.scales[i];
    const memory from = entry.at(DNNL_ARG_MULTIPLE_SRC + static_cast<int>(i));
    if (scale == 1) {
      reverse.Pass(from, dy);
    } else {
      reverse.Give(from, [&](const memory& to) {
        reverse.chain().Eltwise(algorithm::eltwise_linear, scale, 0, dy, to);
      });
    }
  }
  return OkStatus();
}

namespace {

/// One reduction, to be run backward.
struct Reduced {
  memory x, y, dy;
  float p = 0;

  memory::dims dims() const { return x.get_desc().get_dims(); }
  /// The terms of one result.
  int64_t terms() const {
    return Product(dims()) / Product(y.get_desc().get_dims());
  }
};

/// A descriptor of extents `dims` that repeats each result over its terms.
memory::desc Repeated(const memory::desc& desc, const memory::dims& dims) {
  memory::dims strides = desc.get_strides();
  const memory::dims own = desc.get_dims();
  for (size_t i = 0; i < dims.size(); ++i) {
    if (own[i] != dims[i]) strides[i] = 0;
  }
  return {dims, desc.get_data_type(), strides};
}

/// The terms that are the greatest, or least, share dy.
void GiveExtreme(Reverse& reverse, const Reduced& reduced) {
  ChainBuilder& chain = reverse.chain();
  reverse.Give(reduced.x, [&](const memory& to) {
    const memory shared = chain.Temporary(reduced.y.get_desc());
    chain.Binary(algorithm::binary_eq, reverse.Value(reduced.x),
                 reverse.Value(reduced.y), to);
    chain.Reduce(algorithm::reduction_sum, to, shared);
    chain.Binary(algorithm::binary_div, reduced.dy, shared, shared);
    chain.Binary(algorithm::binary_mul, to, shared, to);
  });
}

/// to = sign(x) |x|^(p - 1).
void AppendPower(ChainBuilder& chain, const memory& x, float p,
                 const memory& to) {
  if (p == 2) {
    chain.Copy(x, to);
    return;
  }
  const memory zero = chain.Constant(0, x.get_desc().get_dims().size());
  const memory below = chain.Temporary(to.get_desc());
  chain.Binary(algorithm::binary_gt, x, zero, to);
  chain.Binary(algorithm::binary_lt, x, zero, below);
  chain.Binary(algorithm::binary_sub, to, below, to);
  if (p == 1) return;
  const memory power = chain.Temporary(to.get_desc());
  chain.Eltwise(algorithm::eltwise_abs, 0, 0, x, power);
  chain.Eltwise(algorithm::eltwise_pow, 1, p - 1, power, power);
  chain.Binary(algorithm::binary_mul, to, power, to);
}

/// y = sum |x|^p: p dy sign(x) |x|^(p - 1).
void GivePowerSum(Reverse& reverse, const Reduced& reduced) {
  ChainBuilder& chain = reverse.chain();
  reverse.Give(reduced.x, [&](const memory& to) {
    AppendPower(chain, reverse.Value(reduced.x), reduced.p, to);
    chain.Eltwise(algorithm::eltwise_linear, reduced.p, 0, to, to);
    chain.Binary(algorithm::binary_mul, to, reduced.dy, to);
  });
}

/// y = (sum |x|^p)^(1/p): dy sign(x) |x / y|^(p - 1), and 0 where y is 0. Where
/// p is 1 there is no quotient, which an infinite y would make no number.
void GiveNorm(Reverse& reverse, const Reduced& reduced) {
  if (reduced.p == 1) return GivePowerSum(reverse, reduced);
  ChainBuilder& chain = reverse.chain();
  reverse.Give(reduced.x, [&](const memory& to) {
    const memory norm = chain.Temporary(reduced.y.get_desc());
    chain.Binary(algorithm::binary_max, reverse.Value(reduced.y),
                 chain.Constant(std::numeric_limits<float>::min(),
                                reduced.dims().size()),
                 norm);
    const memory share = chain.Temporary(to.get_desc());
    chain.Binary(algorithm::binary_div, reverse.Value(reduced.x), norm, share);
    AppendPower(chain, share, reduced.p, to);
    chain.Binary(algorithm::binary_mul, to, reduced.dy, to);
  });
}

}  // namespace

Status ReverseReduction(Reverse& reverse, const Taped& entry) {
  const auto& forward = DescOf<dnnl::reduction>(entry);
  const memory y = entry.at(DNNL_ARG_DST);
  const Reduced reduced = {.x = entry.at(DNNL_ARG_SRC),
                           .y = y,
                           .dy = reverse.Cotangent(y),
                           .p = forward.get_p()};
  ChainBuilder& chain = reverse.chain();
  switch (forward.get_algorithm()) {
    case algorithm::reduction_sum:
      reverse.Pass(
          reduced.x,
          reverse.CotangentAs(y, Repeated(y.get_desc(), reduced.dims()), 0));
      return OkStatus();
    case algorithm::reduction_mean: {
      const memory share = chain.Temporary(y.get_desc());
      chain.Binary(algorithm::binary_div, reduced.dy,
                   chain.Constant(static_cast<float>(reduced.terms()),
                                  reduced.dims().size()),
                   share);
      reverse.Pass(
          reduced.x,
          chain.Redescribe(share, Repeated(y.get_desc(), reduced.dims())));
      return OkStatus();
    }
    case algorithm::reduction_max:
    case algorithm::reduction_min:
      GiveExtreme(reverse, reduced);
      return OkStatus();
    case algorithm::reduction_norm_lp_sum:
      GiveNorm(reverse, reduced);
      return OkStatus();
    case algorithm::reduction_norm_lp_power_p_sum:
      GivePowerSum(reverse, reduced);
      return OkStatus();
    default:
      return NoBackward("a reduction to a product");
  }
}

}  // namespace assay::onednn
