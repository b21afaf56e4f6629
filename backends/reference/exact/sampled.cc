// SPDX-License-Identifier: Apache-2.0

#include "backends/reference/exact/sampled.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <random>

namespace assay::reference {
namespace {

constexpr size_t kMostSampledNodes = size_t{1} << 24;
constexpr size_t kLanes = 8;
using Lanes = std::array<double, kLanes>;

// How far below the standard deviation no lane may be.
constexpr double kLeastShare = 1.0 / 256;

// What an error of 1 is drawn with.
double ScaleOf(size_t count) {
  return std::sqrt(3.0 * static_cast<double>(count)) / kLeastShare;
}

// Uniform over [-1, 1).
double Drawn(std::mt19937_64& engine) {
  return 2 * (static_cast<double>(engine() >> 11U) * 0x1p-53) - 1;
}

double Greatest(const Lanes& lanes) {
  double greatest = 0;
  for (const double lane : lanes) {
    // NaN stays.
    if (!(std::abs(lane) <= greatest)) greatest = std::abs(lane);
  }
  return greatest;
}

template <class S>
class Sampler {
 public:
  using Number = Bounded<S>;

  /// `count` is how many roundings there are at most, on this tape and on those
  /// that share its draws; `seed` is for the draws of this one.
  Sampler(const Tape& tape, const std::vector<Number>& charged, size_t count,
          uint64_t seed)
      : tape_(tape),
        charged_(charged),
        numbers_(charged),
        lanes_(tape.size()),
        scale_(ScaleOf(count)),
        engine_(seed) {
    at_.reserve(charged.size());
    for (const Number& number : charged) at_.push_back(ToDouble(number));
  }

  void SetLanes(size_t node, const Lanes& lanes) { lanes_[node] = lanes; }

  void Run() {
    for (size_t node = 1; node < tape_.size(); ++node) {
      const Primitive primitive = tape_.primitive(node);
      const uint32_t a = tape_.a(node);
      if (primitive == Primitive::kBlock) {
        TakeElement(tape_.blocks()[a], tape_.b(node), node);
      } else if (charged_[node].units == 0 || !std::isfinite(at_[node])) {
        continue;  // exact, or as it was
      } else if (primitive == Primitive::kChoice) {
        TakeDecision(tape_.choices()[a], node);
      } else if (primitive == Primitive::kSelect) {
        TakeDecision(tape_.selections()[a], node);
      } else if (HasOperands(primitive)) {
        TakeFunction(primitive, a, tape_.b(node), node);
      }
    }
  }

  std::vector<Number>& numbers() { return numbers_; }
  const std::vector<Lanes>& lanes() const { return lanes_; }

 private:
  // Notes what has come to a node, its own rounding still to be drawn.
  void Put(size_t node, Lanes& lanes, double own) {
    if (own > 0) {
      for (double& lane : lanes) lane += own * scale_ * Drawn(engine_);
    }
    const double units = Greatest(lanes);
    if (!std::isfinite(units)) return Lose(node);
    lanes_[node] = lanes;
    numbers_[node].units = std::min(units, charged_[node].units);
  }

  void Lose(size_t node) { numbers_[node].units = Number::kUnknown; }

  // The operand's lanes for each unit of its own, times what they do.
  static void Carry(const Lanes& lanes, double by, double units, bool falls,
                    Lanes& sum) {
    if (units == 0 || by == 0) return;
    const double factor = falls ? -by / units : by / units;
    for (size_t k = 0; k < kLanes; ++k) sum[k] += factor * lanes[k];
  }

  void TakeFunction(Primitive primitive, uint32_t a, uint32_t b, size_t node) {
    const Number& x = numbers_[a];
    const Number& y = numbers_[b];
    if (Number::MayStep(primitive, x, y)) return Lose(node);
    const double by_a = Number::ByA(primitive, x, at_[b], at_[node]);
    const double by_b = Number::ByB(primitive, y, at_[a], at_[node]);
    const double stretch =
        x.units == 0 && y.units == 0
            ? 1
            : Stretch(primitive, at_[a], x.Error(), at_[b], y.Error());
    if (!std::isfinite(by_a + by_b) || !std::isfinite(stretch)) {
      return Lose(node);
    }
    const auto d = PartialsOf<double>(primitive, at_[a], at_[b], at_[node]);
    Lanes lanes = {};
    Carry(lanes_[a], by_a * stretch, x.units, d.a < 0, lanes);
    Carry(lanes_[b], by_b * stretch, y.units, d.b < 0, lanes);
    // As of a choice between a and -a.
    const bool bends =
        primitive == Primitive::kAbs && Number::MayCross(x, Number(0));
    Put(node, lanes,
        Number::OwnUnits(primitive, x, y, at_[node]) +
            Number::Curved(primitive, x, y) + (bends ? 2 * x.units : 0));
  }

  // An element of a factor; a number given is exact.
  struct Element {
    double at;
    double units;
    const Lanes& lanes;
  };
  Element ElementOf(const Factor& factor, size_t element) const {
    static const Lanes kNone = {};
    if (!factor.has_nodes()) return {factor.numbers[element], 0, kNone};
    const uint32_t node = factor.nodes[element];
    return {at_[node], numbers_[node].units, lanes_[node]};
  }

  void TakeElement(const Block& block, uint32_t element, size_t node) {
    if (charged_[node].units == 0 || !std::isfinite(at_[node])) return;
    const auto i = static_cast<size_t>(element / block.columns);
    const auto j = static_cast<size_t>(element % block.columns);
    const auto inner = static_cast<size_t>(block.inner);
    const uint32_t y = block.y[element];
    Lanes lanes = lanes_[y];
    double own = 0;  // roundings
    double curved = 0;
    double sum = at_[y];
    bool known = std::isfinite(numbers_[y].units);
    for (size_t t = 0; t < inner; ++t) {
      const Element a = ElementOf(block.a, i * inner + t);
      const Element b =
          ElementOf(block.b, t * static_cast<size_t>(block.columns) + j);
      const double va = block.scale * a.at;
      const double vb = block.scale * b.at;
      for (size_t k = 0; k < kLanes; ++k) {
        lanes[k] += va * b.lanes[k] + vb * a.lanes[k];
      }
      const double product = va * b.at;
      sum += product;
      own += 2 * std::abs(product) + std::abs(sum);
      const double units = block.scale * a.units;
      if (units != 0 && b.units != 0) {
        curved += std::abs(units) *
                  (b.units * (Number::kUnit * kRoundoffOf<S>)+0x1p-1074);
      }
      known = known && std::isfinite(a.units) && std::isfinite(b.units);
    }
    if (!known) return Lose(node);
    const double small = static_cast<double>(inner) * 0x1p-1021;
    Put(node, lanes, (own + small) / Number::kUnit + curved);
  }

  // Where rounding may have decided, the error is that of the node taken and,
  // were it the wrong one, how far the two are apart, which is no more than they
  // may be off: an error of its own, which cancels with nothing.
  template <class Decision>
  void TakeDecision(const Decision& decision, size_t node) {
    const uint32_t taken = TakenNode(tape_, decision, charged_);
    bool known = IsKnown(taken);
    double apart = 0;
    ForEachDoubt(tape_, decision, numbers_, taken, [&](uint32_t other) {
      known = known && IsKnown(other);
      apart =
          std::max(apart, 2 * numbers_[taken].units + numbers_[other].units);
    });
    if (!known) return Lose(node);
    Lanes lanes = lanes_[taken];
    Put(node, lanes, apart);
  }

  bool IsKnown(uint32_t node) const {
    return std::isfinite(at_[node]) && std::isfinite(numbers_[node].units);
  }

  const Tape& tape_;
  const std::vector<Number>& charged_;
  std::vector<Number> numbers_;
  std::vector<double> at_;
  std::vector<Lanes> lanes_;
  double scale_;
  std::mt19937_64 engine_;
};

// For a step that is not sampled: each number that leaves it has an error of its
// own, as great as it may be.
template <class S>
std::vector<Lanes> OwnLanes(const std::vector<Bounded<S>>& numbers,
                            size_t count, uint64_t seed) {
  std::mt19937_64 engine(seed);
  const double scale = ScaleOf(count);
  std::vector<Lanes> lanes(numbers.size());
  for (size_t i = 0; i < numbers.size(); ++i) {
    for (double& lane : lanes[i]) {
      lane = std::isfinite(numbers[i].units)
                 ? numbers[i].units * scale * Drawn(engine)
                 : 0;
    }
  }
  return lanes;
}

template <class S>
std::vector<Bounded<S>> SampledAlone(const Tape& tape,
                                     const std::vector<Bounded<S>>& charged) {
  Sampler<S> sampler(tape, charged, tape.size(), 1);
  sampler.Run();
  return std::move(sampler.numbers());
}

}  // namespace

std::vector<Bounded<double>> Sampled(
    const Tape& tape, const std::vector<Bounded<double>>& charged) {
  return SampledAlone(tape, charged);
}

std::vector<Bounded<Quad>> Sampled(const Tape& tape,
                                   const std::vector<Bounded<Quad>>& charged) {
  return SampledAlone(tape, charged);
}

template <class S>
Status SampleSteps(
    Trace& trace, Left left, Borders<Bounded<S>>* numbers,
    const std::function<void(uint32_t step, const Tape& tape,
                             const std::vector<Bounded<S>>& of_tape)>& see) {
  Borders<Lanes> lanes(NothingGiven<Lanes>());
  for (const uint32_t step : trace.steps()) {
    ASSAY_ASSIGN_OR_RETURN(const auto tape, trace.TapeOf(step));
    const auto charged = Replay<Bounded<S>>(*tape, InputsOf(*tape, *numbers));
    if (tape->size() > kMostSampledNodes) {
      see(step, *tape, charged);
      numbers->PutStep(trace, step, charged);
      lanes.Put(step, OwnLanes<S>((*numbers)[step], trace.node_count(), step));
    } else {
      Sampler<S> sampler(*tape, charged, trace.node_count(), step);
      for (uint32_t node = 1; node < tape->size(); ++node) {
        if (tape->primitive(node) == Primitive::kInput) {
          sampler.SetLanes(node, lanes.Of(tape->a(node), tape->b(node), 0));
        }
      }
      sampler.Run();
      see(step, *tape, sampler.numbers());
      numbers->PutStep(trace, step, sampler.numbers());
      lanes.PutStep(trace, step, sampler.lanes());
    }
    lanes.DropRead(trace, step);
    if (left == Left::kKept) numbers->DropRead(trace, step);
  }
  return OkStatus();
}

template Status SampleSteps(
    Trace&, Left, Borders<Bounded<double>>*,
    const std::function<void(uint32_t, const Tape&,
                             const std::vector<Bounded<double>>&)>&);
template Status SampleSteps(
    Trace&, Left, Borders<Bounded<Quad>>*,
    const std::function<void(uint32_t, const Tape&,
                             const std::vector<Bounded<Quad>>&)>&);

}  // namespace assay::reference
