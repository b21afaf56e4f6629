// SPDX-License-Identifier: Apache-2.0

#include "framework/train/optdiff/locked_run.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "framework/core/text.h"
#include "framework/file/csv.h"
#include "framework/testing/limit/limit.h"

namespace assay::optdiff {
namespace {

using file::ToText;

/// The roundings that an update in float32 may be off by
/// (framework/train/quad/README.md), and the share of float64, where
/// corrections subtract numbers near 1 from 1.
constexpr double kUpdateRoundings = 8;
constexpr double kUpdateDouble = 1e-12;

std::string Roundings(const Distance& distance) {
  return StrCat("; its distance is that of ", ToText(distance.share()),
                " roundings");
}

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

/// The oracle's answer about the loss or a gradient.
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

/// Says "element 0 is 1, wanted 2 within 1e-06" where the loss is beyond its
/// limit; empty where it is not.
Result<std::string> FaultOfLoss(ExactRun& run, double loss, DType type) {
  ASSAY_ASSIGN_OR_RETURN(const auto exact,
                         run.Evaluate(PrecisionFor(type, run)));
  ASSAY_ASSIGN_OR_RETURN(const auto units,
                         run.EvaluateUnits(UnitKind::kCondition));
  ASSAY_ASSIGN_OR_RETURN(const auto hard, run.EvaluateUnits(UnitKind::kHard));
  const std::array<double, 1> number = {loss};
  ASSAY_ASSIGN_OR_RETURN(const Tensor got,
                         draw::TensorOf(type, Shape(), number));
  return FaultOf(got, {exact.back(), units.back(), hard.back(), nullptr});
}

/// Names the first element beyond its limit, "'w': element 3 is 1, wanted 2
/// within 1e-06"; empty where none is. `gradients` are those of the parameters,
/// and the loss is the last output.
Result<std::string> FaultOfGradients(
    ExactRun& run, size_t n_outputs,
    std::span<const train::Parameter> parameters,
    std::span<const Tensor> gradients) {
  std::vector<Value> one(n_outputs);
  ASSAY_ASSIGN_OR_RETURN(one.back(),
                         Tensor::Of<double>(Shape(), std::array<double, 1>{1}));
  const Precision precision = PrecisionFor(gradients.front().dtype(), run);
  ASSAY_ASSIGN_OR_RETURN(const auto exact, run.Vjp(one, precision));
  ASSAY_ASSIGN_OR_RETURN(const auto units,
                         run.VjpUnits(one, UnitKind::kCondition));
  ASSAY_ASSIGN_OR_RETURN(const auto hard, run.VjpUnits(one, UnitKind::kHard));
  const auto hulls =
      run.VjpHull(one, limit::UnitRoundoff(gradients.front().dtype()));
  for (size_t i = 0; i < gradients.size(); ++i) {
    const std::string fault = FaultOf(
        gradients[i],
        {exact[i], units[i], hard[i], hulls.ok() ? &(*hulls)[i] : nullptr});
    if (!fault.empty()) {
      return StrCat("'", parameters[i].name, "': ", fault);
    }
  }
  return std::string();
}

void CopyInto(const Tensor& from, Tensor to) {
  if (from.dtype() != to.dtype() || from.shape() != to.shape()) return;
  std::ranges::copy(from.bytes(), to.mutable_data());
}

}  // namespace

double UpdateLimit(DType type) {
  return type == DType::kFloat64 ? kUpdateDouble
                                 : kUpdateRoundings * limit::UnitRoundoff(type);
}

Result<JudgeOf> JudgeFor(const Course& course, Backend& oracle) {
  ASSAY_ASSIGN_OR_RETURN(auto wide, Load(course.wide, oracle));
  return JudgeOf{oracle, std::make_shared<JudgeNetwork>(std::move(wide))};
}

Result<std::unique_ptr<LockedRun>> LockedRun::Begin(
    const Course& course, quad::OptimizerSetup optimizer, Backend& backend,
    const JudgeOf& judge, draw::Draw draw, int64_t rounded_every) {
  ASSAY_ASSIGN_OR_RETURN(auto network, Load(course.narrow, backend));
  auto objective = std::make_unique<BesideJudge>(
      std::move(network), judge.network, draw, rounded_every);
  return std::unique_ptr<LockedRun>(new LockedRun(
      course, std::move(optimizer), std::move(objective), judge.oracle));
}

Result<StepFault> LockedRun::Step(int64_t step, StepRows* rows) {
  ASSAY_ASSIGN_OR_RETURN(const StepBatch batch, course_.batch(step));
  objective_.At(step - 1);
  ASSAY_RETURN_IF_ERROR(objective_.Put(batch.narrow, batch.wide));
  ASSAY_RETURN_IF_ERROR(lockstep_.Step(quad::Gradients::kGiven));
  updates_ = lockstep_.Compare();
  rows->Begin(step, objective_.backend_loss(), objective_.judge_loss());
  ASSAY_ASSIGN_OR_RETURN(StepFault fault, Loss(batch, rows));
  if (!fault.what.empty()) return fault;
  ASSAY_ASSIGN_OR_RETURN(fault, Gradients(batch, rows));
  if (!fault.what.empty()) return fault;
  fault = Statistics(rows);
  if (!fault.what.empty()) return fault;
  return Update(rows);
}

void LockedRun::Take(LockedRun& other) {
  const auto parameters = lockstep_.parameters();
  for (size_t p = 0; p < parameters.size(); ++p) {
    CopyInto(other.lockstep_.parameters()[p].value, parameters[p].value);
  }
  const std::vector<train::StateTensor> state = lockstep_.State();
  for (const train::StateTensor& from : other.lockstep_.State()) {
    for (const train::StateTensor& to : state) {
      if (from.parameter == to.parameter && from.name == to.name) {
        CopyInto(from.value, to.value);
      }
    }
  }
  const auto statistics = objective_.Statistics();
  const auto others = other.objective_.Statistics();
  for (size_t s = 0; s < statistics.size() && s < others.size(); ++s) {
    CopyInto(others[s].value, statistics[s].value);
  }
}

/// The oracle's evaluation of the network at a place. Unsupported where it has
/// none.
Result<std::unique_ptr<ExactRun>> LockedRun::ExactAt(const Place& place) {
  const auto& model = course_.narrow.model;
  if (exact_ == nullptr) {
    LoadOptions options;
    options.exact = true;
    ASSAY_ASSIGN_OR_RETURN(auto loaded, oracle_.Load(model, options));
    if (loaded == nullptr || loaded->exact() == nullptr) {
      return Unsupported(Reason::kGradient, oracle_.name(),
                         " offers no exact evaluation of the network");
    }
    exact_ = std::move(loaded);
  }
  std::vector<std::string> targets;
  for (const train::Parameter& parameter : place.parameters) {
    targets.push_back(parameter.name);
  }
  return exact_->exact()->At(InputsAt(model->graph(), place), targets);
}

Result<StepFault> LockedRun::Loss(const StepBatch& batch, StepRows* rows) {
  const Distance& loss = objective_.loss();
  std::string fault;
  if (!(loss.share() <= loss_sieve_)) {
    ASSAY_ASSIGN_OR_RETURN(const auto exact,
                           ExactAt(objective_.PlaceOf(batch.narrow)));
    ASSAY_ASSIGN_OR_RETURN(
        fault, FaultOfLoss(*exact, objective_.backend_loss(),
                           lockstep_.parameters()[0].value.dtype()));
    // The oracle let it pass: look less closely from here on.
    if (fault.empty()) loss_sieve_ = 2 * loss.share();
  }
  rows->Add("loss", loss, loss.l2, loss_sieve_ * loss.explained);
  if (fault.empty()) return StepFault();
  return StepFault{kFailLoss, "loss",
                   StrCat("the loss: ", fault, Roundings(loss))};
}

Result<StepFault> LockedRun::Gradients(const StepBatch& batch, StepRows* rows) {
  for (size_t p = 0; p < objective_.gradients().size(); ++p) {
    const Distance& distance = objective_.gradients()[p];
    std::string fault;
    ASSAY_RETURN_IF_ERROR(objective_.LookAgain(p, sieve_));
    if (!(distance.share() <= sieve_)) {
      const Place place = objective_.PlaceOf(batch.narrow);
      ASSAY_ASSIGN_OR_RETURN(const auto exact, ExactAt(place));
      ASSAY_ASSIGN_OR_RETURN(
          fault,
          FaultOfGradients(*exact, course_.narrow.model->graph().outputs.size(),
                           place.parameters, objective_.got()));
      if (fault.empty()) sieve_ = 2 * distance.share();
    }
    const std::string tensor = objective_.place()[p].name + ".gradient";
    rows->Add(tensor, distance, distance.l2, sieve_ * distance.explained);
    if (fault.empty()) continue;
    return StepFault{kFailGradient, tensor,
                     StrCat("the gradient of ", fault, Roundings(distance))};
  }
  return StepFault();
}

StepFault LockedRun::Statistics(StepRows* rows) const {
  for (const BesideJudge::FedBack& fed : objective_.statistics()) {
    const Distance& distance = fed.distance;
    const double limit = kSieve * distance.explained;
    if (rows->Add(fed.name, distance, distance.l2, limit)) continue;
    return {
        kFailStatistic, fed.name,
        StrCat("the statistic ", fed.name, " is off by ", ToText(distance.l2),
               ", wanted within ", ToText(limit), Roundings(distance))};
  }
  return {};
}

StepFault LockedRun::Update(StepRows* rows) {
  const double allowed = UpdateLimit(lockstep_.parameters()[0].value.dtype());
  for (const quad::TensorDifference& difference : updates_) {
    const Distance distance = {.l2 = difference.l2,
                               .linf = difference.linf,
                               .norm = difference.norm,
                               .explained = allowed * difference.greatest};
    const double limit = allowed * difference.greatest;
    if (rows->Add(difference.name(), distance, difference.linf, limit)) {
      continue;
    }
    return {kFailUpdate, difference.name(),
            StrCat(difference.name(), " is off by ", ToText(difference.linf),
                   " where the gradients are its own, wanted within ",
                   ToText(limit))};
  }
  return {};
}

}  // namespace assay::optdiff
