// SPDX-License-Identifier: Apache-2.0

#include "backends/reference/native/native_network.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backends/reference/kernel_rows.h"
#include "framework/graph/model_text.h"

namespace assay::reference {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// The loss is 4 w + 2 v at x = 2, whose gradients are 4 and 2.
constexpr char kModel[] =
    "g (double x) => (double y, double loss) "
    "<double w = {1}, double v = {1}, int64 k = {1}> "
    "{ a = Mul(x, w) b = Mul(a, x) c = Mul(x, v) y = Identity(c) "
    "loss = Add(b, c) }";

struct LoadedNative {
  explicit LoadedNative(const char* text = kModel, Mode mode = Mode::kTraining,
                        std::vector<std::string> targets = {}) {
    LoadOptions options;
    options.mode = mode;
    options.gradient_targets = std::move(targets);
    if (std::string_view(text).find(" w = ") != std::string_view::npos) {
      options.trainable = {"w"};
      if (text == kModel) options.trainable.emplace_back("v");
    }
    network = *backend.Load(graph::ModelOfText(text), options);
    const std::vector<assay::Value> inputs = {D({}, {2}).Make()};
    binding = *network->Bind(inputs, {});
  }

  double At(const char* name) {
    return network->parameters()->Read(name)->elements<double>()[0];
  }
  double loss() const {
    return binding->outputs()[1].tensor()->elements<double>()[0];
  }

  RowBackend backend;
  std::unique_ptr<Network> network;
  std::unique_ptr<Binding> binding;
};

struct StepRow {
  const char* optimizer;
  std::map<std::string, double> hyperparameters;
  std::vector<double> w, v;  // behind each step, by hand
};

// Kills: gradients that are added up, an update of another step, state that is
// lost or another parameter's.
TEST(NativeStepTest, IsTheOperatorOfItsPage) {
  for (const StepRow& row : {
           // 1 - 4/8, and no other gradient: 1/2 - 4/8.
           StepRow{"momentum",
                   {{"rate", 0.125}, {"momentum", 0}},
                   {0.5, 0},
                   {0.75, 0.5}},
           // Velocities 4, then 4/2 + 4/2.
           StepRow{"momentum",
                   {{"rate", 0.125}, {"momentum", 0.5}, {"dampening", 0.5}},
                   {0.5, 0},
                   {0.75, 0.5}},
           // 4 + 4/2, then v = 6, 4 + 6/2.
           StepRow{"nesterov",
                   {{"rate", 0.125}, {"momentum", 0.5}},
                   {0.25, -0.625},
                   {0.625, 0.1875}},
           // h = 16, then 32, and the rate is halved.
           StepRow{"adagrad",
                   {{"rate", 1}, {"epsilon", 4}, {"rate_decay", 1}},
                   {0.5, 0.5 - 2 / (std::sqrt(32.0) + 4)},
                   {1 - 2.0 / 6, 1 - 2.0 / 6 - 1 / (std::sqrt(8.0) + 4)}},
           // Nothing is corrected at first; then moments halve.
           StepRow{"adam",
                   {{"rate", 1},
                    {"beta1", 0},
                    {"beta2", 0},
                    {"epsilon", 4},
                    {"weight_decay", 0}},
                   {0.5, 0},
                   {1 - 2.0 / 6, 1 - 4.0 / 6}},
           StepRow{"adamw",
                   {{"rate", 1},
                    {"beta1", 0},
                    {"beta2", 0},
                    {"epsilon", 4},
                    {"weight_decay", 0.5}},
                   {0.25, -0.125},
                   {1.0 / 3, 0}},
       }) {
    LoadedNative loaded;
    NativeStep& native = *loaded.network->native_step();
    const Status configured =
        native.Configure(row.optimizer, row.hyperparameters);
    ASSERT_TRUE(configured.ok()) << configured.ToString();
    for (size_t i = 0; i < row.w.size(); ++i) {
      const double loss = 4 * loaded.At("w") + 2 * loaded.At("v");
      const Status stepped = native.Step(*loaded.binding, "loss");
      ASSERT_TRUE(stepped.ok()) << stepped.ToString();
      EXPECT_DOUBLE_EQ(loaded.loss(), loss);
      EXPECT_NEAR(loaded.At("w"), row.w[i], 1e-15) << row.optimizer << i;
      EXPECT_NEAR(loaded.At("v"), row.v[i], 1e-15) << row.optimizer << i;
    }
  }
}

// Kills: state that outlives Configure.
TEST(NativeStepTest, BeginsAnewWhereItIsConfigured) {
  LoadedNative loaded;
  NativeStep& native = *loaded.network->native_step();
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(
        loaded.network->parameters()->Write("w", D({}, {1}).Make()).ok());
    ASSERT_TRUE(native.Configure("momentum", {{"rate", 0.25}}).ok());
    ASSERT_TRUE(native.Step(*loaded.binding, "loss").ok());
    EXPECT_EQ(loaded.At("w"), 0) << i;
  }
}

TEST(NativeStepTest, SaysWhatIsWrong) {
  LoadedNative loaded;
  NativeStep& native = *loaded.network->native_step();
  EXPECT_EQ(native.Step(*loaded.binding, "loss").code(),
            StatusCode::kFailedPrecondition);
  EXPECT_THAT(native.Configure("lamb", {{"rate", 1}}).message(),
              HasSubstr("found the optimizer 'lamb', wanted adagrad, adam"));
  EXPECT_THAT(native.Configure("adam", {{"rho", 1}}).message(),
              HasSubstr("found the hyperparameter 'rho', wanted rate, beta1"));
  EXPECT_THAT(native.Configure("adam", {}).message(), HasSubstr("no rate"));
  ASSERT_TRUE(native.Configure("adam", {{"rate", 1}}).ok());
  EXPECT_EQ(native.Step(*loaded.binding, "z").code(), StatusCode::kNotFound);
  EXPECT_THAT(native.Optimizers(),
              ElementsAre("adagrad", "adam", "adamw", "momentum", "nesterov"));
}

TEST(NativeStepTest, IsOfferedForTraining) {
  EXPECT_EQ(LoadedNative(kModel, Mode::kInference).network->native_step(),
            nullptr);
  EXPECT_EQ(LoadedNative().network->differentiable(), nullptr);
  EXPECT_NE(
      LoadedNative(kModel, Mode::kTraining, {"x"}).network->differentiable(),
      nullptr);
  // Without parameters, and without gradients.
  EXPECT_EQ(LoadedNative("g (double x) => (double y, double z) "
                         "{ y = Abs(x) z = Abs(x) }")
                .network->native_step(),
            nullptr);
  const LoadedNative random(
      "g (double x) => (double y, double z) <double[2] w = {1, 1}> "
      "{ y = Identity(x) r = Bernoulli(w) z = ReduceSum<keepdims = 0>(r) }");
  EXPECT_EQ(random.network->native_step(), nullptr);
  EXPECT_NE(random.network->parameters(), nullptr);
}

}  // namespace
}  // namespace assay::reference
