// SPDX-License-Identifier: Apache-2.0
//
// Older versions of layers.

#include "conformance/special/versions.h"

namespace assay::inline v1 {
namespace {

constexpr std::string_view kF = "float32";

Values Square(DType t) { return {Of(t, {2, 2}, {3, 1, 4, 6})}; }

Values Pools(DType t) { return {Of(t, {1, 2, 1, 2}, {3, 4, 6, 8})}; }

constexpr TypedRow kRows[] = {
    {"PRelu/slopes", "-3 * 2", kF,
     "g ($T[2,2] x, $T[1] s) => ($T[2,2] y) { y = PRelu(x, s) }",
     [](DType t) {
       return Values{Of(t, {2, 2}, {1, -3, 2, 0}), Of(t, {1}, {2})};
     },
     [](DType t) {
       return Values{Of(t, {2, 2}, {1, -6, 2, 0})};
     },
     "1 6 7 9"},
    {"Hardmax/rows", "1 at the greatest", kF,
     "g ($T[2,2] x) => ($T[2,2] y) { y = Hardmax(x) }", &Square,
     [](DType t) {
       return Values{Of(t, {2, 2}, {1, 0, 0, 1})};
     },
     "1 11"},
    {"Softmax/rows", "one certain, two halves", kF,
     "g ($T[2,2] x) => ($T[2,2] y) { y = Softmax(x) }",
     [](DType t) {
       return Values{Of(t, {2, 2}, {0, -kInf, 1, 1})};
     },
     [](DType t) {
       return Values{Of(t, {2, 2}, {1, 0, 0.5, 0.5})};
     },
     "1 11"},
    {"LogSoftmax/rows", "log 1 and log 0", kF,
     "g ($T[2,2] x) => ($T[2,2] y) { y = LogSoftmax(x) }",
     [](DType t) {
       return Values{Of(t, {2, 2}, {0, -kInf, -kInf, 1})};
     },
     [](DType t) {
       return Values{Of(t, {2, 2}, {0, -kInf, -kInf, 0})};
     },
     "1 11"},
    {"MatMul/two", "sums of two products", kF,
     "g ($T[2,2] a, $T[2,2] b) => ($T[2,2] y) { y = MatMul(a, b) }",
     [](DType t) {
       return Values{Square(t)[0], Of(t, {2, 2}, {0, 1, 1, 2})};
     },
     [](DType t) {
       return Values{Of(t, {2, 2}, {1, 5, 6, 16})};
     },
     "1 9"},
    {"Gemm/with_c", "2 A B + C", kF,
     "g ($T[2,2] a, $T[2,2] b, $T[2,2] c) => ($T[2,2] y) "
     "{ y = Gemm<alpha = 2.0>(a, b, c) }",
     [](DType t) {
       return Values{Square(t)[0], Of(t, {2, 2}, {0, 1, 1, 2}),
                     Of(t, {2, 2}, {1, 2, 3, 4})};
     },
     [](DType t) {
       return Values{Of(t, {2, 2}, {3, 12, 15, 36})};
     },
     "1 6 7 9 11"},
    {"Einsum/product", "sums of two products", kF,
     "g ($T[2,2] a, $T[2,2] b) => ($T[2,2] y) "
     "{ y = Einsum<equation = \"ij,jk->ik\">(a, b) }",
     [](DType t) {
       return Values{Square(t)[0], Of(t, {2, 2}, {0, 1, 1, 2})};
     },
     [](DType t) {
       return Values{Of(t, {2, 2}, {1, 5, 6, 16})};
     },
     "12"},
    {"Det/two", "3 * 6 - 1 * 4", kF, "g ($T[2,2] x) => ($T y) { y = Det(x) }",
     &Square, [](DType t) { return Values{Of(t, {}, {14})}; }, "11"},
    {"Conv/pairs", "x[i] + 2 x[i + 1]", kF,
     "g ($T[1,1,4] x, $T[1,1,2] w) => ($T[1,1,3] y) { y = Conv(x, w) }",
     [](DType t) {
       return Values{Of(t, {1, 1, 4}, {1, 3, 5, 2}), Of(t, {1, 1, 2}, {1, 2})};
     },
     [](DType t) {
       return Values{Of(t, {1, 1, 3}, {7, 13, 9})};
     },
     "1 11"},
    {"ConvTranspose/pairs", "1 (1, 2) and 3 (1, 2)", kF,
     "g ($T[1,1,2] x, $T[1,1,2] w) => ($T[1,1,3] y) { y = ConvTranspose(x, w) "
     "}",
     [](DType t) {
       return Values{Of(t, {1, 1, 2}, {1, 3}), Of(t, {1, 1, 2}, {1, 2})};
     },
     [](DType t) {
       return Values{Of(t, {1, 1, 3}, {1, 5, 6})};
     },
     "1 11"},
    {"AveragePool/pairs", "of 3 and 4, and of 6 and 8", kF,
     "g ($T[1,2,1,2] x) => ($T[1,2,1,1] y) { y = AveragePool<kernel_shape = "
     "[1, 2]>(x) }",
     &Pools,
     [](DType t) {
       return Values{Of(t, {1, 2, 1, 1}, {3.5, 7})};
     },
     "1 7 10 11 19"},
    {"MaxPool/pairs", "of 3 and 4, and of 6 and 8", kF,
     "g ($T[1,2,1,2] x) => ($T[1,2,1,1] y) { y = MaxPool<kernel_shape = [1, "
     "2]>(x) }",
     &Pools,
     [](DType t) {
       return Values{Of(t, {1, 2, 1, 1}, {4, 8})};
     },
     "1 8 10 11 12"},
    {"LpPool/pairs", "of 3 and 4, and of 6 and 8", kF,
     "g ($T[1,2,1,2] x) => ($T[1,2,1,1] y) { y = LpPool<kernel_shape = [1, "
     "2]>(x) }",
     &Pools,
     [](DType t) {
       return Values{Of(t, {1, 2, 1, 1}, {5, 10})};
     },
     "1 2 11 18"},
    {"GlobalAveragePool/pairs", "of 3 and 4, and of 6 and 8", kF,
     "g ($T[1,2,1,2] x) => ($T[1,2,1,1] y) { y = GlobalAveragePool(x) }",
     &Pools,
     [](DType t) {
       return Values{Of(t, {1, 2, 1, 1}, {3.5, 7})};
     },
     "1"},
    {"GlobalMaxPool/pairs", "of 3 and 4, and of 6 and 8", kF,
     "g ($T[1,2,1,2] x) => ($T[1,2,1,1] y) { y = GlobalMaxPool(x) }", &Pools,
     [](DType t) {
       return Values{Of(t, {1, 2, 1, 1}, {4, 8})};
     },
     "1"},
    {"GlobalLpPool/pairs", "of 3 and 4, and of 6 and 8", kF,
     "g ($T[1,2,1,2] x) => ($T[1,2,1,1] y) { y = GlobalLpPool(x) }", &Pools,
     [](DType t) {
       return Values{Of(t, {1, 2, 1, 1}, {5, 10})};
     },
     "1 2"},
    {"MaxUnpool/of", "where they were taken from", kF,
     "g ($T[1,1,2] x, int64[1,1,2] i) => ($T[1,1,4] y) "
     "{ y = MaxUnpool<kernel_shape = [2], strides = [2]>(x, i) }",
     [](DType t) {
       return Values{Of(t, {1, 1, 2}, {3, 4}), Whole(kI64, {1, 1, 2}, {0, 3})};
     },
     [](DType t) {
       return Values{Of(t, {1, 1, 4}, {3, 0, 0, 4})};
     },
     "9 11"},
    {"DepthToSpace/two", "four channels, one block", kF,
     "g ($T[1,4,1,1] x) => ($T[1,1,2,2] y) { y = DepthToSpace<blocksize = 2>"
     "(x) }",
     [](DType t) {
       return Values{Of(t, {1, 4, 1, 1}, {1, 2, 3, 4})};
     },
     [](DType t) {
       return Values{Of(t, {1, 1, 2, 2}, {1, 2, 3, 4})};
     },
     "1 11 13"},
    {"SpaceToDepth/two", "one block, four channels", kF,
     "g ($T[1,1,2,2] x) => ($T[1,4,1,1] y) { y = SpaceToDepth<blocksize = 2>"
     "(x) }",
     [](DType t) {
       return Values{Of(t, {1, 1, 2, 2}, {1, 2, 3, 4})};
     },
     [](DType t) {
       return Values{Of(t, {1, 4, 1, 1}, {1, 2, 3, 4})};
     },
     "1 13"},
    {"InstanceNormalization/of", "mean 4, variance 9 + 7", kF,
     "g ($T[1,1,2] x, $T[1] s, $T[1] b) => ($T[1,1,2] y) "
     "{ y = InstanceNormalization<epsilon = 7.0>(x, s, b) }",
     [](DType t) {
       return Values{Of(t, {1, 1, 2}, {1, 7}), Of(t, {1}, {8}),
                     Of(t, {1}, {1})};
     },
     [](DType t) {
       return Values{Of(t, {1, 1, 2}, {-5, 7})};
     },
     "1 6"},
    {"GroupNormalization/groups", "a scale for each group", kF,
     "g ($T[1,2,2] x, $T[1] s, $T[1] b) => ($T[1,2,2] y) "
     "{ y = GroupNormalization<num_groups = 1, epsilon = 7.0>(x, s, b) }",
     [](DType t) {
       return Values{Of(t, {1, 2, 2}, {1, 7, 7, 1}), Of(t, {1}, {8}),
                     Of(t, {1}, {1})};
     },
     [](DType t) {
       return Values{Of(t, {1, 2, 2}, {-5, 7, 7, -5})};
     },
     "18"},
    {"BatchNormalization/test", "2 (x - 1) / 2 + 4", kF,
     "g ($T[1,1,3] x, $T[1] s, $T[1] b, $T[1] m, $T[1] v) => ($T[1,1,3] y) "
     "{ y = BatchNormalization<epsilon = 1.0>(x, s, b, m, v) }",
     [](DType t) {
       return Values{Of(t, {1, 1, 3}, {1, 4, -3}), Of(t, {1}, {2}),
                     Of(t, {1}, {4}), Of(t, {1}, {1}), Of(t, {1}, {3})};
     },
     [](DType t) {
       return Values{Of(t, {1, 1, 3}, {4, 7, 0})};
     },
     "7 9 14"},
    {"BatchNormalization/is_test", "2 (x - 1) / 2 + 4", kF,
     "g ($T[1,1,3] x, $T[1] s, $T[1] b, $T[1] m, $T[1] v) => ($T[1,1,3] y) "
     "{ y = BatchNormalization<epsilon = 1.0, is_test = 1>(x, s, b, m, v) }",
     [](DType t) {
       return Values{Of(t, {1, 1, 3}, {1, 4, -3}), Of(t, {1}, {2}),
                     Of(t, {1}, {4}), Of(t, {1}, {1}), Of(t, {1}, {3})};
     },
     [](DType t) {
       return Values{Of(t, {1, 1, 3}, {4, 7, 0})};
     },
     "6"},
    {"LRN/of", "2 / (4 + 4)", kF,
     "g ($T[1,2,1,1] x) => ($T[1,2,1,1] y) "
     "{ y = LRN<size = 1, alpha = 1.0, beta = 1.0, bias = 4.0>(x) }",
     [](DType t) {
       return Values{Of(t, {1, 2, 1, 1}, {2, -2})};
     },
     [](DType t) {
       return Values{Of(t, {1, 2, 1, 1}, {0.25, -0.25})};
     },
     "1"},
    {"LpNormalization/p_1", "1 and 3 of 4", kF,
     "g ($T[1,2] x) => ($T[1,2] y) { y = LpNormalization<p = 1>(x) }",
     [](DType t) {
       return Values{Of(t, {1, 2}, {1, -3})};
     },
     [](DType t) {
       return Values{Of(t, {1, 2}, {0.25, -0.75})};
     },
     "1"},
};

}  // namespace

std::span<const TypedRow> VersionsOfLayers() { return kRows; }

}  // namespace assay::inline v1
