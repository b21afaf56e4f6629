// SPDX-License-Identifier: Apache-2.0
//
// Where two answers are as near, or two elements as large: the one that ONNX's
// text names. Its own examples seldom have a tie. Which of two equal maxima
// MaxPool's Indices name, and which of two boxes of one score
// NonMaxSuppression takes first, the text leaves open; neither is here.

#include "conformance/special/special.h"

namespace assay::inline v1 {
namespace {

constexpr std::string_view kToEven =
    "halves go to the nearest even integer (text of Round)";

Values Halves(DType type) {
  return {Of(
      type, {12},
      {0.5, 1.5, 2.5, 3.5, -0.5, -1.5, -2.5, -3.5, 0.25, 2.75, 511.5, 510.5})};
}
Values HalvesToEven(DType type) {
  return {Of(type, {12}, {0, 2, 2, 4, 0, -2, -2, -4, 0, 3, 512, 510})};
}

constexpr SpecialCase kCases[] = {
    {"Round/float32_halves", kToEven,
     "g (float[12] x) => (float[12] y) { y = Round(x) }",
     [] { return Halves(kF32); }, [] { return HalvesToEven(kF32); }},
    {"Round/float64_halves", kToEven,
     "g (double[12] x) => (double[12] y) { y = Round(x) }",
     [] { return Halves(kF64); }, [] { return HalvesToEven(kF64); }},
    {"Round/float16_halves", kToEven,
     "g (float16[12] x) => (float16[12] y) { y = Round(x) }",
     [] { return Halves(kF16); }, [] { return HalvesToEven(kF16); }},
    {"Round/float32_edges",
     "the number below 1/2, which x + 1/2 rounds up, and whole numbers from "
     "2^23 on, which are their own",
     "g (float[6] x) => (float[6] y) { y = Round(x) }",
     [] {
       return Values{Of(kF32, {6},
                        {0x1.fffffep-2, -0x1.fffffep-2, 0x1p23 + 1,
                         0x1p22 + 0.5, 0x1p22 + 1.5, 0x1p60})};
     },
     [] {
       return Values{
           Of(kF32, {6}, {0, 0, 0x1p23 + 1, 0x1p22, 0x1p22 + 2, 0x1p60})};
     }},
    {"Round/float64_edges", "as for float32; float32 arithmetic has no halves",
     "g (double[5] x) => (double[5] y) { y = Round(x) }",
     [] {
       return Values{Of(kF64, {5},
                        {0x1.fffffffffffffp-2, 0x1p51 + 0.5, 0x1p51 + 1.5,
                         0x1p52 + 1, -0x1p40 - 0.5})};
     },
     [] {
       return Values{
           Of(kF64, {5}, {0, 0x1p51, 0x1p51 + 2, 0x1p52 + 1, -0x1p40})};
     }},
    {"QuantizeLinear/uint8_halves",
     "x / scale goes to the nearest even, then the zero point is added: with 3 "
     "the sum of a half is another half",
     "g (float[9] x) => (uint8[9] y) <float scale = {2}, uint8 zero = {3}> "
     "{ y = QuantizeLinear(x, scale, zero) }",
     [] {
       return Values{Of(kF32, {9}, {1, 3, 5, 7, -1, -3, -5, 1000, -1000})};
     },
     [] {
       return Values{Of(kU8, {9}, {3, 5, 5, 7, 3, 1, 1, 255, 0})};
     }},
    {"QuantizeLinear/int8_halves", "the same with a negative zero point",
     "g (float[9] x) => (int8[9] y) <float scale = {0.5}, int8 zero = {-3}> "
     "{ y = QuantizeLinear(x, scale, zero) }",
     [] {
       return Values{
           Of(kF32, {9},
              {0.25, 0.75, 1.25, 1.75, -0.25, -0.75, -1.25, 1000, -1000})};
     },
     [] {
       return Values{Of(kI8, {9}, {-3, -1, -1, 1, -3, -5, -5, 127, -128})};
     }},
    {"QuantizeLinear/axis_0", "a scale and a zero point for each row",
     "g (float[2,3] x, float[2] scale, int8[2] zero) => (int8[2,3] y) "
     "{ y = QuantizeLinear<axis = 0>(x, scale, zero) }",
     [] {
       return Values{Of(kF32, {2, 3}, {1, 3, 5, 1, 3, 5}),
                     Of(kF32, {2}, {2, 4}), Of(kI8, {2}, {0, 10})};
     },
     [] {
       return Values{Of(kI8, {2, 3}, {0, 2, 2, 10, 11, 11})};
     }},
    {"QuantizeLinear/uint16_halves", "in a wider type",
     "g (float[5] x, float scale, uint16 zero) => (uint16[5] y) "
     "{ y = QuantizeLinear(x, scale, zero) }",
     [] {
       return Values{Of(kF32, {5}, {1, 3, 131069, 1e6, -1e6}),
                     Of(kF32, {}, {2}), Of(DType::kUint16, {}, {1})};
     },
     [] {
       return Values{Of(DType::kUint16, {5}, {1, 3, 65535, 65535, 0})};
     }},
    {"DynamicQuantizeLinear/halves",
     "the range is 255, so that the scale is 1 and the zero point 55",
     "g (float[6] x) => (uint8[6] y, float s, uint8 z) "
     "{ y, s, z = DynamicQuantizeLinear(x) }",
     [] {
       return Values{Of(kF32, {6}, {-55, 200, 0.5, 1.5, 2.5, -0.5})};
     },
     [] {
       return Values{Of(kU8, {6}, {0, 255, 55, 57, 57, 55}), Of(kF32, {}, {1}),
                     Of(kU8, {}, {55})};
     }},
    {"QLinearMatMul/halves", "products of 1/2 go to the nearest even",
     "g (uint8[1,2] a, uint8[2,4] b) => (uint8[1,4] y) "
     "<float as = {0.5}, uint8 az = {1}, float bs = {1}, uint8 bz = {2}, "
     "float ys = {1}, uint8 yz = {3}> "
     "{ y = QLinearMatMul(a, as, az, b, bs, bz, ys, yz) }",
     [] {
       return Values{Of(kU8, {1, 2}, {2, 0}),
                     Of(kU8, {2, 4}, {3, 5, 7, 1, 2, 2, 2, 5})};
     },
     // (1, -1) (b - 2) / 2 = 1/2, 3/2, 5/2, -2, and 3 more.
     [] {
       return Values{Of(kU8, {1, 4}, {3, 5, 5, 1})};
     }},
    {"ArgMax/first_of_equals", "select_last_index 0: the first occurrence",
     "g (float[2,5] x) => (int64[2,1] y) { y = ArgMax<axis = 1>(x) }",
     [] {
       return Values{Of(kF32, {2, 5}, {1, 7, 7, 2, 7, 4, 4, 4, 4, 4})};
     },
     [] {
       return Values{Of(kI64, {2, 1}, {1, 0})};
     }},
    {"ArgMax/last_of_equals", "select_last_index 1: the last occurrence",
     "g (float[2,5] x) => (int64[2,1] y) "
     "{ y = ArgMax<axis = 1, select_last_index = 1>(x) }",
     [] {
       return Values{Of(kF32, {2, 5}, {1, 7, 7, 7, 2, 4, 4, 4, 4, 4})};
     },
     [] {
       return Values{Of(kI64, {2, 1}, {3, 4})};
     }},
    {"ArgMin/first_of_equals", "select_last_index 0, down the columns",
     "g (float[4,2] x) => (int64[2] y) { y = ArgMin<axis = 0, keepdims = 0>(x) "
     "}",
     [] {
       return Values{Of(kF32, {4, 2}, {5, -1, 2, 3, 2, -1, 2, -1})};
     },
     [] {
       return Values{Of(kI64, {2}, {1, 0})};
     }},
    {"ArgMin/last_of_equals", "select_last_index 1, down the columns",
     "g (float[4,2] x) => (int64[2] y) "
     "{ y = ArgMin<axis = 0, keepdims = 0, select_last_index = 1>(x) }",
     [] {
       return Values{Of(kF32, {4, 2}, {2, -1, 2, 3, 2, -1, 5, -1})};
     },
     [] {
       return Values{Of(kI64, {2}, {2, 3})};
     }},
    {"ArgMax/float64_near_equals", "1 + 2^-40 is larger than 1",
     "g (double[2,3] x) => (int64[2,1] y) { y = ArgMax<axis = 1>(x) }",
     [] {
       return Values{Of(kF64, {2, 3}, {1, 1 + 0x1p-40, 1, 1, 1, 1 + 0x1p-52})};
     },
     [] {
       return Values{Of(kI64, {2, 1}, {1, 2})};
     }},
    {"TopK/largest_of_equals", "the element with the lower index comes first",
     "g (float[2,6] x, int64[1] k) => (float[2,4] v, int64[2,4] i) "
     "{ v, i = TopK(x, k) }",
     [] {
       return Values{Of(kF32, {2, 6}, {1, 3, 3, 2, 3, 1, 0, 0, 5, 0, 5, 0}),
                     Of(kI64, {1}, {4})};
     },
     [] {
       return Values{Of(kF32, {2, 4}, {3, 3, 3, 2, 5, 5, 0, 0}),
                     Of(kI64, {2, 4}, {1, 2, 4, 3, 2, 4, 0, 1})};
     }},
    {"TopK/smallest_of_equals", "the same for the smallest, along axis 0",
     "g (float[5,2] x, int64[1] k) => (float[3,2] v, int64[3,2] i) "
     "{ v, i = TopK<axis = 0, largest = 0>(x, k) }",
     [] {
       return Values{Of(kF32, {5, 2}, {1, 9, 1, 4, 0, 4, 1, 4, 7, 4}),
                     Of(kI64, {1}, {3})};
     },
     [] {
       return Values{Of(kF32, {3, 2}, {0, 4, 1, 4, 1, 4}),
                     Of(kI64, {3, 2}, {2, 1, 0, 2, 1, 3})};
     }},
    {"TopK/many_equals", "among 1,000 of three values an unstable sort mixes",
     "g (float[1000] x, int64[1] k) => (float[400] v, int64[400] i) "
     "{ v, i = TopK(x, k) }",
     [] {
       return Values{By(kF32, {1000},
                        [](int64_t i) { return static_cast<double>(i % 3); }),
                     Of(kI64, {1}, {400})};
     },
     // 333 twos at 2, 5, ..., then ones at 1, 4, ...
     [] {
       return Values{By(kF32, {400}, [](int64_t i) { return i < 333 ? 2 : 1; }),
                     WholeBy(kI64, {400}, [](int64_t i) {
                       return i < 333 ? 3 * i + 2 : 3 * (i - 333) + 1;
                     })};
     }},
    {"Hardmax/first_maximum", "1 for the first maximum only",
     "g (float[3,4] x) => (float[3,4] y) { y = Hardmax(x) }",
     [] {
       return Values{
           Of(kF32, {3, 4}, {1, 3, 3, 2, 0, 0, 0, 0, -2, -1, -3, -1})};
     },
     [] {
       return Values{Of(kF32, {3, 4}, {0, 1, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0})};
     }},
    {"Hardmax/axis_0", "1 for the first maximum of each column",
     "g (float[3,2] x) => (float[3,2] y) { y = Hardmax<axis = 0>(x) }",
     [] {
       return Values{Of(kF32, {3, 2}, {1, 5, 4, 5, 4, 2})};
     },
     [] {
       return Values{Of(kF32, {3, 2}, {0, 1, 1, 0, 0, 0})};
     }},
    {"Resize/nearest_half_pixel",
     "scale 1/2 reads at 0.5, 2.5, 4.5: each nearest_mode says which way",
     "g (float[6] x) => (float[3] a, float[3] b, float[3] c, float[3] d) "
     "<float[1] scales = {0.5}> {"
     "a = Resize<nearest_mode = \"round_prefer_floor\">(x, \"\", scales)"
     "b = Resize<nearest_mode = \"round_prefer_ceil\">(x, \"\", scales)"
     "c = Resize<nearest_mode = \"floor\">(x, \"\", scales)"
     "d = Resize<nearest_mode = \"ceil\">(x, \"\", scales) }",
     [] {
       return Values{Of(kF32, {6}, {10, 11, 12, 13, 14, 15})};
     },
     [] {
       return Values{Of(kF32, {3}, {10, 12, 14}), Of(kF32, {3}, {11, 13, 15}),
                     Of(kF32, {3}, {10, 12, 14}), Of(kF32, {3}, {11, 13, 15})};
     }},
    {"Resize/nearest_asymmetric",
     "scale 4 reads at 0, 1/4, 1/2, 3/4, 1, ...: each nearest_mode by itself",
     "g (float[2] x) => (float[8] a, float[8] b, float[8] c, float[8] d) "
     "<float[1] s = {4}> {"
     "a = Resize<coordinate_transformation_mode = \"asymmetric\", "
     "nearest_mode = \"round_prefer_floor\">(x, \"\", s)"
     "b = Resize<coordinate_transformation_mode = \"asymmetric\", "
     "nearest_mode = \"round_prefer_ceil\">(x, \"\", s)"
     "c = Resize<coordinate_transformation_mode = \"asymmetric\", "
     "nearest_mode = \"floor\">(x, \"\", s)"
     "d = Resize<coordinate_transformation_mode = \"asymmetric\", "
     "nearest_mode = \"ceil\">(x, \"\", s) }",
     [] {
       return Values{Of(kF32, {2}, {10, 11})};
     },
     [] {
       return Values{Of(kF32, {8}, {10, 10, 10, 11, 11, 11, 11, 11}),
                     Of(kF32, {8}, {10, 10, 11, 11, 11, 11, 11, 11}),
                     Of(kF32, {8}, {10, 10, 10, 10, 11, 11, 11, 11}),
                     Of(kF32, {8}, {10, 11, 11, 11, 11, 11, 11, 11})};
     }},
    {"Unique/sorted", "first occurrences, though the values are sorted",
     "g (float[7] x) => (float[4] y, int64[4] i, int64[7] v, int64[4] c) "
     "{ y, i, v, c = Unique(x) }",
     [] {
       return Values{Of(kF32, {7}, {5, -2, 5, 3, -2, 0, 5})};
     },
     [] {
       return Values{Of(kF32, {4}, {-2, 0, 3, 5}), Of(kI64, {4}, {1, 5, 3, 0}),
                     Of(kI64, {7}, {3, 0, 3, 2, 0, 1, 3}),
                     Of(kI64, {4}, {2, 1, 1, 3})};
     }},
    {"Unique/unsorted", "in the order of first occurrence",
     "g (float[7] x) => (float[4] y, int64[4] i, int64[7] v, int64[4] c) "
     "{ y, i, v, c = Unique<sorted = 0>(x) }",
     [] {
       return Values{Of(kF32, {7}, {5, -2, 5, 3, -2, 0, 5})};
     },
     [] {
       return Values{Of(kF32, {4}, {5, -2, 3, 0}), Of(kI64, {4}, {0, 1, 3, 5}),
                     Of(kI64, {7}, {0, 1, 0, 2, 1, 3, 0}),
                     Of(kI64, {4}, {3, 2, 1, 1})};
     }},
    {"NonZero/row_major", "indices in row-major order, a row for each axis",
     "g (float[2,3] x) => (int64[2,4] y) { y = NonZero(x) }",
     [] {
       return Values{Of(kF32, {2, 3}, {0, 3, -1, 0x1p-149, 0, 2})};
     },
     [] {
       return Values{Of(kI64, {2, 4}, {0, 0, 1, 1, 1, 2, 0, 2})};
     }},
};

}  // namespace

std::span<const SpecialCase> TiesCases() { return kCases; }

}  // namespace assay::inline v1
