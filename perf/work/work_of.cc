// SPDX-License-Identifier: Apache-2.0

#include "perf/work/work_of.h"

#include <map>
#include <string>
#include <utility>

#include "framework/backend/eager/compile.h"
#include "framework/core/text.h"
#include "framework/graph/edit/model_edit.h"
#include "perf/work/rules.h"

namespace assay::work {
namespace {

using Rules = std::map<std::string_view, const Counting*, std::less<>>;

const Rules& AllRules() {
  static const Rules rules = [] {
    Rules all;
    for (const std::span<const Rule> family :
         {ElementwiseRules(), ProductRules(), WindowRules(), ReductionRules(),
          AttentionRules(), RecurrentRules(), SamplingRules(), MovementRules(),
          FlowRules(), OtherDomainRules()}) {
      for (const Rule& rule : family) all.emplace(rule.op, &rule.counting);
    }
    return all;
  }();
  return rules;
}

void CountBytes(Moves moves, const NodeFacts& facts, Work* work) {
  switch (moves) {
    case Moves::kAll:
      work->bytes_read = facts.BytesOfInputs();
      work->bytes_written = facts.BytesOfOutputs();
      break;
    case Moves::kGathered:
      work->bytes_written = facts.BytesOfOutputs();
      work->bytes_read = facts.BytesOut(0);
      for (size_t i = 1; i < facts.node().inputs.size(); ++i) {
        work->bytes_read += facts.BytesIn(i);
      }
      break;
    case Moves::kLikeRead:
      work->bytes_read = facts.BytesOfInputs();
      for (size_t i = 0; i < facts.node().inputs.size(); ++i) {
        work->bytes_written += facts.BytesIn(i);
      }
      break;
    case Moves::kLikeMade:
      work->bytes_read = work->bytes_written = facts.BytesOut(0);
      break;
    case Moves::kMade:
      work->bytes_written = facts.BytesOfOutputs();
      break;
    case Moves::kCounted:
      break;
  }
}

Work Counted(const Counting& counting, const NodeFacts& facts) {
  if (!counting.unknown.empty()) {
    throw Untold{Reason::kOperator, std::string(counting.unknown)};
  }
  Work work;
  CountBytes(counting.moves, facts, &work);
  if (counting.flops != 0 || counting.transcendentals != 0) {
    const double elements = facts.CountOut(0);
    work.flops = counting.flops * elements;
    work.transcendentals = counting.transcendentals * elements;
  }
  if (counting.count != nullptr) counting.count(facts, &work);
  return work;
}

}  // namespace

Result<Work> WorkOf(const Node& node, const Graph& graph) {
  const std::string name = node.domain.empty()
                               ? node.op_type
                               : StrCat(node.domain, ":", node.op_type);
  const auto rule = AllRules().find(name);
  if (rule == AllRules().end()) {
    return Unsupported(Reason::kOperator, node.Label(), ": ", name,
                       " is none of ONNX's operators");
  }
  try {
    return Counted(*rule->second, NodeFacts(node, graph));
  } catch (const Untold& untold) {
    return Unsupported(untold.reason, node.Label(), ": ", untold.why);
  }
}

ModelWork WorkOf(const Graph& graph) {
  ModelWork sum;
  for (const Node& node : graph.nodes) {
    const Result<Work> work = WorkOf(node, graph);
    if (work.ok()) {
      sum.work += *work;
    } else {
      sum.unknown.push_back(work.status().message());
    }
  }
  return sum;
}

Result<ModelWork> WorkOf(const std::shared_ptr<const Model>& model) {
  ASSAY_ASSIGN_OR_RETURN(const auto graph, eager::PrepareGraph(model));
  return WorkOf(*graph);
}

Result<ModelWork> WorkOf(const std::shared_ptr<const Model>& model,
                         std::span<const Value> inputs) {
  constexpr int64_t kMost = 64;  // a list of extents or axes is no longer
  const Graph& graph = model->graph();
  std::map<std::string, Tensor> deciding;
  for (size_t i = 0; i < inputs.size() && i < graph.inputs.size(); ++i) {
    const Tensor* tensor = inputs[i].tensor();
    if (tensor == nullptr || tensor->num_elements() > kMost) continue;
    if (IntegersOf(*tensor).has_value()) {
      deciding.emplace(graph[graph.inputs[i]].name, *tensor);
    }
  }
  if (deciding.empty()) return WorkOf(model);
  ASSAY_ASSIGN_OR_RETURN(const auto fixed,
                         edit::WithInitializers(*model, deciding));
  return WorkOf(fixed);
}

std::vector<UnknownOperator> UnknownOperators() {
  std::vector<UnknownOperator> unknown;
  for (const auto& [op, counting] : AllRules()) {
    if (!counting->unknown.empty()) unknown.push_back({op, counting->unknown});
  }
  return unknown;
}

std::vector<std::string_view> KnownToRules() {
  std::vector<std::string_view> ops;
  for (const auto& [op, counting] : AllRules()) ops.push_back(op);
  return ops;
}

}  // namespace assay::work
