# SPDX-License-Identifier: Apache-2.0
"""Functions of one element, and of the elements of two or more tensors.

The formulas are those of the operators' pages; `piecewise` ones take the branch
that the page gives to the border.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from arithmetic import Given, Shape, attribute, divided, each, logarithm, power, root
from mpmath import mp, mpf
from problem import Array, Draw, Operator, Problem

Function = Callable[..., mpf]
Attributes = dict[str, Any]
Bounds = tuple[float | None, float | None]
EVERYWHERE: Bounds = (None, None)


def unary(draw: Draw, name: str, function: Function, bounds: Bounds, **given: Any):
    """A problem of a function of one element."""
    x = draw.floats(draw.shape(0), *bounds)
    return draw.problem(
        name, {"x": x}, x.shape, lambda inputs: [each(function, inputs["x"])], **given
    )


def plain(name: str, function: Function, bounds: Bounds = EVERYWHERE) -> Operator:
    """An operator without attributes."""

    def drawn(draw: Draw) -> Problem:
        return unary(draw, name, function, bounds)

    return Operator(name, drawn, pointwise=True)


def tuned(
    name: str, make: Callable[[Draw], tuple[Function, Attributes]], *, wide: bool = True
) -> Operator:
    """An operator whose attributes are drawn with its function."""

    def drawn(draw: Draw) -> Problem:
        function, given = make(draw)
        bounds = EVERYWHERE if wide or draw.scale != "wild" else (-1e4, 1e4)
        return unary(draw, name, function, bounds, **given)

    return Operator(name, drawn, pointwise=True)


# ------------------------------------------------------------------- functions


def nearest_even(x: mpf) -> mpf:
    """The nearest integer, halves to the even one."""
    below = mp.floor(x)
    rest = x - below
    if rest > 0.5 or (rest == 0.5 and int(below) % 2 == 1):
        return below + 1
    return below


def atanh(x: mpf) -> mpf:
    if abs(x) == 1:
        return x * mpf("inf")
    return mp.atanh(x) if abs(x) < 1 else mpf("nan")


def inside(function: Function) -> Function:
    """A function that is defined in -1..1 only."""
    return lambda x: function(x) if abs(x) <= 1 else mpf("nan")


def sigmoid(x: mpf) -> mpf:
    return 1 / (1 + mp.exp(-x))


def softplus(x: mpf) -> mpf:
    return mp.log1p(mp.exp(x))


def hard_sigmoid(x: mpf, alpha: mpf, beta: mpf) -> mpf:
    return max(mpf(0), min(mpf(1), alpha * x + beta))


def gelu(x: mpf) -> mpf:
    """x times the normal distribution: 1 + erf(z) is erfc(-z), at any digits."""
    return x * mp.erfc(-x / mp.sqrt(2)) / 2


def gelu_tanh(x: mpf) -> mpf:
    inner = mp.sqrt(2 / mp.pi) * (x + mpf("0.044715") * x**3)
    return x / (1 + mp.exp(-2 * inner))  # (1 + tanh(z)) / 2, at any digits


# ------------------------------------------------------- functions' attributes


def draw_alpha(
    draw: Draw, default: float, among: list[float]
) -> tuple[mpf, Attributes]:
    """An attribute alpha: the default, left out, or another."""
    if draw.flag(0.3):
        return attribute(default), {}
    alpha = draw.choice([*among, draw.uniform(0.1, 2.0)])
    return attribute(alpha), {"alpha": alpha}


def alpha_of(
    default: float, among: list[float], function: Callable[[mpf, mpf], mpf]
) -> Callable[[Draw], tuple[Function, Attributes]]:
    """Draws alpha for a function of x and of it."""

    def make(draw: Draw) -> tuple[Function, Attributes]:
        alpha, given = draw_alpha(draw, default, among)
        return lambda x: function(x, alpha), given

    return make


def celu(x: mpf, alpha: mpf) -> mpf:
    return max(mpf(0), x) + min(mpf(0), alpha * mp.expm1(x / alpha))


def make_selu(draw: Draw) -> tuple[Function, Attributes]:
    given: Attributes = {}
    alpha, gamma = 1.67326319217681884765625, 1.05070102214813232421875
    if draw.flag(0.6):
        alpha, gamma = draw.uniform(0.5, 3.0), draw.uniform(0.5, 2.0)
        given = {"alpha": alpha, "gamma": gamma}
    a, g = attribute(alpha), attribute(gamma)
    return lambda x: g * x if x > 0 else g * a * mp.expm1(x), given


def make_hard_sigmoid(draw: Draw) -> tuple[Function, Attributes]:
    alpha, given = draw_alpha(draw, 0.2, [0.5, 0.1])
    beta = 0.5
    if draw.flag():
        beta = draw.choice([0.25, 0.6, 0.0, draw.uniform(0.1, 0.9)])
        given = {**given, "beta": beta}
    b = attribute(beta)
    return lambda x: hard_sigmoid(x, alpha, b), given


def make_shrink(draw: Draw) -> tuple[Function, Attributes]:
    lambd, bias = 0.5, 0.0
    given: Attributes = {}
    if draw.flag(0.7):
        lambd = draw.choice([0.0, 1.0, 0.3, draw.uniform(0.1, 1.5)])
        # Without a border and a bias it would be smooth at its decision.
        bias = draw.choice([0.0, lambd]) if lambd else 0.5
        bias = draw.choice([bias, draw.uniform(0.1, 1.5)])
        given = {"lambd": lambd, "bias": bias}
    border, by = attribute(lambd), attribute(bias)

    def function(x: mpf) -> mpf:
        if x < -border:
            return x + by
        return x - by if x > border else mpf(0)

    return function, given


def make_gelu(draw: Draw) -> tuple[Function, Attributes]:
    kind = draw.choice([None, "none", "tanh"])
    return (gelu_tanh if kind == "tanh" else gelu), {"approximate": kind}


# --------------------------------------------------------------- binary and more


def spread(draw: Draw) -> tuple[Shape, Shape]:
    """Two shapes that broadcast to one."""
    return draw.choice(
        [
            ((4,), (4,)),
            ((2, 3), (2, 3)),
            ((2, 3), (3,)),
            ((2, 1), (1, 3)),
            ((), (4,)),
            ((2, 3), ()),
            ((2, 1, 2), (2, 1)),
        ]
    )


def of_two(
    draw: Draw,
    name: str,
    shapes: tuple[Shape, Shape],
    function: Function,
    bounds: tuple[Bounds, Bounds] = (EVERYWHERE, EVERYWHERE),
    **given: Any,
) -> Problem:
    """A problem of two tensors that broadcast."""
    inputs = {
        name: draw.floats(shape, *limits)
        for name, shape, limits in zip("ab", shapes, bounds)
    }
    after = np.broadcast_shapes(*shapes)
    return draw.problem(
        name, inputs, after, lambda of: [each(function, *of.values())], **given
    )


def binary(name: str, function: Function) -> Operator:
    """An operator of two tensors."""
    return Operator(name, lambda draw: of_two(draw, name, spread(draw), function))


def comparison(name: str, function: Function) -> Operator:
    """An operator of two tensors whose result is of bools."""

    def drawn(draw: Draw) -> Problem:
        one, other = spread(draw)
        a, b = draw.floats(one), draw.floats(other)
        if a.size == b.size and draw.flag():
            b = b.copy()  # equal numbers are what comparisons differ in
            b.ravel()[0] = a.ravel()[0]
        inputs = {"a": a, "b": b}
        return draw.problem(
            name,
            inputs,
            np.broadcast_shapes(one, other),
            lambda of: [each(function, *of.values()).astype(np.int64)],
            types={"y": "bool"},
            still=list(inputs),
        )

    return Operator(name, drawn)


def draw_prelu(draw: Draw) -> Problem:
    shapes = draw.choice(
        [((2, 3), (3,)), ((2, 3), (2, 3)), ((4,), ()), ((2, 2, 2), (2, 1))]
    )
    inputs = {name: draw.floats(shape) for name, shape in zip(("x", "slope"), shapes)}
    return draw.problem(
        "PRelu",
        inputs,
        shapes[0],
        lambda of: [each(lambda a, s: s * a if a < 0 else a, *of.values())],
    )


def draw_swiglu(draw: Draw) -> Problem:
    shape = draw.shape(1, 2, 8)
    alpha, given = draw_alpha(draw, 1.0, [0.5, 1.702])
    return of_two(
        draw, "SwiGLU", (shape, shape), lambda a, b: a * sigmoid(alpha * a) * b, **given
    )


def draw_mod(draw: Draw) -> Problem:
    """C's fmod; or Python's %, whose remainder has the divisor's sign."""
    truncated = draw.flag()
    rounding = truncate if truncated else mp.floor
    shapes = spread(draw)
    limits = EVERYWHERE if draw.type == "float16" else (-1e20, 1e20)

    def function(x: mpf, by: mpf) -> mpf:
        return x - rounding(x / by) * by if by != 0 else mpf("nan")

    return of_two(draw, "Mod", shapes, function, (limits, limits), fmod=int(truncated))


def truncate(x: mpf) -> mpf:
    return mp.floor(x) if x >= 0 else mp.ceil(x)


def draw_pow(draw: Draw) -> Problem:
    one, other = spread(draw)
    whole = draw.flag()
    base = draw.floats(one) if whole else draw.floats(one, 2.0**-20, 2.0**15)
    exponent = draw.floats(other, -6.0, 6.0)
    if whole:
        exponent = np.rint(exponent)
        exponent = exponent.astype(np.int64) if draw.flag() else exponent
    return draw.problem(
        "Pow",
        {"a": base, "b": exponent},
        np.broadcast_shapes(one, other),
        lambda of: [each(lambda x, e: power(x, mpf(e)), *of.values())],
        # A negative base has no derivative by its exponent.
        still=["b"] if whole else [],
    )


def draw_clip(draw: Draw) -> Problem:
    shape = draw.shape(1, 2, 8)
    x = draw.floats(shape)
    low, high = sorted(float(draw.rounded(draw.uniform(-2, 2))) for _ in range(2))
    if draw.flag(0.1):
        low, high = high, low  # the greater bound wins then
    inputs = {
        "x": x,
        "low": low if draw.flag(0.8) else None,
        "high": high if draw.flag(0.8) else None,
    }

    def compute(given: Given) -> list[Array]:
        y = given["x"]
        if "low" in given:
            y = each(max, y, given["low"])
        return [each(min, y, given["high"]) if "high" in given else y.copy()]

    return draw.problem("Clip", inputs, shape, compute)


def variadic(name: str, function: Function) -> Operator:
    """An operator of one to four tensors that broadcast."""

    def drawn(draw: Draw) -> Problem:
        shapes = draw.choice([[(3,)], [(2, 3), (3,)], [(2, 2), (2, 1), ()], [(3,)] * 4])
        inputs = {f"x{i}": draw.floats(shape) for i, shape in enumerate(shapes)}
        after = np.broadcast_shapes(*shapes)
        return draw.problem(
            name, inputs, after, lambda of: [each(function, *of.values())]
        )

    return Operator(name, drawn)


def draw_detector(draw: Draw, name: str, function: Function, **given: Any) -> Problem:
    """IsNaN and IsInf of numbers among which some are neither."""
    x = draw.floats(draw.shape(1, 2, 8))
    flat = x.ravel()
    for special in (np.nan, np.inf, -np.inf):
        if draw.flag():
            flat[draw.integer(0, flat.size - 1)] = special
    return draw.problem(
        name,
        {"x": x},
        x.shape,
        lambda of: [each(function, of["x"]).astype(np.int64)],
        types={"y": "bool"},
        still=["x"],
        **given,
    )


def draw_is_inf(draw: Draw) -> Problem:
    below, above = draw.flag(), draw.flag()

    def function(x: mpf) -> bool:
        return bool(mp.isinf(x) and (above if x > 0 else below))

    given = {"detect_negative": int(below), "detect_positive": int(above)}
    return draw_detector(draw, "IsInf", function, **given)


OPERATORS = [
    plain("Abs", abs),
    plain("Acos", inside(mp.acos), (-1.0, 1.0)),
    plain("Acosh", lambda x: mp.acosh(x) if x >= 1 else mpf("nan"), (1.0, None)),
    plain("Asin", inside(mp.asin), (-1.0, 1.0)),
    plain("Asinh", mp.asinh),
    plain("Atan", mp.atan),
    plain("Atanh", atanh, (-1.0, 1.0)),
    plain("Ceil", mp.ceil),
    plain("Cos", mp.cos),
    plain("Cosh", mp.cosh, (-800.0, 800.0)),
    plain("Erf", mp.erf),
    plain("Exp", mp.exp, (-800.0, 700.0)),
    plain("Floor", mp.floor),
    plain("HardSwish", lambda x: x * hard_sigmoid(x, mpf(1) / 6, mpf(1) / 2)),
    plain("Identity", lambda x: x),
    plain("Log", logarithm, (0.0, None)),
    plain("Mish", lambda x: x * mp.tanh(softplus(x)), (-800.0, 800.0)),
    plain("Neg", lambda x: -x),
    plain("Reciprocal", lambda x: divided(mpf(1), x)),
    plain("Relu", lambda x: max(mpf(0), x)),
    plain("Round", nearest_even),
    plain("Sigmoid", sigmoid, (-800.0, 800.0)),
    plain("Sign", lambda x: mpf((x > 0) - (x < 0))),
    plain("Sin", mp.sin),
    plain("Sinh", mp.sinh, (-800.0, 800.0)),
    plain("Softplus", softplus, (-800.0, 800.0)),
    plain("Softsign", lambda x: x / (1 + abs(x))),
    plain("Sqrt", root, (0.0, None)),
    plain("Tan", mp.tan),
    plain("Tanh", mp.tanh),
    tuned("Celu", alpha_of(1.0, [0.5, 2.0, 0.1], celu), wide=False),
    tuned(
        "Elu",
        alpha_of(1.0, [0.5, 2.0, 0.1], lambda x, a: a * mp.expm1(x) if x < 0 else x),
        wide=False,
    ),
    tuned("Gelu", make_gelu, wide=False),
    tuned("HardSigmoid", make_hard_sigmoid),
    tuned(
        "LeakyRelu",
        alpha_of(0.01, [0.3, 100.0, -0.5], lambda x, a: a * x if x < 0 else x),
    ),
    tuned("Selu", make_selu, wide=False),
    replace(tuned("Shrink", make_shrink), types=("double", "float", "float16")),
    tuned(
        "Swish",
        alpha_of(1.0, [0.5, 1.702, -1.0], lambda x, a: x * sigmoid(a * x)),
        wide=False,
    ),
    tuned(
        "ThresholdedRelu",
        alpha_of(1.0, [0.0, -0.5, 0.25], lambda x, a: x if x > a else mpf(0)),
    ),
    Operator("Clip", draw_clip),
    Operator("IsInf", draw_is_inf),
    Operator("IsNaN", lambda draw: draw_detector(draw, "IsNaN", mp.isnan)),
    Operator("Mod", draw_mod),
    Operator("PRelu", draw_prelu),
    Operator("Pow", draw_pow),
    Operator("SwiGLU", draw_swiglu),
    binary("Add", lambda a, b: a + b),
    binary("Sub", lambda a, b: a - b),
    binary("Mul", lambda a, b: a * b),
    binary("Div", divided),
    comparison("Equal", lambda a, b: a == b),
    comparison("Greater", lambda a, b: a > b),
    comparison("GreaterOrEqual", lambda a, b: a >= b),
    comparison("Less", lambda a, b: a < b),
    comparison("LessOrEqual", lambda a, b: a <= b),
    variadic("Max", lambda *terms: max(terms)),
    variadic("Min", lambda *terms: min(terms)),
    variadic("Sum", lambda *terms: sum(terms, mpf(0))),
    variadic("Mean", lambda *terms: sum(terms, mpf(0)) / len(terms)),
]
