// SPDX-License-Identifier: Apache-2.0

#include <utility>
#include <vector>

#include "ctest/trial/fuzz/mutate.h"
#include "framework/backend/eager/eager.h"
#include "framework/graph/generated/visitor.h"
#include "framework/graph/model.h"
#include "framework/graph/operator.h"
#include "framework/graph/reader/function.h"

namespace assay::fuzz {
namespace {

// More nodes than that are not expanded one by one: time, not safety.
constexpr size_t kMostExpanded = 64;

class AnyOperator : public Visitor<Status, int> {
 protected:
  Status Decline(OperatorId, int&) override { return OkStatus(); }
};

/// Has no kernel, so that Load comes as far as it can without one.
class NoKernels : public EagerBackend {
 public:
  std::string_view name() const override { return "none"; }
  Result<Probe> Inspect() override { return Probe{}; }
};

/// Reads every node as its operator, and asks for its function body.
void TypeNodes(const Graph& graph) {
  std::vector<const ValueType*> types;
  for (const ValueInfo& info : graph.values) types.push_back(&info.type);
  const reader::KnownValues known{types, {}};
  size_t expanded = 0;
  for (const Node& node : graph.nodes) {
    AnyOperator visitor;
    int nothing = 0;
    const Status typed = Accept(node, visitor, nothing);
    if (expanded++ < kMostExpanded && typed.ok()) {
      // A refusal is as good as a body: what matters is that there is one.
      if (reader::ExpandFunction(node, known).ok()) ++expanded;
    }
    for (const Graph* body : node.Subgraphs()) TypeNodes(*body);
  }
}

}  // namespace

Status TakeThrough(std::span<const std::byte> bytes) {
  ASSAY_ASSIGN_OR_RETURN(const auto model, Model::Parse(bytes));
  ASSAY_ASSIGN_OR_RETURN(Graph graph, InferTypes(*model));
  if (reader::CallsFunctions(*model)) {
    ASSAY_ASSIGN_OR_RETURN(graph,
                           reader::InlineFunctions(std::move(graph), *model));
  }
  TypeNodes(graph);
  Result<Graph> current = ToCurrentOpset(std::move(graph));
  if (current.ok()) TypeNodes(*current);
  NoKernels backend;
  const Status loaded = backend.Load(model, {}).status();
  return current.ok() ? loaded : current.status();
}

}  // namespace assay::fuzz
