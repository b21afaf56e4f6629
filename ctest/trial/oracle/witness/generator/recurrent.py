# SPDX-License-Identifier: Apache-2.0
"""RNN, LSTM and GRU from the equations of ONNX's pages, step by step.

A step past the end of a sequence gives 0, and the reverse direction begins at
the last step that the sequence has.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import numpy as np
from arithmetic import Array, Given, attribute, dot, filled, zeros
from elementwise import sigmoid
from mpmath import mp, mpf
from problem import Draw, Operator, Problem

Function = Callable[[mpf], mpf]


def activation(name: str, alpha: float | None, beta: float | None) -> Function:
    """A function of the page's list, with the defaults of its operator."""

    def number(given: float | None, default: float) -> mpf:
        return attribute(default if given is None else given)

    def scaled(x: mpf) -> mpf:
        return number(alpha, 1.0) * mp.tanh(number(beta, 1.0) * x)

    def hard(x: mpf) -> mpf:
        line = number(alpha, 0.2) * x + number(beta, 0.5)
        return min(max(line, mpf(0)), mpf(1))

    functions: dict[str, Function] = {
        "Relu": lambda x: max(mpf(0), x),
        "Tanh": mp.tanh,
        "Sigmoid": sigmoid,
        "Affine": lambda x: number(alpha, 1.0) * x + number(beta, 0.0),
        "LeakyRelu": lambda x: x if x >= 0 else number(alpha, 0.01) * x,
        "ThresholdedRelu": lambda x: x if x >= number(alpha, 1.0) else mpf(0),
        "ScaledTanh": scaled,
        "HardSigmoid": hard,
        "Elu": lambda x: x if x >= 0 else number(alpha, 1.0) * mp.expm1(x),
        "Softsign": lambda x: x / (1 + abs(x)),
        "Softplus": lambda x: mp.log1p(mp.exp(x)),
    }
    return functions[name]


@dataclass(frozen=True)
class Shape:
    """The sizes of a recurrent network and its directions."""

    steps: int
    batch: int
    inputs: int
    hidden: int
    directions: int


@dataclass(frozen=True)
class Cell:
    """The parameters of one direction: activations, weights and the clip."""

    functions: list[Function]
    w: Array  # [gates * hidden, inputs]
    r: Array  # [gates * hidden, hidden]
    b: Array  # [2 * gates * hidden]
    p: Array | None  # [3 * hidden]
    hidden: int
    clip: mpf | None

    def call(self, which: int, x: mpf) -> mpf:
        """An activation of its clipped input."""
        if self.clip is not None:
            x = min(max(x, -self.clip), self.clip)
        return self.functions[which](x)

    def from_input(self, gate: int, unit: int, x: Array) -> mpf:
        """x W^T + Wb of one unit of a gate."""
        row = gate * self.hidden + unit
        return dot(x, self.w[row]) + self.b[row]

    def from_state(self, gate: int, unit: int, state: list[mpf]) -> mpf:
        """H R^T of one unit of a gate."""
        row = gate * self.hidden + unit
        return dot(state, self.r[row])

    def state_bias(self, gate: int, unit: int) -> mpf:
        """Rb of one unit of a gate."""
        return self.b[len(self.b) // 2 + gate * self.hidden + unit]

    def sum(self, gate: int, unit: int, x: Array, state: list[mpf]) -> mpf:
        """x W^T + H R^T + Wb + Rb of one unit of a gate."""
        return (
            self.from_input(gate, unit, x)
            + self.from_state(gate, unit, state)
            + self.state_bias(gate, unit)
        )


# The new hidden and cell states from an input and the old ones.
Step = Callable[[Cell, Array, list, list], tuple[list, list]]


def rnn_step(cell: Cell, x: Array, h: list, c: list) -> tuple[list, list]:
    new = [cell.call(0, cell.sum(0, k, x, h)) for k in range(cell.hidden)]
    return new, c


def lstm_step(cell: Cell, x: Array, h: list, c: list, coupled: bool) -> Any:
    hidden, next_h, next_c = cell.hidden, [], []

    def peephole(gate: int, unit: int, state: mpf) -> mpf:
        if cell.p is None:
            return mpf(0)
        return cell.p[gate * hidden + unit] * state

    for k in range(hidden):
        # W and R are of gates i, o, f, c; P of i, o, f.
        i = cell.call(0, cell.sum(0, k, x, h) + peephole(0, k, c[k]))
        f = cell.call(0, cell.sum(2, k, x, h) + peephole(2, k, c[k]))
        if coupled:
            f = 1 - i
        new = f * c[k] + i * cell.call(1, cell.sum(3, k, x, h))
        o = cell.call(0, cell.sum(1, k, x, h) + peephole(1, k, new))
        next_c.append(new)
        next_h.append(o * cell.call(2, new))
    return next_h, next_c


def gru_step(cell: Cell, x: Array, h: list, c: list, before: bool) -> Any:
    units = range(cell.hidden)
    z = [cell.call(0, cell.sum(0, k, x, h)) for k in units]
    r = [cell.call(0, cell.sum(1, k, x, h)) for k in units]
    new = []
    for k in units:
        if before:
            state = cell.from_state(2, k, h) + cell.state_bias(2, k)
            inner = cell.from_input(2, k, x) + r[k] * state
        else:
            reset = [a * b for a, b in zip(r, h)]
            inner = cell.from_input(2, k, x) + cell.from_state(2, k, reset)
            inner += cell.state_bias(2, k)
        new.append((1 - z[k]) * cell.call(1, inner) + z[k] * h[k])
    return new, c


def unrolled(
    x: Array, lengths: list[int], start: tuple[Array, Array], cells: list, step: Step
) -> tuple[Array, Array, Array]:
    """All hidden states [steps, directions, batch, hidden] and the last ones."""
    steps, batch = x.shape[:2]
    first_h, first_c = start
    y = zeros((steps, len(cells), *first_h.shape[1:]))
    last_h, last_c = first_h.copy(), first_c.copy()
    for d, (cell, backward) in enumerate(cells):
        for n in range(batch):
            order = list(range(lengths[n]))
            h, c = list(first_h[d, n]), list(first_c[d, n])
            for t in reversed(order) if backward else order:
                h, c = step(cell, x[t, n], h, c)
                y[t, d, n] = filled((len(h),), h)
            last_h[d, n], last_c[d, n] = filled((len(h),), h), filled((len(c),), c)
    return y, last_h, last_c


DEFAULTS = {"RNN": ["Tanh"], "LSTM": ["Sigmoid", "Tanh", "Tanh"]}
DEFAULTS["GRU"] = DEFAULTS["LSTM"][:2]
GATES = {"RNN": 1, "LSTM": 4, "GRU": 3}
PLAIN = ["Relu", "Tanh", "Sigmoid", "LeakyRelu", "ThresholdedRelu", "HardSigmoid"]
PLAIN += ["Elu", "Softsign", "Softplus"]


@dataclass(frozen=True)
class Choices:
    """The choices of a draw besides the sizes, named as the node's attributes."""

    direction: str | None
    activations: list[str] | None
    activation_alpha: list[float] | None
    activation_beta: list[float] | None
    clip: float | None
    layout: int | None

    def functions(self, operator: str, direction: int) -> list[Function]:
        """The activations of a direction."""
        default = DEFAULTS[operator]
        names = self.activations or default * 2
        names = names[direction * len(default) :][: len(default)]
        given = (self.activation_alpha, self.activation_beta)
        alpha, beta = (of[direction] if of else None for of in given)
        return [activation(name, alpha, beta) for name in names]


def draw_choices(draw: Draw, operator: str) -> Choices:
    """Alpha and beta are given to RNN alone, which has one activation."""
    direction = draw.choice([None, "forward", "reverse", "bidirectional"])
    count = 2 if direction == "bidirectional" else 1
    activations = alpha = beta = None
    if draw.flag():
        each = len(DEFAULTS[operator])
        activations = [draw.choice(PLAIN) for _ in range(each * count)]
    elif operator == "RNN" and draw.flag():
        activations = [draw.choice(["Affine", "ScaledTanh", "HardSigmoid"])] * count
        alpha = [draw.uniform(0.1, 1.5) for _ in range(count)]
        beta = [draw.uniform(-0.5, 0.9) for _ in range(count)]
    clip = draw.choice([None, None, draw.uniform(0.2, 2.0)])
    layout = draw.choice([None, None, 1])
    return Choices(direction, activations, alpha, beta, clip, layout)


def draw_inputs(
    draw: Draw, operator: str, shape: Shape, by_batch: bool
) -> dict[str, np.ndarray | None]:
    """Inputs by name, in the operator's order; None for one left out."""
    dirs, hidden = shape.directions, shape.hidden
    gates = GATES[operator] * hidden
    state = (shape.batch, dirs, hidden) if by_batch else (dirs, shape.batch, hidden)
    first = (shape.batch, shape.steps) if by_batch else (shape.steps, shape.batch)

    def maybe(*size: int) -> np.ndarray | None:
        return draw.floats(size) if draw.flag() else None

    inputs: dict[str, np.ndarray | None] = {
        "x": draw.floats((*first, shape.inputs)),
        "w": draw.floats((dirs, gates, shape.inputs)),
        "r": draw.floats((dirs, gates, hidden)),
        "b": maybe(dirs, 2 * gates),
        "lengths": None,
        "h": maybe(*state),
    }
    if draw.flag(0.3):
        inputs["lengths"] = draw.integers((shape.batch,), 1, shape.steps)
    if operator == "LSTM":
        inputs |= {"c": maybe(*state), "p": maybe(dirs, 3 * hidden)}
    return inputs


def cells_of(
    given: Given, operator: str, shape: Shape, choices: Choices
) -> list[tuple[Cell, bool]]:
    """The cell of each direction, and whether it goes backward."""
    none = zeros((shape.directions, 2 * GATES[operator] * shape.hidden))
    return [
        (
            Cell(
                choices.functions(operator, d),
                given["w"][d],
                given["r"][d],
                given.get("b", none)[d],
                given["p"][d] if "p" in given else None,
                shape.hidden,
                None if choices.clip is None else attribute(choices.clip),
            ),
            d == 1 or choices.direction == "reverse",
        )
        for d in range(shape.directions)
    ]


def draw_recurrent(
    draw: Draw, operator: str, step: Step, **attributes: object
) -> Problem:
    """A problem of one of the three operators."""
    choices = draw_choices(draw, operator)
    by_batch = choices.layout == 1
    dirs = 2 if choices.direction == "bidirectional" else 1
    sizes = [(2, 1, 2, 1), (3, 1, 1, 1), (2, 2, 1, 1), (2, 1, 1, 2)]
    shape = Shape(*draw.choice(sizes if dirs == 1 else sizes[1:3]), dirs)
    inputs = draw_inputs(draw, operator, shape, by_batch)
    states = (dirs, shape.batch, shape.hidden)

    def turned(x: Array) -> Array:
        return x.swapaxes(0, 1) if by_batch else x

    def compute(given: Given) -> list[Array]:
        start = [turned(given[k]) if k in given else zeros(states) for k in "hc"]
        cells = cells_of(given, operator, shape, choices)
        lengths = [int(n) for n in given.get("lengths", [shape.steps] * shape.batch)]
        y, h, c = unrolled(turned(given["x"]), lengths, start, cells, step)
        if by_batch:
            y = y.transpose(2, 0, 1, 3)
        return [y, turned(h), turned(c)][: len(outputs)]

    whole = (shape.steps, *states)
    if by_batch:
        whole = (shape.batch, shape.steps, dirs, shape.hidden)
        states_out = (shape.batch, dirs, shape.hidden)
    else:
        states_out = states
    outputs = {"y": whole, "y_h": states_out}
    if operator == "LSTM":
        outputs["y_c"] = states_out
    given = {"hidden_size": shape.hidden, **asdict(choices), **attributes}
    types = {"lengths": "int32"}
    return draw.problem(operator, inputs, outputs, compute, types, **given)


def draw_lstm(draw: Draw) -> Problem:
    coupled = draw.flag(0.2)
    step = partial(lstm_step, coupled=coupled)
    return draw_recurrent(draw, "LSTM", step, input_forget=coupled or None)


def draw_gru(draw: Draw) -> Problem:
    before = draw.flag()
    step = partial(gru_step, before=before)
    return draw_recurrent(draw, "GRU", step, linear_before_reset=before or None)


OPERATORS = [
    Operator("RNN", lambda draw: draw_recurrent(draw, "RNN", rnn_step)),
    Operator("LSTM", draw_lstm),
    Operator("GRU", draw_gru),
]
