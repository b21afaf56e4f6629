# SPDX-License-Identifier: Apache-2.0
"""The C++ sources of a tree, their rooms, and who includes whom.

    tree = Tree(Path("."))
    for include in tree.includes():
        print(f"{include.file}:{include.line}: {include.header}")
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath

TOPS = ("framework", "backends", "conformance", "gradcheck", "perf", "ctest")
_INCLUDE = re.compile(rf'^#include "((?:{"|".join(TOPS)})/[^"]+)"', re.MULTILINE)


@dataclass(frozen=True)
class Include:
    file: str
    line: int
    header: str


def report(found: list[str], held: str) -> int:
    """Prints the faults, or what holds without one; returns the exit code."""
    for line in found or [held]:
        print(line)
    return 1 if found else 0


class Tree:
    """Paths are relative to the root of the tree."""

    def __init__(
        self, root: Path, leaves_out: Callable[[str], bool] = lambda name: False
    ) -> None:
        self.root = root
        self.leaves_out = leaves_out

    @cached_property
    def files(self) -> list[str]:
        """Every file, hidden and derived ones apart."""
        found: list[str] = []
        for top in TOPS:
            found.extend(
                path.relative_to(self.root).as_posix()
                for path in (self.root / top).rglob("*")
                if path.is_file() and "__pycache__" not in path.parts
            )
        return sorted(found)

    @cached_property
    def sources(self) -> list[str]:
        return [
            name
            for name in self.files
            if name.endswith((".cc", ".h")) and not self.leaves_out(name)
        ]

    def text(self, name: str) -> str:
        return (self.root / name).read_text(encoding="utf-8")

    def includes(self) -> Iterator[Include]:
        """Every include of a file of the tree."""
        for name in self.sources:
            text = self.text(name)
            for match in _INCLUDE.finditer(text):
                line = text.count("\n", 0, match.start()) + 1
                yield Include(name, line, match[1])


def folder(name: str) -> str:
    return PurePosixPath(name).parent.as_posix()


def unit(name: str) -> str:
    """A .cc and the .h of its stem are one unit."""
    return name.rpartition(".")[0]


def is_test(name: str) -> bool:
    """Tests, their fixtures and the modules that they load."""
    return bool(
        re.search(r"_test\.(cc|h)$|_fixture\.h$|/(\w+_)?test_modules?/", name)
    )


def circles(arrows: dict[str, set[str]]) -> list[list[str]]:
    """The sets of nodes that reach each other (Tarjan), sorted."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(node: str) -> None:
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in sorted(arrows.get(node, ())):
            if other not in index:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], index[other])
        if low[node] == index[node]:
            cut = stack.index(node)
            if len(stack) - cut > 1:
                found.append(sorted(stack[cut:]))
            del stack[cut:]

    for node in sorted(arrows):
        if node not in index:
            visit(node)
    return sorted(found)
