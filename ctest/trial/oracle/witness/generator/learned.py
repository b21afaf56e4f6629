# SPDX-License-Identifier: Apache-2.0
"""Models of the domain ai.onnx.ml, linear ones and support vectors.

Their parameters are attributes, so numbers of float32. Where a page gives no
formula, it is that of ONNX's reference implementation. The sign of a normalized
number differs between the two: only positive numbers are drawn there.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from arithmetic import Line, along, attribute, dot, each, filled, logarithm, made, total
from elementwise import sigmoid
from mpmath import mp, mpf
from problem import Array, Draw, Operator, Problem
from reductions import softmax

TYPES = ("float", "double")
FEATURES = [(1, 3), (2, 2), (3, 2), (2, 4)]


def learned(
    draw: Draw,
    name: str,
    x: np.ndarray,
    compute: Callable[[Array], list[Array]],
    outputs: Sequence[tuple[str, str, tuple[int, ...]]],
    **attributes: Any,
) -> Problem:
    """A problem of one input x."""
    return draw.problem(
        f"ai.onnx.ml.{name}",
        {"x": x},
        {key: shape for key, _, shape in outputs},
        lambda given: compute(given["x"]),
        types={key: type for key, type, _ in outputs},
        **attributes,
    )


def exacts(numbers: Iterable[float]) -> Line:
    """Numbers of an attribute, as ONNX stores them."""
    return [attribute(number) for number in numbers]


def numbers(draw: Draw, count: int, low: float = -2, high: float = 2) -> list[float]:
    """Numbers of an attribute."""
    return [draw.uniform(low, high) for _ in range(count)]


def softmax_zero(scores: Line) -> Line:
    """Softmax but for scores that are about 0, which keep their share of 0."""
    most = max(scores)
    parts = [
        mp.exp(score - most) if abs(score) > mpf("1e-7") else score * mp.exp(-most)
        for score in scores
    ]
    whole = total(parts)
    return [mpf("0.5") if whole == 0 else part / whole for part in parts]


def probit(score: mpf) -> mpf:
    """Winitzki's approximation of the inverse of the normal distribution."""
    x, a = 2 * score - 1, mpf("0.147")
    if (1 - x) * (1 + x) == 0:
        return mpf(0)
    log = logarithm((1 - x) * (1 + x))
    half = 2 / (mp.pi * a) + log / 2
    found = mp.sqrt(mp.sqrt(half * half - log / a) - half)
    return mp.sqrt(2) * (-found if x < 0 else found)


AFTER: dict[str, Callable[[Line], Line]] = {
    "NONE": list,
    "SOFTMAX": softmax,
    "LOGISTIC": lambda scores: [sigmoid(score) for score in scores],
    "SOFTMAX_ZERO": softmax_zero,
    "PROBIT": lambda scores: [probit(score) for score in scores],
}


def draw_scaler(draw: Draw) -> Problem:
    shape = draw.choice(FEATURES)
    count = draw.choice([1, shape[1]])
    given = {"offset": numbers(draw, count), "scale": numbers(draw, count)}

    def compute(x: Array) -> list[Array]:
        offset, scale = (np.array(exacts(each)) for each in given.values())
        return [(x - offset) * scale]

    outputs = [("y", "float", shape)]
    return learned(draw, "Scaler", draw.floats(shape), compute, outputs, **given)


def draw_normalizer(draw: Draw) -> Problem:
    shape = draw.choice(FEATURES)
    norm = draw.choice(["MAX", "L1", "L2"])
    norms: dict[str, Callable[[Line], mpf]] = {
        "MAX": max,
        "L1": total,
        "L2": lambda xs: mp.sqrt(total(x * x for x in xs)),
    }

    def line(xs: Line) -> Line:
        return [x / norms[norm](xs) for x in xs]

    x = draw.floats(shape, 2.0**-20, 2.0**20)
    outputs = [("y", "float", shape)]
    return learned(
        draw, "Normalizer", x, lambda x: [along(line, x, 1)], outputs, norm=norm
    )


def linear(x: Array, weights: list[float], shifts: list[float]) -> Array:
    """Each row times the weights of each target, and the target's shift."""
    rows, features = x.shape
    exact = exacts(weights)

    def score(row: int, target: int) -> mpf:
        own = exact[target * features : (target + 1) * features]
        return dot(x[row], own) + attribute(shifts[target])

    return made((rows, len(shifts)), score)


def draw_linear_regressor(draw: Draw) -> Problem:
    shape, targets = draw.choice(FEATURES), draw.integer(1, 3)
    weights, shifts = numbers(draw, targets * shape[1]), numbers(draw, targets)
    after = draw.choice([None, None, "SOFTMAX", "LOGISTIC"])
    limit = (-100.0, 100.0) if draw.scale == "wild" and after else (None, None)
    outputs = [("y", "float", (shape[0], targets))]
    return learned(
        draw,
        "LinearRegressor",
        draw.floats(shape, *limit),
        lambda x: [along(AFTER[after or "NONE"], linear(x, weights, shifts), 1)],
        outputs,
        coefficients=weights,
        intercepts=shifts,
        post_transform=after,
        targets=targets,
    )


def draw_linear_classifier(draw: Draw) -> Problem:
    """The label of the greatest score, and the scores after a transform.

    Two classes may have one score, that of the second.
    """
    shape, classes = draw.choice(FEATURES), draw.integer(2, 4)
    scored = 1 if classes == 2 and draw.flag() else classes
    weights, shifts = numbers(draw, scored * shape[1]), numbers(draw, scored)
    labels = [5, 2, 9, 7][:classes]
    after = draw.choice(["NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO"])
    limit = (-100.0, 100.0) if draw.scale == "wild" else (None, None)

    def compute(x: Array) -> list[Array]:
        scores = linear(x, weights, shifts)
        if scored < classes:
            scores = np.concatenate([-scores, scores], axis=1)
        best = [labels[int(np.argmax(row))] for row in scores]
        return [np.array(best, np.int64), along(AFTER[after], scores, 1)]

    return learned(
        draw,
        "LinearClassifier",
        draw.floats(shape, *limit),
        compute,
        [("y", "int64", shape[:1]), ("scores", "float", (shape[0], classes))],
        coefficients=weights,
        intercepts=shifts,
        classlabels_ints=labels,
        post_transform=after,
    )


def draw_kernel(
    draw: Draw, any_kind: bool = True
) -> tuple[dict[str, Any], Callable[[Line, Line], mpf]]:
    """The attributes of a kernel of support vectors, and its function."""
    kinds = ["LINEAR", "RBF", "POLY", "SIGMOID"]
    kind = draw.choice(kinds) if any_kind else "LINEAR"
    gamma, shift = draw.uniform(0.1, 1), draw.uniform(-1, 1)
    degree = draw.integer(2, 3)
    g, by = attribute(gamma), attribute(shift)
    kernels: dict[str, Callable[[Line, Line], mpf]] = {
        "LINEAR": dot,
        "RBF": lambda x, v: mp.exp(-g * total((a - b) ** 2 for a, b in zip(x, v))),
        "POLY": lambda x, vector: (g * dot(x, vector) + by) ** degree,
        "SIGMOID": lambda x, vector: mp.tanh(g * dot(x, vector) + by),
    }
    parameters = [gamma, shift, float(degree)]
    return {"kernel_params": parameters, "kernel_type": kind}, kernels[kind]


def draw_svm_regressor(draw: Draw) -> Problem:
    """A number, or the side of the plane on which a row lies, 1 or -1."""
    shape, vectors = draw.choice(FEATURES), draw.integer(0, 3)
    given, near = draw_kernel(draw, vectors > 0)
    side = draw.flag(0.3)
    weights, rho = numbers(draw, vectors or shape[1]), draw.uniform(-1, 1)
    support = numbers(draw, vectors * shape[1])
    limit = (-100.0, 100.0) if draw.scale == "wild" else (None, None)

    def compute(x: Array) -> list[Array]:
        rows = np.array(exacts(support), object).reshape(vectors, shape[1])
        sums = []
        for one in x:
            # Without vectors each feature has a weight of its own.
            terms = [near(one, row) for row in rows] or one
            sums.append(dot(exacts(weights), terms) + attribute(rho))
            if side:
                sums[-1] = mpf(1 if sums[-1] > 0 else -1)
        return [filled((shape[0], 1), sums)]

    return learned(
        draw,
        "SVMRegressor",
        draw.floats(shape, *limit),
        compute,
        [("y", "float", (shape[0], 1))],
        coefficients=weights,
        **given,
        n_supports=vectors,
        one_class=side or None,
        rho=[rho],
        support_vectors=support or None,
    )


def draw_imputer(draw: Draw) -> Problem:
    """Numbers that equal one are replaced by another."""
    shape = draw.choice(FEATURES)
    count = draw.choice([1, shape[1]])
    x, values = draw.floats(shape), numbers(draw, count)
    x[0, 0] = -1.0

    def compute(x: Array) -> list[Array]:
        return [each(lambda a, b: b if a == -1 else a, x, exacts(values))]

    outputs = [("y", draw.type, shape)]
    given = {"imputed_value_floats": values, "replaced_value_float": -1.0}
    return learned(draw, "Imputer", x, compute, outputs, **given)


def draw_binarizer(draw: Draw) -> Problem:
    x, border = draw.floats(draw.choice(FEATURES)), draw.uniform(-1, 1)
    if draw.flag():
        x[0, 0] = border  # not greater: 0
    return learned(
        draw,
        "Binarizer",
        x,
        lambda x: [each(lambda a: mpf(a > attribute(border)), x)],
        [("y", draw.type, x.shape)],
        threshold=border,
    )


# --------------------------------------------- support vectors between classes


@dataclass(frozen=True)
class Machine:
    """The support vectors of some classes, and what divides each pair."""

    classes: int
    owners: list[int]  # the class of each support vector
    support: list[list[float]]
    weights: list[list[float]]  # (classes - 1, vectors)
    rho: list[float]  # of each pair
    near: Callable[..., mpf]

    def pairs(self) -> list[tuple[int, int]]:
        """The pairs of classes, in the order of their scores."""
        return list(itertools.combinations(range(self.classes), 2))

    def scores(self, row: Line) -> Line:
        """The score of each pair, above 0 where the first wins."""
        near = [self.near(row, exacts(one)) for one in self.support]
        found = []
        for (i, j), rho in zip(self.pairs(), self.rho):
            terms = [
                attribute(self.weights[row][k]) * near[k]
                for of, row in ((i, j - 1), (j, i))
                for k, owner in enumerate(self.owners)
                if owner == of
            ]
            found.append(total(terms) + attribute(rho))
        return found

    def winner(self, scores: Line, sigmoids: bool) -> int:
        """The class of most votes, the first of them.

        ONNX's reference takes the second of two classes for the one class that
        is looked for, if no weight is negative and nothing is a probability.
        """
        if self.classes == 2 and not sigmoids and min(self.weights[0]) >= 0:
            return 1
        votes = [0] * self.classes
        for (i, j), score in zip(self.pairs(), scores):
            votes[i if score > 0 else j] += 1
        return votes.index(max(votes))

    def probabilities(self, scores: Line, a: Line, b: Line) -> Line:
        """The probability of each class, from a sigmoid of each pair's score."""
        least = mpf("1e-7")
        share = {}
        for at, (i, j) in enumerate(self.pairs()):
            pair = 1 - sigmoid(scores[at] * a[at] + b[at])
            share[i, j] = min(max(pair, least), 1 - least)
            share[j, i] = 1 - share[i, j]
        return coupled(self.classes, share)


def coupled(classes: int, share: dict[tuple[int, int], mpf]) -> Line:
    """Algorithm 2 of Wu, Lin and Weng (2004), stopped as LIBSVM stops it."""
    every = range(classes)
    q = [
        [
            total(share[k, i] ** 2 for k in every if k != i)
            if i == j
            else -share[j, i] * share[i, j]
            for j in every
        ]
        for i in every
    ]
    p = [mpf(1) / classes] * classes
    for _ in range(max(100, classes)):
        image = [dot(row, p) for row in q]
        mean = dot(p, image)
        if max(abs(one - mean) for one in image) < mpf("0.005") / classes:
            break
        for t in every:
            step = (mean - image[t]) / q[t][t]
            p[t] = p[t] + step
            mean = mean + step * (step * q[t][t] + 2 * image[t])
            mean = mean / (1 + step) ** 2
            p = [one / (1 + step) for one in p]
            image = [(a + step * b) / (1 + step) for a, b in zip(image, q[t])]
    return p


def draw_svm_classifier(draw: Draw) -> Problem:
    shape, classes = draw.choice(FEATURES), draw.integer(2, 3)
    counts = [draw.integer(1, 2) for _ in range(classes)]
    owners = [one for one, count in enumerate(counts) for _ in range(count)]
    given, near = draw_kernel(draw)
    pairs = classes * (classes - 1) // 2
    machine = Machine(
        classes,
        owners,
        [numbers(draw, shape[1]) for _ in owners],
        [numbers(draw, len(owners)) for _ in range(classes - 1)],
        [0.0] * pairs if draw.flag(0.3) else numbers(draw, pairs),
        near,
    )
    sigmoids = draw.flag()
    a, b = numbers(draw, pairs), numbers(draw, pairs)
    after = draw.choice(["NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO"])
    limit = (-100.0, 100.0) if draw.scale == "wild" else (None, None)
    labels = [5, 2, 9][:classes]

    def compute(x: Array) -> list[Array]:
        best, shown = [], []
        for row in x:
            scores = machine.scores(row)
            best.append(labels[machine.winner(scores, sigmoids)])
            if sigmoids:
                scores = machine.probabilities(scores, exacts(a), exacts(b))
            elif classes == 2:
                scores = [-scores[0], scores[0]]
            shown += AFTER[after](scores)
        return [np.array(best, np.int64), filled((shape[0], classes), shown)]

    return learned(
        draw,
        "SVMClassifier",
        draw.floats(shape, *limit),
        compute,
        [("y", "int64", shape[:1]), ("scores", "float", (shape[0], classes))],
        classlabels_ints=labels,
        prob_a=a if sigmoids else None,
        prob_b=b if sigmoids else None,
        coefficients=[one for row in machine.weights for one in row],
        **given,
        post_transform=after,
        rho=machine.rho,
        support_vectors=[one for row in machine.support for one in row],
        vectors_per_class=counts,
    )


OPERATORS = [
    Operator("Binarizer", draw_binarizer, types=TYPES),
    Operator("Imputer", draw_imputer, types=TYPES),
    Operator("LinearClassifier", draw_linear_classifier, types=TYPES),
    Operator("LinearRegressor", draw_linear_regressor, types=TYPES),
    Operator("Normalizer", draw_normalizer, types=TYPES),
    Operator("SVMClassifier", draw_svm_classifier, types=TYPES, weight=2),
    Operator("SVMRegressor", draw_svm_regressor, types=TYPES),
    Operator("Scaler", draw_scaler, types=TYPES),
]
