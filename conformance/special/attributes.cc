// SPDX-License-Identifier: Apache-2.0
//
// Attributes with values of their own, where the default, a neighbour's value
// or the other end would give something else: no case in which an attribute is
// ignored passes.

#include <cmath>

#include "conformance/special/special.h"

namespace assay::inline v1 {
namespace {

double Index(int64_t i) { return static_cast<double>(i); }

Value Counted(const Shape& shape) {
  return By(kF32, shape, [](int64_t i) { return Index(i + 1); });
}

// 1 to 9 as a picture.
Values Picture() { return {Counted({1, 1, 3, 3})}; }

// 1 to 7 on a line, through the weights 1, 10, 100 or 1, 10.
Values Line(std::initializer_list<double> weights) {
  return {Counted({1, 1, 7}),
          Of(kF32, {1, 1, static_cast<int64_t>(weights.size())}, weights)};
}

// (+-2^-10, the statistics 0 and 2^-20) / sqrt(2^-20 + 1e-5), to the nearest
// float32, and times 2 in the second half.
double WithDefaultEpsilon(int64_t i) {
  const double size = 1 / std::sqrt(1 + 1e-5 * 0x1p20);
  return static_cast<float>((i % 2 == 0 ? size : -size) * (i < 2 ? 1 : 2));
}

constexpr double kFewRoundings = 0x1p-20;
constexpr std::string_view kFewRoundingsReason =
    "eight roundings to float32, of 1e-5 and of a root among them";

#define ASSAY_CONV(taps, attributes, width)                        \
  "g (float[1,1,7] x, float[1,1," taps "] w) => (float[1,1," width \
  "] y) "                                                          \
  "{ y = Conv<" attributes ">(x, w) }"
#define ASSAY_POOL(op, attributes, height, width)        \
  "g (float[1,1,3,3] x) => (float[1,1," height "," width \
  "] y) "                                                \
  "{ y = " op "<" attributes ">(x) }"

constexpr SpecialCase kCases[] = {
    {"Gemm/all_attributes",
     "2 a^T b^T - 4 c with a [2,3], b [4,2] and c of one row",
     "g (float[2,3] a, float[4,2] b, float[4] c) => (float[3,4] y) "
     "{ y = Gemm<alpha = 2.0, beta = -4.0, transA = 1, transB = 1>(a, b, c) }",
     [] {
       return Values{Of(kF32, {2, 3}, {1, 2, 3, 10, 20, 30}),
                     Of(kF32, {4, 2}, {1, 0, 0, 1, 1, 1, 2, -1}),
                     Of(kF32, {4}, {1, 2, 3, 4})};
     },
     // a^T b^T: row i is k, 10 k, 11 k, -8 k with k = i + 1.
     [] {
       return Values{
           Of(kF32, {3, 4}, {-2, 12, 10, -32, 0, 32, 32, -48, 2, 52, 54, -64})};
     }},
    {"Gemm/square_trans_b", "of a square, b^T is not b",
     "g (float[2,2] a, float[2,2] b) => (float[2,2] y) "
     "{ y = Gemm<transB = 1>(a, b) }",
     [] {
       return Values{Of(kF32, {2, 2}, {1, 2, 3, 4}),
                     Of(kF32, {2, 2}, {5, 6, 7, 8})};
     },
     [] {
       return Values{Of(kF32, {2, 2}, {17, 23, 39, 53})};
     }},
    {"Gemm/square_trans_a", "of a square, a^T is not a; c is a column",
     "g (float[2,2] a, float[2,2] b, float[2,1] c) => (float[2,2] y) "
     "{ y = Gemm<transA = 1>(a, b, c) }",
     [] {
       return Values{Of(kF32, {2, 2}, {1, 2, 3, 4}),
                     Of(kF32, {2, 2}, {5, 6, 7, 8}),
                     Of(kF32, {2, 1}, {100, 200})};
     },
     [] {
       return Values{Of(kF32, {2, 2}, {126, 130, 238, 244})};
     }},
    {"Conv/begin_pad", "pads [2,0]: zeros before only",
     ASSAY_CONV("3", "pads = [2, 0]", "7"),
     [] {
       return Line({1, 10, 100});
     },
     [] {
       return Values{Of(kF32, {1, 1, 7}, {100, 210, 321, 432, 543, 654, 765})};
     }},
    {"Conv/end_pad", "pads [0,2]: zeros after only",
     ASSAY_CONV("3", "pads = [0, 2]", "7"),
     [] {
       return Line({1, 10, 100});
     },
     [] {
       return Values{Of(kF32, {1, 1, 7}, {321, 432, 543, 654, 765, 76, 7})};
     }},
    {"Conv/same_upper", "of two taps the odd pad is at the end",
     ASSAY_CONV("2", "auto_pad = \"SAME_UPPER\"", "7"),
     [] {
       return Line({1, 10});
     },
     [] {
       return Values{Of(kF32, {1, 1, 7}, {21, 32, 43, 54, 65, 76, 7})};
     }},
    {"Conv/same_lower", "of two taps the odd pad is at the beginning",
     ASSAY_CONV("2", "auto_pad = \"SAME_LOWER\"", "7"),
     [] {
       return Line({1, 10});
     },
     [] {
       return Values{Of(kF32, {1, 1, 7}, {10, 21, 32, 43, 54, 65, 76})};
     }},
    {"Conv/stride_and_dilation", "taps 3 apart, every 2nd place",
     ASSAY_CONV("2", "strides = [2], dilations = [3]", "2"),
     [] {
       return Line({1, 10});
     },
     [] {
       return Values{Of(kF32, {1, 1, 2}, {41, 63})};
     }},
    {"Conv/uneven_pads_2d", "begins and ends of both axes: [1,0,0,1]",
     "g (float[1,1,2,2] x, float[1,1,2,2] w) => (float[1,1,2,2] y) "
     "{ y = Conv<pads = [1, 0, 0, 1]>(x, w) }",
     [] {
       return Values{Of(kF32, {1, 1, 2, 2}, {1, 2, 3, 4}),
                     Of(kF32, {1, 1, 2, 2}, {1, 10, 100, 1000})};
     },
     [] {
       return Values{Of(kF32, {1, 1, 2, 2}, {2100, 200, 4321, 402})};
     }},
    {"Conv/uneven_strides_2d", "strides [1,2], dilations [2,1] of a 3 x 3",
     "g (float[1,1,3,3] x, float[1,1,2,1] w) => (float[1,1,1,2] y) "
     "{ y = Conv<strides = [1, 2], dilations = [2, 1]>(x, w) }",
     [] {
       Values inputs = Picture();
       inputs.push_back(Of(kF32, {1, 1, 2, 1}, {1, 10}));
       return inputs;
     },
     [] {
       return Values{Of(kF32, {1, 1, 1, 2}, {71, 93})};
     }},
    {"Conv/groups", "two groups of two channels, two outputs each, and a bias",
     "g (float[1,4,1] x, float[4,2,1] w, float[4] b) => (float[1,4,1] y) "
     "{ y = Conv<group = 2>(x, w, b) }",
     [] {
       return Values{Of(kF32, {1, 4, 1}, {1, 2, 3, 4}),
                     Of(kF32, {4, 2, 1}, {1, 10, 100, 0, 0, 1, 1, 10}),
                     Of(kF32, {4}, {0.5, 0, 0, 1000})};
     },
     [] {
       return Values{Of(kF32, {1, 4, 1}, {21.5, 100, 4, 1043})};
     }},
    {"Conv/weights_are_not_turned", "a correlation, with w of [2,3]",
     "g (float[1,1,2,3] x, float[1,1,2,3] w) => (float[1,1,1,1] y) "
     "{ y = Conv(x, w) }",
     [] {
       return Values{Counted({1, 1, 2, 3}),
                     Of(kF32, {1, 1, 2, 3}, {1, 0, 0, 10, 0, 100})};
     },
     [] {
       return Values{Of(kF32, {1, 1, 1, 1}, {641})};
     }},
    {"ConvTranspose/all_attributes",
     "stride 2, one off the begin, output_padding 1: places 1 to 5 of 1, 10 1, "
     "100 1 + 2, 10 2, 100 2, 0",
     "g (float[1,1,2] x, float[1,1,3] w) => (float[1,1,5] y) "
     "{ y = ConvTranspose<strides = [2], pads = [1, 0], output_padding = [1]>"
     "(x, w) }",
     [] {
       return Values{Of(kF32, {1, 1, 2}, {1, 2}),
                     Of(kF32, {1, 1, 3}, {1, 10, 100})};
     },
     [] {
       return Values{Of(kF32, {1, 1, 5}, {10, 102, 20, 200, 0})};
     }},
    {"ConvTranspose/groups",
     "w is [in, out per group]: not turned for a square",
     "g (float[1,2,1] x, float[2,2,1] w) => (float[1,2,1] a, float[1,4,1] b) "
     "{ a = ConvTranspose(x, w) b = ConvTranspose<group = 2>(x, w) }",
     [] {
       return Values{Of(kF32, {1, 2, 1}, {1, 10}),
                     Of(kF32, {2, 2, 1}, {1, 2, 3, 4})};
     },
     [] {
       return Values{Of(kF32, {1, 2, 1}, {31, 42}),
                     Of(kF32, {1, 4, 1}, {1, 2, 30, 40})};
     }},
    {"MaxPool/begin_pads", "pads [1,1,0,0] of negative numbers",
     "g (float[1,1,2,2] x) => (float[1,1,2,2] y) "
     "{ y = MaxPool<kernel_shape = [2, 2], pads = [1, 1, 0, 0]>(x) }",
     [] {
       return Values{Of(kF32, {1, 1, 2, 2}, {-4, -3, -2, -1})};
     },
     [] {
       return Values{Of(kF32, {1, 1, 2, 2}, {-4, -3, -2, -1})};
     }},
    {"MaxPool/end_pads", "pads [0,0,1,1] of negative numbers",
     "g (float[1,1,2,2] x) => (float[1,1,2,2] y) "
     "{ y = MaxPool<kernel_shape = [2, 2], pads = [0, 0, 1, 1]>(x) }",
     [] {
       return Values{Of(kF32, {1, 1, 2, 2}, {-1, -2, -3, -4})};
     },
     [] {
       return Values{Of(kF32, {1, 1, 2, 2}, {-1, -2, -3, -4})};
     }},
    {"MaxPool/ceil_mode", "a last window that is cut",
     ASSAY_POOL("MaxPool",
                "kernel_shape = [2, 2], strides = [2, 2], ceil_mode = 1", "2",
                "2"),
     &Picture,
     [] {
       return Values{Of(kF32, {1, 1, 2, 2}, {5, 6, 8, 9})};
     }},
    {"MaxPool/floor_mode", "no cut window by default",
     ASSAY_POOL("MaxPool", "kernel_shape = [2, 1], strides = [2, 1]", "1", "3"),
     &Picture,
     [] {
       return Values{Of(kF32, {1, 1, 1, 3}, {4, 5, 6})};
     }},
    {"MaxPool/dilations", "corners, of falling numbers",
     "g (float[1,1,3,4] x) => (float[1,1,1,2] y) "
     "{ y = MaxPool<kernel_shape = [2, 2], dilations = [2, 2]>(x) }",
     [] {
       return Values{
           Of(kF32, {1, 1, 3, 4}, {1, 90, 3, 4, 80, 70, 60, 50, 9, 91, 2, 8})};
     },
     [] {
       return Values{Of(kF32, {1, 1, 1, 2}, {9, 91})};
     }},
    {"MaxPool/indices",
     "of distinct numbers, in row-major and in column-major order",
     "g (float[1,1,2,3] x) => (float[1,1,1,2] a, int64[1,1,1,2] i, "
     "float[1,1,1,2] b, int64[1,1,1,2] j) "
     "{ a, i = MaxPool<kernel_shape = [2, 2]>(x) "
     "b, j = MaxPool<kernel_shape = [2, 2], storage_order = 1>(x) }",
     [] {
       return Values{Of(kF32, {1, 1, 2, 3}, {1, 5, 3, 4, 2, 6})};
     },
     [] {
       return Values{
           Of(kF32, {1, 1, 1, 2}, {5, 6}), Of(kI64, {1, 1, 1, 2}, {1, 5}),
           Of(kF32, {1, 1, 1, 2}, {5, 6}), Of(kI64, {1, 1, 1, 2}, {2, 5})};
     }},
    {"AveragePool/pads_counted", "count_include_pad 1: always 4",
     "g (float[1,1,2,2] x) => (float[1,1,2,2] y) { y = AveragePool<"
     "kernel_shape = [2, 2], pads = [1, 0, 0, 1], count_include_pad = 1>(x) }",
     [] {
       return Values{Of(kF32, {1, 1, 2, 2}, {4, 8, 16, 32})};
     },
     [] {
       return Values{Of(kF32, {1, 1, 2, 2}, {3, 2, 15, 10})};
     }},
    {"AveragePool/pads_not_counted", "the default: what is there",
     "g (float[1,1,2,2] x) => (float[1,1,2,2] y) { y = AveragePool<"
     "kernel_shape = [2, 2], pads = [1, 0, 0, 1]>(x) }",
     [] {
       return Values{Of(kF32, {1, 1, 2, 2}, {4, 8, 16, 32})};
     },
     [] {
       return Values{Of(kF32, {1, 1, 2, 2}, {6, 8, 15, 20})};
     }},
    {"AveragePool/ceil_mode", "a cut window counts what is there",
     ASSAY_POOL("AveragePool",
                "kernel_shape = [2, 2], strides = [2, 2], ceil_mode = 1", "2",
                "2"),
     &Picture,
     [] {
       return Values{Of(kF32, {1, 1, 2, 2}, {3, 4.5, 7.5, 9})};
     }},
    {"LpPool/p_1", "p = 1: a sum of magnitudes",
     "g (float[1,1,4] x) => (float[1,1,2] y) "
     "{ y = LpPool<kernel_shape = [2], strides = [2], p = 1>(x) }",
     [] {
       return Values{Of(kF32, {1, 1, 4}, {3, -4, 5, 12})};
     },
     [] {
       return Values{Of(kF32, {1, 1, 2}, {7, 17})};
     }},
    {"LeakyRelu/alpha", "1/4 and not 0.01",
     "g (float[4] x) => (float[4] y) { y = LeakyRelu<alpha = 0.25>(x) }",
     [] {
       return Values{Of(kF32, {4}, {-8, -1, 0, 3})};
     },
     [] {
       return Values{Of(kF32, {4}, {-2, -0.25, 0, 3})};
     }},
    {"ThresholdedRelu/alpha", "2 itself is not above 2",
     "g (float[4] x) => (float[4] y) { y = ThresholdedRelu<alpha = 2.0>(x) }",
     [] {
       return Values{Of(kF32, {4}, {-8, 1.5, 2, 3})};
     },
     [] {
       return Values{Of(kF32, {4}, {0, 0, 0, 3})};
     }},
    {"HardSigmoid/alpha_and_beta", "x / 4 + 1/8 between 0 and 1",
     "g (float[5] x) => (float[5] y) "
     "{ y = HardSigmoid<alpha = 0.25, beta = 0.125>(x) }",
     [] {
       return Values{Of(kF32, {5}, {-8, -0.25, 0, 2, 8})};
     },
     [] {
       return Values{Of(kF32, {5}, {0, 0.0625, 0.125, 0.625, 1})};
     }},
    {"Shrink/bias_and_lambda", "lambd 1.5, bias 0.25",
     "g (float[5] x) => (float[5] y) "
     "{ y = Shrink<lambd = 1.5, bias = 0.25>(x) }",
     [] {
       return Values{Of(kF32, {5}, {-2, -1.5, 0.5, 1.5, 3})};
     },
     [] {
       return Values{Of(kF32, {5}, {-1.75, 0, 0, 0, 2.75})};
     }},
    {"Clip/one_bound", "a minimum alone, and a maximum alone",
     "g (float[4] x, float c) => (float[4] a, float[4] b) "
     "{ a = Clip(x, c) b = Clip(x, \"\", c) }",
     [] {
       return Values{Of(kF32, {4}, {-9, 1, 2, 9}), Of(kF32, {}, {1.5})};
     },
     [] {
       return Values{Of(kF32, {4}, {1.5, 1.5, 2, 9}),
                     Of(kF32, {4}, {-9, 1, 1.5, 1.5})};
     }},
    {"CumSum/exclusive_and_reverse", "each by itself, and both",
     "g (float[4] x) => (float[4] a, float[4] b, float[4] c) "
     "<int64 axis = {0}> { a = CumSum<exclusive = 1>(x, axis) "
     "b = CumSum<reverse = 1>(x, axis) "
     "c = CumSum<exclusive = 1, reverse = 1>(x, axis) }",
     [] {
       return Values{Of(kF32, {4}, {1, 10, 100, 1000})};
     },
     [] {
       return Values{Of(kF32, {4}, {0, 1, 11, 111}),
                     Of(kF32, {4}, {1111, 1110, 1100, 1000}),
                     Of(kF32, {4}, {1110, 1100, 1000, 0})};
     }},
    {"LayerNormalization/epsilon", "variance 1 and epsilon 3: half",
     "g (float[2,4] x, float[4] s) => (float[2,4] y) "
     "{ y = LayerNormalization<epsilon = 3.0>(x, s) }",
     [] {
       return Values{Of(kF32, {2, 4}, {6, 4, 6, 4, 9, 9, 11, 11}),
                     Of(kF32, {4}, {2, 4, 8, 16})};
     },
     [] {
       return Values{Of(kF32, {2, 4}, {1, -2, 4, -8, -1, -2, 4, 8})};
     }},
    {"LayerNormalization/zero_variance",
     "of equal numbers the bias is left: epsilon keeps 0 / 0 away",
     "g (float[2,4] x, float[4] s, float[4] b) => (float[2,4] y) "
     "{ y = LayerNormalization(x, s, b) }",
     [] {
       return Values{Of(kF32, {2, 4}, {7, 7, 7, 7, -3, -3, -3, -3}),
                     Of(kF32, {4}, {2, 4, 8, 16}), Of(kF32, {4}, {1, 2, 3, 4})};
     },
     [] {
       return Values{Of(kF32, {2, 4}, {1, 2, 3, 4, 1, 2, 3, 4})};
     }},
    {"BatchNormalization/epsilon", "variances 1 and 13 and epsilon 3",
     "g (float[1,2,2] x, float[2] s, float[2] b, float[2] m, float[2] v) => "
     "(float[1,2,2] y) { y = BatchNormalization<epsilon = 3.0>(x, s, b, m, v) "
     "}",
     [] {
       return Values{Of(kF32, {1, 2, 2}, {4, 8, 4, 8}), Of(kF32, {2}, {1, 2}),
                     Of(kF32, {2}, {10, 20}), Of(kF32, {2}, {0, 4}),
                     Of(kF32, {2}, {1, 13})};
     },
     [] {
       return Values{Of(kF32, {1, 2, 2}, {12, 14, 20, 22})};
     }},
    {"InstanceNormalization/epsilon", "variance 1 and epsilon 3, zero variance",
     "g (float[1,2,2] x, float[2] s, float[2] b) => (float[1,2,2] y) "
     "{ y = InstanceNormalization<epsilon = 3.0>(x, s, b) }",
     [] {
       return Values{Of(kF32, {1, 2, 2}, {6, 4, 5, 5}), Of(kF32, {2}, {4, 8}),
                     Of(kF32, {2}, {1, 2})};
     },
     [] {
       return Values{Of(kF32, {1, 2, 2}, {3, -1, 2, 2})};
     }},
    {"BatchNormalization/default_epsilon", "1e-5, with a variance of 2^-20",
     "g (float[1,2,2] x, float[2] s, float[2] b, float[2] m, float[2] v) => "
     "(float[1,2,2] y) { y = BatchNormalization(x, s, b, m, v) }",
     [] {
       return Values{By(kF32, {1, 2, 2},
                        [](int64_t i) { return i % 2 ? -0x1p-10 : 0x1p-10; }),
                     Of(kF32, {2}, {1, 2}), Of(kF32, {2}, {0, 0}),
                     Of(kF32, {2}, {0, 0}), All(kF32, {2}, 0x1p-20)};
     },
     [] {
       return Values{By(kF32, {1, 2, 2}, WithDefaultEpsilon)};
     },
     kFewRoundings, kFewRoundingsReason},
    {"InstanceNormalization/default_epsilon", "1e-5, with a variance of 2^-20",
     "g (float[1,2,2] x, float[2] s, float[2] b) => (float[1,2,2] y) { y = "
     "InstanceNormalization(x, s, b) }",
     [] {
       return Values{By(kF32, {1, 2, 2},
                        [](int64_t i) { return i % 2 ? -0x1p-10 : 0x1p-10; }),
                     Of(kF32, {2}, {1, 2}), Of(kF32, {2}, {0, 0})};
     },
     [] {
       return Values{By(kF32, {1, 2, 2}, WithDefaultEpsilon)};
     },
     kFewRoundings, kFewRoundingsReason},
    {"GroupNormalization/default_epsilon", "1e-5, with a variance of 2^-20",
     "g (float[1,2,2] x, float[2] s, float[2] b) => (float[1,2,2] y) { y = "
     "GroupNormalization<num_groups = 2>(x, s, b) }",
     [] {
       return Values{By(kF32, {1, 2, 2},
                        [](int64_t i) { return i % 2 ? -0x1p-10 : 0x1p-10; }),
                     Of(kF32, {2}, {1, 2}), Of(kF32, {2}, {0, 0})};
     },
     [] {
       return Values{By(kF32, {1, 2, 2}, WithDefaultEpsilon)};
     },
     kFewRoundings, kFewRoundingsReason},
    {"LayerNormalization/default_epsilon", "1e-5, with a variance of 2^-20",
     "g (float[1,4] x, float[4] s) => (float[1,4] y) { y = "
     "LayerNormalization(x, s) }",
     [] {
       return Values{By(kF32, {1, 4},
                        [](int64_t i) { return i % 2 ? -0x1p-10 : 0x1p-10; }),
                     Of(kF32, {4}, {1, 1, 2, 2})};
     },
     [] {
       return Values{By(kF32, {1, 4}, WithDefaultEpsilon)};
     },
     kFewRoundings, kFewRoundingsReason},
    {"RMSNormalization/default_epsilon", "1e-5, with a variance of 2^-20",
     "g (float[1,4] x, float[4] s) => (float[1,4] y) { y = RMSNormalization(x, "
     "s) }",
     [] {
       return Values{By(kF32, {1, 4},
                        [](int64_t i) { return i % 2 ? -0x1p-10 : 0x1p-10; }),
                     Of(kF32, {4}, {1, 1, 2, 2})};
     },
     [] {
       return Values{By(kF32, {1, 4}, WithDefaultEpsilon)};
     },
     kFewRoundings, kFewRoundingsReason},
    {"LRN/all_attributes", "x / sqrt(12 + 3/3 sum of squares of 3 channels)",
     "g (float[1,4,1] x) => (float[1,4,1] y) "
     "{ y = LRN<size = 3, alpha = 3.0, beta = 0.5, bias = 12.0>(x) }",
     [] {
       return Values{Of(kF32, {1, 4, 1}, {2, 0, 0, -2})};
     },
     [] {
       return Values{Of(kF32, {1, 4, 1}, {0.5, 0, 0, -0.5})};
     }},
    {"DepthToSpace/dcr_and_crd", "the two modes, of 4 channels of 1 x 2",
     "g (float[1,8,1,1] x) => (float[1,2,2,2] a, float[1,2,2,2] b) "
     "{ a = DepthToSpace<blocksize = 2>(x) "
     "b = DepthToSpace<blocksize = 2, mode = \"CRD\">(x) }",
     [] {
       return Values{Counted({1, 8, 1, 1})};
     },
     [] {
       return Values{Of(kF32, {1, 2, 2, 2}, {1, 3, 5, 7, 2, 4, 6, 8}),
                     Counted({1, 2, 2, 2})};
     }},
    {"Pad/modes", "3 before and 2 after: edge, reflect, wrap; -1 cuts",
     "g (float[4] x, int64[2] p, int64[2] n) => (float[9] a, float[9] b, "
     "float[9] c, float[4] d) { a = Pad<mode = \"edge\">(x, p) "
     "b = Pad<mode = \"reflect\">(x, p) c = Pad<mode = \"wrap\">(x, p) "
     "d = Pad(x, n) }",
     [] {
       return Values{Counted({4}), Of(kI64, {2}, {3, 2}),
                     Of(kI64, {2}, {-1, 1})};
     },
     [] {
       return Values{Of(kF32, {9}, {1, 1, 1, 1, 2, 3, 4, 4, 4}),
                     Of(kF32, {9}, {4, 3, 2, 1, 2, 3, 4, 3, 2}),
                     Of(kF32, {9}, {2, 3, 4, 1, 2, 3, 4, 1, 2}),
                     Of(kF32, {4}, {2, 3, 4, 0})};
     }},
    {"Trilu/diagonals", "k = 1 above, k = -1 below",
     "g (float[3,3] x, int64 p, int64 n) => (float[3,3] a, float[3,3] b) "
     "{ a = Trilu(x, p) b = Trilu<upper = 0>(x, n) }",
     [] {
       return Values{Counted({3, 3}), Whole(kI64, {}, {1}),
                     Whole(kI64, {}, {-1})};
     },
     [] {
       return Values{Of(kF32, {3, 3}, {0, 2, 3, 0, 0, 6, 0, 0, 0}),
                     Of(kF32, {3, 3}, {0, 0, 0, 4, 0, 0, 7, 8, 0})};
     }},
};

#undef ASSAY_POOL
#undef ASSAY_CONV

}  // namespace

std::span<const SpecialCase> AttributesCases() { return kCases; }

}  // namespace assay::inline v1
