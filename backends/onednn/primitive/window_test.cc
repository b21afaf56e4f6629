// SPDX-License-Identifier: Apache-2.0
//
// The arguments of oneDNN for a window of ONNX's, which framework/kernels
// resolves.
#include "backends/onednn/primitive/window.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::onednn {
namespace {

using ::testing::ElementsAre;

struct Row {
  kernels::WindowAttributes attributes;
  int64_t input;
  int64_t begin, end, stated_end, output;
};

void ExpectWindow(const Result<Window>& window, const Row& row) {
  ASSERT_TRUE(window.ok()) << window.status().ToString();
  EXPECT_THAT(window->output, ElementsAre(row.output));
  EXPECT_THAT(window->pads_begin, ElementsAre(row.begin));
  EXPECT_THAT(window->pads_end, ElementsAre(row.end));
  EXPECT_THAT(window->stated_end, ElementsAre(row.stated_end));
}

TEST(Window, EndPadsGiveTheOutputRoundedDown) {
  const Row rows[] = {
      {{.kernel = {3}}, 5, 0, 0, 0, 3},
      {{.kernel = {2}, .strides = {2}, .ceil_mode = true}, 5, 0, 1, 0, 3},
      {{.kernel = {1}, .strides = {2}, .pads = {0, 1}, .ceil_mode = true},
       2,
       0,
       0,
       1,
       1},
      {{.kernel = {1}, .strides = {3}, .auto_pad = "SAME_UPPER"},
       5,
       0,
       0,
       0,
       2},
  };
  for (const Row& row : rows) {
    const int64_t input[] = {row.input};
    ExpectWindow(MakeWindow(row.attributes, input), row);
  }
}

TEST(Window, OutputPaddingComesOffTheEnd) {
  const Row rows[] = {
      {{.kernel = {3}, .strides = {2}, .output_padding = {1}}, 3, 0, -1, 0, 8},
      {{.kernel = {3}, .strides = {2}, .auto_pad = "SAME_LOWER"},
       3,
       1,
       0,
       0,
       6},
      {{.kernel = {3}, .strides = {3}, .output_shape = {10}}, 3, 0, -1, -1, 10},
  };
  for (const Row& row : rows) {
    const int64_t input[] = {row.input};
    ExpectWindow(MakeTransposedWindow(row.attributes, input), row);
  }
}

TEST(Window, ADilationOfZeroIsDense) {
  const int64_t input[] = {5, 5};
  const auto window =
      MakeWindow({.kernel = {2, 2}, .dilations = {1, 3}}, input);
  ASSERT_TRUE(window.ok());
  EXPECT_THAT(window->dilations, ElementsAre(0, 2));
}

}  // namespace
}  // namespace assay::onednn
