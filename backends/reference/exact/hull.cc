// SPDX-License-Identifier: Apache-2.0

#include "backends/reference/exact/hull.h"

#include <cmath>
#include <cstdint>
#include <set>
#include <utility>

#include "backends/reference/exact/gather.h"

namespace assay::reference {
namespace {

constexpr double kOwnRoundoff = kRoundoffOf<double>;

Hard Scaled(Hard number, double roundoff) {
  number.units *= roundoff / kOwnRoundoff;
  return number;
}

// Numbers of nodes as far as a tape is recorded.
class Recorded {
 public:
  explicit Recorded(InputOf<Hard> input) : input_(std::move(input)) {}

  const std::vector<Hard>& Of(const Tape& tape) {
    Extend(tape, input_, &values_);
    return values_;
  }

 private:
  InputOf<Hard> input_;
  std::vector<Hard> values_;
};

void TieWithin(double roundoff, const std::shared_ptr<Recorded>& recorded,
               Tape* tape) {
  tape->TakeForTied([=](uint32_t a, uint32_t b) {
    const std::vector<Hard>& values = recorded->Of(*tape);
    return AreTied(Scaled(values[a], roundoff), Scaled(values[b], roundoff));
  });
}

class StepTies final : public Trace::Observer {
 public:
  explicit StepTies(double roundoff) : roundoff_(roundoff) {}

  void Begin(Tape& tape) override {
    recorded_ = std::make_shared<Recorded>(InputsOf(tape, numbers_));
    TieWithin(roundoff_, recorded_, &tape);
  }
  void End(uint32_t step, const Tape& tape,
           std::span<const uint32_t> nodes) override {
    const std::vector<Hard>& values = recorded_->Of(tape);
    std::vector<Hard> numbers;
    for (const uint32_t node : nodes) numbers.push_back(values[node]);
    numbers_.Put(step, std::move(numbers));
    recorded_ = nullptr;
  }

 private:
  double roundoff_;
  Borders<Hard> numbers_;
  std::shared_ptr<Recorded> recorded_;  // of the tape that is being recorded
};

uint32_t OriginOf(const Tape& tape, uint32_t node,
                  const std::vector<Hard>& values);

// The nodes that a decision may take, all with the tangent or adjoint of one. A
// number is not tied with itself, also where it comes by way of another choice.
std::vector<uint32_t> TiedNodes(const Tape& tape, const Choice& choice,
                                const std::vector<Hard>& values) {
  const Hard& best = values[ChosenNode(tape, choice, values)];
  std::vector<uint32_t> tied;
  for (const uint32_t node : tape.candidates(choice)) {
    if (AreTied(values[node], best)) tied.push_back(node);
  }
  if (tied.size() < 2) return tied;
  std::set<uint32_t> origins;
  std::erase_if(tied, [&](uint32_t node) {
    return !origins.insert(OriginOf(tape, node, values)).second;
  });
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

// Where the number of a node comes from, by way of choices without a tie.
uint32_t OriginOf(const Tape& tape, uint32_t node,
                  const std::vector<Hard>& values) {
  while (tape.primitive(node) == Primitive::kChoice) {
    const auto tied = TiedNodes(tape, tape.choices()[tape.a(node)], values);
    if (tied.size() != 1) break;
    node = tied.front();
  }
  return node;
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
  Interval hull = tangents[tied.front()];
  for (const uint32_t node : tied) hull = Hull(hull, tangents[node]);
  return hull;
}

void AlongBlock(const Block& block, const std::vector<Hard>& values,
                std::vector<Interval>& tangents) {
  const auto at = [&](const Factor& factor, size_t element) {
    return factor.has_nodes() ? values[factor.nodes[element]].value
                              : factor.number(element);
  };
  const auto along = [&](const Factor& factor, size_t element) {
    return factor.has_nodes() ? tangents[factor.nodes[element]] : Interval();
  };
  const auto inner = static_cast<size_t>(block.inner);
  const auto columns = static_cast<size_t>(block.columns);
  for (size_t k = 0; k < block.y.size(); ++k) {
    Interval sum = tangents[block.y[k]];
    for (size_t t = 0; t < inner; ++t) {
      const size_t a = k / columns * inner + t;
      const size_t b = t * columns + k % columns;
      sum = sum + block.scale * (at(block.a, a) * along(block.b, b) +
                                 at(block.b, b) * along(block.a, a));
    }
    tangents[block.first + k] = sum;
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

void Scale(double roundoff, std::vector<Hard>* values) {
  for (Hard& value : *values) value = Scaled(value, roundoff);
}

std::vector<Hard> HardValues(const Tape& tape, double roundoff) {
  std::vector<Hard> values = Replay<Hard>(tape);
  Scale(roundoff, &values);
  return values;
}

void TieWithin(double roundoff, Tape* tape) {
  TieWithin(roundoff, std::make_shared<Recorded>(AsGiven<Hard>), tape);
}

std::shared_ptr<Trace::Observer> TiesWithin(double roundoff) {
  return std::make_shared<StepTies>(roundoff);
}

bool MayJump(const Tape& tape, const std::vector<Hard>& values) {
  const auto crosses = [&](const Comparison& branch) {
    return branch.is_jump && Hard::MayCross(values[branch.a], values[branch.b]);
  };
  return std::ranges::any_of(tape.branches(), crosses);
}

std::vector<Interval> HullsAlong(const Tape& tape,
                                 const std::vector<Hard>& values,
                                 const InputOf<Interval>& direction) {
  std::vector<Interval> tangents(tape.size());
  for (size_t node = 1; node < tape.size(); ++node) {
    const Primitive primitive = tape.primitive(node);
    const uint32_t a = tape.a(node);
    const uint32_t b = tape.b(node);
    if (primitive == Primitive::kInput) {
      tangents[node] =
          direction(static_cast<uint32_t>(node), tape.values()[node]);
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

Status JoinHulls(const std::vector<v1::Value>& values,
                 const Borders<Interval>& found, bool unknown, Hulls* joined) {
  const bool first = joined->hulls.empty();
  joined->hulls.resize(values.size());
  joined->errors.resize(values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    if (!IsVars(values[i])) continue;
    const Tensor& vars = *values[i].tensor();
    ExactHull& hull = joined->hulls[i];
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
    std::vector<double>& errors = joined->errors[i];
    errors.resize(low.size());
    for (size_t k = 0; k < low.size(); ++k) {
      const Var& x = vars.elements<Var>()[k];
      Interval one = unknown           ? Interval(-kUnbounded, kUnbounded)
                     : x.source() == 0 ? Interval()
                                       : found.Of(x);
      // Opposite infinities have no sum.
      if (std::isnan(one.low) || std::isnan(one.high)) {
        one = {-kUnbounded, kUnbounded};
      }
      low[k] = first ? one.low : std::min(low[k], one.low);
      high[k] = first ? one.high : std::max(high[k], one.high);
      errors[k] = std::max(errors[k], one.error);
    }
  }
  return OkStatus();
}

std::vector<ExactHull> WidenedByError(Hulls joined) {
  for (size_t i = 0; i < joined.hulls.size(); ++i) {
    if (joined.errors[i].empty()) continue;
    const auto low = joined.hulls[i].low.mutable_elements<double>();
    const auto high = joined.hulls[i].high.mutable_elements<double>();
    for (size_t k = 0; k < low.size(); ++k) {
      const double error = joined.errors[i][k];
      if (!(low[k] < high[k]) || !std::isfinite(error)) continue;
      low[k] -= error;
      high[k] += error;
    }
  }
  return std::move(joined.hulls);
}

}  // namespace assay::reference
