// SPDX-License-Identifier: Apache-2.0
//
// The plan of an Attention node, before any number is computed: how its tensors
// are divided into heads, and which keys each query reaches.
//
//   ASSAY_ASSIGN_OR_RETURN(const AttentionPlan plan,
//                          AttentionPlan::Of(op, run));
//   const KeyRange reach = plan.Reach(b, i);
//
// Source: the page of Attention-25.

#pragma once

#include <cstdint>
#include <vector>

#include "backends/reference/ops/nn/heads.h"
#include "framework/backend/eager/kernel.h"
#include "framework/graph/generated/operators.h"

namespace assay::reference {

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
  std::vector<int64_t> filled_;  // keys that are no padding, by image
};

/// Which attributes and inputs may stand together; known when a model is
/// loaded.
Status CheckAttention(const op::Attention& op);

}  // namespace assay::reference
