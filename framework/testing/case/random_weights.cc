// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/case/random_weights.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <optional>
#include <utility>

#include "framework/core/numbers.h"

namespace assay::cases {
namespace {

struct Range {
  float low, high;
};

constexpr Range kSmall = {-0.1F, 0.1F};
constexpr Range kAroundOne = {0.8F, 1.2F};
constexpr Range kBeforeSum = {0.2F, 0.4F};

/// A node and which of its inputs.
struct Use {
  const Node* node = nullptr;
  size_t input = 0;
};

std::optional<Use> FirstUse(const Graph& graph, ValueId id) {
  for (const Node& node : graph.nodes) {
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (node.inputs[i] == id) return Use{&node, i};
    }
  }
  return std::nullopt;
}

/// The use of a value behind nodes that only give it another shape.
std::optional<Use> UseBehindReshapes(const Graph& graph, ValueId id) {
  std::optional<Use> use = FirstUse(graph, id);
  while (use.has_value() && (use->node->op_type == "Reshape" ||
                             use->node->op_type == "Unsqueeze")) {
    use = FirstUse(graph, use->node->outputs[0]);
  }
  return use;
}

/// Terms in a sum of products with this factor; 1 where its shape is not known,
/// 0 only where it has no elements.
int64_t FanIn(const Graph& graph, const Use& use) {
  const ValueInfo& info = graph[use.node->inputs[use.input]];
  const std::optional<Shape> shape = info.type.StaticShape();
  if (!shape.has_value() || shape->rank() < 2) return 1;
  if (use.node->op_type == "Conv") {
    return *shape->NumElements() / std::max<int64_t>((*shape)[0], 1);
  }
  const Attribute* transposed = use.node->Find("transB");
  const bool rows_are_outputs =
      transposed != nullptr && std::get<int64_t>(transposed->held) != 0;
  return (*shape)[rows_are_outputs ? 1 : 0];
}

const Node* Producer(const Graph& graph, ValueId id) {
  const auto computes = [id](const Node& node) {
    return std::ranges::find(node.outputs, id) != node.outputs.end();
  };
  const auto found = std::ranges::find_if(graph.nodes, computes);
  return found == graph.nodes.end() ? nullptr : &*found;
}

/// True when a value comes from a Relu, with no mixing operator behind it.
bool IsRectified(const Graph& graph, ValueId id) {
  const Node* node = Producer(graph, id);
  while (node != nullptr && node->op_type != "Relu") {
    const bool mixes = node->op_type == "Conv" || node->op_type == "Gemm" ||
                       node->op_type == "BatchNormalization" ||
                       node->op_type == "Sum";
    if (mixes) return false;
    node = Producer(graph, node->inputs[0]);
  }
  return node != nullptr;
}

bool FeedsASum(const Graph& graph, const Node& node) {
  const std::optional<Use> use = FirstUse(graph, node.outputs[0]);
  return use.has_value() && use->node->op_type == "Sum";
}

Range RangeOf(const Graph& graph, const std::optional<Use>& use, Signs signs) {
  if (!use.has_value()) return kSmall;
  const Node& node = *use->node;
  if ((node.op_type == "Conv" || node.op_type == "Gemm") && use->input == 1) {
    const auto fan_in = static_cast<float>(FanIn(graph, *use));
    if (signs == Signs::kMostlyPositive) return {-1 / fan_in, 3 / fan_in};
    const float gain = IsRectified(graph, node.inputs[0]) ? 2 : 1;
    // A uniform variable over [-b, b] has variance b^2 / 3.
    const float bound = std::sqrt(3 * gain / fan_in);
    return {-bound, bound};
  }
  if (signs == Signs::kMostlyPositive && use->input == 2 &&
      (node.op_type == "Conv" || node.op_type == "Gemm")) {
    return {-0.3F, 0.3F};
  }
  if (node.op_type == "BatchNormalization" && use->input == 1) {
    return FeedsASum(graph, node) ? kBeforeSum : kAroundOne;
  }
  if (node.op_type == "BatchNormalization" && use->input == 4) {
    return kAroundOne;
  }
  return node.op_type == "Mul" ? kAroundOne : kSmall;
}

/// The values of the graph that are weights.
std::vector<ValueId> WeightsOf(const Graph& graph) {
  std::vector<ValueId> ids;
  for (const Initializer& initializer : graph.initializers) {
    const Tensor* tensor = initializer.value.tensor();
    if (tensor != nullptr && tensor->dtype() == DType::kFloat32) {
      ids.push_back(initializer.id);
    }
  }
  for (const Node& node : graph.nodes) {
    if (node.op_type == "ConstantOfShape" &&
        graph.FindInitializer(node.inputs[0]) != nullptr) {
      ids.push_back(node.outputs[0]);
    }
  }
  return ids;
}

}  // namespace

Result<RandomSource> ReadRandomSource(const std::filesystem::path& directory) {
  const std::filesystem::path file = directory / "random_weights.txt";
  std::ifstream in(file);
  if (!in) return NotFound("found no ", file.string());
  std::string model, path, seed;
  RandomSource source;
  if (!(in >> model >> path >> seed >> source.seed) || model != "model" ||
      seed != "seed") {
    return DataLoss(file.string(), ": wanted the lines 'model PATH', 'seed N'");
  }
  source.model = directory / path;
  return source;
}

Result<RandomCase> ReadRandomCase(const std::filesystem::path& directory) {
  ASSAY_ASSIGN_OR_RETURN(const RandomSource source,
                         ReadRandomSource(directory));
  RandomCase random;
  ASSAY_ASSIGN_OR_RETURN(random.source, Model::Read(source.model));
  ASSAY_ASSIGN_OR_RETURN(random.weights,
                         RandomWeights(*random.source, source.seed));
  ASSAY_ASSIGN_OR_RETURN(random.inputs,
                         RandomInputs(*random.source, source.seed));
  return random;
}

Result<Tensor> UniformTensor(const Shape& shape, float low, float high,
                             int64_t seed, std::string_view name) {
  ASSAY_ASSIGN_OR_RETURN(Tensor tensor,
                         Tensor::Allocate(DType::kFloat32, shape));
  constexpr float kUnit = 1.0F / 16777216.0F;  // 24 random bits
  const uint64_t key = core::KeyOf(core::StableHash(name), seed - 1);
  const float width = high - low;
  int64_t i = 0;
  for (float& x : tensor.mutable_elements<float>()) {
    x = low + width * (static_cast<float>(core::KeyOf(key, i++) >> 40) * kUnit);
  }
  return tensor;
}

Result<std::map<std::string, Tensor>> RandomWeights(const Model& model,
                                                    int64_t seed, Signs signs) {
  ASSAY_ASSIGN_OR_RETURN(const Graph graph, InferTypes(model));
  std::map<std::string, Tensor> weights;
  for (const ValueId id : WeightsOf(graph)) {
    const ValueInfo& info = graph[id];
    const std::optional<Shape> shape = info.type.StaticShape();
    if (info.type.dtype != DType::kFloat32) continue;
    if (!shape.has_value()) {
      return Unsupported(Reason::kShape, "weight '", info.name, "' is ",
                         info.type.ToString(), ", wanted a static shape");
    }
    const Range range = RangeOf(graph, UseBehindReshapes(graph, id), signs);
    ASSAY_ASSIGN_OR_RETURN(
        weights[info.name],
        UniformTensor(*shape, range.low, range.high, seed, info.name));
  }
  return weights;
}

Result<std::vector<Value>> RandomInputs(const Model& model, int64_t seed) {
  const Graph& graph = model.graph();
  std::vector<Value> inputs;
  for (const ValueId id : graph.inputs) {
    const ValueInfo& info = graph[id];
    const std::optional<Shape> shape = info.type.StaticShape();
    if (info.type.dtype != DType::kFloat32 || !shape.has_value()) {
      return Unsupported(Reason::kDType, "input '", info.name, "' is ",
                         info.type.ToString(),
                         ", wanted float32 of a static shape");
    }
    constexpr float kBound = 1.7F;  // about sqrt(3): variance 1
    ASSAY_ASSIGN_OR_RETURN(
        Tensor tensor, UniformTensor(*shape, -kBound, kBound, seed, info.name));
    inputs.emplace_back(std::move(tensor));
  }
  return inputs;
}

}  // namespace assay::cases
