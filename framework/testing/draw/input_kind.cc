// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/draw/input_kind.h"

#include <algorithm>
#include <array>
#include <string>

#include "framework/core/text.h"

namespace assay::draw {
namespace {

using enum InputKind;

constexpr std::string_view kIndices = "indices of an axis";
constexpr std::string_view kControl = "it decides what is run";
constexpr std::string_view kExtents = "extents of the output";
constexpr std::string_view kScales = "extents of the output hang on it";
constexpr std::string_view kShape = "its shape alone is read";
constexpr std::string_view kType = "its type alone is read";
constexpr std::string_view kBoxes = "corners of boxes, in their order";
constexpr std::string_view kExtent = "how many are true is an output's extent";
constexpr std::string_view kSelected =
    "how many boxes are selected is an output's extent";
constexpr std::string_view kScale = "a scale makes ties of roundings";
constexpr std::string_view kClasses =
    "classes, and one that is ignored, which may be none";

constexpr auto kLines = std::to_array<KindLine>({
    // Of int32 or int64, and numbers all the same.
    {"Gather", "indices", kNumbers, kIndices},
    {"GatherElements", "indices", kNumbers, kIndices},
    {"QLinearConv", "B", kNumbers, "a bias"},
    {"RotaryEmbedding", "position_ids", kNumbers, "rows of a cache"},
    {"ai.onnx.ml::ArrayFeatureExtractor", "Y", kNumbers, kIndices},
    {"NegativeLogLikelihoodLoss", "target", kShuffled, kClasses},
    {"SoftmaxCrossEntropyLoss", "labels", kShuffled, kClasses},
    {"ReverseSequence", "sequence_lens", kShuffled, "one length for each row"},
    // Settings of other types.
    {"Attention", "attn_mask", kKept, "a row that is masked has no mean"},
    {"CastLike", "target_type", kUnread, kType},
    {"BlackmanWindow", "size", kSize, kExtents},
    {"CenterCropPad", "shape", kSize, kExtents},
    {"ConstantOfShape", "input", kSize, kExtents},
    {"Dropout", "ratio", kKept, "nothing is dropped at inference"},
    {"Dropout", "training_mode", kKept, kControl},
    {"EyeLike", "input", kUnread, kShape},
    {"HammingWindow", "size", kSize, kExtents},
    {"HannWindow", "size", kSize, kExtents},
    {"If", "cond", kKept, kControl},
    {"ImageDecoder", "encoded_stream", kKept, "the bytes of a file"},
    {"Loop", "cond", kKept, kControl},
    {"MaxRoiPool", "rois", kKept, kBoxes},
    {"MelWeightMatrix", "lower_edge_hertz", kKept, "the edge of a band"},
    {"MelWeightMatrix", "upper_edge_hertz", kKept, "the edge of a band"},
    {"NonMaxSuppression", "boxes", kKept, kSelected},
    {"NonMaxSuppression", "scores", kKept, kSelected},
    {"NonMaxSuppression", "iou_threshold", kKept, kSelected},
    {"NonMaxSuppression", "score_threshold", kKept, kSelected},
    {"OneHot", "depth", kSize, kExtents},
    {"OptionalHasElement", "input", kKept, "whether it is there is read"},
    {"QLinearConv", "w_scale", kKept, kScale},
    {"QLinearConv", "x_scale", kKept, kScale},
    {"QLinearConv", "y_scale", kKept, kScale},
    {"QLinearMatMul", "a_scale", kKept, kScale},
    {"QLinearMatMul", "b_scale", kKept, kScale},
    {"QLinearMatMul", "y_scale", kKept, kScale},
    {"QuantizeLinear", "y_scale", kKept, kScale},
    {"Resize", "roi", kKept, "a region of interest"},
    {"Resize", "scales", kKept, kScales},
    {"RoiAlign", "rois", kKept, kBoxes},
    {"Shape", "data", kUnread, kShape},
    {"Size", "data", kUnread, kShape},
    {"Tile", "repeats", kSize, kExtents},
    {"Upsample", "scales", kKept, kScales},
    // Values that hang together.
    {"Compress", "condition", kShuffled, kExtent},
    {"IsInf", "X", kShuffled, "what is not finite stays in a range"},
    {"IsNaN", "X", kShuffled, "what is not finite stays in a range"},
    {"NonZero", "X", kShuffled, kExtent},
    {"QuantizeLinear", "x", kShuffled, kScale},
    {"Range", "delta", kKept, "the extent of the output hangs on it"},
    {"Range", "limit", kShifted, "the extent of the output stays"},
    {"Range", "start", kShifted, "the extent of the output stays"},
    {"Unique", "X", kRenamed, "how many there are is an output's extent"},
    {"ai.onnx.ml::CategoryMapper", "X", kShuffled, "keys of a table"},
    {"ai.onnx.ml::LabelEncoder", "X", kShuffled, "keys of a table"},
    {"ai.onnx.ml::OneHotEncoder", "X", kShuffled, "keys of a table"},
});

/// "Gather", "ai.onnx.ml::LabelEncoder".
std::string NameOf(const OperatorInfo& info) {
  return info.domain.empty() ? std::string(info.name)
                             : StrCat(info.domain, "::", info.name);
}

bool IsIndex(std::string_view type) {
  return type == "int32" || type == "int64";
}

}  // namespace

std::span<const KindLine> KindLines() { return kLines; }

InputKind KindOf(OperatorId op, const types::FormalParameter& input) {
  const std::string name = NameOf(Operators()[static_cast<size_t>(op)]);
  const auto line = std::ranges::find_if(kLines, [&](const KindLine& known) {
    return known.op == name && known.input == input.name;
  });
  if (line != kLines.end()) return line->kind;
  const auto& variables = types::SignatureOf(op).variables;
  const auto& types = variables[static_cast<size_t>(input.variable)].types;
  return std::ranges::all_of(types, IsIndex) ? kKept : kNumbers;
}

}  // namespace assay::draw
