// SPDX-License-Identifier: Apache-2.0

#include "conformance/distributed/ranks/bits.h"

#include <gtest/gtest.h>

#include <array>

namespace assay::distributed {
namespace {

TEST(BitsTest, CountsWhatDiffers) {
  constexpr std::array kOne = {std::byte{0x0F}, std::byte{1}};
  constexpr std::array kOther = {std::byte{0xF0}, std::byte{1}};
  EXPECT_EQ(DifferingBits(kOne, kOther), 8);
  EXPECT_EQ(DifferingBits(kOne, kOne), 0);
}

TEST(BitsTest, AHashIsOfAllRanksInTheirOrder) {
  constexpr std::array kOne = {std::byte{1}};
  constexpr std::array kTwo = {std::byte{2}};
  const auto of = [](auto... each) {
    HashOfRanks hash;
    (hash.Add(each), ...);
    return hash.text();
  };
  EXPECT_EQ(of(kOne, kTwo), of(kOne, kTwo));
  EXPECT_NE(of(kOne, kTwo), of(kTwo, kOne));
  EXPECT_NE(of(kOne, kTwo), of(kOne));
}

}  // namespace
}  // namespace assay::distributed
