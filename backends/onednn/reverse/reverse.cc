// SPDX-License-Identifier: Apache-2.0

#include "backends/onednn/reverse/reverse.h"

#include <map>
#include <typeindex>

namespace assay::onednn {
namespace {

bool IsFloat(const memory& made) {
  return made.get_desc().get_data_type() == memory::data_type::f32;
}

/// True when `desc` spans all bytes of the memory that it lies in.
bool Covers(const Place& place, const memory::desc& desc) {
  return place.offset_bytes == 0 &&
         desc.get_size() == place.root.get_desc().get_size() &&
         static_cast<size_t>(Product(desc.get_dims())) * sizeof(float) ==
             desc.get_size();
}

template <class Primitive>
std::type_index IndexOf() {
  return typeid(typename Primitive::primitive_desc);
}

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

Reverse::Reverse(const Tape& tape, ChainBuilder& chain, const Asked& asked)
    : tape_(tape), chain_(chain), asked_(asked) {
  for (const int input : asked.inputs) {
    leading_.emplace(Role::kInput, static_cast<uintptr_t>(input));
  }
}

Reverse::Root Reverse::RootOf(const Place& place) const {
  if (place.role == Role::kOwn) {
    return {Role::kOwn, reinterpret_cast<uintptr_t>(place.root.get())};
  }
  return {place.role, static_cast<uintptr_t>(place.position)};
}

const Place* Reverse::Find(const memory& forward) const {
  const auto found = tape_.places.find(forward.get());
  return found == tape_.places.end() ? nullptr : &found->second;
}

bool Reverse::Leads(const memory& operand) const {
  const Place* const place = Find(operand);
  return place != nullptr && IsFloat(operand) &&
         leading_.contains(RootOf(*place));
}

void Reverse::Lead(const memory& result) {
  const Place* const place = Find(result);
  if (place != nullptr) leading_.insert(RootOf(*place));
}

bool Reverse::Flows(const memory& written) const {
  const Place* const place = Find(written);
  if (place == nullptr) return false;
  if (place->role == Role::kOutput) {
    return asked_.outputs.contains(place->position);
  }
  const auto found = flows_.find(RootOf(*place));
  return found != flows_.end() && found->second.any;
}

memory Reverse::ValueAs(const memory& forward, const memory::desc& desc) {
  const Place* const place = Find(forward);
  if (place == nullptr || place->role == Role::kOwn) {
    return desc == forward.get_desc() ? forward
                                      : chain_.Redescribe(forward, desc);
  }
  const bool input = place->role == Role::kInput;
  const Tape::Type& type =
      (input ? tape_.inputs : tape_.outputs).at(place->position);
  return chain_.Over(input ? Role::kInput : Role::kResult, place->position,
                     type.dtype, type.shape, desc, place->offset_bytes);
}

memory Reverse::CotangentAs(const memory& written, const memory::desc& desc,
                            int64_t offset_bytes) {
  if (!Flows(written)) return {};
  const Place* const place = Find(written);
  if (place->role == Role::kOutput) {
    const Tape::Type& type = tape_.outputs.at(place->position);
    return chain_.Over(Role::kCotangent, place->position, type.dtype,
                       type.shape, desc, place->offset_bytes + offset_bytes);
  }
  const Flow& flow = flows_.at(RootOf(*place));
  if (offset_bytes == 0 && desc == flow.sum.get_desc()) return flow.sum;
  return chain_.Redescribe(flow.sum, desc, place->offset_bytes + offset_bytes);
}

memory Reverse::CotangentOrZeros(const memory& written) {
  const memory flowing = Cotangent(written);
  return IsThere(flowing) ? flowing : chain_.Zeros(written.get_desc());
}

Reverse::Target Reverse::Open(const memory& operand, const memory::desc& desc) {
  const Place& place = *Find(operand);
  Flow& flow = flows_[RootOf(place)];
  Target target{.add = flow.any};
  flow.any = true;
  if (place.role == Role::kInput) {
    const Tape::Type& type = tape_.inputs.at(place.position);
    target.memory = chain_.Over(Role::kGradient, place.position, type.dtype,
                                type.shape, desc, place.offset_bytes);
    return target;
  }
  if (!target.add) {
    flow.sum = chain_.Temporary(place.root.get_desc());
    if (!Covers(place, desc)) {
      chain_.Copy(chain_.Zeros(flow.sum.get_desc()), flow.sum);
      target.add = true;
    }
  }
  target.memory = desc == flow.sum.get_desc()
                      ? flow.sum
                      : chain_.Redescribe(flow.sum, desc, place.offset_bytes);
  return target;
}

Reverse::Landing Reverse::Land(const memory& operand,
                               const memory::desc& made) {
  if (!Leads(operand)) return {.memory = chain_.Temporary(made)};
  const Target target = Open(operand, operand.get_desc());
  if (!target.add && made == operand.get_desc()) {
    return {.memory = target.memory};
  }
  return {.memory = chain_.Temporary(made),
          .target = target.memory,
          .add = target.add};
}

void Reverse::Settle(const Landing& landing) {
  if (!IsThere(landing.target)) return;
  chain_.Copy(landing.memory, landing.target, landing.add);
}

void Reverse::Give(const memory& operand,
                   const std::function<void(const memory&)>& write) {
  if (!Leads(operand)) return;
  const Landing landing = Land(operand, operand.get_desc());
  write(landing.memory);
  Settle(landing);
}

void Reverse::PassAs(const memory& operand, const memory::desc& desc,
                     const memory& gradient) {
  if (!Leads(operand)) return;
  const Target target = Open(operand, desc);
  chain_.Copy(gradient, target.memory, target.add);
}

const Rule* FindRule(const Taped& entry) {
  static const std::map<std::type_index, Rule> rules = {
      {IndexOf<dnnl::eltwise_forward>(), {ReverseEltwise, EltwisePasses}},
      {IndexOf<dnnl::binary>(), {ReverseBinary, BinaryPasses}},
      {IndexOf<dnnl::prelu_forward>(), {ReversePRelu}},
      {IndexOf<dnnl::reorder>(), {ReverseReorder}},
      {IndexOf<dnnl::concat>(), {ReverseConcat}},
      {IndexOf<dnnl::sum>(), {ReverseSum}},
      {IndexOf<dnnl::reduction>(), {ReverseReduction}},
      {IndexOf<dnnl::convolution_forward>(), {ReverseConvolution}},
      {IndexOf<dnnl::deconvolution_forward>(), {ReverseDeconvolution}},
      {IndexOf<dnnl::inner_product_forward>(), {ReverseInnerProduct}},
      {IndexOf<dnnl::matmul>(), {ReverseMatMul}},
      {IndexOf<dnnl::batch_normalization_forward>(),
       {ReverseBatchNormalization}},
      {IndexOf<dnnl::layer_normalization_forward>(),
       {ReverseLayerNormalization}},
      {IndexOf<dnnl::lrn_forward>(), {ReverseLrn}},
      {IndexOf<dnnl::softmax_forward>(), {ReverseSoftmax}},
      {IndexOf<dnnl::pooling_forward>(), {ReversePooling}},
      {IndexOf<dnnl::resampling_forward>(), {ReverseResampling}},
      {IndexOf<dnnl::vanilla_rnn_forward>(), {ReverseRnn}},
      {IndexOf<dnnl::lstm_forward>(), {ReverseLstm}},
      {IndexOf<dnnl::gru_forward>(), {ReverseGru}},
      {IndexOf<dnnl::lbr_gru_forward>(), {ReverseLbrGru}}};
  const auto found = rules.find(entry.desc.type());
  return found == rules.end() ? nullptr : &found->second;
}

bool IsResult(const Taped& entry, int argument) {
  if (argument == DNNL_ARG_MEAN || argument == DNNL_ARG_VARIANCE) {
    return !HasStatistics(entry);
  }
  return argument == DNNL_ARG_DST || argument == DNNL_ARG_DST_ITER ||
         argument == DNNL_ARG_DST_ITER_C;
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

}  // namespace assay::onednn
