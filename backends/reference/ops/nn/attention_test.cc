// SPDX-License-Identifier: Apache-2.0
//
// Attention with one number to a head: the scores of a query q are q * k, and
// keys of 0 and log(3) share its attention 1 to 3.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "backends/reference/kernel_rows.h"

namespace assay::reference {
namespace {

const double kLog3 = std::log(3.0);
constexpr double kMaskedScore = -std::numeric_limits<double>::infinity();

const Feed kKeys = F({1, 1, 2, 1}, {0, kLog3});
const Feed kValues = F({1, 1, 2, 1}, {8, 16});

// Queries of 1 and 0: a quarter and three quarters, then half and half.
const Feed kQueries = F({1, 1, 2, 1}, {1, 0});

std::string AttentionGraph(const std::string& node,
                           const std::string& more = "") {
  return "g (float[B,H,S,D] q, float[B,G,T,D] k, float[B,G,T,E] v" + more +
         ") => (float[B,H,S,E] y) { y = Attention" + node + " }";
}

TEST(AttentionTest, ValuesAreAveragedByTheSoftmaxOfScaledScores) {
  ExpectRows({
      {AttentionGraph("(q, k, v)"),
       {kQueries, kKeys, kValues},
       {F({1, 1, 2, 1}, {14, 12})}},
      {AttentionGraph("<scale = -1.0>(q, k, v)"),
       {kQueries, kKeys, kValues},
       {F({1, 1, 2, 1}, {10, 12})}},
      // The default scale is 1 / sqrt(4).
      {AttentionGraph("(q, k, v)"),
       {F({1, 1, 1, 4}, {1, 1, 1, 1}),
        F({1, 1, 2, 4}, {0, 0, 0, 0, kLog3, kLog3, 0, 0}),
        F({1, 1, 2, 2}, {8, 80, 16, 160})},
       {F({1, 1, 1, 2}, {14, 140})}},
      {AttentionGraph("<softmax_precision = 11>(q, k, v)"),
       {kQueries, kKeys, kValues},
       {F({1, 1, 2, 1}, {14, 12})}},
  });
}

TEST(AttentionTest, HeadsArePackedInThreeAxesAndSharedByGroups) {
  const std::string packed =
      "g (float[1,S,M] q, float[1,T,N] k, float[1,T,P] v) => (float[1,S,O] y) "
      "{ y = Attention<q_num_heads = 2, kv_num_heads = ";
  ExpectRows({
      {packed + "2>(q, k, v) }",
       {F({1, 1, 2}, {1, 1}), F({1, 2, 2}, {0, 0, kLog3, 0}),
        F({1, 2, 2}, {8, 80, 16, 160})},
       {F({1, 1, 2}, {14, 120})}},
      {packed + "1>(q, k, v) }",
       {F({1, 2, 2}, {1, 0, 0, 1}), F({1, 2, 1}, {0, kLog3}),
        F({1, 2, 1}, {8, 16})},
       {F({1, 2, 2}, {14, 12, 12, 14})}},
      {AttentionGraph("(q, k, v)"),
       {F({1, 4, 1, 1}, {1, 0, 1, 0}), F({1, 2, 2, 1}, {0, kLog3, 0, 0}),
        F({1, 2, 2, 1}, {8, 16, 80, 160})},
       {F({1, 4, 1, 1}, {14, 12, 120, 120})}},
  });
}

TEST(AttentionTest, CausalityAndWindowsCutKeysOff) {
  const Feed q = F({1, 1, 3, 1}, {0, 0, 0});
  const Feed v = F({1, 1, 3, 1}, {8, 16, 48});
  struct Case {
    std::string attributes;
    std::vector<double> wanted;
  };
  for (const Case& c : std::vector<Case>{
           {"<is_causal = 1>", {8, 12, 24}},
           {"<left_window_size = 0>", {24, 32, 48}},
           {"<right_window_size = 0>", {8, 12, 24}},
           {"<left_window_size = 0, right_window_size = 0>", {8, 16, 48}},
           {"<left_window_size = 1, is_causal = 1>", {8, 12, 32}},
           {"<right_window_size = 1>", {12, 24, 24}},
           {"<left_window_size = 9223372036854775807, "
            "right_window_size = 9223372036854775807>",
            {24, 24, 24}}}) {
    ExpectRows({{AttentionGraph(c.attributes + "(q, k, v)"),
                 {q, q, v},
                 {F({1, 1, 3, 1}, c.wanted)}}});
  }
}

TEST(AttentionTest, MasksOfEveryRankAndKindAreAdded) {
  const Feed q = F({2, 2, 1, 1}, {0, 0, 0, 0});
  const Feed v = F({2, 2, 2, 1}, {8, 16, 8, 16, 8, 16, 8, 16});
  const Feed k = F({2, 2, 2, 1}, std::vector<double>(8, 0));
  struct Case {
    Feed mask;
    std::vector<double> wanted;
  };
  for (const Case& c : std::vector<Case>{
           {F({2}, {0, kLog3}), {14, 14, 14, 14}},
           {F({2, 1, 1, 2}, {0, kLog3, 0, 0}), {14, 14, 12, 12}},
           {F({2, 1, 2}, {0, kLog3, kLog3, 0}), {14, 10, 14, 10}},
           {B({1, 2}, {0, 1}), {16, 16, 16, 16}},
           {B({2, 2, 1, 2}, {1, 1, 1, 0, 0, 1, 0, 0}), {12, 8, 16, 0}},
           {F({1, 1}, {5}), {8, 8, 8, 8}},  // shorter: the rest is masked
           {B({1, 0}, {}), {0, 0, 0, 0}},
           {I({2}, {3, 3}), {12, 12, 12, 12}}}) {
    ExpectRows({{AttentionGraph("(q, k, v, m)", ", " + Declare("m", {c.mask})),
                 {q, k, v, c.mask},
                 {F({2, 2, 1, 1}, c.wanted)}}});
  }
}

TEST(AttentionTest, ThePastStandsBeforeTheKeys) {
  const std::string graph =
      "g (float[1,S,1] q, float[1,S,1] k, float[1,S,1] v, float[1,1,P,1] pk, "
      "float[1,1,P,1] pv) => (float[1,S,1] y, float[1,1,T,1] nk, "
      "float[1,1,T,1] nv) { y, nk, nv = Attention<q_num_heads = 1, "
      "kv_num_heads = 1, is_causal = 1>(q, k, v, , pk, pv) }";
  ExpectRows(
      {{graph,
        {F({1, 2, 1}, {1, 0}), F({1, 2, 1}, {kLog3, 0}), F({1, 2, 1}, {16, 24}),
         F({1, 1, 1, 1}, {0}), F({1, 1, 1, 1}, {8})},
        {F({1, 2, 1}, {14, 16}), F({1, 1, 3, 1}, {0, kLog3, 0}),
         F({1, 1, 3, 1}, {8, 16, 24})}}});
}

TEST(AttentionTest, PaddedKeysAreNotAttended) {
  const Feed q = F({2, 1, 2, 1}, {0, 0, 0, 0});
  const Feed k = F({2, 1, 3, 1}, std::vector<double>(6, 0));
  const Feed v = F({2, 1, 3, 1}, {8, 16, 48, 8, 16, 48});
  const std::string more = ", int64[B] n";
  ExpectRows({
      {AttentionGraph("(q, k, v, , , , n)", more),
       {q, k, v, I({2}, {2, 0})},
       {F({2, 1, 2, 1}, {12, 12, 0, 0})}},
      // Query i stands at n - 2 + i.
      {AttentionGraph("<is_causal = 1>(q, k, v, , , , n)", more),
       {q, k, v, I({2}, {3, 1})},
       {F({2, 1, 2, 1}, {12, 24, 0, 8})}},
      {AttentionGraph("<left_window_size = 0>(q, k, v, , , , n)", more),
       {q, k, v, I({2}, {3, 2})},
       {F({2, 1, 2, 1}, {32, 48, 12, 16})}},
  });
}

TEST(AttentionTest, ScoresAreShownAtTheStageAskedFor) {
  struct Case {
    std::string mode;
    std::vector<double> wanted;
  };
  const double e = std::exp(1.0);
  // 2 tanh(log(3) / 2) is 1; the mask leaves nothing of the second query.
  for (const Case& c :
       std::vector<Case>{{"0", {0, kLog3, 0, 2 * kLog3}},
                         {"1", {0, 1, 0, 1.6}},
                         {"2", {5, 6, kMaskedScore, kMaskedScore}},
                         {"3", {1 / (1 + e), e / (1 + e), 0, 0}}}) {
    ExpectRows(
        {{"g (float[1,1,2,1] q, float[1,1,2,1] k, float[1,1,2,1] v, "
          "float[2,2] m) => (float[1,1,2,1] y, float[1,1,2,2] s) "
          "{ y, , , s = Attention<softcap = 2.0, "
          "qk_matmul_output_mode = " +
              c.mode + ">(q, k, v, m) }",
          {F({1, 1, 2, 1}, {1, 2}), kKeys, kValues,
           F({2, 2}, {5, 5, kMaskedScore, kMaskedScore})},
          {F({1, 1, 2, 1}, {(8 + 16 * e) / (1 + e), 0}),
           F({1, 1, 2, 2}, c.wanted)}}});
  }
}

TEST(AttentionTest, EachResultIsRoundedOnce) {
  // A third in float16 is 0.33325; three times that is not 1.
  const auto half = [](Shape shape, std::vector<double> values) {
    return Feed{DType::kFloat16, std::move(shape), std::move(values)};
  };
  ExpectRows(
      {{"g (float16[1,1,1,1] q, float16[1,1,3,1] k, "
        "float16[1,1,3,1] v) => (float16[1,1,1,1] y) "
        "{ y = Attention(q, k, v) }",
        {half({1, 1, 1, 1}, {0}), half({1, 1, 3, 1}, {1, 2, 3}),
         half({1, 1, 3, 1}, {1, 1, 1})},
        {half({1, 1, 1, 1}, {1})}}});
}

TEST(AttentionTest, NoKeysAndNoQueriesAreFine) {
  ExpectRows({
      {AttentionGraph("(q, k, v)"),
       {F({1, 1, 1, 1}, {1}), F({1, 1, 0, 1}, {}), F({1, 1, 0, 1}, {})},
       {F({1, 1, 1, 1}, {0})}},
      {AttentionGraph("(q, k, v)"),
       {F({1, 1, 0, 1}, {}), kKeys, kValues},
       {F({1, 1, 0, 1}, {})}},
  });
}

TEST(AttentionTest, WhatDoesNotGoTogetherIsNamed) {
  const Feed one = F({1, 1, 1, 1}, {1});
  const auto refusal = [&](const std::string& node,
                           const std::vector<Feed>& changed,
                           const std::string& message) {
    std::vector<Feed> feeds = {kQueries, kKeys, kValues,    F({1}, {0}),
                               one,      one,   I({1}, {2})};
    std::copy(changed.begin(), changed.end(), feeds.begin());
    const std::string graph =
        "g (" + Declare("q k v m pk pv n", feeds) + ") => (" +
        Declare("y", {feeds[0].shape.rank() == 3 ? feeds[0] : one}) +
        ") { y = Attention" + node + " }";
    return Refusal{graph, feeds, StatusCode::kInvalidArgument, message};
  };
  const Feed three_heads = F({1, 3, 1, 1}, {1, 1, 1});
  const Feed two_heads = F({1, 2, 1, 1}, {1, 1});
  const Feed packed = F({1, 1, 3}, {1, 1, 1});
  ExpectRefusals({
      refusal("(q, k, v)", {F({2}, {1, 1})},
              "Attention: input Q of shape [2], wanted three or four axes"),
      refusal("(q, k, v)", {kQueries, F({1, 1, 2, 2}, {1, 1, 1, 1})},
              "Attention: input K of shape [1,1,2,2], wanted [1,1,2,1]"),
      refusal("(q, k, v)", {kQueries, kKeys, one},
              "input V of shape [1,1,1,1], wanted [1,1,2,1]"),
      refusal("(q, k, v)", {three_heads, two_heads, two_heads},
              "input Q has 3 heads, wanted a multiple of the 2 of input K"),
      refusal("<q_num_heads = 2>(q, k, v)", {kQueries},
              "q_num_heads is 2, but input Q of shape [1,1,2,1] has 1 heads"),
      refusal("<q_num_heads = 2, kv_num_heads = 1>(q, k, v)",
              {packed, packed, packed},
              "q_num_heads is 2, wanted a positive number that divides the "
              "last axis of input Q of shape [1,1,3]"),
      refusal("(q, k, v)", {packed, packed, packed},
              "three axes, for which q_num_heads is wanted"),
      refusal("(q, k, v, m)", {kQueries, kKeys, kValues, F({3}, {0, 0, 0})},
              "input attn_mask of shape [3] does not broadcast to [1,1,2,2]"),
      refusal("(q, k, v, m)",
              {kQueries, kKeys, kValues, F({1, 1, 1, 1, 2}, {0, 0})},
              "input attn_mask of shape [1,1,1,1,2] does not broadcast"),
      refusal("(q, k, v, m)", {kQueries, kKeys, kValues, F({}, {0})},
              "input attn_mask of shape [] does not broadcast"),
      refusal("(q, k, v, , pk)", {},
              "one of the inputs past_key and past_value is omitted"),
      refusal("(q, k, v, , pk, pv)", {kQueries, kKeys, kValues, one, two_heads},
              "input past_key of shape [1,2,1,1], wanted [1,1,1,1]"),
      refusal("(q, k, v, , pk, pv, n)", {}, "are both given"),
      refusal("(q, k, v, , , , n)",
              {kQueries, kKeys, kValues, one, one, one, I({1}, {3})},
              "nonpad_kv_seqlen has the value 3, wanted one in [0, 2]"),
      refusal("(q, k, v, , , , n)",
              {kQueries, kKeys, kValues, one, one, one, I({2}, {1, 1})},
              "input nonpad_kv_seqlen of shape [2], wanted [1]"),
      refusal("<left_window_size = -2>(q, k, v)", {},
              "left_window_size is -2, wanted -1 or more"),
      refusal("<qk_matmul_output_mode = 4>(q, k, v)", {},
              "qk_matmul_output_mode is 4, wanted one in [0, 3]"),
      refusal("<softmax_precision = 7>(q, k, v)", {},
              "softmax_precision is 7, wanted 1, 10, 11 or 16"),
  });
}

}  // namespace
}  // namespace assay::reference
