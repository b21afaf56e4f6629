// SPDX-License-Identifier: Apache-2.0

#include "framework/cli/select/ranks.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <set>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "framework/graph/model.h"

namespace assay::select {
namespace {

using Ranks = std::map<std::string, std::vector<int>>;

int RankOf(const ValueType& type) {
  const bool told = type.kind == ValueKind::kTensor && type.dims.has_value();
  return told ? static_cast<int>(type.dims->size()) : cases::kNoRank;
}

void AddGraph(const Graph& graph,
              std::map<std::string, std::set<int>>* by_operator) {
  for (const Node& node : graph.nodes) {
    std::set<int>& ranks = (*by_operator)[StrCat(
        node.domain.empty() ? "ai.onnx" : node.domain, "::", node.op_type)];
    for (const auto* ids : {&node.inputs, &node.outputs}) {
      for (const ValueId id : *ids) {
        if (id == kNoValue) continue;
        ranks.insert(RankOf(graph.values[static_cast<size_t>(id)].type));
      }
    }
  }
}

Ranks RanksOf(const cases::TestCase& c) {
  std::map<std::string, std::set<int>> by_operator;
  const auto model =
      Model::Read(c.directory / "model.onnx", cases::kMostOfFacts);
  if (!model.ok()) return {};
  const auto typed = InferTypes(**model);
  const auto add = [&](const Graph& graph) { AddGraph(graph, &by_operator); };
  ForEachGraph(typed.ok() ? *typed : (*model)->graph(), add);
  // Their values have no types before they are called.
  for (const Function& function : (*model)->functions()) {
    ForEachGraph(*function.body, add);
  }
  Ranks ranks;
  for (const auto& [name, found] : by_operator) {
    ranks[name].assign(found.begin(), found.end());
  }
  return ranks;
}

}  // namespace

void AddRanks(std::span<cases::TestCase> cases) {
  std::atomic<size_t> next = 0;
  const auto add = [&] {
    for (size_t i = next++; i < cases.size(); i = next++) {
      cases::TestCase& c = cases[i];
      if (c.ranks.empty() && !c.directory.empty()) c.ranks = RanksOf(c);
    }
  };
  std::vector<std::jthread> threads(
      std::min<size_t>(cases.size() / 64,
                       std::max(1U, std::thread::hardware_concurrency()) - 1));
  try {
    for (std::jthread& thread : threads) thread = std::jthread(add);
  } catch (const std::system_error&) {
    // As many as there can be.
  }
  add();
}

}  // namespace assay::select
