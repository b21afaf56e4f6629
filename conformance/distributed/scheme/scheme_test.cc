// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "conformance/distributed/planned_case.h"
#include "conformance/distributed/ranks/distributed_row.h"
#include "conformance/distributed/ranks/ranks_fixture.h"
#include "conformance/distributed/scheme/mixing_case.h"
#include "conformance/distributed/scheme/scheme_case.h"
#include "conformance/distributed/scheme/scheme_run.h"

namespace assay::distributed {
namespace {

using ::testing::HasSubstr;

struct Ran {
  measure::Judgement judged;
  std::vector<DistributedRow> rows;
};

Ran RanOn(const SchemeCase& test_case, const Wrap& wrap = nullptr) {
  WrappedRanks ranks(wrap);
  record::Record record;
  Ran ran;
  ran.judged = RunSchemeCase(test_case, {ranks, "threads", 3}, &record);
  ran.rows = record.Rows<DistributedRow>().value();
  return ran;
}

Ran RanOn(const MixingCase& test_case, const Wrap& wrap = nullptr) {
  WrappedRanks ranks(wrap);
  record::Record record;
  Ran ran;
  ran.judged = RunMixingCase(test_case, {ranks, "threads", 3}, &record);
  ran.rows = record.Rows<DistributedRow>().value();
  return ran;
}

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
  for (const SchemeCase& each : AllSchemeCases()) {
    const Ran ran = RanOn(each);
    EXPECT_EQ(ran.judged.outcome, record::Outcome::kPass)
        << each.test_id() << ": " << ran.judged.message;
  }
}

TEST(SchemeRunTest, OneBitOfOneMessageIsAFailOfItsStep) {
  const SchemeCase test_case = {"train_all_reduce", "ring", "momentum", 4};
  // Of six messages of a step three are added up, whose sum goes to all.
  for (const int which : {3, 6}) {
    const Ran ran = RanOn(test_case, [&](Endpoint& mine) {
      return std::make_unique<Flipping>(mine, which);
    });
    EXPECT_EQ(ran.judged.reason, record::ReasonCode(kFailBits));
    EXPECT_THAT(ran.judged.message, HasSubstr("step 1, w"));
    ASSERT_EQ(ran.rows.size(), 1U);
    EXPECT_GT(ran.rows[0].differing_bits, 0);
    EXPECT_EQ(ran.rows[0].rank_agreement, which == 3 ? 1 : 0);
  }
}

TEST(MixingRunTest, EveryCasePassesOnThreads) {
  for (const MixingCase& each : AllMixingCases()) {
    const Ran ran = RanOn(each);
    EXPECT_EQ(ran.judged.outcome, record::Outcome::kPass)
        << each.test_id() << ": " << ran.judged.message;
  }
}

// Kills: a scheme whose ranks agree that nothing is trained; an agreement that is not
// looked at where the large batch is not promised.
TEST(SchemeRunTest, RanksThatShouldAgreeAreCompared) {
  const SchemeCase test_case = {"train_signs", "ring", "momentum", 4};
  ASSERT_EQ(PromiseOf(test_case), Promise::kAgreement);
  EXPECT_EQ(RanOn(test_case).judged.outcome, record::Outcome::kPass);
  const Ran ran = RanOn(test_case, [](Endpoint& mine) {
    return std::make_unique<Flipping>(mine, /*which=*/6);
  });
  EXPECT_EQ(ran.judged.reason, record::ReasonCode(kFailBits));
  EXPECT_EQ(ran.rows[0].rank_agreement, 0);
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
  const MixingCase all[] = {{"gossip", "ring", 8},
                            {"push_sum", "one_peer", 8},
                            {"push_sum", "uneven", 5}};
  for (const MixingCase& each : all) {
    const Ran ran = RanOn(
        each, [](Endpoint& mine) { return std::make_unique<Dropping>(mine); });
    EXPECT_EQ(ran.judged.outcome, record::Outcome::kFail) << each.test_id();
    EXPECT_EQ(ran.judged.reason, record::ReasonCode(kFailMixing))
        << each.test_id() << ": " << ran.judged.message;
  }
}

TEST(MixingRunTest, AWaveOfAnotherFactorIsAFail) {
  const Ran ran = RanOn(MixingCase{"gossip", "ring", 8}, [](Endpoint& mine) {
    return std::make_unique<Dropping>(mine, /*which=*/1);
  });
  EXPECT_EQ(ran.judged.reason, record::ReasonCode(kFailMixing));
  EXPECT_THAT(ran.judged.message, HasSubstr("wave 0 by 1: found "));
  ASSERT_EQ(ran.rows.size(), 1U);
  EXPECT_GT(ran.rows[0].contraction_err.value_or(0), 1e-3);
}

/// Rank 1 sends each gradient as zeros behind its first 8 bytes.
class Silent : public Wrapped {
 public:
  using Wrapped::Wrapped;
  Status Exchange(int to, std::span<const std::byte> out, int from,
                  std::span<std::byte> in) override {
    if (rank() != 1 || to != 0) return inner_.Exchange(to, out, from, in);
    std::vector<std::byte> sent(out.begin(), out.end());
    std::fill(sent.end() - 8, sent.end(), std::byte{0});
    return inner_.Exchange(to, sent, from, in);
  }
};

TEST(MixingRunTest, AServerThatMissesGradientsIsAFail) {
  const Ran ran =
      RanOn(MixingCase{"async_server", "slack1", 4},
            [](Endpoint& mine) { return std::make_unique<Silent>(mine); });
  EXPECT_EQ(ran.judged.outcome, record::Outcome::kFail);
  EXPECT_THAT(ran.judged.message, HasSubstr("each gradient once"));
}

}  // namespace
}  // namespace assay::distributed
