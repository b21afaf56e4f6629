// SPDX-License-Identifier: Apache-2.0

#include "conformance/node/tell.h"

#include <string>

#include "conformance/node/recheck_plan.h"
#include "framework/core/text.h"

namespace assay::node {

std::vector<suite::Labelled> Tell(const record::PlanRow& row,
                                  const record::RunFacts&,
                                  const record::Record&) {
  if (row.sensitive.empty()) return {};
  const Result<cases::CaseData> data = suite::DataOf(row);
  if (!data.ok()) return {};
  const Graph& graph = data->model->graph();
  std::vector<std::string> changed;
  const auto plan = PlanRecheck(row, graph, data->sets.at(0));
  for (const int64_t index : plan.sensitive) {
    changed.push_back(
        StrCat("another ", graph[graph.inputs[static_cast<size_t>(index)]].name,
               plan.settings.contains(index) ? " of other sizes" : ""));
  }
  if (changed.empty()) return {};
  return {{"run again",
           StrCat("after a run with ", Joined(changed, ", then with "))}};
}

}  // namespace assay::node
