# SPDX-License-Identifier: Apache-2.0
"""Operators at inputs of a person's own, with the numbers that their texts give.

A row of NUMBERS is a name, a graph, its opset, inputs and outputs. The outputs are by
hand or by numpy, from the operator's text at that opset. A remark names the public
report that the row is after; ORT is microsoft/onnxruntime.
"""

from collections.abc import Sequence

import ml_dtypes
import numpy as np
import onnx
from onnx import TensorProto, numpy_helper

from own_cases import Case, make_model

Row = tuple[str, str, int, Sequence, Sequence]
_F, _D, _H, _I = np.float32, np.float64, np.float16, np.int64
_NAN, _INF = np.nan, np.inf


def f(values: object) -> np.ndarray:
    return np.array(values, _F)


def i(values: object) -> np.ndarray:
    return np.array(values, _I)


def ramp(*shape: int, start: float = 1) -> np.ndarray:
    return (np.arange(np.prod(shape), dtype=_F) + start).reshape(shape).astype(_F)


def _words(*values: str) -> np.ndarray:
    return np.array(values, object)


def _bytes(dtype: int, dims: list[int], values: list[int]) -> onnx.TensorProto:
    return onnx.TensorProto(data_type=dtype, dims=dims, raw_data=bytes(values))


_X = ramp(2, 3)
_Y = ramp(2, 2, 3)
_LOOP = (
    "(int64 m, bool c, float[2] v) => (float[2] w, float[n,2] s) { w, s = Loop(m, c, v)"
    "<body = b (int64 i, bool a, float[2] p) => (bool k, float[2] q, float[2] r)"
    " { k = Identity(a) q = Add(p, p) r = Neg(p) }> }"
)
_SCAN = (
    "(float[2] s, float[2,3] x) => (float[2] t, float[2,3] o) { t, o = Scan<"
    "num_scan_inputs = 1, scan_input_axes = [-1], scan_input_directions = [1], "
    "scan_output_axes = [-1], scan_output_directions = [1], "
    "body = b (float[2] a, float[2] e) => (float[2] n, float[2] p) "
    "{ n = Add(a, e) p = Identity(n) }>(s, x) }"
)
_SCAN_8 = (
    "(float[2] s, float[2,3] x) => (float[2] t, float[2,3] o) { t, o = Scan<"
    "num_scan_inputs = 1, directions = [1], "
    "body = b (float a, float e) => (float n, float p) "
    "{ n = Add(a, e) p = Identity(n) }>( , s, x) }"
)
_GATHER = ramp(2, 5, 3)
_CRD = ramp(1, 18, 2, 3)
_FROM_THE_END = _X[:, ::-1].cumsum(1)[:, ::-1]

INDICES: list[Row] = [
    ("one_hot_outside", "(int64[4] x, int64 d, float[2] v) => (float[4,3] y) "
     "{ y = OneHot(x, d, v) }", 11, [i([-4, -3, 2, 3]), i(3), f([-1, 7])],
     [f([[-1, -1, -1], [7, -1, -1], [-1, -1, 7], [-1, -1, -1]])]),  # onnx#8113
    ("one_hot_of_floats", "(float[2] x, int64[1] d, int32[2] v) => (int32[3,2] y) "
     "{ y = OneHot<axis = 0>(x, d, v) }", 11, [f([1.9, -1.2]), i([3]),
     np.array([4, 5], np.int32)], [np.array([[4, 4], [5, 4], [4, 5]], np.int32)]),
    ("reverse_zero_lengths", "(float[3,2,2] x, int64[2] n) => (float[3,2,2] y) "
     "{ y = ReverseSequence<time_axis = 0, batch_axis = 1>(x, n) }", 10,
     [ramp(3, 2, 2), i([0, 3])], [np.stack([ramp(3, 2, 2)[:, 0],
     ramp(3, 2, 2)[::-1, 1]], 1)]),  # openvino#20872, iree#24229
    ("gather_nd_in_batches", "(float[2,5,3] x, int64[2,2,1] i) => (float[2,2,3] y) "
     "{ y = GatherND<batch_dims = 1>(x, i) }", 13, [_GATHER, i([[[-1], [0]], [[-2],
     [1]]])], [np.stack([_GATHER[0, [4, 0]], _GATHER[1, [3, 1]]])]),  # coremltools#2794
    ("gather_strings", "(string[3] x, int64[2,2] i) => (string[2,2] y) "
     "{ y = Gather(x, i) }", 13, [_words("a", "é", ""), i([[-1, 0], [1, -3]])],
     [np.array([["", "a"], ["é", "a"]], object)]),
    ("scatter_greatest", "(int32[2,3] x, int64[2,3] i, int32[2,3] u) => (int32[2,3] y) "
     "{ y = ScatterElements<axis = -1, reduction = \"max\">(x, i, u) }", 18,
     [_X.astype(np.int32), i([[0, 0, -1], [-3, 1, 1]]), np.array([[9, 8, 1], [2, 7, 6]],
     np.int32)], [np.array([[9, 2, 3], [4, 7, 6]], np.int32)]),  # tvm#19435
    ("compress_short", "(float[2,3] x, bool[4] c) => (float[n] y) "
     "{ y = Compress(x, c) }", 11, [_X, np.array([False, True, False, True])],
     [f([2, 4])]),
    ("non_zero_of_a_scalar", "(float x) => (int64[0,n] y) { y = NonZero(x) }", 13,
     [f(5)], [np.zeros((0, 1), _I)]),
    ("slice_all_backwards", "(float[7] x, int64[1] a, int64[1] b, int64[1] c, int64[1] "
     "d) => (float[n] y) { y = Slice(x, a, b, c, d) }", 13, [ramp(7), i([2**63 - 1]),
     i([-(2**63)]), i([0]), i([-2])], [f([7, 5, 3, 1])]),
    ("slice_1", "(float[4,3] x) => (float[2,2] y) { y = Slice<axes = [1, 0], starts = "
     "[-2, 1], ends = [1000, -1]>(x) }", 1, [ramp(4, 3)], [ramp(4, 3)[1:3, 1:]]),
    ("top_k_least_of_ties", "(float[4,2] x, int64[1] k) => (float[3,2] y, int64[3,2] i)"
     " { y, i = TopK<axis = 0, largest = 0>(x, k) }", 11, [f([[2, 1], [1, 1], [1, 0],
     [2, 1]]), i([3])], [f([[1, 0], [1, 1], [2, 1]]), i([[1, 2], [2, 0], [0, 1]])]),
    ("top_k_1", "(float[4] x) => (float[2] y, int64[2] i) { y, i = TopK<axis = 0, k = "
     "2>(x) }", 1, [f([-3, 7, 5, -9])], [f([7, 5]), i([1, 2])]),
    ("arg_max_last", "(float[2,4] x) => (int64[2] y) { y = ArgMax<axis = -1, keepdims "
     "= 0, select_last_index = 1>(x) }", 13, [f([[3, 3, 1, 3], [0, -1, 0, -2]])],
     [i([3, 2])]),
    ("unique_as_they_come", "(int64[6] x) => (int64[n] y, int64[n] a, int64[6] b, "
     "int64[n] c) { y, a, b, c = Unique<sorted = 0>(x) }", 11, [i([5, -1, 5, 3, 3, 5])],
     [i([5, -1, 3]), i([0, 1, 3]), i([0, 1, 0, 2, 2, 0]), i([3, 1, 2])]),
]

SHAPES: list[Row] = [
    ("reshape_to_nothing", "(float[0,8,2] x, int64[3] a, int64[3] b) => (float[0,0,4] "
     "y) { z = Reshape(x, a) y = Reshape<allowzero = 1>(z, b) }", 18, [np.zeros((0, 8,
     2), _F), i([4, 2, -1]), i([0, 0, 4])], [np.zeros((0, 0, 4), _F)]),  # ORT#28449
    ("reshape_copies_by_place", "(float[2,2,3,2] x, int64[3] s) => (float[4,2,3] y) "
     "{ y = Reshape(x, s) }", 14, [ramp(2, 2, 3, 2), i([-1, 0, 0])],
     [ramp(4, 2, 3)]),  # ORT#15203
    ("depth_to_space_of_3", "(float[1,18,2,3] x) => (float[1,2,6,9] y) "
     "{ y = DepthToSpace<blocksize = 3, mode = \"CRD\">(x) }", 13, [_CRD],
     [_CRD.reshape(1, 2, 3, 3, 2, 3).transpose(0, 1, 4, 2, 5, 3).reshape(1, 2, 6,
     9)]),  # iree#24179
    ("unsqueeze_in_any_order", "(float[2,3] x, int64[2] a) => (float[1,2,3,1] y) "
     "{ y = Unsqueeze(x, a) }", 13, [_X, i([3, 0])], [_X.reshape(1, 2, 3, 1)]),
    ("tile_by_none", "(float[2,3] x, int64[2] r) => (float[4,0] y) { y = Tile(x, r) }",
     13, [_X, i([2, 0])], [np.zeros((4, 0), _F)]),
    ("expand_to_less", "(float[2,3] x, int64[1] s) => (float[2,3] y) "
     "{ y = Expand(x, s) }", 13, [_X, i([1])], [_X]),
    ("concat_1", "(float[2,1] a, float[2,3] b) => (float[2,4] y) { y = Concat(a, b) }",
     3, [f([[8], [9]]), _X], [np.concatenate([f([[8], [9]]), _X], 1)]),
    ("split_unevenly", "(float[7] x) => (float[3] a, float[3] b, float[1] c) "
     "{ a, b, c = Split<num_outputs = 3>(x) }", 18, [ramp(7)], [ramp(7)[:3],
     ramp(7)[3:6], ramp(7)[6:]]),
    ("split_2", "(float[2,4] x) => (float[2,2] a, float[2,2] b) { a, b = Split<axis = "
     "1>(x) }", 2, [ramp(2, 4)], [ramp(2, 4)[:, :2], ramp(2, 4)[:, 2:]]),
    ("pad_2_negative", "(float[2,3] x) => (float[3,2] y) { y = Pad<pads = [1, -1, 0, "
     "0], value = -7.0>(x) }", 2, [_X], [f([[-7, -7], [2, 3], [5, 6]])]),
    ("pad_reflected_and_cut", "(float[5] x, int64[2] p) => (float[5] y) { y = Pad<mode "
     "= \"reflect\">(x, p) }", 13, [ramp(5), i([2, -2])], [f([3, 2, 1, 2, 3])]),
    ("crop_oddly", "(float[4,2] x, int64[2] s) => (float[3,5] y) { y = "
     "CenterCropPad(x, s) }", 18, [ramp(4, 2), i([3, 5])], [np.pad(ramp(4, 2)[:3],
     ((0, 0), (1, 2)))]),
    ("trilu_above", "(int64[2,3] x, int64 k) => (int64[2,3] y, int64[2,3] z) { y = "
     "Trilu<upper = 0>(x, k) n = Neg(k) z = Trilu(x, n) }", 14, [_X.astype(_I), i(1)],
     [i([[1, 2, 0], [4, 5, 6]]), i([[1, 2, 3], [4, 5, 6]])]),
    ("eye_below", "(float[3,2] x) => (int32[3,2] y) { y = EyeLike<dtype = 6, k = -1>(x)"
     " }", 9, [ramp(3, 2)], [np.eye(3, 2, -1, np.int32)]),
    ("range_down", "(float a, float b, float c) => (float[n] y) { y = Range(a, b, c) }",
     11, [f(10), f(0), f(-3)], [f([10, 7, 4, 1])]),
    ("complex_turned", "(complex64[2,2] x) => (complex64[2,2] y) { y = Transpose(x) }",
     13, [np.array([[1 + 2j, 3], [4j, -5]], np.complex64)], [np.array([[1 + 2j, 4j], [3,
     -5]], np.complex64)]),
]

ARITHMETIC: list[Row] = [
    ("shift_by_64", "(uint64[4] x, uint64[4] n) => (uint64[4] y) { y = BitShift<"
     "direction = \"RIGHT\">(x, n) }", 11, [np.array([1000, 255, 2**63, 42], np.uint64),
     np.array([64, 3, 63, 64], np.uint64)], [np.array([0, 31, 1, 0],
     np.uint64)]),  # ORT#28262
    ("pow_of_integers", "(int32[5] x, int32[5] y) => (int32[5] z) { z = Pow(x, y) }",
     15, [np.array([3, -2, 0, 2, -1], np.int32), np.array([1, 3, 0, 10, 7], np.int32)],
     [np.array([3, -8, 1, 1024, -1], np.int32)]),  # ORT#19298
    ("mod_signs", "(int32[4] x, int32[4] y, float[4] a, float[4] b) => (int32[4] z, "
     "float[4] c) { z = Mod(x, y) c = Mod<fmod = 1>(a, b) }", 13, [np.array([-7, 7, -7,
     7], np.int32), np.array([3, -3, -3, 3], np.int32), f([-7.5, 7.5, -7.5, 0.5]), f([3,
     -3, -3, 3])], [np.array([2, -2, -1, 1], np.int32), f([-1.5, 1.5, -1.5, 0.5])]),
    ("sum_of_one_alone", "(float[1,2] x) => (float[1,2] y) { a = Constant<value_int = "
     "-2>() y = CumSum<exclusive = 1, reverse = 1>(x, a) }", 14, [f([[1, 2]])],
     [f([[0, 0]])]),  # ORT#13165
    ("product_from_the_end", "(float[4] x, int64 a) => (float[4] y) { y = CumProd<"
     "exclusive = 1, reverse = 1>(x, a) }", 26, [f([2, 0, 3, -4]), i(0)],
     [f([0, -12, -4, 1])]),
    ("add_6", "(float[2,3,2] x, float[3] y) => (float[2,3,2] z) { z = Add<broadcast = "
     "1, axis = 1>(x, y) }", 6, [ramp(2, 3, 2), f([10, 20, 30])], [ramp(2, 3, 2) +
     f([10, 20, 30]).reshape(1, 3, 1)]),
    ("gemm_6", "(float[2,3] a, float[4,3] b, float[4] c) => (float[2,4] y) { y = Gemm<"
     "alpha = 0.5, beta = 2.0, transB = 1, broadcast = 1>(a, b, c) }", 6, [_X, ramp(4,
     3), ramp(4)], [_X @ ramp(4, 3).T / 2 + 2 * ramp(4)]),
    ("mean_of_three", "(float[2,1] a, float[3] b, float c) => (float[2,3] y) { y = "
     "Mean(a, b, c) }", 13, [f([[3], [-3]]), f([0, 3, 6]), f(9)], [f([[4, 5, 6], [2, 3,
     4]])]),
    ("clip_crossed", "(int8[4] x, int8 a, int8 b) => (int8[4] y) { y = Clip(x, a, b) }",
     13, [np.array([-100, 0, 6, 100], np.int8), np.array(50, np.int8), np.array(5,
     np.int8)], [np.full(4, 5, np.int8)]),
    ("where_of_strings", "(bool[2,1] c, string[3] a, string b) => (string[2,3] y) { y "
     "= Where(c, a, b) }", 16, [np.array([[True], [False]]), _words("p", "q", "r"),
     np.array("z", object)], [np.array([["p", "q", "r"], ["z", "z", "z"]], object)]),
    ("round_to_even", "(double[6] x) => (double[6] y) { y = Round(x) }", 22, [np.array([
     -2.5, -1.5, -0.5, 0.5, 1.5, 2.5])], [np.array([-2.0, -2, -0.0, 0, 2, 2])]),
    ("infinite_on_one_side", "(float[4] x) => (bool[4] y) { y = IsInf<detect_positive "
     "= 0>(x) }", 20, [f([_INF, -_INF, _NAN, 3e38])], [np.array([False, True, False,
     False])]),
    ("nan_stays", "(float[3] x) => (float[3] a, float[3] b, float[3] c) { a = Relu(x) "
     "b = Tanh(x) m = Constant<value_float = -1.0>() c = Clip(x, m) }", 14, [f([_NAN,
     _INF, -_INF])], [f([_NAN, _INF, 0]), f([_NAN, 1, -1]), f([_NAN, _INF, -1])]),
    ("float16_overflows", "(float16[3] x, float16[3] y) => (float16[3] z) { z = Mul(x, "
     "y) }", 14, [np.array([300, -300, 6e-8], _H), np.array([300, 300, 0.25], _H)],
     [np.array([_INF, -_INF, 0], _H)]),
    ("einsum_of_diagonals", "(float[2,3,3] x) => (float[2,3] y) { y = Einsum<equation "
     "= \"...ii->...i\">(x) }", 12, [ramp(2, 3, 3)], [np.stack([np.diag(ramp(2, 3, 3)[
     0]), np.diag(ramp(2, 3, 3)[1])])]),
    ("einsum_in_letters", "(float[2,3] x) => (float[3,2] y) { y = Einsum<equation = "
     "\"ba\">(x) }", 12, [_X], [_X.T]),
    ("vector_by_a_batch", "(float[3] x, float[2,3,4] y) => (float[2,4] z) { z = "
     "MatMul(x, y) }", 13, [f([1, -1, 2]), ramp(2, 3, 4)], [np.einsum("i,bij->bj", f([1,
     -1, 2]), ramp(2, 3, 4))]),
    ("swish_of_alpha", "(float[4] x) => (float[4] y) { y = Swish<alpha = -2.0>(x) }",
     24, [f([-1, 0, 2, 60])], [f([-1 / (1 + np.exp(-2.0)), 0, 2 / (1 + np.exp(4.0)),
     60 / (1 + np.exp(120.0))])]),
    ("log_sum_exp_far", "(float[2,3] x) => (float[2,1] y) { a = Constant<value_ints = "
     "[1]>() y = ReduceLogSumExp(x, a) }", 18, [f([[1000, 1000, -_INF], [-_INF, -_INF,
     -_INF]])], [f([[1000 + np.log(2)], [-_INF]])]),
    ("no_axes_no_sum", "(float[2,3] x, int64[0] a) => (float[2,3] y) { y = ReduceSum<"
     "noop_with_empty_axes = 1>(x, a) }", 13, [_X, i([])], [_X]),
    ("lp_of_zeros", "(float[2,2] x) => (float[2,2] y) { y = LpNormalization<p = 1>(x) "
     "}", 22, [f([[0, 0], [-3, 1]])], [f([[0, 0], [-0.75, 0.25]])]),
]

TYPES: list[Row] = [
    ("cast_words", "(string[6] x) => (float[6] y) { y = Cast<to = 1>(x) }", 19, [_words(
     "1e-3", "INF", "-inf", "NaN", "100.5", "1E8")], [f([1e-3, _INF, -_INF, _NAN, 100.5,
     1e8])]),
    ("cast_to_bool", "(float[4] x) => (bool[4] y) { y = Cast<to = 9>(x) }", 13, [f([
     _NAN, -0.0, 0.5, 0])], [np.array([True, False, True, False])]),
    ("cast_to_fewer_bits", "(int16[3] x) => (int8[3] y) { y = Cast<to = 3>(x) }", 19,
     [np.array([200, -129, 256], np.int16)], [np.array([-56, 127, 0], np.int8)]),
    ("cast_ties_to_bfloat16", "(float[3] x) => (bfloat16[3] y) { y = Cast<to = 16>(x) "
     "}", 13, [f([1 + 2**-8, 1 + 3 * 2**-8, 3.4e38])], [np.array([1, 1 + 2**-6, _INF],
     ml_dtypes.bfloat16)]),
    ("cast_to_4_bits", "(float[6] x) => (float4e2m1[6] y) { y = Cast<to = 23>(x) }", 23,
     [f([0.25, 0.75, 5, 100, -1.75, -2.6])], [_bytes(TensorProto.FLOAT4E2M1, [6], [
     0x20, 0x76, 0xDC])]),
    ("cast_up_and_down", "(float[3] x) => (float8e8m0[3] y, float8e8m0[3] z) { y = "
     "Cast<to = 24>(x) z = Cast<to = 24, round_mode = \"down\">(x) }", 24, [f([3, 4,
     0.6])], [_bytes(24, [3], [129, 129, 127]), _bytes(24, [3], [128, 129, 126])]),
    ("dequantize_odd_nibbles", "(uint4[3,1] x, float[3] s, uint4[3] z) => (float[3,1] "
     "y) { y = DequantizeLinear<axis = 0>(x, s, z) }", 21, [_bytes(TensorProto.UINT4, [
     3, 1], [0xF1, 0x08]), f([0.5, 2, 1]), _bytes(TensorProto.UINT4, [3], [0xF2,
     0x00])], [f([[-0.5], [0], [8]])]),
    ("quantize_at_the_ends", "(float[6] x, float s, int8 z) => (int8[6] y) { y = "
     "QuantizeLinear(x, s, z) }", 10, [f([-129, -128.5, -127.5, 126.5, 127.5, 200]),
     f(1), np.array(0, np.int8)], [np.array([-128, -128, -128, 126, 127, 127],
     np.int8)]),  # ORT#3442
    ("quantize_at_a_tie", "(float[3] x) => (uint8[3] y, float s, uint8 z) { y, s, z = "
     "DynamicQuantizeLinear(x) }", 11, [f([-127, 128, 0.5])], [np.array([0, 255, 127],
     np.uint8), f(1), np.array(127, np.uint8)]),  # tract#2672
    ("qlinear_saturates", "(int8[1,1] a, float s, int8 z, int8[1,2] b, float t) => ("
     "int8[1,2] y) { y = QLinearMatMul(a, s, z, b, s, z, t, z) }", 21, [np.array([[
     -100]], np.int8), f(1), np.array(0, np.int8), np.array([[100, -100]], np.int8),
     f(0.5)], [np.array([[-128, 127]], np.int8)]),  # onnx#7835
    ("integers_of_columns", "(uint8[2,2] a, int8[2,2] b, uint8 z, int8[2] w) => ("
     "int32[2,2] y) { y = MatMulInteger(a, b, z, w) }", 10, [np.array([[255, 0], [3,
     128]], np.uint8), np.array([[-128, 127], [5, 6]], np.int8), np.array(128, np.uint8
     ), np.array([1, -2], np.int8)], [np.array([[127, -128], [-125, 0]], np.int32) @
     np.array([[-129, 129], [4, 8]], np.int32)]),
    ("split_words", "(string[2] x) => (string[2,3] y, int64[2] n) { y, n = StringSplit<"
     "delimiter = \",\", maxsplit = 2>(x) }", 20, [_words("a,,b,c", "d")], [np.array([[
     "a", "", "b,c"], ["d", "", ""]], object), i([3, 1])]),
    ("join_words", "(string[2,1] x, string[2] y) => (string[2,2] z) { z = StringConcat("
     "x, y) }", 20, [np.array([["ä"], [""]], object), _words("b", "")], [np.array([[
     "äb", "ä"], ["b", ""]], object)]),
    ("match_words", "(string[3] x) => (bool[3] y) { y = RegexFullMatch<pattern = "
     "\"[0-9]+x?\">(x) }", 20, [_words("12x", "12xy", "7")], [np.array([True, False,
     True])]),
]


def _scan_and_sequence() -> list[Row]:
    reversed_sums = _FROM_THE_END
    return [
        ("loop_of_no_trips", _LOOP, 21, [i(0), np.array(True), f([3, 4])],
         [f([3, 4]), np.zeros((0, 2), _F)]),  # ORT#1272
        ("loop_of_three_trips", _LOOP, 21, [i(3), np.array(True), f([3, 4])],
         [f([24, 32]), f([[-3, -4], [-6, -8], [-12, -16]])]),
        ("scan_reversed", _SCAN, 21, [f([10, 20]), _X], [f([16, 35]), f([[10], [20]])
         + reversed_sums]),  # tract#2848
        ("scan_8", _SCAN_8, 8, [f([10, 20]), _X], [f([16, 35]), f([[13, 15, 16], [26,
         31, 35]])]),  # onnx#8216
        ("sequence_of_rows", "(float[2,3] x) => (float[2,3] y, float[2] z, int64 n) { "
         "s = SplitToSequence<axis = 1, keepdims = 0>(x) y = ConcatFromSequence<axis = "
         "-1, new_axis = 1>(s) m = Constant<value_int = -3>() z = SequenceAt(s, m) n = "
         "SequenceLength(s) }", 21, [_X], [_X, _X[:, 0], i(3)]),  # onnx#6366, 6656
        ("branches_of_two_shapes", "(bool c, float[2,3] x) => (float[n,m] y) { y = If("
         "c)<then_branch = t () => (float[1,3] a) { k = Constant<value_ints = [0]>() a "
         "= ReduceSum(x, k) }, else_branch = e () => (float[2,3] b) { b = Neg(x) }> }",
         21, [np.array(True), _X], [f([[5, 7, 9]])]),
        ("nothing_is_there", "(float[1] x) => (float[1] y, bool h) { h = "
         "OptionalHasElement() y = Neg(x) }", 18, [f([4])], [f([-4]), np.array(False)]),
    ]


NUMBERS = INDICES + SHAPES + ARITHMETIC + TYPES + _scan_and_sequence()


def case_of(row: Row) -> Case:
    _, text, opset, inputs, outputs = row
    return Case(make_model(text, opset), inputs, outputs)


def optional_input() -> Case:
    """A tensor of an optional, and a sequence, as a folder gives them."""
    return Case(
        "(optional(float[2]) x, seq(float[2]) s) => (float[2] y, float[4] z) "
        "{ y = OptionalGetElement(x) z = ConcatFromSequence<axis = 0>(s) }",
        [
            numpy_helper.from_optional(f([1, 2]), "x").SerializeToString(),
            numpy_helper.from_list([f([3, 4]), f([5, 6])], "s"),
        ],
        [f([1, 2]), f([3, 4, 5, 6])],
    )
