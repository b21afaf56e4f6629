// SPDX-License-Identifier: Apache-2.0
//
// Problem: what tests try optimizers on, with an optimum that is known. Its
// gradient is given in double for the framework and in quad for the judge.

#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cctype>
#include <cmath>
#include <memory>
#include <ostream>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "framework/core/dtype.h"
#include "framework/core/tensor.h"
#include "framework/core/text.h"
#include "framework/train/optimizer/optimizer.h"
#include "framework/train/quad/lockstep_quad.h"
#include "framework/train/quad/quad.h"
#include "framework/train/rule/optimizers.h"

namespace assay::quad {

/// e^x, off by less than 2^-95 of itself for |x| up to 1000:
/// (e^(x / 2^k))^(2^k), whose series ends below the last of 113 bits.
inline Float128 Exponential(Float128 x) {
  constexpr int kHalvings = 12;
  const Float128 part = x / (1 << kHalvings);
  Float128 term = 1;
  Float128 sum = 1;
  for (int n = 1; n < 16; ++n) {
    term *= part / n;
    sum += term;
  }
  for (int i = 0; i < kHalvings; ++i) sum *= sum;
  return sum;
}

struct Problem {
  std::string name;
  /// Two parameters, by their elements.
  std::vector<std::vector<double>> start, optimum;
  GradientOf gradient_of;

  /// The norm of what x is away from the optimum.
  double DistanceOf(const std::vector<QuadTensor>& x) const {
    Float128 sum = 0;
    for (size_t p = 0; p < x.size(); ++p) {
      for (size_t i = 0; i < x[p].size(); ++i) {
        const Float128 off = x[p][i].value - optimum[p][i];
        sum += off * off;
      }
    }
    return static_cast<double>(RootOf(sum));
  }
};

/// Half the sum of curvature (x - optimum)^2.
inline Problem Quadratic() {
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
            gradients[p][i] = curvature[p][i] * (x[p][i].value - optimum[p][i]);
          }
        }
        return gradients;
      };
  return problem;
}

/// Four kinds of samples, rows of a Hadamard matrix, of which so many are
/// positive: as many weights as kinds, so that at the optimum each kind's
/// probability is its share.
inline Problem LogisticRegression() {
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
    const std::array<Float128, 4> w = {x[0][0].value, x[0][1].value,
                                       x[0][2].value, x[1][0].value};
    std::array<Float128, 4> g = {};
    for (size_t k = 0; k < 4; ++k) {
      Float128 z = 0;
      for (size_t i = 0; i < 4; ++i) z += kSamples[k][i] * w[i];
      const Float128 off = 1 / (1 + Exponential(-z)) - kShare[k];
      for (size_t i = 0; i < 4; ++i) g[i] += kSamples[k][i] * off / 4;
    }
    return std::vector<QuadTensor>{{g[0], g[1], g[2]}, {g[3]}};
  };
  return problem;
}

inline Result<Tensor> InType(DType type, const QuadTensor& numbers) {
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

/// A quadratic of condition 100, and a logistic regression.
inline std::span<const Problem> Problems() {
  static const std::array<Problem, 2> problems = {Quadratic(),
                                                  LogisticRegression()};
  return problems;
}

/// A problem with its parameters as tensors of float32 or float64. Gradients
/// are those of the tensors' values, rounded once, so that nothing but the
/// optimizer differs from the judge. The loss is the squared distance from the
/// optimum.
class ProblemObjective : public train::Objective {
 public:
  ProblemObjective(const Problem& problem, DType type) : problem_(problem) {
    for (size_t p = 0; p < problem.start.size(); ++p) {
      const QuadTensor start(problem.start[p].begin(), problem.start[p].end());
      parameters_.push_back({StrCat("w", p), InType(type, start).value()});
    }
  }

  std::span<train::Parameter> parameters() override { return parameters_; }

  Result<train::Evaluation> Evaluate() override {
    const std::vector<QuadTensor> x = InQuad(parameters_);
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

 private:
  const Problem& problem_;
  std::vector<train::Parameter> parameters_;
  std::vector<Tensor> gradients_;
};

/// Near the optimum a step of these keeps its length whatever the gradient, and
/// a rounding grows to it: their rates are such that they are not there by
/// then.
inline std::string CalmRate(const train::Preset& preset) {
  if (preset.optimizer == "rmsprop") return "rate=0.0005";
  if (preset.optimizer != "adadelta" || preset.name != "pytorch") return "";
  return "rate=0.1";
}

/// Each preset, and conventions of which there is none.
inline std::vector<OptimizerSpec> OptimizerSpecs() {
  std::vector<OptimizerSpec> specs = {
      {"momentum", "pytorch", "dampening=0.3"},
      {"momentum", "onnx", "dampening=0.3"},
      {"nesterov", "paper", "rate_at=outside weight_decay=0.01 decay=by_rate"},
      {"nesterov", "keras", "dampening=0.2 weight_decay=0.01"},
      {"adam", "paper", "epsilon_at=in_root"},
      {"adam", "paper", "rate=0.0005 beta1=0.5 beta2=0.9 weight_decay=0.01"},
      {"amsgrad", "pytorch", "maximum=after beta2=0.9"},
      {"adagrad", "pytorch", "rate_decay=0.01 initial=0.5"},
      {"adadelta", "pytorch", "rate=0.1 weight_decay=0.01 decay=by_schedule"},
      {"rmsprop", "pytorch", "centered=yes momentum=0.9 epsilon=1e-3"},
      {"rmsprop", "keras", "centered=yes momentum=0.9 epsilon=1e-3"},
      {"accelegrad", "paper", "norm_over=parameter diameter=3"},
      {"accelegrad", "paper", "weight_decay=0.001 decay=after"},
      {"lamb", "paper", "least=0.5 most=2"},
      {"gradient_descent", "paper", "clip_value=0.5 clip_norm=0.6"},
      {"adam", "keras", "clip_norm=0.1"},
  };
  for (const train::Preset& preset : train::Presets()) {
    specs.push_back({std::string(preset.optimizer), std::string(preset.name),
                     CalmRate(preset)});
  }
  return specs;
}

inline std::string IdOf(const OptimizerSpec& spec) {
  std::string id;
  for (const char c : StrCat(spec.optimizer, spec.preset, spec.settings)) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) id += c;
  }
  return id;
}

inline void PrintTo(const OptimizerSpec& spec, std::ostream* out) {
  *out << spec.optimizer << " " << spec.preset << " " << spec.settings;
}

inline LockstepQuad LockstepOf(OptimizerSetup setup, const Problem& problem,
                               DType type) {
  return {std::move(setup), std::make_unique<ProblemObjective>(problem, type),
          problem.gradient_of};
}

struct Beside {
  int steps;
  /// True where each step begins where both are, and takes the gradients as
  /// they are: its limits are those of number.h. Otherwise the formula goes its
  /// own way, and may be 1e-12 of a tensor's greatest number away.
  bool locks = false;
};

inline void ExpectClose(LockstepQuad lockstep, const Beside& beside,
                        const std::string& what) {
  for (int step = 1; step <= beside.steps; ++step) {
    const Status stepped =
        lockstep.Step(beside.locks ? Gradients::kGiven : Gradients::kOwn);
    ASSERT_TRUE(stepped.ok()) << stepped.ToString();
    if (!beside.locks) {
      ASSERT_LE(lockstep.Difference(), 1e-12) << what << " at " << step;
      continue;
    }
    ASSERT_LE(lockstep.Share(), 1) << what << " at " << step;
    lockstep.Lock();
  }
}

}  // namespace assay::quad
