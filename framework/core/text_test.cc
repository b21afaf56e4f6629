// SPDX-License-Identifier: Apache-2.0

#include "framework/core/text.h"

#include <gtest/gtest.h>

#include <vector>

namespace assay::core {
namespace {

TEST(Joined, HasASeparatorBetweenItemsOnly) {
  EXPECT_EQ(Joined(std::vector<int>()), "");
  EXPECT_EQ(Joined(std::vector<std::string>{"a"}), "a");
  EXPECT_EQ(Joined(std::vector<std::string>{"", "b"}), ", b");
  EXPECT_EQ(Joined(std::vector<int>{1, 2}, "-", [](int i) { return i * i; }),
            "1-4");
}

TEST(CutFront, TakesASeparatorWithTheTextBeforeIt) {
  const struct {
    std::string_view text, front, rest;
  } rows[] = {{"a\n\nb", "a", "\nb"}, {"\nb", "", "b"}, {"b", "b", ""}};
  for (const auto& row : rows) {
    std::string_view text = row.text;
    EXPECT_EQ(CutFront(&text), row.front);
    EXPECT_EQ(text, row.rest) << row.text;
  }
  std::string_view pair = "a: b: c";
  EXPECT_EQ(CutFront(&pair, ": "), "a");
  EXPECT_EQ(pair, "b: c");
}

}  // namespace
}  // namespace assay::core
