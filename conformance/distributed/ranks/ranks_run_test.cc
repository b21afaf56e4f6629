// SPDX-License-Identifier: Apache-2.0

#include "conformance/distributed/ranks/ranks_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "conformance/distributed/ranks/ranks_fixture.h"
#include "framework/backend/communicator.h"
#include "framework/core/status.h"
#include "framework/core/text.h"
#include "framework/file/scratch_folder.h"
#include "framework/ranks/forwarding.h"
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

/// Rank 0 sends five bytes to rank 1.
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
  WrappedRanks flipping([](Endpoint& mine) {
    return std::make_unique<Flipping>(mine, /*which=*/1);
  });
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

/// Two ranks wait for each other.
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
  EXPECT_EQ(ranks::ReportIn(folder.path(), 0), "");
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

}  // namespace
}  // namespace assay::distributed
