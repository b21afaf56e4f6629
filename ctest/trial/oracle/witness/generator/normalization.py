# SPDX-License-Identifier: Apache-2.0
"""Normalizations: of batches, layers, instances, groups, channels and lines."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from mpmath import mp, mpf
from problem import (
    Array,
    Draw,
    Operator,
    Problem,
    Shape,
    along,
    attribute,
    each,
    filled,
    node,
    power,
    reduced,
    total,
)

Attributes = dict[str, Any]


def names(outputs: list[tuple[str, str, Shape]]) -> list[str]:
    return [name for name, _, _ in outputs]


def mean(xs: list[mpf]) -> mpf:
    return total(xs) / len(xs)


def variance(xs: list[mpf]) -> mpf:
    """The mean square of the distances from the mean, of the population."""
    middle = mean(xs)
    return mean([(x - middle) * (x - middle) for x in xs])


def draw_epsilon(draw: Draw) -> tuple[mpf, Attributes]:
    """The default, left out, or another."""
    epsilon = draw.choice([None, None, 1e-3, 1e-12, 0.1])
    return attribute(1e-5 if epsilon is None else epsilon), {"epsilon": epsilon}


def normalized(xs: list[mpf], epsilon: mpf) -> list[mpf]:
    middle, spread = mean(xs), mp.sqrt(variance(xs) + epsilon)
    return [(x - middle) / spread for x in xs]


# -------------------------------------------------------- over the last axes


def draw_layer(draw: Draw) -> Problem:
    shape, axis = draw.choice(
        [((2, 4), None), ((2, 4), 1), ((2, 3), 0), ((2, 2, 3), -2), ((1, 5), -1)]
    )
    first = (-1 if axis is None else axis) % len(shape)
    inner = shape[first:]
    epsilon, given = draw_epsilon(draw)
    inputs = {"x": draw.floats(shape), "scale": draw.floats(inner)}
    if draw.flag(0.7):
        inputs["b"] = draw.floats(inner)
    before = (*shape[:first], *([1] * len(inner)))
    outputs = [("y", draw.type, shape)]
    if draw.flag(0.4):
        outputs += [("mean", "float", before), ("inv", "float", before)]

    def compute(inputs: Any) -> list[Array]:
        rows = inputs["x"].reshape(-1, math.prod(inner))
        parts = (n for row in rows for n in normalized(list(row), epsilon))
        y = each(lambda n, s: n * s, filled(shape, parts), inputs["scale"])
        if "b" in inputs:
            y = each(lambda n, b: n + b, y, inputs["b"])
        means = filled(before, (mean(list(row)) for row in rows))
        deviations = (1 / mp.sqrt(variance(list(row)) + epsilon) for row in rows)
        return [y, means, filled(before, deviations)][: len(outputs)]

    return Problem(
        node=node(
            names(outputs),
            "LayerNormalization",
            inputs,
            axis=axis,
            **given,
        ),
        inputs=inputs,
        types=dict.fromkeys(inputs, draw.type),
        outputs=outputs,
        compute=compute,
        moved=list(inputs),
    )


def draw_rms(draw: Draw) -> Problem:
    shape, axis = draw.choice(
        [((2, 4), None), ((2, 3), 0), ((2, 2, 3), 1), ((1, 5), -1)]
    )
    first = (-1 if axis is None else axis) % len(shape)
    inner = shape[first:]
    epsilon, given = draw_epsilon(draw)

    def compute(inputs: Any) -> list[Array]:
        rows = inputs["x"].reshape(-1, math.prod(inner))
        norms = [mp.sqrt(mean([x * x for x in row]) + epsilon) for row in rows]
        parts = (x / norm for row, norm in zip(rows, norms) for x in row)
        return [each(lambda n, s: n * s, filled(shape, parts), inputs["scale"])]

    return Problem(
        node=node("y", "RMSNormalization", ["x", "scale"], axis=axis, **given),
        inputs={"x": draw.floats(shape), "scale": draw.floats(inner)},
        types={"x": draw.type, "scale": draw.type},
        outputs=[("y", draw.type, shape)],
        compute=compute,
        moved=["x", "scale"],
    )


# --------------------------------------------------------------- over channels

IMAGES = [(1, 2, 4), (2, 2, 2), (1, 2, 2, 2), (2, 3, 2)]


def by_channel(values: Array, rank: int) -> Array:
    """A number for each channel, in a shape that broadcasts."""
    return values.reshape(1, -1, *([1] * (rank - 2)))


def draw_instance(draw: Draw) -> Problem:
    return draw_groups(draw, "InstanceNormalization", ["scale", "b"])


def draw_group(draw: Draw) -> Problem:
    return draw_groups(draw, "GroupNormalization", ["scale", "bias"])


def draw_groups(draw: Draw, name: str, others: list[str]) -> Problem:
    """Channels normalized one by one, or by groups of them."""
    shape = draw.choice([*IMAGES, (1, 4, 2)])
    channels = shape[1]
    groups = channels
    epsilon, given = draw_epsilon(draw)
    if name == "GroupNormalization":
        groups = draw.choice([n for n in range(1, channels + 1) if channels % n == 0])
        given["num_groups"] = groups
    inputs = {"x": draw.floats(shape)}
    inputs |= {key: draw.floats((channels,)) for key in others}

    def compute(inputs: Any) -> list[Array]:
        rows = inputs["x"].reshape(shape[0] * groups, -1)
        flat = (n for row in rows for n in normalized(list(row), epsilon))
        scale, shift = (by_channel(inputs[key], len(shape)) for key in others)
        return [each(lambda n, s, b: n * s + b, filled(shape, flat), scale, shift)]

    return Problem(
        node=node("y", name, inputs, **given),
        inputs=inputs,
        types=dict.fromkeys(inputs, draw.type),
        outputs=[("y", draw.type, shape)],
        compute=compute,
        moved=list(inputs),
    )


def draw_batch(draw: Draw) -> Problem:
    shape = draw.choice([*IMAGES, (4, 2)])
    channels, rank = shape[1], len(shape)
    training = draw.flag(0.4)
    epsilon, given = draw_epsilon(draw)
    momentum = draw.choice([None, 0.5, 0.99]) if training else None
    given |= {"training_mode": int(training) or None, "momentum": momentum}
    inputs = {"x": draw.floats(shape)}
    inputs |= {key: draw.floats((channels,)) for key in ("scale", "b", "mean")}
    inputs["var"] = draw.floats(
        (channels,), 2.0**-10, None if draw.scale == "wild" else 4.0
    )
    outputs = [("y", draw.type, shape)]
    if training:
        outputs += [
            ("new_mean", draw.type, (channels,)),
            ("new_var", draw.type, (channels,)),
        ]
    kept = attribute(0.9 if momentum is None else momentum)

    def moving(old: Array, new: Array) -> Array:
        return each(lambda a, b: a * kept + b * (1 - kept), old, new)

    def compute(inputs: Any) -> list[Array]:
        means, variances, more = inputs["mean"], inputs["var"], []
        if training:
            slices = [list(inputs["x"][:, c].ravel()) for c in range(channels)]
            means = filled((channels,), map(mean, slices))
            variances = filled((channels,), map(variance, slices))
            more = [moving(inputs["mean"], means), moving(inputs["var"], variances)]
        four = (inputs["scale"], inputs["b"], means, variances)
        y = each(
            lambda x, s, b, m, v: (x - m) / mp.sqrt(v + epsilon) * s + b,
            inputs["x"],
            *(by_channel(values, rank) for values in four),
        )
        return [y, *more]

    return Problem(
        node=node(names(outputs), "BatchNormalization", inputs, **given),
        inputs=inputs,
        types=dict.fromkeys(inputs, draw.type),
        outputs=outputs,
        compute=compute,
        moved=list(inputs),
    )


def draw_mean_variance(draw: Draw) -> Problem:
    """Over the axes; to the deviation ONNX's function adds 1e-9."""
    shape = draw.choice([(1, 2, 2, 2), (2, 1, 2, 3), (2, 2, 2, 1)])
    axes = draw.choice([None, [0, 2, 3], [2, 3], [1, 3]])
    over = [0, 2, 3] if axes is None else axes

    def compute(inputs: Any) -> list[Array]:
        x = inputs["x"]
        means = reduced(mean, x, over, True)
        deviations = reduced(lambda xs: mp.sqrt(variance(xs)), x, over, True)
        small = attribute(1e-9)
        return [each(lambda x, m, d: (x - m) / (d + small), x, means, deviations)]

    return Problem(
        node=node("y", "MeanVarianceNormalization", "x", axes=axes),
        inputs={"x": draw.floats(shape)},
        types={"x": draw.type},
        outputs=[("y", draw.type, shape)],
        compute=compute,
        moved=["x"],
    )


def draw_lp(draw: Draw) -> Problem:
    """Lines over their norm; a line of zeros stays zeros."""
    shape = draw.choice([(4,), (2, 3), (2, 2, 3)])
    axis = draw.choice([None, *range(-len(shape), len(shape))])
    p = draw.choice([None, 1, 2])

    def line(xs: list[mpf]) -> list[mpf]:
        if p == 1:
            norm = total(abs(x) for x in xs)
        else:
            norm = mp.sqrt(total(x * x for x in xs))
        return [x / norm if norm != 0 else mpf(0) for x in xs]

    return Problem(
        node=node("y", "LpNormalization", "x", axis=axis, p=p),
        inputs={"x": draw.floats(shape)},
        types={"x": draw.type},
        outputs=[("y", draw.type, shape)],
        compute=lambda inputs: [along(line, inputs["x"], -1 if axis is None else axis)],
        moved=["x"],
    )


def draw_lrn(draw: Draw) -> Problem:
    """Each number over a power of the squares of its neighbours' sum."""
    shape = draw.choice([(1, 5, 2), (2, 4, 1), (1, 3, 2, 2)])
    size = draw.choice([1, 2, 3, 4, 5])
    given: Attributes = {"size": size}
    alpha, beta, bias = 1e-4, 0.75, 1.0
    if draw.flag(0.7):
        alpha, beta, bias = (
            draw.uniform(0.01, 1),
            draw.uniform(0.2, 2),
            draw.uniform(0.5, 2),
        )
        given |= {"alpha": alpha, "beta": beta, "bias": bias}
    a, b, c = attribute(alpha), attribute(beta), attribute(bias)
    below, above = (size - 1) // 2, -(-(size - 1) // 2)

    def line(xs: list[mpf]) -> list[mpf]:
        ys = []
        for i, x in enumerate(xs):
            near = xs[max(0, i - below) : min(len(xs) - 1, i + above) + 1]
            ys.append(x / power(c + a / size * total(n * n for n in near), b))
        return ys

    return Problem(
        node=node("y", "LRN", "x", **given),
        inputs={"x": draw.floats(shape)},
        types={"x": draw.type},
        outputs=[("y", draw.type, shape)],
        compute=lambda inputs: [along(line, inputs["x"], 1)],
        moved=["x"],
    )


def draw_dropout(draw: Draw) -> Problem:
    """As in inference, or with a ratio of 0: the numbers themselves."""
    x = draw.floats(draw.shape(1, 2, 6))
    with_mask = draw.flag()
    inputs = {"x": x}
    if draw.flag():
        inputs["ratio"] = np.array(0.25)
    outputs = [("y", draw.type, x.shape)]
    if with_mask:
        outputs.append(("mask", "bool", x.shape))

    def compute(given: Any) -> list[Array]:
        return [given["x"].copy(), np.ones(x.shape, np.int64)][: len(outputs)]

    return Problem(
        node=node(names(outputs), "Dropout", inputs),
        inputs=inputs,
        types=dict.fromkeys(inputs, draw.type),
        outputs=outputs,
        compute=compute,
        moved=["x"],
    )


OPERATORS = [
    Operator("BatchNormalization", draw_batch),
    Operator("Dropout", draw_dropout),
    Operator("GroupNormalization", draw_group),
    Operator("InstanceNormalization", draw_instance),
    Operator("LRN", draw_lrn),
    Operator("LayerNormalization", draw_layer),
    Operator("LpNormalization", draw_lp),
    Operator("MeanVarianceNormalization", draw_mean_variance),
    Operator("RMSNormalization", draw_rms),
]
