// SPDX-License-Identifier: Apache-2.0
//
// Mutants that ignore an input or broadcast one wrongly.

#include "backends/faulty/mutants.h"
#include "backends/faulty/numbers.h"

namespace assay::faulty {
namespace {

using Pairs = Ops<op::Add, op::Sub, op::Mul, op::Div, op::Pow, op::Greater,
                  op::Less, op::Equal>;
using Recurrent = Ops<op::RNN, op::GRU, op::LSTM>;

Value* At(Values& values, Input input) {
  const auto at = static_cast<size_t>(input.position);
  return at < values.size() ? &values[at] : nullptr;
}

Status Drop(Values& inputs, Input input) {
  if (Value* value = At(inputs, input)) *value = Value();
  return OkStatus();
}

/// All elements of an input become the number.
Status Fill(Values& inputs, Input input, double number) {
  Value* const value = At(inputs, input);
  if (value == nullptr) return OkStatus();
  return ChangeTensor(*value, [=](const Tensor& tensor) {
    return WithNumbers(tensor, [=](int64_t, double) { return number; });
  });
}

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
    return b.Reshape(Shape(std::move(dims)));
  });
}

// Reads the first element only of an operand that is broadcast.
Status RepeatFirstOf(Values& inputs, size_t which) {
  const Tensor* a = inputs[1 - which].tensor();
  if (a == nullptr) return OkStatus();
  const Shape to = a->shape();
  return ChangeTensor(inputs[which], [&](const Tensor& b) -> Result<Tensor> {
    if (b.shape() == to) return b;
    return Flat(b);
  });
}

std::vector<Mutant> Broadcasts() {
  return {
      {"broadcast_aligned_left",
       Fed(Pairs(),
           [](const auto&, Values& inputs) { return AlignLeft(inputs); })},
      {"broadcast_second_first_element",
       Fed(Pairs(), [](const auto&,
                       Values& inputs) { return RepeatFirstOf(inputs, 1); })},
      {"broadcast_first_first_element",
       Fed(Pairs(), [](const auto&,
                       Values& inputs) { return RepeatFirstOf(inputs, 0); })},
      {"where_condition_first_element",
       Fed(Ops<op::Where>(),
           [](const auto& op, Values& inputs) {
             return ChangeTensor(*At(inputs, op.condition), Flat);
           })},
      {"prelu_one_slope", Fed(Ops<op::PRelu>(),
                              [](const auto& op, Values& inputs) {
                                return ChangeTensor(*At(inputs, op.slope),
                                                    Flat);
                              })},
  };
}

std::vector<Mutant> IgnoredByRecurrent() {
  return {
      {"rnn_initial_state_ignored", Fed(Recurrent(),
                                        [](const auto& op, Values& inputs) {
                                          return Drop(inputs, op.initial_h);
                                        })},
      {"rnn_sequence_lens_ignored", Fed(Recurrent(),
                                        [](const auto& op, Values& inputs) {
                                          return Drop(inputs, op.sequence_lens);
                                        })},
      {"rnn_bias_ignored",
       Fed(Recurrent(),
           [](const auto& op, Values& inputs) { return Drop(inputs, op.b); })},
  };
}

std::vector<Mutant> Ignored() {
  return {
      {"add_second_ignored", Fed(Ops<op::Add, op::Sub>(),
                                 [](const auto& op, Values& inputs) {
                                   return Fill(inputs, op.b, 0);
                                 })},
      {"conv_bias_ignored",
       Fed(Ops<op::Conv, op::ConvTranspose>(),
           [](const auto& op, Values& inputs) { return Drop(inputs, op.b); })},
      {"gemm_c_ignored", Fed(Ops<op::Gemm>(),
                             [](const auto& op, Values& inputs) {
                               return Fill(inputs, op.c, 0);
                             })},
      {"clip_max_ignored", Fed(Ops<op::Clip>(),
                               [](const auto& op, Values& inputs) {
                                 return Drop(inputs, op.max);
                               })},
      {"pad_value_ignored", Fed(Ops<op::Pad>(),
                                [](const auto& op, Values& inputs) {
                                  return Drop(inputs, op.constant_value);
                                })},
      {"trilu_k_ignored",
       Fed(Ops<op::Trilu>(),
           [](const auto& op, Values& inputs) { return Drop(inputs, op.k); })},
      {"norm_bias_ignored",
       Fed(Ops<op::LayerNormalization, op::BatchNormalization,
               op::InstanceNormalization>(),
           [](const auto& op, Values& inputs) {
             return Fill(inputs, op.b, 0);
           })},
      {"quantize_zero_point_ignored", Fed(Ops<op::QuantizeLinear>(),
                                          [](const auto& op, Values& inputs) {
                                            return Fill(inputs, op.y_zero_point,
                                                        0);
                                          })},
      {"dequantize_zero_point_ignored", Fed(Ops<op::DequantizeLinear>(),
                                            [](const auto& op, Values& inputs) {
                                              return Fill(inputs,
                                                          op.x_zero_point, 0);
                                            })},
      {"nms_score_threshold_ignored", Fed(Ops<op::NonMaxSuppression>(),
                                          [](const auto& op, Values& inputs) {
                                            return Drop(inputs,
                                                        op.score_threshold);
                                          })},
      {"variadic_last_ignored",
       Rewritten(Ops<op::Max, op::Min, op::Sum, op::Mean>(),
                 [](auto& op) {
                   if (op.data_0.count > 2) --op.data_0.count;
                 })},
  };
}

/// How many keys there are, padding and all.
double KeysOf(const op::Attention& op, const Values& inputs) {
  const Shape& k = inputs[static_cast<size_t>(op.k.position)].tensor()->shape();
  return static_cast<double>(k[k.rank() - 2]);
}

// Each token stands where it does in its row.
Status CountPositions(const op::RotaryEmbedding& op, Values& inputs) {
  Value* const ids = At(inputs, op.position_ids);
  if (ids == nullptr) return OkStatus();
  return ChangeTensor(*ids, [](const Tensor& tensor) {
    const int64_t rows = tensor.shape()[tensor.shape().rank() - 1];
    return WithNumbers(tensor, [=](int64_t i, double) {
      return static_cast<double>(i % rows);
    });
  });
}

std::vector<Mutant> IgnoredByAttention() {
  return {
      {"attention_past_ignored", Fed(Ops<op::Attention>(),
                                     [](const auto& op, Values& inputs) {
                                       ASSAY_RETURN_IF_ERROR(
                                           Fill(inputs, op.past_key, 0));
                                       return Fill(inputs, op.past_value, 0);
                                     })},
      {"attention_padding_ignored",
       Fed(Ops<op::Attention>(),
           [](const auto& op, Values& inputs) {
             return Fill(inputs, op.nonpad_kv_seqlen, KeysOf(op, inputs));
           })},
      {"rotary_position_ids_ignored",
       Fed(Ops<op::RotaryEmbedding>(), CountPositions)},
      {"past_state_ignored",
       Fed(Ops<op::LinearAttention, op::CausalConvWithState>(),
           [](const auto& op, Values& inputs) {
             return Fill(inputs, op.past_state, 0);
           })},
      {"linear_attention_decay_ignored",
       Fed(Ops<op::LinearAttention>(),
           [](const auto& op, Values& inputs) {
             return Fill(inputs, op.decay, 0);
           })},
  };
}

std::vector<Mutant> IgnoredInSignals() {
  return {
      {"deformconv_mask_ignored", Fed(Ops<op::DeformConv>(),
                                      [](const auto& op, Values& inputs) {
                                        return Fill(inputs, op.mask, 1);
                                      })},
      {"dft_length_ignored", Fed(Ops<op::DFT>(),
                                 [](const auto& op, Values& inputs) {
                                   return Drop(inputs, op.dft_length);
                                 })},
      {"roialign_images_ignored", Fed(Ops<op::RoiAlign>(),
                                      [](const auto& op, Values& inputs) {
                                        return Fill(inputs, op.batch_indices,
                                                    0);
                                      })},
      {"stft_window_ignored", Fed(Ops<op::STFT>(),
                                  [](const auto& op, Values& inputs) {
                                    return Fill(inputs, op.window, 1);
                                  })},
      {"mel_lower_edge_ignored", Fed(Ops<op::MelWeightMatrix>(),
                                     [](const auto& op, Values& inputs) {
                                       return Fill(inputs, op.lower_edge_hertz,
                                                   0);
                                     })},
  };
}

}  // namespace

std::vector<Mutant> InputMutants() {
  std::vector<Mutant> all = Ignored();
  for (const auto& table : {IgnoredByRecurrent(), Broadcasts(),
                            IgnoredByAttention(), IgnoredInSignals()}) {
    all.insert(all.end(), table.begin(), table.end());
  }
  return all;
}

}  // namespace assay::faulty
