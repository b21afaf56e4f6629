// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "backends/reference/dense/block_passes.h"
#include "backends/reference/number/mpfr.h"

namespace assay::reference {
namespace {

using WideNumber = Charged<Charge::kBound, Quad>;

/// A block of random numbers of 113 bits, each off by some roundings, with what
/// they are in 256 bits when each error is as great as it may be.
struct RandomBlock {
  RandomBlock(int64_t rows, int64_t inner, int64_t columns, uint64_t seed)
      : engine(seed) {
    block = {.rows = rows, .inner = inner, .columns = columns, .scale = 0.75};
    const auto add = [&](int64_t count, std::vector<uint32_t>* nodes) {
      for (int64_t k = 0; k < count; ++k) {
        nodes->push_back(static_cast<uint32_t>(numbers.size()));
        AddNumber();
      }
    };
    numbers.emplace_back();
    truth.emplace_back(0);
    add(rows * inner, &block.a.nodes);
    for (int64_t k = 0; k < inner * columns; ++k) {
      block.b.numbers.push_back(Draw());
    }
    add(rows * columns, &block.y);
    block.first = static_cast<uint32_t>(numbers.size());
    numbers.resize(numbers.size() + block.y.size());
  }

  double Draw() { return static_cast<double>(engine() >> 11U) * 0x1p-52 - 1; }

  void AddNumber() {
    const Quad value =
        Quad(Draw()) + Quad(Draw() * 0x1p-53) + Quad(Draw() * 0x1p-106);
    const double units = engine() % 3 == 0 ? 0 : std::abs(Draw());
    numbers.emplace_back(value, units);
    const double off = numbers.back().Error() * (Draw() < 0 ? -0.99 : 0.99);
    truth.push_back(ToMpfr(value) + Mpfr(off));
  }

  static Mpfr ToMpfr(const Quad& x) {
    const double high = ToDouble(x);
    const Quad rest = x - Quad(high);
    const double low = ToDouble(rest);
    return Mpfr(high) + Mpfr(low) + Mpfr(ToDouble(Quad(rest - Quad(low))));
  }

  Mpfr Truth(size_t k) const {
    const auto inner = static_cast<size_t>(block.inner);
    const auto columns = static_cast<size_t>(block.columns);
    Mpfr sum = truth[block.y[k]];
    for (size_t t = 0; t < inner; ++t) {
      sum = sum + Mpfr(block.scale) *
                      truth[block.a.nodes[k / columns * inner + t]] *
                      Mpfr(block.b.numbers[t * columns + k % columns]);
    }
    return sum;
  }

  std::mt19937_64 engine;
  Block block;
  std::vector<WideNumber> numbers;
  std::vector<Mpfr> truth;
};

// Kills: an error of a factor, of a pair or of y that is not counted; the scale
// left out of a value or of a charge; a bound of double's size.
TEST(PairBlockTest, SumsAreWithinTheirBounds) {
  for (uint64_t seed = 0; seed < 4; ++seed) {
    RandomBlock random(8, 1024, 9, seed);
    ASSERT_TRUE(IsForPairs(random.block));
    ASSERT_TRUE(ReplayInPairs(random.block, random.numbers));
    for (size_t k = 0; k < random.block.y.size(); ++k) {
      const WideNumber& sum = random.numbers[random.block.first + k];
      const double off = std::abs(
          ToDouble(Mpfr(RandomBlock::ToMpfr(sum.value) - random.Truth(k))));
      EXPECT_LE(off, sum.Error()) << seed << " " << k;
      EXPECT_LT(sum.Error(), 0x1p-80);
      EXPECT_GT(sum.units, 0);
    }
  }
}

// Kills: own roundings that are those of 113 bits, or also those of factors.
TEST(PairBlockTest, LanesHaveTheRoundingsOfPairs) {
  RandomBlock random(8, 1024, 9, 5);
  for (WideNumber& number : random.numbers) number.units = 0;
  ASSERT_TRUE(ReplayInPairs(random.block, random.numbers));
  std::vector<Lanes> none(random.numbers.size());
  std::vector<WideNumber> again = random.numbers;
  const CarriedErrors carried =
      ReplayWithLanes(random.block, AsGiven<WideNumber>, none.data(), again);
  for (size_t k = 0; k < random.block.y.size(); ++k) {
    const double units = random.numbers[random.block.first + k].units;
    EXPECT_GE(units, carried.own[k]);
    EXPECT_LE(units, carried.own[k] * 1.001);
    EXPECT_FALSE(carried.lost[k]);
    const WideNumber& sum = again[random.block.first + k];
    const WideNumber& replayed = random.numbers[random.block.first + k];
    EXPECT_EQ(ToDouble(Quad(sum.value - replayed.value)), 0);
    EXPECT_NEAR(sum.units, units, 1e-5 * units);
  }
}

// Kills: a number out of range that becomes another; an unknown factor whose
// sums are known.
TEST(PairBlockTest, WhatIsNotKnownStaysSo) {
  RandomBlock random(8, 1024, 9, 6);
  random.numbers[random.block.a.nodes[3]].units = WideNumber::kUnknown;
  ASSERT_TRUE(ReplayInPairs(random.block, random.numbers));
  for (size_t k = 0; k < random.block.y.size(); ++k) {
    EXPECT_EQ(std::isinf(random.numbers[random.block.first + k].units), k < 9);
  }
  random.numbers[random.block.a.nodes[3]] =
      WideNumber(Quad(1e300) * Quad(1e300), 0);
  EXPECT_FALSE(ReplayInPairs(random.block, random.numbers));
}

}  // namespace
}  // namespace assay::reference
