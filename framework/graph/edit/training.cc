// SPDX-License-Identifier: Apache-2.0

#include "framework/graph/edit/training.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "framework/graph/onnx_writer.h"
#include "framework/graph/reader/onnx_reader.h"
#include "framework/graph/types/check.h"

namespace assay::edit {
namespace {

constexpr int kLossOpset = 13;  // ReduceSum's axes are an input since

/// The version of ai.onnx that a model imports; 0: none.
int VersionOf(const Model& model) {
  const auto opset = model.opsets().find("");
  return opset == model.opsets().end() ? 0 : opset->second;
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
  if (const int version = VersionOf(model); version < kLossOpset) {
    return Unsupported(Reason::kOpset, "found version ", version,
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

constexpr int kTrainingOpset = 14;  // training_mode of BatchNormalization
constexpr std::string_view kNormalization = "BatchNormalization",
                           kDropout = "Dropout";

bool IsOurs(std::string_view domain, std::string_view op_type) {
  return (domain.empty() || domain == "ai.onnx") &&
         (op_type == kNormalization || op_type == kDropout);
}

bool HasOurs(const Graph& graph) {
  return std::ranges::any_of(graph.nodes, [](const Node& node) {
    return IsOurs(node.domain, node.op_type);
  });
}

/// Unsupported for a model that cannot be turned into another form.
Status Check(const Model& model) {
  bool is_within = false;
  const auto look = [&](const Graph& graph) {
    is_within |= &graph != &model.graph() && HasOurs(graph);
  };
  ForEachGraph(model.graph(), look);
  for (const Function& function : model.functions()) {
    ForEachGraph(*function.body, look);
  }
  if (is_within) {
    return Unsupported(Reason::kOperator, "found ", kNormalization, " or ",
                       kDropout,
                       " in a subgraph or a function, wanted them in the main "
                       "graph");
  }
  const int version = VersionOf(model);
  if (!HasOurs(model.graph()) || version >= kTrainingOpset) return OkStatus();
  return Unsupported(Reason::kOpset, "found version ", version,
                     " of ai.onnx, wanted ", kTrainingOpset, " at least");
}

/// The node by a value that it computes, as the other edits name it.
std::string NodeText(const onnx::NodeProto& node) {
  return StrCat(node.op_type(), " of '", node.output(0), "'");
}

std::string InputAt(const onnx::NodeProto& node, int place) {
  return place < node.input_size() ? node.input(place) : "";
}

/// The element of a fixed tensor; nullopt where it is computed, or no number.
std::optional<double> FixedNumber(const Graph& graph, std::string_view name) {
  const Value* value = graph.FindInitializer(graph.FindValue(name));
  const Tensor* tensor = value == nullptr ? nullptr : value->tensor();
  for (const Node& node : graph.nodes) {
    if (node.op_type != "Constant" || graph[node.outputs[0]].name != name) {
      continue;
    }
    const Attribute* const held = node.Find("value");
    if (held != nullptr) tensor = std::get_if<Tensor>(&held->held);
  }
  if (tensor == nullptr || tensor->num_elements() != 1) return std::nullopt;
  switch (tensor->dtype()) {
    case DType::kFloat32:
      return double{tensor->elements<float>()[0]};
    case DType::kFloat64:
      return tensor->elements<double>()[0];
    case DType::kBool:
      return tensor->data()[0] == std::byte{0} ? 0 : 1;
    default:
      return std::nullopt;
  }
}

/// Turns the nodes of a message, and lists what it did.
class Turner {
 public:
  /// `graph` is the model's, with the types that inference finds.
  Turner(const Graph& graph, onnx::GraphProto* to, TrainingForm* form)
      : graph_(graph), to_(to), form_(form) {}

  Status Turn() {
    for (onnx::NodeProto& node : *to_->mutable_node()) {
      if (!IsOurs(node.domain(), node.op_type())) continue;
      if (InputAt(node, 0).empty() || node.output_size() == 0) {
        return InvalidArgument("found ", node.op_type(),
                               " without an input or an output");
      }
      ASSAY_RETURN_IF_ERROR(node.op_type() == kDropout ? Mask(&node)
                                                       : Normalize(&node));
    }
    for (const DropoutMask& mask : form_->masks) {
      graph::WriteInfo(mask.input, mask.type, *to_->add_input());
    }
    for (const FedBack& pair : form_->statistics) {
      const ValueId id = graph_.FindValue(pair.input);
      graph::WriteInfo(pair.output, graph_[id].type, *to_->add_output());
    }
    return OkStatus();
  }

 private:
  Status Normalize(onnx::NodeProto* node) {
    const auto mode =
        std::ranges::find(*node->mutable_attribute(), "training_mode",
                          [](const auto& each) { return each.name(); });
    const bool has_mode = mode != node->mutable_attribute()->end();
    const bool has_more = node->output_size() > 1;
    if ((has_mode && mode->i() != 0) || has_more) {
      return InvalidArgument("found ", NodeText(*node),
                             " in training form, wanted training_mode=0 and "
                             "one output");
    }
    onnx::AttributeProto* const set = has_mode ? &*mode : node->add_attribute();
    set->set_name("training_mode");
    set->set_type(onnx::AttributeProto::INT);
    set->set_i(1);
    for (const int place : {3, 4}) {
      ASSAY_ASSIGN_OR_RETURN(const std::string next, FeedBack(*node, place));
      node->add_output(next);
    }
    return OkStatus();
  }

  /// The name of the output that is fed back into this input of the node.
  Result<std::string> FeedBack(const onnx::NodeProto& node, int place) {
    const std::string name = InputAt(node, place);
    const ValueId id = graph_.FindValue(name);
    const Value* const first = graph_.FindInitializer(id);
    const bool is_input =
        std::ranges::find(graph_.inputs, id) != graph_.inputs.end();
    if (first == nullptr && !is_input) {
      return InvalidArgument(NodeText(node), " has the computed statistic '",
                             name, "', wanted an initializer or an input");
    }
    if (!fed_.insert(name).second) {
      return InvalidArgument(NodeText(node), " has the statistic '", name,
                             "' of another node, wanted one of its own");
    }
    FedBack pair{name, name + "_next", {}};
    if (first != nullptr) pair.first = *first->tensor();
    ASSAY_RETURN_IF_ERROR(CheckNew(pair.output));
    form_->statistics.push_back(pair);
    return pair.output;
  }

  Status Mask(onnx::NodeProto* node) {
    const std::string ratio = InputAt(*node, 1), mode = InputAt(*node, 2);
    const bool has_mask = node->output_size() > 1 && !node->output(1).empty();
    if (has_mask || (!mode.empty() && FixedNumber(graph_, mode) != 0.0)) {
      return InvalidArgument("found ", NodeText(*node),
                             " in training form, wanted no mask of it and its "
                             "training_mode false");
    }
    const auto number =
        ratio.empty() ? std::optional(0.5) : FixedNumber(graph_, ratio);
    if (!number.has_value() || !(*number >= 0 && *number < 1)) {
      return InvalidArgument(
          NodeText(*node), " has the ratio '", ratio, "' ",
          number.has_value() ? StrCat("= ", *number) : "that is not fixed",
          ", wanted a number of [0, 1)");
    }
    const std::string of = node->input(0);
    const ValueType& type = graph_[graph_.FindValue(of)].type;
    if (type.kind != ValueKind::kTensor || !type.dims.has_value()) {
      return InvalidArgument(NodeText(*node), " has an input of type ",
                             type.ToString(),
                             ", wanted a tensor of known rank");
    }
    const std::string mask = node->output(0) + "_mask";
    ASSAY_RETURN_IF_ERROR(CheckNew(mask));
    form_->masks.push_back({mask, *number, of, type});
    node->set_op_type("Mul");
    node->clear_attribute();
    node->clear_input();
    node->add_input(of);
    node->add_input(mask);
    while (node->output_size() > 1) node->mutable_output()->RemoveLast();
    return OkStatus();
  }

  Status CheckNew(const std::string& name) const {
    if (graph_.FindValue(name) == kNoValue) return OkStatus();
    return InvalidArgument("the graph has a value '", name, "' already");
  }

  const Graph& graph_;
  onnx::GraphProto* to_;
  TrainingForm* form_;
  std::set<std::string> fed_;
};

/// The statistics that initializers have, each once.
std::vector<std::string> InitialStatistics(const Graph& graph) {
  std::vector<std::string> names;
  for (const Node& node : graph.nodes) {
    if (node.op_type != kNormalization || !IsOurs(node.domain, node.op_type)) {
      continue;
    }
    for (const size_t place : {3, 4}) {
      if (place >= node.inputs.size()) continue;
      const ValueId id = node.inputs[place];
      const bool is_new =
          id != kNoValue &&
          std::ranges::find(names, graph[id].name) == names.end();
      if (is_new && graph.FindInitializer(id) != nullptr) {
        names.push_back(graph[id].name);
      }
    }
  }
  return names;
}

}  // namespace

Result<std::shared_ptr<const Model>> AsInputs(
    const Model& model, std::span<const std::string> initializers) {
  reader::ModelMessage message;
  ASSAY_RETURN_IF_ERROR(message.Read(model.bytes()));
  onnx::GraphProto* const graph = message.proto.mutable_graph();
  for (const std::string& name : initializers) {
    const Value* const value =
        model.graph().FindInitializer(model.graph().FindValue(name));
    if (value == nullptr) {
      return NotFound("'", name, "' is no initializer of the graph");
    }
    const auto is_it = [&](const auto& each) { return each.name() == name; };
    graph::EraseIf(graph->mutable_initializer(), is_it);
    // An initializer may be an input already, which may override it.
    graph::EraseIf(graph->mutable_input(), is_it);
    graph::WriteInfo(name, value->Type(), *graph->add_input());
  }
  return message.Parse(model.directory());
}

Result<std::shared_ptr<const Model>> WithLoss(const Model& model,
                                              const LossEdit& edit) {
  ASSAY_ASSIGN_OR_RETURN(const ValueInfo of, OutputOf(model.graph(), edit));
  ASSAY_RETURN_IF_ERROR(Check(model, edit, of));
  reader::ModelMessage message;
  ASSAY_RETURN_IF_ERROR(message.Read(model.bytes()));
  onnx::GraphProto* const graph = message.proto.mutable_graph();
  graph::WriteInfo(edit.targets, TargetsOf(edit, of), *graph->add_input());
  if (edit.weights.has_value()) {
    onnx::TensorProto* const weights = graph->add_initializer();
    graph::WriteTensor(*edit.weights, *weights);
    weights->set_name(edit.result + ".weights");
  }
  Appender to(graph);
  Append(edit, of.name, &to);
  graph::WriteInfo(edit.result, ValueType::OfTensor(of.type.dtype, {}),
                   *graph->add_output());
  return message.Parse(model.directory());
}

Result<TrainingForm> AsTrainingForm(const Model& model) {
  ASSAY_RETURN_IF_ERROR(Check(model));
  ASSAY_ASSIGN_OR_RETURN(const Graph graph, InferTypes(model));
  TrainingForm form;
  ASSAY_ASSIGN_OR_RETURN(form.inference,
                         AsInputs(model, InitialStatistics(graph)));
  reader::ModelMessage message;
  ASSAY_RETURN_IF_ERROR(message.Read(form.inference->bytes()));
  ASSAY_RETURN_IF_ERROR(
      Turner(graph, message.proto.mutable_graph(), &form).Turn());
  ASSAY_ASSIGN_OR_RETURN(form.model, message.Parse(model.directory()));
  ASSAY_RETURN_IF_ERROR(types::CheckModel(*form.model));
  return form;
}

}  // namespace assay::edit
