// SPDX-License-Identifier: Apache-2.0

#include "backends/reference/exact/exact_run.h"

#include <algorithm>
#include <cmath>
#include <concepts>
#include <limits>
#include <string_view>

#include "backends/reference/exact/hull.h"
#include "backends/reference/exact/margins.h"
#include "backends/reference/exact/sampled.h"
#include "backends/reference/exact/scalar_of.h"

namespace assay::reference {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::infinity();
// Of a referee: with a smaller one nothing is left of a difference.
constexpr double kLeastStep = 0x1p-30;

// Calls body.operator()<charge>() with what a kind of units charges.
template <class Body>
Result<std::vector<Tensor>> WithChargeOf(UnitKind kind, Body&& body) {
  return kind == UnitKind::kCondition
             ? body.template operator()<Charge::kCondition>()
             : body.template operator()<Charge::kHard>();
}

// True when this branch, which was taken in double, may be the wrong one.
template <Charge kCharge, class S>
bool IsInDoubt(const Comparison& branch, const std::vector<double>& taken,
               const std::vector<Charged<kCharge, S>>& numbers) {
  const Charged<kCharge, S>& a = numbers[branch.a];
  const Charged<kCharge, S>& b = numbers[branch.b];
  return (a < b) != (taken[branch.a] < taken[branch.b]) ||
         (b < a) != (taken[branch.b] < taken[branch.a]) ||
         Charged<kCharge, S>::MayCross(a, b);
}

template <Charge kCharge, class S>
bool IsUndecided(const Tape& tape,
                 const std::vector<Charged<kCharge, S>>& numbers) {
  return std::ranges::any_of(tape.branches(), [&](const Comparison& branch) {
    return IsInDoubt(branch, tape.values(), numbers);
  });
}

bool IsVars(const Value& value) {
  const Tensor* const tensor = value.tensor();
  return tensor != nullptr && tensor->dtype() == kDTypeOf<Var>;
}

// True when an element is known to so little that a better bound is worth a
// pass: to less than half of its bits.
template <class S>
bool IsLoose(const std::vector<Value>& values,
             const std::vector<Bounded<S>>& numbers) {
  static const double kShare = std::sqrt(kRoundoffOf<S>);
  const auto is_loose = [&](const Var& var) {
    const Bounded<S>& number = numbers[var.node()];
    const double value = std::abs(ToDouble(number));
    return std::isfinite(value) && !(number.Error() <= kShare * value) &&
           number.Error() != 0;
  };
  return std::ranges::any_of(values, [&](const Value& value) {
    return IsVars(value) &&
           std::ranges::any_of(value.tensor()->elements<Var>(), is_loose);
  });
}

// The units of each element; undefined for what is no tensor of Vars.
template <Charge kCharge>
Result<std::vector<Tensor>> UnitsOf(
    const std::vector<Value>& values,
    const std::vector<Charged<kCharge>>& charges, bool unknown) {
  std::vector<Tensor> units(values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    if (!IsVars(values[i])) continue;
    const Tensor& vars = *values[i].tensor();
    ASSAY_ASSIGN_OR_RETURN(units[i],
                           Tensor::Allocate(DType::kFloat64, vars.shape()));
    std::ranges::transform(
        vars.elements<Var>(), units[i].mutable_elements<double>().begin(),
        [&](const Var& var) {
          return unknown ? kUnknown : charges[var.node()].Roundings();
        });
  }
  return units;
}

// A direction: float64, of the shape of `value`; null for zeros.
Result<const double*> DirectionOf(const Value& direction, const Shape& shape,
                                  std::string_view name) {
  if (!direction.present()) return static_cast<const double*>(nullptr);
  const Tensor* const tensor = direction.tensor();
  if (tensor == nullptr || tensor->dtype() != DType::kFloat64 ||
      tensor->shape() != shape) {
    return InvalidArgument("the direction of '", name, "' is ",
                           direction.Type().ToString(), ", wanted float64",
                           shape.ToString());
  }
  return tensor->elements<double>().data();
}

Status CheckCount(size_t found, size_t wanted, std::string_view what) {
  if (found == wanted) return OkStatus();
  return InvalidArgument("found ", found, " ", what, ", wanted ", wanted);
}

// The adjoints of all nodes, from what `seed` makes of each number.
template <class A, class S, class Seed>
std::vector<A> Adjoints(const Tape& tape, const std::vector<S>& values,
                        const std::vector<double>& seeds, const Seed& seed) {
  std::vector<A> adjoints;
  adjoints.reserve(seeds.size());
  for (const double one : seeds) adjoints.push_back(seed(one));
  Reverse(tape, values, adjoints);
  return adjoints;
}

// The values and the tangents of a pass with both.
template <class S>
std::pair<std::vector<S>, std::vector<S>> Parted(
    const std::vector<Dual<S>>& duals) {
  std::pair<std::vector<S>, std::vector<S>> parted;
  parted.first.reserve(duals.size());
  parted.second.reserve(duals.size());
  for (const Dual<S>& dual : duals) {
    parted.first.push_back(dual.value);
    parted.second.push_back(dual.tangent);
  }
  return parted;
}

// Widens each hull to hold these, too.
Status Join(const std::vector<Value>& values,
            const std::vector<Interval>& found, bool unknown,
            std::vector<ExactHull>* hulls) {
  const bool first = hulls->empty();
  hulls->resize(values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    if (!IsVars(values[i])) continue;
    const Tensor& vars = *values[i].tensor();
    ExactHull& hull = (*hulls)[i];
    if (first) {
      ASSAY_ASSIGN_OR_RETURN(hull.low,
                             Tensor::Allocate(DType::kFloat64, vars.shape()));
      ASSAY_ASSIGN_OR_RETURN(hull.high,
                             Tensor::Allocate(DType::kFloat64, vars.shape()));
    } else if (hull.low.shape() != vars.shape()) {
      return Unsupported(Reason::kGradient,
                         "a tie decides the shape of an output");
    }
    const auto low = hull.low.mutable_elements<double>();
    const auto high = hull.high.mutable_elements<double>();
    for (size_t k = 0; k < low.size(); ++k) {
      const uint32_t node = vars.elements<Var>()[k].node();
      Interval one = unknown     ? Interval(-kUnknown, kUnknown)
                     : node == 0 ? Interval()
                                 : found[node];
      // Opposite infinities have no sum.
      if (std::isnan(one.low) || std::isnan(one.high)) {
        one = {-kUnknown, kUnknown};
      }
      low[k] = first ? one.low : std::min(low[k], one.low);
      high[k] = first ? one.high : std::max(high[k], one.high);
    }
  }
  return OkStatus();
}

}  // namespace

Result<std::unique_ptr<ExactRun>> RecordedRun::Make(
    Network& network, std::vector<Value> inputs, std::vector<Target> targets) {
  std::unique_ptr<RecordedRun> run(
      new RecordedRun(network, std::move(inputs), std::move(targets)));
  ASSAY_RETURN_IF_ERROR(run->Fill(&run->record_));
  return std::unique_ptr<ExactRun>(std::move(run));
}

Status RecordedRun::Fill(Record* record) const {
  ASSAY_ASSIGN_OR_RETURN(const auto binding, network_.Bind(inputs_, {}));
  const Trace::Scope running(&record->trace);
  ASSAY_RETURN_IF_ERROR(network_.Forward(*binding));
  record->outputs.assign(binding->outputs().begin(), binding->outputs().end());
  // A target that nothing has read is read now: its derivatives are zero.
  record->targets.resize(targets_.size());
  for (size_t i = 0; i < targets_.size(); ++i) {
    ASSAY_ASSIGN_OR_RETURN(record->targets[i],
                           record->trace.Traced(targets_[i].value));
  }
  return OkStatus();
}

Result<std::vector<double>> RecordedRun::SeedsOf(
    const Record& record, std::span<const Value> cotangents) const {
  ASSAY_RETURN_IF_ERROR(
      CheckCount(cotangents.size(), record.outputs.size(), "cotangents"));
  std::vector<double> seeds(record.tape().size(), 0.0);
  for (size_t i = 0; i < record.outputs.size(); ++i) {
    if (!IsVars(record.outputs[i])) continue;
    const Tensor& vars = *record.outputs[i].tensor();
    ASSAY_ASSIGN_OR_RETURN(
        const double* const cotangent,
        DirectionOf(cotangents[i], vars.shape(), network_.outputs()[i].name));
    if (cotangent == nullptr) continue;
    for (size_t k = 0; k < vars.elements<Var>().size(); ++k) {
      seeds[vars.elements<Var>()[k].node()] += cotangent[k];
    }
  }
  return seeds;
}

Result<std::vector<double>> RecordedRun::DirectionsOf(
    const Record& record, std::span<const Value> tangents) const {
  ASSAY_RETURN_IF_ERROR(
      CheckCount(tangents.size(), targets_.size(), "tangents"));
  std::vector<double> directions(record.tape().size(), 0.0);
  for (size_t i = 0; i < targets_.size(); ++i) {
    const Tensor& vars = *record.targets[i].tensor();
    ASSAY_ASSIGN_OR_RETURN(
        const double* const tangent,
        DirectionOf(tangents[i], vars.shape(), targets_[i].name));
    if (tangent == nullptr) continue;
    for (size_t k = 0; k < vars.elements<Var>().size(); ++k) {
      directions[vars.elements<Var>()[k].node()] = tangent[k];
    }
  }
  return directions;
}

template <class S>
const std::vector<Bounded<S>>& RecordedRun::NumbersIn() {
  using Numbers = std::vector<Bounded<S>>;
  if (const auto* const kept = std::get_if<Numbers>(&numbers_)) return *kept;
  numbers_ = std::monostate();  // gives its memory back first
  const Tape& tape = record_.tape();
  Numbers& numbers = numbers_.emplace<Numbers>(Replay<Bounded<S>>(tape));
  if constexpr (!std::same_as<S, Mpfr>) {
    if (tape.size() <= kMostSampledNodes &&
        (IsUndecided(tape, numbers) || IsLoose(record_.outputs, numbers))) {
      numbers = Sampled(tape, numbers);
    }
  }
  return numbers;
}

template <Charge kCharge>
bool RecordedRun::HasNoUnits(const std::vector<Charged<kCharge>>& charges) {
  const Tape& tape = record_.tape();
  const auto in_doubt = [&](bool jumps) {
    return std::ranges::any_of(tape.branches(), [&](const auto& one) {
      return one.is_jump == jumps && IsInDoubt(one, tape.values(), charges);
    });
  };
  return in_doubt(true) ||
         (in_doubt(false) && IsUndecided(tape, NumbersIn<double>()));
}

Result<std::vector<ExactValue>> RecordedRun::Evaluate(Precision precision) {
  const Tape& tape = record_.tape();
  return WithScalarOf(precision, tape, [&]<class S>() {
    const auto& numbers = NumbersIn<S>();
    return GatherAll(record_.outputs,
                     PassNumbers<S>{numbers, IsUndecided(tape, numbers)});
  });
}

Result<std::vector<ExactValue>> RecordedRun::Vjp(
    std::span<const Value> cotangents, Precision precision) {
  ASSAY_ASSIGN_OR_RETURN(const std::vector<double> seeds,
                         SeedsOf(record_, cotangents));
  const Tape& tape = record_.tape();
  return WithScalarOf(precision, tape, [&]<class S>() {
    const auto& numbers = NumbersIn<S>();
    const auto adjoints = Adjoints<Bounded<S>>(
        tape, numbers, seeds, [](double one) { return Bounded<S>(one); });
    return GatherAll(
        record_.targets,
        PassNumbers<S>{adjoints, IsUndecided(tape, numbers), true});
  });
}

Result<std::vector<ExactValue>> RecordedRun::Jvp(
    std::span<const Value> tangents, Precision precision) {
  ASSAY_ASSIGN_OR_RETURN(const std::vector<double> directions,
                         DirectionsOf(record_, tangents));
  const Tape& tape = record_.tape();
  return WithScalarOf(precision, tape, [&]<class S>() {
    const auto [values, along] =
        Parted(Replay<Dual<Bounded<S>>>(tape, [&](uint32_t node, double value) {
          return Dual<Bounded<S>>(Bounded<S>(value),
                                  Bounded<S>(directions[node]));
        }));
    return GatherAll(record_.outputs,
                     PassNumbers<S>{along, IsUndecided(tape, values), true});
  });
}

// In quad, so that the sum adds no rounding, with what the roundings of the
// outputs can have done to it.
Result<Sample> RecordedRun::Weighted(std::span<const Value> tangents,
                                     std::span<const Value> cotangents,
                                     double step, Record* record) const {
  for (size_t i = 0; i < targets_.size(); ++i) {
    const Tensor* const tangent = tangents[i].tensor();
    if (tangent == nullptr) continue;
    std::vector<double> offsets;
    for (const double t : tangent->elements<double>()) {
      offsets.push_back(step * t);
    }
    record->trace.Shift(*targets_[i].value.tensor(), std::move(offsets));
  }
  ASSAY_RETURN_IF_ERROR(Fill(record));
  ASSAY_ASSIGN_OR_RETURN(const std::vector<double> weights,
                         SeedsOf(*record, cotangents));
  const Tape& tape = record->tape();
  const auto charges =
      Replay<Bounded<double>>(tape, [&](uint32_t node, double value) {
        return Bounded<double>::Rounded(value,
                                        record->trace.is_rounded(node) ? 1 : 0);
      });
  Quad sum;
  double bound = IsUndecided(tape, charges) ? kUnknown : 0;
  for (size_t node = 0; node < weights.size(); ++node) {
    if (weights[node] == 0) continue;
    sum = sum + Quad(weights[node]) * Quad(tape.values()[node]);
    bound += std::abs(weights[node]) * charges[node].Error();
  }
  const double value = ToDouble(sum);
  return Sample{value, bound + std::abs(value) * 0x1p-53};
}

Result<Slope> RecordedRun::Difference(std::span<const Value> tangents,
                                      std::span<const Value> cotangents) {
  ASSAY_ASSIGN_OR_RETURN(const std::vector<double> directions,
                         DirectionsOf(record_, tangents));
  ASSAY_RETURN_IF_ERROR(SeedsOf(record_, cotangents).status());
  const Tape& tape = record_.tape();
  const Margins margins = MarginsOf(
      tape, Replay<Dual<double>>(tape, [&](uint32_t node, double value) {
        return Dual<double>(value, directions[node]);
      }));
  const double reach =
      std::min({margins.kink, margins.jump, margins.scale}) / 4;
  if (!(reach > kLeastStep)) return Slope{0, kUnknown};
  const auto stays = [&](double step) {
    Record moved;
    return Weighted(tangents, cotangents, step, &moved).ok() &&
           StaysInScale(tape, moved.tape());
  };
  double step = std::exp2(std::floor(std::log2(std::min(reach, 0x1p-6))));
  while (step > kLeastStep && !(stays(step) && stays(-step))) step /= 16;
  if (!(step > kLeastStep)) return Slope{0, kUnknown};
  const auto slope = SlopeAtZero(
      [&](double h) -> Result<Sample> {
        Record moved;
        return Weighted(tangents, cotangents, h, &moved);
      },
      {.step = step});
  // Beside the inputs there are other outputs, or none.
  return slope.ok() ? *slope : Slope{0, kUnknown};
}

Result<std::vector<Tensor>> RecordedRun::EvaluateUnits(UnitKind kind) {
  const Tape& tape = record_.tape();
  return WithChargeOf(kind, [&]<Charge kCharge>() {
    using C = Charged<kCharge>;
    const auto charges = Replay<C>(
        tape, [](uint32_t, double value) { return C::Rounded(value, 1); });
    return UnitsOf(record_.outputs, charges, HasNoUnits(charges));
  });
}

Result<std::vector<Tensor>> RecordedRun::VjpUnits(
    std::span<const Value> cotangents, UnitKind kind) {
  ASSAY_ASSIGN_OR_RETURN(const std::vector<double> seeds,
                         SeedsOf(record_, cotangents));
  const Tape& tape = record_.tape();
  return WithChargeOf(kind, [&]<Charge kCharge>() {
    using C = Charged<kCharge>;
    const auto charges = Replay<C>(
        tape, [](uint32_t, double value) { return C::Rounded(value, 1); });
    const auto adjoints = Adjoints<C>(
        tape, charges, seeds, [](double one) { return C::Rounded(one, 1); });
    return UnitsOf(record_.targets, adjoints, HasNoUnits(charges));
  });
}

Result<std::vector<Tensor>> RecordedRun::JvpUnits(
    std::span<const Value> tangents, UnitKind kind) {
  ASSAY_ASSIGN_OR_RETURN(const std::vector<double> directions,
                         DirectionsOf(record_, tangents));
  const Tape& tape = record_.tape();
  return WithChargeOf(kind, [&]<Charge kCharge>() {
    using C = Charged<kCharge>;
    const auto [charges, along] =
        Parted(Replay<Dual<C>>(tape, [&](uint32_t node, double value) {
          return Dual<C>(C::Rounded(value, 1), C::Rounded(directions[node], 1));
        }));
    return UnitsOf(record_.outputs, along, HasNoUnits(charges));
  });
}

template <class Pass>
Result<std::vector<ExactHull>> RecordedRun::HullOf(
    std::vector<Value> Record::*of, double roundoff, const Pass& pass) const {
  std::vector<ExactHull> hulls;
  for (const Ties ties : {Ties::kFalse, Ties::kTrue}) {
    Record record(ties);
    TieWithin(roundoff, &record.trace.tape());
    ASSAY_RETURN_IF_ERROR(Fill(&record));
    const std::vector<Hard> values = HardValues(record.tape(), roundoff);
    const Result<std::vector<Interval>> found = pass(record, values);
    ASSAY_RETURN_IF_ERROR(found.status());
    ASSAY_RETURN_IF_ERROR(
        Join(record.*of, *found, MayJump(record.tape(), values), &hulls));
  }
  return hulls;
}

Result<std::vector<ExactHull>> RecordedRun::VjpHull(
    std::span<const Value> cotangents, double roundoff) {
  using Found = Result<std::vector<Interval>>;
  return HullOf(
      &Record::targets, roundoff,
      [&](const Record& record, const std::vector<Hard>& values) -> Found {
        ASSAY_ASSIGN_OR_RETURN(const auto seeds, SeedsOf(record, cotangents));
        return Adjoints<Interval>(record.tape(), values, seeds,
                                  [](double one) { return Interval(one); });
      });
}

Result<std::vector<ExactHull>> RecordedRun::JvpHull(
    std::span<const Value> tangents, double roundoff) {
  using Found = Result<std::vector<Interval>>;
  return HullOf(
      &Record::outputs, roundoff,
      [&](const Record& record, const std::vector<Hard>& values) -> Found {
        ASSAY_ASSIGN_OR_RETURN(const auto along,
                               DirectionsOf(record, tangents));
        return HullsAlong(record.tape(), values, along);
      });
}

}  // namespace assay::reference
