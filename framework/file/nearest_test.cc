// SPDX-License-Identifier: Apache-2.0

#include "framework/file/nearest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::file {
namespace {

using ::testing::ElementsAre;

TEST(Nearest, PrefersIdsThatContainTheWordThenThoseWithFewEdits) {
  const std::vector<std::string> known = {
      "node/Abs/test_abs", "node/Acos/test_acos", "node/Conv/test_basic_conv"};
  EXPECT_EQ(Nearest("node/Abs/test_abz", known).front(), known[0]);
  EXPECT_EQ(Nearest("basic_conv", known).front(), known[2]);
  EXPECT_EQ(Nearest("node/Wrong/test_acos", known).front(), known[1]);
  EXPECT_THAT(Nearest("x", {}), ElementsAre());
}

TEST(DidYouMean, AsksForWhatIsLikeTheWord) {
  const std::vector<std::string> known = {"--filter", "--tier", "--backend"};
  EXPECT_EQ(DidYouMean("--fliter", known), "; did you mean --filter?");
  EXPECT_EQ(DidYouMean("--Backend", known), "; did you mean --backend?");
  EXPECT_EQ(DidYouMean("--verbose", known), "");
  EXPECT_EQ(DidYouMean("", known), "");
}

}  // namespace
}  // namespace assay::file
