# SPDX-License-Identifier: Apache-2.0
"""Reductions, Softmax and its kin, losses, and cumulative sums and products."""

from __future__ import annotations

import functools
import itertools
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
from arithmetic import Given, Line, along, filled, logarithm, mean, reduced, root, total
from mpmath import mp, mpf
from problem import Array, Draw, Operator, Problem, Shape, Undrawable, of_lines

Reduce = Callable[[Line], Any]
ANY = (None, None)


def product(terms: Line) -> mpf:
    return functools.reduce(operator.mul, terms, mpf(1))


REDUCTIONS: dict[str, tuple[Reduce, tuple[float | None, float | None]]] = {
    "ReduceL1": (lambda xs: total(abs(x) for x in xs), ANY),
    "ReduceL2": (lambda xs: root(total(x * x for x in xs)), ANY),
    "ReduceLogSum": (lambda xs: logarithm(total(xs)), (0.0, None)),
    "ReduceLogSumExp": (lambda xs: mp.log(total(map(mp.exp, xs))), (-700.0, 700.0)),
    "ReduceMax": (max, ANY),
    "ReduceMean": (mean, ANY),
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
        # Without axes all are reduced, or none: then each element by itself.
        none = draw.flag(0.3)
        noop = none and draw.flag(0.3)
        if none:
            axes = [] if noop else list(range(rank))
        if not none or draw.flag(0.3):
            inputs["axes"] = np.array([] if none else axes, np.int64)
        return draw.problem(
            name,
            inputs,
            reduced_shape(shape, axes, keepdims),
            lambda given: [reduced(function, given["x"], axes, keepdims)],
            keepdims=None if keepdims else 0,
            noop_with_empty_axes=1 if noop else None,
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

        def compute(given: Given) -> list[Array]:
            found = reduced(
                lambda xs: find(xs, extreme(xs)), given["x"], [axis], keepdims
            )
            return [found.astype(np.int64)]

        return draw.problem(
            name,
            {"x": x},
            reduced_shape(shape, [axis], keepdims),
            compute,
            types={"y": "int64"},
            still=["x"],
            axis=axis,
            keepdims=int(keepdims),
            select_last_index=int(last),
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
        return of_lines(
            draw, name, draw.floats(shape, *limit), function, axis, axis=axis
        )

    return Operator(name, drawn)


# ----------------------------------------------------------------------- losses


def losses(name: str, from_scores: bool) -> Operator:
    """Losses of classes; of log-probabilities, or of scores."""

    def drawn(draw: Draw) -> Problem:
        shape = draw.choice([(3, 3), (2, 4), (1, 3), (2, 3, 2)])
        limit = (-600.0, 600.0) if from_scores else ANY
        scores = draw.floats(shape, *limit)
        labels = draw.integers((shape[0], *shape[2:]), 0, shape[1] - 1)
        ignored = draw.choice([None, None, -100, 1])
        if ignored == -100 and labels.size > 1:
            labels.ravel()[draw.integer(0, labels.size - 1)] = ignored
        if ignored is not None and bool((labels == ignored).all()):
            raise Undrawable("all labels are ignored")
        reduction = draw.choice([None, "mean", "sum", "none"])
        inputs = {"x": scores, "labels": labels}
        if draw.flag():
            inputs["weights"] = draw.floats((shape[1],), 0.25, 2.0)
        outputs = {"y": labels.shape if reduction == "none" else ()}
        if from_scores and draw.flag():
            outputs["log_prob"] = shape

        def compute(given: Given) -> list[Array]:
            x = along(log_softmax, given["x"], 1) if from_scores else given["x"]
            y = loss(x, labels, given.get("weights"), ignored, reduction or "mean")
            return [y, x][: len(outputs)]

        given = {"ignore_index": ignored, "reduction": reduction}
        return draw.problem(name, inputs, outputs, compute, **given)

    return Operator(name, drawn)


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


# ------------------------------------------------------------------- cumulative


def cumulative(name: str, start: int, step: Callable[[Any, Any], Any]) -> Operator:
    """CumSum or CumProd along an axis."""

    def drawn(draw: Draw) -> Problem:
        shape = draw.choice([(5,), (2, 4), (2, 2, 3)])
        axis = draw.integer(-len(shape), len(shape) - 1)
        exclusive, reverse = draw.flag(), draw.flag()
        limit = (1e-12, 1e12) if name == "CumProd" and draw.scale == "wild" else ANY

        def line(xs: Line) -> Line:
            order = xs[::-1] if reverse else xs
            passed = list(itertools.accumulate(order, step, initial=mpf(start)))
            passed = passed[:-1] if exclusive else passed[1:]
            return passed[::-1] if reverse else passed

        return draw.problem(
            name,
            {"x": draw.floats(shape, *limit), "axis": axis},
            shape,
            lambda given: [along(line, given["x"], axis)],
            exclusive=int(exclusive),
            reverse=int(reverse) or None,
        )

    return Operator(name, drawn)


OPERATORS = [
    *(reduction(name) for name in REDUCTIONS),
    arg("ArgMax", max),
    arg("ArgMin", min),
    lines("Softmax", softmax),
    lines("LogSoftmax", log_softmax),
    lines("Hardmax", hardmax),
    losses("SoftmaxCrossEntropyLoss", True),
    losses("NegativeLogLikelihoodLoss", False),
    cumulative("CumSum", 0, operator.add),
    cumulative("CumProd", 1, operator.mul),
]
