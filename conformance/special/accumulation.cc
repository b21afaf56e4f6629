// SPDX-License-Identifier: Apache-2.0
//
// Sums that a float32 holds at every step, in whatever order they are taken,
// since all partial sums are whole multiples of one power of two and less than
// 2^24 of them. What accumulates in the narrow type of the data stops growing
// (1 is lost beside 2048 in float16, beside 256 in bfloat16) or overflows (at
// 65520 in float16). float64 likewise: multiples of one, below 2^53.
//
// ONNX names the type of an accumulator for few operators (stash_type of
// LayerNormalization and RMSNormalization, float32 in BatchNormalization); for
// the others this suite asks for float32 or wider. ONNX's reference
// implementation has it where numpy does (MatMul, ReduceSum along the last
// axis) and not elsewhere, so that it is no authority here.

#include "conformance/special/special.h"

namespace assay::inline v1 {
namespace {

// Rows of 4096: ones; halves; 2048 and then as many ones, which even a tree of
// float16 sums loses one by one.
double SumRows(int64_t i) {
  if (i < 4096) return 1;
  if (i < 8192) return 0.5;
  const int64_t k = i - 8192;
  return k == 0 ? 2048 : k <= 2048 ? 1 : 0;
}

Values SumRowsOfFloat16() { return {By(kF16, {3, 4096}, SumRows)}; }

// a = [ones; 2 in the first half, then 1], b = [ones, k odd]:
// a b = [4096, 2048; 6144, 3072].
Values Operands(DType type) {
  return {By(type, {2, 4096},
             [](int64_t i) { return i >= 4096 && i < 6144 ? 2.0 : 1.0; }),
          By(type, {4096, 2},
             [](int64_t i) { return i % 2 == 0 || i / 2 % 2 == 1; })};
}

Values Products(DType type) {
  return {Of(type, {2, 2}, {4096, 2048, 6144, 3072})};
}

// 16 +- 1, alternating: mean 16 and variance 1, but their sum is 65536, more
// than float16 has. A second group has its signs the other way round.
Values Alternating(const Shape& shape, int64_t group) {
  return {By(kF16, shape, [group](int64_t i) {
    return (i / group + i) % 2 == 0 ? 17.0 : 15.0;
  })};
}

// 2^22, -2^22 and then 1 up to index 2047: the magnitudes sum to less than
// 2^24, so that every partial sum is whole and below it. The second row has
// +-2^21 and a hundred ones.
double Cancelling(int64_t i) {
  const int64_t k = i % 4096;
  const double large = i < 4096 ? 0x1p22 : 0x1p21;
  if (k == 0 || k == 4095) return k == 0 ? large : -large;
  return k < (i < 4096 ? 2048 : 101) ? 1 : 0;
}

constexpr SpecialCase kCases[] = {
    {"ReduceSum/float16_4096_terms",
     "4,096 float16 ones sum to 4096; accumulated in float16 they stop at 2048",
     "g (float16[3,4096] x) => (float16[3,1] y) <int64[1] axes = {1}> "
     "{ y = ReduceSum(x, axes) }",
     &SumRowsOfFloat16,
     [] {
       return Values{Of(kF16, {3, 1}, {4096, 2048, 4096})};
     }},
    {"ReduceSum/float16_first_axis",
     "the same sums down the columns of a transposed matrix",
     "g (float16[4096,3] x) => (float16[3] y) <int64[1] axes = {0}> "
     "{ y = ReduceSum<keepdims = 0>(x, axes) }",
     [] {
       return Values{By(kF16, {4096, 3}, [](int64_t i) {
         return SumRows(i % 3 * 4096 + i / 3);
       })};
     },
     [] {
       return Values{Of(kF16, {3}, {4096, 2048, 4096})};
     }},
    {"ReduceSum/bfloat16_4096_terms",
     "4,096 bfloat16 ones sum to 4096; accumulated in bfloat16 they stop at "
     "256",
     "g (bfloat16[3,4096] x) => (bfloat16[3,1] y) <int64[1] axes = {1}> "
     "{ y = ReduceSum(x, axes) }",
     [] {
       return Values{By(kBF16, {3, 4096}, [](int64_t i) {
         return i < 8192 ? 1 + i / 4096 : i == 8192 ? 256 : i <= 8448 ? 1 : 0;
       })};
     },
     [] {
       return Values{Of(kBF16, {3, 1}, {4096, 8192, 512})};
     }},
    {"ReduceMean/float16_sum_beyond_range",
     "4,096 times 16 sum to 65536, which float16 has not; their mean is 16",
     "g (float16[3,4096] x) => (float16[3,1] y) <int64[1] axes = {1}> "
     "{ y = ReduceMean(x, axes) }",
     [] {
       return Values{By(kF16, {3, 4096}, [](int64_t i) {
         return i < 4096 ? 16 : i < 8192 ? 1 : i % 2;
       })};
     },
     [] {
       return Values{Of(kF16, {3, 1}, {16, 1, 0.5})};
     }},
    {"ReduceMean/bfloat16", "4,096 ones have the mean 1, not 1/16",
     "g (bfloat16[2,4096] x) => (bfloat16[2,1] y) <int64[1] axes = {1}> "
     "{ y = ReduceMean(x, axes) }",
     [] {
       return Values{By(kBF16, {2, 4096},
                        [](int64_t i) { return i < 4096 ? 1 : i % 2 * 6; })};
     },
     [] {
       return Values{Of(kBF16, {2, 1}, {1, 3})};
     }},
    {"ReduceL1/float16_4096_terms", "as ReduceSum, of magnitudes",
     "g (float16[3,4096] x) => (float16[3,1] y) <int64[1] axes = {1}> "
     "{ y = ReduceL1(x, axes) }",
     [] {
       return Values{By(kF16, {3, 4096}, [](int64_t i) {
         return i % 3 == 1 ? -SumRows(i) : SumRows(i);
       })};
     },
     [] {
       return Values{Of(kF16, {3, 1}, {4096, 2048, 4096})};
     }},
    {"ReduceL2/float16_4096_terms",
     "sqrt(4096) = 64 and sqrt(4096 * 16) = 256; stopped at 2048 it is 45.25, "
     "and 65536 overflows float16",
     "g (float16[2,4096] x) => (float16[2,1] y) <int64[1] axes = {1}> "
     "{ y = ReduceL2(x, axes) }",
     [] {
       return Values{
           By(kF16, {2, 4096}, [](int64_t i) { return i < 4096 ? 1 : 4; })};
     },
     [] {
       return Values{Of(kF16, {2, 1}, {64, 256})};
     }},
    {"ReduceSumSquare/float16_4096_terms", "ones and halves squared",
     "g (float16[2,4096] x) => (float16[2,1] y) <int64[1] axes = {1}> "
     "{ y = ReduceSumSquare(x, axes) }",
     [] {
       return Values{
           By(kF16, {2, 4096}, [](int64_t i) { return i < 4096 ? -1 : 0.5; })};
     },
     [] {
       return Values{Of(kF16, {2, 1}, {4096, 1024})};
     }},
    {"MatMul/float16_4096_terms", "dots of 4,096 terms",
     "g (float16[2,4096] a, float16[4096,2] b) => (float16[2,2] y) "
     "{ y = MatMul(a, b) }",
     [] { return Operands(kF16); }, [] { return Products(kF16); }},
    {"MatMul/bfloat16_4096_terms", "dots of 4,096 terms",
     "g (bfloat16[2,4096] a, bfloat16[4096,2] b) => (bfloat16[2,2] y) "
     "{ y = MatMul(a, b) }",
     [] { return Operands(kBF16); }, [] { return Products(kBF16); }},
    {"Gemm/float16_4096_terms", "half of the products, and 2 added",
     "g (float16[2,4096] a, float16[4096,2] b, float16[2] c) => "
     "(float16[2,2] y) { y = Gemm<alpha = 0.5>(a, b, c) }",
     [] {
       Values inputs = Operands(kF16);
       inputs.push_back(All(kF16, {2}, 2));
       return inputs;
     },
     [] {
       return Values{Of(kF16, {2, 2}, {2050, 1026, 3074, 1538})};
     }},
    {"Einsum/float16_4096_terms", "dots of 4,096 terms",
     "g (float16[2,4096] a, float16[4096,2] b) => (float16[2,2] y) "
     "{ y = Einsum<equation = \"ik,kj->ij\">(a, b) }",
     [] { return Operands(kF16); }, [] { return Products(kF16); }},
    {"Conv/float16_4096_terms", "a window of 16 channels of 16 x 16",
     "g (float16[1,16,16,16] x, float16[2,16,16,16] w) => (float16[1,2,1,1] y) "
     "{ y = Conv(x, w) }",
     [] {
       return Values{All(kF16, {1, 16, 16, 16}, 1),
                     By(kF16, {2, 16, 16, 16},
                        [](int64_t i) { return i < 4096 ? 1 : 0.5; })};
     },
     [] {
       return Values{Of(kF16, {1, 2, 1, 1}, {4096, 2048})};
     }},
    {"GlobalAveragePool/float16_sum_beyond_range",
     "4,096 times 16 sum to 65536, which float16 has not; their mean is 16",
     "g (float16[1,3,64,64] x) => (float16[1,3,1,1] y) "
     "{ y = GlobalAveragePool(x) }",
     [] {
       return Values{By(kF16, {1, 3, 64, 64}, [](int64_t i) {
         return i < 4096 ? 1 : i < 8192 ? 16 : i % 2 * 4;
       })};
     },
     [] {
       return Values{Of(kF16, {1, 3, 1, 1}, {1, 16, 2})};
     }},
    {"AveragePool/float16_window_of_4096", "as GlobalAveragePool, two windows",
     "g (float16[1,1,64,128] x) => (float16[1,1,1,2] y) "
     "{ y = AveragePool<kernel_shape = [64, 64], strides = [64, 64]>(x) }",
     [] {
       return Values{By(kF16, {1, 1, 64, 128},
                        [](int64_t i) { return i % 128 < 64 ? 1 : 16; })};
     },
     [] {
       return Values{Of(kF16, {1, 1, 1, 2}, {1, 16})};
     }},
    {"Softmax/float16_4096_terms",
     "the denominators are 4096 and 2048 times e^0 = 1",
     "g (float16[2,4096] x) => (float16[2,4096] y) { y = Softmax(x) }",
     [] {
       return Values{By(kF16, {2, 4096}, [](int64_t i) {
         return i < 4096 || i % 2 == 0 ? 0 : -kInf;
       })};
     },
     [] {
       return Values{By(kF16, {2, 4096}, [](int64_t i) {
         return i < 4096 ? 0x1p-12 : i % 2 == 0 ? 0x1p-11 : 0;
       })};
     }},
    {"LayerNormalization/float16_sum_beyond_range",
     "stash_type 1, the default: the statistics are in float32",
     "g (float16[2,4096] x, float16[1] scale, float16[1] bias) => "
     "(float16[2,4096] y) "
     "{ y = LayerNormalization<epsilon = 0.0>(x, scale, bias) }",
     [] {
       Values inputs = Alternating({2, 4096}, 4096);
       inputs.push_back(Of(kF16, {1}, {2}));
       inputs.push_back(Of(kF16, {1}, {1}));
       return inputs;
     },
     [] {
       return Values{By(kF16, {2, 4096}, [](int64_t i) {
         return (i / 4096 + i) % 2 == 0 ? 3 : -1;
       })};
     }},
    {"RMSNormalization/float16_squares_beyond_range",
     "4,096 times 4 * 4 is 65536; stash_type 1: the squares are in float32",
     "g (float16[2,4096] x, float16[1] scale) => (float16[2,4096] y) "
     "{ y = RMSNormalization<epsilon = 0.0>(x, scale) }",
     [] {
       return Values{
           By(kF16, {2, 4096}, [](int64_t i) { return i % 3 == 0 ? -4 : 4; }),
           Of(kF16, {1}, {2})};
     },
     [] {
       return Values{
           By(kF16, {2, 4096}, [](int64_t i) { return i % 3 == 0 ? -2 : 2; })};
     }},
    {"InstanceNormalization/float16_sum_beyond_range",
     "mean 16 and variance 1 of each of two channels",
     "g (float16[1,2,4096] x, float16[2] scale, float16[2] bias) => "
     "(float16[1,2,4096] y) "
     "{ y = InstanceNormalization<epsilon = 0.0>(x, scale, bias) }",
     [] {
       Values inputs = Alternating({1, 2, 4096}, 4096);
       inputs.push_back(Of(kF16, {2}, {2, 4}));
       inputs.push_back(Of(kF16, {2}, {1, 0}));
       return inputs;
     },
     [] {
       return Values{By(kF16, {1, 2, 4096}, [](int64_t i) {
         if (i < 4096) return i % 2 == 0 ? 3 : -1;
         return i % 2 == 0 ? -4 : 4;
       })};
     }},
    {"ReduceSum/float32_large_terms_cancel",
     "+-2^22 and 2,047 ones: exact in float32 in any order, not in bfloat16 or "
     "float16",
     "g (float[2,4096] x) => (float[2,1] y) <int64[1] axes = {1}> "
     "{ y = ReduceSum(x, axes) }",
     [] {
       return Values{By(kF32, {2, 4096}, Cancelling)};
     },
     [] {
       return Values{Of(kF32, {2, 1}, {2047, 100})};
     }},
    {"ReduceSum/float32_65536_terms",
     "the sum of i mod 256 over 65,536 terms is 256 * 32640 = 8355840",
     "g (float[2,65536] x) => (float[2,1] y) <int64[1] axes = {1}> "
     "{ y = ReduceSum(x, axes) }",
     [] {
       return Values{By(kF32, {2, 65536}, [](int64_t i) {
         return i < 65536 ? i % 256 : -(i % 64);
       })};
     },
     [] {
       return Values{Of(kF32, {2, 1}, {8355840, -2064384})};
     }},
    {"CumSum/float32_4096_terms",
     "n (n + 1) / 2 up to 8386560, every one of which float32 has",
     "g (float[4096] x) => (float[4096] y) <int64 axis = {0}> "
     "{ y = CumSum(x, axis) }",
     [] {
       return Values{
           By(kF32, {4096}, [](int64_t i) { return static_cast<double>(i); })};
     },
     [] {
       return Values{By(kF32, {4096}, [](int64_t i) {
         const int64_t sum = i * (i + 1) / 2;
         return static_cast<double>(sum);
       })};
     }},
    {"MatMul/float32_factors_of_12_bits",
     "4095 * 4095 = 16769025 < 2^24; bfloat16 and TF32 round 4095 to 4096",
     "g (float[2,3] a, float[3,2] b) => (float[2,2] y) { y = MatMul(a, b) }",
     [] {
       return Values{Of(kF32, {2, 3}, {4095, 0, 1, 0, 2049, -1}),
                     Of(kF32, {3, 2}, {4095, 1, 3, 4093, 7, 5})};
     },
     [] {
       return Values{Of(kF32, {2, 2}, {16769032, 4100, 6140, 8386552})};
     }},
    {"Conv/float32_factors_of_12_bits", "as MatMul, through a window",
     "g (float[1,1,4] x, float[1,1,2] w) => (float[1,1,3] y) { y = Conv(x, w) "
     "}",
     [] {
       return Values{Of(kF32, {1, 1, 4}, {4095, 1, 2049, 3}),
                     Of(kF32, {1, 1, 2}, {4095, 1})};
     },
     [] {
       return Values{Of(kF32, {1, 1, 3}, {16769026, 6144, 8390658})};
     }},
    {"ReduceSum/float64_beyond_float32",
     "2^52, ones and -2^52: whole numbers below 2^53 in any order",
     "g (double[2,64] x) => (double[2,1] y) <int64[1] axes = {1}> "
     "{ y = ReduceSum(x, axes) }",
     [] {
       return Values{By(kF64, {2, 64}, [](int64_t i) {
         const int64_t k = i % 64;
         if (k == 0 || k == 63) return k == 0 ? 0x1p51 : -0x1p51;
         return i < 64 ? 1.0 : -3.0;
       })};
     },
     [] {
       return Values{Of(kF64, {2, 1}, {62, -186})};
     }},
    {"MatMul/float64_beyond_float32",
     "(2^26 + 1)(2^26 - 1) + 2 = 2^52 + 1, whole numbers below 2^53",
     "g (double[2,2] a, double[2,1] b) => (double[2,1] y) { y = MatMul(a, b) }",
     [] {
       return Values{Of(kF64, {2, 2}, {0x1p26 + 1, 1, 1, -1}),
                     Of(kF64, {2, 1}, {0x1p26 - 1, 2})};
     },
     [] {
       return Values{Of(kF64, {2, 1}, {0x1p52 + 1, 0x1p26 - 3})};
     }},
    {"Gemm/float64_beyond_float32", "the same dots, and c added",
     "g (double[2,2] a, double[2,1] b, double[1] c) => (double[2,1] y) "
     "{ y = Gemm(a, b, c) }",
     [] {
       return Values{Of(kF64, {2, 2}, {0x1p26 + 1, 1, 1, -1}),
                     Of(kF64, {2, 1}, {0x1p26 - 1, 2}), Of(kF64, {1}, {4})};
     },
     [] {
       return Values{Of(kF64, {2, 1}, {0x1p52 + 5, 0x1p26 + 1})};
     }},
    {"Conv/float64_beyond_float32", "the same dots through a window",
     "g (double[1,1,3] x, double[1,1,2] w) => (double[1,1,2] y) "
     "{ y = Conv(x, w) }",
     [] {
       return Values{Of(kF64, {1, 1, 3}, {0x1p26 + 1, 1, 5}),
                     Of(kF64, {1, 1, 2}, {0x1p26 - 1, 2})};
     },
     [] {
       return Values{Of(kF64, {1, 1, 2}, {0x1p52 + 1, 0x1p26 + 9})};
     }},
    {"ReduceMean/float64_beyond_float32",
     "the mean of 2^40 + 1 and 2^40 + 3 is 2^40 + 2",
     "g (double[2,2] x) => (double[2,1] y) <int64[1] axes = {1}> "
     "{ y = ReduceMean(x, axes) }",
     [] {
       return Values{
           Of(kF64, {2, 2}, {0x1p40 + 1, 0x1p40 + 3, 0x1p40 - 1, -0x1p40})};
     },
     [] {
       return Values{Of(kF64, {2, 1}, {0x1p40 + 2, -0.5})};
     }},
    {"ReduceProd/float32_powers_of_two",
     "any order of these factors stays between 2^-120 and 2^120",
     "g (float[3,4] x) => (float[3,1] y) <int64[1] axes = {1}> "
     "{ y = ReduceProd(x, axes) }",
     [] {
       return Values{Of(kF32, {3, 4},
                        {0x1p60, 0x1p60, 0x1p-60, 0x1p-60, 0x1p60, 0x1p60, -2,
                         0x1p-110, 0x1p-60, 0x1p-60, 3, 0x1p100})};
     },
     [] {
       return Values{Of(kF32, {3, 1}, {1, -0x1p11, 3 * 0x1p-20})};
     }},
};

}  // namespace

std::span<const SpecialCase> AccumulationCases() { return kCases; }

}  // namespace assay::inline v1
