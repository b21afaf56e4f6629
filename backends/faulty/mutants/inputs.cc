// SPDX-License-Identifier: Apache-2.0
//
// Mutants that ignore an input, broadcast one wrongly, or read weights in
// another order than they are stored in.

#include <numeric>

#include "backends/faulty/mutants.h"
#include "backends/faulty/numbers.h"

namespace assay::faulty {
namespace {

using Pairs = Ops<op::Add, op::Sub, op::Mul, op::Div, op::Pow, op::Greater,
                  op::Less, op::Equal>;

/// All elements become the first.
Result<Tensor> Flat(const Tensor& tensor) {
  const auto count = static_cast<size_t>(tensor.num_elements());
  return Picked(tensor, tensor.shape(), std::vector<int64_t>(count, 0));
}

// The second operand's axes are lined up with the first's from the left, where
// that fits.
Status AlignLeft(Values& inputs) {
  const Tensor* a = inputs[0].tensor();
  if (a == nullptr) return OkStatus();
  const Shape to = a->shape();
  return ChangeTensor(inputs[1], [&](const Tensor& b) -> Result<Tensor> {
    if (b.shape().rank() >= to.rank()) return b;
    for (int axis = 0; axis < b.shape().rank(); ++axis) {
      if (b.shape()[axis] != to[axis]) return b;
    }
    std::vector<int64_t> dims = b.shape().dims();
    dims.resize(static_cast<size_t>(to.rank()), 1);
    return b.Reshape(Shape(dims));
  });
}

// Reads the first element only of an operand that is broadcast.
template <size_t kWhich>
Status RepeatFirstOf(Values& inputs) {
  const Tensor* a = inputs[1 - kWhich].tensor();
  if (a == nullptr) return OkStatus();
  const Shape to = a->shape();
  return ChangeTensor(inputs[kWhich], [&](const Tensor& b) -> Result<Tensor> {
    if (b.shape() == to) return b;
    return Flat(b);
  });
}

// As many keys count as there are, padding and all.
Status CountPadding(const op::Attention& op, Values& inputs) {
  const auto at = static_cast<size_t>(op.nonpad_kv_seqlen.position);
  if (at >= inputs.size()) return OkStatus();
  const Shape& k = inputs[static_cast<size_t>(op.k.position)].tensor()->shape();
  const auto keys = static_cast<double>(k[k.rank() - 2]);
  return ChangeNumbers(inputs[at], [=](int64_t, double) { return keys; });
}

Status ForgetPast(const op::Attention& op, Values& inputs) {
  for (const Input past : {op.past_key, op.past_value}) {
    const auto at = static_cast<size_t>(past.position);
    if (at >= inputs.size()) continue;
    ASSAY_RETURN_IF_ERROR(
        ChangeNumbers(inputs[at], [](int64_t, double) { return 0; }));
  }
  return OkStatus();
}

// Each token stands where it does in its row.
Result<Tensor> CountedPositions(const Tensor& ids) {
  const int64_t rows = ids.shape()[ids.shape().rank() - 1];
  return WithNumbers(
      ids, [=](int64_t i, double) { return static_cast<double>(i % rows); });
}

// The last two axes change places, where they are as long.
Result<Tensor> TransposedIfSquare(const Tensor& weights) {
  const int rank = weights.shape().rank();
  if (rank < 2 || weights.shape()[rank - 1] != weights.shape()[rank - 2]) {
    return weights;
  }
  std::vector<int> perm(static_cast<size_t>(rank));
  std::iota(perm.begin(), perm.end(), 0);
  std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
  return Transposed(weights, perm);
}

// Convolution as mathematics has it, where ONNX means correlation.
Result<Tensor> Flipped(const Tensor& weights) {
  const int64_t taps =
      weights.shape().rank() > 2
          ? weights.num_elements() / (weights.shape()[0] * weights.shape()[1])
          : 1;
  std::vector<int64_t> places;
  for (int64_t i = 0; i < weights.num_elements(); ++i) {
    places.push_back(i / taps * taps + (taps - 1 - i % taps));
  }
  return Picked(weights, weights.shape(), places);
}

/// Gates `a` and `b` of `count`, stored one after another along axis 1, change
/// places in W, R and B, which has them twice.
Status SwapGates(Values& inputs, int64_t count, int64_t a, int64_t b) {
  for (const size_t at : {1, 2, 3}) {
    if (at >= inputs.size()) continue;
    const int64_t gates = at == 3 ? 2 * count : count;
    const auto swap = [&](const Tensor& weights) {
      const int64_t length =
          weights.num_elements() / weights.shape()[0] / gates;
      std::vector<int64_t> places;
      for (int64_t i = 0; i < weights.num_elements(); ++i) {
        const int64_t gate = i / length % count;
        const int64_t other = gate == a ? b : gate == b ? a : gate;
        places.push_back(i + (other - gate) * length);
      }
      return Picked(weights, weights.shape(), places);
    };
    ASSAY_RETURN_IF_ERROR(ChangeTensor(inputs[at], swap));
  }
  return OkStatus();
}

// Feature by feature instead of target by target.
void TransposeCoefficients(op::ml::LinearRegressor& op) {
  const auto targets = static_cast<size_t>(op.targets);
  const std::vector<float> given = op.coefficients;
  if (targets == 0 || given.size() % targets != 0) return;
  const size_t features = given.size() / targets;
  for (size_t i = 0; i < given.size(); ++i) {
    op.coefficients[i] = given[i % features * targets + i / features];
  }
}

}  // namespace

std::vector<Mutant> InputMutants() {
  return {
      {"add_second_ignored", Filled(0, &op::Add::b, &op::Sub::b)},
      {"conv_bias_ignored", Dropped(&op::Conv::b, &op::ConvTranspose::b)},
      {"gemm_c_ignored", Filled(0, &op::Gemm::c)},
      {"clip_max_ignored", Dropped(&op::Clip::max)},
      {"pad_value_ignored", Dropped(&op::Pad::constant_value)},
      {"trilu_k_ignored", Dropped(&op::Trilu::k)},
      {"norm_bias_ignored",
       Filled(0, &op::LayerNormalization::b, &op::BatchNormalization::b,
              &op::InstanceNormalization::b)},
      {"quantize_zero_point_ignored",
       Filled(0, &op::QuantizeLinear::y_zero_point)},
      {"dequantize_zero_point_ignored",
       Filled(0, &op::DequantizeLinear::x_zero_point)},
      {"nms_score_threshold_ignored",
       Dropped(&op::NonMaxSuppression::score_threshold)},
      {"variadic_last_ignored",
       Rewritten(Ops<op::Max, op::Min, op::Sum, op::Mean>(),
                 [](auto& op) {
                   if (op.data_0.count > 2) --op.data_0.count;
                 })},
      {"rnn_initial_state_ignored",
       Dropped(&op::RNN::initial_h, &op::GRU::initial_h, &op::LSTM::initial_h)},
      {"rnn_sequence_lens_ignored",
       Dropped(&op::RNN::sequence_lens, &op::GRU::sequence_lens,
               &op::LSTM::sequence_lens)},
      {"rnn_bias_ignored", Dropped(&op::RNN::b, &op::GRU::b, &op::LSTM::b)},
      {"broadcast_aligned_left", Fed(Pairs(), AlignLeft)},
      {"broadcast_second_first_element", Fed(Pairs(), RepeatFirstOf<1>)},
      {"broadcast_first_first_element", Fed(Pairs(), RepeatFirstOf<0>)},
      {"where_condition_first_element", Changed(Flat, &op::Where::condition)},
      {"prelu_one_slope", Changed(Flat, &op::PRelu::slope)},
      {"attention_past_ignored", Fed(Ops<op::Attention>(), ForgetPast)},
      {"attention_padding_ignored", Fed(Ops<op::Attention>(), CountPadding)},
      {"rotary_position_ids_ignored",
       Changed(CountedPositions, &op::RotaryEmbedding::position_ids)},
      {"past_state_ignored", Filled(0, &op::LinearAttention::past_state,
                                    &op::CausalConvWithState::past_state)},
      {"linear_attention_decay_ignored",
       Filled(0, &op::LinearAttention::decay)},
      {"deformconv_mask_ignored", Filled(1, &op::DeformConv::mask)},
      {"dft_length_ignored", Dropped(&op::DFT::dft_length)},
      {"roialign_images_ignored", Filled(0, &op::RoiAlign::batch_indices)},
      {"stft_window_ignored", Filled(1, &op::STFT::window)},
      {"mel_lower_edge_ignored",
       Filled(0, &op::MelWeightMatrix::lower_edge_hertz)},
  };
}

std::vector<Mutant> WeightMutants() {
  return {
      {"gemm_b_transposed", Changed(TransposedIfSquare, &op::Gemm::b)},
      {"matmul_second_transposed",
       Changed(TransposedIfSquare, &op::MatMul::b, &op::MatMulInteger::b)},
      {"conv_kernel_flipped", Changed(Flipped, &op::Conv::w)},
      {"rnn_recurrence_transposed", Changed(TransposedIfSquare, &op::RNN::r)},
      {"lstm_gates_swapped",
       Fed(Ops<op::LSTM>(),
           [](Values& inputs) { return SwapGates(inputs, 4, 1, 2); })},
      {"gru_gates_swapped",
       Fed(Ops<op::GRU>(),
           [](Values& inputs) { return SwapGates(inputs, 3, 0, 1); })},
      {"linear_coefficients_transposed",
       Rewritten(Ops<op::ml::LinearRegressor>(), TransposeCoefficients)},
  };
}

}  // namespace assay::faulty
