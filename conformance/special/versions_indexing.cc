// SPDX-License-Identifier: Apache-2.0
//
// Older versions of operators that gather, scatter and make tensors.

#include "conformance/special/versions.h"

namespace assay::inline v1 {
namespace {

constexpr std::string_view kF = "float32";

Values Pair(DType t) {
  return {Of(t, {4}, {6, 1, 4, 9}), Of(t, {4}, {3, 1, 5, 2})};
}

Values Six(DType t) { return {Of(t, {2, 3}, {3, 1, 2, 4, 6, 5})}; }

constexpr TypedRow kRows[] = {
    {"Expand/rows", "one row, twice", kF,
     "g ($T[1,2] x, int64[2] s) => ($T[2,2] y) { y = Expand(x, s) }",
     [](DType t) {
       return Values{Of(t, {1, 2}, {3, 5}), Whole(kI64, {2}, {2, 2})};
     },
     [](DType t) {
       return Values{Of(t, {2, 2}, {3, 5, 3, 5})};
     },
     "8"},
    {"Gather/columns", "columns 2 and 0", kF,
     "g ($T[2,3] x, int64[2] i) => ($T[2,2] y) { y = Gather<axis = 1>(x, i) }",
     [](DType t) {
       return Values{Six(t)[0], Whole(kI64, {2}, {2, 0})};
     },
     [](DType t) {
       return Values{Of(t, {2, 2}, {2, 3, 5, 4})};
     },
     "1 11"},
    {"GatherElements/columns", "y[i,j] = x[i,index[i,j]]", kF,
     "g ($T[2,3] x, int64[2,1] i) => ($T[2,1] y) "
     "{ y = GatherElements<axis = 1>(x, i) }",
     [](DType t) {
       return Values{Six(t)[0], Whole(kI64, {2, 1}, {2, 0})};
     },
     [](DType t) {
       return Values{Of(t, {2, 1}, {2, 4})};
     },
     "11"},
    {"GatherND/elements", "x[1,2] and x[0,1]", kF,
     "g ($T[2,3] x, int64[2,2] i) => ($T[2] y) { y = GatherND(x, i) }",
     [](DType t) {
       return Values{Six(t)[0], Whole(kI64, {2, 2}, {1, 2, 0, 1})};
     },
     [](DType t) {
       return Values{Of(t, {2}, {5, 1})};
     },
     "11 12"},
    {"ScatterElements/columns", "x[0,2] and x[1,0]", kF,
     "g ($T[2,3] x, int64[2,1] i, $T[2,1] u) => ($T[2,3] y) "
     "{ y = ScatterElements<axis = 1>(x, i, u) }",
     [](DType t) {
       return Values{Six(t)[0], Whole(kI64, {2, 1}, {2, 0}),
                     Of(t, {2, 1}, {8, 9})};
     },
     [](DType t) {
       return Values{Of(t, {2, 3}, {3, 1, 8, 9, 6, 5})};
     },
     "11 13 16"},
    {"ScatterND/elements", "x[0,2] and x[1,0]", kF,
     "g ($T[2,3] x, int64[2,2] i, $T[2] u) => ($T[2,3] y) "
     "{ y = ScatterND(x, i, u) }",
     [](DType t) {
       return Values{Six(t)[0], Whole(kI64, {2, 2}, {0, 2, 1, 0}),
                     Of(t, {2}, {8, 9})};
     },
     [](DType t) {
       return Values{Of(t, {2, 3}, {3, 1, 8, 9, 6, 5})};
     },
     "11 13 16"},
    {"Compress/columns", "where the condition holds", kF,
     "g ($T[2,3] x, bool[3] c) => ($T[2,2] y) { y = Compress<axis = 1>(x, c) }",
     [](DType t) {
       return Values{Six(t)[0], Of(kBool, {3}, {1, 0, 1})};
     },
     [](DType t) {
       return Values{Of(t, {2, 2}, {3, 2, 4, 5})};
     },
     "9 11"},
    {"Where/chosen", "x where c, else y", kF,
     "g (bool[4] c, $T[4] x, $T[4] y) => ($T[4] z) { z = Where(c, x, y) }",
     [](DType t) {
       Values v = Pair(t);
       v.insert(v.begin(), Of(kBool, {4}, {1, 0, 0, 1}));
       return v;
     },
     [](DType t) {
       return Values{Of(t, {4}, {6, 1, 5, 9})};
     },
     "9"},
    {"NonZero/places", "where no zero is", kF,
     "g ($T[4] x) => (int64[1,n] y) { y = NonZero(x) }",
     [](DType t) {
       return Values{Of(t, {4}, {0, 3, 5, 0})};
     },
     [](DType) {
       return Values{Whole(kI64, {1, 2}, {1, 2})};
     },
     "9"},
    {"Unique/sorted", "three of four", kF,
     "g ($T[4] x) => ($T[3] y) { y = Unique(x) }",
     [](DType t) {
       return Values{Of(t, {4}, {5, 3, 5, 1})};
     },
     [](DType t) {
       return Values{Of(t, {3}, {1, 3, 5})};
     },
     "11"},
    {"OneHot/values", "off and on", kF,
     "g (int64[2] i, int64 d, $T[2] v) => ($T[2,3] y) { y = OneHot(i, d, v) }",
     [](DType t) {
       return Values{Whole(kI64, {2}, {2, 0}), Whole(kI64, {}, {3}),
                     Of(t, {2}, {5, 7})};
     },
     [](DType t) {
       return Values{Of(t, {2, 3}, {5, 5, 7, 7, 5, 5})};
     },
     "9 11"},
    {"EyeLike/of", "ones on the diagonal", kF,
     "g ($T[2,3] x) => ($T[2,3] y) { y = EyeLike(x) }", &Six,
     [](DType t) {
       return Values{Of(t, {2, 3}, {1, 0, 0, 0, 1, 0})};
     },
     "9"},
    {"Range/threes", "1, 4, 7", kF,
     "g ($T a, $T b, $T s) => ($T[k] y) { y = Range(a, b, s) }",
     [](DType t) {
       return Values{Of(t, {}, {1}), Of(t, {}, {9}), Of(t, {}, {3})};
     },
     [](DType t) {
       return Values{Of(t, {3}, {1, 4, 7})};
     },
     "11"},
    {"CumSum/rows", "sums so far", kF,
     "g ($T[2,3] x, int64 a) => ($T[2,3] y) { y = CumSum(x, a) }",
     [](DType t) {
       return Values{Six(t)[0], Whole(kI64, {}, {1})};
     },
     [](DType t) {
       return Values{Of(t, {2, 3}, {3, 4, 6, 4, 10, 15})};
     },
     "11"},
    {"IsNaN/of", "NaN alone", kF, "g ($T[3] x) => (bool[3] y) { y = IsNaN(x) }",
     [](DType t) {
       return Values{Of(t, {3}, {kNan, 1, kInf})};
     },
     [](DType) {
       return Values{Of(kBool, {3}, {1, 0, 0})};
     },
     "9 13"},
    {"IsInf/of", "either infinity", kF,
     "g ($T[3] x) => (bool[3] y) { y = IsInf(x) }",
     [](DType t) {
       return Values{Of(t, {3}, {kNan, 1, -kInf})};
     },
     [](DType) {
       return Values{Of(kBool, {3}, {0, 0, 1})};
     },
     "10"},
    {"BitShift/left", "powers of two", "uint8",
     "g ($T[2] x, $T[2] n) => ($T[2] y) "
     "{ y = BitShift<direction = \"LEFT\">(x, n) }",
     [](DType t) {
       return Values{Of(t, {2}, {3, 5}), Of(t, {2}, {1, 2})};
     },
     [](DType t) {
       return Values{Of(t, {2}, {6, 20})};
     },
     "11"},
};

}  // namespace

std::span<const TypedRow> VersionsOfIndexing() { return kRows; }

}  // namespace assay::inline v1
