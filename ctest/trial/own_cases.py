# SPDX-License-Identifier: Apache-2.0
"""Folders of a person's own, each with the outcome that is right.

A row of FOLDERS is a folder of one case: its name, what is in it, and its outcome on
the reference and on onednn, or why it is a bad case.
"""

import io
from collections.abc import Callable, Sequence
from pathlib import Path

import ml_dtypes
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper, parser

_F, _D, _I = np.float32, np.float64, np.int64
Data = np.ndarray | bytes | onnx.TensorProto | onnx.SequenceProto


def make_model(text: str, opset: int = 21, more: str = "") -> onnx.ModelProto:
    return parser.parse_model(
        f'<ir_version: 10, opset_import: ["" : {opset}{more}]>\ng {text}'
    )


def _tensor(value: Data, name: str = "") -> bytes:
    if isinstance(value, np.ndarray):
        value = numpy_helper.from_array(value, name)
    return value if isinstance(value, bytes) else value.SerializeToString()


def put(file: Path, data: bytes | Path | None) -> None:
    """Writes a file, a link to a path, or for None a folder."""
    file.parent.mkdir(parents=True, exist_ok=True)
    if data is None:
        file.mkdir()
    elif isinstance(data, Path):
        file.symlink_to(data)
    else:
        file.write_bytes(data)


def npy(array: np.ndarray) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


def npz(compressed: bool = False, **arrays: np.ndarray) -> bytes:
    stream = io.BytesIO()
    (np.savez_compressed if compressed else np.savez)(stream, **arrays)
    return stream.getvalue()


class Case:
    """A folder with a model, files beside it and one data set."""

    def __init__(
        self,
        model: onnx.ModelProto | str | bytes,
        inputs: Sequence[Data] = (),
        outputs: Sequence[Data] = (),
        files: dict[str, bytes] | None = None,
        *,
        name: str = "model.onnx",
        opset: int = 21,
    ) -> None:
        if isinstance(model, str):
            model = make_model(model, opset)
        if isinstance(model, onnx.ModelProto):
            model = model.SerializeToString()
        self.files: dict[str, bytes | Path | None] = {name: model, **(files or {})}
        for what, values in (("input", inputs), ("output", outputs)):
            for i, value in enumerate(values):
                self.files[f"test_data_set_0/{what}_{i}.pb"] = _tensor(value)

    def write(self, folder: Path) -> None:
        for file, data in self.files.items():
            put(folder / file, data)


def _sparse(
    name: str, values: np.ndarray, indices: np.ndarray, dims: Sequence[int]
) -> onnx.SparseTensorProto:
    return helper.make_sparse_tensor(
        numpy_helper.from_array(values, name),
        numpy_helper.from_array(indices.astype(_I), name + "_at"),
        dims,
    )


def _dense(values: np.ndarray, indices: np.ndarray, dims: Sequence[int]) -> np.ndarray:
    dense = np.zeros(dims, values.dtype)
    for value, at in zip(values, indices):
        dense[tuple(at) if indices.ndim == 2 else np.unravel_index(at, dims)] = value
    return dense


def _sparse_case(
    dtype: type, values: list[float], indices: list, dims: list[int], onnx_type: str
) -> Case:
    """A sum with a sparse initializer."""
    shape = ",".join(map(str, dims))
    model = make_model(
        f"({onnx_type}[{shape}] x) => ({onnx_type}[{shape}] y) {{ y = Add(x, w) }}"
    )
    numbers = np.array(values, dtype)
    at = np.array(indices, _I)
    model.graph.sparse_initializer.append(_sparse("w", numbers, at, dims))
    x = (np.arange(np.prod(dims)).reshape(dims) + 1).astype(dtype)
    try:
        y = x + _dense(numbers, at, dims)
    except (IndexError, ValueError):
        y = x
    return Case(model, [x], [y.astype(dtype)])


def _sparse_constant() -> Case:
    values, at = np.array([2, -3], _F), np.array([[0, 1], [1, 2]], _I)
    model = make_model("(float[2,3] x) => (float[2,3] y) { y = Mul(x, w) }")
    constant = helper.make_node(
        "Constant", [], ["w"], sparse_value=_sparse("w", values, at, [2, 3])
    )
    model.graph.node.insert(0, constant)
    x = np.arange(6, dtype=_F).reshape(2, 3) + 1
    return Case(model, [x], [x * _dense(values, at, [2, 3])])


def _sparse_branch() -> Case:
    model = make_model(
        "(bool c, float[3] x) => (float[3] y) { y = If(c)"
        "<then_branch = t () => (float[3] a) { a = Add(x, w) },"
        " else_branch = e () => (float[3] b) { b = Neg(x) }> }"
    )
    branch = next(a.g for a in model.graph.node[0].attribute if a.name[0] == "t")
    branch.sparse_initializer.append(
        _sparse("w", np.array([5], _F), np.array([1], _I), [3])
    )
    x = np.array([1, 2, 3], _F)
    return Case(model, [np.array(True), x], [x + np.array([0, 5, 0], _F)])


def _external(files: dict[str, bytes], **entries: str) -> Case:
    """A sum with a weight of float32[2,3] in external data."""
    model = make_model("(float[2,3] x) => (float[2,3] y) { y = Add(x, w) }")
    weight = model.graph.initializer.add()
    weight.name, weight.data_type = "w", TensorProto.FLOAT
    weight.dims.extend([2, 3])
    weight.data_location = TensorProto.EXTERNAL
    for key, value in entries.items():
        entry = weight.external_data.add()
        entry.key, entry.value = key, value
    x = np.ones((2, 3), _F)
    return Case(model, [x], [x + _W], files)


_W = np.arange(6, dtype=_F).reshape(2, 3) * 2 + 1
_X = np.array([1, -2, 3], _F)
ABS = "(float[3] x) => (float[3] y) { y = Abs(x) }"
_SUB = "(float[3] a, float[3] b) => (float[3] y) { y = Sub(a, b) }"
_A, _B = np.array([5, 7, 9], _F), np.array([1, 2, 4], _F)


def _abs(**changes: object) -> Case:
    """A case that is right, but for what is changed."""
    given: dict = {"model": ABS, "inputs": [_X], "outputs": [np.abs(_X)]}
    given.update(changes)
    return Case(**given)


def _zoo(files: dict[str, bytes], text: str = _SUB, opset: int = 21) -> Case:
    return Case(text, files=files, name="some-model-8.onnx", opset=opset)


def _cast(opset: int, to: str, wanted: list[int], attributes: str = "") -> Case:
    """Infinity, its negative, NaN and 1 as bytes of a float8."""
    number = getattr(TensorProto, to.upper())
    model = make_model(
        f"(float[4] x) => ({to}[4] y) {{ y = Cast<to = {number}{attributes}>(x) }}",
        opset,
    )
    x = np.array([np.inf, -np.inf, np.nan, 1], _F)
    y = onnx.TensorProto(data_type=number, dims=[4], raw_data=bytes(wanted))
    return Case(model, [x], [y])


def _resize(scale: float, start: float, end: float) -> Case:
    """A crop of a ramp, of which linear interpolation gives the places."""
    size, out = 8, int(np.floor(8 * (end - start) * scale))
    x = np.arange(size, dtype=_F).reshape(1, 1, size)
    places = start * (size - 1) + np.arange(out) * (end - start) * (size - 1) / (
        out - 1
    )
    inside = (places >= 0) & (places <= size - 1)
    roi = np.array([0, 0, start, 1, 1, end], _F)
    return Case(
        "(float[1,1,8] x, float[6] roi, float[3] s) => (float[1,1,n] y) "
        '{ y = Resize<coordinate_transformation_mode = "tf_crop_and_resize", '
        'mode = "linear", extrapolation_value = -7.0>(x, roi, s) }',
        [x, roi, np.array([1, 1, scale], _F)],
        [np.where(inside, places, -7).astype(_F).reshape(1, 1, out)],
    )


def _unpool(last: int) -> Case:
    """Indices are those of the 4 x 4 tensor that strides give."""
    at = np.array([[[[0, 5], [10, last]]]], _I)
    y = np.zeros((1, 1, 5, 5), _F)
    for value, place in zip((1, 2, 3, 4), at.flat):
        if place < 16:
            y[0, 0, place // 4, place % 4] = value
    return Case(
        "(float[1,1,2,2] x, int64[1,1,2,2] i, int64[4] s) => (float[1,1,5,5] y) "
        "{ y = MaxUnpool<kernel_shape = [2, 2], strides = [2, 2]>(x, i, s) }",
        [np.array([[[[1, 2], [3, 4]]]], _F), at, np.array([1, 1, 5, 5], _I)],
        [y],
    )


def _blocked() -> Case:
    x = np.array([[1, 2, 3, 4, 5, 6, 7]], np.int8)
    scale = np.array([[0.5, 2, 4]], _F)
    return Case(
        "(int8[1,7] x, float[1,3] s) => (float[1,7] y) "
        "{ y = DequantizeLinear<axis = 1, block_size = 3>(x, s) }",
        [x, scale],
        [x.astype(_F) * np.repeat(scale, 3, axis=1)[:, :7]],
    )


def _sequence(values: list[np.ndarray]) -> onnx.SequenceProto:
    return numpy_helper.from_list(values, "x")


_FREE = make_model(ABS)
del _FREE.opset_import[:]
_SHORT = make_model("(float[3] x) => (float[3] y) { y = Add(x, w) }")
_SHORT.graph.initializer.append(
    onnx.TensorProto(name="w", data_type=1, dims=[3], raw_data=bytes(8))
)
OTHER = make_model(ABS, 21, ', "acme" : 1')
OTHER.graph.node[0].domain = "acme"
_NAMED = {"a": npy(_A), "b": npy(_B)}
_OUT = npy(_A - _B)
_SET = "test_data_set_0/"
_OK, _DECLINED = "pass", "unsupported"

# Name, folder, outcome on the reference, on onednn; "bad: ..." of the folder itself.
# Where oneDNN may decline, either is right.
_EITHER = "pass|unsupported"
FOLDERS: list[tuple[str, Callable[[], Case], str, str]] = [
    ("sparse_vector", lambda: _sparse_case(_F, [2, 4], [1, 5], [6], "float"), _OK, _OK),
    ("sparse_rank_3", lambda: _sparse_case(_F, [2, 4], [[0, 1, 2], [1, 0, 1]], [2, 2,
     3], "float"), _OK, _OK),
    ("sparse_int64", lambda: _sparse_case(_I, [7], [3], [2, 2], "int64"), _OK, _EITHER),
    ("sparse_float16", lambda: _sparse_case(np.float16, [0.5, 2], [0, 3], [2, 2],
     "float16"), _OK, _EITHER),
    ("sparse_none", lambda: _sparse_case(_D, [], [], [2, 2], "double"), _OK, _EITHER),
    ("sparse_beyond", lambda: _sparse_case(_F, [1], [6], [2, 3], "float"),
     "bad: index|indices", ""),
    ("sparse_twice", lambda: _sparse_case(_F, [1, 2], [3, 3], [2, 3], "float"),
     "bad: index|indices", ""),
    ("sparse_constant", _sparse_constant, _OK, _OK),
    ("sparse_branch", _sparse_branch, _OK, _EITHER),
    ("names_in_other_order", lambda: _zoo({_SET + "input_0.pb": _tensor(_B, "b"), _SET +
     "input_1.pb": _tensor(_A, "a"), _SET + "output_0.pb": _tensor(_A - _B, "y")}), _OK,
     _OK),
    ("names_of_nobody", lambda: _zoo({_SET + "input_0.pb": _tensor(_A, "first"), _SET +
     "input_1.pb": _tensor(_B, "second"), _SET + "output_0.pb": _tensor(_A - _B,
     "third")}), _OK, _OK),
    ("npz_by_name", lambda: _zoo({"test_data_0.npz": npz(b=_B, y=_A - _B, a=_A)}), _OK,
     _OK),
    ("npz_packed", lambda: _zoo({"test_data_0.npz": npz(True, inputs=np.stack([_A,
     _B]), outputs=np.stack([_A - _B]))}), _OK, _OK),
    ("npz_two", lambda: _zoo({"test_data_0.npz": npz(a=_A, b=_B, y=_A - _B),
     "test_data_1.npz": npz(a=_B, b=_A, y=_B - _A)}), _OK, _OK),
    ("npz_of_another", lambda: _zoo({"test_data_0.npz": npz(a=_A, c=_B)}),
     "bad: c.* wanted a, b", ""),
    ("npz_torn", lambda: _zoo({"test_data_0.npz": npz(a=_A, b=_B)[:-40]}),
     "bad: test_data_0.npz", ""),
    ("npy_by_name", lambda: _zoo({_SET + "b.npy": _NAMED["b"], _SET + "a.npy": _NAMED[
     "a"], _SET + "output_0.npy": _OUT}), _OK, _OK),
    ("npy_fortran", lambda: _zoo({_SET + "input_0.npy": npy(np.asfortranarray(_W)),
     _SET + "output_0.npy": npy(-_W)},
     "(float[2,3] x) => (float[2,3] y) { y = Neg(x) }"), _OK, _OK),
    ("npy_scalar_float16", lambda: _zoo({_SET + "input_0.npy": npy(np.array(2.5,
     np.float16)), _SET + "output_0.npy": npy(np.array(-2.5, np.float16))},
     "(float16 x) => (float16 y) { y = Neg(x) }"), _OK, _EITHER),
    ("npy_bool", lambda: _zoo({_SET + "input_0.npy": npy(np.array([True, False])), _SET
     + "output_0.npy": npy(np.array([False, True]))},
     "(bool[2] x) => (bool[2] y) { y = Not(x) }"), _OK, _EITHER),
    ("npy_bfloat16", lambda: _zoo({_SET + "input_0.npy": npy(np.array([1.5, -3],
     ml_dtypes.bfloat16)), _SET + "output_0.npy": npy(np.array([1.5, 3],
     ml_dtypes.bfloat16))}, "(bfloat16[2] x) => (bfloat16[2] y) { y = Abs(x) }"), _OK,
     _EITHER),
    ("npy_big_endian", lambda: _abs(inputs=[], files={_SET + "input_0.npy": npy(
     _X.astype(">f4"))}), "bad: input_0.npy.*endian", ""),
    ("npy_pickled", lambda: _abs(inputs=[], files={_SET + "input_0.npy": npy(np.array([
     1, "a", None], object))}), "bad: input_0.npy", ""),
    ("npy_torn", lambda: _abs(inputs=[], files={_SET + "input_0.npy": npy(_X)[:-4]}),
     "bad: input_0.npy", ""),
    ("external_offset", lambda: _external({"w.bin": bytes(8) + _W.tobytes() + bytes(4)},
     location="w.bin", offset="8", length="24"), _OK, _OK),
    ("external_below", lambda: _external({"weights/w.bin": _W.tobytes()},
     location="weights/w.bin"), _OK, _OK),
    ("external_above", lambda: _external({},
     location="../external_below/weights/w.bin"), "bad: \\.\\./external_below", ""),
    ("external_absolute", lambda: _external({}, location="/dev/zero"), "bad: /dev/zero",
     ""),
    ("external_missing", lambda: _external({}, location="no.bin"), "bad: no.bin", ""),
    ("external_negative", lambda: _external({"w.bin": _W.tobytes()}, location="w.bin",
     offset="-8"), "bad: -8", ""),
    ("no_outputs", lambda: _abs(outputs=[]), _OK, _OK),
    ("half_of_the_outputs", lambda: Case(
     "(float[3] x) => (float[3] y, float[3] z) { y = Abs(x) z = Neg(x) }", [_X], [
     np.abs(_X)]), "bad: output_1.pb", ""),
    ("second_set_without_outputs", lambda: _abs(files={"test_data_set_1/input_0.pb":
     _tensor(_X)}), "bad: test_data_set_1/output_0.pb", ""),
    ("nan_stated", lambda: _abs(inputs=[np.array([np.nan, -1, 2], _F)], outputs=[
     np.array([np.nan, 1, 2], _F)]), _OK, _OK),
    ("nan_for_the_oracle", lambda: Case(_SUB, [np.array([np.nan, np.inf, 2], _F),
     np.array([1, 1, 1], _F)]), _OK, _OK),
    ("bad_dtype", lambda: _abs(inputs=[_X.astype(_D)]), "bad: float64.*float32", ""),
    ("bad_shape", lambda: _abs(inputs=[_X[:2]]), "bad: float32\\[2\\].*float32\\[3\\]",
     ""),
    ("bad_rank", lambda: _abs(inputs=[_X[None]]), "bad: float32\\[1,3\\]", ""),
    ("bad_extra_input", lambda: _abs(inputs=[_X, _X]), "bad: input_1.pb", ""),
    ("bad_no_input", lambda: _abs(inputs=[]), "bad: no value for the input 'x'", ""),
    ("bad_extra_output", lambda: _abs(outputs=[_X, _X]), "bad: output_1.pb", ""),
    ("bad_empty_model", lambda: _abs(model=b''), "bad: model.onnx", ""),
    ("bad_text_model", lambda: _abs(model=b'ir_version: 8'), "bad: model.onnx", ""),
    ("bad_two_models", lambda: _abs(name="a.onnx", files={"b.onnx": b''}),
     "bad: 2 models", ""),
    ("bad_sequence", lambda: _abs(inputs=[_sequence([_X, _X])]), "bad: input_0.pb", ""),
    ("bad_strings", lambda: _abs(inputs=[np.array(["a", "b", "c"], object)]),
     "bad: string", ""),
    ("bad_two_writers", lambda: _abs(
     model="(float[3] x) => (float[3] y) { y = Abs(x) y = Neg(x) }"), "bad: y", ""),
    ("bad_circle", lambda: _abs(
     model="(float[3] x) => (float[3] y) { a = Add(x, y) y = Abs(a) }"), "bad: y", ""),
    ("bad_reads_nothing", lambda: _abs(
     model="(float[3] x) => (float[3] y) { y = Add(x, nobody) }"), "bad: nobody", ""),
    ("bad_no_opset", lambda: _abs(model=_FREE), "bad: opset|domain", ""),
    ("bad_short_weight", lambda: _abs(model=_SHORT), "bad: w", ""),
    ("bad_output_type", lambda: _abs(model=ABS.replace("(float[3] y)",
     "(int64[3] y)")), "bad: float32.*int64", ""),
    ("bad_name_\x07_of_\x1b[31m", _abs, "bad: \\\\x07.*\\\\x1B", ""),
    ("unknown_domain", lambda: _abs(model=OTHER), _DECLINED, _DECLINED),
    ("unknown_opset", lambda: _abs(opset=99), _DECLINED, _DECLINED),
    ("empty_inner", lambda: Case(
     "(float[2,0] a, float[0,3] b) => (float[2,3] y) { y = MatMul(a, b) }", [np.zeros((
     2, 0), _F), np.zeros((0, 3), _F)], [np.zeros((2, 3), _F)]), _OK, _EITHER),
    ("empty_inner_of_a_gemm", lambda: Case(
     "(float[0,2] a, float[0,3] b, float[3] c) => (float[2,3] y) { y = Gemm<transA = "
     "1, beta = 2.0>(a, b, c) }", [np.zeros((0, 2), _F), np.zeros((0, 3), _F), _X], [
     np.tile(2 * _X, (2, 1))]), _OK, _EITHER),
    ("empty_maximum", lambda: Case(
     "(float[2,0] x) => (float[2,1] y) { a = Constant<value_ints = [1]>() y = "
     "ReduceMax(x, a) }", [np.zeros((2, 0), _F)], [np.full((2, 1), -np.inf, _F)]), _OK,
     _EITHER),
    ("empty_piece", lambda: Case(
     "(float[2,0] a, float[2,3] b) => (float[2,3] y) { y = Concat<axis = 1>(a, b) }", [
     np.zeros((2, 0), _F), _W], [_W]), _OK, _EITHER),
    ("empty_batch", lambda: Case(
     "(float[0,1,4] x, float[1,1,2] w) => (float[0,1,3] y) { y = Conv(x, w) }", [
     np.zeros((0, 1, 4), _F), np.ones((1, 1, 2), _F)], [np.zeros((0, 1, 3), _F)]), _OK,
     _EITHER),
    ("blocked_short", _blocked, _OK, _EITHER),
    ("cast_19_e4m3fnuz", lambda: _cast(19, "float8e4m3fnuz", [128, 128, 128, 64]), _OK,
     _DECLINED),
    ("cast_23_e5m2fnuz", lambda: _cast(23, "float8e5m2fnuz", [128, 128, 128, 64]), _OK,
     _DECLINED),
    ("cast_24_e4m3fnuz", lambda: _cast(24, "float8e4m3fnuz", [127, 255, 128, 64]), _OK,
     _DECLINED),
    ("cast_21_e4m3fn_unsaturated", lambda: _cast(21, "float8e4m3fn", [127, 255, 127,
     56], ", saturate = 0"), _OK, _DECLINED),
    ("crop_doubled", lambda: _resize(2, 0.25, 0.75), _OK, _EITHER),
    ("crop_beyond", lambda: _resize(1.5, 0.5, 1.5), _OK, _EITHER),
    ("unpool_larger", lambda: _unpool(15), _OK, _DECLINED),
    ("unpool_beyond", lambda: _unpool(16), "error: outside", _DECLINED),
]
