// SPDX-License-Identifier: Apache-2.0

#include "gradcheck/case/subject.h"

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "framework/graph/edit/model_edit.h"
#include "framework/graph/operator.h"
#include "framework/graph/types/signature.h"
#include "framework/testing/case/test_case.h"
#include "gradcheck/catalogue/catalogue.h"
#include "gradcheck/draw/draw.h"

namespace assay::gradcheck {
namespace {

/// False for what is known to be no tensor that gradients are taken in.
bool MayFlow(const ValueType& type) {
  if (type.kind == ValueKind::kTensor) {
    return type.dtype == DType::kUndefined || gradcheck::Carries(type.dtype);
  }
  return type.kind != ValueKind::kMap && type.kind != ValueKind::kSparseTensor;
}

/// One that a cotangent or a gradient is a tensor for.
bool IsEnd(const ValueType& type) {
  return type.kind == ValueKind::kTensor && gradcheck::Carries(type.dtype);
}

/// The ends of a node that gradients flow between.
struct Ends {
  std::vector<ValueId> inputs, outputs;
};

void Add(const Graph& graph, ValueId id, std::vector<ValueId>* ids) {
  if (id != kNoValue && MayFlow(graph[id].type)) ids->push_back(id);
}

/// Those of the parameters that the catalogue names.
void AddNamed(const Graph& graph, OperatorId op,
              std::span<const types::FormalParameter> formals,
              const std::vector<ValueId>& actual, std::vector<ValueId>* ids) {
  for (size_t i = 0; i < actual.size(); ++i) {
    const types::FormalParameter* const formal = types::FormalAt(formals, i);
    if (formal != nullptr && IsDifferentiable(op, *formal)) {
      Add(graph, actual[i], ids);
    }
  }
}

/// True for an operator of sequences or optionals, of which no flag says
/// anything.
bool IsOfCollections(OperatorId op) {
  const types::OperatorSignature& signature = types::SignatureOf(op);
  const auto is_one = [&](const types::FormalParameter& formal) {
    const auto& words =
        signature.variables[static_cast<size_t>(formal.variable)].types;
    return !IsDifferentiable(op, formal) &&
           std::ranges::any_of(words, [](std::string_view word) {
             return word.starts_with("seq(") || word.starts_with("optional(");
           });
  };
  return std::ranges::any_of(signature.inputs, is_one) ||
         std::ranges::any_of(signature.outputs, is_one);
}

Ends EndsOf(const Graph& graph, const Node& node) {
  Ends ends;
  const auto op = FindOperator(node.domain, node.op_type);
  const std::vector<const Graph*> bodies = node.Subgraphs();
  if (op.has_value() && bodies.empty() && !IsOfCollections(*op)) {
    const types::OperatorSignature& signature = types::SignatureOf(*op);
    AddNamed(graph, *op, signature.inputs, node.inputs, &ends.inputs);
    AddNamed(graph, *op, signature.outputs, node.outputs, &ends.outputs);
    return ends;
  }
  for (const ValueId id : node.inputs) Add(graph, id, &ends.inputs);
  for (const ValueId id : node.outputs) Add(graph, id, &ends.outputs);
  for (const Graph* const body : bodies) {
    for (const Capture& capture : body->captures) {
      Add(graph, capture.outer, &ends.inputs);
    }
  }
  return ends;
}

/// The operator of a graph of one node; nothing for any other.
std::optional<OperatorId> LoneOperator(const Graph& graph) {
  if (graph.nodes.size() != 1) return std::nullopt;
  return FindOperator(graph.nodes[0].domain, graph.nodes[0].op_type);
}

/// The attribute of that name, or what it is by default.
double NumberOf(const Node& node, std::string_view name, double by_default) {
  const Attribute* const found = node.Find(name);
  const float* const number =
      found == nullptr ? nullptr : std::get_if<float>(&found->held);
  return number == nullptr ? by_default : *number;
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

bool Draws(InputClass input_class) {
  return input_class != InputClass::kOfficial &&
         input_class != InputClass::kField;
}

Result<Tensor> InputOf(InputClass input_class, const Tensor& official,
                       std::span<const double> marks, Draw& draw) {
  if (input_class == InputClass::kRedrawn ||
      input_class == InputClass::kJacobian) {
    return Redrawn(official, draw);
  }
  if (input_class == InputClass::kExact) return Integers(official, draw);
  if (input_class == InputClass::kKinks) return Tied(official, marks, draw);
  return official;
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

bool IsCarrying(const Value& value) {
  return value.tensor() != nullptr && Carries(value.tensor()->dtype());
}

/// The type of the first input that a gradient may be taken by, or of the first
/// such initializer; undefined where there is none.
DType TypeOf(const Graph& graph, const std::vector<Value>& inputs) {
  const auto input = std::ranges::find_if(inputs, IsCarrying);
  if (input != inputs.end()) return input->tensor()->dtype();
  const auto fixed =
      std::ranges::find_if(graph.initializers, IsCarrying, &Initializer::value);
  return fixed == graph.initializers.end() ? DType::kUndefined
                                           : fixed->value.tensor()->dtype();
}

Status Retype(DType type, suite::Subject* subject) {
  ASSAY_ASSIGN_OR_RETURN(subject->model, edit::Retyped(*subject->model, type));
  const Graph& graph = subject->model->graph();
  std::vector<Value>& inputs = subject->inputs[0];
  for (size_t i = 0; i < inputs.size() && i < graph.inputs.size(); ++i) {
    ASSAY_ASSIGN_OR_RETURN(
        inputs[i], Converted(inputs[i], graph[graph.inputs[i]].type.dtype));
  }
  return OkStatus();
}

}  // namespace

Flow::Flow(const Graph& graph)
    : reached_(graph.values.size()),
      used_(graph.values.size()),
      carries_(graph.values.size()) {
  Forth(graph);
  Back(graph);
}

void Flow::Forth(const Graph& graph) {
  const auto start = [&](ValueId id) {
    if (MayFlow(graph[id].type)) reached_[static_cast<size_t>(id)] = true;
  };
  std::ranges::for_each(graph.inputs, start);
  for (const Initializer& fixed : graph.initializers) start(fixed.id);
  for (const Node& node : graph.nodes) {
    const Ends ends = EndsOf(graph, node);
    if (std::ranges::none_of(ends.inputs, [&](ValueId id) {
          return reached_[static_cast<size_t>(id)];
        })) {
      continue;
    }
    for (const ValueId id : ends.outputs) {
      reached_[static_cast<size_t>(id)] = true;
    }
  }
}

void Flow::Back(const Graph& graph) {
  // A value that is no tensor of numbers can have no cotangent.
  for (const ValueId id : graph.outputs) {
    if (IsEnd(graph[id].type)) {
      carries_[static_cast<size_t>(id)] = used_[static_cast<size_t>(id)] =
          reached_[static_cast<size_t>(id)];
    }
  }
  for (auto node = graph.nodes.rbegin(); node != graph.nodes.rend(); ++node) {
    const Ends ends = EndsOf(graph, *node);
    if (std::ranges::none_of(ends.outputs, [&](ValueId id) {
          return used_[static_cast<size_t>(id)];
        })) {
      continue;
    }
    for (const ValueId id : ends.inputs) {
      used_[static_cast<size_t>(id)] = reached_[static_cast<size_t>(id)];
    }
  }
}

Result<suite::Subject> SubjectOf(const GradientCase& c) {
  const auto [input_class, type] = c.variant;
  ASSAY_ASSIGN_OR_RETURN(auto made, suite::SubjectInFiles(c.row));
  if (made.has_value()) return *std::move(made);
  ASSAY_ASSIGN_OR_RETURN(auto data, cases::ReadCaseInputs(c.row.directory, 1));
  suite::Subject subject{
      std::move(data.model), {std::move(data.sets.at(0).inputs)}, {}};
  std::vector<Value>& inputs = subject.inputs[0];
  const DType own = TypeOf(subject.model->graph(), inputs);
  if (own != DType::kUndefined && own != type) {
    ASSAY_RETURN_IF_ERROR(Retype(type, &subject));
  }
  const Graph& graph = subject.model->graph();
  const Flow flow(graph);
  const std::vector<double> marks = MarksOf(graph);
  Draw draw = c.Drawn("inputs");
  std::vector<ValueId> targets;
  for (size_t i = 0; i < inputs.size() && i < graph.inputs.size(); ++i) {
    if (!IsCarrying(inputs[i]) || !flow.IsTarget(graph.inputs[i])) continue;
    subject.targets.push_back(graph[graph.inputs[i]].name);
    targets.push_back(graph.inputs[i]);
    ASSAY_ASSIGN_OR_RETURN(
        inputs[i], InputOf(input_class, *inputs[i].tensor(), marks, draw));
  }
  if (input_class == InputClass::kKinks) {
    ASSAY_RETURN_IF_ERROR(Meet(graph, targets, draw, &inputs));
  }
  std::map<std::string, Tensor> drawn;
  for (const Initializer& fixed : graph.initializers) {
    if (!IsCarrying(fixed.value) || !flow.IsTarget(fixed.id)) continue;
    const std::string& name = graph[fixed.id].name;
    subject.targets.push_back(name);
    if (!Draws(input_class)) continue;
    ASSAY_ASSIGN_OR_RETURN(
        drawn[name], InputOf(input_class, *fixed.value.tensor(), marks, draw));
  }
  if (!drawn.empty()) {
    ASSAY_ASSIGN_OR_RETURN(subject.model,
                           edit::WithInitializers(*subject.model, drawn));
  }
  return subject;
}

DType AccumulatorOf(const record::PlanRow& row, const Graph& graph, DType own) {
  const auto claimed = ParseDType(row.accumulator);
  if (!claimed.has_value() || graph.nodes.size() != 1) return own;
  int64_t graphs = 0;
  ForEachGraph(graph, [&](const Graph&) { ++graphs; });
  return graphs == 1 ? *claimed : own;
}

std::vector<Shape> ShapesOfTargets(const suite::Subject& subject) {
  const Graph& graph = subject.model->graph();
  std::vector<Shape> shapes;
  for (const std::string& target : subject.targets) {
    const ValueId id = graph.FindValue(target);
    const auto at = std::ranges::find(graph.inputs, id);
    const Value& value =
        at == graph.inputs.end()
            ? *graph.FindInitializer(id)
            : subject.inputs[0][static_cast<size_t>(at - graph.inputs.begin())];
    shapes.push_back(value.tensor()->shape());
  }
  return shapes;
}

std::vector<bool> CarryingOutputs(const Model& model) {
  const Graph& graph = model.graph();
  const Flow flow(graph);
  std::vector<bool> flows;
  for (const ValueId id : graph.outputs) flows.push_back(flow.Carries(id));
  return flows;
}

int CotangentBits(DType type, InputClass input_class) {
  constexpr int kOfExact = 5;
  if (input_class == InputClass::kExact) return kOfExact;
  if (type == DType::kFloat64) return 30;
  if (type == DType::kFloat32) return 20;
  return type == DType::kFloat16 ? 10 : 8;  // all that bfloat16 has
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
