# SPDX-License-Identifier: Apache-2.0
"""Casts, and tensors of integers or of narrow floats that stand for floats.

Quotients are exact here: the page's precision of the division is a rounding
between, which an oracle of real numbers has not. Nor does it round to a narrow
float; that numbers beyond its largest become that one is part of the formula.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
from elementwise import nearest_even, truncate
from mpmath import mpf
from problem import (
    NARROW_FLOATS,
    Array,
    Draw,
    Operator,
    Problem,
    Shape,
    Undrawable,
    each,
    filled,
    node,
)

RANGES = {
    "int8": (-128, 127),
    "uint8": (0, 255),
    "int16": (-(2**15), 2**15 - 1),
    "uint16": (0, 2**16 - 1),
    "int4": (-8, 7),
    "uint4": (0, 15),
    "int32": (-(2**31), 2**31 - 1),
    "uint32": (0, 2**32 - 1),
    "int64": (-(2**62), 2**62),
    "uint64": (0, 2**62),
    "bool": (0, 1),
}
# The numbers of TensorProto.DataType.
NUMBERS = {
    "float": 1,
    "uint8": 2,
    "int8": 3,
    "uint16": 4,
    "int16": 5,
    "int32": 6,
    "int64": 7,
    "bool": 9,
    "float16": 10,
    "double": 11,
    "uint32": 12,
    "uint64": 13,
    "bfloat16": 16,
    "uint4": 21,
    "int4": 22,
}
FLOATS = ("float", "float16", "double", "bfloat16")


def whole(numbers: Array) -> np.ndarray:
    """Exact integers in an array of integers."""
    return np.array([int(n) for n in numbers.ravel()], np.int64).reshape(numbers.shape)


def saturated(number: mpf, type: str) -> int:
    return max(RANGES[type][0], min(RANGES[type][1], int(number)))


# ------------------------------------------------------------------------- casts


def cast(type: str) -> Callable[[mpf], Any]:
    """The function of a cast of a float to a type."""
    if type in FLOATS:
        return lambda x: x
    if type == "bool":
        return lambda x: int(x != 0)
    return lambda x: int(truncate(x))


def draw_cast(draw: Draw, like: bool = False) -> Problem:
    """A cast of floats to any type within its range, or of integers to floats."""
    name, shape = ("CastLike" if like else "Cast"), draw.shape(0, 2, 6)
    if draw.flag(0.2):
        kind = draw.choice(["int32", "int64", "uint8", "int8", "bool"])
        low, high = RANGES[kind]
        x = draw.integers(shape, max(low, -1000), min(high, 1000))
        to = draw.type
    else:
        kind, to = draw.type, draw.choice(list(NUMBERS))
        x = cast_from(draw, shape, to)
    inputs, types = {"x": x}, {"x": kind}
    if like:
        inputs["like"], types["like"] = np.zeros((1,), np.int64), to
        if to in FLOATS:
            inputs["like"] = np.zeros((1,))
    function = cast(to) if kind in FLOATS else lambda n: mpf(int(n))

    def compute(given: Any) -> list[Array]:
        y = each(function, given["x"])
        return [y if to in FLOATS else whole(y)]

    return Problem(
        node=node("y", name, inputs, to=None if like else NUMBERS[to]),
        inputs=inputs,
        types=types,
        outputs=[("y", to, shape)],
        compute=compute,
        moved=["x"] if kind in FLOATS and to in FLOATS else [],
    )


def cast_from(draw: Draw, shape: Shape, to: str) -> np.ndarray:
    """Floats within the range of a type."""
    if to in FLOATS:
        return draw.floats(shape)
    if to == "bool":
        return draw.floats(shape) * draw.integers(shape, 0, 1)
    low, high = RANGES[to]
    low, high = max(low, -(2**53)), min(high, 2**53)
    if draw.scale == "tame":
        low, high = max(low, -100), min(high, 100)
    return draw.floats(shape, float(low), float(high))


def draw_cast_like(draw: Draw) -> Problem:
    return draw_cast(draw, like=True)


# ----------------------------------------------------------------- quantization


def draw_scales(draw: Draw, shape: Shape) -> tuple[Shape, dict[str, int], Any]:
    """The shape of the scales, its attributes, and the place of an element's."""
    kind = draw.choice(["tensor", "axis", "axis", "block"])
    if kind == "tensor":
        return (), {}, lambda at: ()
    axis = draw.integer(0, len(shape) - 1)
    given = {"axis": axis - len(shape) if draw.flag(0.3) else axis}
    if kind == "axis":
        return (shape[axis],), given, lambda at: (at[axis],)
    block = draw.integer(1, shape[axis])
    given["block_size"] = block
    count = -(-shape[axis] // block)
    scales = (*shape[:axis], count, *shape[axis + 1 :])

    def place(at: Shape) -> Shape:
        return (*at[:axis], at[axis] // block, *at[axis + 1 :])

    return scales, given, place


def drawn_scales(draw: Draw, shape: Shape) -> np.ndarray:
    """Steps of a quantization, above zero."""
    if draw.scale == "wild":
        return draw.floats(shape, 2.0**-14, 2.0**14)
    return draw.rounded(draw.floats(shape, 0.125, 2.0) / 4)


def draw_quantize(draw: Draw) -> Problem:
    shape = draw.choice([(4,), (2, 3), (2, 2, 2), (6, 1)])
    type = draw.choice(["uint8", "int8", "uint16", "int16", "uint4", "int4"])
    scales, given, place = draw_scales(draw, shape)
    inputs = {"x": draw.floats(shape), "scale": drawn_scales(draw, scales)}
    types = {"x": draw.type, "scale": draw.type}
    if draw.flag(0.3):  # ties, which go to the even; at the edge not quite
        step = 0.3 if draw.scale == "edge" else draw.choice([0.125, 0.5, 2.0])
        inputs["scale"] = draw.rounded(np.full(scales, step))
        step = float(draw.rounded(step))
        inputs["x"] = draw.rounded(step * (draw.integers(shape, -6, 6) + 0.5))
    zero: np.ndarray | None = None
    if draw.flag(0.8):
        low, high = RANGES[type]
        zero = draw.integers(scales, max(low, -100), min(high, 100))
        inputs["zero"], types["zero"] = zero, type
    else:
        given = {**given, "output_dtype": NUMBERS[type]}

    def compute(inputs: Any) -> list[Array]:
        y = np.empty(shape, object)
        for at in np.ndindex(shape):
            shift = 0 if zero is None else int(zero[place(at)])
            ratio = inputs["x"][at] / inputs["scale"][place(at)]
            y[at] = saturated(nearest_even(ratio) + shift, type)
        return [whole(y)]

    return Problem(
        node=node("y", "QuantizeLinear", inputs, **given),
        inputs=inputs,
        types=types,
        outputs=[("y", type, shape)],
        compute=compute,
    )


def draw_dequantize(draw: Draw) -> Problem:
    shape = draw.choice([(4,), (2, 3), (2, 2, 2), (6, 1)])
    type = draw.choice(["uint8", "int8", "uint16", "int16", "uint4", "int4", "int32"])
    scales, given, place = draw_scales(draw, shape)
    low, high = RANGES[type]
    inputs = {
        "x": draw.integers(shape, max(low, -30000), min(high, 30000)),
        "scale": draw.floats(scales, 0.0, None if draw.scale == "wild" else 100.0),
    }
    types = {"x": type, "scale": draw.type}
    zero: np.ndarray | None = None
    if type != "int32" and draw.flag(0.7):
        zero = draw.integers(scales, max(low, -100), min(high, 100))
        inputs["zero"], types["zero"] = zero, type

    def compute(given: Any) -> list[Array]:
        y = np.empty(shape, object)
        for at in np.ndindex(shape):
            shift = 0 if zero is None else int(zero[place(at)])
            y[at] = (int(given["x"][at]) - shift) * given["scale"][place(at)]
        return [y]

    return Problem(
        node=node("y", "DequantizeLinear", inputs, **given),
        inputs=inputs,
        types=types,
        outputs=[("y", draw.type, shape)],
        compute=compute,
        moved=["scale"],
    )


def draw_dynamic(draw: Draw) -> Problem:
    """Scale and zero point of the numbers themselves."""
    x = draw.floats(draw.choice([(4,), (2, 3), (8,)]))
    if not x.any():
        raise Undrawable("all numbers are 0, so is their scale")

    def compute(given: Any) -> list[Array]:
        numbers = list(given["x"].ravel())
        least, most = min(mpf(0), *numbers), max(mpf(0), *numbers)
        scale = (most - least) / 255
        zero = saturated(nearest_even(-least / scale), "uint8")

        def quantized(number: mpf) -> int:
            return saturated(nearest_even(number / scale) + zero, "uint8")

        y = each(quantized, given["x"])
        return [whole(y), filled((), [scale]), np.array(zero)]

    outputs = [("y", "uint8", x.shape), ("scale", "float", ()), ("zero", "uint8", ())]
    return Problem(
        node=node(["y", "scale", "zero"], "DynamicQuantizeLinear", "x"),
        inputs={"x": x},
        types={"x": "float"},
        outputs=outputs,
        compute=compute,
        moved=["x"],
    )


# ------------------------------------------------------------ integer products


def product(a: Array, b: Array) -> Array:
    """The matrix product of exact integers."""
    rows, columns = a.shape[0], b.shape[1]
    sums = np.empty((rows, columns), object)
    for i, j in np.ndindex(rows, columns):
        sums[i, j] = sum(int(x) * int(y) for x, y in zip(a[i], b[:, j]))
    return sums


def draw_matmul_integer(draw: Draw) -> Problem:
    kinds = [draw.choice(["int8", "uint8"]) for _ in range(2)]
    shapes = [(2, 3), (3, 2)]
    inputs, types = {}, {}
    for name, kind, shape in zip("ab", kinds, shapes):
        inputs[name], types[name] = draw.integers(shape, *RANGES[kind]), kind
    zeros = [0, 0]
    if draw.flag(0.7):
        for at, (name, kind) in enumerate(zip(("za", "zb"), kinds)):
            zeros[at] = draw.integer(*RANGES[kind])
            inputs[name], types[name] = np.array(zeros[at]), kind
    return Problem(
        node=node("y", "MatMulInteger", inputs),
        inputs=inputs,
        types=types,
        outputs=[("y", "int32", (2, 2))],
        compute=lambda given: [
            whole(product(given["a"] - zeros[0], given["b"] - zeros[1]))
        ],
    )


def draw_qlinear_matmul(draw: Draw) -> Problem:
    """Scales are float numbers; each tensor has one, or one for each row."""
    kind = draw.choice(["int8", "uint8"])
    low, high = RANGES[kind]
    inputs: dict[str, np.ndarray] = {}
    types: dict[str, str] = {}
    for name, shape in (("a", (2, 3)), ("b", (3, 2)), ("y", ())):
        if name != "y":
            inputs[name], types[name] = draw.integers(shape, low, high), kind
        inputs[f"{name}s"] = drawn_scales(draw, ())
        inputs[f"{name}z"] = draw.integers((), max(low, -20), 20)
        types |= {f"{name}s": draw.type, f"{name}z": kind}

    def compute(given: Any) -> list[Array]:
        sums = product(given["a"] - given["az"], given["b"] - given["bz"])
        scale = given["as"].item() * given["bs"].item() / given["ys"].item()
        shift = int(given["yz"])
        y = each(lambda n: saturated(nearest_even(n * scale) + shift, kind), sums)
        return [whole(y)]

    return Problem(
        node=node("y", "QLinearMatMul", inputs),
        inputs=inputs,
        types=types,
        outputs=[("y", kind, (2, 2))],
        compute=compute,
    )


# -------------------------------------------------------------- narrow floats

# The numbers of TensorProto.DataType; those of 8 bits first.
CODES = {
    "float8e4m3fn": 17,
    "float8e4m3fnuz": 18,
    "float8e5m2": 19,
    "float8e5m2fnuz": 20,
    "float4e2m1": 23,
    "float6e2m3": 27,
    "float6e3m2": 28,
}
EIGHT = list(CODES)[:4]


def clipped(type: str) -> Callable[[mpf], mpf]:
    """The function of a cast that saturates."""
    most = mpf(float(ml_dtypes.finfo(NARROW_FLOATS[type]).max))
    return lambda x: max(-most, min(x, most))


def one(
    text: str,
    inputs: dict[str, np.ndarray],
    types: dict[str, str],
    y: tuple[str, Shape],
    compute: Callable[[Any], Array],
    moved: list[str],
) -> Problem:
    """A problem of one output y, of a type and a shape."""
    outputs = [("y", *y)]
    return Problem(text, inputs, types, outputs, lambda g: [compute(g)], moved)


def by_scale(
    shape: Shape, place: Callable[[Shape], Shape], function: Callable[[mpf, mpf], mpf]
) -> Callable[[Any], Array]:
    """The function of each element of x and the scale that is its own."""

    def compute(given: Any) -> Array:
        x, scale = given["x"], given["scale"]
        rows = (function(x[at], scale[place(at)]) for at in np.ndindex(shape))
        return filled(shape, rows)

    return compute


def draw_to_narrow(draw: Draw) -> Problem:
    """A cast to a narrow float, and often back."""
    type, shape = draw.choice(list(CODES)), draw.shape(0, 2, 6)
    kind = draw.choice([draw.type, draw.type, draw.type, "int32"])
    x = draw.narrow(type, shape)
    if draw.flag():  # numbers that are not of the type, and some beyond it
        x = draw.rounded(x * draw.choice([1.125, 1.375, 4.0]))
    if kind == "int32":
        x = draw.integers(shape, -600, 600)
    like = draw.flag(0.3) and "float6" not in type  # which CastLike has not
    inputs, types, other = {"x": x}, {"x": kind}, {"to": CODES[type]}
    if like:
        inputs["like"], types["like"], other = np.ones((1,)), type, {}
    back, function = draw.flag(), clipped(type)
    text = node("n" if back else "y", "CastLike" if like else "Cast", inputs, **other)
    if back:
        text += " " + node("y", "Cast", "n", to=NUMBERS[draw.type])

    def compute(given: Any) -> Array:
        return each(lambda n: function(mpf(n)), given["x"])

    y = (draw.type if back else type, shape)
    return one(text, inputs, types, y, compute, [] if kind == "int32" else ["x"])


def draw_from_narrow(draw: Draw) -> Problem:
    """A cast of a narrow float, which is exact."""
    type, shape = draw.choice(list(NARROW_FLOATS)), draw.shape(0, 2, 6)
    inputs, types = {"x": draw.narrow(type, shape)}, {"x": type}
    other: dict[str, int] = {"to": NUMBERS[draw.type]}
    if draw.flag(0.3) and "float6" not in type:
        inputs["like"], types["like"], other = np.ones((1,)), draw.type, {}
    text = node("y", "Cast" if other else "CastLike", inputs, **other)
    return one(text, inputs, types, (draw.type, shape), lambda g: g["x"], ["x"])


def draw_quantize_narrow(draw: Draw) -> Problem:
    shape = draw.choice([(4,), (2, 3), (2, 2, 2), (6, 1)])
    type = draw.choice(list(CODES))
    scales, given, place = draw_scales(draw, shape)
    inputs = {"x": draw.floats(shape), "scale": drawn_scales(draw, scales)}
    types = {"x": draw.type, "scale": draw.type}
    if draw.flag():
        inputs["zero"], types["zero"] = np.zeros(scales), type
    else:
        given = {**given, "output_dtype": CODES[type]}
    function = clipped(type)
    compute = by_scale(shape, place, lambda x, scale: function(x / scale))
    text = node("y", "QuantizeLinear", inputs, **given)
    return one(text, inputs, types, (type, shape), compute, ["x", "scale"])


def draw_dequantize_narrow(draw: Draw) -> Problem:
    """Scales may be powers of two, of 8 bits, as in microscaling formats."""
    shape = draw.choice([(4,), (2, 3), (2, 2, 2), (6, 1)])
    type = draw.choice(list(CODES))
    scales, given, place = draw_scales(draw, shape)
    inputs = {"x": draw.narrow(type, shape)}
    types = {"x": type, "scale": draw.type}
    if draw.flag(0.4):
        types["scale"] = "float8e8m0"
        inputs["scale"] = draw.narrow("float8e8m0", scales)
        given = {**given, "output_dtype": NUMBERS[draw.type]}
    else:
        inputs["scale"] = draw.floats(scales, 0.0)
    if draw.flag(0.3):
        inputs["zero"], types["zero"] = np.zeros(scales), type
    compute = by_scale(shape, place, lambda x, scale: x * scale)
    text = node("y", "DequantizeLinear", inputs, **given)
    return one(text, inputs, types, (draw.type, shape), compute, ["x", "scale"])


def draw_qlinear_narrow(draw: Draw) -> Problem:
    """QLinearMatMul of 8-bit floats, whose product is not rounded before."""
    type = draw.choice(EIGHT)
    inputs: dict[str, np.ndarray] = {}
    types: dict[str, str] = {}
    for name, shape in (("a", (2, 3)), ("b", (3, 2)), ("y", ())):
        if name != "y":
            inputs[name], types[name] = draw.narrow(type, shape), type
        inputs[f"{name}s"] = drawn_scales(draw, ())
        inputs[f"{name}z"] = np.zeros(())
        types |= {f"{name}s": draw.type, f"{name}z": type}
    function = clipped(type)

    def compute(given: Any) -> Array:
        scale = given["as"].item() * given["bs"].item() / given["ys"].item()
        return each(lambda sum: function(sum * scale), given["a"].dot(given["b"]))

    moved = ["a", "b", "as", "bs", "ys"]
    text = node("y", "QLinearMatMul", inputs)
    return one(text, inputs, types, (type, (2, 2)), compute, moved)


NARROW = ("float", "float16", "bfloat16")  # the scales' types
OPERATORS = [
    Operator("Cast", draw_cast),
    Operator("CastFromNarrow", draw_from_narrow),
    Operator("CastLike", draw_cast_like),
    Operator("CastToNarrow", draw_to_narrow, weight=2),
    Operator("DequantizeLinear", draw_dequantize, types=NARROW),
    Operator("DequantizeNarrow", draw_dequantize_narrow, types=NARROW),
    Operator("DynamicQuantizeLinear", draw_dynamic, types=("float",), weight=2),
    Operator("MatMulInteger", draw_matmul_integer, types=("float",)),
    Operator("QLinearMatMul", draw_qlinear_matmul, types=NARROW),
    Operator("QLinearMatMulNarrow", draw_qlinear_narrow, types=NARROW),
    Operator("QuantizeLinear", draw_quantize, types=NARROW),
    Operator("QuantizeNarrow", draw_quantize_narrow, types=NARROW),
]
