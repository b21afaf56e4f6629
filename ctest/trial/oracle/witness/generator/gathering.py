# SPDX-License-Identifier: Apache-2.0
"""Operators that look elements up, write them to a place, or choose them.

Indices may be negative where the page allows it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from arithmetic import Array, Given, Shape, by_place, each, exact, filled, places
from mpmath import mpf
from problem import NO_BFLOAT16, Draw, Operator, Problem, Undrawable


def draw_gather(draw: Draw) -> Problem:
    shape = draw.choice([(3, 2), (2, 3), (4,), (2, 2, 2)])
    axis = draw.integer(-len(shape), len(shape) - 1)
    size = shape[axis]
    indices = draw.integers(draw.choice([(), (2,), (2, 2)]), -size, size - 1)
    before = axis % len(shape)
    whole = (*shape[:before], *indices.shape, *shape[before + 1 :])

    def source(*index: int) -> Shape:
        k = int(indices[index[before : before + indices.ndim]]) % size
        return (*index[:before], k, *index[before + indices.ndim :])

    return gathered(draw, "Gather", shape, indices, whole, source, axis=axis or None)


def gathered(
    draw: Draw,
    name: str,
    shape: Shape,
    indices: np.ndarray,
    whole: Sequence[int],
    source: Callable[..., Shape],
    /,
    **given: Any,
) -> Problem:
    """A problem of y, whose elements are those of x at the places of a function."""
    inputs = {"x": draw.floats(shape), "indices": indices}
    compute = by_place(whole, lambda of, *index: of["x"][source(*index)])
    return draw.problem(name, inputs, whole, compute, **given)


def draw_gather_elements(draw: Draw) -> Problem:
    shape = draw.choice([(3, 2), (2, 3), (5,)])
    axis = draw.integer(-len(shape), len(shape) - 1)
    size = shape[axis]
    wanted = list(shape)
    wanted[axis] = draw.integer(1, 4)
    indices = draw.integers(tuple(wanted), -size, size - 1)

    def source(*index: int) -> Shape:
        at = list(index)
        at[axis] = int(indices[index]) % size
        return tuple(at)

    given = {"axis": axis or None}
    return gathered(draw, "GatherElements", shape, indices, wanted, source, **given)


def tuples(draw: Draw, outer: Shape, shape: Shape) -> np.ndarray:
    """Index tuples into the first dimensions of a shape."""
    lines = [draw.integers(outer, -size, size - 1) for size in shape]
    return np.stack(lines, axis=-1)


def draw_gather_nd(draw: Draw) -> Problem:
    shape = draw.choice([(3, 2), (2, 2, 2), (2, 3)])
    batch = draw.choice([None, 1])
    first = batch or 0
    depth = draw.integer(1, len(shape) - first)
    outer = (shape[0],) if batch else draw.choice([(2,), (2, 1), ()])
    indices = tuples(draw, outer, shape[first : first + depth])
    whole = (*outer, *shape[first + depth :])

    def source(*index: int) -> Shape:
        found = [int(k) for k in indices[index[: len(outer)]]]
        return (*index[:first], *found, *index[len(outer) :])

    return gathered(draw, "GatherND", shape, indices, whole, source, batch_dims=batch)


# ------------------------------------------------------------------- scatter

REDUCTIONS: dict[str | None, Callable] = {
    None: lambda _, new: new,
    "none": lambda _, new: new,
    "add": lambda old, new: old + new,
    "mul": lambda old, new: old * new,
    "max": max,
    "min": min,
}


def draw_scatter_elements(
    draw: Draw, operator: str = "ScatterElements", opset: int | None = None
) -> Problem:
    """Scatter, which is deprecated, is ScatterElements without reductions."""
    shape = draw.choice([(3, 2), (2, 3), (4,)])
    axis = draw.integer(-len(shape), len(shape) - 1)
    size = shape[axis]
    reduction = None if opset else draw.choice(list(REDUCTIONS))
    wanted = list(shape)
    wanted[axis] = draw.integer(1, size)
    indices = draw.integers(tuple(wanted), -size, size - 1)
    if reduction in (None, "none"):
        # No place may be written twice: each line is a part of an order.
        lines = np.moveaxis(indices, axis, -1)
        for line in places(lines.shape[:-1]):
            order = draw.random.sample(range(size), wanted[axis])
            lines[line] = [k - size * draw.flag() for k in order]
    if opset:
        indices %= size

    def compute(given: Given) -> list[Array]:
        y = given["x"].copy()
        for index in places(wanted):
            at = list(index)
            at[axis] = int(indices[index]) % size
            old, new = y[tuple(at)], given["updates"][index]
            y[tuple(at)] = REDUCTIONS[reduction](old, new)
        return [y]

    inputs = {"x": draw.floats(shape), "indices": indices}
    inputs["updates"] = draw.floats(tuple(wanted))
    given = {"axis": axis or None, "reduction": reduction}
    opsets = {"": opset} if opset else None
    return draw.problem(operator, inputs, shape, compute, opsets=opsets, **given)


def draw_scatter_nd(draw: Draw) -> Problem:
    shape = draw.choice([(3, 2), (2, 2, 2), (5,)])
    depth = draw.integer(1, len(shape))
    reduction = draw.choice(list(REDUCTIONS))
    count = draw.integer(1, 2)
    indices = tuples(draw, (count,), shape[:depth])
    if reduction in (None, "none"):
        free = list(places(shape[:depth]))
        indices = np.array(draw.random.sample(free, count), np.int64)

    def compute(given):
        y = given["x"].copy()
        for n in range(count):
            at = tuple(int(k) for k in indices[n])
            for rest in places(shape[depth:]):
                whole = (*at, *rest)
                new = given["updates"][(n, *rest)]
                y[whole] = REDUCTIONS[reduction](y[whole], new)
        return [y]

    inputs = {
        "x": draw.floats(shape),
        "indices": indices,
        "updates": draw.floats((count, *shape[depth:])),
    }
    return draw.problem("ScatterND", inputs, shape, compute, reduction=reduction)


def draw_tensor_scatter(draw: Draw) -> Problem:
    batch, longest, length = 2, 3, draw.integer(1, 2)
    mode = draw.choice([None, "linear", "circular"])
    axis = draw.choice([None, -2, 1])
    inputs = {
        "x": draw.floats((batch, longest, 2)),
        "update": draw.floats((batch, length, 2)),
    }
    last = longest - 1 if mode == "circular" else longest - length
    if draw.flag(0.8):
        inputs["at"] = draw.integers((batch,), 0, last)

    def compute(given):
        y = given["x"].copy()
        for n, t in places((batch, length)):
            place = t + (int(given["at"][n]) if "at" in given else 0)
            y[n, place % longest] = given["update"][n, t]
        return [y]

    return draw.problem(
        "TensorScatter", inputs, (batch, longest, 2), compute, mode=mode, axis=axis
    )


# -------------------------------------------------------------------- choice


def draw_where(draw: Draw) -> Problem:
    one, left, right = draw.choice(
        [((2, 3), (2, 3), (2, 3)), ((2, 1), (3,), ()), ((3,), (2, 3), (1, 3))]
    )
    inputs = {
        "condition": draw.flags(one),
        "x": draw.floats(left),
        "z": draw.floats(right),
    }
    return draw.problem(
        "Where",
        inputs,
        np.broadcast_shapes(one, left, right),
        lambda given: [each(lambda c, x, z: x if c else z, *given.values())],
    )


def draw_compress(draw: Draw) -> Problem:
    shape = (3, 2)
    axis = draw.choice([None, 0, 1, -2])
    size = 6 if axis is None else shape[axis]
    condition = draw.flags((draw.integer(1, size),))
    condition[draw.integer(0, len(condition) - 1)] = True
    kept = [k for k, flag in enumerate(condition) if flag]
    inputs = {"x": draw.floats(shape), "condition": condition}
    return draw.problem(
        "Compress",
        inputs,
        np.take(inputs["x"], kept, axis).shape,
        lambda given: [np.take(given["x"], kept, axis)],
        axis=axis,
    )


def draw_one_hot(draw: Draw) -> Problem:
    depth = draw.integer(2, 4)
    indices = draw.integers(draw.choice([(3,), (2, 2)]), -depth - 1, depth)
    axis = draw.choice([None, 0, -1, 1])
    at = indices.ndim if axis in (None, -1) else axis
    whole = list(indices.shape)
    whole.insert(at, depth)

    def value(given: Given, *index: int) -> mpf:
        k = int(indices[(*index[:at], *index[at + 1 :])])
        hot = -depth <= k < depth and index[at] == k % depth
        return given["values"][int(hot)]

    inputs = {"indices": indices, "depth": depth, "values": draw.floats((2,))}
    return draw.problem("OneHot", inputs, whole, by_place(whole, value), axis=axis)


def draw_top_k(draw: Draw) -> Problem:
    shape = draw.choice([(5,), (2, 3), (3, 2), (2, 4)])
    axis = draw.choice([None, 0, len(shape) - 1])
    largest = draw.choice([None, 1, 0])
    at = len(shape) - 1 if axis is None else axis
    count = draw.integer(1, shape[at])
    whole = list(shape)
    whole[at] = count

    def compute(given: Given) -> list[Array]:
        x = np.moveaxis(given["x"], at, -1)
        # A stable sort leaves the lower index first among equals.
        orders = np.argsort(x if largest == 0 else -x, axis=-1, kind="stable")
        chosen = np.moveaxis(orders[..., :count], -1, at)
        return [np.take_along_axis(given["x"], chosen, at), chosen]

    return draw.problem(
        "TopK",
        {"x": draw.floats(shape), "k": [count]},
        {"y": whole, "indices": whole},
        compute,
        types={"indices": "int64"},
        axis=axis,
        largest=largest,
    )


def distinct(lines: list[tuple], ordered: bool) -> list[tuple]:
    """Each line once: in ascending order, or as they first come."""
    found: list[tuple] = []
    for line in lines:
        if line not in found:
            found.append(line)
    return sorted(found) if ordered else found


def draw_unique(draw: Draw) -> Problem:
    axis = draw.choice([None, None, 0, 1])
    ordered = draw.choice([None, 1, 0])
    x = draw.floats((3, 2))
    if draw.flag() and axis is not None:
        np.moveaxis(x, axis, 0)[-1] = np.moveaxis(x, axis, 0)[0]

    def lines_of(array: np.ndarray) -> list[tuple]:
        if axis is None:
            return [(value,) for value in array.ravel()]
        return [tuple(line) for line in np.moveaxis(array, axis, 0)]

    def compute(given) -> list[Array]:
        lines = lines_of(given["x"])
        found = distinct(lines, ordered != 0)
        y = filled((len(found), len(found[0])), [v for line in found for v in line])
        counts = [lines.count(line) for line in found]
        return [
            y.ravel() if axis is None else np.moveaxis(y, 0, axis),
            np.array([lines.index(line) for line in found], np.int64),
            np.array([found.index(line) for line in lines], np.int64),
            np.array(counts, np.int64),
        ]

    lines = lines_of(x)
    count = len(distinct(lines, True))
    shape = [3, 2]
    if axis is not None:
        shape[axis] = count
    outputs = {"y": [count] if axis is None else shape, "indices": (count,)}
    outputs |= {"inverse": (len(lines),), "counts": (count,)}
    return draw.problem(
        "Unique",
        {"x": x},
        outputs,
        compute,
        types=dict.fromkeys(list(outputs)[1:], "int64"),
        axis=axis,
        sorted=ordered,
    )


def draw_non_zero(draw: Draw) -> Problem:
    x = draw.floats((2, 3))
    x[draw.flags(x.shape)] = 0.0
    count = int(np.count_nonzero(x))
    if count == 0:
        raise Undrawable("all are zero")

    def compute(given):
        found = [at for at in places(x.shape) if given["x"][at] != mpf(0)]
        return [np.array(found, np.int64).T]

    return draw.problem(
        "NonZero", {"x": x}, (2, count), compute, types={"y": "int64"}, still=["x"]
    )


# -------------------------------------------------------- NonMaxSuppression


def overlap(one: list, other: list) -> mpf:
    """Intersection over union of two boxes [y1, x1, y2, x2], in any order."""
    inner, areas = mpf(1), [mpf(1), mpf(1)]
    for axis in (0, 1):
        spans = [sorted((box[axis], box[axis + 2])) for box in (one, other)]
        low = max(span[0] for span in spans)
        high = min(span[1] for span in spans)
        inner *= max(high - low, mpf(0))
        areas = [a * (s[1] - s[0]) for a, s in zip(areas, spans)]
    union = areas[0] + areas[1] - inner
    return inner / union if union > 0 else mpf(0)


def suppressed(given: dict[str, Array], most: int, centred: bool) -> list[list[int]]:
    """The boxes that stay, by class, the best scores first."""
    boxes = [list(box) for box in given["boxes"][0]]
    if centred:
        boxes = [[y - h / 2, x - w / 2, y + h / 2, x + w / 2] for x, y, w, h in boxes]
    chosen = []
    for c, scores in enumerate(given["scores"][0]):
        kept: list[int] = []
        order = sorted(range(len(boxes)), key=lambda k: -scores[k])
        for k in order:
            if scores[k] < given["least"][0] or len(kept) == most:
                continue
            overlaps = [overlap(boxes[k], boxes[other]) for other in kept]
            if all(value <= given["limit"][0] for value in overlaps):
                kept.append(k)
        chosen += [[0, c, k] for k in kept]
    return chosen


def draw_suppression(draw: Draw) -> Problem:
    count, classes = 4, draw.integer(1, 2)
    centred = draw.flag()
    corners = [draw.rounded(draw.random.uniform(0, 2)) for _ in range(2 * count)]
    sizes = [draw.rounded(draw.random.uniform(0.5, 2)) for _ in range(2 * count)]
    first = np.array(corners).reshape(count, 2)
    second = np.array(sizes).reshape(count, 2)
    if not centred:
        second = draw.rounded(first + second)
    inputs = {
        "boxes": np.concatenate([first, second], axis=1)[np.newaxis],
        "scores": draw.floats((1, classes, count), 0.0, 1.0),
        "most": draw.integers((1,), 1, 3),
        "limit": draw.rounded([draw.random.uniform(0.1, 0.6)]),
        "least": draw.rounded([draw.random.uniform(0.0, 0.4)]),
    }
    if len(set(inputs["scores"].ravel())) < count * classes:
        raise Undrawable("two scores are equal")

    def compute(given):
        most = int(given["most"][0])
        return [np.array(suppressed(given, most, centred), np.int64)]

    given = {name: exact(value) for name, value in inputs.items()}
    rows = len(suppressed(given, int(inputs["most"][0]), centred))
    if rows == 0:
        raise Undrawable("no box is left")
    return draw.problem(
        "NonMaxSuppression",
        inputs,
        (rows, 3),
        compute,
        types={"y": "int64"},
        still=list(inputs),
        center_point_box=centred or None,
    )


OPERATORS = [
    Operator("Gather", draw_gather),
    Operator("GatherElements", draw_gather_elements),
    Operator("GatherND", draw_gather_nd),
    Operator("ScatterElements", draw_scatter_elements),
    Operator(
        "Scatter",
        lambda draw: draw_scatter_elements(draw, "Scatter", 10),
        types=NO_BFLOAT16,
    ),
    Operator("ScatterND", draw_scatter_nd),
    Operator("TensorScatter", draw_tensor_scatter),
    Operator("Where", draw_where),
    Operator("Compress", draw_compress),
    Operator("OneHot", draw_one_hot),
    Operator("TopK", draw_top_k),
    Operator("Unique", draw_unique),
    Operator("NonZero", draw_non_zero),
    Operator("NonMaxSuppression", draw_suppression, types=("float",)),
]
