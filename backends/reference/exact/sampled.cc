// SPDX-License-Identifier: Apache-2.0

#include "backends/reference/exact/sampled.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <random>
#include <utility>

#include "backends/reference/loop/accumulate.h"
#include "backends/reference/tape/dense_block.h"

namespace assay::reference {
namespace {

constexpr size_t kMostSampledNodes = size_t{1} << 24;
constexpr size_t kLanes = 8;
constexpr int64_t kLaneNumbersAtOnce = int64_t{1} << 15;  // of 64 bytes
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
  Sampler(const Tape& tape, std::vector<Number> charged, size_t count,
          uint64_t seed)
      : tape_(tape),
        numbers_(std::move(charged)),
        lanes_(tape.size()),
        scale_(ScaleOf(count)),
        engine_(seed) {}

  void SetLanes(size_t node, const Lanes& lanes) { lanes_[node] = lanes; }

  void Run() {
    for (size_t node = 1; node < tape_.size(); ++node) {
      const Primitive primitive = tape_.primitive(node);
      const uint32_t a = tape_.a(node);
      if (primitive == Primitive::kBlock) {
        if (tape_.b(node) == 0) TakeBlock(tape_.blocks()[a]);
      } else if (IsSettled(node)) {
        continue;
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
  double At(size_t node) const { return ToDouble(numbers_[node]); }

  // Exact, or no number: as it was charged.
  bool IsSettled(size_t node) const {
    return numbers_[node].units == 0 || !std::isfinite(At(node));
  }

  // Notes what has come to a node, its own rounding still to be drawn.
  void Put(size_t node, Lanes& lanes, double own) {
    if (own > 0) {
      for (double& lane : lanes) lane += own * scale_ * Drawn(engine_);
    }
    const double units = Greatest(lanes);
    if (!std::isfinite(units)) return Lose(node);
    lanes_[node] = lanes;
    numbers_[node].units = std::min(units, numbers_[node].units);
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

  // What a panel of a factor is, and how far off: both by element.
  struct FactorPanel {
    FactorPanel(const Sampler& sampler, const PanelOfFactor& at)
        : panel(at), numbers(at.rows, at.columns) {
      const Factor& factor = *panel.factor;
      panel.ForEach([&](size_t to, size_t from) {
        numbers.values[to] = factor.has_nodes() ? sampler.At(factor.nodes[from])
                                                : factor.number(from);
        if (factor.has_nodes()) {
          exact = exact && sampler.numbers_[factor.nodes[from]].units == 0;
        }
      });
      if constexpr (std::same_as<S, double>) return;
      // Next to nothing, so that no number in quad counts as one in double.
      numbers.units.assign(numbers.values.size(), 0);
      for (size_t k = 0; k < numbers.values.size(); ++k) {
        if (numbers.values[k] != 0) numbers.units[k] = 0x1p-1000;
      }
    }

    PanelOfFactor panel;
    ChargedMatrix numbers;
    bool exact = true;
  };

  // Which rows and columns of a product are not known, and what the errors of
  // both factors do together, as a product.
  struct Together {
    explicit Together(const Block& block)
        : lost_rows(static_cast<size_t>(block.rows)),
          lost_columns(static_cast<size_t>(block.columns)),
          errors(block.y.size()) {}

    std::vector<bool> lost_rows, lost_columns;
    std::vector<double> errors;
  };

  void TakeBlock(const Block& block) {
    if (block.y.empty()) return;
    Lanes* const lanes = &lanes_[block.first];
    ChargedMatrix own(block.rows, block.columns);
    own.Sums();
    for (size_t k = 0; k < block.y.size(); ++k) {
      lanes[k] = lanes_[block.y[k]];
      own.values[k] = At(block.y[k]);
    }
    Together together(block);
    ForEachPanel(block, [&](const Panel& part) {
      FactorPanel a(*this, PanelOfFactor::OfA(block, part));
      const FactorPanel b(*this, PanelOfFactor::OfB(block, part));
      Multiply<Charge::kHard>(block.scale, &a.numbers);
      AddProducts<Charge::kHard>(a.numbers, b.numbers, own);
      if (!b.exact) CarryLanesOfB(a, b, lanes);
      if (!a.exact) CarryLanesOfA(block.scale, a, b, lanes);
      Join(a, b, &together);
    });
    for (size_t k = 0; k < block.y.size(); ++k) {
      TakeElement(block, k, own.units[k], together);
    }
  }

  // lanes += a lanes_b, whose rows have eight columns for one.
  void CarryLanesOfB(const FactorPanel& a, const FactorPanel& b,
                     Lanes* lanes) const {
    const PanelOfFactor& of_b = b.panel;
    const int64_t at_once =
        std::max<int64_t>(1, kLaneNumbersAtOnce / of_b.rows);
    std::vector<Lanes> tile;
    for (int64_t first = 0; first < of_b.columns; first += at_once) {
      const int64_t count = std::min(at_once, of_b.columns - first);
      tile.clear();
      for (int64_t t = 0; t < of_b.rows; ++t) {
        const size_t row =
            static_cast<size_t>(of_b.first + t * of_b.stride + first);
        for (size_t j = row; j < row + static_cast<size_t>(count); ++j) {
          tile.push_back(lanes_[of_b.factor->nodes[j]]);
        }
      }
      Product product = DenseProduct(a.panel.rows, of_b.rows, 8 * count);
      product.y.row = 8 * of_b.columns;
      Accumulate(loops_, product, a.numbers.values.data(), tile.front().data(),
                 lanes[first].data());
    }
  }

  // lanes += scale * lanes_a b, a lane at a time.
  void CarryLanesOfA(double scale, const FactorPanel& a, const FactorPanel& b,
                     Lanes* lanes) const {
    Product product =
        DenseProduct(a.panel.rows, a.panel.columns, b.panel.columns);
    product.scale = scale;
    std::vector<double> of_a(a.numbers.values.size());
    for (size_t lane = 0; lane < kLanes; ++lane) {
      std::vector<double> sums(
          static_cast<size_t>(product.rows * product.columns), 0.0);
      a.panel.ForEach([&](size_t to, size_t from) {
        of_a[to] = lanes_[a.panel.factor->nodes[from]][lane];
      });
      Accumulate(loops_, product, of_a.data(), b.numbers.values.data(),
                 sums.data());
      for (size_t k = 0; k < sums.size(); ++k) lanes[k][lane] += sums[k];
    }
  }

  void Join(const FactorPanel& a, const FactorPanel& b,
            Together* together) const {
    const auto errors_of = [this](const FactorPanel& one, auto&& lose) {
      std::vector<double> errors(one.numbers.values.size(), 0.0);
      if (one.exact) return errors;
      one.panel.ForEach([&](size_t to, size_t from) {
        errors[to] = numbers_[one.panel.factor->nodes[from]].Error();
        if (std::isfinite(errors[to])) return;
        errors[to] = 0;
        lose(to);
      });
      return errors;
    };
    const auto inner = static_cast<size_t>(a.panel.columns);
    const auto columns = static_cast<size_t>(b.panel.columns);
    const auto of_a =
        errors_of(a, [&](size_t k) { together->lost_rows[k / inner] = true; });
    const auto of_b = errors_of(
        b, [&](size_t k) { together->lost_columns[k % columns] = true; });
    if (a.exact || b.exact) return;
    Accumulate(loops_,
               DenseProduct(a.panel.rows, a.panel.columns, b.panel.columns),
               of_a.data(), of_b.data(), together->errors.data());
  }

  void TakeElement(const Block& block, size_t k, double own,
                   const Together& together) {
    const size_t node = block.first + k;
    Lanes lanes = std::exchange(lanes_[node], Lanes());
    const auto columns = static_cast<size_t>(block.columns);
    if (IsSettled(node)) return;
    if (together.lost_rows[k / columns] || together.lost_columns[k % columns] ||
        !std::isfinite(numbers_[block.y[k]].units)) {
      return Lose(node);
    }
    const double small = static_cast<double>(block.inner) * 0x1p-1021;
    const double curved =
        std::abs(block.scale) * together.errors[k] / kRoundoffOf<S>;
    Put(node, lanes, own + (small + curved) / Number::kUnit);
  }

  // Where rounding may have decided, the error is that of the node taken and,
  // were it the wrong one, how far the two are apart, which is no more than they
  // may be off: an error of its own, which cancels with nothing.
  template <class Decision>
  void TakeDecision(const Decision& decision, size_t node) {
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
  std::vector<Number> numbers_;
  std::vector<Lanes> lanes_;
  double scale_;
  std::mt19937_64 engine_;
  const SimdLoops<double>* loops_ = LoopsFor<double>(BestIsa());
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
    auto charged = Replay<Bounded<S>>(*tape, InputsOf(*tape, *numbers));
    if (left == Left::kKept) numbers->DropRead(trace, step);
    if (tape->size() > kMostSampledNodes) {
      see(step, *tape, charged);
      numbers->PutStep(trace, step, charged);
      lanes.Put(step, OwnLanes<S>((*numbers)[step], trace.node_count(), step));
      continue;
    }
    Sampler<S> sampler(*tape, std::move(charged), trace.node_count(), step);
    for (uint32_t node = 1; node < tape->size(); ++node) {
      if (tape->primitive(node) == Primitive::kInput) {
        sampler.SetLanes(node, lanes.Of(tape->a(node), tape->b(node), 0));
      }
    }
    lanes.DropRead(trace, step);
    sampler.Run();
    see(step, *tape, sampler.numbers());
    numbers->PutStep(trace, step, sampler.numbers());
    lanes.PutStep(trace, step, sampler.lanes());
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
