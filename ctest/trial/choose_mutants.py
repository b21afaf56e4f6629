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
from dataclasses import dataclass
from datetime import date
from pathlib import Path

_HERE = Path(__file__).resolve().parent
sys.path += [str(_HERE), str(_HERE / "mutants"), str(_HERE / "rules")]

from changed import changed_since, describe, head_of, sample  # noqa: E402
from harness_mutant import parse_harness_mutants  # noqa: E402
from sources import Tree, reached  # noqa: E402

_SAMPLED = {"harness": 8, "backends": 24}
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


def of_harness(tree: Tree) -> list[Mutant]:
    tests: dict[str, str] = {}  # by the name of a GoogleTest suite
    for name in tree.sources:
        if name.endswith("_test.cc"):
            for suite in re.findall(r"^TEST\w*\((\w+),", tree.text(name), re.MULTILINE):
                tests[suite] = name
    found = []
    for mutant in parse_harness_mutants(tree.text("ctest/trial/mutants/harness.txt")):
        suites = [re.sub(r"[.].*|.*/", "", t) for t in mutant.filter.split(":")]
        killers = {tests[suite] for suite in suites if suite in tests}
        if not killers:
            is_program = mutant.killer == "program"
            folder = "framework/cli" if is_program else str(Path(mutant.file).parent)
            killers = {t for t in tests.values() if t.startswith(folder + "/")}
        found.append(Mutant(mutant.name, frozenset({mutant.file, *killers})))
    return found


def of_backends(tree: Tree) -> list[Mutant]:
    found = []
    for file in _LISTS:
        folder = file.rpartition("/")[0]
        texts = {n: tree.text(n) for n in tree.sources if n.startswith(folder + "/")}
        for name, killer in _LINE.findall(tree.text(file)):
            # As gradient:sign for gradient:sign:Conv.1.
            stem = ":".join(name.split(":")[:2])
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
    touched = reached(tree.including, changed.files or ())
    mutants = of_harness(tree) if kind == "harness" else of_backends(tree)
    names = choose(mutants, touched, _SAMPLED[kind], head_of(root))
    print(describe(changed, date.today()), file=sys.stderr)
    print(f"{len(names)} of {len(mutants)} mutants of {kind}", file=sys.stderr)
    words = names if kind == "harness" else [f"--mutant {name}" for name in names]
    print(*words)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
