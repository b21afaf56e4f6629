// SPDX-License-Identifier: Apache-2.0
//
// Blocks of a tape in passes with charged doubles, where most of the time of a
// network goes: gathered into dense matrices, panel by panel along the axis
// that is summed over, so that memory stays small beside the block's own.
//
//   ReplayBlock<Charge::kBound>(block, input, values);
//   ReverseBlock<Charge::kBound>(block, input, values, adjoints);

#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

#include "backends/reference/dense/block.h"
#include "backends/reference/dense/charged_product.h"

namespace assay::reference {

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
