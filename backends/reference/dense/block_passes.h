// SPDX-License-Identifier: Apache-2.0
//
// Blocks of a tape in passes with any scalar, number by number, where there is
// no faster way for it (dense_block.h, pair_block.h).
//
//   ReplayBlock<Quad>(block, input, values);
//   ReverseBlock<Quad, Quad>(block, input, values, adjoints);

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "backends/reference/dense/block.h"
#include "backends/reference/dense/dense_block.h"
#include "backends/reference/dense/pair_block.h"
#include "backends/reference/number/lifted.h"

namespace assay::reference {

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

}  // namespace assay::reference
