// SPDX-License-Identifier: Apache-2.0

#include "framework/graph/edit/training.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "framework/graph/onnx_writer.h"
#include "framework/graph/reader/onnx_reader.h"

namespace assay::edit {
namespace {

constexpr int kLossOpset = 13;  // ReduceSum's axes are an input since

Result<std::shared_ptr<const Model>> Read(const onnx::ModelProto& proto,
                                          const Model& from) {
  const std::string bytes = proto.SerializeAsString();
  return Model::Parse(std::as_bytes(std::span(bytes)), from.directory());
}

template <class Field>
void Remove(const std::string& name, Field* field) {
  field->erase(
      std::remove_if(field->begin(), field->end(),
                     [&](const auto& part) { return part.name() == name; }),
      field->end());
}

/// Appends nodes, inputs and outputs to a graph, in terms of names.
class Appender {
 public:
  explicit Appender(onnx::GraphProto* graph) : graph_(graph) {}

  onnx::NodeProto* Node(const char* op, const std::vector<std::string>& inputs,
                        const std::string& output) {
    onnx::NodeProto* const node = graph_->add_node();
    node->set_op_type(op);
    for (const std::string& input : inputs) node->add_input(input);
    node->add_output(output);
    return node;
  }

  static void Set(onnx::NodeProto* node, const char* name, int64_t value) {
    onnx::AttributeProto* const attribute = node->add_attribute();
    attribute->set_name(name);
    attribute->set_type(onnx::AttributeProto::INT);
    attribute->set_i(value);
  }
  static void Set(onnx::NodeProto* node, const char* name, const char* value) {
    onnx::AttributeProto* const attribute = node->add_attribute();
    attribute->set_name(name);
    attribute->set_type(onnx::AttributeProto::STRING);
    attribute->set_s(value);
  }

  /// The sum of all elements, a scalar.
  void Sum(const std::string& input, const std::string& output) {
    Set(Node("ReduceSum", {input}, output), "keepdims", int64_t{0});
  }

 private:
  onnx::GraphProto* graph_;
};

/// An operator of ONNX's that takes classes.
void OfClasses(const LossEdit& edit, const char* op, const std::string& scores,
               Appender* to) {
  std::vector<std::string> inputs = {scores, edit.targets};
  if (edit.weights.has_value()) inputs.push_back(edit.result + ".weights");
  onnx::NodeProto* const node = to->Node(op, inputs, edit.result);
  Appender::Set(node, "reduction", edit.sum ? "sum" : "mean");
  if (edit.ignore_index.has_value()) {
    Appender::Set(node, "ignore_index", *edit.ignore_index);
  }
}

/// -sum(t log p) / sum(t), t being the targets times the weights.
void OfOneHot(const LossEdit& edit, const std::string& log_p, Appender* to) {
  const auto named = [&](const char* part) { return edit.result + part; };
  std::string weighted = edit.targets;
  if (edit.weights.has_value()) {
    to->Node("Mul", {edit.targets, named(".weights")}, named(".weighted"));
    weighted = named(".weighted");
  }
  to->Node("Mul", {weighted, log_p}, named(".each"));
  to->Sum(named(".each"), named(".sum"));
  if (edit.sum) {
    to->Node("Neg", {named(".sum")}, edit.result);
    return;
  }
  to->Sum(weighted, named(".count"));
  to->Node("Div", {named(".sum"), named(".count")}, named(".mean"));
  to->Node("Neg", {named(".mean")}, edit.result);
}

void MeanSquaredError(const LossEdit& edit, const std::string& scores,
                      Appender* to) {
  const auto named = [&](const char* part) { return edit.result + part; };
  to->Node("Sub", {scores, edit.targets}, named(".off"));
  to->Node("Mul", {named(".off"), named(".off")}, named(".square"));
  if (edit.sum) {
    to->Sum(named(".square"), edit.result);
    return;
  }
  Appender::Set(to->Node("ReduceMean", {named(".square")}, edit.result),
                "keepdims", int64_t{0});
}

void Append(const LossEdit& edit, const std::string& of, Appender* to) {
  const std::string log_p = edit.result + ".log";
  switch (edit.loss) {
    case Loss::kSoftmaxCrossEntropy:
      return OfClasses(edit, "SoftmaxCrossEntropyLoss", of, to);
    case Loss::kSoftmaxCrossEntropyOfOneHot:
      Appender::Set(to->Node("LogSoftmax", {of}, log_p), "axis", int64_t{-1});
      return OfOneHot(edit, log_p, to);
    case Loss::kNegativeLogLikelihood:
      return OfClasses(edit, "NegativeLogLikelihoodLoss", of, to);
    case Loss::kNegativeLogLikelihoodOfOneHot:
      return OfOneHot(edit, of, to);
    case Loss::kMeanSquaredError:
      return MeanSquaredError(edit, of, to);
  }
}

Result<ValueInfo> OutputOf(const Graph& graph, const LossEdit& edit) {
  const auto found = std::ranges::find_if(graph.outputs, [&](ValueId id) {
    return edit.of.empty() || graph[id].name == edit.of;
  });
  if (found == graph.outputs.end()) {
    return NotFound("'", edit.of, "' is no output of the graph");
  }
  const ValueInfo& info = graph[*found];
  const DType type = info.type.dtype;
  const bool is_float = type == DType::kFloat32 || type == DType::kFloat64;
  const bool is_matrix = info.type.kind == ValueKind::kTensor &&
                         info.type.dims.has_value() &&
                         info.type.dims->size() == 2;
  if (is_float && is_matrix) return info;
  return InvalidArgument("the output '", info.name, "' is ",
                         info.type.ToString(),
                         ", wanted a matrix of float32 or float64");
}

Status Check(const Model& model, const LossEdit& edit, const ValueInfo& of) {
  for (const std::string& name : {edit.targets, edit.result}) {
    if (model.graph().FindValue(name) == kNoValue) continue;
    return InvalidArgument("the graph has a value '", name, "' already");
  }
  const auto opset = model.opsets().find("");
  if (opset == model.opsets().end() || opset->second < kLossOpset) {
    return Unsupported(Reason::kOpset, "found version ",
                       opset == model.opsets().end() ? 0 : opset->second,
                       " of ai.onnx, wanted ", kLossOpset, " at least");
  }
  if (!edit.weights.has_value() || (edit.weights->dtype() == of.type.dtype &&
                                    edit.weights->shape().rank() == 1)) {
    return OkStatus();
  }
  return InvalidArgument("the weights are ", edit.weights->Signature(),
                         ", wanted a vector of ", ToString(of.type.dtype));
}

/// The targets: classes of the samples, or one number for each of the output.
ValueType TargetsOf(const LossEdit& edit, const ValueInfo& of) {
  const bool takes_classes = edit.loss == Loss::kSoftmaxCrossEntropy ||
                             edit.loss == Loss::kNegativeLogLikelihood;
  if (!takes_classes) return of.type;
  return ValueType::OfTensor(DType::kInt64, {of.type.dims->front()});
}

}  // namespace

Result<std::shared_ptr<const Model>> AsInputs(
    const Model& model, std::span<const std::string> initializers) {
  onnx::ModelProto proto;
  ASSAY_RETURN_IF_ERROR(reader::ParseInto(model.bytes(), proto));
  onnx::GraphProto* const graph = proto.mutable_graph();
  for (const std::string& name : initializers) {
    const Value* const value =
        model.graph().FindInitializer(model.graph().FindValue(name));
    if (value == nullptr) {
      return NotFound("'", name, "' is no initializer of the graph");
    }
    Remove(name, graph->mutable_initializer());
    // An initializer may be an input already, which may override it.
    Remove(name, graph->mutable_input());
    onnx::ValueInfoProto* const input = graph->add_input();
    input->set_name(name);
    graph::WriteType(value->Type(), *input->mutable_type());
  }
  return Read(proto, model);
}

Result<std::shared_ptr<const Model>> WithLoss(const Model& model,
                                              const LossEdit& edit) {
  ASSAY_ASSIGN_OR_RETURN(const ValueInfo of, OutputOf(model.graph(), edit));
  ASSAY_RETURN_IF_ERROR(Check(model, edit, of));
  onnx::ModelProto proto;
  ASSAY_RETURN_IF_ERROR(reader::ParseInto(model.bytes(), proto));
  onnx::GraphProto* const graph = proto.mutable_graph();
  onnx::ValueInfoProto* const input = graph->add_input();
  input->set_name(edit.targets);
  graph::WriteType(TargetsOf(edit, of), *input->mutable_type());
  if (edit.weights.has_value()) {
    onnx::TensorProto* const weights = graph->add_initializer();
    graph::WriteTensor(*edit.weights, *weights);
    weights->set_name(edit.result + ".weights");
  }
  Appender to(graph);
  Append(edit, of.name, &to);
  onnx::ValueInfoProto* const output = graph->add_output();
  output->set_name(edit.result);
  graph::WriteType(ValueType::OfTensor(of.type.dtype, {}),
                   *output->mutable_type());
  return Read(proto, model);
}

}  // namespace assay::edit
