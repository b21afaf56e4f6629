// SPDX-License-Identifier: Apache-2.0
//
// Mutants that ignore an attribute: the operator runs as if it had the default.

#include <algorithm>
#include <string>
#include <type_traits>
#include <utility>

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

std::vector<Mutant> OfAttention() {
  return {
      {"attention_scale_ignored",
       Rewritten(Ops<op::Attention>(), [](auto& op) { op.scale.reset(); })},
      {"attention_softcap_ignored",
       Rewritten(Ops<op::Attention>(), [](auto& op) { op.softcap = 0; })},
      {"rotary_interleaved_ignored",
       Rewritten(Ops<op::RotaryEmbedding>(),
                 [](auto& op) { op.interleaved = 0; })},
      {"swiglu_alpha_ignored",
       Rewritten(Ops<op::SwiGLU>(), [](auto& op) { op.alpha = 1; })},
      {"mvn_axes_ignored", Rewritten(Ops<op::MeanVarianceNormalization>(),
                                     [](auto& op) {
                                       op.axes = {0, 2, 3};
                                     })},
      {"affinegrid_align_corners_ignored",
       Rewritten(Ops<op::AffineGrid>(),
                 [](auto& op) { op.align_corners = 0; })},
  };
}

std::vector<Mutant> OfSignals() {
  return {
      {"roi_scale_ignored", Rewritten(Ops<op::MaxRoiPool, op::RoiAlign>(),
                                      [](auto& op) { op.spatial_scale = 1; })},
      {"dft_onesided_ignored",
       Rewritten(Ops<op::DFT, op::STFT>(), [](auto& op) { op.onesided = 0; })},
      {"stft_always_onesided",
       Rewritten(Ops<op::STFT>(), [](auto& op) { op.onesided = 1; })},
      {"mel_output_datatype_ignored",
       Rewritten(Ops<op::MelWeightMatrix>(),
                 [](auto& op) { op.output_datatype = 1; })},
      {"imagedecoder_pixel_format_ignored",
       Rewritten(Ops<op::ImageDecoder>(),
                 [](auto& op) { op.pixel_format = "RGB"; })},
      {"tfidf_mode_ignored",
       Rewritten(Ops<op::TfIdfVectorizer>(), [](auto& op) { op.mode = "TF"; })},
      {"tfidf_skips_ignored",
       Rewritten(Ops<op::TfIdfVectorizer>(),
                 [](auto& op) { op.max_skip_count = 0; })},
  };
}

using TreeOps = Ops<op::ml::TreeEnsemble, op::ml::TreeEnsembleRegressor,
                    op::ml::TreeEnsembleClassifier>;
using Predictors =
    Ops<op::ml::TreeEnsemble, op::ml::TreeEnsembleRegressor,
        op::ml::TreeEnsembleClassifier, op::ml::LinearRegressor,
        op::ml::LinearClassifier, op::ml::SVMRegressor, op::ml::SVMClassifier>;

// Transforms have a number in TreeEnsemble and a name elsewhere.
constexpr int64_t kSoftmaxNumber = 1;
constexpr int64_t kSoftmaxZeroNumber = 3;

template <class Op>
constexpr bool kTransformHasName =
    std::is_same_v<decltype(Op::post_transform), std::string>;

template <class Op>
void DropTransform(Op& op) {
  if constexpr (kTransformHasName<Op>) {
    op.post_transform = "NONE";
  } else {
    op.post_transform = 0;
  }
}

template <class Op>
void CountZeroScores(Op& op) {
  if constexpr (kTransformHasName<Op>) {
    if (op.post_transform == "SOFTMAX_ZERO") op.post_transform = "SOFTMAX";
  } else {
    if (op.post_transform == kSoftmaxZeroNumber) {
      op.post_transform = kSoftmaxNumber;
    }
  }
}

// A key that is not found gives the value of an absent default.
template <class Op>
void DropDefaults(Op& op) {
  op.default_int64 = -1;
  op.default_string = "_Unused";
  if constexpr (requires { op.default_float; }) {
    op.default_float = -0.0F;
    op.default_tensor.reset();
  }
}

std::vector<Mutant> OfLearned() {
  return {
      {"tree_missing_track_ignored",
       Rewritten(TreeOps(),
                 [](auto& op) { op.nodes_missing_value_tracks_true.clear(); })},
      {"post_transform_ignored",
       Rewritten(Predictors(), [](auto& op) { DropTransform(op); })},
      {"softmax_zero_taken_for_softmax",
       Rewritten(Predictors(), [](auto& op) { CountZeroScores(op); })},
      {"svmregressor_kernel_ignored",
       Rewritten(Ops<op::ml::SVMRegressor>(),
                 [](auto& op) { op.kernel_type = "LINEAR"; })},
      {"svmclassifier_kernel_ignored",
       Rewritten(Ops<op::ml::SVMClassifier>(),
                 [](auto& op) { op.kernel_type = "LINEAR"; })},
      {"svmregressor_transform_ignored",
       Rewritten(Ops<op::ml::SVMRegressor>(),
                 [](auto& op) { op.post_transform = "NONE"; })},
      {"svmclassifier_transform_ignored",
       Rewritten(Ops<op::ml::SVMClassifier>(),
                 [](auto& op) { op.post_transform = "NONE"; })},
      {"treeclassifier_missing_track_ignored",
       Rewritten(Ops<op::ml::TreeEnsembleClassifier>(),
                 [](auto& op) { op.nodes_missing_value_tracks_true.clear(); })},
      {"labelencoder_default_ignored",
       Rewritten(Ops<op::ml::LabelEncoder, op::ml::CategoryMapper>(),
                 [](auto& op) { DropDefaults(op); })},
      {"normalizer_norm_ignored",
       Rewritten(Ops<op::ml::Normalizer>(), [](auto& op) { op.norm = "MAX"; })},
      {"castmap_sparse_ignored",
       Rewritten(Ops<op::ml::CastMap>(),
                 [](auto& op) { op.map_form = "DENSE"; })},
  };
}

// A label that was to be left out counts as the nearest class.
OperatorDefect IgnoredLabelsCount() {
  return Replaced(
      Ops<op::NegativeLogLikelihoodLoss, op::SoftmaxCrossEntropyLoss>(),
      [](auto op, LoadContext& load, const Right& right) -> Result<Kernel> {
        op.ignore_index.reset();
        ASSAY_ASSIGN_OR_RETURN(Kernel kernel, right(op, load));
        const auto feed = [](Values& inputs) {
          const auto greatest =
              static_cast<double>(inputs[0].tensor()->shape()[1] - 1);
          return ChangeTensor(inputs[1], [=](const Tensor& labels) {
            return WithNumbers(labels, [=](int64_t, double label) {
              return std::clamp(label, 0.0, greatest);
            });
          });
        };
        return Around(std::move(kernel), load.node(), feed, {});
      });
}

std::vector<Mutant> OfTraining() {
  return {
      {"optimizer_norm_coefficient_ignored",
       Rewritten(Ops<op::training::Adam, op::training::Adagrad,
                     op::training::Momentum>(),
                 [](auto& op) { op.norm_coefficient = 0; })},
      {"momentum_nesterov_ignored",
       Rewritten(Ops<op::training::Momentum>(),
                 [](auto& op) { op.mode = "standard"; })},
      {"adagrad_decay_ignored",
       Rewritten(Ops<op::training::Adagrad>(),
                 [](auto& op) { op.decay_factor = 0; })},
      {"loss_ignore_index_ignored", IgnoredLabelsCount()},
  };
}

}  // namespace

std::vector<Mutant> AttributeMutants() {
  std::vector<Mutant> all = OfActivations();
  for (const auto& table :
       {OfProducts(), OfReductions(), OfMovement(), OfAttention(), OfSignals(),
        OfLearned(), OfTraining()}) {
    all.insert(all.end(), table.begin(), table.end());
  }
  return all;
}

}  // namespace assay::faulty
