// SPDX-License-Identifier: Apache-2.0
//
// Backward of the recurrent primitives. They add to the gradients of weights
// and biases that they are given, so that these begin as zeros.
#include <tuple>
#include <vector>

#include "backends/onednn/reverse/reverse.h"

namespace assay::onednn {
namespace {

/// The descriptor of an argument; an empty one where there is none.
memory::desc Of(const Taped& entry, int name) {
  return DescIfThere(entry.at(name));
}

memory::desc AnyOf(const Taped& entry, int name) {
  return AnyLayout(Of(entry, name));
}

/// An operand of a cell, its gradient, and the layouts that backward wants.
struct Operand {
  int name;
  int gradient;
  memory::desc read, written;
  bool summed = false;  // backward adds to the gradient
};

std::vector<Operand> OperandsOf(const Taped& entry, const auto& desc) {
  std::vector<Operand> operands = {
      {DNNL_ARG_WEIGHTS_LAYER, DNNL_ARG_DIFF_WEIGHTS_LAYER,
       desc.weights_layer_desc(), desc.diff_weights_layer_desc(), true},
      {DNNL_ARG_WEIGHTS_ITER, DNNL_ARG_DIFF_WEIGHTS_ITER,
       desc.weights_iter_desc(), desc.diff_weights_iter_desc(), true}};
  const auto add = [&](int name, int gradient, bool summed) {
    const memory::desc own = Of(entry, name);
    if (own.get_size() == 0) return;
    operands.push_back({name, gradient, own, own, summed});
  };
  add(DNNL_ARG_SRC_LAYER, DNNL_ARG_DIFF_SRC_LAYER, false);
  add(DNNL_ARG_SRC_ITER, DNNL_ARG_DIFF_SRC_ITER, false);
  add(DNNL_ARG_SRC_ITER_C, DNNL_ARG_DIFF_SRC_ITER_C, false);
  add(DNNL_ARG_WEIGHTS_PEEPHOLE, DNNL_ARG_DIFF_WEIGHTS_PEEPHOLE, true);
  add(DNNL_ARG_BIAS, DNNL_ARG_DIFF_BIAS, true);
  return operands;
}

/// Appends the primitive that `desc` describes.
template <class Primitive>
void AddCell(Reverse& reverse, const Taped& entry,
             const typename Primitive::primitive_desc& desc) {
  ChainBuilder& chain = reverse.chain();
  std::vector<Argument> arguments = {
      {DNNL_ARG_WORKSPACE, entry.at(DNNL_ARG_WORKSPACE)}};
  std::vector<Reverse::Landing> landings;
  for (const Operand& operand : OperandsOf(entry, desc)) {
    const memory value = entry.at(operand.name);
    memory read = reverse.Value(value);
    if (read.get_desc() != operand.read) {
      const memory laid = chain.Temporary(operand.read);
      chain.Copy(read, laid);
      read = laid;
    }
    landings.push_back(reverse.Land(value, operand.written));
    const memory& written = landings.back().memory;
    if (operand.summed) chain.Copy(chain.Zeros(operand.written), written);
    arguments.push_back({operand.name, read});
    arguments.push_back({operand.gradient, written});
  }
  for (const auto& [name, cotangent] :
       {std::pair(DNNL_ARG_DST_LAYER, DNNL_ARG_DIFF_DST_LAYER),
        std::pair(DNNL_ARG_DST_ITER, DNNL_ARG_DIFF_DST_ITER),
        std::pair(DNNL_ARG_DST_ITER_C, DNNL_ARG_DIFF_DST_ITER_C)}) {
    const memory result = entry.at(name);
    if (!IsThere(result)) continue;
    arguments.push_back({name, reverse.Value(result)});
    arguments.push_back({cotangent, reverse.CotangentOrZeros(result)});
  }
  chain.Add<Primitive>(desc, arguments);
  for (const Reverse::Landing& landing : landings) reverse.Settle(landing);
}

/// The descriptor of a cell that runs backward: of its tensors, then of their
/// gradients, which are laid out as these.
template <class Backward>
auto CellDesc(const auto& first, const auto& tensors, const auto& last) {
  return std::make_from_tuple<typename Backward::primitive_desc>(
      std::tuple_cat(first, tensors, tensors, last));
}

/// The tensors of a cell without a second state.
auto PlainTensors(const Taped& entry) {
  return std::tuple(Of(entry, DNNL_ARG_SRC_LAYER), Of(entry, DNNL_ARG_SRC_ITER),
                    AnyOf(entry, DNNL_ARG_WEIGHTS_LAYER),
                    AnyOf(entry, DNNL_ARG_WEIGHTS_ITER),
                    Of(entry, DNNL_ARG_BIAS), Of(entry, DNNL_ARG_DST_LAYER),
                    Of(entry, DNNL_ARG_DST_ITER));
}

/// A GRU of either form.
template <class Forward, class Backward>
Status ReverseGated(Reverse& reverse, const Taped& entry) {
  const auto& forward = DescOf<Forward>(entry);
  AddCell<Backward>(
      reverse, entry,
      CellDesc<Backward>(
          std::tuple(reverse.chain().engine(), dnnl::prop_kind::backward,
                     forward.get_direction()),
          PlainTensors(entry), std::tuple(forward, ChainBuilder::attr())));
  return OkStatus();
}

}  // namespace

Status ReverseRnn(Reverse& reverse, const Taped& entry) {
  using Backward = dnnl::vanilla_rnn_backward;
  const auto& forward = DescOf<dnnl::vanilla_rnn_forward>(entry);
  AddCell<Backward>(
      reverse, entry,
      CellDesc<Backward>(
          std::tuple(reverse.chain().engine(), dnnl::prop_kind::backward,
                     forward.get_activation_kind(), forward.get_direction()),
          PlainTensors(entry),
          std::tuple(forward.get_alpha(), forward, ChainBuilder::attr())));
  return OkStatus();
}

Status ReverseLstm(Reverse& reverse, const Taped& entry) {
  using Backward = dnnl::lstm_backward;
  const auto& forward = DescOf<dnnl::lstm_forward>(entry);
  const std::tuple tensors(
      Of(entry, DNNL_ARG_SRC_LAYER), Of(entry, DNNL_ARG_SRC_ITER),
      Of(entry, DNNL_ARG_SRC_ITER_C), AnyOf(entry, DNNL_ARG_WEIGHTS_LAYER),
      AnyOf(entry, DNNL_ARG_WEIGHTS_ITER), Of(entry, DNNL_ARG_WEIGHTS_PEEPHOLE),
      Of(entry, DNNL_ARG_BIAS), Of(entry, DNNL_ARG_DST_LAYER),
      Of(entry, DNNL_ARG_DST_ITER), Of(entry, DNNL_ARG_DST_ITER_C));
  AddCell<Backward>(
      reverse, entry,
      CellDesc<Backward>(
          std::tuple(reverse.chain().engine(), dnnl::prop_kind::backward,
                     forward.get_direction()),
          tensors, std::tuple(forward, ChainBuilder::attr())));
  return OkStatus();
}

Status ReverseGru(Reverse& reverse, const Taped& entry) {
  return ReverseGated<dnnl::gru_forward, dnnl::gru_backward>(reverse, entry);
}

Status ReverseLbrGru(Reverse& reverse, const Taped& entry) {
  return ReverseGated<dnnl::lbr_gru_forward, dnnl::lbr_gru_backward>(reverse,
                                                                     entry);
}

}  // namespace assay::onednn
