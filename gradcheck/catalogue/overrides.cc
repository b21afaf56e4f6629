// SPDX-License-Identifier: Apache-2.0
//
// Where ONNX's flags are missing or wrong, each with the reason. "Linear" means
// that the output is a linear function of the parameter when all else is held.

#include "gradcheck/catalogue/overrides.h"

namespace assay::gradcheck {
namespace {

constexpr std::string_view kSoftmaxOfProducts =
    "the output is made of products and a softmax of it";
constexpr std::string_view kCopied = "it is copied into the output";
constexpr std::string_view kNormalised =
    "the operator's function body is differentiable";
constexpr std::string_view kLinear = "the output is linear in it";
constexpr std::string_view kState =
    "the recurrence is differentiable in its initial state";
constexpr std::string_view kPieceIsIt =
    "an element of the output equals it where it limits";
constexpr std::string_view kPoint =
    "the interpolation is differentiable in the point where it is taken";
constexpr std::string_view kWeighted = "the loss is a mean weighted by it";

constexpr Override kOverrides[] = {
    {"AffineGrid", "theta", true, kLinear},
    {"Attention", "Q", true, kSoftmaxOfProducts},
    {"Attention", "K", true, kSoftmaxOfProducts},
    {"Attention", "V", true, kSoftmaxOfProducts},
    {"Attention", "attn_mask", true, "it is added before the softmax"},
    {"Attention", "past_key", true, kSoftmaxOfProducts},
    {"Attention", "past_value", true, kSoftmaxOfProducts},
    {"Attention", "Y", true, kSoftmaxOfProducts},
    {"Attention", "present_key", true, "keys are copied into it"},
    {"Attention", "present_value", true, "values are copied into it"},
    {"Attention", "qk_matmul_output", true, "it holds products of Q and K"},
    {"CausalConvWithState", "past_state", true, kLinear},
    {"CausalConvWithState", "present_state", true, "it holds the last inputs"},
    {"Clip", "min", true, kPieceIsIt},
    {"Clip", "max", true, kPieceIsIt},
    {"DFT", "input", true, kLinear},
    {"DFT", "output", true, "it is linear in the input"},
    {"DeformConv", "X", true, kLinear},
    {"DeformConv", "W", true, kLinear},
    {"DeformConv", "offset", true, kPoint},
    {"DeformConv", "B", true, kLinear},
    {"DeformConv", "mask", true, kLinear},
    {"DeformConv", "Y", true, "it is a sum of products"},
    {"DequantizeLinear", "x_scale", true, kLinear},
    {"DequantizeLinear", "y", true, "it is linear in x_scale"},
    {"GRU", "initial_h", true, kState},
    {"GridSample", "grid", true, kPoint},
    {"LSTM", "initial_h", true, kState},
    {"LSTM", "initial_c", true, kState},
    {"LayerNormalization", "X", true, kNormalised},
    {"LayerNormalization", "Scale", true, kLinear},
    {"LayerNormalization", "B", true, kLinear},
    {"LayerNormalization", "Y", true, kNormalised},
    {"LayerNormalization", "Mean", true, kNormalised},
    {"LayerNormalization", "InvStdDev", true, kNormalised},
    {"LinearAttention", "past_state", true, kState},
    {"LinearAttention", "present_state", true,
     "it is what the recurrence ends in"},
    {"Mod", "B", true, "between jumps A - trunc(A / B) B is linear in it"},
    {"NegativeLogLikelihoodLoss", "weight", true, kWeighted},
    {"Pad", "constant_value", true, kCopied},
    {"RMSNormalization", "X", true, kNormalised},
    {"RMSNormalization", "scale", true, kLinear},
    {"RMSNormalization", "Y", true, kNormalised},
    {"RNN", "initial_h", true, kState},
    {"Range", "start", true, kLinear},
    {"Range", "delta", true, kLinear},
    {"Range", "output", true, "its elements are start + i delta"},
    {"ReverseSequence", "input", true, "elements change their places"},
    {"ReverseSequence", "Y", true, "elements change their places"},
    {"RoiAlign", "X", true, kLinear},
    {"RoiAlign", "rois", true, kPoint},
    {"RoiAlign", "Y", true, "it is a mean or a maximum of interpolations"},
    {"RotaryEmbedding", "X", true, kLinear},
    {"RotaryEmbedding", "cos_cache", true, kLinear},
    {"RotaryEmbedding", "sin_cache", true, kLinear},
    {"RotaryEmbedding", "Y", true, "it is a sum of products"},
    {"STFT", "signal", true, kLinear},
    {"STFT", "window", true, kLinear},
    {"STFT", "output", true, "it is linear in the signal"},
    {"SoftmaxCrossEntropyLoss", "weights", true, kWeighted},
    {"Upsample", "X", true, kLinear},
    {"Upsample", "Y", true, "it is linear in X"},
    {"OneHot", "values", true, kCopied},
    {"OneHot", "output", true, "its elements are those of values"},
    {"Unique", "X", true, kCopied},
    {"Unique", "Y", true, "its elements are those of X"},
    {"ai.onnx.ml::LinearRegressor", "X", true, kLinear},
    {"ai.onnx.ml::LinearRegressor", "Y", true, "it is linear in X"},
    {"ai.onnx.ml::Normalizer", "X", true, "it is divided by a norm"},
    {"ai.onnx.ml::Normalizer", "Y", true, "it is X over a norm"},
    {"ai.onnx.ml::Scaler", "X", true, kLinear},
    {"ai.onnx.ml::Scaler", "Y", true, "it is linear in X"},
    {"ai.onnx.preview::FlexAttention", "Q", true, kSoftmaxOfProducts},
    {"ai.onnx.preview::FlexAttention", "K", true, kSoftmaxOfProducts},
    {"ai.onnx.preview::FlexAttention", "V", true, kSoftmaxOfProducts},
    {"ai.onnx.preview::FlexAttention", "Y", true, kSoftmaxOfProducts},
};

}  // namespace

std::span<const Override> Overrides() { return kOverrides; }

}  // namespace assay::gradcheck
