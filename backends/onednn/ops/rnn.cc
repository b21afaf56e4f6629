// SPDX-License-Identifier: Apache-2.0
//
// RNN, GRU and LSTM: oneDNN's recurrent primitives over one layer.
//
// ONNX stores gates as rows and an LSTM's in the order i o f c; oneDNN wants
// [layer, direction, input, gate, output] in the order i f c o, and the two
// biases of a gate as one.
#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "backends/onednn/ops/families.h"

namespace assay::onednn {
namespace {

using dnnl::algorithm;
using Type = memory::data_type;

/// The extents of a node, checked against each other.
struct RnnExtents {
  int64_t steps = 0, batch = 0, inputs = 0, hidden = 0, directions = 1;
  int64_t gates = 1;
  bool batch_first = false;  // layout 1
};

dnnl::rnn_direction DirectionOf(const std::string& direction) {
  if (direction == "forward") {
    return dnnl::rnn_direction::unidirectional_left2right;
  }
  return direction == "reverse" ? dnnl::rnn_direction::unidirectional_right2left
                                : dnnl::rnn_direction::bidirectional_concat;
}

Status CheckShape(ChainBuilder& chain, Input input, std::string_view name,
                  const Shape& wanted) {
  if (!input.present) return OkStatus();
  ASSAY_ASSIGN_OR_RETURN(const TensorView view, chain.View(input));
  if (view.shape == wanted) return OkStatus();
  return InvalidArgument(name, " is ", view.shape.ToString(), ", wanted ",
                         wanted.ToString());
}

/// All sequences are as long as the longest: oneDNN knows no other.
Status CheckLengths(ChainBuilder& chain, Input input, int64_t steps) {
  if (!input.present) return OkStatus();
  ASSAY_ASSIGN_OR_RETURN(const std::vector<int64_t> lengths,
                         chain.Integers(input, "sequence_lens"));
  const auto full = [steps](int64_t length) { return length == steps; };
  if (std::ranges::all_of(lengths, full)) return OkStatus();
  return Unsupported(Reason::kAttribute, "sequence_lens is ",
                     Shape(lengths).ToString(), ", oneDNN runs all ", steps,
                     " steps of every sequence");
}

/// The extents, from the shapes of x and r, with what all three operators
/// share of attributes that oneDNN lacks.
template <class Op>
Result<RnnExtents> ReadRnnExtents(ChainBuilder& chain, const Op& op,
                                  int64_t gates) {
  if (op.direction != "forward" && op.direction != "reverse" &&
      op.direction != "bidirectional") {
    return InvalidArgument("direction is '", op.direction, "'");
  }
  if (op.clip.has_value()) {
    return Unsupported(Reason::kAttribute,
                       "clip, which oneDNN's recurrent primitives lack");
  }
  ASSAY_ASSIGN_OR_RETURN(const TensorView x, chain.View(op.x, CheckFloat32));
  ASSAY_ASSIGN_OR_RETURN(const TensorView r, chain.View(op.r));
  if (x.shape.rank() != 3 || r.shape.rank() != 3) {
    return InvalidArgument("x is ", x.shape.ToString(), " and r ",
                           r.shape.ToString(), ", wanted ranks of 3");
  }
  RnnExtents extents{.inputs = x.shape[2],
                     .hidden = r.shape[2],
                     .directions = op.direction == "bidirectional" ? 2 : 1,
                     .gates = gates,
                     .batch_first = op.layout != 0};
  extents.steps = x.shape[extents.batch_first ? 1 : 0];
  extents.batch = x.shape[extents.batch_first ? 0 : 1];
  if (x.count == 0 || extents.hidden == 0) {
    return Unsupported(Reason::kShape, "x or the hidden state is empty");
  }
  if (op.hidden_size.value_or(extents.hidden) != extents.hidden) {
    return InvalidArgument("hidden_size is ", *op.hidden_size, ", r is ",
                           r.shape.ToString());
  }
  ASSAY_RETURN_IF_ERROR(CheckLengths(chain, op.sequence_lens, extents.steps));
  const int64_t d = extents.directions;
  const int64_t rows = gates * extents.hidden;
  ASSAY_RETURN_IF_ERROR(
      CheckShape(chain, op.w, "w", {d, rows, extents.inputs}));
  ASSAY_RETURN_IF_ERROR(
      CheckShape(chain, op.r, "r", {d, rows, extents.hidden}));
  ASSAY_RETURN_IF_ERROR(CheckShape(chain, op.b, "b", {d, 2 * rows}));
  return extents;
}

/// Names of activations must be these, once a direction.
Status CheckActivations(const std::vector<std::string>& given,
                        const std::vector<std::string>& wanted,
                        int64_t directions) {
  for (size_t i = 0; i < given.size(); ++i) {
    if (i >= wanted.size() * static_cast<size_t>(directions) ||
        given[i] != wanted[i % wanted.size()]) {
      return Unsupported(Reason::kAttribute, "activation ", i, " is ", given[i],
                         ", oneDNN's gates have ", wanted[i % wanted.size()]);
    }
  }
  return OkStatus();
}

memory::desc StridedFloats(const memory::dims& dims, memory::dims strides) {
  return StridedDesc(dims, Type::f32, std::move(strides));
}

memory::desc Dense(const memory::dims& dims) {
  return StridedFloats(dims, kernels::RowMajorStrides(dims));
}

constexpr int64_t kWidth = sizeof(float);

/// Gate g of oneDNN is ONNX's order[g].
using Order = std::vector<int64_t>;

/// ONNX's [directions, gates * hidden, columns] as [1, directions, columns,
/// gates, hidden].
memory Weights(ChainBuilder& chain, Input input, const RnnExtents& e,
               int64_t columns, const Order& order) {
  const memory whole =
      chain.Temporary(Dense({1, e.directions, columns, e.gates, e.hidden}));
  for (int64_t g = 0; g < e.gates; ++g) {
    const memory::dims dims = {e.directions, columns, e.hidden};
    const memory::desc from =
        StridedFloats(dims, {e.gates * e.hidden * columns, 1, columns});
    const memory::desc to = StridedFloats(
        dims, {columns * e.gates * e.hidden, e.gates * e.hidden, 1});
    const int64_t row = order[static_cast<size_t>(g)] * e.hidden;
    chain.Fetch(input, from, row * columns * kWidth,
                chain.Redescribe(whole, to, g * e.hidden * kWidth));
  }
  return whole;
}

/// One row of a gate's biases for every direction: the input's at 0 and the
/// recurrent one at 1.
memory BiasRow(ChainBuilder& chain, Input b, const RnnExtents& e, int64_t gate,
               int64_t recurrent) {
  const memory::desc row =
      StridedFloats({e.directions, e.hidden}, {2 * e.gates * e.hidden, 1});
  return chain.In(b, row, (recurrent * e.gates + gate) * e.hidden * kWidth);
}

/// The sums of both biases; with `apart` the last gate's stay two entries.
memory Bias(ChainBuilder& chain, Input b, const RnnExtents& e,
            const Order& order, bool apart) {
  const int64_t entries = e.gates + (apart ? 1 : 0);
  const memory::desc dense = Dense({1, e.directions, entries, e.hidden});
  if (!b.present) return chain.Zeros(dense);  // it has no form without
  const memory whole = chain.Temporary(dense);
  const auto entry = [&](int64_t at) {
    const memory::desc row =
        StridedFloats({e.directions, e.hidden}, {entries * e.hidden, 1});
    return chain.Redescribe(whole, row, at * e.hidden * kWidth);
  };
  for (int64_t g = 0; g < e.gates; ++g) {
    const int64_t gate = order[static_cast<size_t>(g)];
    const memory of_input = BiasRow(chain, b, e, gate, 0);
    const memory of_state = BiasRow(chain, b, e, gate, 1);
    if (apart && g + 1 == e.gates) {
      chain.Copy(of_input, entry(g));
      chain.Copy(of_state, entry(g + 1));
    } else {
      chain.Binary(algorithm::binary_add, of_input, of_state, entry(g));
    }
  }
  return whole;
}

/// The descriptor of a state, ONNX's [directions, batch, hidden] or, batch
/// first, [batch, directions, hidden], as oneDNN's [1, directions, batch,
/// hidden].
memory::desc StateDesc(const RnnExtents& e) {
  const memory::dims dims = {1, e.directions, e.batch, e.hidden};
  if (!e.batch_first) return Dense(dims);
  return StridedFloats(dims, {e.batch * e.directions * e.hidden, e.hidden,
                              e.directions * e.hidden, 1});
}

Shape StateShape(const RnnExtents& e) {
  return e.batch_first ? Shape{e.batch, e.directions, e.hidden}
                       : Shape{e.directions, e.batch, e.hidden};
}

/// The state before the first step; the library's own zeros where the node
/// gives none.
Result<memory> FirstState(ChainBuilder& chain, Input input,
                          std::string_view name, const RnnExtents& e) {
  if (!input.present) return memory();
  ASSAY_RETURN_IF_ERROR(CheckShape(chain, input, name, StateShape(e)));
  if (!e.batch_first) return chain.In(input, StateDesc(e));
  const memory dense =
      chain.Temporary(Dense({1, e.directions, e.batch, e.hidden}));
  chain.Copy(chain.In(input, StateDesc(e)), dense);
  return dense;
}

/// x as [steps, batch, inputs].
memory LayerInput(ChainBuilder& chain, Input x, const RnnExtents& e) {
  const memory::dims dims = {e.steps, e.batch, e.inputs};
  if (!e.batch_first) return chain.In(x, Dense(dims));
  const memory dense = chain.Temporary(Dense(dims));
  chain.Copy(
      chain.In(x, StridedFloats(dims, {e.inputs, e.steps * e.inputs, 1})),
      dense);
  return dense;
}

/// y is [steps, directions, batch, hidden], or [batch, steps, directions,
/// hidden].
Status StoreAll(ChainBuilder& chain, Output y, const memory& out,
                const RnnExtents& e) {
  if (!y.present) return OkStatus();
  const int64_t d = e.directions;
  const int64_t n = e.batch;
  const int64_t h = e.hidden;
  const Shape shape =
      e.batch_first ? Shape{n, e.steps, d, h} : Shape{e.steps, d, n, h};
  ASSAY_ASSIGN_OR_RETURN(const auto view, chain.View(DType::kFloat32, shape));
  const memory::dims dims = {e.steps, n, d, h};
  const memory::dims strides = e.batch_first
                                   ? memory::dims{d * h, e.steps * d * h, h, 1}
                                   : memory::dims{d * n * h, h, n * h, 1};
  chain.Copy(chain.Redescribe(out, Dense(dims)),
             chain.Out(y, view, StridedFloats(dims, strides)));
  return OkStatus();
}

Status StoreState(ChainBuilder& chain, Output y, const memory& last,
                  const RnnExtents& e) {
  if (!y.present) return OkStatus();
  ASSAY_ASSIGN_OR_RETURN(const TensorView view,
                         chain.View(DType::kFloat32, StateShape(e)));
  chain.Copy(last, chain.Out(y, view, StateDesc(e)));
  return OkStatus();
}

/// The memories that the operators with one state share.
struct Cell {
  memory layer, state, weights, recurrent, bias;
  memory out, last;  // before they are copied to where ONNX has them

  memory::desc weights_desc() const { return AnyLayout(weights.get_desc()); }
  memory::desc recurrent_desc() const {
    return AnyLayout(recurrent.get_desc());
  }

  /// With the weights in the layout that the library chose.
  template <class Op>
  std::vector<ChainBuilder::Argument> Arguments(ChainBuilder& chain,
                                                const Op& op,
                                                const auto& desc) const {
    return {{DNNL_ARG_SRC_LAYER, layer},
            {DNNL_ARG_SRC_ITER, state},
            {DNNL_ARG_WEIGHTS_LAYER,
             chain.Rearranged(op.w, weights, desc.weights_layer_desc())},
            {DNNL_ARG_WEIGHTS_ITER,
             chain.Rearranged(op.r, recurrent, desc.weights_iter_desc())},
            {DNNL_ARG_BIAS, bias},
            {DNNL_ARG_DST_LAYER, out},
            {DNNL_ARG_DST_ITER, last}};
  }
};

template <class Op>
Result<Cell> MakeCell(ChainBuilder& chain, const Op& op, const RnnExtents& e,
                      const Order& order, bool apart) {
  Cell cell;
  ASSAY_ASSIGN_OR_RETURN(cell.state,
                         FirstState(chain, op.initial_h, "initial_h", e));
  cell.layer = LayerInput(chain, op.x, e);
  cell.weights = Weights(chain, op.w, e, e.inputs, order);
  cell.recurrent = Weights(chain, op.r, e, e.hidden, order);
  cell.bias = Bias(chain, op.b, e, order, apart);
  cell.out =
      chain.Temporary(Dense({e.steps, e.batch, e.directions * e.hidden}));
  cell.last = chain.Temporary(Dense({1, e.directions, e.batch, e.hidden}));
  return cell;
}

/// GRU with its two forms: the reset gate before or behind the recurrent
/// product.
template <class Primitive>
void AddGru(ChainBuilder& chain, const op::GRU& op, const Cell& cell) {
  const typename Primitive::primitive_desc desc(
      chain.engine(), chain.prop(), DirectionOf(op.direction),
      cell.layer.get_desc(), DescIfThere(cell.state), cell.weights_desc(),
      cell.recurrent_desc(), cell.bias.get_desc(), cell.out.get_desc(),
      cell.last.get_desc(), ChainBuilder::attr());
  chain.Add<Primitive>(desc, cell.Arguments(chain, op, desc));
}

Status AddGRU(const op::GRU& op, ChainBuilder& chain) {
  ASSAY_ASSIGN_OR_RETURN(const RnnExtents e, ReadRnnExtents(chain, op, 3));
  ASSAY_RETURN_IF_ERROR(
      CheckActivations(op.activations, {"Sigmoid", "Tanh"}, e.directions));
  const bool behind = op.linear_before_reset != 0;
  ASSAY_ASSIGN_OR_RETURN(const Cell cell,
                         MakeCell(chain, op, e, {0, 1, 2}, behind));
  if (behind) {
    AddGru<dnnl::lbr_gru_forward>(chain, op, cell);
  } else {
    AddGru<dnnl::gru_forward>(chain, op, cell);
  }
  ASSAY_RETURN_IF_ERROR(StoreAll(chain, op.y, cell.out, e));
  return StoreState(chain, op.y_h, cell.last, e);
}

/// The activation of every direction, which must be one for both.
struct Activation {
  algorithm kind = algorithm::eltwise_tanh;
  float alpha = 0;
};

Result<Activation> ReadActivation(const op::RNN& op, int64_t directions) {
  const auto count = static_cast<size_t>(directions);
  const std::string name =
      op.activations.empty() ? "Tanh" : op.activations.front();
  const float alpha = op.activation_alpha.empty() ? 0.01F  // LeakyRelu's
                                                  : op.activation_alpha[0];
  for (size_t i = 1; i < std::min(count, op.activations.size()); ++i) {
    if (op.activations[i] != name ||
        (i < op.activation_alpha.size() && op.activation_alpha[i] != alpha)) {
      return Unsupported(Reason::kAttribute,
                         "the directions have activations of their own, "
                         "oneDNN has one for both");
    }
  }
  if (name == "Tanh") return Activation{algorithm::eltwise_tanh};
  if (name == "Sigmoid") return Activation{algorithm::eltwise_logistic};
  if (name == "Relu") return Activation{algorithm::eltwise_relu};
  if (name == "LeakyRelu") return Activation{algorithm::eltwise_relu, alpha};
  return Unsupported(Reason::kAttribute, "the activation is ", name,
                     ", oneDNN's is a tanh, sigmoid or relu");
}

Status AddRNN(const op::RNN& op, ChainBuilder& chain) {
  ASSAY_ASSIGN_OR_RETURN(const RnnExtents e, ReadRnnExtents(chain, op, 1));
  ASSAY_ASSIGN_OR_RETURN(const Activation activation,
                         ReadActivation(op, e.directions));
  ASSAY_ASSIGN_OR_RETURN(const Cell cell, MakeCell(chain, op, e, {0}, false));
  const dnnl::vanilla_rnn_forward::primitive_desc desc(
      chain.engine(), chain.prop(), activation.kind, DirectionOf(op.direction),
      cell.layer.get_desc(), DescIfThere(cell.state), cell.weights_desc(),
      cell.recurrent_desc(), cell.bias.get_desc(), cell.out.get_desc(),
      cell.last.get_desc(), activation.alpha, ChainBuilder::attr());
  chain.Add<dnnl::vanilla_rnn_forward>(desc, cell.Arguments(chain, op, desc));
  ASSAY_RETURN_IF_ERROR(StoreAll(chain, op.y, cell.out, e));
  return StoreState(chain, op.y_h, cell.last, e);
}

/// ONNX's [directions, 3 * hidden] in the order i o f, as oneDNN's i f o.
Result<memory> Peepholes(ChainBuilder& chain, Input p, const RnnExtents& e) {
  if (!p.present) return memory();
  ASSAY_RETURN_IF_ERROR(
      CheckShape(chain, p, "p", {e.directions, 3 * e.hidden}));
  const memory whole = chain.Temporary(Dense({1, e.directions, 3, e.hidden}));
  const memory::desc row =
      StridedFloats({e.directions, e.hidden}, {3 * e.hidden, 1});
  const Order order = {0, 2, 1};
  for (int64_t g = 0; g < 3; ++g) {
    chain.Fetch(p, row, order[static_cast<size_t>(g)] * e.hidden * kWidth,
                chain.Redescribe(whole, row, g * e.hidden * kWidth));
  }
  return whole;
}

/// Both states of an LSTM, or none: where the node gives one, the other is
/// zeros.
Status ReadStates(ChainBuilder& chain, const op::LSTM& op, const RnnExtents& e,
                  Cell& cell, memory& cell_state) {
  ASSAY_ASSIGN_OR_RETURN(cell_state,
                         FirstState(chain, op.initial_c, "initial_c", e));
  const memory::desc dense = Dense({1, e.directions, e.batch, e.hidden});
  const bool one = op.initial_h.present != op.initial_c.present;
  if (one && !op.initial_h.present) cell.state = chain.Zeros(dense);
  if (one && !op.initial_c.present) cell_state = chain.Zeros(dense);
  return OkStatus();
}

Result<Fill> MakeLSTM(const op::LSTM& op, LoadContext&) {
  if (op.input_forget != 0) {
    return Unsupported(Reason::kAttribute,
                       "input_forget, which oneDNN's LSTM lacks");
  }
  return Fill([=](ChainBuilder& chain) -> Status {
    ASSAY_ASSIGN_OR_RETURN(const RnnExtents e, ReadRnnExtents(chain, op, 4));
    ASSAY_RETURN_IF_ERROR(CheckActivations(
        op.activations, {"Sigmoid", "Tanh", "Tanh"}, e.directions));
    ASSAY_ASSIGN_OR_RETURN(Cell cell,
                           MakeCell(chain, op, e, {0, 2, 3, 1}, false));
    memory cell_state;
    ASSAY_RETURN_IF_ERROR(ReadStates(chain, op, e, cell, cell_state));
    ASSAY_ASSIGN_OR_RETURN(const memory peepholes, Peepholes(chain, op.p, e));
    const memory last_cell =
        chain.Temporary(Dense({1, e.directions, e.batch, e.hidden}));
    const dnnl::lstm_forward::primitive_desc desc(
        chain.engine(), chain.prop(), DirectionOf(op.direction),
        cell.layer.get_desc(), DescIfThere(cell.state), DescIfThere(cell_state),
        cell.weights_desc(), cell.recurrent_desc(), DescIfThere(peepholes),
        cell.bias.get_desc(), cell.out.get_desc(), cell.last.get_desc(),
        last_cell.get_desc(), ChainBuilder::attr());
    auto arguments = cell.Arguments(chain, op, desc);
    arguments.push_back({DNNL_ARG_SRC_ITER_C, cell_state});
    arguments.push_back({DNNL_ARG_WEIGHTS_PEEPHOLE, peepholes});
    arguments.push_back({DNNL_ARG_DST_ITER_C, last_cell});
    chain.Add<dnnl::lstm_forward>(desc, arguments);
    ASSAY_RETURN_IF_ERROR(StoreAll(chain, op.y, cell.out, e));
    ASSAY_RETURN_IF_ERROR(StoreState(chain, op.y_h, cell.last, e));
    return StoreState(chain, op.y_c, last_cell, e);
  });
}

}  // namespace

FamilyPointer MakeRnn(const std::shared_ptr<const Device>& device) {
  return FamilyOf(device, AddGRU, MakeLSTM, AddRNN);
}

}  // namespace assay::onednn
