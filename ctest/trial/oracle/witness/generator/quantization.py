# SPDX-License-Identifier: Apache-2.0
"""Casts, and tensors of integers or of narrow floats that stand for floats.

Quotients are exact here: the page's precision of the division is a rounding
between, which an oracle of real numbers has not. Nor does it round to a narrow
float; that numbers beyond its largest become that one is part of the formula.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import ml_dtypes
import numpy as np
from arithmetic import Array, Given, Shape, each, filled
from elementwise import nearest_even, truncate
from mpmath import mpf
from problem import (
    NARROW_FLOATS,
    NO_DOUBLE,
    Draw,
    Operator,
    Problem,
    Undrawable,
    node,
    problem,
)

RANGES = {
    **{f"int{n}": (-(2 ** (n - 1)), 2 ** (n - 1) - 1) for n in (4, 8, 16, 32)},
    **{f"uint{n}": (0, 2**n - 1) for n in (4, 8, 16, 32)},
    **{"int64": (-(2**62), 2**62), "uint64": (0, 2**62), "bool": (0, 1)},
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


def within(type: str, most: int) -> tuple[int, int]:
    """The numbers of a type that are at most so far from 0."""
    low, high = RANGES[type]
    return max(low, -most), min(high, most)


def draw_cast(draw: Draw, name: str) -> Problem:
    """A cast of floats to any type within its range, or of integers to floats."""
    shape, like = draw.shape(0, 2, 6), name == "CastLike"
    if draw.flag(0.2):
        kind = draw.choice(["int32", "int64", "uint8", "int8", "bool"])
        x, to = draw.integers(shape, *within(kind, 1000)), draw.type
    else:
        kind, to = draw.type, draw.choice(list(NUMBERS))
        x = cast_from(draw, shape, to)
    inputs, types = {"x": x}, {"x": kind, "y": to}
    if like:
        inputs["like"] = np.zeros((1,), np.float64 if to in FLOATS else np.int64)
        types["like"] = to
    function = cast(to) if kind in FLOATS else lambda n: mpf(int(n))

    def compute(given: Given) -> list[Array]:
        y = each(function, given["x"])
        return [y if to in FLOATS else whole(y)]

    still = ["like"] if to in FLOATS else inputs
    code = None if like else NUMBERS[to]
    return draw.problem(name, inputs, shape, compute, types, still, to=code)


def cast_from(draw: Draw, shape: Shape, to: str) -> np.ndarray:
    """Floats within the range of a type."""
    if to in FLOATS:
        return draw.floats(shape)
    if to == "bool":
        return draw.floats(shape) * draw.integers(shape, 0, 1)
    limits = within(to, 100 if draw.scale == "tame" else 2**53)
    return draw.floats(shape, *map(float, limits))


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


def by_scale(
    shape: Shape,
    place: Callable[[Shape], Shape],
    function: Callable[[mpf, mpf, int], Any],
) -> Callable[[Given], Array]:
    """The function of each element of x, and the scale and zero that are its own."""

    def compute(given: Given) -> Array:
        x, scale, zero = given["x"], given["scale"], given.get("zero")
        values = []
        for at in np.ndindex(shape):
            shift = 0 if zero is None else int(zero[place(at)])
            values.append(function(x[at], scale[place(at)], shift))
        return filled(shape, values)

    return compute


SHAPES = [(4,), (2, 3), (2, 2, 2), (6, 1)]
INTEGERS = ["uint8", "int8", "uint16", "int16", "uint4", "int4"]


def draw_quantize(draw: Draw) -> Problem:
    shape, type = draw.choice(SHAPES), draw.choice(INTEGERS)
    scales, given, place = draw_scales(draw, shape)
    inputs = {"x": draw.floats(shape), "scale": drawn_scales(draw, scales)}
    if draw.flag(0.3):  # ties, which go to the even; at the edge not quite
        step = 0.3 if draw.scale == "edge" else draw.choice([0.125, 0.5, 2.0])
        inputs["scale"] = draw.rounded(np.full(scales, step))
        step = float(draw.rounded(step))
        inputs["x"] = draw.rounded(step * (draw.integers(shape, -6, 6) + 0.5))
    types = {"y": type}
    if draw.flag(0.8):
        inputs["zero"] = draw.integers(scales, *within(type, 100))
        types["zero"] = type
    else:
        given = {**given, "output_dtype": NUMBERS[type]}
    quantized = by_scale(
        shape, place, lambda x, s, zero: saturated(nearest_even(x / s) + zero, type)
    )
    return draw.problem(
        "QuantizeLinear",
        inputs,
        shape,
        lambda of: [whole(quantized(of))],
        types,
        still=inputs,
        **given,
    )


def draw_dequantize(draw: Draw) -> Problem:
    shape, type = draw.choice(SHAPES), draw.choice([*INTEGERS, "int32"])
    scales, given, place = draw_scales(draw, shape)
    inputs = {
        "x": draw.integers(shape, *within(type, 30000)),
        "scale": draw.floats(scales, 0.0, None if draw.scale == "wild" else 100.0),
    }
    types = {"x": type}
    if type != "int32" and draw.flag(0.7):
        inputs["zero"] = draw.integers(scales, *within(type, 100))
        types["zero"] = type
    made = by_scale(shape, place, lambda x, scale, zero: (int(x) - zero) * scale)
    return draw.problem(
        "DequantizeLinear", inputs, shape, lambda of: [made(of)], types, **given
    )


def draw_dynamic(draw: Draw) -> Problem:
    """Scale and zero point of the numbers themselves."""
    x = draw.floats(draw.choice([(4,), (2, 3), (8,)]))
    if not x.any():
        raise Undrawable("all numbers are 0, so is their scale")

    def compute(given: Given) -> list[Array]:
        numbers = list(given["x"].ravel())
        least, most = min(mpf(0), *numbers), max(mpf(0), *numbers)
        scale = (most - least) / 255
        zero = saturated(nearest_even(-least / scale), "uint8")
        y = each(
            lambda n: saturated(nearest_even(n / scale) + zero, "uint8"), given["x"]
        )
        return [whole(y), filled((), [scale]), np.array(zero)]

    outputs = {"y": x.shape, "scale": (), "zero": ()}
    types = {"y": "uint8", "zero": "uint8"}
    return draw.problem("DynamicQuantizeLinear", {"x": x}, outputs, compute, types)


# ------------------------------------------------------------ integer products


def product(given: Given, *pairs: tuple[str, str]) -> Array:
    """The matrix product of exact integers, less their zero points."""
    a, b = (given[x].astype(object) - int(given.get(zero, 0)) for x, zero in pairs)
    return a.dot(b)


def draw_matmul_integer(draw: Draw) -> Problem:
    kinds = [draw.choice(["int8", "uint8"]) for _ in range(2)]
    inputs, types = {}, {"y": "int32"}
    for name, kind, shape in zip("ab", kinds, [(2, 3), (3, 2)]):
        inputs[name], types[name] = draw.integers(shape, *RANGES[kind]), kind
    if draw.flag(0.7):
        for name, kind in zip(("za", "zb"), kinds):
            inputs[name], types[name] = draw.integers((), *RANGES[kind]), kind
    return draw.problem(
        "MatMulInteger",
        inputs,
        (2, 2),
        lambda given: [whole(product(given, ("a", "za"), ("b", "zb")))],
        types,
    )


def draw_qlinear(
    draw: Draw,
    kind: str,
    tensor: Callable[[Shape], np.ndarray],
    zero: Callable[[], np.ndarray],
) -> tuple[dict[str, np.ndarray], dict[str, str]]:
    """The inputs of QLinearMatMul and their types: a tensor, its scale and its zero."""
    inputs: dict[str, np.ndarray] = {}
    for name, shape in (("a", (2, 3)), ("b", (3, 2)), ("y", ())):
        if name != "y":
            inputs[name] = tensor(shape)
        inputs[f"{name}s"] = drawn_scales(draw, ())
        inputs[f"{name}z"] = zero()
    types = {name: kind for name in inputs if not name.endswith("s")} | {"y": kind}
    return inputs, types


def scale_of(given: Given) -> mpf:
    """The scales of both factors over that of the product."""
    return given["as"].item() * given["bs"].item() / given["ys"].item()


def draw_qlinear_matmul(draw: Draw) -> Problem:
    """Scales are float numbers; each tensor has one, or one for each row."""
    kind = draw.choice(["int8", "uint8"])
    low, high = RANGES[kind]
    inputs, types = draw_qlinear(
        draw,
        kind,
        lambda shape: draw.integers(shape, low, high),
        lambda: draw.integers((), max(low, -20), 20),
    )

    def compute(given: Given) -> list[Array]:
        scale, shift = scale_of(given), int(given["yz"])
        sums = product(given, ("a", "az"), ("b", "bz"))
        y = each(lambda n: saturated(nearest_even(n * scale) + shift, kind), sums)
        return [whole(y)]

    return draw.problem("QLinearMatMul", inputs, (2, 2), compute, types, still=inputs)


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
    types["y"] = draw.type if back else type

    def compute(given: Given) -> list[Array]:
        return [each(lambda n: function(mpf(n)), given["x"])]

    return problem(draw, text, inputs, {"y": shape}, compute, types)


def draw_from_narrow(draw: Draw) -> Problem:
    """A cast of a narrow float, which is exact."""
    type, shape = draw.choice(list(NARROW_FLOATS)), draw.shape(0, 2, 6)
    inputs, name = {"x": draw.narrow(type, shape)}, "Cast"
    other: dict[str, int] = {"to": NUMBERS[draw.type]}
    if draw.flag(0.3) and "float6" not in type:
        inputs["like"], name, other = np.ones((1,)), "CastLike", {}
    made = draw.problem(
        name, inputs, shape, lambda of: [of["x"]], types={"x": type}, **other
    )
    return replace(made, moved=["x"])


def draw_quantize_narrow(draw: Draw) -> Problem:
    shape, type = draw.choice(SHAPES), draw.choice(list(CODES))
    scales, given, place = draw_scales(draw, shape)
    inputs = {"x": draw.floats(shape), "scale": drawn_scales(draw, scales)}
    if draw.flag():
        inputs["zero"] = np.zeros(scales)
    else:
        given = {**given, "output_dtype": CODES[type]}
    function = clipped(type)
    made = by_scale(shape, place, lambda x, scale, _: function(x / scale))
    types = {"y": type, "zero": type}
    return draw.problem(
        "QuantizeLinear", inputs, shape, lambda of: [made(of)], types, **given
    )


def draw_dequantize_narrow(draw: Draw) -> Problem:
    """Scales may be powers of two, of 8 bits, as in microscaling formats."""
    shape, type = draw.choice(SHAPES), draw.choice(list(CODES))
    scales, given, place = draw_scales(draw, shape)
    inputs, types = {"x": draw.narrow(type, shape)}, {"x": type, "zero": type}
    if draw.flag(0.4):
        types["scale"] = "float8e8m0"
        inputs["scale"] = draw.narrow("float8e8m0", scales)
        given = {**given, "output_dtype": NUMBERS[draw.type]}
    else:
        inputs["scale"] = draw.floats(scales, 0.0)
    if draw.flag(0.3):
        inputs["zero"] = np.zeros(scales)
    made = by_scale(shape, place, lambda x, scale, _: x * scale)
    whole = draw.problem(
        "DequantizeLinear", inputs, shape, lambda of: [made(of)], types, **given
    )
    return replace(whole, moved=["x", "scale"])


def draw_qlinear_narrow(draw: Draw) -> Problem:
    """QLinearMatMul of 8-bit floats, whose product is not rounded before."""
    type = draw.choice(EIGHT)
    inputs, types = draw_qlinear(
        draw, type, lambda shape: draw.narrow(type, shape), lambda: np.zeros(())
    )
    function = clipped(type)

    def compute(given: Given) -> list[Array]:
        scale = scale_of(given)
        return [each(lambda sum: function(sum * scale), given["a"].dot(given["b"]))]

    made = draw.problem("QLinearMatMul", inputs, (2, 2), compute, types)
    return replace(made, moved=["a", "b", "as", "bs", "ys"])


# The scales have no double.
OPERATORS = [
    Operator("Cast", lambda draw: draw_cast(draw, "Cast")),
    Operator("CastFromNarrow", draw_from_narrow),
    Operator("CastLike", lambda draw: draw_cast(draw, "CastLike")),
    Operator("CastToNarrow", draw_to_narrow, weight=2),
    Operator("DequantizeLinear", draw_dequantize, types=NO_DOUBLE),
    Operator("DequantizeNarrow", draw_dequantize_narrow, types=NO_DOUBLE),
    Operator("DynamicQuantizeLinear", draw_dynamic, types=("float",), weight=2),
    Operator("MatMulInteger", draw_matmul_integer, types=("float",)),
    Operator("QLinearMatMul", draw_qlinear_matmul, types=NO_DOUBLE),
    Operator("QLinearMatMulNarrow", draw_qlinear_narrow, types=NO_DOUBLE),
    Operator("QuantizeLinear", draw_quantize, types=NO_DOUBLE),
    Operator("QuantizeNarrow", draw_quantize_narrow, types=NO_DOUBLE),
]
