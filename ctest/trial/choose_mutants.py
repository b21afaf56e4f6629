# SPDX-License-Identifier: Apache-2.0
"""The mutants that a check tries: those whose source, whose killer, or what these
include has changed since the last green night, and a sample that the commit draws.

    python3 ctest/trial/choose_mutants.py harness     # NAME...
    python3 ctest/trial/choose_mutants.py backends    # --mutant NAME...

Prints the names, and on the standard error how they were chosen.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from pathlib import Path

_HERE = Path(__file__).resolve().parent
sys.path += [str(_HERE), str(_HERE / "rules")]

from changed import changed_since, describe, head_of, sample  # noqa: E402
from sources import Tree  # noqa: E402

_SAMPLED = {"harness": 8, "backends": 24}
_SENTENCE = re.compile(
    r"^mutant (\S+)\s+of \S+\s+in (\S+)\s+killed by ([a-z_/]+)(?::(\S+))?", re.MULTILINE
)
_LINE = re.compile(r"^mutant (\S+) of .* killed by (\w+)", re.MULTILINE)
_LISTS = ("backends/faulty/mutants.txt", "backends/threads/mutants.txt")
# Where a suite that kills stands.
_ROOMS = {
    "distributed": ("conformance/distributed/", "framework/ranks/"),
    "gradcheck": ("gradcheck/",),
    "optimizer": ("conformance/optimizer/", "framework/train/optdiff/"),
    "recheck": ("framework/testing/measure/recheck",),
    "model": ("conformance/node/",),
}


@dataclass(frozen=True)
class Mutant:
    name: str
    files: frozenset[str]  # its source, and those of its killer


def reached(tree: Tree, changed: Iterable[str]) -> set[str]:
    """Sources that changed, and those that include one that did."""
    including: dict[str, set[str]] = {}
    for include in tree.includes():
        including.setdefault(include.header, set()).add(include.file)
    found: set[str] = set()
    new = set(changed)
    while new:
        found |= new
        new = {file for name in new for file in including.get(name, ())} - found
    return found


def of_harness(tree: Tree) -> list[Mutant]:
    tests: dict[str, str] = {}  # by the name of a GoogleTest suite
    for name in tree.sources:
        if name.endswith("_test.cc"):
            for suite in re.findall(r"^TEST\w*\((\w+),", tree.text(name), re.MULTILINE):
                tests[suite] = name
    found = []
    for name, file, killer, tests_of in _SENTENCE.findall(
        tree.text("ctest/trial/mutants/harness.txt")
    ):
        suites = [re.sub(r"[.].*|.*/", "", t) for t in tests_of.split(":")]
        killers = {tests[suite] for suite in suites if suite in tests}
        if not killers:
            folder = "framework/cli" if killer == "program" else str(Path(file).parent)
            killers = {t for t in tests.values() if t.startswith(folder + "/")}
        found.append(Mutant(name, frozenset({file, *killers})))
    return found


def of_backends(tree: Tree) -> list[Mutant]:
    found = []
    for file in _LISTS:
        folder = file.rpartition("/")[0]
        texts = {n: tree.text(n) for n in tree.sources if n.startswith(folder + "/")}
        for name, killer in _LINE.findall(tree.text(file)):
            stem = ":".join(name.split(":")[:2])  # gradient:sign of gradient:sign:Conv.1
            own = {n for n, text in texts.items() if f'"{stem}"' in text}
            rooms = _ROOMS.get(killer, (f"conformance/{killer}/",))
            killers = {n for n in tree.sources if n.startswith(rooms)}
            files = {file, *(own or texts), *killers}
            found.append(Mutant(name, frozenset(files)))
    return found


def choose(mutants: list[Mutant], touched: set[str], k: int, seed: str) -> list[str]:
    """In the order of the list."""
    names = {m.name for m in mutants if not touched.isdisjoint(m.files)}
    names |= set(sample((m.name for m in mutants), k, seed))
    return [m.name for m in mutants if m.name in names]


def main(kind: str) -> int:
    root = _HERE.parents[1]
    tree = Tree(root)
    changed = changed_since(root)
    touched = reached(tree, changed.files or ())
    mutants = of_harness(tree) if kind == "harness" else of_backends(tree)
    names = choose(mutants, touched, _SAMPLED[kind], head_of(root))
    print(describe(changed, date.today()), file=sys.stderr)
    print(f"{len(names)} of {len(mutants)} mutants of {kind}", file=sys.stderr)
    words = names if kind == "harness" else [f"--mutant {name}" for name in names]
    print(*words)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
