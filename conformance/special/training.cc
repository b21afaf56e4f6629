// SPDX-License-Identifier: Apache-2.0
//
// ai.onnx.preview.training by hand: attributes and types that ONNX's cases
// leave at one value, and gradients of more than scalars. Source: the pages of
// Adagrad-1, Adam-1, Momentum-1 and Gradient-1, whose letters the rows keep.
// Attributes and inputs are sums of few powers of two, so that every step of
// the pseudo code is exact.

#include "conformance/special/special.h"

namespace assay::inline v1 {
namespace {

#define ASSAY_TRAIN "ai.onnx.preview.training."
#define ASSAY_MOMENTUM(type, mode)                                            \
  "g (" type " r, int64 t, " type "[1] x, " type "[1] g, " type               \
  "[1] v) => (" type "[1] xn, " type "[1] vn) { xn, vn = " ASSAY_TRAIN        \
  "Momentum<alpha = 0.5, beta = 0.25, norm_coefficient = 1.0, mode = \"" mode \
  "\">(r, t, x, g, v) }"

Values Moving(DType type, int64_t t) {
  return {Of(type, {}, {0.125}), Whole(kI64, {}, {t}), Of(type, {1}, {1}),
          Of(type, {1}, {2}), Of(type, {1}, {4})};
}

Values Adapting(DType type, int64_t t) {
  return {Of(type, {}, {4}),  Whole(kI64, {}, {t}), Of(type, {1}, {1}),
          Of(type, {1}, {2}), Of(type, {1}, {4}),   Of(type, {1}, {20})};
}

#define ASSAY_ADAM(type)                                                       \
  "g (" type " r, int64 t, " type "[1] x, " type "[1] g, " type "[1] v, " type \
  "[1] h) => (" type "[1] xn, " type "[1] vn, " type                           \
  "[1] hn) { xn, vn, hn = " ASSAY_TRAIN                                        \
  "Adam<alpha = 0.5, beta = 0.75, "                                            \
  "epsilon = 0.0, norm_coefficient_post = 0.5>(r, t, x, g, v, h) }"

constexpr double kFewRoundings = 0x1p-21;
constexpr std::string_view kFewRoundingsReason =
    "a sum, a product and a division in float32";

constexpr SpecialCase kCases[] = {
    {"training.Momentum/first",
     "G' = 1 + 2; at T = 0 the gradient counts whole: V = 2 + 3, X = 1 - 5/8",
     ASSAY_MOMENTUM("float", "standard"), [] { return Moving(kF32, 0); },
     [] {
       return Values{Of(kF32, {1}, {0.375}), Of(kF32, {1}, {5})};
     }},
    {"training.Momentum/later", "then by beta: V = 2 + 3/4, X = 1 - V/8",
     ASSAY_MOMENTUM("double", "standard"), [] { return Moving(kF64, 1); },
     [] {
       return Values{Of(kF64, {1}, {0.65625}), Of(kF64, {1}, {2.75})};
     }},
    {"training.Momentum/nesterov", "X = 1 - (3 + V/2)/8 = 1 - 4.375/8",
     ASSAY_MOMENTUM("double", "nesterov"), [] { return Moving(kF64, 7); },
     [] {
       return Values{Of(kF64, {1}, {0.453125}), Of(kF64, {1}, {2.75})};
     }},
    {"training.Adagrad/decay",
     "r = 1 / (1 + 3), G' = 1 + 3, H = 9 + 16, X = 2 - 1/4 * 4 / (5 + 3)",
     "g (double r, int64 t, double[1] x, double[1] g, double[1] h) => "
     "(double[1] xn, double[1] hn) { xn, hn = " ASSAY_TRAIN
     "Adagrad<decay_factor = 1.0, norm_coefficient = 0.5, epsilon = 3.0>"
     "(r, t, x, g, h) }",
     [] {
       return Values{Of(kF64, {}, {1}), Whole(kI64, {}, {3}),
                     Of(kF64, {1}, {2}), Of(kF64, {1}, {3}),
                     Of(kF64, {1}, {9})};
     },
     [] {
       return Values{Of(kF64, {1}, {1.875}), Of(kF64, {1}, {25})};
     }},
    {"training.Adam/first",
     "V = 2 + 1, H = 15 + 1; at T = 0 r is R: X = (1 - 4 * 3/4) / 2",
     ASSAY_ADAM("float"), [] { return Adapting(kF32, 0); },
     [] {
       return Values{Of(kF32, {1}, {-1}), Of(kF32, {1}, {3}),
                     Of(kF32, {1}, {16})};
     }},
    {"training.Adam/second", "r = 4 * sqrt(1 - 3/4) / (1 - 1/2) is 4 again",
     ASSAY_ADAM("double"), [] { return Adapting(kF64, 1); },
     [] {
       return Values{Of(kF64, {1}, {-1}), Of(kF64, {1}, {3}),
                     Of(kF64, {1}, {16})};
     }},
    {"training.Adam/corrected",
     "r = 4 * sqrt(1 - 3/4) / (1 - 3/4) = 8, V = 3.5, H = 16: X = 1 - 8 * 7/8",
     "g (float r, int64 t, float[1] x, float[1] g, float[1] v, float[1] h) => "
     "(float[1] xn, float[1] vn, float[1] hn) { xn, vn, hn = " ASSAY_TRAIN
     "Adam<alpha = 0.75, beta = 0.75, epsilon = 0.0>(r, t, x, g, v, h) }",
     [] { return Adapting(kF32, 1); },
     [] {
       return Values{Of(kF32, {1}, {-6}), Of(kF32, {1}, {3.5}),
                     Of(kF32, {1}, {16})};
     }},
    {"training.Adam/epsilon",
     "it is added to the root, not to H: X = 1 - 4 * 3 / (4 + 4)",
     "g (double r, int64 t, double[1] x, double[1] g, double[1] v, double[1] "
     "h) => (double[1] xn, double[1] vn, double[1] hn) "
     "{ xn, vn, hn = " ASSAY_TRAIN
     "Adam<alpha = 0.5, beta = 0.75, epsilon = 4.0>(r, t, x, g, v, h) }",
     [] { return Adapting(kF64, 0); },
     [] {
       return Values{Of(kF64, {1}, {-0.5}), Of(kF64, {1}, {3}),
                     Of(kF64, {1}, {16})};
     }},
    {"training.Adam/defaults",
     "1 - 0.9 and 1 - 0.999, exact as they are floats; no norms, and no step",
     "g (float r, int64 t, float[1] x, float[1] g, float[1] v, float[1] h) => "
     "(float[1] xn, float[1] vn, float[1] hn) { xn, vn, hn = " ASSAY_TRAIN
     "Adam(r, t, x, g, v, h) }",
     [] {
       return Values{Of(kF32, {}, {0}),  Whole(kI64, {}, {0}),
                     Of(kF32, {1}, {3}), Of(kF32, {1}, {1}),
                     Of(kF32, {1}, {0}), Of(kF32, {1}, {0})};
     },
     [] {
       return Values{Of(kF32, {1}, {3}), Of(kF32, {1}, {1 - 0.9F}),
                     Of(kF32, {1}, {1 - 0.999F})};
     }},
    {"training.Adam/default_epsilon", "beside a root of 0: X = -0.9 / 1e-6",
     "g (float r, int64 t, float[1] x, float[1] g, float[1] v, float[1] h) => "
     "(float[1] xn, float[1] vn, float[1] hn) { xn, vn, hn = " ASSAY_TRAIN
     "Adam(r, t, x, g, v, h) }",
     [] {
       return Values{Of(kF32, {}, {1}),  Whole(kI64, {}, {0}),
                     Of(kF32, {1}, {0}), Of(kF32, {1}, {0}),
                     Of(kF32, {1}, {1}), Of(kF32, {1}, {0})};
     },
     [] {
       return Values{Of(kF32, {1}, {-0.9F / 1e-6F}), Of(kF32, {1}, {0.9F}),
                     Of(kF32, {1}, {0})};
     },
     kFewRoundings, kFewRoundingsReason},
    {"training.Gradient/of_vectors",
     "d = a a b: 2 a b and a a; a gradient of each element by itself",
     "g (double[2] a, double[2] b) => (double[2] p, double[2] q) "
     "{ c = Mul(a, b) d = Mul(c, a) p, q = " ASSAY_TRAIN
     "Gradient<xs = [\"a\", \"b\"], y = \"d\">(a, b) }",
     [] {
       return Values{Of(kF64, {2}, {2, 3}), Of(kF64, {2}, {5, 7})};
     },
     [] {
       return Values{Of(kF64, {2}, {20, 42}), Of(kF64, {2}, {4, 9})};
     }},
    {"training.Gradient/of_an_intermediate",
     "d = c a, where c is independent: a and c, at the values that are fed",
     "g (float[2] a, float[2] b) => (float[2] p, float[2] q) "
     "{ c = Mul(a, b) d = Mul(c, a) p, q = " ASSAY_TRAIN
     "Gradient<xs = [\"c\", \"a\"], y = \"d\">(b, a) }",
     [] {
       return Values{Of(kF32, {2}, {2, 3}), Of(kF32, {2}, {5, 7})};
     },
     [] {
       return Values{Of(kF32, {2}, {2, 3}), Of(kF32, {2}, {5, 7})};
     }},
    {"training.Gradient/held_fixed", "with b in zs and fed as a: 2 a a",
     "g (float[2] a, float[2] b) => (float[2] p) "
     "{ c = Mul(a, b) d = Mul(c, a) p = " ASSAY_TRAIN
     "Gradient<xs = [\"a\"], zs = [\"b\"], y = \"d\">(a, a) }",
     [] {
       return Values{Of(kF32, {2}, {2, 3}), Of(kF32, {2}, {5, 7})};
     },
     [] {
       return Values{Of(kF32, {2}, {8, 18})};
     }},
    {"training.Gradient/of_a_sum",
     "y has two elements, x one: the derivative of 5 a + 7 a; w is fixed",
     "g (double[1] a) => (double[1] p) <double[2] w = {5.0, 7.0}> "
     "{ d = Mul(w, a) p = " ASSAY_TRAIN
     "Gradient<xs = [\"a\"], y = \"d\">(a) }",
     [] { return Values{Of(kF64, {1}, {2})}; },
     [] { return Values{Of(kF64, {1}, {12})}; }},
    {"training.Gradient/by_an_initializer", "of w a by w: a",
     "g (double[2] a) => (double[2] p) <double[2] w = {5.0, 7.0}> "
     "{ d = Mul(w, a) p = " ASSAY_TRAIN
     "Gradient<xs = [\"w\"], zs = [\"a\"], y = \"d\">(w, a) }",
     [] {
       return Values{Of(kF64, {2}, {2, 3})};
     },
     [] {
       return Values{Of(kF64, {2}, {2, 3})};
     }},
    {"training.Gradient/of_a_square", "a a by a is 2 a, and by b nothing",
     "g (float[2] a, float[2] b) => (float[2] p, float[2] q) "
     "{ c = Mul(a, a) p, q = " ASSAY_TRAIN
     "Gradient<xs = [\"a\", \"b\"], y = \"c\">(a, b) }",
     [] {
       return Values{Of(kF32, {2}, {2, 3}), Of(kF32, {2}, {5, 7})};
     },
     [] {
       return Values{Of(kF32, {2}, {4, 6}), Of(kF32, {2}, {0, 0})};
     }},
    {"training.Momentum/two_tensors",
     "first the tensors, then their gradients, then their states: X - (V/2 + "
     "G)",
     "g (float r, int64 t, float[2] a, float[1] b, float[2] ga, float[1] gb, "
     "float[2] va, float[1] vb) => (float[2] an, float[1] bn, float[2] wa, "
     "float[1] wb) { an, bn, wa, wb = " ASSAY_TRAIN
     "Momentum<alpha = 0.5, beta = 1.0, norm_coefficient = 0.0, "
     "mode = \"standard\">(r, t, a, b, ga, gb, va, vb) }",
     [] {
       return Values{Of(kF32, {}, {1}),       Whole(kI64, {}, {3}),
                     Of(kF32, {2}, {10, 20}), Of(kF32, {1}, {30}),
                     Of(kF32, {2}, {1, 2}),   Of(kF32, {1}, {3}),
                     Of(kF32, {2}, {4, 8}),   Of(kF32, {1}, {16})};
     },
     [] {
       return Values{Of(kF32, {2}, {7, 14}), Of(kF32, {1}, {19}),
                     Of(kF32, {2}, {3, 6}), Of(kF32, {1}, {11})};
     }},
    {"training.Adagrad/first", "at T = 0 the decay says nothing: 2 - 4 / 8",
     "g (float r, int64 t, float[1] x, float[1] g, float[1] h) => "
     "(float[1] xn, float[1] hn) { xn, hn = " ASSAY_TRAIN
     "Adagrad<decay_factor = 1.0, norm_coefficient = 0.5, epsilon = 3.0>"
     "(r, t, x, g, h) }",
     [] {
       return Values{Of(kF32, {}, {1}), Whole(kI64, {}, {0}),
                     Of(kF32, {1}, {2}), Of(kF32, {1}, {3}),
                     Of(kF32, {1}, {9})};
     },
     [] {
       return Values{Of(kF32, {1}, {1.5}), Of(kF32, {1}, {25})};
     }},
    {"training.Adagrad/defaults",
     "no decay and no norm: r is R, G' is G; epsilon is lost beside 2^30",
     "g (float r, int64 t, float[1] x, float[1] g, float[1] h) => "
     "(float[1] xn, float[1] hn) { xn, hn = " ASSAY_TRAIN
     "Adagrad(r, t, x, g, h) }",
     [] {
       return Values{Of(kF32, {}, {1}), Whole(kI64, {}, {9}),
                     Of(kF32, {1}, {3}), Of(kF32, {1}, {0x1p30}),
                     Of(kF32, {1}, {0})};
     },
     [] {
       return Values{Of(kF32, {1}, {2}), Of(kF32, {1}, {0x1p60})};
     }},
    {"training.Adagrad/default_epsilon",
     "it is 1e-6, as great as the root of H: X = -2^-20 / (2^-20 + 1e-6)",
     "g (float r, int64 t, float[1] x, float[1] g, float[1] h) => "
     "(float[1] xn, float[1] hn) { xn, hn = " ASSAY_TRAIN
     "Adagrad(r, t, x, g, h) }",
     [] {
       return Values{Of(kF32, {}, {1}), Whole(kI64, {}, {0}),
                     Of(kF32, {1}, {0}), Of(kF32, {1}, {0x1p-20}),
                     Of(kF32, {1}, {0})};
     },
     [] {
       return Values{Of(kF32, {1}, {-0x1p-20F / (0x1p-20F + 1e-6F)}),
                     Of(kF32, {1}, {0x1p-40})};
     },
     kFewRoundings, kFewRoundingsReason},
};

}  // namespace

std::span<const SpecialCase> TrainingCases() { return kCases; }

}  // namespace assay::inline v1
