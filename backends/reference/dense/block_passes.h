// SPDX-License-Identifier: Apache-2.0
//
// Blocks of a tape in passes with any scalar, number by number where there is
// no faster way. With charged doubles, where most of the time of a network
// goes, they are gathered into dense matrices, panel by panel along the axis
// that is summed over, so that memory stays small beside the block's own. One
// of many products of bounded numbers of 113 bits is summed in pairs of doubles
// (pair_product.h), in far less time and to nine bits less, which its bound
// counts.
//
// And lanes: draws of what the errors of a number may be (exact/sampled.h),
// carried through a block as products of dense matrices.
//
//   ReplayBlock<Quad>(block, input, values);
//   ReverseBlock<Quad, Quad>(block, input, values, adjoints);
//   if (const auto sums = ProductInPairs(block, numbers)) Use(sums->values);

#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <vector>

#include "backends/reference/dense/block.h"
#include "backends/reference/dense/charged_product.h"
#include "backends/reference/number/charged.h"
#include "backends/reference/number/primitives.h"
#include "backends/reference/number/quad.h"

namespace assay::reference {

using BoundedQuad = Charged<Charge::kBound, Quad>;

/// True for a block of so many products that pairs are worth it.
inline bool IsForPairs(const Block& block) {
  return block.rows * block.columns >= 1 &&
         block.inner >= (int64_t{1} << 16) / (block.rows * block.columns);
}

/// By element of a block.
struct PairSums {
  std::vector<Quad> values;
  std::vector<double> own;  // units of their own roundings
};

/// None where a number is out of range. `numbers` are by node; factors without
/// nodes are exact.
std::optional<PairSums> ProductInPairs(const Block& block,
                                       const std::vector<BoundedQuad>& numbers);

/// ReplayBlock in pairs; false, and nothing done, where it has no sums. Unknown
/// is what a factor that is unknown comes into, be it times 0.
bool ReplayInPairs(const Block& block, std::vector<BoundedQuad>& numbers);

inline constexpr size_t kLaneCount = 8;
using Lanes = std::array<double, kLaneCount>;

/// By element of a block.
struct CarriedErrors {
  /// Units of its own roundings, and of what errors of both factors do
  /// together.
  std::vector<double> own;
  std::vector<bool> lost;  // a factor or y is unknown
};

/// As ReplayBlock, with about the same charges. The lanes of the results become
/// what those of the factors and of y do. `lanes` and `numbers` are by node;
/// factors without nodes are exact.
CarriedErrors ReplayWithLanes(const Block& block,
                              const InputOf<Charged<Charge::kBound>>& input,
                              Lanes* lanes,
                              std::vector<Charged<Charge::kBound>>& numbers);
CarriedErrors ReplayWithLanes(
    const Block& block, const InputOf<Charged<Charge::kBound, Quad>>& input,
    Lanes* lanes, std::vector<Charged<Charge::kBound, Quad>>& numbers);

/// sum + a b.
template <class S, class A>
A AddProduct(const A& sum, const S& a, const A& b) {
  return sum + a * b;
}

/// The numbers of one row of a factor.
template <class S>
void RowOf(const Factor& factor, size_t row, const std::vector<S>& values,
           const InputOf<S>& input, std::vector<S>* numbers) {
  const size_t first = row * numbers->size();
  for (size_t j = 0; j < numbers->size(); ++j) {
    (*numbers)[j] = factor.has_nodes() ? values[factor.nodes[first + j]]
                                       : input(0, factor.number(first + j));
  }
}

/// y + scale * a b, element by element, in the order of the kernel.
template <class S>
void ReplayBlock(const Block& block, const InputOf<S>& input,
                 std::vector<S>& values) {
  const auto inner = static_cast<size_t>(block.inner);
  const auto columns = static_cast<size_t>(block.columns);
  const S scale(block.scale);
  for (size_t k = 0; k < block.y.size(); ++k) {
    values[block.first + k] = values[block.y[k]];
  }
  std::vector<S> a(inner), b(columns);
  for (size_t i = 0; i < static_cast<size_t>(block.rows); ++i) {
    RowOf(block.a, i, values, input, &a);
    S* const sums = values.data() + block.first + i * columns;
    for (size_t t = 0; t < inner; ++t) {
      RowOf(block.b, t, values, input, &b);
      const S factor = block.scale != 1 ? scale * a[t] : a[t];
      for (size_t j = 0; j < columns; ++j) {
        sums[j] = AddProduct(sums[j], factor, b[j]);
      }
    }
  }
}

inline void ReplayBlock(const Block& block, const InputOf<BoundedQuad>& input,
                        std::vector<BoundedQuad>& values) {
  if (IsForPairs(block) && ReplayInPairs(block, values)) return;
  ReplayBlock<BoundedQuad>(block, input, values);
}

template <class S, class A>
void ReverseBlock(const Block& block, const InputOf<S>& input,
                  const std::vector<S>& values, std::vector<A>& adjoints) {
  const auto inner = static_cast<size_t>(block.inner);
  const auto columns = static_cast<size_t>(block.columns);
  const S scale(block.scale);
  std::vector<A> flows(columns);
  std::vector<S> a(inner), b(columns);
  for (size_t i = 0; i < static_cast<size_t>(block.rows); ++i) {
    for (size_t j = 0; j < columns; ++j) {
      const A& flow = adjoints[block.first + i * columns + j];
      flows[j] = block.scale != 1 ? scale * flow : flow;
      A& to_y = adjoints[block.y[i * columns + j]];
      if (!IsZero(flow)) to_y = to_y + flow;
    }
    if (std::ranges::all_of(flows, [](const A& x) { return IsZero(x); })) {
      continue;
    }
    RowOf(block.a, i, values, input, &a);
    // Row by row of b, whose nodes lie side by side.
    for (size_t t = 0; t < inner; ++t) {
      if (block.a.takes_flow()) RowOf(block.b, t, values, input, &b);
      for (size_t j = 0; j < columns; ++j) {
        if (IsZero(flows[j])) continue;
        if (block.a.takes_flow()) {
          A& to_a = adjoints[block.a.nodes[i * inner + t]];
          to_a = AddProduct(to_a, b[j], flows[j]);
        }
        if (block.b.takes_flow()) {
          A& to_b = adjoints[block.b.nodes[t * columns + j]];
          to_b = AddProduct(to_b, a[t], flows[j]);
        }
      }
    }
  }
}

/// The numbers of a panel.
template <Charge kCharge>
ChargedMatrix Gathered(const PanelOfFactor& panel,
                       const InputOf<Charged<kCharge>>& input,
                       const std::vector<Charged<kCharge>>& values) {
  const Factor& factor = *panel.factor;
  ChargedMatrix matrix(panel.rows, panel.columns);
  if (!factor.has_nodes()) {
    matrix.values = panel.Numbers();
    const double roundings = input(0, 1).Roundings();
    if (roundings == 0) return matrix;
    for (const double x : matrix.values) {
      matrix.units.push_back(Charged<kCharge>::Rounded(x, roundings).units);
    }
    return matrix;
  }
  matrix.units.assign(matrix.values.size(), 0);
  panel.ForEach([&](size_t to, size_t from) {
    const Charged<kCharge>& x = values[factor.nodes[from]];
    matrix.values[to] = x.value;
    matrix.units[to] = x.units;
  });
  if (std::ranges::all_of(matrix.units, [](double x) { return x == 0; })) {
    matrix.units.clear();
  }
  return matrix;
}

template <Charge kCharge>
void Multiply(double scale, ChargedMatrix* matrix) {
  if (scale == 1) return;
  const ChargedSums sums = matrix->Sums();
  for (size_t k = 0; k < matrix->values.size(); ++k) {
    const Charged<kCharge> scaled =
        Charged<kCharge>(scale) *
        Charged<kCharge>(sums.values[k], sums.units[k]);
    sums.values[k] = scaled.value;
    sums.units[k] = scaled.units;
  }
}

/// Adds what is not 0 to the adjoints of the nodes of a panel.
template <Charge kCharge>
void Scatter(const ChargedMatrix& flows, const PanelOfFactor& panel,
             std::vector<Charged<kCharge>>& adjoints) {
  panel.ForEach([&](size_t from, size_t to) {
    const Charged<kCharge> flow(flows.values[from], flows.units[from]);
    if (IsZero(flow)) return;
    Charged<kCharge>& adjoint = adjoints[panel.factor->nodes[to]];
    adjoint = IsZero(adjoint) ? flow : adjoint + flow;
  });
}

template <Charge kCharge>
void ReplayBlock(const Block& block, const InputOf<Charged<kCharge>>& input,
                 std::vector<Charged<kCharge>>& values) {
  ChargedMatrix y(block.rows, block.columns);
  const ChargedSums sums = y.Sums();
  for (size_t k = 0; k < block.y.size(); ++k) {
    sums.values[k] = values[block.y[k]].value;
    sums.units[k] = values[block.y[k]].units;
  }
  ForEachPanel(block, [&](const Panel& panel) {
    ChargedMatrix a = Gathered(PanelOfFactor::OfA(block, panel), input, values);
    Multiply<kCharge>(block.scale, &a);
    const ChargedMatrix b =
        Gathered(PanelOfFactor::OfB(block, panel), input, values);
    AddProducts<kCharge>(a, b, y);
  });
  for (size_t k = 0; k < block.y.size(); ++k) {
    values[block.first + k] = {sums.values[k], sums.units[k]};
  }
}

template <Charge kCharge>
void ReverseBlock(const Block& block, const InputOf<Charged<kCharge>>& input,
                  const std::vector<Charged<kCharge>>& values,
                  std::vector<Charged<kCharge>>& adjoints) {
  ChargedMatrix flows(block.rows, block.columns);
  flows.units.assign(flows.values.size(), 0);
  bool flows_any = false;
  for (size_t k = 0; k < block.y.size(); ++k) {
    const Charged<kCharge>& flow = adjoints[block.first + k];
    flows.values[k] = flow.value;
    flows.units[k] = flow.units;
    if (IsZero(flow)) continue;
    flows_any = true;
    Charged<kCharge>& to_y = adjoints[block.y[k]];
    to_y = to_y + flow;
  }
  if (!flows_any) return;
  Multiply<kCharge>(block.scale, &flows);
  ForEachPanel(block, [&](const Panel& panel) {
    const PanelOfFactor of_a = PanelOfFactor::OfA(block, panel);
    const PanelOfFactor of_b = PanelOfFactor::OfB(block, panel);
    if (block.a.takes_flow()) {
      const ChargedMatrix b = Gathered(of_b, input, values);
      ChargedMatrix to_a(block.rows, panel.size());
      AddProducts<kCharge>(b.View(), flows.View().Transposed(),
                           to_a.Sums().Transposed(), ZeroFactors::kSkip);
      Scatter(to_a, of_a, adjoints);
    }
    if (block.b.takes_flow()) {
      const ChargedMatrix a = Gathered(of_a, input, values);
      ChargedMatrix to_b(panel.size(), block.columns);
      AddProducts<kCharge>(a.View().Transposed(), flows.View(), to_b.Sums(),
                           ZeroFactors::kSkip);
      Scatter(to_b, of_b, adjoints);
    }
  });
}

}  // namespace assay::reference
