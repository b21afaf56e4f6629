// SPDX-License-Identifier: Apache-2.0

#include "gradcheck/judge/differences.h"

#include <gtest/gtest.h>

#include <cmath>

#include "framework/graph/model_text.h"
#include "gradcheck/draw/draw.h"
#include "gradcheck/judge/function_backend_fixture.h"

namespace assay::gradcheck {
namespace {

/// y = f(x) at some numbers, drawn cotangents and signs.
class Slopes {
 public:
  Slopes(FunctionOfOne function, std::vector<double> numbers)
      : backend_(std::move(function)), numbers_(std::move(numbers)) {
    const auto count = std::ssize(numbers_);
    const std::string type = StrCat("double[", count, "]");
    subject_.model = graph::ModelOfText(
        StrCat("g (", type, " x) => (", type, " y) { y = Sin(x) }"));
    subject_.inputs = {{*TensorOf(DType::kFloat64, {count}, numbers_)}};
    subject_.targets = {"x"};
    Draw draw("gradcheck/Sin/a", 1, "slopes");
    dy_ = {*Tensor::Of<double>({count}, Weights(count, 20, draw))};
    dx_ = {*Tensor::Of<double>({count}, Signs(count, draw))};
    trial_.emplace(*Trial::Load(backend_, subject_));
    EXPECT_TRUE(trial_->Forward().ok());
  }

  Differences Find() {
    auto found = DifferencesOf(*trial_, dy_, dx_);
    EXPECT_TRUE(found.ok()) << found.status().ToString();
    return *found;
  }
  /// The gradient along the signs.
  double Along() {
    const auto gradient = *trial_->Backward(dy_, trial_->targets());
    const auto g = gradient[0].tensor()->elements<double>();
    const auto signs = dx_[0].tensor()->elements<double>();
    double along = 0;
    for (size_t i = 0; i < g.size(); ++i) along += g[i] * signs[i];
    return along;
  }
  Trial& trial() { return *trial_; }

 private:
  FunctionBackend backend_;
  std::vector<double> numbers_;
  suite::Subject subject_;
  std::vector<Value> dy_, dx_;
  std::optional<Trial> trial_;
};

std::vector<double> Drawn(int64_t count, double low, double high) {
  Draw draw("gradcheck/Sin/a", 1, "numbers");
  std::vector<double> numbers;
  for (int64_t i = 0; i < count; ++i) {
    numbers.push_back(low + (high - low) * draw.Uniform());
  }
  return numbers;
}

/// At 1 the errors of two orders cancel between the first two steps, 1/64 and
/// 1/128: differences there are one number, and off by half of 1.
FunctionOfOne ErrorsThatCancel() {
  constexpr double kFifth = 1e8;
  constexpr double kThird = -1.25 * kFifth / 64 / 64;
  return {.f =
              [](double x) {
                const double u = x - 1;
                return u + kThird * u * u * u + kFifth * u * u * u * u * u;
              },
          .slope = [](double) { return 1.0; }};
}

FunctionOfOne Wave() {
  return {.f = [](double x) { return std::sin(x) + x * x * x / 10; },
          .slope = [](double x) { return std::cos(x) + 0.3 * x * x; }};
}

// Kills: steps that stop too early or go on into rounding, a bound that is
// wider than the error of one element of many, and more forwards than are paid
// for.
TEST(Differences, ResolveADefectOfOneElementInTenThousand) {
  constexpr double kDefect = 1e-7;  // relative
  constexpr int64_t kMostForwards = 16;
  FunctionOfOne wrong = Wave();
  wrong.off = {{4321, kDefect}};
  const auto numbers = Drawn(10000, -2, 2);
  Slopes right_slopes(Wave(), numbers);
  Slopes wrong_slopes(wrong, numbers);
  const Slope slope = right_slopes.Find().slope;
  const double right = std::abs(right_slopes.Along() - slope.value);
  const double off = std::abs(wrong_slopes.Along() - slope.value);
  RecordProperty("bound", StrCat(slope.bound));
  RecordProperty("error", StrCat(right));
  RecordProperty("defect", StrCat(off));
  EXPECT_LE(right, slope.bound);
  EXPECT_GT(off, 2 * slope.bound) << "bound " << slope.bound;
  EXPECT_LE(right_slopes.trial().n_forward(), kMostForwards);
}

// Kills: a bound that leaves out the rounding of the outputs, or the steps', or
// that believes two estimates that happen to be alike.
TEST(Differences, AreOffByNoMoreThanTheirBound) {
  struct Row {
    const char* name;
    FunctionOfOne function;
    double low, high;
  };
  const std::vector<Row> rows = {
      {"a line",
       {[](double x) { return 3 * x + 1e6; }, [](double) { return 3.0; }},
       -1,
       1},
      {"a line so high that no step shows",
       {[](double x) { return 3 * x + 1e17; }, [](double) { return 3.0; }},
       -1,
       1},
      {"exp",
       {[](double x) { return std::exp(x); },
        [](double x) { return std::exp(x); }},
       -8,
       8},
      {"a fast wave",
       {[](double x) { return std::sin(40 * x); },
        [](double x) { return 40 * std::cos(40 * x); }},
       -1,
       1},
      {"a reciprocal",
       {[](double x) { return 1 / x; }, [](double x) { return -1 / (x * x); }},
       0.05,
       2},
      {"a cube",
       {[](double x) { return x * x * x; }, [](double x) { return 3 * x * x; }},
       1e-6,
       1e-5},
      {"a kink",
       {[](double x) { return std::abs(x - 0.001); },
        [](double x) { return x > 0.001 ? 1.0 : -1.0; }},
       -0.01,
       0.01},
      {"errors that cancel", ErrorsThatCancel(), 1, 1},
  };
  for (const Row& row : rows) {
    Slopes slopes(row.function, Drawn(100, row.low, row.high));
    const Slope slope = slopes.Find().slope;
    EXPECT_LE(std::abs(slopes.Along() - slope.value), slope.bound) << row.name;
  }
}

// Kills: a wide bound, beside a kink, that clears a wrong backward, and a
// gradient that is blamed on the outputs when it is not theirs.
TEST(ShowsAnotherForward, WhereTheBoundIsFarBelowTheDifference) {
  struct Row {
    const char* what;
    Slope slope;
    double along;
    Known exact;
    bool shows;
  };
  const Row rows[] = {
      {"of another forward", {2, 1e-9}, 2, {1, 1e-12}, true},
      {"of its rounding", {2, 1e-9}, 2 + 5e-10, {1, 1e-12}, true},
      {"right", {1, 1e-9}, 1, {1, 1e-12}, false},
      {"of a right forward", {1, 1e-9}, 2, {1, 1e-12}, false},
      {"of a third one", {2, 1e-9}, 3, {1, 1e-12}, false},
      {"beside a kink", {2, 0.9}, 2.5, {1, 1e-12}, false},
      {"an eighth of it", {2, 0.125}, 2, {1, 1e-12}, true},
      {"more than that", {2, 0.126}, 2, {1, 1e-12}, false},
      {"exact one in doubt", {2, 1e-9}, 2, {1, 1}, false},
      {"one of several", {2, 1e-9}, 2, {1, INFINITY}, false},
      {"no bound", {2, INFINITY}, 2, {1, 0}, false},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(ShowsAnotherForward(row.slope, row.along, row.exact), row.shows)
        << row.what;
  }
}

// Kills: inputs that stay moved, and outputs that are those of moved ones.
TEST(Differences, LeaveTheInputsAsTheyWere) {
  const auto numbers = Drawn(50, -1, 1);
  Slopes slopes(Wave(), numbers);
  const auto y = slopes.trial().outputs()[0].tensor()->Clone().value();
  const Differences found = slopes.Find();
  EXPECT_EQ(*slopes.trial().NumbersOf(0), numbers);
  EXPECT_EQ(slopes.trial().Damage(), "");
  EXPECT_EQ(NumbersOf(*slopes.trial().outputs()[0].tensor()), NumbersOf(y));
  EXPECT_LT(found.h_min, found.h_max);
  EXPECT_GT(found.h_min, 0);
}

}  // namespace
}  // namespace assay::gradcheck
