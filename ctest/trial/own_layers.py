# SPDX-License-Identifier: Apache-2.0
"""Layers and whole models of a person's own, with the numbers that their texts give.

Rows are as in own_operators.py. Layers are computed by loops over the formulas of
their texts, in double precision.
"""

import numpy as np
import onnx
from onnx import helper, numpy_helper, parser

from own_cases import Case, make_model
from own_operators import Row, f, i, ramp

_D = np.float64


def _sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def _clip(x: np.ndarray) -> np.ndarray:
    return np.clip(x, -0.5, 0.5)


def _wave(*shape: int) -> np.ndarray:
    """Numbers between -1 and 1 that no other shape has at its places."""
    return np.sin(np.arange(np.prod(shape), dtype=_D) * 1.7 + sum(shape)).reshape(shape)


def _f(*values: np.ndarray) -> list[np.ndarray]:
    return [np.asarray(value, np.float32) for value in values]


def _transposed(
    x: np.ndarray, w: np.ndarray, stride: int, dilation: int, out: int, before: int
) -> np.ndarray:
    """The transposed convolution of x[1,C,H,W] with w[C,M,kh,kw], in one group."""
    y = np.zeros((1, w.shape[1], out, out))
    for c, h, v in np.ndindex(x.shape[1:]):
        for m, a, b in np.ndindex(w.shape[1:]):
            row, column = (
                h * stride + a * dilation - before,
                v * stride + b * dilation - before,
            )
            if 0 <= row < out and 0 <= column < out:
                y[0, m, row, column] += x[0, c, h, v] * w[c, m, a, b]
    return y


def _windows(
    x: np.ndarray, size: int, stride: int, before: int, after: int, fill: float
) -> list[np.ndarray]:
    padded = np.pad(x.astype(_D), (before, after), constant_values=fill)
    return [padded[k : k + size] for k in range(0, len(padded) - size + 1, stride)]


def _normal(x: np.ndarray, axes: tuple[int, ...]) -> np.ndarray:
    mean = x.mean(axes, keepdims=True)
    return (x - mean) / np.sqrt(x.var(axes, keepdims=True) + 1e-5)


def _convolutions() -> list[Row]:
    x, w = _wave(1, 2, 3, 3), _wave(2, 1, 3, 3)
    small = _wave(1, 1, 2, 2)
    k = _wave(2, 1, 2)
    line = _wave(1, 2, 6)
    spread = np.pad(line, ((0, 0), (0, 0), (3, 1)))
    depthwise = np.stack(
        [[k[c, 0] @ spread[0, c, [t, t + 3]] for t in range(7)] for c in range(2)]
    )
    same = [v @ f([1, 2, 3]) for v in _windows(ramp(5), 3, 2, 1, 1, 0)]
    even = [v @ f([1, 2, 3]) for v in _windows(ramp(4), 3, 2, 1, 0, 0)]
    deconv = (
        "(float{} x, float{} w) => (float{} y) {{ y = ConvTranspose<{}>(x, w) }}"
    )
    return [
        ("deconv_far_apart", deconv.format("[1,2,3,3]", "[2,1,3,3]", "[1,1,7,7]",
         "strides = [2, 2], dilations = [2, 2], pads = [1, 1, 1, 1]"), 11, _f(x, w),
         _f(_transposed(x, w, 2, 2, 7, 1))),  # ORT#2518
        ("deconv_with_more_behind", deconv.format("[1,2,3,3]", "[2,1,3,3]",
         "[1,1,4,4]", "dilations = [2, 2], pads = [2, 2, 2, 2], output_padding = [1, "
         "1]"), 11, _f(x, w), _f(_transposed(x, w, 1, 2, 4, 2))),  # ORT#14208
        ("deconv_same", deconv.format("[1,1,2,2]", "[1,1,3,3]", "[1,1,2,2]",
         "auto_pad = \"SAME_UPPER\""), 11, _f(small, _wave(1, 1, 3, 3)),
         _f(_transposed(small, _wave(1, 1, 3, 3), 1, 1, 2, 1))),  # ORT#4086
        ("conv_by_channel", "(float[1,2,6] x, float[2,1,2] w) => (float[1,2,7] y) { y "
         "= Conv<group = 2, dilations = [3], pads = [3, 1]>(x, w) }", 11, _f(line, k),
         _f(depthwise[None])),
        ("conv_same_lower", "(float[1,1,5] x, float[1,1,4] v, float[1,1,3] w) => ("
         "float[1,1,3] y, float[1,1,2] z) { y = Conv<auto_pad = \"SAME_LOWER\", "
         "strides = [2]>(x, w) z = Conv<auto_pad = \"SAME_LOWER\", strides = [2]>(v, w"
         ") }", 11,
         [ramp(1, 1, 5), ramp(1, 1, 4), f([[[1, 2, 3]]])], _f(np.reshape(same, (1, 1,
         3)), np.reshape(even, (1, 1, 2)))),
    ]


def _pools() -> list[Row]:
    x = f([-5, -3, -9, -1, -7])
    averages = [v.mean() for v in _windows(x, 3, 2, 2, 0, 0)]
    odd = np.array([4, -3, 2, -1, 5, -6])
    norms = [np.cbrt(abs(odd[[t, t + 2]] ** 3.0).sum()) for t in range(4)]
    picture = _wave(2, 3, 2, 2)
    lrn = np.empty((2, 3, 2, 2))
    for n, c in np.ndindex(2, 3):
        total = (picture[n, c : min(2, c + 1) + 1] ** 2).sum(0)
        lrn[n, c] = picture[n, c] / (2 + 0.5 / 2 * total) ** 0.75
    return [
        ("average_with_padding", "(float[1,1,5] x) => (float[1,1,3] y) { y = "
         "AveragePool<kernel_shape = [3], strides = [2], pads = [2, 0], "
         "count_include_pad = 1>(x) }", 19, [x.reshape(1, 1, 5)], _f(np.reshape(
         averages, (1, 1, 3)))),
        ("max_below_zero", "(int8[1,1,3] x) => (int8[1,1,4] y) { y = MaxPool<"
         "kernel_shape = [2], pads = [1, 1]>(x) }", 12, [np.array([[[-128, -5, -7]]],
         np.int8)], [np.array([[[-128, -5, -5, -7]]], np.int8)]),
        ("max_of_nothing", "(float[1,1,3,2] x) => (float[1,1,1,0] y) { y = MaxPool<"
         "kernel_shape = [3, 3], strides = [2, 2]>(x) }", 22, [ramp(1, 1, 3, 2)], [
         np.zeros((1, 1, 1, 0), np.float32)]),  # ORT#25234
        ("max_far_apart", "(float[1,1,6] x) => (float[1,1,4] y, int64[1,1,4] i) { y, i "
         "= MaxPool<kernel_shape = [3], dilations = [2], pads = [1, 1]>(x) }", 12, [f([[
         [1, 6, 2, 5, 4, 3]]])], [f([[[6, 4, 6, 4]]]), i([[[1, 4, 1, 4]]])]),
        ("norm_of_3", "(float[1,1,6] x) => (float[1,1,4] y) { y = LpPool<kernel_shape "
         "= [2], dilations = [2], p = 3>(x) }", 18, [odd.reshape(1, 1, 6).astype(
         np.float32)], _f(np.reshape(norms, (1, 1, 4)))),
        ("norm_of_1", "(float[1,2,3] x) => (float[1,2,1] y) { y = GlobalLpPool<p = 1>("
         "x) }", 2, [f([[[-1, 2, -3], [-1, -1, -1]]])], [f([[[6], [3]]])]),  # TRT#4514
        ("lrn_of_2", "(float[2,3,2,2] x) => (float[2,3,2,2] y) { y = LRN<size = 2, "
         "alpha = 0.5, bias = 2.0>(x) }", 13, _f(picture), _f(lrn)),  # onnx#7805
    ]


def _normalizations() -> list[Row]:
    x = _wave(2, 4, 3)
    scale, bias = _wave(4), _wave(4) + 2
    groups = _normal(x.reshape(2, 2, 6), (2,)).reshape(2, 4, 3)
    layers = _normal(x, (1, 2))
    spread = 1 / np.sqrt(x.var((1, 2), keepdims=True) + 1e-5)
    root = np.sqrt((x * x).mean((1, 2), keepdims=True) + 1e-5)
    each = _wave(4, 3) + 2
    column = (1, 4, 1)
    return [
        ("layer_norm_of_two", "(float[2,4,3] x, float[4,3] s) => (float[2,4,3] y, "
         "float[2,1,1] m, float[2,1,1] d) { y, m, d = LayerNormalization<axis = 1>(x, s"
         ") }", 17, _f(x, each), _f(layers * each, x.mean((1, 2), keepdims=True),
         spread)),  # openvino#36086
        ("group_norm_21", "(float[2,4,3] x, float[4] s, float[4] b) => (float[2,4,3] y)"
         " { y = GroupNormalization<num_groups = 2>(x, s, b) }", 21, _f(x, scale, bias),
         _f(groups * scale.reshape(column) + bias.reshape(column))),
        ("instance_norm_of_lines", "(float[2,4,3] x, float[4] s, float[4] b) => ("
         "float[2,4,3] y) { y = InstanceNormalization(x, s, b) }", 6, _f(x, scale,
         bias), _f(_normal(x, (2,)) * scale.reshape(column) + bias.reshape(column))),
        ("rms_norm_of_two", "(float[2,4,3] x, float[4,3] s) => (float[2,4,3] y) { y = "
         "RMSNormalization<axis = 1>(x, s) }", 23, _f(x, each), _f(x / root * each)),
        ("batch_norm_7_of_each", "(float[2,4,3] x, float[4,3] s, float[4,3] b, "
         "float[4,3] m, float[4,3] v) => (float[2,4,3] y) { y = BatchNormalization<"
         "spatial = 0>(x, s, b, m, v) }", 7, _f(x, each, _wave(4, 3), each / 2, each),
         _f((x - each / 2) / np.sqrt(each + 1e-5) * each + _wave(4, 3))),
        ("drop_nothing", "(float[2,4,3] x, float r, bool t) => (float[2,4,3] y, "
         "bool[2,4,3] m) { y, m = Dropout(x, r, t) }", 13, [*_f(x), f(0), np.array(
         True)], [*_f(x), np.ones((2, 4, 3), bool)]),
        ("hardmax_11", "(float[2,2,3] x) => (float[2,2,3] y) { y = Hardmax(x) }", 11, [
         f([[[1, 5, 2], [5, 0, 1]], [[0, 0, 0], [0, 0, 1]]])], [f([[[0, 1, 0], [0, 0, 0
         ]], [[0, 0, 0], [0, 0, 1]]])]),
        ("log_softmax_far", "(float[1,3] x) => (float[1,3] y) { y = LogSoftmax(x) }",
         13, [f([[0, -1000, -2000]])], [f([[0, -1000, -2000]])]),
        ("slopes_of_rows", "(float[2,3,2] x, float[3,1] s, float[2,3,2] t) => ("
         "float[2,3,2] y, float[2,3,2] z) { y = PRelu(x, s) z = PRelu(x, t) }", 16, [
         -ramp(2, 3, 2, start=-5), f([[1], [-2], [0.5]]), ramp(2, 3, 2)], _f(*(np.where(
         ramp(2, 3, 2, start=-5) > 0, -ramp(2, 3, 2, start=-5) * s, -ramp(2, 3, 2,
         start=-5)) for s in (f([[1], [-2], [0.5]]), ramp(2, 3, 2))))),  # tvm#20149
    ]


def _signals() -> list[Row]:
    signal, window = _wave(10), _wave(4) + 2
    frames = [np.fft.rfft(signal[3 * t : 3 * t + 4] * window) for t in range(3)]
    stft = np.stack([np.real(frames), np.imag(frames)], -1)[None]
    picture = ramp(1, 1, 4, 6)
    halves = picture.reshape(2, 2, 3, 2).mean((1, 3)).reshape(1, 1, 2, 3)
    columns = ramp(1, 4, 4)
    image = np.zeros((1, 1, 3, 4), np.float32)
    for block, (row, column) in enumerate([(0, 0), (0, 2), (1, 0), (1, 2)]):
        image[0, 0, row : row + 2, column : column + 2] += columns[0, :, block].reshape(
            2, 2
        )
    return [
        ("stft_frames", "(float[1,10,1] x, int64 n, float[4] w) => (float[1,3,3,2] y) "
         "{ y = STFT(x, n, w) }", 17, [*_f(signal.reshape(1, 10, 1)), i(3), *_f(window)
         ], _f(stft)),  # ORT#14316
        ("window_symmetric", "(int64 n) => (float[5] y) { y = HannWindow<periodic = 0>("
         "n) }", 17, [i(5)], [f([0, 0.5, 1, 0.5, 0])]),
        ("resize_not_larger", "(float[1,1,4,6] x, int64[2] s) => (float[1,1,2,3] y) { y"
         " = Resize<mode = \"linear\", axes = [2, 3], keep_aspect_ratio_policy = "
         "\"not_larger\">(x, , , s) }", 19, [picture, i([5, 3])], _f(halves)),
        ("resize_to_one", "(float[1,1,4] x, int64[3] s) => (float[1,1,1] y) { y = "
         "Resize<mode = \"linear\", coordinate_transformation_mode = "
         "\"pytorch_half_pixel\">(x, , , s) }", 13, [f([[[7, 8, 9, 10]]]), i([1, 1, 1])
         ], [f([[[7]]])]),
        ("upsample_9", "(float[1,1,2] x, float[3] s) => (float[1,1,3] y) { y = "
         "Upsample(x, s) }", 9, [f([[[3, 4]]]), f([1, 1, 1.5])], [f([[[3, 3, 4]]])]),
        ("upsample_7", "(float[1,1,2] x) => (float[1,2,6] y) { y = Upsample<scales = ["
         "1.0, 2.0, 3.0]>(x) }", 7, [f([[[3, 4]]])], [np.repeat(np.repeat(f([[[3, 4]]]),
         2, 1), 3, 2)]),
        ("image_of_columns", "(float[1,4,4] x, int64[2] s, int64[2] b) => ("
         "float[1,1,3,4] y) { y = Col2Im<strides = [1, 2]>(x, s, b) }", 18, [columns, i(
         [3, 4]), i([2, 2])], [image]),
    ]


def _recurrent() -> list[Row]:
    x, w, r, b = _wave(2, 3, 2), _wave(1, 2, 2), _wave(1, 2, 2) / 2, _wave(1, 4)
    rows, last = np.zeros((2, 3, 1, 2)), np.zeros((2, 1, 2))
    for n, length in enumerate((2, 3)):
        h = np.zeros(2)
        for t in reversed(range(length)):
            h = np.tanh(x[n, t] @ w[0].T + h @ r[0].T + b[0, :2] + b[0, 2:])
            rows[n, t, 0] = h
        last[n, 0] = h
    steps = _wave(3, 1, 2) * 3
    w4, r4, p = _wave(1, 8, 2) * 2, _wave(1, 8, 2), _wave(1, 6)
    h, c, hs = np.zeros(2), np.zeros(2), []
    for t in range(3):
        a = steps[t, 0] @ w4[0].T + h @ r4[0].T
        gate = _sigmoid(_clip(a[:2] + p[0, :2] * c))
        forget = _sigmoid(_clip(a[4:6] + p[0, 4:] * c))
        c = forget * c + gate * np.tanh(_clip(a[6:]))
        h = _sigmoid(_clip(a[2:4] + p[0, 2:4] * c)) * np.tanh(_clip(c))
        hs.append(h)
    w3, r3, b3 = _wave(1, 6, 2), _wave(1, 6, 2) / 3, _wave(1, 12)
    g = np.zeros(2)
    for t in range(3):
        a, q = steps[t, 0] @ w3[0].T + b3[0, :6], g @ r3[0].T + b3[0, 6:]
        z, reset = _sigmoid(a[:2] + q[:2]), _sigmoid(a[2:4] + q[2:4])
        g = (1 - z) * np.tanh(a[4:] + reset * q[4:]) + z * g
    return [
        ("rnn_back_by_lengths", "(float[2,3,2] x, float[1,2,2] w, float[1,2,2] r, "
         "float[1,4] b, int32[2] n) => (float[2,3,1,2] y, float[2,1,2] h) { y, h = RNN<"
         "hidden_size = 2, layout = 1, direction = \"reverse\">(x, w, r, b, n) }", 14,
         [*_f(x, w, r, b), np.array([2, 3], np.int32)], _f(rows, last)),
        ("lstm_with_peepholes", "(float[3,1,2] x, float[1,8,2] w, float[1,8,2] r, "
         "float[1,6] p) => (float[3,1,1,2] y, float[1,1,2] h, float[1,1,2] c) { y, h, "
         "c = LSTM<hidden_size = 2, clip = 0.5>(x, w, r, , , , , p) }", 14, _f(steps,
         w4, r4, p), _f(np.reshape(hs, (3, 1, 1, 2)), h.reshape(1, 1, 2), c.reshape(1,
         1, 2))),
        ("gru_reset_late", "(float[3,1,2] x, float[1,6,2] w, float[1,6,2] r, float[1,12"
         "] b) => (float[1,1,2] h) { y, h = GRU<hidden_size = 2, linear_before_reset = "
         "1>(x, w, r, b) }", 14, _f(steps, w3, r3, b3), _f(g.reshape(1, 1, 2))),
    ]


def _attentions() -> list[Row]:
    q, k, v = _wave(1, 4, 2, 4) * 3, _wave(1, 2, 3, 4) * 2, _wave(1, 2, 3, 4)
    mask = np.array([[True, False, True], [True, True, False]])
    y = np.empty((1, 4, 2, 4))
    for head in range(4):
        scores = 0.8 * np.tanh(q[0, head] @ k[0, head // 2].T / 2 / 0.8)
        e = np.where(mask, np.exp(scores), 0)
        y[0, head] = e / e.sum(1, keepdims=True) @ v[0, head // 2]
    x, angle = _wave(1, 2, 8), _wave(5, 2)
    turned = x.reshape(1, 2, 2, 4).copy()
    for t, place in enumerate((4, 1)):
        cos, sin = np.cos(angle[place]), np.sin(angle[place])
        even, odd = turned[0, t, :, 0::2].copy(), turned[0, t, :, 1::2].copy()
        turned[0, t, :, 0::2] = cos * even - sin * odd
        turned[0, t, :, 1::2] = sin * even + cos * odd
    return [
        ("attention_of_groups", "(float[1,4,2,4] q, float[1,2,3,4] k, float[1,2,3,4] v,"
         " bool[2,3] m) => (float[1,4,2,4] y) { y = Attention<softcap = 0.8>(q, k, v, m"
         ") }", 24, [*_f(q, k, v), mask], _f(y)),
        ("rotary_in_pairs", "(float[1,2,8] x, float[5,2] c, float[5,2] s, int64[1,2] p)"
         " => (float[1,2,8] y) { y = RotaryEmbedding<interleaved = 1, num_heads = 2>("
         "x, c, s, p) }", 23, [*_f(x, np.cos(angle), np.sin(angle)), i([[4, 1]])],
         _f(turned.reshape(1, 2, 8))),
    ]


def layers() -> list[Row]:
    return [
        *_convolutions(), *_pools(), *_normalizations(), *_signals(), *_recurrent(),
        *_attentions(),
    ]  # fmt: skip


_HEAD = '<ir_version: 10, opset_import: ["" : 21, "mine" : 1{}]>\n'


def functions() -> Case:
    """Abs of a person's own, called from a branch, with an input left out."""
    text = _HEAD.format("") + (
        "g (bool c, float[2] x) => (float[2] y, float[2] z) { y = If(c)<then_branch = t"
        " () => (float[2] a) { a = mine.Abs(x) }, else_branch = e () => (float[2] b) {"
        " b = Abs(x) }> z = mine.Abs <k = 5.0> (x, x) }\n"
        '<domain: "mine", opset_import: ["" : 13]> Abs <k: float = 3.0> (p, q) => (r) {'
        " s = Constant<value_float: float = @k>() r = Mul(p, s) }"
    )
    return Case(parser.parse_model(text), [np.array(True), f([-1, 2])],
                [f([-3, 6]), f([-5, 10])])  # fmt: skip


def ml_models() -> Case:
    """LabelEncoder with a word that it lacks, Scaler, and Normalizer of zeros."""
    model = make_model(
        "(string[3] s, float[2,2] x) => (int64[3] a, float[2,2] b, float[2,2] c) "
        "{ a = ai.onnx.ml.LabelEncoder<keys_strings = [\"a\", \"b\"], values_int64s = "
        "[7, 9], default_int64 = -5>(s) b = ai.onnx.ml.Scaler<offset = [1.0, 2.0], "
        "scale = [10.0, -1.0]>(x) c = ai.onnx.ml.Normalizer<norm = \"L1\">(x) }",
        21, ', "ai.onnx.ml" : 2')
    return Case(model, [np.array(["b", "c", "a"], object), f([[3, 1], [0, 0]])],
                [i([9, -5, 7]), f([[20, 1], [-10, 2]]),
                 f([[0.75, 0.25], [0, 0]])])  # fmt: skip


def passed_through() -> Case:
    """An input and an initializer that are outputs, beside an input of no use."""
    model = make_model(
        "(float[2] x, int64[1] unused) => (float[2] x, float[2] w, float[2] y) "
        "<float[2] w = {4, -5}> { y = Add(x, w) }")
    return Case(model, [f([1, 2]), i([3])], [f([1, 2]), f([4, -5]), f([5, -3])])


def overridden() -> Case:
    """A weight that is an input, too, and that the folder gives by its name."""
    model = make_model("(float[2] x, float[2] w) => (float[2] y) { y = Mul(x, w) }")
    model.graph.initializer.append(numpy_helper.from_array(f([10, 10]), "w"))
    return Case(model, [f([1, 2]), f([3, -3])], [f([3, -6])])


def ir_3() -> Case:
    """Weights are inputs in IR version 3; data are there for the true input alone."""
    case = make_model("(float[2] x, float[2] w) => (float[2] y) { y = Mul(x, w) }", 8)
    case.ir_version = 3
    case.graph.initializer.append(numpy_helper.from_array(f([10, -10]), "w"))
    return Case(case, [f([1, 2])], [f([10, -20])])


def sequence_mapped() -> Case:
    """SequenceMap with a second input that is no sequence, after inserts."""
    return Case(
        "(float[2] x, float[1] b) => (float[2,2] y) { e = SequenceEmpty() "
        "s = SequenceInsert(e, x) n = Neg(x) k = Constant<value_int = -1>() "
        "t = SequenceInsert(s, n, k) m = SequenceMap<body = g (float[2] p, float[1] q)"
        " => (float[2] r) { r = Add(p, q) }>(t, b) "
        "y = ConcatFromSequence<axis = 0, new_axis = 1>(m) }",
        [f([1, 2]), f([10])], [f([[9, 8], [11, 12]])])  # fmt: skip


def typed_data() -> Case:
    """Weights in the typed fields: float16 and bfloat16 in int32_data."""
    model = make_model(
        "(float16[2] x, bfloat16[1] z) => (float16[2] y, bfloat16[1] v) "
        "{ y = Add(x, w) v = Neg(u) }")
    for name, dtype, data in (("w", 10, [0x3C00, 0xC000]), ("u", 16, [0x3FC0])):
        model.graph.initializer.append(onnx.TensorProto(
            name=name, data_type=dtype, dims=[len(data)], int32_data=data))
    z = helper.make_tensor("z", 16, [1], [1.0])
    wanted = onnx.TensorProto(data_type=16, dims=[1], int32_data=[0xBFC0])
    return Case(model, [np.array([1, 2], np.float16), z],
                [np.array([2, 0], np.float16), wanted])  # fmt: skip
