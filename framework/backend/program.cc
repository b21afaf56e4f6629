// SPDX-License-Identifier: Apache-2.0

#include "framework/backend/program.h"

#include <algorithm>
#include <utility>

#include "framework/backend/exception.h"

namespace assay::inline v1 {
namespace {

using GraphPointer = std::shared_ptr<const Graph>;

/// Whether `holds` is true of the graph and of every subgraph in it.
template <class F>
bool EveryGraph(const Graph& graph, const F& holds) {
  if (!holds(graph)) return false;
  for (const Node& node : graph.nodes) {
    for (const Attribute& attribute : node.attributes) {
      const auto* body = std::get_if<GraphPointer>(&attribute.held);
      if (body != nullptr && !EveryGraph(**body, holds)) return false;
    }
  }
  return true;
}

bool IsCurrent(const Graph& graph) {
  return std::ranges::all_of(graph.nodes, [](const Node& node) {
    const auto id = FindOperator(node.domain, node.op_type);
    if (!id.has_value()) return true;
    const OperatorInfo& info = Operators()[static_cast<size_t>(*id)];
    return VersionInForce(info, node.opset) == info.versions.back();
  });
}

/// Whether every value that a node reads or makes has a type; what it captures
/// or takes from an initializer has one elsewhere.
bool IsTyped(const Graph& graph) {
  std::vector<bool> typed(graph.values.size());
  for (size_t id = 0; id < typed.size(); ++id) {
    typed[id] = IsKnown(graph.values[id].type);
  }
  for (const Initializer& initializer : graph.initializers) {
    typed[static_cast<size_t>(initializer.id)] = true;
  }
  for (const Capture& capture : graph.captures) {
    typed[static_cast<size_t>(capture.inner)] = true;
  }
  const auto all_typed = [&](const std::vector<ValueId>& ids) {
    return std::ranges::all_of(ids, [&](ValueId id) {
      return id == kNoValue || typed[static_cast<size_t>(id)];
    });
  };
  return std::ranges::all_of(graph.nodes, [&](const Node& node) {
    return all_typed(node.inputs) && all_typed(node.outputs);
  });
}

/// A call of a function that the model itself defines is not inlined yet.
Status CheckNoCalls(const Model& model) {
  std::string called;
  EveryGraph(model.graph(), [&](const Graph& graph) {
    for (const Node& node : graph.nodes) {
      for (const Function& function : model.functions()) {
        if (node.op_type == function.name && node.domain == function.domain) {
          called = node.Label();
        }
      }
    }
    return called.empty();
  });
  if (called.empty()) return OkStatus();
  return Unsupported(Reason::kOperator, called,
                     " calls a function of the model, which is not expanded");
}

/// The first family that knows the operator decides.
Result<Kernel> MakeKernel(const Node& node, LoadContext& load,
                          Families families) {
  const bool custom = !node.domain.empty() &&
                      !node.domain.starts_with("ai.onnx") &&
                      !FindOperator(node.domain, node.op_type).has_value();
  for (const auto& family : families) {
    Result<Kernel> kernel =
        custom ? family->VisitCustom(node, load) : Accept(node, *family, load);
    if (kernel.ok() && !kernel->forward) {
      return Internal("the kernel made for it cannot run");
    }
    const Status status = kernel.status();
    if (status.code() != StatusCode::kUnsupported ||
        status.reason() != Reason::kOperator) {
      return kernel;
    }
  }
  return Unsupported(Reason::kOperator, "the backend has no operator ",
                     node.domain, node.domain.empty() ? "" : ".", node.op_type);
}

Result<Kernel> MakeGuarded(const Node& node, LoadContext& load,
                           Families families) {
  try {
    return MakeKernel(node, load, families);
  } catch (...) {
    return StatusOfException("at load");
  }
}

Result<Step> CompileNode(const Node& node, const LoadScope& scope,
                         Families families, const LoadOptions& options) {
  Step step;
  step.node = &node;
  LoadContext load(node, scope, options);
  ASSAY_ASSIGN_OR_RETURN(step.kernel, MakeGuarded(node, load, families));
  for (const Attribute& attribute : node.attributes) {
    const auto* body = std::get_if<GraphPointer>(&attribute.held);
    if (body == nullptr) continue;
    ASSAY_ASSIGN_OR_RETURN(Program program,
                           Compile(**body, &scope, {}, families, options));
    step.bodies.push_back(
        {attribute.name, std::make_unique<Program>(std::move(program))});
  }
  return step;
}

}  // namespace

Result<Program> Compile(const Graph& graph, const LoadScope* outer,
                        const std::vector<bool>& parameters, Families families,
                        const LoadOptions& options) {
  Program program;
  program.graph = &graph;
  program.outputs = graph.outputs;
  const LoadScope scope(graph, outer, parameters);
  std::vector<bool> fixed(graph.values.size(), false);
  for (const Initializer& initializer : graph.initializers) {
    program.constants.push_back(initializer.value);
    fixed[static_cast<size_t>(initializer.id)] = true;
  }
  for (const ValueId id : graph.inputs) {
    if (!fixed[static_cast<size_t>(id)]) program.inputs.push_back(id);
  }
  for (const Node& node : graph.nodes) {
    Result<Step> step = CompileNode(node, scope, families, options);
    if (!step.ok()) return step.status().WithContext(node.Label());
    program.steps.push_back(*std::move(step));
  }
  return program;
}

Result<std::shared_ptr<const Graph>> PrepareGraph(
    const std::shared_ptr<const Model>& model) {
  ASSAY_RETURN_IF_ERROR(CheckNoCalls(*model));
  const bool typed = EveryGraph(model->graph(), IsTyped);
  const bool current = EveryGraph(model->graph(), IsCurrent);
  if (typed && current) {
    return std::shared_ptr<const Graph>(model, &model->graph());
  }
  Graph graph;
  if (typed) {
    graph = model->graph();
  } else {
    ASSAY_ASSIGN_OR_RETURN(graph, InferTypes(*model));
  }
  if (!current) {
    ASSAY_ASSIGN_OR_RETURN(graph, ToCurrentOpset(graph));
  }
  return std::make_shared<const Graph>(std::move(graph));
}

}  // namespace assay::inline v1
