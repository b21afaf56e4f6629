// SPDX-License-Identifier: Apache-2.0

#include "perf/times/gradient.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "framework/file/scratch_folder.h"
#include "framework/testing/case/corpus.h"
#include "framework/testing/host/hosted_backend.h"
#include "framework/testing/measure/exact_answers.h"
#include "framework/testing/measure/recheck.h"
#include "gradcheck/draw/draw.h"
#include "perf/times/made_fixture.h"
#include "perf/times/sources.h"

namespace assay::times {
namespace {

using record::Outcome;
using testing::ElementsAre;
using testing::HasSubstr;

class MadeGradients : public GradientBinding {
 public:
  explicit MadeGradients(Bound bound) : bound(bound), gradients_{bound.y} {}
  std::span<const Value> gradients() const override { return gradients_; }

  const Bound bound;  // x: the cotangent, y: the gradient

 private:
  std::vector<Value> gradients_;
};

/// Negates forward; an act of its own is a backward call.
class MadeBackward : public MadeNetwork, public Differentiable {
 public:
  MadeBackward(Signature signature, Act act)
      : MadeNetwork(std::move(signature), Negate), backward_(std::move(act)) {}

  Differentiable* differentiable() override { return this; }
  Result<std::vector<Value>> Backward(Binding&, std::span<const Value>,
                                      std::span<const std::string>) override {
    return Internal("gradients are bound here");
  }
  Result<std::unique_ptr<GradientBinding>> BindBackward(
      Binding&, std::span<const Value> cotangents, std::span<const std::string>,
      std::span<const Value> gradients) override {
    return std::make_unique<MadeGradients>(
        Bound{*cotangents[0].tensor(), *gradients[0].tensor()});
  }
  Status RunBackward(GradientBinding& bound) override {
    backward_(static_cast<MadeGradients&>(bound).bound);
    return OkStatus();
  }

 private:
  Act backward_;
};

/// A backend with acts of its own for each Load.
StubBackend Pulling(std::function<Act()> make_act) {
  return StubBackend([make_act = std::move(make_act)](
                         auto model, const LoadOptions& options)
                         -> Result<std::unique_ptr<Network>> {
    EXPECT_THAT(options.gradient_targets, ElementsAre("x"));
    ASSAY_ASSIGN_OR_RETURN(Signature signature, SignatureOf(*model, options));
    return std::make_unique<MadeBackward>(std::move(signature), make_act());
  });
}

/// dx = -dy, of the same numbers as inputs.
TimedSubject GradientsOfNegatives() {
  TimedSubject timed = NegativesOf();
  timed.subject.targets = {"x"};
  timed.backward = Backward{.targets = {"x"},
                            .gradients = timed.subject.inputs[0],
                            .takes = {true},
                            .cotangents = timed.subject.inputs};
  return timed;
}

Times BackwardTimesOf(Backend& backend) {
  Times times;
  times.verdict = JudgeSubject(GradientsOfNegatives(), backend, FactsOf(0.2), 1,
                               MadeMachine(/*is_noisy=*/false), &times.record);
  return times;
}

// Kills: times of Forward for those of RunBackward, a Forward that counts.
TEST(BackwardTimesTest, TheTimeIsThatOfRunBackward) {
  auto slow = Pulling([] {
    return [](const Bound& bound) {
      Spin(50'000);
      Negate(bound);
    };
  });
  const auto times = BackwardTimesOf(slow);
  EXPECT_EQ(times.verdict.outcome, Outcome::kPass) << times.verdict.message;
  std::vector<std::string> phases;
  for (const TimeRow& row : Got(times.record.Rows<TimeRow>())) {
    phases.push_back(row.phase);
  }
  EXPECT_THAT(phases,
              ElementsAre("load", "create", "first", "destroy", "backward"));
  const TimeRow backward = times.Of("backward");
  EXPECT_GE(backward.min_ns.value(), 50'000);
  EXPECT_LT(times.Of("first").min_ns.value(), 50'000);
  EXPECT_EQ(backward.cache_mode, "warm");
  // Those of Forward are not those of its derivative.
  EXPECT_FALSE(backward.bytes.has_value());
}

TEST(BackwardTimesTest, HonestOnesPass) {
  auto honest = Pulling([] { return Negate; });
  EXPECT_EQ(BackwardTimesOf(honest).verdict.outcome, Outcome::kPass);
  host::HostedBackend hosted(honest);
  const auto verdict = BackwardTimesOf(hosted.backend()).verdict;
  EXPECT_EQ(verdict.outcome, Outcome::kPass) << verdict.message;
}

TEST(BackwardTimesTest, WhatIsWrongAtOnceIsNotTimed) {
  auto wrong = Pulling([] { return [](const Bound& b) { Fill(b, 1); }; });
  const auto times = BackwardTimesOf(wrong);
  EXPECT_EQ(times.verdict.outcome, Outcome::kFail);
  EXPECT_TRUE(times.record.rows.empty());
  auto forward = MadeOf(Negate);
  const auto verdict = BackwardTimesOf(forward).verdict;
  EXPECT_EQ(verdict.outcome, Outcome::kError);
  EXPECT_THAT(verdict.message, HasSubstr("offers no Differentiable"));
}

void ExpectWrongInATimedCall(std::function<Act()> make_act) {
  auto backend = Pulling(std::move(make_act));
  const auto verdict = BackwardTimesOf(backend).verdict;
  EXPECT_EQ(verdict.outcome, Outcome::kFail) << verdict.message;
  EXPECT_THAT(verdict.message, HasSubstr("in a timed call, found other"));
}

// Kills: memory of gradients that is not cleared, gradients that nobody judges.
TEST(BackwardTimesTest, GradientsThatAreKeptAreWrong) {
  ExpectWrongInATimedCall([] {
    auto calls = std::make_shared<int>(0);
    return [calls](const Bound& bound) {
      if (++*calls == 1) Negate(bound);
    };
  });
}

// Kills: cotangents that are always those of the first call.
TEST(BackwardTimesTest, OneThatKnowsTheJudgedCotangentsIsWrongElsewhere) {
  ExpectWrongInATimedCall([] {
    auto known = std::make_shared<std::vector<float>>();
    return [known](const Bound& bound) {
      const std::vector<float> dy = FloatsOf(bound.x);
      if (known->empty()) *known = dy;
      dy == *known ? Negate(bound) : Fill(bound, 1);
    };
  });
}

std::vector<cases::TestCase> GradientsOf(const char* source) {
  const std::vector<std::string> only = {source};
  const auto corpus = Got(cases::ReadCorpus(ASSAY_CORPUS, only));
  auto all = TimeCases({&corpus, 1});
  std::erase_if(all, [&](const cases::TestCase& c) {
    return !GradientIdOf(c.test_id).has_value() ||
           SourceOf(c.test_id) != source;
  });
  return all;
}

// Kills: types and classes that are timed as well, ids that lead nowhere.
TEST(GradientCases, AreTheRedrawnOnesInFloat) {
  const auto cases = GradientsOf("node/Neg/test_neg");
  ASSERT_EQ(cases.size(), 1U);
  EXPECT_EQ(cases[0].test_id, "time/Neg/test_neg#redrawn.float32");
  EXPECT_EQ(cases[0].suite, "time");
  EXPECT_EQ(cases[0].tier, cases::Tier::kCi);
  EXPECT_EQ(GradientIdOf(cases[0].test_id),
            "gradcheck/Neg/test_neg#redrawn.float32");
  EXPECT_EQ(SourceOf(cases[0].test_id), "node/Neg/test_neg");
  EXPECT_EQ(GradientIdOf("time/Neg/test_neg"), std::nullopt);
  EXPECT_TRUE(GradientsOf("node/Not/test_not_2d").empty());
}

/// A planned case with answers of an oracle that knows Neg.
class AnsweredNeg {
 public:
  explicit AnsweredNeg(double bound = 0) {
    const cases::TestCase c = GradientsOf("node/Neg/test_neg").at(0);
    row.test_id = c.test_id;
    row.suite = c.suite;
    row.directory = c.directory.string();
    row.drawn = c.drawn;
    row.oracle = folder_.path().string();
    const auto questions = QuestionsOf(row, {});
    EXPECT_EQ(questions.size(), 3U);
    for (size_t set = 0; set < kJudgedSets; ++set) {
      measure::ExactAnswers answers;
      answers[questions[0].name] = {AnswerOf(
          Negated(*Got(SubjectOf(row, {})).inputs[set][0].tensor()), bound)};
      for (size_t i = 0; i < 2; ++i) {
        answers[questions[1 + i].name] = {AnswerOf(Negated(Dy(i)), bound)};
      }
      EXPECT_TRUE(measure::WriteAnswers(
                      measure::AnswersFile(folder_.path(), set), answers)
                      .ok());
    }
  }

  record::PlanRow row;

 private:
  static Tensor Negated(const Tensor& tensor) {
    auto numbers = gradcheck::NumbersOf(tensor);
    for (double& number : numbers) number = -number;
    return Doubles(tensor.shape(), numbers);
  }
  static measure::ExactAnswer AnswerOf(const Tensor& value, double bound) {
    auto units = gradcheck::NumbersOf(value);
    for (double& unit : units) unit = std::abs(unit);
    measure::ExactAnswer answer;
    answer.value = value;
    answer.bound =
        Doubles(value.shape(), std::vector<double>(units.size(), bound));
    answer.units = answer.hard_units = Doubles(value.shape(), units);
    return answer;
  }
  Tensor Dy(size_t kind) const {
    const auto c = *GradientCaseOf(row, {});
    const auto of = gradcheck::kCotangents[kind];
    const std::vector<int> bits = {20};
    const std::vector<Shape> shapes = {{3, 4, 5}};
    return *Got(gradcheck::CotangentsOf(of, bits, shapes,
                                        c.Drawn(gradcheck::ToString(of))))[0]
                .tensor();
  }

  file::ScratchFolder folder_;
};

// Kills: cotangents of the last set that were there before, a judge that looks
// at no element or at those of another set.
TEST(OpenGradients, HasAJudgeAndCotangentsForEachSet) {
  const AnsweredNeg answered;
  const auto timed = Got(OpenGradients(answered.row, {}));
  EXPECT_THAT(timed.backward->targets, ElementsAre("x"));
  EXPECT_THAT(timed.options().gradient_targets, ElementsAre("x"));
  const auto& cotangents = timed.backward->cotangents;
  ASSERT_EQ(cotangents.size(), 3U);
  ASSERT_EQ(timed.judges.size(), 3U);
  EXPECT_TRUE(measure::SameBits(cotangents[0][0], cotangents[1][0]));
  EXPECT_FALSE(measure::SameBits(cotangents[0][0], cotangents[2][0]));
  for (size_t set = 0; set < 3; ++set) {
    std::vector<float> right = FloatsOf(cotangents[set][0]);
    for (float& number : right) number = -number;
    std::vector<Value> dx = {Floats({3, 4, 5}, right)};
    EXPECT_EQ(timed.judges[set](dx), "");
    right[7] *= 1.001F;
    dx = {Floats({3, 4, 5}, right)};
    EXPECT_THAT(timed.judges[set](dx),
                HasSubstr("the gradient of 'x': element 7 is "));
  }
  EXPECT_THAT(timed.judges[0]({}), HasSubstr("found 0 gradients, wanted 1"));
}

// Kills: a backend that is said to decline what the oracle has no answer to.
TEST(Unopened, NobodyDeclinesWhatNoOracleKnows) {
  const auto verdict = Unopened(Unsupported(Reason::kGradient, "no answer"));
  EXPECT_EQ(verdict.outcome, record::Outcome::kUnsupported);
  EXPECT_EQ(verdict.reason.text(), record::kUndecided);
  EXPECT_EQ(Unopened(DataLoss("no answer")).outcome, record::Outcome::kError);
}

// Kills: a gradient that nobody knows, which is right whatever it is.
TEST(OpenGradients, NeedsAnswersThatSaySomething) {
  const AnsweredNeg unknown(std::numeric_limits<double>::infinity());
  EXPECT_EQ(OpenGradients(unknown.row, {}).status().code(),
            StatusCode::kUnsupported);
  AnsweredNeg lost;
  lost.row.oracle = "/nowhere";
  EXPECT_FALSE(OpenGradients(lost.row, {}).ok());
}

}  // namespace
}  // namespace assay::times
