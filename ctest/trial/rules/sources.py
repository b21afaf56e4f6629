# SPDX-License-Identifier: Apache-2.0
"""The files of a tree, its C++ sources, their rooms, and who includes whom.

    tree = Tree(Path("."))
    for include in tree.includes():
        print(f"{include.file}:{include.line}: {include.header}")
"""

from __future__ import annotations

import os
import re
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath

# Where every file of the project lies but the pages and settings of its root.
TOPS = ("framework", "backends", "conformance", "gradcheck", "perf", "reports", "ctest")
_INCLUDE = re.compile(
    rf'^#include (?:"((?:{"|".join(TOPS)})/[^"]+)"|<(assay/[^>]+)>)', re.MULTILINE
)
# Where the headers lie that a vendor's source includes.
VENDORS = "framework/include/"
# Made by builds, runs and tools.
_MADE = re.compile(r"(build(-\w+)?|runs|__pycache__|\.(?!ci$|clang-).*)$")

Fault = tuple[str, str]  # a file, a room or a name, and what is wrong with it


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


def said(faults: Iterable[Fault]) -> list[str]:
    return [f"{place}: {what}" for place, what in faults]


class Tree:
    """Paths are relative to the root of the tree."""

    def __init__(
        self, root: Path, leaves_out: Callable[[str], bool] = lambda name: False
    ) -> None:
        self.root = root
        self.leaves_out = leaves_out

    @cached_property
    def files(self) -> list[str]:
        """Every file, those in no top folder among them."""
        found: list[str] = []
        for folder, folders, names in os.walk(self.root):
            folders[:] = [name for name in folders if not _MADE.match(name)]
            at = Path(folder).relative_to(self.root)
            found += [(at / n).as_posix() for n in names if not _MADE.match(n)]
        return sorted(found)

    @cached_property
    def sources(self) -> list[str]:
        return [
            name
            for name in self.files
            if name.startswith(tuple(f"{top}/" for top in TOPS))
            and name.endswith((".cc", ".h"))
            and not self.leaves_out(name)
        ]

    @cached_property
    def _texts(self) -> dict[str, str]:
        return {}

    def text(self, name: str) -> str:
        if name not in self._texts:
            text = (self.root / name).read_text(encoding="utf-8")
            self._texts[name] = text
        return self._texts[name]

    def includes(self) -> Iterator[Include]:
        """Every include of a file of the tree."""
        for name in self.sources:
            text = self.text(name)
            for match in _INCLUDE.finditer(text):
                line = text.count("\n", 0, match.start()) + 1
                yield Include(name, line, match[1] or VENDORS + match[2])

    @cached_property
    def included(self) -> Mapping[str, set[str]]:
        """The headers of the tree that each source itself includes."""
        found: dict[str, set[str]] = defaultdict(set)
        for include in self.includes():
            found[include.file].add(include.header)
        return found

    @cached_property
    def including(self) -> Mapping[str, set[str]]:
        """The sources that each header is included by."""
        found: dict[str, set[str]] = defaultdict(set)
        for name, headers in self.included.items():
            for header in headers:
                found[header].add(name)
        return found


def run(found: Callable[[Tree], list[str]], held: Callable[[Tree], str]) -> int:
    """A rule as a program, over the tree that the command line names."""
    tree = Tree(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
    return report(found(tree), held(tree))


def reached(arrows: Mapping[str, Iterable[str]], start: Iterable[str]) -> set[str]:
    """Where the arrows lead to, the start among it."""
    seen: set[str] = set()
    todo = list(start)
    while todo:
        one = todo.pop()
        if one not in seen:
            seen.add(one)
            todo += arrows.get(one, ())
    return seen


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
