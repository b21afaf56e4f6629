// SPDX-License-Identifier: Apache-2.0
//
// The formulas themselves are held to those of framework/train/quad.

#include "framework/train/rule/optimizers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "framework/testing/support/statuses_fixture.h"

namespace assay::train {
namespace {

using ::testing::Contains;
using ::testing::Pair;

TEST(OptimizersTest, ArePresetsOfWhatThereIs) {
  std::set<std::pair<std::string_view, std::string_view>> seen;
  for (const Preset& preset : Presets()) {
    EXPECT_THAT(OptimizerNames(), Contains(preset.optimizer));
    EXPECT_TRUE(seen.emplace(preset.optimizer, preset.name).second)
        << "twice: " << preset.optimizer << " " << preset.name;
    EXPECT_FALSE(preset.source.empty());
    const auto made = MakeOptimizer({preset.optimizer, preset.name});
    EXPECT_TRUE(made.ok()) << made.status().ToString();
  }
  for (const std::string_view name : OptimizerNames()) {
    EXPECT_TRUE(MakeOptimizer({name}).ok()) << name << " has a paper's preset";
  }
}

// Kills: a preset that wins over what a user says.
TEST(OptimizersTest, SettingsWinOverThePreset) {
  const auto made = Got(MakeOptimizer({"adam", "keras", "beta1=0.5"}));
  EXPECT_THAT(made.settings, Contains(Pair("beta1", "0.5")));
  EXPECT_THAT(made.settings, Contains(Pair("epsilon", "1e-07")));
  EXPECT_THAT(made.settings, Contains(Pair("correction", "rate")));
}

TEST(OptimizersTest, SayWhatThereIs) {
  const struct {
    Wanted wanted;
    std::string_view message;
  } rows[] = {
      {{"adamm"}, "found the optimizer 'adamm', wanted gradient_desc"},
      {{"lamb", "keras"}, "lamb: found the preset 'keras', wanted paper"},
      {{"adam", "paper", "rho=0.9"},
       "adam: found the setting 'rho', wanted rate, weight_decay"},
      {{"adam", "paper", "rate=-1"}, "adam: rate: found '-1'"},
  };
  for (const auto& row : rows) {
    EXPECT_THAT(MakeOptimizer(row.wanted),
                IsStatus(StatusCode::kInvalidArgument, row.message));
  }
}

}  // namespace
}  // namespace assay::train
