// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "conformance/special/special_corpus.h"
#include "gradcheck/case/flow.h"

namespace assay::gradcheck {
namespace {

namespace fs = std::filesystem;

// Kills: a network without weights as initializers, a group that is taken for
// an operator, one that takes long, an input of another type than the id says,
// a golden case that states nothing, and a weight that no gradient reaches.
TEST(GraphCases, HaveWeightsAndAreSmall) {
  constexpr int64_t kMostElements = 2000;
  const fs::directory_iterator folder(ASSAY_GRAPH_CASES);
  const auto cases = special::ReadCaseFiles({begin(folder), end(folder)});
  ASSERT_TRUE(cases.ok()) << cases.status().ToString();
  std::map<std::string, int> groups;
  for (const special::CaseText& text : *cases) {
    SCOPED_TRACE(text.place + " " + text.name);
    const std::string group = text.name.substr(0, text.name.find('/'));
    EXPECT_THAT(group, testing::MatchesRegex("[a-z]+"));
    ++groups[group];
    const auto data = special::GradientsOf(text);
    ASSERT_TRUE(data.ok()) << data.status().ToString();
    const cases::DataSet& set = data->sets.at(0);
    EXPECT_EQ(set.gradients.empty(), group != "golden");
    EXPECT_TRUE(group == "golden" || !text.initializers.empty());
    const Graph& graph = data->model->graph();
    const Flow flow(graph);
    const auto check = [&](ValueId id, const Tensor& tensor) {
      EXPECT_LE(tensor.num_elements(), kMostElements) << graph[id].name;
      if (!IsFloatingPoint(tensor.dtype())) return;
      EXPECT_EQ(tensor.dtype(), DType::kFloat32) << graph[id].name;
      EXPECT_TRUE(flow.IsTarget(id)) << graph[id].name;
    };
    for (size_t i = 0; i < set.inputs.size(); ++i) {
      check(graph.inputs[i], *set.inputs[i].tensor());
    }
    for (const Initializer& fixed : graph.initializers) {
      check(fixed.id, *fixed.value.tensor());
    }
  }
  EXPECT_GE(groups["golden"], 8);
  EXPECT_GE(groups["block"], 9);
  EXPECT_GE(groups["network"], 8);
}

}  // namespace
}  // namespace assay::gradcheck
