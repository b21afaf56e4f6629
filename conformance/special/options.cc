// SPDX-License-Identifier: Apache-2.0
//
// Values of attributes that no case of ONNX's corpus has. Each row's number
// would be another under the default.

#include "conformance/special/special.h"

namespace assay::inline v1 {
namespace {

// Of kernel 2 and no padding, unless the row says otherwise.
Values Line() { return {Of(kU8, {1, 1, 5}, {1, 2, 3, 4, 5})}; }
Values Weighted() {
  Values values = Line();
  values.push_back(Of(kU8, {1, 1, 2}, {1, 2}));
  return values;
}
// Scales of 1 and zero points of 0: whole numbers as they are.
#define ASSAY_QUANTIZED "<float s = {1.0}, uint8 z = {0}> { y = QLinearConv<"
#define ASSAY_QUANTIZED_INPUTS ">(x, s, z, w, s, z, s, z) }"
#define ASSAY_LINE "g (uint8[1,1,5] x, uint8[1,1,2] w) => "

// A gate is the identity, so that what is clipped shows.
#define ASSAY_AFFINE(names, ones, zeros)                 \
  "activations = [" names "], activation_alpha = [" ones \
  "], activation_beta = [" zeros "]"

Values Zeros3() {
  return {Of(kF32, {1, 2, 1}, {1, 2}), All(kF32, {1, 3, 1}, 0),
          All(kF32, {1, 3, 1}, 0), Of(kF32, {1, 2, 1}, {4, -6})};
}
Values Zeros4() {
  return {Of(kF32, {1, 2, 1}, {1, 2}), All(kF32, {1, 4, 1}, 0),
          All(kF32, {1, 4, 1}, 0), All(kF32, {1, 2, 1}, 0),
          Of(kF32, {1, 2, 1}, {4, -6})};
}
Values HalvedStates() { return {Of(kF32, {1, 2, 1}, {2, -3})}; }

// clang-format off
constexpr SpecialCase kCases[] = {
  {"AveragePool/valid", "no padding, the fifth is left out",
   "g (float[1,1,5] x) => (float[1,1,2] y) { y = AveragePool<kernel_shape = "
   "[2], strides = [2], auto_pad = \"VALID\">(x) }",
   [] { return Values{Of(kF32, {1, 1, 5}, {1, 3, 5, 7, 9})}; },
   [] { return Values{Of(kF32, {1, 1, 2}, {2, 6})}; }},
  {"MaxPool/valid", "no padding, the fifth is left out",
   "g (float[1,1,5] x) => (float[1,1,2] y) { y = MaxPool<kernel_shape = "
   "[2], strides = [2], auto_pad = \"VALID\">(x) }",
   [] { return Values{Of(kF32, {1, 1, 5}, {1, 3, 5, 7, 9})}; },
   [] { return Values{Of(kF32, {1, 1, 2}, {3, 7})}; }},
  {"LpPool/valid", "norms of (3, 4) and (6, 8)",
   "g (float[1,1,5] x) => (float[1,1,2] y) { y = LpPool<kernel_shape = "
   "[2], strides = [2], auto_pad = \"VALID\">(x) }",
   [] { return Values{Of(kF32, {1, 1, 5}, {3, 4, 6, 8, 9})}; },
   [] { return Values{Of(kF32, {1, 1, 2}, {5, 10})}; }},
  {"LpPool/ceil_mode", "the last window holds 7 alone",
   "g (float[1,1,3] x) => (float[1,1,2] y) { y = LpPool<kernel_shape = "
   "[2], strides = [2], ceil_mode = 1>(x) }",
   [] { return Values{Of(kF32, {1, 1, 3}, {3, 4, 7})}; },
   [] { return Values{Of(kF32, {1, 1, 2}, {5, 7})}; }},
  {"Conv/valid", "1 x[i] + 2 x[i + 1], four of them",
   "g (float[1,1,5] x, float[1,1,2] w) => (float[1,1,4] y) "
   "{ y = Conv<auto_pad = \"VALID\">(x, w) }",
   [] { return Values{Of(kF32, {1, 1, 5}, {1, 2, 3, 4, 5}),
                      Of(kF32, {1, 1, 2}, {1, 2})}; },
   [] { return Values{Of(kF32, {1, 1, 4}, {5, 8, 11, 14})}; }},
  {"ConvTranspose/valid", "1 (1, 2) and 3 (1, 2), one apart",
   "g (float[1,1,2] x, float[1,1,2] w) => (float[1,1,3] y) "
   "{ y = ConvTranspose<auto_pad = \"VALID\">(x, w) }",
   [] { return Values{Of(kF32, {1, 1, 2}, {1, 3}),
                      Of(kF32, {1, 1, 2}, {1, 2})}; },
   [] { return Values{Of(kF32, {1, 1, 3}, {1, 5, 6})}; }},
  {"ConvTranspose/same_lower",
   "1, 2, 4 and 3, 6, 12 two apart, less one in front: start is "
   "total - total / 2",
   "g (float[1,1,2] x, float[1,1,3] w) => (float[1,1,4] y) "
   "{ y = ConvTranspose<auto_pad = \"SAME_LOWER\", strides = [2]>(x, w) }",
   [] { return Values{Of(kF32, {1, 1, 2}, {1, 3}),
                      Of(kF32, {1, 1, 3}, {1, 2, 4})}; },
   [] { return Values{Of(kF32, {1, 1, 4}, {2, 7, 6, 12})}; }},
  {"ConvInteger/same_upper", "a zero behind",
   ASSAY_LINE "(int32[1,1,5] y) { y = ConvInteger<auto_pad = \"SAME_UPPER\">"
   "(x, w) }", &Weighted,
   [] { return Values{Of(kI32, {1, 1, 5}, {5, 8, 11, 14, 5})}; }},
  {"ConvInteger/same_lower", "a zero in front",
   ASSAY_LINE "(int32[1,1,5] y) { y = ConvInteger<auto_pad = \"SAME_LOWER\">"
   "(x, w) }", &Weighted,
   [] { return Values{Of(kI32, {1, 1, 5}, {2, 5, 8, 11, 14})}; }},
  {"ConvInteger/valid_with_kernel_shape", "no zero",
   ASSAY_LINE "(int32[1,1,4] y) { y = ConvInteger<auto_pad = \"VALID\", "
   "kernel_shape = [2]>(x, w) }", &Weighted,
   [] { return Values{Of(kI32, {1, 1, 4}, {5, 8, 11, 14})}; }},
  {"ConvInteger/dilations", "x[i] + 2 x[i + 2]",
   ASSAY_LINE "(int32[1,1,3] y) { y = ConvInteger<dilations = [2]>(x, w) }",
   &Weighted,
   [] { return Values{Of(kI32, {1, 1, 3}, {7, 10, 13})}; }},
  {"ConvInteger/strides", "every third",
   ASSAY_LINE "(int32[1,1,2] y) { y = ConvInteger<strides = [3]>(x, w) }",
   &Weighted,
   [] { return Values{Of(kI32, {1, 1, 2}, {5, 14})}; }},
  {"ConvInteger/group", "each channel with its own weights; of int8",
   "g (int8[1,2,2] x, int8[2,1,2] w) => (int32[1,2,1] y) "
   "{ y = ConvInteger<group = 2>(x, w) }",
   [] { return Values{Of(kI8, {1, 2, 2}, {1, 2, 3, -4}),
                      Of(kI8, {2, 1, 2}, {1, 2, 3, 4})}; },
   [] { return Values{Of(kI32, {1, 2, 1}, {5, -7})}; }},
  {"QLinearConv/same_upper", "a zero behind",
   ASSAY_LINE "(uint8[1,1,5] y) " ASSAY_QUANTIZED
   "auto_pad = \"SAME_UPPER\"" ASSAY_QUANTIZED_INPUTS, &Weighted,
   [] { return Values{Of(kU8, {1, 1, 5}, {5, 8, 11, 14, 5})}; }},
  {"QLinearConv/same_lower", "a zero in front",
   ASSAY_LINE "(uint8[1,1,5] y) " ASSAY_QUANTIZED
   "auto_pad = \"SAME_LOWER\"" ASSAY_QUANTIZED_INPUTS, &Weighted,
   [] { return Values{Of(kU8, {1, 1, 5}, {2, 5, 8, 11, 14})}; }},
  {"QLinearConv/valid_with_kernel_shape", "no zero",
   ASSAY_LINE "(uint8[1,1,4] y) " ASSAY_QUANTIZED
   "auto_pad = \"VALID\", kernel_shape = [2]" ASSAY_QUANTIZED_INPUTS, &Weighted,
   [] { return Values{Of(kU8, {1, 1, 4}, {5, 8, 11, 14})}; }},
  {"QLinearConv/pads", "a zero in front",
   ASSAY_LINE "(uint8[1,1,5] y) " ASSAY_QUANTIZED
   "pads = [1, 0]" ASSAY_QUANTIZED_INPUTS, &Weighted,
   [] { return Values{Of(kU8, {1, 1, 5}, {2, 5, 8, 11, 14})}; }},
  {"QLinearConv/dilations", "x[i] + 2 x[i + 2]",
   ASSAY_LINE "(uint8[1,1,3] y) " ASSAY_QUANTIZED
   "dilations = [2]" ASSAY_QUANTIZED_INPUTS, &Weighted,
   [] { return Values{Of(kU8, {1, 1, 3}, {7, 10, 13})}; }},
  {"QLinearConv/strides", "every third",
   ASSAY_LINE "(uint8[1,1,2] y) " ASSAY_QUANTIZED
   "strides = [3]" ASSAY_QUANTIZED_INPUTS, &Weighted,
   [] { return Values{Of(kU8, {1, 1, 2}, {5, 14})}; }},
  {"QLinearConv/group", "each channel with its own weights, and a bias; of int8",
   "g (int8[1,2,2] x, int8[2,1,2] w, int32[2] b) => (int8[1,2,1] y) "
   "<float s = {1.0}, int8 z = {0}> "
   "{ y = QLinearConv<group = 2>(x, s, z, w, s, z, s, z, b) }",
   [] { return Values{Of(kI8, {1, 2, 2}, {1, 2, 3, -4}),
                      Of(kI8, {2, 1, 2}, {1, 2, 3, 4}),
                      Of(kI32, {2}, {10, 20})}; },
   [] { return Values{Of(kI8, {1, 2, 1}, {15, 13})}; }},
  {"BatchNormalization/momentum", "half of the old and half of the new",
   "g (float[1,1,2] x, float[1] s, float[1] b, float[1] m, float[1] v) => "
   "(float[1,1,2] y, float[1] rm, float[1] rv) { y, rm, rv = "
   "BatchNormalization<training_mode = 1, momentum = 0.5, epsilon = 7.0>"
   "(x, s, b, m, v) }",
   [] { return Values{Of(kF32, {1, 1, 2}, {1, 7}), Of(kF32, {1}, {8}),
                      Of(kF32, {1}, {1}), Of(kF32, {1}, {2}),
                      Of(kF32, {1}, {1})}; },
   [] { return Values{Of(kF32, {1, 1, 2}, {-5, 7}), Of(kF32, {1}, {3}),
                      Of(kF32, {1}, {5})}; }},
  {"BlackmanWindow/output_datatype", "0, 1, 0 of 3, rounded, of float64",
   "g (int64 n) => (double[3] y) { w = BlackmanWindow<periodic = 0, "
   "output_datatype = 11>(n) y = Round(w) }",
   [] { return Values{Whole(kI64, {}, {3})}; },
   [] { return Values{Of(kF64, {3}, {0, 1, 0})}; }},
  {"HammingWindow/output_datatype", "0.09, 1, 0.09 of 3, rounded, of float64",
   "g (int64 n) => (double[3] y) { w = HammingWindow<periodic = 0, "
   "output_datatype = 11>(n) y = Round(w) }",
   [] { return Values{Whole(kI64, {}, {3})}; },
   [] { return Values{Of(kF64, {3}, {0, 1, 0})}; }},
  {"Cast/nearest_float8e8m0", "round_mode nearest, ties up: 6 goes to 8",
   "g (float[4] x) => (float8e8m0[4] y) "
   "{ y = Cast<to = 24, round_mode = \"nearest\">(x) }",
   [] { return Values{Of(kF32, {4}, {1, 5, 6, 7})}; },
   [] { return Values{Of(DType::kFloat8E8M0, {4}, {1, 4, 8, 8})}; }},
  {"CastLike/nearest_float8e8m0", "round_mode nearest, ties up: 6 goes to 8",
   "g (float[4] x, float8e8m0[1] t) => (float8e8m0[4] y) "
   "{ y = CastLike<round_mode = \"nearest\">(x, t) }",
   [] { return Values{Of(kF32, {4}, {1, 5, 6, 7}),
                      Of(DType::kFloat8E8M0, {1}, {1})}; },
   [] { return Values{Of(DType::kFloat8E8M0, {4}, {1, 4, 8, 8})}; }},
  {"CastLike/down_float8e8m0", "round_mode down: the power of two below",
   "g (float[4] x, float8e8m0[1] t) => (float8e8m0[4] y) "
   "{ y = CastLike<round_mode = \"down\">(x, t) }",
   [] { return Values{Of(kF32, {4}, {1, 5, 6, 7}),
                      Of(DType::kFloat8E8M0, {1}, {1})}; },
   [] { return Values{Of(DType::kFloat8E8M0, {4}, {1, 4, 4, 4})}; }},
  {"CastLike/from_strings", "as Cast reads numbers; INF in any case",
   "g (string[5] x, float[1] t) => (float[5] y) { y = CastLike(x, t) }",
   [] { return Values{Texts({5}, {"1.5", "-1e3", "inf", "-INF", "nan"}),
                      Of(kF32, {1}, {0})}; },
   [] { return Values{Of(kF32, {5}, {1.5, -1000, kInf, -kInf, kNan})}; }},
  {"CastLike/to_strings", "whole numbers, plain",
   "g (int32[3] x, string[1] t) => (string[3] y) { y = CastLike(x, t) }",
   [] { return Values{Of(kI32, {3}, {1, -20, 300}), Texts({1}, {""})}; },
   [] { return Values{Texts({3}, {"1", "-20", "300"})}; }},
  {"Cast/strings_to_integers", "plain numbers with signs",
   "g (string[3] x) => (int64[3] a, int8[3] b, uint16[3] c) { "
   "a = Cast<to = 7>(x) b = Cast<to = 3>(x) d = Cast<to = 6>(x) "
   "e = Abs(d) c = Cast<to = 4>(e) }",
   [] { return Values{Texts({3}, {"12", "-7", "+100"})}; },
   [] { return Values{Of(kI64, {3}, {12, -7, 100}), Of(kI8, {3}, {12, -7, 100}),
                      Of(DType::kUint16, {3}, {12, 7, 100})}; }},
  {"Celu/default", "alpha is 1: -1 at -infinity",
   "g (float[2] x) => (float[2] y) { y = Celu(x) }",
   [] { return Values{Of(kF32, {2}, {2, -kInf})}; },
   [] { return Values{Of(kF32, {2}, {2, -1})}; }},
  {"Constant/value_float", "a scalar",
   "g () => (float y) { y = Constant<value_float = 2.5>() }",
   [] { return Values{}; }, [] { return Values{Of(kF32, {}, {2.5})}; }},
  {"Constant/value_floats", "a list",
   "g () => (float[2] y) { y = Constant<value_floats = [2.5, -1.0]>() }",
   [] { return Values{}; }, [] { return Values{Of(kF32, {2}, {2.5, -1})}; }},
  {"Constant/value_int", "a scalar of int64",
   "g () => (int64 y) { y = Constant<value_int = 9007199254740993>() }",
   [] { return Values{}; },
   [] { return Values{Whole(kI64, {}, {9007199254740993})}; }},
  {"Constant/value_ints", "a list of int64",
   "g () => (int64[2] y) { y = Constant<value_ints = [3, -5]>() }",
   [] { return Values{}; }, [] { return Values{Whole(kI64, {2}, {3, -5})}; }},
  {"Constant/value_string", "a scalar of text",
   "g () => (string y) { y = Constant<value_string = \"ab\">() }",
   [] { return Values{}; }, [] { return Values{Texts({}, {"ab"})}; }},
  {"Constant/value_strings", "a list of texts",
   "g () => (string[2] y) { y = Constant<value_strings = [\"ab\", \"c\"]>() }",
   [] { return Values{}; }, [] { return Values{Texts({2}, {"ab", "c"})}; }},
  {"ConstantOfShape/no_value", "zeros of float32, behind a 2",
   "g (float[1] x, int64[1] s) => (float[3] y) "
   "{ c = ConstantOfShape(s) y = Concat<axis = 0>(x, c) }",
   [] { return Values{Of(kF32, {1}, {2}), Whole(kI64, {1}, {2})}; },
   [] { return Values{Of(kF32, {3}, {2, 0, 0})}; }},
  {"DequantizeLinear/output_dtype", "of float16, though the scale is float32",
   "g (int8[2] x, float s) => (float16[2] y) "
   "{ y = DequantizeLinear<output_dtype = 10>(x, s) }",
   [] { return Values{Of(kI8, {2}, {1, -2}), Of(kF32, {}, {0.5})}; },
   [] { return Values{Of(kF16, {2}, {0.5, -1})}; }},
  {"QuantizeLinear/precision", "2049 is a tie in float16, and goes to 2048",
   "g (float[2] x, float s) => (int16[2] y) "
   "{ y = QuantizeLinear<precision = 10, output_dtype = 5>(x, s) }",
   [] { return Values{Of(kF32, {2}, {2049, 3}), Of(kF32, {}, {1})}; },
   [] { return Values{Of(kI16, {2}, {2048, 3})}; }},
  {"QuantizeLinear/unsaturated", "infinity where the largest is exceeded",
   "g (float[2] x, float s) => (float8e5m2[2] y) "
   "{ y = QuantizeLinear<saturate = 0, output_dtype = 19>(x, s) }",
   [] { return Values{Of(kF32, {2}, {100000, 1.5}), Of(kF32, {}, {1})}; },
   [] { return Values{Of(DType::kFloat8E5M2, {2}, {kInf, 1.5})}; }},
  {"QuantizeLinear/int32", "whole numbers are divided too",
   "g (int32[3] x, float s, int8 z) => (int8[3] y) "
   "{ y = QuantizeLinear(x, s, z) }",
   [] { return Values{Of(kI32, {3}, {6, -10, 1000}), Of(kF32, {}, {2}),
                      Of(kI8, {}, {1})}; },
   [] { return Values{Of(kI8, {3}, {4, -4, 127})}; }},
  {"QLinearMatMul/float8", "1.5 * 2 + 2 * 0.5 = 4, and 1.5 * 4 + 2 * 1 = 8",
   "g (float8e4m3fn[1,2] a, float8e4m3fn[2,2] b) => (float8e4m3fn[1,2] y) "
   "<float s = {1.0}, float8e4m3fn z = {0}> "
   "{ y = QLinearMatMul(a, s, z, b, s, z, s, z) }",
   [] { return Values{Of(DType::kFloat8E4M3FN, {1, 2}, {1.5, 2}),
                      Of(DType::kFloat8E4M3FN, {2, 2}, {2, 4, 0.5, 1})}; },
   [] { return Values{Of(DType::kFloat8E4M3FN, {1, 2}, {4, 8})}; }},
  {"RNN/no_hidden_size", "2 * 3 + 1 * 4, through Relu; from the weights' shape",
   "g (float[1,2,1] x, float[1,1,1] w, float[1,1,1] r, float[1,2,1] h) => "
   "(float[1,2,1] y) { z, y = RNN<activations = [\"Relu\"]>"
   "(x, w, r, , , h) }",
   [] { return Values{Of(kF32, {1, 2, 1}, {3, 5}), Of(kF32, {1, 1, 1}, {2}),
                      Of(kF32, {1, 1, 1}, {1}), Of(kF32, {1, 2, 1}, {4, -3})}; },
   [] { return Values{Of(kF32, {1, 2, 1}, {10, 7})}; }},
  {"GRU/no_hidden_size", "gates of 1/2 of no weights: half of the state stays",
   "g (float[1,2,1] x, float[1,3,1] w, float[1,3,1] r, float[1,2,1] h) => "
   "(float[1,2,1] y) { z, y = GRU(x, w, r, , , h) }", &Zeros3, &HalvedStates},
  {"LSTM/no_hidden_size", "gates of 1/2 of no weights: half of the cell stays",
   "g (float[1,2,1] x, float[1,4,1] w, float[1,4,1] r, float[1,2,1] h, "
   "float[1,2,1] c) => (float[1,2,1] y) "
   "{ z, l, y = LSTM(x, w, r, , , h, c) }", &Zeros4, &HalvedStates},
  {"GRU/clip", "3 becomes 1/2 in every gate: 1/4 + 4/2, and 1/4 - 2/2",
   "g (float[1,2,1] x, float[1,3,1] w, float[1,3,1] r, float[1,2,1] h) => "
   "(float[1,2,1] y) { z, y = GRU<clip = 0.5, hidden_size = 1, "
   ASSAY_AFFINE("\"Affine\", \"Affine\"", "1.0, 1.0", "0.0, 0.0")
   ">(x, w, r, , , h) }",
   [] { return Values{All(kF32, {1, 2, 1}, 3), All(kF32, {1, 3, 1}, 1),
                      All(kF32, {1, 3, 1}, 0), Of(kF32, {1, 2, 1}, {4, -2})}; },
   [] { return Values{Of(kF32, {1, 2, 1}, {2.25, -0.75})}; }},
  {"LSTM/clip", "3 becomes 1/2 in every gate: 4/2 + 1/4, and -2/2 + 1/4",
   "g (float[1,2,1] x, float[1,4,1] w, float[1,4,1] r, float[1,2,1] h, "
   "float[1,2,1] c) => (float[1,2,1] y) { z, l, y = LSTM<clip = 0.5, "
   "hidden_size = 1, "
   ASSAY_AFFINE("\"Affine\", \"Affine\", \"Affine\"", "1.0, 1.0, 1.0",
                "0.0, 0.0, 0.0")
   ">(x, w, r, , , h, c) }",
   [] { return Values{All(kF32, {1, 2, 1}, 3), All(kF32, {1, 4, 1}, 1),
                      All(kF32, {1, 4, 1}, 0), All(kF32, {1, 2, 1}, 0),
                      Of(kF32, {1, 2, 1}, {4, -2})}; },
   [] { return Values{Of(kF32, {1, 2, 1}, {2.25, -0.75})}; }},
  {"LSTM/input_forget", "forget is 1 - 1/4, not 1: 3/4 c + 1/4 * 2",
   "g (float[1,2,1] x, float[1,4,1] w, float[1,4,1] r, float[1,2,1] h, "
   "float[1,2,1] c) => (float[1,2,1] y) { z, l, y = LSTM<input_forget = 1, "
   "hidden_size = 1, "
   ASSAY_AFFINE("\"Affine\", \"Affine\", \"Affine\"", "1.0, 1.0, 1.0",
                "0.0, 0.0, 0.0")
   ">(x, w, r, , , h, c) }",
   [] { return Values{All(kF32, {1, 2, 1}, 1),
                      Of(kF32, {1, 4, 1}, {0.25, 0, 1, 2}),
                      All(kF32, {1, 4, 1}, 0), All(kF32, {1, 2, 1}, 0),
                      Of(kF32, {1, 2, 1}, {4, -4})}; },
   [] { return Values{Of(kF32, {1, 2, 1}, {3.5, -2.5})}; }},
  {"LayerNormalization/stash_type", "mean 4 and deviation 4 of bfloat16",
   "g (bfloat16[1,2] x, bfloat16[2] s) => (bfloat16[1,2] y, bfloat16[1,1] m, "
   "bfloat16[1,1] d) { y, m, d = LayerNormalization<stash_type = 16, "
   "epsilon = 7.0>(x, s) }",
   [] { return Values{Of(kBF16, {1, 2}, {1, 7}), Of(kBF16, {2}, {8, 4})}; },
   [] { return Values{Of(kBF16, {1, 2}, {-6, 3}), Of(kBF16, {1, 1}, {4}),
                      Of(kBF16, {1, 1}, {0.25})}; }},
  {"GroupNormalization/stash_type", "mean 4, variance 9, epsilon 7, in float64",
   "g (double[1,2,2] x, double[2] s, double[2] b) => (double[1,2,2] y) { y = "
   "GroupNormalization<num_groups = 1, epsilon = 7.0, stash_type = 11>"
   "(x, s, b) }",
   [] { return Values{Of(kF64, {1, 2, 2}, {1, 7, 1, 7}), Of(kF64, {2}, {8, 4}),
                      Of(kF64, {2}, {1, 0})}; },
   [] { return Values{Of(kF64, {1, 2, 2}, {-5, 7, -3, 3})}; }},
  {"RMSNormalization/stash_type", "mean square 25, epsilon 39, in float64",
   "g (double[1,2] x, double[2] s) => (double[1,2] y) "
   "{ y = RMSNormalization<epsilon = 39.0, stash_type = 11>(x, s) }",
   [] { return Values{Of(kF64, {1, 2}, {1, 7}), Of(kF64, {2}, {8, 16})}; },
   [] { return Values{Of(kF64, {1, 2}, {1, 14})}; }},
  {"Range/stash_type", "1, 3.5, 6: exact in either type",
   "g (float16 a, float16 b, float16 s) => (float16[k] y) "
   "{ y = Range<stash_type = 10>(a, b, s) }",
   [] { return Values{Of(kF16, {}, {1}), Of(kF16, {}, {8}),
                      Of(kF16, {}, {2.5})}; },
   [] { return Values{Of(kF16, {3}, {1, 3.5, 6})}; }},
  {"MaxUnpool/no_strides", "of 1: an extent of (2 - 1) + 2",
   "g (float[1,1,2] x, int64[1,1,2] i) => (float[1,1,3] y) "
   "{ y = MaxUnpool<kernel_shape = [2]>(x, i) }",
   [] { return Values{Of(kF32, {1, 1, 2}, {3, 4}),
                      Whole(kI64, {1, 1, 2}, {0, 2})}; },
   [] { return Values{Of(kF32, {1, 1, 3}, {3, 0, 4})}; }},
  {"MaxUnpool/pads", "an extent of (2 - 1) * 2 + 2 - 1",
   "g (float[1,1,2] x, int64[1,1,2] i) => (float[1,1,3] y) "
   "{ y = MaxUnpool<kernel_shape = [2], strides = [2], pads = [1, 0]>(x, i) }",
   [] { return Values{Of(kF32, {1, 1, 2}, {3, 4}),
                      Whole(kI64, {1, 1, 2}, {0, 2})}; },
   [] { return Values{Of(kF32, {1, 1, 3}, {3, 0, 4})}; }},
  {"MeanVarianceNormalization/axes", "each row by itself: means 4 and 12",
   "g (float[1,1,2,2] x) => (float[1,1,2,2] y) "
   "{ z = MeanVarianceNormalization<axes = [3]>(x) y = Round(z) }",
   [] { return Values{Of(kF32, {1, 1, 2, 2}, {1, 7, 20, 4})}; },
   [] { return Values{Of(kF32, {1, 1, 2, 2}, {-1, 1, 1, -1})}; }},
  {"Multinomial/one_with_seed", "one draw of a certain class",
   "g (float[2,2] x) => (int32[2,1] y) { y = Multinomial<seed = 3.0>(x) }",
   [] { return Values{Of(kF32, {2, 2}, {-1000, 0, 0, -1000})}; },
   [] { return Values{Of(kI32, {2, 1}, {1, 0})}; }},
  {"RandomNormal/standard", "within 64 deviations; the shape is the attribute's",
   "g (float m) => (bool[2,3] y, int64[2] s) "
   "{ r = RandomNormal<shape = [2, 3], seed = 3.0>() a = Abs(r) "
   "y = Less(a, m) s = Shape(r) }",
   [] { return Values{Of(kF32, {}, {64})}; },
   [] { return Values{All(kBool, {2, 3}, 1), Whole(kI64, {2}, {2, 3})}; }},
  {"RandomNormalLike/standard", "within 64 deviations, of float64 as x",
   "g (double[2,3] x, double m) => (bool[2,3] y, int64[2] s) "
   "{ r = RandomNormalLike<seed = 3.0>(x) a = Abs(r) y = Less(a, m) "
   "s = Shape(r) }",
   [] { return Values{All(kF64, {2, 3}, 1), Of(kF64, {}, {64})}; },
   [] { return Values{All(kBool, {2, 3}, 1), Whole(kI64, {2}, {2, 3})}; }},
  {"RandomUniform/unit", "from 0 up to 1, without 1: floored to 0",
   "g (float[2] x) => (float[2] y) { r = RandomUniform<shape = [2], "
   "seed = 3.0>() f = Floor(r) y = Add(f, x) }",
   [] { return Values{Of(kF32, {2}, {3, 5})}; },
   [] { return Values{Of(kF32, {2}, {3, 5})}; }},
  {"RandomUniformLike/unit", "from 0 up to 1, without 1, of float64 as x",
   "g (double[2] x) => (double[2] y) { r = RandomUniformLike<seed = 3.0>(x) "
   "f = Floor(r) y = Add(f, x) }",
   [] { return Values{Of(kF64, {2}, {3, 5})}; },
   [] { return Values{Of(kF64, {2}, {3, 5})}; }},
// An empty set of axes: nothing is summed, the rest is done (text of the page).
#define ASSAY_NOOP(op, what, ...)                                             \
  {op "/no_axes", what,                                                       \
   "g (float[2,2] x) => (float[2,2] y) "                                      \
   "{ y = " op "<noop_with_empty_axes = 1>(x) }",                             \
   [] { return Values{Of(kF32, {2, 2}, {1, -2, 0, 3})}; },                    \
   [] { return Values{Of(kF32, {2, 2}, {__VA_ARGS__})}; }},
  ASSAY_NOOP("ReduceL1", "magnitudes", 1, 2, 0, 3)
  ASSAY_NOOP("ReduceL2", "magnitudes", 1, 2, 0, 3)
  ASSAY_NOOP("ReduceLogSumExp", "log of exp: x itself", 1, -2, 0, 3)
  ASSAY_NOOP("ReduceMax", "x itself", 1, -2, 0, 3)
  ASSAY_NOOP("ReduceMean", "x itself", 1, -2, 0, 3)
  ASSAY_NOOP("ReduceMin", "x itself", 1, -2, 0, 3)
  ASSAY_NOOP("ReduceProd", "x itself", 1, -2, 0, 3)
  ASSAY_NOOP("ReduceSumSquare", "squares", 1, 4, 0, 9)
#undef ASSAY_NOOP
  {"ReduceLogSum/no_axes", "logarithms",
   "g (float[2,2] x) => (float[2,2] y) "
   "{ y = ReduceLogSum<noop_with_empty_axes = 1>(x) }",
   [] { return Values{Of(kF32, {2, 2}, {1, -2, 0, kInf})}; },
   [] { return Values{Of(kF32, {2, 2}, {0, kNan, -kInf, kInf})}; }},
  {"RoiAlign/scale_and_adaptive", "2 by 2 samples, on the pixels themselves",
   "g (float[1,1,2,2] x, float[1,4] r, int64[1] b) => (float[1,1,1,1] y) "
   "{ y = RoiAlign<spatial_scale = 0.5>(x, r, b) }",
   [] { return Values{Of(kF32, {1, 1, 2, 2}, {1, 3, 5, 7}),
                      Of(kF32, {1, 4}, {0, 0, 4, 4}), Whole(kI64, {1}, {0})}; },
   [] { return Values{Of(kF32, {1, 1, 1, 1}, {4})}; }},
  {"SequenceEmpty/default_type", "of float32",
   "g (float[2] x) => (float[2] y) { e = SequenceEmpty() "
   "s = SequenceInsert(e, x) i = Constant<value_int = 0>() "
   "y = SequenceAt(s, i) }",
   [] { return Values{Of(kF32, {2}, {3, 5})}; },
   [] { return Values{Of(kF32, {2}, {3, 5})}; }},
  {"Shrink/default_lambd", "nothing between -1/2 and 1/2",
   "g (float[4] x) => (float[4] y) { y = Shrink<bias = 0.25>(x) }",
   [] { return Values{Of(kF32, {4}, {-1, 0.5, -0.25, 2})}; },
   [] { return Values{Of(kF32, {4}, {-0.75, 0, 0, 1.75})}; }},
  {"StringNormalizer/locale", "upper case of plain letters",
   "g (string[2] x) => (string[2] y) { y = StringNormalizer<locale = "
   "\"en_US\", case_change_action = \"UPPER\">(x) }",
   [] { return Values{Texts({2}, {"ab", "Cd"})}; },
   [] { return Values{Texts({2}, {"AB", "CD"})}; }},
  {"Swish/alpha", "1 / (1 + e^-64) is 1, and e^-infinity 0",
   "g (float[3] x) => (float[3] y) { y = Swish<alpha = 2.0>(x) }",
   [] { return Values{Of(kF32, {3}, {32, 0, 100})}; },
   [] { return Values{Of(kF32, {3}, {32, 0, 100})}; }},
  {"TensorScatter/axis", "a column of the cache replaced",
   "g (float[1,2,3] c, float[1,2,1] u, int64[1] i) => (float[1,2,3] y) "
   "{ y = TensorScatter<axis = 2>(c, u, i) }",
   [] { return Values{Of(kF32, {1, 2, 3}, {1, 2, 3, 4, 5, 6}),
                      Of(kF32, {1, 2, 1}, {8, 9}), Whole(kI64, {1}, {1})}; },
   [] { return Values{Of(kF32, {1, 2, 3}, {1, 8, 3, 4, 9, 6})}; }},
  {"TopK/unsorted", "in any order: their sums",
   "g (float[2,3] x) => (float[2] y) <int64[1] k = {2}, int64[1] a = {1}> "
   "{ t, i = TopK<sorted = 0>(x, k) y = ReduceSum<keepdims = 0>(t, a) }",
   [] { return Values{Of(kF32, {2, 3}, {3, 1, 2, 4, 6, 5})}; },
   [] { return Values{Of(kF32, {2}, {5, 11})}; }},
  {"Upsample/linear", "x / 2 between 3 and 5, and the last repeated",
   "g (float[1,2] x) => (float[1,4] y) <float[2] s = {1.0, 2.0}> "
   "{ y = Upsample<mode = \"linear\">(x, s) }",
   [] { return Values{Of(kF32, {1, 2}, {3, 5})}; },
   [] { return Values{Of(kF32, {1, 4}, {3, 4, 5, 5})}; }, 0, "", 9},
};
// clang-format on

#undef ASSAY_QUANTIZED
#undef ASSAY_QUANTIZED_INPUTS
#undef ASSAY_LINE
#undef ASSAY_AFFINE

}  // namespace

std::span<const SpecialCase> OptionsCases() { return kCases; }

}  // namespace assay::inline v1
