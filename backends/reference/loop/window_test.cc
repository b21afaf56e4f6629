// SPDX-License-Identifier: Apache-2.0

#include "backends/reference/loop/window.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace assay::reference {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Row {
  const char* name;
  int64_t input;
  int64_t kernel;
  int64_t stride = 1;
  int64_t dilation = 1;
  std::vector<int64_t> pads = {};
  std::string auto_pad = "NOTSET";
  bool ceil_mode = false;
  // For each window the positions it reads inside the input, first and count.
  std::vector<std::pair<int64_t, int64_t>> windows = {};
};

const std::vector<Row> kRows = {
    {.name = "Plain",
     .input = 5,
     .kernel = 3,
     .windows = {{0, 3}, {1, 3}, {2, 3}}},
    {.name = "Strided",
     .input = 6,
     .kernel = 2,
     .stride = 3,
     .windows = {{0, 2}, {3, 2}}},
    {.name = "Padded",
     .input = 3,
     .kernel = 3,
     .pads = {1, 1},
     .windows = {{0, 2}, {0, 3}, {1, 2}}},
    {.name = "PaddedOnOneSide",
     .input = 3,
     .kernel = 2,
     .pads = {0, 1},
     .windows = {{0, 2}, {1, 2}, {2, 1}}},
    {.name = "Dilated",
     .input = 5,
     .kernel = 2,
     .dilation = 3,
     .windows = {{0, 2}, {1, 2}}},
    {.name = "DilatedInPadding",
     .input = 3,
     .kernel = 3,
     .dilation = 2,
     .pads = {3, 1},
     .windows = {{1, 1}, {0, 2}, {1, 1}}},
    {.name = "SameUpper",
     .input = 4,
     .kernel = 2,
     .auto_pad = "SAME_UPPER",
     .windows = {{0, 2}, {1, 2}, {2, 2}, {3, 1}}},
    {.name = "SameLower",
     .input = 4,
     .kernel = 2,
     .auto_pad = "SAME_LOWER",
     .windows = {{0, 1}, {0, 2}, {1, 2}, {2, 2}}},
    {.name = "Valid",
     .input = 4,
     .kernel = 2,
     .stride = 2,
     .auto_pad = "VALID",
     .windows = {{0, 2}, {2, 2}}},
    {.name = "Floor",
     .input = 4,
     .kernel = 3,
     .stride = 2,
     .windows = {{0, 3}}},
    {.name = "Ceil",
     .input = 4,
     .kernel = 3,
     .stride = 2,
     .ceil_mode = true,
     .windows = {{0, 3}, {2, 2}}},
    // A third window would start in the padding at the end.
    {.name = "CeilLeavesOutPadding",
     .input = 2,
     .kernel = 1,
     .stride = 2,
     .pads = {0, 1},
     .ceil_mode = true,
     .windows = {{0, 1}}},
    {.name = "OnlyPadding",
     .input = 1,
     .kernel = 1,
     .pads = {1, 0},
     .windows = {{0, 0}, {0, 1}}},
};

Result<Window> PlanRow(const Row& row) {
  const WindowSpec spec{.kernel_shape = {row.kernel},
                        .strides = {row.stride},
                        .dilations = {row.dilation},
                        .pads = row.pads,
                        .auto_pad = row.auto_pad,
                        .ceil_mode = row.ceil_mode};
  return Window::Plan(spec, {1, 1, row.input});
}

TEST(Window, StandsWhereTheAttributesSay) {
  for (const Row& row : kRows) {
    const Result<Window> window = PlanRow(row);
    ASSERT_TRUE(window.ok()) << row.name << ": " << window.status().message();
    std::vector<std::pair<int64_t, int64_t>> got;
    window->ForEach([&](int64_t o, auto&& taps) {
      EXPECT_EQ(o, static_cast<int64_t>(got.size())) << row.name;
      std::pair<int64_t, int64_t> reads = {0, 0};
      taps([&](int64_t i) {
        if (reads.second++ == 0) reads.first = i;
      });
      got.push_back(reads);
    });
    EXPECT_EQ(got, row.windows) << row.name;
    EXPECT_EQ(window->OutputSize(), static_cast<int64_t>(row.windows.size()))
        << row.name;
  }
}

TEST(Window, CountsPaddedTapsButNoneBeyondThePadding) {
  const Result<Window> window = PlanRow({.name = "",
                                         .input = 3,
                                         .kernel = 3,
                                         .stride = 2,
                                         .pads = {1, 0},
                                         .ceil_mode = true});
  ASSERT_TRUE(window.ok());
  ASSERT_EQ(window->OutputSize(), 2);
  EXPECT_EQ(window->PaddedTaps(0), 3);  // one of them in the padding
  EXPECT_EQ(window->PaddedTaps(1), 2);  // the third would be outside
}

TEST(Window, ThreeAxesAreReadInRowMajorOrder) {
  const Result<Window> window =
      Window::Plan({.kernel_shape = {2, 1, 2}}, {1, 1, 2, 3, 4});
  ASSERT_TRUE(window.ok());
  EXPECT_EQ(window->OutputShape(7, 8), (Shape{7, 8, 1, 3, 3}));
  std::vector<int64_t> reads;
  window->ForEach([&](int64_t o, auto&& taps) {
    if (o == 4) taps([&](int64_t i) { reads.push_back(i); });
  });
  EXPECT_THAT(reads, ElementsAre(5, 6, 17, 18));
  EXPECT_EQ(window->ColumnMajor(17), 1 + 2 * (1 + 3 * 1));
}

TEST(Window, RefusesWhatDoesNotFit) {
  struct Bad {
    WindowSpec spec;
    Shape input;
    StatusCode code;
    const char* message;
  };
  const std::vector<Bad> rows = {
      {{.kernel_shape = {3}},
       {1, 1, 2},
       StatusCode::kInvalidArgument,
       "spans 3 is larger than the padded input of extent 2"},
      {{.kernel_shape = {3, 3}},
       {1, 1, 5},
       StatusCode::kInvalidArgument,
       "kernel_shape has 2 values, wanted 1"},
      {{.kernel_shape = {1}, .strides = {0}},
       {1, 1, 5},
       StatusCode::kInvalidArgument,
       "strides has the value 0"},
      {{.kernel_shape = {1}, .pads = {-1, 0}},
       {1, 1, 5},
       StatusCode::kInvalidArgument,
       "pads has the value -1"},
      {{.kernel_shape = {1}, .auto_pad = "SAME"},
       {1, 1, 5},
       StatusCode::kInvalidArgument,
       "auto_pad is 'SAME'"},
      {{}, {1, 1}, StatusCode::kUnsupported, "[1,1]"},
      {{}, {1, 1, 2, 2, 2, 2}, StatusCode::kUnsupported, "three spatial axes"},
  };
  for (const Bad& row : rows) {
    const Status status = Window::Plan(row.spec, row.input).status();
    EXPECT_EQ(status.code(), row.code) << row.message;
    EXPECT_THAT(status.message(), HasSubstr(row.message));
  }
}

}  // namespace
}  // namespace assay::reference
