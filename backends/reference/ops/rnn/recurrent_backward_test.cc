// SPDX-License-Identifier: Apache-2.0
//
// The backward of RNN, GRU and LSTM against the tape: of all outputs, by all
// inputs, with lengths, directions, layouts, peepholes and coupled gates.

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "backends/reference/gradient_rows.h"

namespace assay::reference {
namespace {

/// Of 3 steps, 2 sequences, 2 inputs and 2 hidden units.
struct Node {
  std::string name;
  std::string attributes;
  int64_t gates;
  int64_t directions = 1;
  bool batch_first = false;
};

GradientRow GradientRowOf(const Node& node) {
  const int64_t size = node.gates * 2;
  const int64_t d = node.directions;
  const auto of = [](const Shape& shape) {
    std::vector<double> values = Counting(*shape.NumElements());
    for (double& x : values) x /= 2;
    return D(shape, std::move(values));
  };
  const Shape x = node.batch_first ? Shape{2, 3, 2} : Shape{3, 2, 2};
  const Shape h = node.batch_first ? Shape{2, d, 2} : Shape{d, 2, 2};
  GradientRow row = {"",
                     {of(x),
                      of({d, size, 2}),
                      of({d, size, 2}),
                      of({d, 2 * size}),
                      {DType::kInt32, {2}, {3, 2}},
                      of(h)}};
  std::string names = "a b c d e f";
  std::string read = "a, b, c, d, e, f";
  std::string outputs = "double[y0,y1,y2,y3] y, double[z0,z1,z2] z";
  std::string written = "y, z";
  if (node.gates == 4) {
    row.feeds.push_back(of(h));
    row.feeds.push_back(of({d, 6}));
    names += " g h";
    read += ", g, h";
    outputs += ", double[w0,w1,w2] w";
    written += ", w";
  }
  row.graph = StrCat("net (", Declare(names, row.feeds), ") => (", outputs,
                     ") { ", written, " = ", node.name, " <hidden_size = 2",
                     node.attributes, "> (", read, ") }");
  return row;
}

std::vector<GradientRow> RowsOf(const std::vector<Node>& nodes) {
  std::vector<GradientRow> rows;
  for (const Node& node : nodes) rows.push_back(GradientRowOf(node));
  return rows;
}

const std::string kBoth = ", direction = \"bidirectional\"";

TEST(RecurrentBackward, OfRnn) {
  ExpectTheTapes(
      RowsOf({{"RNN", "", 1},
              {"RNN", ", direction = \"reverse\", activations = [\"Relu\"]", 1},
              {"RNN", kBoth + ", clip = 0.25", 1, 2},
              {"RNN", ", layout = 1", 1, 1, true}}));
}

TEST(RecurrentBackward, OfGru) {
  ExpectTheTapes(RowsOf({{"GRU", "", 3},
                         {"GRU", ", linear_before_reset = 1", 3},
                         {"GRU", kBoth, 3, 2},
                         {"GRU", ", layout = 1", 3, 1, true}}));
}

TEST(RecurrentBackward, OfLstm) {
  ExpectTheTapes(RowsOf(
      {{"LSTM", "", 4},
       {"LSTM", ", input_forget = 1", 4},
       {"LSTM", kBoth + ", layout = 1", 4, 2, true},
       {"LSTM", ", activations = [\"HardSigmoid\", \"Softsign\", \"Elu\"]",
        4}}));
}

// Of what nothing flows into, also where it is no number.
TEST(RecurrentBackward, OfOneSequence) {
  for (const Node& node :
       std::vector<Node>{{"RNN", "", 1}, {"GRU", "", 3}, {"LSTM", "", 4}}) {
    GradientRow row = GradientRowOf(node);
    row.feeds[0].values.back() = std::numeric_limits<double>::quiet_NaN();
    ExpectTheTapes({row});
  }
}

}  // namespace
}  // namespace assay::reference
