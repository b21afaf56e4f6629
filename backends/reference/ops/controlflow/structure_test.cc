// SPDX-License-Identifier: Apache-2.0
//
// Control flow, sequences, recurrence, labels and quantized numbers: what
// ONNX's cases do not reach, by values worked out by hand.

#include <gtest/gtest.h>

#include "backends/reference/kernel_rows.h"
#include "framework/testing/support/tensors_fixture.h"

namespace assay::reference {
namespace {

void ExpectGraphRefused(const std::string& graph,
                        const std::vector<Feed>& feeds) {
  ExpectRefusals({{graph, feeds, /*message=*/""}});
}

constexpr const char* kDoubling =
    "g (int64 m, bool c, float[2] s) => (float[2] last, float[N,2] all) "
    "{ last, all = Loop <body = b (int64 i, bool c0, float[2] s0) => "
    "(bool c1, float[2] s1, float[2] seen) "
    "{ c1 = Identity (c0) seen = Identity (s0) s1 = Add (s0, s0) }> "
    "(m, c, s) }";

TEST(Control, LoopStacksWhatItScansAlsoWhenThereIsNothing) {
  const Feed yes = B({}, {1});
  const Feed start = F({2}, {1, 3});
  ExpectRows({
      {kDoubling,
       {I({}, {3}), yes, start},
       {F({2}, {8, 24}), F({3, 2}, {1, 3, 2, 6, 4, 12})}},
      {kDoubling, {I({}, {0}), yes, start}, {start, F({0, 2}, {})}},
      {kDoubling, {I({}, {3}), B({}, {0}), start}, {start, F({0, 2}, {})}},
  });
}

TEST(Control, ScanReadsAndStacksAlongItsAxesBackwards) {
  // Columns of x from the last on; their sums so far, the last first.
  ExpectRows(
      {Of("last, all = Scan <num_scan_inputs = 1, scan_input_axes = [1], "
          "scan_input_directions = [1], scan_output_axes = [1], "
          "scan_output_directions = [1], body = b (float[2] s0, float[2] x0) "
          "=>(float[2] s1, float[2] seen) { s1 = Add (s0, x0) seen = Identity "
          "(s1) }>(s, x)",
          {F({2}, {0, 100}), F({2, 3}, {1, 2, 3, 10, 20, 30})},
          {F({2}, {6, 160}), F({2, 3}, {6, 5, 3, 160, 150, 130})})});
}

TEST(Sequences, PositionsCountFromEitherEnd) {
  // [a], then b before it, then without the last: [b].
  ExpectRows({{"g (float[2] a, float[2] b, int64 p) => (float[2] y, int64 n) "
               "{ one = SequenceConstruct (a) two = SequenceInsert (one, b, p) "
               "left = SequenceErase (two) y = SequenceAt (left, p) "
               "n = SequenceLength (two) }",
               {F({2}, {1, 2}), F({2}, {3, 4}), I({}, {-1})},
               {F({2}, {3, 4}), I({}, {2})}},
              {"g (float[2] a, float[2] b) => (float[2,2] y) "
               "{ s = SequenceConstruct (a, b) "
               "y = ConcatFromSequence <axis = -1, new_axis = 1> (s) }",
               {F({2}, {1, 2}), F({2}, {3, 4})},
               {F({2, 2}, {1, 3, 2, 4})}},
              // Two slices and what is left.
              {"g (float[3] x, int64 k, int64 p) => (float[N] y) "
               "{ s = SplitToSequence (x, k) y = SequenceAt (s, p) }",
               {F({3}, {1, 2, 3}), I({}, {2}), I({}, {1})},
               {F({1}, {3})}}});
  ExpectGraphRefused(
      "g (float[2] a, int64 p) => (float[2] y) "
      "{ s = SequenceConstruct (a) y = SequenceAt (s, p) }",
      {F({2}, {1, 2}), I({}, {1})});
  for (const double size : {0.0, -1.0}) {
    ExpectGraphRefused(
        "g (float[3] x, int64 k) => (int64 n) "
        "{ s = SplitToSequence (x, k) n = SequenceLength (s) }",
        {F({3}, {1, 2, 3}), I({}, {size})});
  }
  ExpectGraphRefused(
      "g (float[3] x, int64[2] k) => (int64 n) "
      "{ s = SplitToSequence (x, k) n = SequenceLength (s) }",
      {F({3}, {1, 2, 3}), I({2}, {2, 2})});
}

TEST(Recurrence, ConfinesAndConsumesTheParametersInOrder) {
  // 2 * clip(10) + 1 with clip 3, then 2 * clip(-10) + 1.
  ExpectRows(
      {Of("RNN<hidden_size = 1, clip = 3.0, activations = [\"affine\"], "
          "activation_alpha = [2.0], activation_beta = [1.0]>(x, w, r)",
          {F({2, 1, 1}, {10, -10}), F({1, 1, 1}, {1}), F({1, 1, 1}, {0})},
          {F({2, 1, 1, 1}, {7, -5})}),
       // Tanh takes no alpha, so that LeakyRelu has the first.
       Of("RNN<hidden_size = 1, direction = \"bidirectional\", activations = "
          "[\"Tanh\", \"LeakyRelu\"], activation_alpha = [0.5]>(x, w, r)",
          {F({1, 1, 1}, {-2}), F({2, 1, 1}, {0, 1}), F({2, 1, 1}, {0, 0})},
          {F({1, 2, 1, 1}, {0, -1})})});
}

TEST(Recurrence, ReversesWithinTheLengthOfEachSequence) {
  // h = x + 10 h: from step 1 of 2, then step 0; the third step is zero.
  ExpectRows(
      {Of("y, h = RNN <hidden_size = 1, layout = 1, direction = \"reverse\", "
          "activations = [\"Affine\"]>(x, w, r, , n)",
          {F({1, 3, 1}, {1, 2, 3}),
           F({1, 1, 1}, {1}),
           F({1, 1, 1}, {10}),
           {DType::kInt32, {1}, {2}}},
          {F({1, 3, 1, 1}, {21, 2, 0}), F({1, 1, 1}, {21})})});
}

TEST(Recurrence, LstmCouplesForgettingToTheInputGate) {
  // The input gate is open: nothing of c = 4 is kept, nothing is added.
  ExpectRows(
      {{"g (float[1,1,1] x, float[1,4,1] w, float[1,4,1] r, "
        "float[1,8] b, float[1,1,1] h0, float[1,1,1] c0) => "
        "(float[1,1,1] c) { y, h, c = LSTM <hidden_size = 1, "
        "input_forget = 1> (x, w, r, b, , h0, c0) }",
        {F({1, 1, 1}, {0}), F({1, 4, 1}, {0, 0, 0, 0}),
         F({1, 4, 1}, {0, 0, 0, 0}), F({1, 8}, {100, 0, 0, 0, 0, 0, 0, 0}),
         F({1, 1, 1}, {0}), F({1, 1, 1}, {4})},
        {F({1, 1, 1}, {0})}}});
}

TEST(Einsum, SumsOverTheLabelsThatTheOutputLacks) {
  const Feed a = F({2, 2}, {1, 2, 3, 4});
  ExpectRows({
      Of("Einsum<equation = \"ii->i\">(a)", {a}, {F({2}, {1, 4})}),
      Of("Einsum<equation = \"ii\">(a)", {a}, {F({}, {5})}),
      // Implicit: the ellipsis first, then by alphabet.
      Of("Einsum<equation = \"ba\">(a)", {a}, {F({2, 2}, {1, 3, 2, 4})}),
      Of("Einsum<equation = \"... i, i -> ...\">(a, b)",
         {I({1, 2, 2}, {1, 2, 3, 4}), I({2}, {10, 100})},
         {I({1, 2}, {210, 430})}),
      Of("Einsum<equation = \"i,i,i->\">(a, b, c)",
         {F({2}, {1, 2}), F({2}, {3, 4}), F({2}, {5, 6})}, {F({}, {63})}),
  });
  for (const char* equation : {"i->j", "ij", "i->ii", "i1", "i,i", "..ij"}) {
    ExpectGraphRefused(std::string("g (float[2] a) => (float[N] y) "
                                   "{ y = Einsum <equation = \"") +
                           equation + "\"> (a) }",
                       {F({2}, {1, 2})});
  }
  ExpectGraphRefused(
      "g (float[2] a, float[3] b) => (float y) "
      "{ y = Einsum <equation = \"i,i->\"> (a, b) }",
      {F({2}, {1, 2}), F({3}, {1, 2, 3})});
}

TEST(Unique, KeepsTheOrderOfFirstOccurrenceWhenUnsorted) {
  const std::string outputs =
      " => (float[A] y, int64[B] first, int64[C] of, int64[D] n) ";
  const Feed x = F({5}, {3, 1, 3, kNan, kNan});
  ExpectRows({
      {"g (float[5] x)" + outputs +
           "{ y, first, of, n = Unique <sorted = 0> (x) }",
       {x},
       {F({3}, {3, 1, kNan}), I({3}, {0, 1, 3}), I({5}, {0, 1, 0, 2, 2}),
        I({3}, {2, 1, 2})}},
      {"g (float[5] x)" + outputs + "{ y, first, of, n = Unique (x) }",
       {x},
       {F({3}, {1, 3, kNan}), I({3}, {1, 0, 3}), I({5}, {1, 0, 1, 2, 2}),
        I({3}, {1, 2, 2})}},
  });
}

TEST(Quantization, RoundsTiesToEvenAndSaturates) {
  const Feed int4 = {DType::kInt4, {4}, {7, -8, 2, 1}};
  ExpectRows({
      Of("QuantizeLinear (x, s, z)",
         {F({4}, {5, 7, 900, -900}), F({}, {2}), {DType::kUint8, {}, {1}}},
         {{DType::kUint8, {4}, {3, 5, 255, 0}}}),
      // Blocks of two elements: 20 and -20 over 1, then 4 and 2 over 2.
      Of("QuantizeLinear<axis = 0, block_size = 2>(x, s, z)",
         {F({4}, {20, -20, 4, 2}), F({2}, {1, 2}), {DType::kInt4, {2}, {0, 0}}},
         {int4}),
      // The last block is short.
      Of("DequantizeLinear<axis = 0, block_size = 3>(x, s)",
         {{DType::kUint8, {4}, {1, 2, 3, 4}}, F({2}, {1, 10})},
         {F({4}, {1, 2, 3, 40})}),
      Of("DequantizeLinear<axis = 0, block_size = 2>(x, s)",
         {int4, F({2}, {1, 10})}, {F({4}, {7, -8, 20, 10})}),
  });
  ExpectGraphRefused(
      "g (float[4] x, float[3] s) => (uint8[4] y) "
      "{ y = QuantizeLinear <axis = 0> (x, s) }",
      {F({4}, {1, 2, 3, 4}), F({3}, {1, 1, 1})});
}

TEST(LinearAlgebra, ExchangedRowsTurnTheSign) {
  ExpectRows({Of("Det (x)", {D({2, 2, 2}, {0, 2, 3, 0, 1, 2, 2, 4})},
                 {D({2}, {-6, 0})}),
              Of("Det (x)", {F({0, 0}, {})}, {F({}, {1})})});
}

TEST(LinearAlgebra, InverseOfAOnesidedSpectrumIsTheSignal) {
  // An odd length has to be said; the spectrum of (1, 2, 4) is cut to two.
  ExpectRows(
      {{"g (float[1,3,1] x, int64 n, int64 a) => (float[1,3,1] y) "
        "{ s = DFT <onesided = 1> (x, n, a) "
        "y = DFT <onesided = 1, inverse = 1> (s, n, a) }",
        {F({1, 3, 1}, {1, 2, 4}), I({}, {3}), I({}, {1})},
        {F({1, 3, 1}, {1, 2, 4})}}});
}

}  // namespace
}  // namespace assay::reference
