// SPDX-License-Identifier: Apache-2.0
//
// RNN, GRU and LSTM against ONNX's equations step by step: every direction,
// both layouts, initial states, biases, peepholes and both forms of GRU.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "backends/onednn/primitive/test_graph_fixture.h"
#include "dnnl.hpp"

namespace assay::onednn {
namespace {

using ::testing::FloatNear;
using ::testing::HasSubstr;
using ::testing::Pointwise;

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

double Sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

int64_t DirectionsOf(const RnnCase& row) {
  return std::string(row.direction) == "bidirectional" ? 2 : 1;
}

/// The tensors of a case, one flat vector each, in layout 0.
struct RnnTensors {
  int64_t directions;
  std::vector<float> x, w, r, b, h, c, p;
};

RnnTensors FillRnn(const RnnCase& row) {
  const int64_t d = DirectionsOf(row);
  const int64_t rows = row.gates * kHidden;
  return {d,
          Random("x", kSteps * kBatch * kInputs),
          Random("w", d * rows * kInputs),
          Random("r", d * rows * kHidden),
          Random("b", d * 2 * rows),
          Random("h", d * kBatch * kHidden),
          Random("c", d * kBatch * kHidden),
          Random("p", d * 3 * kHidden)};
}

using State = std::vector<double>;

/// One step of one batch entry of one direction.
class Cell {
 public:
  Cell(const RnnCase& row, const RnnTensors& t, int64_t direction)
      : row_(row), t_(t), direction_(direction) {}

  void Step(const float* x, State& h, State& c) const {
    State next = h;
    for (int64_t i = 0; i < kHidden; ++i) {
      const auto at = static_cast<size_t>(i);
      if (row_.gates == 1) {
        next[at] = std::tanh(Input(0, i, x) + Recurrent(0, i, h));
      } else if (row_.gates == 3) {
        next[at] = GruStep(i, x, h);
      } else {
        next[at] = LstmStep(i, x, h, c[at]);
      }
    }
    h = next;
  }

 private:
  /// W x + Wb and R h + Rb of one gate's row.
  double Input(int64_t gate, int64_t i, const float* x) const {
    const int64_t row = Row(gate, i);
    double sum = Bias(gate, i, 0);
    for (int64_t k = 0; k < kInputs; ++k) {
      sum += double{x[k]} * t_.w[static_cast<size_t>(row * kInputs + k)];
    }
    return sum;
  }
  double Recurrent(int64_t gate, int64_t i, const State& h) const {
    const int64_t row = Row(gate, i);
    double sum = Bias(gate, i, 1);
    for (int64_t k = 0; k < kHidden; ++k) {
      sum += h[static_cast<size_t>(k)] *
             t_.r[static_cast<size_t>(row * kHidden + k)];
    }
    return sum;
  }
  int64_t Row(int64_t gate, int64_t i) const {
    return (direction_ * row_.gates + gate) * kHidden + i;
  }
  double Bias(int64_t gate, int64_t i, int64_t recurrent) const {
    const int64_t entry = (direction_ * 2 + recurrent) * row_.gates * kHidden +
                          gate * kHidden + i;
    return t_.b[static_cast<size_t>(entry)];
  }
  double Peephole(int64_t which, int64_t i) const {
    if (!row_.peepholes) return 0;
    return t_.p[static_cast<size_t>((direction_ * 3 + which) * kHidden + i)];
  }

  /// Gates z r h.
  double GruStep(int64_t i, const float* x, const State& h) const {
    const auto reset = [&](int64_t k) {
      return Sigmoid(Input(1, k, x) + Recurrent(1, k, h));
    };
    const double z = Sigmoid(Input(0, i, x) + Recurrent(0, i, h));
    double candidate = Input(2, i, x);
    if (*row_.attribute != '\0') {  // linear_before_reset
      candidate += reset(i) * Recurrent(2, i, h);
    } else {
      State gated = h;
      for (int64_t k = 0; k < kHidden; ++k) {
        gated[static_cast<size_t>(k)] *= reset(k);
      }
      candidate += Recurrent(2, i, gated);
    }
    return (1 - z) * std::tanh(candidate) + z * h[static_cast<size_t>(i)];
  }

  /// Gates i o f c, peepholes i o f.
  double LstmStep(int64_t i, const float* x, const State& h, double& c) const {
    const auto sum = [&](int64_t gate) {
      return Input(gate, i, x) + Recurrent(gate, i, h);
    };
    const double in = Sigmoid(sum(0) + Peephole(0, i) * c);
    const double forget = Sigmoid(sum(2) + Peephole(2, i) * c);
    c = forget * c + in * std::tanh(sum(3));
    return Sigmoid(sum(1) + Peephole(1, i) * c) * std::tanh(c);
  }

  const RnnCase& row_;
  const RnnTensors& t_;
  int64_t direction_;
};

struct Results {
  std::vector<float> y, h, c;  // in layout 0
};

Results Expected(const RnnCase& row, const RnnTensors& t) {
  const int64_t d = t.directions;
  Results results;
  results.y.resize(static_cast<size_t>(kSteps * d * kBatch * kHidden));
  for (int64_t way = 0; way < d; ++way) {
    const Cell cell(row, t, way);
    const bool backwards = way == 1 || std::string(row.direction) == "reverse";
    for (int64_t n = 0; n < kBatch; ++n) {
      const auto first = (way * kBatch + n) * kHidden;
      State h(t.h.begin() + first, t.h.begin() + first + kHidden);
      State c(t.c.begin() + first, t.c.begin() + first + kHidden);
      for (int64_t step = 0; step < kSteps; ++step) {
        const int64_t at = backwards ? kSteps - 1 - step : step;
        cell.Step(t.x.data() + (at * kBatch + n) * kInputs, h, c);
        std::copy(h.begin(), h.end(),
                  results.y.begin() + ((at * d + way) * kBatch + n) * kHidden);
      }
      results.h.insert(results.h.end(), h.begin(), h.end());
      results.c.insert(results.c.end(), c.begin(), c.end());
    }
  }
  return results;
}

/// Brings batch to the front: [a, b, batch, ...] to [batch, a, b, ...] where
/// the first `before` entries stand before it.
std::vector<float> BatchFirst(const std::vector<float>& from, int64_t before) {
  const int64_t rest = std::ssize(from) / (before * kBatch);
  std::vector<float> to;
  for (int64_t n = 0; n < kBatch; ++n) {
    for (int64_t i = 0; i < before; ++i) {
      const auto* begin = from.data() + (i * kBatch + n) * rest;
      to.insert(to.end(), begin, begin + rest);
    }
  }
  return to;
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
    const RnnTensors t = FillRnn(row);
    const int64_t d = t.directions;
    const Shapes shapes = ShapesOf(row, d);
    const auto placed = [&](const std::vector<float>& values, int64_t before) {
      return row.layout == 0 ? values : BatchFirst(values, before);
    };
    std::map<std::string, Value> inputs = {
        {"x", Floats(shapes.x, placed(t.x, kSteps))},
        {"w", Floats({d, row.gates * kHidden, kInputs}, t.w)},
        {"r", Floats({d, row.gates * kHidden, kHidden}, t.r)},
        {"b", Floats({d, 2 * row.gates * kHidden}, t.b)},
        {"h", Floats(shapes.state, placed(t.h, d))}};
    if (row.gates == 4) inputs["c"] = Floats(shapes.state, placed(t.c, d));
    if (row.peepholes) inputs["p"] = Floats({d, 3 * kHidden}, t.p);
    const std::string graph = RnnGraph(row, shapes, d);
    SCOPED_TRACE(graph);
    const std::vector<Value> got = RunAll(graph, inputs);
    ASSERT_EQ(got.size(), row.gates == 4 ? 3U : 2U);
    const Results want = Expected(row, t);
    const auto near = [&](size_t index, const std::vector<float>& values) {
      EXPECT_THAT(got[index].tensor()->elements<float>(),
                  Pointwise(FloatNear(1e-5F), values));
    };
    near(0, placed(want.y, kSteps * d));
    near(1, placed(want.h, d));
    if (row.gates == 4) near(2, placed(want.c, d));
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
  const std::string call =
      "{ y = LSTM <hidden_size = 1> (x, w, r, , , , , p) }";
  const Tensor x = Floats({2, 1, 1}, {0.5F, -1});
  const std::vector<float> w = {1, -2, 0.5F, 3};
  const std::vector<float> r = {0.25F, 2, -1, 1};
  const std::vector<float> p = {0.5F, -0.5F, 1};
  const Tensor fed = RunGraph(
      "g (float[2,1,1] x, float[1,4,1] w, float[1,4,1] r, float[1,3] p) => "
      "(float[2,1,1,1] y) " +
          call,
      {{"x", x},
       {"w", Floats({1, 4, 1}, w)},
       {"r", Floats({1, 4, 1}, r)},
       {"p", Floats({1, 3}, p)}});
  const Tensor fixed = RunGraph(
      "g (float[2,1,1] x) => (float[2,1,1,1] y) <float[1,4,1] w = "
      "{1, -2, 0.5, 3}, float[1,4,1] r = {0.25, 2, -1, 1}, float[1,3] p = "
      "{0.5, -0.5, 1}> " +
          call,
      {{"x", x}});
  EXPECT_THAT(fixed.elements<float>(),
              Pointwise(FloatNear(1e-6F), fed.elements<float>()));
  EXPECT_NE(fixed.elements<float>()[1], 0);
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
