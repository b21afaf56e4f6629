// SPDX-License-Identifier: Apache-2.0
//
// Block: a product of matrices on a tape (tape.h), and its panels: parts of the
// axis that it sums over.
//
//   ForEachPanel(block, [&](const Panel& panel) {
//     const auto of_b = PanelOfFactor::OfB(block, panel);
//     of_b.ForEach([&](size_t to, size_t from) { Use(block.b, from); });
//   });

#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "backends/reference/loop/product.h"
#include "framework/core/tensor.h"

namespace assay::reference {

/// The scalar of an input node, from its number; of a number given that no node
/// stands for, node is 0. All of these are rounded as often.
template <class S>
using InputOf = std::function<S(uint32_t node, double value)>;

template <class S>
S AsGiven(uint32_t, double value) {
  return S(value);
}

/// A matrix of numbers given, which lies in a tensor of float32 or float64.
struct GivenMatrix {
  double operator[](size_t element) const;  // row by row

  Tensor tensor;
  int64_t first = 0;
  MatrixStrides strides;
  int64_t columns = 0;
};

/// A row-major matrix: of nodes, or of numbers given that have none.
struct Factor {
  bool has_nodes() const { return numbers.empty() && !given.has_value(); }
  /// True when a reverse pass wants derivatives by its elements.
  bool takes_flow() const { return has_nodes() && moves; }
  double number(size_t element) const {
    return given.has_value() ? (*given)[element] : numbers[element];
  }

  std::vector<uint32_t> nodes;
  std::vector<double> numbers;
  std::optional<GivenMatrix> given;
  bool moves = true;  // one of its nodes does (Tape::MarkMoving)
};

/// y + scale * a b, of dense row-major matrices. The results are the nodes
/// first, first + 1, ...
struct Block {
  int64_t rows = 0;
  int64_t inner = 0;
  int64_t columns = 0;
  double scale = 1;
  uint32_t first = 0;
  Factor a, b;
  std::vector<uint32_t> y;
};

/// A part of the axis that a block sums over.
struct Panel {
  int64_t begin = 0;
  int64_t end = 0;

  int64_t size() const { return end - begin; }
};

/// Calls take(panel) for parts of the inner axis of a block, in order, of some
/// 2^20 elements of its factors.
template <class Take>
void ForEachPanel(const Block& block, const Take& take) {
  const int64_t beside = std::max<int64_t>(1, block.rows + block.columns);
  const int64_t size = std::max<int64_t>(16, (int64_t{1} << 20) / beside);
  for (int64_t begin = 0; begin < block.inner; begin += size) {
    take(Panel{begin, std::min(block.inner, begin + size)});
  }
}

/// Where the elements of a panel lie in its factor.
struct PanelOfFactor {
  /// A panel of a: some of its columns.
  static PanelOfFactor OfA(const Block& block, const Panel& panel) {
    return {&block.a, block.rows, panel.size(), panel.begin, block.inner};
  }
  /// A panel of b: some of its rows.
  static PanelOfFactor OfB(const Block& block, const Panel& panel) {
    return {&block.b, panel.size(), block.columns, panel.begin * block.columns,
            block.columns};
  }

  /// The numbers of a factor without nodes, row by row.
  std::vector<double> Numbers() const;

  /// Calls take(place in the panel, place in the factor), row by row.
  template <class Take>
  void ForEach(const Take& take) const {
    size_t to = 0;
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t j = 0; j < columns; ++j) {
        take(to++, static_cast<size_t>(first + i * stride + j));
      }
    }
  }

  const Factor* factor;
  int64_t rows;
  int64_t columns;
  int64_t first;
  int64_t stride;
};

}  // namespace assay::reference
