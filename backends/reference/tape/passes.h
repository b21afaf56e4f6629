// SPDX-License-Identifier: Apache-2.0
//
// Passes over a tape, for any scalar:
//
//     Replay<Quad>(tape)                      the values again, in 113 bits
//     Replay<Dual<double>>(tape, directions)  their derivatives along one
//     Replay<Charged<...>>(tape, ...)         what rounding can have done
//     Reverse(tape, values, seeds)            derivatives of outputs, summed
//
// A decision stays as it was taken when the tape was recorded.

#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <functional>
#include <vector>

#include "backends/reference/tape/lifted.h"
#include "backends/reference/tape/mpfr.h"
#include "backends/reference/tape/quad.h"
#include "backends/reference/tape/tape.h"

namespace assay::reference {

inline bool IsZero(double x) { return x == 0; }
inline bool IsZero(Quad x) { return ToDouble(x) == 0; }
inline bool IsZero(const Mpfr& x) { return ToDouble(x) == 0; }

/// From one number to another, both included. As an adjoint: what the
/// derivative can be, whatever is done at ties.
struct Interval {
  Interval() = default;
  explicit Interval(double x) : low(x), high(x) {}
  Interval(double from, double to) : low(from), high(to) {}

  double low = 0;
  double high = 0;
};

inline bool IsZero(const Interval& x) { return x.low == 0 && x.high == 0; }
inline Interval operator+(const Interval& a, const Interval& b) {
  return {a.low + b.low, a.high + b.high};
}
inline Interval operator*(double factor, const Interval& x) {
  return factor < 0 ? Interval(factor * x.high, factor * x.low)
                    : Interval(factor * x.low, factor * x.high);
}
inline Interval Hull(const Interval& a, const Interval& b) {
  return {std::min(a.low, b.low), std::max(a.high, b.high)};
}

/// The scalar of an input node, from its number.
template <class S>
using InputOf = std::function<S(uint32_t node, double value)>;

/// y + scale * a b, element by element, in the order of the kernel.
template <class S>
void ReplayBlock(const Block& block, std::vector<S>& values) {
  const S scale(block.scale);
  for (int64_t i = 0; i < block.rows; ++i) {
    const uint32_t* y = block.y.data() + i * block.columns;
    for (int64_t j = 0; j < block.columns; ++j) {
      values[block.first + static_cast<size_t>(i * block.columns + j)] =
          values[y[j]];
    }
    S* sums = values.data() + block.first + i * block.columns;
    for (int64_t t = 0; t < block.inner; ++t) {
      const S factor =
          scale * values[block.a[static_cast<size_t>(i * block.inner + t)]];
      const uint32_t* b = block.b.data() + t * block.columns;
      for (int64_t j = 0; j < block.columns; ++j) {
        sums[j] = sums[j] + factor * values[b[j]];
      }
    }
  }
}

template <class S>
const S& Chosen(const Tape&, const Choice& choice,
                const std::vector<S>& values) {
  return values[choice.chosen];
}

/// Any that could have been the best may be off by more than the one chosen.
template <Charge kCharge>
Charged<kCharge> Chosen(const Tape& tape, const Choice& choice,
                        const std::vector<Charged<kCharge>>& values) {
  Charged<kCharge> chosen = values[choice.chosen];
  const double own = chosen.units;
  for (const uint32_t node : tape.candidates(choice)) {
    const Charged<kCharge>& other = values[node];
    const double doubt = (own + other.units) * chosen.kRoundoff;
    if (std::abs(other.value - chosen.value) <= doubt) {
      chosen.units = std::max(chosen.units, other.units);
    }
  }
  return chosen;
}

/// The values of all nodes.
template <class S>
std::vector<S> Replay(const Tape& tape, const InputOf<S>& input) {
  std::vector<S> values(tape.size());
  for (size_t node = 0; node < tape.size(); ++node) {
    const Primitive primitive = tape.primitive(node);
    const uint32_t a = tape.a(node);
    const uint32_t b = tape.b(node);
    if (primitive == Primitive::kBlock) {
      if (b == 0) ReplayBlock(tape.blocks()[a], values);
    } else if (primitive == Primitive::kChoice) {
      values[node] = Chosen(tape, tape.choices()[a], values);
    } else if (primitive == Primitive::kInput) {
      values[node] = input(static_cast<uint32_t>(node), tape.values()[node]);
    } else if (primitive == Primitive::kConstant) {
      values[node] = S(tape.values()[node]);
    } else {
      values[node] = Apply<S>(primitive, values[a], values[b]);
    }
  }
  return values;
}
template <class S>
std::vector<S> Replay(const Tape& tape) {
  return Replay<S>(tape, [](uint32_t, double value) { return S(value); });
}

template <class S, class A>
void ReverseBlock(const Block& block, const std::vector<S>& values,
                  std::vector<A>& adjoints) {
  const S scale(block.scale);
  for (int64_t i = 0; i < block.rows; ++i) {
    const uint32_t* a = block.a.data() + i * block.inner;
    for (int64_t j = 0; j < block.columns; ++j) {
      const auto element = static_cast<size_t>(i * block.columns + j);
      const A flow = adjoints[block.first + element];
      if (IsZero(flow)) continue;
      A& rest = adjoints[block.y[element]];
      rest = rest + flow;
      const A scaled = scale * flow;
      for (int64_t t = 0; t < block.inner; ++t) {
        const uint32_t b = block.b[static_cast<size_t>(t * block.columns + j)];
        adjoints[a[t]] = adjoints[a[t]] + values[b] * scaled;
        adjoints[b] = adjoints[b] + values[a[t]] * scaled;
      }
    }
  }
}

template <class S, class A>
void ReverseChoice(const Tape& tape, const Choice& choice,
                   const std::vector<S>&, const A& flow,
                   std::vector<A>& adjoints) {
  static_cast<void>(tape);
  adjoints[choice.chosen] = adjoints[choice.chosen] + flow;
}

/// A tie may go to the first, to the last, or be split.
inline void ReverseChoice(const Tape& tape, const Choice& choice,
                          const std::vector<double>& values,
                          const Interval& flow,
                          std::vector<Interval>& adjoints) {
  const double best = values[choice.chosen];
  const auto candidates = tape.candidates(choice);
  const auto tied = std::ranges::count_if(
      candidates, [&](uint32_t node) { return values[node] == best; });
  const Interval share = tied > 1 ? Hull(flow, Interval(0)) : flow;
  for (const uint32_t node : candidates) {
    if (values[node] == best) adjoints[node] = adjoints[node] + share;
  }
}

/// The adjoints of all nodes: for each, the derivative of the sum of seed times
/// node after it. `values` are those of a replay; `adjoints` holds the seeds,
/// one for each node. What nothing flows into has no say, also against an
/// infinite derivative.
template <class S, class A = S>
void Reverse(const Tape& tape, const std::vector<S>& values,
             std::vector<A>& adjoints) {
  for (size_t node = tape.size(); node-- > 1;) {
    const Primitive primitive = tape.primitive(node);
    const uint32_t a = tape.a(node);
    const uint32_t b = tape.b(node);
    if (primitive == Primitive::kBlock) {
      // All elements of a block are used after it: the first comes last.
      if (b == 0) ReverseBlock(tape.blocks()[a], values, adjoints);
      continue;
    }
    const A flow = adjoints[node];
    if (IsZero(flow)) continue;
    if (primitive == Primitive::kChoice) {
      ReverseChoice(tape, tape.choices()[a], values, flow, adjoints);
    } else if (primitive != Primitive::kInput &&
               primitive != Primitive::kConstant) {
      if constexpr (std::same_as<A, Interval>) {
        if (primitive == Primitive::kAbs && IsZero(values[a])) {  // -1 to 1
          adjoints[a] = adjoints[a] + Hull(flow, -1.0 * flow);
          continue;
        }
      }
      const Partials<S> d =
          PartialsOf<S>(primitive, values[a], values[b], values[node]);
      if (!IsZero(d.a)) adjoints[a] = adjoints[a] + d.a * flow;
      if (HasTwoOperands(primitive) && !IsZero(d.b)) {
        adjoints[b] = adjoints[b] + d.b * flow;
      }
    }
  }
}

}  // namespace assay::reference
