// SPDX-License-Identifier: Apache-2.0

#include "backends/reference/tape/passes.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "backends/reference/exact/referee.h"
#include "backends/reference/loop/product.h"
#include "backends/reference/scalar/scalar.h"
#include "framework/testing/support/statuses_fixture.h"
#include "framework/testing/support/tensors_fixture.h"

namespace assay::reference {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

// dy by each node, in double.
std::vector<double> AdjointsOf(const Tape& tape, const Var& y) {
  std::vector<double> adjoints(tape.size());
  adjoints[y.node()] = 1;
  Reverse(tape, tape.values(), adjoints);
  return adjoints;
}

// x tanh(log(1 + exp(x))), in any scalar.
template <class S>
S Mish(S x) {
  return x * tanh(log1p(exp(x)));
}

template <class S>
S SumOfMish(const std::vector<S>& x) {
  S sum(0);
  for (const S& one : x) sum = sum + Mish(one);
  return sum;
}

// A tape of the sum of Mish at these numbers; nodes 1 to n are the inputs.
struct RecordedMish {
  explicit RecordedMish(const std::vector<double>& numbers) {
    const Tape::Scope recording(&tape);
    std::vector<Var> x;
    for (const double number : numbers) x.push_back(tape.Input(number));
    y = SumOfMish(x);
  }
  Tape tape;
  Var y;
};

const std::vector<double> kMishInputs = {-3.5, -0.25, 0.75, 2.0};

TEST(TapeTest, AReplayInQuadIsTheKernelInQuad) {
  const RecordedMish mish(kMishInputs);
  std::vector<Quad> x;
  for (const double number : kMishInputs) x.emplace_back(number);
  const Quad direct = SumOfMish(x);
  EXPECT_EQ(ToDouble(Replay<Quad>(mish.tape)[mish.y.node()] - direct), 0);
  EXPECT_EQ(Replay<double>(mish.tape), mish.tape.values());
}

TEST(TapeTest, ReverseDualAndDifferencesAgree) {
  const RecordedMish mish(kMishInputs);
  const std::vector<Quad> values = Replay<Quad>(mish.tape);
  std::vector<Quad> adjoints(mish.tape.size());
  adjoints[mish.y.node()] = Quad(1);
  Reverse(mish.tape, values, adjoints);
  for (uint32_t node = 1; node <= kMishInputs.size(); ++node) {
    const auto moving =
        Replay<Dual<Quad>>(mish.tape, [&](uint32_t at, double value) {
          return Dual<Quad>(Quad(value), Quad(at == node ? 1 : 0));
        });
    const Quad tangent = moving[mish.y.node()].tangent;
    EXPECT_LE(std::abs(ToDouble(tangent - adjoints[node])), 1e-32);
    const auto along = [&](double h) -> Result<Sample> {
      std::vector<double> x = kMishInputs;
      x[node - 1] += h;
      return Sample{SumOfMish(x), 0x1p-50};
    };
    const auto slope = Got(SlopeAtZero(along, {}));
    EXPECT_LE(std::abs(slope.value - ToDouble(tangent)), slope.bound);
    EXPECT_LE(slope.bound, 1e-9);
  }
}

TEST(TapeTest, ChargesBoundTheErrorOfTheRecordedValue) {
  for (const double spread : {1.0, 1e-3, 1e2}) {
    std::vector<double> numbers(1000);
    for (size_t i = 0; i < numbers.size(); ++i) {
      numbers[i] = spread * std::sin(static_cast<double>(i));
    }
    const RecordedMish mish(numbers);
    const auto charges = Replay<Charged<Charge::kBound>>(mish.tape);
    const Quad exact = Replay<Quad>(mish.tape)[mish.y.node()];
    const double error = std::abs(ToDouble(exact - Quad(mish.y.value())));
    const double bound = charges[mish.y.node()].Error();
    EXPECT_GT(error, 0);
    EXPECT_LE(error, bound);
    EXPECT_LE(bound, 1e-9 * spread * 1000);
  }
}

// y + 2 a b of 2x3 and 3x2, as a block and term by term.
struct Matrices {
  explicit Matrices(bool as_block) {
    const Tape::Scope recording(&tape);
    std::vector<Var> a, b, y;
    for (int i = 0; i < 6; ++i) a.push_back(tape.Input(0.5 + i));
    for (int i = 0; i < 6; ++i) b.push_back(tape.Input(1.25 - i));
    for (int i = 0; i < 4; ++i) y.push_back(tape.Input(i));
    Product product = DenseProduct(2, 3, 2);
    product.scale = 2;
    if (as_block) {
      tape.PushBlock(product, {.vars = a.data()}, {.vars = b.data()}, y.data());
    } else {
      for (size_t i = 0; i < 2; ++i) {
        for (size_t t = 0; t < 3; ++t) {
          for (size_t j = 0; j < 2; ++j) {
            y[i * 2 + j] += Var(2) * a[i * 3 + t] * b[t * 2 + j];
          }
        }
      }
    }
    result = y[0] * y[1] + y[2] * y[3];
  }
  std::vector<double> Gradient() const {
    const std::vector<double> adjoints = AdjointsOf(tape, result);
    return {adjoints.begin() + 1, adjoints.begin() + 17};
  }
  Tape tape;
  Var result;
};

TEST(TapeTest, ABlockIsTheSameAsItsTerms) {
  const Matrices block(true);
  const Matrices terms(false);
  EXPECT_EQ(block.result.value(), terms.result.value());
  EXPECT_EQ(block.Gradient(), terms.Gradient());
  EXPECT_LT(block.tape.size(), terms.tape.size());
  EXPECT_EQ(ToDouble(Replay<Quad>(block.tape)[block.result.node()]),
            block.result.value());
}

template <class C>
void ExpectAddProductIsItsTwoSteps() {
  std::vector<C> numbers;
  for (const double value :
       std::vector<double>{0.0, -0.0, 1.0, -1.0, 3.0, 0.1, -7e-9, 1e200,
                           0x1p-1030, 0x1p-600, kInf, kNone}) {
    for (const double units :
         std::vector<double>{0, 1e-20, 0.25, 1e300, kInf}) {
      numbers.emplace_back(value, units);
    }
  }
  for (const C& sum : numbers) {
    for (const C& a : numbers) {
      for (const C& b : numbers) {
        const C once = AddProduct(sum, a, b);
        const C twice = sum + a * b;
        const bool same = once.value == twice.value ||
                          (std::isnan(once.value) && std::isnan(twice.value));
        EXPECT_TRUE(same && once.units == twice.units)
            << sum.value << " + " << a.value << " * " << b.value << ": "
            << once.units << " and " << twice.units;
      }
    }
  }
}

// Kills: a charge that the short way to add a product leaves out.
TEST(TapeTest, AddingAProductIsChargedAsItsTwoSteps) {
  ExpectAddProductIsItsTwoSteps<Charged<Charge::kBound>>();
  ExpectAddProductIsItsTwoSteps<Charged<Charge::kCondition>>();
  ExpectAddProductIsItsTwoSteps<Charged<Charge::kHard>>();
}

TEST(TapeTest, WhatDoesNotMoveIsLeftOut) {
  constexpr uint32_t kTarget = 1;
  Tape tape;
  Var y;
  const Var x(2, 0, kTarget);
  const std::vector<Var> given = {Var(3, 0, kGivenSource),
                                  Var(5, 1, kGivenSource)};
  {
    const Tape::Scope recording(&tape);
    const Var still = exp(given[0]) * given[1];
    std::vector<Var> of_x = {x * still, Max(x, still)}, sum(1);
    std::vector<Var> beside = {still, still};
    Accumulate<Var>(nullptr, DenseProduct(1, 2, 1), of_x.data(), beside.data(),
                    sum.data());
    y = sum[0] + Detach(x) * still;
  }
  const std::vector<double> all = AdjointsOf(tape, y);
  tape.MarkMoving([](uint32_t source, uint32_t) { return source == kTarget; });
  const std::vector<double> moving = AdjointsOf(tape, y);
  EXPECT_NE(all[tape.NodeOf(given[0])], 0);
  EXPECT_EQ(moving[tape.NodeOf(x)], all[tape.NodeOf(x)]);
  for (const Var& still : given) {
    EXPECT_FALSE(tape.Moves(tape.NodeOf(still)));
    EXPECT_EQ(moving[tape.NodeOf(still)], 0);
  }
  EXPECT_TRUE(tape.blocks()[0].a.moves);
  EXPECT_FALSE(tape.blocks()[0].b.moves);
  EXPECT_TRUE(tape.Moves(y.node()));
}

TEST(TapeTest, ConstantsAreMadeMoreExactByAReplay) {
  Tape tape;
  const Tape::Scope recording(&tape);
  const Var half_root = sqrt(Var(0.5));
  const Quad exact = Replay<Quad>(tape)[half_root.node()];
  EXPECT_LE(std::abs(ToDouble(exact * exact - Quad(0.5))), 1e-33);
}

TEST(TapeTest, TiesTellAKinkFromAJump) {
  struct Row {
    const char* what;
    double at;
    bool is_kink;
    bool is_jump;
  };
  for (const Row& row :
       {Row{"away", 1, false, false}, Row{"at a tie", 0, true, false}}) {
    std::vector<double> values, slopes;
    for (const Ties ties : {Ties::kFalse, Ties::kTrue}) {
      Tape tape(size_t{1} << 10, ties);
      const Tape::Scope recording(&tape);
      const Var x = tape.Input(row.at);
      const Var y = Before(x, Var(0)) ? Var(0.125) * x : x;  // LeakyRelu
      values.push_back(y.value());
      slopes.push_back(AdjointsOf(tape, y)[x.node()]);
    }
    EXPECT_EQ(values[0] != values[1], row.is_jump) << row.what;
    EXPECT_EQ(slopes[0] != slopes[1], row.is_kink) << row.what;
  }
}

TEST(TapeTest, MarginsAreTheWayToTheNearestDecision) {
  Tape tape;
  const Tape::Scope recording(&tape);
  const Var x = tape.Input(0.75);
  const Var z = tape.Input(2);
  static_cast<void>(Max(x, z));          // 1.25 apart, x moves by 1
  static_cast<void>(floor(x));           // 0.25 below 1
  static_cast<void>(Before(x, Var(0)));  // 0.75 above 0
  const auto moving =
      Replay<Dual<double>>(tape, [&](uint32_t node, double value) {
        return Dual<double>(value, node == x.node() ? 1 : 0);
      });
  const Margins margins = MarginsOf(tape, moving);
  EXPECT_EQ(margins.kink, 0.75);
  EXPECT_EQ(margins.jump, 0.25);
}

TEST(TapeTest, NothingFlowsThroughWhatIsDetached) {
  Tape tape;
  const Tape::Scope recording(&tape);
  const Var x = tape.Input(3);
  const Var y = x - Detach(x) * Var(2);
  EXPECT_EQ(y.value(), -3);
  EXPECT_EQ(AdjointsOf(tape, y)[x.node()], 1);
}

TEST(TapeTest, AFullTapeSaysSo) {
  Tape tape(4);
  const Tape::Scope recording(&tape);
  Var x = tape.Input(1);
  for (int i = 0; i < 8; ++i) x = x + x;
  EXPECT_TRUE(tape.full());
  EXPECT_EQ(x.value(), 256);
  EXPECT_EQ(tape.size(), 4);
}

// The bound must hold for functions that differences find hard.
TEST(RefereeTest, BoundsCoverTheTruth) {
  struct Row {
    const char* name;
    double (*f)(double);
    double at;
    double slope;
  };
  const std::vector<Row> rows = {
      {"exp", [](double x) { return std::exp(x); }, 1, std::exp(1.0)},
      {"log", [](double x) { return std::log(x); }, 0.125, 8},
      {"sqrt", [](double x) { return std::sqrt(x); }, 0.0625, 2},
      {"cube", [](double x) { return x * x * x; }, 2, 12},
      {"reciprocal", [](double x) { return 1 / x; }, 0.25, -16},
      {"sin", [](double x) { return std::sin(40 * x); }, 0, 40},
      {"flat", [](double) { return 7.0; }, 0, 0},
  };
  for (const Row& row : rows) {
    const auto slope = Got(SlopeAtZero(
        [&](double h) -> Result<Sample> {
          const double value = row.f(row.at + h);
          return Sample{value, 0x1p-52 * std::abs(value)};
        },
        {.step = 0x1p-7}));
    EXPECT_LE(std::abs(slope.value - row.slope), slope.bound) << row.name;
    EXPECT_LE(slope.bound, 1e-6 * std::max(1.0, std::abs(row.slope)))
        << row.name;
  }
}

}  // namespace
}  // namespace assay::reference
