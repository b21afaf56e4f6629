// SPDX-License-Identifier: Apache-2.0

#include "backends/reference/number/charged.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "backends/reference/number/same_bits.h"
#include "framework/testing/support/tensors_fixture.h"

namespace assay::reference {
namespace {

template <Charge kCharge>
std::vector<Charged<kCharge>> Numbers() {
  std::vector<Charged<kCharge>> numbers;
  for (const double size : std::vector<double>{
           0, 1, 0.1, 3, 1e17, 1e308, 1e-160, 1e-310, 0x1p-500, kInf, kNan}) {
    for (const double value : {size, -size}) {
      for (const double units :
           std::vector<double>{0, 0.5, 1e-320, 1e308, kInf}) {
        numbers.emplace_back(value, units);
      }
    }
  }
  return numbers;
}

template <Charge kCharge>
void ExpectAsOf() {
  using C = Charged<kCharge>;
  const auto expect = [](Primitive primitive, const C& a, const C& b,
                         const C& found) {
    const C wanted = C::Of(primitive, a, b);
    EXPECT_TRUE(IsSame(found.value, wanted.value)) << a.value << " " << b.value;
    EXPECT_TRUE(IsSame(found.units, wanted.units))
        << a.value << " and " << b.value << " with " << a.units << " and "
        << b.units << ": " << found.units << ", wanted " << wanted.units;
  };
  for (const C& a : Numbers<kCharge>()) {
    for (const C& b : Numbers<kCharge>()) {
      expect(Primitive::kAdd, a, b, a + b);
      expect(Primitive::kMultiply, a, b, a * b);
    }
  }
}

// Kills: a short way that charges otherwise.
TEST(Charged, SumsAndProductsAreChargedAsEveryOperationIs) {
  ExpectAsOf<Charge::kCondition>();
  ExpectAsOf<Charge::kHard>();
  ExpectAsOf<Charge::kBound>();
}

// Kills: units in which a position and an offset are added for nothing.
TEST(Charged, OfASumARoundingIsCountedThatNoNumberOfItHas) {
  using C = Charged<Charge::kCondition>;
  const auto roundings = [](double a, double of_a, double b, double of_b) {
    const C x = C::Rounded(a, of_a);
    const C y = C::Rounded(b, of_b);
    const C sum = x + y;
    EXPECT_EQ(C::Of(Primitive::kSubtract, x, C::Rounded(-b, of_b)).units,
              sum.units);
    return sum.Roundings();
  };
  EXPECT_EQ(roundings(0.5, 1, 4, 0), 0.5 + 4.5);
  EXPECT_EQ(roundings(4, 0, 0.5, 1), 0.5 + 4.5);
  EXPECT_EQ(roundings(0.5, 1, 4, 1), 0.5 + 4);
  EXPECT_EQ(roundings(0.5, 0, 4, 0), 0);  // as in a sum of integers
  EXPECT_EQ(roundings(0.5, 1, 0, 0), 0.5);
}

template <Charge kCharge>
Partials<Charged<kCharge>> PowerOf(double base, double exponent,
                                   double roundings) {
  using C = Charged<kCharge>;
  const C a = C::Rounded(base, 1);
  const C b = C::Rounded(exponent, roundings);
  return KnownPartials(Primitive::kPow, a, b, C::Of(Primitive::kPow, a, b));
}

// Kills: a power of 0 whose derivatives are unknown since its exponent was
// given; one after the exponent that is 0 where there is none.
TEST(Charged, APowerOfZeroHasTheDerivativesOfItsLimit) {
  struct Row {
    double exponent, after_base;
    bool base_is_known, exponent_is_known;
  };
  const Row rows[] = {{3, 0, true, true},   {1.5, 0, true, true},
                      {1, 1, true, true},   {0.5, kInf, true, true},
                      {0, 0, true, false},  {-0.5, 0, false, false},
                      {-2, 0, false, false}};
  for (const Row& row : rows) {
    const auto expect = [&](const auto& d) {
      EXPECT_EQ(d.a.units == kInf, !row.base_is_known) << row.exponent;
      EXPECT_EQ(d.b.units == kInf, !row.exponent_is_known) << row.exponent;
      // What is not known has the value 0, too.
      EXPECT_EQ(d.a.value, row.after_base) << row.exponent;
      EXPECT_EQ(d.b.value, 0) << row.exponent;
    };
    expect(PowerOf<Charge::kCondition>(0, row.exponent, 1));
    expect(PowerOf<Charge::kHard>(0, row.exponent, 1));
    expect(PowerOf<Charge::kBound>(0, row.exponent, 0));
  }
}

// Kills: an exponent in doubt that is taken for 1, and one that is not for a
// doubtful one.
TEST(Charged, ABoundOnAPowerOfZeroDoubtsItsExponent) {
  const auto one = PowerOf<Charge::kBound>(0, 1, 1);
  EXPECT_EQ(one.a.units, kInf);
  EXPECT_EQ(one.b.units, 0);
  EXPECT_EQ(PowerOf<Charge::kBound>(0, 2, 1).a.units, 0);
  EXPECT_EQ(PowerOf<Charge::kBound>(0, 1e-3, 0x1p53).b.units, kInf);
}

// Kills: a value that is unknown since its exponent was given.
TEST(Charged, APowerOfZeroIsZero) {
  using C = Charged<Charge::kHard>;
  const C zero(0);
  EXPECT_EQ(C::Of(Primitive::kPow, zero, C::Rounded(0.5, 1)).units, 0);
  EXPECT_EQ(C::Of(Primitive::kPow, zero, C::Rounded(-0.5, 1)).units, kInf);
}

}  // namespace
}  // namespace assay::reference
