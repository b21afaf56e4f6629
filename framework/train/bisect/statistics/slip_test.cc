// SPDX-License-Identifier: Apache-2.0
//
// Plants slips in the statistics that one of two runs feeds back.

#include "framework/train/bisect/statistics/slip.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "framework/backend/backend.h"
#include "framework/backend/registry.h"
#include "framework/graph/edit/model_edit.h"
#include "framework/graph/edit/node_edit.h"
#include "framework/graph/model_text.h"
#include "framework/testing/support/backends_fixture.h"
#include "framework/train/bisect/bisect.h"
#include "framework/train/bisect/model_course.h"
#include "framework/train/model/new_model.h"
#include "framework/train/optdiff/course.h"
#include "framework/train/quad/lockstep_quad.h"

namespace assay::statistics {
namespace {

using bisect::Cause;
using bisect::Finding;
using optdiff::Course;
using ::testing::HasSubstr;

constexpr int64_t kSteps = 4, kSamples = 8;

/// Two normalizations, the second with another momentum, after a Dropout.
constexpr char kNetwork[] =
    "g (float[N,3] x) => (float[N,3] y) "
    "<float[3,3] w = {0.5, -1, 0.25, 1, 0.75, -0.5, 0.125, 1, -0.25}, "
    "float[3] s = {1, 2, 0.5}, float[3] b = {0.5, 0, -0.25}, "
    "float[3] p = {1, 0.5, 1}, float[3] m = {0.5, 0, -1}, "
    "float[3] v = {1, 2, 4}, float[3] mean = {0.25, 0.5, 1}, "
    "float[3] variance = {1, 0.5, 2}> "
    "{ d = Dropout(x) h = MatMul(d, w) "
    "n = BatchNormalization(h, s, b, m, v) t = Tanh(n) "
    "y = BatchNormalization<momentum = 0.75>(t, p, b, mean, variance) }";

std::shared_ptr<const Model> Network() { return graph::ModelOfText(kNetwork); }

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
  const Tensor targets = Got(Tensor::Of<int64_t>({kSamples}, labels));
  return {{Got(Tensor::Of<float>({kSamples, 3}, narrow)), targets},
          {Got(Tensor::Of<double>({kSamples, 3}, wide)), targets}};
}

Course CourseOf(const std::shared_ptr<const Model>& model = Network()) {
  Course course;
  course.name = "normalized";
  course.steps = kSteps;
  const auto wide = Got(edit::Retyped(*model, DType::kFloat64));
  course.narrow =
      Got(bisect::BeginningOf(Got(train::NewModelOf(*model)), {}, 1));
  course.wide = Got(bisect::BeginningOf(Got(train::NewModelOf(*wide)), {}, 1));
  course.batch = [](int64_t step) -> Result<optdiff::StepBatch> {
    return BatchOf(step);
  };
  return course;
}

bisect::BisectRun RunOn(const Course& course, Backend& backend = Reference()) {
  return {backend, course, Got(quad::SetupOf({"momentum", "pytorch", ""}, {}))};
}

Finding Find(bisect::BisectRun a, bisect::BisectRun b) {
  return Got(bisect::Bisect(std::move(a), std::move(b),
                            {.oracle = Reference(), .steps = kSteps}));
}

// Kills: statistics that are not compared, a test of masks that are not the
// same.
TEST(SlipTest, IsNoneWhereThereIsNone) {
  const Course course = CourseOf();
  const Finding found = Find(RunOn(course), RunOn(course));
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
  StubBackend slips([&](auto model, const LoadOptions& options)
                        -> Result<std::unique_ptr<assay::Network>> {
    ASSAY_ASSIGN_OR_RETURN(auto other,
                           edit::ReplaceNode(*model, row.value, row.nodes));
    return Reference().Load(std::move(other), options);
  });
  const Finding found = Find(RunOn(course), RunOn(course, slips));
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
      *Network(), "y", {.name = "momentum", .held = 0.25F, .ref = ""}));
  const Course a = CourseOf();
  const Course b = CourseOf(other);
  const Finding found = Find(RunOn(a), RunOn(b));
  EXPECT_EQ(found.cause, Cause::kRunningStatistics) << found.sentence;
  EXPECT_EQ(found.where, "y");
  EXPECT_EQ(found.run, "");
  EXPECT_THAT(found.sentence, HasSubstr("has the momentum for one minus it"));
  Course begins = CourseOf();
  begins.narrow.statistics[1].value.mutable_elements<float>()[2] = 5;
  const Finding first = Find(RunOn(a), RunOn(begins));
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
  const auto found =
      bisect::Bisect(RunOn(a), RunOn(b), {.oracle = Reference()});
  EXPECT_THAT(found.status().message(),
              HasSubstr("found networks of 4 and 0 running statistics"));
}

}  // namespace
}  // namespace assay::statistics
