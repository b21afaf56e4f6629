// SPDX-License-Identifier: Apache-2.0
//
// Rules of one operator: a term of its derivative is left out, or tied elements
// share wrongly.

#include <cmath>
#include <numbers>
#include <numeric>

#include "backends/faulty/gradient_defect.h"
#include "backends/faulty/numbers.h"

namespace assay::faulty {
namespace {

/// The cotangent of the first output times f(x, y), element by element, of an
/// input x and an output y of one shape.
GradientSpoil Times(double (*f)(double x, double y)) {
  return [f](const RanBack& ran) -> Result<Tensor> {
    const Tensor& input = *ran.inputs[ran.target].tensor();
    const Tensor* const output = ran.outputs[0].tensor();
    if (!ran.cotangents[0].present() || output == nullptr ||
        output->shape() != input.shape()) {
      return ran.right;
    }
    const std::vector<double> x = Numbers(input);
    const std::vector<double> y = Numbers(*output);
    return WithNumbers(*ran.cotangents[0].tensor(), [&](int64_t i, double dy) {
      const auto at = static_cast<size_t>(i);
      return dy * f(x[at], y[at]);
    });
  };
}

double Logistic(double x) { return 1 / (1 + std::exp(-x)); }

/// For each element of `wide` the one of `narrow` that is broadcast there.
std::vector<size_t> PlacesIn(const Tensor& narrow, const Shape& wide) {
  std::vector<double> count(static_cast<size_t>(narrow.num_elements()));
  std::iota(count.begin(), count.end(), 0);
  const auto numbered = OfNumbers(DType::kFloat64, narrow.shape(), count);
  std::vector<size_t> places;
  if (!numbered.ok()) return places;
  for (const double place : NumbersAs(*numbered, wide)) {
    places.push_back(static_cast<size_t>(place));
  }
  return places;
}

// Every element that equals the greatest has the whole cotangent.
Result<Tensor> EachTiedHasAll(const RanBack& ran) {
  const Tensor& x = *ran.inputs[ran.target].tensor();
  const Tensor& y = *ran.outputs[0].tensor();
  if (!ran.cotangents[0].present() || x.shape().rank() > y.shape().rank()) {
    return ran.right;
  }
  // A reduction has a narrow output; Max and Min have a narrow input.
  const Shape& wide =
      x.num_elements() > y.num_elements() ? x.shape() : y.shape();
  const std::vector<size_t> in_x = PlacesIn(x, wide);
  const std::vector<double> all_x = NumbersAs(x, wide);
  const std::vector<double> all_y = NumbersAs(y, wide);
  const std::vector<double> dy = NumbersAs(*ran.cotangents[0].tensor(), wide);
  std::vector<double> wrong(static_cast<size_t>(x.num_elements()), 0);
  for (size_t i = 0; i < dy.size(); ++i) {
    if (all_x[i] == all_y[i]) wrong[in_x[i]] += dy[i];
  }
  return OfNumbers(x.dtype(), x.shape(), wrong);
}

// Beyond both derivatives beside it.
Result<Tensor> TwiceAtZero(const RanBack& ran) {
  const std::vector<double> x = Numbers(*ran.inputs[ran.target].tensor());
  const std::vector<double> dy = Numbers(*ran.cotangents[0].tensor());
  return WithNumbers(ran.right, [&](int64_t i, double right) {
    const auto at = static_cast<size_t>(i);
    return x[at] == 0 ? 2 * dy[at] : right;
  });
}

}  // namespace

std::vector<GradientRule> FormulaGradientRules() {
  return {
      {"term_dropped", "Tanh", Times([](double, double) { return 1.0; })},
      {"term_dropped", "Sigmoid", Times([](double, double y) { return y; })},
      {"term_dropped", "Softmax", Times([](double, double y) { return y; })},
      {"term_dropped", "LogSoftmax", Times([](double, double) { return 1.0; })},
      {"term_dropped", "Tan", Times([](double, double y) { return y * y; })},
      {"term_dropped", "Sqrt", Times([](double, double y) { return 1 / y; })},
      {"term_dropped", "Softsign",
       Times([](double x, double) { return 1 / (1 + std::abs(x)); })},
      {"term_dropped", "Erf",
       Times([](double x, double) { return std::exp(-x * x); })},
      {"term_dropped", "Asinh",
       Times([](double x, double) { return 1 / std::abs(x); })},
      {"term_dropped", "Atan",
       Times([](double x, double) { return 1 / (x * x); })},
      {"term_dropped", "Gelu", Times([](double x, double) {
         return std::erfc(-x / std::numbers::sqrt2) / 2;
       })},
      {"term_dropped", "Swish",
       Times([](double x, double) { return Logistic(x); })},
      {"term_dropped", "HardSwish", Times([](double x, double) {
         return std::min(1.0, std::max(0.0, x / 6 + 0.5));
       })},
      {"term_dropped", "Mish", Times([](double x, double) {
         return std::tanh(std::log1p(std::exp(x)));
       })},
      {"term_dropped", "Selu",
       Times([](double x, double) { return x > 0 ? 1 : std::exp(x); })},
      {"term_dropped", "LpNormalization",
       Times([](double x, double y) { return y / x; })},
      {"term_dropped", "RMSNormalization",
       Times([](double x, double y) { return y / x; })},
      {"term_dropped", "LRN", Times([](double x, double y) { return y / x; })},
      {"tied_have_all", "Max", EachTiedHasAll},
      {"tied_have_all", "Min", EachTiedHasAll},
      {"tied_have_all", "ReduceMax", EachTiedHasAll},
      {"tied_have_all", "ReduceMin", EachTiedHasAll},
      {"tied_have_all", "GlobalMaxPool", EachTiedHasAll},
      {"twice_at_zero", "Relu", TwiceAtZero},
      {"twice_at_zero", "Abs", TwiceAtZero},
      {"twice_at_zero", "LeakyRelu", TwiceAtZero},
      {"twice_at_zero", "PRelu", TwiceAtZero},
  };
}

}  // namespace assay::faulty
