// SPDX-License-Identifier: Apache-2.0
//
// The suite of the cases that corpora hold in files (node, model, special,
// ...), each with expected outputs. It registers itself in whatever program it
// is linked into, under the name that framework/testing/suite runs such cases
// by.

#include "framework/testing/suite/suite.h"

#include <string>
#include <vector>

#include "conformance/node/judge.h"
#include "framework/core/text.h"
#include "framework/testing/record/record.h"

namespace assay::node {
namespace {

/// The inputs that a pass is run with others of before it is run again.
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

const bool kRegistered =
    suite::AddSuite({.name = std::string(suite::kSuiteOfCorpora),
                     .run = &Judge,
                     .explain = &Tell});

}  // namespace
}  // namespace assay::node
