// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

#include "framework/core/text.h"
#include "gradcheck/structure/structure.h"

namespace assay::gradcheck {
namespace {

/// Axes by place: a digit; '-' for none; 'r' for axis 0 of a tensor of as many
/// axes as follow, so that "r4" is a mask that may be given without a batch.
struct BatchRow {
  std::string_view op_type;
  std::string_view inputs;
  std::string_view outputs;
  std::string_view batch_first = "";  // inputs, where attribute layout is 1
};

constexpr BatchRow kRows[] = {
    {"Attention", "000r4000", "0000"},
    {"AveragePool", "0", "0"},
    {"BatchNormalization", "0----", "0--"},
    {"Conv", "0--", "0"},
    {"ConvTranspose", "0--", "0"},
    {"DeformConv", "0-0-0", "0"},
    {"DepthToSpace", "0", "0"},
    {"GRU", "1---01", "21", "0---00"},
    {"GlobalAveragePool", "0", "0"},
    {"GlobalLpPool", "0", "0"},
    {"GlobalMaxPool", "0", "0"},
    {"GridSample", "00", "0"},
    {"GroupNormalization", "0--", "0"},
    {"InstanceNormalization", "0--", "0"},
    {"LRN", "0", "0"},
    {"LSTM", "1---011-", "211", "0---000-"},
    {"LogSoftmax", "0", "0"},
    {"LpPool", "0", "0"},
    {"MaxPool", "0", "0-"},
    {"NegativeLogLikelihoodLoss", "00-", "0"},
    {"RNN", "1---01", "21", "0---00"},
    {"RotaryEmbedding", "0r3r30", "0"},
    {"Softmax", "0", "0"},
    {"SoftmaxCrossEntropyLoss", "00-", "00"},
    {"SpaceToDepth", "0", "0"},
};

int64_t IntegerOf(const Node& node, std::string_view attribute) {
  const Attribute* const found = node.Find(attribute);
  const int64_t* const held =
      found == nullptr ? nullptr : std::get_if<int64_t>(&found->held);
  return held == nullptr ? 0 : *held;
}

/// The axis at each place.
std::vector<std::pair<int, int>> AxesOf(std::string_view letters) {
  std::vector<std::pair<int, int>> axes;  // with the rank that is wanted, or -1
  for (size_t i = 0; i < letters.size(); ++i) {
    if (letters[i] == 'r') {
      axes.emplace_back(0, letters[++i] - '0');
    } else {
      axes.emplace_back(letters[i] == '-' ? -1 : letters[i] - '0', -1);
    }
  }
  return axes;
}

/// The place of a value of the graph in a list of a node.
std::optional<size_t> PlaceIn(const std::vector<ValueId>& ids, ValueId id) {
  const auto at = std::ranges::find(ids, id);
  if (at == ids.end()) return std::nullopt;
  return static_cast<size_t>(at - ids.begin());
}

/// The extent along an axis; 1 where there is none.
int64_t ExtentOf(const Value& value, int axis) {
  const Tensor* const tensor = value.tensor();
  if (tensor == nullptr || axis < 0 || axis >= tensor->shape().rank()) return 1;
  return tensor->shape()[axis];
}

/// The tensor with its slices along an axis in reverse order.
Result<Value> Reversed(const Value& value, int axis) {
  if (ExtentOf(value, axis) < 2 || value.tensor()->byte_size() == 0) {
    return value;
  }
  const Tensor& tensor = *value.tensor();
  ASSAY_ASSIGN_OR_RETURN(Tensor reversed,
                         Tensor::Allocate(tensor.dtype(), tensor.shape()));
  const int64_t extent = tensor.shape()[axis];
  int64_t blocks = 1;
  for (int i = 0; i < axis; ++i) blocks *= tensor.shape()[i];
  const int64_t width = tensor.byte_size() / (blocks * extent);
  for (int64_t block = 0; block < blocks; ++block) {
    for (int64_t i = 0; i < extent; ++i) {
      std::memcpy(
          reversed.mutable_data() + (block * extent + extent - 1 - i) * width,
          tensor.data() + (block * extent + i) * width,
          static_cast<size_t>(width));
    }
  }
  return Value(std::move(reversed));
}

Result<std::vector<Value>> Reversed(std::span<const Value> values,
                                    const std::vector<int>& axes) {
  std::vector<Value> reversed(values.begin(), values.end());
  for (size_t i = 0; i < reversed.size(); ++i) {
    if (i >= axes.size() || axes[i] < 0) continue;
    ASSAY_ASSIGN_OR_RETURN(reversed[i], Reversed(values[i], axes[i]));
  }
  return reversed;
}

/// Strings and elements narrower than a byte lie in no memory of this size.
bool HasBytes(const Value& value) {
  const Tensor* const tensor = value.tensor();
  return tensor != nullptr && tensor->dtype() != DType::kString &&
         BitsOf(tensor->dtype()) >= 8;
}

}  // namespace

std::optional<BatchAxes> BatchAxesOf(const Graph& graph,
                                     std::span<const Value> inputs) {
  if (graph.nodes.size() != 1 || !graph.nodes[0].domain.empty()) {
    return std::nullopt;
  }
  const Node& node = graph.nodes[0];
  const auto row = std::ranges::find(kRows, node.op_type, &BatchRow::op_type);
  if (row == std::end(kRows)) return std::nullopt;
  const bool first =
      !row->batch_first.empty() && IntegerOf(node, "layout") == 1;
  const auto of_inputs = AxesOf(first ? row->batch_first : row->inputs);
  const auto of_outputs = AxesOf(first ? "000" : row->outputs);
  // An input that the model fixes, such as labels, keeps the order of its
  // examples.
  for (size_t i = 0; i < node.inputs.size() && i < of_inputs.size(); ++i) {
    if (of_inputs[i].first >= 0 && graph.FindInitializer(node.inputs[i])) {
      return std::nullopt;
    }
  }
  BatchAxes axes;
  int64_t examples = 0;
  for (size_t i = 0; i < graph.inputs.size() && i < inputs.size(); ++i) {
    const auto place = PlaceIn(node.inputs, graph.inputs[i]);
    const auto [axis, rank] = place.has_value() && *place < of_inputs.size()
                                  ? of_inputs[*place]
                                  : std::pair(-1, -1);
    const bool lies = axis >= 0 && HasBytes(inputs[i]) &&
                      (rank < 0 || inputs[i].tensor()->shape().rank() == rank);
    if (lies && examples == 0) examples = ExtentOf(inputs[i], axis);
    axes.inputs.push_back(lies ? axis : -1);
    // A broadcast one is each example's.
    const int64_t extent = ExtentOf(inputs[i], axes.inputs.back());
    if (extent != 1 && extent != examples) return std::nullopt;
  }
  if (examples < 2) return std::nullopt;
  for (const ValueId id : graph.outputs) {
    const auto place = PlaceIn(node.outputs, id);
    axes.outputs.push_back(place.has_value() && *place < of_outputs.size()
                               ? of_outputs[*place].first
                               : -1);
  }
  return axes;
}

Result<std::string> ReversedBatchFault(Trial& trial, const Judged& judged) {
  const suite::Subject& subject = trial.subject();
  const Graph& graph = subject.model->graph();
  const auto axes = BatchAxesOf(graph, subject.inputs[0]);
  if (!axes.has_value()) return std::string();
  ASSAY_ASSIGN_OR_RETURN(const std::vector<Value> inputs,
                         Reversed(subject.inputs[0], axes->inputs));
  ASSAY_ASSIGN_OR_RETURN(const auto dy, Reversed(judged.dy, axes->outputs));
  ASSAY_RETURN_IF_ERROR(trial.ForwardOf(inputs));
  ASSAY_ASSIGN_OR_RETURN(auto gradients, trial.Backward(dy, trial.targets()));
  ASSAY_RETURN_IF_ERROR(trial.ForwardOfOwn());
  // Those of initializers, behind these, have no examples.
  for (size_t t = 0; t < gradients.size() && trial.IsFed(t); ++t) {
    ASSAY_ASSIGN_OR_RETURN(
        gradients[t], Reversed(gradients[t], axes->inputs[trial.PlaceOf(t)]));
  }
  const Beside beside = judged.Hold(gradients);
  if (beside.fault.empty()) return std::string();
  return StrCat("with the examples of the batch in reverse order, and the ",
                "gradient in theirs, ", beside.fault);
}

}  // namespace assay::gradcheck
