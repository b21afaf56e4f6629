# SPDX-License-Identifier: Apache-2.0
"""The domain ai.onnx.preview.training: steps of optimizers, and Gradient."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from arithmetic import Array, Given, attribute, each, filled, root, total
from mpmath import mp, mpf
from problem import Draw, Operator, Problem, Undrawable, node, problem

Step = Callable[..., tuple[mpf, ...]]
Make = Callable[[Draw], tuple[Step, dict[str, Any]]]


def make_adagrad(draw: Draw) -> tuple[Step, dict[str, Any]]:
    decay, norm = draw.uniform(0, 0.1), draw.choice([0.0, 0.01])
    epsilon = draw.choice([None, 1e-3])
    given = {"decay_factor": decay, "norm_coefficient": norm, "epsilon": epsilon}
    by, of, small = map(attribute, (decay, norm, epsilon or 1e-6))

    def step(rate: mpf, time: int, x: mpf, g: mpf, h: mpf) -> tuple[mpf, ...]:
        slow = rate / (1 + time * by)
        slope = of * x + g
        squares = h + slope * slope
        return x - slow * slope / (root(squares) + small), squares

    return step, given


def make_adam(draw: Draw) -> tuple[Step, dict[str, Any]]:
    alpha, beta = draw.choice([(None, None), (0.5, 0.75), (0.95, 0.99)])
    norm, after = draw.choice([(0.0, 0.0), (0.01, 0.0), (0.0, 0.1)])
    epsilon = draw.choice([None, 1e-3])
    given = {"alpha": alpha, "beta": beta, "epsilon": epsilon}
    given |= {"norm_coefficient": norm, "norm_coefficient_post": after}
    a, b, small = map(attribute, (alpha or 0.9, beta or 0.999, epsilon or 1e-6))
    before, post = attribute(norm), attribute(after)

    def step(rate: mpf, time: int, *of: mpf) -> tuple[mpf, ...]:
        x, g, v, h = of
        slope = before * x + g
        mean = a * v + (1 - a) * slope
        squares = b * h + (1 - b) * slope * slope
        if time > 0:
            rate = rate * mp.sqrt(1 - b**time) / (1 - a**time)
        moved = x - rate * mean / (root(squares) + small)
        return (1 - post) * moved, mean, squares

    return step, given


def make_momentum(draw: Draw) -> tuple[Step, dict[str, Any]]:
    alpha, beta = draw.uniform(0.1, 0.99), draw.uniform(0.1, 1.5)
    norm, mode = draw.choice([0.0, 0.01]), draw.choice(["standard", "nesterov"])
    given = {"alpha": alpha, "beta": beta, "norm_coefficient": norm, "mode": mode}
    a, b, of = map(attribute, (alpha, beta, norm))

    def step(rate: mpf, time: int, x: mpf, g: mpf, v: mpf) -> tuple[mpf, ...]:
        slope = of * x + g
        mean = a * v + (b if time > 0 else 1) * slope
        if mode == "nesterov":
            return x - rate * (slope + a * mean), mean
        return x - rate * mean, mean

    return step, given


def optimizer(name: str, make: Make, states: str) -> Operator:
    """An operator of one or two tensors, each with a slope and its states."""

    def drawn(draw: Draw) -> Problem:
        step, given = make(draw)
        tensors, size = draw.choice([(1, 3), (1, 2), (2, 1)])
        inputs = {"rate": draw.floats((), 0.01, 1.0)}
        inputs["time"] = np.array(draw.integer(0, 3), np.int64)
        for letter in f"xg{states}":
            for tensor in range(tensors):
                low = 0.0 if letter == "h" else None  # the mean of squares
                inputs[f"{letter}{tensor}"] = draw.floats((size,), low)
        names = [f"{letter}{t}_new" for letter in f"x{states}" for t in range(tensors)]

        def compute(values: Given) -> list[Array]:
            rate, time = values["rate"].item(), int(values["time"])
            rows = []
            for tensor in range(tensors):
                columns = (values[f"{letter}{tensor}"] for letter in f"xg{states}")
                rows += [step(rate, time, *elements) for elements in zip(*columns)]
            flat = [number for column in zip(*rows) for number in column]
            return list(filled((len(names), size), flat))

        return draw.problem(
            f"ai.onnx.preview.training.{name}",
            inputs,
            dict.fromkeys(names, (size,)),
            compute,
            **given,
        )

    return Operator(name, drawn, types=("float", "double"))


# Functions of an element of x and one of w, as nodes that end in y, and their
# derivatives by x and by w.
DERIVATIVES: list[tuple[str, Callable[..., mpf], Callable[..., mpf]]] = [
    ("s = Mul(x, x) y = Mul(s, w)", lambda x, w: 2 * x * w, lambda x, w: x * x),
    ("y = Div(x, w)", lambda x, w: 1 / w, lambda x, w: -x / (w * w)),
    (
        "s = Add(x, w) y = Tanh(s)",
        lambda x, w: mp.sech(x + w) ** 2,
        lambda x, w: mp.sech(x + w) ** 2,
    ),
    (
        "r = Relu(x) y = Mul(r, w)",
        lambda x, w: w if x > 0 else mpf(0),
        lambda x, w: max(x, mpf(0)),
    ),
    (
        "b = Less(x, w) s = Mul(x, x) y = Where(b, s, w)",
        lambda x, w: 2 * x if x < w else mpf(0),
        lambda x, w: mpf(0) if x < w else mpf(1),
    ),
]


def gradient(nodes: str) -> str:
    """The nodes, and the gradient of the sum of their y by x and w."""
    name = "ai.onnx.preview.training.Gradient"
    return f"{nodes} {node('dx, dw', name, 'x, w', xs=['x', 'w'], y='y')}"


def draw_gradient(draw: Draw) -> Problem:
    """Gradients of a function of elements, or of squares of a product of matrices."""
    if draw.flag(0.3):
        return draw_gradient_of_product(draw)
    nodes, by_x, by_w = draw.choice(DERIVATIVES)
    shape = draw.shape()
    inputs = {"x": draw.floats(shape), "w": draw.floats(shape)}
    if "Div" in nodes and not inputs["w"].all():
        raise Undrawable("x / 0 has no derivative")

    def compute(given: Given) -> list[Array]:
        return [each(by, given["x"], given["w"]) for by in (by_x, by_w)]

    return problem(draw, gradient(nodes), inputs, {"dx": shape, "dw": shape}, compute)


def draw_gradient_of_product(draw: Draw) -> Problem:
    """y = (x w)^2, of a row and a matrix: dx = 2 (x w) w^T, dw = 2 x^T (x w)."""
    inner, columns = draw.integer(1, 4), draw.integer(1, 3)
    inputs = {"x": draw.floats((1, inner)), "w": draw.floats((inner, columns))}

    def compute(given: Given) -> list[Array]:
        x, w = given["x"], given["w"]
        twice = [2 * total(x[0] * w[:, j]) for j in range(columns)]
        dx = [total(by * of for by, of in zip(twice, row)) for row in w]
        dw = [by * of for of in x[0] for by in twice]
        return [filled(x.shape, dx), filled(w.shape, dw)]

    nodes = "p = MatMul(x, w) y = Mul(p, p)"
    shapes = {"dx": (1, inner), "dw": (inner, columns)}
    return problem(draw, gradient(nodes), inputs, shapes, compute)


OPERATORS = [
    Operator("Gradient", draw_gradient, types=("float", "double")),
    optimizer("Adagrad", make_adagrad, "h"),
    optimizer("Adam", make_adam, "vh"),
    optimizer("Momentum", make_momentum, "v"),
]
