// SPDX-License-Identifier: Apache-2.0

#include "backends/reference/dense/block_lanes.h"

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstdint>

#include "backends/reference/dense/block_passes.h"
#include "backends/reference/loop/accumulate.h"

namespace assay::reference {
namespace {

constexpr int64_t kLanesAtOnce = int64_t{1} << 15;  // of 64 bytes

template <class S>
using Number = Charged<Charge::kBound, S>;

// The numbers of a panel of a factor, with their units.
template <class S>
struct FactorPanel {
  FactorPanel(const PanelOfFactor& at, const std::vector<Number<S>>& all)
      : panel(at), numbers(at.rows, at.columns) {
    const Factor& factor = *panel.factor;
    if (factor.has_nodes()) {
      units.reserve(numbers.values.size());
      panel.ForEach([&](size_t to, size_t from) {
        const Number<S>& number = all[factor.nodes[from]];
        numbers.values[to] = ToDouble(number);
        units.push_back(number.units);
        exact = exact && number.units == 0;
      });
    } else {
      numbers.values = panel.Numbers();
    }
    if constexpr (std::same_as<S, double>) return;
    // Next to nothing, so that no number in quad counts as one in double.
    numbers.units.assign(numbers.values.size(), 0);
    for (size_t k = 0; k < numbers.values.size(); ++k) {
      if (numbers.values[k] != 0) numbers.units[k] = 0x1p-1000;
    }
  }

  std::vector<double> Sizes() const {
    std::vector<double> sizes = numbers.values;
    for (double& size : sizes) size = std::abs(size);
    return sizes;
  }

  PanelOfFactor panel;
  ChargedMatrix numbers;      // without their errors
  std::vector<double> units;  // of their errors, by element, unless exact
  bool exact = true;
};

template <class S>
class Carrier {
 public:
  Carrier(const Block& block, Lanes* lanes, std::vector<Number<S>>& numbers)
      : block_(block),
        numbers_(numbers),
        lanes_(lanes),
        own_(block.rows, block.columns),
        together_(block.y.size()) {
    own_.Sums();
  }

  CarriedErrors Run(const InputOf<Number<S>>& input) {
    for (size_t k = 0; k < block_.y.size(); ++k) {
      const uint32_t y = block_.y[k];
      LanesOf(k) = lanes_[y];
      carried_.lost.push_back(!std::isfinite(numbers_[y].units));
      own_.values[k] = ToDouble(numbers_[y]);
      units_.push_back(numbers_[y].units);
    }
    const bool in_pairs = SumInPairs();
    ForEachPanel(block_, [&](const Panel& part) { Take(part, !in_pairs); });
    const double small =
        is_exact_ ? 0 : static_cast<double>(block_.inner) * 0x1p-1021;
    for (size_t k = 0; k < block_.y.size(); ++k) {
      const double of_both =
          std::abs(block_.scale) * together_[k] / kRoundoffOf<S>;
      carried_.own.push_back(own_.units[k] +
                             (small + of_both) / Number<S>::kUnit);
    }
    if (in_pairs || SumInDoubles()) {
      Charge();
    } else {
      ReplayBlock(block_, input, numbers_);
    }
    return std::move(carried_);
  }

 private:
  Number<S>& Sum(size_t k) { return numbers_[block_.first + k]; }
  Lanes& LanesOf(size_t k) { return lanes_[block_.first + k]; }

  // False where a block in quad has few products, or a number is out of range.
  bool SumInPairs() {
    if constexpr (std::same_as<S, Quad>) {
      if (!IsForPairs(block_)) return false;
      auto sums = ProductInPairs(block_, numbers_);
      if (!sums.has_value()) return false;
      own_.units = std::move(sums->own);
      for (size_t k = 0; k < block_.y.size(); ++k) {
        Sum(k).value = sums->values[k];
      }
      return true;
    }
    return false;
  }

  // Takes what the panels have summed; false where one is out of range.
  bool SumInDoubles() {
    if constexpr (std::same_as<S, double>) {
      for (size_t k = 0; k < block_.y.size(); ++k) {
        if (!std::isfinite(own_.values[k]) || std::isnan(own_.units[k])) {
          return false;
        }
        Sum(k).value = own_.values[k];
      }
      return true;
    }
    return false;
  }

  // A little more for the roundings of units themselves.
  void Charge() {
    for (size_t k = 0; k < block_.y.size(); ++k) {
      const double all = (units_[k] + carried_.own[k]) * (1 + 0x1p-20);
      Sum(k).units = std::isnan(all) ? Number<S>::kUnknown : all;
    }
  }

  void Take(const Panel& part, bool with_own) {
    FactorPanel<S> a(PanelOfFactor::OfA(block_, part), numbers_);
    const FactorPanel<S> b(PanelOfFactor::OfB(block_, part), numbers_);
    is_exact_ = is_exact_ && a.exact && b.exact;
    Multiply<Charge::kHard>(block_.scale, &a.numbers);
    if (with_own && is_exact_) {
      AddProducts<Charge::kBound>(a.numbers, b.numbers, own_);
    } else if (with_own) {
      AddProducts<Charge::kHard>(a.numbers, b.numbers, own_);
    }
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
                 LanesOf(static_cast<size_t>(first)).data());
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
        LanesOf(k)[lane] += sums[k];
      }
    }
  }

  void TakeErrors(const FactorPanel<S>& a, const FactorPanel<S>& b) {
    Product product =
        DenseProduct(a.panel.rows, a.panel.columns, b.panel.columns);
    if (!b.exact) {
      Accumulate(loops_, product, a.Sizes().data(), b.units.data(),
                 units_.data());
    }
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
    if (!a.exact && !b.exact) {
      Accumulate(loops_, product, of_a.data(), of_b.data(), together_.data());
    }
    if (!a.exact) {
      product.scale = std::abs(block_.scale);
      Accumulate(loops_, product, a.units.data(), b.Sizes().data(),
                 units_.data());
    }
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
  std::vector<Number<S>>& numbers_;
  Lanes* lanes_;
  const SimdLoops<double>* loops_ = LoopsFor<double>(BestIsa());
  CarriedErrors carried_;
  ChargedMatrix own_;             // as if the factors were exact
  std::vector<double> units_;     // that y and the factors bring
  std::vector<double> together_;  // products of errors
  bool is_exact_ = true;          // of the factors so far
};

}  // namespace

CarriedErrors ReplayWithLanes(const Block& block,
                              const InputOf<Number<double>>& input,
                              Lanes* lanes,
                              std::vector<Number<double>>& numbers) {
  return Carrier<double>(block, lanes, numbers).Run(input);
}

CarriedErrors ReplayWithLanes(const Block& block,
                              const InputOf<Number<Quad>>& input, Lanes* lanes,
                              std::vector<Number<Quad>>& numbers) {
  return Carrier<Quad>(block, lanes, numbers).Run(input);
}

}  // namespace assay::reference
