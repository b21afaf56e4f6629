// SPDX-License-Identifier: Apache-2.0
//
// The backward of layers against the tape: pooling, products, normalizations.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "backends/reference/gradient_rows.h"
#include "framework/testing/support/tensors_fixture.h"

namespace assay::reference {
namespace {

TEST(LayersBackward, OfPooling) {
  std::vector<GradientRow> rows;
  const Feed a = D({1, 2, 3, 4}, {1, 1, 2, 2, 1, 1, 2, 3,    0,    0, -1, 0,
                                  5, 5, 5, 5, 0, 0, 0, kNan, -0.0, 0, 0,  0});
  const auto add = [&](const char* attributes, const char* output) {
    for (const char* const name : {"MaxPool", "AveragePool", "LpPool"}) {
      rows.push_back({StrCat("g (double[1,2,3,4] a) => (double[", output,
                             "] y) { y = ", name, " <", attributes, "> (a) }"),
                      {a}});
    }
  };
  add("kernel_shape = [2, 2]", "1,2,2,3");
  add("kernel_shape = [2, 2], strides = [2, 2], ceil_mode = 1", "1,2,2,2");
  add("kernel_shape = [2, 2], pads = [1, 0, 1, 1]", "1,2,4,4");
  add("kernel_shape = [2, 2], dilations = [2, 3]", "1,2,1,1");
  rows.push_back(
      {"g (double[1,2,3,4] a) => (double[1,2,4,5] y) "
       "{ y = AveragePool <kernel_shape = [2, 2], pads = [1, 1, 1, "
       "1], count_include_pad = 1> (a) }",
       {a}});
  rows.push_back(
      {"g (double[1,2,3,4] a) => (double[1,2,2,3] y) "
       "{ y = LpPool <kernel_shape = [2, 2], p = 3> (a) }",
       {a}});
  rows.push_back(
      {"g (double[1,2,3,4] a) => (double[1,2,2,3] y, "
       "int64[1,2,2,3] z) "
       "{ y, z = MaxPool <kernel_shape = [2, 2]> (a) }",
       {a}});
  ExpectTheTapes(rows);
}

TEST(LayersBackward, OfProducts) {
  const auto d = [](const Shape& shape) {
    return D(shape, Counting(*shape.NumElements()));
  };
  std::vector<GradientRow> rows = {
      {"g (double[1,4,4,3] a, double[4,2,2,2] b, double[4] c) => "
       "(double[1,4,3,2] y) { y = Conv <group = 2> (a, b, c) }",
       {d({1, 4, 4, 3}), d({4, 2, 2, 2}), d({4})}},
      {"g (double[2,2,5] a, double[3,2,3] b) => (double[2,3,3] y) "
       "{ y = Conv <pads = [1, 2], strides = [2], dilations = [1]> (a, b) }",
       {d({2, 2, 5}), d({3, 2, 3})}},
      {"g (double[1,2,5] a, double[2,1,2] b) => (double[1,2,3] y) "
       "{ y = Conv <group = 2, dilations = [2]> (a, b) }",
       {d({1, 2, 5}), d({2, 1, 2})}},
      {"g (double[1,2,2,2] a, double[3,2,1,1] b) => (double[1,3,2,2] y) "
       "{ y = Conv(a, b) }",
       {d({1, 2, 2, 2}), d({3, 2, 1, 1})}},
      {"g (double[0,2,2,2] a, double[3,2,1,1] b) => (double[0,3,2,2] y) "
       "{ y = Conv(a, b) }",
       {d({0, 2, 2, 2}), d({3, 2, 1, 1})}},
      {"g (double[1,4,2,3] a, double[4,1,2,2] b, double[2] c) => "
       "(double[1,2,3,4] y) { y = ConvTranspose <group = 2> (a, b, c) }",
       {d({1, 4, 2, 3}), d({4, 1, 2, 2}), d({2})}},
      {"g (double[1,2,3] a, double[2,2,3] b) => (double[1,2,6] y) "
       "{ y = ConvTranspose <strides = [2], pads = [1, 1], output_padding = "
       "[1]> (a, b) }",
       {d({1, 2, 3}), d({2, 2, 3})}},
      {"g (double[2,3] a, double[3,2] b) => (double[2,2] y) "
       "{ y = MatMul(a, b) }",
       {d({2, 3}), d({3, 2})}},
      {"g (double[3,2] a, double[2,3] b, double[1,2] c) => (double[2,2] y) "
       "{ y = Gemm <transA = 1, transB = 1, alpha = 0.5, beta = 2.0> (a, b, c) "
       "}",
       {d({3, 2}), d({2, 3}), d({1, 2})}}};
  ExpectTheTapes(rows);
  // What nothing flows into has no say.
  for (GradientRow& row : rows) {
    if (row.feeds[0].values.empty()) continue;
    row.feeds[0].values.back() = kNan;
    row.feeds[1].values.front() = kInf;
  }
  ExpectTheTapes(rows);
}

TEST(LayersBackward, OfNormalizations) {
  const auto d = [](const Shape& shape) {
    return D(shape, Counting(*shape.NumElements()));
  };
  const Feed of_channels = D({4}, {0.5, 1, 2, 0.25});
  const Feed biases = D({4}, {1, 0, -1, 2});
  const std::string head = "g (double[2,4,3] a, double[4] b, double[4] c";
  std::vector<GradientRow> rows = {
      {head + ", double[4] d, double[4] e) => (double[2,4,3] y) "
              "{ y = BatchNormalization <epsilon = 0.01> (a, b, c, d, e) }",
       {d({2, 4, 3}), of_channels, biases, biases, of_channels}},
      {head + ", double[4] d, double[4] e) => (double[2,4,3] y, double[4] z, "
              "double[4] w) { y, z, w = BatchNormalization <training_mode = 1, "
              "epsilon = 0.01, momentum = 0.7> (a, b, c, d, e) }",
       {d({2, 4, 3}), of_channels, biases, biases, of_channels}},
      {head + ") => (double[2,4,3] y) "
              "{ y = InstanceNormalization <epsilon = 0.01> (a, b, c) }",
       {d({2, 4, 3}), of_channels, biases}},
      {head +
           ") => (double[2,4,3] y) { y = GroupNormalization <epsilon = 0.01, "
           "num_groups = 2> (a, b, c) }",
       {d({2, 4, 3}), of_channels, biases}},
      {"g (double[2,4,3] a, double[4,1] b, double[3] c) => (double[2,4,3] y) "
       "{ y = LayerNormalization <axis = 1, epsilon = 0.01> (a, b, c) }",
       {d({2, 4, 3}), D({4, 1}, {1, 2, 0.5, 3}), D({3}, {1, 2, 3})}},
      {"g (double[2,4,3] a, double[3] b) => (double[2,4,3] y) "
       "{ y = RMSNormalization <epsilon = 0.01> (a, b) }",
       {d({2, 4, 3}), D({3}, {1, 2, 0.5})}},
      {"g (double[2,4,3] a) => (double[2,4,3] y) "
       "{ y = MeanVarianceNormalization <axes = [0, 2]> (a) }",
       {d({2, 4, 3})}},
      {"g (double[2,4,3] a) => (double[2,4,3] y) "
       "{ y = LRN <size = 3, alpha = 0.5, beta = 0.75, bias = 1.0> (a) }",
       {d({2, 4, 3})}},
      {"g (double[2,4,3] a) => (double[2,4,3] y) "
       "{ y = LRN <size = 2, alpha = 0.5, beta = 0.5, bias = 2.0> (a) }",
       {d({2, 4, 3})}}};
  ExpectTheTapes(rows);
  for (GradientRow& row : rows) row.feeds[0].values.back() = kNan;
  ExpectTheTapes(rows);
}

TEST(LayersBackward, OfTheMomentsOfALayer) {
  const GradientRow row = {
      "g (double[2,3] a, double[3] b) => (double[2,3] y, double[2,1] z, "
      "double[2,1] w) { y, z, w = LayerNormalization <stash_type = 11> (a, b) "
      "}",
      {D({2, 3}, {1, 2, 4, -1, 0.25, 3}), D({3}, {1, 2, 0.5})}};
  ExpectTheTapesIn(kGradientTypes[1], row);
}

TEST(LayersBackward, OfAttention) {
  const auto d = [](const Shape& shape) {
    return D(shape, Counting(*shape.NumElements()));
  };
  const std::string head =
      "g (double[1,2,3,2] a, double[1,2,4,2] b, double[1,2,4,2] c";
  const std::vector<Feed> feeds = {d({1, 2, 3, 2}), d({1, 2, 4, 2}),
                                   d({1, 2, 4, 2})};
  const auto with = [&](const std::vector<Feed>& more) {
    std::vector<Feed> all = feeds;
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  std::vector<GradientRow> rows = {
      {head + ") => (double[1,2,3,2] y) { y = Attention(a, b, c) }", feeds},
      {head + ") => (double[1,2,3,2] y) "
              "{ y = Attention <is_causal = 1, softcap = 0.5> (a, b, c) }",
       feeds},
      {head + ", double[3,4] d) => (double[1,2,3,2] y) "
              "{ y = Attention <scale = 0.25> (a, b, c, d) }",
       with({D({3, 4},
               {0, 1, -kInf, 2, -kInf, -kInf, -kInf, -kInf, 0.5, 0, 0, 1})})},
      {head +
           ", bool[3,3] d) => (double[1,2,3,2] y) { y = Attention(a, b, c, d) "
           "}",
       with({B({3, 3}, {1, 0, 1, 1, 1, 1, 0, 0, 0})})},
      {"g (double[1,3,8] a, double[1,4,4] b, double[1,4,4] c) => "
       "(double[1,3,8] y) { y = Attention <q_num_heads = 4, kv_num_heads = 2> "
       "(a, b, c) }",
       {d({1, 3, 8}), d({1, 4, 4}), d({1, 4, 4})}}};
  for (const char* const mode : {"0", "1", "2", "3"}) {
    rows.push_back(
        {StrCat(head,
                ", double[3,5] d, double[1,2,1,2] e, double[1,2,1,2] f) => "
                "(double[1,2,3,2] y, double[1,2,5,2] z, double[1,2,5,2] w, "
                "double[1,2,3,5] q) { y, z, w, q = Attention <softcap = 2.0, "
                "qk_matmul_output_mode = ",
                mode, "> (a, b, c, d, e, f) }"),
         with({D({3, 5},
                 {0, 1, -kInf, 2, 0, -kInf, 1, 2, 3, 4, 0, 0, 0, 0, 0.5}),
               d({1, 2, 1, 2}), d({1, 2, 1, 2})})});
  }
  ExpectTheTapes(rows);
}

}  // namespace
}  // namespace assay::reference
