// SPDX-License-Identifier: Apache-2.0

#include "framework/train/optimizer/recipe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace assay::train {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<Tensor> Gradients(const std::vector<float>& a,
                              const std::vector<double>& b) {
  return {
      *Tensor::Of<float>({static_cast<int64_t>(a.size())}, a),
      *Tensor::Of<double>({static_cast<int64_t>(b.size())}, b),
  };
}

TEST(ClipTest, LimitsEachElement) {
  std::vector<Tensor> gradients = Gradients({-3, 0.5F}, {2});
  ASSERT_TRUE(ClipGradients({.value = 1}, gradients).ok());
  EXPECT_THAT(gradients[0].elements<float>(), ElementsAre(-1, 0.5F));
  EXPECT_THAT(gradients[1].elements<double>(), ElementsAre(1));
}

// Kills: a norm of each tensor for itself; a scaling of what is within.
TEST(ClipTest, LimitsTheNormOfAllTogether) {
  std::vector<Tensor> gradients = Gradients({3, 0}, {4});
  ASSERT_TRUE(ClipGradients({.norm = 1}, gradients).ok());
  EXPECT_THAT(gradients[0].elements<float>(), ElementsAre(0.6F, 0));
  EXPECT_THAT(gradients[1].elements<double>(), ElementsAre(0.8));

  std::vector<Tensor> within = Gradients({3, 0}, {4});
  ASSERT_TRUE(ClipGradients({.norm = 6}, within).ok());
  EXPECT_THAT(within[1].elements<double>(), ElementsAre(4));
}

// Kills: a norm before the values.
TEST(ClipTest, LimitsValuesFirst) {
  std::vector<Tensor> gradients = Gradients({30, 0}, {4});
  ASSERT_TRUE(ClipGradients({.value = 3, .norm = 3}, gradients).ok());
  EXPECT_THAT(gradients[0].elements<float>(),
              ElementsAre(static_cast<float>(3 * (3 / std::sqrt(18.0))), 0));
}

TEST(GroupsTest, AreOfTheParametersThatTheyName) {
  Recipe recipe{.weight_decay = 0.1};
  recipe.groups = {{.names = {"b"}, .rate_scale = 2, .weight_decay = 0.0},
                   {.names = {"c"}, .rate_scale = 3}};
  const std::vector<std::string> names = {"a", "b", "c"};
  const auto groups = GroupsOf(recipe, names);
  ASSERT_TRUE(groups.ok()) << groups.status().ToString();
  const auto is = [&](size_t place, double scale, double decay) {
    EXPECT_EQ((*groups)[place].rate_scale, scale) << place;
    EXPECT_EQ((*groups)[place].weight_decay, decay) << place;
  };
  is(0, 1, 0.1);
  is(1, 2, 0);
  is(2, 3, 0.1);
}

// Kills: a group that is ignored since its name is misspelt.
TEST(GroupsTest, SayWhatIsWrong) {
  struct Row {
    std::vector<Group> groups;
    std::string_view message;
  };
  const std::vector<std::string> names = {"a", "b"};
  for (const Row& row : {
           Row{{{.names = {"c"}}}, "the parameter 'c', wanted one of a, b"},
           Row{{{.names = {"a"}}, {.names = {"b", "a"}}},
               "two groups name the parameter 'a'"},
       }) {
    Recipe recipe;
    recipe.groups = row.groups;
    const auto groups = GroupsOf(recipe, names);
    EXPECT_EQ(groups.status().code(), StatusCode::kInvalidArgument);
    EXPECT_THAT(groups.status().message(), HasSubstr(row.message));
  }
}

}  // namespace
}  // namespace assay::train
