// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "conformance/distributed/case.h"
#include "conformance/distributed/network/network_case.h"
#include "conformance/distributed/ranks/distributed_row.h"
#include "conformance/distributed/ranks/ranks_fixture.h"
#include "framework/testing/support/backends_fixture.h"

namespace assay::distributed {
namespace {

using ::testing::HasSubstr;

/// On the reference's networks.
RanCase RanOnReference(const NetworkCase& test_case,
                       const Wrap& wrap = nullptr) {
  return RanOn(test_case, wrap, &Reference());
}

NetworkCase NetworkCaseOf(std::string scheme, std::string way, int ranks) {
  return {"lenet5",
          {std::move(scheme), std::move(way), "momentum", ranks, "rate=0.05"}};
}

// Kills: a share's loss that is not weighed; the loss of one rank, or of
// another step.
TEST(NetworkRunTest, EveryCasePassesOnThreads) {
  constexpr double kNearLoss = 1e-4;
  DistributedRow alone;  // of the scheme, whose first case has one rank
  for (const NetworkCase& each : AllNetworkCases()) {
    if (each.tier() > cases::Tier::kCi) continue;
    const RanCase ran = PassedOn(each, nullptr, &Reference());
    ASSERT_EQ(ran.rows.size(), 1U);
    const DistributedRow& row = ran.rows[0];
    EXPECT_EQ(row.rank_agreement, 1);
    EXPECT_EQ(row.hash.empty(), each.by.way == "own");
    EXPECT_EQ(row.bytes_sent, row.bytes_formula);
    EXPECT_FALSE(row.simulated_us.has_value());
    if (each.by.ranks == 1) alone = row;
    ASSERT_TRUE(row.loss_first.has_value() && row.loss_last.has_value());
    EXPECT_NE(row.loss_first, row.loss_last);
    EXPECT_NEAR(*row.loss_first, alone.loss_first.value_or(0), kNearLoss);
    if (PromiseOf(each) == Promise::kAgreement) continue;
    EXPECT_NEAR(*row.loss_last, alone.loss_last.value_or(0), kNearLoss);
  }
}

// Kills: a comparison with a run that has other parameters, or none.
TEST(NetworkRunTest, AGradientThatChangesUnderWayIsFound) {
  // Three of the ring's six messages of a step are added up, and the sum goes
  // to all.
  const NetworkCase test_case = NetworkCaseOf("train_all_reduce", "ring", 4);
  const RanCase added = RanOnReference(test_case, WrapIn<Flipping>(2));
  ExpectFails(added, kFailNear, "step 1, ");
  const RanCase sent = RanOnReference(test_case, WrapIn<Flipping>(6));
  ExpectFails(sent, kFailBits, "rank 1, step 1, ");
  EXPECT_THAT(sent.judged.message,
              HasSubstr("; rank 1 received message 6 from rank 0 "));
  EXPECT_EQ(sent.rows.at(0).rank_agreement, 0);
}

// Kills: ranks that stop apart; the bytes of other steps than those that were
// taken.
TEST(NetworkRunTest, RanksTrainToAnAccuracy) {
  NetworkCase test_case = NetworkCaseOf("train_all_reduce", "ring", 2);
  test_case.goal = 0.5;
  const RanCase ran = PassedOn(test_case, WrapIn<Clocked>(), &Reference());
  ASSERT_EQ(ran.rows.size(), 1U);
  const DistributedRow& row = ran.rows[0];
  EXPECT_EQ(row.steps, 62);  // an epoch
  EXPECT_EQ(row.bytes_sent, row.bytes_formula);
  EXPECT_EQ(row.simulated_us, 1e6 * 62 * 2);  // a ring of two
  ASSERT_TRUE(row.loss_first.has_value() && row.loss_last.has_value());
  EXPECT_LT(*row.loss_last, *row.loss_first);
  test_case.goal = 2;
  const RanCase never = RanOnReference(test_case);
  ExpectFails(never, kFailNear, "behind 6 epochs, wanted 2");
}

TEST(NetworkRunTest, ABackendThatLoadsNoNetworkDeclines) {
  StubBackend empty{Unsupported(Reason::kOperator, "found Conv")};
  const RanCase ran =
      RanOn(NetworkCaseOf("train_all_reduce", "ring", 2), nullptr, &empty);
  EXPECT_EQ(ran.judged.outcome, record::Outcome::kUnsupported);
  EXPECT_THAT(ran.judged.message, HasSubstr("found Conv"));
}

TEST(PlannedCaseTest, RanksWithoutABackendTrainNoNetwork) {
  WrappedRanks ranks;
  record::PlanRow row;
  row.test_id = NetworkCaseOf("train_all_reduce", "ring", 2).test_id();
  record::Record record;
  const measure::Judgement judged =
      RunPlanned(row, ranks, /*networks=*/nullptr, {}, &record);
  EXPECT_EQ(judged.outcome, record::Outcome::kUnsupported);
  EXPECT_THAT(judged.message, HasSubstr("no backend"));
}

}  // namespace
}  // namespace assay::distributed
