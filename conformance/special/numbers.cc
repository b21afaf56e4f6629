// SPDX-License-Identifier: Apache-2.0
//
// Arithmetic in every type of numbers, on numbers so small that all types have
// them and their results: whole numbers, of which any sum and product is exact.

#include "conformance/special/typed.h"

namespace assay::inline v1 {
namespace {

// Two rows, and two rows that are near to them.
Values Three(DType t) { return {Of(t, {2, 3}, {3, 1, 2, 4, 6, 5})}; }
Values Pair(DType t) {
  return {Of(t, {4}, {6, 1, 4, 9}), Of(t, {4}, {3, 1, 5, 2})};
}
Values Matrices(DType t) {
  return {Of(t, {2, 2}, {1, 2, 3, 4}), Of(t, {2, 2}, {0, 1, 1, 2})};
}

constexpr std::string_view kReduced =
    "bfloat16 float16 float32 float64 int32 int64 uint32 uint64";
constexpr std::string_view kExtreme =
    "bfloat16 float16 float32 float64 int8 int32 int64 uint8 uint32 uint64";
constexpr std::string_view kCastTypes =
    "bfloat16 float16 float64 int8 int16 int32 int64 uint8 uint16 uint32 "
    "uint64 float6e2m3 float6e3m2 float8e8m0";
constexpr std::string_view kCastLikeTypes =
    "bfloat16 float16 float64 int8 int16 int32 int64 uint8 uint16 uint32 "
    "uint64 float8e8m0";
constexpr std::string_view kCompared =
    "bfloat16 float16 float32 float64 int8 int16 int32 int64 uint8 uint16 "
    "uint32 uint64 ";
constexpr std::string_view kMatMul =
    "bfloat16 float16 float32 float64 int32 int64 uint32 uint64";

// clang-format off
#define ASSAY_PAIR(op, what, types, ...)                                      \
  {op "/pair", what, types,                                                   \
   "g ($T[4] a, $T[4] b) => ($T[4] y) { y = " op "(a, b) }", &Pair,           \
   [](DType t) { return Values{Of(t, {4}, {__VA_ARGS__})}; }},
#define ASSAY_COMPARE(op, ...)                                                \
  {op "/pair", "6 and 3, 1 and 1, 4 and 5, 9 and 2", kCompared,               \
   "g ($T[4] a, $T[4] b) => (bool[4] y) { y = " op "(a, b) }", &Pair,         \
   [](DType) { return Values{Of(kBool, {4}, {__VA_ARGS__})}; }},
#define ASSAY_REDUCE(op, what, types, ...)                                    \
  {op "/rows", what, types,                                                   \
   "g ($T[2,3] x) => ($T[2] y) <int64[1] a = {1}> "                           \
   "{ y = " op "<keepdims = 0>(x, a) }", &Three,                              \
   [](DType t) { return Values{Of(t, {2}, {__VA_ARGS__})}; }},
#define ASSAY_SIGNED(op, what, ...)                                           \
  {op "/signed", what, kSignedTypes,                                          \
   "g ($T[4] x) => ($T[4] y) { y = " op "(x) }",                              \
   [](DType t) { return Values{Of(t, {4}, {-3, 0, 2, -1})}; },                \
   [](DType t) { return Values{Of(t, {4}, {__VA_ARGS__})}; }},
#define ASSAY_UNSIGNED(op, what, ...)                                         \
  {op "/unsigned", what, kUnsignedTypes,                                      \
   "g ($T[4] x) => ($T[4] y) { y = " op "(x) }",                              \
   [](DType t) { return Values{Of(t, {4}, {3, 0, 2, 200})}; },                \
   [](DType t) { return Values{Of(t, {4}, {__VA_ARGS__})}; }},

constexpr TypedRow kRows[] = {
  ASSAY_PAIR("Add", "sums of two", kNumberTypes, 9, 2, 9, 11)
  ASSAY_PAIR("Mul", "products", kNumberTypes, 18, 1, 20, 18)
  ASSAY_PAIR("Max", "the greater", kNumberTypes, 6, 1, 5, 9)
  ASSAY_PAIR("Min", "the smaller", kNumberTypes, 3, 1, 4, 2)
  ASSAY_PAIR("Mod", "the remainder; fmod = 1 is needed for floats only",
             kIntegerTypes, 0, 0, 4, 1)
  ASSAY_PAIR("Sum", "of two", kFloatTypes, 9, 2, 9, 11)
  ASSAY_PAIR("Mean", "half of a sum", kFloatTypes, 4.5, 1, 4.5, 5.5)
  ASSAY_PAIR("Pow", "powers up to 4^5 = 1024", kFloatTypes, 216, 1, 1024, 81)
  ASSAY_PAIR("BitwiseAnd", "of bits 110 011, 001 001, 100 101, 1001 0010",
             kIntegerTypes, 2, 1, 4, 0)
  ASSAY_PAIR("BitwiseOr", "of bits 110 011, 001 001, 100 101, 1001 0010",
             kIntegerTypes, 7, 1, 5, 11)
  ASSAY_PAIR("BitwiseXor", "of bits 110 011, 001 001, 100 101, 1001 0010",
             kIntegerTypes, 5, 0, 1, 11)
  ASSAY_COMPARE("Equal", 0, 1, 0, 0)
  ASSAY_COMPARE("Less", 0, 0, 1, 0)
  ASSAY_COMPARE("LessOrEqual", 0, 1, 1, 0)
  ASSAY_COMPARE("Greater", 1, 0, 0, 1)
  ASSAY_COMPARE("GreaterOrEqual", 1, 1, 0, 1)
  ASSAY_REDUCE("ReduceSum", "3 + 1 + 2 and 4 + 6 + 5", kReduced, 6, 15)
  ASSAY_REDUCE("ReduceProd", "3 * 1 * 2 and 4 * 6 * 5", kReduced, 6, 120)
  ASSAY_REDUCE("ReduceL1", "3 + 1 + 2 and 4 + 6 + 5", kReduced, 6, 15)
  ASSAY_REDUCE("ReduceSumSquare", "9 + 1 + 4 and 16 + 36 + 25", kReduced,
               14, 77)
  ASSAY_REDUCE("ReduceMean", "6 / 3 and 15 / 3", kReduced, 2, 5)
  ASSAY_REDUCE("ReduceMax", "the greatest of each row", kExtreme, 3, 6)
  ASSAY_REDUCE("ReduceMin", "the smallest of each row", kExtreme, 1, 4)
  ASSAY_SIGNED("Abs", "the magnitude", 3, 0, 2, 1)
  ASSAY_UNSIGNED("Abs", "itself, 200 too", 3, 0, 2, 200)
  ASSAY_SIGNED("Sign", "-1, 0 or 1", -1, 0, 1, -1)
  ASSAY_UNSIGNED("Sign", "0 or 1, of 200 too", 1, 0, 1, 1)
  ASSAY_SIGNED("Neg", "the other sign", 3, 0, -2, 1)
  ASSAY_SIGNED("Relu", "nothing below zero", 0, 0, 2, 0)
  {"BitwiseNot/of", "-1 - x, or the greatest number less x", kIntegerTypes,
   "g ($T[3] x) => ($T[3] y) { y = BitwiseNot(x) }",
   [](DType t) { return Values{WholeBy(t, {3}, [](int64_t i) { return i; })}; },
   [](DType t) { return Values{WholeBy(t, {3}, [t](int64_t i) -> int64_t {
     if (ClassOf(t) == DTypeClass::kSigned) return -1 - i;
     const int unused = 64 - BitsOf(t);
     return static_cast<int64_t>(~uint64_t{0} >> unused) - i; })}; }},
  {"Clip/both", "at least 2, at most 5", kNumberTypes,
   "g ($T[2,3] x, $T lo, $T hi) => ($T[2,3] y) { y = Clip(x, lo, hi) }",
   [](DType t) { return Values{Three(t)[0], Of(t, {}, {2}), Of(t, {}, {5})}; },
   [](DType t) { return Values{Of(t, {2, 3}, {3, 2, 2, 4, 5, 5})}; }},
  {"ArgMax/rows", "where 3 and 6 stand", kNumberTypes,
   "g ($T[2,3] x) => (int64[2] y) { y = ArgMax<axis = 1, keepdims = 0>(x) }",
   &Three, [](DType) { return Values{Whole(kI64, {2}, {0, 1})}; }},
  {"ArgMin/rows", "where 1 and 4 stand", kNumberTypes,
   "g ($T[2,3] x) => (int64[2] y) { y = ArgMin<axis = 1, keepdims = 0>(x) }",
   &Three, [](DType) { return Values{Whole(kI64, {2}, {1, 0})}; }},
  {"TopK/two", "the two greatest, and where they stood", kNumberTypes,
   "g ($T[2,3] x) => ($T[2,2] y, int64[2,2] i) <int64[1] k = {2}> "
   "{ y, i = TopK(x, k) }", &Three,
   [](DType t) { return Values{Of(t, {2, 2}, {3, 2, 6, 5}),
                               Whole(kI64, {2, 2}, {0, 2, 1, 2})}; }},
  {"CumSum/rows", "sums so far; the axis in int32", kReduced,
   "g ($T[2,3] x) => ($T[2,3] y) <int32 a = {1}> { y = CumSum(x, a) }", &Three,
   [](DType t) { return Values{Of(t, {2, 3}, {3, 4, 6, 4, 10, 15})}; }},
  {"CumProd/rows", "products so far; the axis in int64", kReduced,
   "g ($T[2,3] x) => ($T[2,3] y) <int64 a = {1}> { y = CumProd(x, a) }", &Three,
   [](DType t) { return Values{Of(t, {2, 3}, {3, 3, 6, 4, 24, 120})}; }},
  {"PRelu/slopes", "of numbers above zero, themselves", kReduced,
   "g ($T[2,3] x, $T[3] s) => ($T[2,3] y) { y = PRelu(x, s) }",
   [](DType t) { return Values{Three(t)[0], Of(t, {3}, {2, 2, 2})}; },
   &Three},
  {"PRelu/negative", "-2 * 4 and -3 * 2",
   "bfloat16 float16 float32 float64 int32 int64",
   "g ($T[3] x, $T[3] s) => ($T[3] y) { y = PRelu(x, s) }",
   [](DType t) { return Values{Of(t, {3}, {-2, 5, -3}),
                               Of(t, {3}, {4, 4, 2})}; },
   [](DType t) { return Values{Of(t, {3}, {-8, 5, -6})}; }},
  {"Pow/exponent", "squares, the exponent of any type", kNumberTypes,
   "g (float[3] x, $T e) => (float[3] y) { y = Pow(x, e) }",
   [](DType t) { return Values{Of(kF32, {3}, {3, -2, 0.5}), Of(t, {}, {2})}; },
   [](DType) { return Values{Of(kF32, {3}, {9, 4, 0.25})}; }},
  {"MatMul/two", "sums of two products", kMatMul,
   "g ($T[2,2] a, $T[2,2] b) => ($T[2,2] y) { y = MatMul(a, b) }", &Matrices,
   [](DType t) { return Values{Of(t, {2, 2}, {2, 5, 4, 11})}; }},
  {"Gemm/whole_factors", "2 A B' + 3 C", kMatMul,
   "g ($T[2,2] a, $T[2,2] b, $T[2] c) => ($T[2,2] y) "
   "{ y = Gemm<alpha = 2.0, beta = 3.0, transB = 1>(a, b, c) }",
   [](DType t) { Values v = Matrices(t);
                 v.push_back(Of(t, {2}, {1, 2})); return v; },
   [](DType t) { return Values{Of(t, {2, 2}, {7, 16, 11, 28})}; }},
  {"Gemm/half", "0.5 A B + 0.5 C, all of them even", kMatMul,
   "g ($T[2,2] a, $T[2,2] b, $T[2,2] c) => ($T[2,2] y) "
   "{ y = Gemm<alpha = 0.5, beta = 0.5>(a, b, c) }",
   [](DType t) { Values v = Matrices(t);
                 v.push_back(Of(t, {2, 2}, {2, 1, 4, 3})); return v; },
   [](DType t) { return Values{Of(t, {2, 2}, {2, 3, 4, 7})}; }},
  {"Einsum/product", "sums of two products", kNumberTypes,
   "g ($T[2,2] a, $T[2,2] b) => ($T[2,2] y) "
   "{ y = Einsum<equation = \"ij,jk->ik\">(a, b) }", &Matrices,
   [](DType t) { return Values{Of(t, {2, 2}, {2, 5, 4, 11})}; }},
  {"EyeLike/of", "ones on the diagonal; the type of x is not that of y",
   "bfloat16 bool float16 float32 float64 int8 int16 int32 int64 uint8 uint16 "
   "uint32 uint64",
   "g ($T[2,3] x) => (float[2,3] y) { y = EyeLike<dtype = 1>(x) }",
   [](DType t) { return Values{Of(t, {2, 3}, {1, 1, 1, 0, 0, 1})}; },
   [](DType) { return Values{Of(kF32, {2, 3}, {1, 0, 0, 0, 1, 0})}; }},
  {"EyeLike/to", "ones on the diagonal, of the type that dtype names",
   "bfloat16 bool float16 float32 float64 int8 int16 int32 int64 uint8 uint16 "
   "uint32 uint64",
   "g (int32[2,3] x) => ($T[2,3] y) { y = EyeLike<dtype = $N>(x) }",
   [](DType) { return Values{Of(kI32, {2, 3}, {1, 1, 1, 0, 0, 1})}; },
   [](DType t) { return Values{Of(t, {2, 3}, {1, 0, 0, 0, 1, 0})}; }},
  {"OneHot/indices", "indices and depth of any type",
   "float16 float32 float64 int8 int16 int32 int64 uint8 uint16 uint32 uint64",
   "g ($T[2] i, $T d, float[2] v) => (float[2,3] y) { y = OneHot(i, d, v) }",
   [](DType t) { return Values{Of(t, {2}, {2, 0}), Of(t, {}, {3}),
                               Of(kF32, {2}, {5, 7})}; },
   [](DType) { return Values{Of(kF32, {2, 3}, {5, 5, 7, 7, 5, 5})}; }},
  {"Range/threes", "1, 4, 7", "float32 float64 int16 int32 int64",
   "g ($T a, $T b, $T s) => ($T[k] y) { y = Range(a, b, s) }",
   [](DType t) { return Values{Of(t, {}, {1}), Of(t, {}, {9}),
                               Of(t, {}, {3})}; },
   [](DType t) { return Values{Of(t, {3}, {1, 4, 7})}; }},
  {"MaxPool/pairs", "the greater of neighbours",
   "bfloat16 float16 float32 float64 int8 uint8",
   "g ($T[1,1,4] x) => ($T[1,1,3] y) { y = MaxPool<kernel_shape = [2]>(x) }",
   [](DType t) { return Values{Of(t, {1, 1, 4}, {3, 1, 2, 4})}; },
   [](DType t) { return Values{Of(t, {1, 1, 3}, {3, 2, 4})}; }},
  {"Shrink/signed", "|x| > 2 moves by 1 towards zero",
   "float16 float32 float64 int8 int16 int32 int64",
   "g ($T[4] x) => ($T[4] y) { y = Shrink<lambd = 2.0, bias = 1.0>(x) }",
   [](DType t) { return Values{Of(t, {4}, {-5, -2, 1, 4})}; },
   [](DType t) { return Values{Of(t, {4}, {-4, 0, 0, 3})}; }},
  {"Resize/linear", "halves of numbers that are two apart",
   kNumberTypes,
   "g ($T[1,2] x) => ($T[1,3] y) <int64[2] s = {1, 3}> { y = "
   "Resize<mode = \"linear\", coordinate_transformation_mode = "
   "\"align_corners\">(x, , , s) }",
   [](DType t) { return Values{Of(t, {1, 2}, {3, 5})}; },
   [](DType t) { return Values{Of(t, {1, 3}, {3, 4, 5})}; }},
  {"GridSample/linear", "the middle of 1, 3, 5 and 7, and a corner",
   kNumberTypes,
   "g ($T[1,1,2,2] x, float[1,1,2,2] at) => ($T[1,1,1,2] y) "
   "{ y = GridSample<align_corners = 1>(x, at) }",
   [](DType t) { return Values{Of(t, {1, 1, 2, 2}, {1, 3, 5, 7}),
                               Of(kF32, {1, 1, 2, 2}, {0, 0, 1, 1})}; },
   [](DType t) { return Values{Of(t, {1, 1, 1, 2}, {4, 7})}; }},
  {"ScatterND/add", "4 + 3 + 1", kNumberTypes,
   "g ($T[3] x, $T[2] u) => ($T[3] y) <int64[2,1] i = {1, 1}> "
   "{ y = ScatterND<reduction = \"add\">(x, i, u) }",
   [](DType t) { return Values{Of(t, {3}, {5, 4, 2}), Of(t, {2}, {3, 1})}; },
   [](DType t) { return Values{Of(t, {3}, {5, 8, 2})}; }},
  {"ScatterElements/mul", "2 * 3 * 4", kNumberTypes,
   "g ($T[3] x, $T[2] u) => ($T[3] y) <int64[2] i = {2, 2}> "
   "{ y = ScatterElements<reduction = \"mul\">(x, i, u) }",
   [](DType t) { return Values{Of(t, {3}, {5, 4, 2}), Of(t, {2}, {3, 4})}; },
   [](DType t) { return Values{Of(t, {3}, {5, 4, 24})}; }},
  {"Shrink/unsigned", "x > 2 moves by 1 towards zero", kUnsignedTypes,
   "g ($T[4] x) => ($T[4] y) { y = Shrink<lambd = 2.0, bias = 1.0>(x) }",
   [](DType t) { return Values{Of(t, {4}, {5, 2, 1, 4})}; },
   [](DType t) { return Values{Of(t, {4}, {4, 0, 0, 3})}; }},
  {"Cast/from", "numbers that both types have", kCastTypes,
   "g ($T[3] x) => (float[3] y) { y = Cast<to = 1>(x) }",
   [](DType t) { return Values{Of(t, {3}, {1, 2, 4})}; },
   [](DType) { return Values{Of(kF32, {3}, {1, 2, 4})}; }},
  {"Cast/to", "numbers that both types have", kCastTypes,
   "g (float[3] x) => ($T[3] y) { y = Cast<to = $N>(x) }",
   [](DType) { return Values{Of(kF32, {3}, {1, 2, 4})}; },
   [](DType t) { return Values{Of(t, {3}, {1, 2, 4})}; }},
  {"CastLike/from", "numbers that both types have", kCastLikeTypes,
   "g ($T[3] x, float[1] l) => (float[3] y) { y = CastLike(x, l) }",
   [](DType t) { return Values{Of(t, {3}, {1, 2, 4}), Of(kF32, {1}, {0})}; },
   [](DType) { return Values{Of(kF32, {3}, {1, 2, 4})}; }},
  {"CastLike/to", "numbers that both types have", kCastLikeTypes,
   "g (float[3] x, $T[1] l) => ($T[3] y) { y = CastLike(x, l) }",
   [](DType t) { return Values{Of(kF32, {3}, {1, 2, 4}), Of(t, {1}, {1})}; },
   [](DType t) { return Values{Of(t, {3}, {1, 2, 4})}; }},
  {"CastLike/truth", "whether it is zero", "bool",
   "g (float[3] x, $T[3] l) => ($T[3] y, float[3] z) "
   "{ y = CastLike(x, l) z = CastLike(l, x) }",
   [](DType t) { return Values{Of(kF32, {3}, {0.5, 0, -2}),
                               Of(t, {3}, {0, 1, 1})}; },
   [](DType t) { return Values{Of(t, {3}, {1, 0, 1}),
                               Of(kF32, {3}, {0, 1, 1})}; }},
  {"DequantizeLinear/from", "halves of whole numbers",
   "int8 uint8 int16 uint16 int32 float8e4m3fn float8e4m3fnuz float8e5m2 "
   "float8e5m2fnuz float6e2m3 float6e3m2",
   "g ($T[3] x, float s) => (float[3] y) { y = DequantizeLinear(x, s) }",
   [](DType t) { return Values{Of(t, {3}, {1, 2, 4}), Of(kF32, {}, {0.5})}; },
   [](DType) { return Values{Of(kF32, {3}, {0.5, 1, 2})}; }},
  {"DequantizeLinear/scale", "halves, of the type of the scale",
   "bfloat16 float16 float32",
   "g (int8[3] x, $T s) => ($T[3] y) { y = DequantizeLinear(x, s) }",
   [](DType t) { return Values{Of(kI8, {3}, {1, -2, 4}), Of(t, {}, {0.5})}; },
   [](DType t) { return Values{Of(t, {3}, {0.5, -1, 2})}; }},
  {"QuantizeLinear/to", "twice a number",
   "int8 uint8 int16 uint16 float8e4m3fn float8e4m3fnuz float8e5m2 "
   "float8e5m2fnuz float6e2m3 float6e3m2",
   "g (float[3] x, float s, $T z) => ($T[3] y) { y = QuantizeLinear(x, s, z) }",
   [](DType t) { return Values{Of(kF32, {3}, {0.5, 1, 2}), Of(kF32, {}, {0.5}),
                               Of(t, {}, {0})}; },
   [](DType t) { return Values{Of(t, {3}, {1, 2, 4})}; }},
  {"QuantizeLinear/from", "twice a number, the scale of its type",
   "bfloat16 float16 float32",
   "g ($T[3] x, $T s, int8 z) => (int8[3] y) { y = QuantizeLinear(x, s, z) }",
   [](DType t) { return Values{Of(t, {3}, {0.5, -1, 2}), Of(t, {}, {0.5}),
                               Of(kI8, {}, {1})}; },
   [](DType) { return Values{Of(kI8, {3}, {2, -1, 5})}; }},
  {"QLinearMatMul/floats", "1.5 * 2 + 2 * 0.5 = 4, and 1.5 * 4 + 2 * 1 = 8",
   "float8e4m3fn float8e4m3fnuz float8e5m2 float8e5m2fnuz",
   "g ($T[1,2] a, $T[2,2] b, $T z) => ($T[1,2] y) <float s = {1.0}> "
   "{ y = QLinearMatMul(a, s, z, b, s, z, s, z) }",
   [](DType t) { return Values{Of(t, {1, 2}, {1.5, 2}),
                               Of(t, {2, 2}, {2, 4, 0.5, 1}), Of(t, {}, {0})}; },
   [](DType t) { return Values{Of(t, {1, 2}, {4, 8})}; }},
  {"QLinearMatMul/scales", "2 (1 * 3 + 2 * 5) and 2 (1 * 4 + 2 * 6)",
   "bfloat16 float16 float32",
   "g (uint8[1,2] a, uint8[2,2] b, $T s, $T u) => (uint8[1,2] y) "
   "<uint8 z = {0}> { y = QLinearMatMul(a, s, z, b, u, z, u, z) }",
   [](DType t) { return Values{Of(kU8, {1, 2}, {1, 2}),
                               Of(kU8, {2, 2}, {3, 4, 5, 6}), Of(t, {}, {2}),
                               Of(t, {}, {1})}; },
   [](DType) { return Values{Of(kU8, {1, 2}, {26, 32})}; }},
  {"BlackmanWindow/rounded", "0, 1, 0 of 3; the length in int64", kFloatTypes,
   "g (int64 n) => ($T[3] y) { w = BlackmanWindow<periodic = 0, "
   "output_datatype = $N>(n) y = Round(w) }",
   [](DType) { return Values{Whole(kI64, {}, {3})}; },
   [](DType t) { return Values{Of(t, {3}, {0, 1, 0})}; }},
  {"HammingWindow/rounded", "0.09, 1, 0.09 of 3; the length in int64",
   kFloatTypes,
   "g (int64 n) => ($T[3] y) { w = HammingWindow<periodic = 0, "
   "output_datatype = $N>(n) y = Round(w) }",
   [](DType) { return Values{Whole(kI64, {}, {3})}; },
   [](DType t) { return Values{Of(t, {3}, {0, 1, 0})}; }},
  {"RotaryEmbedding/quarter", "a quarter of a turn: -x2, x1",
   "bfloat16 float16 float32",
   "g ($T[1,1,1,2] x, $T[1,1,1] c, $T[1,1,1] s) => ($T[1,1,1,2] y) "
   "{ y = RotaryEmbedding(x, c, s) }",
   [](DType t) { return Values{Of(t, {1, 1, 1, 2}, {3, 5}),
                               Of(t, {1, 1, 1}, {0}), Of(t, {1, 1, 1}, {1})}; },
   [](DType t) { return Values{Of(t, {1, 1, 1, 2}, {-5, 3})}; }},
  {"RNN/relu", "2 * 3 + 1 * 4", kFloatTypes,
   "g ($T[1,2,1] x, $T[1,1,1] w, $T[1,1,1] r, $T[1,2,1] h) => ($T[1,2,1] y) "
   "{ z, y = RNN<activations = [\"Relu\"], hidden_size = 1>(x, w, r, , , h) }",
   [](DType t) { return Values{Of(t, {1, 2, 1}, {3, 5}), Of(t, {1, 1, 1}, {2}),
                               Of(t, {1, 1, 1}, {1}),
                               Of(t, {1, 2, 1}, {4, -3})}; },
   [](DType t) { return Values{Of(t, {1, 2, 1}, {10, 7})}; }},
  {"GRU/halves", "gates of 1/2 of no weights", kFloatTypes,
   "g ($T[1,2,1] x, $T[1,3,1] w, $T[1,3,1] r, $T[1,2,1] h) => ($T[1,2,1] y) "
   "{ z, y = GRU<hidden_size = 1>(x, w, r, , , h) }",
   [](DType t) { return Values{Of(t, {1, 2, 1}, {1, 2}), All(t, {1, 3, 1}, 0),
                               All(t, {1, 3, 1}, 0),
                               Of(t, {1, 2, 1}, {4, -6})}; },
   [](DType t) { return Values{Of(t, {1, 2, 1}, {2, -3})}; }},
  {"LSTM/halves", "gates of 1/2 of no weights", kFloatTypes,
   "g ($T[1,2,1] x, $T[1,4,1] w, $T[1,4,1] r, $T[1,2,1] h, $T[1,2,1] c) => "
   "($T[1,2,1] y) { z, l, y = LSTM<hidden_size = 1>(x, w, r, , , h, c) }",
   [](DType t) { return Values{Of(t, {1, 2, 1}, {1, 2}), All(t, {1, 4, 1}, 0),
                               All(t, {1, 4, 1}, 0), All(t, {1, 2, 1}, 0),
                               Of(t, {1, 2, 1}, {4, -6})}; },
   [](DType t) { return Values{Of(t, {1, 2, 1}, {2, -3})}; }},
  {"Resize/scales", "each column twice; scales of any type, which `roi` has",
   "float16 float32 float64",
   "g (float[2,2] x, $T[4] r) => (float[2,4] y) <float[2] s = {1.0, 2.0}> "
   "{ y = Resize<coordinate_transformation_mode = \"asymmetric\", "
   "nearest_mode = \"floor\">(x, r, s) }",
   [](DType t) { return Values{Of(kF32, {2, 2}, {1, 2, 3, 4}),
                               Of(t, {4}, {0, 0, 1, 1})}; },
   [](DType) { return Values{Of(kF32, {2, 4}, {1, 1, 2, 2, 3, 3, 4, 4})}; }},
  {"Dropout/ratio", "of any type; y = x where nothing is trained",
   "bfloat16 float16 float64",
   "g (float[3] x, $T r) => (float[3] y) { y = Dropout(x, r) }",
   [](DType t) { return Values{Of(kF32, {3}, {1, 2, 3}), Of(t, {}, {0.5})}; },
   [](DType) { return Values{Of(kF32, {3}, {1, 2, 3})}; }},
  {"Equal/truths", "both or neither", "bool",
   "g ($T[4] a, $T[4] b) => (bool[4] y) { y = Equal(a, b) }",
   [](DType t) { return Values{Of(t, {4}, {1, 1, 0, 0}),
                               Of(t, {4}, {1, 0, 1, 0})}; },
   [](DType) { return Values{Of(kBool, {4}, {1, 0, 0, 1})}; }},
  {"ConstantOfShape/of", "a number of the type's own, behind another",
   "int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64",
   "g ($T[1] x, int64[1] s) => ($T[3] y) "
   "{ c = ConstantOfShape<value = $T[1] {3}>(s) y = Concat<axis = 0>(x, c) }",
   [](DType t) { return Values{Of(t, {1}, {2}), Whole(kI64, {1}, {2})}; },
   [](DType t) { return Values{Of(t, {3}, {2, 3, 3})}; }},
  {"Constant/of", "the tensor that the attribute holds",
   "int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64",
   "g () => ($T[2] y) { y = Constant<value = $T[2] {3, 5}>() }",
   [](DType) { return Values{}; },
   [](DType t) { return Values{Of(t, {2}, {3, 5})}; }},
  {"Bernoulli/certain", "chances of 0 and 1 leave none; the type is dtype's",
   "bfloat16 bool float16 float32 float64 int8 int16 int32 int64 uint8 uint16 "
   "uint32 uint64",
   "g (float[4] x) => ($T[4] y) { y = Bernoulli<dtype = $N>(x) }",
   [](DType) { return Values{Of(kF32, {4}, {1, 0, 0, 1})}; },
   [](DType t) { return Values{Of(t, {4}, {1, 0, 0, 1})}; }},
  {"HannWindow/five", "symmetric of 3: 0, 1, 0",
   kNumberTypes,
   "g (int64 n) => ($T[3] y) "
   "{ y = HannWindow<periodic = 0, output_datatype = $N>(n) }",
   [](DType) { return Values{Whole(kI64, {}, {3})}; },
   [](DType t) { return Values{Of(t, {3}, {0, 1, 0})}; }},
};
// clang-format on

#undef ASSAY_PAIR
#undef ASSAY_COMPARE
#undef ASSAY_REDUCE
#undef ASSAY_SIGNED
#undef ASSAY_UNSIGNED

}  // namespace

std::span<const SpecialCase> NumbersCases() {
  static const auto& cases =
      *new std::vector<SpecialCase>(CasesOf(std::span<const TypedRow>(kRows)));
  return cases;
}

}  // namespace assay::inline v1
