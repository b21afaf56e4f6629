// SPDX-License-Identifier: Apache-2.0

#include "conformance/node/recheck_plan.h"

#include <utility>

#include "framework/testing/draw/inputs.h"

namespace assay::node {

measure::RecheckPlan PlanRecheck(const record::PlanRow& row, const Graph& graph,
                                 const cases::DataSet& set) {
  measure::RecheckPlan plan{{}, {}, row.deterministic};
  const draw::InputKinds kinds = draw::KindsOf(graph);
  for (const int64_t index : row.sensitive) {
    const auto at = static_cast<size_t>(index);
    if (at >= graph.inputs.size() || at >= set.inputs.size()) continue;
    const auto kind = kinds.at(graph[graph.inputs[at]].name);
    const Tensor* const tensor = set.inputs[at].tensor();
    if (kind == draw::InputKind::kSize && tensor != nullptr) {
      auto other = draw::OtherSizes(*tensor);
      if (!other.has_value()) continue;
      plan.settings.emplace(index, *std::move(other));
    } else if (kind >= draw::InputKind::kSize ||
               kind == draw::InputKind::kShifted) {
      continue;
    }
    plan.sensitive.push_back(index);
  }
  return plan;
}

}  // namespace assay::node
