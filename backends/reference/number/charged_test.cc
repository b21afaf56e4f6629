// SPDX-License-Identifier: Apache-2.0

#include "backends/reference/number/charged.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "backends/reference/number/same_bits.h"

namespace assay::reference {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

template <Charge kCharge>
std::vector<Charged<kCharge>> Numbers() {
  std::vector<Charged<kCharge>> numbers;
  for (const double size :
       {0.0, 1.0, 0.1, 3.0, 1e17, 1e308, 1e-160, 1e-310, 0x1p-500, kInfinity,
        std::numeric_limits<double>::quiet_NaN()}) {
    for (const double value : {size, -size}) {
      for (const double units : {0.0, 0.5, 1e-320, 1e308, kInfinity}) {
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

}  // namespace
}  // namespace assay::reference
