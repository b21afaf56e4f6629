// SPDX-License-Identifier: Apache-2.0
//
// Sizes that no example of ONNX has: prime extents of matrices, odd widths of
// windows, tails of tens of thousands, in several element types. Results are
// whole numbers that a float32 holds at every step, in any order.

#include "conformance/special/special.h"

namespace assay::inline v1 {
namespace {

double Index(int64_t i) { return static_cast<double>(i); }

// a[i,k] = i + k of [rows, depth], b[k,j] = j - k of [depth, columns].
Values Slopes(int64_t rows, int64_t depth, int64_t columns) {
  return {By(kF32, {rows, depth},
             [depth](int64_t n) { return Index(n / depth + n % depth); }),
          By(kF32, {depth, columns}, [columns](int64_t n) {
            return Index(n % columns - n / columns);
          })};
}

// sum over k of (i + k)(j - k) = K i j + (j - i) K (K - 1) / 2
//   - (K - 1) K (2 K - 1) / 6.
Values SlopeProducts(int64_t rows, int64_t depth, int64_t columns) {
  return {By(kF32, {rows, columns}, [depth, columns](int64_t n) {
    const int64_t i = n / columns;
    const int64_t j = n % columns;
    return Index(depth * i * j + (j - i) * depth * (depth - 1) / 2 -
                 (depth - 1) * depth * (2 * depth - 1) / 6);
  })};
}

// x[i] = i through the window 1, 2, 1 padded by 1: 4 i but at the ends.
double Smoothed(int64_t i, int64_t width) {
  if (i == 0) return 1;
  return i == width - 1 ? Index(3 * width - 4) : Index(4 * i);
}

#define ASSAY_PRODUCT(m, k, n)                                                \
  {                                                                           \
    "MatMul/primes_" #m "_" #k "_" #n,                                        \
        "sums of (i + k)(j - k), by the formulas for k and k^2",              \
        "g (float[" #m "," #k "] a, float[" #k "," #n "] b) => (float[" #m    \
        "," #n "] y) { y = MatMul(a, b) }",                                   \
        [] { return Slopes(m, k, n); }, [] { return SlopeProducts(m, k, n); } \
  }
#define ASSAY_SMOOTH(n)                                                       \
  {                                                                           \
    "Conv/width_" #n, "the window 1, 2, 1 over 0, 1, 2, ... gives 4 i",       \
        "g (float[1,1," #n "] x, float[1,1,3] w) => (float[1,1," #n           \
        "] y) "                                                               \
        "{ y = Conv<pads = [1, 1]>(x, w) }",                                  \
        [] {                                                                  \
          return Values{By(kF32, {1, 1, n}, Index),                           \
                        Of(kF32, {1, 1, 3}, {1, 2, 1})};                      \
        },                                                                    \
        [] {                                                                  \
          return Values{                                                      \
              By(kF32, {1, 1, n}, [](int64_t i) { return Smoothed(i, n); })}; \
        }                                                                     \
  }

constexpr SpecialCase kCases[] = {
    ASSAY_PRODUCT(31, 37, 41),
    ASSAY_PRODUCT(127, 131, 137),
    ASSAY_PRODUCT(1, 61, 257),
    ASSAY_PRODUCT(257, 61, 1),
    ASSAY_PRODUCT(3, 127, 5),
    ASSAY_SMOOTH(17),
    ASSAY_SMOOTH(31),
    ASSAY_SMOOTH(65),
    ASSAY_SMOOTH(127),
    ASSAY_SMOOTH(4097),
    {"MatMul/selection_of_rows",
     "b has one element a column, at row 7 j mod 131: y = a there, times j + 1",
     "g (float[5,131] a, float[131,127] b) => (float[5,127] y) "
     "{ y = MatMul(a, b) }",
     [] {
       return Values{By(kF32, {5, 131}, Index),
                     By(kF32, {131, 127}, [](int64_t n) {
                       const int64_t j = n % 127;
                       return n / 127 == 7 * j % 131 ? Index(j + 1) : 0;
                     })};
     },
     [] {
       return Values{By(kF32, {5, 127}, [](int64_t n) {
         const int64_t j = n % 127;
         return Index((n / 127 * 131 + 7 * j % 131) * (j + 1));
       })};
     }},
    {"Conv/odd_planes",
     "2 channels of 19 x 23: w picks the element up left of channel 0 and "
     "twice the one down right of channel 1",
     "g (float[1,2,19,23] x, float[1,2,3,3] w) => (float[1,1,17,21] y) "
     "{ y = Conv(x, w) }",
     [] {
       return Values{By(kF32, {1, 2, 19, 23}, Index),
                     By(kF32, {1, 2, 3, 3}, [](int64_t n) {
                       return n == 0 ? 1.0 : n == 17 ? 2.0 : 0.0;
                     })};
     },
     [] {
       return Values{By(kF32, {1, 1, 17, 21}, [](int64_t n) {
         const int64_t at = n / 21 * 23 + n % 21;
         return Index(at + 2 * (437 + at + 48));
       })};
     }},
    {"Conv/many_channels",
     "65 channels to 67: w[o,c] = 1 where c = o mod 65, and o in channel 64",
     "g (float[1,65,5] x, float[67,65,1] w) => (float[1,67,5] y) "
     "{ y = Conv(x, w) }",
     [] {
       return Values{
           By(kF32, {1, 65, 5}, Index), By(kF32, {67, 65, 1}, [](int64_t n) {
             const int64_t o = n / 65;
             const int64_t c = n % 65;
             return (c == o % 65 ? 1.0 : 0.0) + (c == 64 ? Index(o) : 0.0);
           })};
     },
     [] {
       return Values{By(kF32, {1, 67, 5}, [](int64_t n) {
         const int64_t o = n / 5;
         return Index(o % 65 * 5 + n % 5 + o * (320 + n % 5));
       })};
     }},
    {"MaxPool/odd_width", "a window of 3 over 129 rising numbers",
     "g (float[1,1,129] x) => (float[1,1,127] y) "
     "{ y = MaxPool<kernel_shape = [3]>(x) }",
     [] {
       return Values{By(kF32, {1, 1, 129}, Index)};
     },
     [] {
       return Values{
           By(kF32, {1, 1, 127}, [](int64_t i) { return Index(i + 2); })};
     }},
    {"AveragePool/odd_width", "a window of 4 over 131 numbers: i + 3/2",
     "g (float[1,1,131] x) => (float[1,1,128] y) "
     "{ y = AveragePool<kernel_shape = [4]>(x) }",
     [] {
       return Values{By(kF32, {1, 1, 131}, Index)};
     },
     [] {
       return Values{
           By(kF32, {1, 1, 128}, [](int64_t i) { return Index(i) + 1.5; })};
     }},
    {"Softmax/65536_terms", "1/65536 of each, and 1/32768 beside -inf",
     "g (float[2,65536] x) => (float[2,65536] y) { y = Softmax(x) }",
     [] {
       return Values{By(kF32, {2, 65536}, [](int64_t i) {
         return i < 65536 || i % 2 == 0 ? 3 : -kInf;
       })};
     },
     [] {
       return Values{By(kF32, {2, 65536}, [](int64_t i) {
         return i < 65536 ? 0x1p-16 : i % 2 == 0 ? 0x1p-15 : 0;
       })};
     }},
    {"ArgMax/last_of_65537", "the last element is the largest",
     "g (float[1,65537] x) => (int64[1,1] y) { y = ArgMax<axis = 1>(x) }",
     [] {
       return Values{By(kF32, {1, 65537}, Index)};
     },
     [] {
       return Values{Of(kI64, {1, 1}, {65536})};
     }},
    {"TopK/of_4097", "falling from the end",
     "g (float[4097] x, int64[1] k) => (float[5] v, int64[5] i) "
     "{ v, i = TopK(x, k) }",
     [] {
       return Values{By(kF32, {4097}, Index), Of(kI64, {1}, {5})};
     },
     [] {
       return Values{Of(kF32, {5}, {4096, 4095, 4094, 4093, 4092}),
                     Of(kI64, {5}, {4096, 4095, 4094, 4093, 4092})};
     }},
    {"Gather/of_65537", "from the end to the front, every 4096th",
     "g (float[65537] x, int64[17] i) => (float[17] y) { y = Gather(x, i) }",
     [] {
       return Values{
           By(kF32, {65537}, Index),
           WholeBy(kI64, {17}, [](int64_t i) { return 65536 - 4096 * i; })};
     },
     [] {
       return Values{
           By(kF32, {17}, [](int64_t i) { return Index(65536 - 4096 * i); })};
     }},
    {"Slice/of_1025", "backwards by 3 from the last",
     "g (float[1025] x, int64[1] s, int64[1] e, int64[1] a, int64[1] t) => "
     "(float[342] y) { y = Slice(x, s, e, a, t) }",
     [] {
       return Values{By(kF32, {1025}, Index), Of(kI64, {1}, {-1}),
                     Whole(kI64, {1}, {INT64_MIN}), Of(kI64, {1}, {0}),
                     Of(kI64, {1}, {-3})};
     },
     [] {
       return Values{
           By(kF32, {342}, [](int64_t i) { return Index(1024 - 3 * i); })};
     }},
    {"Pad/of_1025", "3 before and 5 after, with a value",
     "g (float[1025] x, int64[2] p, float v) => (float[1033] y) "
     "{ y = Pad(x, p, v) }",
     [] {
       return Values{By(kF32, {1025}, Index), Of(kI64, {2}, {3, 5}),
                     Of(kF32, {}, {-7})};
     },
     [] {
       return Values{By(kF32, {1033}, [](int64_t i) {
         return i < 3 || i > 1027 ? -7 : Index(i - 3);
       })};
     }},
    {"Split/of_1025", "1024 and the tail of one",
     "g (float[1025] x, int64[2] s) => (float[1024] a, float[1] b) "
     "{ a, b = Split(x, s) }",
     [] {
       return Values{By(kF32, {1025}, Index), Of(kI64, {2}, {1024, 1})};
     },
     [] {
       return Values{By(kF32, {1024}, Index), Of(kF32, {1}, {1024})};
     }},
    {"CumSum/of_65537", "ones and minus ones by turns of 256",
     "g (float[65537] x) => (float[65537] y) <int64 axis = {0}> "
     "{ y = CumSum(x, axis) }",
     [] {
       return Values{By(kF32, {65537},
                        [](int64_t i) { return i / 256 % 2 == 0 ? 1 : -1; })};
     },
     [] {
       return Values{By(kF32, {65537}, [](int64_t i) {
         return Index(i / 256 % 2 == 0 ? i % 256 + 1 : 255 - i % 256);
       })};
     }},
    {"Where/of_1023", "every third from the other",
     "g (bool[1023] c, float[1023] a, float[1023] b) => (float[1023] y) "
     "{ y = Where(c, a, b) }",
     [] {
       return Values{By(kBool, {1023}, [](int64_t i) { return i % 3 == 0; }),
                     By(kF32, {1023}, Index),
                     By(kF32, {1023}, [](int64_t i) { return -Index(i); })};
     },
     [] {
       return Values{By(kF32, {1023}, [](int64_t i) {
         return i % 3 == 0 ? Index(i) : -Index(i);
       })};
     }},
    {"Equal/of_1025", "unequal at every seventh and the last",
     "g (int64[1025] a, int64[1025] b) => (bool[1025] y) { y = Equal(a, b) }",
     [] {
       return Values{WholeBy(kI64, {1025}, [](int64_t i) { return i; }),
                     WholeBy(kI64, {1025}, [](int64_t i) {
                       return i % 7 == 0 || i == 1024 ? i + 1 : i;
                     })};
     },
     [] {
       return Values{By(kBool, {1025},
                        [](int64_t i) { return i % 7 != 0 && i != 1024; })};
     }},
    {"Cast/of_4097_to_float16", "whole numbers up to 2048, and their halves",
     "g (float[4097] x) => (float16[4097] y) { y = Cast<to = 10>(x) }",
     [] {
       return Values{
           By(kF32, {4097}, [](int64_t i) { return Index(i % 2049) / 2; })};
     },
     [] {
       return Values{
           By(kF16, {4097}, [](int64_t i) { return Index(i % 2049) / 2; })};
     }},
    {"Mul/of_1023_float64", "products that need a float64",
     "g (double[1023] a, double[1023] b) => (double[1023] y) { y = Mul(a, b) }",
     [] {
       return Values{
           By(kF64, {1023}, [](int64_t i) { return 0x1p26 + Index(i); }),
           By(kF64, {1023}, [](int64_t i) { return 0x1p25 - Index(i); })};
     },
     [] {
       return Values{By(kF64, {1023}, [](int64_t i) {
         return Index(((1LL << 26) + i) * ((1LL << 25) - i));
       })};
     }},
    {"Add/of_127_int8", "up to the ends of the type",
     "g (int8[127] a, int8[127] b) => (int8[127] y) { y = Add(a, b) }",
     [] {
       return Values{WholeBy(kI8, {127}, [](int64_t i) { return i - 63; }),
                     WholeBy(kI8, {127}, [](int64_t i) { return i - 64; })};
     },
     [] {
       return Values{
           By(kI8, {127}, [](int64_t i) { return Index(2 * i - 127); })};
     }},
    {"Transpose/of_129_by_65", "two extents beside a power of two",
     "g (float[129,65] x) => (float[65,129] y) { y = Transpose(x) }",
     [] {
       return Values{By(kF32, {129, 65}, Index)};
     },
     [] {
       return Values{By(kF32, {65, 129}, [](int64_t i) {
         return Index(i % 129 * 65 + i / 129);
       })};
     }},
};

#undef ASSAY_SMOOTH
#undef ASSAY_PRODUCT

}  // namespace

std::span<const SpecialCase> LargeCases() { return kCases; }

}  // namespace assay::inline v1
