# SPDX-License-Identifier: Apache-2.0
"""Operators that look elements up, write them to a place, or choose them.

movement.py exports them. Indices may be negative where the page allows it.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from mpmath import mpf
from problem import (
    NO_BFLOAT16,
    Array,
    Draw,
    Operator,
    Problem,
    Shape,
    Undrawable,
    exact,
    filled,
    node,
    places,
    problem,
)


def draw_gather(draw: Draw) -> Problem:
    shape = draw.choice([(3, 2), (2, 3), (4,), (2, 2, 2)])
    axis = draw.integer(-len(shape), len(shape) - 1)
    size = shape[axis]
    indices = draw.integers(draw.choice([(), (2,), (2, 2)]), -size, size - 1)
    before = axis % len(shape)
    whole = (*shape[:before], *indices.shape, *shape[before + 1 :])

    def compute(given):
        values = []
        for index in places(whole):
            middle = index[before : before + indices.ndim]
            k = int(indices[middle]) % size
            at = (*index[:before], k, *index[before + indices.ndim :])
            values.append(given["x"][at])
        return [filled(whole, values)]

    inputs = {"x": draw.floats(shape), "indices": indices}
    text = node("y", "Gather", inputs, axis=axis or None)
    return problem(draw, text, inputs, {"y": whole}, compute)


def draw_gather_elements(draw: Draw) -> Problem:
    shape = draw.choice([(3, 2), (2, 3), (5,)])
    axis = draw.integer(-len(shape), len(shape) - 1)
    size = shape[axis]
    wanted = list(shape)
    wanted[axis] = draw.integer(1, 4)
    indices = draw.integers(tuple(wanted), -size, size - 1)

    def compute(given):
        values = []
        for index in places(wanted):
            at = list(index)
            at[axis] = int(indices[index]) % size
            values.append(given["x"][tuple(at)])
        return [filled(tuple(wanted), values)]

    inputs = {"x": draw.floats(shape), "indices": indices}
    text = node("y", "GatherElements", inputs, axis=axis or None)
    return problem(draw, text, inputs, {"y": wanted}, compute)


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

    def compute(given):
        values = []
        for index in places(whole):
            found = [int(k) for k in indices[index[: len(outer)]]]
            at = (*index[:first], *found, *index[len(outer) :])
            values.append(given["x"][at])
        return [filled(whole, values)]

    inputs = {"x": draw.floats(shape), "indices": indices}
    text = node("y", "GatherND", inputs, batch_dims=batch)
    return problem(draw, text, inputs, {"y": whole}, compute)


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

    def compute(given):
        y = given["x"].copy()
        for index in places(wanted):
            at = list(index)
            at[axis] = int(indices[index]) % size
            old, new = y[tuple(at)], given["updates"][index]
            y[tuple(at)] = REDUCTIONS[reduction](old, new)
        return [y]

    inputs = {
        "x": draw.floats(shape),
        "indices": indices,
        "updates": draw.floats(tuple(wanted)),
    }
    text = node("y", operator, inputs, axis=axis or None, reduction=reduction)
    opsets = {"": opset} if opset else None
    return problem(draw, text, inputs, {"y": shape}, compute, opsets=opsets)


def draw_scatter(draw: Draw) -> Problem:
    """Deprecated for ScatterElements, without reductions."""
    return draw_scatter_elements(draw, "Scatter", 10)


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
    text = node("y", "ScatterND", inputs, reduction=reduction)
    return problem(draw, text, inputs, {"y": shape}, compute)


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

    text = node("y", "TensorScatter", inputs, mode=mode, axis=axis)
    return problem(draw, text, inputs, {"y": (batch, longest, 2)}, compute)


# -------------------------------------------------------------------- choice


def draw_where(draw: Draw) -> Problem:
    one, left, right = draw.choice(
        [((2, 3), (2, 3), (2, 3)), ((2, 1), (3,), ()), ((3,), (2, 3), (1, 3))]
    )
    whole = np.broadcast_shapes(one, left, right)
    inputs = {
        "condition": draw.flags(one),
        "x": draw.floats(left),
        "z": draw.floats(right),
    }

    def compute(given):
        spread = [np.broadcast_to(given[name], whole) for name in inputs]
        values = [
            spread[1][index] if spread[0][index] else spread[2][index]
            for index in places(whole)
        ]
        return [filled(whole, values)]

    text = node("y", "Where", inputs)
    return problem(draw, text, inputs, {"y": whole}, compute)


def draw_compress(draw: Draw) -> Problem:
    shape = (3, 2)
    axis = draw.choice([None, 0, 1, -2])
    size = 6 if axis is None else shape[axis]
    condition = draw.flags((draw.integer(1, size),))
    condition[draw.integer(0, len(condition) - 1)] = True
    kept = [k for k, flag in enumerate(condition) if flag]

    def chosen(x: np.ndarray) -> np.ndarray:
        return x.ravel()[kept] if axis is None else np.take(x, kept, axis)

    inputs = {"x": draw.floats(shape), "condition": condition}
    return problem(
        draw,
        node("y", "Compress", inputs, axis=axis),
        inputs,
        {"y": chosen(inputs["x"]).shape},
        lambda given: [chosen(given["x"])],
    )


def draw_one_hot(draw: Draw) -> Problem:
    depth = draw.integer(2, 4)
    indices = draw.integers(draw.choice([(3,), (2, 2)]), -depth - 1, depth)
    axis = draw.choice([None, 0, -1, 1])
    at = indices.ndim if axis in (None, -1) else axis
    whole = list(indices.shape)
    whole.insert(at, depth)

    def compute(given):
        values = []
        for index in places(whole):
            k = int(indices[(*index[:at], *index[at + 1 :])])
            hot = -depth <= k < depth and index[at] == k % depth
            values.append(given["values"][int(hot)])
        return [filled(tuple(whole), values)]

    inputs = {
        "indices": indices,
        "depth": np.array(depth, np.int64),
        "values": draw.floats((2,)),
    }
    text = node("y", "OneHot", inputs, axis=axis)
    return problem(draw, text, inputs, {"y": whole}, compute)


def draw_top_k(draw: Draw) -> Problem:
    shape = draw.choice([(5,), (2, 3), (3, 2), (2, 4)])
    axis = draw.choice([None, 0, len(shape) - 1])
    largest = draw.choice([None, 1, 0])
    at = len(shape) - 1 if axis is None else axis
    count = draw.integer(1, shape[at])
    whole = list(shape)
    whole[at] = count

    def compute(given):
        x = np.moveaxis(given["x"], at, -1)
        values = np.empty((*x.shape[:-1], count), object)
        indices = np.zeros(values.shape, np.int64)
        for outer in places(x.shape[:-1]):
            line = list(x[outer])
            # A stable sort leaves the lower index first among equals.
            order = sorted(
                range(len(line)), key=lambda k: line[k] if largest == 0 else -line[k]
            )
            for place, k in enumerate(order[:count]):
                values[(*outer, place)] = line[k]
                indices[(*outer, place)] = k
        return [np.moveaxis(values, -1, at), np.moveaxis(indices, -1, at)]

    inputs = {"x": draw.floats(shape), "k": np.array([count], np.int64)}
    return problem(
        draw,
        node("y, indices", "TopK", inputs, axis=axis, largest=largest),
        inputs,
        {"y": whole, "indices": whole},
        compute,
        {"indices": "int64"},
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
    if axis is None:
        shape = [count]
    else:
        shape[axis] = count
    outputs = {
        "y": shape,
        "indices": (count,),
        "inverse": (len(lines),),
        "counts": (count,),
    }
    return problem(
        draw,
        node(outputs, "Unique", "x", axis=axis, sorted=ordered),
        {"x": x},
        outputs,
        compute,
        dict.fromkeys(list(outputs)[1:], "int64"),
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

    return problem(
        draw,
        node("y", "NonZero", "x"),
        {"x": x},
        {"y": (2, count)},
        compute,
        {"y": "int64"},
        still=["x"],
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
    text = node("y", "NonMaxSuppression", inputs, center_point_box=centred or None)
    return problem(
        draw,
        text,
        inputs,
        {"y": (rows, 3)},
        compute,
        {"y": "int64"},
        still=list(inputs),
    )


OPERATORS = [
    Operator("Gather", draw_gather),
    Operator("GatherElements", draw_gather_elements),
    Operator("GatherND", draw_gather_nd),
    Operator("ScatterElements", draw_scatter_elements),
    Operator("Scatter", draw_scatter, types=NO_BFLOAT16),
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
