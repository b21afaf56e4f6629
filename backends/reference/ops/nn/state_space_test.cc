// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "backends/reference/kernel_rows.h"

namespace assay::reference {
namespace {

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
  struct Case {
    std::string rule, inputs;
    std::vector<double> wanted;
    double state;
  };
  for (const Case& c :
       std::vector<Case>{// 4 + 6, 10 + 10
                         {"linear", ", s", {10, 60}, 20},
                         // 2 + 6, 4 + 10
                         {"gated", ", s, d", {8, 42}, 14},
                         // 4 + (6 - 4) / 2, 5 + 2 * (5 - 10) / 2
                         {"delta", ", s, , b", {5, 0}, 0},
                         // 2 + (6 - 2) / 2, 2 + 2 * (5 - 4) / 2
                         {"gated_delta", ", s, d, b", {4, 9}, 3},
                         {"linear", "", {6, 48}, 16}}) {
    const std::vector<Feed> feeds = {q, k, v, s, d, b};
    ExpectRows({{LinearAttention(c.rule, c.inputs, feeds),
                 feeds,
                 {F({1, 2, 1}, c.wanted), F({1, 1, 1, 1}, {c.state})}}});
  }
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
  struct Case {
    std::string node;
    std::vector<Feed> feeds;
    std::vector<Feed> wanted;
  };
  for (const Case& c : std::vector<Case>{
           {"(x, c, s, i)",
            {F({1, 1, 2, 2}, {1, 2, 3, 4}), cosines, sines, I({1, 2}, {1, 0})},
            {F({1, 1, 2, 2}, {-2, 1, 3, 4})}},
           {"<rotary_embedding_dim = 2>(x, c, s, i)",
            {F({1, 1, 1, 4}, {1, 2, 3, 4}), cosines, sines, I({1, 1}, {1})},
            {F({1, 1, 1, 4}, {-2, 1, 3, 4})}},
           {"<num_heads = 2>(x, c, s)",
            {F({1, 1, 4}, {1, 2, 3, 4}), F({1, 1, 1}, {0}), F({1, 1, 1}, {1}),
             I({1}, {0})},
            {F({1, 1, 4}, {-2, 1, -4, 3})}},
           {"(x, c, s)",
            {F({1, 1, 1, 4}, {1, 2, 3, 4}), F({1, 1, 2}, {0, 1}),
             F({1, 1, 2}, {1, 0}), I({1}, {0})},
            {F({1, 1, 1, 4}, {-3, 2, 1, 4})}},
           {"<interleaved = 1>(x, c, s)",
            {F({1, 1, 1, 4}, {1, 2, 3, 4}), F({1, 1, 2}, {0, 1}),
             F({1, 1, 2}, {1, 0}), I({1}, {0})},
            {F({1, 1, 1, 4}, {-2, 1, 3, 4})}}}) {
    ExpectRows({{Rotary(c.node, c.feeds), c.feeds, c.wanted}});
  }
}

TEST(StateSpaceTest, WhatDoesNotGoTogetherIsNamed) {
  const Feed one = F({1, 1, 1}, {1});
  const Feed two = F({1, 1, 2}, {1, 1});
  const Feed three = F({1, 1, 3}, {1, 1, 1});
  const Feed state = F({1, 1, 1, 1}, {1});
  const auto refused = [](const std::string& graph,
                          const std::vector<Feed>& feeds,
                          const std::string& message) {
    return Refusal{graph, feeds, StatusCode::kInvalidArgument, message};
  };
  const auto linear = [&](const std::string& rule, const std::string& inputs,
                          std::vector<Feed> feeds, const std::string& message,
                          int q_heads = 1, int kv_heads = 1) {
    for (size_t i = feeds.size(); i < 6; ++i) feeds.push_back(one);
    return refused(LinearAttention(rule, inputs, feeds, q_heads, kv_heads),
                   feeds, "LinearAttention: " + message);
  };
  const auto rotary = [&](const std::vector<Feed>& feeds,
                          const std::string& message) {
    return refused(Rotary("(x, c, s, i)", feeds), feeds,
                   "RotaryEmbedding: " + message);
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
      refused(Convolution("relu", ""), {one, one, bias, one},
              "activation is 'relu'"),
      refused(Convolution("none", ""), {two, F({2, 1, 1}, {1, 1}), bias, one},
              "CausalConvWithState: input weight of shape [2,1,1], wanted "
              "[1,1,k]"),
      refused(Convolution("none", ", , p"), {one, two, bias, two},
              "input past_state of shape [1,1,2], wanted [1,1,1]"),
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
