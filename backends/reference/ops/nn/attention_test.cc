// SPDX-License-Identifier: Apache-2.0
//
// Attention with one number to a head: the scores of a query q are q * k, and
// keys of 0 and log(3) share its attention 1 to 3. LinearAttention,
// CausalConvWithState and RotaryEmbedding likewise, by hand.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "backends/reference/kernel_rows.h"

namespace assay::reference {
namespace {

const double kLog3 = std::log(3.0);
constexpr double kMaskedScore = -std::numeric_limits<double>::infinity();

const Feed kKeys = F({1, 1, 2, 1}, {0, kLog3});
const Feed kValues = F({1, 1, 2, 1}, {8, 16});

// Queries of 1 and 0: a quarter and three quarters, then half and half.
const Feed kQueries = F({1, 1, 2, 1}, {1, 0});

Row Attended(const std::string& node, std::vector<Feed> feeds, Feed y) {
  return Of("Attention" + node, std::move(feeds), {std::move(y)});
}

TEST(AttentionTest, ValuesAreAveragedByTheSoftmaxOfScaledScores) {
  const std::vector<Feed> feeds = {kQueries, kKeys, kValues};
  ExpectRows({
      Attended("(q, k, v)", feeds, F({1, 1, 2, 1}, {14, 12})),
      Attended("<scale = -1.0>(q, k, v)", feeds, F({1, 1, 2, 1}, {10, 12})),
      // The default scale is 1 / sqrt(4).
      Attended("(q, k, v)",
               {F({1, 1, 1, 4}, {1, 1, 1, 1}),
                F({1, 1, 2, 4}, {0, 0, 0, 0, kLog3, kLog3, 0, 0}),
                F({1, 1, 2, 2}, {8, 80, 16, 160})},
               F({1, 1, 1, 2}, {14, 140})),
      Attended("<softmax_precision = 11>(q, k, v)", feeds,
               F({1, 1, 2, 1}, {14, 12})),
  });
}

TEST(AttentionTest, HeadsArePackedInThreeAxesAndSharedByGroups) {
  ExpectRows({
      Attended("<q_num_heads = 2, kv_num_heads = 2>(q, k, v)",
               {F({1, 1, 2}, {1, 1}), F({1, 2, 2}, {0, 0, kLog3, 0}),
                F({1, 2, 2}, {8, 80, 16, 160})},
               F({1, 1, 2}, {14, 120})),
      Attended("<q_num_heads = 2, kv_num_heads = 1>(q, k, v)",
               {F({1, 2, 2}, {1, 0, 0, 1}), F({1, 2, 1}, {0, kLog3}),
                F({1, 2, 1}, {8, 16})},
               F({1, 2, 2}, {14, 12, 12, 14})),
      Attended(
          "(q, k, v)",
          {F({1, 4, 1, 1}, {1, 0, 1, 0}), F({1, 2, 2, 1}, {0, kLog3, 0, 0}),
           F({1, 2, 2, 1}, {8, 16, 80, 160})},
          F({1, 4, 1, 1}, {14, 12, 120, 120})),
  });
}

TEST(AttentionTest, CausalityAndWindowsCutKeysOff) {
  const Feed q = F({1, 1, 3, 1}, {0, 0, 0});
  const Feed v = F({1, 1, 3, 1}, {8, 16, 48});
  const auto row = [&](const std::string& attributes,
                       std::vector<double> wanted) {
    return Attended("<" + attributes + ">(q, k, v)", {q, q, v},
                    F({1, 1, 3, 1}, std::move(wanted)));
  };
  ExpectRows({
      row("is_causal = 1", {8, 12, 24}),
      row("left_window_size = 0", {24, 32, 48}),
      row("right_window_size = 0", {8, 12, 24}),
      row("left_window_size = 0, right_window_size = 0", {8, 16, 48}),
      row("left_window_size = 1, is_causal = 1", {8, 12, 32}),
      row("right_window_size = 1", {12, 24, 24}),
      row("left_window_size = 9223372036854775807, "
          "right_window_size = 9223372036854775807",
          {24, 24, 24}),
  });
}

TEST(AttentionTest, MasksOfEveryRankAndKindAreAdded) {
  const Feed q = F({2, 2, 1, 1}, {0, 0, 0, 0});
  const Feed v = F({2, 2, 2, 1}, {8, 16, 8, 16, 8, 16, 8, 16});
  const Feed k = F({2, 2, 2, 1}, std::vector<double>(8, 0));
  const auto row = [&](const Feed& mask, std::vector<double> wanted) {
    return Attended("(q, k, v, m)", {q, k, v, mask},
                    F({2, 2, 1, 1}, std::move(wanted)));
  };
  ExpectRows({
      row(F({2}, {0, kLog3}), {14, 14, 14, 14}),
      row(F({2, 1, 1, 2}, {0, kLog3, 0, 0}), {14, 14, 12, 12}),
      row(F({2, 1, 2}, {0, kLog3, kLog3, 0}), {14, 10, 14, 10}),
      row(B({1, 2}, {0, 1}), {16, 16, 16, 16}),
      row(B({2, 2, 1, 2}, {1, 1, 1, 0, 0, 1, 0, 0}), {12, 8, 16, 0}),
      row(F({1, 1}, {5}), {8, 8, 8, 8}),  // shorter: the rest is masked
      row(B({1, 0}, {}), {0, 0, 0, 0}),
      row(I({2}, {3, 3}), {12, 12, 12, 12}),
  });
}

TEST(AttentionTest, ThePastStandsBeforeTheKeys) {
  ExpectRows({Of(
      "y, nk, nv = Attention<q_num_heads = 1, kv_num_heads = 1, is_causal = 1>"
      "(q, k, v, , pk, pv)",
      {F({1, 2, 1}, {1, 0}), F({1, 2, 1}, {kLog3, 0}), F({1, 2, 1}, {16, 24}),
       F({1, 1, 1, 1}, {0}), F({1, 1, 1, 1}, {8})},
      {F({1, 2, 1}, {14, 16}), F({1, 1, 3, 1}, {0, kLog3, 0}),
       F({1, 1, 3, 1}, {8, 16, 24})})});
}

TEST(AttentionTest, PaddedKeysAreNotAttended) {
  const Feed q = F({2, 1, 2, 1}, {0, 0, 0, 0});
  const Feed k = F({2, 1, 3, 1}, std::vector<double>(6, 0));
  const Feed v = F({2, 1, 3, 1}, {8, 16, 48, 8, 16, 48});
  ExpectRows({
      Attended("(q, k, v, , , , n)", {q, k, v, I({2}, {2, 0})},
               F({2, 1, 2, 1}, {12, 12, 0, 0})),
      // Query i stands at n - 2 + i.
      Attended("<is_causal = 1>(q, k, v, , , , n)", {q, k, v, I({2}, {3, 1})},
               F({2, 1, 2, 1}, {12, 24, 0, 8})),
      Attended("<left_window_size = 0>(q, k, v, , , , n)",
               {q, k, v, I({2}, {3, 2})}, F({2, 1, 2, 1}, {32, 48, 12, 16})),
  });
}

TEST(AttentionTest, ScoresAreShownAtTheStageAskedFor) {
  const double e = std::exp(1.0);
  const auto row = [&](int mode, std::vector<double> wanted) {
    return Of(StrCat("y, , , s = Attention<softcap = 2.0, "
                     "qk_matmul_output_mode = ",
                     mode, ">(q, k, v, m)"),
              {F({1, 1, 2, 1}, {1, 2}), kKeys, kValues,
               F({2, 2}, {5, 5, kMaskedScore, kMaskedScore})},
              {F({1, 1, 2, 1}, {(8 + 16 * e) / (1 + e), 0}),
               F({1, 1, 2, 2}, std::move(wanted))});
  };
  // 2 tanh(log(3) / 2) is 1; the mask leaves nothing of the second query.
  ExpectRows({row(0, {0, kLog3, 0, 2 * kLog3}), row(1, {0, 1, 0, 1.6}),
              row(2, {5, 6, kMaskedScore, kMaskedScore}),
              row(3, {1 / (1 + e), e / (1 + e), 0, 0})});
}

TEST(AttentionTest, EachResultIsRoundedOnce) {
  // A third in float16 is 0.33325; three times that is not 1.
  const auto half = [](Shape shape, std::vector<double> values) {
    return Feed{DType::kFloat16, std::move(shape), std::move(values)};
  };
  ExpectRows({Attended("(q, k, v)",
                       {half({1, 1, 1, 1}, {0}), half({1, 1, 3, 1}, {1, 2, 3}),
                        half({1, 1, 3, 1}, {1, 1, 1})},
                       half({1, 1, 1, 1}, {1}))});
}

TEST(AttentionTest, NoKeysAndNoQueriesAreFine) {
  ExpectRows({
      Attended("(q, k, v)",
               {F({1, 1, 1, 1}, {1}), F({1, 1, 0, 1}, {}), F({1, 1, 0, 1}, {})},
               F({1, 1, 1, 1}, {0})),
      Attended("(q, k, v)", {F({1, 1, 0, 1}, {}), kKeys, kValues},
               F({1, 1, 0, 1}, {})),
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
    return Refusal{graph, feeds, message};
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

const double kLog2 = std::log(2.0);

// Feeds q, k, v and, where they matter, s, d and b.
std::string LinearAttention(const std::string& rule, const std::string& inputs,
                            const std::vector<Feed>& feeds, int q_heads = 1,
                            int kv_heads = 1) {
  return StrCat("g (", Declare("q k v s d b", feeds),
                ") => (float[y0,y1,y2] y, float[n0,n1,n2,n3] n) { y, n = "
                "LinearAttention<update_rule = \"",
                rule, "\", scale = 1.0, q_num_heads = ", q_heads,
                ", kv_num_heads = ", kv_heads, ">(q, k, v", inputs, ") }");
}

// Two tokens of one number to a head: state 4, then keys 1 and 2 with values
// 6 and 5, decays of a half and beta of a half.
TEST(StateSpaceTest, EachRuleUpdatesTheStateOfTheTokenBefore) {
  const Feed q = F({1, 2, 1}, {1, 3});
  const Feed k = F({1, 2, 1}, {1, 2});
  const Feed v = F({1, 2, 1}, {6, 5});
  const Feed s = F({1, 1, 1, 1}, {4});
  const Feed d = F({1, 2, 1}, {-kLog2, -kLog2});
  const Feed b = F({1, 2, 1}, {0.5, 0.5});
  const auto row = [&](const std::string& rule, const std::string& inputs,
                       std::vector<double> wanted, double state) {
    const std::vector<Feed> feeds = {q, k, v, s, d, b};
    return Row{LinearAttention(rule, inputs, feeds),
               feeds,
               {F({1, 2, 1}, std::move(wanted)), F({1, 1, 1, 1}, {state})}};
  };
  ExpectRows({
      // 4 + 6, 10 + 10
      row("linear", ", s", {10, 60}, 20),
      // 2 + 6, 4 + 10
      row("gated", ", s, d", {8, 42}, 14),
      // 4 + (6 - 4) / 2, 5 + 2 * (5 - 10) / 2
      row("delta", ", s, , b", {5, 0}, 0),
      // 2 + (6 - 2) / 2, 2 + 2 * (5 - 4) / 2
      row("gated_delta", ", s, d, b", {4, 9}, 3),
      row("linear", "", {6, 48}, 16),
  });
}

TEST(StateSpaceTest, QueriesShareAHeadAndDecayMayDifferByRow) {
  const std::vector<Feed> feeds = {
      F({1, 1, 4}, {1, 0, 0, 1}), F({1, 1, 2}, {1, 2}),      F({1, 1, 1}, {3}),
      F({1, 1, 2, 1}, {8, 8}),    F({1, 1, 2}, {-kLog2, 0}), F({1}, {0})};
  ExpectRows({{LinearAttention("gated", ", s, d", feeds, 2, 1),
               feeds,
               {F({1, 1, 2}, {7, 14}), F({1, 1, 2, 1}, {7, 14})}}});
}

std::string Convolution(const std::string& activation,
                        const std::string& inputs) {
  return "g (float[B,C,L] x, float[D,E,K] w, float[F] b, float[G,H,M] p) => "
         "(float[B,C,L] y, float[B,C,N] n) { y, n = CausalConvWithState"
         "<activation = \"" +
         activation + "\">(x, w" + inputs + ") }";
}

TEST(StateSpaceTest, AConvolutionSeesThePastAndCarriesItOn) {
  const Feed x = F({1, 2, 2}, {1, 2, 3, 4});
  const Feed w = F({2, 1, 3}, {1, 10, 100, 0, 1, 0});
  const Feed b = F({2}, {0.5, -3});
  const Feed p = F({1, 2, 2}, {7, 8, 5, 6});
  const double sigmoid3 = 1 / (1 + std::exp(-3.0));
  ExpectRows({
      {Convolution("none", ", b, p"),
       {x, w, b, p},
       {F({1, 2, 2}, {187.5, 218.5, 3, 0}), F({1, 2, 2}, {1, 2, 3, 4})}},
      {Convolution("silu", ", b, p"),
       {x, w, b, p},
       {F({1, 2, 2}, {187.5, 218.5, 3 * sigmoid3, 0}),
        F({1, 2, 2}, {1, 2, 3, 4})}},
      {Convolution("none", ""),
       {F({1, 1, 1}, {2}), F({1, 1, 3}, {1, 10, 100}), b, p},
       {F({1, 1, 1}, {200}), F({1, 1, 2}, {0, 2})}},
  });
}

std::string Rotary(const std::string& node, const std::vector<Feed>& feeds) {
  return "g (" + Declare("x c s i", feeds) + ") => (" +
         Declare("y", {feeds[0]}) + ") { y = RotaryEmbedding" + node + " }";
}

// A quarter turn, then none.
TEST(StateSpaceTest, PairsAreRotatedByTheAngleOfTheirPosition) {
  const Feed cosines = F({2, 1}, {1, 0});
  const Feed sines = F({2, 1}, {0, 1});
  const auto row = [](const std::string& node, std::vector<Feed> feeds,
                      std::vector<double> wanted) {
    const Shape shape = feeds[0].shape;
    const std::string graph = Rotary(node, feeds);
    return Row{graph, std::move(feeds), {F(shape, std::move(wanted))}};
  };
  const std::vector<Feed> halves = {F({1, 1, 1, 4}, {1, 2, 3, 4}),
                                    F({1, 1, 2}, {0, 1}), F({1, 1, 2}, {1, 0}),
                                    I({1}, {0})};
  ExpectRows({
      row("(x, c, s, i)",
          {F({1, 1, 2, 2}, {1, 2, 3, 4}), cosines, sines, I({1, 2}, {1, 0})},
          {-2, 1, 3, 4}),
      row("<rotary_embedding_dim = 2>(x, c, s, i)",
          {F({1, 1, 1, 4}, {1, 2, 3, 4}), cosines, sines, I({1, 1}, {1})},
          {-2, 1, 3, 4}),
      row("<num_heads = 2>(x, c, s)",
          {F({1, 1, 4}, {1, 2, 3, 4}), F({1, 1, 1}, {0}), F({1, 1, 1}, {1}),
           I({1}, {0})},
          {-2, 1, -4, 3}),
      row("(x, c, s)", halves, {-3, 2, 1, 4}),
      row("<interleaved = 1>(x, c, s)", halves, {-2, 1, 3, 4}),
  });
}

TEST(StateSpaceTest, WhatDoesNotGoTogetherIsNamed) {
  const Feed one = F({1, 1, 1}, {1});
  const Feed two = F({1, 1, 2}, {1, 1});
  const Feed three = F({1, 1, 3}, {1, 1, 1});
  const Feed state = F({1, 1, 1, 1}, {1});
  const auto linear = [&](const std::string& rule, const std::string& inputs,
                          std::vector<Feed> feeds, const std::string& message,
                          int q_heads = 1, int kv_heads = 1) {
    for (size_t i = feeds.size(); i < 6; ++i) feeds.push_back(one);
    return Refusal{LinearAttention(rule, inputs, feeds, q_heads, kv_heads),
                   feeds, "LinearAttention: " + message};
  };
  const auto rotary = [&](const std::vector<Feed>& feeds,
                          const std::string& message) {
    return Refusal{Rotary("(x, c, s, i)", feeds), feeds,
                   "RotaryEmbedding: " + message};
  };
  const Feed bias = F({1}, {0});
  const Feed pair = F({1, 1, 1, 2}, {1, 2});
  const Feed cache = F({2, 1}, {1, 1});
  ExpectRefusals({
      linear("some", "", {}, "update_rule is 'some'"),
      linear("gated", ", s", {},
             "update_rule is 'gated', wanted the input "
             "decay given and beta omitted"),
      linear("linear", "", {three, two, two},
             "q_num_heads is 3, wanted a multiple of kv_num_heads, 2", 3, 2),
      linear("linear", "", {one, two},
             "input key of shape [1,1,2], wanted [1,1,1]"),
      linear("gated", ", s, d", {one, one, one, state, two},
             "input decay of shape [1,1,2], wanted [1,1,1]"),
      linear("delta", ", s, , b", {one, one, one, state, one, two},
             "input beta of shape [1,1,2], wanted [1,1,1]"),
      linear("linear", ", s", {one, one, one, F({1, 1, 1, 2}, {1, 1})},
             "input past_state of shape [1,1,1,2], wanted [1,1,1,1]"),
      {Convolution("relu", ""), {one, one, bias, one}, "activation is 'relu'"},
      {Convolution("none", ""),
       {two, F({2, 1, 1}, {1, 1}), bias, one},
       "CausalConvWithState: input weight of shape [2,1,1], wanted [1,1,k]"},
      {Convolution("none", ", , p"),
       {one, two, bias, two},
       "input past_state of shape [1,1,2], wanted [1,1,1]"},
      rotary({F({1, 1, 1, 3}, {1, 2, 3}), cache, cache, I({1, 1}, {0})},
             "the head size of input X is 3, wanted an even number"),
      rotary({pair, cache, cache, I({1, 1}, {2})},
             "input position_ids has the value 2, wanted one in [0, 2)"),
      rotary({pair, cache, F({2, 2}, {1, 1, 1, 1}), I({1, 1}, {1})},
             "inputs cos_cache and sin_cache of shapes [2,1] and [2,2], wanted "
             "[2,1]"),
  });
}

}  // namespace
}  // namespace assay::reference
