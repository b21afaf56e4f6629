# SPDX-License-Identifier: Apache-2.0
"""Models of the domain ai.onnx.ml: linear ones, support vectors, trees.

Their parameters are attributes, so numbers of float32. Where a page gives no
formula, it is that of ONNX's reference implementation. The sign of a normalized
number differs between the two: only positive numbers are drawn there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from elementwise import sigmoid
from mpmath import mp, mpf
from problem import (
    Array,
    Draw,
    Operator,
    Problem,
    along,
    attribute,
    each,
    filled,
    node,
    total,
)
from reductions import softmax

Line = list[Any]
TYPES = ("float", "double")
FEATURES = [(1, 3), (2, 2), (3, 2), (2, 4)]


def learned(
    draw: Draw,
    name: str,
    x: np.ndarray,
    compute: Callable[[Array], list[Array]],
    outputs: list[tuple[str, str, tuple[int, ...]]],
    **attributes: Any,
) -> Problem:
    """A problem of one input x."""
    names = [output[0] for output in outputs]
    return Problem(
        node=node(names, f"ai.onnx.ml.{name}", "x", **attributes),
        inputs={"x": x},
        types={"x": draw.type},
        outputs=outputs,
        compute=lambda given: compute(given["x"]),
        moved=["x"],
    )


def numbers(draw: Draw, count: int, low: float = -2, high: float = 2) -> list[float]:
    """Numbers of an attribute."""
    return [draw.uniform(low, high) for _ in range(count)]


def draw_scaler(draw: Draw) -> Problem:
    shape = draw.choice(FEATURES)
    count = draw.choice([1, shape[1]])
    offset, scale = numbers(draw, count), numbers(draw, count)

    def compute(x: Array) -> list[Array]:
        by, times = (filled((count,), map(attribute, row)) for row in (offset, scale))
        return [each(lambda a, b, c: (a - b) * c, x, by, times)]

    outputs = [("y", "float", shape)]
    x = draw.floats(shape)
    return learned(draw, "Scaler", x, compute, outputs, offset=offset, scale=scale)


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
    exact = [attribute(weight) for weight in weights]
    scores = np.empty((rows, len(shifts)), object)
    for at in np.ndindex(scores.shape):
        own = exact[at[1] * features : (at[1] + 1) * features]
        products = (a * b for a, b in zip(x[at[0]], own))
        scores[at] = total(products) + attribute(shifts[at[1]])
    return scores


def draw_linear_regressor(draw: Draw) -> Problem:
    shape, targets = draw.choice(FEATURES), draw.integer(1, 3)
    weights, shifts = numbers(draw, targets * shape[1]), numbers(draw, targets)
    outputs = [("y", "float", (shape[0], targets))]
    return learned(
        draw,
        "LinearRegressor",
        draw.floats(shape),
        lambda x: [linear(x, weights, shifts)],
        outputs,
        coefficients=weights,
        intercepts=shifts,
        targets=targets,
    )


def draw_linear_classifier(draw: Draw) -> Problem:
    """The label of the greatest score, and the scores after a transform."""
    shape, classes = draw.choice(FEATURES), draw.integer(3, 4)
    weights, shifts = numbers(draw, classes * shape[1]), numbers(draw, classes)
    labels = [5, 2, 9, 7][:classes]
    after = draw.choice(["NONE", "SOFTMAX", "LOGISTIC"])
    limit = (-100.0, 100.0) if draw.scale == "wild" else (None, None)

    def compute(x: Array) -> list[Array]:
        scores = linear(x, weights, shifts)
        best = [labels[int(np.argmax(row))] for row in scores]
        if after == "SOFTMAX":
            scores = along(softmax, scores, 1)
        elif after == "LOGISTIC":
            scores = each(sigmoid, scores)
        return [np.array(best, np.int64), scores]

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


def kernel(kind: str, gamma: mpf, shift: mpf, degree: int) -> Callable[..., mpf]:
    """The kernel of support vectors."""

    def function(x: Line, vector: Line) -> mpf:
        dot = total(a * b for a, b in zip(x, vector))
        if kind == "RBF":
            return mp.exp(-gamma * total((a - b) ** 2 for a, b in zip(x, vector)))
        if kind == "POLY":
            return (gamma * dot + shift) ** degree
        if kind == "SIGMOID":
            return mp.tanh(gamma * dot + shift)
        return dot

    return function


def draw_svm_regressor(draw: Draw) -> Problem:
    shape, vectors = draw.choice(FEATURES), draw.integer(1, 3)
    kind = draw.choice(["LINEAR", "RBF", "POLY", "SIGMOID"])
    gamma, shift = draw.uniform(0.1, 1), draw.uniform(-1, 1)
    degree = draw.integer(2, 3)
    weights, rho = numbers(draw, vectors), draw.uniform(-1, 1)
    support = numbers(draw, vectors * shape[1])
    limit = (-100.0, 100.0) if draw.scale == "wild" else (None, None)

    def compute(x: Array) -> list[Array]:
        function = kernel(kind, attribute(gamma), attribute(shift), degree)
        rows = np.array([attribute(s) for s in support], object).reshape(vectors, -1)
        sums = []
        for one in x:
            near = [function(list(one), list(row)) for row in rows]
            terms = [attribute(weight) * k for weight, k in zip(weights, near)]
            sums.append(total(terms) + attribute(rho))
        return [filled((shape[0], 1), sums)]

    return learned(
        draw,
        "SVMRegressor",
        draw.floats(shape, *limit),
        compute,
        [("y", "float", (shape[0], 1))],
        coefficients=weights,
        kernel_params=[gamma, shift, float(degree)],
        kernel_type=kind,
        n_supports=vectors,
        rho=[rho],
        support_vectors=support,
    )


def draw_imputer(draw: Draw) -> Problem:
    """Numbers that equal one are replaced by another."""
    shape = draw.choice(FEATURES)
    count = draw.choice([1, shape[1]])
    x, values = draw.floats(shape), numbers(draw, count)
    x[0, 0] = -1.0

    def compute(x: Array) -> list[Array]:
        put = filled((count,), map(attribute, values))
        return [each(lambda a, b: b if a == -1 else a, x, put)]

    outputs = [("y", draw.type, shape)]
    given = {"imputed_value_floats": values, "replaced_value_float": -1.0}
    return learned(draw, "Imputer", x, compute, outputs, **given)


def draw_binarizer(draw: Draw) -> Problem:
    x, border = draw.floats(draw.choice(FEATURES)), draw.uniform(-1, 1)
    if draw.flag():
        x[0, 0] = border  # not greater: 0

    def compute(x: Array) -> list[Array]:
        return [each(lambda a: mpf(a > attribute(border)), x)]

    outputs = [("y", draw.type, x.shape)]
    return learned(draw, "Binarizer", x, compute, outputs, threshold=border)


# ------------------------------------------------------------------------- trees

COMPARE: dict[str, Callable[[mpf, mpf], bool]] = {
    "BRANCH_LEQ": lambda x, border: x <= border,
    "BRANCH_LT": lambda x, border: x < border,
    "BRANCH_GTE": lambda x, border: x >= border,
    "BRANCH_GT": lambda x, border: x > border,
}
AGGREGATE: dict[str, Callable[[Line], mpf]] = {
    "SUM": total,
    "AVERAGE": lambda xs: total(xs) / len(xs),
    "MIN": min,
    "MAX": max,
}


def draw_trees(draw: Draw) -> Problem:
    """Trees of three leaves: node 0 asks, and node 2 asks who said no."""
    shape, trees = draw.choice(FEATURES), draw.integer(1, 3)
    x = draw.floats(shape)
    how = draw.choice(list(AGGREGATE))
    mode = draw.choice(list(COMPARE))  # ONNX's reference wants one for all
    asked = [[draw.integer(0, shape[1] - 1) for _ in range(2)] for _ in range(trees)]
    borders = [numbers(draw, 2) for _ in range(trees)]
    if draw.flag(0.4):
        x[0, asked[0][0]] = borders[0][0]  # on the border itself
    leaves = [numbers(draw, 3) for _ in range(trees)]
    base = draw.uniform(-1, 1)

    def leaf(tree: int, row: Line) -> mpf:
        for step in range(2):
            border = attribute(borders[tree][step])
            if COMPARE[mode](row[asked[tree][step]], border):
                return attribute(leaves[tree][step])
        return attribute(leaves[tree][2])

    def compute(x: Array) -> list[Array]:
        found = [
            AGGREGATE[how]([leaf(tree, list(row)) for tree in range(trees)])
            + attribute(base)
            for row in x
        ]
        return [filled((shape[0], 1), found)]

    return learned(
        draw,
        "TreeEnsembleRegressor",
        x,
        compute,
        [("y", "float", (shape[0], 1))],
        **tree_attributes(trees, mode, asked, borders, leaves),
        aggregate_function=how,
        base_values=[base],
        n_targets=1,
    )


def tree_attributes(
    trees: int,
    mode: str,
    asked: list[list[int]],
    borders: list[list[float]],
    leaves: list[list[float]],
) -> dict[str, Any]:
    """The nodes of all trees: 0 asks, 1 is a leaf, 2 asks, 3 and 4 are leaves."""
    ids = range(5)
    modes = [mode, "LEAF", mode, "LEAF", "LEAF"]
    every = [(tree, one) for tree in range(trees) for one in ids]
    return {
        "nodes_treeids": [tree for tree, _ in every],
        "nodes_nodeids": [one for _, one in every],
        "nodes_modes": [modes[one] for _, one in every],
        "nodes_featureids": [
            asked[tree][one // 2] if one in (0, 2) else 0 for tree, one in every
        ],
        "nodes_values": [
            borders[tree][one // 2] if one in (0, 2) else 0.0 for tree, one in every
        ],
        "nodes_truenodeids": [{0: 1, 2: 3}.get(one, 0) for _, one in every],
        "nodes_falsenodeids": [{0: 2, 2: 4}.get(one, 0) for _, one in every],
        "target_treeids": [tree for tree in range(trees) for _ in range(3)],
        "target_nodeids": [1, 3, 4] * trees,
        "target_ids": [0] * (3 * trees),
        "target_weights": [weight for tree in leaves for weight in tree],
    }


OPERATORS = [
    Operator("Binarizer", draw_binarizer, types=TYPES),
    Operator("Imputer", draw_imputer, types=TYPES),
    Operator("LinearClassifier", draw_linear_classifier, types=TYPES),
    Operator("LinearRegressor", draw_linear_regressor, types=TYPES),
    Operator("Normalizer", draw_normalizer, types=TYPES),
    Operator("SVMRegressor", draw_svm_regressor, types=TYPES),
    Operator("Scaler", draw_scaler, types=TYPES),
    Operator("TreeEnsembleRegressor", draw_trees, types=TYPES),
]
