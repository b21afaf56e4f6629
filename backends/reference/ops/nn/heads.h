// SPDX-License-Identifier: Apache-2.0
//
// Heads: how the rows of numbers that attention works on lie in a tensor, which
// is [batch, heads, rows, size], or packed as [batch, rows, heads * size].
//
//   ASSAY_ASSIGN_OR_RETURN(
//       const Heads q, Heads::Of("Q", shape, {"q_num_heads", op.q_num_heads}));
//   const T* row = data + q.At(b, h, i);  // q.size numbers

#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "framework/core/shape.h"
#include "framework/core/status.h"

namespace assay::reference {

struct Heads {
  /// An attribute that says how many heads an input of three axes packs.
  struct Count {
    std::string_view attribute;
    std::optional<int64_t> value;
  };

  /// The heads of input `input`. Invalid argument unless it has four axes, and
  /// as many heads as the attribute says if it says so, or three, the last of
  /// which the attribute divides.
  static Result<Heads> Of(std::string_view input, const Shape& shape,
                          const Count& count);

  Shape shape() const;
  /// Where a row begins, in elements.
  int64_t At(int64_t b, int64_t h, int64_t row) const {
    return packed ? ((b * rows + row) * heads + h) * size
                  : ((b * heads + h) * rows + row) * size;
  }
  /// From a row of a head to its next.
  int64_t row_step() const { return packed ? heads * size : size; }

  int64_t batch = 0;
  int64_t heads = 0;
  int64_t rows = 0;
  int64_t size = 0;
  bool packed = false;
};

}  // namespace assay::reference
