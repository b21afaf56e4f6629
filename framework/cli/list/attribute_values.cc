// SPDX-License-Identifier: Apache-2.0

#include "framework/cli/list/attribute_values.h"

#include <algorithm>

#include "framework/core/text.h"

namespace assay::list {
namespace {

/// Values apart by blanks. An operator's own row goes before one of all.
struct Row {
  std::string_view op;  // empty: of every operator
  std::string_view attribute;
  std::string_view values;
};

constexpr std::string_view kTransforms =
    "NONE SOFTMAX LOGISTIC SOFTMAX_ZERO PROBIT";
constexpr std::string_view kReductions = "none add mul max min";

/// Attributes of every operator that are 0 or 1.
constexpr std::string_view kFlags =
    "align_corners allowzero antialias ceil_mode center_point_box "
    "count_include_pad detect_negative detect_positive exclude_outside "
    "exclusive fmod input_forget interleaved inverse is_case_sensitive "
    "is_causal keepdims largest linear_before_reset new_axis "
    "noop_with_empty_axes onesided periodic reverse saturate "
    "select_last_index sorted storage_order training_mode transA transB upper "
    "zeros";

// From the pages of the operators' current versions.
constexpr Row kRows[] = {
    {"", "auto_pad", "NOTSET SAME_UPPER SAME_LOWER VALID"},
    {"", "post_transform", kTransforms},
    {"Attention", "qk_matmul_output_mode", "0 1 2 3"},
    {"BitShift", "direction", "LEFT RIGHT"},
    {"Cast", "round_mode", "up down nearest"},
    {"CastLike", "round_mode", "up down nearest"},
    {"CausalConvWithState", "activation", "none silu swish"},
    {"DepthToSpace", "mode", "DCR CRD"},
    {"GRU", "direction", "forward reverse bidirectional"},
    {"GRU", "layout", "0 1"},
    {"Gelu", "approximate", "none tanh"},
    {"GridSample", "mode", "linear nearest cubic"},
    {"GridSample", "padding_mode", "zeros border reflection"},
    {"ImageDecoder", "pixel_format", "RGB BGR Grayscale"},
    {"LSTM", "direction", "forward reverse bidirectional"},
    {"LSTM", "layout", "0 1"},
    {"LinearAttention", "update_rule", "linear gated delta gated_delta"},
    {"LpNormalization", "p", "1 2"},
    {"NegativeLogLikelihoodLoss", "reduction", "none sum mean"},
    {"Pad", "mode", "constant reflect edge wrap"},
    {"RNN", "direction", "forward reverse bidirectional"},
    {"RNN", "layout", "0 1"},
    {"Resize", "coordinate_transformation_mode",
     "half_pixel half_pixel_symmetric pytorch_half_pixel align_corners "
     "asymmetric tf_crop_and_resize"},
    {"Resize", "keep_aspect_ratio_policy", "stretch not_larger not_smaller"},
    {"Resize", "mode", "nearest linear cubic"},
    {"Resize", "nearest_mode",
     "round_prefer_floor round_prefer_ceil floor ceil"},
    {"RoiAlign", "coordinate_transformation_mode",
     "half_pixel output_half_pixel"},
    {"RoiAlign", "mode", "avg max"},
    {"ScatterElements", "reduction", kReductions},
    {"ScatterND", "reduction", kReductions},
    {"SoftmaxCrossEntropyLoss", "reduction", "none sum mean"},
    {"SpaceToDepth", "mode", "DCR CRD"},
    {"StringNormalizer", "case_change_action", "NONE LOWER UPPER"},
    {"TensorScatter", "mode", "linear circular"},
    {"TfIdfVectorizer", "mode", "TF IDF TFIDF"},
    {"ml.CastMap", "cast_to", "TO_FLOAT TO_STRING TO_INT64"},
    {"ml.CastMap", "map_form", "DENSE SPARSE"},
    {"ml.Normalizer", "norm", "MAX L1 L2"},
    {"ml.SVMClassifier", "kernel_type", "LINEAR POLY RBF SIGMOID"},
    {"ml.SVMRegressor", "kernel_type", "LINEAR POLY RBF SIGMOID"},
    {"ml.SVMRegressor", "one_class", "0 1"},
    {"ml.TreeEnsemble", "aggregate_function", "0 1 2 3"},
    {"ml.TreeEnsemble", "post_transform", "0 1 2 3 4"},
    {"ml.TreeEnsembleRegressor", "aggregate_function", "AVERAGE SUM MIN MAX"},
    {"training.Momentum", "mode", "standard nesterov"},
};

std::vector<std::string_view> Words(std::string_view text) {
  std::vector<std::string_view> words;
  while (!text.empty()) words.push_back(CutFront(&text, " "));
  return words;
}

}  // namespace

std::vector<std::string_view> ValuesOf(std::string_view op,
                                       std::string_view attribute) {
  const Row* found = nullptr;
  for (const Row& row : kRows) {
    if (row.attribute != attribute) continue;
    if (row.op == op) return Words(row.values);
    if (row.op.empty()) found = &row;
  }
  if (found != nullptr) return Words(found->values);
  const auto flags = Words(kFlags);
  const bool is_flag = std::ranges::find(flags, attribute) != flags.end();
  return Words(is_flag ? "0 1" : "");
}

std::vector<NamedAttribute> NamedAttributes() {
  std::vector<NamedAttribute> named;
  for (const Row& row : kRows) named.push_back({row.op, row.attribute});
  for (const std::string_view flag : Words(kFlags)) named.push_back({"", flag});
  return named;
}

}  // namespace assay::list
