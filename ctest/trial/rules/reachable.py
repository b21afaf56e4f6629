# SPDX-License-Identifier: Apache-2.0
"""Production code has a user: a program or a module of the product includes it, or
a vendor may. Code that only tests, benchmarks or trials of ourselves use is a fault.

    python3 ctest/trial/rules/reachable.py BUILD_DIRECTORY

Tests are the files that is_test() knows and what is compiled into programs of tests
alone. Code in perf and ctest is a user of its own, and makes nothing reached but by a
suite, which the product runs.
"""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from build_tree import BuildTree
from names import installed
from owed import Owed
from rooms import is_derived
from sources import Fault, Tree, folder, is_test, reached, report, unit

OWN_USERS = ("perf/", "ctest/")
_TEST_TARGET = re.compile(r"_test(_\w+)?$")
# A program, a backend, a suite, a library that is opened by its name.
_ROOT = re.compile(
    r"^int main\(|^ASSAY_REGISTER_(?:BACKEND|COMMUNICATOR)\(|AddSuite\("
    r"|Register(?:Backend|Communicator)\("
    r'|visibility\("default"\)',
    re.MULTILINE,
)
_SUITE = re.compile(r"AddSuite\(")
# A function at the margin, in no namespace without a name, and its first parameter.
_FUNCTION = re.compile(
    r"^(?!static|return|using|#)[A-Za-z][^;={}()]*? [&*]?(\w+\([^,)]*)", re.MULTILINE
)
_PRIVATE = re.compile(r"^namespace \{\n.*?^\}  // namespace$", re.MULTILINE | re.DOTALL)


class Users:
    def __init__(self, tree: Tree, build: BuildTree) -> None:
        self.tree = tree
        self.build = build
        self.members: dict[str, list[str]] = defaultdict(list)
        for name in tree.sources:
            self.members[unit(name)].append(name)
        self._known: dict[str, set[str]] = {}
        self.tests = {name for name in tree.sources if self._is_test(name)}

    def _is_test(self, name: str) -> bool:
        files = self.members[unit(name)]
        targets = {t for file in files for t in self.build.targets.get(file, ())}
        tests_alone = targets and all(map(_TEST_TARGET.search, targets))
        return is_test(name) or bool(tests_alone) or is_derived(folder(name))

    @property
    def _produced(self) -> list[str]:
        return [
            name
            for name in self.tree.sources
            if name not in self.tests and not name.startswith(OWN_USERS)
        ]

    @property
    def _of_perf(self) -> list[str]:
        return [
            name
            for name in self.tree.sources
            if name.startswith("perf/") and name not in self.tests
        ]

    def _reach(self, start: set[str]) -> set[str]:
        """A header reaches the source of its name, and a source what it includes."""
        seen: set[str] = set()
        todo = list(start)
        while todo:
            name = todo.pop()
            members = self.members.get(unit(name), ())
            if name in members and name not in self.tests and name not in seen:
                seen.add(name)
                todo += (*self.tree.included.get(name, ()), *members)
        return seen

    def _serves(self, name: str, seen: set[str]) -> bool:
        """True for a source that defines what a header declares which is reached: a
        header of its room or above, as of rows of a table, or a function of another."""
        headers = self.tree.included.get(name, set()) & seen
        if len(self.members[unit(name)]) == 1 and any(
            f"{folder(name)}/".startswith(f"{folder(header)}/") for header in headers
        ):
            return True
        return any(
            not self._functions(name).isdisjoint(self._functions(header))
            for header in reached(self.tree.included, [name]) & seen
            if unit(header) != unit(name)
        )

    def _functions(self, name: str) -> set[str]:
        if name not in self._known:
            text = _PRIVATE.sub("", self.tree.text(name))
            self._known[name] = {" ".join(f.split()) for f in _FUNCTION.findall(text)}
        return self._known[name]

    def faults(self) -> Iterator[Fault]:
        roots = {n for n in self._produced if _ROOT.search(self.tree.text(n))}
        roots |= {n for n in self._of_perf if _SUITE.search(self.tree.text(n))}
        seen = self._reach({*roots, *installed(self.tree)})
        while more := {
            name
            for name in (*self._produced, *self._of_perf)
            if name not in seen and name.endswith(".cc") and self._serves(name, seen)
        }:
            seen = self._reach({*seen, *more})
        for name in self._produced:
            if name not in seen:
                yield name, "no program or module reaches it, tests apart"


def main() -> int:
    build = BuildTree(Path(sys.argv[1]))
    tree = Tree(Path("."), build.leaves_out)
    found = list(Owed.of(tree).filter("reachable", Users(tree, build).faults()))
    return report(found, f"{len(tree.sources)} sources have a user")


if __name__ == "__main__":
    sys.exit(main())
