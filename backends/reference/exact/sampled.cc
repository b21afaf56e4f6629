// SPDX-License-Identifier: Apache-2.0

#include "backends/reference/exact/sampled.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <random>
#include <span>
#include <utility>

#include "backends/reference/dense/block_passes.h"

namespace assay::reference {
namespace {

constexpr size_t kMostSampledNodes = size_t{1} << 24;

// How far below the standard deviation no lane may be.
constexpr double kLeastShare = 1.0 / 256;

// The factor that an error of 1 is drawn with.
double ScaleOf(size_t count) {
  return std::sqrt(3.0 * static_cast<double>(count)) / kLeastShare;
}

// Uniform over [-1, 1).
double Uniform(std::mt19937_64& engine) {
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

  /// `given` is for numbers without nodes; `count` is how many roundings there
  /// are at most, on this tape and on those that share its draws; `seed` is for
  /// the draws of this one.
  Sampler(const Tape& tape, InputOf<Number> given, size_t count, uint64_t seed)
      : tape_(tape),
        given_(std::move(given)),
        numbers_(tape.size()),
        lanes_(std::make_unique_for_overwrite<Lanes[]>(tape.size())),
        scale_(ScaleOf(count)),
        engine_(seed) {}

  // Sets the number of an input, before Run.
  void SetNumber(uint32_t node, const Number& number) {
    numbers_[node] = number;
  }
  void SetLanes(uint32_t node, const Lanes& lanes) { lanes_[node] = lanes; }

  void Run() {
    for (size_t node = 0; node < tape_.size(); ++node) {
      const Primitive primitive = tape_.primitive(node);
      const uint32_t a = tape_.a(node);
      const uint32_t b = tape_.b(node);
      if (primitive == Primitive::kInput) continue;
      if (primitive == Primitive::kBlock) {
        if (b == 0) TakeBlock(tape_.blocks()[a]);
        continue;
      }
      lanes_[node] = {};
      if (primitive == Primitive::kConstant) {
        numbers_[node] = Number(tape_.values()[node]);
      } else if (primitive == Primitive::kChoice) {
        TakeDecision(tape_.choices()[a], node);
      } else if (primitive == Primitive::kSelect) {
        TakeDecision(tape_.selections()[a], node);
      } else {
        numbers_[node] = Apply<Number>(primitive, numbers_[a], numbers_[b]);
        if (!IsSettled(node)) TakeFunction(primitive, a, b, node);
      }
    }
  }

  std::vector<Number>& numbers() { return numbers_; }
  std::span<const Lanes> lanes() const { return {lanes_.get(), tape_.size()}; }

 private:
  double At(size_t node) const { return ToDouble(numbers_[node]); }

  // Exact, or no number: as it was charged.
  bool IsSettled(size_t node) const {
    return numbers_[node].units == 0 || !std::isfinite(At(node));
  }

  // Notes what has come to a node, its own rounding still to be drawn.
  void Put(size_t node, Lanes lanes, double own) {
    if (own > 0) {
      for (double& lane : lanes) lane += own * scale_ * Uniform(engine_);
    }
    const double units = Greatest(lanes);
    if (!std::isfinite(units)) return Lose(node);
    lanes_[node] = lanes;
    numbers_[node].units = std::min(units, numbers_[node].units);
  }

  void Lose(size_t node) {
    numbers_[node].units = Number::kUnknown;
    lanes_[node] = {};
  }

  // The operand's lanes for each unit of its own, times what they do.
  static void Carry(const Lanes& lanes, double by, double units, bool falls,
                    Lanes& sum) {
    if (units == 0 || by == 0) return;
    const double factor = falls ? -by / units : by / units;
    for (size_t k = 0; k < kLaneCount; ++k) sum[k] += factor * lanes[k];
  }

  void TakeFunction(Primitive primitive, uint32_t a, uint32_t b, size_t node) {
    const Number& x = numbers_[a];
    const Number& y = numbers_[b];
    const double at_a = At(a);
    const double at_b = At(b);
    const double v = At(node);
    if (Number::MayStep(primitive, x, y)) return Lose(node);
    const double by_a = Number::ByA(primitive, x, at_b, v);
    const double by_b = Number::ByB(primitive, y, at_a, v);
    const double stretch =
        x.units == 0 && y.units == 0
            ? 1
            : Stretch(primitive, at_a, x.Error(), at_b, y.Error());
    if (!std::isfinite(by_a + by_b) || !std::isfinite(stretch)) {
      return Lose(node);
    }
    const auto d = PartialsOf<double>(primitive, at_a, at_b, v);
    Lanes lanes = {};
    Carry(lanes_[a], by_a * stretch, x.units, d.a < 0, lanes);
    Carry(lanes_[b], by_b * stretch, y.units, d.b < 0, lanes);
    // As of a choice between a and -a.
    const bool bends =
        primitive == Primitive::kAbs && Number::MayCross(x, Number(0));
    Put(node, lanes,
        Number::OwnUnits(primitive, x, y, v) + Number::Curved(primitive, x, y) +
            (bends ? 2 * x.units : 0));
  }

  void TakeBlock(const Block& block) {
    const CarriedErrors carried =
        ReplayWithLanes(block, given_, lanes_.get(), numbers_);
    for (size_t k = 0; k < block.y.size(); ++k) {
      const size_t node = block.first + k;
      if (IsSettled(node)) {
        lanes_[node] = {};
      } else if (carried.lost[k]) {
        Lose(node);
      } else {
        Put(node, lanes_[node], carried.own[k]);
      }
    }
  }

  // Where rounding may have decided, the error is that of the node taken and,
  // were it the wrong one, how far the two are apart, which is no more than
  // they may be off: an error of its own, which cancels with nothing.
  template <class Decision>
  void TakeDecision(const Decision& decision, size_t node) {
    numbers_[node] = Decided(tape_, decision, numbers_);
    if (IsSettled(node)) return;
    const uint32_t taken = TakenNode(tape_, decision, numbers_);
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
    return std::isfinite(At(node)) && std::isfinite(numbers_[node].units);
  }

  const Tape& tape_;
  InputOf<Number> given_;
  std::vector<Number> numbers_;
  // The lanes are most of the memory of a great run: touched where they are
  // written.
  std::unique_ptr<Lanes[]> lanes_;
  double scale_;
  std::mt19937_64 engine_;
};

// For a step that is not sampled: each number that leaves it has an error of
// its own, as great as it may be.
template <class S>
std::vector<Lanes> OwnLanes(const std::vector<Bounded<S>>& numbers,
                            size_t count, uint64_t seed) {
  std::mt19937_64 engine(seed);
  const double scale = ScaleOf(count);
  std::vector<Lanes> lanes(numbers.size());
  for (size_t i = 0; i < numbers.size(); ++i) {
    for (double& lane : lanes[i]) {
      lane = std::isfinite(numbers[i].units)
                 ? numbers[i].units * scale * Uniform(engine)
                 : 0;
    }
  }
  return lanes;
}

template <class Take>
void ForEachInput(const Tape& tape, const Take& take) {
  for (uint32_t node = 1; node < tape.size(); ++node) {
    if (tape.primitive(node) == Primitive::kInput) take(node);
  }
}

}  // namespace

template <class S>
std::vector<Bounded<S>> Sampled(const Tape& tape) {
  Sampler<S> sampler(tape, AsGiven<Bounded<S>>, tape.size(), 1);
  ForEachInput(tape, [&](uint32_t node) {
    sampler.SetNumber(node, Bounded<S>(tape.values()[node]));
    sampler.SetLanes(node, {});
  });
  sampler.Run();
  return std::move(sampler.numbers());
}
template std::vector<Bounded<double>> Sampled<double>(const Tape& tape);
template std::vector<Bounded<Quad>> Sampled<Quad>(const Tape& tape);

template <class S>
Status SampleSteps(Trace& trace, Left left, Borders<Bounded<S>>* numbers,
                   const SeeStep<S>& see) {
  Borders<Lanes> lanes(NothingGiven<Lanes>());
  for (const uint32_t step : trace.steps()) {
    ASSAY_ASSIGN_OR_RETURN(const auto tape, trace.TapeOf(step));
    const InputOf<Bounded<S>> input = InputsOf(*tape, *numbers);
    if (tape->size() > kMostSampledNodes) {
      const auto charged = Replay<Bounded<S>>(*tape, input);
      if (left == Left::kKept) numbers->DropRead(trace, step);
      see(step, *tape, charged);
      numbers->PutStep(trace, step, charged);
      lanes.Put(step, OwnLanes<S>((*numbers)[step], trace.node_count(), step));
      continue;
    }
    Sampler<S> sampler(*tape, input, trace.node_count(), step);
    ForEachInput(*tape, [&](uint32_t node) {
      sampler.SetNumber(node, input(node, tape->values()[node]));
    });
    if (left == Left::kKept) numbers->DropRead(trace, step);
    ForEachInput(*tape, [&](uint32_t node) {
      sampler.SetLanes(node, lanes.Of(tape->a(node), tape->b(node), 0));
    });
    lanes.DropRead(trace, step);
    sampler.Run();
    see(step, *tape, sampler.numbers());
    numbers->PutStep(trace, step, sampler.numbers());
    if (left == Left::kTapes) {
      numbers->KeepTape(step, std::move(sampler.numbers()));
    }
    sampler.numbers() = std::vector<Bounded<S>>();  // makes room
    lanes.PutStep(trace, step, sampler.lanes());
  }
  return OkStatus();
}

template Status SampleSteps<double>(Trace&, Left, Borders<Bounded<double>>*,
                                    const SeeStep<double>&);
template Status SampleSteps<Quad>(Trace&, Left, Borders<Bounded<Quad>>*,
                                  const SeeStep<Quad>&);

}  // namespace assay::reference
