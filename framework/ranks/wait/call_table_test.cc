// SPDX-License-Identifier: Apache-2.0

#include "framework/ranks/wait/call_table.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "framework/core/status.h"
#include "framework/file/scratch_folder.h"

namespace assay::ranks {
namespace {

RankState Numbered(int64_t number) {
  RankState state;
  state.run = state.number = state.since_us = number;
  state.groups.back().collectives = number;
  state.ranks = 2;
  state.where = Whereabouts::kInCall;
  return state;
}

TEST(CallTableTest, ARankWritesWhatAllRead) {
  CallTable table = CallTable::InMemory(3);
  table.Write(1, Numbered(7));
  EXPECT_EQ(table.Read(1).number, 7);
  EXPECT_EQ(table.ReadAll().size(), 3U);
  EXPECT_EQ(table.Read(2).where, Whereabouts::kUnknown);
}

TEST(CallTableTest, AReaderSeesWholeStates) {
  constexpr int64_t kWrites = 20'000;
  CallTable table = CallTable::InMemory(1);
  const std::jthread writer([&] {
    for (int64_t i = 1; i <= kWrites; ++i) table.Write(0, Numbered(i));
  });
  for (int64_t last = 0; last < kWrites;) {
    const RankState state = table.Read(0);
    if (state.where == Whereabouts::kUnknown) continue;
    EXPECT_EQ(state.run, state.groups.back().collectives);
    EXPECT_EQ(state.number, state.since_us);
    EXPECT_GE(state.number, last);
    last = state.number;
  }
}

// Kills: processes that have tables of their own; one that cuts what another
// has.
TEST(CallTableTest, AFileIsOneTable) {
  const file::ScratchFolder folder;
  const std::filesystem::path file = folder.path() / kCallsFile;
  CallTable first = CallTable::InFile(file, 4).value();
  CallTable second = CallTable::InFile(file, 2).value();
  first.Write(3, Numbered(5));
  second.Write(1, Numbered(6));
  EXPECT_EQ(first.Read(1).number, 6);
  const std::vector<RankState> read = ReadCalls(file);
  ASSERT_EQ(read.size(), 4U);
  EXPECT_EQ(read[1].number, 6);
  EXPECT_EQ(read[3].number, 5);
  EXPECT_EQ(
      CallTable::InFile(folder.path() / "no" / "folder", 2).status().code(),
      StatusCode::kInternal);
}

// Kills: names found by a number that a broken library has written; a reader
// that waits for ever, or follows a link.
TEST(CallTableTest, WhatIsNoTableIsRead) {
  const file::ScratchFolder folder;
  for (const RankState& state :
       ReadCalls(folder.Write("garbage", std::string(10'000, '\xff')))) {
    EXPECT_EQ(state.where, Whereabouts::kUnknown);
    EXPECT_EQ(state.ranks, 0);
  }
  EXPECT_TRUE(ReadCalls(folder.path()).empty());
  EXPECT_TRUE(ReadCalls(folder.path() / "none").empty());
  CallTable::InFile(folder.path() / "table", 2).value();
  std::filesystem::create_symlink(folder.path() / "table",
                                  folder.path() / "link");
  EXPECT_TRUE(ReadCalls(folder.path() / "link").empty());
  RankState wrong = Numbered(1);
  wrong.call.operation = static_cast<Operation>(200);
  EXPECT_FALSE(CanBe(wrong));
  wrong = Numbered(1);
  wrong.call.type = static_cast<DType>(200);
  EXPECT_FALSE(CanBe(wrong));
  EXPECT_TRUE(CanBe(Numbered(1)));
}

TEST(CallTableTest, TheLastRunHasItsRanks) {
  std::vector<RankState> all(3);
  EXPECT_TRUE(StatesOfLastRun(all).empty());
  all[2] = Numbered(4);  // of two ranks, which are the first ones
  all[0] = Numbered(3);
  const std::vector<RankState> last = StatesOfLastRun(all);
  ASSERT_EQ(last.size(), 2U);
  EXPECT_EQ(last[0].number, 3);
}

}  // namespace
}  // namespace assay::ranks
