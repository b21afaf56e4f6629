// SPDX-License-Identifier: Apache-2.0
#include "framework/kernels/slice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <climits>

namespace assay::kernels {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;

/// The source of every place of an output axis; -1 where nothing is copied.
std::vector<int64_t> Sources(const std::vector<AxisRun>& runs, int64_t extent) {
  std::vector<int64_t> sources(static_cast<size_t>(extent), -1);
  for (const AxisRun& run : runs) {
    for (int64_t i = 0; i < run.count; ++i) {
      sources.at(static_cast<size_t>(run.to + i)) = run.from + i * run.step;
    }
  }
  return sources;
}

/// As Python slices range(5).
TEST(Slice, RunsAreThoseOfPython) {
  struct Row {
    int64_t start, end, step;
    std::vector<int64_t> want;
  };
  const Row rows[] = {
      {0, 5, 1, {0, 1, 2, 3, 4}}, {1, 4, 2, {1, 3}},
      {-3, -1, 1, {2, 3}},        {3, 1, 1, {}},
      {0, INT_MAX, 3, {0, 3}},    {4, INT64_MIN, -1, {4, 3, 2, 1, 0}},
      {9, 0, -2, {4, 2}},         {-1, -9, -4, {4, 0}},
      {0, 5, INT64_MAX, {0}},     {4, INT64_MIN, INT64_MIN, {4}},
      {INT64_MIN, 2, 1, {0, 1}},  {1, 3, -1, {}},
  };
  for (const Row& row : rows) {
    const auto run = SliceRun(row.start, row.end, row.step, 5);
    ASSERT_TRUE(run.ok());
    EXPECT_THAT(Sources({*run}, run->count), ElementsAreArray(row.want))
        << row.start << ":" << row.end << ":" << row.step;
  }
  EXPECT_EQ(SliceRun(0, 1, 1, 0)->count, 0);
  EXPECT_FALSE(SliceRun(0, 1, 0, 5).ok());
}

TEST(Slice, AxesAndStepsMayBeAbsent) {
  EXPECT_THAT(
      *SliceRuns({.starts = {1}, .ends = {2}, .axes = {}, .steps = {}}, {4, 5}),
      ElementsAre(AxisRun{0, 1, 1, 1}, AxisRun{0, 0, 1, 5}));
  EXPECT_THAT(
      *SliceRuns({.starts = {3}, .ends = {-9}, .axes = {{-1}}, .steps = {{-2}}},
                 {4, 5}),
      ElementsAre(AxisRun{0, 0, 1, 4}, AxisRun{0, 3, -2, 2}));
  EXPECT_FALSE(
      SliceRuns({.starts = {1}, .ends = {2, 3}, .axes = {}, .steps = {}}, {4})
          .ok());
  EXPECT_FALSE(
      SliceRuns({.starts = {1}, .ends = {2}, .axes = {{1}}, .steps = {}}, {4})
          .ok());
}

TEST(Slice, SplitsGiveTheWholeAxis) {
  EXPECT_THAT(*SplitExtents({}, 3, 7), ElementsAre(3, 3, 1));
  EXPECT_THAT(*SplitExtents({{2, 0, 5}}, 3, 7), ElementsAre(2, 0, 5));
  for (const auto& given : std::vector<std::vector<int64_t>>{
           {2, 5}, {2, 4, 2}, {2, 4, 0}, {9, -2, 0}, {INT64_MAX, 1, 7}}) {
    EXPECT_FALSE(SplitExtents(given, 3, 7).ok()) << Shape(given).ToString();
  }
  EXPECT_FALSE(SplitExtents({}, 0, 7).ok());
  EXPECT_FALSE(SplitExtents({}, 5, 6).ok());  // the last would have -2
}

TEST(Slice, PadsAreReadPerAxis) {
  using Pair = std::pair<int64_t, int64_t>;
  const std::vector<int64_t> pads = {1, 2, 3, -4};
  EXPECT_THAT(*ReadPads(pads, {}, 2), ElementsAre(Pair(1, 3), Pair(2, -4)));
  EXPECT_THAT(*ReadPads(pads, {{2, -3}}, 3),
              ElementsAre(Pair(2, -4), Pair(0, 0), Pair(1, 3)));
  EXPECT_FALSE(ReadPads(pads, {}, 3).ok());
  EXPECT_FALSE(ReadPads(pads, {{2, 3}}, 3).ok());
  for (const int64_t pad : {INT64_MIN, INT64_MAX, int64_t{1} << 41}) {
    EXPECT_FALSE(ReadPads(std::vector<int64_t>{0, pad}, {}, 1).ok()) << pad;
    EXPECT_FALSE(ReadPads(std::vector<int64_t>{pad, 0}, {}, 1).ok()) << pad;
  }
}

/// As numpy.pad pads range(3), which ONNX's page names as its model.
TEST(Slice, PaddingRepeatsAsNumpyDoes) {
  struct Row {
    const char* mode;
    int64_t begin, end;
    std::vector<int64_t> want;
  };
  const Row rows[] = {
      {"constant", 2, 1, {-1, -1, 0, 1, 2, -1}},
      {"constant", -1, 1, {1, 2, -1}},
      {"constant", 5, -4, {-1, -1, -1, -1}},
      {"edge", 2, 1, {0, 0, 0, 1, 2, 2}},
      {"edge", -2, 2, {2, 2, 2}},
      {"reflect", 2, 2, {2, 1, 0, 1, 2, 1, 0}},
      {"reflect", 5, 0, {1, 0, 1, 2, 1, 0, 1, 2}},
      {"wrap", 4, 4, {2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0}},
      {"wrap", -3, 0, {}},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.mode);
    const auto runs = PadRuns(row.mode, row.begin, row.end, 3, 100);
    ASSERT_TRUE(runs.ok()) << runs.status().ToString();
    EXPECT_THAT(Sources(*runs, row.begin + 3 + row.end),
                ElementsAreArray(row.want));
  }
  for (const char* mode : {"edge", "reflect", "wrap"}) {
    EXPECT_THAT(*PadRuns(mode, 1, 1, 1, 100), ElementsAre(AxisRun{0, 0, 0, 3}))
        << mode;
  }
}

TEST(Slice, PaddingIsCountedInRunsAndNotInPlaces) {
  constexpr int64_t kMany = int64_t{1} << 40;
  EXPECT_EQ(PadRuns("constant", kMany, kMany, 3, 1)->size(), 1U);
  EXPECT_EQ(PadRuns("edge", kMany, kMany, 3, 3)->size(), 3U);
  for (const char* mode : {"reflect", "wrap"}) {
    EXPECT_EQ(PadRuns(mode, kMany, 0, 3, 1000).status().code(),
              StatusCode::kResourceExhausted)
        << mode;
  }
}

TEST(Slice, PaddingRefusesWhatHasNoMeaning) {
  EXPECT_FALSE(PadRuns("symmetric", 1, 1, 3, 100).ok());
  EXPECT_FALSE(PadRuns("constant", -2, -2, 3, 100).ok());
  EXPECT_FALSE(PadRuns("edge", 1, 0, 0, 100).ok());
  EXPECT_TRUE(PadRuns("edge", 0, 0, 0, 100)->empty());
  EXPECT_TRUE(PadRuns("constant", 1, 1, 0, 100)->empty());
}

}  // namespace
}  // namespace assay::kernels
