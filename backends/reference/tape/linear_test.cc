// SPDX-License-Identifier: Apache-2.0

#include "backends/reference/tape/linear.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "backends/reference/loop/accumulate.h"
#include "backends/reference/scalar/scalar.h"

namespace assay::reference {
namespace {

using BoundNumber = Charged<Charge::kBound>;
using TapeFunction = std::function<Var(const std::vector<Var>& x)>;

// Each number is off by a rounding.
BoundNumber RoundedOnce(uint32_t, double value) {
  return BoundNumber::Rounded(value, 1);
}

// A tape of f at these inputs, and the adjoints of its nodes by both passes.
struct PassedTape {
  PassedTape(const TapeFunction& f, const std::vector<double>& at) {
    const auto tape = std::make_shared<Tape>();
    Var y;
    {
      const Tape::Scope recording(tape.get());
      std::vector<Var> x;
      for (const double number : at) x.push_back(tape->Input(number));
      y = f(x);
    }
    const std::vector<BoundNumber> values =
        Replay<BoundNumber>(*tape, RoundedOnce);
    plain = listed = std::vector<BoundNumber>(tape->size());
    plain[y.node()] = listed[y.node()] = BoundNumber(1);
    Reverse<BoundNumber>(*tape, values, plain, RoundedOnce);
    const Linear<BoundNumber> linear(tape, values, RoundedOnce);
    linear.Reverse(RoundedOnce, listed);
    std::vector<BoundNumber> doubled(tape->size());
    doubled[y.node()] = BoundNumber(2);
    linear.Reverse(RoundedOnce, doubled);
    twice = std::move(doubled);
  }

  std::vector<BoundNumber> plain, listed, twice;
};

void ExpectSame(const PassedTape& passed, size_t inputs) {
  for (size_t node = 1; node <= inputs; ++node) {
    const BoundNumber& plain = passed.plain[node];
    const BoundNumber& listed = passed.listed[node];
    EXPECT_DOUBLE_EQ(listed.value, plain.value) << node;
    if (std::isinf(plain.units)) {
      EXPECT_TRUE(std::isinf(listed.units)) << node;
    } else {
      EXPECT_NEAR(listed.units, plain.units, 0.1 * plain.units) << node;
    }
    EXPECT_DOUBLE_EQ(passed.twice[node].value, 2 * plain.value) << node;
  }
}

TEST(LinearTest, FunctionsAreAsInReverse) {
  ExpectSame(PassedTape(
                 [](const std::vector<Var>& x) {
                   return exp(x[0] * x[1]) / sqrt(x[2]) - pow(x[1], Var(3)) +
                          x[0];
                 },
                 {0.3, -0.7, 1.9}),
             3);
}

TEST(LinearTest, DecisionsAreAsInReverse) {
  const TapeFunction most = [](const std::vector<Var>& x) {
    const Var ramp = IfBefore(
        x[2], Var(0), [&] { return x[2] * Var(0.1); }, [&] { return x[2]; });
    return Max(x[0], x[1]) * Var(3) + ramp;
  };
  ExpectSame(PassedTape(most, {1, 2, -3}), 3);
  // Nearer than their roundings: unknown, of all that might have been taken.
  const PassedTape tied(most, {1, 1 + 0x1p-52, 0x1p-80});
  ExpectSame(tied, 3);
  EXPECT_TRUE(std::isinf(tied.listed[1].units));
  EXPECT_TRUE(std::isinf(tied.listed[2].units));
}

TEST(LinearTest, NothingFlowsAlongAnInfiniteDerivative) {
  const PassedTape root(
      [](const std::vector<Var>& x) { return sqrt(x[0] - x[0]) * Var(0); },
      {0.5});
  EXPECT_EQ(root.listed[1].value, 0);
  EXPECT_EQ(root.listed[1].units, 0);
}

// The sum of the elements of a b c, of 2 x n, n x 2 and 2 x 2: the first
// product is listed, or too great for it.
TEST(LinearTest, ProductsSmallAndGreatAreAsInReverse) {
  for (const int64_t n : {3, 200}) {
    const auto sum_of_product = [n](const std::vector<Var>& x) {
      Product first = DenseProduct(2, n, 2);
      first.scale = 0.75;
      std::vector<Var> y(4), z(4);
      Accumulate<Var>(nullptr, first, x.data(), x.data() + 2 * n, y.data());
      Accumulate<Var>(nullptr, DenseProduct(2, 2, 2), y.data(),
                      x.data() + 4 * n, z.data());
      return z[0] * z[0] + z[1] + z[2] + z[3];
    };
    std::vector<double> at;
    for (int64_t i = 0; i < 4 * n + 4; ++i) {
      at.push_back(std::sin(static_cast<double>(i)));
    }
    ExpectSame(PassedTape(sum_of_product, at), at.size());
  }
}

}  // namespace
}  // namespace assay::reference
