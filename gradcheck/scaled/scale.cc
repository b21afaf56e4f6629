// SPDX-License-Identifier: Apache-2.0

#include "gradcheck/scaled/scale.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "framework/graph/edit/submodel.h"

namespace assay::gradcheck {
namespace {

bool IsOneOf(std::string_view name,
             std::initializer_list<std::string_view> names) {
  return std::ranges::find(names, name) != names.end();
}

/// The shape of a value that inference knows.
Result<Shape> ShapeOf(const Graph& graph, ValueId id) {
  const std::optional<Shape> shape = graph[id].type.StaticShape();
  if (shape.has_value()) return *shape;
  return Unsupported(Reason::kShape, "'", graph[id].name, "' is ",
                     graph[id].type.ToString(), ", wanted a static shape");
}

/// An initializer of integers, as Reshape and ConstantOfShape read it.
Result<Tensor> TensorOf(const Shape& shape) {
  return Tensor::Of<int64_t>({shape.rank()}, shape.dims());
}

/// The first numbers of a tensor under a smaller shape.
Result<Tensor> FirstOf(const Tensor& tensor, const Shape& shape) {
  ASSAY_ASSIGN_OR_RETURN(Tensor first, Tensor::Allocate(tensor.dtype(), shape));
  if (first.byte_size() > tensor.byte_size()) {
    return InvalidArgument("found ", tensor.Signature(),
                           ", wanted no more than ", first.Signature());
  }
  std::copy_n(tensor.data(), first.byte_size(), first.mutable_data());
  return first;
}

/// Groups of convolutions, where these are fewer than channels.
int64_t GroupsOf(const Graph& graph) {
  int64_t groups = 1;
  for (const Node& node : graph.nodes) {
    const int64_t group = Integer(node, "group", 1);
    const auto input = graph[node.inputs[0]].type.StaticShape();
    if (node.op_type != "Conv" || !input.has_value()) continue;
    if (group < (*input)[1]) groups = std::lcm(groups, group);
  }
  return groups;
}

/// Goes through the nodes of a graph in their order and takes down the new
/// shape of each value; lives as long as one call of ScaledDown.
class Scaler {
 public:
  Scaler(Graph graph, const Scale& scale)
      : old_(std::move(graph)),
        new_(old_),
        scale_(scale),
        groups_(GroupsOf(old_)),
        shapes_(old_.values.size()),
        makers_(old_.values.size(), nullptr) {}

  /// The graph with its new shapes.
  Result<Graph> Run();

 private:
  Status Feed();
  Status Visit(Node* node);
  Status Convolve(Node* node);
  Status Pool(Node* node);
  Status Multiply(const Node& node);
  Status Normalise(const Node& node);
  Status Join(const Node& node);
  Status Regroup(const Node& node);
  Status Broadcast(const Node& node);

  /// A weight is an initializer of floats, a ConstantOfShape, or one of these
  /// under another shape.
  bool IsWeight(ValueId id) const;
  /// Lets what a weight is made of have this shape.
  Status SetWeight(ValueId id, const Shape& shape);
  Status SetInitializer(ValueId id, Result<Tensor> tensor);
  /// The new shape of what a node computes or the model is fed.
  Result<Shape> New(ValueId id) const;
  Status SetOutput(const Node& node, Result<Shape> shape);
  /// A window of several pixels keeps several to read.
  static Status CheckImage(const Node& node, std::span<const int64_t> kernel,
                           const Shape& input);

  /// The new number of channels that a weight decides.
  int64_t Fewer(int64_t channels);

  const Graph old_;
  Graph new_;
  const Scale scale_;
  const int64_t groups_;
  std::map<int64_t, int64_t> fewer_;          // numbers of channels so far
  std::vector<std::optional<Shape>> shapes_;  // by ValueId
  std::vector<const Node*> makers_;           // of old_
};

int64_t Scaler::Fewer(int64_t channels) {
  const int64_t divisor = scale_.divisor * groups_;
  const int64_t fewer = (channels + divisor - 1) / divisor * groups_;
  const int64_t kept = std::max(fewer, std::min(channels, scale_.least));
  return fewer_.emplace(channels, kept).first->second;
}

bool Scaler::IsWeight(ValueId id) const {
  const Node* const maker = makers_[static_cast<size_t>(id)];
  if (maker == nullptr) {
    return old_.FindInitializer(id) != nullptr &&
           IsFloatingPoint(old_[id].type.dtype);
  }
  if (maker->op_type == "ConstantOfShape") return true;
  return IsOneOf(maker->op_type, {"Unsqueeze", "Reshape"}) &&
         IsWeight(maker->inputs[0]);
}

Result<Shape> Scaler::New(ValueId id) const {
  const auto& shape = shapes_[static_cast<size_t>(id)];
  if (shape.has_value()) return *shape;
  return Unsupported(Reason::kShape, "'", old_[id].name,
                     "' is a weight, wanted a value that nodes compute");
}

Status Scaler::SetOutput(const Node& node, Result<Shape> shape) {
  const ValueId id = node.outputs[0];
  ASSAY_RETURN_IF_ERROR(shape.status());
  shapes_[static_cast<size_t>(id)] = *std::move(shape);
  return OkStatus();
}

Status Scaler::CheckImage(const Node& node, std::span<const int64_t> kernel,
                          const Shape& input) {
  for (size_t i = 0; i < kernel.size(); ++i) {
    if (kernel[i] == 1 || input[static_cast<int>(i) + 2] > 1) continue;
    return InvalidArgument(node.Label(), " reads ", input.ToString(),
                           ", wanted at least 2 pixels a side");
  }
  return OkStatus();
}

Status Scaler::SetInitializer(ValueId id, Result<Tensor> tensor) {
  ASSAY_RETURN_IF_ERROR(tensor.status());
  const auto found = std::ranges::find(new_.initializers, id, &Initializer::id);
  if (found == new_.initializers.end()) {
    return Unsupported(Reason::kShape, "'", old_[id].name,
                       "' is computed, wanted an initializer");
  }
  auto& known = shapes_[static_cast<size_t>(id)];
  const bool same =
      tensor->dtype() != DType::kInt64 ||
      std::ranges::equal(tensor->bytes(), found->value.tensor()->bytes());
  if (known.has_value() && (!same || *known != tensor->shape())) {
    return Unsupported(Reason::kShape, "two nodes want '", old_[id].name,
                       "' to be different, wanted one");
  }
  known = tensor->shape();
  new_[id].type = ValueType::OfTensor(*tensor);
  found->value = *std::move(tensor);
  return OkStatus();
}

Status Scaler::SetWeight(ValueId id, const Shape& shape) {
  const Node* const maker = makers_[static_cast<size_t>(id)];
  if (maker == nullptr) {
    const Value* const value = old_.FindInitializer(id);
    if (!IsWeight(id)) {
      return Unsupported(Reason::kShape, "'", old_[id].name,
                         "' is computed, wanted a weight");
    }
    return SetInitializer(id, FirstOf(*value->tensor(), shape));
  }
  const ValueId source = maker->inputs[0];
  if (maker->op_type == "ConstantOfShape") {
    return SetInitializer(source, TensorOf(shape));
  }
  ASSAY_ASSIGN_OR_RETURN(const Shape given, ShapeOf(old_, id));
  ASSAY_ASSIGN_OR_RETURN(const Shape read, ShapeOf(old_, source));
  ASSAY_ASSIGN_OR_RETURN(const Shape wanted, Regrouped(given, read, shape));
  if (maker->op_type == "Reshape") {
    ASSAY_RETURN_IF_ERROR(SetInitializer(maker->inputs[1], TensorOf(shape)));
  }
  return SetWeight(source, wanted);
}

Status Scaler::Convolve(Node* node) {
  ASSAY_ASSIGN_OR_RETURN(const Shape input, New(node->inputs[0]));
  ASSAY_ASSIGN_OR_RETURN(const Shape old_input, ShapeOf(old_, node->inputs[0]));
  ASSAY_ASSIGN_OR_RETURN(Shape weight, ShapeOf(old_, node->inputs[1]));
  int64_t group = Integer(*node, "group", 1);
  if (group == old_input[1] && group > 1) {
    group = input[1];
    for (Attribute& attribute : node->attributes) {
      if (attribute.name == "group") attribute.held = group;
    }
  }
  weight[0] = Fewer(weight[0]);
  weight[1] = input[1] / group;
  if (input[1] % group != 0 || weight[0] % group != 0) {
    return Unsupported(Reason::kShape, node->Label(), " has ", input[1],
                       " channels and gives ", weight[0],
                       ", wanted multiples of ", group, " groups");
  }
  ASSAY_RETURN_IF_ERROR(SetWeight(node->inputs[1], weight));
  if (node->inputs.size() > 2) {
    ASSAY_RETURN_IF_ERROR(SetWeight(node->inputs[2], {weight[0]}));
  }
  const std::vector<int64_t> kernel(weight.begin() + 2, weight.end());
  ASSAY_RETURN_IF_ERROR(CheckImage(*node, kernel, input));
  return SetOutput(*node, Windowed(*node, kernel, input, weight[0]));
}

/// A pool that gave one pixel takes the whole image still.
Status Scaler::Pool(Node* node) {
  ASSAY_ASSIGN_OR_RETURN(const Shape input, New(node->inputs[0]));
  ASSAY_ASSIGN_OR_RETURN(const Shape old_input, ShapeOf(old_, node->inputs[0]));
  ASSAY_ASSIGN_OR_RETURN(const Shape output, ShapeOf(old_, node->outputs[0]));
  std::vector<int64_t> kernel = Integers(*node, "kernel_shape");
  ASSAY_RETURN_IF_ERROR(CheckImage(*node, kernel, input));
  if (std::all_of(output.begin() + 2, output.end(),
                  [](int64_t extent) { return extent == 1; })) {
    for (size_t i = 0; i < kernel.size(); ++i) {
      const int axis = static_cast<int>(i) + 2;
      kernel[i] += input[axis] - old_input[axis];
    }
    for (Attribute& attribute : node->attributes) {
      if (attribute.name == "kernel_shape") attribute.held = kernel;
    }
  }
  return SetOutput(*node, Windowed(*node, kernel, input, input[1]));
}

/// Gemm, whose second factor is a weight.
Status Scaler::Multiply(const Node& node) {
  ASSAY_ASSIGN_OR_RETURN(const Shape input, New(node.inputs[0]));
  ASSAY_ASSIGN_OR_RETURN(const auto old_output, ShapeOf(old_, node.outputs[0]));
  const bool from_rows = Integer(node, "transA", 0) != 0;
  const int64_t terms = input[from_rows ? 0 : 1];
  const int64_t rows = input[from_rows ? 1 : 0];
  const int64_t columns = Fewer(old_output[1]);
  const bool transposed = Integer(node, "transB", 0) != 0;
  ASSAY_RETURN_IF_ERROR(SetWeight(node.inputs[1], transposed
                                                      ? Shape{columns, terms}
                                                      : Shape{terms, columns}));
  if (node.inputs.size() > 2) {
    ASSAY_ASSIGN_OR_RETURN(Shape bias, ShapeOf(old_, node.inputs[2]));
    if (bias.rank() != 1 || bias[0] != old_output[1]) {
      return Unsupported(Reason::kShape, node.Label(), " adds ",
                         bias.ToString(), ", wanted a number for each column");
    }
    ASSAY_RETURN_IF_ERROR(SetWeight(node.inputs[2], {columns}));
  }
  return SetOutput(node, Shape{rows, columns});
}

Status Scaler::Normalise(const Node& node) {
  ASSAY_ASSIGN_OR_RETURN(const Shape input, New(node.inputs[0]));
  for (size_t i = 1; i < node.inputs.size(); ++i) {
    ASSAY_RETURN_IF_ERROR(SetWeight(node.inputs[i], {input[1]}));
  }
  return SetOutput(node, input);
}

Status Scaler::Join(const Node& node) {
  const auto axis = static_cast<int>(Integer(node, "axis", 1));
  ASSAY_ASSIGN_OR_RETURN(Shape output, New(node.inputs[0]));
  ASSAY_ASSIGN_OR_RETURN(const Shape old, ShapeOf(old_, node.outputs[0]));
  output[axis] = 0;
  for (const ValueId id : node.inputs) {
    ASSAY_ASSIGN_OR_RETURN(Shape part, New(id));
    output[axis] += part[axis];
    part[axis] = output[axis];
    if (part == output) continue;
    return InvalidArgument(node.Label(), " reads images of different extents: ",
                           part.ToString(), " and ", output.ToString());
  }
  if (axis == 1) fewer_.emplace(old[1], output[1]);
  return SetOutput(node, output);
}

Status Scaler::Regroup(const Node& node) {
  ASSAY_ASSIGN_OR_RETURN(const Shape input, New(node.inputs[0]));
  ASSAY_ASSIGN_OR_RETURN(const Shape old_input, ShapeOf(old_, node.inputs[0]));
  ASSAY_ASSIGN_OR_RETURN(const Shape old, ShapeOf(old_, node.outputs[0]));
  ASSAY_ASSIGN_OR_RETURN(const Shape output, Regrouped(old_input, old, input));
  ASSAY_RETURN_IF_ERROR(SetInitializer(node.inputs[1], TensorOf(output)));
  return SetOutput(node, output);
}

/// A sum or a product of values of one shape, or of one and weights of a number
/// for each channel.
Status Scaler::Broadcast(const Node& node) {
  ASSAY_ASSIGN_OR_RETURN(const Shape output, New(node.inputs[0]));
  for (const ValueId id : node.inputs) {
    if (!IsWeight(id)) {
      ASSAY_ASSIGN_OR_RETURN(const Shape other, New(id));
      if (other == output) continue;
      return InvalidArgument(node.Label(), " reads ", output.ToString(),
                             " and ", other.ToString(),
                             ", wanted shapes that stay equal");
    }
    ASSAY_ASSIGN_OR_RETURN(Shape weight, ShapeOf(old_, id));
    for (int axis = 0; axis < weight.rank(); ++axis) {
      if (weight[axis] == 1) continue;
      weight[axis] = output[output.rank() - weight.rank() + axis];
    }
    ASSAY_RETURN_IF_ERROR(SetWeight(id, weight));
  }
  return SetOutput(node, output);
}

Status Scaler::Visit(Node* node) {
  const std::string& op = node->op_type;
  if (IsWeight(node->outputs[0])) return OkStatus();  // when it is read
  if (op == "Conv") return Convolve(node);
  if (op == "Gemm") return Multiply(*node);
  if (op == "BatchNormalization") return Normalise(*node);
  if (op == "Concat") return Join(*node);
  if (op == "Reshape") return Regroup(*node);
  if (IsOneOf(op, {"MaxPool", "AveragePool"})) return Pool(node);
  if (IsOneOf(op, {"Add", "Mul", "Sum"})) return Broadcast(*node);
  ASSAY_ASSIGN_OR_RETURN(const Shape input, New(node->inputs[0]));
  if (IsOneOf(op, {"Relu", "LRN", "Dropout", "Softmax"})) {
    return SetOutput(*node, input);
  }
  if (op == "GlobalAveragePool") {
    ASSAY_ASSIGN_OR_RETURN(const Shape old, ShapeOf(old_, node->inputs[0]));
    const std::vector<int64_t> image(old.begin() + 2, old.end());
    ASSAY_RETURN_IF_ERROR(CheckImage(*node, image, input));
    Shape output = input;
    for (int axis = 2; axis < output.rank(); ++axis) output[axis] = 1;
    return SetOutput(*node, output);
  }
  if (op == "Transpose") {
    Shape output = input;
    const std::vector<int64_t> perm = Integers(*node, "perm");
    for (size_t i = 0; i < perm.size(); ++i) {
      output[static_cast<int>(i)] = input[static_cast<int>(perm[i])];
    }
    return SetOutput(*node, output);
  }
  return Unsupported(Reason::kOperator, node->Label(),
                     ", wanted an operator that is scaled down");
}

Status Scaler::Feed() {
  for (const ValueId id : old_.inputs) {
    ASSAY_ASSIGN_OR_RETURN(Shape shape, ShapeOf(old_, id));
    if (shape.rank() == 4 && scale_.image > 0) {
      shape[2] = shape[3] = scale_.image;
    }
    shapes_[static_cast<size_t>(id)] = shape;
  }
  return OkStatus();
}

Result<Graph> Scaler::Run() {
  for (const Node& node : old_.nodes) {
    for (const ValueId id : node.outputs) {
      if (id != kNoValue) makers_[static_cast<size_t>(id)] = &node;
    }
  }
  ASSAY_RETURN_IF_ERROR(Feed());
  for (Node& node : new_.nodes) ASSAY_RETURN_IF_ERROR(Visit(&node));
  for (const auto& ids : {old_.inputs, old_.outputs}) {
    for (const ValueId id : ids) {
      ASSAY_ASSIGN_OR_RETURN(const Shape shape, New(id));
      std::vector<Dim> dims;
      for (const int64_t extent : shape) dims.emplace_back(extent);
      new_[id].type = ValueType::OfTensor(old_[id].type.dtype, std::move(dims));
    }
  }
  return new_;
}

}  // namespace

Result<std::shared_ptr<const Model>> ScaledDown(const Model& model,
                                                const Scale& scale) {
  ASSAY_ASSIGN_OR_RETURN(Graph graph, InferTypes(model));
  ASSAY_ASSIGN_OR_RETURN(const Graph scaled,
                         Scaler(std::move(graph), scale).Run());
  edit::Submodel all;
  all.nodes.resize(scaled.nodes.size());
  std::iota(all.nodes.begin(), all.nodes.end(), size_t{0});
  for (const ValueId id : scaled.inputs) {
    all.inputs.push_back({id, scaled[id].type});
  }
  for (const ValueId id : scaled.outputs) {
    all.outputs.push_back({id, scaled[id].type});
  }
  return edit::MakeSubmodel(model, scaled, all);
}

}  // namespace assay::gradcheck
