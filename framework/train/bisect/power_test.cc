// SPDX-License-Identifier: Apache-2.0
//
// The power of a comparison: right runs pass it, and a tensor that is 1 % off
// does not.

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "framework/testing/support/backends_fixture.h"
#include "framework/testing/support/statuses_fixture.h"
#include "framework/train/bisect/duel.h"
#include "framework/train/bisect/run_spec.h"
#include "framework/train/format/datasets.h"
#include "framework/train/optdiff/locked_run.h"
#include "framework/train/optdiff/spoiling_fixture.h"
#include "framework/train/rule/optimizers.h"

namespace assay::bisect {
namespace {

/// A test at night has more seeds, and all models.
const char* const kSeeds = std::getenv("ASSAY_SEEDS");

int64_t Seeds() {
  return kSeeds == nullptr ? 1 : std::strtoll(kSeeds, nullptr, 10);
}

class CoupledTest : public ::testing::TestWithParam<train::Preset> {};

// Kills: a limit that takes a right step for a wrong one where a gradient
// cancels with the decay of its weight.
TEST_P(CoupledTest, ARightRunHasNoFault) {
  const quad::OptimizerSpec spec = {std::string(GetParam().optimizer),
                                    std::string(GetParam().name),
                                    "weight_decay=0.1 decay=coupled"};
  constexpr int64_t kSteps = 10;
  for (int64_t seed = 0; seed < Seeds(); ++seed) {
    const optdiff::Course course =
        optdiff::PaperCourse("mlp", {"coupled", seed, "network"}, kSteps);
    const optdiff::JudgeOf judge = Got(optdiff::JudgeFor(course, Reference()));
    const auto run = Got(optdiff::LockedRun::Begin(
        course, Got(quad::SetupOf(spec, {})), Reference(), judge,
        draw::Draw("coupled", seed, "roundings"), /*rounded_every=*/10));
    optdiff::StepRows none({}, {}, nullptr);
    for (int64_t step = 1; step <= kSteps; ++step) {
      ASSERT_EQ(Got(run->Step(step, &none)).what, "")
          << "seed " << seed << " step " << step;
      run->Lock();
    }
    for (const auto& [tensor, steps] : run->undecided()) {
      EXPECT_FALSE(tensor.ends_with(".gradient")) << tensor << " seed " << seed;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, CoupledTest,
                         ::testing::ValuesIn(train::Presets().begin(),
                                             train::Presets().end()),
                         [](const auto& info) {
                           return StrCat(info.param.optimizer, "_",
                                         info.param.name);
                         });

void Scale(float factor, Tensor* tensor) {
  for (float& x : tensor->mutable_elements<float>()) x *= factor;
}

/// A first step of a model, on few samples unless it is night.
optdiff::Course FirstStepOf(const char* model, const train::Dataset& images) {
  return Got(ModelCourse({.model = model,
                          .dataset = &images,
                          .batch = kSeeds == nullptr ? 2 : 8,
                          .steps = 1}));
}

/// The first step of the reference beside one of it that is spoilt.
std::unique_ptr<Duel> DuelWith(const optdiff::Course& course,
                               optdiff::Spoil spoil) {
  StubBackend wrong = optdiff::Spoiling(Reference(), std::move(spoil));
  const quad::OptimizerSpec spec = {"momentum", "paper", ""};
  const auto runner = [&](Backend& backend) {
    return Runner{"x", backend, spec, Got(quad::SetupOf(spec, {}))};
  };
  auto duel = Got(Duel::Begin(course, runner(Reference()), runner(wrong),
                              Got(optdiff::JudgeFor(course, Reference())),
                              draw::Draw("power", 0, "roundings")));
  const Status stepped = duel->Step(1, nullptr);
  if (!stepped.ok()) throw std::runtime_error(stepped.ToString());
  return duel;
}

void ExpectSeen(const Duel& duel, const std::string& what) {
  EXPECT_FALSE(duel.a_fault().has_value()) << what;
  EXPECT_TRUE(duel.b_fault().has_value() || !duel.b_undecided().empty())
      << what << " is right";
  EXPECT_TRUE(duel.b_fault().has_value() || duel.difference().has_value())
      << what << " is nowhere seen";
}

class PowerTest : public ::testing::TestWithParam<const char*> {};

// Kills: a tensor that the oracle cannot decide and that is called right, one
// that widens the sieve of the others, a limit that hides 1 %.
TEST_P(PowerTest, ATensorThatIsOnePercentOffIsSeen) {
  const train::Dataset images = Got(train::DrawnImages(24, 1));
  const optdiff::Course course = FirstStepOf(GetParam(), images);
  EXPECT_FALSE(DuelWith(course, {})->b_fault().has_value());
  EXPECT_TRUE(DuelWith(course, {})->b_undecided().empty());
  for (size_t p = 0; p < course.narrow.parameters.size(); ++p) {
    const std::string& name = course.narrow.parameters[p].name;
    const auto duel = DuelWith(
        course, {.gradients = [p](int64_t, std::vector<Tensor>& gradients) {
          Scale(1.01F, &gradients[p]);
        }});
    // The bias of a key has no gradient but roundings.
    if (name != "key_b") ExpectSeen(*duel, StrCat(name, ".gradient"));
  }
  for (const float factor : {-1.0F, 2.0F}) {
    ExpectSeen(
        *DuelWith(course, {.gradients =
                               [factor](int64_t, std::vector<Tensor>& all) {
                                 for (Tensor& each : all) Scale(factor, &each);
                               }}),
        StrCat("all gradients times ", factor));
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, PowerTest,
    ::testing::ValuesIn(kSeeds == nullptr
                            ? std::vector<const char*>{"mlp", "lstm"}
                            : std::vector<const char*>{"mlp", "lenet5",
                                                       "small_cnn", "resnet8",
                                                       "lstm", "transformer"}),
    [](const auto& info) { return std::string(info.param); });

// Kills: a loss that is off and right.
TEST(LossTest, OfAModelIsSeenWhereItIsOff) {
  const train::Dataset images = Got(train::DrawnImages(24, 1));
  for (const char* model : {"mlp", "lstm"}) {
    const optdiff::Course course = FirstStepOf(model, images);
    const auto duel =
        DuelWith(course, {.outputs = [](int64_t, std::vector<Tensor>& outputs) {
                   Scale(1.01F, &outputs.back());
                 }});
    EXPECT_TRUE(duel->b_fault().has_value() ||
                duel->b_undecided().count("loss") > 0)
        << model;
  }
}

}  // namespace
}  // namespace assay::bisect
