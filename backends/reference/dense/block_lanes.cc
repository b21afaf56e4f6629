// SPDX-License-Identifier: Apache-2.0

#include "backends/reference/dense/block_lanes.h"

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstdint>

#include "backends/reference/dense/dense_block.h"
#include "backends/reference/dense/pair_block.h"
#include "backends/reference/loop/accumulate.h"

namespace assay::reference {
namespace {

constexpr int64_t kLanesAtOnce = int64_t{1} << 15;  // of 64 bytes

template <class S>
using Numbers = std::vector<Charged<Charge::kBound, S>>;

// What a panel of a factor is.
template <class S>
struct FactorPanel {
  FactorPanel(const PanelOfFactor& at, const Numbers<S>& all)
      : panel(at), numbers(at.rows, at.columns) {
    const Factor& factor = *panel.factor;
    panel.ForEach([&](size_t to, size_t from) {
      if (!factor.has_nodes()) {
        numbers.values[to] = factor.number(from);
        return;
      }
      const auto& number = all[factor.nodes[from]];
      numbers.values[to] = ToDouble(number);
      exact = exact && number.units == 0;
    });
    if constexpr (std::same_as<S, double>) return;
    // Next to nothing, so that no number in quad counts as one in double.
    numbers.units.assign(numbers.values.size(), 0);
    for (size_t k = 0; k < numbers.values.size(); ++k) {
      if (numbers.values[k] != 0) numbers.units[k] = 0x1p-1000;
    }
  }

  PanelOfFactor panel;
  ChargedMatrix numbers;  // without their errors
  bool exact = true;
};

template <class S>
class Carrier {
 public:
  Carrier(const Block& block, const Numbers<S>& numbers,
          const std::vector<Lanes>& lanes)
      : block_(block),
        numbers_(numbers),
        lanes_(lanes),
        own_(block.rows, block.columns),
        together_(block.y.size()) {
    own_.Sums();
  }

  CarriedLanes Run() {
    for (size_t k = 0; k < block_.y.size(); ++k) {
      const uint32_t y = block_.y[k];
      carried_.lanes.push_back(lanes_[y]);
      carried_.lost.push_back(!std::isfinite(numbers_[y].units));
      own_.values[k] = ToDouble(numbers_[y]);
    }
    const bool is_summed = TakeOwn();
    ForEachPanel(block_, [&](const Panel& part) { Take(part, !is_summed); });
    const double small = static_cast<double>(block_.inner) * 0x1p-1021;
    for (size_t k = 0; k < block_.y.size(); ++k) {
      const double of_both =
          std::abs(block_.scale) * together_[k] / kRoundoffOf<S>;
      carried_.own.push_back(
          own_.units[k] + (small + of_both) / Charged<Charge::kBound>::kUnit);
    }
    return std::move(carried_);
  }

 private:
  // Roundings of a block that was summed in pairs; false for another.
  bool TakeOwn() {
    if constexpr (std::same_as<S, Quad>) {
      if (!IsForPairs(block_)) return false;
      auto sums = ProductInPairs(block_, numbers_);
      if (!sums.has_value()) return false;
      own_.units = std::move(sums->own);
      return true;
    }
    return false;
  }

  void Take(const Panel& part, bool with_own) {
    FactorPanel<S> a(PanelOfFactor::OfA(block_, part), numbers_);
    const FactorPanel<S> b(PanelOfFactor::OfB(block_, part), numbers_);
    Multiply<Charge::kHard>(block_.scale, &a.numbers);
    if (with_own) AddProducts<Charge::kHard>(a.numbers, b.numbers, own_);
    if (!b.exact) CarryB(a, b);
    if (!a.exact) CarryA(a, b);
    TakeErrors(a, b);
  }

  // lanes += a lanes_b, whose rows have eight columns for one.
  void CarryB(const FactorPanel<S>& a, const FactorPanel<S>& b) {
    const PanelOfFactor& of_b = b.panel;
    const int64_t at_once = std::max<int64_t>(1, kLanesAtOnce / of_b.rows);
    std::vector<Lanes> tile;
    for (int64_t first = 0; first < of_b.columns; first += at_once) {
      const int64_t count = std::min(at_once, of_b.columns - first);
      tile.clear();
      for (int64_t t = 0; t < of_b.rows; ++t) {
        const auto row =
            static_cast<size_t>(of_b.first + t * of_b.stride + first);
        for (size_t j = row; j < row + static_cast<size_t>(count); ++j) {
          tile.push_back(lanes_[of_b.factor->nodes[j]]);
        }
      }
      Product product = DenseProduct(a.panel.rows, of_b.rows, 8 * count);
      product.y.row = 8 * of_b.columns;
      Accumulate(loops_, product, a.numbers.values.data(), tile[0].data(),
                 carried_.lanes[static_cast<size_t>(first)].data());
    }
  }

  // lanes += scale * lanes_a b, a lane at a time.
  void CarryA(const FactorPanel<S>& a, const FactorPanel<S>& b) {
    Product product =
        DenseProduct(a.panel.rows, a.panel.columns, b.panel.columns);
    product.scale = block_.scale;
    std::vector<double> of_a(a.numbers.values.size());
    for (size_t lane = 0; lane < kLaneCount; ++lane) {
      std::vector<double> sums(block_.y.size(), 0.0);
      a.panel.ForEach([&](size_t to, size_t from) {
        of_a[to] = lanes_[a.panel.factor->nodes[from]][lane];
      });
      Accumulate(loops_, product, of_a.data(), b.numbers.values.data(),
                 sums.data());
      for (size_t k = 0; k < sums.size(); ++k) {
        carried_.lanes[k][lane] += sums[k];
      }
    }
  }

  void TakeErrors(const FactorPanel<S>& a, const FactorPanel<S>& b) {
    const auto inner = static_cast<size_t>(a.panel.columns);
    const auto columns = static_cast<size_t>(block_.columns);
    const auto of_a = ErrorsOf(a, [&](size_t element) {
      const size_t first = element / inner * columns;
      for (size_t j = 0; j < columns; ++j) carried_.lost[first + j] = true;
    });
    const auto of_b = ErrorsOf(b, [&](size_t element) {
      for (size_t k = element % columns; k < carried_.lost.size();
           k += columns) {
        carried_.lost[k] = true;
      }
    });
    if (a.exact || b.exact) return;
    Accumulate(loops_,
               DenseProduct(a.panel.rows, a.panel.columns, b.panel.columns),
               of_a.data(), of_b.data(), together_.data());
  }

  // The errors of a panel; lose(element) is called for what is unknown.
  template <class Lose>
  std::vector<double> ErrorsOf(const FactorPanel<S>& factor,
                               const Lose& lose) const {
    std::vector<double> errors;
    if (factor.exact) return errors;
    factor.panel.ForEach([&](size_t to, size_t from) {
      const double error = numbers_[factor.panel.factor->nodes[from]].Error();
      errors.push_back(std::isfinite(error) ? error : 0);
      if (!std::isfinite(error)) lose(to);
    });
    return errors;
  }

  const Block& block_;
  const Numbers<S>& numbers_;
  const std::vector<Lanes>& lanes_;
  const SimdLoops<double>* loops_ = LoopsFor<double>(BestIsa());
  CarriedLanes carried_;
  ChargedMatrix own_;             // as if the factors were exact
  std::vector<double> together_;  // products of errors
};

}  // namespace

CarriedLanes Carried(const Block& block, const Numbers<double>& numbers,
                     const std::vector<Lanes>& lanes) {
  return Carrier<double>(block, numbers, lanes).Run();
}

CarriedLanes Carried(const Block& block, const Numbers<Quad>& numbers,
                     const std::vector<Lanes>& lanes) {
  return Carrier<Quad>(block, numbers, lanes).Run();
}

}  // namespace assay::reference
