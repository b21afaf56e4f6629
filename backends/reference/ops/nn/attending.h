// SPDX-License-Identifier: Apache-2.0
//
// Attention, head by head. Source: the page of Attention-25, whose pattern a
// head follows: scores are scale * Q K^T, then softcap * tanh(scores /
// softcap), then the mask is added, then Softmax is taken, and Y is scores V.

#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "backends/reference/loop/accumulate.h"
#include "backends/reference/loop/nest.h"
#include "backends/reference/loop/simd.h"
#include "backends/reference/ops/nn/attention_plan.h"
#include "backends/reference/scalar/codec.h"
#include "backends/reference/scalar/scalar.h"

namespace assay::reference {

/// The bias of a key that is not attended.
inline constexpr double kMasked = -std::numeric_limits<double>::infinity();

/// The stage that qk_matmul_output holds.
enum class Stage : uint8_t { kProduct, kCapped, kBiased, kSoftmax };

/// Heads and where they lie.
template <class T>
struct HeadsOf {
  Heads heads;
  const T* data = nullptr;

  const T* At(int64_t b, int64_t h) const { return data + heads.At(b, h, 0); }
};

/// attn_mask: what is added to the scores of a query.
template <class T>
class MaskOf {
 public:
  /// The first `count` keys of a query have a bias each, `step` apart; null for
  /// none. Those after them are masked.
  struct Row {
    const T* bias = nullptr;
    int64_t step = 0;
    int64_t count = 0;
  };

  static Result<MaskOf> Of(const op::Attention& op, const AttentionPlan& plan,
                           const KernelContext& run) {
    MaskOf made;
    made.count_ = plan.keys.rows;
    if (!op.attn_mask.present) return made;
    const Tensor& mask = run.input(op.attn_mask);
    const Shape& shape = mask.shape();
    // "The last dimension can also be shorter than total_sequence_length and
    // will be padded to total_sequence_length with negative infinity."
    Shape wanted = plan.ScoresShape();
    const bool fits = shape.rank() >= 1 && shape.rank() <= 4 &&
                      shape[shape.rank() - 1] <= plan.keys.rows;
    if (fits) wanted[3] = shape[shape.rank() - 1];
    const Result<Shape> both = Broadcast(shape, wanted);
    if (!fits || !both.ok() || *both != wanted) {
      return InvalidArgument("input attn_mask of shape ", shape.ToString(),
                             " does not broadcast to ",
                             plan.ScoresShape().ToString());
    }
    made.count_ = wanted[3];
    made.strides_ = BroadcastStrides(shape, wanted);
    made.values_.resize(static_cast<size_t>(mask.num_elements()));
    Decode(mask, made.values_.data());
    if (mask.dtype() != DType::kBool) return made;
    for (T& value : made.values_) {
      value = Value(value) != 0 ? T(0) : T(kMasked);
    }
    return made;
  }

  /// The first of all biases.
  const T* first() const { return values_.data(); }

  Row At(int64_t b, int64_t h, int64_t i) const {
    if (strides_.empty()) return {.count = count_};
    return {.bias = values_.data() + b * strides_[0] + h * strides_[1] +
                    i * strides_[2],
            .step = strides_[3],
            .count = count_};
  }

 private:
  Scratch<T> values_;
  Strides strides_;  // of [batch, heads, queries, keys]
  int64_t count_ = 0;
};

/// Adds the bias of each key to its score, as ONNX's function body does: a
/// score that is masked has -inf added, so that what flows into it, where
/// scores are given out, flows on. True where some key is left: "a fully-masked
/// query row (no key attended) produces a zero output row".
template <class T>
bool AddBias(const KeyRange& reach, const typename MaskOf<T>::Row& mask,
             int64_t keys, T* scores) {
  bool any = false;
  for (int64_t j = 0; j < keys; ++j) {
    const bool reached = reach.Has(j) && j < mask.count;
    const bool is_biased = mask.bias != nullptr && j < mask.count;
    const T bias = is_biased ? mask.bias[j * mask.step] : T(0);
    if (is_biased) scores[j] = scores[j] + bias;
    if (!reached) scores[j] = scores[j] + T(kMasked);
    any = any || (reached && Value(bias) != kMasked);
  }
  return any;
}

/// Softmax-13: exp(x) / sum of exp(x). The shift cancels, so that no derivative
/// flows through it; what is masked takes no part.
template <class T>
void SoftmaxOfScores(int64_t count, T* x) {
  Choose<T> greatest;
  for (int64_t j = 0; j < count; ++j) {
    if (Value(x[j]) != kMasked) greatest.Offer(Detach(x[j]), j);
  }
  const T shift = greatest.best();
  T sum(0);
  for (int64_t j = 0; j < count; ++j) {
    const bool masked = Value(x[j]) == kMasked;
    x[j] = masked && greatest.index() >= 0 ? T(0) : exp(x[j] - shift);
    if (Value(x[j]) != 0) sum += x[j];
  }
  for (int64_t j = 0; j < count; ++j) {
    if (Value(x[j]) != 0) x[j] = x[j] / sum;
  }
}

/// One run of one node.
template <class T>
struct Attending {
  // Head h of image b; `scores` has room for [queries, keys], and `qk`, unless
  // it is null, takes the scores of that head at the stage asked for.
  void RunHead(int64_t b, int64_t h, T* scores, T* qk) const {
    const int64_t size = plan.q.rows * plan.keys.rows;
    const auto note = [&](Stage stage) {
      if (qk != nullptr && stage == asked) std::copy_n(scores, size, qk);
    };
    MultiplyByKeys(b, h, scores);
    note(Stage::kProduct);
    if (op.softcap != 0) {
      const T cap(op.softcap);
      for (int64_t i = 0; i < size; ++i) {
        scores[i] = cap * tanh(scores[i] / cap);
      }
    }
    note(Stage::kCapped);
    Scratch<char> any(static_cast<size_t>(plan.q.rows));
    for (int64_t i = 0; i < plan.q.rows; ++i) {
      any[static_cast<size_t>(i)] =
          AddBias(plan.Reach(b, i), mask.At(b, h, i), plan.keys.rows,
                  scores + i * plan.keys.rows);
    }
    note(Stage::kBiased);
    for (int64_t i = 0; i < plan.q.rows; ++i) {
      T* const row = scores + i * plan.keys.rows;
      if (any[static_cast<size_t>(i)] != 0) {
        SoftmaxOfScores(plan.keys.rows, row);
      } else {
        std::fill_n(row, plan.keys.rows, T(0));
      }
    }
    note(Stage::kSoftmax);
    MultiplyValues(b, h, scores);
  }

  void MultiplyByKeys(int64_t b, int64_t h, T* scores) const {
    Scratch<T> scaled;
    scaled.reserve(static_cast<size_t>(plan.q.rows * plan.q.size));
    const T* row = queries.At(b, h);
    for (int64_t i = 0; i < plan.q.rows; ++i, row += plan.q.row_step()) {
      for (int64_t d = 0; d < plan.q.size; ++d)
        scaled.push_back(row[d] * scale);
    }
    Product product = DenseProduct(plan.q.rows, plan.q.size, plan.keys.rows);
    product.b = {1, keys.heads.row_step()};
    std::fill_n(scores, plan.q.rows * plan.keys.rows, T(0));
    Accumulate(loops, product, scaled.data(), keys.At(b, plan.KeyHead(h)),
               scores);
  }

  void MultiplyValues(int64_t b, int64_t h, const T* scores) const {
    Product product = DenseProduct(plan.q.rows, plan.keys.rows, plan.v.size);
    product.b.row = values.heads.row_step();
    product.y.row = plan.y.row_step();
    Accumulate(loops, product, scores, values.At(b, plan.KeyHead(h)),
               y + plan.y.At(b, h, 0));
  }

  const op::Attention& op;
  const AttentionPlan& plan;
  const MaskOf<T>& mask;
  const SimdLoops<T>* loops;
  Stage asked;
  T scale;
  HeadsOf<T> queries, keys, values;
  T* y;
};

/// Past and current rows, head by head.
template <class T>
void Join(const HeadsOf<T>& past, const HeadsOf<T>& current, T* joined) {
  const auto append = [&](const HeadsOf<T>& from, int64_t b, int64_t h) {
    if (from.data == nullptr) return;
    for (int64_t i = 0; i < from.heads.rows; ++i) {
      joined = std::copy_n(from.data + from.heads.At(b, h, i), from.heads.size,
                           joined);
    }
  };
  for (int64_t b = 0; b < current.heads.batch; ++b) {
    for (int64_t h = 0; h < current.heads.heads; ++h) {
      append(past, b, h);
      append(current, b, h);
    }
  }
}

/// The keys or the values, with those of the past, in `present` or, when it is
/// null, in `own`; where there is nothing to join, as they are.
template <class T>
HeadsOf<T> WithPast(const HeadsOf<T>& past, const HeadsOf<T>& current,
                    const Heads& all, T* present, Scratch<T>& own) {
  if (past.data == nullptr && present == nullptr) return current;
  if (present == nullptr) {
    own.resize(
        static_cast<size_t>(all.batch * all.heads * all.rows * all.size));
    present = own.data();
  }
  Join(past, current, present);
  return {all, present};
}

/// The tensors that attention reads, as T.
template <class T>
struct AttentionInputs {
  AttentionInputs(const op::Attention& op, const KernelContext& run)
      : q(run.input(op.q)),
        k(run.input(op.k)),
        v(run.input(op.v)),
        past_key(run.input(op.past_key)),
        past_value(run.input(op.past_value)) {}

  /// `present_key` and `present_value` take all keys and values, unless they
  /// are null.
  Attending<T> Attend(const op::Attention& op, const AttentionPlan& plan,
                      const MaskOf<T>& mask, const SimdLoops<T>* loops,
                      T* present_key, T* present_value, T* y) {
    const auto past = [&](Heads all, const Loaded<T>& data) {
      all.rows = plan.past;
      return HeadsOf<T>{all, data.data()};
    };
    return {
        .op = op,
        .plan = plan,
        .mask = mask,
        .loops = loops,
        .asked = static_cast<Stage>(op.qk_matmul_output_mode),
        .scale =
            op.scale.has_value() ? T(*op.scale) : T(1) / sqrt(T(plan.q.size)),
        .queries = {plan.q, q.data()},
        .keys = WithPast(past(plan.keys, past_key), {plan.k, k.data()},
                         plan.keys, present_key, own_keys),
        .values = WithPast(past(plan.values, past_value), {plan.v, v.data()},
                           plan.values, present_value, own_values),
        .y = y};
  }

  Loaded<T> q, k, v, past_key, past_value;
  Scratch<T> own_keys = {};
  Scratch<T> own_values = {};
};

}  // namespace assay::reference
