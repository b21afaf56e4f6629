# SPDX-License-Identifier: Apache-2.0
"""Normalizations: of batches, layers, instances, groups, channels and lines."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from arithmetic import Given, attribute, each, filled, mean, power, reduced, total
from mpmath import mp, mpf
from problem import Array, Draw, Operator, Problem, of_lines

Attributes = dict[str, Any]


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
    outputs = {"y": shape}
    if draw.flag(0.4):
        outputs |= {"mean": before, "inv": before}

    def compute(inputs: Given) -> list[Array]:
        rows = inputs["x"].reshape(-1, math.prod(inner))
        parts = (n for row in rows for n in normalized(list(row), epsilon))
        y = filled(shape, parts) * inputs["scale"]
        if "b" in inputs:
            y = y + inputs["b"]
        means = filled(before, (mean(list(row)) for row in rows))
        deviations = (1 / mp.sqrt(variance(list(row)) + epsilon) for row in rows)
        return [y, means, filled(before, deviations)][: len(outputs)]

    types = dict.fromkeys(list(outputs)[1:], "float")
    name = "LayerNormalization"
    return draw.problem(name, inputs, outputs, compute, types, axis=axis, **given)


def draw_rms(draw: Draw) -> Problem:
    shape, axis = draw.choice(
        [((2, 4), None), ((2, 3), 0), ((2, 2, 3), 1), ((1, 5), -1)]
    )
    inner = shape[(-1 if axis is None else axis) % len(shape) :]
    epsilon, given = draw_epsilon(draw)

    def compute(inputs: Given) -> list[Array]:
        rows = inputs["x"].reshape(-1, math.prod(inner))
        norms = [mp.sqrt(mean([x * x for x in row]) + epsilon) for row in rows]
        parts = (x / norm for row, norm in zip(rows, norms) for x in row)
        return [filled(shape, parts) * inputs["scale"]]

    inputs = {"x": draw.floats(shape), "scale": draw.floats(inner)}
    return draw.problem("RMSNormalization", inputs, shape, compute, axis=axis, **given)


# --------------------------------------------------------------- over channels

IMAGES = [(1, 2, 4), (2, 2, 2), (1, 2, 2, 2), (2, 3, 2)]


def by_channel(values: Array, rank: int) -> Array:
    """A number for each channel, in a shape that broadcasts."""
    return values.reshape(1, -1, *([1] * (rank - 2)))


def groups(name: str, *others: str) -> Operator:
    """Channels normalized one by one, or by groups of them."""

    def drawn(draw: Draw) -> Problem:
        shape = draw.choice([*IMAGES, (1, 4, 2)])
        groups = channels = shape[1]
        epsilon, given = draw_epsilon(draw)
        if name == "GroupNormalization":
            parts = [n for n in range(1, channels + 1) if channels % n == 0]
            groups = given["num_groups"] = draw.choice(parts)
        inputs = {"x": draw.floats(shape)}
        inputs |= {key: draw.floats((channels,)) for key in others}

        def compute(inputs: Given) -> list[Array]:
            rows = inputs["x"].reshape(shape[0] * groups, -1)
            flat = (n for row in rows for n in normalized(list(row), epsilon))
            scale, shift = (by_channel(inputs[key], len(shape)) for key in others)
            return [filled(shape, flat) * scale + shift]

        return draw.problem(name, inputs, shape, compute, **given)

    return Operator(name, drawn)


def draw_batch(draw: Draw) -> Problem:
    shape = draw.choice([*IMAGES, (4, 2)])
    channels, rank = shape[1], len(shape)
    training = draw.flag(0.4)
    epsilon, given = draw_epsilon(draw)
    momentum = draw.choice([None, 0.5, 0.99]) if training else None
    given |= {"training_mode": int(training) or None, "momentum": momentum}
    inputs = {"x": draw.floats(shape)}
    inputs |= {key: draw.floats((channels,)) for key in ("scale", "b", "mean")}
    most = None if draw.scale == "wild" else 4.0
    inputs["var"] = draw.floats((channels,), 2.0**-10, most)
    outputs = {"y": shape}
    if training:
        outputs |= {"new_mean": (channels,), "new_var": (channels,)}
    kept = attribute(0.9 if momentum is None else momentum)

    def compute(inputs: Given) -> list[Array]:
        means, variances, more = inputs["mean"], inputs["var"], []
        if training:
            slices = [list(inputs["x"][:, c].ravel()) for c in range(channels)]
            news = [filled((channels,), map(of, slices)) for of in (mean, variance)]
            olds, (means, variances) = (means, variances), news
            more = [old * kept + new * (1 - kept) for old, new in zip(olds, news)]
        four = (inputs["scale"], inputs["b"], means, variances)
        y = each(
            lambda x, s, b, m, v: (x - m) / mp.sqrt(v + epsilon) * s + b,
            inputs["x"],
            *(by_channel(values, rank) for values in four),
        )
        return [y, *more]

    return draw.problem("BatchNormalization", inputs, outputs, compute, **given)


def draw_mean_variance(draw: Draw) -> Problem:
    """Over the axes; to the deviation ONNX's function adds 1e-9."""
    shape = draw.choice([(1, 2, 2, 2), (2, 1, 2, 3), (2, 2, 2, 1)])
    axes = draw.choice([None, [0, 2, 3], [2, 3], [1, 3]])
    over = [0, 2, 3] if axes is None else axes

    def compute(inputs: Given) -> list[Array]:
        x = inputs["x"]
        means = reduced(mean, x, over, True)
        deviations = reduced(lambda xs: mp.sqrt(variance(xs)), x, over, True)
        return [(x - means) / (deviations + attribute(1e-9))]

    inputs = {"x": draw.floats(shape)}
    return draw.problem("MeanVarianceNormalization", inputs, shape, compute, axes=axes)


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

    return of_lines(
        draw, "LpNormalization", draw.floats(shape), line, axis, axis=axis, p=p
    )


def draw_lrn(draw: Draw) -> Problem:
    """Each number over a power of the squares of its neighbours' sum."""
    shape = draw.choice([(1, 5, 2), (2, 4, 1), (1, 3, 2, 2)])
    size = draw.choice([1, 2, 3, 4, 5])
    given: Attributes = {"size": size}
    factors = {"alpha": 1e-4, "beta": 0.75, "bias": 1.0}
    if draw.flag(0.7):
        bounds = {"alpha": (0.01, 1), "beta": (0.2, 2), "bias": (0.5, 2)}
        factors = {name: draw.uniform(*both) for name, both in bounds.items()}
        given |= factors
    a, b, c = map(attribute, factors.values())
    below, above = (size - 1) // 2, -(-(size - 1) // 2)

    def line(xs: list[mpf]) -> list[mpf]:
        ys = []
        for i, x in enumerate(xs):
            near = xs[max(0, i - below) : min(len(xs) - 1, i + above) + 1]
            ys.append(x / power(c + a / size * total(n * n for n in near), b))
        return ys

    return of_lines(draw, "LRN", draw.floats(shape), line, 1, **given)


def draw_dropout(draw: Draw) -> Problem:
    """As in inference, or with a ratio of 0: the numbers themselves."""
    x = draw.floats(draw.shape(1, 2, 6))
    with_mask = draw.flag()
    inputs = {"x": x, "ratio": 0.25 if draw.flag() else None}
    outputs = {"y": x.shape, "mask": x.shape} if with_mask else {"y": x.shape}

    def compute(given: Given) -> list[Array]:
        return [given["x"].copy(), np.ones(x.shape, np.int64)][: len(outputs)]

    types = {"mask": "bool"} if with_mask else {}
    return draw.problem("Dropout", inputs, outputs, compute, types, still=["ratio"])


OPERATORS = [
    Operator("BatchNormalization", draw_batch),
    Operator("Dropout", draw_dropout),
    groups("GroupNormalization", "scale", "bias"),
    groups("InstanceNormalization", "scale", "b"),
    Operator("LRN", draw_lrn),
    Operator("LayerNormalization", draw_layer),
    Operator("LpNormalization", draw_lp),
    Operator("MeanVarianceNormalization", draw_mean_variance),
    Operator("RMSNormalization", draw_rms),
]
