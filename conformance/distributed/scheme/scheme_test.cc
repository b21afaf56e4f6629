// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "conformance/distributed/case.h"
#include "conformance/distributed/ranks/ranks_fixture.h"
#include "conformance/distributed/scheme/mixing_case.h"
#include "conformance/distributed/scheme/scheme_case.h"
#include "conformance/distributed/scheme/scheme_run.h"
#include "framework/core/text.h"
#include "framework/ranks/scheme/async.h"
#include "framework/ranks/scheme/objectives.h"

namespace assay::distributed {
namespace {

using ::testing::HasSubstr;

TEST(PlannedCaseTest, EveryCaseHasANameOfItsOwnAndRanks) {
  std::set<std::string> names;
  const std::vector<cases::TestCase> planned = PlannedCases({});
  for (const cases::TestCase& each : planned) {
    names.insert(each.test_id);
    EXPECT_GT(each.n_ranks, 0);
    EXPECT_EQ(each.suite, "distributed");
  }
  EXPECT_EQ(names.size(), planned.size());
  EXPECT_GT(planned.size(), 2000U);
}

// Kills: a formula of another scheme; a comparison with a batch of other ranks.
TEST(SchemeRunTest, EveryCasePassesOnThreads) {
  for (const SchemeCase& each : AllSchemeCases()) PassedOn(each);
}

// Kills: a result of ranks that depends on who comes late.
TEST(SchemeRunTest, EveryCaseOfFourRanksPassesWithAStraggler) {
  int ran_cases = 0;
  for (const SchemeCase& each : AllSchemeCases()) {
    if (each.ranks != 4 || each.optimizer != "gradient_descent") continue;
    ++ran_cases;
    PassedOn(each, WrapIn<Late>(/*straggler=*/2));
  }
  EXPECT_GT(ran_cases, 10);
}

const SchemeCase kRingOfFour = {"train_all_reduce", "ring", "momentum", 4};

TEST(SchemeRunTest, OneBitOfOneMessageIsAFailOfItsStep) {
  // Three of six messages of a step are added up, and the sum goes to all.
  for (const int which : {3, 6}) {
    const RanCase ran = RanOn(kRingOfFour, WrapIn<Flipping>(which));
    ExpectFails(ran, kFailBits, "step 1, w");
    EXPECT_THAT(ran.judged.message,
                HasSubstr(StrCat("; rank 1 received message ", which,
                                 " from rank 0 ")));
    ASSERT_EQ(ran.rows.size(), 1U);
    EXPECT_GT(ran.rows[0].differing_bits, 0);
    EXPECT_EQ(ran.rows[0].rank_agreement, which == 3 ? 1 : 0);
  }
}

// A ring of four has six exchanges; the gradients of this model are no loss's.
TEST(SchemeRunTest, ARowHasTheTimeOfAClockAndNoLoss) {
  EXPECT_FALSE(RanOn(kRingOfFour).rows.at(0).simulated_us.has_value());
  const RanCase ran = RanOn(kRingOfFour, WrapIn<Clocked>());
  ASSERT_EQ(ran.rows.size(), 1U);
  EXPECT_EQ(ran.rows[0].simulated_us, 1e6 * kTrainedSteps * 6);
  EXPECT_FALSE(ran.rows[0].loss_first.has_value());
  EXPECT_FALSE(ran.rows[0].loss_last.has_value());
}

TEST(MixingRunTest, EveryCasePassesOnThreads) {
  for (const MixingCase& each : AllMixingCases()) PassedOn(each);
}

// Kills: a scheme whose ranks agree that nothing is trained; an agreement that
// is not looked at where the large batch is not promised.
TEST(SchemeRunTest, RanksThatShouldAgreeAreCompared) {
  const SchemeCase test_case = {"train_signs", "ring", "momentum", 4};
  ASSERT_EQ(PromiseOf(test_case), Promise::kAgreement);
  PassedOn(test_case);
  const RanCase ran = RanOn(test_case, WrapIn<Flipping>(/*which=*/6));
  EXPECT_EQ(ran.judged.reason, record::ReasonCode(kFailBits));
  EXPECT_EQ(ran.rows[0].rank_agreement, 0);
}

// Kills: a scheme by the library's own collectives that takes ours.
TEST(SchemeRunTest, AnOwnCollectiveThatDoesNothingIsAFail) {
  for (const char* const scheme :
       {"train_all_reduce", "train_server", "train_average"}) {
    const SchemeCase test_case = {scheme, "own", "gradient_descent", 4};
    const RanCase ran = RanOn(test_case, WrapIn<Idle>());
    EXPECT_EQ(ran.judged.reason, record::ReasonCode(kFailBits)) << scheme;
    ASSERT_EQ(ran.rows.size(), 1U);
    EXPECT_FALSE(ran.rows[0].bytes_sent.has_value());
  }
}

/// Delivers to rank 1 zeros in place of one message, the third or another.
class Dropping : public Wrapped {
 public:
  explicit Dropping(Endpoint& inner, int which = 3)
      : Wrapped(inner), which_(which) {}
  Status Exchange(int to, std::span<const std::byte> out, int from,
                  std::span<std::byte> in) override {
    const Status status = inner_.Exchange(to, out, from, in);
    if (rank() == 1 && from != kNobody && ++received_ == which_) {
      std::ranges::fill(in, std::byte{0});
    }
    return status;
  }

 private:
  const int which_;
  int received_ = 0;
};

// Kills: a mean that is not looked at, a bound of staleness alone.
TEST(MixingRunTest, ALostMessageIsAFail) {
  const MixingCase all[] = {{Gossip{ranks::Graph::kRing}, 8},
                            {PushSum{ranks::Directed::kOnePeer}, 8},
                            {PushSum{ranks::Directed::kUneven}, 5}};
  for (const MixingCase& each : all) {
    const RanCase ran = RanOn(each, WrapIn<Dropping>());
    EXPECT_EQ(ran.judged.outcome, record::Outcome::kFail) << each.test_id();
    ExpectFails(ran, kFailMixing, "");
  }
}

TEST(MixingRunTest, AWaveOfAnotherFactorIsAFail) {
  const RanCase ran = RanOn(MixingCase{Gossip{ranks::Graph::kRing}, 8},
                            WrapIn<Dropping>(/*which=*/1));
  ExpectFails(ran, kFailMixing, "wave 0 by 1: found ");
  EXPECT_THAT(ran.judged.message, HasSubstr("; rank 1 received message 1 "));
  ASSERT_EQ(ran.rows.size(), 1U);
  EXPECT_GT(ran.rows[0].contraction_err.value_or(0), 1e-3);
}

/// Rank 1 sends rank 0 a zero in place of a number, after so many messages.
class Silent : public Wrapped {
 public:
  explicit Silent(Endpoint& inner, int behind = 0)
      : Wrapped(inner), behind_(behind) {}
  Status Exchange(int to, std::span<const std::byte> out, int from,
                  std::span<std::byte> in) override {
    if (rank() != 1 || to != 0 || out.empty() || sent_++ < behind_) {
      return inner_.Exchange(to, out, from, in);
    }
    std::vector<std::byte> zeroed(out.begin(), out.end());
    std::fill(zeroed.end() - 8, zeroed.end(), std::byte{0});
    return inner_.Exchange(to, zeroed, from, in);
  }

 private:
  const int behind_;
  int sent_ = 0;
};

TEST(MixingRunTest, AServerThatMissesGradientsIsAFail) {
  const RanCase ran =
      RanOn(MixingCase{AsyncServer{/*slack=*/1}, 4}, WrapIn<Silent>());
  EXPECT_EQ(ran.judged.outcome, record::Outcome::kFail);
  EXPECT_THAT(ran.judged.message, HasSubstr("each gradient once"));
}

/// Rank 1 says of each gradient that its parameters are those of the start.
class Backdating : public Wrapped {
 public:
  using Wrapped::Wrapped;
  Status Exchange(int to, std::span<const std::byte> out, int from,
                  std::span<std::byte> in) override {
    if (rank() != 1 || out.empty()) {
      return inner_.Exchange(to, out, from, in);
    }
    std::vector<std::byte> old(out.begin(), out.end());
    std::ranges::fill(
        std::span(old).first(sizeof(ranks::ModelMessage::Header::version)),
        std::byte{0});
    return inner_.Exchange(to, old, from, in);
  }
};

// Kills: a bound of staleness that nobody looks at.
TEST(MixingRunTest, AGradientThatIsTooOldIsAFail) {
  const RanCase ran =
      RanOn(MixingCase{AsyncServer{/*slack=*/0}, 4}, WrapIn<Backdating>());
  ExpectFails(ran, kFailMixing, "updates old, wanted at most 2");
  ASSERT_EQ(ran.rows.size(), 1U);
  EXPECT_GT(ran.rows[0].staleness_max.value_or(0), 2);
}

TEST(CourseTest, ARunThatEndsAsItBeganIsAFail) {
  const Course course = {{1, 3}, {1, 2}};
  EXPECT_FALSE(StandsStill(course, {1, 3}).has_value());
  const auto still = StandsStill(course, {1, 2});
  ASSERT_TRUE(still.has_value());
  EXPECT_EQ(still->reason, record::ReasonCode(kFailBits));
  EXPECT_EQ(still->message, "no parameter is another than at the start");
}

// Kills: pairs whose mean is not looked at, in the few steps or in the many.
TEST(MixingRunTest, PairsThatLoseNumbersAreAFail) {
  const MixingCase test_case = {AdPsgd{}, 2};
  const RanCase few = RanOn(test_case, WrapIn<Silent>());
  ExpectFails(few, kFailMixing, "the sum of all ranks is ");
  const RanCase many = RanOn(test_case, WrapIn<Silent>(/*behind=*/20));
  ExpectFails(many, kFailMixing, "from the mean 0.5");
}

// Kills: a formula that stands for bytes that depend on the gradients; all
// numbers of which only agreement is asked.
TEST(SchemeCaseTest, SparseVectorsOfAllNumbersHaveACostAndTheLargeBatch) {
  const SchemeCase all = {"train_sparse", "recursive_doubling", "adam", 4};
  EXPECT_EQ(PromiseOf(all), Promise::kLargeBatch);
  const auto cost = CostOf(all, ranks::WholeObjective::kSizes, kTrainedSteps);
  ASSERT_TRUE(cost.ok() && cost->has_value());
  // Five steps of two stages, four ranks, of 7 and of 30 numbers after their
  // lengths.
  EXPECT_EQ((*cost)->bytes, 5 * 2 * 4 * (8 + 4 * 7 + 8 + 4 * 30));
  EXPECT_EQ((*cost)->messages, 5 * 2 * 4 * 4);
  const SchemeCase fifth = {"train_sparse_fifth", "recursive_doubling", "adam",
                            4};
  EXPECT_EQ(PromiseOf(fifth), Promise::kAgreement);
  const auto none = CostOf(fifth, ranks::WholeObjective::kSizes, kTrainedSteps);
  EXPECT_TRUE(none.ok() && !none->has_value());
}

}  // namespace
}  // namespace assay::distributed
