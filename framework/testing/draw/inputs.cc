// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/draw/inputs.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <memory>
#include <utility>

#include "framework/core/text.h"
#include "framework/metric/element.h"

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
    // Inputs of int32 or int64 that are numbers all the same.
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

/// The greatest number that is added to inputs of kind kShifted.
constexpr int64_t kMostShift = 4;

/// True for an integer of a byte or more.
bool IsInteger(DType type) {
  const DTypeClass of = ClassOf(type);
  return BitsOf(type) >= 8 &&
         (of == DTypeClass::kSigned || of == DTypeClass::kUnsigned);
}

/// An integer; of uint64 beyond the greatest int64 a negative one.
int64_t IntegerAt(const Tensor& tensor, int64_t i) {
  const uint64_t bits = metric::ElementBits(tensor.dtype(), tensor.data(), i);
  const int unused = 64 - BitsOf(tensor.dtype());
  if (ClassOf(tensor.dtype()) != DTypeClass::kSigned) {
    return static_cast<int64_t>(bits);
  }
  return static_cast<int64_t>(bits << unused) >> unused;
}

void PutInteger(int64_t value, int64_t i, Tensor* tensor) {
  const auto size = static_cast<size_t>(BitsOf(tensor->dtype()) / 8);
  // The low bytes stand first, as in all that is read from files.
  std::memcpy(tensor->mutable_data() + static_cast<size_t>(i) * size, &value,
              size);
}

/// Integers of the range of `official`, without a 0 that it does not have: a
/// divisor is none.
Result<Tensor> RedrawnIntegers(const Tensor& official, Draw& draw) {
  ASSAY_ASSIGN_OR_RETURN(Tensor drawn, official.Clone());
  const int64_t count = official.num_elements();
  if (count == 0) return drawn;
  int64_t low = std::numeric_limits<int64_t>::max();
  int64_t high = std::numeric_limits<int64_t>::min();
  bool has_zero = false;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t x = IntegerAt(official, i);
    low = std::min(low, x);
    high = std::max(high, x);
    has_zero |= x == 0;
  }
  const uint64_t apart =
      static_cast<uint64_t>(high) - static_cast<uint64_t>(low);
  const auto steps = static_cast<int64_t>(std::min<uint64_t>(
                         apart, std::numeric_limits<int64_t>::max() - 1)) +
                     1;
  for (int64_t i = 0; i < count; ++i) {
    const uint64_t step = static_cast<uint64_t>(draw.Index(steps));
    const auto x = static_cast<int64_t>(static_cast<uint64_t>(low) + step);
    PutInteger(x == 0 && !has_zero ? high : x, i, &drawn);
  }
  return drawn;
}

/// The tensor whose element i is element from[i] of `tensor`.
Result<Tensor> Picked(const Tensor& tensor, const std::vector<int64_t>& from) {
  ASSAY_ASSIGN_OR_RETURN(Tensor picked, tensor.Clone());
  if (tensor.dtype() == DType::kString) {
    for (size_t i = 0; i < from.size(); ++i) {
      picked.mutable_strings()[i] =
          tensor.strings()[static_cast<size_t>(from[i])];
    }
    return picked;
  }
  const auto bits = static_cast<size_t>(BitsOf(tensor.dtype()));
  std::byte* const out = picked.mutable_data();
  for (size_t i = 0; i < from.size(); ++i) {
    const auto at = static_cast<size_t>(from[i]);
    if (bits >= 8) {
      std::memcpy(out + i * (bits / 8), tensor.data() + at * (bits / 8),
                  bits / 8);
      continue;
    }
    const uint64_t element =
        metric::ElementBits(tensor.dtype(), tensor.data(), from[i]);
    for (size_t bit = 0; bit < bits; ++bit) {
      const size_t place = i * bits + bit;
      const std::byte mask{static_cast<unsigned char>(1U << (place % 8))};
      const bool is_set = ((element >> bit) & 1) != 0;
      out[place / 8] = is_set ? out[place / 8] | mask : out[place / 8] & ~mask;
    }
  }
  return picked;
}

/// Elements that are drawn from those of the tensor.
Result<Tensor> Chosen(const Tensor& tensor, Draw& draw) {
  std::vector<int64_t> from(static_cast<size_t>(tensor.num_elements()));
  for (int64_t& i : from) i = draw.Index(tensor.num_elements());
  return Picked(tensor, from);
}

bool SameElement(const Tensor& tensor, int64_t a, int64_t b) {
  if (tensor.dtype() == DType::kString) {
    return tensor.strings()[static_cast<size_t>(a)] ==
           tensor.strings()[static_cast<size_t>(b)];
  }
  return metric::ElementBits(tensor.dtype(), tensor.data(), a) ==
         metric::ElementBits(tensor.dtype(), tensor.data(), b);
}

/// Each value of the tensor stands where another one did, so that what was
/// alike still is.
Result<Tensor> Renamed(const Tensor& tensor, Draw& draw) {
  std::vector<int64_t> values;  // where each value stands first
  std::vector<int64_t> from(static_cast<size_t>(tensor.num_elements()));
  for (int64_t i = 0; i < tensor.num_elements(); ++i) {
    const auto known = std::ranges::find_if(
        values, [&](int64_t j) { return SameElement(tensor, i, j); });
    from[static_cast<size_t>(i)] = known - values.begin();
    if (known == values.end()) values.push_back(i);
  }
  const auto other = Permutation(std::ssize(values), draw);
  for (int64_t& i : from) {
    i = values[static_cast<size_t>(other[static_cast<size_t>(i)])];
  }
  return Picked(tensor, from);
}

Result<Tensor> Shifted(const Tensor& tensor, int64_t shift) {
  if (IsInteger(tensor.dtype())) {
    ASSAY_ASSIGN_OR_RETURN(Tensor shifted, tensor.Clone());
    for (int64_t i = 0; i < tensor.num_elements(); ++i) {
      PutInteger(IntegerAt(tensor, i) + shift, i, &shifted);
    }
    return shifted;
  }
  std::vector<double> numbers = NumbersOf(tensor);
  for (double& x : numbers) x += static_cast<double>(shift);
  return TensorOf(tensor.dtype(), tensor.shape(), numbers);
}

/// All draws for one case.
class Drawer {
 public:
  explicit Drawer(Draw& draw)
      : draw_(draw), shift_(1 + draw.Index(kMostShift)) {}

  Result<Value> Other(InputKind kind, const Value& value) {
    if (const Tensor* tensor = value.tensor(); tensor != nullptr) {
      ASSAY_ASSIGN_OR_RETURN(Tensor other, Other(kind, *tensor));
      return Value(std::move(other));
    }
    if (const Sequence* items = value.sequence(); items != nullptr) {
      Sequence others = *items;
      for (Value& item : others.items) {
        ASSAY_ASSIGN_OR_RETURN(item, Other(kind, item));
      }
      return Value(std::move(others));
    }
    if (const Optional* held = value.optional();
        held != nullptr && held->has_value()) {
      ASSAY_ASSIGN_OR_RETURN(Value other, Other(kind, *held->value));
      Optional one = *held;
      one.value = std::make_shared<const Value>(std::move(other));
      return Value(std::move(one));
    }
    return value;
  }

 private:
  Result<Tensor> Other(InputKind kind, const Tensor& tensor) {
    const DType type = tensor.dtype();
    // A complex number has no bit pattern of at most 64 bits.
    if (type == DType::kComplex64 || type == DType::kComplex128) return tensor;
    switch (kind) {
      case InputKind::kUnread:
      case InputKind::kSize:
      case InputKind::kKept:
        return tensor;
      case InputKind::kShifted:
        return Shifted(tensor, shift_);
      case InputKind::kShuffled:
        return Picked(tensor, Permutation(tensor.num_elements(), draw_));
      case InputKind::kRenamed:
        return Renamed(tensor, draw_);
      case InputKind::kNumbers:
        break;
    }
    if (Carries(type)) return Redrawn(tensor, draw_);
    return IsInteger(type) ? RedrawnIntegers(tensor, draw_)
                           : Chosen(tensor, draw_);
  }

  Draw& draw_;
  int64_t shift_;
};

/// The kind of an input of a node; kKept where the operator is none of ONNX's.
InputKind KindAt(const Node& node, size_t place) {
  const auto op = FindOperator(node.domain, node.op_type);
  if (!op.has_value()) return InputKind::kKept;
  const auto* formal = types::FormalAt(types::SignatureOf(*op).inputs, place);
  return formal == nullptr ? InputKind::kKept : KindOf(*op, *formal);
}

/// True where outputs are numbers as text, of which one number has several.
bool GivesText(const Graph& graph) {
  return graph.nodes.size() == 1 &&
         graph.nodes[0].op_type.starts_with("Cast") &&
         graph[graph.outputs[0]].type.dtype == DType::kString;
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

std::optional<Tensor> OtherSizes(const Tensor& sizes) {
  if (!IsInteger(sizes.dtype())) return std::nullopt;
  Result<Tensor> other = sizes.Clone();
  if (!other.ok()) return std::nullopt;
  bool is_other = false;
  for (int64_t i = 0; i < sizes.num_elements(); ++i) {
    const int64_t size = IntegerAt(sizes, i);
    if (size > 0) PutInteger(((size - 1) ^ 1) + 1, i, &*other);
    is_other |= size > 0;
  }
  return is_other ? std::optional(*std::move(other)) : std::nullopt;
}

InputKinds KindsOf(const Graph& graph) {
  InputKinds kinds;
  for (const ValueId id : graph.inputs) {
    const ValueInfo& input = graph[id];
    // An input that only subgraphs read has no reader here.
    std::optional<InputKind> found;
    for (const Node& node : graph.nodes) {
      for (size_t i = 0; i < node.inputs.size(); ++i) {
        if (node.inputs[i] != id) continue;
        found = std::max(found.value_or(InputKind::kUnread), KindAt(node, i));
      }
    }
    InputKind kind = found.value_or(InputKind::kNumbers);
    const bool alone = graph.nodes.size() == 1;
    if (!alone &&
        (kind == InputKind::kShifted || !IsFloatingPoint(input.type.dtype))) {
      kind = InputKind::kKept;
    }
    if (GivesText(graph)) kind = std::max(kind, InputKind::kShuffled);
    kinds[input.name] = kind;
  }
  return kinds;
}

Result<std::vector<Value>> DrawnInputs(const Graph& graph,
                                       const InputKinds& kinds,
                                       std::span<const Value> inputs,
                                       Draw& draw) {
  std::vector<Value> others(inputs.begin(), inputs.end());
  Drawer drawer(draw);
  const size_t count = std::min(others.size(), graph.inputs.size());
  for (size_t i = 0; i < count; ++i) {
    const auto kind = kinds.find(graph[graph.inputs[i]].name);
    if (kind == kinds.end()) continue;
    ASSAY_ASSIGN_OR_RETURN(others[i], drawer.Other(kind->second, others[i]));
  }
  return others;
}

}  // namespace assay::draw
