// SPDX-License-Identifier: Apache-2.0
//
// Exact values out of the numbers of a pass: each value of a traced network
// with the numbers of its nodes, in two doubles, and how far off they are.
//
//   const auto numbers = Replay<Bounded<Quad>>(tape);
//   auto values = GatherAll(outputs, PassNumbers<Quad>{numbers, undecided});

#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "backends/reference/scalar/codec.h"
#include "backends/reference/tape/passes.h"
#include "framework/backend/exact.h"

namespace assay::reference {

template <class S>
using Bounded = Charged<Charge::kBound, S>;

/// The numbers of a pass, with what rounding can have done to each.
template <class S>
struct PassNumbers {
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

/// What a tail, a double, leaves of the number behind the value.
inline double BeyondTail(double tail) {
  return tail == 0 ? 0 : std::abs(tail) * 0x1p-53 + 0x1p-1074;
}

/// The numbers of a tensor, gathered from the nodes of `vars`.
template <class S>
Result<ExactValue> GatherTensor(const Tensor& vars,
                                const PassNumbers<S>& known) {
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

/// A tensor that no kernel has touched, as it is, each element off by as much.
inline Result<ExactValue> Untouched(const Tensor& tensor, double off) {
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

template <class S>
Result<ExactValue> GatherValue(const Value& value, const PassNumbers<S>& known);

template <class S>
Result<ExactValue> GatherSequence(const Sequence& sequence,
                                  const PassNumbers<S>& known) {
  Sequence result{.element = sequence.element, .items = {}};
  for (const Value& item : sequence.items) {
    ASSAY_ASSIGN_OR_RETURN(ExactValue exact, GatherValue(item, known));
    result.items.push_back(std::move(exact.value));
  }
  if (!result.items.empty()) result.element = result.items.front().Type();
  return ExactValue{Value(std::move(result)), {}, {}};
}

template <class S>
Result<ExactValue> GatherValue(const Value& value,
                               const PassNumbers<S>& known) {
  if (const Tensor* const tensor = value.tensor()) {
    if (tensor->dtype() == kDTypeOf<Var>) return GatherTensor(*tensor, known);
    if (IsFloatingPoint(tensor->dtype())) {
      return Untouched(*tensor, known.undecided ? Bounded<S>::kUnknown : 0.0);
    }
  }
  // What has no bound cannot be said to be off.
  if (known.undecided) return ExactValue();
  if (const Sequence* const sequence = value.sequence()) {
    return GatherSequence(*sequence, known);
  }
  const Optional* const optional = value.optional();
  if (optional != nullptr && optional->has_value()) {
    ASSAY_ASSIGN_OR_RETURN(ExactValue exact,
                           GatherValue(*optional->value, known));
    Optional result{.element = exact.value.Type(),
                    .value = std::make_shared<const Value>(exact.value)};
    exact.value = Value(std::move(result));
    return exact;
  }
  return ExactValue{value, {}, {}};
}

template <class S>
Result<std::vector<ExactValue>> GatherAll(const std::vector<Value>& values,
                                          const PassNumbers<S>& known) {
  std::vector<ExactValue> exact(values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    ASSAY_ASSIGN_OR_RETURN(exact[i], GatherValue(values[i], known));
  }
  return exact;
}

}  // namespace assay::reference
