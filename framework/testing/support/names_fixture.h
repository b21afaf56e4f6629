// SPDX-License-Identifier: Apache-2.0
//
// Names of values of a graph, as a test writes them down.
//
//   NamesOf(model->graph(), graph.inputs)       // {"x", "w"}
//   TypedNamesOf(model->graph(), graph.inputs)  // {"x float[N,2]", ...}

#pragma once

#include <string>
#include <vector>

#include "framework/core/text.h"
#include "framework/graph/model.h"

namespace assay {

inline std::vector<std::string> NamesOf(const Graph& graph,
                                        const std::vector<ValueId>& ids) {
  std::vector<std::string> names;
  for (const ValueId id : ids) names.push_back(graph[id].name);
  return names;
}

inline std::vector<std::string> TypedNamesOf(const Graph& graph,
                                             const std::vector<ValueId>& ids) {
  std::vector<std::string> names;
  for (const ValueId id : ids) {
    names.push_back(StrCat(graph[id].name, " ", graph[id].type.ToString()));
  }
  return names;
}

}  // namespace assay
