// SPDX-License-Identifier: Apache-2.0

#include "backends/reference/loop/window.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace assay::reference {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct WindowRow {
  const char* name;
  int64_t input;
  WindowSpec spec;
  // For each window the positions it reads inside the input, first and count.
  std::vector<std::pair<int64_t, int64_t>> windows = {};
};

const std::vector<WindowRow> kWindowRows = {
    {"Plain", 5, {.kernel_shape = {3}}, {{0, 3}, {1, 3}, {2, 3}}},
    {"Strided", 6, {.kernel_shape = {2}, .strides = {3}}, {{0, 2}, {3, 2}}},
    {"Padded",
     3,
     {.kernel_shape = {3}, .pads = {1, 1}},
     {{0, 2}, {0, 3}, {1, 2}}},
    {"PaddedOnOneSide",
     3,
     {.kernel_shape = {2}, .pads = {0, 1}},
     {{0, 2}, {1, 2}, {2, 1}}},
    {"Dilated", 5, {.kernel_shape = {2}, .dilations = {3}}, {{0, 2}, {1, 2}}},
    {"DilatedInPadding",
     3,
     {.kernel_shape = {3}, .dilations = {2}, .pads = {3, 1}},
     {{1, 1}, {0, 2}, {1, 1}}},
    {"SameUpper",
     4,
     {.kernel_shape = {2}, .auto_pad = "SAME_UPPER"},
     {{0, 2}, {1, 2}, {2, 2}, {3, 1}}},
    {"SameLower",
     4,
     {.kernel_shape = {2}, .auto_pad = "SAME_LOWER"},
     {{0, 1}, {0, 2}, {1, 2}, {2, 2}}},
    {"Valid",
     4,
     {.kernel_shape = {2}, .strides = {2}, .auto_pad = "VALID"},
     {{0, 2}, {2, 2}}},
    {"Floor", 4, {.kernel_shape = {3}, .strides = {2}}, {{0, 3}}},
    {"Ceil",
     4,
     {.kernel_shape = {3}, .strides = {2}, .ceil_mode = true},
     {{0, 3}, {2, 2}}},
    // A third window would start in the padding at the end.
    {"CeilLeavesOutPadding",
     2,
     {.kernel_shape = {1}, .strides = {2}, .pads = {0, 1}, .ceil_mode = true},
     {{0, 1}}},
    {"OnlyPadding", 1, {.kernel_shape = {1}, .pads = {1, 0}}, {{0, 0}, {0, 1}}},
};

TEST(Window, StandsWhereTheAttributesSay) {
  for (const WindowRow& row : kWindowRows) {
    const Result<Window> window = Window::Plan(row.spec, {1, 1, row.input});
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
  const Result<Window> window = Window::Plan(
      {.kernel_shape = {3}, .strides = {2}, .pads = {1, 0}, .ceil_mode = true},
      {1, 1, 3});
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
