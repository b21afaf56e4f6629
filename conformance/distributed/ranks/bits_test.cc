// SPDX-License-Identifier: Apache-2.0

#include "conformance/distributed/ranks/bits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "conformance/distributed/ranks/ranks_run.h"

namespace assay::distributed {
namespace {

using ::testing::HasSubstr;

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

// Kills: traffic that is written down and judged by nobody.
TEST(BitsTest, TrafficIsThatOfTheFormulas) {
  DistributedRow row;
  EXPECT_FALSE(JudgeTraffic({96, 4}, 96, 4, &row).has_value());
  EXPECT_FALSE(JudgeTraffic({96, 7}, 96, std::nullopt, &row).has_value());
  for (const dist::Traffic& sent :
       {dist::Traffic{95, 4}, dist::Traffic{96, 5}}) {
    const auto fault = JudgeTraffic(sent, 96, 4, &row);
    ASSERT_TRUE(fault.has_value());
    EXPECT_EQ(fault->reason, record::ReasonCode(kFailCost));
    EXPECT_THAT(fault->message, HasSubstr("wanted 96 in 4"));
    EXPECT_EQ(row.bytes_sent, sent.bytes);
    EXPECT_EQ(row.messages_formula, 4);
  }
}

}  // namespace
}  // namespace assay::distributed
