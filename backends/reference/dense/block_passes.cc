// SPDX-License-Identifier: Apache-2.0

#include "backends/reference/dense/block_passes.h"

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <span>

#include "backends/reference/dense/pair_product.h"
#include "backends/reference/loop/accumulate.h"

namespace assay::reference {
namespace {

template <class T>
std::vector<double> NumbersOf(const PanelOfFactor& panel,
                              const GivenMatrix& matrix) {
  const std::span<const T> from = matrix.tensor.elements<T>();
  const int64_t first_row = panel.first / panel.stride;
  const int64_t first_column = panel.first % panel.stride;
  std::vector<double> numbers;
  numbers.reserve(static_cast<size_t>(panel.rows * panel.columns));
  for (int64_t i = 0; i < panel.rows; ++i) {
    int64_t at = matrix.first + (first_row + i) * matrix.strides.row +
                 first_column * matrix.strides.column;
    for (int64_t j = 0; j < panel.columns; ++j) {
      numbers.push_back(from[static_cast<size_t>(at)]);
      at += matrix.strides.column;
    }
  }
  return numbers;
}

}  // namespace

double GivenMatrix::operator[](size_t element) const {
  const auto row = static_cast<int64_t>(element) / columns;
  const auto column = static_cast<int64_t>(element) % columns;
  const auto at =
      static_cast<size_t>(first + row * strides.row + column * strides.column);
  return tensor.dtype() == DType::kFloat32
             ? double{tensor.elements<float>()[at]}
             : tensor.elements<double>()[at];
}

std::vector<double> PanelOfFactor::Numbers() const {
  if (factor->given.has_value()) {
    return factor->given->tensor.dtype() == DType::kFloat32
               ? NumbersOf<float>(*this, *factor->given)
               : NumbersOf<double>(*this, *factor->given);
  }
  std::vector<double> panel;
  panel.reserve(static_cast<size_t>(rows * columns));
  ForEach([&](size_t, size_t from) { panel.push_back(factor->numbers[from]); });
  return panel;
}

namespace {

// A number as a pair, off by at most 2^-106 of itself.
void SetPair(const Quad& number, size_t at, PairMatrix* matrix) {
  const double high = ToDouble(number);
  const double low =
      std::isfinite(high) ? ToDouble(Quad(number - Quad(high))) : 0;
  matrix->high[at] = high;
  if (low == 0) return;
  matrix->low.resize(matrix->high.size());
  matrix->low[at] = low;
}

PairMatrix PairsOf(const PanelOfFactor& panel, double scale,
                   const std::vector<BoundedQuad>& numbers) {
  const Factor& factor = *panel.factor;
  PairMatrix matrix(panel.rows, panel.columns);
  const auto scaled = [scale](const Quad& number) {
    return scale == 1 ? number : Quad(Quad(scale) * number);
  };
  if (factor.has_nodes()) {
    panel.ForEach([&](size_t to, size_t from) {
      SetPair(scaled(numbers[factor.nodes[from]].value), to, &matrix);
    });
    return matrix;
  }
  matrix.high = panel.Numbers();
  if (scale == 1) return matrix;
  for (size_t k = 0; k < matrix.high.size(); ++k) {
    SetPair(scaled(Quad(matrix.high[k])), k, &matrix);
  }
  return matrix;
}

// Sizes and charges of a panel, both by element.
struct SizedPanel {
  SizedPanel(const PanelOfFactor& panel,
             const std::vector<BoundedQuad>& numbers) {
    const Factor& factor = *panel.factor;
    if (!factor.has_nodes()) {
      sizes = panel.Numbers();
      for (double& size : sizes) size = std::abs(size);
      return;
    }
    panel.ForEach([&](size_t, size_t from) {
      const BoundedQuad& number = numbers[factor.nodes[from]];
      sizes.push_back(std::abs(ToDouble(number)));
      units.push_back(number.units);
      errors.push_back(number.Error());
      exact = exact && number.units == 0;
    });
  }

  std::vector<double> sizes, units, errors;
  bool exact = true;
};

// The charges that factors bring, of first and second order. A NaN stands for
// what is unknown.
std::vector<double> CarriedUnits(const Block& block,
                                 const std::vector<BoundedQuad>& numbers) {
  const SimdLoops<double>* const loops = LoopsFor<double>(BestIsa());
  std::vector<double> units;
  units.reserve(block.y.size());
  for (const uint32_t y : block.y) units.push_back(numbers[y].units);
  ForEachPanel(block, [&](const Panel& part) {
    Product product = DenseProduct(block.rows, part.size(), block.columns);
    product.scale = std::abs(block.scale);
    const SizedPanel a(PanelOfFactor::OfA(block, part), numbers);
    const SizedPanel b(PanelOfFactor::OfB(block, part), numbers);
    if (!b.exact) {
      Accumulate(loops, product, a.sizes.data(), b.units.data(), units.data());
    }
    if (!a.exact) {
      Accumulate(loops, product, a.units.data(), b.sizes.data(), units.data());
    }
    if (!a.exact && !b.exact) {
      Accumulate(loops, product, a.errors.data(), b.units.data(), units.data());
    }
  });
  return units;
}

}  // namespace

std::optional<PairSums> ProductInPairs(
    const Block& block, const std::vector<BoundedQuad>& numbers) {
  PairMatrix y(block.rows, block.columns);
  y.low.resize(y.high.size());
  PairSums sums;
  for (size_t k = 0; k < block.y.size(); ++k) {
    SetPair(numbers[block.y[k]].value, k, &y);
    sums.own.push_back(y.low[k] == 0 ? 0 : std::abs(y.high[k]));
  }
  std::vector<double> magnitude(y.high.size(), 0.0);
  bool known = true;
  ForEachPanel(block, [&](const Panel& part) {
    known = known &&
            AddProducts(
                PairsOf(PanelOfFactor::OfA(block, part), block.scale, numbers),
                PairsOf(PanelOfFactor::OfB(block, part), 1, numbers), y,
                magnitude.data());
  });
  if (!known) return std::nullopt;
  // To be a pair costs y0 and every product less than half of kPairError, to be
  // one number of 113 bits the sum still less.
  constexpr double kUnits =
      kPairError / (BoundedQuad::kUnit * kRoundoffOf<Quad>);
  for (size_t k = 0; k < y.high.size(); ++k) {
    sums.values.push_back(Quad(y.high[k]) + Quad(y.low[k]));
    sums.own[k] =
        kUnits * (2 * magnitude[k] +
                  (magnitude[k] == 0 ? 0 : std::abs(y.high[k])) + sums.own[k]);
  }
  return sums;
}

bool ReplayInPairs(const Block& block, std::vector<BoundedQuad>& numbers) {
  const std::optional<PairSums> sums = ProductInPairs(block, numbers);
  if (!sums.has_value()) return false;
  const std::vector<double> units = CarriedUnits(block, numbers);
  for (size_t k = 0; k < units.size(); ++k) {
    // A little more for the roundings of units themselves.
    const double all = (units[k] + sums->own[k]) * (1 + 0x1p-20);
    numbers[block.first + k] = {sums->values[k],
                                std::isnan(all) ? BoundedQuad::kUnknown : all};
  }
  return true;
}

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
