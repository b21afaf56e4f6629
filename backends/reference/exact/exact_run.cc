// SPDX-License-Identifier: Apache-2.0

#include "backends/reference/exact/exact_run.h"

#include <algorithm>
#include <cmath>
#include <concepts>
#include <limits>

#include "backends/reference/exact/gather.h"
#include "backends/reference/exact/hull.h"
#include "backends/reference/exact/recording.h"
#include "backends/reference/exact/referee.h"
#include "backends/reference/exact/sampled.h"

namespace assay::reference {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::infinity();
// The least step of a referee: a smaller one leaves nothing of a difference.
constexpr double kLeastStep = 0x1p-30;
// Bytes of what is kept of tapes beside their nodes: numbers, then derivatives.
constexpr size_t kMostKeptNumbers = size_t{1} << 29;
constexpr size_t kNumbersOfNode = 5;

// Calls body.operator()<charge>() with what a kind of units charges.
template <class Body>
Result<std::vector<Tensor>> WithChargeOf(UnitKind kind, Body&& body) {
  return kind == UnitKind::kCondition
             ? body.template operator()<Charge::kCondition>()
             : body.template operator()<Charge::kHard>();
}

// True when an element is known to so little that a better bound is worth a
// pass: to less than half of its bits.
template <class S>
bool IsLoose(const std::vector<v1::Value>& values,
             const Borders<Bounded<S>>& numbers) {
  static const double kShare = std::sqrt(kRoundoffOf<S>);
  const auto is_loose = [&](const Var& var) {
    const Bounded<S> number = numbers.Of(var);
    const double value = std::abs(ToDouble(number));
    return std::isfinite(value) && !(number.Error() <= kShare * value) &&
           number.Error() != 0;
  };
  return std::ranges::any_of(values, [&](const v1::Value& value) {
    return IsVars(value) &&
           std::ranges::any_of(value.tensor()->elements<Var>(), is_loose);
  });
}

// Numbers given are rounded once: they are charged, too.
template <Charge kCharge>
GivenOf<Charged<kCharge>> RoundedGiven() {
  return [](uint32_t, uint32_t, double value) {
    return Charged<kCharge>::Rounded(value, 1);
  };
}

// The direction of a given number. Targets are the first sources.
double DirectionAt(const Directions& directions, uint32_t source,
                   uint32_t index) {
  if ((source & kGivenSource) != 0) return 0;
  const double* const direction = directions[source - 1];
  return direction == nullptr ? 0 : direction[index];
}

// A number given and its change along the directions, both rounded as often.
template <class S>
GivenOf<Dual<S>> Along(const Directions& directions, double roundings) {
  return
      [&directions, roundings](uint32_t source, uint32_t index, double value) {
        return Dual<S>(
            S::Rounded(value, roundings),
            S::Rounded(DirectionAt(directions, source, index), roundings));
      };
}

// True when all that has a scale keeps it from one run to the other.
bool StayInScale(Trace& trace, Trace& beside) {
  if (trace.steps() != beside.steps()) return false;
  return std::ranges::all_of(trace.steps(), [&](uint32_t step) {
    const auto tape = trace.TapeOf(step);
    const auto moved = beside.TapeOf(step);
    return tape.ok() && moved.ok() && StaysInScale(**tape, **moved);
  });
}

template <class N>
Status ReversePassed(Trace& trace, Passed<N>* passed, Borders<N>* adjoints) {
  return passed->keeps_tapes
             ? passed->linear.Reverse(trace, &passed->numbers, adjoints)
             : ReverseSteps(trace, passed->numbers, adjoints);
}

// The values of a pass with their tangents.
template <class S>
std::vector<S> ValuesOf(const std::vector<Dual<S>>& duals) {
  std::vector<S> values;
  values.reserve(duals.size());
  for (const Dual<S>& dual : duals) values.push_back(dual.value);
  return values;
}

}  // namespace

Result<std::unique_ptr<ExactRun>> RecordedRun::Make(
    Network& network, std::vector<v1::Value> inputs,
    std::vector<Target> targets, size_t most_kept_bytes) {
  std::unique_ptr<RecordedRun> run(new RecordedRun(
      network, std::move(inputs), std::move(targets), most_kept_bytes));
  const Directions none(run->targets_.size(), nullptr);
  ASSAY_RETURN_IF_ERROR(run->Fill(none, 0, &run->record_));
  return std::unique_ptr<ExactRun>(std::move(run));
}

Result<Directions> RecordedRun::DirectionsOf(
    std::span<const v1::Value> tangents) const {
  ASSAY_RETURN_IF_ERROR(
      CheckCount(tangents.size(), targets_.size(), "tangents"));
  Directions directions;
  for (size_t i = 0; i < targets_.size(); ++i) {
    ASSAY_ASSIGN_OR_RETURN(
        directions.emplace_back(),
        DirectionOf(tangents[i], targets_[i].value.tensor()->shape(),
                    targets_[i].name));
  }
  return directions;
}

template <class N>
std::pair<bool, size_t> RecordedRun::IsSmall(const Trace& trace) const {
  const size_t bytes = trace.node_count() * kNumbersOfNode * sizeof(N);
  return {trace.is_kept() && bytes <= kMostKeptNumbers, bytes};
}

template <class S>
Result<Passed<Bounded<S>>*> RecordedRun::PassedIn() {
  using P = Passed<Bounded<S>>;
  if (P* const kept = kept_.template Find<P>()) return kept;
  Trace& trace = record_.trace;
  const auto [is_small, bytes] = IsSmall<Bounded<S>>(trace);
  kept_.MakeRoom(bytes);
  const Left left = targets_.empty() ? Left::kKept
                    : is_small       ? Left::kTapes
                                     : Left::kAll;
  P passed;
  const auto see = [&](uint32_t, const Tape& tape,
                       const std::vector<Bounded<S>>& of_tape) {
    passed.undecided = passed.undecided || IsUndecided(tape, of_tape);
  };
  // No charge says much about a great run.
  bool sampled = !trace.is_kept();
  if (!sampled || std::same_as<S, Mpfr>) {
    ASSAY_RETURN_IF_ERROR(ReplaySteps(trace, left, &passed.numbers, see));
    sampled = passed.undecided || IsLoose(record_.outputs, passed.numbers);
  }
  if constexpr (!std::same_as<S, Mpfr>) {
    if (sampled) {
      passed = P();
      ASSAY_RETURN_IF_ERROR(SampleSteps<S>(trace, left, &passed.numbers, see));
    }
  }
  passed.keeps_tapes = left == Left::kTapes;
  return kept_.Keep(std::move(passed));
}

// Blocks stay whole: their own passes are faster than lists.
template <Charge kCharge>
Result<Passed<Charged<kCharge>>*> RecordedRun::ChargedAsTaken() {
  using P = Passed<Charged<kCharge>>;
  if (P* const kept = kept_.template Find<P>()) return kept;
  const auto [is_small, bytes] = IsSmall<Charged<kCharge>>(record_.trace);
  kept_.MakeRoom(bytes);
  P passed{.numbers = Borders<Charged<kCharge>>(RoundedGiven<kCharge>()),
           .linear = LinearSteps<Charged<kCharge>>(/*most_listed=*/0),
           .keeps_tapes = is_small};
  ASSAY_RETURN_IF_ERROR(
      ReplaySteps(record_.trace, is_small ? Left::kTapes : Left::kAll,
                  &passed.numbers, [](uint32_t, const Tape&, const auto&) {}));
  return kept_.Keep(std::move(passed));
}

template <Charge kCharge>
Status RecordedRun::Charges(Left left, Borders<Charged<kCharge>>* charges,
                            bool* unknown) {
  bool jumps = false;
  bool bends = false;
  ASSAY_RETURN_IF_ERROR(ReplaySteps(
      record_.trace, left, charges,
      [&](uint32_t, const Tape& tape, const auto& of_tape) {
        for (const Comparison& branch : tape.branches()) {
          bool& in_doubt = branch.is_jump ? jumps : bends;
          in_doubt = in_doubt || IsInDoubt(branch, tape.values(), of_tape);
        }
      }));
  *unknown = jumps;
  if (!jumps && bends) {
    ASSAY_ASSIGN_OR_RETURN(*unknown, BranchInDoubt());
  }
  return OkStatus();
}

// No charge says much about a great run, and errors of double grow as fast.
Precision RecordedRun::LeastPrecision() const {
  const Trace& trace = record_.trace;
  const bool is_great =
      !trace.is_kept() &&
      CheckSteps(trace, Precision::kQuad, PassKind::kValues).ok();
  return is_great ? Precision::kQuad : Precision::kDouble;
}

Result<bool> RecordedRun::BranchInDoubt() {
  if (LeastPrecision() == Precision::kQuad) {
    ASSAY_ASSIGN_OR_RETURN(const auto* const passed, PassedIn<Quad>());
    return passed->undecided;
  }
  ASSAY_ASSIGN_OR_RETURN(const auto* const passed, PassedIn<double>());
  return passed->undecided;
}

Result<std::vector<ExactValue>> RecordedRun::Evaluate(Precision precision) {
  return WithScalarOf(
      precision, record_.trace, PassKind::kValues,
      [&]<class S>() -> Result<std::vector<ExactValue>> {
        ASSAY_ASSIGN_OR_RETURN(const auto* const passed, PassedIn<S>());
        return GatherAll<S>(
            record_.outputs, passed->undecided,
            [&](const Var& x) { return passed->numbers.Of(x); });
      });
}

Result<std::vector<ExactValue>> RecordedRun::Vjp(
    std::span<const v1::Value> cotangents, Precision precision) {
  return WithScalarOf(
      precision, record_.trace, PassKind::kDerivatives,
      [&]<class S>() -> Result<std::vector<ExactValue>> {
        using Number = Bounded<S>;
        Borders<Number> adjoints(NothingGiven<Number>());
        ASSAY_RETURN_IF_ERROR(record_.ForEachSeed(
            cotangents, [&](const Var& x, double cotangent) {
              AddTo(record_.trace, x.source(), x.node(), Number(cotangent),
                    &adjoints);
            }));
        ASSAY_ASSIGN_OR_RETURN(auto* const passed, PassedIn<S>());
        ASSAY_RETURN_IF_ERROR(ReversePassed(record_.trace, passed, &adjoints));
        return GatherAll<S>(record_.targets, passed->undecided,
                            [&](const Var& x) { return adjoints.Of(x); });
      });
}

Result<std::vector<ExactValue>> RecordedRun::Jvp(
    std::span<const v1::Value> tangents, Precision precision) {
  ASSAY_ASSIGN_OR_RETURN(const Directions directions, DirectionsOf(tangents));
  return WithScalarOf(
      precision, record_.trace, PassKind::kDerivatives,
      [&]<class S>() -> Result<std::vector<ExactValue>> {
        bool undecided = false;
        Borders<Dual<Bounded<S>>> along(Along<Bounded<S>>(directions, 0));
        ASSAY_RETURN_IF_ERROR(ReplaySteps(
            record_.trace, Left::kKept, &along,
            [&](uint32_t, const Tape& tape, const auto& of_tape) {
              undecided = undecided || IsUndecided(tape, ValuesOf(of_tape));
            }));
        return GatherAll<S>(record_.outputs, undecided,
                            [&](const Var& x) { return along.Of(x).tangent; });
      });
}

// In quad, so that the sum adds no rounding, with what the roundings of the
// outputs can have done to it.
Result<Sample> RecordedRun::Weighted(const Directions& directions,
                                     std::span<const v1::Value> cotangents,
                                     double step) const {
  Recording record;
  ASSAY_RETURN_IF_ERROR(Fill(directions, step, &record));
  Trace& trace = record.trace;
  Borders<Bounded<double>> numbers(
      [&](uint32_t source, uint32_t index, double value) {
        const bool rounded =
            (source & kGivenSource) == 0 && trace.source(source).rounded[index];
        return Bounded<double>::Rounded(value, rounded ? 1 : 0);
      });
  bool undecided = false;
  ASSAY_RETURN_IF_ERROR(
      ReplaySteps(trace, Left::kKept, &numbers,
                  [&](uint32_t, const Tape& tape, const auto& of_tape) {
                    undecided = undecided || IsUndecided(tape, of_tape);
                  }));
  Quad sum;
  double bound = undecided ? kUnknown : 0;
  ASSAY_RETURN_IF_ERROR(
      record.ForEachSeed(cotangents, [&](const Var& x, double weight) {
        sum = sum + Quad(weight) * Quad(x.value());
        bound += std::abs(weight) * numbers.Of(x).Error();
      }));
  const double value = ToDouble(sum);
  return Sample{value, bound + std::abs(value) * 0x1p-53};
}

Result<double> RecordedRun::Reach(const Directions& directions) {
  double reach = kUnknown;
  Borders<Dual<double>> along(
      [&](uint32_t source, uint32_t index, double value) {
        return Dual<double>(value, DirectionAt(directions, source, index));
      });
  ASSAY_RETURN_IF_ERROR(ReplaySteps(
      record_.trace, Left::kKept, &along,
      [&](uint32_t, const Tape& tape, const auto& of_tape) {
        const Margins margins = MarginsOf(tape, of_tape);
        reach = std::min({reach, margins.kink, margins.jump, margins.scale});
      }));
  return reach;
}

Result<Slope> RecordedRun::Difference(std::span<const v1::Value> tangents,
                                      std::span<const v1::Value> cotangents) {
  ASSAY_ASSIGN_OR_RETURN(const Directions directions, DirectionsOf(tangents));
  ASSAY_RETURN_IF_ERROR(
      record_.ForEachSeed(cotangents, [](const Var&, double) {}));
  ASSAY_ASSIGN_OR_RETURN(double reach, Reach(directions));
  reach /= 4;
  if (!(reach > kLeastStep)) return Slope{0, kUnknown};
  const auto stays = [&](double step) {
    Recording moved;
    return Fill(directions, step, &moved).ok() &&
           StayInScale(record_.trace, moved.trace);
  };
  double step = std::exp2(std::floor(std::log2(std::min(reach, 0x1p-6))));
  while (step > kLeastStep && !(stays(step) && stays(-step))) step /= 16;
  if (!(step > kLeastStep)) return Slope{0, kUnknown};
  const auto slope = SlopeAtZero(
      [&](double h) -> Result<Sample> {
        return Weighted(directions, cotangents, h);
      },
      {.step = step});
  // Beside the inputs there are other outputs, or none.
  return slope.ok() ? *slope : Slope{0, kUnknown};
}

Result<std::vector<Tensor>> RecordedRun::EvaluateUnits(UnitKind kind) {
  return WithChargeOf(
      kind, [&]<Charge kCharge>() -> Result<std::vector<Tensor>> {
        Borders<Charged<kCharge>> charges(RoundedGiven<kCharge>());
        bool unknown = false;
        ASSAY_RETURN_IF_ERROR(Charges(Left::kKept, &charges, &unknown));
        return UnitsOf(record_.outputs, unknown,
                       [&](const Var& x) { return charges.Of(x); });
      });
}

Result<std::vector<Tensor>> RecordedRun::VjpUnits(
    std::span<const v1::Value> cotangents, UnitKind kind) {
  return WithChargeOf(
      kind, [&]<Charge kCharge>() -> Result<std::vector<Tensor>> {
        using C = Charged<kCharge>;
        Borders<C> adjoints(NothingGiven<C>());
        ASSAY_RETURN_IF_ERROR(record_.ForEachSeed(
            cotangents, [&](const Var& x, double cotangent) {
              AddTo(record_.trace, x.source(), x.node(),
                    C::Rounded(cotangent, 1), &adjoints);
            }));
        const AsTaken taken;
        ASSAY_ASSIGN_OR_RETURN(auto* const passed, ChargedAsTaken<kCharge>());
        ASSAY_RETURN_IF_ERROR(ReversePassed(record_.trace, passed, &adjoints));
        return UnitsOf(record_.targets, /*unknown=*/false,
                       [&](const Var& x) { return adjoints.Of(x); });
      });
}

Result<std::vector<Tensor>> RecordedRun::JvpUnits(
    std::span<const v1::Value> tangents, UnitKind kind) {
  ASSAY_ASSIGN_OR_RETURN(const Directions directions, DirectionsOf(tangents));
  return WithChargeOf(
      kind, [&]<Charge kCharge>() -> Result<std::vector<Tensor>> {
        using C = Charged<kCharge>;
        const AsTaken taken;
        Borders<Dual<C>> along(Along<C>(directions, 1));
        ASSAY_RETURN_IF_ERROR(
            ReplaySteps(record_.trace, Left::kKept, &along,
                        [](uint32_t, const Tape&, const auto&) {}));
        return UnitsOf(record_.outputs, /*unknown=*/false,
                       [&](const Var& x) { return along.Of(x).tangent; });
      });
}

Result<std::unique_ptr<Watched>> RecordedRun::Watch(Ties ties,
                                                    double roundoff) const {
  auto watched = std::make_unique<Watched>(ties);
  Trace& trace = watched->record.trace;
  trace.Watch(TiesWithin(roundoff));
  ASSAY_RETURN_IF_ERROR(
      Fill(Directions(targets_.size(), nullptr), 0, &watched->record));
  watched->keeps_tapes = IsSmall<Hard>(trace).first;
  ASSAY_RETURN_IF_ERROR(ReplaySteps(
      trace, Left::kAll, &watched->numbers,
      [&](uint32_t step, const Tape& tape, std::vector<Hard> of_tape) {
        Scale(roundoff, &of_tape);
        watched->jumps = watched->jumps || MayJump(tape, of_tape);
        if (watched->keeps_tapes) {
          watched->numbers.KeepTape(step, std::move(of_tape));
        }
      }));
  return watched;
}

Result<WatchedRuns*> RecordedRun::WatchedFor(double roundoff) {
  WatchedRuns* const kept = kept_.Find<WatchedRuns>();
  if (kept != nullptr && kept->roundoff == roundoff) return kept;
  kept_.MakeRoom(2 * IsSmall<Hard>(record_.trace).second);
  WatchedRuns watched{roundoff, {}};
  for (const Ties ties : {Ties::kFalse, Ties::kTrue}) {
    // Where nothing was tied the other way is the same.
    if (ties == Ties::kTrue && !watched.runs[0]->record.trace.saw_ties()) break;
    ASSAY_ASSIGN_OR_RETURN(watched.runs.emplace_back(), Watch(ties, roundoff));
  }
  return kept_.Keep(std::move(watched));
}

template <class Pass>
Result<std::vector<ExactHull>> RecordedRun::HullOf(
    std::vector<v1::Value> Recording::*of, double roundoff, const Pass& pass) {
  ASSAY_ASSIGN_OR_RETURN(WatchedRuns* const watched, WatchedFor(roundoff));
  const IntervalsRounded rounded(roundoff);
  Hulls joined;
  for (const auto& run : watched->runs) {
    Borders<Interval> found(NothingGiven<Interval>());
    ASSAY_RETURN_IF_ERROR(pass(*run, &found));
    ASSAY_RETURN_IF_ERROR(
        JoinHulls(run->record.*of, found, run->jumps, &joined));
  }
  return WidenedByError(std::move(joined));
}

Result<std::vector<ExactHull>> RecordedRun::VjpHull(
    std::span<const v1::Value> cotangents, double roundoff) {
  const auto scale = [=](std::vector<Hard>& values) {
    Scale(roundoff, &values);
  };
  return HullOf(
      &Recording::targets, roundoff,
      [&](Watched& watched, Borders<Interval>* found) -> Status {
        Trace& trace = watched.record.trace;
        ASSAY_RETURN_IF_ERROR(watched.record.ForEachSeed(
            cotangents, [&](const Var& x, double cotangent) {
              AddTo(trace, x.source(), x.node(), Interval(cotangent), found);
            }));
        return watched.keeps_tapes
                   ? ReverseKeptSteps(trace, watched.numbers, found)
                   : ReverseSteps(trace, watched.numbers, scale, found);
      });
}

Result<std::vector<ExactHull>> RecordedRun::JvpHull(
    std::span<const v1::Value> tangents, double roundoff) {
  ASSAY_ASSIGN_OR_RETURN(const Directions directions, DirectionsOf(tangents));
  return HullOf(
      &Recording::outputs, roundoff,
      [&](Watched& watched, Borders<Interval>* found) -> Status {
        *found =
            Borders<Interval>([&](uint32_t source, uint32_t index, double) {
              return Interval(DirectionAt(directions, source, index));
            });
        Trace& trace = watched.record.trace;
        for (const uint32_t step : trace.steps()) {
          ASSAY_ASSIGN_OR_RETURN(const auto tape, trace.TapeOf(step));
          std::vector<Hard> again;
          if (!watched.keeps_tapes) {
            again =
                ReplayStep(trace, step, *tape, InputsOf(*tape, watched.numbers),
                           watched.numbers);
            Scale(roundoff, &again);
          }
          const auto& of_tape =
              watched.keeps_tapes ? watched.numbers.OfTape(step) : again;
          found->PutStep(trace, step,
                         HullsAlong(*tape, of_tape, InputsOf(*tape, *found)));
        }
        return OkStatus();
      });
}

}  // namespace assay::reference
