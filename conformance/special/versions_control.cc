// SPDX-License-Identifier: Apache-2.0
//
// Older versions of quantization, resizing, control flow, and what is random.

#include "conformance/special/versions.h"

namespace assay::inline v1 {
namespace {

constexpr std::string_view kF = "float32";

constexpr std::string_view kThere =
    "g ($T[2] x) => ($T[2] y, bool h) { o = Optional(x) "
    "y = OptionalGetElement(o) h = OptionalHasElement(o) }";

Values Square(DType t) { return {Of(t, {2, 2}, {3, 1, 4, 6})}; }

Values Six(DType t) { return {Of(t, {2, 3}, {3, 1, 2, 4, 6, 5})}; }

constexpr TypedRow kRows[] = {
    {"QuantizeLinear/of", "halves and a zero point", "uint8",
     "g (float[2] x, float s, $T z) => ($T[2] y) { y = QuantizeLinear(x, s, z) "
     "}",
     [](DType t) {
       return Values{Of(kF32, {2}, {1, -2}), Of(kF32, {}, {0.5}),
                     Of(t, {}, {10})};
     },
     [](DType t) {
       return Values{Of(t, {2}, {12, 6})};
     },
     "10 13 19 21 23 24 25"},
    {"DequantizeLinear/of", "halves and a zero point", "uint8",
     "g ($T[2] x, float s, $T z) => (float[2] y) "
     "{ y = DequantizeLinear(x, s, z) }",
     [](DType t) {
       return Values{Of(t, {2}, {12, 6}), Of(kF32, {}, {0.5}), Of(t, {}, {10})};
     },
     [](DType) {
       return Values{Of(kF32, {2}, {1, -2})};
     },
     "10 13 19 21 23 24 25"},
    {"QLinearMatMul/of", "whole numbers as they are", "uint8",
     "g ($T[1,2] a, $T[2,2] b, float s, $T z) => ($T[1,2] y) "
     "{ y = QLinearMatMul(a, s, z, b, s, z, s, z) }",
     [](DType t) {
       return Values{Of(t, {1, 2}, {1, 2}), Of(t, {2, 2}, {3, 4, 5, 6}),
                     Of(kF32, {}, {1}), Of(t, {}, {0})};
     },
     [](DType t) {
       return Values{Of(t, {1, 2}, {13, 16})};
     },
     "10"},
    {"Resize/nearest", "each column twice", kF,
     "g ($T[2,2] x) => ($T[2,4] y) <float[2] s = {1.0, 2.0}> "
     "{ y = Resize(x, s) }",
     &Square,
     [](DType t) {
       return Values{Of(t, {2, 4}, {3, 3, 1, 1, 4, 4, 6, 6})};
     },
     "10"},
    {"Resize/roi_and_scales", "each column twice", kF,
     "g ($T[2,2] x, float[4] r, float[2] s) => ($T[2,4] y) "
     "{ y = Resize<coordinate_transformation_mode = \"asymmetric\", "
     "nearest_mode = \"floor\">(x, r, s) }",
     [](DType t) {
       return Values{Square(t)[0], Of(kF32, {4}, {0, 0, 1, 1}),
                     Of(kF32, {2}, {1, 2})};
     },
     [](DType t) {
       return Values{Of(t, {2, 4}, {3, 3, 1, 1, 4, 4, 6, 6})};
     },
     "11 13 18"},
    {"Upsample/attribute", "scales was an attribute", kF,
     "g ($T[2,2] x) => ($T[2,4] y) { y = Upsample<scales = [1.0, 2.0]>(x) }",
     &Square,
     [](DType t) {
       return Values{Of(t, {2, 4}, {3, 3, 1, 1, 4, 4, 6, 6})};
     },
     "7"},
    {"GridSample/corners", "the last, then the first", kF,
     "g ($T[1,1,2,2] x, $T[1,1,2,2] at) => ($T[1,1,1,2] y) "
     "{ y = GridSample<align_corners = 1>(x, at) }",
     [](DType t) {
       return Values{Of(t, {1, 1, 2, 2}, {1, 3, 5, 7}),
                     Of(t, {1, 1, 2, 2}, {1, 1, -1, -1})};
     },
     [](DType t) {
       return Values{Of(t, {1, 1, 1, 2}, {7, 1})};
     },
     "16 20"},
    {"RoiAlign/old", "no half pixel: the sample is at (1, 1)", kF,
     "g ($T[1,1,2,2] x, $T[1,4] r, int64[1] b) => ($T[1,1,1,1] y) "
     "{ y = RoiAlign<sampling_ratio = 1>(x, r, b) }",
     [](DType t) {
       return Values{Of(t, {1, 1, 2, 2}, {1, 3, 5, 7}),
                     Of(t, {1, 4}, {0, 0, 2, 2}), Whole(kI64, {1}, {0})};
     },
     [](DType t) {
       return Values{Of(t, {1, 1, 1, 1}, {7})};
     },
     "10"},
    {"RoiAlign/half_pixel", "the middle of four pixels", kF,
     "g ($T[1,1,2,2] x, $T[1,4] r, int64[1] b) => ($T[1,1,1,1] y) "
     "{ y = RoiAlign<sampling_ratio = 1>(x, r, b) }",
     [](DType t) {
       return Values{Of(t, {1, 1, 2, 2}, {1, 3, 5, 7}),
                     Of(t, {1, 4}, {0, 0, 2, 2}), Whole(kI64, {1}, {0})};
     },
     [](DType t) {
       return Values{Of(t, {1, 1, 1, 1}, {4})};
     },
     "16"},
    {"ReverseSequence/rows", "the first two of each", kF,
     "g ($T[2,3] x, int64[2] n) => ($T[2,3] y) "
     "{ y = ReverseSequence<batch_axis = 0, time_axis = 1>(x, n) }",
     [](DType t) {
       return Values{Six(t)[0], Whole(kI64, {2}, {2, 2})};
     },
     [](DType t) {
       return Values{Of(t, {2, 3}, {1, 3, 2, 6, 4, 5})};
     },
     "10"},
    {"Constant/of", "the tensor of the attribute", kF,
     "g () => ($T[2] y) { y = Constant<value = $T[2] {3, 5}>() }",
     [](DType) { return Values{}; },
     [](DType t) {
       return Values{Of(t, {2}, {3, 5})};
     },
     "1 9 11 12 13 19 21 23 24"},
    {"ConstantOfShape/of", "threes behind a two", kF,
     "g ($T[1] x, int64[1] s) => ($T[3] y) "
     "{ c = ConstantOfShape<value = $T[1] {3}>(s) y = Concat<axis = 0>(x, c) }",
     [](DType t) {
       return Values{Of(t, {1}, {2}), Whole(kI64, {1}, {2})};
     },
     [](DType t) {
       return Values{Of(t, {3}, {2, 3, 3})};
     },
     "9 20 21 23 24"},
    {"If/then", "the first branch", kF,
     "g (bool c, $T[2] a, $T[2] b) => ($T[2] y) { y = If<"
     "then_branch = t () => ($T[2] p) { p = Identity(a) }, "
     "else_branch = e () => ($T[2] q) { q = Identity(b) }>(c) }",
     [](DType t) {
       return Values{Of(kBool, {}, {1}), Of(t, {2}, {1, 2}),
                     Of(t, {2}, {3, 4})};
     },
     [](DType t) {
       return Values{Of(t, {2}, {1, 2})};
     },
     "1 19 21 23 24"},
    {"Loop/twice", "x + w + w", kF,
     "g (int64 n, bool go, $T[2] x, $T[2] w) => ($T[2] y) { y = Loop<body = r "
     "(int64 i, bool c, $T[2] p) => (bool more, $T[2] q) "
     "{ more = Identity(c) q = Sum(p, w) }>(n, go, x) }",
     [](DType t) {
       return Values{Whole(kI64, {}, {2}), Of(kBool, {}, {1}),
                     Of(t, {2}, {1, 2}), Of(t, {2}, {3, 4})};
     },
     [](DType t) {
       return Values{Of(t, {2}, {7, 10})};
     },
     "1 19 21 23 24"},
    {"Scan/sums", "sums of rows so far", kF,
     "g ($T[2] s, $T[2,2] x) => ($T[2] y, $T[2,2] z) { y, z = "
     "Scan<num_scan_inputs = 1, body = r ($T[2] p, $T[2] q) => "
     "($T[2] t, $T[2] u) { t = Add(p, q) u = Identity(t) }>(s, x) }",
     [](DType t) {
       return Values{Of(t, {2}, {1, 2}), Square(t)[0]};
     },
     [](DType t) {
       return Values{Of(t, {2}, {8, 9}), Of(t, {2, 2}, {4, 3, 8, 9})};
     },
     "11 16 19 21 23 24"},
    {"SplitToSequence/pairs", "two and two", kF,
     "g ($T[4] x, int64 k) => ($T[2] y, int64 n) { s = SplitToSequence(x, k) "
     "i = Constant<value = int64 {1}>() y = SequenceAt(s, i) "
     "n = SequenceLength(s) }",
     [](DType t) {
       return Values{Of(t, {4}, {6, 1, 4, 9}), Whole(kI64, {}, {2})};
     },
     [](DType t) {
       return Values{Of(t, {2}, {4, 9}), Whole(kI64, {}, {2})};
     },
     "11"},
    {"Optional/there", "what is put in comes out", kF, kThere,
     [](DType t) {
       return Values{Of(t, {2}, {3, 5})};
     },
     [](DType t) {
       return Values{Of(t, {2}, {3, 5}), Of(kBool, {}, {1})};
     },
     "15 18"},
    {"OptionalGetElement/there", "what is put in comes out", kF, kThere,
     [](DType t) {
       return Values{Of(t, {2}, {3, 5})};
     },
     [](DType t) {
       return Values{Of(t, {2}, {3, 5}), Of(kBool, {}, {1})};
     },
     "15 18"},
    {"OptionalHasElement/there", "what is put in comes out", kF, kThere,
     [](DType t) {
       return Values{Of(t, {2}, {3, 5})};
     },
     [](DType t) {
       return Values{Of(t, {2}, {3, 5}), Of(kBool, {}, {1})};
     },
     "15 18"},
    {"NegativeLogLikelihoodLoss/of", "scores negated", kF,
     "g ($T[2,2] x, int64[2] t) => ($T[2] y) "
     "{ y = NegativeLogLikelihoodLoss<reduction = \"none\">(x, t) }",
     [](DType t) {
       return Values{Square(t)[0], Whole(kI64, {2}, {1, 0})};
     },
     [](DType t) {
       return Values{Of(t, {2}, {-1, -4})};
     },
     "12 13"},
    {"SoftmaxCrossEntropyLoss/certain", "-log 1 and 64", kF,
     "g ($T[2,2] x, int64[2] t) => ($T[2] y) "
     "{ y = SoftmaxCrossEntropyLoss<reduction = \"none\">(x, t) }",
     [](DType t) {
       return Values{Of(t, {2, 2}, {64, 0, 64, 0}), Whole(kI64, {2}, {0, 1})};
     },
     [](DType t) {
       return Values{Of(t, {2}, {0, 64})};
     },
     "12"},
    {"Multinomial/certain", "e^-1000 is no chance", kF,
     "g ($T[2,2] x) => (int32[2,2] y) { y = Multinomial<sample_size = 2>(x) }",
     [](DType t) {
       return Values{Of(t, {2, 2}, {-1000, 0, 0, -1000})};
     },
     [](DType) {
       return Values{Whole(kI32, {2, 2}, {1, 1, 0, 0})};
     },
     "7"},
    {"Bernoulli/certain", "chances of 0 and 1", kF,
     "g ($T[4] x) => ($T[4] y) { y = Bernoulli(x) }",
     [](DType t) {
       return Values{Of(t, {4}, {1, 0, 0, 1})};
     },
     [](DType t) {
       return Values{Of(t, {4}, {1, 0, 0, 1})};
     },
     "15"},
    {"RandomNormal/certain", "one value is left", kF,
     "g ($T[2] x) => ($T[2] y) <$T[2] r, $T[2] f> "
     "{ r = RandomNormal<mean = 3.0, scale = 0.0, "
     "shape = [2]>() f = Floor(r) y = Sum(f, x) }",
     [](DType t) {
       return Values{Of(t, {2}, {1, 2})};
     },
     [](DType t) {
       return Values{Of(t, {2}, {4, 5})};
     },
     "1"},
    {"RandomNormalLike/certain", "one value is left", kF,
     "g ($T[2] x) => ($T[2] y) <$T[2] r, $T[2] f> "
     "{ r = RandomNormalLike<mean = 3.0, scale = "
     "0.0>(x) f = Floor(r) y = Sum(f, x) }",
     [](DType t) {
       return Values{Of(t, {2}, {1, 2})};
     },
     [](DType t) {
       return Values{Of(t, {2}, {4, 5})};
     },
     "1"},
    {"RandomUniform/certain", "one value is left", kF,
     "g ($T[2] x) => ($T[2] y) <$T[2] r, $T[2] f> "
     "{ r = RandomUniform<low = 3.0, high = 3.5, "
     "shape = [2]>() f = Floor(r) y = Sum(f, x) }",
     [](DType t) {
       return Values{Of(t, {2}, {1, 2})};
     },
     [](DType t) {
       return Values{Of(t, {2}, {4, 5})};
     },
     "1"},
    {"RandomUniformLike/certain", "one value is left", kF,
     "g ($T[2] x) => ($T[2] y) <$T[2] r, $T[2] f> "
     "{ r = RandomUniformLike<low = 3.0, high = "
     "3.5>(x) f = Floor(r) y = Sum(f, x) }",
     [](DType t) {
       return Values{Of(t, {2}, {1, 2})};
     },
     [](DType t) {
       return Values{Of(t, {2}, {4, 5})};
     },
     "1"},
    {"RNN/relu", "2 * 3 + 1 * 4", kF,
     "g ($T[1,2,1] x, $T[1,1,1] w, $T[1,1,1] r, $T[1,2,1] h) => ($T[1,2,1] y) "
     "{ z, y = RNN<activations = [\"Relu\"], hidden_size = 1>(x, w, r, , , h) "
     "}",
     [](DType t) {
       return Values{Of(t, {1, 2, 1}, {3, 5}), Of(t, {1, 1, 1}, {2}),
                     Of(t, {1, 1, 1}, {1}), Of(t, {1, 2, 1}, {4, -3})};
     },
     [](DType t) {
       return Values{Of(t, {1, 2, 1}, {10, 7})};
     },
     "1 7 14"},
    {"GRU/halves", "gates of 1/2 of no weights", kF,
     "g ($T[1,2,1] x, $T[1,3,1] w, $T[1,3,1] r, $T[1,2,1] h) => ($T[1,2,1] y) "
     "{ z, y = GRU<hidden_size = 1>(x, w, r, , , h) }",
     [](DType t) {
       return Values{Of(t, {1, 2, 1}, {1, 2}), All(t, {1, 3, 1}, 0),
                     All(t, {1, 3, 1}, 0), Of(t, {1, 2, 1}, {4, -6})};
     },
     [](DType t) {
       return Values{Of(t, {1, 2, 1}, {2, -3})};
     },
     "1 3 7 14"},
    {"LSTM/halves", "gates of 1/2 of no weights", kF,
     "g ($T[1,2,1] x, $T[1,4,1] w, $T[1,4,1] r, $T[1,2,1] h, $T[1,2,1] c) => "
     "($T[1,2,1] y) { z, l, y = LSTM<hidden_size = 1>(x, w, r, , , h, c) }",
     [](DType t) {
       return Values{Of(t, {1, 2, 1}, {1, 2}), All(t, {1, 4, 1}, 0),
                     All(t, {1, 4, 1}, 0), All(t, {1, 2, 1}, 0),
                     Of(t, {1, 2, 1}, {4, -6})};
     },
     [](DType t) {
       return Values{Of(t, {1, 2, 1}, {2, -3})};
     },
     "1 7 14"},
};

}  // namespace

std::span<const TypedRow> VersionsOfControl() { return kRows; }

}  // namespace assay::inline v1
