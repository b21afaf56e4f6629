// SPDX-License-Identifier: Apache-2.0
//
// Two runs in step: equal ones, ones with different conventions, one whose
// gradients are wrong, and slips in the statistics that one of them feeds back.

#include "framework/train/bisect/duel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "framework/graph/edit/model_edit.h"
#include "framework/graph/edit/node_edit.h"
#include "framework/graph/model_text.h"
#include "framework/testing/support/backends_fixture.h"
#include "framework/testing/support/tensors_fixture.h"
#include "framework/train/bisect/bisect.h"
#include "framework/train/bisect/convention.h"
#include "framework/train/bisect/run_spec.h"
#include "framework/train/format/datasets.h"
#include "framework/train/model/new_model.h"
#include "framework/train/optdiff/course.h"
#include "framework/train/optdiff/spoiling_fixture.h"
#include "framework/train/quad/lockstep_quad.h"

namespace assay::bisect {
namespace {

using ::testing::HasSubstr;

const optdiff::Course& Mlp() {
  static const optdiff::Course course =
      optdiff::PaperCourse("mlp", {"duel", 0, "network"}, /*steps=*/6);
  return course;
}

struct Seen {
  std::unique_ptr<Duel> duel;
  record::Record record;
};

Seen DuelOf(Backend& a, const std::string& spec_a, Backend& b,
            const std::string& spec_b, const optdiff::Course& course = Mlp()) {
  const optdiff::JudgeOf judge = Got(optdiff::JudgeFor(course, Reference()));
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

// Kills: a step that is accused where its gradient cancels with the decay.
TEST(DuelTest, FindsNoFaultInACoupledDecay) {
  for (const char* spec :
       {"adam/pytorch:weight_decay=0.1", "adagrad/pytorch:weight_decay=0.1",
        "rmsprop/pytorch:weight_decay=0.1", "adam/keras:weight_decay=0.1",
        "lamb/paper:weight_decay=0.1 decay=by_rate"}) {
    const Seen seen = DuelOf(Reference(), spec, Reference(), spec);
    EXPECT_FALSE(seen.duel->a_fault().has_value())
        << spec << ": " << seen.duel->a_fault()->fault.what;
    EXPECT_FALSE(seen.duel->difference().has_value()) << spec;
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
  StubBackend wrong = optdiff::Spoiling(
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
    EXPECT_THAT(ParseRunSpec(text), Says(message));
  }
}

using optdiff::Course;

constexpr int64_t kFewSteps = 4, kSamples = 8;

/// Two normalizations, the second with another momentum, after a Dropout.
constexpr char kNormalized[] =
    "g (float[N,3] x) => (float[N,3] y) "
    "<float[3,3] w = {0.5, -1, 0.25, 1, 0.75, -0.5, 0.125, 1, -0.25}, "
    "float[3] s = {1, 2, 0.5}, float[3] b = {0.5, 0, -0.25}, "
    "float[3] p = {1, 0.5, 1}, float[3] m = {0.5, 0, -1}, "
    "float[3] v = {1, 2, 4}, float[3] mean = {0.25, 0.5, 1}, "
    "float[3] variance = {1, 0.5, 2}> "
    "{ d = Dropout(x) h = MatMul(d, w) "
    "n = BatchNormalization(h, s, b, m, v) t = Tanh(n) "
    "y = BatchNormalization<momentum = 0.75>(t, p, b, mean, variance) }";

std::shared_ptr<const Model> Normalized() {
  return graph::ModelOfText(kNormalized);
}

/// Batches whose numbers are exact in float32.
optdiff::StepBatch BatchOf(int64_t step) {
  std::vector<float> narrow;
  std::vector<double> wide;
  std::vector<int64_t> labels;
  for (int64_t i = 0; i < kSamples * 3; ++i) {
    narrow.push_back(static_cast<float>((i * i + step * i) % 17 - 8) / 4);
    wide.push_back(double{narrow.back()});
    if (i % 3 == 0) labels.push_back(i / 3 % 3);
  }
  const Tensor targets = Int64s({kSamples}, labels);
  return {{Floats({kSamples, 3}, narrow), targets},
          {Doubles({kSamples, 3}, wide), targets}};
}

Course CourseOf(const std::shared_ptr<const Model>& model = Normalized()) {
  Course course;
  course.name = "normalized";
  course.steps = kFewSteps;
  const auto wide = Got(edit::Retyped(*model, DType::kFloat64));
  course.narrow = Got(train::TraineeOf(Got(train::NewModelOf(*model)), {}, 1));
  course.wide = Got(train::TraineeOf(Got(train::NewModelOf(*wide)), {}, 1));
  course.batch = [](int64_t step) -> Result<optdiff::StepBatch> {
    return BatchOf(step);
  };
  return course;
}

BisectRun RunOn(const Course& course, Backend& backend = Reference()) {
  return {backend, course, Got(quad::SetupOf({"momentum", "pytorch", ""}, {}))};
}

Finding FindSlip(BisectRun a, BisectRun b) {
  return Got(Bisect(std::move(a), std::move(b),
                    {.oracle = Reference(), .steps = kFewSteps}));
}

// Kills: statistics that are not compared, a test of masks that are not the
// same.
TEST(SlipTest, IsNoneWhereThereIsNone) {
  const Course course = CourseOf();
  const Finding found = FindSlip(RunOn(course), RunOn(course));
  EXPECT_EQ(found.cause, Cause::kNone) << found.sentence;
}

struct Row {
  const char *name, *value, *nodes, *words;
};

class PlantedTest : public ::testing::TestWithParam<Row> {};

// Kills: a slip that has no name, one of another node, a momentum of another
// node.
TEST_P(PlantedTest, IsNamed) {
  const Row& row = GetParam();
  const Course course = CourseOf();
  // Loads another node in place of the one that computes a value.
  StubBackend slips(
      [&](auto model,
          const LoadOptions& options) -> Result<std::unique_ptr<Network>> {
        ASSAY_ASSIGN_OR_RETURN(auto other,
                               edit::ReplaceNode(*model, row.value, row.nodes));
        return Reference().Load(std::move(other), options);
      });
  const Finding found = FindSlip(RunOn(course), RunOn(course, slips));
  EXPECT_EQ(ToString(found.cause), "running statistics") << found.sentence;
  EXPECT_EQ(found.where, row.value) << found.sentence;
  EXPECT_EQ(found.run, "b");
  EXPECT_EQ(found.step, 1);
  EXPECT_THAT(found.sentence, HasSubstr(row.words));
}

INSTANTIATE_TEST_SUITE_P(
    All, PlantedTest,
    ::testing::Values(
        Row{"mean_stays", "n",
            "n, z, v_next = BatchNormalization<training_mode = 1>"
            "(h, s, b, m, v) m_next = Identity(m)",
            "the statistic m of the BatchNormalization of 'n' in run b is not "
            "fed back: element "},
        Row{"both_stay", "y",
            "y, mean_next, variance_next = BatchNormalization<training_mode = "
            "1, momentum = 1.0>(t, p, b, mean, variance)",
            "the statistic mean of the BatchNormalization of 'y' in run b is "
            "not fed back"},
        Row{"momentum", "n",
            "n, m_next, v_next = BatchNormalization<training_mode = 1, "
            "momentum = 0.1>(h, s, b, m, v)",
            "the statistic m of the BatchNormalization of 'n' in run b has the "
            "momentum for one minus it"},
        Row{"other_momentum", "y",
            "y, mean_next, variance_next = BatchNormalization<training_mode = "
            "1, momentum = 0.25>(t, p, b, mean, variance)",
            "the statistic mean of the BatchNormalization of 'y' in run b has "
            "the momentum for one minus it"},
        // 8/7 of the variance of the batch.
        Row{"sample", "n",
            "n, m_next, z = BatchNormalization<training_mode = 1>"
            "(h, s, b, m, v) k = Constant<value = float {0.9}>() "
            "q = Constant<value = float {1.1428571}>() a = Mul(v, k) "
            "c = Sub(z, a) e = Mul(c, q) v_next = Add(a, e)",
            "the statistic v of the BatchNormalization of 'n' in run b is the "
            "variance of a sample of 8, wanted that of a population"},
        Row{"none_of_these", "n",
            "n, z, v_next = BatchNormalization<training_mode = 1>"
            "(h, s, b, m, v) m_next = Neg(z)",
            "the statistic m of the BatchNormalization of 'n' in run b is fed "
            "back otherwise"}),
    [](const auto& info) { return info.param.name; });

// Kills: two models that are each right by themselves and not the same.
TEST(SlipTest, IsOneOfTwoModels) {
  const auto other = Got(edit::SetAttribute(
      *Normalized(), "y", {.name = "momentum", .held = 0.25F, .ref = ""}));
  const Course a = CourseOf();
  const Course b = CourseOf(other);
  const Finding found = FindSlip(RunOn(a), RunOn(b));
  EXPECT_EQ(found.cause, Cause::kRunningStatistics) << found.sentence;
  EXPECT_EQ(found.where, "y");
  EXPECT_EQ(found.run, "");
  EXPECT_THAT(found.sentence, HasSubstr("has the momentum for one minus it"));
  Course begins = CourseOf();
  begins.narrow.statistics[1].value.mutable_elements<float>()[2] = 5;
  const Finding first = FindSlip(RunOn(a), RunOn(begins));
  EXPECT_EQ(first.cause, Cause::kRunningStatistics) << first.sentence;
  EXPECT_EQ(first.where, "n");
  EXPECT_EQ(first.step, 0);
}

TEST(SlipTest, IsOfModelsThatHaveTheSame) {
  const Course a = CourseOf();
  const Course b = CourseOf(graph::ModelOfText(
      "g (float[N,3] x) => (float[N,3] y) <float[3,3] w = {1, 1, 1, 1, 1, 1, "
      "1, 1, 1}, float[3] s = {1, 2, 0.5}, float[3] b = {0.5, 0, -0.25}, "
      "float[3] p = {1, 0.5, 1}> "
      "{ h = MatMul(x, w) n = Mul(h, s) o = Add(n, b) y = Mul(o, p) }"));
  const auto found = Bisect(RunOn(a), RunOn(b), {.oracle = Reference()});
  EXPECT_THAT(found, Says("found networks of 4 and 0 running statistics"));
}

}  // namespace
}  // namespace assay::bisect
