// SPDX-License-Identifier: Apache-2.0

#include "conformance/distributed/ranks/ranks_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "framework/backend/communicator.h"
#include "framework/core/status.h"
#include "framework/core/text.h"
#include "framework/dist/threads/threads.h"

namespace assay::distributed {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// The ranks of one process of several, which has one of them.
class OneOfMany : public Ranks {
 public:
  explicit OneOfMany(Endpoint& mine) : mine_(mine) {}
  bool spans_processes() const override { return true; }
  Result<std::vector<RankEnd>> Run(
      int, const std::function<Status(Endpoint&)>& rank) override {
    return std::vector<RankEnd>{{mine_.rank(), rank(mine_)}};
  }

 private:
  Endpoint& mine_;
};

/// What each of three processes has when all have run `rank`.
std::vector<Result<RanRanks>> RanBy(const RankBody& rank) {
  constexpr int kProcesses = 3;
  std::vector<Result<RanRanks>> ran(kProcesses, Internal("did not end"));
  dist::RunThreads(kProcesses, [&](Endpoint& mine) {
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

// Kills: a process that goes on where the others are at another root, and waits for them.
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
