# SPDX-License-Identifier: Apache-2.0
"""Operators that move elements and compute nothing, from ONNX's pages.

Those that look elements up by an index, or choose them, are in gathering.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from arithmetic import Array, Given, Shape, by_place, exact, filled, made, places, zeros
from convolution import Layout, inside
from mpmath import mp, mpf
from problem import DATA_TYPES, Draw, Operator, Problem, Undrawable, tensor_text


def moved(
    draw: Draw,
    name: str,
    inputs: dict[str, np.ndarray | None],
    move: Callable[..., np.ndarray],
    /,
    **attributes: Any,
) -> Problem:
    """A problem of input x and output y, by a function of numpy arrays."""
    shape = move(inputs["x"]).shape
    return draw.problem(
        name, inputs, shape, lambda given: [move(given["x"])], **attributes
    )


def draw_concat(draw: Draw) -> Problem:
    axis = draw.choice([0, 1, -1])
    shapes = [[2, 2] for _ in range(draw.integer(1, 3))]
    for shape in shapes:
        shape[axis] = draw.integer(1, 3)
    inputs = {f"x{k}": draw.floats(tuple(s)) for k, s in enumerate(shapes)}
    after = np.concatenate(list(inputs.values()), axis).shape
    return draw.problem(
        "Concat",
        inputs,
        after,
        lambda given: [np.concatenate([given[k] for k in inputs], axis)],
        axis=axis,
    )


def draw_split(draw: Draw) -> Problem:
    axis = draw.choice([0, 1, -2])
    size = draw.integer(3, 5)
    inputs = {"x": draw.floats((2, size) if axis == 1 else (size, 2))}
    if draw.flag():
        ends, count = [draw.integer(1, size - 1)], None
        inputs["split"] = [ends[0], size - ends[0]]
    else:
        count = draw.integer(2, 3)
        ends = [-(-size // count) * k for k in range(1, count)]
        if ends[-1] >= size:
            raise Undrawable("nothing is left of the last part")
    parts = np.split(inputs["x"], ends, axis)
    return draw.problem(
        "Split",
        inputs,
        {f"y{k}": part.shape for k, part in enumerate(parts)},
        lambda given: np.split(given["x"], ends, axis),
        axis=axis,
        num_outputs=count,
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
    inputs = {"x": draw.floats(shape), "starts": starts, "ends": ends}
    inputs |= {"axes": axes, "steps": steps}

    def move(x: np.ndarray) -> np.ndarray:
        for axis, start, end, step in zip(axes, starts, ends, steps):
            size = shape[axis]
            last = min(end, size) if step > 0 else max(end, -1)
            x = np.take(x, range(start % size, last, step), axis)
        return x

    return moved(draw, "Slice", inputs, move)


def draw_transpose(draw: Draw) -> Problem:
    shape = draw.choice([(2, 3), (2, 1, 3), (1, 2, 2, 2)])
    order = list(range(len(shape)))
    draw.random.shuffle(order)
    perm = draw.choice([None, order])
    inputs = {"x": draw.floats(shape)}
    return moved(draw, "Transpose", inputs, lambda x: np.transpose(x, perm), perm=perm)


def by_vector(
    name: str,
    shape: Shape,
    key: str,
    among: list[Shape | None],
    move: Callable[[np.ndarray, Shape | None], np.ndarray],
) -> Operator:
    """An operator that moves x by one of some vectors, the input of a name."""

    def drawn(draw: Draw) -> Problem:
        vector = draw.choice(among)
        inputs = {"x": draw.floats(shape), key: vector}
        return moved(draw, name, inputs, lambda x: move(x, vector))

    return Operator(name, drawn)


def reshaped(x: np.ndarray, wanted: Shape) -> np.ndarray:
    """Reshape, where 0 stands for the size that is there."""
    return x.reshape([x.shape[k] if n == 0 else n for k, n in enumerate(wanted)])


def draw_flatten(draw: Draw) -> Problem:
    axis = draw.choice([None, 0, 1, 2, -1])
    inputs = {"x": draw.floats((2, 1, 3))}
    outer = math.prod((2, 1, 3)[: 1 if axis is None else axis])
    return moved(draw, "Flatten", inputs, lambda x: x.reshape(outer, -1), axis=axis)


def draw_expand(draw: Draw) -> Problem:
    shape, wanted = draw.choice(
        [((1, 3), (2, 3)), ((2, 1), (2,)), ((), (2, 2)), ((2, 1), (3, 1, 3))]
    )
    inputs = {"x": draw.floats(shape), "shape": wanted}
    whole = np.broadcast_shapes(shape, wanted)
    return moved(draw, "Expand", inputs, lambda x: np.broadcast_to(x, whole))


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
    axes = (rank - 1,) if draw.flag(0.3) else tuple(range(rank))
    constant = mode in (None, "constant")
    limits = [shape[axis] - 1 for axis in axes]
    begins = [draw.integer(-1 if constant else 0, min(2, limit)) for limit in limits]
    ends = [draw.integer(0, min(2, limit)) for limit in limits]
    inputs = {
        "x": draw.floats(shape),
        "cuts" if min(begins) < 0 else "pads": [*begins, *ends],
        "value": draw.floats(()) if constant and draw.flag() else None,
        "axes": None,
    }
    if axes != tuple(range(rank)) or draw.flag(0.2):
        inputs["axes"] = [k - rank if draw.flag() else k for k in axes]
    first, whole = [0] * rank, list(shape)
    for axis, begin, end in zip(axes, begins, ends):
        first[axis] = begin
        whole[axis] += begin + end

    def value(given: Given, *index: int) -> mpf:
        at = tuple(
            source(k - begin, size, mode or "constant")
            for k, begin, size in zip(index, first, shape)
        )
        fill = given["value"][()] if "value" in given else mpf(0)
        return fill if None in at else given["x"][at]

    return draw.problem("Pad", inputs, whole, by_place(whole, value), mode=mode)


def draw_crop_pad(draw: Draw) -> Problem:
    shape = (3, 4)
    axes = draw.choice([None, (0,), (-1,), (1, 0)])
    chosen = axes or (0, 1)
    wanted = [draw.integer(1, 6) for _ in chosen]
    whole = list(shape)
    for axis, size in zip(chosen, wanted):
        whole[axis] = size
    # A crop begins at half of the difference rounded down; so does a padding.
    shifts = [
        (size - new) // 2 if size >= new else -((new - size) // 2)
        for size, new in zip(shape, whole)
    ]

    def move(x: np.ndarray) -> np.ndarray:
        def value(*index: int) -> mpf:
            at = tuple(k + shift for k, shift in zip(index, shifts))
            return x[at] if inside(at, shape) else mpf(0)

        return made(whole, value)

    inputs = {"x": draw.floats(shape), "shape": wanted}
    return moved(draw, "CenterCropPad", inputs, move, axes=axes)


# ------------------------------------------------------------ blocks, others


def blocks(name: str, shapes: list[Shape]) -> Operator:
    """DepthToSpace, or SpaceToDepth, of blocks of 2 by 2."""
    deep = name == "DepthToSpace"

    def drawn(draw: Draw) -> Problem:
        mode, shape = draw.choice([None, "DCR", "CRD"]), draw.choice(shapes)
        batch, channels, height, width = shape
        depth = channels // 4 if deep else channels
        wide = (batch, depth, 2 * height, 2 * width) if deep else shape
        after = wide if deep else (batch, depth * 4, height // 2, width // 2)

        def move(x: np.ndarray) -> np.ndarray:
            y = np.empty(after, object)
            for n, c, h, w in places(wide):
                block = 2 * (h % 2) + w % 2
                channel = c * 4 + block if mode == "CRD" else block * depth + c
                at, narrow = (n, c, h, w), (n, channel, h // 2, w // 2)
                to, of = (at, narrow) if deep else (narrow, at)
                y[to] = x[of]
            return y

        inputs = {"x": draw.floats(shape)}
        return moved(draw, name, inputs, move, blocksize=2, mode=mode)

    return Operator(name, drawn)


def draw_trilu(draw: Draw) -> Problem:
    upper = draw.choice([None, 1, 0])
    shape = draw.choice([(3, 3), (2, 4), (2, 2, 2)])
    inputs = {"x": draw.floats(shape)}
    k = 0
    if draw.flag():
        k = draw.integer(-2, 2)
        inputs["k"] = k

    def move(x: np.ndarray) -> np.ndarray:
        def value(*index: int) -> mpf:
            i, j = index[-2:]
            kept = j - i <= k if upper == 0 else j - i >= k
            return x[index] if kept else mpf(0)

        return made(shape, value)

    return moved(draw, "Trilu", inputs, move, upper=upper)


def draw_reverse_sequence(draw: Draw) -> Problem:
    time = 0 if draw.flag() else 1
    shape = (2, 3) if time else (3, 2)
    lengths = draw.integers((2,), 1, 3)
    inputs = {"x": draw.floats((*shape, 2)), "lengths": lengths}

    def move(x: np.ndarray) -> np.ndarray:
        y = x.copy()
        for line, length in zip(np.moveaxis(y, 1 - time, 0), lengths):
            line[:length] = line[:length][::-1].copy()
        return y

    axes = {"time_axis": time, "batch_axis": 1 - time}
    return moved(draw, "ReverseSequence", inputs, move, **axes)


COLUMNS = [
    Layout((2, 3), (1, 2)),
    Layout((3, 3), (2, 2)),
    Layout((3, 3), (2, 2), strides=(2, 2), pads=(1, 0, 0, 1)),
    Layout((2, 4), (1, 2), dilations=(1, 2)),
]


def draw_col2im(draw: Draw) -> Problem:
    layout = draw.choice(COLUMNS)
    image, block = layout.image, layout.kernel
    window, steps = layout.window()
    inputs = {
        "x": draw.floats((1, math.prod(block), math.prod(steps))),
        **{"image": image, "block": block},
    }

    def move(x: np.ndarray) -> np.ndarray:
        y = zeros((1, 1, *image))
        for row, tap in enumerate(places(block)):
            for column, output in enumerate(places(steps)):
                at = window.at(output, tap)
                if inside(at, image):
                    y[(0, 0, *at)] += x[0, row, column]
        return y

    return moved(draw, "Col2Im", inputs, move, **layout.attributes())


def draw_range(draw: Draw) -> Problem:
    start = float(draw.floats(()))
    size = abs(start) or 1.0
    delta = draw.choice([-1, 1]) * draw.random.uniform(0.2, 1.5) * size
    limit = start + delta * (draw.integer(1, 6) - 0.4)
    numbers = [float(draw.rounded(x)) for x in (start, limit, delta)]
    inputs = dict(zip(("start", "limit", "delta"), numbers))

    def compute(given: Given) -> list[Array]:
        start, limit, delta = (given[name][()] for name in inputs)
        size = max(int(mp.ceil((limit - start) / delta)), 0)
        return [filled((size,), [start + k * delta for k in range(size)])]

    start, limit, delta = map(Fraction, numbers)
    if delta == 0 or not 0 < (limit - start) / delta < 10:
        raise Undrawable("no range or a long one")
    shape = (math.ceil((limit - start) / delta),)
    return draw.problem("Range", inputs, shape, compute)


def draw_eye(draw: Draw) -> Problem:
    shape = draw.choice([(2, 3), (3, 3), (4, 2)])
    k = draw.choice([None, 1, -1])
    inputs = {"x": draw.floats(shape)}

    compute = by_place(shape, lambda _, i, j: mpf(int(j - i == (k or 0))))
    code = DATA_TYPES[draw.type]
    return draw.problem("EyeLike", inputs, shape, compute, k=k, dtype=code)


def draw_constant(draw: Draw) -> Problem:
    """A node of a tensor, or of numbers of float32."""
    x = draw.floats(draw.shape(0, 2, 6))
    given, type = {"value": tensor_text(draw.type, x)}, draw.type
    if draw.flag(0.3):
        x, type = np.clip(x, -1e38, 1e38).astype(np.float32).ravel(), "float"
        given = {"value_floats": list(x)}
    return draw.problem(
        "Constant", {}, x.shape, lambda _: [exact(x)], {"y": type}, **given
    )


def draw_constant_of_shape(draw: Draw) -> Problem:
    """A number, or 0 of float32, in every place of a shape."""
    shape, value = draw.shape(), draw.floats((1,))
    text, kind = tensor_text(draw.type, value), draw.type
    if draw.flag(0.2):
        value, text, kind = np.zeros(1), None, "float"
    y = exact(np.full(shape, value.item()))
    return draw.problem(
        "ConstantOfShape",
        {"shape": shape},
        shape,
        lambda _: [y],
        {"y": kind},
        value=text,
    )


OPERATORS = [
    Operator("Constant", draw_constant),
    Operator("ConstantOfShape", draw_constant_of_shape),
    Operator("Concat", draw_concat),
    Operator("Split", draw_split),
    Operator("Slice", draw_slice),
    Operator("Transpose", draw_transpose),
    by_vector(
        *("Reshape", (2, 3), "shape"),
        [(3, 2), (-1,), (0, -1), (1, 6), (0, 3, 1)],
        reshaped,
    ),
    Operator("Flatten", draw_flatten),
    by_vector(
        *("Squeeze", (1, 3, 1, 2), "axes"), [None, (0,), (-2,), (0, 2)], np.squeeze
    ),
    by_vector(
        *("Unsqueeze", (2, 3), "axes"), [(0,), (1, 3), (-1,), (2, 0)], np.expand_dims
    ),
    Operator("Expand", draw_expand),
    by_vector("Tile", (2, 2), "repeats", [(2, 1), (1, 3), (2, 2)], np.tile),
    Operator("Pad", draw_pad),
    Operator("CenterCropPad", draw_crop_pad),
    blocks("DepthToSpace", [(1, 4, 1, 2), (1, 8, 1, 1), (1, 4, 2, 1)]),
    blocks("SpaceToDepth", [(1, 1, 2, 4), (1, 2, 2, 2), (1, 1, 4, 2)]),
    Operator("Trilu", draw_trilu),
    Operator("ReverseSequence", draw_reverse_sequence),
    Operator("Col2Im", draw_col2im),
    Operator("Range", draw_range),
    Operator("EyeLike", draw_eye),
]
