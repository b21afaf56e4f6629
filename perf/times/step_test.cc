// SPDX-License-Identifier: Apache-2.0

#include "perf/times/step.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "framework/testing/support/backends_fixture.h"
#include "framework/timing/statistics.h"
#include "framework/train/optdiff/locked_run.h"
#include "framework/train/optdiff/spoiling_fixture.h"
#include "framework/train/quad/lockstep_quad.h"
#include "perf/times/made_fixture.h"
#include "perf/times/sources.h"

namespace assay::times {
namespace {

using record::Outcome;
using testing::HasSubstr;

constexpr const char* kMlp = "time/adam/paper.mlp#locked.float32";

Result<Taken> StepsOf(Backend& backend) {
  record::PlanRow row;
  row.test_id = kMlp;
  record::RunFacts facts = FactsOf(0.1);
  facts.oracle = "reference";
  facts.oracle_module = ASSAY_REFERENCE_MODULE;
  return TimeSteps(row, backend, facts);
}

Taken SpoiledBy(decltype(optdiff::Spoil::gradients) gradients) {
  auto backend =
      optdiff::Spoiling(Reference(), {.gradients = std::move(gradients)});
  return Got(StepsOf(backend));
}

void Flip(std::vector<Tensor>& gradients) {
  gradients[0].mutable_elements<float>()[0] *= -1;
}

// Kills: networks of one layer, whose calls take no time; another type; ids
// that lead nowhere.
TEST(TimedSteps, AreOfNetworksOfLayersByOurRule) {
  const auto cases = TimedSteps();
  EXPECT_GT(cases.size(), 10U);
  for (const cases::TestCase& c : cases) {
    EXPECT_TRUE(c.test_id.ends_with(".mlp#locked.float32") ||
                c.test_id.ends_with(".cnn#locked.float32"))
        << c.test_id;
  }
  EXPECT_EQ(StepIdOf(kMlp), "optimizer/adam/paper.mlp#locked.float32");
  EXPECT_EQ(StepIdOf("time/Relu/test_relu#redrawn.float32"), std::nullopt);
  EXPECT_EQ(SourceOf(kMlp), "optimizer/adam/paper.mlp#locked.float32");
  const auto all = TimeCases({});
  const auto found = std::ranges::find(all, kMlp, &cases::TestCase::test_id);
  ASSERT_NE(found, all.end());
  EXPECT_EQ(found->tier, cases::Tier::kCi);
  EXPECT_EQ(all.size(), cases.size() + TimedCollectives().size());
}

// Kills: the judge's evaluation for the backend's; a step without its backward
// call.
TEST(TimeSteps, TheTimeIsThatOfAWholeStep) {
  const auto honest = Got(StepsOf(Reference()));
  EXPECT_EQ(honest.verdict.outcome, Outcome::kPass) << honest.verdict.message;
  EXPECT_EQ(honest.phase.name, "step");
  const auto slow = SpoiledBy([](int64_t, auto&) { Spin(1'000'000); });
  EXPECT_EQ(slow.verdict.outcome, Outcome::kPass) << slow.verdict.message;
  EXPECT_GE(timing::Summarize(slow.phase.samples.ns).min, 1e6);
}

TEST(TimeSteps, AStepThatIsWrongAtOnceFails) {
  const auto timed = SpoiledBy([](int64_t, auto& g) { Flip(g); });
  EXPECT_EQ(timed.verdict.outcome, Outcome::kFail);
  EXPECT_THAT(timed.verdict.message,
              HasSubstr("in a timed step, the gradient of "));
}

// Kills: steps that are judged before the first of them is timed, or after.
TEST(TimeSteps, StepsInBetweenAreJudged) {
  const auto timed = SpoiledBy([](int64_t step, auto& g) {
    if (step > 10 && step < 150) Flip(g);
  });
  EXPECT_EQ(timed.verdict.outcome, Outcome::kFail);
}

TEST(TimeSteps, AStepAloneAsksNoJudge) {
  int64_t judged = 0;
  auto oracle = optdiff::Spoiling(
      Reference(), {.outputs = [&](int64_t, auto&) { ++judged; }});
  const draw::Draw draw("steps", 0, "test");
  const optdiff::Course course = optdiff::PaperCourse("mlp", draw, 10);
  const auto run = Got(optdiff::LockedRun::Begin(
      course, Got(quad::SetupOf({"adam", "paper", ""})), Reference(),
      Got(optdiff::JudgeFor(course, oracle)), draw));
  ASSERT_TRUE(run->Put(1).ok());
  ASSERT_TRUE(run->StepAlone().ok());
  EXPECT_EQ(judged, 0);
  // A step of both goes on from there.
  run->Lock();
  optdiff::StepRows rows({}, {}, nullptr);
  EXPECT_EQ(Got(run->Step(2, &rows)).what, "");
  EXPECT_GT(judged, 0);
}

TEST(TimeSteps, DeclinesAsTheBackendDoes) {
  StubBackend declining(Unsupported(Reason::kOperator, "no training"));
  const auto status = StepsOf(declining).status();
  EXPECT_EQ(status.code(), StatusCode::kUnsupported);
  EXPECT_THAT(status.message(), HasSubstr("no training"));
}

}  // namespace
}  // namespace assay::times
