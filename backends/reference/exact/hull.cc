// SPDX-License-Identifier: Apache-2.0

#include "backends/reference/exact/hull.h"

#include <cmath>
#include <cstdint>
#include <memory>
#include <utility>

namespace assay::reference {
namespace {

constexpr double kOwnRoundoff = kRoundoffOf<double>;

Hard Scaled(Hard number, double roundoff) {
  number.units *= roundoff / kOwnRoundoff;
  return number;
}

// Numbers given are those of the case: nobody has rounded them.
InputOf<Hard> Given() {
  return [](uint32_t, double value) { return Hard(value); };
}

// The nodes that a decision may take, all with the tangent or adjoint of one.
std::vector<uint32_t> TiedNodes(const Tape& tape, const Choice& choice,
                                const std::vector<Hard>& values) {
  const Hard& best = values[ChosenNode(tape, choice, values)];
  std::vector<uint32_t> tied;
  for (const uint32_t node : tape.candidates(choice)) {
    if (AreTied(values[node], best)) tied.push_back(node);
  }
  return tied;
}
std::vector<uint32_t> TiedNodes(const Tape& tape, const Selection& selection,
                                const std::vector<Hard>& values) {
  if (AreTied(values[selection.a], values[selection.b]) &&
      selection.then != selection.otherwise) {
    return {selection.then, selection.otherwise};
  }
  return {TakenNode(tape, selection, values)};
}

template <class Decision>
void ReverseTied(const Tape& tape, const Decision& decision,
                 const std::vector<Hard>& values, const Interval& flow,
                 std::vector<Interval>& adjoints) {
  const std::vector<uint32_t> tied = TiedNodes(tape, decision, values);
  const Interval share = tied.size() > 1 ? Hull(flow, Interval(0)) : flow;
  for (const uint32_t node : tied) adjoints[node] = adjoints[node] + share;
}

template <class Decision>
Interval HullOfTied(const Tape& tape, const Decision& decision,
                    const std::vector<Hard>& values,
                    const std::vector<Interval>& tangents) {
  const std::vector<uint32_t> tied = TiedNodes(tape, decision, values);
  // NaN is tied with nothing.
  if (tied.empty()) return tangents[TakenNode(tape, decision, values)];
  Interval hull = tangents[tied.front()];
  for (const uint32_t node : tied) hull = Hull(hull, tangents[node]);
  return hull;
}

void AlongBlock(const Block& block, const std::vector<Hard>& values,
                std::vector<Interval>& tangents) {
  for (int64_t i = 0; i < block.rows; ++i) {
    for (int64_t j = 0; j < block.columns; ++j) {
      const auto element = static_cast<size_t>(i * block.columns + j);
      Interval sum = tangents[block.y[element]];
      for (int64_t t = 0; t < block.inner; ++t) {
        const uint32_t a = block.a[static_cast<size_t>(i * block.inner + t)];
        const uint32_t b = block.b[static_cast<size_t>(t * block.columns + j)];
        sum = sum + block.scale * (values[a].value * tangents[b] +
                                   values[b].value * tangents[a]);
      }
      tangents[block.first + element] = sum;
    }
  }
}

Interval AlongPrimitive(Primitive primitive, uint32_t a, uint32_t b,
                        size_t node, const std::vector<Hard>& values,
                        const std::vector<Interval>& tangents) {
  if (!HasOperands(primitive)) return {};
  Interval kink;
  if (ReverseKink(primitive, values[a], tangents[a], kink)) return kink;
  const Partials<Hard> d =
      KnownPartials(primitive, values[a], values[b], values[node]);
  Interval sum = d.a * tangents[a];
  if (HasTwoOperands(primitive)) sum = sum + d.b * tangents[b];
  return sum;
}

}  // namespace

std::vector<Hard> HardValues(const Tape& tape, double roundoff) {
  std::vector<Hard> values = Replay<Hard>(tape, Given());
  for (Hard& value : values) value = Scaled(value, roundoff);
  return values;
}

void TieWithin(double roundoff, Tape* tape) {
  const auto values = std::make_shared<std::vector<Hard>>();
  tape->TakeForTied([=](uint32_t a, uint32_t b) {
    Extend(*tape, Given(), values.get());
    return AreTied(Scaled((*values)[a], roundoff),
                   Scaled((*values)[b], roundoff));
  });
}

bool MayJump(const Tape& tape, const std::vector<Hard>& values) {
  const auto crosses = [&](const Comparison& branch) {
    return branch.is_jump && Hard::MayCross(values[branch.a], values[branch.b]);
  };
  return std::ranges::any_of(tape.branches(), crosses);
}

std::vector<Interval> HullsAlong(const Tape& tape,
                                 const std::vector<Hard>& values,
                                 std::span<const double> directions) {
  std::vector<Interval> tangents(tape.size());
  for (size_t node = 1; node < tape.size(); ++node) {
    const Primitive primitive = tape.primitive(node);
    const uint32_t a = tape.a(node);
    const uint32_t b = tape.b(node);
    if (primitive == Primitive::kInput) {
      tangents[node] = Interval(directions[node]);
    } else if (primitive == Primitive::kBlock) {
      if (b == 0) AlongBlock(tape.blocks()[a], values, tangents);
    } else if (primitive == Primitive::kChoice) {
      tangents[node] = HullOfTied(tape, tape.choices()[a], values, tangents);
    } else if (primitive == Primitive::kSelect) {
      tangents[node] = HullOfTied(tape, tape.selections()[a], values, tangents);
    } else {
      tangents[node] = AlongPrimitive(primitive, a, b, node, values, tangents);
    }
  }
  return tangents;
}

void ReverseDecision(const Tape& tape, const Choice& choice,
                     const std::vector<Hard>& values, const Interval& flow,
                     std::vector<Interval>& adjoints) {
  ReverseTied(tape, choice, values, flow, adjoints);
}
void ReverseDecision(const Tape& tape, const Selection& selection,
                     const std::vector<Hard>& values, const Interval& flow,
                     std::vector<Interval>& adjoints) {
  ReverseTied(tape, selection, values, flow, adjoints);
}

bool ReverseKink(Primitive primitive, const Hard& a, const Interval& flow,
                 Interval& adjoint) {
  if (primitive != Primitive::kAbs || !AreTied(a, Hard(0))) return false;
  adjoint = adjoint + Hull(flow, -1.0 * flow);
  return true;
}

}  // namespace assay::reference
