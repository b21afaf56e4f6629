// SPDX-License-Identifier: Apache-2.0

#include "backends/reference/dense/pair_block.h"

#include <cmath>

#include "backends/reference/dense/pair_product.h"
#include "backends/reference/loop/accumulate.h"

namespace assay::reference {
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

}  // namespace assay::reference
