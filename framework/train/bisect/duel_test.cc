// SPDX-License-Identifier: Apache-2.0
//
// Tests two runs in step: equal ones, ones with different conventions, and one
// whose gradients are wrong.

#include "framework/train/bisect/duel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "framework/backend/registry.h"
#include "framework/testing/support/backends_fixture.h"
#include "framework/train/bisect/model_course.h"
#include "framework/train/bisect/run_spec.h"
#include "framework/train/format/drawn.h"
#include "framework/train/optdiff/network.h"
#include "framework/train/optdiff/spoiling_backend.h"

namespace assay::bisect {
namespace {

using ::testing::HasSubstr;

/// A small network.
const optdiff::Course& Mlp() {
  static const optdiff::Course course = [] {
    const draw::Draw draw("duel", 0, "network");
    return optdiff::CourseOf(
        "mlp", Got(optdiff::MakeNetwork("mlp", DType::kFloat32, draw)),
        Got(optdiff::MakeNetwork("mlp", DType::kFloat64, draw)), /*steps=*/6);
  }();
  return course;
}

struct Seen {
  std::unique_ptr<Duel> duel;
  record::Record record;
};

Seen DuelOf(Backend& a, const std::string& spec_a, Backend& b,
            const std::string& spec_b, const optdiff::Course& course = Mlp()) {
  const optdiff::JudgeOf judge{
      Reference(), std::make_shared<optdiff::JudgeNetwork>(
                       Got(optdiff::Load(course.wide, Reference())))};
  Seen seen;
  const auto runner = [](Backend& backend, const std::string& spec) {
    const quad::OptimizerSpec named = Got(ParseRunSpec("x:" + spec)).optimizer;
    return Runner{spec, backend, named, Got(quad::SetupOf(named))};
  };
  seen.duel = Got(Duel::Begin(course, runner(a, spec_a), runner(b, spec_b),
                              judge, draw::Draw("duel", 0, "roundings")));
  for (int64_t step = 1; step <= course.steps; ++step) {
    const Status stepped = seen.duel->Step(step, &seen.record);
    if (!stepped.ok()) throw std::runtime_error(stepped.ToString());
  }
  return seen;
}

// Kills: a difference where there is none.
TEST(DuelTest, OfOneRunWithItselfShowsNothing) {
  for (const char* spec : {"momentum/paper", "adam/pytorch", "nesterov/paper",
                           "rmsprop/keras", "lamb"}) {
    const Seen seen = DuelOf(Reference(), spec, Reference(), spec);
    EXPECT_FALSE(seen.duel->difference().has_value()) << spec;
    EXPECT_FALSE(seen.duel->a_fault().has_value()) << spec;
    EXPECT_FALSE(seen.duel->b_fault().has_value()) << spec;
    for (const auto& row : Got(seen.record.Rows<optdiff::StepRow>())) {
      EXPECT_EQ(row.l2_diff, 0) << spec << " " << row.tensor;
      EXPECT_EQ(row.outcome, "pass");
    }
  }
}

// Kills: conventions that are taken for roundings; a step at which they cannot
// differ yet.
TEST(DuelTest, TellsConventionsApart) {
  struct Row {
    const char *a, *b;
    int64_t step;
  };
  for (const Row& row : {
           Row{"adam/pytorch", "adam/pytorch:epsilon=1e-3", 1},
           Row{"adam/pytorch", "adam/onnx", 1},
           Row{"momentum/pytorch", "momentum/pytorch:momentum=0.8", 2},
           Row{"adamw/pytorch", "adamw/pytorch:weight_decay=0.02", 1},
           Row{"rmsprop/pytorch", "rmsprop/pytorch:rho=0.98", 1},
       }) {
    const Seen seen = DuelOf(Reference(), row.a, Reference(), row.b);
    ASSERT_TRUE(seen.duel->difference().has_value()) << row.b;
    EXPECT_EQ(seen.duel->difference()->step, row.step) << row.b;
    EXPECT_EQ(seen.duel->difference()->tensor, "w1") << row.b;
    EXPECT_FALSE(seen.duel->a_fault().has_value()) << row.a;
    EXPECT_FALSE(seen.duel->b_fault().has_value()) << row.b;
  }
}

// Kills: a wrong run that is not named, or the other in its place.
TEST(DuelTest, SaysWhoIsWrong) {
  optdiff::SpoilingBackend wrong(
      Reference(), {.gradients = [](int64_t step, std::vector<Tensor>& g) {
        if (step == 4) g[1].mutable_elements<float>()[0] += 1;
      }});
  const Seen seen =
      DuelOf(Reference(), "momentum/paper", wrong, "momentum/paper");
  EXPECT_FALSE(seen.duel->a_fault().has_value());
  ASSERT_TRUE(seen.duel->b_fault().has_value());
  EXPECT_EQ(seen.duel->b_fault()->step, 4);
  EXPECT_EQ(seen.duel->b_fault()->fault.tensor, "b1.gradient");
  ASSERT_TRUE(seen.duel->difference().has_value());
  EXPECT_EQ(seen.duel->difference()->step, 4);
  EXPECT_EQ(seen.duel->difference()->tensor, "b1.gradient");
}

// Kills: a course whose two networks are not of the same numbers, and batches
// that differ from step to step in one of them.
TEST(ModelCourseTest, IsOneNetworkTwice) {
  const train::Dataset images = Got(train::DrawnImages(24, 1));
  // The last two have running statistics, and masks.
  for (const char* model : {"small_cnn", "resnet8", "transformer"}) {
    const optdiff::Course course = Got(ModelCourse(
        {.model = model, .dataset = &images, .batch = 8, .steps = 4}));
    const Seen seen = DuelOf(Reference(), "gradient_descent", Reference(),
                             "gradient_descent", course);
    EXPECT_FALSE(seen.duel->difference().has_value()) << model;
    EXPECT_FALSE(seen.duel->a_fault().has_value())
        << model << ": " << seen.duel->a_fault()->fault.what;
  }
}

TEST(RunSpecTest, ReadsARun) {
  const RunSpec spec =
      Got(ParseRunSpec("acme+threads=2:adam/keras:rate=0.1 beta1=0.5"));
  EXPECT_EQ(spec.backend, "acme+threads=2");
  EXPECT_EQ(spec.optimizer.optimizer, "adam");
  EXPECT_EQ(spec.optimizer.preset, "keras");
  EXPECT_EQ(spec.optimizer.settings, "rate=0.1 beta1=0.5");
  EXPECT_EQ(Got(ParseRunSpec("acme")).optimizer.optimizer, "momentum");
  for (const auto& [text, message] :
       std::vector<std::pair<const char*, const char*>>{
           {":adam", "wanted BACKEND[:OPTIMIZER"},
           {"acme:adan", "found the optimizer 'adan'"},
           {"acme:adam/torch", "found the preset 'torch'"},
           {"acme:adam/keras:beta9=1", "beta9"}}) {
    EXPECT_THAT(ParseRunSpec(text).status().message(), HasSubstr(message));
  }
}

}  // namespace
}  // namespace assay::bisect
