# SPDX-License-Identifier: Apache-2.0
"""Writes models whose exact answers mpmath has computed, as text.

    PYTHONPATH=... python generate.py --seed 1 --count 1000 > models.txt

Operators, types and scales go round, so that any thousand has all of them.
"""

from __future__ import annotations

import argparse
import importlib
import random
import re
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from problem import SCALES, Draw, Operator, Problem, Undrawable
from text import case_text

LIMIT = 20  # seconds of the processor for a case
# The files of operators are all but the tests and this one.
FAMILIES = sorted(
    file.stem
    for file in Path(__file__).parent.glob("*.py")
    if not re.search("_test|^generate", file.stem)
)


def operators(families: Sequence[str] = FAMILIES) -> list[Operator]:
    """Those of some families, by name."""
    found: list[Operator] = []
    for family in families:
        found.extend(getattr(importlib.import_module(family), "OPERATORS", []))
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

    signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, LIMIT)
    try:
        return case_text(name, problem, diagonal)
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)


def case_name(operator: Operator, type: str, scale: str, number: int) -> str:
    """The name of a case; its seeds are those of its number."""
    return f"{operator.name}/{type}/{scale}/{number}"


def drawn_case(operator: Operator, type: str, scale: str, number: int) -> str | None:
    """The text of the first of a few draws that makes a case; None where none does."""
    name = case_name(operator, type, scale, number)
    for trial in range(20):
        try:
            problem = draw_problem(operator, type, scale, number * 100 + trial)
            return limited(name, problem, operator.pointwise)
        except Undrawable:
            continue
        except Exception as error:
            error.add_note(name)
            raise
    print(f"{name}: left out", file=sys.stderr)
    return None


def write(among: list[Operator], seed: int, count: int, slow: float) -> None:
    """Prints so many cases, but for those that no draw makes."""
    for one in plan(among, seed, count):
        begun = time.monotonic()
        text = drawn_case(*one)
        if text is not None:
            print(text, flush=True)
        taken = time.monotonic() - begun
        if taken > slow:
            print(f"{case_name(*one)}: {taken:.1f} s", file=sys.stderr)


def write_each(among: list[Operator], seed: int) -> None:
    """Prints a case of each operator: of a few, the shortest that states derivatives,
    where one does."""
    for operator in among:
        drawn = [drawn_case(*one) for one in plan([operator], seed, 6)]
        texts = [text for text in drawn if text is not None]
        print(min(texts, key=lambda text: ("\ngradient " not in text, len(text))))


def sampled(text: str) -> Iterator[str]:
    """The parts of a sample: each name becomes its case, all else stays."""
    by_name = {operator.name: operator for operator in operators()}
    for part in text.strip().split("\n\n"):
        if part.startswith(("#", "case ")):
            yield part
            continue
        for name in part.split():
            operator, type, scale, number = name.split("/")
            case = drawn_case(by_name[operator], type, scale, int(number))
            if case is None:
                raise Undrawable(f"{name}: no draw makes a case")
            yield case.rstrip("\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """The program."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--each", action="store_true", help="one of each operator")
    parser.add_argument("--sample", type=Path, help="the cases that a file names")
    parser.add_argument("--operator", help="of this name alone")
    parser.add_argument("--family", help="of this file alone")
    parser.add_argument("--list", action="store_true", help="print the operators")
    parser.add_argument("--slow", type=float, default=5.0, help="seconds to report")
    options = parser.parse_args(arguments)
    if options.sample:
        print("\n\n".join(sampled(options.sample.read_text(encoding="utf-8"))))
        return 0
    among = operators([options.family] if options.family else FAMILIES)
    if options.operator:
        among = [one for one in among if one.name == options.operator]
    if options.list or not among:
        print("\n".join(one.name for one in among))
        return 0 if among else 1
    if options.each:
        write_each(among, options.seed)
    else:
        write(among, options.seed, options.count, options.slow)
    return 0


if __name__ == "__main__":
    sys.exit(main())
