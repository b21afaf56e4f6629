// SPDX-License-Identifier: Apache-2.0
//
// Powers of two, and statistics that are whole: every step is exact in binary
// arithmetic, so that nothing is left to a tolerance. Where a formula divides,
// it divides by a power of two.

#include <cmath>

#include "conformance/special/special.h"

namespace assay::inline v1 {
namespace {

constexpr SpecialCase kCases[] = {
    {"Mul/powers_of_two", "2^i * 2^-i = 1, and neighbours",
     "g (float[200] a, float[200] b) => (float[200] y) { y = Mul(a, b) }",
     [] {
       return Values{
           By(kF32, {200}, [](int64_t i) { return std::ldexp(1, i - 100); }),
           By(kF32, {200},
              [](int64_t i) { return std::ldexp(1, 100 - i + i % 5); })};
     },
     [] {
       return Values{
           By(kF32, {200}, [](int64_t i) { return std::ldexp(1, i % 5); })};
     }},
    {"Div/powers_of_two", "a quotient of powers of two is exact",
     "g (float[120] a, float[120] b) => (float[120] y) { y = Div(a, b) }",
     [] {
       return Values{
           By(kF32, {120}, [](int64_t i) { return std::ldexp(3, i - 60); }),
           By(kF32, {120}, [](int64_t i) { return std::ldexp(-1, 60 - i); })};
     },
     [] {
       return Values{By(kF32, {120},
                        [](int64_t i) { return std::ldexp(-3, 2 * i - 120); })};
     }},
    {"Div/float32_not_by_reciprocal",
     "IEEE 754 divides with one rounding: 3/3, 49/49, 5/5 and so on are 1; "
     "49 * (1/49) is not",
     "g (float[127] a, float[127] b) => (float[127] y) { y = Div(a, b) }",
     [] {
       return Values{
           By(kF32, {127}, [](int64_t i) { return (i + 1) * 3.0; }),
           By(kF32, {127}, [](int64_t i) {
             return static_cast<double>(i % 2 == 0 ? 3 * (i + 1) : i + 1);
           })};
     },
     [] {
       return Values{
           By(kF32, {127}, [](int64_t i) { return i % 2 == 0 ? 1 : 3; })};
     }},
    {"Reciprocal/powers_of_two", "1 / 2^n = 2^-n",
     "g (float[60] x) => (float[60] y) { y = Reciprocal(x) }",
     [] {
       return Values{
           By(kF32, {60}, [](int64_t i) { return std::ldexp(-1, i - 30); })};
     },
     [] {
       return Values{
           By(kF32, {60}, [](int64_t i) { return std::ldexp(-1, 30 - i); })};
     }},
    {"Exp/zero", "e^0 = 1, of either zero",
     "g (float[3] x) => (float[3] y) { y = Exp(x) }",
     [] {
       return Values{Of(kF32, {3}, {0, -0.0, -kInf})};
     },
     [] {
       return Values{Of(kF32, {3}, {1, 1, 0})};
     }},
    {"Log/one", "log 1 = 0", "g (float[3] x) => (float[3] y) { y = Log(x) }",
     [] {
       return Values{Of(kF32, {3}, {1, kInf, 0})};
     },
     [] {
       return Values{Of(kF32, {3}, {0, kInf, -kInf})};
     }},
    {"Sqrt/squares", "sqrt(4^n) = 2^n, and of squares below 2^24",
     "g (float[4095] x) => (float[4095] y) { y = Sqrt(x) }",
     [] {
       return Values{By(kF32, {4095}, [](int64_t i) {
         return i < 126 ? std::ldexp(1, 2 * (i - 63))
                        : static_cast<double>(i * i);
       })};
     },
     [] {
       return Values{By(kF32, {4095}, [](int64_t i) {
         return i < 126 ? std::ldexp(1, i - 63) : static_cast<double>(i);
       })};
     }},
    {"Sqrt/float64_squares", "of (2^25 + i)^2, which float32 arithmetic loses",
     "g (double[64] x) => (double[64] y) { y = Sqrt(x) }",
     [] {
       return Values{By(kF64, {64}, [](int64_t i) {
         return (0x1p25 + static_cast<double>(i)) *
                (0x1p25 + static_cast<double>(i));
       })};
     },
     [] {
       return Values{By(kF64, {64}, [](int64_t i) {
         return 0x1p25 + static_cast<double>(i);
       })};
     }},
    {"Pow/two_to_the_n", "2^n for n from -20 to 20, an integer exponent",
     "g (float[41] a, int64[41] b) => (float[41] y) { y = Pow(a, b) }",
     [] {
       return Values{All(kF32, {41}, 2),
                     WholeBy(kI64, {41}, [](int64_t i) { return i - 20; })};
     },
     [] {
       return Values{
           By(kF32, {41}, [](int64_t i) { return std::ldexp(1, i - 20); })};
     }},
    {"Pow/squares", "x^2 of whole numbers, negative ones too",
     "g (float[64] a) => (float[64] y) <float two = {2}> { y = Pow(a, two) }",
     [] {
       return Values{By(kF32, {64}, [](int64_t i) {
         return static_cast<double>(i - 32) * 64;
       })};
     },
     [] {
       return Values{By(kF32, {64}, [](int64_t i) {
         return static_cast<double>((i - 32) * (i - 32)) * 4096;
       })};
     }},
    {"LayerNormalization/whole_statistics",
     "mean 10 and variance 4, then mean -8 and variance 64: D is 2 or 8",
     "g (float[2,4] x, float[4] s, float[4] b) => (float[2,4] y) "
     "{ y = LayerNormalization<epsilon = 0.0>(x, s, b) }",
     [] {
       return Values{Of(kF32, {2, 4}, {12, 8, 12, 8, 0, -16, -16, 0}),
                     Of(kF32, {4}, {1, 2, 4, 8}), Of(kF32, {4}, {0, 1, -1, 3})};
     },
     [] {
       return Values{Of(kF32, {2, 4}, {1, -1, 3, -5, 1, -1, -5, 11})};
     }},
    {"LayerNormalization/axis_1", "statistics over both of the last axes",
     "g (float[2,2,2] x, float[2,2] s) => (float[2,2,2] y) "
     "{ y = LayerNormalization<axis = 1, epsilon = 0.0>(x, s) }",
     [] {
       return Values{Of(kF32, {2, 2, 2}, {12, 8, 8, 12, 5, 5, 3, 3}),
                     Of(kF32, {2, 2}, {1, 2, 4, 8})};
     },
     [] {
       return Values{Of(kF32, {2, 2, 2}, {1, -2, -4, 8, 1, 2, -4, -8})};
     }},
    {"BatchNormalization/powers_of_two",
     "variances 4 and 0.25, means 2 and -1, with epsilon 0",
     "g (float[1,2,3] x, float[2] s, float[2] b, float[2] m, float[2] v) => "
     "(float[1,2,3] y) { y = BatchNormalization<epsilon = 0.0>(x, s, b, m, v) "
     "}",
     [] {
       return Values{Of(kF32, {1, 2, 3}, {2, 4, 6, -1, 0, 1}),
                     Of(kF32, {2}, {2, 4}), Of(kF32, {2}, {1, -1}),
                     Of(kF32, {2}, {2, -1}), Of(kF32, {2}, {4, 0.25})};
     },
     [] {
       return Values{Of(kF32, {1, 2, 3}, {1, 3, 5, -1, 7, 15})};
     }},
    {"InstanceNormalization/whole_statistics", "each channel by itself",
     "g (float[1,2,4] x, float[2] s, float[2] b) => (float[1,2,4] y) "
     "{ y = InstanceNormalization<epsilon = 0.0>(x, s, b) }",
     [] {
       return Values{Of(kF32, {1, 2, 4}, {12, 8, 12, 8, 0, -16, -16, 0}),
                     Of(kF32, {2}, {2, 4}), Of(kF32, {2}, {1, -1})};
     },
     [] {
       return Values{Of(kF32, {1, 2, 4}, {3, -1, 3, -1, 3, -5, -5, 3})};
     }},
    {"GroupNormalization/whole_statistics",
     "two groups of two channels: mean 10 and variance 4, mean -8 and 64",
     "g (float[1,4,2] x, float[4] s, float[4] b) => (float[1,4,2] y) "
     "{ y = GroupNormalization<num_groups = 2, epsilon = 0.0>(x, s, b) }",
     [] {
       return Values{Of(kF32, {1, 4, 2}, {12, 8, 8, 12, 0, -16, -16, 0}),
                     Of(kF32, {4}, {1, 2, 4, 8}), Of(kF32, {4}, {0, 1, -1, 3})};
     },
     [] {
       return Values{Of(kF32, {1, 4, 2}, {1, -1, -1, 3, 3, -5, -5, 11})};
     }},
    {"RMSNormalization/powers_of_two", "root mean squares 4 and 1/2",
     "g (float[2,4] x, float[4] s) => (float[2,4] y) "
     "{ y = RMSNormalization<epsilon = 0.0>(x, s) }",
     [] {
       return Values{Of(kF32, {2, 4}, {4, -4, 4, -4, 0.5, 0.5, -0.5, -0.5}),
                     Of(kF32, {4}, {1, 2, 4, 8})};
     },
     [] {
       return Values{Of(kF32, {2, 4}, {1, -2, 4, -8, 1, 2, -4, -8})};
     }},
    {"LpNormalization/whole_norms", "l2 norms 4 and 8",
     "g (float[2,4] x) => (float[2,4] y) "
     "{ y = LpNormalization<axis = 1, p = 2>(x) }",
     [] {
       return Values{Of(kF32, {2, 4}, {2, 2, -2, 2, 0, 8, 0, 0})};
     },
     [] {
       return Values{Of(kF32, {2, 4}, {0.5, 0.5, -0.5, 0.5, 0, 1, 0, 0})};
     }},
    {"LpNormalization/axis_0", "norms of the columns: 4 and 8, and 1 of p = 1",
     "g (float[4,2] x) => (float[4,2] y, float[4,2] z) "
     "{ y = LpNormalization<axis = 0>(x) "
     "z = LpNormalization<axis = 0, p = 1>(x) }",
     [] {
       return Values{Of(kF32, {4, 2}, {2, 0, 2, 8, -2, 0, 2, 0})};
     },
     [] {
       return Values{Of(kF32, {4, 2}, {0.5, 0, 0.5, 1, -0.5, 0, 0.5, 0}),
                     Of(kF32, {4, 2}, {0.25, 0, 0.25, 1, -0.25, 0, 0.25, 0})};
     }},
    {"Softmax/equal_logits", "1/4 of four equal, 1/2 of two beside -inf",
     "g (float[3,4] x) => (float[3,4] y) { y = Softmax(x) }",
     [] {
       return Values{Of(
           kF32, {3, 4},
           {7, 7, 7, 7, -kInf, 1000, 1000, -kInf, -1000, -kInf, -kInf, -kInf})};
     },
     [] {
       return Values{Of(kF32, {3, 4},
                        {0.25, 0.25, 0.25, 0.25, 0, 0.5, 0.5, 0, 1, 0, 0, 0})};
     }},
};

}  // namespace

std::span<const SpecialCase> PowersCases() { return kCases; }

}  // namespace assay::inline v1
