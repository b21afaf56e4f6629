// SPDX-License-Identifier: Apache-2.0
//
// RNN, GRU and LSTM. Every step counts, whatever sequence_lens says, and the
// activations are those by default.

#include "perf/work/rules.h"

namespace assay::work {
namespace {

/// An element of the state takes these beside the products.
struct Cell {
  double flops, biased, transcendentals;
};

/// The products of a step, 2 B g H (I + H) for g gates, and what its cell adds.
/// X is [T,B,I], with layout 1 [B,T,I]; W [D,gH,I]; R [D,gH,H].
void CountCells(const NodeFacts& facts, const Cell& cell, Work* work) {
  const Shape w = facts.In(1);
  const double hidden = Extent(facts.In(2), -1);
  const double steps = static_cast<double>(w[0]) * Extent(facts.In(0), 0, 2);
  work->flops += 2 * steps * static_cast<double>(w[1]) *
                 (static_cast<double>(w[2]) + hidden);
  work->flops +=
      steps * hidden * (cell.flops + (facts.HasIn(3) ? cell.biased : 0));
  work->transcendentals += steps * hidden * cell.transcendentals;
}

/// tanh(X W + H R + biases)
void CountRnn(const NodeFacts& facts, Work* work) {
  CountCells(facts, {.flops = 1, .biased = 2, .transcendentals = 1}, work);
}

/// Two gates of a sum and a sigmoid (3 and exp); the new state of a product, a
/// sum and tanh; (1 - z) * h + z * H.
void CountGru(const NodeFacts& facts, Work* work) {
  CountCells(facts, {.flops = 14, .biased = 6, .transcendentals = 3}, work);
}

/// Four gates of a sum, three with a sigmoid and one with tanh; f * C + i * c;
/// o * tanh(C). Peepholes add a product and a sum to three gates.
void CountLstm(const NodeFacts& facts, Work* work) {
  const double peepholes = facts.HasIn(7) ? 6 : 0;
  CountCells(facts,
             {.flops = 17 + peepholes, .biased = 8, .transcendentals = 5},
             work);
}

constexpr Rule kRecurrents[] = {
    {"GRU", {.count = CountGru}},
    {"LSTM", {.count = CountLstm}},
    {"RNN", {.count = CountRnn}},
};

}  // namespace

std::span<const Rule> RecurrentRules() { return kRecurrents; }

}  // namespace assay::work
