// SPDX-License-Identifier: Apache-2.0
//
// Subnormal numbers: IEEE 754, whose binary16, binary32 and binary64 ONNX names
// as the meaning of float16, float and double, has them as numbers like others,
// with exact sums and gradual underflow. What flushes them to zero gives zeros.
// All results are exact, so that no rounding mode matters.

#include "conformance/special/special.h"

namespace assay::inline v1 {
namespace {

// The least positive number of a type.
constexpr double kLeast32 = 0x1p-149;
constexpr double kLeast64 = 0x1p-1074;
constexpr double kLeast16 = 0x1p-24;

// Multiples of the least number.
Value Least(DType type, std::initializer_list<double> multiples) {
  const double least = type == kF32   ? kLeast32
                       : type == kF64 ? kLeast64
                                      : kLeast16;
  return By(type, {static_cast<int64_t>(multiples.size())},
            [&](int64_t i) { return multiples.begin()[i] * least; });
}

#define ASSAY_UNARY(op, type) \
  "g (" type "[4] x) => (" type "[4] y) { y = " op "(x) }"
#define ASSAY_BINARY(op, type) \
  "g (" type "[4] a, " type "[4] b) => (" type "[4] y) { y = " op "(a, b) }"

// One row for each float type: `op`, its model, its operands and results in
// multiples of the least number.
#define ASSAY_SUBNORMAL(op, model, shows, inputs, expected) \
  {op "/subnormal_float32", shows, model(op, "float"),      \
   [] {                                                     \
     constexpr DType kType = kF32;                          \
     return Values inputs;                                  \
   },                                                       \
   [] {                                                     \
     constexpr DType kType = kF32;                          \
     return Values expected;                                \
   }},                                                      \
      {op "/subnormal_float64", shows, model(op, "double"), \
       [] {                                                 \
         constexpr DType kType = kF64;                      \
         return Values inputs;                              \
       },                                                   \
       [] {                                                 \
         constexpr DType kType = kF64;                      \
         return Values expected;                            \
       }},                                                  \
  {                                                         \
    op "/subnormal_float16", shows, model(op, "float16"),   \
        [] {                                                \
          constexpr DType kType = kF16;                     \
          return Values inputs;                             \
        },                                                  \
        [] {                                                \
          constexpr DType kType = kF16;                     \
          return Values expected;                           \
        }                                                   \
  }

constexpr SpecialCase kCases[] = {
    // clang-format off
    ASSAY_SUBNORMAL("Add", ASSAY_BINARY, "sums of subnormals are exact",
        ({Least(kType, {1, 5, -7, 1000}), Least(kType, {1, -4, -9, 23})}),
        ({Least(kType, {2, 1, -16, 1023})})),
    ASSAY_SUBNORMAL("Sub", ASSAY_BINARY,
        "x != y gives x - y != 0: gradual underflow",
        ({Least(kType, {1, 5, -7, 1025}), Least(kType, {2, 4, -9, 1024})}),
        ({Least(kType, {-1, 1, 2, 1})})),
    ASSAY_SUBNORMAL("Neg", ASSAY_UNARY, "a subnormal has a negative",
        ({Least(kType, {1, -2, 3, 513})}),
        ({Least(kType, {-1, 2, -3, -513})})),
    ASSAY_SUBNORMAL("Abs", ASSAY_UNARY, "a subnormal has a magnitude",
        ({Least(kType, {1, -2, -3, 513})}),
        ({Least(kType, {1, 2, 3, 513})})),
    ASSAY_SUBNORMAL("Identity", ASSAY_UNARY, "a copy keeps every bit",
        ({Least(kType, {1, -2, 0, 1023})}),
        ({Least(kType, {1, -2, 0, 1023})})),
    ASSAY_SUBNORMAL("Relu", ASSAY_UNARY,
        "the least positive number is greater than zero",
        ({Least(kType, {1, -1, 3, -1023})}),
        ({Least(kType, {1, 0, 3, 0})})),
    ASSAY_SUBNORMAL("Max", ASSAY_BINARY, "subnormals are ordered",
        ({Least(kType, {1, 2, -1, 1023}), Least(kType, {2, 1, -2, 0})}),
        ({Least(kType, {2, 2, -1, 1023})})),
    ASSAY_SUBNORMAL("Min", ASSAY_BINARY, "subnormals are ordered",
        ({Least(kType, {1, 2, -1, 1023}), Least(kType, {2, 1, -2, 0})}),
        ({Least(kType, {1, 1, -2, 0})})),
    // clang-format on
    {"Mul/subnormal_float32",
     "subnormal by normal, and normal by normal that underflows exactly",
     ASSAY_BINARY("Mul", "float"),
     [] {
       return Values{Of(kF32, {4}, {0x1p-149, 0x1.8p-148, 0x1p-100, -0x1p-126}),
                     Of(kF32, {4}, {4, 0x1p100, 3 * 0x1p-41, 0.25})};
     },
     [] {
       return Values{
           Of(kF32, {4}, {0x1p-147, 0x1.8p-48, 3 * 0x1p-141, -0x1p-128})};
     }},
    {"Mul/subnormal_float64", "as for float32", ASSAY_BINARY("Mul", "double"),
     [] {
       return Values{
           Of(kF64, {4}, {0x1p-1074, 0x1p-1073, 0x1p-1000, -0x1p-1022}),
           Of(kF64, {4}, {4, 0x1p500, 3 * 0x1p-60, 0.25})};
     },
     [] {
       return Values{
           Of(kF64, {4}, {0x1p-1072, 0x1p-573, 3 * 0x1p-1060, -0x1p-1024})};
     }},
    {"Mul/subnormal_float16", "as for float32", ASSAY_BINARY("Mul", "float16"),
     [] {
       return Values{Of(kF16, {4}, {0x1p-24, 0x1.8p-23, 0x1p-10, -0x1p-14}),
                     Of(kF16, {4}, {4, 0x1p10, 3 * 0x1p-11, 0.25})};
     },
     [] {
       return Values{
           Of(kF16, {4}, {0x1p-22, 0x1.8p-13, 3 * 0x1p-21, -0x1p-16})};
     }},
    {"Div/subnormal_float32", "into and out of the subnormals",
     ASSAY_BINARY("Div", "float"),
     [] {
       return Values{Of(kF32, {4}, {0x1p-126, 0x1p-149, 0x1p-140, -0x1p-100}),
                     Of(kF32, {4}, {8, 0x1p-149, 0x1p-20, 0x1p40})};
     },
     [] {
       return Values{Of(kF32, {4}, {0x1p-129, 1, 0x1p-120, -0x1p-140})};
     }},
    {"Sqrt/subnormal_float32", "sqrt(2^-148) = 2^-74",
     "g (float[3] x) => (float[3] y) { y = Sqrt(x) }",
     [] {
       return Values{Of(kF32, {3}, {0x1p-148, 9 * 0x1p-140, 0x1p-126})};
     },
     [] {
       return Values{Of(kF32, {3}, {0x1p-74, 3 * 0x1p-70, 0x1p-63})};
     }},
    {"Greater/subnormal_float32", "the least positive number is not zero",
     "g (float[4] a, float[4] b) => (bool[4] y) { y = Greater(a, b) }",
     [] {
       return Values{Least(kF32, {1, 0, -1, 2}), Least(kF32, {0, 1, 0, 1})};
     },
     [] {
       return Values{Of(kBool, {4}, {1, 0, 0, 1})};
     }},
    {"Equal/subnormal_float32", "the least positive number is not zero",
     "g (float[4] a, float[4] b) => (bool[4] y) { y = Equal(a, b) }",
     [] {
       return Values{Least(kF32, {1, 0, 3, -1}), Least(kF32, {0, 0, 3, 1})};
     },
     [] {
       return Values{Of(kBool, {4}, {0, 1, 1, 0})};
     }},
    {"Sign/subnormal_float32", "the least numbers have a sign",
     "g (float[4] x) => (float[4] y) { y = Sign(x) }",
     [] {
       return Values{Least(kF32, {1, -1, 0, 1023})};
     },
     [] {
       return Values{Of(kF32, {4}, {1, -1, 0, 1})};
     }},
    {"Clip/subnormal_float32", "subnormal bounds",
     "g (float[4] x, float low, float high) => (float[4] y) "
     "{ y = Clip(x, low, high) }",
     [] {
       return Values{Least(kF32, {0, 1, 3, 9}), Of(kF32, {}, {0x1p-148}),
                     Of(kF32, {}, {0x1p-147})};
     },
     [] {
       return Values{Least(kF32, {2, 2, 3, 4})};
     }},
    {"Where/subnormal_float32", "a choice keeps every bit",
     "g (bool[4] c, float[4] a, float[4] b) => (float[4] y) "
     "{ y = Where(c, a, b) }",
     [] {
       return Values{Of(kBool, {4}, {1, 0, 1, 0}), Least(kF32, {1, 2, -3, 4}),
                     Least(kF32, {5, -6, 7, 8})};
     },
     [] {
       return Values{Least(kF32, {1, -6, -3, 8})};
     }},
    {"ReduceSum/subnormal_float32", "sums of subnormals are exact in any order",
     "g (float[2,3] x) => (float[2,1] y) <int64[1] axes = {1}> "
     "{ y = ReduceSum(x, axes) }",
     [] {
       return Values{
           By(kF32, {2, 3}, [](int64_t i) { return (i - 1.0) * kLeast32; })};
     },
     [] {
       return Values{Of(kF32, {2, 1}, {0, 9 * kLeast32})};
     }},
    {"ReduceMax/subnormal_float32", "subnormals are ordered",
     "g (float[2,3] x) => (float[2,1] y) <int64[1] axes = {1}> "
     "{ y = ReduceMax(x, axes) }",
     [] {
       return Values{
           Of(kF32, {2, 3},
              {0, 0x1p-149, -0x1p-149, -0x1p-148, -0x1p-149, -0x1p-147})};
     },
     [] {
       return Values{Of(kF32, {2, 1}, {0x1p-149, -0x1p-149})};
     }},
    {"MatMul/subnormal_float32", "dots of subnormals with whole numbers",
     "g (float[2] a, float[2,2] b) => (float[2] y) { y = MatMul(a, b) }",
     [] {
       return Values{Least(kF32, {1, 2}), Of(kF32, {2, 2}, {3, 1, 2, 5})};
     },
     [] {
       return Values{Least(kF32, {7, 11})};
     }},
    {"MatMul/subnormal_float64", "dots of subnormals with whole numbers",
     "g (double[2] a, double[2,2] b) => (double[2] y) { y = MatMul(a, b) }",
     [] {
       return Values{Least(kF64, {1, 2}), Of(kF64, {2, 2}, {3, 1, 2, 5})};
     },
     [] {
       return Values{Least(kF64, {7, 11})};
     }},
    {"MatMul/subnormal_float16", "dots of subnormals with whole numbers",
     "g (float16[2] a, float16[2,2] b) => (float16[2] y) { y = MatMul(a, b) }",
     [] {
       return Values{Least(kF16, {1, 2}), Of(kF16, {2, 2}, {3, 1, 2, 5})};
     },
     [] {
       return Values{Least(kF16, {7, 11})};
     }},
    {"Gemm/subnormal_float32", "subnormal operands and c",
     "g (float[1,2] a, float[2,2] b, float[2] c) => (float[1,2] y) "
     "{ y = Gemm(a, b, c) }",
     [] {
       return Values{Of(kF32, {1, 2}, {0x1p-149, 0x1p-148}),
                     Of(kF32, {2, 2}, {3, 1, 2, 5}), Least(kF32, {1, -1})};
     },
     [] {
       return Values{Of(kF32, {1, 2}, {0x1p-146, 10 * 0x1p-149})};
     }},
    {"Conv/subnormal_float32", "subnormal data",
     "g (float[1,1,3] x, float[1,1,2] w) => (float[1,1,2] y) { y = Conv(x, w) "
     "}",
     [] {
       return Values{Of(kF32, {1, 1, 3}, {0x1p-149, 0x1p-148, -0x1p-149}),
                     Of(kF32, {1, 1, 2}, {3, 2})};
     },
     [] {
       return Values{Of(kF32, {1, 1, 2}, {7 * 0x1p-149, 4 * 0x1p-149})};
     }},
    {"MaxPool/subnormal_float32", "subnormals are ordered",
     "g (float[1,1,4] x) => (float[1,1,2] y) "
     "{ y = MaxPool<kernel_shape = [2], strides = [2]>(x) }",
     [] {
       return Values{Of(kF32, {1, 1, 4}, {0, 0x1p-149, -0x1p-149, -0x1p-148})};
     },
     [] {
       return Values{Of(kF32, {1, 1, 2}, {0x1p-149, -0x1p-149})};
     }},
    {"Cast/subnormal_float16_to_float32", "2^-24 is normal in float32",
     "g (float16[4] x) => (float[4] y) { y = Cast<to = 1>(x) }",
     [] {
       return Values{Least(kF16, {1, -3, 0, 1023})};
     },
     [] {
       return Values{Of(kF32, {4}, {0x1p-24, -3 * 0x1p-24, 0, 1023 * 0x1p-24})};
     }},
    {"Cast/subnormal_float32_to_float16",
     "multiples of 2^-24, ties to even at half of it",
     "g (float[6] x) => (float16[6] y) { y = Cast<to = 10>(x) }",
     [] {
       return Values{Of(kF32, {6},
                        {0x1p-24, -5 * 0x1p-24, 0x1p-25, 0x1.8p-24,
                         0x1.000002p-25, 0x1p-149})};
     },
     [] {
       return Values{
           Of(kF16, {6}, {0x1p-24, -5 * 0x1p-24, 0, 0x1p-23, 0x1p-24, 0})};
     }},
    {"Cast/subnormal_float64_to_float32",
     "multiples of 2^-149, ties to even at half of it",
     "g (double[5] x) => (float[5] y) { y = Cast<to = 1>(x) }",
     [] {
       return Values{Of(kF64, {5},
                        {0x1p-149, -0x1.8p-148, 0x1p-150, 0x1.8p-149,
                         0x1.0000000000001p-150})};
     },
     [] {
       return Values{
           Of(kF32, {5}, {0x1p-149, -0x1.8p-148, 0, 0x1p-148, 0x1p-149})};
     }},
    {"Cast/subnormal_float32_to_float64", "2^-149 is normal in float64",
     "g (float[3] x) => (double[3] y) { y = Cast<to = 11>(x) }",
     [] {
       return Values{Least(kF32, {1, -3, 1023})};
     },
     [] {
       return Values{Of(kF64, {3}, {0x1p-149, -3 * 0x1p-149, 1023 * 0x1p-149})};
     }},
    {"Cast/subnormal_bfloat16_to_float32",
     "bfloat16 has the exponents of float",
     "g (bfloat16[3] x) => (float[3] y) { y = Cast<to = 1>(x) }",
     [] {
       return Values{Of(kBF16, {3}, {0x1p-133, -0x1.8p-132, 0x1p-126})};
     },
     [] {
       return Values{Of(kF32, {3}, {0x1p-133, -0x1.8p-132, 0x1p-126})};
     }},
};

#undef ASSAY_SUBNORMAL
#undef ASSAY_BINARY
#undef ASSAY_UNARY

}  // namespace

std::span<const SpecialCase> DenormalsCases() { return kCases; }

}  // namespace assay::inline v1
