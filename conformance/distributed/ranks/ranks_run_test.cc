// SPDX-License-Identifier: Apache-2.0

#include "conformance/distributed/ranks/ranks_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstddef>

#include "conformance/distributed/ranks/distributed_row.h"
#include "conformance/distributed/ranks/ranks_fixture.h"
#include "framework/core/text.h"
#include "framework/file/scratch_folder.h"
#include "framework/ranks/interception.h"
#include "framework/ranks/threads/threads.h"
#include "framework/ranks/wait/call_table.h"
#include "framework/ranks/wait/wait_report.h"

namespace assay::distributed {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;

/// Gives up where it waits for three bytes.
class Impatient : public ranks::ForwardingEndpoint {
 public:
  using ForwardingEndpoint::ForwardingEndpoint;
  Status Exchange(int to, std::span<const std::byte> out, int from,
                  std::span<std::byte> in) override {
    if (in.size() == 3) return FailedPrecondition("gave up");
    return inner_.Exchange(to, out, from, in);
  }
};

/// The ranks of one process of several, which has one of them. The first
/// message to rank 1 changes on its way.
class OneOfMany : public Ranks {
 public:
  explicit OneOfMany(Endpoint& mine) : mine_(mine) {}
  bool spans_processes() const override { return true; }
  Result<std::vector<RankEnd>> Run(
      int, const std::function<Status(Endpoint&)>& rank) override {
    Flipping flipping(mine_, /*which=*/1);
    Impatient mine(flipping);
    return std::vector<RankEnd>{{mine_.rank(), rank(mine)}};
  }

 private:
  Endpoint& mine_;
};

/// The result of each of three processes when all have run `rank`.
std::vector<Result<RanRanks>> RanBy(const RankBody& rank) {
  constexpr int kProcesses = 3;
  std::vector<Result<RanRanks>> ran(kProcesses, Internal("did not end"));
  ranks::RunThreads(kProcesses, [&](Endpoint& mine) {
    OneOfMany ranks(mine);
    ran[static_cast<size_t>(mine.rank())] = RunRanks(ranks, kProcesses, rank);
    return OkStatus();
  });
  return ran;
}

std::string FaultOf(const Result<RanRanks>& ran) {
  if (!ran.ok()) return ran.status().message();
  return ran->fault.has_value() ? ran->fault->message : "";
}

TEST(RunRanksTest, TheFirstProcessHasWhatAllFoundAndJudges) {
  const auto ran = RanBy([](Endpoint& mine) -> Result<std::string> {
    return StrCat("found ", mine.rank());
  });
  ASSERT_TRUE(ran[0].ok());
  EXPECT_EQ(FaultOf(ran[0]), "");
  EXPECT_TRUE(ran[0]->judges);
  EXPECT_THAT(ran[0]->found, ElementsAre("found 0", "found 1", "found 2"));
  EXPECT_FALSE(ran[1]->judges);
  EXPECT_FALSE(ran[2]->judges);
}

TEST(RunRanksTest, ARankThatFailsInAnotherProcessIsNamed) {
  const auto ran = RanBy([](Endpoint& mine) -> Result<std::string> {
    if (mine.rank() == 2) return Internal("broken");
    return std::string();
  });
  EXPECT_EQ(FaultOf(ran[0]), "rank 2: broken");
}

Result<std::string> SendFive(Endpoint& mine) {
  std::array<std::byte, 5> bytes = {};
  if (mine.rank() == 0) {
    ASSAY_RETURN_IF_ERROR(mine.Exchange(1, bytes, kNobody, {}));
  }
  if (mine.rank() == 1) {
    ASSAY_RETURN_IF_ERROR(mine.Exchange(kNobody, {}, 0, bytes));
  }
  return std::string();
}

// Kills: checksums that stay in their process, or that nobody compares.
TEST(RunRanksTest, AMessageThatComesOtherThanItWasSentIsNamed) {
  const auto names_it = HasSubstr(
      "rank 1 received message 1 from rank 0 other than it was sent: found 5 "
      "bytes with the checksum ");
  EXPECT_THAT(RanBy(SendFive)[0].value().corrupt, names_it);
  WrappedRanks flipping(WrapIn<Flipping>(/*which=*/1));
  EXPECT_THAT(RunRanks(flipping, 2, SendFive).value().corrupt, names_it);
  WrappedRanks ranks;
  EXPECT_EQ(RunRanks(ranks, 2, SendFive).value().corrupt, "");
}

TEST(WithCorruptTest, ACaseFailsByAMessageAlone) {
  EXPECT_EQ(WithCorrupt(Passes(), "").outcome, record::Outcome::kPass);
  const measure::Judgement alone = WithCorrupt(Passes(), "message 1");
  EXPECT_EQ(alone.outcome, record::Outcome::kFail);
  EXPECT_EQ(alone.message, "message 1");
  const measure::Judgement both =
      WithCorrupt(Fails(kFailBits, "element 3"), "message 1");
  EXPECT_EQ(both.reason, record::ReasonCode(kFailBits));
  EXPECT_EQ(both.message, "element 3; message 1");
}

Result<std::string> WaitForEachOther(Endpoint& mine) {
  std::array<std::byte, 3> in = {};
  if (mine.rank() < 2) {
    ASSAY_RETURN_IF_ERROR(mine.Exchange(kNobody, {}, 1 - mine.rank(), in));
  }
  return std::string();
}

// Kills: ranks that wait for ever and whose calls are not told, in one process
// and in several.
TEST(RunRanksTest, RanksThatWaitForEachOtherAreNamedWithTheirCalls) {
  const std::string calls =
      "; rank 0 in receive 3 bytes from rank 1 (call 1); rank 1 in receive 3 "
      "bytes from rank 0 (call 1); rank 2 has ended; rank 0 waits for rank 1, "
      "which waits for rank 0";
  WrappedRanks threads;
  EXPECT_THAT(FaultOf(RunRanks(threads, 3, WaitForEachOther)),
              AllOf(HasSubstr("rank 0: ranks stand still: "), EndsWith(calls)));
  const auto ran = RanBy(WaitForEachOther);
  EXPECT_EQ(FaultOf(ran[0]), "rank 0: gave up" + calls);
}

// Kills: calls that nobody can read before the ranks have ended, or that stay
// after they have.
TEST(RunRanksTest, WhileRanksRunTheirCallsAreInAFile) {
  const file::ScratchFolder folder;
  const std::filesystem::path file = folder.path() / ranks::kCallsFile;
  WrappedRanks threads;
  const auto ran = RunRanks(
      threads, 1,
      [&](Endpoint& mine) -> Result<std::string> {
        EXPECT_EQ(ranks::ReadCalls(file).at(0).where,
                  ranks::Whereabouts::kBetweenCalls);
        std::array<std::byte, 3> in = {};
        ASSAY_RETURN_IF_ERROR(mine.ReceiveAny(in).status());
        return std::string();
      },
      folder.path());
  EXPECT_THAT(FaultOf(ran), HasSubstr("receive 3 bytes from anybody (call 1)"));
  EXPECT_EQ(ranks::ReadCalls(file).at(0).where, ranks::Whereabouts::kEnded);
  EXPECT_EQ(ranks::ReportIn(folder.path(), 0),
            "no rank is in a call; the last run has ended");
}

// Kills: a process that goes on where the others are at another root, and waits
// for them.
TEST(RunRootsTest, AllAreRunWhateverTheFirstSays) {
  const std::vector<int> roots = {0, 3, 5};
  std::vector<int> ran;
  record::Record record;
  const measure::Judgement judged =
      RunRoots(roots, &record, [&](int root) -> Result<measure::Judgement> {
        ran.push_back(root);
        if (root == 0) return Unsupported(Reason::kOperator, "has none");
        return Fails(kFailBits, "differs");
      });
  EXPECT_EQ(ran, roots);
  EXPECT_EQ(judged.outcome, record::Outcome::kUnsupported);
  EXPECT_EQ(judged.message, "has none");
}

TEST(RunRanksTest, WhatAnotherProcessDeclinesIsDeclined) {
  const auto ran = RanBy([](Endpoint& mine) -> Result<std::string> {
    if (mine.rank() == 1) return Unsupported(Reason::kOperator, "has none");
    return std::string();
  });
  EXPECT_EQ(ran[0].status().code(), StatusCode::kUnsupported);
  EXPECT_EQ(FaultOf(ran[0]), "rank 1: has none");
}

/// Two ranks that were asked for the same, and whose library says what it
/// counted.
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

// Kills: the clock's reading for what a part took; a rank that began before the
// others.
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

Losses Of(const std::vector<double>& steps) {
  Losses losses;
  for (const double loss : steps) losses.Add(loss);
  return losses;
}

// Kills: the loss of one step for that of another, of one rank for that of all.
TEST(LossesTest, ARowHasTheMeansOfTheFirstAndOfTheLastStep) {
  DistributedRow row;
  AddLosses(std::vector{Of({4, 3, 1}), Of({6, 9, 2})}, &row);
  EXPECT_EQ(row.loss_first, 5);
  EXPECT_EQ(row.loss_last, 1.5);
}

TEST(LossesTest, ARowHasNoneWhereARankTookNoStep) {
  DistributedRow row;
  AddLosses(std::vector{Of({4, 3}), Of({})}, &row);
  EXPECT_FALSE(row.loss_first.has_value());
  EXPECT_FALSE(row.loss_last.has_value());
}

TEST(BitsTest, CountsWhatDiffers) {
  constexpr std::array kOne = {std::byte{0x0F}, std::byte{1}};
  constexpr std::array kOther = {std::byte{0xF0}, std::byte{1}};
  EXPECT_EQ(DifferingBits(kOne, kOther), 8);
  EXPECT_EQ(DifferingBits(kOne, kOne), 0);
}

TEST(BitsTest, AHashIsOfAllRanksInTheirOrder) {
  constexpr std::array kOne = {std::byte{1}};
  constexpr std::array kTwo = {std::byte{2}};
  const auto of = [](auto... each) {
    HashOfRanks hash;
    (hash.Add(each), ...);
    return hash.text();
  };
  EXPECT_EQ(of(kOne, kTwo), of(kOne, kTwo));
  EXPECT_NE(of(kOne, kTwo), of(kTwo, kOne));
  EXPECT_NE(of(kOne, kTwo), of(kOne));
}

}  // namespace
}  // namespace assay::distributed
