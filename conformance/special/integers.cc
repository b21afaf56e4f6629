// SPDX-License-Identifier: Apache-2.0
//
// Integers: quotients and remainders of either sign, shifts by none and by all
// but one bit, and numbers that a float32 or a float64 does not have, which
// arithmetic by way of a float loses. Casts between integers wrap, by the text
// of Cast. Of overflow in Add, Mul and Sub ONNX's text says nothing; there it
// is its reference implementation, numpy's integers, which wrap.

#include "conformance/special/special.h"

namespace assay::inline v1 {
namespace {

constexpr int64_t kBig = 1LL << 53;  // kBig + 1 is no float64
constexpr int64_t kMax = INT64_MAX;
constexpr int64_t kMin = INT64_MIN;

#define ASSAY_OF_TWO(op, type, result) \
  "g (" type "[6] a, " type "[6] b) => (" result "[6] y) { y = " op "(a, b) }"

Values Longs(std::initializer_list<int64_t> numbers) {
  return {Whole(kI64, {static_cast<int64_t>(numbers.size())}, numbers)};
}

Values Pair(DType type, std::initializer_list<int64_t> a,
            std::initializer_list<int64_t> b) {
  return {Whole(type, {static_cast<int64_t>(a.size())}, a),
          Whole(type, {static_cast<int64_t>(b.size())}, b)};
}

Values Neighbours() {
  return Pair(kI64, {kBig, kBig + 1, kMax, kMin, -kBig, 5},
              {kBig + 1, kBig, kMax - 1, kMin + 1, -kBig - 1, 5});
}

Values Truths(std::initializer_list<double> x) { return {Of(kBool, {6}, x)}; }

constexpr SpecialCase kCases[] = {
    {"Div/int32_toward_zero", "truncating division (text of Div)",
     ASSAY_OF_TWO("Div", "int32", "int32"),
     [] {
       return Pair(kI32, {7, -7, 7, -7, 1, -9}, {2, 2, -2, -2, -3, 3});
     },
     [] {
       return Values{Whole(kI32, {6}, {3, -3, -3, 3, 0, -3})};
     }},
    {"Div/int8_toward_zero", "truncating division (text of Div)",
     ASSAY_OF_TWO("Div", "int8", "int8"),
     [] {
       return Pair(kI8, {127, -128, -127, -5, 5, 1}, {2, 3, 2, 4, -4, 127});
     },
     [] {
       return Values{Whole(kI8, {6}, {63, -42, -63, -1, -1, 0})};
     }},
    {"Div/int64_beyond_float64", "quotients that a float64 does not have",
     ASSAY_OF_TWO("Div", "int64", "int64"),
     [] {
       return Pair(kI64, {kMax, kMin, kMax, kBig + 1, -kBig - 1, 3},
                   {1, 1, -1, 1, -1, 4});
     },
     [] {
       return Longs({kMax, kMin, -kMax, kBig + 1, kBig + 1, 0});
     }},
    {"Div/uint64_high_bit", "an unsigned number above 2^63 is not negative",
     ASSAY_OF_TWO("Div", "uint64", "uint64"),
     [] {
       return Pair(kU64, {-1, -1, kMin, kMin, 9, -2}, {1, 2, 2, 3, -1, -1});
     },
     [] {
       return Values{
           Whole(kU64, {6}, {-1, kMax, 1LL << 62, 3074457345618258602, 0, 0})};
     }},
    {"Mod/int32_floored", "fmod 0: the sign of the divisor (text of Mod)",
     ASSAY_OF_TWO("Mod", "int32", "int32"),
     [] {
       return Pair(kI32, {7, -7, 7, -7, 6, -6}, {3, 3, -3, -3, -3, 3});
     },
     [] {
       return Values{Whole(kI32, {6}, {1, 2, -2, -1, 0, 0})};
     }},
    {"Mod/int32_truncated", "fmod 1: the sign of the dividend (text of Mod)",
     "g (int32[6] a, int32[6] b) => (int32[6] y) { y = Mod<fmod = 1>(a, b) }",
     [] {
       return Pair(kI32, {7, -7, 7, -7, 6, -6}, {3, 3, -3, -3, -3, 3});
     },
     [] {
       return Values{Whole(kI32, {6}, {1, -1, 1, -1, 0, 0})};
     }},
    {"Mod/int64_beyond_float64", "remainders of numbers that a float64 has not",
     ASSAY_OF_TWO("Mod", "int64", "int64"),
     [] {
       return Pair(kI64, {kBig + 1, kMax, -kBig - 1, kMax, kMax, -1},
                   {2, 10, 10, kBig, kMax - 1, kMax});
     },
     // 2^53 + 1 = 9007199254740993; kMax = ...807 = 2^53 * 1024 - 1.
     [] {
       return Longs({1, 7, 7, kBig - 1, 1, kMax - 1});
     }},
    {"Mod/float32_floored", "fmod 0 of floats: the sign of the divisor",
     "g (float[6] a, float[6] b) => (float[6] y) { y = Mod(a, b) }",
     [] {
       return Values{Of(kF32, {6}, {5.5, -5.5, 5.5, -5.5, 0.5, -0.5}),
                     Of(kF32, {6}, {2, 2, -2, -2, 4, 4})};
     },
     [] {
       return Values{Of(kF32, {6}, {1.5, 0.5, -0.5, -1.5, 0.5, 3.5})};
     }},
    {"Mod/float32_truncated", "fmod 1 of floats: the sign of the dividend",
     "g (float[6] a, float[6] b) => (float[6] y) { y = Mod<fmod = 1>(a, b) }",
     [] {
       return Values{Of(kF32, {6}, {5.5, -5.5, 5.5, -5.5, 0.5, -0.5}),
                     Of(kF32, {6}, {2, 2, -2, -2, 4, 4})};
     },
     [] {
       return Values{Of(kF32, {6}, {1.5, -1.5, 1.5, -1.5, 0.5, -0.5})};
     }},
    {"BitShift/uint8", "by none, and by all but one bit",
     "g (uint8[6] a, uint8[6] b) => (uint8[6] l, uint8[6] r) "
     "{ l = BitShift<direction = \"LEFT\">(a, b) "
     "r = BitShift<direction = \"RIGHT\">(a, b) }",
     [] {
       return Pair(kU8, {255, 255, 1, 128, 170, 3}, {0, 7, 7, 7, 1, 6});
     },
     [] {
       return Values{Whole(kU8, {6}, {255, 128, 128, 0, 84, 192}),
                     Whole(kU8, {6}, {255, 1, 0, 1, 85, 0})};
     }},
    {"BitShift/uint64", "by none, and by all but one bit, of 64",
     "g (uint64[6] a, uint64[6] b) => (uint64[6] l, uint64[6] r) "
     "{ l = BitShift<direction = \"LEFT\">(a, b) "
     "r = BitShift<direction = \"RIGHT\">(a, b) }",
     [] {
       return Pair(kU64, {-1, -1, 1, kMin, 5, 3}, {0, 63, 63, 63, 32, 62});
     },
     [] {
       return Values{
           Whole(kU64, {6}, {-1, kMin, kMin, 0, 5LL << 32, kMin | 1LL << 62}),
           Whole(kU64, {6}, {-1, 1, 0, 1, 0, 0})};
     }},
    {"Add/int64_beyond_float64", "sums that a float64 does not have",
     ASSAY_OF_TWO("Add", "int64", "int64"),
     [] {
       return Pair(kI64, {kBig, kMax - 1, kMin, kMax, 1, -kBig},
                   {1, 1, kMax, kMin, 2, -1});
     },
     [] {
       return Longs({kBig + 1, kMax, -1, -1, 3, -kBig - 1});
     }},
    {"Sub/int64_beyond_float64", "differences that a float64 does not have",
     ASSAY_OF_TWO("Sub", "int64", "int64"),
     [] {
       return Pair(kI64, {kMax, kMin + 1, kBig + 1, kMax, -1, 0},
                   {1, 1, kBig, kMax - 1, kMax, kMax});
     },
     [] {
       return Longs({kMax - 1, kMin, 1, 1, kMin, -kMax});
     }},
    {"Mul/int64_beyond_float64", "products that a float64 does not have",
     ASSAY_OF_TWO("Mul", "int64", "int64"),
     [] {
       return Pair(kI64, {3037000499, 3, -3, kMax, kBig + 1, 94906267},
                   {3037000499, 3074457345618258601, 3074457345618258602, -1, 3,
                    94906267});
     },
     [] {
       return Longs({9223372030926249001, 9223372036854775803,
                     -9223372036854775806, -kMax, 3 * kBig + 3,
                     9007199515875289});
     }},
    {"Add/uint8_wraps", "modulo 2^8 (numpy.add)",
     ASSAY_OF_TWO("Add", "uint8", "uint8"),
     [] {
       return Pair(kU8, {200, 255, 128, 1, 254, 7}, {100, 1, 128, 2, 3, 0});
     },
     [] {
       return Values{Whole(kU8, {6}, {44, 0, 0, 3, 1, 7})};
     }},
    {"Sub/uint8_wraps", "modulo 2^8 (numpy.subtract)",
     ASSAY_OF_TWO("Sub", "uint8", "uint8"),
     [] {
       return Pair(kU8, {0, 1, 100, 5, 255, 9}, {1, 255, 200, 3, 255, 0});
     },
     [] {
       return Values{Whole(kU8, {6}, {255, 2, 156, 2, 0, 9})};
     }},
    {"Mul/uint8_wraps", "modulo 2^8 (numpy.multiply)",
     ASSAY_OF_TWO("Mul", "uint8", "uint8"),
     [] {
       return Pair(kU8, {16, 255, 20, 3, 128, 1}, {16, 255, 13, 5, 3, 9});
     },
     [] {
       return Values{Whole(kU8, {6}, {0, 1, 4, 15, 128, 9})};
     }},
    {"Add/int8_wraps", "modulo 2^8, to the signed range (numpy.add)",
     ASSAY_OF_TWO("Add", "int8", "int8"),
     [] {
       return Pair(kI8, {127, -128, 100, 1, -1, 5}, {1, -1, 100, 2, -2, 0});
     },
     [] {
       return Values{Whole(kI8, {6}, {-128, 127, -56, 3, -3, 5})};
     }},
    {"Sub/int8_wraps", "modulo 2^8, to the signed range (numpy.subtract)",
     ASSAY_OF_TWO("Sub", "int8", "int8"),
     [] {
       return Pair(kI8, {127, -128, 100, 1, -1, 5}, {-1, 1, -100, 2, 2, 0});
     },
     [] {
       return Values{Whole(kI8, {6}, {-128, 127, -56, -1, -3, 5})};
     }},
    {"Mul/int8_wraps", "modulo 2^8, to the signed range (numpy.multiply)",
     ASSAY_OF_TWO("Mul", "int8", "int8"),
     [] {
       return Pair(kI8, {-128, 64, 20, 3, -7, 1}, {-1, 2, 13, -5, 3, 9});
     },
     [] {
       return Values{Whole(kI8, {6}, {-128, -128, 4, -15, -21, 9})};
     }},
    {"Add/int32_wraps", "modulo 2^32, to the signed range (numpy.add)",
     ASSAY_OF_TWO("Add", "int32", "int32"),
     [] {
       return Pair(kI32, {2147483647, -2147483648LL, 2000000000, 1, 0, 5},
                   {1, -1, 2000000000, 2, -3, 0});
     },
     [] {
       return Values{
           Whole(kI32, {6}, {-2147483648LL, 2147483647, -294967296, 3, -3, 5})};
     }},
    {"Sub/uint32_wraps", "modulo 2^32 (numpy.subtract)",
     ASSAY_OF_TWO("Sub", "uint32", "uint32"),
     [] {
       return Pair(DType::kUint32, {0, 1, 4294967295, 7, 5, 9},
                   {1, 4294967295, 1, 9, 5, 3});
     },
     [] {
       return Values{Whole(DType::kUint32, {6},
                           {4294967295, 2, 4294967294, 4294967294, 0, 6})};
     }},
    {"Mul/int64_wraps", "modulo 2^64, to the signed range (numpy.multiply)",
     ASSAY_OF_TWO("Mul", "int64", "int64"),
     [] {
       return Pair(kI64, {kMax, 1LL << 32, kMin, 3, -5, 1LL << 62},
                   {2, 1LL << 32, -1, 7, 9, 2});
     },
     [] {
       return Longs({-2, 0, kMin, 21, -45, kMin});
     }},
    {"Max/int64_beyond_float64", "neighbours that are one float64",
     ASSAY_OF_TWO("Max", "int64", "int64"), &Neighbours,
     [] {
       return Longs({kBig + 1, kBig + 1, kMax, kMin + 1, -kBig, 5});
     }},
    {"Min/int64_beyond_float64", "neighbours that are one float64",
     ASSAY_OF_TWO("Min", "int64", "int64"), &Neighbours,
     [] {
       return Longs({kBig, kBig, kMax - 1, kMin, -kBig - 1, 5});
     }},
    {"Equal/int64_beyond_float64", "neighbours that are one float64",
     ASSAY_OF_TWO("Equal", "int64", "bool"), &Neighbours,
     [] {
       return Truths({0, 0, 0, 0, 0, 1});
     }},
    {"Less/int64_beyond_float64", "neighbours that are one float64",
     ASSAY_OF_TWO("Less", "int64", "bool"), &Neighbours,
     [] {
       return Truths({1, 0, 0, 1, 0, 0});
     }},
    {"Less/uint64_high_bit", "an unsigned number above 2^63 is not negative",
     ASSAY_OF_TWO("Less", "uint64", "bool"),
     [] {
       return Pair(kU64, {-1, 0, kMin, kMax, -2, 7},
                   {0, -1, kMax, kMin, -1, 7});
     },
     [] {
       return Truths({0, 1, 0, 1, 1, 0});
     }},
    {"Max/uint64_high_bit", "an unsigned number above 2^63 is not negative",
     ASSAY_OF_TWO("Max", "uint64", "uint64"),
     [] {
       return Pair(kU64, {-1, 0, kMin, kMax, -2, 7},
                   {0, -1, kMax, kMin, -1, 8});
     },
     [] {
       return Values{Whole(kU64, {6}, {-1, -1, kMin, kMin, -1, 8})};
     }},
    {"ReduceSum/int64_beyond_float64", "2^53 + 1 in any order",
     "g (int64[3,3] x) => (int64[3,1] y) <int64[1] axes = {1}> "
     "{ y = ReduceSum(x, axes) }",
     [] {
       return Values{Whole(kI64, {3, 3},
                           {kBig, 1, 0, kMax - 5, 2, 3, -1, kMin + 1, kMax})};
     },
     [] {
       return Values{Whole(kI64, {3, 1}, {kBig + 1, kMax, -1})};
     }},
    {"ReduceMax/int64_beyond_float64", "neighbours that are one float64",
     "g (int64[2,3] x) => (int64[2,1] y) <int64[1] axes = {1}> "
     "{ y = ReduceMax(x, axes) }",
     [] {
       return Values{
           Whole(kI64, {2, 3}, {kBig, kBig + 1, kBig, kMin, kMin + 1, kMin})};
     },
     [] {
       return Values{Whole(kI64, {2, 1}, {kBig + 1, kMin + 1})};
     }},
    {"ReduceProd/int64_beyond_float64", "3^39 and 7^22",
     "g (int64[2,3] x) => (int64[2,1] y) <int64[1] axes = {1}> "
     "{ y = ReduceProd(x, axes) }",
     [] {
       return Values{
           Whole(kI64, {2, 3},
                 {1594323, 1594323, 1594323, 5764801, 5764801, -117649})};
     },
     [] {
       return Values{
           Whole(kI64, {2, 1}, {4052555153018976267, -3909821048582988049})};
     }},
    {"ArgMax/int64_beyond_float64", "neighbours that are one float64",
     "g (int64[2,3] x) => (int64[2,1] y) { y = ArgMax<axis = 1>(x) }",
     [] {
       return Values{Whole(kI64, {2, 3},
                           {kBig, kBig + 1, kBig, kMax - 2, kMax - 1, kMax})};
     },
     [] {
       return Values{Of(kI64, {2, 1}, {1, 2})};
     }},
    {"TopK/int64_beyond_float64", "neighbours that are one float64",
     "g (int64[5] x, int64[1] k) => (int64[3] v, int64[3] i) "
     "{ v, i = TopK(x, k) }",
     [] {
       return Values{Whole(kI64, {5}, {kBig, kBig + 1, 4, kBig - 1, kBig + 2}),
                     Of(kI64, {1}, {3})};
     },
     [] {
       return Values{Whole(kI64, {3}, {kBig + 2, kBig + 1, kBig}),
                     Of(kI64, {3}, {4, 1, 0})};
     }},
    {"CumSum/int64_beyond_float64", "every step counts",
     "g (int64[4] x) => (int64[4] y) <int64 axis = {0}> { y = CumSum(x, axis) "
     "}",
     [] {
       return Longs({kBig, 1, 1, -kBig});
     },
     [] {
       return Longs({kBig, kBig + 1, kBig + 2, 2});
     }},
    {"MatMul/int64_beyond_float64", "dots that a float64 does not have",
     "g (int64[2,2] a, int64[2,2] b) => (int64[2,2] y) { y = MatMul(a, b) }",
     [] {
       return Values{Whole(kI64, {2, 2}, {kBig, 1, 3, -1}),
                     Whole(kI64, {2, 2}, {1, 2, 1, kBig - 1})};
     },
     [] {
       return Values{
           Whole(kI64, {2, 2}, {kBig + 1, 3 * kBig - 1, 2, 7 - kBig})};
     }},
    {"MatMul/int32_beyond_float32", "dots that a float32 does not have",
     "g (int32[2,2] a, int32[2,2] b) => (int32[2,2] y) { y = MatMul(a, b) }",
     [] {
       return Values{Whole(kI32, {2, 2}, {16777216, 1, 3, -1}),
                     Whole(kI32, {2, 2}, {1, 2, 1, 16777215})};
     },
     [] {
       return Values{Whole(kI32, {2, 2}, {16777217, 50331647, 2, -16777209})};
     }},
    {"MatMulInteger/beyond_float32",
     "2,048 products of 127 * 127 and one more: 33032192 + 1, in 32 bits",
     "g (int8[2,2049] a, int8[2049,1] b) => (int32[2,1] y) "
     "{ y = MatMulInteger(a, b) }",
     [] {
       return Values{
           By(kI8, {2, 2049},
              [](int64_t i) { return i == 2048  ? 1
                                     : i < 2048 ? 127
                                                : -127; }),
           By(kI8, {2049, 1}, [](int64_t i) { return i == 2048 ? 1 : 127; })};
     },
     [] {
       return Values{Whole(kI32, {2, 1}, {33032193, -33032319})};
     }},
    {"ConvInteger/beyond_float32", "the same sums through a window",
     "g (uint8[1,2049,1] x, int8[2,2049,1] w) => (int32[1,2,1] y) "
     "{ y = ConvInteger(x, w) }",
     [] {
       return Values{
           By(kU8, {1, 2049, 1}, [](int64_t i) { return i == 2048 ? 1 : 127; }),
           By(kI8, {2, 2049, 1}, [](int64_t i) {
             return i == 2048 ? 1 : i < 2048 ? 127 : -127;
           })};
     },
     [] {
       return Values{Whole(kI32, {1, 2, 1}, {33032193, -33032319})};
     }},
    {"ConvInteger/zero_points",
     "(x - 255) (w - 0): the padding is the zero point, thus nothing",
     "g (uint8[1,1,3] x, uint8[1,1,2] w, uint8 xz) => (int32[1,1,4] y) "
     "{ y = ConvInteger<pads = [1, 1]>(x, w, xz) }",
     [] {
       return Values{Of(kU8, {1, 1, 3}, {0, 255, 5}),
                     Of(kU8, {1, 1, 2}, {255, 2}), Of(kU8, {}, {255})};
     },
     [] {
       return Values{Whole(kI32, {1, 1, 4}, {-510, -65025, -500, -63750})};
     }},
    {"Cast/int64_to_float32", "to the nearest, ties to even (IEEE 754, 5.4.1)",
     "g (int64[6] x) => (float[6] y) { y = Cast<to = 1>(x) }",
     [] {
       return Longs({16777217, 16777219, -16777217, kMax, kMin, 33554434});
     },
     [] {
       return Values{
           Of(kF32, {6},
              {16777216, 16777220, -16777216, 0x1p63, -0x1p63, 33554432})};
     }},
    {"Cast/int64_to_float64", "to the nearest, ties to even (IEEE 754, 5.4.1)",
     "g (int64[4] x) => (double[4] y) { y = Cast<to = 11>(x) }",
     [] {
       return Longs({kBig + 1, kBig + 3, kMax, 16777217});
     },
     [] {
       return Values{Of(kF64, {4}, {0x1p53, 0x1p53 + 4, 0x1p63, 16777217})};
     }},
    {"Cast/int64_to_float32_rounds_once",
     "2^60 + 2^36 + 1 is above the half of 2^37, which float64 hides",
     "g (int64[3] x) => (float[3] y) { y = Cast<to = 1>(x) }",
     [] {
       return Longs({(1LL << 60) + (1LL << 36) + 1,
                     -(1LL << 60) - (3LL << 36) + 1, 1LL << 60});
     },
     [] {
       return Values{
           Of(kF32, {3}, {0x1p60 + 0x1p37, -0x1p60 - 0x1p37, 0x1p60})};
     }},
    {"Cast/uint64_to_float32", "2^64 - 1 rounds to 2^64, not to -1",
     "g (uint64[3] x) => (float[3] y) { y = Cast<to = 1>(x) }",
     [] {
       return Values{Whole(kU64, {3}, {-1, kMin, 16777217})};
     },
     [] {
       return Values{Of(kF32, {3}, {0x1p64, 0x1p63, 16777216})};
     }},
    {"Cast/int64_to_narrower", "higher bits are discarded (text of Cast)",
     "g (int64[4] x) => (int32[4] a, int16[4] b, int8[4] c, uint8[4] d) "
     "{ a = Cast<to = 6>(x) b = Cast<to = 5>(x) c = Cast<to = 3>(x) "
     "d = Cast<to = 2>(x) }",
     [] {
       return Longs({200, -1, 0x180000001, kMax - 0x7FFF});
     },
     [] {
       return Values{Whole(kI32, {4}, {200, -1, -0x7FFFFFFF, -0x8000}),
                     Whole(kI16, {4}, {200, -1, 1, -0x8000}),
                     Whole(kI8, {4}, {-56, -1, 1, 0}),
                     Whole(kU8, {4}, {200, 255, 1, 0})};
     }},
    {"Cast/int64_to_bool",
     "all but zero is true, also where the low bits are 0",
     "g (int64[4] x) => (bool[4] y) { y = Cast<to = 9>(x) }",
     [] {
       return Longs({0, 256, 1LL << 32, kMin});
     },
     [] {
       return Values{Of(kBool, {4}, {0, 1, 1, 1})};
     }},
    {"Gather/negative_indices", "-1 is the last",
     "g (float[3,2] x, int64[4] i) => (float[4,2] y) { y = Gather(x, i) }",
     [] {
       return Values{Of(kF32, {3, 2}, {1, 2, 3, 4, 5, 6}),
                     Of(kI64, {4}, {-1, 0, -3, -2})};
     },
     [] {
       return Values{Of(kF32, {4, 2}, {5, 6, 1, 2, 1, 2, 3, 4})};
     }},
    {"Add/float64_initializer",
     "2^24 + 1, 2^53 - 1 and 1e300, stored in the model as no float has them",
     "g (double[3] x) => (double[3] y) "
     "<double[3] c = {16777217, 9007199254740991, 1e300}> { y = Add(x, c) }",
     [] {
       return Values{Of(kF64, {3}, {1, -1, 0})};
     },
     [] {
       return Values{Of(kF64, {3}, {16777218, 9007199254740990, 1e300})};
     }},
    {"BitwiseNot/int32", "all bits, the sign's too",
     "g (int32[4] x) => (int32[4] y) { y = BitwiseNot(x) }",
     [] {
       return Values{Whole(kI32, {4}, {0, -1, 2147483647, 16777217})};
     },
     [] {
       return Values{Whole(kI32, {4}, {-1, 0, -2147483648LL, -16777218})};
     }},
};

#undef ASSAY_OF_TWO

}  // namespace

std::span<const SpecialCase> IntegersCases() { return kCases; }

}  // namespace assay::inline v1
