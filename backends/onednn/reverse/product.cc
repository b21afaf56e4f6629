// SPDX-License-Identifier: Apache-2.0
//
// Backward of convolution, deconvolution, inner product, pooling and
// resampling, which oneDNN has, and of matmul, which is two more products.

#include <algorithm>
#include <utility>

#include "backends/onednn/reverse/reverse.h"

namespace assay::onednn {
namespace {

using dnnl::algorithm;

/// A memory of the forward chain in the layout that backward wants.
memory Laid(Reverse& reverse, const memory& forward,
            const memory::desc& wanted) {
  const memory value = reverse.Value(forward);
  if (value.get_desc() == wanted) return value;
  const memory laid = reverse.chain().Temporary(wanted);
  reverse.chain().Copy(value, laid);
  return laid;
}

struct Convolution {
  using Forward = dnnl::convolution_forward;
  using Data = dnnl::convolution_backward_data;
  using Weights = dnnl::convolution_backward_weights;
  static constexpr auto kKind = algorithm::convolution_direct;
};

struct Deconvolution {
  using Forward = dnnl::deconvolution_forward;
  using Data = dnnl::deconvolution_backward_data;
  using Weights = dnnl::deconvolution_backward_weights;
  static constexpr auto kKind = algorithm::deconvolution_direct;
};

template <class Kind>
typename Kind::Data::primitive_desc DataDesc(
    const dnnl::engine& engine, const memory::desc& x, const memory::desc& w,
    const memory::desc& dy, const typename Kind::Forward::primitive_desc& f) {
  if constexpr (requires { Kind::kKind; }) {
    return typename Kind::Data::primitive_desc(
        engine, Kind::kKind, x, w, dy, f.get_strides(), f.get_dilations(),
        f.get_padding_l(), f.get_padding_r(), f, ChainBuilder::attr());
  } else {
    return {engine, x, w, dy, f, ChainBuilder::attr()};
  }
}

/// `bias` is empty where there is none.
template <class Kind>
typename Kind::Weights::primitive_desc WeightsDesc(
    const dnnl::engine& engine, const memory::desc& x, const memory::desc& w,
    const memory::desc& bias, const memory::desc& dy,
    const typename Kind::Forward::primitive_desc& f) {
  if constexpr (requires { Kind::kKind; }) {
    return typename Kind::Weights::primitive_desc(
        engine, Kind::kKind, x, w, bias, dy, f.get_strides(), f.get_dilations(),
        f.get_padding_l(), f.get_padding_r(), f, ChainBuilder::attr());
  } else {
    return {engine, x, w, bias, dy, f, ChainBuilder::attr()};
  }
}

struct InnerProduct {
  using Forward = dnnl::inner_product_forward;
  using Data = dnnl::inner_product_backward_data;
  using Weights = dnnl::inner_product_backward_weights;
};

template <class Kind>
Status ReverseWeighted(Reverse& reverse, const Taped& entry) {
  const auto& forward = DescOf<typename Kind::Forward>(entry);
  ChainBuilder& chain = reverse.chain();
  const memory x = entry.at(DNNL_ARG_SRC);
  const memory w = entry.at(DNNL_ARG_WEIGHTS);
  const memory bias = entry.at(DNNL_ARG_BIAS);
  const memory dy = reverse.Cotangent(entry.at(DNNL_ARG_DST));
  const memory::desc any = AnyLayout(w.get_desc());
  reverse.Give(x, [&](const memory& dx) {
    const auto desc = DataDesc<Kind>(chain.engine(), dx.get_desc(), any,
                                     dy.get_desc(), forward);
    chain.Add<typename Kind::Data>(
        desc, {{DNNL_ARG_WEIGHTS, Laid(reverse, w, desc.weights_desc())},
               {DNNL_ARG_DIFF_DST, dy},
               {DNNL_ARG_DIFF_SRC, dx}});
  });
  const bool biased = IsThere(bias);
  if (!reverse.Leads(w) && !(biased && reverse.Leads(bias))) return OkStatus();
  const auto desc =
      WeightsDesc<Kind>(chain.engine(), x.get_desc(), any, DescIfThere(bias),
                        dy.get_desc(), forward);
  const auto dw = reverse.Land(w, desc.diff_weights_desc());
  Reverse::Landing dbias;
  if (biased) dbias = reverse.Land(bias, bias.get_desc());
  chain.Add<typename Kind::Weights>(desc, {{DNNL_ARG_SRC, reverse.Value(x)},
                                           {DNNL_ARG_DIFF_DST, dy},
                                           {DNNL_ARG_DIFF_WEIGHTS, dw.memory},
                                           {DNNL_ARG_DIFF_BIAS, dbias.memory}});
  reverse.Settle(dw);
  reverse.Settle(dbias);
  return OkStatus();
}

/// The last two axes exchanged.
memory::desc Transposed(const memory::desc& desc) {
  memory::dims dims = desc.get_dims();
  memory::dims strides = desc.get_strides();
  std::swap(dims[dims.size() - 2], dims[dims.size() - 1]);
  std::swap(strides[dims.size() - 2], strides[dims.size() - 1]);
  return StridedDesc(dims, desc.get_data_type(), std::move(strides));
}

/// A memory with the last two axes exchanged, as backward reads it.
memory TransposedValue(Reverse& reverse, const memory& forward) {
  return reverse.ValueAs(forward, Transposed(forward.get_desc()));
}

/// Gives `operand` the product of two matrices, summed over batches along which
/// the operand repeats.
void GiveMatrices(Reverse& reverse, const memory& operand, const memory& left,
                  const memory& right) {
  memory::dims full = left.get_desc().get_dims();
  const memory::dims other = right.get_desc().get_dims();
  full.back() = other.back();
  for (size_t i = 0; i + 2 < full.size(); ++i) {
    full[i] = std::max(full[i], other[i]);
  }
  const memory::desc desc =
      StridedDesc(full, memory::data_type::f32, RowMajorStrides(full));
  ChainBuilder& chain = reverse.chain();
  GiveRepeated(reverse, operand, desc, [&](const memory& to) {
    chain.Add<dnnl::matmul>(
        {chain.engine(), left.get_desc(), right.get_desc(), to.get_desc(),
         ChainBuilder::attr()},
        {{DNNL_ARG_SRC, left}, {DNNL_ARG_WEIGHTS, right}, {DNNL_ARG_DST, to}});
  });
}

/// The cotangent of the product itself, behind which stand Gemm's alpha, as a
/// linear function, and the addition of C.
Result<memory> BeforePostOps(Reverse& reverse, const Taped& entry,
                             const memory& dy) {
  const dnnl::post_ops after =
      DescOf<dnnl::matmul>(entry).get_primitive_attr().get_post_ops();
  memory flowing = dy;
  for (int i = after.len(); i-- > 0;) {
    if (after.kind(i) == dnnl::primitive::kind::eltwise) {
      algorithm kind = algorithm::undef;
      float alpha = 0;
      float beta = 0;
      after.get_params_eltwise(i, kind, alpha, beta);
      const memory scaled = reverse.chain().Temporary(dy.get_desc());
      reverse.chain().Eltwise(algorithm::eltwise_linear, alpha, 0, flowing,
                              scaled);
      flowing = scaled;
      continue;
    }
    if (after.kind(i) != dnnl::primitive::kind::binary) {
      return NoBackward("this post-operation");
    }
    const memory c =
        entry.at(DNNL_ARG_ATTR_MULTIPLE_POST_OP(i) | DNNL_ARG_SRC_1);
    reverse.Give(
        c, [&](const memory& to) { SumInto(reverse.chain(), flowing, to); });
  }
  return flowing;
}

}  // namespace

Status ReverseConvolution(Reverse& reverse, const Taped& entry) {
  return ReverseWeighted<Convolution>(reverse, entry);
}

Status ReverseDeconvolution(Reverse& reverse, const Taped& entry) {
  return ReverseWeighted<Deconvolution>(reverse, entry);
}

Status ReverseInnerProduct(Reverse& reverse, const Taped& entry) {
  return ReverseWeighted<InnerProduct>(reverse, entry);
}

Status ReverseMatMul(Reverse& reverse, const Taped& entry) {
  const memory a = entry.at(DNNL_ARG_SRC);
  const memory b = entry.at(DNNL_ARG_WEIGHTS);
  ASSAY_ASSIGN_OR_RETURN(
      const memory dy,
      BeforePostOps(reverse, entry, reverse.Cotangent(entry.at(DNNL_ARG_DST))));
  if (reverse.Leads(a)) {
    GiveMatrices(reverse, a, dy, TransposedValue(reverse, b));
  }
  if (reverse.Leads(b)) {
    GiveMatrices(reverse, b, TransposedValue(reverse, a), dy);
  }
  return OkStatus();
}

Status ReversePooling(Reverse& reverse, const Taped& entry) {
  const auto& forward = DescOf<dnnl::pooling_forward>(entry);
  using Backward = dnnl::pooling_backward;
  return ReverseUnary<Backward>(
      reverse, entry, {}, [&](const auto& dx, const auto& dy) {
        return Backward::primitive_desc(
            reverse.chain().engine(), forward.get_algorithm(), dx, dy,
            forward.get_strides(), forward.get_kernel(),
            forward.get_dilations(), forward.get_padding_l(),
            forward.get_padding_r(), forward, ChainBuilder::attr());
      });
}

Status ReverseResampling(Reverse& reverse, const Taped& entry) {
  const auto& forward = DescOf<dnnl::resampling_forward>(entry);
  using Backward = dnnl::resampling_backward;
  return ReverseUnary<Backward>(
      reverse, entry, {}, [&](const auto& dx, const auto& dy) {
        return Backward::primitive_desc(reverse.chain().engine(),
                                        forward.get_algorithm(), dx, dy,
                                        forward, ChainBuilder::attr());
      });
}

}  // namespace assay::onednn
