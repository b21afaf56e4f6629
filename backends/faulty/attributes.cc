// SPDX-License-Identifier: Apache-2.0
//
// Mutants that ignore an attribute: the operator runs as if it had the default.

#include "backends/faulty/mutants.h"
#include "backends/faulty/numbers.h"

namespace assay::faulty {
namespace {

using Reductions =
    Ops<op::ReduceSum, op::ReduceMean, op::ReduceMax, op::ReduceMin,
        op::ReduceProd, op::ReduceL1, op::ReduceL2, op::ReduceSumSquare,
        op::ReduceLogSum, op::ReduceLogSumExp>;

std::vector<Mutant> OfActivations() {
  return {
      {"leakyrelu_alpha_ignored",
       Rewritten(Ops<op::LeakyRelu>(), [](auto& op) { op.alpha = 0.01F; })},
      {"elu_alpha_ignored",
       Rewritten(Ops<op::Elu, op::Celu, op::ThresholdedRelu>(),
                 [](auto& op) { op.alpha = 1; })},
      {"hardsigmoid_beta_ignored",
       Rewritten(Ops<op::HardSigmoid>(), [](auto& op) { op.beta = 0.5F; })},
      {"gelu_approximate_ignored",
       Rewritten(Ops<op::Gelu>(), [](auto& op) { op.approximate = "none"; })},
      {"shrink_bias_ignored",
       Rewritten(Ops<op::Shrink>(), [](auto& op) { op.bias = 0; })},
  };
}

std::vector<Mutant> OfProducts() {
  return {
      {"gemm_alpha_ignored",
       Rewritten(Ops<op::Gemm>(), [](auto& op) { op.alpha = 1; })},
      {"gemm_beta_ignored",
       Rewritten(Ops<op::Gemm>(), [](auto& op) { op.beta = 1; })},
      {"conv_dilations_ignored",
       Rewritten(Ops<op::Conv, op::ConvTranspose, op::MaxPool, op::AveragePool,
                     op::LpPool>(),
                 [](auto& op) { op.dilations.clear(); })},
      {"batchnorm_epsilon_ignored",
       Rewritten(Ops<op::BatchNormalization>(),
                 [](auto& op) { op.epsilon = 0; })},
      {"norm_epsilon_ignored",
       Rewritten(Ops<op::LayerNormalization, op::InstanceNormalization,
                     op::GroupNormalization, op::RMSNormalization>(),
                 [](auto& op) { op.epsilon = 0; })},
      {"rnn_direction_ignored", Rewritten(Ops<op::RNN, op::GRU, op::LSTM>(),
                                          [](auto& op) {
                                            if (op.direction == "reverse")
                                              op.direction = "forward";
                                          })},
      {"gru_linear_before_reset_ignored",
       Rewritten(Ops<op::GRU>(), [](auto& op) { op.linear_before_reset = 0; })},
      {"lpnorm_p_ignored",
       Rewritten(Ops<op::LpNormalization, op::LpPool, op::GlobalLpPool>(),
                 [](auto& op) { op.p = 2; })},
  };
}

std::vector<Mutant> OfReductions() {
  return {
      {"reduce_keepdims_ignored",
       Rewritten(Reductions(), [](auto& op) { op.keepdims = 1; })},
      {"reduce_noop_ignored",
       Rewritten(Reductions(), [](auto& op) { op.noop_with_empty_axes = 0; })},
      {"cumsum_exclusive_ignored",
       Rewritten(Ops<op::CumSum, op::CumProd>(),
                 [](auto& op) { op.exclusive = 0; })},
      {"cumsum_reverse_ignored", Rewritten(Ops<op::CumSum, op::CumProd>(),
                                           [](auto& op) { op.reverse = 0; })},
      {"topk_largest_ignored",
       Rewritten(Ops<op::TopK>(), [](auto& op) { op.largest = 1; })},
      {"mod_fmod_ignored",
       Replaced(Ops<op::Mod>(),
                [](op::Mod op, LoadContext& load, const Right& right) {
                  op.fmod = 0;
                  return right(op, load);
                })},
  };
}

std::vector<Mutant> OfMovement() {
  return {
      {"cast_saturate_ignored",
       Rewritten(Ops<op::Cast, op::CastLike, op::QuantizeLinear>(),
                 [](auto& op) { op.saturate = 1; })},
      {"scatter_reduction_ignored",
       Rewritten(Ops<op::ScatterElements, op::ScatterND>(),
                 [](auto& op) { op.reduction = "none"; })},
      {"trilu_upper_ignored",
       Rewritten(Ops<op::Trilu>(), [](auto& op) { op.upper = 1; })},
      {"bitshift_direction_ignored",
       Rewritten(Ops<op::BitShift>(), [](auto& op) { op.direction = "LEFT"; })},
      {"isinf_signs_ignored", Rewritten(Ops<op::IsInf>(),
                                        [](auto& op) {
                                          op.detect_negative =
                                              op.detect_positive = 1;
                                        })},
      {"gridsample_align_corners_ignored",
       Rewritten(Ops<op::GridSample>(),
                 [](auto& op) { op.align_corners = 0; })},
      {"resize_antialias_ignored",
       Rewritten(Ops<op::Resize>(), [](auto& op) { op.antialias = 0; })},
      {"resize_cubic_coeff_ignored",
       Rewritten(Ops<op::Resize>(),
                 [](auto& op) { op.cubic_coeff_a = -0.5F; })},
      {"reshape_allowzero_ignored",
       Rewritten(Ops<op::Reshape>(), [](auto& op) { op.allowzero = 0; })},
      {"pad_mode_ignored",
       Rewritten(Ops<op::Pad>(), [](auto& op) { op.mode = "constant"; })},
      {"eyelike_k_ignored",
       Rewritten(Ops<op::EyeLike>(), [](auto& op) { op.k = 0; })},
  };
}

}  // namespace

std::vector<Mutant> AttributeMutants() {
  std::vector<Mutant> all = OfActivations();
  for (const auto& table : {OfProducts(), OfReductions(), OfMovement()}) {
    all.insert(all.end(), table.begin(), table.end());
  }
  return all;
}

}  // namespace assay::faulty
