// SPDX-License-Identifier: Apache-2.0

#include "gradcheck/judge/judge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "framework/backend/network_interfaces.h"
#include "framework/graph/model_text.h"
#include "framework/testing/support/backends_fixture.h"
#include "framework/testing/support/drawn_fixture.h"
#include "framework/testing/support/tensors_fixture.h"
#include "gradcheck/draw/draw.h"
#include "gradcheck/judge/checks.h"

namespace assay::gradcheck {
namespace {

using testing::HasSubstr;

/// y = f(x) in float64, element by element, and a gradient that a test may make
/// wrong.
struct FunctionOfOne {
  std::function<double(double)> f;
  std::function<double(double)> slope;
  /// Elements whose gradient is this share too great.
  std::map<size_t, double> off = {};
};

class FunctionBinding : public Binding {
 public:
  std::span<const Value> outputs() const override { return {&y, 1}; }
  Value x, y;
};

class FunctionNetwork : public Network, public Differentiable {
 public:
  explicit FunctionNetwork(FunctionOfOne function)
      : function_(std::move(function)) {}
  std::span<const ValueInfo> inputs() const override { return inputs_; }
  std::span<const ValueInfo> outputs() const override { return outputs_; }
  Differentiable* differentiable() override { return this; }

  Result<std::unique_ptr<Binding>> Bind(std::span<const Value> inputs,
                                        std::span<const Value>) override {
    auto binding = std::make_unique<FunctionBinding>();
    binding->x = inputs[0];
    return binding;
  }
  Status Forward(Binding& bound) override {
    auto& binding = static_cast<FunctionBinding&>(bound);
    const Tensor& x = *binding.x.tensor();
    std::vector<double> y;
    for (const double number : x.elements<double>()) {
      y.push_back(function_.f(number));
    }
    binding.y = Doubles(x.shape(), y);
    return OkStatus();
  }
  Result<std::vector<Value>> Backward(Binding& bound,
                                      std::span<const Value> cotangents,
                                      std::span<const std::string>) override {
    const Tensor& x = *static_cast<FunctionBinding&>(bound).x.tensor();
    const auto dy = cotangents[0].tensor()->elements<double>();
    std::vector<double> dx;
    for (const double number : x.elements<double>()) {
      dx.push_back(function_.slope(number) * dy[dx.size()]);
    }
    for (const auto& [i, share] : function_.off) dx[i] *= 1 + share;
    return std::vector<Value>{Doubles(x.shape(), dx)};
  }

 private:
  const FunctionOfOne function_;
  const std::vector<ValueInfo> inputs_ = {{"x", {}}};
  const std::vector<ValueInfo> outputs_ = {{"y", {}}};
};

class FunctionBackend : public StubBackend {
 public:
  explicit FunctionBackend(FunctionOfOne function)
      : StubBackend([function = std::move(function)](auto, const auto&) {
          return std::make_unique<FunctionNetwork>(function);
        }) {}
};

/// y = f(x) at some numbers, drawn cotangents and signs.
class Slopes {
 public:
  Slopes(FunctionOfOne function, std::vector<double> numbers)
      : backend_(std::move(function)), numbers_(std::move(numbers)) {
    const auto count = std::ssize(numbers_);
    const std::string type = StrCat("double[", count, "]");
    subject_.model = graph::ModelOfText(
        StrCat("g (", type, " x) => (", type, " y) { y = Sin(x) }"));
    subject_.inputs = {{Doubles(numbers_)}};
    subject_.targets = {"x"};
    Draw draw("gradcheck/Sin/a", 1, "slopes");
    dy_ = {Doubles(Weights(count, 20, draw))};
    dx_ = {Doubles(Signs(count, draw))};
    trial_.emplace(*Trial::Load(backend_, subject_));
    EXPECT_TRUE(trial_->Forward().ok());
  }

  Differences Find() { return Got(DifferencesOf(*trial_, dy_, dx_)); }
  /// The gradient along the signs.
  double Along() {
    const auto gradient = *trial_->Backward(dy_, trial_->targets());
    const auto g = gradient[0].tensor()->elements<double>();
    const auto signs = dx_[0].tensor()->elements<double>();
    return std::inner_product(g.begin(), g.end(), signs.begin(), 0.0);
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

FunctionOfOne FunctionOf(double (*f)(double), double (*slope)(double)) {
  return {.f = f, .slope = slope};
}

// Kills: a bound that leaves out the rounding of the outputs, or the steps', or
// that believes two estimates that happen to be alike.
TEST(Differences, AreOffByNoMoreThanTheirBound) {
  const struct {
    const char* name;
    double low, high;
    FunctionOfOne function;
  } rows[] = {
      {"a line", -1, 1,
       FunctionOf([](double x) { return 3 * x + 1e6; },
                  [](double) { return 3.0; })},
      {"a line so high that no step shows", -1, 1,
       FunctionOf([](double x) { return 3 * x + 1e17; },
                  [](double) { return 3.0; })},
      {"exp", -8, 8,
       FunctionOf([](double x) { return std::exp(x); },
                  [](double x) { return std::exp(x); })},
      {"a fast wave", -1, 1,
       FunctionOf([](double x) { return std::sin(40 * x); },
                  [](double x) { return 40 * std::cos(40 * x); })},
      {"a reciprocal", 0.05, 2,
       FunctionOf([](double x) { return 1 / x; },
                  [](double x) { return -1 / (x * x); })},
      {"a cube", 1e-6, 1e-5,
       FunctionOf([](double x) { return x * x * x; },
                  [](double x) { return 3 * x * x; })},
      {"a kink", -0.01, 0.01,
       FunctionOf([](double x) { return std::abs(x - 0.001); },
                  [](double x) { return x > 0.001 ? 1.0 : -1.0; })},
      {"errors that cancel", 1, 1, ErrorsThatCancel()},
  };
  for (const auto& row : rows) {
    Slopes slopes(row.function, Drawn(100, row.low, row.high));
    const Slope slope = slopes.Find().slope;
    EXPECT_LE(std::abs(slopes.Along() - slope.value), slope.bound) << row.name;
  }
}

// Kills: a wide bound, beside a kink, that clears a wrong backward, and a
// gradient that is blamed on the outputs when it is not theirs.
TEST(ShowsAnotherForward, WhereTheBoundIsFarBelowTheDifference) {
  const struct {
    const char* what;
    Slope slope;
    double along;
    Known exact;
    bool shows;
  } rows[] = {
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
  for (const auto& row : rows) {
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

// Kills: an element, an output, a target or a shape that is not looked at, and
// numbers that are near in the place of equal ones.
TEST(FaultOfStated, NamesTheFirstElementThatIsAnother) {
  constexpr DType kF32 = DType::kFloat32;
  const cases::Stated stated = {
      {Rounded(kF32, {2})},
      {{"w", Rounded(kF32, {-1, 4})}, {"x", Rounded(kF32, {-2})}}};
  const struct {
    const char* mutant;
    Value y, w, x;
    const char* fault;
  } rows[] = {
      {"all is a fault", Rounded(kF32, {2}), Rounded(kF32, {-1, 4}),
       Rounded(kF32, {-2}), ""},
      {"the types", Rounded(DType::kFloat64, {2}),
       Rounded(DType::kFloat16, {-1, 4}), Rounded(DType::kBFloat16, {-2}), ""},
      {"outputs", Rounded(kF32, {3}), Rounded(kF32, {-1, 4}),
       Rounded(kF32, {-2}), "output 0 is 3 at element 0, wanted 2"},
      {"elements", Rounded(kF32, {2}), Rounded(kF32, {-1, 4.001}),
       Rounded(kF32, {-2}), "'w' is 4.001 at element 1, wanted 4 as"},
      {"the last", Rounded(kF32, {2}), Rounded(kF32, {-1, 4}),
       Rounded(kF32, {2}), "'x' is 2 at element 0, wanted -2 as"},
      {"shapes", Rounded(kF32, {2}), Rounded(kF32, {-1}), Rounded(kF32, {-2}),
       "'w' is float32[1], wanted [2] as"},
      {"what is absent", Rounded(kF32, {2}), Value(), Rounded(kF32, {-2}),
       "no tensor"},
  };
  for (const auto& row : rows) {
    const std::vector<Value> gradients = {row.w, row.x};
    const std::string fault =
        FaultOfStated(stated, {"w", "x"}, {&row.y, 1}, gradients);
    EXPECT_THAT(fault, testing::HasSubstr(row.fault)) << row.mutant;
    EXPECT_EQ(fault.empty(), *row.fault == '\0') << row.mutant << fault;
    EXPECT_EQ(FaultOfStated({}, {"w", "x"}, {&row.y, 1}, gradients), "");
  }
}

/// Twice the numbers that are kept, and zeros.
double Kept(double x) { return x > 0 ? 2 * x : 0; }
double Mask(double x) { return x > 0 ? 2 : 0; }

std::string JudgedMask(FunctionOfOne function) {
  FunctionBackend backend(std::move(function));
  suite::Subject subject;
  subject.model =
      graph::ModelOfText("g (double[5] x) => (double[5] y) { y = Dropout(x) }");
  subject.inputs = {{Doubles({1, -2, 0, 3, -0.5})}};
  subject.targets = {"x"};
  auto trial = *Trial::Load(backend, subject);
  const auto fault = JudgeDrawnMask({}, trial);
  return fault.ok() ? *fault : fault.status().message();
}

TEST(DrawnMask, IsTheGradientOfWhatWasDrawn) {
  EXPECT_EQ(JudgedMask({.f = Kept, .slope = Mask}), "");
  EXPECT_EQ(JudgedMask({.f = Kept, .slope = Mask, .off = {{2, 5.0}}}), "");
}

// Kills: a gradient that is not that of the mask, by little or at one element,
// and an output that is no mask times the input.
TEST(DrawnMask, TellsAnotherGradient) {
  EXPECT_THAT(JudgedMask({.f = Kept, .slope = Mask, .off = {{3, 1e-14}}}),
              HasSubstr("element 3 of the gradient of 'x'"));
  EXPECT_THAT(JudgedMask({.f = Kept, .slope = [](double) { return 2.0; }}),
              HasSubstr("element 1 of the gradient of 'x'"));
  EXPECT_THAT(JudgedMask({.f = [](double x) { return x * x; },
                          .slope = [](double x) { return x; }}),
              HasSubstr("no mask times the input"));
}

}  // namespace
}  // namespace assay::gradcheck
