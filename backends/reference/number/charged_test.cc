// SPDX-License-Identifier: Apache-2.0

#include "backends/reference/number/charged.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

namespace assay::reference {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

bool IsSame(double a, double b) {
  return std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b) ||
         (std::isnan(a) && std::isnan(b));
}

template <Charge kCharge>
std::vector<Charged<kCharge>> Numbers() {
  std::vector<Charged<kCharge>> numbers;
  for (const double size : {0.0, 1.0, 0.1, 3.0, 1e17, 1e308, 1e-310, kInfinity,
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
void ExpectSumsAsOf() {
  for (const Charged<kCharge>& a : Numbers<kCharge>()) {
    for (const Charged<kCharge>& b : Numbers<kCharge>()) {
      const auto sum = a + b;
      const auto wanted = Charged<kCharge>::Of(Primitive::kAdd, a, b);
      EXPECT_TRUE(IsSame(sum.value, wanted.value)) << a.value << " " << b.value;
      EXPECT_TRUE(IsSame(sum.units, wanted.units))
          << a.value << " and " << b.value << " with " << a.units << " and "
          << b.units << ": " << sum.units << ", wanted " << wanted.units;
    }
  }
}

// Kills: a short way that charges otherwise.
TEST(Charged, SumsAreChargedAsEveryOperationIs) {
  ExpectSumsAsOf<Charge::kCondition>();
  ExpectSumsAsOf<Charge::kHard>();
  ExpectSumsAsOf<Charge::kBound>();
}

}  // namespace
}  // namespace assay::reference
