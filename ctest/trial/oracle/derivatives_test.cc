// SPDX-License-Identifier: Apache-2.0

#include "ctest/trial/oracle/derivatives.h"

#include <gtest/gtest.h>

#include <functional>
#include <iostream>
#include <limits>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "ctest/trial/oracle/oracle_module.h"
#include "framework/testing/case/read_corpus.h"

namespace assay::oracle {
namespace {

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

/// What is found when each input is moved alone: what does not agree, else
/// kAgree where one does.
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
