// SPDX-License-Identifier: Apache-2.0

#include "perf/roofs/levels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::roofs {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

constexpr int64_t kKibi = int64_t{1} << 10;
constexpr int64_t kMebi = int64_t{1} << 20;

/// Two threads a core, four cores.
const std::vector<machine::Cache> kCaches = {
    {1, 32 * kKibi, 2}, {2, 1 * kMebi, 2}, {3, 16 * kMebi, 8}};

std::string NameFor(const std::vector<Level>& levels, int64_t bytes) {
  const Level* const level = LevelFor(levels, bytes);
  return level == nullptr ? "none" : level->name;
}

// Kills: a level that is one too near or too far, memory's roof for what is
// partly in the last cache.
TEST(LevelForTest, AWorkingSetLiesInTheCacheThatHoldsIt) {
  const auto levels = LevelsOf(kCaches, 1);
  struct Row {
    int64_t bytes;
    const char* level;
  };
  const Row rows[] = {
      {0, "L1"},
      {32 * kKibi, "L1"},
      {32 * kKibi + 1, "L2"},
      {kMebi, "L2"},
      {kMebi + 1, "L3"},
      {16 * kMebi, "L3"},
      {16 * kMebi + 1, "none"},
      {64 * kMebi, "none"},
      {64 * kMebi + 1, "memory"},
      {int64_t{1} << 40, "memory"},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(NameFor(levels, row.bytes), row.level) << row.bytes;
  }
  EXPECT_THAT(LevelsOf({}, 1), IsEmpty());
  EXPECT_EQ(NameFor({}, 1), "none");
}

// Kills: caches of one core for those of all threads, a shared one counted
// twice.
TEST(LevelsOfTest, ThreadsHaveTheCachesOfTheirCores) {
  struct Row {
    int64_t threads;
    int64_t most_l2, most_l3;
  };
  for (const auto& [threads, most_l2, most_l3] :
       {Row{1, kMebi, 16 * kMebi}, Row{2, kMebi, 16 * kMebi},
        Row{4, 2 * kMebi, 16 * kMebi}, Row{8, 4 * kMebi, 16 * kMebi}}) {
    const auto levels = LevelsOf(kCaches, threads);
    EXPECT_EQ(levels.at(1).most, most_l2) << threads;
    EXPECT_EQ(levels.at(2).most, most_l3) << threads;
  }
}

// Kills: a roof of a cache that is measured behind it.
TEST(LevelsOfTest, RoofsAreMeasuredWithHalfOfAShare) {
  const auto one = LevelsOf(kCaches, 1);
  EXPECT_EQ(one.at(0).probed, 16 * kKibi);
  EXPECT_EQ(one.at(1).probed, 256 * kKibi);  // 8 times the cache before
  EXPECT_EQ(one.at(2).probed, 8 * kMebi);
  EXPECT_EQ(one.at(3).probed, 64 * kMebi);
  const auto eight = LevelsOf(kCaches, 8);
  EXPECT_EQ(eight.at(0).probed, 8 * kKibi);
  EXPECT_EQ(eight.at(1).probed, 128 * kKibi);
  EXPECT_EQ(eight.at(2).probed, kMebi);
  EXPECT_EQ(eight.at(3).probed, 8 * kMebi);
}

// Kills: a roof of memory that is one of a great last cache.
TEST(LevelsOfTest, MemoryIsNotMeasuredBehindAGreatCache) {
  const std::vector<machine::Cache> great = {{1, 48 * kKibi, 1},
                                             {3, 480 * kMebi, 2}};
  const auto levels = LevelsOf(great, 1);
  EXPECT_EQ(levels.back().name, "memory");
  EXPECT_EQ(levels.back().probed, 0);
  EXPECT_THAT(levels.back().none,
              HasSubstr("four times the last cache of 480 MiB is more"));
  EXPECT_EQ(LevelsOf(great, 1, 1920 * kMebi).back().probed, 1920 * kMebi);
}

}  // namespace
}  // namespace assay::roofs
