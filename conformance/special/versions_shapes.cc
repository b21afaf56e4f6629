// SPDX-License-Identifier: Apache-2.0
//
// Older versions of operators that choose, order and reshape.

#include "conformance/special/versions.h"

namespace assay::inline v1 {
namespace {

constexpr std::string_view kF = "float32";

Values Square(DType t) { return {Of(t, {2, 2}, {3, 1, 4, 6})}; }

Values Six(DType t) { return {Of(t, {2, 3}, {3, 1, 2, 4, 6, 5})}; }

constexpr TypedRow kRows[] = {
    {"TopK/attribute", "k was an attribute", kF,
     "g ($T[2,3] x) => ($T[2,2] y, int64[2,2] i) "
     "{ y, i = TopK<axis = 1, k = 2>(x) }",
     &Six,
     [](DType t) {
       return Values{Of(t, {2, 2}, {3, 2, 6, 5}),
                     Whole(kI64, {2, 2}, {0, 2, 1, 2})};
     },
     "1"},
    {"TopK/two", "k is an input", kF,
     "g ($T[2,3] x, int64[1] k) => ($T[2,2] y, int64[2,2] i) "
     "{ y, i = TopK<axis = 1>(x, k) }",
     [](DType t) {
       return Values{Six(t)[0], Whole(kI64, {1}, {2})};
     },
     [](DType t) {
       return Values{Of(t, {2, 2}, {3, 2, 6, 5}),
                     Whole(kI64, {2, 2}, {0, 2, 1, 2})};
     },
     "10 11"},
    {"Clip/inputs", "at least 2, at most 5", kF,
     "g ($T[2,3] x, $T lo, $T hi) => ($T[2,3] y) { y = Clip(x, lo, hi) }",
     [](DType t) {
       return Values{Six(t)[0], Of(t, {}, {2}), Of(t, {}, {5})};
     },
     [](DType t) {
       return Values{Of(t, {2, 3}, {3, 2, 2, 4, 5, 5})};
     },
     "11 12"},
    {"CastLike/float", "the type of the second", "int32",
     "g (float[2] x, $T[1] t) => ($T[2] y) { y = CastLike(x, t) }",
     [](DType t) {
       return Values{Of(kF32, {2}, {2, -3}), Of(t, {1}, {1})};
     },
     [](DType t) {
       return Values{Of(t, {2}, {2, -3})};
     },
     "15 19 21 23 24"},
    {"Transpose/turned", "y[j,i] = x[i,j]", kF,
     "g ($T[2,3] x) => ($T[3,2] y) { y = Transpose(x) }", &Six,
     [](DType t) {
       return Values{Of(t, {3, 2}, {3, 4, 1, 6, 2, 5})};
     },
     "1 13 21 23 24"},
    {"Reshape/attribute", "shape was an attribute", kF,
     "g ($T[2,3] x) => ($T[3,2] y) { y = Reshape<shape = [3, 2]>(x) }", &Six,
     [](DType t) {
       return Values{Of(t, {3, 2}, {3, 1, 2, 4, 6, 5})};
     },
     "1"},
    {"Reshape/rows", "elements keep their order", kF,
     "g ($T[2,3] x, int64[2] s) => ($T[3,2] y) { y = Reshape(x, s) }",
     [](DType t) {
       return Values{Six(t)[0], Whole(kI64, {2}, {3, 2})};
     },
     [](DType t) {
       return Values{Of(t, {3, 2}, {3, 1, 2, 4, 6, 5})};
     },
     "5 13 14 19 21 23 24"},
    {"Flatten/two", "axis 1 by default", kF,
     "g ($T[2,3] x) => ($T[2,3] y) { y = Flatten(x) }", &Six,
     [](DType t) {
       return Values{Of(t, {2, 3}, {3, 1, 2, 4, 6, 5})};
     },
     "1 9 11 13 21 23 24"},
    {"Squeeze/attribute", "axes was an attribute", kF,
     "g ($T[2,1,2] x) => ($T[2,2] y) { y = Squeeze<axes = [1]>(x) }",
     [](DType t) {
       return Values{Of(t, {2, 1, 2}, {3, 1, 4, 6})};
     },
     [](DType t) { return Values{Square(t)[0]}; }, "1 11"},
    {"Squeeze/input", "axes is an input", kF,
     "g ($T[2,1,2] x, int64[1] a) => ($T[2,2] y) { y = Squeeze(x, a) }",
     [](DType t) {
       return Values{Of(t, {2, 1, 2}, {3, 1, 4, 6}), Whole(kI64, {1}, {1})};
     },
     [](DType t) { return Values{Square(t)[0]}; }, "13 21 23 24"},
    {"Unsqueeze/attribute", "axes was an attribute", kF,
     "g ($T[2,2] x) => ($T[2,1,2] y) { y = Unsqueeze<axes = [1]>(x) }", &Square,
     [](DType t) {
       return Values{Of(t, {2, 1, 2}, {3, 1, 4, 6})};
     },
     "1 11"},
    {"Unsqueeze/input", "axes is an input", kF,
     "g ($T[2,2] x, int64[1] a) => ($T[2,1,2] y) { y = Unsqueeze(x, a) }",
     [](DType t) {
       return Values{Square(t)[0], Whole(kI64, {1}, {1})};
     },
     [](DType t) {
       return Values{Of(t, {2, 1, 2}, {3, 1, 4, 6})};
     },
     "13 21 23 24"},
    {"Shape/of", "the extents", kF,
     "g ($T[2,3] x) => (int64[2] y) { y = Shape(x) }", &Six,
     [](DType) {
       return Values{Whole(kI64, {2}, {2, 3})};
     },
     "1 13 15 19 21 23 24"},
    {"Size/of", "2 * 3 elements", kF,
     "g ($T[2,3] x) => (int64 y) { y = Size(x) }", &Six,
     [](DType) { return Values{Whole(kI64, {}, {6})}; }, "1 13 19 21 23 24"},
    {"Concat/columns", "axis named", kF,
     "g ($T[2,2] x, $T[2,1] c) => ($T[2,3] y) { y = Concat<axis = 1>(x, c) }",
     [](DType t) {
       return Values{Square(t)[0], Of(t, {2, 1}, {8, 9})};
     },
     [](DType t) {
       return Values{Of(t, {2, 3}, {3, 1, 8, 4, 6, 9})};
     },
     "1 4 11"},
    {"Split/attribute", "split was an attribute", kF,
     "g ($T[2,3] x) => ($T[2,1] y, $T[2,2] z) "
     "{ y, z = Split<axis = 1, split = [1, 2]>(x) }",
     &Six,
     [](DType t) {
       return Values{Of(t, {2, 1}, {3, 4}), Of(t, {2, 2}, {1, 2, 6, 5})};
     },
     "2 11"},
    {"Slice/attributes", "starts and ends were attributes", kF,
     "g ($T[2,3] x) => ($T[2,2] y) "
     "{ y = Slice<axes = [1], starts = [1], ends = [3]>(x) }",
     &Six,
     [](DType t) {
       return Values{Of(t, {2, 2}, {1, 2, 6, 5})};
     },
     "1"},
    {"Slice/inputs", "starts and ends are inputs", kF,
     "g ($T[2,3] x, int64[1] b, int64[1] e, int64[1] a) => ($T[2,2] y) "
     "{ y = Slice(x, b, e, a) }",
     [](DType t) {
       return Values{Six(t)[0], Whole(kI64, {1}, {1}), Whole(kI64, {1}, {3}),
                     Whole(kI64, {1}, {1})};
     },
     [](DType t) {
       return Values{Of(t, {2, 2}, {1, 2, 6, 5})};
     },
     "10 11"},
    {"Pad/attribute", "pads was an attribute", kF,
     "g ($T[2,2] x) => ($T[2,3] y) { y = Pad<pads = [0, 1, 0, 0], value = 7.0>"
     "(x) }",
     &Square,
     [](DType t) {
       return Values{Of(t, {2, 3}, {7, 3, 1, 7, 4, 6})};
     },
     "2"},
    {"Pad/inputs", "pads is an input", kF,
     "g ($T[2,2] x, int64[4] p, $T v) => ($T[2,3] y) { y = Pad(x, p, v) }",
     [](DType t) {
       return Values{Square(t)[0], Whole(kI64, {4}, {0, 1, 0, 0}),
                     Of(t, {}, {7})};
     },
     [](DType t) {
       return Values{Of(t, {2, 3}, {7, 3, 1, 7, 4, 6})};
     },
     "11 13 18 19 21 23 24"},
    {"Tile/axis", "tiles and an axis", kF,
     "g ($T[2,2] x) => ($T[2,4] y) <$T n = {2.0}, $T a = {1.0}> "
     "{ y = Tile(x, n, a) }",
     &Square,
     [](DType t) {
       return Values{Of(t, {2, 4}, {3, 1, 3, 1, 4, 6, 4, 6})};
     },
     "1"},
    {"Tile/twice", "repeats of each axis", kF,
     "g ($T[2,2] x, int64[2] n) => ($T[2,4] y) { y = Tile(x, n) }",
     [](DType t) {
       return Values{Square(t)[0], Whole(kI64, {2}, {1, 2})};
     },
     [](DType t) {
       return Values{Of(t, {2, 4}, {3, 1, 3, 1, 4, 6, 4, 6})};
     },
     "6"},
};

}  // namespace

std::span<const TypedRow> VersionsOfShapes() { return kRows; }

}  // namespace assay::inline v1
