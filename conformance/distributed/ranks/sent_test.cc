// SPDX-License-Identifier: Apache-2.0

#include "conformance/distributed/ranks/sent.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <optional>
#include <vector>

#include "conformance/distributed/ranks/distributed_row.h"
#include "conformance/distributed/ranks/ranks_fixture.h"
#include "conformance/distributed/ranks/ranks_run.h"
#include "framework/ranks/threads/threads.h"
#include "framework/ranks/watch.h"

namespace assay::distributed {
namespace {

using ::testing::HasSubstr;

/// Two ranks that were asked for the same, and whose library says what it counted.
std::vector<RankSent> TwoRanks(const Counted& first, const Counted& second) {
  return {{{48, 2}, first, 1}, {{48, 2}, second, 1}};
}

// Kills: traffic that is written down and judged by nobody.
TEST(SentTest, TrafficIsThatOfTheFormulas) {
  DistributedRow row;
  const auto judged = [&](const Traffic& sent,
                          const std::optional<int64_t>& messages) {
    return JudgeTraffic(std::vector<RankSent>{{sent}}, 96, messages, &row);
  };
  EXPECT_FALSE(judged({96, 4}, 4).has_value());
  EXPECT_FALSE(judged({96, 7}, std::nullopt).has_value());
  for (const Traffic& sent : {Traffic{95, 4}, Traffic{96, 5}}) {
    const auto fault = judged(sent, 4);
    ASSERT_TRUE(fault.has_value());
    EXPECT_EQ(fault->reason, record::ReasonCode(kFailCost));
    EXPECT_THAT(fault->message, HasSubstr("wanted 96 in 4"));
    EXPECT_EQ(row.bytes_sent, sent.bytes);
    EXPECT_EQ(row.messages_formula, 4);
  }
}

// Kills: a library's own count that is not looked at, or of one rank alone.
TEST(SentTest, TheLibraryCountsWhatItWasAskedFor) {
  const Counted right{.sent = {48, 2}};
  DistributedRow row;
  EXPECT_FALSE(JudgeTraffic(TwoRanks(right, right), 96, 4, &row).has_value());
  const struct {
    Counted counted;
    const char* found;
  } rows[] = {
      {{.sent = {40, 2}}, "rank 1: found 40 bytes in 2 messages and 0 coll"},
      {{.sent = {48, 1}}, "rank 1: found 48 bytes in 1 messages and 0 coll"},
      {{.sent = {48, 2}, .collectives = 1, .collective_bytes = 8},
       "2 messages and 1 collectives of 8 bytes by the library's own count"},
  };
  for (const auto& [counted, found] : rows) {
    const auto fault = JudgeTraffic(TwoRanks(right, counted), 96, 4, &row);
    ASSERT_TRUE(fault.has_value()) << found;
    EXPECT_EQ(fault->reason, record::ReasonCode(kFailCost));
    EXPECT_THAT(fault->message, HasSubstr(found));
    EXPECT_THAT(fault->message, HasSubstr("wanted 48 in 2"));
    EXPECT_EQ(row.bytes_sent, 96);
  }
  // A decorator that drops a message, where no formula tells them.
  const std::vector<RankSent> dropped = {{{48, 1}, right, 1}};
  const auto fault = JudgeTraffic(dropped, 48, std::nullopt, &row);
  ASSERT_TRUE(fault.has_value());
  EXPECT_THAT(fault->message, HasSubstr("in 2 messages and 0 collectives"));
  EXPECT_THAT(fault->message, HasSubstr("wanted 48 in 1"));
  std::vector<RankSent> uncounted = TwoRanks(right, {});
  uncounted[1].is_counted = false;
  EXPECT_FALSE(JudgeTraffic(uncounted, 96, 4, &row).has_value());
}

TEST(SentTest, ARowHasTheLibrarysCountWhereNothingIsHidden) {
  DistributedRow row;
  AddCounted(TwoRanks({.sent = {40, 2}}, {.sent = {8, 1}, .collectives = 1}),
             &row);
  EXPECT_FALSE(row.bytes_sent.has_value());
  AddCounted(TwoRanks({.sent = {40, 2}}, {.sent = {8, 1}}), &row);
  EXPECT_EQ(row.bytes_sent, 48);
  EXPECT_EQ(row.messages, 3);
}

/// Has no count, or one that cannot be read.
class Uncounted : public Wrapped {
 public:
  Uncounted(Endpoint& inner, bool is_broken)
      : Wrapped(inner), is_broken_(is_broken) {}
  Result<Counted> counted() const override {
    return is_broken_ ? Internal("broken")
                      : Unsupported(Reason::kOperator, "has none");
  }

 private:
  const bool is_broken_;
};

TEST(SentTest, IsWhatCameBetweenTwoCounts) {
  const auto ended = ranks::RunThreads(2, [](Endpoint& mine) -> Status {
    const std::array<std::byte, 5> out = {};
    std::array<std::byte, 5> in = {};
    const int other = 1 - mine.rank();
    ASSAY_RETURN_IF_ERROR(mine.Exchange(other, out, other, in));
    ASSAY_ASSIGN_OR_RETURN(const LibraryCount before, CountOf(mine));
    ASSAY_RETURN_IF_ERROR(mine.Exchange(other, out, other, in));
    ASSAY_ASSIGN_OR_RETURN(const RankSent sent,
                           SentSince(before, mine, {5, 1}));
    EXPECT_TRUE(sent.is_counted);
    EXPECT_EQ(sent.counted, (Counted{.sent = {5, 1}}));
    const Uncounted bare(mine, /*is_broken=*/false);
    ASSAY_ASSIGN_OR_RETURN(const RankSent none,
                           SentSince(CountOf(bare).value(), bare, {5, 1}));
    EXPECT_FALSE(none.is_counted);
    EXPECT_EQ(none.asked, (Traffic{5, 1}));
    return CountOf(Uncounted(mine, /*is_broken=*/true)).status();
  });
  EXPECT_EQ(ended[0].message(), "broken");
}

// Kills: the clock's reading for what a part took; a rank that began before the others.
TEST(SentTest, SimulatedTimeIsFromTheLastBeginToTheLastEnd) {
  const auto part = [](double began_s, double ended_s) {
    return RankSent{.simulated = {began_s, ended_s, 1}};
  };
  DistributedRow row;
  AddSimulated(std::vector{part(100, 100.25), part(100.125, 100.5)}, &row);
  EXPECT_EQ(row.simulated_us, 375'000);
  DistributedRow none;
  AddSimulated(std::vector{part(100, 100.25), RankSent()}, &none);
  EXPECT_FALSE(none.simulated_us.has_value());
}

TEST(SentTest, ALibraryMayHaveAClock) {
  const auto ended = ranks::RunThreads(2, [](Endpoint& mine) -> Status {
    EXPECT_FALSE(CountOf(mine).value().simulated_s.has_value());
    Clocked clocked(mine);
    ranks::WatchedEndpoint watched(clocked);
    ASSAY_ASSIGN_OR_RETURN(const LibraryCount before, CountOf(watched));
    const std::array<std::byte, 5> out = {};
    std::array<std::byte, 5> in = {};
    const int other = 1 - mine.rank();
    ASSAY_RETURN_IF_ERROR(watched.Exchange(other, out, other, in));
    ASSAY_ASSIGN_OR_RETURN(const RankSent sent,
                           SentSince(before, watched, watched.sent()));
    EXPECT_TRUE(sent.simulated.is_simulated);
    EXPECT_EQ(sent.simulated.began_s, 100);
    EXPECT_EQ(sent.simulated.ended_s, 101);
    return OkStatus();
  });
  for (const Status& status : ended) EXPECT_TRUE(status.ok());
}

}  // namespace
}  // namespace assay::distributed
