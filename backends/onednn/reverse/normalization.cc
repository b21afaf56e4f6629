// SPDX-License-Identifier: Apache-2.0
//
// Backward of batch and layer normalization, LRN and softmax.
#include <vector>

#include "backends/onednn/reverse/reverse.h"

namespace assay::onednn {
namespace {

using dnnl::algorithm;
using Flags = dnnl::normalization_flags;

bool Has(Flags flags, Flags wanted) { return (flags & wanted) != Flags::none; }

/// One normalization, to be run backward.
struct Normalization {
  const Taped& entry;
  Flags flags;
  float epsilon;

  memory x() const { return entry.at(DNNL_ARG_SRC); }
  memory mean() const { return entry.at(DNNL_ARG_MEAN); }
  memory variance() const { return entry.at(DNNL_ARG_VARIANCE); }
  memory scale() const { return entry.at(DNNL_ARG_SCALE); }
  memory shift() const { return entry.at(DNNL_ARG_SHIFT); }
};

/// Where its gradients go.
struct Landings {
  Reverse::Landing x, scale, shift;
};

/// Appends the primitive that `desc` describes. A layer normalization counts
/// the shift among its inputs.
template <class Primitive>
Landings AddBackward(Reverse& reverse, const Normalization& norm,
                     const typename Primitive::primitive_desc& desc,
                     const memory& dy, bool takes_shift) {
  const memory x = norm.x();
  Landings landings = {.x = reverse.Land(x, x.get_desc())};
  std::vector<Argument> arguments = {
      {DNNL_ARG_SRC, reverse.Value(x)},
      {DNNL_ARG_MEAN, reverse.Value(norm.mean())},
      {DNNL_ARG_VARIANCE, reverse.Value(norm.variance())},
      {DNNL_ARG_DIFF_DST, dy},
      {DNNL_ARG_DIFF_SRC, landings.x.memory}};
  if (Has(norm.flags, Flags::use_scale)) {
    landings.scale = reverse.Land(norm.scale(), norm.scale().get_desc());
    arguments.push_back({DNNL_ARG_SCALE, reverse.Value(norm.scale())});
    arguments.push_back({DNNL_ARG_DIFF_SCALE, landings.scale.memory});
  }
  if (Has(norm.flags, Flags::use_shift)) {
    landings.shift = reverse.Land(norm.shift(), norm.shift().get_desc());
    if (takes_shift) {
      arguments.push_back({DNNL_ARG_SHIFT, reverse.Value(norm.shift())});
    }
    arguments.push_back({DNNL_ARG_DIFF_SHIFT, landings.shift.memory});
  }
  reverse.chain().Add<Primitive>(desc, arguments);
  return landings;
}

void SettleAll(Reverse& reverse, const Landings& landings) {
  for (const auto& landing : {landings.x, landings.scale, landings.shift}) {
    reverse.Settle(landing);
  }
}

/// With given statistics y = s (x - m) r + b, where r = (v + epsilon)^(-1/2):
/// the gradient of m is -s r db, that of v is -1/2 s r^2 ds.
void GiveStatistics(Reverse& reverse, const Normalization& norm,
                    const Landings& landings) {
  if (!reverse.Leads(norm.mean()) && !reverse.Leads(norm.variance())) return;
  ChainBuilder& chain = reverse.chain();
  const memory r = chain.Temporary(norm.variance().get_desc());
  chain.Eltwise(algorithm::eltwise_linear, 1, norm.epsilon,
                reverse.Value(norm.variance()), r);
  chain.Eltwise(algorithm::eltwise_pow, 1, -0.5F, r, r);
  const memory sr = chain.Temporary(r.get_desc());
  chain.Binary(algorithm::binary_mul, reverse.Value(norm.scale()), r, sr);
  reverse.Give(norm.mean(), [&](const memory& to) {
    chain.Binary(algorithm::binary_mul, landings.shift.memory, sr, to);
    chain.Eltwise(algorithm::eltwise_linear, -1, 0, to, to);
  });
  reverse.Give(norm.variance(), [&](const memory& to) {
    chain.Binary(algorithm::binary_mul, landings.scale.memory, sr, to);
    chain.Binary(algorithm::binary_mul, to, r, to);
    chain.Eltwise(algorithm::eltwise_linear, -0.5F, 0, to, to);
  });
}

/// Gives x the flow through computed statistics: dm / n + 2 (x - m) dv / n, for
/// the n elements of each statistic. `repeated` are the extents of the
/// statistics beside those of x.
void GiveThroughStatistics(Reverse& reverse, const Normalization& norm,
                           const memory::dims& repeated) {
  ChainBuilder& chain = reverse.chain();
  const memory x = norm.x();
  const memory::desc stat =
      StridedDesc(repeated, memory::data_type::f32, RowMajorStrides(repeated));
  const int64_t terms = Product(x.get_desc().get_dims()) / Product(repeated);
  const float share = 1 / static_cast<float>(terms);
  const memory dm = reverse.CotangentAs(norm.mean(), stat, 0);
  const memory dv = reverse.CotangentAs(norm.variance(), stat, 0);
  const memory part = chain.Temporary(stat);
  if (IsThere(dv)) {
    reverse.Give(x, [&](const memory& to) {
      chain.Binary(algorithm::binary_sub, reverse.Value(x),
                   reverse.ValueAs(norm.mean(), stat), to);
      chain.Eltwise(algorithm::eltwise_linear, 2 * share, 0, dv, part);
      chain.Binary(algorithm::binary_mul, to, part, to);
    });
  }
  if (IsThere(dm)) {
    reverse.Give(x, [&](const memory& to) {
      chain.Eltwise(algorithm::eltwise_linear, share, 0, dm, part);
      chain.Copy(chain.Zeros(to.get_desc()), to);
      chain.Binary(algorithm::binary_add, to, part, to);
    });
  }
}

}  // namespace

Status ReverseBatchNormalization(Reverse& reverse, const Taped& entry) {
  const auto& forward = DescOf<dnnl::batch_normalization_forward>(entry);
  const Normalization norm = {entry, forward.get_flags(),
                              forward.get_epsilon()};
  const memory dy = reverse.CotangentOrZeros(entry.at(DNNL_ARG_DST));
  const memory::desc data = norm.x().get_desc();
  const Landings landings = AddBackward<dnnl::batch_normalization_backward>(
      reverse, norm,
      {reverse.chain().engine(), dnnl::prop_kind::backward, data, dy.get_desc(),
       data, norm.epsilon, norm.flags, forward, ChainBuilder::attr()},
      dy, false);
  if (Has(norm.flags, Flags::use_global_stats)) {
    GiveStatistics(reverse, norm, landings);
  }
  SettleAll(reverse, landings);
  if (!Has(norm.flags, Flags::use_global_stats)) {
    memory::dims repeated(data.get_dims().size(), 1);
    repeated[1] = data.get_dims()[1];
    GiveThroughStatistics(reverse, norm, repeated);
  }
  return OkStatus();
}

Status ReverseLayerNormalization(Reverse& reverse, const Taped& entry) {
  const auto& forward = DescOf<dnnl::layer_normalization_forward>(entry);
  const Normalization norm = {entry, forward.get_flags(),
                              forward.get_epsilon()};
  const memory dy = reverse.CotangentOrZeros(entry.at(DNNL_ARG_DST));
  const memory::desc data = norm.x().get_desc();
  SettleAll(reverse,
            AddBackward<dnnl::layer_normalization_backward>(
                reverse, norm,
                {reverse.chain().engine(), dnnl::prop_kind::backward, data,
                 dy.get_desc(), data, norm.mean().get_desc(), norm.epsilon,
                 norm.flags, forward, ChainBuilder::attr()},
                dy, true));
  memory::dims repeated = data.get_dims();
  repeated.back() = 1;
  GiveThroughStatistics(reverse, norm, repeated);
  return OkStatus();
}

Status ReverseLrn(Reverse& reverse, const Taped& entry) {
  const auto& forward = DescOf<dnnl::lrn_forward>(entry);
  using Backward = dnnl::lrn_backward;
  return ReverseUnary<Backward>(
      reverse, entry, {DNNL_ARG_SRC}, [&](const auto& dx, const auto& dy) {
        return Backward::primitive_desc(
            reverse.chain().engine(), forward.get_algorithm(), dx, dy,
            entry.at(DNNL_ARG_SRC).get_desc(), forward.get_local_size(),
            forward.get_alpha(), forward.get_beta(), forward.get_k(), forward,
            ChainBuilder::attr());
      });
}

Status ReverseSoftmax(Reverse& reverse, const Taped& entry) {
  const auto& forward = DescOf<dnnl::softmax_forward>(entry);
  using Backward = dnnl::softmax_backward;
  return ReverseUnary<Backward>(
      reverse, entry, {DNNL_ARG_DST}, [&](const auto& dx, const auto& dy) {
        return Backward::primitive_desc(
            reverse.chain().engine(), forward.get_algorithm(), dx, dy,
            entry.at(DNNL_ARG_DST).get_desc(), forward.get_axis(), forward,
            ChainBuilder::attr());
      });
}

}  // namespace assay::onednn
