// SPDX-License-Identifier: Apache-2.0
//
// Parts of a graph by their names, as a test writes them down.

#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "framework/core/text.h"
#include "framework/graph/model.h"

namespace assay {

inline std::vector<std::string> NamesOf(const Graph& graph,
                                        const std::vector<ValueId>& ids) {
  std::vector<std::string> names;
  for (const ValueId id : ids) {
    names.push_back(id == kNoValue ? "" : graph[id].name);
  }
  return names;
}

inline std::vector<std::string> OpTypesOf(const Graph& graph) {
  std::vector<std::string> types;
  for (const Node& node : graph.nodes) types.push_back(node.op_type);
  return types;
}

/// The tensor of an initializer, which there has to be.
inline const Tensor& FixedOf(const Graph& graph, std::string_view name) {
  return *graph.FindInitializer(graph.FindValue(name))->tensor();
}

/// The graph that is an attribute, as "then_branch".
inline const Graph& BodyOf(const Node& node, std::string_view attribute) {
  return *std::get<std::shared_ptr<const Graph>>(node.Find(attribute)->held);
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
