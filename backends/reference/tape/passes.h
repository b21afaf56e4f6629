// SPDX-License-Identifier: Apache-2.0
//
// Passes over a tape, for any scalar:
//
//     Replay<Quad>(tape)                      the values again, in 113 bits
//     Replay<Dual<double>>(tape, directions)  their derivatives along one
//     Replay<Charged<...>>(tape, ...)         what rounding can have done
//     Reverse(tape, values, seeds)            derivatives of outputs, summed
//
// Choices and selections are taken again, in the scalar of the pass; other
// decisions stay as they were taken when the tape was recorded.

#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <vector>

#include "backends/reference/dense/block_passes.h"
#include "backends/reference/number/charged.h"
#include "backends/reference/number/mpfr.h"
#include "backends/reference/number/primitives.h"
#include "backends/reference/number/quad.h"
#include "backends/reference/tape/tape.h"

namespace assay::reference {

/// The node that a choice takes: the first of the best, or the first that is no
/// number.
template <class S>
uint32_t ChosenNode(const Tape& tape, const Choice& choice,
                    const std::vector<S>& values) {
  const auto candidates = tape.candidates(choice);
  uint32_t best = candidates.front();
  for (const uint32_t node : candidates) {
    if (std::isnan(ToDouble(values[best]))) break;
    const S& low = values[choice.least ? node : best];
    const S& high = values[choice.least ? best : node];
    if (low < high || std::isnan(ToDouble(values[node]))) best = node;
  }
  return best;
}

/// True when a selection takes `then`.
template <class S>
bool TakesThen(const Tape& tape, const Selection& selection,
               const std::vector<S>& values) {
  const S& a = values[selection.a];
  const S& b = values[selection.b];
  return a < b ||
         (tape.ties() == Ties::kTrue && ToDouble(a) == ToDouble(b) && !(b < a));
}

/// The node that a choice or a selection takes.
template <class S>
uint32_t TakenNode(const Tape& tape, const Choice& choice,
                   const std::vector<S>& values) {
  return ChosenNode(tape, choice, values);
}
template <class S>
uint32_t TakenNode(const Tape& tape, const Selection& selection,
                   const std::vector<S>& values) {
  return TakesThen(tape, selection, values) ? selection.then
                                            : selection.otherwise;
}

/// True when it may be otherwise which of two is the greater.
template <Charge kCharge, class S>
bool MayCross(const Charged<kCharge, S>& a, const Charged<kCharge, S>& b) {
  return Charged<kCharge, S>::MayCross(a, b);
}
template <class S>
bool MayCross(const Dual<S>& a, const Dual<S>& b) {
  return MayCross(a.value, b.value);
}

/// Calls doubt(node) for each other node that might have been taken as well,
/// had nothing been rounded.
template <class S, class Doubt>
void ForEachDoubt(const Tape& tape, const Choice& choice,
                  const std::vector<S>& values, uint32_t taken,
                  const Doubt& doubt) {
  for (const uint32_t node : tape.candidates(choice)) {
    if (node != taken && MayCross(values[node], values[taken])) doubt(node);
  }
}
template <class S, class Doubt>
void ForEachDoubt(const Tape&, const Selection& s, const std::vector<S>& values,
                  uint32_t taken, const Doubt& doubt) {
  if (s.then != s.otherwise && MayCross(values[s.a], values[s.b])) {
    doubt(taken == s.then ? s.otherwise : s.then);
  }
}

/// The value of a choice or a selection.
template <class S, class Decision>
S Decided(const Tape& tape, const Decision& decision,
          const std::vector<S>& values) {
  return values[TakenNode(tape, decision, values)];
}

/// Any that could have been the best may be off by more than the one taken; the
/// two formulas of a selection meet, each off by its own, within the doubt.
template <Charge kCharge, class S, class Decision>
Charged<kCharge, S> Decided(const Tape& tape, const Decision& decision,
                            const std::vector<Charged<kCharge, S>>& values) {
  const uint32_t taken = TakenNode(tape, decision, values);
  Charged<kCharge, S> decided = values[taken];
  ForEachDoubt(tape, decision, values, taken, [&](uint32_t node) {
    const Charged<kCharge, S>& other = values[node];
    if (!std::isfinite(ToDouble(other)) || std::isinf(other.units)) {
      decided.units = Charged<kCharge, S>::kUnknown;
    } else if constexpr (std::same_as<Decision, Choice>) {
      decided.units = std::max(decided.units, other.units);
    } else {
      decided.units += other.units;
    }
  });
  return decided;
}

/// The tangent is not known where another might have been taken.
template <Charge kCharge, class S, class Decision>
Dual<Charged<kCharge, S>> Decided(
    const Tape& tape, const Decision& decision,
    const std::vector<Dual<Charged<kCharge, S>>>& values) {
  const uint32_t taken = TakenNode(tape, decision, values);
  Dual<Charged<kCharge, S>> decided = values[taken];
  ForEachDoubt(tape, decision, values, taken, [&](uint32_t node) {
    const Dual<Charged<kCharge, S>>& other = values[node];
    decided.value.units += other.value.units;
    if (!IsZero(other.tangent) || !IsZero(decided.tangent)) {
      decided.tangent.units = Charged<kCharge, S>::kUnknown;
    }
  });
  return decided;
}

/// The value of a node that is none of a block's.
template <class S>
S ReplayNode(const Tape& tape, size_t node, const InputOf<S>& input,
             const std::vector<S>& values) {
  const Primitive primitive = tape.primitive(node);
  const uint32_t a = tape.a(node);
  switch (primitive) {
    case Primitive::kChoice:
      return Decided(tape, tape.choices()[a], values);
    case Primitive::kSelect:
      return Decided(tape, tape.selections()[a], values);
    case Primitive::kInput:
      return input(static_cast<uint32_t>(node), tape.values()[node]);
    case Primitive::kConstant:
      return S(tape.values()[node]);
    default:
      return Apply<S>(primitive, values[a], values[tape.b(node)]);
  }
}

/// The values of the nodes that came since the last call.
template <class S>
void Extend(const Tape& tape, const InputOf<S>& input, std::vector<S>* all) {
  std::vector<S>& values = *all;
  size_t node = values.size();
  values.resize(tape.size());
  for (; node < tape.size(); ++node) {
    if (tape.primitive(node) != Primitive::kBlock) {
      values[node] = ReplayNode(tape, node, input, values);
    } else if (tape.b(node) == 0) {
      ReplayBlock(tape.blocks()[tape.a(node)], input, values);
    }
  }
}

/// The values of all nodes but those that are known already.
template <class S>
void ReplayUnknown(const Tape& tape, const InputOf<S>& input,
                   const std::vector<bool>& known, std::vector<S>& values) {
  for (size_t node = 0; node < tape.size(); ++node) {
    if (known[node]) continue;
    if (tape.primitive(node) != Primitive::kBlock) {
      values[node] = ReplayNode(tape, node, input, values);
      continue;
    }
    // The first of a block that is not known: the others follow.
    const Block& block = tape.blocks()[tape.a(node)];
    ReplayBlock(block, input, values);
    node = block.first + block.y.size() - 1;
  }
}

/// The values of all nodes.
template <class S>
std::vector<S> Replay(const Tape& tape, const InputOf<S>& input) {
  std::vector<S> values;
  Extend(tape, input, &values);
  return values;
}
template <class S>
std::vector<S> Replay(const Tape& tape) {
  return Replay<S>(tape, AsGiven<S>);
}

template <class S, class A, class Decision>
void ReverseDecision(const Tape& tape, const Decision& decision,
                     const std::vector<S>& values, const A& flow,
                     std::vector<A>& adjoints) {
  A& to = adjoints[TakenNode(tape, decision, values)];
  to = to + flow;
}

/// A node that might have been taken as well has an unknown part of the flow.
template <Charge kCharge, class S, class Decision>
void ReverseDecision(const Tape& tape, const Decision& decision,
                     const std::vector<Charged<kCharge, S>>& values,
                     const Charged<kCharge, S>& flow,
                     std::vector<Charged<kCharge, S>>& adjoints) {
  const uint32_t taken = TakenNode(tape, decision, values);
  adjoints[taken] = adjoints[taken] + flow;
  ForEachDoubt(tape, decision, values, taken, [&](uint32_t node) {
    adjoints[node].units = Charged<kCharge, S>::kUnknown;
    adjoints[taken].units = Charged<kCharge, S>::kUnknown;
  });
}

/// Sends the flow on where a derivative is taken otherwise than by the partial
/// derivatives; false where it is not.
template <class S, class A>
bool ReverseKink(Primitive, const S&, const A&, A&) {
  return false;
}

/// Adds what flows through a derivative; one of 0 lets nothing through.
template <class S, class A>
void AddFlow(const S& derivative, const A& flow, A* to) {
  if (!IsZero(derivative)) *to = AddProduct(*to, derivative, flow);
}

/// The same of units: an infinite flow that meets a derivative of 0 is no
/// number from there on.
template <Charge kCharge, class S>
void AddFlow(const Charged<kCharge, S>& derivative,
             const Charged<kCharge, S>& flow, Charged<kCharge, S>* to) {
  if (!IsZero(derivative)) {
    *to = AddProduct(*to, derivative, flow);
  } else if (kMeetsZeros<Charged<kCharge, S>> &&
             !std::isfinite(ToDouble(flow))) {
    *to = Charged<kCharge, S>(S(std::numeric_limits<double>::quiet_NaN()),
                              Charged<kCharge, S>::kUnknown);
  }
}

/// The adjoints of all nodes: for each, the derivative of the sum of seed times
/// node after it. `values` are those of a replay with `input`; `adjoints` holds
/// the seeds, one for each node. A node that nothing flows into has no
/// influence, even where its derivative is infinite. Nothing flows on from
/// nodes that do not move.
template <class S, class A = S>
void Reverse(const Tape& tape, const std::vector<S>& values,
             std::vector<A>& adjoints, const InputOf<S>& input = AsGiven<S>) {
  for (size_t node = tape.size(); node-- > 1;) {
    if (!tape.Moves(node)) continue;
    const Primitive primitive = tape.primitive(node);
    const uint32_t a = tape.a(node);
    const uint32_t b = tape.b(node);
    if (primitive == Primitive::kBlock) {
      // All elements of a block are used after it: the first comes last.
      if (b == 0) ReverseBlock(tape.blocks()[a], input, values, adjoints);
      continue;
    }
    const A flow = adjoints[node];
    if (IsZero(flow)) continue;
    if (primitive == Primitive::kChoice) {
      ReverseDecision(tape, tape.choices()[a], values, flow, adjoints);
    } else if (primitive == Primitive::kSelect) {
      ReverseDecision(tape, tape.selections()[a], values, flow, adjoints);
    } else if (primitive != Primitive::kInput &&
               primitive != Primitive::kConstant) {
      if (ReverseKink(primitive, values[a], flow, adjoints[a])) continue;
      const Partials<S> d =
          KnownPartials(primitive, values[a], values[b], values[node],
                        {.a = tape.Moves(a), .b = tape.Moves(b)});
      if (tape.Moves(a)) AddFlow(d.a, flow, &adjoints[a]);
      if (HasTwoOperands(primitive) && tape.Moves(b)) {
        AddFlow(d.b, flow, &adjoints[b]);
      }
    }
  }
}

}  // namespace assay::reference
