# SPDX-License-Identifier: Apache-2.0
"""Reductions, Softmax and its kin, losses, and cumulative sums and products."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from mpmath import mp, mpf
from problem import (
    Array,
    Draw,
    Operator,
    Problem,
    Shape,
    Undrawable,
    along,
    filled,
    logarithm,
    node,
    reduced,
    root,
    total,
)

Line = list[Any]
Reduce = Callable[[Line], Any]
ANY = (None, None)


def product(terms: Line) -> mpf:
    result = mpf(1)
    for term in terms:
        result = result * term
    return result


REDUCTIONS: dict[str, tuple[Reduce, tuple[float | None, float | None]]] = {
    "ReduceL1": (lambda xs: total(abs(x) for x in xs), ANY),
    "ReduceL2": (lambda xs: root(total(x * x for x in xs)), ANY),
    "ReduceLogSum": (lambda xs: logarithm(total(xs)), (0.0, None)),
    "ReduceLogSumExp": (lambda xs: mp.log(total(map(mp.exp, xs))), (-700.0, 700.0)),
    "ReduceMax": (max, ANY),
    "ReduceMean": (lambda xs: total(xs) / len(xs), ANY),
    "ReduceMin": (min, ANY),
    "ReduceProd": (product, ANY),
    "ReduceSum": (total, ANY),
    "ReduceSumSquare": (lambda xs: total(x * x for x in xs), ANY),
}


def reduced_shape(shape: Shape, axes: list[int], keepdims: bool) -> Shape:
    """The shape without some axes, or with 1 in their place."""
    axes = [axis % len(shape) for axis in axes]
    if keepdims:
        return tuple(1 if i in axes else n for i, n in enumerate(shape))
    return tuple(n for i, n in enumerate(shape) if i not in axes)


def reduction(name: str) -> Operator:
    """An operator that reduces over axes, all where none are given."""
    function, bounds = REDUCTIONS[name]

    def drawn(draw: Draw) -> Problem:
        shape = draw.choice([(5,), (2, 4), (3, 3), (2, 2, 3), (12,), (1, 3)])
        rank = len(shape)
        axes = draw.random.sample(range(rank), draw.integer(1, rank))
        axes = [axis - rank if draw.flag(0.3) else axis for axis in axes]
        keepdims = draw.flag()
        inputs = {"x": draw.floats(shape, *bounds)}
        types = {"x": draw.type}
        # Without axes all are reduced, or none: then each element by itself.
        none = draw.flag(0.3)
        noop = none and draw.flag(0.3)
        if none:
            axes = [] if noop else list(range(rank))
        if not none or draw.flag(0.3):
            inputs["axes"] = np.array([] if none else axes, np.int64)
            types["axes"] = "int64"
        after = reduced_shape(shape, axes, keepdims)
        given = {"keepdims": None if keepdims else 0}
        given["noop_with_empty_axes"] = 1 if noop else None
        return Problem(
            node=node("y", name, inputs, **given),
            inputs=inputs,
            types=types,
            outputs=[("y", draw.type, after)],
            compute=lambda given: [reduced(function, given["x"], axes, keepdims)],
            moved=["x"],
        )

    return Operator(name, drawn)


def first_of(xs: Line, best: Any) -> int:
    return next(i for i, x in enumerate(xs) if x == best)


def last_of(xs: Line, best: Any) -> int:
    return len(xs) - 1 - first_of(xs[::-1], best)


def arg(name: str, extreme: Callable[[Line], Any]) -> Operator:
    """ArgMax or ArgMin: the index of the first extreme, or of the last."""

    def drawn(draw: Draw) -> Problem:
        shape = draw.choice([(5,), (2, 4), (2, 2, 3)])
        axis = draw.integer(-len(shape), len(shape) - 1)
        keepdims, last = draw.flag(), draw.flag()
        x = draw.floats(shape)
        if draw.flag(0.3):
            x.ravel()[-1] = x.ravel()[0]
        find = last_of if last else first_of
        given = {
            "axis": axis,
            "keepdims": int(keepdims),
            "select_last_index": int(last),
        }

        def compute(inputs: Any) -> list[Array]:
            places = reduced(
                lambda xs: find(xs, extreme(xs)), inputs["x"], [axis], keepdims
            )
            return [places.astype(np.int64)]

        return Problem(
            node=node("y", name, "x", **given),
            inputs={"x": x},
            types={"x": draw.type},
            outputs=[("y", "int64", reduced_shape(shape, [axis], keepdims))],
            compute=compute,
        )

    return Operator(name, drawn)


# ------------------------------------------------------------ Softmax and kin


def softmax(xs: Line) -> Line:
    """exp(x) over their sum; about the greatest, which the quotient cancels."""
    powers = [mp.exp(x - max(xs)) for x in xs]
    whole = total(powers)
    return [power / whole for power in powers]


def log_softmax(xs: Line) -> Line:
    whole = mp.log(total(mp.exp(x - max(xs)) for x in xs))
    return [x - max(xs) - whole for x in xs]


def hardmax(xs: Line) -> Line:
    place = first_of(xs, max(xs))
    return [mpf(i == place) for i in range(len(xs))]


def lines(name: str, function: Callable[[Line], Line]) -> Operator:
    """An operator of each line of an axis."""

    def drawn(draw: Draw) -> Problem:
        shape = draw.choice([(4,), (2, 3), (3, 3), (2, 2, 3), (1, 6), (2, 1)])
        axis = draw.choice([None, *range(-len(shape), len(shape))])
        limit = ANY if draw.scale == "edge" else (-600.0, 600.0)
        x = draw.floats(shape, *limit)
        place = -1 if axis is None else axis
        return Problem(
            node=node("y", name, "x", axis=axis),
            inputs={"x": x},
            types={"x": draw.type},
            outputs=[("y", draw.type, shape)],
            compute=lambda given: [along(function, given["x"], place)],
            moved=["x"],
        )

    return Operator(name, drawn)


# ----------------------------------------------------------------------- losses


def draw_loss(draw: Draw, name: str, from_scores: bool) -> Problem:
    """Losses of classes; of log-probabilities, or of scores."""
    shape = draw.choice([(3, 3), (2, 4), (1, 3), (2, 3, 2)])
    bound = 600.0 if from_scores else None
    scores = draw.floats(shape, None if bound is None else -bound, bound)
    labels = draw.integers((shape[0], *shape[2:]), 0, shape[1] - 1)
    ignored = draw.choice([None, None, -100, 1])
    if ignored == -100 and labels.size > 1:
        labels.ravel()[draw.integer(0, labels.size - 1)] = ignored
    if ignored is not None and bool((labels == ignored).all()):
        raise Undrawable("all labels are ignored")
    reduction = draw.choice([None, "mean", "sum", "none"])
    inputs = {"x": scores, "labels": labels}
    types = {"x": draw.type, "labels": "int64"}
    if draw.flag():
        inputs["weights"] = draw.floats((shape[1],), 0.25, 2.0)
        types["weights"] = draw.type
    with_log = from_scores and draw.flag()
    after = labels.shape if reduction == "none" else ()
    outputs = [("y", draw.type, after)]
    if with_log:
        outputs.append(("log_prob", draw.type, shape))

    def compute(given: Any) -> list[Array]:
        x = along(log_softmax, given["x"], 1) if from_scores else given["x"]
        y = loss(x, labels, given.get("weights"), ignored, reduction or "mean")
        return [y, x] if with_log else [y]

    names = [output[0] for output in outputs]
    given = {"ignore_index": ignored, "reduction": reduction}
    return Problem(
        node=node(names, name, inputs, **given),
        inputs=inputs,
        types=types,
        outputs=outputs,
        compute=compute,
        moved=[key for key in inputs if key != "labels"],
    )


def loss(
    x: Array, labels: np.ndarray, weights: Any, ignored: int | None, reduction: str
) -> Array:
    """The weighted losses of log-probabilities, reduced."""
    losses, weighed = [], []
    for at in np.ndindex(labels.shape):
        label = int(labels[at])
        if ignored is not None and label == ignored:
            losses.append(mpf(0))
            weighed.append(mpf(0))
            continue
        weight = mpf(1) if weights is None else weights[label]
        losses.append(-x[(at[0], label, *at[1:])] * weight)
        weighed.append(weight)
    if reduction == "none":
        return filled(labels.shape, losses)
    result = total(losses)
    if reduction == "mean":
        result = result / total(weighed)
    return filled((), [result])


def draw_cross_entropy(draw: Draw) -> Problem:
    return draw_loss(draw, "SoftmaxCrossEntropyLoss", True)


def draw_likelihood(draw: Draw) -> Problem:
    return draw_loss(draw, "NegativeLogLikelihoodLoss", False)


# ------------------------------------------------------------------- cumulative


def cumulative(name: str, start: int, step: Callable[[Any, Any], Any]) -> Operator:
    """CumSum or CumProd along an axis."""

    def drawn(draw: Draw) -> Problem:
        shape = draw.choice([(5,), (2, 4), (2, 2, 3)])
        axis = draw.integer(-len(shape), len(shape) - 1)
        exclusive, reverse = draw.flag(), draw.flag()
        limit = (1e-12, 1e12) if name == "CumProd" and draw.scale == "wild" else ANY

        def line(xs: Line) -> Line:
            now, passed = mpf(start), []
            for x in xs[::-1] if reverse else xs:
                if exclusive:
                    passed.append(now)
                now = step(now, x)
                if not exclusive:
                    passed.append(now)
            return passed[::-1] if reverse else passed

        return Problem(
            node=node(
                "y",
                name,
                ["x", "axis"],
                exclusive=int(exclusive),
                reverse=int(reverse) or None,
            ),
            inputs={"x": draw.floats(shape, *limit), "axis": np.array(axis, np.int64)},
            types={"x": draw.type, "axis": "int64"},
            outputs=[("y", draw.type, shape)],
            compute=lambda given: [along(line, given["x"], axis)],
            moved=["x"],
        )

    return Operator(name, drawn)


OPERATORS = [
    *(reduction(name) for name in REDUCTIONS),
    arg("ArgMax", max),
    arg("ArgMin", min),
    lines("Softmax", softmax),
    lines("LogSoftmax", log_softmax),
    lines("Hardmax", hardmax),
    Operator("SoftmaxCrossEntropyLoss", draw_cross_entropy),
    Operator("NegativeLogLikelihoodLoss", draw_likelihood),
    cumulative("CumSum", 0, lambda a, b: a + b),
    cumulative("CumProd", 1, lambda a, b: a * b),
]
