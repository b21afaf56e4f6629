# SPDX-License-Identifier: Apache-2.0
"""Chains of operators: what one loses, the next may show.

`Chain` is two to six functions of an element, with a reduction or a
normalization at the end as often as not. `Lost` adds 1 to numbers far below a
unit in the last place of 1, takes it away again, and decides on what is left:
a double sees 0. `Outside` goes beyond double's range and comes back.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

import elementwise
import normalization
import numpy as np
import quantization
import reductions
from arithmetic import Array, each, exact
from mpmath import mp, mpf
from problem import Compute, Draw, Operator, Problem, Undrawable, node, problem

LINKS = [
    operator
    for operator in elementwise.OPERATORS
    if operator.pointwise and operator.name not in ("Identity", "Sign", "Round")
]
ENDS = [
    operator
    for family in (reductions, normalization)
    for operator in family.OPERATORS
    if operator.name not in ("ArgMax", "ArgMin", "Hardmax", "ReduceProd", "Dropout")
]
HANDY = mpf("1e4000")  # numbers beyond have no exponential
DECISIONS = [
    operator
    for family in (elementwise, reductions, quantization)
    for operator in family.OPERATORS
    if operator.name
    in (
        *("Relu", "LeakyRelu", "PRelu", "ThresholdedRelu", "Shrink", "Sign", "Elu"),
        *("Ceil", "Floor", "Abs", "Celu", "Selu", "HardSwish", "HardSigmoid", "Clip"),
        *("ArgMax", "ArgMin", "ReduceMax", "ReduceMin", "Hardmax", "ReduceL1"),
        *("LpNormalization", "Cast"),
    )
]


def renamed(text: str, names: Mapping[str, str]) -> str:
    """The text of a node with other names of its values; attributes stay."""
    outputs, rest = text.split(" = ", 1)
    head, inputs = rest.rsplit("(", 1)

    def other(values: str) -> str:
        return re.sub(r"\w+", lambda word: names.get(word[0], word[0]), values)

    return f"{other(outputs)} = {head}({other(inputs)}"


def linked(links: list[Problem], end: Problem | None) -> tuple[str, Compute]:
    """The nodes of a chain from x to the end's outputs, and its formula."""
    texts = []
    last = len(links) - 1
    for at, link in enumerate(links):
        ends = end is None and at == last
        names = {"x": f"t{at}" if at else "x", "y": "y" if ends else f"t{at + 1}"}
        texts.append(renamed(link.node, names))
    if end is not None:
        texts.append(renamed(end.node, {"x": f"t{len(links)}"}))

    def compute(given: Mapping[str, Array]) -> list[Array]:
        x = given["x"]
        for link in links:
            x = link.compute({"x": x})[0]
        return [x] if end is None else end.compute({**given, "x": x})

    return " ".join(texts), compute


def are_defined(links: list[Problem], start: np.ndarray) -> bool:
    """True where no link is out of its domain, where later ones may hide it."""
    with mp.workdps(30):
        x = exact(start)
        for link in links:
            x = link.compute({"x": x})[0]
            if not all(mp.isfinite(number) for number in x.ravel()):
                return False
            if any(abs(number) > HANDY for number in x.ravel()):
                return False
    return True


def draw_chain(draw: Draw) -> Problem:
    end = drawn_of(draw, ENDS) if draw.flag() else None
    shape = draw.shape(1, 2, 8) if end is None else end.inputs["x"].shape
    count = draw.integer(2, 6)
    links = [drawn_of(draw, LINKS) for _ in range(count)]
    text, compute = linked(links, end)
    wild = (-1e5, 1e5) if draw.scale == "wild" else (None, None)
    x = draw.floats(shape, *wild)
    if not are_defined(links, x):
        raise Undrawable("a link is out of its domain")
    if end is None:
        return problem(draw, text, {"x": x}, {"y": shape}, compute)
    return replace(end, node=text, inputs={**end.inputs, "x": x}, compute=compute)


def drawn_of(draw: Draw, among: list[Operator]) -> Problem:
    """A problem of one of some operators that have the draw's type.

    The numbers of a link are thrown away, its attributes stay.
    """
    return draw.choice([one for one in among if draw.type in one.types]).draw(draw)


def draw_lost(draw: Draw) -> Problem:
    """float16 has no numbers that double loses beside 1."""
    end = drawn_of(draw, DECISIONS)
    shape = end.inputs["x"].shape
    if end.types["x"] != draw.type or 0 in shape:
        raise Undrawable("the decision is not on floats")
    signs = draw.integers(shape, 0, 1) * 2 - 1
    tiny = signs * draw.integers(shape, 1, 40) * 0.5e-18
    ones = {"one": np.array(1.0), "same": np.array(1.0)}
    first = node("up", "Add", ["x", "one"])
    second = node("rest", "Sub", ["up", "same"])

    def compute(given: Mapping[str, Array]) -> list[Array]:
        up = each(lambda a: a + given["one"].item(), given["x"])
        rest = each(lambda a: a - given["same"].item(), up)
        others = {k: v for k, v in given.items() if k not in ones}
        return end.compute({**others, "x": rest})

    inputs = {**end.inputs, "x": draw.rounded(tiny), **ones}
    return replace(
        end,
        node=" ".join([first, second, renamed(end.node, {"x": "rest"})]),
        inputs=inputs,
        types={**end.types, **dict.fromkeys(ones, draw.type)},
        compute=compute,
        moved=[*end.moved, *ones],
    )


# Beyond double's range and back: the operators, and the bounds of x.
ROUND_TRIPS = [
    (["Exp", "Log"], (-2000.0, 2000.0)),
    (["Exp", "Reciprocal"], (-740.0, -710.0)),
    (["Sinh", "Asinh"], (-2000.0, 2000.0)),
    (["Exp", "Tanh"], (-900.0, 900.0)),
    (["Exp", "Exp", "Log", "Log"], (0.0, 9.0)),
    (["Cosh", "Log"], (700.0, 2000.0)),
    (["Exp", "Sqrt", "Log"], (-3000.0, 3000.0)),
    (["Exp", "Sigmoid"], (-900.0, 900.0)),
]


def draw_outside(draw: Draw) -> Problem:
    names, bounds = draw.choice(ROUND_TRIPS)
    by_name = {operator.name: operator for operator in LINKS}
    shape = draw.shape(1, 1, 4)
    links = [by_name[name].draw(draw) for name in names]
    text, compute = linked(links, None)
    low, high = bounds
    x = draw.rounded([draw.random.uniform(low, high) for _ in range(shape[0])])
    return problem(draw, text, {"x": x}, {"y": shape}, compute)


OPERATORS = [
    Operator("Chain", draw_chain, weight=8),
    Operator("Lost", draw_lost, types=("double", "float", "bfloat16"), weight=4),
    Operator("Outside", draw_outside, pointwise=True, weight=2),
]
