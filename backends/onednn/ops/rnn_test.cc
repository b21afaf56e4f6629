// SPDX-License-Identifier: Apache-2.0
//
// RNN, GRU and LSTM against the reference: every direction, both layouts,
// initial states, biases, peepholes and both forms of GRU.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "backends/onednn/primitive/test_graph_fixture.h"
#include "dnnl.hpp"

namespace assay::onednn {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kSteps = 4;
constexpr int64_t kBatch = 3;
constexpr int64_t kInputs = 5;
constexpr int64_t kHidden = 2;

struct RnnCase {
  const char* op;
  int64_t gates;
  const char* direction;
  int64_t layout;
  bool peepholes = false;
  const char* attribute = "";
};

const RnnCase kRnnCases[] = {
    {"RNN", 1, "forward", 0},
    {"RNN", 1, "bidirectional", 1},
    {"GRU", 3, "reverse", 0},
    {"GRU", 3, "bidirectional", 0},
    {"GRU", 3, "bidirectional", 0, false, ", linear_before_reset = 1"},
    {"GRU", 3, "reverse", 1, false, ", linear_before_reset = 1"},
    {"LSTM", 4, "forward", 0, true},
    {"LSTM", 4, "reverse", 1},
    {"LSTM", 4, "bidirectional", 0, true},
    {"LSTM", 4, "bidirectional", 1},
};

int64_t DirectionsOf(const RnnCase& row) {
  return std::string(row.direction) == "bidirectional" ? 2 : 1;
}

/// The shapes of the case's values, in its layout.
struct Shapes {
  Shape x, state, y;
};

Shapes ShapesOf(const RnnCase& row, int64_t d) {
  if (row.layout == 0) {
    return {{kSteps, kBatch, kInputs},
            {d, kBatch, kHidden},
            {kSteps, d, kBatch, kHidden}};
  }
  return {{kBatch, kSteps, kInputs},
          {kBatch, d, kHidden},
          {kBatch, kSteps, d, kHidden}};
}

std::string RnnGraph(const RnnCase& row, const Shapes& shapes, int64_t d) {
  const bool lstm = row.gates == 4;
  const int64_t rows = row.gates * kHidden;
  const auto given = [](const Shape& shape) {
    return "float" + shape.ToString();
  };
  std::string text = "g (" + given(shapes.x) + " x, " +
                     given({d, rows, kInputs}) + " w, " +
                     given({d, rows, kHidden}) + " r, " + given({d, 2 * rows}) +
                     " b, " + given(shapes.state) + " h";
  if (lstm) text += ", " + given(shapes.state) + " c";
  if (row.peepholes) text += ", " + given({d, 3 * kHidden}) + " p";
  text += ") => (" + given(shapes.y) + " y, " + given(shapes.state) + " yh";
  if (lstm) text += ", " + given(shapes.state) + " yc";
  text += std::string(") { y, yh") + (lstm ? ", yc" : "") + " = " + row.op +
          " <hidden_size = " + std::to_string(kHidden) +
          ", layout = " + std::to_string(row.layout) + ", direction = \"" +
          row.direction + "\"" + row.attribute + "> (x, w, r, b, , h";
  return text + (lstm ? ", c" : "") + (row.peepholes ? ", p" : "") + ") }";
}

TEST(Rnn, FollowsOnnxEquations) {
  for (const RnnCase& row : kRnnCases) {
    const int64_t d = DirectionsOf(row);
    const int64_t rows = row.gates * kHidden;
    const Shapes shapes = ShapesOf(row, d);
    std::map<std::string, Value> inputs;
    const auto draw = [&](const char* name, const Shape& shape) {
      inputs[name] = Floats(shape, Random(name, CountOf(shape.dims())));
    };
    draw("x", shapes.x);
    draw("w", {d, rows, kInputs});
    draw("r", {d, rows, kHidden});
    draw("b", {d, 2 * rows});
    draw("h", shapes.state);
    if (row.gates == 4) draw("c", shapes.state);
    if (row.peepholes) draw("p", {d, 3 * kHidden});
    ExpectAsReference(RnnGraph(row, shapes, d), inputs, 1e-5F);
  }
}

/// The executor of the one node of a graph.
std::string PlacementOf(const std::string& graph) {
  const auto network = Load(graph);
  EXPECT_TRUE(network.ok()) << network.status().ToString();
  return network.ok() ? (*network)->placement()->Placed().at(0).executor : "";
}

/// Forgets the primitives that oneDNN keeps for nodes to come.
void ForgetPrimitives() {
  const int capacity = dnnl::get_primitive_cache_capacity();
  dnnl::set_primitive_cache_capacity(0);
  dnnl::set_primitive_cache_capacity(capacity);
}

TEST(Rnn, PlacementIsTheSameWhateverWasLoadedBefore) {
  std::vector<std::string> graphs;
  for (const RnnCase& row : kRnnCases) {
    const int64_t d = DirectionsOf(row);
    graphs.push_back(RnnGraph(row, ShapesOf(row, d), d));
  }
  std::vector<std::string> alone;
  for (const std::string& graph : graphs) {
    ForgetPrimitives();
    alone.push_back(PlacementOf(graph));
  }
  for (size_t before = 0; before < graphs.size(); ++before) {
    for (size_t i = 0; i < graphs.size(); ++i) {
      ForgetPrimitives();
      PlacementOf(graphs[before]);
      EXPECT_EQ(PlacementOf(graphs[i]), alone[i])
          << graphs[i] << " after " << graphs[before];
    }
  }
}

/// Weights that the model fixes are laid out once, at Load.
TEST(Rnn, FixedWeightsGiveTheSame) {
  ExpectAsReference(
      "g (float[2,1,1] x) => (float[2,1,1,1] y) <float[1,4,1] w = "
      "{1, -2, 0.5, 3}, float[1,4,1] r = {0.25, 2, -1, 1}, float[1,3] p = "
      "{0.5, -0.5, 1}> { y = LSTM <hidden_size = 1> (x, w, r, , , , , p) }",
      {{"x", Floats({2, 1, 1}, {0.5F, -1})}}, 1e-6F);
}

TEST(Rnn, WhatTheLibraryLacksIsDeclined) {
  struct Row {
    const char* node;
    const char* words;
  };
  for (const Row& row : {
           Row{"RNN <hidden_size = 2, clip = 1.0> (x, w, r)", "clip"},
           Row{"RNN <hidden_size = 2, activations = [\"Affine\"]> (x, w, r)",
               "Affine"},
           Row{"RNN <hidden_size = 2> (x, w, r, , l)", "sequence_lens"},
       }) {
    const Status status =
        Load(std::string("g (float[3,2,5] x, float[1,2,5] w, float[1,2,2] r) "
                         "=> (float[3,1,2,2] y) <int32[2] l = {3, 2}> { y = ") +
             row.node + " }")
            .status();
    EXPECT_EQ(status.reason(), Reason::kAttribute) << status.ToString();
    EXPECT_THAT(status.message(), HasSubstr(row.words));
  }
}

}  // namespace
}  // namespace assay::onednn
