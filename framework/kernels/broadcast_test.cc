// SPDX-License-Identifier: Apache-2.0

#include "framework/kernels/broadcast.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <climits>

#include "framework/kernels/reshape.h"
#include "framework/kernels/slice.h"
#include "framework/kernels/window.h"

namespace assay::kernels {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Extents = std::vector<int64_t>;
using Entries = std::vector<int64_t>;
using ::testing::ElementsAreArray;

TEST(Axis, NegativeOnesCountFromTheEnd) {
  struct Row {
    int64_t axis;
    int rank;
    int want;  // -1: refused
  };
  for (const Row& row :
       {Row{0, 3, 0}, Row{2, 3, 2}, Row{-1, 3, 2}, Row{-3, 3, 0}, Row{3, 3, -1},
        Row{-4, 3, -1}, Row{0, 0, -1}, Row{-1, 0, -1}, Row{INT64_MIN, 3, -1}}) {
    const Result<int> axis = NormalizeAxis(row.axis, row.rank);
    EXPECT_EQ(axis.ok() ? *axis : -1, row.want) << row.axis;
  }
}

TEST(Axis, AListNamesEachAxisOnce) {
  const int64_t axes[] = {-1, 0, 2};
  EXPECT_THAT(*ListedAxes(axes, 3), ElementsAre(true, false, true));
  EXPECT_FALSE(ListedAxes(axes, 2).ok());
}

TEST(Axis, ProductsAndStridesAreThoseOfRowMajorTensors) {
  EXPECT_EQ(Product(std::vector<int64_t>{2, 3, 4}), 24);
  EXPECT_EQ(Product(std::vector<int64_t>{2, 3, 4}, 1, 3), 12);
  EXPECT_EQ(Product({}), 1);
  EXPECT_THAT(RowMajorStrides(std::vector<int64_t>{2, 3, 4}),
              ElementsAre(12, 4, 1));
  EXPECT_THAT(RowMajorStrides(std::vector<int64_t>{2, 0, 4}),
              ElementsAre(4, 4, 1));
  EXPECT_THAT(RowMajorStrides({}), IsEmpty());
}

TEST(Broadcast, ShapesMeetAndNeighboursAreJoined) {
  const struct {
    Shape a, b, shape;
    Extents folded_a, folded_b, folded;
  } rows[] = {
      {{2, 3, 4, 5}, {}, {2, 3, 4, 5}, {120}, {1}, {120}},
      {{2, 3, 4, 5}, {5}, {2, 3, 4, 5}, {24, 5}, {1, 5}, {24, 5}},
      {{4, 5}, {2, 3, 4, 5}, {2, 3, 4, 5}, {1, 20}, {6, 20}, {6, 20}},
      {{1, 4, 5}, {2, 3, 1, 1}, {2, 3, 4, 5}, {1, 20}, {6, 1}, {6, 20}},
      {{3, 4, 5}, {2, 1, 1, 1}, {2, 3, 4, 5}, {1, 60}, {2, 1}, {2, 60}},
      {{2, 1}, {2}, {2, 2}, {2, 1}, {1, 2}, {2, 2}},
      {{2, 1, 3}, {2, 1, 3}, {2, 1, 3}, {6}, {6}, {6}},
      {{0, 3}, {1, 3}, {0, 3}, {0, 3}, {1, 3}, {0, 3}},
      {{}, {}, {}, {1}, {1}, {1}},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.a.ToString() + row.b.ToString());
    const auto found = BroadcastShapes(row.a, row.b);
    ASSERT_TRUE(found.ok()) << found.status().ToString();
    EXPECT_EQ(found->shape, row.shape);
    EXPECT_EQ(found->a, row.folded_a);
    EXPECT_EQ(found->b, row.folded_b);
    EXPECT_EQ(found->out, row.folded);
  }
}

TEST(Broadcast, TheWalkMeetsEachElementOnceInOrder) {
  const struct {
    Shape a, b;
    Extents from_a,
        from_b;  // the places of the operands, by those of the result
  } rows[] = {
      {{2, 3}, {3}, {0, 1, 2, 3, 4, 5}, {0, 1, 2, 0, 1, 2}},
      {{2, 1}, {2}, {0, 0, 1, 1}, {0, 1, 0, 1}},
      {{}, {3}, {0, 0, 0}, {0, 1, 2}},
      {{2, 1, 2}, {2, 1}, {0, 1, 0, 1, 2, 3, 2, 3}, {0, 0, 1, 1, 0, 0, 1, 1}},
      {{}, {}, {0}, {0}},
      {{0, 3}, {3}, {}, {}},
      {{3, 0}, {1}, {}, {}},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.a.ToString() + row.b.ToString());
    Extents from_a;
    Extents from_b;
    ForEachElement(*BroadcastShapes(row.a, row.b),
                   [&](int64_t y, int64_t a, int64_t b) {
                     EXPECT_EQ(y, std::ssize(from_a));
                     from_a.push_back(a);
                     from_b.push_back(b);
                   });
    EXPECT_EQ(from_a, row.from_a);
    EXPECT_EQ(from_b, row.from_b);
  }
}

TEST(Broadcast, OtherShapesAreRefused) {
  EXPECT_EQ(BroadcastShapes({2, 3}, {2}).status().code(),
            StatusCode::kInvalidArgument);
  EXPECT_EQ(BroadcastShapes({int64_t{1} << 40, 1}, {int64_t{1} << 40})
                .status()
                .code(),
            StatusCode::kResourceExhausted);
}

TEST(Broadcast, OneWayKeepsTheSecondShape) {
  struct Pair {
    Shape from, to;
    bool want;
  };
  for (const Pair& pair :
       {Pair{{3, 1}, {2, 3, 4}, true}, Pair{{2, 3, 4}, {2, 3, 4}, true},
        Pair{{2, 3, 4}, {3, 4}, false}, Pair{{2, 3, 4}, {1, 3, 4}, false},
        Pair{{5}, {2, 3, 4}, false}}) {
    EXPECT_EQ(BroadcastsTo(pair.from, pair.to), pair.want)
        << pair.from.ToString() << pair.to.ToString();
  }
}

/// "[2,3]", or "refused".
std::string Text(const Result<Shape>& shape) {
  if (shape.ok()) return shape->ToString();
  EXPECT_EQ(shape.status().code(), StatusCode::kInvalidArgument);
  return "refused";
}

struct ReshapeRow {
  Shape x;
  Entries entries;
  std::string want;
};

TEST(Reshape, CopiesZerosAndFillsOneOpenExtent) {
  const ReshapeRow rows[] = {
      {{2, 3, 4}, {4, 2, 3}, "[4,2,3]"},
      {{2, 3, 4}, {2, -1, 2}, "[2,6,2]"},
      {{2, 3, 4}, {0, -1}, "[2,12]"},
      {{2, 3, 4}, {-1, 2, 0}, "[3,2,4]"},
      {{2, 3, 4}, {}, "[]"},
      {{2, 3, 4}, {-1, 7}, "refused"},
      {{2, 3, 4}, {-1, -1}, "refused"},
      {{2, 3, 4}, {-2, -1}, "refused"},
      {{2}, {1, 0}, "refused"},
      {{0, 3}, {-1, 0}, "[0,3]"},
      {{0, 3}, {0, -1}, "refused"},
      {{2}, {INT64_MAX, INT64_MAX}, "refused"},
  };
  for (const ReshapeRow& row : rows) {
    EXPECT_EQ(Text(ReshapedShape(row.x, row.entries, false)), row.want)
        << Shape(row.entries).ToString();
  }
  EXPECT_EQ(Text(ReshapedShape({0, 3}, {3, 0}, true)), "[3,0]");
  EXPECT_EQ(Text(ReshapedShape({0, 3}, {-1, 0}, true)), "refused");
}

TEST(Reshape, SqueezeDropsAxesOfOneElement) {
  for (const ReshapeRow& row : {ReshapeRow{{1, 3, 1, 5}, {0}, "[3,1,5]"},
                                ReshapeRow{{1, 3, 1, 5}, {-2, 0}, "[3,5]"},
                                ReshapeRow{{1, 3, 1, 5}, {}, "[1,3,1,5]"},
                                ReshapeRow{{1, 3, 1, 5}, {1}, "refused"},
                                ReshapeRow{{1, 3, 1, 5}, {4}, "refused"}}) {
    EXPECT_EQ(Text(SqueezedShape(row.x, row.entries)), row.want);
  }
  EXPECT_EQ(SqueezedShape({1, 3, 1, 5}).ToString(), "[3,5]");
}

TEST(Reshape, UnsqueezeCountsAxesInTheResult) {
  for (const ReshapeRow& row :
       {ReshapeRow{{3, 4, 5}, {0, 4}, "[1,3,4,5,1]"},
        ReshapeRow{{3, 4, 5}, {-1, 2}, "[3,4,1,5,1]"},
        ReshapeRow{{3, 4, 5}, {4, 0}, "[1,3,4,5,1]"},
        ReshapeRow{{}, {0}, "[1]"}, ReshapeRow{{0}, {0}, "[1,0]"},
        ReshapeRow{{3, 4}, {0, 0}, "refused"},
        ReshapeRow{{3, 4}, {0, -4}, "refused"},
        ReshapeRow{{3, 4}, {3}, "refused"}}) {
    EXPECT_EQ(Text(UnsqueezedShape(row.x, row.entries)), row.want)
        << Shape(row.entries).ToString();
  }
}

TEST(Reshape, FlattenGivesTwoAxes) {
  for (const auto& [axis, want] :
       std::vector<std::pair<int64_t, std::string>>{{0, "[1,120]"},
                                                    {1, "[2,60]"},
                                                    {4, "[120,1]"},
                                                    {-1, "[24,5]"},
                                                    {-4, "[1,120]"},
                                                    {5, "refused"},
                                                    {-5, "refused"}}) {
    EXPECT_EQ(Text(FlattenedShape({2, 3, 4, 5}, axis)), want) << axis;
  }
  EXPECT_EQ(Text(FlattenedShape({}, 0)), "[1,1]");
}

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
  const struct {
    int64_t start, end, step;
    std::vector<int64_t> want;
  } rows[] = {
      {0, 5, 1, {0, 1, 2, 3, 4}}, {1, 4, 2, {1, 3}},
      {-3, -1, 1, {2, 3}},        {3, 1, 1, {}},
      {0, INT_MAX, 3, {0, 3}},    {4, INT64_MIN, -1, {4, 3, 2, 1, 0}},
      {9, 0, -2, {4, 2}},         {-1, -9, -4, {4, 0}},
      {0, 5, INT64_MAX, {0}},     {4, INT64_MIN, INT64_MIN, {4}},
      {INT64_MIN, 2, 1, {0, 1}},  {1, 3, -1, {}},
  };
  for (const auto& row : rows) {
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
  const struct {
    const char* mode;
    int64_t begin, end;
    std::vector<int64_t> want;
  } rows[] = {
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
  for (const auto& row : rows) {
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

struct WindowRow {
  WindowAttributes attributes;
  int64_t input;
  int64_t begin, end, output;
  bool overhangs = false;
};

void Expect(const Result<Window>& window, const WindowRow& row) {
  ASSERT_TRUE(window.ok()) << window.status().ToString();
  EXPECT_THAT(window->output, ElementsAre(row.output));
  EXPECT_THAT(window->pads_begin, ElementsAre(row.begin));
  EXPECT_THAT(window->pads_end, ElementsAre(row.end));
  EXPECT_EQ(window->overhangs, row.overhangs);
}

TEST(Window, ResolvesAsOnnxStates) {
  const WindowRow rows[] = {
      {{.kernel = {3}}, 5, 0, 0, 3},
      {{.kernel = {3}, .dilations = {2}}, 5, 0, 0, 1},
      {{.kernel = {2}, .strides = {2}, .pads = {1, 0}}, 4, 1, 0, 2},
      {{.kernel = {2}, .strides = {2}, .auto_pad = "SAME_UPPER"}, 5, 0, 1, 3},
      {{.kernel = {2}, .strides = {2}, .auto_pad = "SAME_LOWER"}, 5, 1, 0, 3},
      {{.kernel = {1}, .strides = {3}, .auto_pad = "SAME_UPPER"}, 5, 0, 0, 2},
      {{.kernel = {2}, .pads = {9, 9}, .auto_pad = "VALID"}, 5, 0, 0, 4},
      {{.kernel = {2}, .strides = {2}}, 5, 0, 0, 2},
      {{.kernel = {2}, .strides = {2}, .ceil_mode = true}, 5, 0, 0, 3, true},
      {WindowAttributes{
           .kernel = {3}, .strides = {2}, .pads = {1, 1}, .ceil_mode = true},
       5, 1, 1, 3},
      // A last window that starts in the end padding is not there.
      {WindowAttributes{
           .kernel = {1}, .strides = {2}, .pads = {0, 1}, .ceil_mode = true},
       2, 0, 1, 1},
      {{.kernel = {3}}, 0, 0, 0, 0},
      // A window that is up to a stride longer is none.
      {{.kernel = {6}}, 5, 0, 0, 0},
      {{.kernel = {7}, .strides = {2}}, 5, 0, 0, 0},
      {{.kernel = {6}, .strides = {2}, .ceil_mode = true}, 5, 0, 0, 1, true},
  };
  for (const WindowRow& row : rows) {
    const int64_t input[] = {row.input};
    Expect(ResolveWindow(row.attributes, input), row);
  }
}

TEST(Window, EachAxisHasItsOwnEntries) {
  const int64_t input[] = {7, 5};
  const auto window = ResolveWindow({.kernel = {3, 2},
                                     .strides = {1, 2},
                                     .dilations = {2, 1},
                                     .pads = {1, 0, 2, 1}},
                                    input);
  ASSERT_TRUE(window.ok());
  EXPECT_THAT(window->output, ElementsAre(6, 3));
  EXPECT_THAT(window->pads_begin, ElementsAre(1, 0));
  EXPECT_THAT(window->pads_end, ElementsAre(2, 1));
  EXPECT_EQ(window->Reach(0), 5);
  EXPECT_EQ(window->Reach(1), 2);
}

TEST(Window, ResolvesTransposedAsOnnxStates) {
  const WindowRow rows[] = {
      {{.kernel = {3}, .strides = {2}}, 3, 0, 0, 7},
      {{.kernel = {3}, .strides = {2}, .pads = {1, 1}}, 3, 1, 1, 5},
      {{.kernel = {3}, .strides = {2}, .output_padding = {1}}, 3, 0, 0, 8},
      {{.kernel = {3}, .strides = {2}, .auto_pad = "SAME_UPPER"}, 3, 0, 1, 6},
      {{.kernel = {3}, .strides = {2}, .auto_pad = "SAME_LOWER"}, 3, 1, 0, 6},
      {{.kernel = {3}, .strides = {3}, .output_shape = {10}}, 3, 0, -1, 10},
      {{.kernel = {2}, .dilations = {3}}, 3, 0, 0, 6},
  };
  for (const WindowRow& row : rows) {
    const int64_t input[] = {row.input};
    Expect(ResolveTransposedWindow(row.attributes, input), row);
  }
}

TEST(Window, RefusesWhatOnnxDoesNotPermit) {
  const WindowAttributes rows[] = {
      {.kernel = {2, 2}},
      {.kernel = {0}},
      {.kernel = {2}, .strides = {0}},
      {.kernel = {2}, .dilations = {0}},
      {.kernel = {2}, .pads = {1}},
      {.kernel = {2}, .pads = {-1, 0}},
      {.kernel = {2}, .auto_pad = "SAME"},
      {.kernel = {int64_t{1} << 31}},
      {.kernel = {9}},
  };
  const int64_t input[] = {4};
  for (const WindowAttributes& row : rows) {
    EXPECT_EQ(ResolveWindow(row, input).status().code(),
              StatusCode::kInvalidArgument);
  }
  const int64_t huge[] = {int64_t{1} << 31};
  EXPECT_FALSE(ResolveWindow({.kernel = {2}}, huge).ok());
  EXPECT_FALSE(
      ResolveTransposedWindow({.kernel = {2}, .output_padding = {-1}}, input)
          .ok());
  EXPECT_FALSE(
      ResolveTransposedWindow({.kernel = {2}, .output_shape = {0}}, input)
          .ok());
}

}  // namespace
}  // namespace assay::kernels
