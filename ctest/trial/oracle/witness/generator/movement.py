# SPDX-License-Identifier: Apache-2.0
"""Operators that move elements and compute nothing, from ONNX's pages.

Those that look elements up by an index, or choose them, are in gathering.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import gathering
import numpy as np
from convolution import Window, inside
from mpmath import mp, mpf
from problem import (
    DATA_TYPES,
    Array,
    Draw,
    Operator,
    Problem,
    Shape,
    Undrawable,
    constant,
    exact,
    filled,
    node,
    places,
    problem,
    tensor_text,
    zeros,
)


def moved(
    draw: Draw,
    text: str,
    inputs: dict[str, np.ndarray],
    move: Callable[..., np.ndarray],
) -> Problem:
    """A problem of input x and output y, by a function of numpy arrays."""
    shape = move(inputs["x"]).shape
    return problem(draw, text, inputs, {"y": shape}, lambda given: [move(given["x"])])


def integers(*values: int) -> np.ndarray:
    """A vector of int64."""
    return np.array(values, np.int64)


def draw_concat(draw: Draw) -> Problem:
    axis = draw.choice([0, 1, -1])
    shapes = [[2, 2] for _ in range(draw.integer(1, 3))]
    for shape in shapes:
        shape[axis] = draw.integer(1, 3)
    inputs = {f"x{k}": draw.floats(tuple(s)) for k, s in enumerate(shapes)}
    shape = [2, 2]
    shape[axis] = sum(one[axis] for one in shapes)
    return problem(
        draw,
        node("y", "Concat", inputs, axis=axis),
        inputs,
        {"y": shape},
        lambda given: [np.concatenate([given[k] for k in inputs], axis)],
    )


def draw_split(draw: Draw) -> Problem:
    axis = draw.choice([0, 1, -2])
    other, size = 2, draw.integer(3, 5)
    shape = (other, size) if axis == 1 else (size, other)
    inputs = {"x": draw.floats(shape)}
    if draw.flag():
        first = draw.integer(1, size - 1)
        parts = [first, size - first]
        inputs["split"] = integers(*parts)
        count = None
    else:
        count = draw.integer(2, 3)
        step = -(-size // count)
        parts = [step] * (count - 1)
        parts.append(size - sum(parts))
        if parts[-1] <= 0:
            raise Undrawable("nothing is left of the last part")
    ends = list(np.cumsum(parts)[:-1])
    outputs = {
        f"y{k}": (other, part) if axis == 1 else (part, other)
        for k, part in enumerate(parts)
    }
    return problem(
        draw,
        node(outputs, "Split", inputs, axis=axis, num_outputs=count),
        inputs,
        outputs,
        lambda given: list(np.split(given["x"], ends, axis)),
    )


def draw_slice(draw: Draw) -> Problem:
    shape = (3, 4)
    axes = draw.choice([(0, 1), (1,), (-2,), (1, 0)])
    starts, ends, steps = [], [], []
    for axis in axes:
        step = draw.choice([1, 2, -1, -2])
        size = shape[axis]
        first, last = (0, size - 1) if step > 0 else (size - 1, 0)
        starts.append(draw.choice([first, first + (1 if step > 0 else -1)]))
        ends.append(draw.choice([last, 1000 if step > 0 else -1000]))
        steps.append(step)
    if draw.flag():
        starts = [k - shape[axis] for k, axis in zip(starts, axes)]
    inputs = {
        "x": draw.floats(shape),
        "starts": integers(*starts),
        "ends": integers(*ends),
        "axes": integers(*axes),
        "steps": integers(*steps),
    }

    def move(x: np.ndarray) -> np.ndarray:
        for axis, start, end, step in zip(axes, starts, ends, steps):
            size = shape[axis]
            at = start + size if start < 0 else start
            seen = []
            while 0 <= at < size and (at < end if step > 0 else at > end):
                seen.append(at)
                at += step
            x = np.take(x, seen, axis)
        return x

    return moved(draw, node("y", "Slice", inputs), inputs, move)


def draw_transpose(draw: Draw) -> Problem:
    shape = draw.choice([(2, 3), (2, 1, 3), (1, 2, 2, 2)])
    order = list(range(len(shape)))
    draw.random.shuffle(order)
    perm = draw.choice([None, order])
    text = node("y", "Transpose", "x", perm=perm)
    inputs = {"x": draw.floats(shape)}
    return moved(draw, text, inputs, lambda x: np.transpose(x, perm))


def draw_reshape(draw: Draw) -> Problem:
    wanted = draw.choice([(3, 2), (-1,), (0, -1), (1, 6), (0, 3, 1)])
    inputs = {"x": draw.floats((2, 3)), "shape": integers(*wanted)}
    shape = [2 if size == 0 else size for size in wanted]
    return moved(draw, node("y", "Reshape", inputs), inputs, lambda x: x.reshape(shape))


def draw_flatten(draw: Draw) -> Problem:
    axis = draw.choice([None, 0, 1, 2, -1])
    shape = (2, 1, 3)
    outer = math.prod(shape[: 1 if axis is None else axis])
    return moved(
        draw,
        node("y", "Flatten", "x", axis=axis),
        {"x": draw.floats(shape)},
        lambda x: x.reshape(outer, -1),
    )


def draw_squeeze(draw: Draw) -> Problem:
    axes = draw.choice([None, (0,), (-2,), (0, 2)])
    inputs = {"x": draw.floats((1, 3, 1, 2))}
    if axes:
        inputs["axes"] = integers(*axes)
    text = node("y", "Squeeze", inputs)
    return moved(draw, text, inputs, lambda x: np.squeeze(x, axes))


def draw_unsqueeze(draw: Draw) -> Problem:
    axes = draw.choice([(0,), (1, 3), (-1,), (2, 0)])
    inputs = {"x": draw.floats((2, 3)), "axes": integers(*axes)}
    text = node("y", "Unsqueeze", inputs)
    return moved(draw, text, inputs, lambda x: np.expand_dims(x, axes))


def draw_expand(draw: Draw) -> Problem:
    shape, wanted = draw.choice(
        [((1, 3), (2, 3)), ((2, 1), (2,)), ((), (2, 2)), ((2, 1), (3, 1, 3))]
    )
    inputs = {"x": draw.floats(shape), "shape": integers(*wanted)}
    whole = np.broadcast_shapes(shape, wanted)
    text = node("y", "Expand", inputs)
    return moved(draw, text, inputs, lambda x: np.broadcast_to(x, whole))


def draw_tile(draw: Draw) -> Problem:
    repeats = draw.choice([(2, 1), (1, 3), (2, 2)])
    inputs = {"x": draw.floats((2, 2)), "repeats": integers(*repeats)}
    text = node("y", "Tile", inputs)
    return moved(draw, text, inputs, lambda x: np.tile(x, repeats))


# ----------------------------------------------------------------------- Pad


def source(at: int, size: int, mode: str) -> int | None:
    """The place of the data that stands at a place of its padding."""
    if 0 <= at < size:
        return at
    if mode == "edge":
        return min(max(at, 0), size - 1)
    if mode == "wrap":
        return at % size
    if mode == "reflect":
        at %= 2 * (size - 1)
        return min(at, 2 * (size - 1) - at)
    return None


def draw_pad(draw: Draw) -> Problem:
    mode = draw.choice([None, "constant", "reflect", "edge", "wrap"])
    shape = draw.choice([(4,), (2, 3), (3, 2)])
    rank = len(shape)
    axes = tuple(range(rank))
    if draw.flag(0.3):
        axes = (rank - 1,)
    least = -1 if mode in (None, "constant") else 0
    limits = [shape[axis] - 1 for axis in axes]
    begins = [draw.integer(least, min(2, limit)) for limit in limits]
    ends = [draw.integer(0, min(2, limit)) for limit in limits]
    pads = "cuts" if min(begins) < 0 else "pads"
    inputs = {"x": draw.floats(shape), pads: integers(*begins, *ends)}
    names = ["x", pads, "", ""]
    if mode in (None, "constant") and draw.flag():
        inputs["value"] = draw.floats(())
        names[2] = "value"
    if axes != tuple(range(rank)) or draw.flag(0.2):
        given_axes = [axis - rank if draw.flag() else axis for axis in axes]
        inputs["axes"] = integers(*given_axes)
        names[3] = "axes"
    first, whole = [0] * rank, list(shape)
    for axis, begin, end in zip(axes, begins, ends):
        first[axis] = begin
        whole[axis] += begin + end

    def compute(given):
        fill = given["value"][()] if "value" in given else mpf(0)
        values = []
        for index in places(whole):
            at = tuple(
                source(k - begin, size, mode or "constant")
                for k, begin, size in zip(index, first, shape)
            )
            values.append(fill if None in at else given["x"][at])
        return [filled(tuple(whole), values)]

    text = node("y", "Pad", names, mode=mode)
    return problem(draw, text, inputs, {"y": whole}, compute)


def draw_crop_pad(draw: Draw) -> Problem:
    shape = (3, 4)
    axes = draw.choice([None, (0,), (-1,), (1, 0)])
    chosen = axes or (0, 1)
    wanted = [draw.integer(1, 6) for _ in chosen]
    whole = list(shape)
    for axis, size in zip(chosen, wanted):
        whole[axis] = size
    # A crop begins at half of the difference rounded down; so does a padding.
    shifts = []
    for size, new in zip(shape, whole):
        shifts.append((size - new) // 2 if size >= new else -((new - size) // 2))

    def move(x: np.ndarray) -> np.ndarray:
        values = []
        for index in places(whole):
            at = tuple(k + shift for k, shift in zip(index, shifts))
            values.append(x[at] if inside(at, shape) else mpf(0))
        return filled(tuple(whole), values)

    inputs = {"x": draw.floats(shape), "shape": integers(*wanted)}
    text = node("y", "CenterCropPad", inputs, axes=axes)
    return moved(draw, text, inputs, move)


# ------------------------------------------------------------ blocks, others


def draw_depth_to_space(draw: Draw) -> Problem:
    mode = draw.choice([None, "DCR", "CRD"])
    shape = draw.choice([(1, 4, 1, 2), (1, 8, 1, 1), (1, 4, 2, 1)])
    batch, channels, height, width = shape
    depth = channels // 4

    def move(x: np.ndarray) -> np.ndarray:
        y = np.empty((batch, depth, 2 * height, 2 * width), object)
        for n, c, h, w in places(y.shape):
            block = 2 * (h % 2) + w % 2
            channel = c * 4 + block if mode == "CRD" else block * depth + c
            y[n, c, h, w] = x[n, channel, h // 2, w // 2]
        return y

    text = node("y", "DepthToSpace", "x", blocksize=2, mode=mode)
    return moved(draw, text, {"x": draw.floats(shape)}, move)


def draw_space_to_depth(draw: Draw) -> Problem:
    mode = draw.choice([None, "DCR", "CRD"])
    shape = draw.choice([(1, 1, 2, 4), (1, 2, 2, 2), (1, 1, 4, 2)])
    batch, depth, height, width = shape

    def move(x: np.ndarray) -> np.ndarray:
        y = np.empty((batch, depth * 4, height // 2, width // 2), object)
        for n, c, h, w in places(x.shape):
            block = 2 * (h % 2) + w % 2
            channel = c * 4 + block if mode == "CRD" else block * depth + c
            y[n, channel, h // 2, w // 2] = x[n, c, h, w]
        return y

    text = node("y", "SpaceToDepth", "x", blocksize=2, mode=mode)
    return moved(draw, text, {"x": draw.floats(shape)}, move)


def draw_trilu(draw: Draw) -> Problem:
    upper = draw.choice([None, 1, 0])
    shape = draw.choice([(3, 3), (2, 4), (2, 2, 2)])
    inputs = {"x": draw.floats(shape)}
    k = 0
    if draw.flag():
        k = draw.integer(-2, 2)
        inputs["k"] = np.array(k, np.int64)

    def move(x: np.ndarray) -> np.ndarray:
        values = []
        for *outer, i, j in places(shape):
            kept = j - i <= k if upper == 0 else j - i >= k
            values.append(x[(*outer, i, j)] if kept else mpf(0))
        return filled(shape, values)

    text = node("y", "Trilu", inputs, upper=upper)
    return moved(draw, text, inputs, move)


def draw_reverse_sequence(draw: Draw) -> Problem:
    time_first = draw.flag()
    shape = (3, 2) if time_first else (2, 3)
    lengths = draw.integers((2,), 1, 3)
    inputs = {"x": draw.floats((*shape, 2)), "lengths": lengths}

    def move(x: np.ndarray) -> np.ndarray:
        y = x.copy()
        for n, length in enumerate(lengths):
            for t in range(length):
                back = int(length) - 1 - t
                if time_first:
                    y[t, n] = x[back, n]
                else:
                    y[n, t] = x[n, back]
        return y

    text = node(
        "y",
        "ReverseSequence",
        inputs,
        time_axis=0 if time_first else 1,
        batch_axis=1 if time_first else 0,
    )
    return moved(draw, text, inputs, move)


COLUMNS: list[tuple[Shape, Shape, Shape | None, Shape | None, Shape | None]] = [
    ((2, 3), (1, 2), None, None, None),
    ((3, 3), (2, 2), None, None, None),
    ((3, 3), (2, 2), (2, 2), None, (1, 0, 0, 1)),
    ((2, 4), (1, 2), None, (1, 2), None),
]


def draw_col2im(draw: Draw) -> Problem:
    image, block, strides, dilations, pads = draw.choice(COLUMNS)
    window = Window(
        block, strides or (1, 1), dilations or (1, 1), (pads or (0,) * 4)[:2]
    )
    ends = (pads or (0,) * 4)[2:]
    steps = tuple(
        (n + b + e - (k - 1) * d - 1) // s + 1
        for n, b, e, k, d, s in zip(
            image, window.begins, ends, block, window.dilations, window.strides
        )
    )
    rows = math.prod(block)
    inputs = {
        "x": draw.floats((1, rows, math.prod(steps))),
        "image": integers(*image),
        "block": integers(*block),
    }

    def move(x: np.ndarray) -> np.ndarray:
        y = zeros((1, 1, *image))
        for row, tap in enumerate(places(block)):
            for column, output in enumerate(places(steps)):
                at = window.at(output, tap)
                if inside(at, image):
                    y[(0, 0, *at)] += x[0, row, column]
        return y

    text = node("y", "Col2Im", inputs, strides=strides, dilations=dilations, pads=pads)
    return moved(draw, text, inputs, move)


def draw_range(draw: Draw) -> Problem:
    start = float(draw.floats(()))
    size = abs(start) or 1.0
    delta = draw.choice([-1, 1]) * draw.random.uniform(0.2, 1.5) * size
    limit = start + delta * (draw.integer(1, 6) - 0.4)
    numbers = [float(draw.rounded(x)) for x in (start, limit, delta)]
    inputs = {
        name: np.array(number)
        for name, number in zip(("start", "limit", "delta"), numbers)
    }

    def compute(given):
        start, limit, delta = (given[name][()] for name in inputs)
        size = max(int(mp.ceil((limit - start) / delta)), 0)
        return [filled((size,), [start + k * delta for k in range(size)])]

    start, limit, delta = (Fraction(number) for number in numbers)
    if delta == 0 or not 0 < (limit - start) / delta < 10:
        raise Undrawable("no range or a long one")
    shape = (math.ceil((limit - start) / delta),)
    return problem(draw, node("y", "Range", inputs), inputs, {"y": shape}, compute)


def draw_eye(draw: Draw) -> Problem:
    shape = draw.choice([(2, 3), (3, 3), (4, 2)])
    k = draw.choice([None, 1, -1])

    def compute(_) -> list[Array]:
        values = [mpf(int(j - i == (k or 0))) for i, j in places(shape)]
        return [filled(shape, values)]

    text = node("y", "EyeLike", "x", k=k, dtype=DATA_TYPES[draw.type])
    x = draw.floats(shape)
    return problem(draw, text, {"x": x}, {"y": shape}, compute)


def draw_constant(draw: Draw) -> Problem:
    """A node of a tensor, or of numbers of float32."""
    x = draw.floats(draw.shape(0, 2, 6))
    text, type = constant("y", draw.type, x), draw.type
    if draw.flag(0.3):
        x, type = np.clip(x, -1e38, 1e38).astype(np.float32).ravel(), "float"
        text = node("y", "Constant", "", value_floats=list(x))
    return problem(
        draw, text, {}, {"y": x.shape}, lambda _: [exact(x)], types={"y": type}
    )


def draw_constant_of_shape(draw: Draw) -> Problem:
    """A number, or 0 of float32, in every place of a shape."""
    shape, value = draw.shape(), draw.floats((1,))
    text = tensor_text(draw.type, value)
    kind = draw.type
    if draw.flag(0.2):
        value, text, kind = np.zeros(1), None, "float"
    y = exact(np.full(shape, value.item()))
    return problem(
        draw,
        node("y", "ConstantOfShape", "shape", value=text),
        {"shape": np.array(shape, np.int64)},
        {"y": shape},
        lambda _: [y],
        types={"y": kind},
    )


OPERATORS = [
    Operator("Constant", draw_constant),
    Operator("ConstantOfShape", draw_constant_of_shape),
    Operator("Concat", draw_concat),
    Operator("Split", draw_split),
    Operator("Slice", draw_slice),
    Operator("Transpose", draw_transpose),
    Operator("Reshape", draw_reshape),
    Operator("Flatten", draw_flatten),
    Operator("Squeeze", draw_squeeze),
    Operator("Unsqueeze", draw_unsqueeze),
    Operator("Expand", draw_expand),
    Operator("Tile", draw_tile),
    Operator("Pad", draw_pad),
    Operator("CenterCropPad", draw_crop_pad),
    Operator("DepthToSpace", draw_depth_to_space),
    Operator("SpaceToDepth", draw_space_to_depth),
    Operator("Trilu", draw_trilu),
    Operator("ReverseSequence", draw_reverse_sequence),
    Operator("Col2Im", draw_col2im),
    Operator("Range", draw_range),
    Operator("EyeLike", draw_eye),
    *gathering.OPERATORS,
]
