// SPDX-License-Identifier: Apache-2.0

#include "gradcheck/scaled/scaled_corpus.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "framework/graph/types/check.h"
#include "framework/testing/case/read_corpus.h"
#include "gradcheck/case/flow.h"

namespace assay::gradcheck {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> OperatorsOf(const Graph& graph) {
  std::vector<std::string> operators;
  for (const Node& node : graph.nodes) {
    // Weights stand in a case as initializers.
    if (node.op_type != "ConstantOfShape") operators.push_back(node.op_type);
  }
  return operators;
}

// Kills: a model that is left out, one that loses a node, a weight that is no
// target, one whose numbers are all the same, and one that is too large.
TEST(ScaledCorpus, HasEveryNodeOfTheLightModels) {
  constexpr int64_t kMost = 12'000;
  const auto corpus = cases::ReadCorpus(ASSAY_SCALED);
  ASSERT_TRUE(corpus.ok()) << corpus.status().ToString();
  EXPECT_EQ(corpus->cases.size(), 9U);
  for (const cases::TestCase& c : corpus->cases) {
    SCOPED_TRACE(c.test_id);
    const std::string name = c.directory.filename().string();
    const auto light =
        Model::Read(fs::path(ASSAY_LIGHT) / ("test_" + name) / "model.onnx");
    ASSERT_TRUE(light.ok()) << light.status().ToString();
    const auto data = cases::ReadCaseInputs(c.directory, 1);
    ASSERT_TRUE(data.ok()) << data.status().ToString();
    const Graph& graph = data->model->graph();
    EXPECT_EQ(OperatorsOf(graph), OperatorsOf((*light)->graph()));
    EXPECT_TRUE(types::CheckModel(*data->model).ok());
    const Flow flow(graph);
    int64_t count = 0;
    for (const Initializer& fixed : graph.initializers) {
      const Tensor& tensor = *fixed.value.tensor();
      if (tensor.dtype() != DType::kFloat32) continue;
      EXPECT_TRUE(flow.IsTarget(fixed.id)) << graph[fixed.id].name;
      const auto numbers = tensor.elements<float>();
      EXPECT_TRUE(numbers.size() == 1 ||
                  std::set<float>(numbers.begin(), numbers.end()).size() > 1)
          << graph[fixed.id].name;
      count += tensor.num_elements();
    }
    EXPECT_LE(count, kMost);
    EXPECT_GE(count, kMost / 2);
  }
}

// Kills: a scale that is taken although it leaves too many, and a folder
// without models that passes for a corpus.
TEST(ScaledCorpus, IsOfModelsThatCanBeScaled) {
  const auto light =
      Model::Read(fs::path(ASSAY_LIGHT) / "test_vgg19" / "model.onnx");
  ASSERT_TRUE(light.ok()) << light.status().ToString();
  EXPECT_EQ(ScaleWithin(**light, 100).status().code(),
            StatusCode::kResourceExhausted);
  const auto scale = ScaleWithin(**light, 12'000);
  ASSERT_TRUE(scale.ok()) << scale.status().ToString();
  EXPECT_EQ(scale->image, 32);
  EXPECT_EQ(WriteScaledCorpus("/nonexistent", "/nonexistent").code(),
            StatusCode::kNotFound);
}

}  // namespace
}  // namespace assay::gradcheck
