// SPDX-License-Identifier: Apache-2.0

#include "framework/cli/repro/shrink_parts.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "framework/graph/operator.h"
#include "framework/graph/types/signature.h"

namespace assay::repro {
namespace {

Result<std::optional<Draft>> DraftOf(const std::vector<Candidate>& candidates,
                                     ShrinkJudge& judge) {
  ASSAY_ASSIGN_OR_RETURN(std::optional<Kept> kept, judge.First(candidates));
  if (!kept.has_value()) return std::optional<Draft>();
  return std::optional<Draft>(std::move(kept->draft));
}

/// A node, and one of its attributes.
using Place = std::pair<size_t, std::string>;

/// The attributes that a node may do without.
std::vector<Place> Optional(const Graph& graph) {
  std::vector<Place> places;
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

Result<Draft> Without(const Draft& draft, const std::vector<Place>& places) {
  Graph graph = draft.model->graph();
  for (const Place& place : places) {
    std::erase_if(graph.nodes[place.first].attributes,
                  [&](const Attribute& attribute) {
                    return attribute.name == place.second;
                  });
  }
  return WithGraph(draft, graph);
}

}  // namespace

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
  return DraftOf(candidates, judge);
}

Result<std::optional<Draft>> ShrinkAttributes(const Draft& draft,
                                              ShrinkJudge& judge) {
  const std::vector<Place> places = Optional(draft.model->graph());
  const int64_t elements = ElementCount(draft);
  std::vector<Candidate> candidates;
  const auto add = [&](const std::vector<Place>& chosen) {
    candidates.push_back(
        {StrCat("without ", Joined(chosen, ", ", &Place::second)), elements,
         [&draft, chosen] { return Without(draft, chosen); }});
  };
  if (places.size() > 1) add(places);
  for (const Place& place : places) add({place});
  return DraftOf(candidates, judge);
}

}  // namespace assay::repro
