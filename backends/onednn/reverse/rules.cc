// SPDX-License-Identifier: Apache-2.0
#include "backends/onednn/reverse/rules.h"

#include <map>
#include <typeindex>

namespace assay::onednn {
namespace {

template <class Primitive>
std::type_index IndexOf() {
  return typeid(typename Primitive::primitive_desc);
}

bool AlwaysPasses(const Taped&) { return true; }

/// True for a batch normalization that is given its statistics.
bool HasStatistics(const Taped& entry) {
  if (entry.desc.type() != IndexOf<dnnl::batch_normalization_forward>()) {
    return false;
  }
  const auto flags =
      DescOf<dnnl::batch_normalization_forward>(entry).get_flags();
  return (flags & dnnl::normalization_flags::use_global_stats) !=
         dnnl::normalization_flags::none;
}

}  // namespace

const Rule* FindRule(const Taped& entry) {
  static const std::map<std::type_index, Rule> rules = {
      {IndexOf<dnnl::eltwise_forward>(), {ReverseEltwise, EltwisePasses}},
      {IndexOf<dnnl::binary>(), {ReverseBinary, BinaryPasses}},
      {IndexOf<dnnl::prelu_forward>(), {ReversePRelu, AlwaysPasses}},
      {IndexOf<dnnl::reorder>(), {ReverseReorder, AlwaysPasses}},
      {IndexOf<dnnl::concat>(), {ReverseConcat, AlwaysPasses}},
      {IndexOf<dnnl::sum>(), {ReverseSum, AlwaysPasses}},
      {IndexOf<dnnl::reduction>(), {ReverseReduction, AlwaysPasses}},
      {IndexOf<dnnl::convolution_forward>(),
       {ReverseConvolution, AlwaysPasses}},
      {IndexOf<dnnl::deconvolution_forward>(),
       {ReverseDeconvolution, AlwaysPasses}},
      {IndexOf<dnnl::inner_product_forward>(),
       {ReverseInnerProduct, AlwaysPasses}},
      {IndexOf<dnnl::matmul>(), {ReverseMatMul, AlwaysPasses}},
      {IndexOf<dnnl::batch_normalization_forward>(),
       {ReverseBatchNormalization, AlwaysPasses}},
      {IndexOf<dnnl::layer_normalization_forward>(),
       {ReverseLayerNormalization, AlwaysPasses}},
      {IndexOf<dnnl::lrn_forward>(), {ReverseLrn, AlwaysPasses}},
      {IndexOf<dnnl::softmax_forward>(), {ReverseSoftmax, AlwaysPasses}},
      {IndexOf<dnnl::pooling_forward>(), {ReversePooling, AlwaysPasses}},
      {IndexOf<dnnl::resampling_forward>(), {ReverseResampling, AlwaysPasses}},
      {IndexOf<dnnl::vanilla_rnn_forward>(), {ReverseRnn, AlwaysPasses}},
      {IndexOf<dnnl::lstm_forward>(), {ReverseLstm, AlwaysPasses}},
      {IndexOf<dnnl::gru_forward>(), {ReverseGru, AlwaysPasses}},
      {IndexOf<dnnl::lbr_gru_forward>(), {ReverseLbrGru, AlwaysPasses}}};
  const auto found = rules.find(entry.desc.type());
  return found == rules.end() ? nullptr : &found->second;
}

bool IsResult(const Taped& entry, int argument) {
  switch (argument) {
    case DNNL_ARG_DST:
    case DNNL_ARG_DST_ITER:
    case DNNL_ARG_DST_ITER_C:
      return true;
    case DNNL_ARG_MEAN:
    case DNNL_ARG_VARIANCE:
      return !HasStatistics(entry);
    default:
      return false;
  }
}

Status NoBackward(std::string_view what) {
  return Unsupported(Reason::kGradient, "oneDNN has no backward of ", what);
}

void SumInto(ChainBuilder& chain, const memory& from, const memory& to) {
  if (from.get_desc().get_dims() == to.get_desc().get_dims()) {
    chain.Copy(from, to);
  } else {
    chain.Reduce(dnnl::algorithm::reduction_sum, from, to);
  }
}

void GiveRepeated(Reverse& reverse, const memory& operand,
                  const memory::desc& full,
                  const std::function<void(const memory&)>& write) {
  if (operand.get_desc().get_dims() == full.get_dims()) {
    reverse.Give(operand, write);
    return;
  }
  reverse.Give(operand, [&](const memory& to) {
    const memory whole = reverse.chain().Temporary(
        StridedDesc(full.get_dims(), memory::data_type::f32,
                    RowMajorStrides(full.get_dims())));
    write(whole);
    SumInto(reverse.chain(), whole, to);
  });
}

memory::desc AnyLayoutOf(const memory::desc& desc) {
  return {desc.get_dims(), desc.get_data_type(), memory::format_tag::any};
}

}  // namespace assay::onednn
