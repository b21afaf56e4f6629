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

/// A limit of this share of what is wanted would hide a factor of 1.01.
constexpr double kHides = 1.0 / 200;
/// A gradient of this share of all together is as good as none.
constexpr double kNothing = 1e-6;
/// So many roundings are a narrow limit wherever they lead.
constexpr double kNarrow = 1000;

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

struct Verdict {
  std::string fault;   // the first element beyond its limit; empty: none is
  double allowed = 0;  // l2 of the limits; infinite where one is not known
};

Verdict VerdictOf(const Tensor& got, const Answer& answer) {
  const auto want = answer.exact.value.tensor()->elements<double>();
  const auto bounds = answer.exact.bound.elements<double>();
  const auto units = answer.units.elements<double>();
  const auto hard = answer.hard.elements<double>();
  const double roundoff = limit::UnitRoundoff(got.dtype());
  const std::vector<double> numbers = draw::NumbersOf(got);
  Verdict verdict;
  for (size_t i = 0; i < numbers.size(); ++i) {
    const double allowed = limit::LimitOf(units[i], hard[i], roundoff) +
                           roundoff * std::abs(want[i]) + bounds[i];
    verdict.allowed = std::hypot(verdict.allowed, allowed);
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
    verdict.fault = limit::InWords(static_cast<int64_t>(i), numbers[i], want[i],
                                   allowed, got.dtype());
    return verdict;
  }
  return verdict;
}

/// Looks less closely at a tensor that the oracle has let pass, and no more at
/// one of which its limits are so wide that they would show nothing.
void Heed(const Verdict& verdict, const Distance& distance, double least,
          Sieve* sieve) {
  const double shows =
      std::max({kNarrow * distance.explained, kHides * distance.norm, least});
  sieve->is_blind = !(verdict.allowed <= shows);
  if (sieve->is_blind) return;
  sieve->roundings = 2 * distance.share();
  sieve->passed = distance.l2;
}

/// The l2 by which a tensor may be off unseen. One that has passed once hides
/// nothing later, and one that is to be none may be nearly none: a bias whose
/// gradient cancels is left with roundings.
double LimitOf(const Distance& distance, const Sieve& sieve, double least) {
  const double first = std::max({kSieve * distance.explained, sieve.passed,
                                 distance.norm <= least ? least : 0});
  if (!(sieve.roundings > kSieve) || distance.explained == 0) return first;
  return std::max(first, std::min(sieve.roundings * distance.explained,
                                  std::max(kHides * distance.norm, least)));
}

/// True where the oracle has to be asked.
bool Asks(const Distance& distance, double limit, const Sieve& sieve) {
  return !(distance.l2 <= limit) &&
         !(sieve.is_blind && std::isfinite(distance.l2));
}

/// Twice the digits of what is judged.
Precision PrecisionFor(DType type, const ExactRun& run) {
  return type == DType::kFloat64 ? Precision::kQuad : run.LeastPrecision();
}

Result<Verdict> VerdictOfLoss(ExactRun& run, double loss, DType type) {
  ASSAY_ASSIGN_OR_RETURN(const auto exact,
                         run.Evaluate(PrecisionFor(type, run)));
  ASSAY_ASSIGN_OR_RETURN(const auto units,
                         run.EvaluateUnits(UnitKind::kCondition));
  ASSAY_ASSIGN_OR_RETURN(const auto hard, run.EvaluateUnits(UnitKind::kHard));
  const std::array<double, 1> number = {loss};
  ASSAY_ASSIGN_OR_RETURN(const Tensor got,
                         draw::TensorOf(type, Shape(), number));
  return VerdictOf(got, {exact.back(), units.back(), hard.back(), nullptr});
}

/// `gradients` are those of the parameters, and the loss is the last output.
Result<std::vector<Verdict>> VerdictsOfGradients(
    ExactRun& run, size_t n_outputs, std::span<const Tensor> gradients) {
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
  std::vector<Verdict> verdicts;
  for (size_t i = 0; i < gradients.size(); ++i) {
    verdicts.push_back(VerdictOf(
        gradients[i],
        {exact[i], units[i], hard[i], hulls.ok() ? &(*hulls)[i] : nullptr}));
  }
  return verdicts;
}

void CopyInto(const Tensor& from, Tensor to) {
  if (from.dtype() != to.dtype() || from.shape() != to.shape()) return;
  std::ranges::copy(from.bytes(), to.mutable_data());
}

}  // namespace

std::string UndecidedText(const Undecided& undecided) {
  constexpr size_t kShown = 5;
  std::vector<std::string> shown;
  for (const auto& [tensor, steps] : undecided) {
    if (shown.size() == kShown) break;
    shown.push_back(
        StrCat(tensor, " at ", steps, steps == 1 ? " step" : " steps"));
  }
  const std::string text = Joined(shown);
  const size_t more = undecided.size() - shown.size();
  return more == 0 ? text : StrCat(text, " and ", more, " more tensors");
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
  ASSAY_RETURN_IF_ERROR(Put(step));
  ASSAY_RETURN_IF_ERROR(lockstep_.Step(quad::Gradients::kGiven));
  updates_ = lockstep_.Compare();
  rows->Begin(step, objective_.backend_loss(), objective_.judge_loss());
  loss_sieve_.passed = 0;
  for (Sieve& sieve : sieves_) sieve.passed = 0;
  ASSAY_ASSIGN_OR_RETURN(StepFault fault, Loss(batch, rows));
  if (!fault.what.empty()) return fault;
  ASSAY_ASSIGN_OR_RETURN(fault, Gradients(batch, rows));
  if (!fault.what.empty()) return fault;
  fault = Statistics(rows);
  if (!fault.what.empty()) return fault;
  return Update(rows);
}

Status LockedRun::Put(int64_t step) {
  ASSAY_ASSIGN_OR_RETURN(const StepBatch batch, course_.batch(step));
  objective_.At(step - 1);
  return objective_.Put(batch.narrow, batch.wide);
}

Status LockedRun::StepAlone() {
  objective_.Watch(false);
  const Status stepped = lockstep_.StepAlone();
  objective_.Watch(true);
  return stepped;
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

double LockedRun::GradientLimit(size_t parameter) const {
  return LimitOf(objective_.gradients()[parameter], sieves_[parameter],
                 LeastGradient());
}

double LockedRun::LossLimit() const {
  return LimitOf(objective_.loss(), loss_sieve_, 0);
}

/// An l2 that is as good as none beside all gradients together.
double LockedRun::LeastGradient() const {
  double all = 0;
  for (const Distance& each : objective_.gradients()) {
    all = std::hypot(all, each.norm);
  }
  return kNothing * all;
}

/// Adds a tensor that is not wrong: right, or beyond its limit where the oracle
/// is blind.
void LockedRun::Settle(const std::string& tensor, const Distance& distance,
                       double limit, StepRows* rows) {
  const bool is_decided = distance.l2 <= limit;
  if (!is_decided) ++undecided_[tensor];
  rows->Add(tensor, distance, distance.l2, std::max(limit, distance.l2),
            is_decided);
}

Result<StepFault> LockedRun::Loss(const StepBatch& batch, StepRows* rows) {
  const Distance& loss = objective_.loss();
  if (Asks(loss, LossLimit(), loss_sieve_)) {
    ASSAY_ASSIGN_OR_RETURN(const auto exact,
                           ExactAt(objective_.PlaceOf(batch.narrow)));
    ASSAY_ASSIGN_OR_RETURN(
        const Verdict verdict,
        VerdictOfLoss(*exact, objective_.backend_loss(),
                      lockstep_.parameters()[0].value.dtype()));
    if (!verdict.fault.empty()) {
      rows->Add("loss", loss, loss.l2, LossLimit());
      return StepFault{kFailLoss, "loss",
                       StrCat("the loss: ", verdict.fault, Roundings(loss))};
    }
    Heed(verdict, loss, 0, &loss_sieve_);
  }
  Settle("loss", loss, LossLimit(), rows);
  return StepFault();
}

Result<StepFault> LockedRun::Gradients(const StepBatch& batch, StepRows* rows) {
  const auto name_of = [&](size_t p) { return objective_.place()[p].name; };
  std::vector<Verdict> verdicts;  // once the oracle is asked
  for (size_t p = 0; p < sieves_.size(); ++p) {
    const Distance& distance = objective_.gradients()[p];
    Sieve& sieve = sieves_[p];
    const auto asks = [&] { return Asks(distance, GradientLimit(p), sieve); };
    if (asks()) {
      ASSAY_RETURN_IF_ERROR(objective_.LookAgain(p, sieve.roundings));
    }
    if (asks()) {
      if (verdicts.empty()) {
        ASSAY_ASSIGN_OR_RETURN(const auto exact,
                               ExactAt(objective_.PlaceOf(batch.narrow)));
        ASSAY_ASSIGN_OR_RETURN(
            verdicts, VerdictsOfGradients(
                          *exact, course_.narrow.model->graph().outputs.size(),
                          objective_.got()));
      }
      for (size_t w = 0; w < verdicts.size(); ++w) {
        if (verdicts[w].fault.empty()) continue;
        rows->Add(name_of(p) + ".gradient", distance, distance.l2,
                  GradientLimit(p));
        return StepFault{
            kFailGradient, name_of(w) + ".gradient",
            StrCat("the gradient of '", name_of(w), "': ", verdicts[w].fault,
                   Roundings(objective_.gradients()[w]))};
      }
      Heed(verdicts[p], distance, LeastGradient(), &sieve);
    }
    Settle(name_of(p) + ".gradient", distance, GradientLimit(p), rows);
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
  for (const quad::TensorDifference& difference : updates_) {
    const Distance distance = {.l2 = difference.l2,
                               .linf = difference.linf,
                               .norm = difference.norm,
                               .explained = difference.explained};
    const bool is_decided = difference.is_decided();
    if (!is_decided) ++undecided_[difference.name()];
    if (rows->Add(difference.name(), distance, difference.linf,
                  difference.limit_of_linf(), is_decided)) {
      continue;
    }
    return {kFailUpdate, difference.name(),
            StrCat(difference.name(), " is off by ", ToText(difference.off),
                   " in element ", difference.nearest,
                   " where the gradients are its own, wanted within ",
                   ToText(difference.limit))};
  }
  return {};
}

}  // namespace assay::optdiff
