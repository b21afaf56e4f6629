// SPDX-License-Identifier: Apache-2.0

#include "framework/cli/repro/shrink.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "framework/cli/repro/known_graph.h"
#include "framework/cli/repro/shrink_values.h"
#include "framework/core/status.h"
#include "framework/graph/operator.h"
#include "framework/graph/types/signature.h"

namespace assay::repro {
namespace {

/// A node, and one of its attributes.
using NodeAttribute = std::pair<size_t, std::string>;

std::vector<NodeAttribute> Optional(const Graph& graph) {
  std::vector<NodeAttribute> places;
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const Node& node = graph.nodes[n];
    const auto op = FindOperator(node.domain, node.op_type);
    if (!op.has_value()) continue;
    const auto& known = types::SignatureOf(*op).attributes;
    for (const Attribute& attribute : node.attributes) {
      const auto info =
          std::ranges::find(known, attribute.name, &types::AttributeInfo::name);
      // One of an older version is known by no default.
      if (info != known.end() && !info->required) {
        places.emplace_back(n, attribute.name);
      }
    }
  }
  return places;
}

Result<Draft> Without(const Draft& draft,
                      const std::vector<NodeAttribute>& places) {
  Graph graph = draft.model->graph();
  for (const NodeAttribute& place : places) {
    std::erase_if(graph.nodes[place.first].attributes,
                  [&](const Attribute& attribute) {
                    return attribute.name == place.second;
                  });
  }
  return WithGraph(draft, graph);
}

/// One target or one output of several, of a case about derivatives.
Result<std::optional<Draft>> ShrinkTargets(const Draft& draft,
                                           ShrinkJudge& judge) {
  std::vector<Candidate> candidates;
  const int64_t elements = ElementCount(draft);
  for (size_t i = 0; draft.targets.size() > 1 && i < draft.targets.size();
       ++i) {
    candidates.push_back({StrCat("target ", draft.targets[i], ", alone"),
                          elements, [&draft, i]() -> Result<Draft> {
                            Draft smaller = draft;
                            smaller.targets = {draft.targets[i]};
                            return smaller;
                          }});
  }
  const Graph& graph = draft.model->graph();
  for (const ValueId id : graph.outputs) {
    if (draft.targets.empty() || graph.outputs.size() == 1) break;
    candidates.push_back({StrCat("output ", graph[id].name, ", alone"),
                          elements, [&draft, id]() -> Result<Draft> {
                            Graph one = draft.model->graph();
                            one.outputs = {id};
                            return WithGraph(draft, one);
                          }});
  }
  return judge.FirstDraft(candidates);
}

/// Attributes left out, so that they have their defaults: all that may be, or
/// one.
Result<std::optional<Draft>> ShrinkAttributes(const Draft& draft,
                                              ShrinkJudge& judge) {
  const std::vector<NodeAttribute> places = Optional(draft.model->graph());
  const int64_t elements = ElementCount(draft);
  std::vector<Candidate> candidates;
  const auto add = [&](const std::vector<NodeAttribute>& chosen) {
    candidates.push_back(
        {StrCat("without ", Joined(chosen, ", ", &NodeAttribute::second)),
         elements, [&draft, chosen] { return Without(draft, chosen); }});
  };
  if (places.size() > 1) add(places);
  for (const NodeAttribute& place : places) add({place});
  return judge.FirstDraft(candidates);
}

/// A draft with every value that the oracle has between its nodes. Failed
/// precondition when the oracle does not give them.
Result<KnownGraph> KnownBy(ShrinkJudge& judge, const Draft& draft) {
  KnownGraph known(draft);
  const std::vector<ValueId> inner = known.Inner();
  ASSAY_ASSIGN_OR_RETURN(const Draft all, known.CutAt(inner));
  ASSAY_ASSIGN_OR_RETURN(const auto answers, judge.Answers(all));
  for (size_t i = 0; i < inner.size() && i < answers.size(); ++i) {
    known.Know(inner[i], answers[i]);
  }
  return known;
}

Candidate PartCandidate(const KnownGraph& known, const std::string& what,
                        std::vector<size_t> nodes) {
  const int64_t elements = known.ElementsGiven(nodes);
  return {what, elements,
          [&known, nodes = std::move(nodes)] { return known.Part(nodes); }};
}

std::string NameOf(const KnownGraph& known, size_t node) {
  return StrCat("node ", node + 1, " of ", known.size(), ", ",
                known.graph().nodes[node].Label());
}

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
          PartCandidate(known,
                        StrCat("nodes ", nodes[at] + 1, " to ",
                               nodes[at] + length, " of ", known.size()),
                        parts->back()));
    }
  }
  return candidates;
}

std::vector<Candidate> WithoutOne(const KnownGraph& known,
                                  const std::vector<size_t>& nodes,
                                  std::vector<std::vector<size_t>>* parts) {
  std::vector<Candidate> candidates;
  for (size_t i = 0; i < nodes.size() && nodes.size() > 2; ++i) {
    std::vector<size_t> left = nodes;
    left.erase(left.begin() + static_cast<std::ptrdiff_t>(i));
    parts->push_back(left);
    candidates.push_back(PartCandidate(
        known, StrCat("without ", NameOf(known, nodes[i])), left));
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

/// The first node that goes wrong when it is fed what the oracle computed, or
/// the fewest nodes that go wrong together.
Result<std::optional<Draft>> ShrinkGraph(const Draft& draft,
                                         ShrinkJudge& judge) {
  // Derivatives between nodes are not known.
  if (NodeCount(draft) < 2 || !draft.targets.empty()) {
    return std::optional<Draft>();
  }
  const Result<KnownGraph> known = KnownBy(judge, draft);
  if (!known.ok()) {
    judge.Note(
        StrCat("  the nodes cannot be told apart: ", known.status().message()));
    return std::optional<Draft>();
  }
  std::vector<Candidate> alone;
  for (size_t i = 0; i < known->size(); ++i) {
    alone.push_back(PartCandidate(*known, NameOf(*known, i) + ", alone", {i}));
  }
  ASSAY_ASSIGN_OR_RETURN(std::optional<Draft> part, judge.FirstDraft(alone));
  if (part.has_value()) return part;
  std::vector<size_t> nodes = Indices(known->size());
  ASSAY_RETURN_IF_ERROR(Descend(*known, Windows, judge, &nodes, &part));
  ASSAY_RETURN_IF_ERROR(Descend(*known, WithoutOne, judge, &nodes, &part));
  return part;
}

using Step = Result<std::optional<Draft>> (*)(const Draft&, ShrinkJudge&);

/// Applies a step until it finds nothing; whether it found anything.
Result<bool> Exhaust(Step step, Draft* draft, ShrinkJudge& judge) {
  bool smaller = false;
  while (!judge.Spent()) {
    ASSAY_ASSIGN_OR_RETURN(std::optional<Draft> next, step(*draft, judge));
    if (!next.has_value()) break;
    *draft = *std::move(next);
    smaller = true;
  }
  return smaller;
}

}  // namespace

Result<Draft> FirstDraft(const std::vector<Draft>& drafts, ShrinkJudge& judge) {
  std::vector<Candidate> candidates;
  for (size_t i = 0; i < drafts.size(); ++i) {
    candidates.push_back({StrCat("as it is, data set ", i), 0,
                          [&, i]() -> Result<Draft> { return drafts[i]; }});
  }
  ASSAY_ASSIGN_OR_RETURN(std::optional<Draft> draft,
                         judge.FirstDraft(candidates));
  if (draft.has_value()) return *std::move(draft);
  return InvalidArgument(
      "the case does not fail in this way against the oracle's outputs, so "
      "that nothing smaller can be judged");
}

Result<Draft> Shrink(Draft draft, ShrinkJudge& judge) {
  constexpr int kRounds = 4;
  for (int round = 0; round < kRounds; ++round) {
    if (!draft.targets.empty()) {
      judge.Note("fewer targets and outputs");
      ASSAY_RETURN_IF_ERROR(Exhaust(ShrinkTargets, &draft, judge).status());
    }
    judge.Note("fewer nodes");
    ASSAY_ASSIGN_OR_RETURN(bool smaller, Exhaust(ShrinkGraph, &draft, judge));
    judge.Note("fewer attributes");
    ASSAY_RETURN_IF_ERROR(Exhaust(ShrinkAttributes, &draft, judge).status());
    judge.Note("fewer elements");
    ASSAY_ASSIGN_OR_RETURN(const bool narrower,
                           Exhaust(ShrinkShapes, &draft, judge));
    judge.Note("plainer values");
    ASSAY_ASSIGN_OR_RETURN(const bool plainer,
                           Exhaust(ShrinkValues, &draft, judge));
    // Only other values open new ways; fewer nodes are tried once more when
    // shapes have changed.
    if (judge.Spent()) {
      judge.Note("the budget is spent");
      break;
    }
    smaller = plainer || (narrower && NodeCount(draft) > 1);
    if (!smaller) break;
  }
  return draft;
}

}  // namespace assay::repro
