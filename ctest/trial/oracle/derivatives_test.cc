// SPDX-License-Identifier: Apache-2.0
//
// A check of an oracle's derivatives: for a model at given inputs, the
// reverse pass, the tangent pass and the referee, which sees values only, must
// give one number for the sum of cotangents times Jacobian times tangents.
//
//   const Derivatives found =
//       CheckDerivatives(exact, network.inputs(), inputs, {}, seed);
//   EXPECT_EQ(found.verdict, Derivatives::kAgree) << found.what;
//
// Tangents are 1 or -1, so that no element counts less than another; cotangents
// are of size 0.5 to 1.5 and either sign.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <iostream>
#include <limits>
#include <random>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ctest/trial/oracle/oracle_module.h"
#include "framework/backend/backend.h"
#include "framework/backend/exact.h"
#include "framework/testing/case/corpus.h"

namespace assay::oracle {
namespace {

struct Derivatives {
  enum Verdict : uint8_t {
    kAgree,
    kNothing,     // no input or no output of floating-point numbers
    kTooNear,     // a kink or a jump: the referee has no bound
    kNonFinite,   // a derivative is infinite or none
    kAdjointOff,  // reverse and tangent pass differ
    kRefereeOff,  // both differ from the referee
    kLoose,       // the referee's bound is too wide to say anything
    kFailed,      // a pass failed
  };
  Verdict verdict = kNothing;
  std::string what;  // the numbers, or the reason
};

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

/// The targets that are moved, and their tangents.
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

/// `infos` names the inputs; `still`: those, from 0, that are not moved.
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

/// y = x^3 of one element, with what a test wants to be wrong.
struct Faults {
  double reverse = 1;  // factors
  double tangent = 1;
  double referee_bound = 1e-9;
};

class CubeRun : public ExactRun {
 public:
  CubeRun(const Faults& faults, double x) : faults_(faults), x_(x) {}

  Result<std::vector<ExactValue>> Evaluate(Precision) override {
    return std::vector<ExactValue>{Number(x_ * x_ * x_)};
  }
  Result<std::vector<ExactValue>> Vjp(std::span<const Value> cotangents,
                                      Precision) override {
    return std::vector<ExactValue>{
        Number(faults_.reverse * 3 * x_ * x_ * At(cotangents[0]))};
  }
  Result<std::vector<ExactValue>> Jvp(std::span<const Value> tangents,
                                      Precision) override {
    return std::vector<ExactValue>{
        Number(faults_.tangent * 3 * x_ * x_ * At(tangents[0]))};
  }
  Result<Slope> Difference(std::span<const Value> tangents,
                           std::span<const Value> cotangents) override {
    return Slope{3 * x_ * x_ * At(tangents[0]) * At(cotangents[0]),
                 faults_.referee_bound};
  }

 private:
  static double At(const Value& value) {
    return value.tensor()->elements<double>()[0];
  }
  static ExactValue Number(double number) {
    const auto tensor = [](double x) {
      return *Tensor::Of<double>({1}, std::span(&x, 1));
    };
    return {tensor(number), tensor(0), tensor(1e-15)};
  }

  Faults faults_;
  double x_;
};

class Cube : public Exact, public Faults {
 public:
  Result<std::unique_ptr<ExactRun>> At(std::span<const Value> inputs,
                                       std::span<const std::string>) override {
    return std::unique_ptr<ExactRun>(std::make_unique<CubeRun>(
        *this, inputs[0].tensor()->elements<double>()[0]));
  }
};

TEST(DerivativesTest, WhatIsOffIsNamed) {
  struct Row {
    const char* name;
    std::function<void(Cube&)> change;
    Derivatives::Verdict wanted;
  };
  const double inf = std::numeric_limits<double>::infinity();
  const std::vector<Row> rows = {
      {"right", [](Cube&) {}, Derivatives::kAgree},
      {"reverse", [](Cube& c) { c.reverse = 1.001; }, Derivatives::kAdjointOff},
      {"tangent", [](Cube& c) { c.tangent = -1; }, Derivatives::kAdjointOff},
      {"both", [](Cube& c) { c.reverse = c.tangent = 1 + 1e-6; },
       Derivatives::kRefereeOff},
      {"kink", [=](Cube& c) { c.referee_bound = inf; }, Derivatives::kTooNear},
      {"wide", [](Cube& c) { c.referee_bound = 1; }, Derivatives::kLoose},
      {"infinite", [=](Cube& c) { c.reverse = inf; }, Derivatives::kNonFinite},
  };
  const double two = 2;
  const std::vector<Value> inputs = {
      *Tensor::Of<double>({1}, std::span(&two, 1))};
  const std::vector<ValueInfo> infos = {{"x", {}}};
  for (const Row& row : rows) {
    Cube cube;
    row.change(cube);
    const Derivatives found = CheckDerivatives(cube, infos, inputs, {}, 7);
    EXPECT_EQ(found.verdict, row.wanted) << row.name << ": " << found.what;
  }
  Cube cube;
  EXPECT_EQ(CheckDerivatives(cube, infos, inputs, {0}, 7).verdict,
            Derivatives::kNothing);
}

// Derivatives that are infinite, or none, where the case has its inputs.
const std::set<std::string>& Singular() {
  static const std::set<std::string> cases = {
      "node/Acosh/test_acosh_example",  // at 1
      "node/Mod/test_mod_float_edge_cases_fmod_0_float16",
      "node/Mod/test_mod_float_edge_cases_fmod_0_float32",
      "node/Mod/test_mod_float_edge_cases_fmod_0_float64",
  };
  return cases;
}

struct DerivativeCounts {
  int agree = 0;
  int in_part = 0;  // too near together, and some inputs agree when moved alone
  int too_near = 0;
  int singular = 0;
  int random = 0;
};

/// The finding when each input is moved alone: the first that does not agree,
/// else kAgree where one does.
Derivatives CheckEach(Exact& exact, std::span<const ValueInfo> infos,
                      std::span<const Value> inputs, uint64_t seed) {
  Derivatives found{Derivatives::kTooNear, ""};
  std::set<int> all;
  for (int i = 0; std::cmp_less(i, inputs.size()); ++i) all.insert(i);
  for (const int input : all) {
    std::set<int> others = all;
    others.erase(input);
    Derivatives one = CheckDerivatives(exact, infos, inputs, others, seed);
    if (one.verdict == Derivatives::kNothing ||
        one.verdict == Derivatives::kTooNear) {
      continue;
    }
    one.what = StrCat("input ", input, " alone: ", one.what);
    if (one.verdict != Derivatives::kAgree) return one;
    found = std::move(one);
  }
  return found;
}

void CheckCase(Backend& backend, const cases::TestCase& asked,
               DerivativeCounts* counts) {
  const auto data = cases::ReadCaseInputs(asked.directory, 1);
  ASSERT_TRUE(data.ok()) << asked.test_id;
  LoadOptions options;
  options.exact = true;
  const auto network = backend.Load(data->model, options);
  if (!network.ok()) return;  // what is declined is the twins' to say
  Exact& exact = *(*network)->exact();
  const std::span<const ValueInfo> infos = (*network)->inputs();
  const std::vector<Value>& inputs = data->sets[0].inputs;
  const uint64_t seed = std::hash<std::string>()(asked.test_id);
  Derivatives found = CheckDerivatives(exact, infos, inputs, {}, seed);
  const bool together = found.verdict != Derivatives::kTooNear;
  if (!together) found = CheckEach(exact, infos, inputs, seed);
  switch (found.verdict) {
    case Derivatives::kAgree:
      ++(together ? counts->agree : counts->in_part);
      break;
    case Derivatives::kTooNear:
      ++counts->too_near;
      break;
    case Derivatives::kNothing:
      break;
    case Derivatives::kNonFinite:
      ++counts->singular;
      EXPECT_TRUE(Singular().contains(asked.test_id))
          << asked.test_id << ": " << found.what;
      break;
    case Derivatives::kFailed:
      ++counts->random;
      EXPECT_NE(found.what.find("draws at random"), std::string::npos)
          << asked.test_id << ": " << found.what;
      break;
    default:
      ADD_FAILURE() << asked.test_id << ": " << found.what;
  }
}

TEST(DerivativesTest, TheOracleAgreesWithTheRefereeOverTheCorpus) {
  const auto oracle = OracleOf(ASSAY_REFERENCE_MODULE);
  const auto corpus = cases::ReadCorpus(ASSAY_CORPUS);
  ASSERT_TRUE(corpus.ok()) << corpus.status().message();
  DerivativeCounts counts;
  for (const cases::TestCase& asked : corpus->cases) {
    if (asked.suite == "node") {
      CheckCase(*oracle, asked, &counts);
    }
  }
  std::cout << counts.agree << " cases agree, " << counts.in_part
            << " in an input moved alone, " << counts.too_near
            << " are too near a kink or a jump, " << counts.singular
            << " have no finite derivative, " << counts.random
            << " draw at random\n";
  EXPECT_GT(counts.agree, 1000);
  EXPECT_GT(counts.in_part, 30);
}

}  // namespace
}  // namespace assay::oracle
