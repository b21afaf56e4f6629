// SPDX-License-Identifier: Apache-2.0
//
// Conversions: to the nearest, ties to even, with one rounding (IEEE 754,
// 5.4.2, and "RNE" in the text of Cast), and what happens out of range, which
// the text of Cast has in tables. The traps are numbers that give another
// result by way of float32 or with ties away from zero. That a float becomes
// the integer towards zero is not in the text; it is so in ONNX's reference
// implementation (numpy's astype), which for float64 to bfloat16 goes by way of
// float32 and is not followed there.

#include "conformance/special/special.h"

namespace assay::inline v1 {
namespace {

constexpr DType kE4M3 = DType::kFloat8E4M3FN;
constexpr DType kE4M3UZ = DType::kFloat8E4M3FNUZ;
constexpr DType kE5M2 = DType::kFloat8E5M2;
constexpr DType kE5M2UZ = DType::kFloat8E5M2FNUZ;

// To the float8 types: ties with 3 and with 2 bits of mantissa, out of range,
// infinite, NaN, and in range.
Values ToFloat8() {
  return {Of(kF32, {9}, {17, 19, 9, 11, 1000, -100000, -kInf, kNan, 1.5})};
}

constexpr SpecialCase kCases[] = {
    {"Cast/float64_to_float16_rounds_once",
     "1 + 2^-11 +- 2^-40 is not the tie that float32 makes of it",
     "g (double[5] x) => (float16[5] y) { y = Cast<to = 10>(x) }",
     [] {
       return Values{Of(kF64, {5},
                        {1 + 0x1p-11 + 0x1p-40, 1 + 3 * 0x1p-11 - 0x1p-40,
                         -2048 - 1 - 0x1p-30, 1 + 0x1p-11, 65520 - 0x1p-30})};
     },
     [] {
       return Values{
           Of(kF16, {5}, {1 + 0x1p-10, 1 + 0x1p-10, -2050, 1, 65504})};
     }},
    {"Cast/float64_to_bfloat16_rounds_once",
     "1 + 2^-8 +- 2^-40 is not the tie that float32 makes of it",
     "g (double[4] x) => (bfloat16[4] y) { y = Cast<to = 16>(x) }",
     [] {
       return Values{Of(kF64, {4},
                        {1 + 0x1p-8 + 0x1p-40, 1 + 3 * 0x1p-8 - 0x1p-40,
                         -256 - 1 - 0x1p-30, 1 + 0x1p-8})};
     },
     [] {
       return Values{Of(kBF16, {4}, {1 + 0x1p-7, 1 + 0x1p-7, -258, 1})};
     }},
    {"Cast/float64_to_float32", "ties to even; out of range gives infinity",
     "g (double[6] x) => (float[6] y) { y = Cast<to = 1>(x) }",
     [] {
       return Values{Of(kF64, {6},
                        {1 + 0x1p-24, 1 + 3 * 0x1p-24, 1 + 0x1p-24 + 0x1p-52,
                         0x1p128, -0x1p1000, kNan})};
     },
     [] {
       return Values{
           Of(kF32, {6}, {1, 1 + 0x1p-22, 1 + 0x1p-23, kInf, -kInf, kNan})};
     }},
    {"Cast/float32_to_float16",
     "ties to even; 65520, half a unit above the largest, is infinite",
     "g (float[8] x) => (float16[8] y) { y = Cast<to = 10>(x) }",
     [] {
       return Values{
           Of(kF32, {8},
              {2049, 2051, -2049, 65519, 65520, -65520, kNan, 1 + 0x1p-11})};
     },
     [] {
       return Values{
           Of(kF16, {8}, {2048, 2052, -2048, 65504, kInf, -kInf, kNan, 1})};
     }},
    {"Cast/float32_to_bfloat16", "ties to even, not truncation; NaN stays NaN",
     "g (float[7] x) => (bfloat16[7] y) { y = Cast<to = 16>(x) }",
     [] {
       return Values{
           Of(kF32, {7}, {257, 259, -257, 258.5, 0x1.fffffep127, kNan, -kInf})};
     },
     [] {
       return Values{Of(kBF16, {7}, {256, 260, -256, 258, kInf, kNan, -kInf})};
     }},
    {"Cast/float32_to_float8e4m3fn", "saturate 1, the default: 448 at most",
     "g (float[9] x) => (float8e4m3fn[9] y) { y = Cast<to = 17>(x) }",
     &ToFloat8,
     [] {
       return Values{
           Of(kE4M3, {9}, {16, 20, 9, 11, 448, -448, -448, kNan, 1.5})};
     }},
    {"Cast/float32_to_float8e4m3fn_unsaturated", "saturate 0: NaN",
     "g (float[9] x) => (float8e4m3fn[9] y) { y = Cast<to = 17, saturate = "
     "0>(x) }",
     &ToFloat8,
     [] {
       return Values{
           Of(kE4M3, {9}, {16, 20, 9, 11, kNan, kNan, kNan, kNan, 1.5})};
     }},
    {"Cast/float32_to_float8e4m3fnuz", "saturate 1, the default: 240 at most",
     "g (float[9] x) => (float8e4m3fnuz[9] y) { y = Cast<to = 18>(x) }",
     &ToFloat8,
     [] {
       return Values{
           Of(kE4M3UZ, {9}, {16, 20, 9, 11, 240, -240, -240, kNan, 1.5})};
     }},
    {"Cast/float32_to_float8e5m2", "saturate 1, the default: 57344 at most",
     "g (float[9] x) => (float8e5m2[9] y) { y = Cast<to = 19>(x) }", &ToFloat8,
     [] {
       return Values{
           Of(kE5M2, {9}, {16, 20, 8, 12, 1024, -57344, -57344, kNan, 1.5})};
     }},
    {"Cast/float32_to_float8e5m2_unsaturated",
     "saturate 0: infinity, also where the nearest is above the largest",
     "g (float[4] x) => (float8e5m2[4] y) { y = Cast<to = 19, saturate = 0>(x) "
     "}",
     [] {
       return Values{Of(kF32, {4}, {61440, 61439, -100000, kNan})};
     },
     [] {
       return Values{Of(kE5M2, {4}, {kInf, 57344, -kInf, kNan})};
     }},
    {"Cast/float32_to_float8e5m2fnuz_unsaturated", "saturate 0: NaN",
     "g (float[9] x) => (float8e5m2fnuz[9] y) "
     "{ y = Cast<to = 20, saturate = 0>(x) }",
     &ToFloat8,
     [] {
       return Values{
           Of(kE5M2UZ, {9}, {16, 20, 8, 12, 1024, kNan, kNan, kNan, 1.5})};
     }},
    {"Cast/float32_to_float8_subnormal",
     "half of the least, 2^-9 and 2^-16, goes to zero; 3 halves to two",
     "g (float[4] x) => (float8e4m3fn[4] a, float8e5m2[4] b) "
     "{ a = Cast<to = 17>(x) b = Cast<to = 19>(x) }",
     [] {
       return Values{Of(kF32, {4}, {0x1p-10, 0x1.8p-9, 0x1p-17, 0x1.8p-16})};
     },
     [] {
       return Values{Of(kE4M3, {4}, {0, 0x1p-8, 0, 0}),
                     Of(kE5M2, {4}, {0x1p-10, 0x1.8p-9, 0, 0x1p-15})};
     }},
    {"Cast/float8_to_float32", "the least, the largest and NaN of each",
     "g (float8e4m3fn[4] a, float8e5m2[4] b) => (float[4] x, float[4] y) "
     "{ x = Cast<to = 1>(a) y = Cast<to = 1>(b) }",
     [] {
       return Values{Of(kE4M3, {4}, {0x1p-9, 448, -240, kNan}),
                     Of(kE5M2, {4}, {0x1p-16, 57344, -kInf, kNan})};
     },
     [] {
       return Values{Of(kF32, {4}, {0x1p-9, 448, -240, kNan}),
                     Of(kF32, {4}, {0x1p-16, 57344, -kInf, kNan})};
     }},
    {"Cast/float32_to_float8e8m0", "round_mode up, the default, and down",
     "g (float[4] x) => (float8e8m0[4] u, float8e8m0[4] d) "
     "{ u = Cast<to = 24>(x) d = Cast<to = 24, round_mode = \"down\">(x) }",
     [] {
       return Values{Of(kF32, {4}, {1, 5, 0.75, 0x1p100})};
     },
     [] {
       return Values{Of(DType::kFloat8E8M0, {4}, {1, 8, 1, 0x1p100}),
                     Of(DType::kFloat8E8M0, {4}, {1, 4, 0.5, 0x1p100})};
     }},
    {"Cast/float32_to_float4e2m1",
     "ties to even among 0, .5, 1, 1.5, 2, 3, 4, 6",
     "g (float[8] x) => (float4e2m1[8] y) { y = Cast<to = 23>(x) }",
     [] {
       return Values{
           Of(kF32, {8}, {0.25, 0.75, 1.25, 1.75, 2.5, 3.5, -5, 100})};
     },
     [] {
       return Values{Of(DType::kFloat4E2M1, {8}, {0, 1, 1, 2, 2, 4, -4, 6})};
     }},
    {"Cast/int32_to_int4", "higher bits are discarded (text of Cast)",
     "g (int32[5] x) => (int4[5] a, uint4[5] b) "
     "{ a = Cast<to = 22>(x) b = Cast<to = 21>(x) }",
     [] {
       return Values{Of(kI32, {5}, {7, 9, -9, 18, -1})};
     },
     [] {
       return Values{Of(DType::kInt4, {5}, {7, -7, 7, 2, -1}),
                     Of(DType::kUint4, {5}, {7, 9, 7, 2, 15})};
     }},
    {"Cast/int4_to_float32", "an odd count of packed elements, with signs",
     "g (int4[5] a, uint4[5] b) => (float[5] x, float[5] y) "
     "{ x = Cast<to = 1>(a) y = Cast<to = 1>(b) }",
     [] {
       return Values{Of(DType::kInt4, {5}, {-8, 7, -1, 0, 3}),
                     Of(DType::kUint4, {5}, {15, 0, 8, 7, 1})};
     },
     [] {
       return Values{Of(kF32, {5}, {-8, 7, -1, 0, 3}),
                     Of(kF32, {5}, {15, 0, 8, 7, 1})};
     }},
    {"Cast/float32_to_integers", "towards zero (numpy's astype)",
     "g (float[6] x) => (int32[6] a, int64[6] b, int8[6] c) "
     "{ a = Cast<to = 6>(x) b = Cast<to = 7>(x) c = Cast<to = 3>(x) }",
     [] {
       return Values{Of(kF32, {6}, {2.75, -2.75, 0.5, -0.5, 126.5, 1.5})};
     },
     [] {
       return Values{Of(kI32, {6}, {2, -2, 0, 0, 126, 1}),
                     Of(kI64, {6}, {2, -2, 0, 0, 126, 1}),
                     Of(kI8, {6}, {2, -2, 0, 0, 126, 1})};
     }},
    {"Cast/float64_to_int64", "numbers that a float32 or an int32 has not",
     "g (double[4] x) => (int64[4] y) { y = Cast<to = 7>(x) }",
     [] {
       return Values{
           Of(kF64, {4}, {0x1p53 - 1, -0x1p40 - 0.75, 0x1p62, 16777217.5})};
     },
     [] {
       return Values{Whole(
           kI64, {4}, {(1LL << 53) - 1, -(1LL << 40), 1LL << 62, 16777217})};
     }},
    {"Cast/bool_to_numbers", "1 and 0 of each kind",
     "g (bool[3] x) => (float[3] a, int64[3] b, float16[3] c, uint8[3] d) "
     "{ a = Cast<to = 1>(x) b = Cast<to = 7>(x) c = Cast<to = 10>(x) "
     "d = Cast<to = 2>(x) }",
     [] {
       return Values{Of(kBool, {3}, {1, 0, 1})};
     },
     [] {
       return Values{Of(kF32, {3}, {1, 0, 1}), Of(kI64, {3}, {1, 0, 1}),
                     Of(kF16, {3}, {1, 0, 1}), Of(kU8, {3}, {1, 0, 1})};
     }},
    {"CastLike/float64_to_float16_rounds_once", "as Cast does",
     "g (double[3] x, float16[1] t) => (float16[3] y) { y = CastLike(x, t) }",
     [] {
       return Values{Of(kF64, {3},
                        {1 + 0x1p-11 + 0x1p-40, 1 + 3 * 0x1p-11 - 0x1p-40, -3}),
                     Of(kF16, {1}, {0})};
     },
     [] {
       return Values{Of(kF16, {3}, {1 + 0x1p-10, 1 + 0x1p-10, -3})};
     }},
    {"DequantizeLinear/int4", "packed, with a zero point and a scale of 1/4",
     "g (int4[5] x, float s, int4 z) => (float[5] y) "
     "{ y = DequantizeLinear(x, s, z) }",
     [] {
       return Values{Of(DType::kInt4, {5}, {-8, 7, -1, 0, 3}),
                     Of(kF32, {}, {0.25}), Of(DType::kInt4, {}, {3})};
     },
     [] {
       return Values{Of(kF32, {5}, {-2.75, 1, -1, -0.75, 0})};
     }},
    {"DequantizeLinear/axis_0", "a scale and a zero point for each row",
     "g (uint8[2,3] x, float[2] s, uint8[2] z) => (float[2,3] y) "
     "{ y = DequantizeLinear<axis = 0>(x, s, z) }",
     [] {
       return Values{Of(kU8, {2, 3}, {0, 128, 255, 0, 128, 255}),
                     Of(kF32, {2}, {0.5, 4}), Of(kU8, {2}, {128, 3})};
     },
     [] {
       return Values{Of(kF32, {2, 3}, {-64, 0, 63.5, -12, 500, 1008})};
     }},
};

}  // namespace

std::span<const SpecialCase> CastsCases() { return kCases; }

}  // namespace assay::inline v1
