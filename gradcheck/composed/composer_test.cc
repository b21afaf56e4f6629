// SPDX-License-Identifier: Apache-2.0

#include "gradcheck/composed/composer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "conformance/special/case_text.h"
#include "framework/graph/types/check.h"
#include "framework/testing/support/statuses_fixture.h"

namespace assay::gradcheck {
namespace {

/// How many nodes read a value, at most.
int MostReaders(const Graph& graph) {
  std::map<ValueId, int> readers;
  int most = 0;
  for (const Node& node : graph.nodes) {
    const std::set<ValueId> read(node.inputs.begin(), node.inputs.end());
    for (const ValueId id : read) {
      if (graph.FindInitializer(id) == nullptr) {
        most = std::max(most, ++readers[id]);
      }
    }
  }
  return most;
}

// Kills: a text that is no model, a network that is too small or a chain, and
// an operator that is never drawn.
TEST(ComposedCase, IsANetworkOf2To12NodesWithFanOut) {
  std::set<std::string> texts, operators;
  std::set<size_t> sizes;
  std::set<DType> types;
  for (int64_t number = 0; number < 300; ++number) {
    const std::string text = ComposedCase(number);
    EXPECT_TRUE(texts.insert(text).second);
    EXPECT_EQ(ComposedCase(number), text);
    SCOPED_TRACE(text);
    const auto cases = Got(special::ReadCases(text, "composed"));
    const auto data = Got(special::InputsOf(cases.at(0)));
    EXPECT_TRUE(types::CheckModel(*data.model).ok());
    const Graph& graph = data.model->graph();
    sizes.insert(graph.nodes.size());
    EXPECT_GE(MostReaders(graph), 2);
    EXPECT_FALSE(graph.outputs.empty());
    types.insert(graph[graph.inputs[0]].type.dtype);
    for (const Node& node : graph.nodes) operators.insert(node.op_type);
  }
  EXPECT_EQ(sizes.size(), 11U);
  EXPECT_EQ(*sizes.begin(), 2U);
  EXPECT_EQ(operators.size(), 33U);
  EXPECT_EQ(types.size(), 2U);
}

}  // namespace
}  // namespace assay::gradcheck
