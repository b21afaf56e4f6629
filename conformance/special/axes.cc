// SPDX-License-Identifier: Apache-2.0
//
// Which axis: shapes whose extents all differ, or are all equal, so that
// operands aligned on the left, axes swapped and axes counted wrongly give
// another shape or, worse, another value. Numbers are small and whole.

#include "conformance/special/special.h"

namespace assay::inline v1 {
namespace {

double Index(int64_t i) { return static_cast<double>(i); }

// 0, 1, 2, ... in row-major order.
Value Counted(const Shape& shape) { return By(kF32, shape, Index); }

constexpr SpecialCase kCases[] = {
    {"Add/second_of_rank_1", "aligned on the right, though both axes fit",
     "g (float[3,3] a, float[3] b) => (float[3,3] y) { y = Add(a, b) }",
     [] {
       return Values{Counted({3, 3}), Of(kF32, {3}, {10, 20, 30})};
     },
     [] {
       return Values{Of(kF32, {3, 3}, {10, 21, 32, 13, 24, 35, 16, 27, 38})};
     }},
    {"Sub/first_of_rank_1", "the smaller operand comes first",
     "g (float[3] a, float[3,3] b) => (float[3,3] y) { y = Sub(a, b) }",
     [] {
       return Values{Of(kF32, {3}, {10, 20, 30}), Counted({3, 3})};
     },
     [] {
       return Values{Of(kF32, {3, 3}, {10, 19, 28, 7, 16, 25, 4, 13, 22})};
     }},
    {"Mul/column_by_row", "both operands are broadcast",
     "g (float[3,1] a, float[1,4] b) => (float[3,4] y) { y = Mul(a, b) }",
     [] {
       return Values{Of(kF32, {3, 1}, {1, 2, 3}),
                     Of(kF32, {1, 4}, {1, 10, 100, 1000})};
     },
     [] {
       return Values{
           Of(kF32, {3, 4},
              {1, 10, 100, 1000, 2, 20, 200, 2000, 3, 30, 300, 3000})};
     }},
    {"Div/middle_axis", "[2,1,2] by [2,1]: each operand stands still elsewhere",
     "g (float[2,1,2] a, float[2,1] b) => (float[2,2,2] y) { y = Div(a, b) }",
     [] {
       return Values{Of(kF32, {2, 1, 2}, {8, 16, 24, 32}),
                     Of(kF32, {2, 1}, {2, 8})};
     },
     [] {
       return Values{Of(kF32, {2, 2, 2}, {4, 8, 1, 2, 12, 16, 3, 4})};
     }},
    {"Max/three_operands", "three shapes at once",
     "g (float[2,1] a, float[3] b, float c) => (float[2,3] y) "
     "{ y = Max(a, b, c) }",
     [] {
       return Values{Of(kF32, {2, 1}, {1, 5}), Of(kF32, {3}, {0, 4, 9}),
                     Of(kF32, {}, {2})};
     },
     [] {
       return Values{Of(kF32, {2, 3}, {2, 4, 9, 5, 5, 9})};
     }},
    {"Where/three_shapes", "condition, x and y broadcast among themselves",
     "g (bool[2,1,1] c, float[3,1] a, float[4] b) => (float[2,3,4] y) "
     "{ y = Where(c, a, b) }",
     [] {
       return Values{Of(kBool, {2, 1, 1}, {1, 0}),
                     Of(kF32, {3, 1}, {-1, -2, -3}),
                     Of(kF32, {4}, {1, 2, 3, 4})};
     },
     [] {
       return Values{By(kF32, {2, 3, 4}, [](int64_t i) {
         return i < 12 ? -1 - i / 4 : 1 + i % 4;
       })};
     }},
    {"PRelu/slope_of_channels", "[3,1,1] is aligned on the right: channels",
     "g (float[1,3,2,3] x, float[3,1,1] s) => (float[1,3,2,3] y) "
     "{ y = PRelu(x, s) }",
     [] {
       return Values{By(kF32, {1, 3, 2, 3},
                        [](int64_t i) { return i % 2 ? Index(i) : -Index(i); }),
                     Of(kF32, {3, 1, 1}, {2, 4, 8})};
     },
     [] {
       return Values{By(kF32, {1, 3, 2, 3}, [](int64_t i) {
         return i % 2 ? Index(i) : -Index(i) * Index(2LL << (i / 6));
       })};
     }},
    {"Expand/middle_axis", "[2,1,3] to [2,2,3], and a one that stays",
     "g (float[2,1,3] x, int64[3] s) => (float[2,2,3] y) { y = Expand(x, s) }",
     [] {
       return Values{Counted({2, 1, 3}), Of(kI64, {3}, {1, 2, 1})};
     },
     [] {
       return Values{By(kF32, {2, 2, 3},
                        [](int64_t i) { return Index(i / 6 * 3 + i % 3); })};
     }},
    {"Transpose/rank_3_cycle",
     "perm [1,2,0] and its inverse [2,0,1] differ for rank 3",
     "g (float[2,3,4] x) => (float[3,4,2] y) { y = Transpose<perm = "
     "[1,2,0]>(x) }",
     [] {
       return Values{Counted({2, 3, 4})};
     },
     [] {
       return Values{By(kF32, {3, 4, 2},
                        [](int64_t i) { return Index(i % 2 * 12 + i / 2); })};
     }},
    {"Transpose/equal_extents",
     "perm [1,2,0] of a cube: the shape does not tell",
     "g (float[3,3,3] x) => (float[3,3,3] y) { y = Transpose<perm = "
     "[1,2,0]>(x) }",
     [] {
       return Values{Counted({3, 3, 3})};
     },
     [] {
       return Values{By(kF32, {3, 3, 3},
                        [](int64_t i) { return Index(i % 3 * 9 + i / 3); })};
     }},
    {"Transpose/rank_4", "perm [0,2,3,1] and extents 2, 3, 4, 5",
     "g (float[2,3,4,5] x) => (float[2,4,5,3] y) "
     "{ y = Transpose<perm = [0,2,3,1]>(x) }",
     [] {
       return Values{Counted({2, 3, 4, 5})};
     },
     [] {
       return Values{By(kF32, {2, 4, 5, 3}, [](int64_t i) {
         return Index(i / 60 * 60 + i % 3 * 20 + i % 60 / 3);
       })};
     }},
    {"Transpose/rank_5_default", "no perm: all axes reversed",
     "g (float[2,3,1,4,5] x) => (float[5,4,1,3,2] y) { y = Transpose(x) }",
     [] {
       return Values{Counted({2, 3, 1, 4, 5})};
     },
     [] {
       return Values{By(kF32, {5, 4, 1, 3, 2}, [](int64_t i) {
         return Index(i % 2 * 60 + i / 2 % 3 * 20 + i / 6 % 4 * 5 + i / 24);
       })};
     }},
    {"Softmax/each_axis", "of [2,2,2]: equal along one axis, -inf along others",
     "g (float[2,2,2] x) => (float[2,2,2] a, float[2,2,2] b, float[2,2,2] c) "
     "{ a = Softmax<axis = 0>(x) b = Softmax<axis = 1>(x) "
     "c = Softmax<axis = -1>(x) }",
     [] {
       return Values{Of(kF32, {2, 2, 2}, {5, 5, 5, -kInf, -kInf, 5, 5, 5})};
     },
     [] {
       return Values{Of(kF32, {2, 2, 2}, {1, 0.5, 0.5, 0, 0, 0.5, 0.5, 1}),
                     Of(kF32, {2, 2, 2}, {0.5, 1, 0.5, 0, 0, 0.5, 1, 0.5}),
                     Of(kF32, {2, 2, 2}, {0.5, 0.5, 1, 0, 0, 1, 0.5, 0.5})};
     }},
    {"Gather/axis_1", "of equal extents",
     "g (float[3,3] x, int64[2] i) => (float[3,2] y) "
     "{ y = Gather<axis = 1>(x, i) }",
     [] {
       return Values{Counted({3, 3}), Of(kI64, {2}, {2, 0})};
     },
     [] {
       return Values{Of(kF32, {3, 2}, {2, 0, 5, 3, 8, 6})};
     }},
    {"GatherElements/axis_0_and_1", "the two axes of a square",
     "g (float[2,2] x, int64[2,2] i) => (float[2,2] a, float[2,2] b) "
     "{ a = GatherElements<axis = 0>(x, i) b = GatherElements<axis = 1>(x, i) "
     "}",
     [] {
       return Values{Of(kF32, {2, 2}, {1, 2, 3, 4}),
                     Of(kI64, {2, 2}, {1, 0, 1, 1})};
     },
     [] {
       return Values{Of(kF32, {2, 2}, {3, 2, 3, 4}),
                     Of(kF32, {2, 2}, {2, 1, 4, 4})};
     }},
    {"ScatterElements/axis_1_add", "duplicates add up under reduction add",
     "g (float[2,3] x, int64[2,2] i, float[2,2] u) => (float[2,3] y) "
     "{ y = ScatterElements<axis = 1, reduction = \"add\">(x, i, u) }",
     [] {
       return Values{Counted({2, 3}), Of(kI64, {2, 2}, {1, 1, -1, 0}),
                     Of(kF32, {2, 2}, {10, 20, 30, 40})};
     },
     [] {
       return Values{Of(kF32, {2, 3}, {0, 31, 2, 43, 4, 35})};
     }},
    {"ScatterND/rows", "an index of one number is a row",
     "g (float[3,3] x, int64[2,1] i, float[2,3] u) => (float[3,3] y) "
     "{ y = ScatterND(x, i, u) }",
     [] {
       return Values{Counted({3, 3}), Of(kI64, {2, 1}, {2, 0}),
                     Of(kF32, {2, 3}, {-1, -2, -3, -4, -5, -6})};
     },
     [] {
       return Values{Of(kF32, {3, 3}, {-4, -5, -6, 3, 4, 5, -1, -2, -3})};
     }},
    {"GatherND/batch_dims", "batch_dims 1: an index within each row",
     "g (float[2,2,2] x, int64[2,1] i) => (float[2,2] y) "
     "{ y = GatherND<batch_dims = 1>(x, i) }",
     [] {
       return Values{Counted({2, 2, 2}), Of(kI64, {2, 1}, {1, 0})};
     },
     [] {
       return Values{Of(kF32, {2, 2}, {2, 3, 4, 5})};
     }},
    {"Concat/last_axis", "axis -1 of a square, three parts",
     "g (float[2,2] a, float[2,1] b, float[2,3] c) => (float[2,6] y) "
     "{ y = Concat<axis = -1>(a, b, c) }",
     [] {
       return Values{Of(kF32, {2, 2}, {1, 2, 3, 4}), Of(kF32, {2, 1}, {5, 6}),
                     Of(kF32, {2, 3}, {7, 8, 9, 10, 11, 12})};
     },
     [] {
       return Values{Of(kF32, {2, 6}, {1, 2, 5, 7, 8, 9, 3, 4, 6, 10, 11, 12})};
     }},
    {"Split/uneven_axis_0", "parts of 1 and 3 rows",
     "g (float[4,2] x, int64[2] s) => (float[1,2] a, float[3,2] b) "
     "{ a, b = Split(x, s) }",
     [] {
       return Values{Counted({4, 2}), Of(kI64, {2}, {1, 3})};
     },
     [] {
       return Values{Of(kF32, {1, 2}, {0, 1}),
                     Of(kF32, {3, 2}, {2, 3, 4, 5, 6, 7})};
     }},
    {"Split/num_outputs_with_rest", "5 columns in 3 parts: 2, 2 and 1",
     "g (float[2,5] x) => (float[2,2] a, float[2,2] b, float[2,1] c) "
     "{ a, b, c = Split<axis = 1, num_outputs = 3>(x) }",
     [] {
       return Values{Counted({2, 5})};
     },
     [] {
       return Values{Of(kF32, {2, 2}, {0, 1, 5, 6}),
                     Of(kF32, {2, 2}, {2, 3, 7, 8}), Of(kF32, {2, 1}, {4, 9})};
     }},
    {"ReduceSum/keepdims_of_a_cube", "axes 0, 1, 2 of equal extents, and two",
     "g (float[2,2,2] x) => (float[2,2] a, float[2,1,2] b, float[2,2] c, "
     "float[2] d) <int64[1] p = {0}, int64[1] q = {1}, int64[1] r = {-1}, "
     "int64[2] s = {0, 2}> { a = ReduceSum<keepdims = 0>(x, p) "
     "b = ReduceSum<keepdims = 1>(x, q) c = ReduceSum<keepdims = 0>(x, r) "
     "d = ReduceSum<keepdims = 0>(x, s) }",
     [] {
       return Values{Counted({2, 2, 2})};
     },
     [] {
       return Values{Of(kF32, {2, 2}, {4, 6, 8, 10}),
                     Of(kF32, {2, 1, 2}, {2, 4, 10, 12}),
                     Of(kF32, {2, 2}, {1, 5, 9, 13}), Of(kF32, {2}, {10, 18})};
     }},
    {"ReduceSum/no_axes", "none: all of them; none with noop: the data",
     "g (float[2,3] x) => (float[1,1] a, float[2,3] b) "
     "{ a = ReduceSum(x) b = ReduceSum<noop_with_empty_axes = 1>(x) }",
     [] {
       return Values{Counted({2, 3})};
     },
     [] {
       return Values{Of(kF32, {1, 1}, {15}), Counted({2, 3})};
     }},
    {"ReduceMean/middle_axis", "axis 1 of three that differ",
     "g (float[2,4,3] x) => (float[2,3] y) <int64[1] axes = {1}> "
     "{ y = ReduceMean<keepdims = 0>(x, axes) }",
     [] {
       return Values{Counted({2, 4, 3})};
     },
     [] {
       return Values{Of(kF32, {2, 3}, {4.5, 5.5, 6.5, 16.5, 17.5, 18.5})};
     }},
    {"MatMul/batches_broadcast", "[2,1,2,3] by [2,3,2]: batches of both",
     "g (float[2,1,2,3] a, float[2,3,2] b) => (float[2,2,2,2] y) "
     "{ y = MatMul(a, b) }",
     [] {
       return Values{Counted({2, 1, 2, 3}),
                     Of(kF32, {2, 3, 2}, {1, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 2})};
     },
     // b picks (column 0, column 1), then (column 1, twice column 2).
     [] {
       return Values{Of(kF32, {2, 2, 2, 2},
                        {0, 1, 3, 4, 1, 4, 4, 10, 6, 7, 9, 10, 7, 16, 10, 22})};
     }},
    {"MatMul/vectors", "rank 1 on the left, on the right, on both",
     "g (float[2] v, float[2,2] m) => (float[2] a, float[2] b, float c) "
     "{ a = MatMul(v, m) b = MatMul(m, v) c = MatMul(v, v) }",
     [] {
       return Values{Of(kF32, {2}, {1, 10}), Of(kF32, {2, 2}, {1, 2, 3, 4})};
     },
     [] {
       return Values{Of(kF32, {2}, {31, 42}), Of(kF32, {2}, {21, 43}),
                     Of(kF32, {}, {101})};
     }},
    {"MatMul/square_not_symmetric", "a b is neither b a nor a b^T",
     "g (float[2,2] a, float[2,2] b) => (float[2,2] y) { y = MatMul(a, b) }",
     [] {
       return Values{Of(kF32, {2, 2}, {1, 2, 3, 4}),
                     Of(kF32, {2, 2}, {5, 6, 7, 8})};
     },
     [] {
       return Values{Of(kF32, {2, 2}, {19, 22, 43, 50})};
     }},
    {"CumSum/each_axis", "of a square",
     "g (float[2,2] x) => (float[2,2] a, float[2,2] b) "
     "<int64 zero = {0}, int64 last = {-1}> "
     "{ a = CumSum(x, zero) b = CumSum(x, last) }",
     [] {
       return Values{Of(kF32, {2, 2}, {1, 2, 3, 4})};
     },
     [] {
       return Values{Of(kF32, {2, 2}, {1, 2, 4, 6}),
                     Of(kF32, {2, 2}, {1, 3, 3, 7})};
     }},
    {"Flatten/each_axis", "the same data as [1,24], [2,12], [6,4] and [24,1]",
     "g (float[2,3,4] x) => (float[1,24] a, float[2,12] b, float[6,4] c, "
     "float[24,1] d) { a = Flatten<axis = 0>(x) b = Flatten(x) "
     "c = Flatten<axis = -1>(x) d = Flatten<axis = 3>(x) }",
     [] {
       return Values{Counted({2, 3, 4})};
     },
     [] {
       return Values{Counted({1, 24}), Counted({2, 12}), Counted({6, 4}),
                     Counted({24, 1})};
     }},
    {"Reshape/zero_and_minus_one", "0 copies the extent, -1 takes the rest",
     "g (float[2,3,4] x, int64[3] s) => (float[2,6,2] y) { y = Reshape(x, s) }",
     [] {
       return Values{Counted({2, 3, 4}), Of(kI64, {3}, {0, -1, 2})};
     },
     [] {
       return Values{Counted({2, 6, 2})};
     }},
    {"Tile/each_axis", "twice down and three times across",
     "g (float[1,2] x, int64[2] n) => (float[2,6] y) { y = Tile(x, n) }",
     [] {
       return Values{Of(kF32, {1, 2}, {1, 2}), Of(kI64, {2}, {2, 3})};
     },
     [] {
       return Values{
           By(kF32, {2, 6}, [](int64_t i) { return Index(1 + i % 2); })};
     }},
    {"OneHot/axis_0", "off and on values, a negative index",
     "g (int64[2] i, int64 n, float[2] v) => (float[3,2] y) "
     "{ y = OneHot<axis = 0>(i, n, v) }",
     [] {
       return Values{Of(kI64, {2}, {1, -1}), Of(kI64, {}, {3}),
                     Of(kF32, {2}, {5, 7})};
     },
     [] {
       return Values{Of(kF32, {3, 2}, {5, 5, 7, 5, 5, 7})};
     }},
    {"Einsum/transposed_batches", "bij,bkj->bki, and a diagonal",
     "g (float[1,2,2] a, float[1,2,2] b) => (float[1,2,2] y, float[2] d) "
     "{ y = Einsum<equation = \"bij,bkj->bki\">(a, b) "
     "d = Einsum<equation = \"bii->i\">(a) }",
     [] {
       return Values{Of(kF32, {1, 2, 2}, {1, 2, 3, 4}),
                     Of(kF32, {1, 2, 2}, {5, 6, 7, 8})};
     },
     [] {
       return Values{Of(kF32, {1, 2, 2}, {17, 39, 23, 53}),
                     Of(kF32, {2}, {1, 4})};
     }},
};

}  // namespace

std::span<const SpecialCase> AxesCases() { return kCases; }

}  // namespace assay::inline v1
