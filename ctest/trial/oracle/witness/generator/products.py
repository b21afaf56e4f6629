# SPDX-License-Identifier: Apache-2.0
"""Products of matrices and tensors, and the determinant, from ONNX's pages.

Each sum is written out, term by term, with exact numbers.
"""

from __future__ import annotations

import itertools

import numpy as np
from mpmath import mpf
from problem import (
    Array,
    Draw,
    Operator,
    Problem,
    Shape,
    attribute,
    filled,
    node,
    places,
    problem,
    total,
    zeros,
)


def _broadcast(index: Shape, shape: Shape) -> Shape:
    """The index into a tensor of `shape` that is broadcast to a longer one."""
    last = index[len(index) - len(shape) :]
    return tuple(0 if size == 1 else k for k, size in zip(last, shape))


def matmul(a: Array, b: Array) -> Array:
    """numpy.matmul: stacks of matrices, a vector as a row or as a column."""
    left = a[np.newaxis, :] if a.ndim == 1 else a
    right = b[:, np.newaxis] if b.ndim == 1 else b
    stack = np.broadcast_shapes(left.shape[:-2], right.shape[:-2])
    terms = range(left.shape[-1])
    shape = (*stack, left.shape[-2], right.shape[-1])
    values = []
    for *outer, i, j in places(shape):
        one = left[_broadcast(tuple(outer), left.shape[:-2])]
        other = right[_broadcast(tuple(outer), right.shape[:-2])]
        values.append(total(one[i, k] * other[k, j] for k in terms))
    if a.ndim == 1:
        shape = (*shape[:-2], shape[-1])
    return filled(shape[:-1] if b.ndim == 1 else shape, values)


MATRICES: list[tuple[Shape, Shape, Shape]] = [
    ((2, 3), (3, 2), (2, 2)),
    ((3,), (3,), ()),
    ((4,), (4, 2), (2,)),
    ((2, 5), (5,), (2,)),
    ((2, 2, 2), (2, 2), (2, 2, 2)),
    ((2, 2), (2, 2, 2), (2, 2, 2)),
    ((2, 1, 2, 2), (2, 2, 1), (2, 2, 2, 1)),
    ((1, 8), (8, 1), (1, 1)),
]


def draw_matmul(draw: Draw) -> Problem:
    left, right, shape = draw.choice(MATRICES)
    return problem(
        draw,
        node("y", "MatMul", "a, b"),
        {"a": draw.floats(left), "b": draw.floats(right)},
        {"y": shape},
        lambda given: [matmul(given["a"], given["b"])],
    )


def draw_gemm(draw: Draw) -> Problem:
    rows, inner, columns = draw.choice([(2, 3, 2), (1, 4, 2), (3, 1, 2)])
    turn_a, turn_b = draw.flag(), draw.flag()
    alpha = draw.choice([None, draw.uniform(-2, 2)])
    beta = draw.choice([None, draw.uniform(-2, 2)])
    bias = draw.choice([None, (), (columns,), (rows, 1), (rows, columns)])
    inputs = {
        "a": draw.floats((inner, rows) if turn_a else (rows, inner)),
        "b": draw.floats((columns, inner) if turn_b else (inner, columns)),
    }
    if bias is not None:
        inputs["c"] = draw.floats(bias)

    def compute(given):
        a = given["a"].T if turn_a else given["a"]
        b = given["b"].T if turn_b else given["b"]
        y = matmul(a, b) * attribute(1 if alpha is None else alpha)
        if bias is not None:
            c = np.broadcast_to(given["c"], (rows, columns))
            y = y + c * attribute(1 if beta is None else beta)
        return [y]

    text = node(
        "y",
        "Gemm",
        inputs,
        alpha=alpha,
        beta=beta,
        transA=turn_a or None,
        transB=turn_b or None,
    )
    return problem(draw, text, inputs, {"y": (rows, columns)}, compute)


EQUATIONS: list[tuple[str, list[Shape]]] = [
    ("ij,jk->ik", [(2, 3), (3, 2)]),
    ("ij,kj->ik", [(2, 3), (2, 3)]),
    ("bij,bjk->bik", [(2, 2, 2), (2, 2, 2)]),
    ("i,i->", [(5,), (5,)]),
    ("i,j->ij", [(3,), (2,)]),
    ("ij->ji", [(2, 3)]),
    ("ij->", [(2, 3)]),
    ("ij->i", [(3, 2)]),
    ("ii->i", [(3, 3)]),
    ("ii", [(3, 3)]),
    ("ij,jk,kl->il", [(2, 2), (2, 3), (3, 2)]),
    ("ij,ij->ij", [(2, 2), (2, 2)]),
    ("ij,ij,ij->j", [(2, 2), (2, 2), (2, 2)]),
    ("...ij,...jk->...ik", [(2, 2, 2), (2, 2, 1)]),
    ("i...->...", [(3, 2)]),
    ("bhwd,bkd->bhwk", [(1, 2, 1, 3), (1, 2, 3)]),
    ("ij,jk", [(2, 2), (2, 3)]),
]
# The dots as a label; without "->" the labels that stand once come in order.
WRITTEN_OUT = {
    "...ij,...jk->...ik": "Zij,Zjk->Zik",
    "i...->...": "iZ->Z",
    "ii": "ii->",
    "ij,jk": "ij,jk->ik",
}


def einsum(equation: str, tensors: list[Array]) -> Array:
    """The sum over every label that is not in the output."""
    left, right = WRITTEN_OUT.get(equation, equation).split("->")
    terms = left.split(",")
    sizes: dict[str, int] = {}
    for term, tensor in zip(terms, tensors):
        sizes.update(zip(term, tensor.shape))
    result = zeros(tuple(sizes[label] for label in right))
    for index in places(list(sizes.values())):
        at = dict(zip(sizes, index))
        product = mpf(1)
        for term, tensor in zip(terms, tensors):
            product *= tensor[tuple(at[label] for label in term)]
        result[tuple(at[label] for label in right)] += product
    return result


def draw_einsum(draw: Draw) -> Problem:
    equation, shapes = draw.choice(EQUATIONS)
    inputs = {f"x{k}": draw.floats(shape) for k, shape in enumerate(shapes)}
    shape = einsum(equation, [zeros(one) for one in shapes]).shape
    return problem(
        draw,
        node("y", "Einsum", inputs, equation=equation),
        inputs,
        {"y": shape},
        lambda given: [einsum(equation, [given[name] for name in inputs])],
    )


def determinant(matrix: Array) -> mpf:
    """Leibniz' sum over all permutations."""
    size = matrix.shape[0]
    result = mpf(0)
    for order in itertools.permutations(range(size)):
        pairs = itertools.combinations(order, 2)
        swaps = sum(1 for first, second in pairs if first > second)
        product = mpf(-1 if swaps % 2 else 1)
        for row, column in enumerate(order):
            product *= matrix[row, column]
        result += product
    return result


UNIMODULAR = [
    [19823, 26218, -162],
    [3425023, 4578541, -28292],
    [6797157, -4031885, 25281],
]


def _hostile(draw: Draw) -> np.ndarray:
    """A matrix that is singular, or next to that, and exact in the type."""
    kind = draw.choice(["singular", "zero", "near", "third", "unimodular"])
    if kind == "singular":
        return np.array([[1.0, 2.0], [2.0, 4.0]])
    if kind == "zero":
        return np.array([[0.0, 0.0], [0.0, 3.0]])
    if kind == "unimodular" and draw.type in ("float", "double"):
        return np.array(UNIMODULAR, dtype=np.float64)
    third = float(draw.rounded(1 / 3))
    if kind == "third":
        return np.array([[1.0, third], [3.0, 1.0]])
    return np.array([[1.0, third, 2.0], [3.0, 1.0, 6.0], [0.5, 0.25, 1.0]])


def draw_det(draw: Draw) -> Problem:
    if draw.scale == "edge" and draw.flag(0.7):
        x = _hostile(draw)
    else:
        shapes = [(1, 1), (2, 2), (3, 3), (2, 2, 2), (4, 4)]
        x = draw.floats(draw.choice(shapes))

    def compute(given):
        stack = x.shape[:-2]
        values = [determinant(given["x"][index]) for index in places(stack)]
        return [filled(stack, values)]

    text = node("y", "Det", "x")
    return problem(draw, text, {"x": x}, {"y": x.shape[:-2]}, compute)


OPERATORS = [
    Operator("MatMul", draw_matmul),
    Operator("Gemm", draw_gemm),
    Operator("Einsum", draw_einsum),
    Operator("Det", draw_det),
]
