// SPDX-License-Identifier: Apache-2.0

#include "ctest/trial/oracle/gradients.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "ctest/trial/oracle/oracle_module.h"
#include "framework/backend/forwarding_network.h"
#include "framework/graph/model_text.h"
#include "framework/testing/case/read_corpus.h"
#include "framework/testing/support/backends_fixture.h"
#include "framework/testing/support/tensors_fixture.h"

namespace assay::oracle {
namespace {

// A network whose last gradient has one number changed.
class Changed final : public ForwardingNetwork, private Differentiable {
 public:
  Changed(std::unique_ptr<Network> network, double (*change)(double))
      : ForwardingNetwork(std::move(network)), change_(change) {}

  Differentiable* differentiable() override { return this; }

 private:
  Result<std::vector<Value>> Backward(
      Binding& binding, std::span<const Value> cotangents,
      std::span<const std::string> targets) override {
    ASSAY_ASSIGN_OR_RETURN(auto gradients,
                           ForwardingNetwork::differentiable()->Backward(
                               binding, cotangents, targets));
    float& last =
        gradients.back().mutable_tensor()->mutable_elements<float>().back();
    last = static_cast<float>(change_(last));
    return gradients;
  }

  double (*change_)(double);
};

TEST(GradientsTest, ADistanceIsCountedInUnits) {
  struct Row {
    const char* what;
    double (*change)(double);
    double least, most;
  };
  const std::vector<Row> rows = {
      {"right", [](double x) { return x; }, 0, 1},
      {"off by 64 units", [](double x) { return x * (1 + 0x1p-17); }, 32, 128},
      {"of the other sign", [](double x) { return -x; }, 1e6, kInf},
      {"zero", [](double) { return 0.0; }, 1e6, kInf},
      {"none", [](double) { return std::numeric_limits<double>::quiet_NaN(); },
       kInf, kInf},
  };
  const auto model = graph::ModelOfText(
      "g (float[2] a, float[1] b) => (float[2] y) { y = Div(a, b) }");
  const std::vector<float> a = {1, 3};
  const std::vector<float> b = {0.75F};
  const std::vector<Value> inputs = {*Tensor::Of<float>({2}, a),
                                     *Tensor::Of<float>({1}, b)};
  for (const Row& row : rows) {
    StubBackend backend(
        [&](auto model,
            const LoadOptions& options) -> Result<std::unique_ptr<Network>> {
          ASSAY_ASSIGN_OR_RETURN(auto network,
                                 Reference().Load(std::move(model), options));
          if (options.gradient_targets.empty()) return network;
          return std::make_unique<Changed>(std::move(network), row.change);
        });
    const Gradients found = CheckGradients(backend, model, inputs, 7);
    EXPECT_EQ(found.verdict, Gradients::kCompared) << row.what;
    EXPECT_GE(found.units, row.least) << row.what << ": " << found.what;
    EXPECT_LE(found.units, row.most) << row.what << ": " << found.what;
    EXPECT_EQ(found.numbers, 3);
    EXPECT_EQ(CheckGradients(backend, Reference(), model, inputs, 7).units,
              found.units)
        << row.what;
  }
}

TEST(GradientsTest, ADeclineSaysWhose) {
  StubBackend backend(Unsupported(Reason::kGradient, "no backward"));
  const std::vector<float> x = {1, 3};
  const std::vector<Value> inputs = {*Tensor::Of<float>({2}, x)};
  const auto model =
      graph::ModelOfText("g (float[2] x) => (float[2] y) { y = Exp(x) }");
  const Gradients found =
      CheckGradients(backend, Reference(), model, inputs, 7);
  EXPECT_EQ(found.verdict, Gradients::kDeclined);
  EXPECT_EQ(found.reason, Reason::kGradient);
  EXPECT_EQ(CheckGradients(Reference(), backend, model, inputs, 7).verdict,
            Gradients::kUnknown);
}

TEST(GradientsTest, WhatHasNoGradientIsToldApart) {
  const std::vector<float> x = {1, 3};
  const std::vector<Value> inputs = {*Tensor::Of<float>({2}, x)};
  const auto check = [&](const char* node, const char* type) {
    return CheckGradients(Reference(),
                          graph::ModelOfText(StrCat("g (float[2] x) => (", type,
                                                    " y) { y = ", node, " }")),
                          inputs, 7)
        .verdict;
  };
  EXPECT_EQ(check("Exp(x)", "float[2]"), Gradients::kCompared);
  EXPECT_EQ(check("Shape(x)", "int64[1]"), Gradients::kNothing);
  EXPECT_EQ(check("Bernoulli(x)", "float[2]"), Gradients::kUnknown);
}

// Of a model of one node: a product of float32 is summed in float32. Of several
// nodes, the values between them are rounded.
constexpr double kUnitsOfOneNode = 3;
constexpr double kUnitsOfSeveral = 10;

// Why a case may have no gradient, and how many have none for that reason.
std::map<std::string, int> Reasons() {
  return {{"random draws have no exact value", 0},
          {"draws at random, which has no exact value", 0},
          {"the bits of an exact number are no value", 0}};
}

struct Counts {
  int compared = 0;
  int zero = 0;  // of them
  int64_t numbers = 0;
  int64_t unknown = 0;
  double units = 0;
  std::map<std::string, int> without = Reasons();
};

void Count(const Gradients& found, const std::string& id, bool one_node,
           Counts* counts) {
  if (found.verdict == Gradients::kNothing) return;
  if (found.verdict == Gradients::kCompared) {
    ++counts->compared;
    if (found.non_zero == 0) ++counts->zero;
    counts->numbers += found.numbers;
    counts->unknown += found.unknown;
    counts->units = std::max(counts->units, found.units);
    EXPECT_LE(found.units, one_node ? kUnitsOfOneNode : kUnitsOfSeveral)
        << id << ": " << found.what;
    return;
  }
  for (auto& [reason, count] : counts->without) {
    if (found.what.find(reason) == std::string::npos) continue;
    ++count;
    return;
  }
  ADD_FAILURE() << id << ": " << found.what;
}

TEST(GradientsTest, AreThoseOfTheOracleOverTheCorpus) {
  const auto corpus = cases::ReadCorpus(ASSAY_CORPUS);
  ASSERT_TRUE(corpus.ok()) << corpus.status().message();
  Counts counts;
  for (const cases::TestCase& asked : corpus->cases) {
    if (asked.suite != "node") continue;
    const auto data = cases::ReadCaseInputs(asked.directory, 1);
    ASSERT_TRUE(data.ok()) << asked.test_id;
    const Gradients found =
        CheckGradients(Reference(), data->model, data->sets[0].inputs,
                       std::hash<std::string>()(asked.test_id));
    Count(found, asked.test_id, data->model->graph().nodes.size() == 1,
          &counts);
  }
  std::cout << counts.compared << " cases compared, " << counts.zero
            << " of them with no gradient but zero; " << counts.numbers
            << " numbers, " << counts.unknown
            << " of them without a bound; at most " << counts.units
            << " units apart\n";
  for (const auto& [reason, count] : counts.without) {
    std::cout << count << " without: " << reason << "\n";
    EXPECT_GT(count, 0) << "no case is without a gradient because " << reason;
  }
  EXPECT_GT(counts.compared - counts.zero, 1000);
}

}  // namespace
}  // namespace assay::oracle
