// SPDX-License-Identifier: Apache-2.0

#include "backends/reference/dense/charged_product.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "backends/reference/dense/product_fixture.h"

namespace assay::reference::charged_product {
namespace {

enum class Kind : uint8_t {
  kCharged,    // in (-1, 1), with units
  kExact,      // in (-1, 1), all bits of a double
  kFloat,      // in (-1, 1), the bits of a float
  kInteger,    // -8 to 8, exactly
  kOne,        // 1 or -1, exactly
  kZero,       // 0 or -0, exactly
  kSmallZero,  // 0 with units
  kNearOne,    // 1 with units
  kWide,       // 1e-300 to 1e300, with units or exact
  kHalf,       // about 2^-511: products are about the least normal number
  kSplit,      // about 2^-480: about the least that IsExact trusts
  kGreat,      // about 2^511 and 2^1000, a few bits: products that overflow
  kGreatest,   // the greatest number, or its 53 bits further down
  kPower,      // of two, which takes the latter to the former
  kSubnormal,  // exact or with units
  kUnknown,    // infinite units
  kHuge,       // units of 1e300
  kFaint,      // 0 or more, with units about the least that double has
  kInfinite,   // exact or with units
  kNone,       // no number
};

struct Number {
  double value = 0;
  double units = 0;
};

Number NumberOf(Kind kind, RandomDoubles& random) {
  const double few = static_cast<double>(random.Below(16) + 1);
  const double units = few * random.Fraction();
  const double maybe = random.Below(2) == 0 ? 0 : units;
  switch (kind) {
    case Kind::kCharged:
      return {random.Plain(), units};
    case Kind::kExact:
      return {random.Plain(), 0};
    case Kind::kFloat:
      return {random.Float(), 0};
    case Kind::kInteger:
      return {random.Integer(), 0};
    case Kind::kOne:
      return {random.Sign(), 0};
    case Kind::kZero:
      return {random.Zero(), 0};
    case Kind::kSmallZero:
      return {random.Zero(), few};
    case Kind::kNearOne:
      return {random.Sign(), random.Fraction()};
    case Kind::kWide: {
      const double wide = random.Wide(300);
      return {wide, maybe * std::abs(wide)};
    }
    case Kind::kHalf:
      return {random.About(-518), maybe};
    case Kind::kSplit:
      return {random.Sign() * std::ldexp(few, -483), 0};
    case Kind::kGreat: {
      const int exponent = random.Below(2) == 0 ? 507 : 1000;
      return {random.Sign() * std::ldexp(few, exponent), 0};
    }
    case Kind::kGreatest: {
      const double greatest = std::numeric_limits<double>::max();
      const int exponent = random.Below(2) == 0 ? 0 : -500;
      return {random.Sign() * std::ldexp(greatest, exponent), 0};
    }
    case Kind::kPower: {
      const int exponent = random.Below(2) == 0 ? -30 : 500;
      return {random.Sign() * std::ldexp(1, exponent), 0};
    }
    case Kind::kSubnormal:
      return {random.Subnormal(), maybe};
    case Kind::kUnknown:
      return {random.Plain(), kInf};
    case Kind::kHuge:
      return {random.Plain(), 1e300};
    case Kind::kFaint: {
      const double value = random.Below(2) == 0 ? 0 : random.Fraction();
      return {value, std::ldexp(few, -1030)};
    }
    case Kind::kInfinite:
      return {random.Sign() * kInf, maybe};
    case Kind::kNone:
      return {kNoNumber, maybe};
  }
  return {};
}

// As RandomDoubles::Of takes it; all but one in 32 are of the usual kinds.
struct Mixture {
  std::vector<Kind> usual;
  Kind rare;
};

Mixture Mostly(std::vector<Kind> usual, Kind rare) {
  return {std::move(usual), rare};
}

struct Case {
  std::string name;
  Mixture a, b;
  Mixture y = {{Kind::kZero}, Kind::kZero};
};

using enum Kind;
const std::vector<Case> kCases = {
    {"charged", Mostly({kCharged}, kCharged), Mostly({kCharged}, kCharged)},
    {"weights by activations", Mostly({kExact}, kExact),
     Mostly({kCharged, kZero}, kSmallZero)},
    {"activations by weights", Mostly({kCharged, kZero}, kSmallZero),
     Mostly({kExact}, kOne), Mostly({kExact}, kZero)},
    {"image", Mostly({kFloat}, kZero), Mostly({kFloat, kExact}, kOne)},
    {"one-hot", Mostly({kZero}, kOne), Mostly({kCharged}, kExact)},
    {"integers", Mostly({kInteger}, kZero), Mostly({kInteger}, kCharged)},
    {"ones", Mostly({kOne, kNearOne, kCharged, kSmallZero}, kInteger),
     Mostly({kOne, kNearOne, kExact, kZero}, kInteger),
     Mostly({kOne, kSmallZero}, kZero)},
    {"wide", Mostly({kWide}, kZero), Mostly({kWide}, kOne),
     Mostly({kWide}, kZero)},
    {"minute products", Mostly({kHalf}, kZero), Mostly({kHalf}, kHalf)},
    {"rarely a minute one", Mostly({kExact}, kHalf), Mostly({kCharged}, kHalf)},
    {"subnormal", Mostly({kInteger}, kCharged),
     Mostly({kSubnormal}, kSmallZero), Mostly({kSubnormal}, kZero)},
    {"what IsExact trusts", Mostly({kSplit}, kZero), Mostly({kSplit}, kOne)},
    {"great", Mostly({kInteger}, kGreat), Mostly({kInteger}, kGreat)},
    {"greatest", Mostly({kGreatest}, kZero), Mostly({kZero}, kPower)},
    {"unknown", Mostly({kExact}, kZero), Mostly({kCharged}, kUnknown)},
    {"unknown factor", Mostly({kCharged}, kUnknown), Mostly({kCharged}, kZero)},
    {"unknown sum", Mostly({kCharged}, kZero), Mostly({kExact}, kZero),
     Mostly({kZero}, kUnknown)},
    {"unknown beside minute numbers", Mostly({kWide, kPower}, kUnknown),
     Mostly({kWide}, kZero)},
    {"unknown beside minute units", Mostly({kZero, kFaint}, kUnknown),
     Mostly({kZero, kFaint}, kFaint)},
    {"huge units", Mostly({kCharged}, kHuge), Mostly({kCharged}, kHuge)},
    {"faint and huge units", Mostly({kZero, kFaint}, kFaint),
     Mostly({kZero}, kHuge)},
    {"huge and faint units", Mostly({kZero}, kHuge),
     Mostly({kZero, kFaint}, kFaint)},
    {"infinite", Mostly({kCharged}, kInfinite), Mostly({kExact}, kZero)},
    {"infinite sum", Mostly({kCharged}, kZero), Mostly({kExact}, kZero),
     Mostly({kZero}, kInfinite)},
    {"flows against infinities", Mostly({kCharged}, kInfinite),
     Mostly({kCharged, kZero}, kSmallZero), Mostly({kCharged}, kZero)},
    {"no number", Mostly({kCharged}, kZero), Mostly({kCharged}, kNone)},
};

// A matrix whose memory is row-major, or column-major where it is transposed.
ChargedMatrix Matrix(int64_t rows, int64_t columns, const Mixture& mixture,
                     RandomDoubles& random) {
  ChargedMatrix matrix(rows, columns);
  for (double& value : matrix.values) {
    const Number x = NumberOf(random.Of(mixture.usual, mixture.rare), random);
    value = x.value;
    matrix.units.push_back(x.units);
  }
  // All exact: as if nobody had units for it.
  if (std::ranges::all_of(matrix.units, [](double x) { return x == 0; })) {
    matrix.units.clear();
  }
  return matrix;
}

// A product of which each matrix may lie in memory transposed.
class ProductTest {
 public:
  ProductTest(const Case& row, const ProductShape& shape, uint64_t seed)
      : name_(row.name),
        layout_(seed),
        zeros_((seed >> 3 & 1) != 0 ? ZeroFactors::kSkip
                                    : ZeroFactors::kMultiply),
        random_(seed) {
    const auto& [rows, inner, columns] = shape;
    a_ = Held(0, rows, inner, row.a);
    b_ = Held(1, inner, columns, row.b);
    y_ = Held(2, rows, columns, row.y);
    y_.Sums();
  }

  template <Charge kCharge>
  void ExpectOneByOne() const {
    ChargedMatrix wanted = y_;
    OneByOne<kCharge>(As(0, a_.View()), As(1, b_.View()), As(2, wanted.Sums()));
    for (const Isa isa : AvailableIsas()) {
      ChargedMatrix y = y_;
      AddProducts<kCharge>(As(0, a_.View()), As(1, b_.View()), As(2, y.Sums()),
                           zeros_, isa);
      for (size_t i = 0; i < y.values.size(); ++i) {
        ASSERT_TRUE(IsSame(y.values[i], wanted.values[i]) &&
                    IsSame(y.units[i], wanted.units[i]))
            << name_ << ", charge " << static_cast<int>(kCharge) << ", "
            << NameOf(isa) << ", layout " << layout_ % 8 << ", zeros "
            << static_cast<int>(zeros_) << ", element " << i << " of " << y.rows
            << "x" << y.columns << ": found " << y.values[i] << " with "
            << y.units[i] << ", wanted " << wanted.values[i] << " with "
            << wanted.units[i];
      }
    }
  }
  void ExpectOneByOneForAll() const {
    ExpectOneByOne<Charge::kCondition>();
    ExpectOneByOne<Charge::kHard>();
    ExpectOneByOne<Charge::kBound>();
  }

 private:
  template <Charge kCharge>
  void OneByOne(const ChargedView& a, const ChargedView& b,
                const ChargedSums& y) const {
    for (int64_t i = 0; i < y.rows; ++i) {
      for (int64_t j = 0; j < y.columns; ++j) {
        auto sum = y.At<kCharge>(i, j);
        for (int64_t t = 0; t < a.columns; ++t) {
          const auto factor = b.At<kCharge>(t, j);
          if (zeros_ == ZeroFactors::kSkip && IsZero(factor)) continue;
          sum = AddProduct(sum, a.At<kCharge>(i, t), factor);
        }
        y.values[y.Offset(i, j)] = sum.value;
        y.units[y.Offset(i, j)] = sum.units;
      }
    }
  }
  bool IsTransposed(int matrix) const { return (layout_ >> matrix & 1) != 0; }
  ChargedMatrix Held(int matrix, int64_t rows, int64_t columns,
                     const Mixture& mixture) {
    if (IsTransposed(matrix)) std::swap(rows, columns);
    return Matrix(rows, columns, mixture, random_);
  }
  template <class View>
  View As(int matrix, const View& view) const {
    return IsTransposed(matrix) ? view.Transposed() : view;
  }

  std::string name_;
  uint64_t layout_;
  ZeroFactors zeros_;
  RandomDoubles random_;
  ChargedMatrix a_, b_, y_;
};

// Kills: a charge of any kind that a loop leaves out, or counts where nothing
// is rounded; one that it adds in another order; products that an instruction
// set fuses; factors that are taken for one another; a tile that is not
// computed again where its loop does not know; lanes and rows beyond the edges.
TEST(ChargedProductTest, GivesWhatAddProductGivesOneByOne) {
  uint64_t seed = 0;
  for (const Case& row : kCases) {
    for (int64_t size = 1; size <= 33; ++size) {
      ProductTest(row, ShapeOf(size), ++seed).ExpectOneByOneForAll();
      if (HasFatalFailure()) return;
    }
  }
}

// Kills: sums that start anew with each block of terms; columns that take the
// factors of others; a block that is computed again from where another began.
TEST(ChargedProductTest, GoesOnFromBlockToBlock) {
  const Mixture charged = Mostly({kCharged}, kCharged);
  const Case plain = {"long", charged, charged, charged};
  const Mixture minute = Mostly({kCharged}, kHalf);
  const Case odd = {"long, one by one", minute, minute, charged};
  for (const ProductShape& shape :
       {ProductShape{3, 600, 150}, ProductShape{150, 257, 3},
        ProductShape{5, 256, 128}}) {
    ProductTest(plain, shape, 1).ExpectOneByOneForAll();
    ProductTest(odd, shape, 6).ExpectOneByOneForAll();
  }
}

// Kills: halves of a factor of which one is too long, so that their product is
// rounded as well.
TEST(ChargedProductTest, AProductIsNotExactThatIsSoButForItsLastBit) {
  constexpr uint64_t kBits = uint64_t{1} << 53;
  ChargedMatrix a(1, 1), b(1, 1);
  RandomDoubles random(1);
  for (int i = 0; i < 1000; ++i) {
    const auto odd = static_cast<uint64_t>(random.Below(kBits / 2)) * 2 + 1;
    // Newton's iteration: odd inverse = 1 modulo 2^53.
    uint64_t inverse = odd;
    for (int step = 0; step < 5; ++step) inverse *= 2 - odd * inverse;
    a.values = {static_cast<double>(odd)};
    b.values = {static_cast<double>(inverse % kBits)};
    for (const Isa isa : AvailableIsas()) {
      ChargedMatrix y(1, 1);
      AddProducts<Charge::kBound>(a.View(), b.View(), y.Sums(),
                                  ZeroFactors::kMultiply, isa);
      ASSERT_EQ(y.units[0], y.values[0] / 256) << NameOf(isa) << " " << odd;
    }
  }
}

TEST(ChargedProductTest, NothingTimesNothingIsNothing) {
  ChargedMatrix y(2, 3);
  AddProducts<Charge::kBound>(ChargedMatrix(2, 0), ChargedMatrix(0, 3), y);
  EXPECT_EQ(y.values, std::vector<double>(6));
  EXPECT_EQ(y.units, std::vector<double>(6));
}

}  // namespace
}  // namespace assay::reference::charged_product
