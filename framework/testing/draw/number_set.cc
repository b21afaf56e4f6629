// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/draw/number_set.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <utility>
#include <variant>

#include "framework/core/text.h"
#include "framework/graph/operator.h"
#include "framework/graph/types/signature.h"

namespace assay::draw {
namespace {

using enum NumberSet;

constexpr std::string_view kIndices = "indices of an axis";
constexpr std::string_view kTuples = "indices of several axes";
constexpr std::string_view kScale = "what is divided by it is rounded";
constexpr std::string_view kDivisor = "an integer cannot be divided by 0";
constexpr std::string_view kLogarithm = "a logarithm of a real number";
constexpr std::string_view kLengths = "lengths of sequences";
constexpr std::string_view kAxes = "axes, each once";
constexpr std::string_view kExtents = "extents of the output";
constexpr std::string_view kElements = "its product is a number of elements";
constexpr std::string_view kSum = "its sum is an extent";
constexpr std::string_view kClasses = "classes";
constexpr std::string_view kMean = "a mean is divided by its sum";
constexpr std::string_view kInverse = "the inverse has no value elsewhere";
constexpr std::string_view kOverlap = "only certain ones may overlap";

constexpr auto kLines = std::to_array<SetLine>({
    // Domains of functions.
    {"Acos", "input", kInsideOne, kInverse},
    {"Acosh", "input", kBeyondOne, kInverse},
    {"Asin", "input", kInsideOne, kInverse},
    {"Atanh", "input", kInsideOne, kInverse},
    {"BatchNormalization", "input_var", kPositive, "its root is taken"},
    {"Bernoulli", "input", kShares, "probabilities"},
    {"BitShift", "Y", kNotZero, "fewer bits than a number has"},
    {"DequantizeLinear", "x_scale", kPositive, kScale},
    {"Div", "B", kNotZero, kDivisor},
    {"Dropout", "ratio", kShares, "the kept ones are divided by the rest"},
    {"Log", "input", kPositive, kLogarithm},
    {"Mod", "B", kNotZero, kDivisor},
    {"NegativeLogLikelihoodLoss", "weight", kPositive, kMean},
    {"NonMaxSuppression", "iou_threshold", kShares, "a share of an area"},
    {"Pow", "X", kPositive, "a root of a negative number is none"},
    {"QLinearConv", "w_scale", kPositive, kScale},
    {"QLinearConv", "x_scale", kPositive, kScale},
    {"QLinearConv", "y_scale", kPositive, kScale},
    {"QLinearMatMul", "a_scale", kPositive, kScale},
    {"QLinearMatMul", "b_scale", kPositive, kScale},
    {"QLinearMatMul", "y_scale", kPositive, kScale},
    {"QuantizeLinear", "y_scale", kPositive, kScale},
    {"Range", "delta", kPositive, "the extent is divided by it"},
    {"ReduceLogSum", "data", kPositive, kLogarithm},
    {"SoftmaxCrossEntropyLoss", "weights", kPositive, kMean},
    {"Sqrt", "X", kPositive, "a root of a real number"},
    // Indices.
    {"Gather", "indices", kBelow, kIndices, "data", 0, "axis"},
    {"GatherElements", "indices", kBelow, kIndices, "data", 0, "axis"},
    {"GatherND", "indices", kBelow, kTuples, "data", kEveryAxis},
    {"NegativeLogLikelihoodLoss", "target", kBelow, kClasses, "input", 1},
    {"OneHot", "indices", kBelow, kClasses, "depth", kItsValue},
    {"RoiAlign", "batch_indices", kBelow, kIndices, "X"},
    {"RotaryEmbedding", "position_ids", kBelow, kIndices, "cos_cache"},
    {"Scatter", "indices", kBelow, kIndices, "data", 0, "axis"},
    {"ScatterElements", "indices", kBelow, kIndices, "data", 0, "axis"},
    {"ScatterND", "indices", kBelow, kTuples, "data", kEveryAxis},
    {"SoftmaxCrossEntropyLoss", "labels", kBelow, kClasses, "scores", 1},
    {"ai.onnx.ml::ArrayFeatureExtractor", "Y", kBelow, kIndices, "X", -1},
    // Sizes, lengths and axes.
    {"Attention", "nonpad_kv_seqlen", kUpTo, kLengths, "K", -2},
    {"BlackmanWindow", "size", kPositive, kExtents},
    {"CenterCropPad", "shape", kPositive, kExtents},
    {"ConstantOfShape", "input", kPositive, kExtents},
    {"CumProd", "axis", kPlaces, kAxes},
    {"CumSum", "axis", kPlaces, kAxes},
    {"DFT", "axis", kPlaces, kAxes},
    {"DFT", "dft_length", kPositive, kExtents},
    {"GRU", "sequence_lens", kUpTo, kLengths, "X", 0, "layout"},
    {"HammingWindow", "size", kPositive, kExtents},
    {"HannWindow", "size", kPositive, kExtents},
    {"LSTM", "sequence_lens", kUpTo, kLengths, "X", 0, "layout"},
    {"Loop", "M", kPositive, "a few turns"},
    {"OneHot", "depth", kPositive, kExtents},
    {"Pad", "axes", kPlaces, kAxes},
    {"RNN", "sequence_lens", kUpTo, kLengths, "X", 0, "layout"},
    {"ReduceL1", "axes", kPlaces, kAxes},
    {"ReduceL2", "axes", kPlaces, kAxes},
    {"ReduceLogSum", "axes", kPlaces, kAxes},
    {"ReduceLogSumExp", "axes", kPlaces, kAxes},
    {"ReduceMax", "axes", kPlaces, kAxes},
    {"ReduceMean", "axes", kPlaces, kAxes},
    {"ReduceMin", "axes", kPlaces, kAxes},
    {"ReduceProd", "axes", kPlaces, kAxes},
    {"ReduceSum", "axes", kPlaces, kAxes},
    {"ReduceSumSquare", "axes", kPlaces, kAxes},
    {"Resize", "scales", kBeyondOne, kExtents},
    {"Resize", "sizes", kPositive, kExtents},
    {"ReverseSequence", "sequence_lens", kUpTo, kLengths, "input", 0,
     "time_axis"},
    {"STFT", "frame_length", kUpTo, kLengths, "signal", 1},
    {"STFT", "frame_step", kPositive, "a step"},
    {"Slice", "axes", kPlaces, kAxes},
    {"Slice", "ends", kUpTo, kIndices, "data", kEveryAxis},
    {"Slice", "steps", kPositive, "a step"},
    {"Tile", "repeats", kPositive, kExtents},
    {"TopK", "K", kUpTo, kExtents, "X", -1, "axis"},
    {"Unsqueeze", "axes", kPlaces, kAxes},
    {"Upsample", "scales", kBeyondOne, kExtents},
    // Settings that hang on more than one extent.
    {"AffineGrid", "size", kGiven, kExtents},
    {"Col2Im", "block_shape", kGiven, kElements},
    {"Col2Im", "image_shape", kGiven, kElements},
    {"Expand", "shape", kGiven, "extents that the input's broadcast to"},
    {"ImageDecoder", "encoded_stream", kGiven, "the bytes of a file"},
    {"MaxUnpool", "I", kGiven, kOverlap},
    {"MaxUnpool", "output_shape", kGiven, kExtents},
    {"MelWeightMatrix", "dft_length", kGiven, "edges of bands"},
    {"MelWeightMatrix", "lower_edge_hertz", kGiven, "edges of bands"},
    {"MelWeightMatrix", "num_mel_bins", kGiven, "edges of bands"},
    {"MelWeightMatrix", "sample_rate", kGiven, "edges of bands"},
    {"MelWeightMatrix", "upper_edge_hertz", kGiven, "edges of bands"},
    {"Reshape", "shape", kGiven, kElements},
    {"Split", "split", kGiven, kSum},
    {"SplitToSequence", "split", kGiven, kSum},
    {"Squeeze", "axes", kGiven, "axes of extent 1"},
});

/// The place of a formal input; a variadic one has several.
size_t PlaceOf(OperatorId op, std::string_view input) {
  const auto inputs = types::SignatureOf(op).inputs;
  const auto found =
      std::ranges::find(inputs, input, &types::FormalParameter::name);
  return static_cast<size_t>(found - inputs.begin());
}

/// The tensor of an initializer or of a Constant; null where it is neither.
const Tensor* FixedTensor(const Graph& graph, ValueId id) {
  if (const Value* const value = graph.FindInitializer(id); value != nullptr) {
    return value->tensor();
  }
  for (const Node& node : graph.nodes) {
    if (node.op_type != "Constant" || node.outputs[0] != id) continue;
    const Attribute* const value = node.Find("value");
    return value == nullptr ? nullptr : std::get_if<Tensor>(&value->held);
  }
  return nullptr;
}

/// Whole exponents take any base.
bool IsWhole(const Tensor* exponents) {
  if (exponents == nullptr) return false;
  if (!IsFloatingPoint(exponents->dtype())) return true;
  return exponents->dtype() == DType::kFloat32 &&
         std::ranges::all_of(exponents->elements<float>(),
                             [](float x) { return x == std::floor(x); });
}

/// Unknown where the model does not say it, or where there is none.
int64_t ExtentOf(const Graph& graph, const Node& node, OperatorId op,
                 const SetLine& line) {
  const size_t place = PlaceOf(op, line.of);
  if (place >= node.inputs.size() || node.inputs[place] == kNoValue) {
    return kUnknownExtent;
  }
  const ValueId id = node.inputs[place];
  const Tensor* const fixed = FixedTensor(graph, id);
  if (line.axis == kItsValue) {
    const bool is_one = fixed != nullptr && fixed->dtype() == DType::kInt64 &&
                        fixed->num_elements() == 1;
    return is_one ? fixed->elements<int64_t>()[0] : kUnknownExtent;
  }
  const ValueType type =
      fixed != nullptr ? ValueType::OfTensor(*fixed) : graph[id].type;
  if (!type.dims.has_value()) return kUnknownExtent;
  const Attribute* const found = node.Find(line.attribute);
  const int64_t* const given =
      found == nullptr ? nullptr : std::get_if<int64_t>(&found->held);
  int64_t axis = given == nullptr ? line.axis : *given;
  if (axis < 0) axis += std::ssize(*type.dims);
  int64_t extent = kUnknownExtent;
  for (int64_t i = 0; i < std::ssize(*type.dims); ++i) {
    const Dim& dim = (*type.dims)[static_cast<size_t>(i)];
    if ((i == axis || axis == kEveryAxis) && dim.known()) {
      extent = std::min(extent, dim.extent);
    }
  }
  return extent;
}

/// The set for an input of a node.
Permitted PermittedAt(const Graph& graph, const Node& node, size_t place) {
  const auto op = FindOperator(node.domain, node.op_type);
  if (!op.has_value()) return {};
  const auto* formal = types::FormalAt(types::SignatureOf(*op).inputs, place);
  if (formal == nullptr) return {};
  const std::string name = node.domain.empty()
                               ? node.op_type
                               : StrCat(node.domain, "::", node.op_type);
  const auto line = std::ranges::find_if(kLines, [&](const SetLine& known) {
    return known.op == name && known.input == formal->name;
  });
  if (line == kLines.end()) return {};
  if (name == "Pow" && IsWhole(FixedTensor(graph, node.inputs.back()))) {
    return {};
  }
  Permitted permitted = {line->set, kUnknownExtent,
                         StrCat("the ", line->input, " of ", node.op_type)};
  if (!line->of.empty()) permitted.extent = ExtentOf(graph, node, *op, *line);
  if (permitted.extent < 1) permitted.extent = kUnknownExtent;
  return permitted;
}

}  // namespace

std::span<const SetLine> SetLines() { return kLines; }

Permitted PermittedOf(const Graph& graph, ValueId id) {
  constexpr std::string_view kSame =
      " Cast Reshape Squeeze Unsqueeze Flatten Transpose Identity ";
  std::set<ValueId> same = {id};
  Permitted strictest;
  for (const Node& node : graph.nodes) {
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (!same.contains(node.inputs[i])) continue;
      Permitted here = PermittedAt(graph, node, i);
      const int64_t extent = std::min(here.extent, strictest.extent);
      if (here.set > strictest.set) strictest = std::move(here);
      strictest.extent = extent;
    }
    if (!node.inputs.empty() && same.contains(node.inputs[0]) &&
        kSame.find(StrCat(" ", node.op_type, " ")) != kSame.npos) {
      same.insert(node.outputs[0]);
    }
  }
  return strictest;
}

double NumberIn(NumberSet set, double x) {
  switch (set) {
    case kPositive:
      return 0.25 + std::abs(x);
    case kBeyondOne:
      return 1.25 + std::abs(x);
    case kShares:
      return std::abs(x) / 2;
    case kInsideOne:
      return x / 2;
    default:
      return x;
  }
}

}  // namespace assay::draw
