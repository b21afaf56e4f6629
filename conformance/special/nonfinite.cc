// SPDX-License-Identifier: Apache-2.0
//
// NaN and infinity. What arithmetic, comparison and the elementary functions do
// with them is IEEE 754 (clauses 6.1, 6.2, 7 and 9.2.1). For Max, Min, Relu,
// Clip, ReduceMax, ReduceMin, ArgMax, ArgMin and Sign ONNX's text says nothing
// of NaN; there it is ONNX's reference implementation, numpy: a NaN operand
// gives NaN, and the first NaN is the extreme. The reference implementation of
// MaxPool passes over NaN, others do not, and it is not here.

#include "conformance/special/special.h"

namespace assay::inline v1 {
namespace {

#define ASSAY_OF_ONE(op) "g (float[6] x) => (float[6] y) { y = " op "(x) }"
#define ASSAY_OF_TWO(op) \
  "g (float[6] a, float[6] b) => (float[6] y) { y = " op "(a, b) }"
#define ASSAY_COMPARE(op) \
  "g (float[6] a, float[6] b) => (bool[6] y) { y = " op "(a, b) }"

Values One(std::initializer_list<double> x) { return {Of(kF32, {6}, x)}; }

Values Two(std::initializer_list<double> a, std::initializer_list<double> b) {
  return {Of(kF32, {6}, a), Of(kF32, {6}, b)};
}

Values Truths(std::initializer_list<double> x) { return {Of(kBool, {6}, x)}; }

Values Compared() {
  return Two({kNan, kNan, 1, kInf, -kInf, kInf},
             {kNan, 1, kNan, kInf, kInf, 1});
}

constexpr SpecialCase kCases[] = {
    {"Add/nonfinite", "inf - inf is NaN, NaN stays (IEEE 754, 7.2)",
     ASSAY_OF_TWO("Add"),
     [] {
       return Two({kInf, kInf, kNan, 1, 0x1.fffffep127, -kInf},
                  {-kInf, kInf, 1, kNan, 0x1.fffffep127, 1});
     },
     [] {
       return One({kNan, kInf, kNan, kNan, kInf, -kInf});
     }},
    {"Sub/nonfinite", "inf - inf is NaN (IEEE 754, 7.2)", ASSAY_OF_TWO("Sub"),
     [] {
       return Two({kInf, kInf, kNan, 1, -kInf, 1},
                  {kInf, -kInf, 1, kNan, 1, kInf});
     },
     [] {
       return One({kNan, kInf, kNan, kNan, -kInf, -kInf});
     }},
    {"Mul/nonfinite", "0 * inf is NaN (IEEE 754, 7.2)", ASSAY_OF_TWO("Mul"),
     [] {
       return Two({0, kInf, kNan, 0, 0x1p100, -kInf},
                  {kInf, -2, 0, kNan, 0x1p100, -kInf});
     },
     [] {
       return One({kNan, -kInf, kNan, kNan, kInf, kInf});
     }},
    {"Div/nonfinite",
     "x / 0 is infinite, 0 / 0 and inf / inf are NaN "
     "(IEEE 754, 7.2 and 7.3)",
     ASSAY_OF_TWO("Div"),
     [] {
       return Two({1, -1, 1, 0, kInf, 5}, {0, 0, -0.0, 0, kInf, kInf});
     },
     [] {
       return One({kInf, -kInf, -kInf, kNan, kNan, 0});
     }},
    {"Max/nonfinite", "NaN of either operand (numpy.maximum)",
     ASSAY_OF_TWO("Max"),
     [] {
       return Two({kNan, 1, kNan, kInf, -kInf, -kInf},
                  {1, kNan, kNan, 3, 3, -kInf});
     },
     [] {
       return One({kNan, kNan, kNan, kInf, 3, -kInf});
     }},
    {"Min/nonfinite", "NaN of either operand (numpy.minimum)",
     ASSAY_OF_TWO("Min"),
     [] {
       return Two({kNan, 1, kNan, kInf, -kInf, kInf},
                  {1, kNan, kNan, 3, 3, kInf});
     },
     [] {
       return One({kNan, kNan, kNan, 3, -kInf, kInf});
     }},
    {"Relu/nonfinite", "max(0, NaN) is NaN (numpy.maximum)",
     ASSAY_OF_ONE("Relu"),
     [] {
       return One({kNan, -kNan, kInf, -kInf, 1, -1});
     },
     [] {
       return One({kNan, kNan, kInf, 0, 1, 0});
     }},
    {"Clip/nonfinite", "NaN stays, infinities are cut (numpy.clip)",
     "g (float[6] x) => (float[6] y) <float low = {-2}, float high = {3}> "
     "{ y = Clip(x, low, high) }",
     [] {
       return One({kNan, kInf, -kInf, 1, 5, -5});
     },
     [] {
       return One({kNan, 3, -2, 1, 3, -2});
     }},
    {"ReduceMax/nonfinite",
     "a row of -inf, which is below the least finite number; NaN stays",
     "g (float[4,3] x) => (float[4,1] y) <int64[1] axes = {1}> "
     "{ y = ReduceMax(x, axes) }",
     [] {
       return Values{
           Of(kF32, {4, 3},
              {-kInf, -kInf, -kInf, 1, kNan, 2, kNan, 5, 5, 1, kInf, 2})};
     },
     [] {
       return Values{Of(kF32, {4, 1}, {-kInf, kNan, kNan, kInf})};
     }},
    {"ReduceMin/nonfinite",
     "a row of inf, which is above the largest finite number; NaN stays",
     "g (float[4,3] x) => (float[4,1] y) <int64[1] axes = {1}> "
     "{ y = ReduceMin(x, axes) }",
     [] {
       return Values{
           Of(kF32, {4, 3},
              {kInf, kInf, kInf, 1, kNan, 2, 5, 5, kNan, 1, -kInf, 2})};
     },
     [] {
       return Values{Of(kF32, {4, 1}, {kInf, kNan, kNan, -kInf})};
     }},
    {"ReduceSum/nonfinite", "inf and -inf sum to NaN (IEEE 754, 7.2)",
     "g (float[4,3] x) => (float[4,1] y) <int64[1] axes = {1}> "
     "{ y = ReduceSum(x, axes) }",
     [] {
       return Values{Of(kF32, {4, 3},
                        {kInf, 1, -kInf, 1, kNan, 2, kInf, 1, kInf, 1, 2, 3})};
     },
     [] {
       return Values{Of(kF32, {4, 1}, {kNan, kNan, kInf, 6})};
     }},
    {"ReduceProd/nonfinite", "0 * inf is NaN (IEEE 754, 7.2)",
     "g (float[4,3] x) => (float[4,1] y) <int64[1] axes = {1}> "
     "{ y = ReduceProd(x, axes) }",
     [] {
       return Values{
           Of(kF32, {4, 3}, {kInf, 0, 1, 1, kNan, 0, kInf, -1, 2, 1, 2, 3})};
     },
     [] {
       return Values{Of(kF32, {4, 1}, {kNan, kNan, -kInf, 6})};
     }},
    {"ReduceLogSumExp/nonfinite",
     "log(e^1000 + 0) = 1000, though e^1000 overflows; of -inf alone it is "
     "log 0 = -inf",
     "g (float[3,2] x) => (float[3,1] y) <int64[1] axes = {1}> "
     "{ y = ReduceLogSumExp(x, axes) }",
     [] {
       return Values{
           Of(kF32, {3, 2}, {1000, -kInf, -kInf, -kInf, -1000, -kInf})};
     },
     [] {
       return Values{Of(kF32, {3, 1}, {1000, -kInf, -1000})};
     }},
    {"MaxPool/minus_infinity",
     "a window of -inf, which is below the least finite number",
     "g (float[1,1,6] x) => (float[1,1,3] y) "
     "{ y = MaxPool<kernel_shape = [2], strides = [2]>(x) }",
     [] {
       return Values{Of(kF32, {1, 1, 6}, {-kInf, -kInf, -kInf, 1, kInf, 2})};
     },
     [] {
       return Values{Of(kF32, {1, 1, 3}, {-kInf, 1, kInf})};
     }},
    {"MaxPool/padding_is_not_zero",
     "padding never wins: of negative numbers the largest is negative",
     "g (float[1,1,5] x) => (float[1,1,5] y) "
     "{ y = MaxPool<kernel_shape = [3], pads = [1, 1]>(x) }",
     [] {
       return Values{Of(kF32, {1, 1, 5}, {-3, -2, -5, -4, -9})};
     },
     [] {
       return Values{Of(kF32, {1, 1, 5}, {-2, -2, -2, -4, -4})};
     }},
    {"GlobalMaxPool/minus_infinity", "as MaxPool, of all of a channel",
     "g (float[1,2,3] x) => (float[1,2,1] y) { y = GlobalMaxPool(x) }",
     [] {
       return Values{Of(kF32, {1, 2, 3}, {-kInf, -kInf, -kInf, -3, -1, -2})};
     },
     [] {
       return Values{Of(kF32, {1, 2, 1}, {-kInf, -1})};
     }},
    {"ArgMax/minus_infinity", "the first of -inf, and the one above them",
     "g (float[3,3] x) => (int64[3,1] y) { y = ArgMax<axis = 1>(x) }",
     [] {
       return Values{
           Of(kF32, {3, 3},
              {-kInf, -kInf, -kInf, -kInf, -0x1p99, -kInf, 1, 2, kInf})};
     },
     [] {
       return Values{Of(kI64, {3, 1}, {0, 1, 2})};
     }},
    {"ArgMax/nan", "the first NaN, also after infinity (numpy.argmax)",
     "g (float[3,4] x) => (int64[3,1] a, int64[3,1] b) "
     "{ a = ArgMax<axis = 1>(x) b = ArgMin<axis = 1>(x) }",
     [] {
       return Values{Of(kF32, {3, 4},
                        {1, kNan, 3, kNan, kInf, -kInf, kNan, 5, 4, 1, 7, 2})};
     },
     [] {
       return Values{Of(kI64, {3, 1}, {1, 2, 2}), Of(kI64, {3, 1}, {1, 2, 1})};
     }},
    {"Sign/nonfinite", "NaN has no sign (numpy.sign)", ASSAY_OF_ONE("Sign"),
     [] {
       return One({kNan, -kNan, kInf, -kInf, 0, -0x1p99});
     },
     [] {
       return One({kNan, kNan, 1, -1, 0, -1});
     }},
    {"Softmax/nan", "a sum with NaN is NaN (IEEE 754, 6.2), in that row alone",
     "g (float[2,3] x) => (float[2,3] y, float[2,3] z) "
     "{ y = Softmax(x) z = LogSoftmax(x) }",
     [] {
       return Values{Of(kF32, {2, 3}, {1, kNan, 2, -kInf, 5, -kInf})};
     },
     [] {
       return Values{Of(kF32, {2, 3}, {kNan, kNan, kNan, 0, 1, 0}),
                     Of(kF32, {2, 3}, {kNan, kNan, kNan, -kInf, 0, -kInf})};
     }},
    {"TopK/infinities", "infinities are ordered as numbers are",
     "g (float[6] x, int64[1] k) => (float[4] v, int64[4] i) "
     "{ v, i = TopK(x, k) }",
     [] {
       return Values{Of(kF32, {6}, {-kInf, 1, kInf, -kInf, -0x1p99, kInf}),
                     Of(kI64, {1}, {4})};
     },
     [] {
       return Values{Of(kF32, {4}, {kInf, kInf, 1, -0x1p99}),
                     Of(kI64, {4}, {2, 5, 1, 4})};
     }},
    {"MatMul/nonfinite", "0 * inf and 0 * NaN are NaN: no term may be left out",
     "g (float[3,2] a, float[2,2] b) => (float[3,2] y) { y = MatMul(a, b) }",
     [] {
       return Values{Of(kF32, {3, 2}, {0, 1, 1, 0, 2, 1}),
                     Of(kF32, {2, 2}, {kInf, 3, 1, kNan})};
     },
     [] {
       return Values{Of(kF32, {3, 2}, {kNan, kNan, kInf, kNan, kInf, kNan})};
     }},
    {"Conv/nonfinite", "a weight of 0 does not hide an infinity",
     "g (float[1,1,5] x, float[1,1,2] w) => (float[1,1,4] y) { y = Conv(x, w) "
     "}",
     [] {
       return Values{Of(kF32, {1, 1, 5}, {1, 2, kInf, 4, 5}),
                     Of(kF32, {1, 1, 2}, {0, 1})};
     },
     [] {
       return Values{Of(kF32, {1, 1, 4}, {2, kInf, kNan, 5})};
     }},
    {"Equal/nonfinite", "NaN equals nothing (IEEE 754, 5.11)",
     ASSAY_COMPARE("Equal"), &Compared,
     [] {
       return Truths({0, 0, 0, 1, 0, 0});
     }},
    {"Less/nonfinite", "NaN is unordered (IEEE 754, 5.11)",
     ASSAY_COMPARE("Less"), &Compared,
     [] {
       return Truths({0, 0, 0, 0, 1, 0});
     }},
    {"LessOrEqual/nonfinite", "NaN is unordered, so not(a > b) will not do",
     ASSAY_COMPARE("LessOrEqual"), &Compared,
     [] {
       return Truths({0, 0, 0, 1, 1, 0});
     }},
    {"Greater/nonfinite", "NaN is unordered (IEEE 754, 5.11)",
     ASSAY_COMPARE("Greater"), &Compared,
     [] {
       return Truths({0, 0, 0, 0, 0, 1});
     }},
    {"GreaterOrEqual/nonfinite", "NaN is unordered, so not(a < b) will not do",
     ASSAY_COMPARE("GreaterOrEqual"), &Compared,
     [] {
       return Truths({0, 0, 0, 1, 0, 1});
     }},
    {"IsNaN/both_signs", "NaN of either sign, and nothing else",
     "g (float[6] x) => (bool[6] y) { y = IsNaN(x) }",
     [] {
       return One({kNan, -kNan, kInf, -kInf, 0, 0x1.fffffep127});
     },
     [] {
       return Truths({1, 1, 0, 0, 0, 0});
     }},
    {"IsInf/one_sign", "detect_negative 0 and detect_positive 0 by themselves",
     "g (float[6] x) => (bool[6] p, bool[6] n) "
     "{ p = IsInf<detect_negative = 0>(x) n = IsInf<detect_positive = 0>(x) }",
     [] {
       return One({kNan, kInf, -kInf, 0, 0x1.fffffep127, 1});
     },
     [] {
       return Values{Of(kBool, {6}, {0, 1, 0, 0, 0, 0}),
                     Of(kBool, {6}, {0, 0, 1, 0, 0, 0})};
     }},
    {"Where/nonfinite",
     "what is not chosen does not leak: no x * c + y (1 - c)",
     "g (bool[6] c, float[6] a, float[6] b) => (float[6] y) "
     "{ y = Where(c, a, b) }",
     [] {
       return Values{Of(kBool, {6}, {1, 0, 1, 0, 1, 0}),
                     Of(kF32, {6}, {1, kNan, kNan, kInf, -kInf, -kInf}),
                     Of(kF32, {6}, {kNan, 2, 3, 4, kNan, 6})};
     },
     [] {
       return One({1, 2, kNan, 4, -kInf, 6});
     }},
    {"Exp/nonfinite", "e^1000 overflows, e^-inf = 0 (IEEE 754, 7.4, 9.2.1)",
     ASSAY_OF_ONE("Exp"),
     [] {
       return One({1000, -1000, kInf, -kInf, kNan, 0});
     },
     [] {
       return One({kInf, 0, kInf, 0, kNan, 1});
     }},
    {"Log/nonfinite", "log 0 = -inf, log of less is NaN (IEEE 754, 9.2.1)",
     ASSAY_OF_ONE("Log"),
     [] {
       return One({0, -0.0, -1, kInf, kNan, 1});
     },
     [] {
       return One({-kInf, -kInf, kNan, kInf, kNan, 0});
     }},
    {"Sqrt/nonfinite", "a negative number gives NaN (text of Sqrt)",
     ASSAY_OF_ONE("Sqrt"),
     [] {
       return One({-1, -kInf, kInf, kNan, 4, 0});
     },
     [] {
       return One({kNan, kNan, kInf, kNan, 2, 0});
     }},
    {"Reciprocal/nonfinite", "1 / 0 = inf, 1 / -0 = -inf (IEEE 754, 7.3)",
     ASSAY_OF_ONE("Reciprocal"),
     [] {
       return One({0, -0.0, kInf, kNan, 2, -4});
     },
     [] {
       return One({kInf, -kInf, 0, kNan, 0.5, -0.25});
     }},
    {"Pow/nonfinite",
     "x^0 = 1 and 1^y = 1 even of NaN; 0^-1 is infinite (IEEE 754, 9.2.1)",
     ASSAY_OF_TWO("Pow"),
     [] {
       return Two({kNan, 1, 0, -8, kInf, 2}, {0, kNan, -1, 0.5, -1, kInf});
     },
     [] {
       return One({1, 1, kInf, kNan, 0, kInf});
     }},
    {"Tanh/nonfinite", "+-1 at the infinities (IEEE 754, 9.2.1)",
     ASSAY_OF_ONE("Tanh"),
     [] {
       return One({kInf, -kInf, kNan, 0, 90, -90});
     },
     [] {
       return One({1, -1, kNan, 0, 1, -1});
     }},
    {"Sigmoid/nonfinite", "1 / (1 + e^-x) at the infinities, without NaN",
     ASSAY_OF_ONE("Sigmoid"),
     [] {
       return One({kInf, -kInf, kNan, 0, 1000, -1000});
     },
     [] {
       return One({1, 0, kNan, 0.5, 1, 0});
     }},
    {"Ceil/nonfinite", "NaN and infinities are returned (text of Ceil)",
     ASSAY_OF_ONE("Ceil"),
     [] {
       return One({kInf, -kInf, kNan, 1.5, -1.5, 0x1p24});
     },
     [] {
       return One({kInf, -kInf, kNan, 2, -1, 0x1p24});
     }},
    {"Floor/nonfinite", "NaN and infinities are returned (text of Floor)",
     ASSAY_OF_ONE("Floor"),
     [] {
       return One({kInf, -kInf, kNan, 1.5, -1.5, 0x1p24});
     },
     [] {
       return One({kInf, -kInf, kNan, 1, -2, 0x1p24});
     }},
    {"Round/nonfinite", "NaN and infinities are returned (text of Round)",
     ASSAY_OF_ONE("Round"),
     [] {
       return One({kInf, -kInf, kNan, 1.5, -1.5, 0x1p24});
     },
     [] {
       return One({kInf, -kInf, kNan, 2, -2, 0x1p24});
     }},
    {"LogSoftmax/minus_infinity", "log 1 = 0 and log 0 = -inf beside it",
     "g (float[2,3] x) => (float[2,3] y) { y = LogSoftmax(x) }",
     [] {
       return Values{
           Of(kF32, {2, 3}, {1000, -kInf, -kInf, -kInf, -1000, -kInf})};
     },
     [] {
       return Values{Of(kF32, {2, 3}, {0, -kInf, -kInf, -kInf, 0, -kInf})};
     }},
    {"CumSum/nonfinite", "inf, then NaN from where -inf joins it",
     "g (float[6] x) => (float[6] y) <int64 axis = {0}> { y = CumSum(x, axis) "
     "}",
     [] {
       return One({1, 2, kInf, 3, -kInf, 4});
     },
     [] {
       return One({1, 3, kInf, kInf, kNan, kNan});
     }},
    {"Mod/nonfinite", "fmod 1 of an infinity and by 0 is NaN (text of Mod)",
     "g (float[6] a, float[6] b) => (float[6] y) { y = Mod<fmod = 1>(a, b) }",
     [] {
       return Two({kInf, 1, kNan, 5, -5, 5}, {3, 0, 1, kInf, -kInf, 3});
     },
     [] {
       return One({kNan, kNan, kNan, 5, -5, 2});
     }},
};

#undef ASSAY_COMPARE
#undef ASSAY_OF_TWO
#undef ASSAY_OF_ONE

}  // namespace

std::span<const SpecialCase> NonFiniteCases() { return kCases; }

}  // namespace assay::inline v1
