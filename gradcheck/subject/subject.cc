// SPDX-License-Identifier: Apache-2.0

#include "gradcheck/subject/subject.h"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "framework/graph/edit/model_edit.h"
#include "framework/testing/case/test_case.h"
#include "gradcheck/catalogue/catalogue.h"
#include "gradcheck/draw/draw.h"
#include "gradcheck/subject/operator_classes.h"

namespace assay::gradcheck {
namespace {

/// The operator of a graph of one node; nothing for any other.
std::optional<OperatorId> LoneOperator(const Graph& graph) {
  if (graph.nodes.size() != 1) return std::nullopt;
  return FindOperator(graph.nodes[0].domain, graph.nodes[0].op_type);
}

/// True when the value stands at a differentiable place of the graph's node.
bool Stands(OperatorId op, std::span<const types::FormalParameter> formals,
            const std::vector<ValueId>& ids, ValueId id) {
  for (size_t i = 0; i < ids.size(); ++i) {
    const types::FormalParameter* const formal = types::FormalAt(formals, i);
    if (ids[i] == id && formal != nullptr && IsDifferentiable(op, *formal)) {
      return true;
    }
  }
  return false;
}

bool IsTarget(const Graph& graph, ValueId id) {
  const auto op = LoneOperator(graph);
  return !op.has_value() ||
         Stands(*op, types::SignatureOf(*op).inputs, graph.nodes[0].inputs, id);
}

/// The attribute of that name, or what it is by default.
double NumberOf(const Node& node, std::string_view name, double by_default) {
  for (const Attribute& attribute : node.attributes) {
    const float* const number = std::get_if<float>(&attribute.held);
    if (number != nullptr && attribute.name == name) return *number;
  }
  return by_default;
}

/// Where kinks may lie: the numbers among the attributes of nodes, and the ends
/// of the slopes of HardSigmoid and HardSwish.
std::vector<double> MarksOf(const Graph& graph) {
  std::vector<double> marks;
  for (const Node& node : graph.nodes) {
    if (node.op_type == "HardSwish") marks.push_back(3);
    if (node.op_type == "HardSigmoid") {
      const double alpha = NumberOf(node, "alpha", 0.2F);
      const double beta = NumberOf(node, "beta", 0.5);
      marks.insert(marks.end(), {-beta / alpha, (1 - beta) / alpha});
    }
    for (const Attribute& attribute : node.attributes) {
      const float* const number = std::get_if<float>(&attribute.held);
      if (number != nullptr) marks.push_back(*number);
    }
  }
  return marks;
}

Result<Tensor> InputOf(InputClass input_class, const Tensor& official,
                       std::span<const double> marks, Draw& draw) {
  switch (input_class) {
    case InputClass::kRedrawn:
      return Redrawn(official, draw);
    case InputClass::kExact:
      return Integers(official, draw);
    case InputClass::kKinks:
      return Tied(official, marks, draw);
    default:
      return official;
  }
}

/// Lets what an operator compares be equal in most places.
Status Meet(const Graph& graph, std::span<const ValueId> targets, Draw& draw,
            std::vector<Value>* inputs) {
  const auto op = LoneOperator(graph);
  if (!op.has_value() || !ComparesInputs(*op)) return OkStatus();
  Value* first = nullptr;
  std::vector<Tensor> others;
  for (size_t i = 0; i < inputs->size(); ++i) {
    if (std::ranges::find(targets, graph.inputs[i]) == targets.end()) continue;
    Value& input = (*inputs)[i];
    if (first == nullptr) {
      first = &input;
    } else if (input.tensor()->num_elements() > 0) {
      others.push_back(*input.tensor());
    }
  }
  if (others.empty()) return OkStatus();
  ASSAY_ASSIGN_OR_RETURN(*first, Met(*first->tensor(), others, draw));
  return OkStatus();
}

Result<Value> Converted(const Value& value, DType type) {
  const Tensor* const tensor = value.tensor();
  if (tensor == nullptr || tensor->dtype() == type || !Carries(type)) {
    return value;
  }
  ASSAY_ASSIGN_OR_RETURN(Tensor converted,
                         TensorOf(type, tensor->shape(), NumbersOf(*tensor)));
  return Value(std::move(converted));
}

}  // namespace

Result<suite::Subject> SubjectOf(const record::PlanRow& row,
                                 const record::RunFacts& facts) {
  const auto variant = VariantOf(row.test_id);
  if (!variant.has_value()) {
    return Unsupported(Reason::kReader, row.test_id,
                       " does not end in #class.type");
  }
  ASSAY_ASSIGN_OR_RETURN(cases::CaseData data,
                         cases::ReadCaseInputs(row.directory, 1));
  suite::Subject subject{
      std::move(data.model), {std::move(data.sets.at(0).inputs)}, {}};
  std::vector<Value>& inputs = subject.inputs[0];
  const auto own = [&](const Value& value) {
    return value.tensor() != nullptr && Carries(value.tensor()->dtype());
  };
  const auto first = std::ranges::find_if(inputs, own);
  if (first != inputs.end() && first->tensor()->dtype() != variant->type) {
    ASSAY_ASSIGN_OR_RETURN(subject.model,
                           edit::Retyped(*subject.model, variant->type));
    const Graph& graph = subject.model->graph();
    for (size_t i = 0; i < inputs.size() && i < graph.inputs.size(); ++i) {
      const DType type = graph[graph.inputs[i]].type.dtype;
      ASSAY_ASSIGN_OR_RETURN(inputs[i], Converted(inputs[i], type));
    }
  }
  const Graph& graph = subject.model->graph();
  const std::vector<double> marks = MarksOf(graph);
  Draw draw(row.test_id, facts.seed, "inputs");
  std::vector<ValueId> targets;
  for (size_t i = 0; i < inputs.size() && i < graph.inputs.size(); ++i) {
    if (!own(inputs[i]) || !IsTarget(graph, graph.inputs[i])) continue;
    subject.targets.push_back(graph[graph.inputs[i]].name);
    targets.push_back(graph.inputs[i]);
    ASSAY_ASSIGN_OR_RETURN(
        inputs[i],
        InputOf(variant->input_class, *inputs[i].tensor(), marks, draw));
  }
  if (variant->input_class == InputClass::kKinks) {
    ASSAY_RETURN_IF_ERROR(Meet(graph, targets, draw, &inputs));
  }
  return subject;
}

std::vector<bool> CarryingOutputs(const Model& model) {
  const Graph& graph = model.graph();
  const auto op = LoneOperator(graph);
  std::vector<bool> flows;
  for (const ValueId id : graph.outputs) {
    const ValueType& type = graph[id].type;
    flows.push_back(
        type.kind == ValueKind::kTensor && Carries(type.dtype) &&
        (!op.has_value() || Stands(*op, types::SignatureOf(*op).outputs,
                                   graph.nodes[0].outputs, id)));
  }
  return flows;
}

int CotangentBits(DType type, InputClass input_class) {
  constexpr int kOfExact = 5;
  if (input_class == InputClass::kExact) return kOfExact;
  switch (type) {
    case DType::kFloat64:
      return 30;
    case DType::kFloat32:
      return 20;
    case DType::kFloat16:
      return 10;
    default:
      return 8;  // all that bfloat16 has
  }
}

std::vector<int> CotangentBits(const Model& model, InputClass input_class) {
  const Graph& graph = model.graph();
  std::vector<int> bits;
  for (const bool flows : CarryingOutputs(model)) {
    const DType type = graph[graph.outputs[bits.size()]].type.dtype;
    bits.push_back(flows ? CotangentBits(type, input_class) : 0);
  }
  return bits;
}

}  // namespace assay::gradcheck
