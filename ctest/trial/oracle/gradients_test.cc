// SPDX-License-Identifier: Apache-2.0
//
// A check of the gradients that a backend computes in the network's own element
// types: for a model at given inputs, Differentiable::Backward must give what
// the reverse pass of the oracle gives.
//
//   const Gradients found = CheckGradients(backend, model, inputs, seed);
//   EXPECT_LE(found.units, 2) << found.what;
//
// The oracle is the backend itself, or another:
//
//   CheckGradients(vendor, reference, model, inputs, seed);
//
// Targets are all inputs of floats of 16 to 64 bits. Cotangents are of size 1
// to 2, of either sign, and numbers of every element type.

#include <gtest/gtest.h>

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <iostream>
#include <limits>
#include <map>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ctest/trial/oracle/oracle_module.h"
#include "framework/backend/backend.h"
#include "framework/backend/exact.h"
#include "framework/backend/forwarding_network.h"
#include "framework/graph/model_text.h"
#include "framework/metric/element.h"
#include "framework/testing/case/corpus.h"
#include "framework/testing/support/backends_fixture.h"
#include "framework/testing/support/tensors_fixture.h"

namespace assay::oracle {
namespace {

struct Gradients {
  enum Verdict : uint8_t {
    kCompared,
    kNothing,   // no input or no output of such floats
    kUnknown,   // declined by the oracle
    kDeclined,  // by the backend, at Load or Bind
    kFailed,    // a run failed
  };
  Verdict verdict = kNothing;
  std::string what;  // the two numbers that are furthest apart, or why not
  Reason reason = Reason::kNone;  // of a decline
  /// The distance of the two, less the oracle's bound, in units in the last
  /// place of the greatest gradient of that input. Infinite where one of the
  /// two is NaN or infinite and the other is not that.
  double units = 0;
  int64_t numbers = 0;   // compared
  int64_t non_zero = 0;  // of them
  int64_t unknown = 0;   // of them, without a bound: a tie, a kink, an overflow
};

bool Carries(const Tensor* tensor) {
  return tensor != nullptr && IsFloatingPoint(tensor->dtype()) &&
         BitsOf(tensor->dtype()) >= 16;
}

std::vector<double> NumbersOf(const Tensor& tensor) {
  std::vector<double> numbers;
  for (int64_t i = 0; i < tensor.num_elements(); ++i) {
    numbers.push_back(metric::DecodeFloat(
        tensor.dtype(), metric::ElementBits(tensor.dtype(), tensor.data(), i)));
  }
  return numbers;
}

template <class Half>
Result<Tensor> InHalves(DType dtype, const Shape& shape,
                        const std::vector<double>& numbers) {
  ASSAY_ASSIGN_OR_RETURN(Tensor halves, Tensor::Allocate(dtype, shape));
  for (size_t i = 0; i < numbers.size(); ++i) {
    const auto half = static_cast<Half>(static_cast<float>(numbers[i]));
    std::memcpy(halves.mutable_data() + i * sizeof(half), &half, sizeof(half));
  }
  return halves;
}

/// Numbers of at most 5 significant bits, which every type has.
Result<Tensor> InType(DType dtype, const Shape& shape,
                      const std::vector<double>& numbers) {
  switch (dtype) {
    case DType::kFloat16:
      return InHalves<Eigen::half>(dtype, shape, numbers);
    case DType::kBFloat16:
      return InHalves<Eigen::bfloat16>(dtype, shape, numbers);
    case DType::kFloat32:
      return Tensor::Of<float>(
          shape, std::vector<float>(numbers.begin(), numbers.end()));
    default:
      return Tensor::Of<double>(shape, numbers);
  }
}

/// The same numbers in the type of the output, and in float64 for the oracle.
struct DrawnGradients {
  std::vector<Value> own;
  std::vector<Value> exact;
};

Result<DrawnGradients> DrawnFor(std::span<const Value> outputs, uint64_t seed) {
  std::mt19937_64 draw(seed);
  DrawnGradients drawn;
  drawn.own.resize(outputs.size());
  drawn.exact.resize(outputs.size());
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Tensor* const y = outputs[i].tensor();
    if (!Carries(y)) continue;
    std::vector<double> numbers(static_cast<size_t>(y->num_elements()));
    for (double& x : numbers) {
      const uint64_t bits = draw();
      x = ((bits & 1) != 0 ? -1 : 1) *
          (1 + static_cast<double>(bits >> 60) / 16);
    }
    ASSAY_ASSIGN_OR_RETURN(drawn.exact[i],
                           Tensor::Of<double>(y->shape(), numbers));
    ASSAY_ASSIGN_OR_RETURN(drawn.own[i],
                           InType(y->dtype(), y->shape(), numbers));
  }
  return drawn;
}

/// A loaded network, and its outputs.
struct Ran {
  std::unique_ptr<Network> network;
  std::unique_ptr<Binding> binding;
};

Result<Ran> RunOn(Backend& backend, const std::shared_ptr<const Model>& model,
                  std::span<const Value> inputs, const LoadOptions& options) {
  Ran ran;
  ASSAY_ASSIGN_OR_RETURN(ran.network, backend.Load(model, options));
  ASSAY_ASSIGN_OR_RETURN(ran.binding, ran.network->Bind(inputs, {}));
  ASSAY_RETURN_IF_ERROR(ran.network->Forward(*ran.binding));
  return ran;
}

/// Puts the numbers of one input into what was found; those without a bound
/// too, with `all`.
void Compare(const std::string& name, const Tensor& got,
             const ExactValue& wanted, bool all, Gradients& found) {
  const std::vector<double> numbers = NumbersOf(got);
  const auto truth = wanted.value.tensor()->elements<double>();
  const auto bounds = wanted.bound.elements<double>();
  double greatest = 0;
  for (const double x : truth) {
    if (std::isfinite(x)) greatest = std::max(greatest, std::abs(x));
  }
  const metric::FloatRange range = metric::RangeOf(got.dtype());
  const double unit =
      std::ldexp(std::max(greatest, std::ldexp(1, range.least)), -range.digits);
  for (size_t i = 0; i < numbers.size(); ++i) {
    ++found.numbers;
    const bool known = std::isfinite(bounds[i]);
    if (!known) ++found.unknown;
    if (!known && !all) continue;
    if (truth[i] != 0) ++found.non_zero;
    const bool same = numbers[i] == truth[i] ||
                      (std::isnan(numbers[i]) && std::isnan(truth[i]));
    const double off = std::abs(numbers[i] - truth[i]);
    double units = 0;
    if (!same) {
      units =
          std::isfinite(off) ? (off - (known ? bounds[i] : 0)) / unit : kInf;
    }
    if (units < found.units || same) continue;
    found.units = units;
    found.what = StrCat("element ", i, " of the gradient of '", name, "' is ",
                        numbers[i], ", the oracle's is ", truth[i], " within ",
                        bounds[i], ": ", units, " units");
  }
}

/// At a tie or a kink, where the oracle has no bound, another backend may
/// choose another derivative: these numbers are counted and not compared.
Gradients CheckGradients(Backend& backend, Backend& oracle,
                         const std::shared_ptr<const Model>& model,
                         std::span<const Value> inputs, uint64_t seed) {
  const auto stopped = [](const Status& status, Gradients::Verdict declined) {
    const bool is_declined = status.code() == StatusCode::kUnsupported;
    return Gradients{.verdict = is_declined ? declined : Gradients::kFailed,
                     .what = status.message(),
                     .reason = status.reason()};
  };
  const auto exact = RunOn(oracle, model, inputs, {.exact = true});
  if (!exact.ok()) return stopped(exact.status(), Gradients::kUnknown);
  const auto cotangents = DrawnFor(exact->binding->outputs(), seed);
  if (!cotangents.ok()) return stopped(cotangents.status(), Gradients::kFailed);
  LoadOptions options;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!Carries(inputs[i].tensor())) continue;
    options.gradient_targets.push_back(exact->network->inputs()[i].name);
  }
  const auto present = [](const Value& value) { return value.present(); };
  const auto& targets = options.gradient_targets;
  if (targets.empty() || std::ranges::none_of(cotangents->own, present)) {
    return {};
  }
  const auto ran = RunOn(backend, model, inputs, options);
  if (!ran.ok()) return stopped(ran.status(), Gradients::kDeclined);
  const auto got = ran->network->differentiable()->Backward(
      *ran->binding, cotangents->own, targets);
  if (!got.ok()) return stopped(got.status(), Gradients::kFailed);
  const auto run = exact->network->exact()->At(inputs, targets);
  if (!run.ok()) return stopped(run.status(), Gradients::kUnknown);
  const auto wanted = (*run)->Vjp(cotangents->exact, Precision::kDouble);
  if (!wanted.ok()) return stopped(wanted.status(), Gradients::kUnknown);
  Gradients found{.verdict = Gradients::kCompared, .what = {}};
  for (size_t k = 0; k < targets.size(); ++k) {
    Compare(targets[k], *(*got)[k].tensor(), (*wanted)[k], &backend == &oracle,
            found);
  }
  return found;
}

Gradients CheckGradients(Backend& backend,
                         const std::shared_ptr<const Model>& model,
                         std::span<const Value> inputs, uint64_t seed) {
  return CheckGradients(backend, backend, model, inputs, seed);
}

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

// A model of one node sums a product of float32 in float32. A model of several
// nodes also rounds the values between them.
constexpr double kUnitsOfOneNode = 3;
constexpr double kUnitsOfSeveral = 10;

// Why a case may have no gradient, and how many have none for that reason.
std::map<std::string, int> Reasons() {
  return {{"random draws have no exact value", 0},
          {"draws at random, which has no exact value", 0},
          {"the bits of an exact number are no value", 0}};
}

struct GradientCounts {
  int compared = 0;
  int zero = 0;  // of them
  int64_t numbers = 0;
  int64_t unknown = 0;
  double units = 0;
  std::map<std::string, int> without = Reasons();
};

void Count(const Gradients& found, const std::string& id, bool one_node,
           GradientCounts* counts) {
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
  GradientCounts counts;
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
