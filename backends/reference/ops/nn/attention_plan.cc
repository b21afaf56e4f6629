// SPDX-License-Identifier: Apache-2.0

#include "backends/reference/ops/nn/attention_plan.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "backends/reference/scalar/codec.h"

namespace assay::reference {
namespace {

// Q, K and V, each against the first of them.
Status DivideIntoHeads(const op::Attention& op, const KernelContext& run,
                       AttentionPlan& plan) {
  const Heads::Count of_kv = {"kv_num_heads", op.kv_num_heads};
  const Shape& q = run.input(op.q).shape();
  const Shape& k = run.input(op.k).shape();
  const Shape& v = run.input(op.v).shape();
  ASSAY_ASSIGN_OR_RETURN(plan.q,
                         Heads::Of("Q", q, {"q_num_heads", op.q_num_heads}));
  ASSAY_ASSIGN_OR_RETURN(plan.k, Heads::Of("K", k, of_kv));
  ASSAY_ASSIGN_OR_RETURN(plan.v, Heads::Of("V", v, of_kv));
  Heads wanted = {plan.q.batch, plan.k.heads, plan.k.rows, plan.q.size,
                  plan.q.packed};
  if (k != wanted.shape()) return Mismatch("K", k, wanted.shape());
  wanted.size = plan.v.size;
  if (v != wanted.shape()) return Mismatch("V", v, wanted.shape());
  if (plan.k.heads == 0 || plan.q.heads % plan.k.heads != 0) {
    return InvalidArgument("input Q has ", plan.q.heads,
                           " heads, wanted a multiple of the ", plan.k.heads,
                           " of input K");
  }
  return OkStatus();
}

// Adds the past to K and V.
Status JoinPast(const op::Attention& op, const KernelContext& run,
                AttentionPlan& plan) {
  plan.keys = plan.k;
  plan.values = plan.v;
  plan.keys.packed = plan.values.packed = false;
  if (!op.past_key.present) return OkStatus();
  const Shape& key = run.input(op.past_key).shape();
  const Shape& value = run.input(op.past_value).shape();
  plan.past = key.rank() == 4 ? key[2] : 0;
  plan.keys.rows = plan.values.rows = plan.past;
  if (key != plan.keys.shape()) {
    return Mismatch("past_key", key, plan.keys.shape());
  }
  if (value != plan.values.shape()) {
    return Mismatch("past_value", value, plan.values.shape());
  }
  plan.keys.rows = plan.values.rows = plan.past + plan.k.rows;
  return OkStatus();
}

Result<Scratch<int64_t>> ReadFilled(const op::Attention& op,
                                    const KernelContext& run,
                                    const AttentionPlan& plan) {
  Scratch<int64_t> filled;
  if (!op.nonpad_kv_seqlen.present) return filled;
  const Tensor& given = run.input(op.nonpad_kv_seqlen);
  if (given.shape() != Shape{plan.q.batch}) {
    return Mismatch("nonpad_kv_seqlen", given.shape(), {plan.q.batch});
  }
  filled.resize(static_cast<size_t>(plan.q.batch));
  Decode(given, filled.data());
  for (const int64_t count : filled) {
    if (count < 0 || count > plan.keys.rows) {
      return InvalidArgument("input nonpad_kv_seqlen has the value ", count,
                             ", wanted one in [0, ", plan.keys.rows,
                             "], the number of keys");
    }
  }
  return filled;
}

}  // namespace

Status Mismatch(std::string_view input, const Shape& got, const Shape& wanted) {
  return InvalidArgument("input ", input, " of shape ", got.ToString(),
                         ", wanted ", wanted.ToString());
}

Result<AttentionPlan> AttentionPlan::Of(const op::Attention& op,
                                        const KernelContext& run) {
  AttentionPlan plan;
  ASSAY_RETURN_IF_ERROR(DivideIntoHeads(op, run, plan));
  ASSAY_RETURN_IF_ERROR(JoinPast(op, run, plan));
  plan.y = plan.q;
  plan.y.size = plan.v.size;
  plan.causal_ = op.is_causal != 0;
  plan.left_ = op.left_window_size;
  plan.right_ = op.right_window_size;
  ASSAY_ASSIGN_OR_RETURN(plan.filled_, ReadFilled(op, run, plan));
  return plan;
}

// "offset is the count of valid keys preceding the current query block"; query
// i stands at position p = offset + i and attends key j iff j <= p where causal
// and p - left_window_size <= j <= p + right_window_size.
KeyRange AttentionPlan::Reach(int64_t b, int64_t i) const {
  KeyRange reach = {0, keys.rows};
  int64_t offset = past;
  if (!filled_.empty()) {
    reach.last = filled_[static_cast<size_t>(b)];
    offset = reach.last - q.rows;
  }
  const int64_t position = offset + i;
  if (causal_) reach.last = std::min(reach.last, position + 1);
  if (right_ >= 0 && right_ < reach.last - position) {
    reach.last = position + right_ + 1;
  }
  if (left_ >= 0 && left_ < position) reach.first = position - left_;
  reach.last = std::max(reach.last, reach.first);
  return reach;
}

Status CheckAttention(const op::Attention& op) {
  for (const auto& [name, size] :
       {std::pair("left_window_size", op.left_window_size),
        std::pair("right_window_size", op.right_window_size)}) {
    if (size < -1) {
      return InvalidArgument(name, " is ", size, ", wanted -1 or more");
    }
  }
  if (op.qk_matmul_output_mode < 0 || op.qk_matmul_output_mode > 3) {
    return InvalidArgument("qk_matmul_output_mode is ",
                           op.qk_matmul_output_mode, ", wanted one in [0, 3]");
  }
  // FLOAT, FLOAT16, DOUBLE and BFLOAT16 of TensorProto.
  constexpr int64_t kPrecisions[] = {1, 10, 11, 16};
  if (op.softmax_precision.has_value() &&
      std::ranges::find(kPrecisions, *op.softmax_precision) ==
          std::ranges::end(kPrecisions)) {
    return InvalidArgument("softmax_precision is ", *op.softmax_precision,
                           ", wanted 1, 10, 11 or 16");
  }
  if (op.past_key.present != op.past_value.present) {
    return InvalidArgument(
        "one of the inputs past_key and past_value is omitted, wanted both or "
        "neither");
  }
  if (op.nonpad_kv_seqlen.present && op.past_key.present) {
    return InvalidArgument(
        "inputs nonpad_kv_seqlen and past_key are both given, wanted at most "
        "one of them");
  }
  return OkStatus();
}

Result<Heads> Heads::Of(std::string_view input, const Shape& shape,
                        const Count& count) {
  if (shape.rank() == 4) {
    if (count.value.has_value() && *count.value != shape[1]) {
      return InvalidArgument(count.attribute, " is ", *count.value,
                             ", but input ", input, " of shape ",
                             shape.ToString(), " has ", shape[1], " heads");
    }
    return Heads{shape[0], shape[1], shape[2], shape[3], /*packed=*/false};
  }
  if (shape.rank() != 3) {
    return InvalidArgument("input ", input, " of shape ", shape.ToString(),
                           ", wanted three or four axes");
  }
  if (!count.value.has_value()) {
    return InvalidArgument("input ", input, " of shape ", shape.ToString(),
                           " has three axes, for which ", count.attribute,
                           " is wanted");
  }
  const int64_t heads = *count.value;
  if (heads <= 0 || shape[2] % heads != 0) {
    return InvalidArgument(count.attribute, " is ", heads,
                           ", wanted a positive number that divides the last "
                           "axis of input ",
                           input, " of shape ", shape.ToString());
  }
  return Heads{shape[0], heads, shape[1], shape[2] / heads, /*packed=*/true};
}

Shape Heads::shape() const {
  return packed ? Shape{batch, rows, heads * size}
                : Shape{batch, heads, rows, size};
}

}  // namespace assay::reference
