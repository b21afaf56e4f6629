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
from mpmath import mp, mpf
from problem import (
    Draw,
    Operator,
    Problem,
    attribute,
    divided,
    each,
    logarithm,
    node,
    power,
    root,
)

Function = Callable[..., mpf]
Attributes = dict[str, Any]
Bounds = tuple[float | None, float | None]
EVERYWHERE: Bounds = (None, None)


def unary(draw: Draw, name: str, function: Function, bounds: Bounds, **given: Any):
    """A problem of a function of one element."""
    x = draw.floats(draw.shape(0), *bounds)
    return Problem(
        node=node("y", name, "x", **given),
        inputs={"x": x},
        types={"x": draw.type},
        outputs=[("y", draw.type, x.shape)],
        compute=lambda inputs: [each(function, inputs["x"])],
        moved=["x"],
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


def sign(x: mpf) -> mpf:
    return mpf((x > 0) - (x < 0))


def nearest_even(x: mpf) -> mpf:
    """The nearest integer, halves to the even one."""
    below = mp.floor(x)
    rest = x - below
    if rest > 0.5 or (rest == 0.5 and int(below) % 2 == 1):
        return below + 1
    return below


def acosh(x: mpf) -> mpf:
    return mp.acosh(x) if x >= 1 else mpf("nan")


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


def mish(x: mpf) -> mpf:
    return x * mp.tanh(softplus(x))


# ------------------------------------------------------- functions' attributes


def draw_alpha(
    draw: Draw, default: float, among: list[float]
) -> tuple[mpf, Attributes]:
    """An attribute alpha: the default, left out, or another."""
    if draw.flag(0.3):
        return attribute(default), {}
    alpha = draw.choice([*among, draw.uniform(0.1, 2.0)])
    return attribute(alpha), {"alpha": alpha}


def make_elu(draw: Draw) -> tuple[Function, Attributes]:
    alpha, given = draw_alpha(draw, 1.0, [0.5, 2.0, 0.1])
    return lambda x: alpha * mp.expm1(x) if x < 0 else x, given


def make_celu(draw: Draw) -> tuple[Function, Attributes]:
    alpha, given = draw_alpha(draw, 1.0, [0.5, 2.0, 0.1])

    def function(x: mpf) -> mpf:
        return max(mpf(0), x) + min(mpf(0), alpha * mp.expm1(x / alpha))

    return function, given


def make_selu(draw: Draw) -> tuple[Function, Attributes]:
    given: Attributes = {}
    alpha, gamma = 1.67326319217681884765625, 1.05070102214813232421875
    if draw.flag(0.6):
        alpha, gamma = draw.uniform(0.5, 3.0), draw.uniform(0.5, 2.0)
        given = {"alpha": alpha, "gamma": gamma}
    a, g = attribute(alpha), attribute(gamma)
    return lambda x: g * x if x > 0 else g * a * mp.expm1(x), given


def make_leaky_relu(draw: Draw) -> tuple[Function, Attributes]:
    alpha, given = draw_alpha(draw, 0.01, [0.3, 100.0, -0.5])
    return lambda x: alpha * x if x < 0 else x, given


def make_thresholded(draw: Draw) -> tuple[Function, Attributes]:
    alpha, given = draw_alpha(draw, 1.0, [0.0, -0.5, 0.25])
    return lambda x: x if x > alpha else mpf(0), given


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


def make_swish(draw: Draw) -> tuple[Function, Attributes]:
    alpha, given = draw_alpha(draw, 1.0, [0.5, 1.702, -1.0])
    return lambda x: x * sigmoid(alpha * x), given


def make_gelu(draw: Draw) -> tuple[Function, Attributes]:
    kind = draw.choice([None, "none", "tanh"])
    return (gelu_tanh if kind == "tanh" else gelu), {"approximate": kind}


def hard_swish(x: mpf) -> mpf:
    return x * hard_sigmoid(x, mpf(1) / 6, mpf(1) / 2)


# --------------------------------------------------------------- binary and more


def spread(draw: Draw) -> tuple[tuple[int, ...], tuple[int, ...]]:
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


def binary(
    name: str,
    function: Function,
    right: Bounds = EVERYWHERE,
    left: Bounds = EVERYWHERE,
    result: str = "",
) -> Operator:
    """An operator of two tensors; `result` is bool of comparisons."""

    def drawn(draw: Draw) -> Problem:
        one, other = spread(draw)
        a, b = draw.floats(one, *left), draw.floats(other, *right)
        if result and a.size == b.size and draw.flag():
            b = b.copy()  # equal numbers are what comparisons differ in
            b.ravel()[0] = a.ravel()[0]
        return Problem(
            node=node("y", name, ["a", "b"]),
            inputs={"a": a, "b": b},
            types={"a": draw.type, "b": draw.type},
            outputs=[("y", result or draw.type, np.broadcast_shapes(one, other))],
            compute=lambda inputs: [
                plain_array(each(function, *inputs.values()), result)
            ],
            moved=[] if result else ["a", "b"],
        )

    return Operator(name, drawn)


def plain_array(result: Any, type: str) -> Any:
    """Bools and integers in an array of their own kind."""
    return result.astype(np.int64) if type else result


def draw_prelu(draw: Draw) -> Problem:
    shape, slopes = draw.choice(
        [((2, 3), (3,)), ((2, 3), (2, 3)), ((4,), ()), ((2, 2, 2), (2, 1))]
    )
    x, slope = draw.floats(shape), draw.floats(slopes)
    return Problem(
        node=node("y", "PRelu", ["x", "slope"]),
        inputs={"x": x, "slope": slope},
        types={"x": draw.type, "slope": draw.type},
        outputs=[("y", draw.type, shape)],
        compute=lambda given: [
            each(lambda a, s: s * a if a < 0 else a, given["x"], given["slope"])
        ],
        moved=["x", "slope"],
    )


def draw_swiglu(draw: Draw) -> Problem:
    shape = draw.shape(1, 2, 8)
    alpha, given = draw_alpha(draw, 1.0, [0.5, 1.702])
    return Problem(
        node=node("y", "SwiGLU", ["a", "b"], **given),
        inputs={"a": draw.floats(shape), "b": draw.floats(shape)},
        types={"a": draw.type, "b": draw.type},
        outputs=[("y", draw.type, shape)],
        compute=lambda inputs: [
            each(lambda a, b: a * sigmoid(alpha * a) * b, inputs["a"], inputs["b"])
        ],
        moved=["a", "b"],
    )


def draw_mod(draw: Draw) -> Problem:
    """C's fmod; or Python's %, whose remainder has the divisor's sign."""
    truncated = draw.flag()
    rounding = mp.floor
    if truncated:
        rounding = truncate
    one, other = spread(draw)
    limits = EVERYWHERE if draw.type == "float16" else (-1e20, 1e20)
    a, b = draw.floats(one, *limits), draw.floats(other, *limits)

    def function(x: mpf, by: mpf) -> mpf:
        return x - rounding(x / by) * by if by != 0 else mpf("nan")

    return Problem(
        node=node("y", "Mod", ["a", "b"], fmod=int(truncated)),
        inputs={"a": a, "b": b},
        types={"a": draw.type, "b": draw.type},
        outputs=[("y", draw.type, np.broadcast_shapes(one, other))],
        compute=lambda given: [each(function, given["a"], given["b"])],
        moved=["a", "b"],
    )


def truncate(x: mpf) -> mpf:
    return mp.floor(x) if x >= 0 else mp.ceil(x)


def draw_pow(draw: Draw) -> Problem:
    one, other = spread(draw)
    whole = draw.flag()
    base = draw.floats(one) if whole else draw.floats(one, 2.0**-20, 2.0**15)
    exponent = draw.floats(other, -6.0, 6.0)
    if whole:
        exponent = np.rint(exponent)
    kind = "int64" if whole and draw.flag() else draw.type
    given = exponent.astype(np.int64) if kind == "int64" else exponent
    return Problem(
        node=node("y", "Pow", ["a", "b"]),
        inputs={"a": base, "b": given},
        types={"a": draw.type, "b": kind},
        outputs=[("y", draw.type, np.broadcast_shapes(one, other))],
        compute=lambda inputs: [
            each(
                lambda x, e: power(x, mpf(int(e)) if kind == "int64" else e),
                *inputs.values(),
            )
        ],
        # A negative base has no derivative by its exponent.
        moved=["a"] if whole else ["a", "b"],
    )


def draw_clip(draw: Draw) -> Problem:
    shape = draw.shape(1, 2, 8)
    x = draw.floats(shape)
    low, high = sorted(float(draw.rounded(draw.uniform(-2, 2))) for _ in range(2))
    if draw.flag(0.1):
        low, high = high, low  # the greater bound wins then
    inputs = {"x": x}
    if draw.flag(0.8):
        inputs["low"] = np.array(low)
    if draw.flag(0.8):
        inputs["high"] = np.array(high)
    names = [name if name in inputs else "" for name in ("x", "low", "high")]

    def function(given: dict[str, Any]) -> list[Any]:
        y = given["x"]
        if "low" in given:
            y = each(max, y, given["low"])
        return [each(min, y, given["high"]) if "high" in given else y.copy()]

    return Problem(
        node=node("y", "Clip", names),
        inputs=inputs,
        types=dict.fromkeys(inputs, draw.type),
        outputs=[("y", draw.type, shape)],
        compute=function,
        moved=list(inputs),
    )


def variadic(name: str, function: Function) -> Operator:
    """An operator of one to four tensors that broadcast."""

    def drawn(draw: Draw) -> Problem:
        shapes = draw.choice([[(3,)], [(2, 3), (3,)], [(2, 2), (2, 1), ()], [(3,)] * 4])
        inputs = {f"x{i}": draw.floats(shape) for i, shape in enumerate(shapes)}
        return Problem(
            node=node("y", name, inputs),
            inputs=inputs,
            types=dict.fromkeys(inputs, draw.type),
            outputs=[("y", draw.type, np.broadcast_shapes(*shapes))],
            compute=lambda given: [each(function, *given.values())],
            moved=list(inputs),
        )

    return Operator(name, drawn)


def draw_detector(draw: Draw, name: str, function: Function, **given: Any) -> Problem:
    """IsNaN and IsInf of numbers among which some are neither."""
    x = draw.floats(draw.shape(1, 2, 8))
    flat = x.ravel()
    for special in (np.nan, np.inf, -np.inf):
        if draw.flag():
            flat[draw.integer(0, flat.size - 1)] = special
    return Problem(
        node=node("y", name, "x", **given),
        inputs={"x": x},
        types={"x": draw.type},
        outputs=[("y", "bool", x.shape)],
        compute=lambda inputs: [plain_array(each(function, inputs["x"]), "bool")],
    )


def draw_is_nan(draw: Draw) -> Problem:
    return draw_detector(draw, "IsNaN", mp.isnan)


def draw_is_inf(draw: Draw) -> Problem:
    below, above = draw.flag(), draw.flag()

    def function(x: mpf) -> bool:
        return bool(mp.isinf(x) and (above if x > 0 else below))

    given = {"detect_negative": int(below), "detect_positive": int(above)}
    return draw_detector(draw, "IsInf", function, **given)


OPERATORS = [
    plain("Abs", abs),
    plain("Acos", inside(mp.acos), (-1.0, 1.0)),
    plain("Acosh", acosh, (1.0, None)),
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
    plain("HardSwish", hard_swish),
    plain("Identity", lambda x: x),
    plain("Log", logarithm, (0.0, None)),
    plain("Mish", mish, (-800.0, 800.0)),
    plain("Neg", lambda x: -x),
    plain("Reciprocal", lambda x: divided(mpf(1), x)),
    plain("Relu", lambda x: max(mpf(0), x)),
    plain("Round", nearest_even),
    plain("Sigmoid", sigmoid, (-800.0, 800.0)),
    plain("Sign", sign),
    plain("Sin", mp.sin),
    plain("Sinh", mp.sinh, (-800.0, 800.0)),
    plain("Softplus", softplus, (-800.0, 800.0)),
    plain("Softsign", lambda x: x / (1 + abs(x))),
    plain("Sqrt", root, (0.0, None)),
    plain("Tan", mp.tan),
    plain("Tanh", mp.tanh),
    tuned("Celu", make_celu, wide=False),
    tuned("Elu", make_elu, wide=False),
    tuned("Gelu", make_gelu, wide=False),
    tuned("HardSigmoid", make_hard_sigmoid),
    tuned("LeakyRelu", make_leaky_relu),
    tuned("Selu", make_selu, wide=False),
    replace(tuned("Shrink", make_shrink), types=("double", "float", "float16")),
    tuned("Swish", make_swish, wide=False),
    tuned("ThresholdedRelu", make_thresholded),
    Operator("Clip", draw_clip),
    Operator("IsInf", draw_is_inf),
    Operator("IsNaN", draw_is_nan),
    Operator("Mod", draw_mod),
    Operator("PRelu", draw_prelu),
    Operator("Pow", draw_pow),
    Operator("SwiGLU", draw_swiglu),
    binary("Add", lambda a, b: a + b),
    binary("Sub", lambda a, b: a - b),
    binary("Mul", lambda a, b: a * b),
    binary("Div", divided),
    binary("Equal", lambda a, b: a == b, result="bool"),
    binary("Greater", lambda a, b: a > b, result="bool"),
    binary("GreaterOrEqual", lambda a, b: a >= b, result="bool"),
    binary("Less", lambda a, b: a < b, result="bool"),
    binary("LessOrEqual", lambda a, b: a <= b, result="bool"),
    variadic("Max", lambda *terms: max(terms)),
    variadic("Min", lambda *terms: min(terms)),
    variadic("Sum", lambda *terms: sum(terms, mpf(0))),
    variadic("Mean", lambda *terms: sum(terms, mpf(0)) / len(terms)),
]
