// SPDX-License-Identifier: Apache-2.0

#include "framework/graph/edit/training_form.h"

#include <algorithm>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <utility>

#include "framework/graph/edit/training.h"
#include "framework/graph/onnx_writer.h"
#include "framework/graph/reader/onnx_reader.h"
#include "framework/graph/types/check.h"

namespace assay::edit {
namespace {

constexpr int kTrainingOpset =
    14;  // BatchNormalization has training_mode since
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

/// What cannot be turned into another form, wherever it stands.
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
  const auto opset = model.opsets().find("");
  const int version = opset == model.opsets().end() ? 0 : opset->second;
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
      Declare(mask.input, mask.type, to_->add_input());
    }
    for (const FedBack& pair : form_->statistics) {
      const ValueId id = graph_.FindValue(pair.input);
      Declare(pair.output, graph_[id].type, to_->add_output());
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

  static void Declare(const std::string& name, const ValueType& type,
                      onnx::ValueInfoProto* info) {
    info->set_name(name);
    graph::WriteType(type, *info->mutable_type());
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

Result<TrainingForm> AsTrainingForm(const Model& model) {
  ASSAY_RETURN_IF_ERROR(Check(model));
  ASSAY_ASSIGN_OR_RETURN(const Graph graph, InferTypes(model));
  TrainingForm form;
  ASSAY_ASSIGN_OR_RETURN(form.inference,
                         AsInputs(model, InitialStatistics(graph)));
  onnx::ModelProto proto;
  ASSAY_RETURN_IF_ERROR(reader::ParseInto(form.inference->bytes(), proto));
  ASSAY_RETURN_IF_ERROR(Turner(graph, proto.mutable_graph(), &form).Turn());
  const std::string bytes = proto.SerializeAsString();
  ASSAY_ASSIGN_OR_RETURN(
      form.model,
      Model::Parse(std::as_bytes(std::span(bytes)), model.directory()));
  ASSAY_RETURN_IF_ERROR(types::CheckModel(*form.model));
  return form;
}

}  // namespace assay::edit
