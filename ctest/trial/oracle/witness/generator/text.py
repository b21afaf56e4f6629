# SPDX-License-Identifier: Apache-2.0
"""A case of the witness as text; the README of this folder has its form."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Iterable
from typing import Any

import numpy as np
from arithmetic import Array, total
from differences import is_float, jacobian, values
from mpmath import mp, mpf
from problem import Problem, Undrawable, type_text

FAINT = 1e-60  # rests that are not stated, relative
DIGITS = 420  # of sums over the Jacobian
# A sum of slopes that cancel to less than this needs slopes of more digits; to
# less than the second, with those, it is 0.
CANCELLED = {420: mpf("1e-60"), 1600: mpf("1e-700")}


class Cancelled(Exception):
    """Slopes cancel: their own errors are what is left."""


def number_text(number: mpf) -> str:
    """The nearest double, and what is left as another."""
    if not mp.isfinite(number):
        return "nan" if mp.isnan(number) else ("inf" if number > 0 else "-inf")
    value = as_double(number)
    rest = as_double(number - mpf(value))
    if abs(rest) < FAINT * abs(value):
        rest = 0.0  # may be the differences' own error
    return value.hex() if rest == 0 else f"{value.hex()}:{rest.hex()}"


def as_double(number: mpf) -> float:
    """The nearest double; undrawable when it is beyond."""
    try:
        value = float(number)
    except OverflowError:
        value = float("inf")
    if mp.isfinite(number) and value in (float("inf"), float("-inf")):
        raise Undrawable("a number is beyond double's range")
    return value


def plain(number: Any) -> str:
    """An element of an input: a float in hexadecimal, else a decimal."""
    if isinstance(number, (float, np.floating)):
        number = float(number)
        return number.hex() if np.isfinite(number) else str(number)
    return str(int(number))


def line(*words: Any) -> str:
    """The words with blanks between; sequences are spread."""
    flat: list[str] = []
    for word in words:
        flat.extend([word] if isinstance(word, str) else word)
    return " ".join(flat)


def graph_text(problem: Problem) -> str:
    """The graph in ONNX's text syntax."""
    inputs = ", ".join(
        f"{type_text(problem.types[name], value.shape)} {name}"
        for name, value in problem.inputs.items()
    )
    outputs = ", ".join(
        f"{type_text(type, tuple(shape))} {name}"
        for name, type, shape in problem.outputs
    )
    return f"g ({inputs}) => ({outputs}) {{ {problem.node} }}"


def case_text(name: str, problem: Problem, diagonal: bool) -> str:
    """The whole text of a case; Undrawable when no text can state it."""
    outputs = values(problem)
    lines = [f"case {name}"]
    if "" in problem.opsets:
        lines.append(f"opset {problem.opsets['']}")
    lines.append(f"graph {graph_text(problem)}")
    for key, value in problem.inputs.items():
        shape = ",".join(map(str, value.shape))
        typed = f"{problem.types[key]}[{shape}]"
        lines.append(line("input", key, typed, map(plain, value.ravel())))
    with mp.workdps(DIGITS):
        for (key, _, _), value in zip(problem.outputs, outputs):
            texts = number_text if is_float(value) else plain
            lines.append(line("output", key, map(texts, value.ravel())))
    if is_differentiable(problem, outputs):
        # A derivative may be beyond double's range: then values stand alone.
        with contextlib.suppress(Undrawable):
            lines += derivative_lines(name, problem, diagonal)
    return "\n".join(lines) + "\n"


def is_differentiable(problem: Problem, outputs: list[Array]) -> bool:
    """True where there are floats to differentiate, all of them finite."""
    floats = [number for each in outputs if is_float(each) for number in each.ravel()]
    return bool(problem.moved and floats and all(map(mp.isfinite, floats)))


def derivative_lines(name: str, problem: Problem, diagonal: bool) -> list[str]:
    """Cotangents, gradients, tangents, their images, and conditions."""
    for digits in CANCELLED:
        found = jacobian(problem, diagonal, digits)
        if found is None:
            return []
        with contextlib.suppress(Cancelled), mp.workdps(digits):
            return lines_at(name, problem, found)
    return []


def lines_at(name: str, problem: Problem, found: dict[str, list[Array]]) -> list[str]:
    """The lines of a Jacobian; Cancelled where it has too few digits."""
    draw = random.Random(f"directions of {name}")
    floats = [
        key
        for key, type, _ in problem.outputs
        if not type.startswith(("int", "uint", "bool"))
    ]
    first = next(iter(found.values()))
    cotangents = [drawn_cotangents(draw, each.shape[0]) for each in first]
    lines = [
        line("cotangent", key, (number.hex() for number in numbers))
        for key, numbers in zip(floats, cotangents)
    ]
    for key, blocks in found.items():
        lines.append(line("gradient", key, gradient(blocks, cotangents)))
    tangents = {
        key: [draw.choice([-1.0, 1.0]) for _ in range(blocks[0].shape[1])]
        for key, blocks in found.items()
    }
    for key, numbers in tangents.items():
        lines.append(line("tangent", key, (number.hex() for number in numbers)))
    for at, key in enumerate(floats):
        blocks = {moved: found[moved][at] for moved in found}
        lines.append(line("jvp", key, products(blocks, tangents)))
    for at, key in enumerate(floats):
        blocks = {moved: found[moved][at] for moved in found}
        lines.append(line("condition", key, conditions(problem, blocks)))
    return lines


def summed(terms: Iterable[mpf]) -> mpf:
    """A sum of slopes with weights; 0 where only their errors are left."""
    terms = list(terms)
    sum_, magnitude = total(terms), total(map(abs, terms))
    if sum_ == 0 or abs(sum_) >= CANCELLED[420] * magnitude:
        return sum_
    if mp.dps < max(CANCELLED):
        raise Cancelled
    return mpf(0) if abs(sum_) < CANCELLED[1600] * magnitude else sum_


def drawn_cotangents(draw: random.Random, count: int) -> list[float]:
    """Numbers of size 0.5 to 1.5 of either sign, of few bits."""
    return [draw.choice([-1, 1]) * draw.randint(32, 96) / 64 for _ in range(count)]


def gradient(blocks: list[Array], cotangents: list[list[float]]) -> Iterable[str]:
    """The Jacobian's columns times the cotangents."""
    for column in range(blocks[0].shape[1]):
        yield number_text(
            summed(
                block[row, column] * weights[row]
                for block, weights in zip(blocks, cotangents)
                for row in range(block.shape[0])
            )
        )


def products(
    blocks: dict[str, Array], tangents: dict[str, list[float]]
) -> Iterable[str]:
    """The Jacobian's rows times the tangents."""
    rows = next(iter(blocks.values())).shape[0]
    for row in range(rows):
        yield number_text(
            summed(
                slope * tangent
                for key, block in blocks.items()
                for slope, tangent in zip(block[row], tangents[key])
            )
        )


def conditions(problem: Problem, blocks: dict[str, Array]) -> Iterable[str]:
    """The sums of |dy/dx x| over all elements x of the moved inputs."""
    rows = next(iter(blocks.values())).shape[0]
    for row in range(rows):
        sum_ = total(
            abs(slope * mpf(float(x)))
            for key, block in blocks.items()
            for slope, x in zip(block[row], problem.inputs[key].ravel())
        )
        yield as_double(sum_).hex()
