// SPDX-License-Identifier: Apache-2.0

#include "framework/train/model/models.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace assay::train {
namespace {

using ::testing::HasSubstr;

int64_t Count(const std::vector<Parameter>& parameters) {
  int64_t count = 0;
  for (const Parameter& each : parameters) count += each.value.num_elements();
  return count;
}

TEST(ModelsTest, HaveTheirParameters) {
  struct Row {
    std::string_view name;
    int64_t parameters;
  };
  for (const Row& row : {
           Row{"mlp", 784 * 128 + 128 + 128 * 10 + 10},
           // LeCun 1998 with 16 maps that all see all 6: the sum of the layers.
           Row{"lenet5", 156 + 2416 + 48120 + 10164 + 850},
           Row{"small_cnn", 80 + 1168 + 7850},
       }) {
    const auto made = MakeModel(row.name, {});
    ASSERT_TRUE(made.ok()) << row.name << ": " << made.status().ToString();
    EXPECT_EQ(Count(made->parameters), row.parameters) << row.name;
    const Graph& graph = made->model->graph();
    ASSERT_EQ(graph.inputs.size(), made->parameters.size() + 1);
    EXPECT_EQ(graph[graph.inputs[0]].name, "x");
    for (size_t i = 0; i < made->parameters.size(); ++i) {
      EXPECT_EQ(graph[graph.inputs[i + 1]].name, made->parameters[i].name);
    }
  }
  EXPECT_EQ(ModelNames().size(), 3U);
}

// Kills: weights that are not of the seed, two parameters with the same numbers,
// a range that is not that of the fans.
TEST(ModelsTest, BeginWithWeightsOfTheSeed) {
  const auto one = MakeModel("lenet5", {.seed = 1});
  const auto same = MakeModel("lenet5", {.seed = 1});
  const auto other = MakeModel("lenet5", {.seed = 2});
  const auto weights = [](const Result<NewModel>& made, size_t i) {
    return made->parameters[i].value.elements<float>();
  };
  EXPECT_TRUE(std::ranges::equal(weights(one, 0), weights(same, 0)));
  EXPECT_FALSE(std::ranges::equal(weights(one, 0), weights(other, 0)));
  EXPECT_FALSE(std::ranges::equal(weights(one, 4).first(100),
                                  weights(one, 6).first(100)));
  for (const float bias : weights(one, 1)) EXPECT_EQ(bias, 0);
  // Of layer3, 120 from 400.
  const double reach = std::sqrt(6.0 / 520);
  double sum = 0;
  double greatest = 0;
  for (const float weight : weights(one, 4)) {
    sum += static_cast<double>(weight) * weight;
    greatest = std::max<double>(greatest, std::abs(weight));
  }
  EXPECT_LE(greatest, reach);
  EXPECT_GE(greatest, 0.999 * reach);
  EXPECT_NEAR(sum / 48000, reach * reach / 3, reach * reach / 100);
}

TEST(ModelsTest, AreOfTwoTypes) {
  const auto wide = MakeModel("mlp", {.type = DType::kFloat64});
  ASSERT_TRUE(wide.ok()) << wide.status().ToString();
  EXPECT_EQ(wide->parameters[0].value.dtype(), DType::kFloat64);
  EXPECT_THAT(MakeModel("mlp", {.type = DType::kFloat16}).status().message(),
              HasSubstr("found a model of float16, wanted float32 or float64"));
  EXPECT_THAT(MakeModel("lenet", {}).status().message(),
              HasSubstr("found the model 'lenet', wanted mlp, lenet5, small"));
}

}  // namespace
}  // namespace assay::train
