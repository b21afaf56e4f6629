// SPDX-License-Identifier: Apache-2.0
//
// The sign of zero, as IEEE 754 has it for each operation and ONNX's text for
// Ceil, Floor, Round and Sqrt. The comparison of outputs takes -0 and 0 as
// equal, so every model ends in 1 / y, which is an infinity of y's sign.

#include "conformance/special/special.h"

namespace assay::inline v1 {
namespace {

#define ASSAY_SIGNS(op) "{ r = " op " y = Div(one, r) }"
#define ASSAY_OF_ONE(op) \
  "g (float[4] x) => (float[4] y) <float one = {1}> " ASSAY_SIGNS(op "(x)")
#define ASSAY_OF_TWO(op)                                                       \
  "g (float[4] a, float[4] b) => (float[4] y) <float one = {1}> " ASSAY_SIGNS( \
      op "(a, b)")

Values Signs(std::initializer_list<double> numbers) {
  return {Of(kF32, {static_cast<int64_t>(numbers.size())}, numbers)};
}

Values Pair(std::initializer_list<double> a, std::initializer_list<double> b) {
  return {Of(kF32, {static_cast<int64_t>(a.size())}, a),
          Of(kF32, {static_cast<int64_t>(b.size())}, b)};
}

constexpr SpecialCase kCases[] = {
    {"Neg/sign_of_zero", "-(0) is -0, which 0 - x is not", ASSAY_OF_ONE("Neg"),
     [] {
       return Signs({0, -0.0, 2, -4});
     },
     [] {
       return Signs({-kInf, kInf, -0.5, 0.25});
     }},
    {"Abs/sign_of_zero", "|-0| = 0", ASSAY_OF_ONE("Abs"),
     [] {
       return Signs({0, -0.0, 2, -4});
     },
     [] {
       return Signs({kInf, kInf, 0.5, 0.25});
     }},
    {"Ceil/sign_of_zero", "ceil(-0.5) = -0, and -0 is returned itself",
     ASSAY_OF_ONE("Ceil"),
     [] {
       return Signs({-0.5, -0.0, 0, 0.5});
     },
     [] {
       return Signs({-kInf, -kInf, kInf, 1});
     }},
    {"Floor/sign_of_zero", "-0 is returned itself", ASSAY_OF_ONE("Floor"),
     [] {
       return Signs({0.5, -0.0, 0, -0.5});
     },
     [] {
       return Signs({kInf, -kInf, kInf, -1});
     }},
    {"Round/sign_of_zero", "what rounds to zero keeps its sign (IEEE 754)",
     ASSAY_OF_ONE("Round"),
     [] {
       return Signs({-0.25, -0.5, -0.0, 0.25});
     },
     [] {
       return Signs({-kInf, -kInf, -kInf, kInf});
     }},
    {"Sqrt/sign_of_zero", "sqrt(-0) = -0 (IEEE 754)", ASSAY_OF_ONE("Sqrt"),
     [] {
       return Signs({-0.0, 0, 4, 1});
     },
     [] {
       return Signs({-kInf, kInf, 0.5, 1});
     }},
    {"Reciprocal/sign_of_zero", "1 / -inf = -0", ASSAY_OF_ONE("Reciprocal"),
     [] {
       return Signs({-kInf, kInf, 2, -4});
     },
     [] {
       return Signs({-kInf, kInf, 2, -4});
     }},
    {"Identity/sign_of_zero", "a copy keeps every bit",
     ASSAY_OF_ONE("Identity"),
     [] {
       return Signs({-0.0, 0, 2, -4});
     },
     [] {
       return Signs({-kInf, kInf, 0.5, -0.25});
     }},
    {"Sin/sign_of_zero", "sin(-0) = -0 (IEEE 754, 9.2.1)", ASSAY_OF_ONE("Sin"),
     [] {
       return Signs({-0.0, 0, -0.0, 0});
     },
     [] {
       return Signs({-kInf, kInf, -kInf, kInf});
     }},
    {"Tanh/sign_of_zero", "tanh(-0) = -0 (IEEE 754, 9.2.1)",
     ASSAY_OF_ONE("Tanh"),
     [] {
       return Signs({-0.0, 0, kInf, -kInf});
     },
     [] {
       return Signs({-kInf, kInf, 1, -1});
     }},
    {"Atan/sign_of_zero", "atan(-0) = -0 (IEEE 754, 9.2.1)",
     ASSAY_OF_ONE("Atan"),
     [] {
       return Signs({-0.0, 0, -0.0, 0});
     },
     [] {
       return Signs({-kInf, kInf, -kInf, kInf});
     }},
    {"Add/sign_of_zero",
     "-0 + -0 = -0; of zeros of two signs, and of x and "
     "-x, the sum is 0 (IEEE 754, 6.3)",
     ASSAY_OF_TWO("Add"),
     [] {
       return Pair({-0.0, -0.0, 0, 3}, {-0.0, 0, -0.0, -3});
     },
     [] {
       return Signs({-kInf, kInf, kInf, kInf});
     }},
    {"Sub/sign_of_zero", "-0 - 0 = -0; 0 - 0 = 0", ASSAY_OF_TWO("Sub"),
     [] {
       return Pair({-0.0, 0, -0.0, 3}, {0, 0, -0.0, 3});
     },
     [] {
       return Signs({-kInf, kInf, kInf, kInf});
     }},
    {"Mul/sign_of_zero", "the sign is that of a product (IEEE 754, 6.3)",
     ASSAY_OF_TWO("Mul"),
     [] {
       return Pair({0, -0.0, -0.0, 0x1p-100}, {-2, 2, -3, -0x1p-100});
     },
     [] {
       return Signs({-kInf, -kInf, kInf, -kInf});
     }},
    {"Div/sign_of_zero", "the sign is that of a quotient (IEEE 754, 6.3)",
     ASSAY_OF_TWO("Div"),
     [] {
       return Pair({0, -0.0, -0.0, -1}, {-2, 2, -3, kInf});
     },
     [] {
       return Signs({-kInf, -kInf, kInf, -kInf});
     }},
    {"Pow/sign_of_zero", "(-0)^3 = -0, (-0)^2 = 0 (IEEE 754, 9.2.1)",
     ASSAY_OF_TWO("Pow"),
     [] {
       return Pair({-0.0, -0.0, 0, -2}, {3, 2, 3, 3});
     },
     [] {
       return Signs({-kInf, kInf, kInf, -0.125});
     }},
    {"Mod/sign_of_zero_floored", "fmod 0: a zero has the sign of b",
     ASSAY_OF_TWO("Mod"),
     [] {
       return Pair({0, -0.0, 5, -5}, {-3, 3, -3, 3});
     },
     [] {
       return Signs({-kInf, kInf, -1, 1});
     }},
    {"Mod/sign_of_zero_truncated", "fmod 1: the result has the sign of a",
     "g (float[4] a, float[4] b) => (float[4] y) <float one = {1}> "
     "{ r = Mod<fmod = 1>(a, b) y = Div(one, r) }",
     [] {
       return Pair({-6, 6, 0, -5}, {3, -3, 2, 4});
     },
     [] {
       return Signs({-kInf, kInf, kInf, -1});
     }},
    {"Where/sign_of_zero", "a choice keeps every bit",
     "g (bool[4] c, float[4] a, float[4] b) => (float[4] y) <float one = {1}> "
     "{ r = Where(c, a, b) y = Div(one, r) }",
     [] {
       return Values{Of(kBool, {4}, {1, 1, 0, 0}),
                     Of(kF32, {4}, {-0.0, 0, 5, 5}),
                     Of(kF32, {4}, {6, 6, -0.0, 0})};
     },
     [] {
       return Signs({-kInf, kInf, -kInf, kInf});
     }},
    {"Concat/sign_of_zero", "moved data keep every bit",
     "g (float[2] a, float[2] b) => (float[4] y) <float one = {1}> "
     "{ r = Concat<axis = 0>(a, b) y = Div(one, r) }",
     [] {
       return Pair({-0.0, 0}, {0, -0.0});
     },
     [] {
       return Signs({-kInf, kInf, kInf, -kInf});
     }},
    {"Transpose/sign_of_zero", "moved data keep every bit",
     "g (float[2,2] x) => (float[2,2] y) <float one = {1}> "
     "{ r = Transpose(x) y = Div(one, r) }",
     [] {
       return Values{Of(kF32, {2, 2}, {-0.0, 0, -0.0, 0})};
     },
     [] {
       return Values{Of(kF32, {2, 2}, {-kInf, -kInf, kInf, kInf})};
     }},
    {"Cast/sign_of_zero_to_float64", "a conversion keeps the sign of zero",
     "g (float[3] x) => (double[3] y) <double one = {1}> "
     "{ r = Cast<to = 11>(x) y = Div(one, r) }",
     [] {
       return Signs({-0.0, 0, -4});
     },
     [] {
       return Values{Of(kF64, {3}, {-kInf, kInf, -0.25})};
     }},
    {"Cast/sign_of_zero_to_float16",
     "a conversion keeps the sign of zero, also where it underflows",
     "g (float[4] x, float16 one) => (float16[4] y) "
     "{ r = Cast<to = 10>(x) y = Div(one, r) }",
     [] {
       return Values{Of(kF32, {4}, {-0.0, 0, -0x1p-40, 0x1p-40}),
                     Of(kF16, {}, {1})};
     },
     [] {
       return Values{Of(kF16, {4}, {-kInf, kInf, -kInf, kInf})};
     }},
    {"Equal/sign_of_zero", "-0 = 0",
     "g (float[4] a, float[4] b) => (bool[4] y) { y = Equal(a, b) }",
     [] {
       return Pair({-0.0, 0, 0, -0.0}, {0, -0.0, 1, 0x1p-149});
     },
     [] {
       return Values{Of(kBool, {4}, {1, 1, 0, 0})};
     }},
    {"Less/sign_of_zero", "-0 is not less than 0",
     "g (float[4] a, float[4] b) => (bool[4] y) { y = Less(a, b) }",
     [] {
       return Pair({-0.0, 0, -1, -0.0}, {0, -0.0, -0.0, 1});
     },
     [] {
       return Values{Of(kBool, {4}, {0, 0, 1, 1})};
     }},
    {"Cast/zeros_to_bool", "+-0 to false, all else to true",
     "g (float[5] x) => (bool[5] y) { y = Cast<to = 9>(x) }",
     [] {
       return Signs({-0.0, 0, 0x1p-149, kNan, -0.5});
     },
     [] {
       return Values{Of(kBool, {5}, {0, 0, 1, 1, 1})};
     }},
    {"BitCast/sign_of_zero", "the bits of -0 are those of its sign",
     "g (float[3] x) => (int32[3] y) { r = Neg(x) y = BitCast<to = 6>(r) }",
     [] {
       return Signs({0, -0.0, 1});
     },
     [] {
       return Values{Whole(kI32, {3}, {-2147483648LL, 0, -0x40800000LL})};
     }},
};

#undef ASSAY_OF_TWO
#undef ASSAY_OF_ONE
#undef ASSAY_SIGNS

}  // namespace

std::span<const SpecialCase> ZerosCases() { return kCases; }

}  // namespace assay::inline v1
