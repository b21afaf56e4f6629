// SPDX-License-Identifier: Apache-2.0
//
// Exact values out of the numbers of a pass: each value of a traced network
// with the numbers of its Vars, in two doubles, and how far off they are.
//
//   const Borders<Bounded<Quad>> numbers = ...;  // what a pass has left
//   auto values = GatherAll<Quad>(outputs, undecided, [&](const Var& x) {
//     return numbers.Of(x);
//   });

#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "backends/reference/tape/passes.h"
#include "framework/backend/exact.h"

namespace assay::reference {

template <class S>
using Bounded = Charged<Charge::kBound, S>;

inline bool IsVars(const v1::Value& value) {
  const Tensor* const tensor = value.tensor();
  return tensor != nullptr && tensor->dtype() == kDTypeOf<Var>;
}

/// True when this branch, which was taken in double, may be the wrong one: what
/// it compared was rounded.
template <Charge kCharge, class S>
bool IsInDoubt(const Comparison& branch, const std::vector<double>& taken,
               const std::vector<Charged<kCharge, S>>& numbers) {
  const Charged<kCharge, S>& a = numbers[branch.a];
  const Charged<kCharge, S>& b = numbers[branch.b];
  return (a < b) != (taken[branch.a] < taken[branch.b]) ||
         (b < a) != (taken[branch.b] < taken[branch.a]) ||
         Charged<kCharge, S>::MayCross(a, b);
}

/// True when a branch of the tape may be.
template <Charge kCharge, class S>
bool IsUndecided(const Tape& tape,
                 const std::vector<Charged<kCharge, S>>& numbers) {
  return std::ranges::any_of(tape.branches(), [&](const Comparison& branch) {
    return IsInDoubt(branch, tape.values(), numbers);
  });
}

/// First order, and a little more for the orders that follow.
template <class S>
double BoundOf(const Bounded<S>& number) {
  const double bound = number.Error() * (1 + 0x1p-20);
  return std::isnan(bound) ? Bounded<S>::kUnknown : bound;
}

/// The most that is left of a number beyond its value and its tail, a double.
inline double BeyondTail(double tail) {
  return tail == 0 ? 0 : std::abs(tail) * 0x1p-53 + 0x1p-1074;
}

/// The numbers of a tensor of Vars: number_of(x) is a Bounded<S>. Where a
/// decision of the pass may have gone the other way nothing is known.
template <class S, class NumberOf>
Result<ExactValue> GatherTensor(const Tensor& vars, bool undecided,
                                const NumberOf& number_of) {
  ASSAY_ASSIGN_OR_RETURN(Tensor value,
                         Tensor::Allocate(DType::kFloat64, vars.shape()));
  ASSAY_ASSIGN_OR_RETURN(Tensor tail,
                         Tensor::Allocate(DType::kFloat64, vars.shape()));
  ASSAY_ASSIGN_OR_RETURN(Tensor bound,
                         Tensor::Allocate(DType::kFloat64, vars.shape()));
  const auto elements = vars.elements<Var>();
  const auto nearest = value.mutable_elements<double>();
  const auto rest = tail.mutable_elements<double>();
  const auto error = bound.mutable_elements<double>();
  for (size_t i = 0; i < elements.size(); ++i) {
    const Bounded<S> number = number_of(elements[i]);
    nearest[i] = ToDouble(number);
    rest[i] = std::isfinite(nearest[i])
                  ? ToDouble(S(number.value - S(nearest[i])))
                  : 0;
    error[i] = (undecided ? Bounded<S>::kUnknown : BoundOf(number)) +
               BeyondTail(rest[i]);
  }
  return ExactValue{std::move(value), std::move(tail), std::move(bound)};
}

template <class S, class NumberOf>
Result<ExactValue> GatherValue(const v1::Value& value, bool undecided,
                               const NumberOf& number_of);

template <class S, class NumberOf>
Result<ExactValue> GatherSequence(const Sequence& sequence,
                                  const NumberOf& number_of) {
  Sequence result{.element = sequence.element, .items = {}};
  for (const v1::Value& item : sequence.items) {
    ASSAY_ASSIGN_OR_RETURN(ExactValue exact,
                           GatherValue<S>(item, false, number_of));
    result.items.push_back(std::move(exact.value));
  }
  if (!result.items.empty()) result.element = result.items.front().Type();
  return ExactValue{v1::Value(std::move(result)), {}, {}};
}

template <class S, class NumberOf>
Result<ExactValue> GatherValue(const v1::Value& value, bool undecided,
                               const NumberOf& number_of) {
  if (IsVars(value)) {
    return GatherTensor<S>(*value.tensor(), undecided, number_of);
  }
  // A value without a bound cannot be said to be off.
  if (undecided) return ExactValue();
  if (const Sequence* const sequence = value.sequence()) {
    return GatherSequence<S>(*sequence, number_of);
  }
  const Optional* const optional = value.optional();
  if (optional != nullptr && optional->has_value()) {
    ASSAY_ASSIGN_OR_RETURN(
        ExactValue exact,
        GatherValue<S>(*optional->value, undecided, number_of));
    Optional result{.element = exact.value.Type(),
                    .value = std::make_shared<const v1::Value>(exact.value)};
    exact.value = v1::Value(std::move(result));
    return exact;
  }
  return ExactValue{value, {}, {}};
}

template <class S, class NumberOf>
Result<std::vector<ExactValue>> GatherAll(const std::vector<v1::Value>& values,
                                          bool undecided,
                                          const NumberOf& number_of) {
  std::vector<ExactValue> exact(values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    ASSAY_ASSIGN_OR_RETURN(exact[i],
                           GatherValue<S>(values[i], undecided, number_of));
  }
  return exact;
}

/// The units of each element, of which charge_of(x) is the charge; undefined
/// for what is no tensor of Vars.
template <class ChargeOf>
Result<std::vector<Tensor>> UnitsOf(const std::vector<v1::Value>& values,
                                    bool unknown, const ChargeOf& charge_of) {
  std::vector<Tensor> units(values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    if (!IsVars(values[i])) continue;
    const Tensor& vars = *values[i].tensor();
    ASSAY_ASSIGN_OR_RETURN(units[i],
                           Tensor::Allocate(DType::kFloat64, vars.shape()));
    std::ranges::transform(
        vars.elements<Var>(), units[i].mutable_elements<double>().begin(),
        [&](const Var& x) {
          return unknown ? std::numeric_limits<double>::infinity()
                         : charge_of(x).Roundings();
        });
  }
  return units;
}

}  // namespace assay::reference
