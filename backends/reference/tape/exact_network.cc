// SPDX-License-Identifier: Apache-2.0

#include "backends/reference/tape/exact_network.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "backends/reference/scalar/codec.h"
#include "backends/reference/tape/margins.h"
#include "backends/reference/tape/passes.h"

namespace assay::reference {
namespace {

template <class S>
using Bounded = Charged<Charge::kBound, S>;
using Conditioned = Charged<Charge::kCondition>;

// The numbers of a pass, with what rounding can have done to each.
template <class S>
struct Known {
  const std::vector<Bounded<S>>& numbers;
  bool undecided;            // a branch may have gone the other way
  bool derivatives = false;  // of the nodes, so that constants have none

  // First order, and a little more for the orders that follow.
  double Bound(size_t node) const {
    if (undecided) return Bounded<S>::kUnknown;
    if (node == 0) return 0;  // a constant
    const double bound = numbers[node].Error() * (1 + 0x1p-20);
    return std::isnan(bound) ? Bounded<S>::kUnknown : bound;
  }
};

// What a tail, a double, leaves of the number behind the value.
double BeyondTail(double tail) {
  return tail == 0 ? 0 : std::abs(tail) * 0x1p-53 + 0x1p-1074;
}

// The numbers of a tensor, gathered from the nodes of `vars`.
template <class S>
Result<ExactValue> Gather(const Tensor& vars, const Known<S>& known) {
  ASSAY_ASSIGN_OR_RETURN(Tensor value,
                         Tensor::Allocate(DType::kFloat64, vars.shape()));
  ASSAY_ASSIGN_OR_RETURN(Tensor tail,
                         Tensor::Allocate(DType::kFloat64, vars.shape()));
  ASSAY_ASSIGN_OR_RETURN(Tensor bound,
                         Tensor::Allocate(DType::kFloat64, vars.shape()));
  const auto elements = vars.elements<Var>();
  for (size_t i = 0; i < elements.size(); ++i) {
    const uint32_t node = elements[i].node();
    const S number = node != 0           ? known.numbers[node].value
                     : known.derivatives ? S(0)
                                         : S(elements[i].value());
    const double nearest = ToDouble(number);
    value.mutable_elements<double>()[i] = nearest;
    const double rest =
        std::isfinite(nearest) ? ToDouble(S(number - S(nearest))) : 0;
    tail.mutable_elements<double>()[i] = rest;
    bound.mutable_elements<double>()[i] = known.Bound(node) + BeyondTail(rest);
  }
  return ExactValue{std::move(value), std::move(tail), std::move(bound)};
}

// A tensor that no kernel has touched, as it is, each element off by as much.
Result<ExactValue> Untouched(const Tensor& tensor, double off) {
  ExactValue exact;
  ASSAY_ASSIGN_OR_RETURN(Tensor value,
                         Tensor::Allocate(DType::kFloat64, tensor.shape()));
  Decode(tensor, value.mutable_elements<double>().data());
  exact.value = Value(std::move(value));
  for (const auto& [part, number] :
       {std::pair(&exact.tail, 0.0), std::pair(&exact.bound, off)}) {
    ASSAY_ASSIGN_OR_RETURN(*part,
                           Tensor::Allocate(DType::kFloat64, tensor.shape()));
    std::ranges::fill(part->mutable_elements<double>(), number);
  }
  return exact;
}

// The inputs, each in memory of its own: a trace knows them by where they lie.
Result<std::vector<Value>> Apart(std::span<const Value> inputs) {
  std::set<const std::byte*> seen;
  std::vector<Value> apart(inputs.begin(), inputs.end());
  for (Value& input : apart) {
    const Tensor* const tensor = input.tensor();
    if (tensor == nullptr || tensor->byte_size() == 0 ||
        seen.insert(tensor->data()).second) {
      continue;
    }
    ASSAY_ASSIGN_OR_RETURN(
        Tensor copy,
        Tensor::FromBytes(tensor->dtype(), tensor->shape(), tensor->bytes()));
    input = Value(std::move(copy));
  }
  return apart;
}

template <class S>
Result<ExactValue> Known1(const Value& value, const Known<S>& known);

template <class S>
Result<ExactValue> KnownSequence(const Sequence& sequence,
                                 const Known<S>& known) {
  Sequence result{.element = sequence.element, .items = {}};
  for (const Value& item : sequence.items) {
    ASSAY_ASSIGN_OR_RETURN(ExactValue exact, Known1(item, known));
    result.items.push_back(std::move(exact.value));
  }
  if (!result.items.empty()) result.element = result.items.front().Type();
  return ExactValue{Value(std::move(result)), {}, {}};
}

template <class S>
Result<ExactValue> Known1(const Value& value, const Known<S>& known) {
  if (const Tensor* const tensor = value.tensor()) {
    if (tensor->dtype() == kDTypeOf<Var>) return Gather(*tensor, known);
    if (IsFloatingPoint(tensor->dtype())) {
      return Untouched(*tensor, known.undecided ? Bounded<S>::kUnknown : 0.0);
    }
  }
  // What has no bound cannot be said to be off.
  if (known.undecided) return ExactValue();
  if (const Sequence* const sequence = value.sequence()) {
    return KnownSequence(*sequence, known);
  }
  const Optional* const optional = value.optional();
  if (optional != nullptr && optional->has_value()) {
    ASSAY_ASSIGN_OR_RETURN(ExactValue exact, Known1(*optional->value, known));
    Optional result{.element = exact.value.Type(),
                    .value = std::make_shared<const Value>(exact.value)};
    exact.value = Value(std::move(result));
    return exact;
  }
  return ExactValue{value, {}, {}};
}

template <class S>
Result<std::vector<ExactValue>> KnownAll(const std::vector<Value>& values,
                                         const Known<S>& known) {
  std::vector<ExactValue> exact(values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    ASSAY_ASSIGN_OR_RETURN(exact[i], Known1(values[i], known));
  }
  return exact;
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

// Of a referee: with a smaller one nothing is left of a difference.
constexpr double kLeastStep = 0x1p-30;

// Steps of a pass, those within products included: 2^28 take half a minute in
// quad, 2^26 in MPFR.
double StepsOf(const Tape& tape) {
  auto steps = static_cast<double>(tape.size());
  for (const Block& block : tape.blocks()) {
    steps += static_cast<double>(block.rows) *
             static_cast<double>(block.inner) *
             static_cast<double>(block.columns);
  }
  return steps;
}
constexpr double kMostInQuad = 0x1p28;
constexpr double kMostInMpfr = 0x1p26;
// MPFR's numbers and their charges take some 100 bytes a node, and MPFR ends the
// program where it gets no memory.
constexpr size_t kMostNodesInMpfr = size_t{1} << 23;

Status CheckSteps(const Tape& tape, double most, std::string_view in) {
  const double steps = StepsOf(tape);
  if (steps <= most) return OkStatus();
  return ResourceExhausted("found ", steps, " steps, wanted ", most,
                           " at most in ", in);
}

// Calls body.operator()<S>() with the scalar of a precision.
template <class Body>
Result<std::vector<ExactValue>> WithScalarOf(Precision precision,
                                             const Tape& tape, Body&& body) {
  switch (precision) {
    case Precision::kQuad:
      ASSAY_RETURN_IF_ERROR(CheckSteps(tape, kMostInQuad, "quad"));
      return body.template operator()<Quad>();
    case Precision::kArbitrary:
      ASSAY_RETURN_IF_ERROR(CheckSteps(tape, kMostInMpfr, "MPFR"));
      if (tape.size() > kMostNodesInMpfr) {
        return ResourceExhausted("found ", tape.size(), " nodes, wanted ",
                                 kMostNodesInMpfr, " at most in MPFR");
      }
      return body.template operator()<Mpfr>();
    case Precision::kDouble:
      break;
  }
  return body.template operator()<double>();
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

// The adjoints of all nodes.
template <class S>
std::vector<S> Adjoints(const Tape& tape, const std::vector<S>& values,
                        const std::vector<double>& seeds) {
  std::vector<S> adjoints;
  adjoints.reserve(seeds.size());
  for (const double seed : seeds) adjoints.emplace_back(seed);
  Reverse(tape, values, adjoints);
  return adjoints;
}

}  // namespace

Result<std::unique_ptr<Network>> ExactNetwork::Make(
    const Model& model, std::unique_ptr<Network> plain,
    std::unique_ptr<Network> traced) {
  const Graph& graph = model.graph();
  for (const auto& value : graph.values) {
    ASSAY_RETURN_IF_ERROR(
        CheckReal(StrCat("value '", value.name, "'"), value.type));
  }
  return std::unique_ptr<Network>(
      new ExactNetwork(std::move(plain), std::move(traced)));
}

Result<std::vector<Value>> ExactNetwork::RunTraced(
    std::span<const Value> inputs, Trace* trace) {
  ASSAY_ASSIGN_OR_RETURN(const auto binding, traced_->Bind(inputs, {}));
  const Trace::Scope running(trace);
  ASSAY_RETURN_IF_ERROR(traced_->Forward(*binding));
  return std::vector<Value>(binding->outputs().begin(),
                            binding->outputs().end());
}

Result<std::vector<ExactValue>> ExactNetwork::Evaluate(
    std::span<const Value> inputs, Precision precision) {
  Trace trace;
  ASSAY_ASSIGN_OR_RETURN(const auto outputs, RunTraced(inputs, &trace));
  const Tape& tape = trace.tape();
  return WithScalarOf(precision, tape, [&]<class S>() {
    const auto numbers = Replay<Bounded<S>>(tape);
    return KnownAll(outputs, Known<S>{numbers, IsUndecided(tape, numbers)});
  });
}

Result<std::vector<ExactValue>> ExactNetwork::Vjp(
    std::span<const Value> given, std::span<const Value> cotangents,
    Precision precision) {
  ASSAY_ASSIGN_OR_RETURN(const std::vector<Value> inputs, Apart(given));
  Trace trace;
  ASSAY_ASSIGN_OR_RETURN(const auto ran, RunTraced(inputs, &trace));
  ASSAY_RETURN_IF_ERROR(
      CheckCount(cotangents.size(), ran.size(), "cotangents"));
  std::vector<double> seeds(trace.tape().size(), 0.0);
  for (size_t i = 0; i < ran.size(); ++i) {
    const Tensor* const vars = ran[i].tensor();
    if (vars == nullptr || vars->dtype() != kDTypeOf<Var>) continue;
    ASSAY_ASSIGN_OR_RETURN(
        const double* const cotangent,
        DirectionOf(cotangents[i], vars->shape(), outputs()[i].name));
    if (cotangent == nullptr) continue;
    for (size_t k = 0; k < vars->elements<Var>().size(); ++k) {
      seeds[vars->elements<Var>()[k].node()] += cotangent[k];
    }
  }
  // An input that nothing has read is read now: its adjoints are zero.
  std::vector<Value> vars(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Tensor* const tensor = inputs[i].tensor();
    if (tensor == nullptr || !IsFloatingPoint(tensor->dtype())) continue;
    ASSAY_ASSIGN_OR_RETURN(vars[i], trace.Traced(inputs[i]));
  }
  const Tape& tape = trace.tape();
  seeds.resize(tape.size(), 0.0);
  return WithScalarOf(precision, tape, [&]<class S>() {
    const auto numbers = Replay<Bounded<S>>(tape);
    const auto adjoints = Adjoints(tape, numbers, seeds);
    return KnownAll(vars, Known<S>{adjoints, IsUndecided(tape, numbers), true});
  });
}

Result<std::vector<double>> ExactNetwork::DirectionsOf(
    std::span<const Value> inputs, std::span<const Value> tangents,
    const Trace& trace) {
  ASSAY_RETURN_IF_ERROR(CheckCount(tangents.size(), inputs.size(), "tangents"));
  std::vector<double> directions(trace.tape().size(), 0.0);
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Tensor* const tensor = inputs[i].tensor();
    if (tensor == nullptr || !IsFloatingPoint(tensor->dtype())) {
      if (!tangents[i].present()) continue;
      return InvalidArgument("input '", this->inputs()[i].name,
                             "' has a tangent, and is ",
                             inputs[i].Type().ToString());
    }
    ASSAY_ASSIGN_OR_RETURN(
        const double* const tangent,
        DirectionOf(tangents[i], tensor->shape(), this->inputs()[i].name));
    const Tensor* const vars = trace.Find(*tensor);
    if (tangent == nullptr || vars == nullptr) continue;
    for (size_t k = 0; k < vars->elements<Var>().size(); ++k) {
      directions[vars->elements<Var>()[k].node()] = tangent[k];
    }
  }
  return directions;
}

Result<std::vector<ExactValue>> ExactNetwork::Jvp(
    std::span<const Value> given, std::span<const Value> tangents,
    Precision precision) {
  ASSAY_ASSIGN_OR_RETURN(const std::vector<Value> inputs, Apart(given));
  Trace trace;
  ASSAY_ASSIGN_OR_RETURN(const auto ran, RunTraced(inputs, &trace));
  ASSAY_ASSIGN_OR_RETURN(const std::vector<double> directions,
                         DirectionsOf(inputs, tangents, trace));
  const Tape& tape = trace.tape();
  return WithScalarOf(precision, tape, [&]<class S>() {
    const auto duals = Replay<Dual<Bounded<S>>>(tape, [&](uint32_t node,
                                                          double value) {
      return Dual<Bounded<S>>(Bounded<S>(value), Bounded<S>(directions[node]));
    });
    std::vector<Bounded<S>> values, tangents;
    values.reserve(duals.size());
    tangents.reserve(duals.size());
    for (const Dual<Bounded<S>>& dual : duals) {
      values.push_back(dual.value);
      tangents.push_back(dual.tangent);
    }
    return KnownAll(ran, Known<S>{tangents, IsUndecided(tape, values), true});
  });
}

// The sum of cotangents times outputs, in quad so that it adds no rounding, and
// what the roundings of the outputs can have done to it.
Result<Sample> ExactNetwork::Weighted(std::span<const Value> inputs,
                                      std::span<const Value> cotangents,
                                      Trace* trace) {
  ASSAY_ASSIGN_OR_RETURN(const auto ran, RunTraced(inputs, trace));
  ASSAY_RETURN_IF_ERROR(
      CheckCount(cotangents.size(), ran.size(), "cotangents"));
  const auto charges =
      Replay<Bounded<double>>(trace->tape(), [&](uint32_t node, double value) {
        return Bounded<double>::Rounded(value, trace->is_rounded(node) ? 1 : 0);
      });
  Quad sum;
  double bound =
      IsUndecided(trace->tape(), charges) ? Bounded<double>::kUnknown : 0;
  for (size_t i = 0; i < ran.size(); ++i) {
    const Tensor* const vars = ran[i].tensor();
    if (vars == nullptr || vars->dtype() != kDTypeOf<Var>) continue;
    ASSAY_ASSIGN_OR_RETURN(
        const double* const weights,
        DirectionOf(cotangents[i], vars->shape(), outputs()[i].name));
    if (weights == nullptr) continue;
    for (size_t k = 0; k < vars->elements<Var>().size(); ++k) {
      const Var& var = vars->elements<Var>()[k];
      sum = sum + Quad(weights[k]) * Quad(var.value());
      bound += std::abs(weights[k]) * charges[var.node()].Error();
    }
  }
  const double value = ToDouble(sum);
  return Sample{value, bound + std::abs(value) * 0x1p-53};
}

Result<Slope> ExactNetwork::Difference(std::span<const Value> given,
                                       std::span<const Value> tangents,
                                       std::span<const Value> cotangents) {
  ASSAY_ASSIGN_OR_RETURN(const std::vector<Value> inputs, Apart(given));
  Trace trace;
  ASSAY_RETURN_IF_ERROR(Weighted(inputs, cotangents, &trace).status());
  ASSAY_ASSIGN_OR_RETURN(const std::vector<double> directions,
                         DirectionsOf(inputs, tangents, trace));
  const Margins margins = MarginsOf(
      trace.tape(),
      Replay<Dual<double>>(trace.tape(), [&](uint32_t node, double value) {
        return Dual<double>(value, directions[node]);
      }));
  const double reach =
      std::min({margins.kink, margins.jump, margins.scale}) / 4;
  if (!(reach > kLeastStep)) return Slope{0, Bounded<double>::kUnknown};
  const auto shift = [&](double h, Trace* shifted) -> Result<Sample> {
    for (size_t i = 0; i < inputs.size(); ++i) {
      const Tensor* const tangent = tangents[i].tensor();
      if (tangent == nullptr) continue;
      std::vector<double> offsets;
      for (const double t : tangent->elements<double>()) {
        offsets.push_back(h * t);
      }
      shifted->Shift(*inputs[i].tensor(), std::move(offsets));
    }
    return Weighted(inputs, cotangents, shifted);
  };
  const auto stays = [&](double h) {
    Trace shifted;
    return shift(h, &shifted).ok() &&
           StaysInScale(trace.tape(), shifted.tape());
  };
  double step = std::exp2(std::floor(std::log2(std::min(reach, 0x1p-6))));
  while (step > kLeastStep && !(stays(step) && stays(-step))) step /= 16;
  if (!(step > kLeastStep)) return Slope{0, Bounded<double>::kUnknown};
  const auto slope = SlopeAtZero(
      [&](double h) -> Result<Sample> {
        Trace shifted;
        return shift(h, &shifted);
      },
      {.step = step});
  // Beside the inputs there are other outputs, or none.
  return slope.ok() ? *slope : Slope{0, Bounded<double>::kUnknown};
}

Result<std::vector<Tensor>> ExactNetwork::ConditionUnits(
    std::span<const Value> inputs) {
  Trace trace;
  ASSAY_ASSIGN_OR_RETURN(const auto ran, RunTraced(inputs, &trace));
  const std::vector<Conditioned> charges = Replay<Conditioned>(
      trace.tape(),
      [](uint32_t, double value) { return Conditioned::Rounded(value, 1); });
  // No first order says how far a jump goes that is nearer than a rounding, nor
  // what stands on the other side of a kink, where the run's own roundings leave
  // open on which side it is.
  const Tape& tape = trace.tape();
  const auto in_doubt = [&](bool jumps) {
    return std::ranges::any_of(tape.branches(), [&](const auto& one) {
      return one.is_jump == jumps && IsInDoubt(one, tape.values(), charges);
    });
  };
  const bool unknown =
      in_doubt(true) ||
      (in_doubt(false) && IsUndecided(tape, Replay<Bounded<double>>(tape)));
  std::vector<Tensor> units(ran.size());
  for (size_t i = 0; i < ran.size(); ++i) {
    const Tensor* const vars = ran[i].tensor();
    if (vars == nullptr || vars->dtype() != kDTypeOf<Var>) continue;
    ASSAY_ASSIGN_OR_RETURN(units[i],
                           Tensor::Allocate(DType::kFloat64, vars->shape()));
    std::ranges::transform(vars->elements<Var>(),
                           units[i].mutable_elements<double>().begin(),
                           [&](const Var& var) {
                             return unknown ? Conditioned::kUnknown
                                            : charges[var.node()].Roundings();
                           });
  }
  return units;
}

}  // namespace assay::reference
