// SPDX-License-Identifier: Apache-2.0

#include "gradcheck/catalogue/catalogue.h"

#include <algorithm>
#include <map>
#include <set>

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

// "Linear" means that the output is a linear function of the parameter when all
// else is held.
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

std::string FullName(const OperatorInfo& info) {
  return StrCat(info.domain.empty() ? "ai.onnx" : info.domain, "::", info.name);
}

/// Overrides are few and operators many.
using ByOperator =
    std::multimap<std::string_view, const Override*, std::less<>>;

const ByOperator& Index() {
  static const auto* index = [] {
    auto* made = new ByOperator;
    for (const Override& line : Overrides()) made->emplace(line.op, &line);
    return made;
  }();
  return *index;
}

bool MayBeFloat(const types::OperatorSignature& signature,
                const types::FormalParameter& parameter) {
  const auto& types =
      signature.variables[static_cast<size_t>(parameter.variable)].types;
  return std::ranges::any_of(types, [](std::string_view type) {
    return type.find("float32") != std::string_view::npos ||
           type.find("float64") != std::string_view::npos;
  });
}

/// As ONNX's schemas are written.
std::string_view ToString(types::Differentiability flag) {
  using enum types::Differentiability;
  if (flag == kUnknown) return "missing";
  return flag == kNot ? "NonDifferentiable" : "Differentiable";
}

std::string_view WantedFlag(const Entry& entry) {
  return ToString(entry.differentiable
                      ? types::Differentiability::kDifferentiable
                      : types::Differentiability::kNot);
}

}  // namespace

std::span<const Override> Overrides() { return kOverrides; }

const Override* OverrideOf(OperatorId op,
                           const types::FormalParameter& parameter) {
  const OperatorInfo& info = Operators()[static_cast<size_t>(op)];
  const std::string name = FullName(info);
  const auto [first, last] = Index().equal_range(
      info.domain.empty() ? info.name : std::string_view(name));
  for (auto line = first; line != last; ++line) {
    if (line->second->parameter == parameter.name) return line->second;
  }
  return nullptr;
}

bool IsDifferentiable(OperatorId op, const types::FormalParameter& parameter) {
  if (const Override* line = OverrideOf(op, parameter); line != nullptr) {
    return line->differentiable;
  }
  return parameter.flag == types::Differentiability::kDifferentiable;
}

std::vector<Entry> Catalogue() {
  std::vector<Entry> entries;
  for (size_t i = 0; i < Operators().size(); ++i) {
    const auto id = static_cast<OperatorId>(i);
    const types::OperatorSignature& signature = types::SignatureOf(id);
    const auto add = [&](std::span<const types::FormalParameter> parameters,
                         bool is_input) {
      for (const types::FormalParameter& parameter : parameters) {
        if (!MayBeFloat(signature, parameter)) continue;
        const Override* const line = OverrideOf(id, parameter);
        entries.push_back({FullName(Operators()[i]),
                           Operators()[i].versions.back(), is_input,
                           std::string(parameter.name), parameter.flag,
                           IsDifferentiable(id, parameter),
                           line == nullptr ? "" : std::string(line->because)});
      }
    };
    add(signature.inputs, true);
    add(signature.outputs, false);
  }
  std::ranges::stable_sort(entries, {}, &Entry::op);
  return entries;
}

std::string FlagsText() {
  const std::vector<Entry> entries = Catalogue();
  std::set<std::string_view> operators, wrong_operators;
  std::map<types::Differentiability, int> counts;
  std::string lines;
  for (const Entry& entry : entries) {
    operators.insert(entry.op);
    if (entry.because.empty()) continue;
    ++counts[entry.flag];
    if (wrong_operators.insert(entry.op).second) {
      lines += StrCat("\n", entry.op, ", since opset ", entry.since, "\n");
    }
    lines += StrCat("  ", entry.is_input ? "input " : "output ",
                    entry.parameter, ": ", ToString(entry.flag), ", should be ",
                    WantedFlag(entry), "\n    ", entry.because, "\n");
  }
  using enum types::Differentiability;
  return StrCat(
      "Flags of differentiability in the operator schemas of ONNX ",
      ASSAY_ONNX_VERSION, "\n\n", entries.size(), " inputs and outputs of ",
      operators.size(), " operators may be of a floating-point type.\n",
      counts[kUnknown] + counts[kNot] + counts[kDifferentiable],
      " of them, of ", wrong_operators.size(),
      " operators, should have another flag: ", counts[kUnknown],
      " have none,\n", counts[kNot], " are NonDifferentiable, ",
      counts[kDifferentiable],
      " are Differentiable.\n\n"
      "Each line below says which flag the operator's newest schema has, and "
      "which\nit should have and why. \"Linear in\" a parameter means with all "
      "else held.\n",
      lines);
}

std::vector<std::vector<std::pair<std::string, std::string>>> FlagRows() {
  std::vector<std::vector<std::pair<std::string, std::string>>> rows;
  for (const Entry& entry : Catalogue()) {
    if (entry.because.empty()) continue;
    rows.push_back({{"operator", entry.op},
                    {"since", StrCat(entry.since)},
                    {"place", entry.is_input ? "input" : "output"},
                    {"parameter", entry.parameter},
                    {"flag", std::string(ToString(entry.flag))},
                    {"should_be", std::string(WantedFlag(entry))},
                    {"because", entry.because}});
  }
  return rows;
}

}  // namespace assay::gradcheck
