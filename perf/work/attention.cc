// SPDX-License-Identifier: Apache-2.0
//
// Attention and its like.

#include <algorithm>
#include <limits>
#include <string>

#include "perf/work/rules.h"

namespace assay::work {
namespace {

/// [batch, heads, rows, size], of a tensor of that form or of rows with all
/// heads side by side.
struct Heads {
  int64_t batch = 0, heads = 0, rows = 0, size = 0;
};

Heads HeadsOf(const NodeFacts& facts, size_t input, std::string_view count) {
  const Shape x = facts.In(input);
  if (x.rank() == 4) return {x[0], x[1], x[2], x[3]};
  const int64_t heads = facts.Integer(count, 0);
  if (x.rank() != 3 || heads <= 0) {
    throw Untold{Reason::kShape, "its heads are not known"};
  }
  return {x[0], heads, x[1], x[2] / heads};
}

/// Pairs of a row of Q and a key that it sees, of `keys` of which `past` stand
/// before the rows: query i is at past + i (Attention-25).
double Seen(const NodeFacts& facts, int64_t rows, int64_t keys, int64_t past) {
  const bool causal = facts.Integer("is_causal", 0) != 0;
  const int64_t left = facts.Integer("left_window_size", -1);
  const int64_t right = facts.Integer("right_window_size", -1);
  const auto all = static_cast<double>(rows) * static_cast<double>(keys);
  if (!causal && left < 0 && right < 0) return all;
  double seen = 0;
  for (int64_t i = 0; i < rows; ++i) {
    const int64_t at = past + i;
    int64_t end = causal ? std::min(keys, at + 1) : keys;
    if (right >= 0 && right < end - at) end = at + right + 1;
    const int64_t begin = left >= 0 && left < at ? at - left : 0;
    seen += static_cast<double>(std::max<int64_t>(0, end - begin));
  }
  return seen;
}

/// For each score: 2 D of Q K^T, the scale, an added mask, a softcap (quotient,
/// tanh, product), softmax (4 and exp), 2 Dv of the product with V.
void CountAttention(const NodeFacts& facts, Work* work) {
  const Heads q = HeadsOf(facts, 0, "q_num_heads");
  const Heads k = HeadsOf(facts, 1, "kv_num_heads");
  const Heads v = HeadsOf(facts, 2, "kv_num_heads");
  const int64_t past = facts.HasIn(4) ? facts.In(4)[2] : 0;
  const int64_t keys = past + k.rows;
  double each =
      2 * static_cast<double>(q.size) + 1 + 4 + 2 * static_cast<double>(v.size);
  double calls = 1;
  if (facts.HasIn(3)) each += 1;
  if (facts.Number("softcap", 0) != 0) {
    each += 2;
    calls += 1;
  }
  const auto heads = static_cast<double>(q.batch * q.heads);
  const double seen = heads * Seen(facts, q.rows, keys, past);
  const double all =
      heads * static_cast<double>(q.rows) * static_cast<double>(keys);
  work->flops += each * seen;
  work->transcendentals += calls * seen;
  work->on_padding += each * (all - seen);
}

/// Its graphs change the scores as they like.
void CountFlexAttention(const NodeFacts& facts, Work* work) {
  if (!facts.node().Subgraphs().empty()) {
    throw Untold{Reason::kOperator, "its graphs change scores as they like"};
  }
  const Shape q = facts.In(0);
  const Shape k = facts.In(1);
  const double scores = Extent(q, 0, 3) * static_cast<double>(k[2]);
  work->flops +=
      scores * (2 * Extent(q, -1) + 1 + 4 + 2 * Extent(facts.In(2), -1));
  work->transcendentals += scores;
}

/// LinearAttention-27, token by token: k v^T is added to the state (2 Dk Dv),
/// which decays (Dk Dv), and of which q takes the output (2 Dk Dv, and Dv for
/// the scale); a delta rule takes S^T k off v before (2 Dk Dv and 2 Dv).
void CountLinearAttention(const NodeFacts& facts, Work* work) {
  const Heads q = HeadsOf(facts, 0, "q_num_heads");
  const Heads v = HeadsOf(facts, 2, "kv_num_heads");
  const std::string rule = facts.Text("update_rule", "gated_delta");
  const auto dk = static_cast<double>(q.size);
  const auto dv = static_cast<double>(v.size);
  const auto tokens = static_cast<double>(v.batch * v.rows);
  double each = 2 * dk * dv;
  if (rule.find("gated") != rule.npos) {
    each += dk * dv;
    work->transcendentals += facts.CountIn(4);
  }
  if (rule.find("delta") != rule.npos) each += 2 * dk * dv + 2 * dv;
  work->flops += tokens * (static_cast<double>(v.heads) * each +
                           static_cast<double>(q.heads) * (2 * dk * dv + dv));
}

/// RotaryEmbedding-23: a pair is turned by four products and two sums. As
/// much of the caches is read as is used.
void CountRotary(const NodeFacts& facts, Work* work) {
  const Heads x = HeadsOf(facts, 0, "num_heads");
  const int64_t given = facts.Integer("rotary_embedding_dim", 0);
  const auto turned = static_cast<double>(given > 0 ? given : x.size);
  const auto rows = static_cast<double>(x.batch * x.rows);
  work->flops += 3 * turned * rows * static_cast<double>(x.heads);
  work->bytes_read = facts.BytesIn(0) + facts.BytesIn(3) +
                     facts.BytesIn(1, rows * turned / 2) +
                     facts.BytesIn(2, rows * turned / 2);
  work->bytes_written = facts.BytesOut(0);
}

constexpr Rule kAttentions[] = {
    {"Attention", {.count = CountAttention}},
    {"LinearAttention", {.count = CountLinearAttention}},
    {"RotaryEmbedding", {.count = CountRotary, .moves = Moves::kCounted}},
    {"ai.onnx.preview:FlexAttention", {.count = CountFlexAttention}},
};

}  // namespace

std::span<const Rule> AttentionRules() { return kAttentions; }

}  // namespace assay::work
