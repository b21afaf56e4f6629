// SPDX-License-Identifier: Apache-2.0

#include "framework/train/quad/problem.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace assay::quad {
namespace {

/// Half the sum of curvature (x - optimum)^2.
Problem Quadratic() {
  Problem problem;
  problem.name = "quadratic";
  problem.start = {{1.5, -2, 0.75, 3}, {-1, 2.5}};
  problem.optimum = {{0.5, 0.25, -1, 1}, {0.125, -0.5}};
  const std::vector<std::vector<double>> curvature = {{1, 0.1, 0.5, 2},
                                                      {10, 0.25}};
  problem.gradient_of =
      [curvature, optimum = problem.optimum](const std::vector<QuadTensor>& x) {
        std::vector<QuadTensor> gradients = x;
        for (size_t p = 0; p < x.size(); ++p) {
          for (size_t i = 0; i < x[p].size(); ++i) {
            gradients[p][i] = curvature[p][i] * (x[p][i] - optimum[p][i]);
          }
        }
        return gradients;
      };
  return problem;
}

/// Four kinds of samples, rows of a Hadamard matrix, of which so many are
/// positive: as many weights as kinds, so that at the optimum each kind's
/// probability is its share.
Problem LogisticRegression() {
  constexpr std::array<std::array<double, 4>, 4> kSamples = {
      {{1, 1, 1, 1}, {1, -1, 1, -1}, {1, 1, -1, -1}, {1, -1, -1, 1}}};
  constexpr std::array<double, 4> kShare = {0.75, 0.25, 0.5, 0.875};
  Problem problem;
  problem.name = "logistic";
  problem.start = {{1, -1, 2}, {0.5}};
  std::array<double, 4> weights = {};
  for (size_t k = 0; k < 4; ++k) {
    const double logit = std::log(kShare[k] / (1 - kShare[k]));
    for (size_t i = 0; i < 4; ++i) weights[i] += kSamples[k][i] * logit / 4;
  }
  problem.optimum = {{weights[0], weights[1], weights[2]}, {weights[3]}};
  problem.gradient_of = [kSamples, kShare](const std::vector<QuadTensor>& x) {
    const std::array<Quad, 4> w = {x[0][0], x[0][1], x[0][2], x[1][0]};
    std::array<Quad, 4> g = {};
    for (size_t k = 0; k < 4; ++k) {
      Quad z = 0;
      for (size_t i = 0; i < 4; ++i) z += kSamples[k][i] * w[i];
      const Quad off = 1 / (1 + Exponential(-z)) - kShare[k];
      for (size_t i = 0; i < 4; ++i) g[i] += kSamples[k][i] * off / 4;
    }
    return std::vector<QuadTensor>{{g[0], g[1], g[2]}, {g[3]}};
  };
  return problem;
}

Result<Tensor> InType(DType type, const QuadTensor& numbers) {
  const Shape shape = {static_cast<int64_t>(numbers.size())};
  ASSAY_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Allocate(type, shape));
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (type == DType::kFloat32) {
      tensor.mutable_elements<float>()[i] = static_cast<float>(numbers[i]);
    } else {
      tensor.mutable_elements<double>()[i] = static_cast<double>(numbers[i]);
    }
  }
  return tensor;
}

/// A float64 less what is wanted needs the digits of quad. A float32 does not:
/// the 2^-53 that are lost are nothing beside its own 2^-24.
double Minus(double got, Quad want) { return static_cast<double>(got - want); }
double Minus(float got, Quad want) { return got - static_cast<double>(want); }

template <class T>
Spread Measure(std::span<const T> got, const QuadTensor& want) {
  Spread spread;
  double squares = 0;
  double of_wanted = 0;
  for (size_t i = 0; i < want.size(); ++i) {
    const double off = std::abs(Minus(got[i], want[i]));
    const double wanted = std::abs(static_cast<double>(want[i]));
    squares += off * off;
    of_wanted += wanted * wanted;
    // NaN is beyond every number, and stays.
    if (!(off <= spread.linf) && !std::isnan(spread.linf)) spread.linf = off;
    spread.greatest = std::max(spread.greatest, wanted);
  }
  spread.l2 = std::sqrt(squares);
  spread.norm = std::sqrt(of_wanted);
  return spread;
}

}  // namespace

/// e^x: (e^(x / 2^k))^(2^k), whose series ends below the last of 113 bits.
Quad Exponential(Quad x) {
  constexpr int kHalvings = 12;
  const Quad part = x / (1 << kHalvings);
  Quad term = 1;
  Quad sum = 1;
  for (int n = 1; n < 16; ++n) {
    term *= part / n;
    sum += term;
  }
  for (int i = 0; i < kHalvings; ++i) sum *= sum;
  return sum;
}

double Problem::DistanceOf(const std::vector<QuadTensor>& x) const {
  Quad sum = 0;
  for (size_t p = 0; p < x.size(); ++p) {
    for (size_t i = 0; i < x[p].size(); ++i) {
      const Quad off = x[p][i] - optimum[p][i];
      sum += off * off;
    }
  }
  return static_cast<double>(Root(sum));
}

std::span<const Problem> Problems() {
  static const std::array<Problem, 2> problems = {Quadratic(),
                                                  LogisticRegression()};
  return problems;
}

QuadTensor InQuad(const Tensor& tensor) {
  const auto in_quad = [](const auto& numbers) {
    return QuadTensor(numbers.begin(), numbers.end());
  };
  return tensor.dtype() == DType::kFloat32 ? in_quad(tensor.elements<float>())
                                           : in_quad(tensor.elements<double>());
}

Spread SpreadOf(const Tensor& got, const QuadTensor& want) {
  return got.dtype() == DType::kFloat32 ? Measure(got.elements<float>(), want)
                                        : Measure(got.elements<double>(), want);
}

ProblemObjective::ProblemObjective(const Problem& problem, DType type)
    : problem_(problem) {
  for (size_t p = 0; p < problem.start.size(); ++p) {
    const QuadTensor start(problem.start[p].begin(), problem.start[p].end());
    parameters_.push_back({StrCat("w", p), InType(type, start).value()});
  }
}

Result<train::Evaluation> ProblemObjective::Evaluate() {
  std::vector<QuadTensor> x;
  for (const train::Parameter& parameter : parameters_) {
    x.push_back(InQuad(parameter.value));
  }
  train::Evaluation evaluation;
  evaluation.loss = std::pow(problem_.DistanceOf(x), 2);
  gradients_.clear();
  for (const QuadTensor& gradient : problem_.gradient_of(x)) {
    ASSAY_ASSIGN_OR_RETURN(const Tensor rounded,
                           InType(parameters_[0].value.dtype(), gradient));
    gradients_.push_back(rounded);
  }
  evaluation.gradients = gradients_;
  return evaluation;
}

}  // namespace assay::quad
