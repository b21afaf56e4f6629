// SPDX-License-Identifier: Apache-2.0
//
// Values by hand from the formulas on ONNX's pages of MaxPool and
// ConvTranspose.
#include "framework/kernels/window.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::kernels {
namespace {

using ::testing::ElementsAre;

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
      {{.kernel = {3}, .strides = {2}, .pads = {1, 1}, .ceil_mode = true},
       5,
       1,
       1,
       3},
      // A last window that starts in the end padding is not there.
      {{.kernel = {1}, .strides = {2}, .pads = {0, 1}, .ceil_mode = true},
       2,
       0,
       1,
       1},
      {{.kernel = {3}}, 0, 0, 0, 0},
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
