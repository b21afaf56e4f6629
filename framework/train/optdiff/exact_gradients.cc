// SPDX-License-Identifier: Apache-2.0

#include "framework/train/optdiff/exact_gradients.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "framework/backend/exact.h"
#include "framework/core/text.h"
#include "framework/testing/draw/draw.h"
#include "framework/testing/limit/fault.h"
#include "framework/testing/limit/limit.h"

namespace assay::optdiff {
namespace {

/// The inputs of the model in its order: parameters by their names, and the
/// batch in the order that it has.
std::vector<Value> InputsAt(const Graph& graph, const Place& place) {
  std::vector<Value> inputs;
  size_t next = 0;
  for (const ValueId id : graph.inputs) {
    inputs.emplace_back(place.InputOf(graph[id].name, &next));
  }
  return inputs;
}

/// A cotangent of 1 for the loss, which is the last output.
Result<std::vector<Value>> OneForLoss(size_t n_outputs) {
  std::vector<Value> cotangents(n_outputs);
  const std::array<double, 1> one = {1};
  ASSAY_ASSIGN_OR_RETURN(cotangents.back(), Tensor::Of<double>(Shape(), one));
  return cotangents;
}

/// The oracle's answer about one gradient.
struct Answer {
  const ExactValue& exact;
  const Tensor& units;
  const Tensor& hard;
  const ExactHull* hull;  // null where the oracle has none
};

std::string FaultOf(const Tensor& got, const Answer& answer) {
  const auto want = answer.exact.value.tensor()->elements<double>();
  const auto bounds = answer.exact.bound.elements<double>();
  const auto units = answer.units.elements<double>();
  const auto hard = answer.hard.elements<double>();
  const double roundoff = limit::UnitRoundoff(got.dtype());
  const std::vector<double> numbers = draw::NumbersOf(got);
  for (size_t i = 0; i < numbers.size(); ++i) {
    const double allowed = limit::LimitOf(units[i], hard[i], roundoff) +
                           roundoff * std::abs(want[i]) + bounds[i];
    double low = want[i];
    double high = want[i];
    if (answer.hull != nullptr && answer.hull->low.defined()) {
      low = std::min(low, answer.hull->low.elements<double>()[i]);
      high = std::max(high, answer.hull->high.elements<double>()[i]);
    }
    if (numbers[i] >= low - allowed && numbers[i] <= high + allowed) continue;
    // An element that the oracle does not know is not judged, unless it is NaN
    // or infinite.
    if (!std::isfinite(allowed) && std::isfinite(numbers[i])) continue;
    return limit::InWords(static_cast<int64_t>(i), numbers[i], want[i], allowed,
                          got.dtype());
  }
  return "";
}

/// Twice the digits of what is judged.
Precision PrecisionFor(DType type, const ExactRun& run) {
  return type == DType::kFloat64 ? Precision::kQuad : run.LeastPrecision();
}

}  // namespace

Result<std::unique_ptr<ExactGradients>> ExactGradients::Load(
    Backend& oracle, std::shared_ptr<const Model> model) {
  LoadOptions options;
  options.exact = true;
  ASSAY_ASSIGN_OR_RETURN(auto loaded, oracle.Load(model, options));
  if (loaded == nullptr || loaded->exact() == nullptr) {
    return Unsupported(Reason::kGradient, oracle.name(),
                       " offers no exact evaluation of the network");
  }
  return std::unique_ptr<ExactGradients>(
      new ExactGradients(std::move(model), std::move(loaded)));
}

Result<std::unique_ptr<ExactRun>> ExactGradients::At(const Place& place) {
  std::vector<std::string> targets;
  for (const train::Parameter& parameter : place.parameters) {
    targets.push_back(parameter.name);
  }
  const std::vector<Value> inputs = InputsAt(model_->graph(), place);
  return network_->exact()->At(inputs, targets);
}

Result<std::string> ExactGradients::FaultOfLoss(const Place& place, double loss,
                                                DType type) {
  ASSAY_ASSIGN_OR_RETURN(auto run, At(place));
  ASSAY_ASSIGN_OR_RETURN(const auto exact,
                         run->Evaluate(PrecisionFor(type, *run)));
  ASSAY_ASSIGN_OR_RETURN(const auto units,
                         run->EvaluateUnits(UnitKind::kCondition));
  ASSAY_ASSIGN_OR_RETURN(const auto hard, run->EvaluateUnits(UnitKind::kHard));
  const std::array<double, 1> number = {loss};
  ASSAY_ASSIGN_OR_RETURN(const Tensor got,
                         draw::TensorOf(type, Shape(), number));
  return optdiff::FaultOf(got,
                          {exact.back(), units.back(), hard.back(), nullptr});
}

Result<std::string> ExactGradients::FaultOf(const Place& place,
                                            std::span<const Tensor> gradients) {
  const Graph& graph = model_->graph();
  ASSAY_ASSIGN_OR_RETURN(auto run, At(place));
  ASSAY_ASSIGN_OR_RETURN(const std::vector<Value> one,
                         OneForLoss(graph.outputs.size()));
  const Precision precision = PrecisionFor(gradients.front().dtype(), *run);
  ASSAY_ASSIGN_OR_RETURN(const auto exact, run->Vjp(one, precision));
  ASSAY_ASSIGN_OR_RETURN(const auto units,
                         run->VjpUnits(one, UnitKind::kCondition));
  ASSAY_ASSIGN_OR_RETURN(const auto hard, run->VjpUnits(one, UnitKind::kHard));
  const auto hulls =
      run->VjpHull(one, limit::UnitRoundoff(gradients.front().dtype()));
  for (size_t i = 0; i < gradients.size(); ++i) {
    const std::string fault = optdiff::FaultOf(
        gradients[i],
        {exact[i], units[i], hard[i], hulls.ok() ? &(*hulls)[i] : nullptr});
    if (!fault.empty())
      return StrCat("'", place.parameters[i].name, "': ", fault);
  }
  return std::string();
}

}  // namespace assay::optdiff
