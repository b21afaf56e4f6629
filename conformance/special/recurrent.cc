// SPDX-License-Identifier: Apache-2.0
//
// RNN, GRU and LSTM by hand: gates that differ, states, lengths, directions and
// activations without exp. Source: the equations on the pages of RNN-22, GRU-22
// and LSTM-22, whose letters the rows keep. What Y holds behind the end of a
// short sequence they do not say: there only Y_h and Y_c are asked for.
//
// HardSigmoid is f(x) = min(max(x, 0), 1) here and Affine g(x) = x, so that
// gates of 1/8, 1/4, 1/2 and 3/4 are exact.

#include "conformance/special/special.h"

namespace assay::inline v1 {
namespace {

#define ASSAY_RELU "activations = [\"Relu\"]"
#define ASSAY_GRU                                 \
  "activations = [\"HardSigmoid\", \"Affine\"], " \
  "activation_alpha = [1.0, 1.0], activation_beta = [0.0, 0.0]"
#define ASSAY_GRU_TWICE                                                        \
  "activations = [\"HardSigmoid\", \"Affine\", \"HardSigmoid\", \"Affine\"], " \
  "activation_alpha = [1.0, 1.0, 1.0, 1.0], "                                  \
  "activation_beta = [0.0, 0.0, 0.0, 0.0]"
#define ASSAY_LSTM                                            \
  "activations = [\"HardSigmoid\", \"Affine\", \"Affine\"], " \
  "activation_alpha = [1.0, 1.0, 1.0], activation_beta = [0.0, 0.0, 0.0]"
#define ASSAY_LSTM_TWICE                                     \
  "activations = [\"HardSigmoid\", \"Affine\", \"Affine\", " \
  "\"HardSigmoid\", \"Affine\", \"Affine\"], "               \
  "activation_alpha = [1.0, 1.0, 1.0, 1.0, 1.0, 1.0], "      \
  "activation_beta = [0.0, 0.0, 0.0, 0.0, 0.0, 0.0]"

// W x + R h of 3 inputs and 2 states: (321, 654) + (21, 2100).
Values Unequal() {
  return {Of(kF32, {1, 1, 3}, {1, 10, 100}), Of(kF32, {1, 1, 2}, {1, 2})};
}

Values UnequalSums() { return {Of(kF32, {1, 1, 2}, {342, 2754})}; }

// W and R of GRU, h0 = 8, and x = 1.
Values OneStep() {
  return {Of(kF32, {1, 1, 1}, {1}), Of(kF32, {1, 1, 1}, {8})};
}

constexpr SpecialCase kCases[] = {
    {"RNN/rows_of_r",
     "h1 = x + h1 + 2 h2, h2 = x + h2 of x = 1, 0, 0: 1, 3, 5 and 1; by the "
     "columns of R 1 and 1, 3, 5",
     "g (float[3,1,1] x) => (float[3,1,1,2] y, float[1,1,2] h) "
     "<float[1,2,1] w = {1, 1}, float[1,2,2] r = {1, 2, 0, 1}> "
     "{ y, h = RNN<hidden_size = 2, " ASSAY_RELU ">(x, w, r) }",
     [] {
       return Values{Of(kF32, {3, 1, 1}, {1, 0, 0})};
     },
     [] {
       return Values{Of(kF32, {3, 1, 1, 2}, {1, 1, 3, 1, 5, 1}),
                     Of(kF32, {1, 1, 2}, {5, 1})};
     }},
    {"RNN/unequal_extents", "3 inputs, 2 states: (321 + 21, 654 + 2100)",
     "g (float[1,1,3] x, float[1,1,2] h0) => (float[1,1,2] h) "
     "<float[1,2,3] w = {1, 2, 3, 4, 5, 6}, "
     "float[1,2,2] r = {1, 10, 100, 1000}> "
     "{ y, h = RNN<hidden_size = 2, " ASSAY_RELU ">(x, w, r, \"\", \"\", h0) }",
     Unequal, UnequalSums},
    {"RNN/initial_state",
     "h = (x + h1, x + 2 h2) from (10, 20) over 1, 2 and from (3, 4) over 0, "
     "-1: (11, 41), (13, 84) and (3, 8), (2, 15)",
     "g (float[2,2,1] x, float[1,2,2] h0) => "
     "(float[2,1,2,2] y, float[1,2,2] h) "
     "<float[1,2,1] w = {1, 1}, float[1,2,2] r = {1, 0, 0, 2}> "
     "{ y, h = RNN<hidden_size = 2, " ASSAY_RELU ">(x, w, r, \"\", \"\", h0) }",
     [] {
       return Values{Of(kF32, {2, 2, 1}, {1, 0, 2, -1}),
                     Of(kF32, {1, 2, 2}, {10, 20, 3, 4})};
     },
     [] {
       return Values{Of(kF32, {2, 1, 2, 2}, {11, 41, 3, 8, 13, 84, 2, 15}),
                     Of(kF32, {1, 2, 2}, {13, 84, 2, 15})};
     }},
    {"RNN/sequence_lens",
     "sums of 1, 2, 4 and of 8, whose sequence ends before 16 and 32",
     "g (float[3,2,1] x, int32[2] lens) => (float[1,2,1] h) "
     "<float[1,1,1] w = {1}, float[1,1,1] r = {1}> "
     "{ y, h = RNN<hidden_size = 1, " ASSAY_RELU ">(x, w, r, \"\", lens) }",
     [] {
       return Values{Of(kF32, {3, 2, 1}, {1, 8, 2, 16, 4, 32}),
                     Whole(kI32, {2}, {3, 1})};
     },
     [] {
       return Values{Of(kF32, {1, 2, 1}, {7, 8})};
     }},
    {"RNN/sequence_lens_reverse",
     "h = x + 2 h from the end of each sequence: 4, 10, 21 and 16, 40",
     "g (float[3,2,1] x, int32[2] lens) => (float[1,2,1] h) "
     "<float[1,1,1] w = {1}, float[1,1,1] r = {2}> "
     "{ y, h = RNN<hidden_size = 1, direction = \"reverse\", " ASSAY_RELU
     ">(x, w, r, \"\", lens) }",
     [] {
       return Values{Of(kF32, {3, 2, 1}, {1, 8, 2, 16, 4, 32}),
                     Whole(kI32, {2}, {3, 2})};
     },
     [] {
       return Values{Of(kF32, {1, 2, 1}, {21, 40})};
     }},
    {"RNN/reverse", "100 + 4 + 2 + 1 from the end, at the places of x",
     "g (float[3,1,1] x, float[1,1,1] h0) => "
     "(float[3,1,1,1] y, float[1,1,1] h) "
     "<float[1,1,1] w = {1}, float[1,1,1] r = {1}> "
     "{ y, h = RNN<hidden_size = 1, direction = \"reverse\", " ASSAY_RELU
     ">(x, w, r, \"\", \"\", h0) }",
     [] {
       return Values{Of(kF32, {3, 1, 1}, {1, 2, 4}),
                     Of(kF32, {1, 1, 1}, {100})};
     },
     [] {
       return Values{Of(kF32, {3, 1, 1, 1}, {107, 106, 104}),
                     Of(kF32, {1, 1, 1}, {107})};
     }},
    {"RNN/bidirectional",
     "forward x + h: 1, 3, 7; backward x + 2 h: 4, 10, 21; side by side",
     "g (float[3,1,1] x) => (float[3,2,1,1] y, float[2,1,1] h) "
     "<float[2,1,1] w = {1, 1}, float[2,1,1] r = {1, 2}> "
     "{ y, h = RNN<hidden_size = 1, direction = \"bidirectional\", "
     "activations = [\"Relu\", \"Relu\"]>(x, w, r) }",
     [] {
       return Values{Of(kF32, {3, 1, 1}, {1, 2, 4})};
     },
     [] {
       return Values{Of(kF32, {3, 2, 1, 1}, {1, 21, 3, 10, 7, 4}),
                     Of(kF32, {2, 1, 1}, {7, 21})};
     }},
    {"RNN/layout_1",
     "the same, batch first, for 1, 2, 4 from 0 and 0, and for 1, 0, 0 from 10 "
     "and 100: 11, 11, 11 and 200, 400, 801",
     "g (float[2,3,1] x, float[2,2,1] h0) => "
     "(float[2,3,2,1] y, float[2,2,1] h) "
     "<float[2,1,1] w = {1, 1}, float[2,1,1] r = {1, 2}> "
     "{ y, h = RNN<hidden_size = 1, direction = \"bidirectional\", layout = 1, "
     "activations = [\"Relu\", \"Relu\"]>(x, w, r, \"\", \"\", h0) }",
     [] {
       return Values{Of(kF32, {2, 3, 1}, {1, 2, 4, 1, 0, 0}),
                     Of(kF32, {2, 2, 1}, {0, 0, 10, 100})};
     },
     [] {
       return Values{Of(kF32, {2, 3, 2, 1},
                        {1, 21, 3, 10, 7, 4, 11, 801, 11, 400, 11, 200}),
                     Of(kF32, {2, 2, 1}, {7, 21, 11, 801})};
     }},
    {"RNN/biases",
     "(x + 1 + 10 + h1, 2 x + 2 + 20 + h2) of 1, 2: (12, 24), (25, 50)",
     "g (float[2,1,1] x) => (float[2,1,1,2] y) "
     "<float[1,2,1] w = {1, 2}, float[1,2,2] r = {1, 0, 0, 1}, "
     "float[1,4] b = {1, 2, 10, 20}> "
     "{ y = RNN<hidden_size = 2, " ASSAY_RELU ">(x, w, r, b) }",
     [] {
       return Values{Of(kF32, {2, 1, 1}, {1, 2})};
     },
     [] {
       return Values{Of(kF32, {2, 1, 1, 2}, {12, 24, 25, 50})};
     }},
    {"RNN/clip_before_activation",
     "2 min(x + h, 5) of x = 3: 2 * 3, then 2 * 5, above the clip",
     "g (float[3,1,1] x) => (float[3,1,1,1] y) "
     "<float[1,1,1] w = {1}, float[1,1,1] r = {1}> "
     "{ y = RNN<hidden_size = 1, clip = 5.0, activations = [\"Affine\"], "
     "activation_alpha = [2.0], activation_beta = [0.0]>(x, w, r) }",
     [] {
       return Values{All(kF32, {3, 1, 1}, 3)};
     },
     [] {
       return Values{Of(kF32, {3, 1, 1, 1}, {6, 10, 10})};
     }},
    {"GRU/gates",
     "z, r, h of x = 1: 1/4, 1/2, 2 + 4 * 8/2 = 18, so 3/4 * 18 + 8/4 = 15.5; "
     "of 2: 1/2, 1, 4 + 4 * 15.5 = 66, so 33 + 7.75",
     "g (float[2,1,1] x, float[1,1,1] h0) => (float[2,1,1,1] y) "
     "<float[1,3,1] w = {0.25, 0.5, 2}, float[1,3,1] r = {0, 0, 4}> "
     "{ y = GRU<hidden_size = 1, " ASSAY_GRU ">(x, w, r, \"\", \"\", h0) }",
     [] {
       return Values{Of(kF32, {2, 1, 1}, {1, 2}), Of(kF32, {1, 1, 1}, {8})};
     },
     [] {
       return Values{Of(kF32, {2, 1, 1, 1}, {15.5, 40.75})};
     }},
    {"GRU/bias_behind_reset",
     "linear_before_reset: h = 2 + 1 + 1/2 (4 * 8 + 3) = 20.5, and "
     "3/4 * 20.5 + 8/4",
     "g (float[1,1,1] x, float[1,1,1] h0) => (float[1,1,1] h) "
     "<float[1,3,1] w = {0.25, 0.5, 2}, float[1,3,1] r = {0, 0, 4}, "
     "float[1,6] b = {0, 0, 1, 0, 0, 3}> "
     "{ y, h = GRU<hidden_size = 1, linear_before_reset = 1, " ASSAY_GRU
     ">(x, w, r, b, \"\", h0) }",
     OneStep,
     [] {
       return Values{Of(kF32, {1, 1, 1}, {17.375})};
     }},
    {"GRU/bias_beside_reset",
     "by default the bias is not reset: h = 2 + 1 + 1/2 * 8 * 4 + 3 = 22",
     "g (float[1,1,1] x, float[1,1,1] h0) => (float[1,1,1] h) "
     "<float[1,3,1] w = {0.25, 0.5, 2}, float[1,3,1] r = {0, 0, 4}, "
     "float[1,6] b = {0, 0, 1, 0, 0, 3}> "
     "{ y, h = GRU<hidden_size = 1, " ASSAY_GRU ">(x, w, r, b, \"\", h0) }",
     OneStep,
     [] {
       return Values{Of(kF32, {1, 1, 1}, {18.5})};
     }},
    // R of h swaps (8, 4); r = (0, 1) and z = 0, so H = (1, 2) and one number.
    {"GRU/product_before_reset", "linear_before_reset: (0, 1) * (4, 8)",
     "g (float[1,1,1] x, float[1,1,2] h0) => (float[1,1,2] h) "
     "<float[1,6,1] w = {0, 0, 0, 1, 1, 2}, "
     "float[1,6,2] r = {0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0}> "
     "{ y, h = GRU<hidden_size = 2, linear_before_reset = 1, " ASSAY_GRU
     ">(x, w, r, \"\", \"\", h0) }",
     [] {
       return Values{Of(kF32, {1, 1, 1}, {1}), Of(kF32, {1, 1, 2}, {8, 4})};
     },
     [] {
       return Values{Of(kF32, {1, 1, 2}, {1, 10})};
     }},
    {"GRU/reset_before_product", "by default (0, 1) * (8, 4), swapped",
     "g (float[1,1,1] x, float[1,1,2] h0) => (float[1,1,2] h) "
     "<float[1,6,1] w = {0, 0, 0, 1, 1, 2}, "
     "float[1,6,2] r = {0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0}> "
     "{ y, h = GRU<hidden_size = 2, " ASSAY_GRU ">(x, w, r, \"\", \"\", h0) }",
     [] {
       return Values{Of(kF32, {1, 1, 1}, {1}), Of(kF32, {1, 1, 2}, {8, 4})};
     },
     [] {
       return Values{Of(kF32, {1, 1, 2}, {5, 2})};
     }},
    {"GRU/sequence_lens",
     "(x + h) / 2 of 2, 4, 8 from 16: 9, 6.5, 7.25; of 32 from 64: 48",
     "g (float[3,2,1] x, int32[2] lens, float[1,2,1] h0) => (float[1,2,1] h) "
     "<float[1,3,1] w = {0, 0, 1}, float[1,3,1] r = {0, 0, 0}, "
     "float[1,6] b = {0.5, 0, 0, 0, 0, 0}> "
     "{ y, h = GRU<hidden_size = 1, " ASSAY_GRU ">(x, w, r, b, lens, h0) }",
     [] {
       return Values{Of(kF32, {3, 2, 1}, {2, 32, 4, 128, 8, 256}),
                     Whole(kI32, {2}, {3, 1}), Of(kF32, {1, 2, 1}, {16, 64})};
     },
     [] {
       return Values{Of(kF32, {1, 2, 1}, {7.25, 48})};
     }},
    {"GRU/bidirectional",
     "forward z = 1/2 from 16: 9, 6.5, 7.25; backward z = 1/4 from 64: "
     "6 + 16, 3 + 5.5, 1.5 + 2.125",
     "g (float[3,1,1] x, float[2,1,1] h0) => "
     "(float[3,2,1,1] y, float[2,1,1] h) "
     "<float[2,3,1] w = {0, 0, 1, 0, 0, 1}, "
     "float[2,3,1] r = {0, 0, 0, 0, 0, 0}, "
     "float[2,6] b = {0.5, 0, 0, 0, 0, 0, 0.25, 0, 0, 0, 0, 0}> "
     "{ y, h = GRU<hidden_size = 1, direction = "
     "\"bidirectional\", " ASSAY_GRU_TWICE ">(x, w, r, b, \"\", h0) }",
     [] {
       return Values{Of(kF32, {3, 1, 1}, {2, 4, 8}),
                     Of(kF32, {2, 1, 1}, {16, 64})};
     },
     [] {
       return Values{Of(kF32, {3, 2, 1, 1}, {9, 3.625, 6.5, 8.5, 7.25, 22}),
                     Of(kF32, {2, 1, 1}, {7.25, 3.625})};
     }},
    {"GRU/unequal_extents", "z = 0, r = 1: (321 + 21, 654 + 2100)",
     "g (float[1,1,3] x, float[1,1,2] h0) => (float[1,1,2] h) "
     "<float[1,6,3] w = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6},"
     " float[1,6,2] r = {0, 0, 0, 0, 0, 0, 0, 0, 1, 10, 100, 1000}, "
     "float[1,12] b = {0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0}> "
     "{ y, h = GRU<hidden_size = 2, " ASSAY_GRU ">(x, w, r, b, \"\", h0) }",
     Unequal, UnequalSums},
    {"LSTM/gates",
     "i, o, f, c of x = 1: 1/2, 1/4, 3/4, 2, so C = 6 + 1 and H = 7/4; of 1/2: "
     "1/4, 1/8, 3/8, 1 + 4 * 7/4, so C = 2.625 + 2 and H = C / 8",
     "g (float[2,1,1] x, float[1,1,1] h0, float[1,1,1] c0) => "
     "(float[2,1,1,1] y, float[1,1,1] h, float[1,1,1] c) "
     "<float[1,4,1] w = {0.5, 0.25, 0.75, 2}, float[1,4,1] r = {0, 0, 0, 4}> "
     "{ y, h, c = LSTM<hidden_size = 1, " ASSAY_LSTM
     ">(x, w, r, \"\", \"\", h0, c0) }",
     [] {
       return Values{Of(kF32, {2, 1, 1}, {1, 0.5}), Of(kF32, {1, 1, 1}, {0}),
                     Of(kF32, {1, 1, 1}, {8})};
     },
     [] {
       return Values{Of(kF32, {2, 1, 1, 1}, {1.75, 0.578125}),
                     Of(kF32, {1, 1, 1}, {0.578125}),
                     Of(kF32, {1, 1, 1}, {4.625})};
     }},
    {"LSTM/initial_states",
     "i, o, f = h/2, h/4, h/8: of h 1, c 16, x 4 C = 2 + 2, H = C / 4; of h 2, "
     "c 32, x 8 C = 8 + 8, H = C / 2",
     "g (float[1,2,1] x, float[1,2,1] h0, float[1,2,1] c0) => "
     "(float[1,2,1] h, float[1,2,1] c) "
     "<float[1,4,1] w = {0, 0, 0, 1}, "
     "float[1,4,1] r = {0.5, 0.25, 0.125, 0}> "
     "{ y, h, c = LSTM<hidden_size = 1, " ASSAY_LSTM
     ">(x, w, r, \"\", \"\", h0, c0) }",
     [] {
       return Values{Of(kF32, {1, 2, 1}, {4, 8}), Of(kF32, {1, 2, 1}, {1, 2}),
                     Of(kF32, {1, 2, 1}, {16, 32})};
     },
     [] {
       return Values{Of(kF32, {1, 2, 1}, {1, 8}), Of(kF32, {1, 2, 1}, {4, 16})};
     }},
    {"LSTM/sequence_lens",
     "C = (C + x) / 2, H = C / 2: of 4 2, its sequence ends before 64; of 8, "
     "16 "
     "4, 10",
     "g (float[2,2,1] x, int32[2] lens) => (float[1,2,1] h, float[1,2,1] c) "
     "<float[1,4,1] w = {0, 0, 0, 1}, float[1,4,1] r = {0, 0, 0, 0}, "
     "float[1,8] b = {0.5, 0.5, 0.5, 0, 0, 0, 0, 0}> "
     "{ y, h, c = LSTM<hidden_size = 1, " ASSAY_LSTM ">(x, w, r, b, lens) }",
     [] {
       return Values{Of(kF32, {2, 2, 1}, {4, 8, 64, 16}),
                     Whole(kI32, {2}, {1, 2})};
     },
     [] {
       return Values{Of(kF32, {1, 2, 1}, {1, 5}), Of(kF32, {1, 2, 1}, {2, 10})};
     }},
    {"LSTM/peepholes",
     "in the order i, o, f: i = 2/4, f = 3/8 * 2, C = 1.5 + 4/2, and o sees "
     "that C: C / 8",
     "g (float[1,1,1] x, float[1,1,1] h0, float[1,1,1] c0) => "
     "(float[1,1,1] h, float[1,1,1] c) "
     "<float[1,4,1] w = {0, 0, 0, 1}, float[1,4,1] r = {0, 0, 0, 0}, "
     "float[1,3] p = {0.25, 0.125, 0.375}> "
     "{ y, h, c = LSTM<hidden_size = 1, " ASSAY_LSTM
     ">(x, w, r, \"\", \"\", h0, c0, p) }",
     [] {
       return Values{Of(kF32, {1, 1, 1}, {4}), Of(kF32, {1, 1, 1}, {0}),
                     Of(kF32, {1, 1, 1}, {2})};
     },
     [] {
       return Values{Of(kF32, {1, 1, 1}, {1.53125}),
                     Of(kF32, {1, 1, 1}, {3.5})};
     }},
    {"LSTM/bidirectional",
     "forward H = C, the sums 1, 3, 7; backward C = x + C / 2: 4, 4, 3, and "
     "H = C / 2",
     "g (float[3,1,1] x) => "
     "(float[3,2,1,1] y, float[2,1,1] h, float[2,1,1] c) "
     "<float[2,4,1] w = {0, 0, 0, 1, 0, 0, 0, 1}, "
     "float[2,4,1] r = {0, 0, 0, 0, 0, 0, 0, 0}, "
     "float[2,8] b = {1, 1, 1, 0, 0, 0, 0, 0, 1, 0.5, 0.5, 0, 0, 0, 0, 0}> "
     "{ y, h, c = LSTM<hidden_size = 1, direction = "
     "\"bidirectional\", " ASSAY_LSTM_TWICE ">(x, w, r, b) }",
     [] {
       return Values{Of(kF32, {3, 1, 1}, {1, 2, 4})};
     },
     [] {
       return Values{Of(kF32, {3, 2, 1, 1}, {1, 1.5, 3, 2, 7, 2}),
                     Of(kF32, {2, 1, 1}, {7, 1.5}),
                     Of(kF32, {2, 1, 1}, {7, 3})};
     }},
    {"LSTM/unequal_extents", "i = o = 1, f = 0: (321 + 21, 654 + 2100)",
     "g (float[1,1,3] x, float[1,1,2] h0) => (float[1,1,2] h) "
     "<float[1,8,3] w = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, "
     "1, 2, 3, 4, 5, 6}, "
     "float[1,8,2] r = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 10, 100, 1000}, "
     "float[1,16] b = {1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}> "
     "{ y, h = LSTM<hidden_size = 2, " ASSAY_LSTM ">(x, w, r, b, \"\", h0) }",
     Unequal, UnequalSums},
};

#undef ASSAY_RELU
#undef ASSAY_GRU
#undef ASSAY_GRU_TWICE
#undef ASSAY_LSTM
#undef ASSAY_LSTM_TWICE

}  // namespace

std::span<const SpecialCase> RecurrentCases() { return kCases; }

}  // namespace assay::inline v1
