// SPDX-License-Identifier: Apache-2.0

#include "framework/ranks/fields.h"

#include <gtest/gtest.h>

#include <limits>

namespace assay::ranks {
namespace {

enum class Color : uint8_t { kRed, kBlue };

struct Sample {
  int32_t small = 0;
  int64_t large = 0;
  uint64_t bits = 0;
  double number = 0;
  Color color = Color::kRed;
  bool is_set = false;

  friend bool operator==(const Sample&, const Sample&) = default;
};

constexpr void EachField(Sample& sample, const auto& visit) {
  visit(sample.small);
  visit(sample.large);
  visit(sample.bits);
  visit(sample.number);
  visit(sample.color);
  visit(sample.is_set);
}

static_assert(FieldsOf<Sample>() == 6);

const Sample kSample = {-2,           std::numeric_limits<int64_t>::min(),
                        ~uint64_t{0}, -0.125,
                        Color::kBlue, true};

// Kills: a sign that is lost, a field that stands in another's place.
TEST(FieldsTest, ComeBackAsTheyWere) {
  std::string text = "x";
  AppendFields(kSample, &text);
  AppendFields(Sample(), &text);
  EXPECT_EQ(text.size(), 1 + 2 * kFieldBytes<Sample>);
  // -2 as a word, the least significant byte first.
  EXPECT_EQ(text.substr(1, 8), std::string("\xfe\xff\xff\xff\xff\xff\xff\xff"));
  std::string_view rest = text;
  rest.remove_prefix(1);
  Sample first, second = kSample;
  EXPECT_TRUE(CutFields(&rest, &first));
  EXPECT_TRUE(CutFields(&rest, &second));
  EXPECT_EQ(first, kSample);
  EXPECT_EQ(second, Sample());
  EXPECT_TRUE(rest.empty());
}

// Kills: a word that is cut to a number of fewer bits.
TEST(FieldsTest, WhatATypeHasNotIsRefused) {
  std::string text;
  AppendFields(kSample, &text);
  Sample read;
  std::string_view rest = std::string_view(text).substr(1);
  EXPECT_FALSE(CutFields(&rest, &read));
  for (const size_t field : {size_t{0}, size_t{4}, size_t{5}}) {
    std::string wrong = text;
    wrong[8 * field + 4] ^= 1;
    rest = wrong;
    EXPECT_FALSE(CutFields(&rest, &read)) << field;
  }
}

}  // namespace
}  // namespace assay::ranks
