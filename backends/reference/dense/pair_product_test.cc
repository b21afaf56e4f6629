// SPDX-License-Identifier: Apache-2.0

#include "backends/reference/dense/pair_product.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "backends/reference/dense/pair_loops.h"
#include "backends/reference/dense/product_fixture.h"
#include "backends/reference/number/mpfr.h"

namespace assay::reference::pair_product {
namespace {

constexpr double kRoundoff = 0x1p-53;

enum class Kind : uint8_t {
  kPlain,      // in (-1, 1), all bits of a double
  kFloat,      // in (-1, 1), the bits of a float
  kPositive,   // in (0.5, 1)
  kInteger,    // -8 to 8
  kZero,       // 0 or -0
  kWide,       // 1e-60 to 1e60
  kHalf,       // about 2^-450: products are about the least exact one
  kMinute,     // about 2^-537: products are subnormal
  kTiny,       // about 2^-1000: so are those with plain numbers, nearly
  kSubnormal,  // which has fewer bits
  kGreat,      // about 2^399
  kGreatest,   // the greatest that is taken
  kBeyond,     // the least beyond it
  kHuge,       // the greatest of all
  kInfinite,
  kNone,    // no number
  kNoPair,  // a low part that is too great, or that is no number
  kOnlyLow  // a low part beside 0
};

struct Pair {
  double high = 0;
  double low = 0;
};

double HighOf(Kind kind, RandomDoubles& random) {
  switch (kind) {
    case Kind::kPlain:
    case Kind::kNoPair:
      return random.Plain();
    case Kind::kFloat:
      return random.Float();
    case Kind::kPositive:
      return 0.5 + random.Fraction() / 2;
    case Kind::kInteger:
      return random.Integer();
    case Kind::kZero:
    case Kind::kOnlyLow:
      return random.Zero();
    case Kind::kWide:
      return random.Wide(60);
    case Kind::kHalf:
      return random.About(-458);
    case Kind::kMinute:
      return random.About(-545);
    case Kind::kTiny:
      return random.About(-1008);
    case Kind::kSubnormal:
      return random.Subnormal();
    case Kind::kGreat:
      return random.Sign() * std::ldexp(1 + random.Fraction(), 399);
    case Kind::kGreatest:
      return random.Sign() * kGreatestPair;
    case Kind::kBeyond:
      return random.Sign() * std::nextafter(kGreatestPair, kInf);
    case Kind::kHuge:
      return random.Sign() * std::numeric_limits<double>::max();
    case Kind::kInfinite:
      return random.Sign() * kInf;
    case Kind::kNone:
      return kNoNumber;
  }
  return 0;
}

// The low part is often as great as it may be.
Pair PairOf(Kind kind, RandomDoubles& random) {
  const double high = HighOf(kind, random);
  const double most = kRoundoff * std::abs(high);
  if (kind == Kind::kNoPair) {
    const double low =
        random.Below(2) == 0 ? kNoNumber : std::nextafter(most, 1);
    return {high, low};
  }
  if (kind == Kind::kOnlyLow) return {high, 0x1p-1074};
  if (!std::isfinite(high) || most < 0x1p-1021) return {high, 0};
  const double share = random.Below(3) == 0 ? 1 : random.Fraction();
  return {high, random.Sign() * most * share};
}

bool IsKnown(const Pair& x) {
  return std::abs(x.high) <= 0x1p400 &&
         std::abs(x.low) <= std::abs(x.high) * kRoundoff;
}

// As RandomDoubles::Of takes it.
struct Mixture {
  std::vector<Kind> usual;
  Kind rare;
  bool has_low = true;
};

struct Case {
  std::string name;
  Mixture a, b;
  Mixture y = {{Kind::kZero}, Kind::kZero, false};
};

Pair At(const PairMatrix& matrix, int64_t row, int64_t column) {
  const auto at = static_cast<size_t>(row * matrix.columns + column);
  return {matrix.high[at], matrix.low.empty() ? 0 : matrix.low[at]};
}

PairMatrix Matrix(int64_t rows, int64_t columns, const Mixture& mixture,
                  RandomDoubles& random) {
  PairMatrix matrix(rows, columns);
  for (double& high : matrix.high) {
    const Pair x = PairOf(random.Of(mixture.usual, mixture.rare), random);
    high = x.high;
    if (mixture.has_low) matrix.low.push_back(x.low);
  }
  return matrix;
}

Mpfr Exact(const Pair& x) { return Mpfr(x.high) + Mpfr(x.low); }

std::vector<Mpfr> Exact(const PairMatrix& matrix) {
  std::vector<Mpfr> numbers;
  for (int64_t i = 0; i < matrix.rows; ++i) {
    for (int64_t j = 0; j < matrix.columns; ++j) {
      const Pair x = At(matrix, i, j);
      numbers.push_back(Exact(IsKnown(x) ? x : Pair()));
    }
  }
  return numbers;
}

bool AreSame(const std::vector<double>& x, const std::vector<double>& y) {
  return std::ranges::equal(x, y, IsSame);
}

// y and the magnitude that it comes with.
struct Sums {
  bool operator==(const Sums& other) const {
    return AreSame(y.high, other.y.high) && AreSame(y.low, other.y.low) &&
           AreSame(magnitude, other.magnitude) && are_known == other.are_known;
  }

  PairMatrix y;
  std::vector<double> magnitude;
  bool are_known = true;
};

class Product {
 public:
  Product(const Case& row, const ProductShape& shape, uint64_t seed) {
    RandomDoubles random(seed);
    a = Matrix(shape.rows, shape.inner, row.a, random);
    b = Matrix(shape.inner, shape.columns, row.b, random);
    y = Matrix(shape.rows, shape.columns, row.y, random);
  }
  Product(PairMatrix of_a, PairMatrix of_b, PairMatrix to_y)
      : a(std::move(of_a)), b(std::move(of_b)), y(std::move(to_y)) {}

  Sums With(Isa isa, double magnitude = 0) const {
    Sums sums = {y, std::vector<double>(y.high.size(), magnitude), true};
    sums.are_known = AddProducts(a, b, sums.y, sums.magnitude.data(), isa);
    return sums;
  }

  // The greatest error in units of what the magnitude allows; infinite where it
  // allows none. Checks what is known.
  double WorstShare() const {
    const Sums sums = With(BestIsa());
    const std::vector<Mpfr> of_a = Exact(a), of_b = Exact(b), of_y = Exact(y);
    double worst = 0;
    bool are_known = true;
    for (int64_t i = 0; i < y.rows; ++i) {
      for (int64_t j = 0; j < y.columns; ++j) {
        const bool is_known = IsElementKnown(i, j);
        are_known &= is_known;
        const auto at = static_cast<size_t>(i * y.columns + j);
        EXPECT_EQ(std::isfinite(sums.magnitude[at]), is_known) << i << " " << j;
        EXPECT_EQ(std::isnan(sums.y.high[at]), !is_known) << i << " " << j;
        EXPECT_EQ(std::isnan(sums.y.low[at]), !is_known) << i << " " << j;
        if (!is_known) continue;
        EXPECT_TRUE(std::abs(sums.y.low[at]) <=
                    kRoundoff * std::abs(sums.y.high[at]))
            << i << " " << j << " is no pair";
        Mpfr wanted = of_y[at];
        for (int64_t t = 0; t < a.columns; ++t) {
          wanted = wanted + of_a[static_cast<size_t>(i * a.columns + t)] *
                                of_b[static_cast<size_t>(t * b.columns + j)];
        }
        const Mpfr off = abs(Exact(At(sums.y, i, j)) - wanted);
        if (off.IsZero()) continue;
        worst = std::max(
            worst,
            (off / (Mpfr(sums.magnitude[at]) * Mpfr(0x1p-104))).ToDouble());
      }
    }
    EXPECT_EQ(sums.are_known, are_known);
    return worst;
  }

  PairMatrix a, b, y;

 private:
  bool IsElementKnown(int64_t i, int64_t j) const {
    bool is_known = IsKnown(At(y, i, j));
    for (int64_t t = 0; t < a.columns; ++t) {
      is_known = is_known && IsKnown(At(a, i, t)) && IsKnown(At(b, t, j));
    }
    return is_known;
  }
};

using enum Kind;
const Mixture kWeights = {{kPlain}, kFloat, false};
const Mixture kActivations = {{kPlain, kZero}, kInteger};
const Mixture kNumbers = {{kPlain}, kPlain};
const std::vector<Case> kCases = {
    {"weights by activations", kWeights, kActivations},
    {"activations by weights", kActivations, kWeights, kNumbers},
    {"activations", kActivations, kActivations},
    {"doubles", kWeights, kWeights, kWeights},
    {"positive", {{kPositive}, kPositive}, {{kPositive}, kZero}},
    {"floats", {{kFloat}, kZero, false}, {{kFloat}, kZero, false}},
    {"integers", {{kInteger}, kZero, false}, {{kInteger}, kPlain, false}},
    {"onto greater sums", kNumbers, {{kTiny}, kZero}, {{kGreat}, kPlain}},
    {"wide", {{kWide}, kZero}, {{kWide}, kInteger}, {{kWide}, kZero}},
    {"least exact products", {{kHalf}, kZero}, {{kHalf}, kHalf}},
    {"subnormal products", {{kMinute}, kZero}, {{kMinute}, kHalf}},
    {"rarely small on the left",
     {{kPlain}, kTiny},
     {{kFloat, kHalf}, kMinute, false}},
    {"rarely small on the right",
     {{kFloat, kPlain}, kZero, false},
     {{kPlain, kZero}, kTiny}},
    {"tiny, of doubles",
     {{kTiny}, kZero, false},
     {{kPlain, kTiny}, kZero, false}},
    {"subnormal by great",
     {{kSubnormal}, kZero, false},
     {{kGreat}, kPlain},
     {{kSubnormal}, kZero}},
    {"great", {{kGreat}, kGreatest}, {{kGreat}, kGreatest}, {{kGreat}, kZero}},
    {"beyond", {{kPlain}, kBeyond}, kWeights},
    {"huge", kActivations, {{kPlain}, kHuge}},
    {"huge by small", {{kPlain}, kHuge, false}, {{kTiny}, kZero}},
    {"infinite", {{kPlain, kZero}, kInfinite}, kActivations},
    {"no number", kWeights, {{kPlain}, kNone}},
    {"no pair", {{kPlain}, kNoPair}, {{kPlain}, kZero}},
    {"no pair on the right", kWeights, {{kZero}, kOnlyLow}},
    {"unknown sums", kWeights, kActivations, {{kPlain, kZero}, kInfinite}},
    {"sums that are no pairs", kWeights, kWeights, {{kPlain}, kNoPair}},
};

// Kills: a part of a product that is left out, or rounded otherwise; an error
// that the magnitude does not count, of a small product too; factors and sums
// beyond the range, or that are no pairs, that nobody hears of, or whose row
// and column others hear of; sums that are no pairs; an instruction set that
// has other bits; lanes beyond the edges.
TEST(PairProductTest, ErrorsAreWithinTheMagnitude) {
  uint64_t seed = 0;
  for (const Case& row : kCases) {
    for (int64_t size = 1; size <= 33; ++size) {
      const Product product(row, ShapeOf(size), ++seed);
      EXPECT_LE(product.WorstShare(), 1);
      const Sums wanted = product.With(Isa::kSse2, 0.125);
      for (const Isa isa : AvailableIsas()) {
        EXPECT_TRUE(product.With(isa, 0.125) == wanted) << NameOf(isa);
      }
      ASSERT_FALSE(HasFailure()) << row.name << ", size " << size;
    }
  }
}

// Kills: sums that start anew with each block of terms; columns that take the
// factors of others; sums that become pairs at other terms in other tiles.
TEST(PairProductTest, AnElementHasTheBitsThatItHasAlone) {
  const Case row = {"long", kActivations, kActivations, kNumbers};
  for (const ProductShape& shape :
       {ProductShape{3, 300, 520}, ProductShape{150, 257, 1},
        ProductShape{20, 400, 3}, ProductShape{1, 128, 257}}) {
    const Product all(row, shape, 1);
    for (const Isa isa : AvailableIsas()) {
      const Sums sums = all.With(isa, 1);
      for (int64_t at = 0; at < shape.rows * shape.columns; at += 7) {
        const int64_t i = at / shape.columns, j = at % shape.columns;
        Product one(row, {1, shape.inner, 1}, 2);
        for (int64_t t = 0; t < shape.inner; ++t) {
          const Pair left = At(all.a, i, t), right = At(all.b, t, j);
          const auto to = static_cast<size_t>(t);
          one.a.high[to] = left.high, one.a.low[to] = left.low;
          one.b.high[to] = right.high, one.b.low[to] = right.low;
        }
        one.y.high[0] = At(all.y, i, j).high;
        one.y.low[0] = At(all.y, i, j).low;
        const Sums alone = one.With(Isa::kSse2, 1);
        const Pair found = At(sums.y, i, j);
        ASSERT_TRUE(
            IsSame(found.high, alone.y.high[0]) &&
            IsSame(found.low, alone.y.low[0]) &&
            IsSame(sums.magnitude[static_cast<size_t>(at)], alone.magnitude[0]))
            << NameOf(isa) << ", element " << i << " " << j << " of "
            << shape.rows << "x" << shape.columns;
      }
    }
  }
}

// A sum of one product.
Product Single(const Pair& x, const Pair& y, const Pair& sum) {
  const auto matrix = [](const Pair& of) {
    PairMatrix one(1, 1);
    one.high = {of.high};
    if (of.low != 0) one.low = {of.low};
    return one;
  };
  return {matrix(x), matrix(y), matrix(sum)};
}

// The greatest share of what the magnitude allows, of many products that a
// function draws.
template <class Function>
double WorstShareOf(const Function& drawn) {
  RandomDoubles random(1);
  double worst = 0;
  for (int i = 0; i < 10000; ++i) {
    worst = std::max(worst, drawn(random).WorstShare());
  }
  return worst;
}

// Kills: a magnitude without the products, whose errors show where the low part
// cancels what the product rounds off; one that counts more than it must.
TEST(PairProductTest, TheMagnitudeCountsProducts) {
  const double worst = WorstShareOf([](RandomDoubles& random) {
    const double x = HighOf(kPositive, random);
    const double y = HighOf(kPositive, random);
    const double rounded_off = std::fma(x, y, -(x * y));
    return Single({x, 0}, {y, -rounded_off / x}, {});
  });
  EXPECT_LE(worst, 1);
  EXPECT_GT(worst, 0.1);
}
TEST(PairProductTest, TheMagnitudeCountsProductsOfPairs) {
  const double worst = WorstShareOf([](RandomDoubles& random) {
    const Pair x = PairOf(kPositive, random);
    const double y = HighOf(kPositive, random);
    const double rounded_off = std::fma(x.high, y, -(x.high * y)) + x.low * y;
    const double most = y * kRoundoff;
    return Single(x, {y, std::clamp(-rounded_off / x.high, -most, most)}, {});
  });
  EXPECT_LE(worst, 1);
  EXPECT_GT(worst, 0.1);
}

// Kills: a magnitude that does not count what the low part of the sum was.
TEST(PairProductTest, TheMagnitudeCountsTheLowPartOfTheSum) {
  const double worst = WorstShareOf([](RandomDoubles& random) {
    const double x = HighOf(kPositive, random);
    const double y = HighOf(kPositive, random);
    return Single({x, 0}, {y * 0x1p-54, 0}, {0.75, -x * y * 0x1p-54});
  });
  EXPECT_LE(worst, 1);
  EXPECT_GT(worst, 0.2);
}

// Kills: zeros that are taken for small products; small ones that cost more
// than they must.
TEST(PairProductTest, TheMagnitudeHasNothingOfZeros) {
  PairMatrix a(2, 2), b(2, 2), y(2, 2);
  a.high = {0, 0x1p-1000, -0.0, 1};
  b.high = {1, 0x1p-1074, 0, 0x1p-800};
  std::vector<double> magnitude(4);
  EXPECT_TRUE(AddProducts(a, b, y, magnitude.data()));
  EXPECT_EQ(magnitude[0], 0);
  EXPECT_EQ(magnitude[1], 0x1p-848);
  EXPECT_EQ(magnitude[2], 0);
  EXPECT_EQ(magnitude[3], 0x1p-800);
  EXPECT_EQ(y.high, std::vector<double>({0, 0, 0, 0x1p-800}));
}

// Kills: a low part that takes up what is rounded off without end.
TEST(PairProductTest, LongSumsStayPairs) {
  const Case row = {"long", {{kPositive}, kPositive}, {{kPositive}, kPositive}};
  const Product product(row, {1, 4000, 1}, 1);
  double sum = 0, sums = 0;
  for (size_t t = 0; t < product.a.high.size(); ++t) {
    sum += product.a.high[t] * product.b.high[t];
    sums += sum;
  }
  const double magnitude = product.With(BestIsa()).magnitude[0];
  EXPECT_LE(magnitude, 1.5 * sums);
  EXPECT_LE(product.WorstShare(), 1);
}

TEST(PairProductTest, NothingTimesNothingIsNothing) {
  PairMatrix y(2, 3);
  std::vector<double> magnitude(6);
  EXPECT_TRUE(
      AddProducts(PairMatrix(2, 0), PairMatrix(0, 3), y, magnitude.data()));
  EXPECT_EQ(y.high, std::vector<double>(6));
  EXPECT_EQ(y.low, std::vector<double>(6));
  EXPECT_EQ(magnitude, std::vector<double>(6));
}

}  // namespace
}  // namespace assay::reference::pair_product
