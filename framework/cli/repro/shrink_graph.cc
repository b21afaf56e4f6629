// SPDX-License-Identifier: Apache-2.0

#include "framework/cli/repro/shrink_graph.h"

#include <algorithm>
#include <map>
#include <set>

#include "framework/graph/edit/submodel.h"

namespace assay::repro {
namespace {

/// A draft with every value that the oracle has between its nodes.
class KnownGraph {
 public:
  /// Failed precondition when the oracle does not give them.
  static Result<KnownGraph> Of(const Draft& draft, ShrinkJudge& judge);

  /// These nodes alone, fed what is right.
  Result<Draft> Part(const std::vector<size_t>& nodes) const;

  Candidate PartCandidate(const std::string& what,
                          std::vector<size_t> nodes) const;

  size_t size() const { return graph_.nodes.size(); }
  std::string Name(size_t node) const {
    return StrCat("node ", node + 1, " of ", size(), ", ",
                  graph_.nodes[node].Label());
  }

 private:
  Status AddPort(ValueId id, std::vector<edit::Port>* ports,
                 std::vector<Value>* values) const;

  std::shared_ptr<const Model> model_;
  Graph graph_;
  std::map<ValueId, Value> values_;
};

Result<KnownGraph> KnownGraph::Of(const Draft& draft, ShrinkJudge& judge) {
  KnownGraph known;
  known.model_ = draft.model;
  Result<Graph> typed = InferTypes(*draft.model);
  if (typed.ok()) {
    known.graph_ = *std::move(typed);
  } else {
    known.graph_ = draft.model->graph();
  }
  const Graph& graph = known.graph_;
  edit::Submodel open{Indices(graph.nodes.size()), {}, {}, {}};
  for (size_t i = 0; i < graph.inputs.size() && i < draft.inputs.size(); ++i) {
    const ValueId id = graph.inputs[i];
    known.values_[id] = draft.inputs[i];
    open.inputs.push_back({id, graph[id].type});
  }
  for (const Node& node : graph.nodes) {
    for (const ValueId id : node.outputs) {
      if (id == kNoValue) continue;
      const ValueType& type = graph[id].type;
      // An output must be declared, a tensor with its rank.
      const bool known_rank =
          type.kind != ValueKind::kTensor || type.dims.has_value();
      if (type.kind != ValueKind::kNone && known_rank) {
        open.outputs.push_back({id, type});
      }
    }
  }
  Draft all{nullptr, draft.inputs, {}};
  ASSAY_ASSIGN_OR_RETURN(all.model,
                         edit::MakeSubmodel(*draft.model, graph, open));
  ASSAY_ASSIGN_OR_RETURN(const auto answers, judge.Answers(all));
  for (size_t i = 0; i < open.outputs.size() && i < answers.size(); ++i) {
    known.values_[open.outputs[i].id] = answers[i];
  }
  return known;
}

Status KnownGraph::AddPort(ValueId id, std::vector<edit::Port>* ports,
                           std::vector<Value>* values) const {
  const ValueInfo& info = graph_[id];
  const auto found = values_.find(id);
  if (found == values_.end()) {
    return FailedPrecondition("the oracle has no value '", info.name, "'");
  }
  // The type of a sequence or an optional is wider than its value.
  const Value& value = found->second;
  ports->push_back({id, value.tensor() ? value.Type() : info.type});
  values->push_back(value);
  return OkStatus();
}

Result<Draft> KnownGraph::Part(const std::vector<size_t>& nodes) const {
  edit::Submodel part{nodes, {}, {}, {}};
  edit::Boundary edge = edit::BoundaryOf(graph_, nodes);
  if (edge.outputs.empty()) {  // computed for nobody
    edge.outputs = graph_.nodes[nodes.back()].outputs;
    std::erase(edge.outputs, kNoValue);
  }
  Draft draft;
  for (const ValueId id : edge.inputs) {
    ASSAY_RETURN_IF_ERROR(AddPort(id, &part.inputs, &draft.inputs));
  }
  for (const ValueId id : edge.outputs) {
    ASSAY_RETURN_IF_ERROR(AddPort(id, &part.outputs, &draft.expected));
  }
  ASSAY_ASSIGN_OR_RETURN(draft.model,
                         edit::MakeSubmodel(*model_, graph_, part));
  return draft;
}

Candidate KnownGraph::PartCandidate(const std::string& what,
                                    std::vector<size_t> nodes) const {
  int64_t elements = 0;
  const edit::Boundary edge = edit::BoundaryOf(graph_, nodes);
  const auto count = [&](const Value& value) {
    if (value.tensor()) elements += value.tensor()->num_elements();
  };
  for (const ValueId id : edge.inputs) {
    const auto found = values_.find(id);
    if (found != values_.end()) count(found->second);
  }
  for (const ValueId id : edge.initializers) {
    count(*graph_.FindInitializer(id));
  }
  return {what, elements,
          [this, nodes = std::move(nodes)] { return Part(nodes); }};
}

/// Neighbours from `begin` on.
std::vector<size_t> Range(size_t begin, size_t n) {
  std::vector<size_t> nodes = Indices(n);
  for (size_t& node : nodes) node += begin;
  return nodes;
}

/// Parts of `nodes`, which are neighbours: halves, three quarters, and all but
/// one, at both ends and in the middle.
std::vector<Candidate> Windows(const KnownGraph& known,
                               const std::vector<size_t>& nodes,
                               std::vector<std::vector<size_t>>* parts) {
  const size_t n = nodes.size();
  std::vector<Candidate> candidates;
  std::set<std::pair<size_t, size_t>> seen;
  for (const size_t length : {(n + 1) / 2, (3 * n + 3) / 4, n - 1}) {
    for (const size_t at : {size_t{0}, (n - length) / 2, n - length}) {
      if (length < 2 || length >= n || !seen.insert({at, length}).second) {
        continue;
      }
      parts->push_back(Range(nodes[at], length));
      candidates.push_back(
          known.PartCandidate(StrCat("nodes ", nodes[at] + 1, " to ",
                                     nodes[at] + length, " of ", known.size()),
                              parts->back()));
    }
  }
  return candidates;
}

/// The nodes without one of them, each in turn.
std::vector<Candidate> WithoutOne(const KnownGraph& known,
                                  const std::vector<size_t>& nodes,
                                  std::vector<std::vector<size_t>>* parts) {
  std::vector<Candidate> candidates;
  for (size_t i = 0; i < nodes.size() && nodes.size() > 2; ++i) {
    std::vector<size_t> left = nodes;
    left.erase(left.begin() + static_cast<std::ptrdiff_t>(i));
    parts->push_back(left);
    candidates.push_back(
        known.PartCandidate(StrCat("without ", known.Name(nodes[i])), left));
  }
  return candidates;
}

using Ways = std::vector<Candidate> (*)(const KnownGraph&,
                                        const std::vector<size_t>&,
                                        std::vector<std::vector<size_t>>*);

/// Goes on from each part that fails to parts of it.
Status Descend(const KnownGraph& known, Ways ways, ShrinkJudge& judge,
               std::vector<size_t>* nodes, std::optional<Draft>* draft) {
  while (!judge.Spent()) {
    std::vector<std::vector<size_t>> parts;
    const auto candidates = ways(known, *nodes, &parts);
    ASSAY_ASSIGN_OR_RETURN(std::optional<Kept> kept, judge.First(candidates));
    if (!kept.has_value()) break;
    *nodes = parts[kept->index];
    *draft = std::move(kept->draft);
  }
  return OkStatus();
}

}  // namespace

Result<std::optional<Draft>> ShrinkGraph(const Draft& draft,
                                         ShrinkJudge& judge) {
  // Derivatives between nodes are not known.
  if (NodeCount(draft) < 2 || !draft.targets.empty()) {
    return std::optional<Draft>();
  }
  const Result<KnownGraph> known = KnownGraph::Of(draft, judge);
  if (!known.ok()) {
    judge.Note(
        StrCat("  the nodes cannot be told apart: ", known.status().message()));
    return std::optional<Draft>();
  }
  std::vector<Candidate> alone;
  for (size_t i = 0; i < known->size(); ++i) {
    alone.push_back(known->PartCandidate(known->Name(i) + ", alone", {i}));
  }
  ASSAY_ASSIGN_OR_RETURN(std::optional<Kept> kept, judge.First(alone));
  if (kept.has_value()) return std::optional<Draft>(std::move(kept->draft));
  std::optional<Draft> part;
  std::vector<size_t> nodes = Indices(known->size());
  ASSAY_RETURN_IF_ERROR(Descend(*known, Windows, judge, &nodes, &part));
  ASSAY_RETURN_IF_ERROR(Descend(*known, WithoutOne, judge, &nodes, &part));
  return part;
}

}  // namespace assay::repro
