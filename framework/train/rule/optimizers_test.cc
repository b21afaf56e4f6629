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

// Kills: conventions of one library that another one's settings are held to.
TEST(OptimizersTest, TakeWhatTheirLibraryTakes) {
  for (const Wanted& wanted : {Wanted{"nesterov", "onnx", "dampening=0.5"},
                               {"nesterov", "pytorch", "momentum=0.5"},
                               {"momentum", "pytorch", "dampening=0.5"}}) {
    EXPECT_TRUE(MakeOptimizer(wanted).ok()) << wanted.name << wanted.settings;
  }
  for (const char* settings : {"dampening=0.5", "momentum=0"}) {
    EXPECT_THAT(MakeOptimizer({"nesterov", "pytorch", settings}),
                IsStatus(StatusCode::kInvalidArgument,
                         "nesterov: found dampening or no momentum, wanted a "
                         "momentum above 0"));
  }
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
      {{"adam", "paper", "rate=0.1 rate=0.2"},
       "adam: found the setting 'rate' twice, wanted it once"},
      {{"adam", "paper", "weight_decay=0.1 decay=in_rule"},
       "adam: decay: found 'in_rule', wanted coupled or by_rate or "
       "by_schedule or after: the rule has no decay of its own"},
  };
  for (const auto& row : rows) {
    EXPECT_THAT(MakeOptimizer(row.wanted),
                IsStatus(StatusCode::kInvalidArgument, row.message));
  }
}

// Kills: a backend that ends at a colon of its own, an optimizer that is taken
// for a device.
TEST(SplitRunTest, TellsTheBackendFromTheOptimizer) {
  struct Row {
    std::string_view run, backend, optimizer;
  };
  for (const Row& row : {
           Row{"acme", "acme", ""},
           Row{"acme:", "acme", ""},
           Row{"acme:adam", "acme", "adam"},
           Row{"acme:adam/keras:rate=0.1", "acme", "adam/keras:rate=0.1"},
           Row{"acme:adm", "acme", "adm"},
           Row{"acme+device=cuda:0", "acme+device=cuda:0", ""},
           Row{"acme+device=cuda:0:adam", "acme+device=cuda:0", "adam"},
           Row{"acme+device=cuda:0:lamb/paper:rate=1 decay=after",
               "acme+device=cuda:0", "lamb/paper:rate=1 decay=after"},
           Row{"faulty+mutant=gradient:sign:Gemm.1:momentum",
               "faulty+mutant=gradient:sign:Gemm.1", "momentum"},
           Row{"acme+a=b:c+device=x:1", "acme+a=b:c+device=x:1", ""},
           Row{"acme+kind=adam:momentum", "acme+kind=adam", "momentum"},
           Row{"acme+mode=a:adam:momentum", "acme+mode=a:adam", "momentum"},
           Row{"acme:nesterov:nesterov=ahead", "acme",
               "nesterov:nesterov=ahead"},
           Row{"./lib/acme.so:momentum", "./lib/acme.so", "momentum"},
           Row{"./a:b/acme.so:momentum", "./a:b/acme.so", "momentum"},
           Row{":adam", "", "adam"},
           Row{"", "", ""},
       }) {
    const RunParts parts = SplitRun(row.run);
    EXPECT_EQ(parts.backend, row.backend) << row.run;
    EXPECT_EQ(parts.optimizer, row.optimizer) << row.run;
  }
  EXPECT_EQ(WantedOf("").name, "momentum");
  EXPECT_EQ(WantedOf("adam:rate=1").preset, "paper");
  EXPECT_EQ(WantedOf("adam/keras:rate=1").settings, "rate=1");
}

}  // namespace
}  // namespace assay::train
