// SPDX-License-Identifier: Apache-2.0

#include "framework/backend/eager/compile.h"

#include <algorithm>
#include <map>
#include <utility>

#include "framework/backend/backend.h"
#include "framework/backend/eager/part.h"
#include "framework/backend/exception.h"
#include "framework/graph/reader/function.h"
#include "framework/graph/types/check.h"

namespace assay::eager {
namespace {

using GraphPointer = std::shared_ptr<const Graph>;

/// True when every value that a node reads or makes has a type; values that it
/// captures or takes from an initializer have one elsewhere.
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

using Families = std::span<const std::unique_ptr<OperatorVisitor>>;

using Ask = std::function<Result<Kernel>(OperatorVisitor& family)>;

/// The first family that knows the operator decides.
Result<Kernel> AskFamilies(const Node& node, Families families,
                           const Ask& ask) {
  for (const auto& family : families) {
    Result<Kernel> kernel = ask(*family);
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

/// The node is read once, whatever the number of families.
Result<Kernel> MakeKernel(const Node& node, LoadContext& load,
                          Families families) {
  const auto id = FindOperator(node.domain, node.op_type);
  if (!id.has_value()) {
    const bool custom =
        !node.domain.empty() && !node.domain.starts_with("ai.onnx");
    return AskFamilies(node, families, [&](OperatorVisitor& family) {
      return custom ? family.VisitCustom(node, load)
                    : Result<Kernel>(UnknownOperator(node));
    });
  }
  return WithOperator(*id, [&]<class Op>() -> Result<Kernel> {
    Op op;
    ASSAY_RETURN_IF_ERROR(op.Read(node));
    return AskFamilies(node, families, [&](OperatorVisitor& family) {
      return static_cast<Visitor<Result<Kernel>, LoadContext>&>(family).Visit(
          op, load);
    });
  });
}

/// The part that the kernel of `node` names, from the graph of `scope`, whose
/// kernels are asked for gradients by its targets.
Result<std::shared_ptr<DifferentiablePart>> CompilePart(
    const Node& node, const GraphPart& part, const LoadScope& scope,
    const KernelSource& kernels, LoadOptions options) {
  ASSAY_ASSIGN_OR_RETURN(Graph cut, CutPart(scope.graph, part));
  ASSAY_RETURN_IF_ERROR(CheckFed(node, cut, scope));
  const auto graph = std::make_shared<const Graph>(std::move(cut));
  DifferentiateFunction differentiate = kernels.make_differentiate(options);
  if (differentiate == nullptr) {
    const auto first = part.inputs.begin();
    options.gradient_targets.assign(first, first + part.targets);
  }
  ASSAY_ASSIGN_OR_RETURN(Program program,
                         Compile(*graph, &scope, {}, kernels, options));
  if (differentiate != nullptr) {
    return MakePart(part, graph, std::move(program), std::move(differentiate));
  }
  return MakePart(part, graph, std::move(program), scope, options,
                  kernels.make_backward);
}

Result<Step> CompileNode(const Node& node, const LoadScope& scope,
                         const KernelSource& kernels,
                         const LoadOptions& options) {
  Step step;
  step.node = &node;
  LoadContext load(node, scope, options);
  ASSAY_ASSIGN_OR_RETURN(step.kernel, kernels.Make(node, load));
  for (const Attribute& attribute : node.attributes) {
    const auto* body = std::get_if<GraphPointer>(&attribute.held);
    if (body == nullptr) continue;
    ASSAY_ASSIGN_OR_RETURN(Program program,
                           Compile(**body, &scope, {}, kernels, options));
    step.prepares_within = step.prepares_within || program.prepares;
    step.bodies.push_back(
        {attribute.name, std::make_unique<Program>(std::move(program))});
  }
  if (step.kernel.part.has_value()) {
    ASSAY_ASSIGN_OR_RETURN(step.part, CompilePart(node, *step.kernel.part,
                                                  scope, kernels, options));
    step.prepares_within = step.prepares_within || step.part->program.prepares;
  }
  return step;
}

}  // namespace

Result<Kernel> KernelSource::Make(const Node& node, LoadContext& load) const {
  try {
    ASSAY_ASSIGN_OR_RETURN(Kernel kernel, MakeKernel(node, load, families));
    return around(std::move(kernel), load);
  } catch (...) {
    return backend::StatusOfException("at load");
  }
}

Result<Program> Compile(const Graph& graph, const LoadScope* outer,
                        const std::vector<bool>& parameters,
                        const KernelSource& kernels,
                        const LoadOptions& options) {
  Program program;
  program.graph = &graph;
  program.outputs = graph.outputs;
  const LoadScope scope(graph, outer, parameters);
  program.kept = scope.made;
  std::vector<bool> fixed(graph.values.size(), false);
  for (const Initializer& initializer : graph.initializers) {
    program.constants.push_back(initializer.value);
    fixed[static_cast<size_t>(initializer.id)] = true;
  }
  program.steady.resize(fixed.size());
  for (const ValueId id : graph.inputs) {
    const auto at = static_cast<size_t>(id);
    if (fixed[at]) continue;
    program.inputs.push_back(id);
    program.steady[at] = outer == nullptr;
  }
  for (const Initializer& initializer : graph.initializers) {
    const auto at = static_cast<size_t>(initializer.id);
    program.steady[at] = outer == nullptr && scope.constants[at] != nullptr;
  }
  for (const Node& node : graph.nodes) {
    Result<Step> step = CompileNode(node, scope, kernels, options);
    if (!step.ok()) return step.status().WithContext(node.Label());
    program.prepares = program.prepares || step->kernel.prepare != nullptr ||
                       step->prepares_within;
    program.steps.push_back(*std::move(step));
  }
  return program;
}

Result<std::shared_ptr<const Graph>> PrepareGraph(
    const std::shared_ptr<const Model>& model) {
  ASSAY_RETURN_IF_ERROR(types::CheckModel(*model));
  const bool calls = reader::CallsFunctions(*model);
  bool typed = true;
  ForEachGraph(model->graph(), [&typed](const Graph& graph) {
    typed = typed && IsTyped(graph);
  });
  if (typed && !calls && IsCurrent(model->graph())) {
    return std::shared_ptr<const Graph>(model, &model->graph());
  }
  Graph graph;
  if (typed) {
    graph = model->graph();
  } else {
    ASSAY_ASSIGN_OR_RETURN(graph, InferTypes(*model));
  }
  if (calls) {
    ASSAY_ASSIGN_OR_RETURN(graph,
                           reader::InlineFunctions(std::move(graph), *model));
  }
  if (!IsCurrent(graph)) {
    ASSAY_ASSIGN_OR_RETURN(graph, ToCurrentOpset(std::move(graph)));
  }
  return std::make_shared<const Graph>(std::move(graph));
}

namespace {

// ONNX's deepest chain of functions has 4: this only bounds the recursion.
constexpr int kMaxDepth = 16;

class Expander {
 public:
  Expander(const KernelSource& kernels, const LoadOptions& options)
      : kernels_(kernels), options_(options) {}

  /// `depth` bodies lie around the graph.
  Result<Graph> Expand(const Graph& graph, const LoadScope* outer,
                       const std::vector<bool>& parameters, int depth) {
    const LoadScope scope(graph, outer, parameters);
    std::map<size_t, Graph> bodies;
    Graph expanded = graph;
    for (size_t i = 0; i < graph.nodes.size(); ++i) {
      const Node& node = graph.nodes[i];
      LoadContext load(node, scope, options_);
      const Status declined = kernels_.Make(node, load).status();
      if (declined.ok()) {
        ASSAY_RETURN_IF_ERROR(ExpandBelow(scope, depth, expanded.nodes[i]));
        continue;
      }
      Result<Graph> body = BodyFor(node, declined, scope, depth);
      if (!body.ok()) return body.status().WithContext(node.Label());
      bodies.emplace(i, *std::move(body));
    }
    return reader::Splice(std::move(expanded), std::move(bodies));
  }

 private:
  Result<Graph> BodyFor(const Node& node, const Status& declined,
                        const LoadScope& scope, int depth) {
    if (declined.code() != StatusCode::kUnsupported || depth >= kMaxDepth ||
        !kernels_.MayExpand(node)) {
      return declined;
    }
    Result<Graph> body =
        reader::ExpandFunction(node, {scope.types, scope.constants});
    if (!body.ok()) return Explain(declined, body.status());
    body = Expand(*body, &scope, {}, depth + 1);
    if (body.ok()) return body;
    if (declined.reason() != Reason::kOperator) return declined;
    return body.status().WithContext("in its function body");
  }

  /// Says why there is no body, where that is not what the schema says.
  static Status Explain(const Status& declined, const Status& status) {
    if (status.code() == StatusCode::kNotFound ||
        declined.reason() != Reason::kOperator) {
      return declined;
    }
    return Unsupported(Reason::kOperator, declined.message(),
                       "; its function body: ", status.message());
  }

  Status ExpandBelow(const LoadScope& scope, int depth, Node& node) {
    for (GraphPointer* held : node.MutableSubgraphs()) {
      Result<Graph> expanded = Expand(**held, &scope, {}, depth);
      if (!expanded.ok()) return expanded.status().WithContext(node.Label());
      *held = std::make_shared<const Graph>(*std::move(expanded));
    }
    return OkStatus();
  }

  const KernelSource& kernels_;
  const LoadOptions& options_;
};

}  // namespace

Result<Graph> ExpandDeclined(const Graph& graph, const LoadScope* outer,
                             const std::vector<bool>& parameters,
                             const KernelSource& kernels,
                             const LoadOptions& options) {
  return Expander(kernels, options).Expand(graph, outer, parameters, 0);
}

}  // namespace assay::eager
