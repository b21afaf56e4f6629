// SPDX-License-Identifier: Apache-2.0

#include "ctest/trial/oracle/derivatives.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace assay::oracle {
namespace {

// Beside the passes' own bounds: the sums below are taken in double.
constexpr double kSumming = 0x1p-50;
constexpr double kWide = 1e-4;

using Draw = std::mt19937_64;

double Sign(Draw& draw) { return (draw() & 1) != 0 ? 1 : -1; }

double Weight(Draw& draw) {
  return Sign(draw) * (0.5 + static_cast<double>(draw() >> 40) * 0x1p-24);
}

Value Direction(const Shape& shape, double (*next)(Draw&), Draw& draw) {
  auto tensor = Tensor::Allocate(DType::kFloat64, shape);
  if (!tensor.ok()) return {};
  for (double& x : tensor->mutable_elements<double>()) x = next(draw);
  return Value(std::move(*tensor));
}

/// A number, and how far off it may be.
struct Known {
  double value = 0;
  double bound = 0;
};

Known Dot(const std::vector<ExactValue>& numbers,
          const std::vector<Value>& weights) {
  Known sum;
  double magnitude = 0;
  for (size_t i = 0; i < weights.size(); ++i) {
    if (!weights[i].present()) continue;
    const auto values = numbers[i].value.tensor()->elements<double>();
    const auto bounds = numbers[i].bound.elements<double>();
    const auto factors = weights[i].tensor()->elements<double>();
    for (size_t k = 0; k < factors.size(); ++k) {
      sum.value += values[k] * factors[k];
      sum.bound += bounds[k] * std::abs(factors[k]);
      magnitude += std::abs(values[k] * factors[k]);
    }
  }
  sum.bound += kSumming * magnitude;
  return sum;
}

bool Agree(const Known& a, const Known& b) {
  return std::abs(a.value - b.value) <= a.bound + b.bound;
}

std::string Text(const char* name, const Known& known) {
  return StrCat(name, " ", known.value, " within ", known.bound);
}

/// What is moved, and where to.
struct Motion {
  std::vector<std::string> targets;
  std::vector<Value> tangents;
};

Motion MotionOf(std::span<const ValueInfo> infos, std::span<const Value> inputs,
                const std::set<int>& still, Draw& draw) {
  Motion motion;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Tensor* const tensor = inputs[i].tensor();
    if (tensor != nullptr && IsFloatingPoint(tensor->dtype()) &&
        tensor->num_elements() > 0 && !still.contains(static_cast<int>(i))) {
      motion.targets.push_back(infos[i].name);
      motion.tangents.push_back(Direction(tensor->shape(), Sign, draw));
    }
  }
  return motion;
}

std::vector<Value> Cotangents(const std::vector<ExactValue>& outputs,
                              Draw& draw) {
  std::vector<Value> cotangents(outputs.size());
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Tensor* const tensor = outputs[i].value.tensor();
    if (tensor != nullptr && outputs[i].bound.defined() &&
        tensor->num_elements() > 0) {
      cotangents[i] = Direction(tensor->shape(), Weight, draw);
    }
  }
  return cotangents;
}

bool IsPresent(const Value& value) { return value.present(); }

Derivatives Judged(const Known& reverse, const Known& tangent,
                   const Slope& slope) {
  const Known referee{slope.value, slope.bound};
  const std::string what =
      StrCat(Text("reverse", reverse), ", ", Text("tangent", tangent), ", ",
             Text("referee", referee));
  if (!std::isfinite(reverse.value) || !std::isfinite(tangent.value)) {
    return {Derivatives::kNonFinite, what};
  }
  if (!Agree(reverse, tangent)) return {Derivatives::kAdjointOff, what};
  if (!std::isfinite(slope.bound)) return {Derivatives::kTooNear, what};
  if (!Agree(reverse, referee)) return {Derivatives::kRefereeOff, what};
  return {slope.bound > kWide * (1 + std::abs(reverse.value))
              ? Derivatives::kLoose
              : Derivatives::kAgree,
          what};
}

}  // namespace

Derivatives CheckDerivatives(Exact& exact, std::span<const ValueInfo> infos,
                             std::span<const Value> inputs,
                             const std::set<int>& still, uint64_t seed) {
  Draw draw(seed);
  const auto failed = [](const Status& status) -> Derivatives {
    return {Derivatives::kFailed, status.message()};
  };
  const Motion motion = MotionOf(infos, inputs, still, draw);
  const auto run = exact.At(inputs, motion.targets);
  if (!run.ok()) return failed(run.status());
  const auto outputs = (*run)->Evaluate(Precision::kDouble);
  if (!outputs.ok()) return failed(outputs.status());
  const std::vector<Value> cotangents = Cotangents(*outputs, draw);
  if (motion.targets.empty() || std::ranges::none_of(cotangents, IsPresent)) {
    return {};
  }
  const auto vjp = (*run)->Vjp(cotangents, Precision::kDouble);
  if (!vjp.ok()) return failed(vjp.status());
  const auto jvp = (*run)->Jvp(motion.tangents, Precision::kDouble);
  if (!jvp.ok()) return failed(jvp.status());
  const auto slope = (*run)->Difference(motion.tangents, cotangents);
  if (!slope.ok()) return failed(slope.status());
  return Judged(Dot(*vjp, motion.tangents), Dot(*jvp, cotangents), *slope);
}

}  // namespace assay::oracle
