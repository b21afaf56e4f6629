# SPDX-License-Identifier: Apache-2.0
"""If, Loop and Scan: bodies of a few nodes, which read what is around them."""

from __future__ import annotations

import numpy as np
from mpmath import mp, mpf
from problem import Array, Draw, Operator, Problem, each, filled, node, total, zeros
from tensor import places, problem

SIZE = 3


def body(name: str, inputs: str, outputs: str, nodes: str) -> str:
    """A graph as an attribute in ONNX's text syntax."""
    return f"{name} ({inputs}) => ({outputs}) {{ {nodes} }}"


def draw_if(draw: Draw) -> Problem:
    """The sum of x decides between two functions of x and w."""
    vector = f"{draw.type}[{SIZE}]"
    left = body("yes", "", f"{vector} a", node("a", "Mul", "x, w"))
    right = body("no", "", f"{vector} b", f"{node('e', 'Exp', 'w')} b = Sub(x, e)")
    text = (
        "s = ReduceSum <keepdims = 0> (x) c = Less(s, z) "
        f"y = If (c) <then_branch = {left}, else_branch = {right}>"
    )
    inputs = {
        "x": draw.floats((SIZE,)),
        "w": draw.floats((SIZE,), -20.0, 20.0),
        "z": draw.floats(()),
    }

    def compute(given):
        x, w = given["x"], given["w"]
        if total(x) < given["z"][()]:
            return [x * w]
        return [x - each(mp.exp, w)]

    return problem(draw, text, inputs, {"y": (SIZE,)}, compute)


def draw_loop(draw: Draw) -> Problem:
    """v = tanh(v w) + x a few times; every v is shown."""
    trips = draw.integer(1, 4)
    vector = f"{draw.type}[{SIZE}]"
    nodes = (
        "go = Identity(on) m = Mul(v, w) t = Tanh(m) "
        "next = Add(t, x) shown = Identity(next)"
    )
    inner = body(
        "step",
        f"int64 i, bool on, {vector} v",
        f"bool go, {vector} next, {vector} shown",
        nodes,
    )
    inputs = {
        "n": np.array(trips, np.int64),
        "start": np.array(True),
        "v0": draw.floats((SIZE,)),
        "w": draw.floats((SIZE,)),
        "x": draw.floats((SIZE,)),
    }

    def compute(given):
        v, shown = given["v0"], []
        for _ in range(trips):
            v = each(mp.tanh, v * given["w"]) + given["x"]
            shown += list(v)
        return [v, filled((trips, SIZE), shown)]

    text = f"y, ys = Loop (n, start, v0) <body = {inner}>"
    outputs = {"y": (SIZE,), "ys": (trips, SIZE)}
    return problem(draw, text, inputs, outputs, compute)


def draw_until(draw: Draw) -> Problem:
    """v = v + |v| w until its sum reaches a limit, at most six times."""
    most = 6
    vector = f"{draw.type}[{SIZE}]"
    nodes = (
        "a = Abs(v) m = Mul(a, w) next = Add(v, m) "
        "s = ReduceSum <keepdims = 0> (next) go = Less(s, limit)"
    )
    inner = body(
        "step", f"int64 i, bool on, {vector} v", f"bool go, {vector} next", nodes
    )
    inputs = {
        "n": np.array(most, np.int64),
        "start": np.array(True),
        "v0": draw.floats((SIZE,)),
        "w": draw.floats((SIZE,), 0.1, 2.0),
        "limit": draw.floats(()),
    }

    def compute(given):
        v = given["v0"]
        for _ in range(most):
            v = v + each(abs, v) * given["w"]
            if not total(v) < given["limit"][()]:
                break
        return [v]

    first = draw.choice(["start", '""'])  # without, it begins as true
    text = f"y = Loop (n, {first}, v0) <body = {inner}>"
    return problem(draw, text, inputs, {"y": (SIZE,)}, compute)


def draw_scan(draw: Draw) -> Problem:
    """s = s e + e over the lines of a matrix, from either end."""
    lines = draw.integer(2, 3)
    backward = draw.flag()
    vector = f"{draw.type}[{SIZE}]"
    inner = body(
        "step",
        f"{vector} s, {vector} e",
        f"{vector} t, {vector} u",
        "m = Mul(s, e) t = Add(m, e) u = Sigmoid(t)",
    )
    direction = "scan_input_directions = [1], " if backward else ""
    text = f"y, ys = Scan (s0, x) <num_scan_inputs = 1, {direction}body = {inner}>"
    inputs = {"s0": draw.floats((SIZE,)), "x": draw.floats((lines, SIZE))}

    def compute(given) -> list[Array]:
        state = given["s0"]
        shown = zeros((lines, SIZE))
        for k in range(lines):
            line = given["x"][lines - 1 - k if backward else k]
            state = state * line + line
            for (j,) in places((SIZE,)):
                shown[k, j] = 1 / (mpf(1) + mp.exp(-state[j]))
        return [state, shown]

    outputs = {"y": (SIZE,), "ys": (lines, SIZE)}
    return problem(draw, text, inputs, outputs, compute)


OPERATORS = [
    Operator("If", draw_if),
    Operator("Loop", draw_loop),
    Operator("LoopUntil", draw_until),
    Operator("Scan", draw_scan),
]
