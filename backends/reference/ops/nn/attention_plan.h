// SPDX-License-Identifier: Apache-2.0
//
// How tensors divide into heads of attention, and the plan of an Attention
// node, before any number is computed: its tensors by heads, and which keys
// each query reaches. Source: the page of Attention-25.

#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "backends/reference/scalar/codec.h"
#include "framework/backend/eager/kernel.h"
#include "framework/core/shape.h"
#include "framework/core/status.h"
#include "framework/graph/generated/operators.h"

namespace assay::reference {

/// Invalid argument with the input and both shapes.
Status Mismatch(std::string_view input, const Shape& got, const Shape& wanted);

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

/// Keys [first, last).
struct KeyRange {
  int64_t first = 0;
  int64_t last = 0;

  bool Has(int64_t key) const { return first <= key && key < last; }
};

struct AttentionPlan {
  /// Invalid argument, with the input and its shape, for inputs that do not go
  /// together.
  static Result<AttentionPlan> Of(const op::Attention& op,
                                  const KernelContext& run);

  /// The keys that causality, the windows and padding leave to query i of image
  /// b; all of them lie in [0, keys.rows).
  KeyRange Reach(int64_t b, int64_t i) const;

  /// The head of keys and values that head h of the queries attends to.
  int64_t KeyHead(int64_t h) const { return h / (q.heads / keys.heads); }

  Shape ScoresShape() const { return {q.batch, q.heads, q.rows, keys.rows}; }

  Heads q, k, v, y;
  Heads keys, values;  // with those of the past before them
  int64_t past = 0;

 private:
  bool causal_ = false;
  int64_t left_ = -1;
  int64_t right_ = -1;
  Scratch<int64_t> filled_;  // keys that are no padding, by image
};

/// Which attributes and inputs may stand together; known when a model is
/// loaded.
Status CheckAttention(const op::Attention& op);

}  // namespace assay::reference
