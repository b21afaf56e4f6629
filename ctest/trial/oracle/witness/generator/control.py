# SPDX-License-Identifier: Apache-2.0
"""If, Loop and Scan: bodies of a few nodes, which read what is around them.

And sequences and optionals, which the nodes between two tensors pass on.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any

import numpy as np
from arithmetic import Array, Given, Shape, each, exact, total
from elementwise import sigmoid
from mpmath import mp
from problem import (
    DATA_TYPES,
    NO_BFLOAT16,
    Draw,
    Operator,
    Problem,
    body,
    node,
    problem,
)

SIZE = 3


def started(draw: Draw, trips: int) -> dict[str, np.ndarray]:
    """The inputs of a Loop that begins with a vector."""
    most, start = np.array(trips, np.int64), np.array(True)
    return {"n": most, "start": start, "v0": draw.floats((SIZE,))}


def draw_if(draw: Draw) -> Problem:
    """The sum of x decides between two functions of x and w."""
    vector = f"{draw.type}[{SIZE}]"
    left = body("yes", "", f"{vector} a", node("a", "Mul", "x, w"))
    right = body("no", "", f"{vector} b", f"{node('e', 'Exp', 'w')} b = Sub(x, e)")
    text = (
        "s = ReduceSum <keepdims = 0> (x) c = Less(s, z) "
        f"y = If (c) <then_branch = {left}, else_branch = {right}>"
    )
    inputs = {"x": draw.floats((SIZE,)), "w": draw.floats((SIZE,), -20.0, 20.0)}
    inputs["z"] = draw.floats(())

    def compute(given: Given) -> list[Array]:
        x, w = given["x"], given["w"]
        return [x * w if total(x) < given["z"][()] else x - each(mp.exp, w)]

    return problem(draw, text, inputs, {"y": (SIZE,)}, compute)


def draw_loop(draw: Draw) -> Problem:
    """v = tanh(v w) + x a few times; every v is shown."""
    trips = draw.integer(1, 4)
    vector = f"{draw.type}[{SIZE}]"
    inner = body(
        "step",
        f"int64 i, bool on, {vector} v",
        f"bool go, {vector} next, {vector} shown",
        "go = Identity(on) m = Mul(v, w) t = Tanh(m) "
        "next = Add(t, x) shown = Identity(next)",
    )
    inputs = started(draw, trips)
    inputs |= {name: draw.floats((SIZE,)) for name in "wx"}

    def compute(given: Given) -> list[Array]:
        v, shown = given["v0"], []
        for _ in range(trips):
            v = each(mp.tanh, v * given["w"]) + given["x"]
            shown.append(v)
        return [v, np.stack(shown)]

    text = f"y, ys = Loop (n, start, v0) <body = {inner}>"
    outputs = {"y": (SIZE,), "ys": (trips, SIZE)}
    return problem(draw, text, inputs, outputs, compute)


def draw_until(draw: Draw) -> Problem:
    """v = v + |v| w until its sum reaches a limit, at most six times."""
    most = 6
    vector = f"{draw.type}[{SIZE}]"
    inner = body(
        "step",
        f"int64 i, bool on, {vector} v",
        f"bool go, {vector} next",
        "a = Abs(v) m = Mul(a, w) next = Add(v, m) "
        "s = ReduceSum <keepdims = 0> (next) go = Less(s, limit)",
    )
    inputs = started(draw, most)
    inputs |= {"w": draw.floats((SIZE,), 0.1, 2.0), "limit": draw.floats(())}

    def compute(given: Given) -> list[Array]:
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

    def compute(given: Given) -> list[Array]:
        state, shown = given["s0"], []
        for line in given["x"][::-1] if backward else given["x"]:
            state = state * line + line
            shown.append(each(sigmoid, state))
        return [state, np.stack(shown)]

    outputs = {"y": (SIZE,), "ys": (lines, SIZE)}
    return problem(draw, text, inputs, outputs, compute)


# ------------------------------------------------------ sequences and optionals

Element = Callable[[Given], Array]


@dataclass
class Built:
    """Nodes that build a sequence of lines, what they read, and its elements."""

    draw: Draw
    inputs: dict[str, np.ndarray]
    nodes: list[str] = field(default_factory=list)
    elements: list[Element] = field(default_factory=list)
    kinds: dict[str, str] = field(default_factory=dict)

    def add(self, operator: str, *inputs: str, **attributes: Any) -> None:
        """The node that makes the next form of the sequence of the last."""
        last = [f"s{len(self.nodes)}"] if self.nodes else []
        text = node(f"s{len(self.nodes) + 1}", operator, [*last, *inputs], **attributes)
        self.nodes.append(text)

    def tensor(self, shape: Shape) -> str:
        """A new input of floats."""
        name = f"x{len(self.inputs)}"
        self.inputs[name] = self.draw.floats(shape)
        return name

    def place(self, count: int) -> tuple[str, int]:
        """An input that counts elements from either end, and what it says."""
        name, at = f"p{len(self.inputs)}", self.draw.integer(0, count - 1)
        backward = self.draw.flag(0.3)
        self.inputs[name] = np.array(at - count if backward else at, np.int64)
        self.kinds[name] = self.draw.choice(["int32", "int64"])
        return name, at

    def begin(self, rows: int) -> None:
        """A tensor is split, or some are put together."""
        way = self.draw.choice(["split", "lines", "construct", "empty"])
        if way == "split":
            sizes = [rows] if rows < 2 else [1, rows - 1]
            self.draw.random.shuffle(sizes)
            self.split(self.tensor((rows, SIZE)), sizes)
        elif way == "lines":
            self.split(self.tensor((rows, SIZE)), [1] * rows)
        elif way == "construct":
            names = [self.tensor((size, SIZE)) for size in (rows, 1)]
            self.add("SequenceConstruct", *names)
            self.elements = [itemgetter(name) for name in names]
        else:
            self.add("SequenceEmpty", dtype=DATA_TYPES[self.draw.type])
            self.insert(rows)

    def split(self, name: str, sizes: list[int]) -> None:
        """Rows by their number; by default one each."""
        given = [name]
        if set(sizes) != {1} or self.draw.flag():
            self.inputs["sizes"] = np.array(sizes, np.int64)
            given.append("sizes")
        self.add("SplitToSequence", *given)
        ends = np.cumsum(sizes)
        for low, high in zip(ends - sizes, ends):
            part = slice(int(low), int(high))
            self.elements.append(lambda given, part=part: given[name][part])

    def insert(self, rows: int) -> None:
        """A tensor before an element, or at the end."""
        name, count = self.tensor((rows, SIZE)), len(self.elements)
        if self.elements and self.draw.flag():
            place, count = self.place(len(self.elements))
            self.add("SequenceInsert", name, place)
        else:
            self.add("SequenceInsert", name)
        self.elements.insert(count, itemgetter(name))

    def erase(self) -> None:
        """An element, or the last, goes."""
        if self.draw.flag():
            name, at = self.place(len(self.elements))
            self.add("SequenceErase", name)
        else:
            self.add("SequenceErase")
            at = -1
        del self.elements[at]

    def map(self) -> None:
        """Each element is multiplied by a line, and goes through tanh."""
        name, of = self.tensor((SIZE,)), self.draw.type
        inner = body(
            "each",
            f"{of}[n,{SIZE}] e, {of}[{SIZE}] w",
            f"{of}[n,{SIZE}] f",
            "m = Mul(e, w) f = Tanh(m)",
        )
        self.add("SequenceMap", name, body=inner)

        def mapped(one: Element) -> Element:
            return lambda given: each(mp.tanh, one(given) * given[name])

        self.elements = [mapped(one) for one in self.elements]


def draw_sequence(draw: Draw) -> Problem:
    """A sequence is built, changed, and put together or asked for an element."""
    built = Built(draw, {})
    built.begin(draw.integer(1, 3))
    for _ in range(draw.integer(0, 3)):
        what = draw.choice(["insert", "erase", "map"])
        if what == "insert":
            built.insert(draw.integer(1, 2))
        elif what == "erase" and len(built.elements) > 1:
            built.erase()
        elif what == "map":
            built.map()
    elements, last = list(built.elements), f"s{len(built.nodes)}"
    if draw.flag():
        name, at = built.place(len(elements))
        end = node("y", "SequenceAt", [last, name])
        result = elements[at]
    else:
        end = node("y", "ConcatFromSequence", last, axis=draw.choice([0, -2]))

        def result(given: Given) -> Array:
            return np.concatenate([one(given) for one in elements])

    with mp.workdps(15):
        shape = result({name: exact(x) for name, x in built.inputs.items()}).shape
    text = " ".join([*built.nodes, end])
    outputs = {"y": shape}
    return problem(
        draw, text, built.inputs, outputs, lambda g: [result(g)], built.kinds
    )


def draw_optional(draw: Draw) -> Problem:
    """A tensor, or one of an optional, is there."""
    x = draw.floats((SIZE,))
    text = "m = Mul(x, x) o = Optional(m) has = OptionalHasElement(o) "
    text += "y = OptionalGetElement(o)"
    if draw.flag(0.3):
        text = "m = Mul(x, x) has = OptionalHasElement(m) y = OptionalGetElement(m)"
    return problem(
        draw,
        text,
        {"x": x},
        {"has": (), "y": (SIZE,)},
        lambda given: [np.array(1), given["x"] * given["x"]],
        {"has": "bool"},
    )


OPERATORS = [
    Operator("If", draw_if),
    Operator("Loop", draw_loop),
    Operator("LoopUntil", draw_until),
    Operator("Optional", draw_optional),
    Operator("Scan", draw_scan),
    Operator("Sequence", draw_sequence, types=NO_BFLOAT16, weight=4),
]
