// SPDX-License-Identifier: Apache-2.0

#include "ctest/trial/oracle/gradients.h"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <utility>
#include <vector>

#include "framework/backend/exact.h"
#include "framework/metric/element.h"

namespace assay::oracle {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

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
struct Cotangents {
  std::vector<Value> own;
  std::vector<Value> exact;
};

Result<Cotangents> Draw(std::span<const Value> outputs, uint64_t seed) {
  std::mt19937_64 draw(seed);
  Cotangents drawn;
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
      units = std::isfinite(off) ? (off - (known ? bounds[i] : 0)) / unit
                                 : kInfinity;
    }
    if (units < found.units || same) continue;
    found.units = units;
    found.what = StrCat("element ", i, " of the gradient of '", name, "' is ",
                        numbers[i], ", the oracle's is ", truth[i], " within ",
                        bounds[i], ": ", units, " units");
  }
}

}  // namespace

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
  const auto cotangents = Draw(exact->binding->outputs(), seed);
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

}  // namespace assay::oracle
