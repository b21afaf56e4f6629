# SPDX-License-Identifier: Apache-2.0
"""Writes models whose exact answers mpmath has computed, as text.

    PYTHONPATH=... python generate.py --seed 1 --count 1000 > models.txt

Operators, types and scales go round, so that any thousand has all of them.
"""

from __future__ import annotations

import argparse
import importlib
import random
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from problem import SCALES, Draw, Operator, Problem, Undrawable
from text import case_text

LIMIT = 20  # seconds for a case
FAMILIES = (
    "elementwise",
    "reductions",
    "normalization",
    "quantization",
    "products",
    "convolution",
    "pooling",
    "resampling",
    "recurrent",
    "fourier",
    "attention",
    "control",
    "movement",
    "learned",
    "features",
    "trees",
    "training",
    "chains",
)


def operators(families: Sequence[str] = FAMILIES) -> list[Operator]:
    """Those of some families, by name."""
    found: list[Operator] = []
    here = Path(__file__).parent
    for family in families:
        if (here / f"{family}.py").exists():
            module = importlib.import_module(family)
            found.extend(getattr(module, "OPERATORS", []))
    return sorted(found, key=lambda operator: operator.name)


def draw_problem(operator: Operator, type: str, scale: str, seed: int) -> Problem:
    """The problem of a seed; Undrawable where the draws make none."""
    name = f"{operator.name}/{type}/{scale}/{seed}"
    return operator.draw(Draw(name, type, scale))


def plan(
    among: list[Operator], seed: int, count: int
) -> Iterator[tuple[Operator, str, str, int]]:
    """Operators with types and scales, each combination before any again."""
    rounds = [
        (operator, type, scale)
        for operator in among
        for type in operator.types
        for scale in SCALES
        for _ in range(operator.weight)
    ]
    shuffle = random.Random(f"plan {seed}")
    for at in range(count):
        if at % len(rounds) == 0:
            shuffle.shuffle(rounds)
        operator, type, scale = rounds[at % len(rounds)]
        yield operator, type, scale, seed * 1000 + at


def limited(name: str, problem: Problem, diagonal: bool) -> str:
    """The text of a case; Undrawable when it takes longer than is worth it."""

    def stop(*_: object) -> None:
        raise Undrawable(f"{problem.node}: takes more than {LIMIT} s")

    signal.signal(signal.SIGALRM, stop)
    signal.alarm(LIMIT)
    try:
        return case_text(name, problem, diagonal)
    finally:
        signal.alarm(0)


def write(among: list[Operator], seed: int, count: int, slow: float) -> int:
    """Prints so many cases; returns how many draws made none."""
    left_out = 0
    for operator, type, scale, number in plan(among, seed, count):
        begun = time.monotonic()
        name = f"{operator.name}/{type}/{scale}/{number}"
        for trial in range(20):
            try:
                problem = draw_problem(operator, type, scale, number * 100 + trial)
                print(limited(name, problem, operator.pointwise), flush=True)
                break
            except Undrawable:
                continue
            except Exception as error:
                error.add_note(name)
                raise
        else:
            left_out += 1
            print(f"{name}: left out", file=sys.stderr)
        taken = time.monotonic() - begun
        if taken > slow:
            print(f"{name}: {taken:.1f} s", file=sys.stderr)
    return left_out


def main(arguments: Sequence[str] | None = None) -> int:
    """The program."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--operator", help="of this name alone")
    parser.add_argument("--family", help="of this file alone")
    parser.add_argument("--list", action="store_true", help="print the operators")
    parser.add_argument("--slow", type=float, default=5.0, help="seconds to report")
    options = parser.parse_args(arguments)
    among = operators([options.family] if options.family else FAMILIES)
    if options.operator:
        among = [one for one in among if one.name == options.operator]
    if options.list or not among:
        print("\n".join(one.name for one in among))
        return 0 if among else 1
    write(among, options.seed, options.count, options.slow)
    return 0


if __name__ == "__main__":
    sys.exit(main())
