# SPDX-License-Identifier: Apache-2.0
"""Who includes whom: rooms against layers.txt, and no units in a circle.

Also: public headers are free of protobuf, MPI, CUDA and GoogleTest, only tests
include a fixture (*_fixture.h), and no backend's name stands in the framework's
sources, tests and fixtures apart.

    python3 ctest/trial/rules/layering.py [ROOT]
"""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import PurePosixPath

from sources import TOPS, Include, Tree, circles, folder, is_test, run, unit

_FOREIGN = re.compile(
    r'^#include [<"](google/protobuf|onnx/|mpi\.h|cuda|gtest|gmock)', re.MULTILINE
)
# The one place of GoogleTest, for typed fixtures.
_FIXTURES_HEADER = "framework/testing/worker/backend_test.h"
# The reader and the generator are private to framework/graph.
_PRIVATE = re.compile(r"/onnx_(reader|writer)|/gen_")
# They have names that are words of the field.
_FIELD_WORDS = {"reference", "null", "threads"}


class Layers:
    """The table: the rooms from top to bottom and what each may include."""

    def __init__(self, text: str) -> None:
        self.rooms: list[str] = []
        self.words: dict[str, tuple[list[str], list[str]]] = {}
        self.all_tests: list[str] = []
        section, common = "", [""]
        for line in text.splitlines():
            line = line.partition("#")[0].strip()
            if not line:
                continue
            if line.startswith("|"):
                self.all_tests = line.strip("|").split()
                continue
            head, _, rest = line.partition(" ")
            if head.startswith("["):
                section = head.strip("[]")
                common = rest.split()
                continue
            own, _, tests = rest.partition("|")
            room = self._path(section, head)
            self.rooms.append(room)
            self.words[room] = (
                [self._path(section, word) for word in own.split() + common],
                [self._path(section, word) for word in tests.split()],
            )

    @staticmethod
    def _path(section: str, word: str) -> str:
        if word.split("/")[0] in TOPS or not section:
            return word
        return section if word == "." else f"{section}/{word}"

    def room(self, name: str) -> str | None:
        """The longest room of the table that a file lies in."""
        path = PurePosixPath(name)
        for parent in path.parents:
            if parent.as_posix() in self.words:
                return parent.as_posix()
        return None

    def named(self, word: str) -> list[str]:
        """The rooms that a word names: one, or with /* all of a folder."""
        if not word.endswith("/*"):
            return [word] if word in self.words else []
        base = word[:-2]
        return [r for r in self.rooms if r == base or r.startswith(base + "/")]

    def allows(self, name: str, to: str) -> bool:
        own, tests = self.words[self.room(name) or ""]
        words = own + (tests + self.all_tests if is_test(name) else [])
        return any(to in self.named(word) for word in words)

    def faults(self, tree: Tree) -> Iterator[str]:
        """Words that name nothing, and arrows up."""
        level = {room: i for i, room in enumerate(self.rooms)}
        if len(level) != len(self.rooms):
            yield "layers.txt: a room stands twice"
        for word in self.all_tests:
            if not self.named(word):
                yield f"layers.txt: there is no room {word}"
        for room, (own, tests) in self.words.items():
            if not (tree.root / room).is_dir():
                yield f"layers.txt: there is no room {room}"
            for word in own + tests:
                if not self.named(word):
                    yield f"layers.txt: {room}: there is no room {word}"
            for word in own:
                for to in self.named(word):
                    if to != room and level[to] < level[room]:
                        yield f"layers.txt: {room}: {to} stands above it"


def layering(tree: Tree, layers: Layers) -> Iterator[str]:
    for include in tree.includes():
        room, to = layers.room(include.file), layers.room(include.header)
        where = f"{include.file}:{include.line}"
        if room is None:
            yield f"{where}: {folder(include.file)} is not in layers.txt"
        elif to != room and not layers.allows(include.file, to or ""):
            yield f"{where}: {room} may not include {include.header}"


def unit_circles(includes: list[Include]) -> Iterator[str]:
    arrows: dict[str, set[str]] = defaultdict(set)
    for include in includes:
        if unit(include.file) != unit(include.header):
            arrows[unit(include.file)].add(unit(include.header))
    for circle in circles(arrows):
        yield f"these include each other: {' '.join(circle)}"


def fixtures(includes: list[Include]) -> Iterator[str]:
    """A fixture may do what a test may, so nothing else may have it."""
    for include in includes:
        if include.header.endswith("_fixture.h") and not re.search(
            r"_test\.cc$|_fixture\.h$", include.file
        ):
            yield f"{include.file}:{include.line}: only tests may include a fixture"


def foreign_headers(tree: Tree, includes: list[Include]) -> Iterator[str]:
    used = {i.header for i in includes if not is_test(i.file)}
    for name in tree.sources:
        if not name.startswith("framework/") or not name.endswith(".h"):
            continue
        if name == _FIXTURES_HEADER or _PRIVATE.search(name) or name not in used:
            continue
        if _FOREIGN.search(tree.text(name)):
            yield f"{name}: includes what no public header may"


def backend_names(tree: Tree) -> Iterator[str]:
    """Comments may give an example; code may not know a vendor."""
    backends = tree.root / "backends"
    names = {p.name for p in backends.glob("*") if p.is_dir()} - _FIELD_WORDS
    if not names:
        return
    named = re.compile(rf'"[^"]*\b({"|".join(sorted(names))})\b[^"]*"')
    for name in tree.sources:
        if not re.match(r"framework/|perf/(?!peers/)", name) or is_test(name):
            continue
        for number, line in enumerate(tree.text(name).splitlines(), 1):
            if named.search(line) and not line.lstrip().startswith("//"):
                yield f"{name}:{number}: names a backend: {line.strip()}"


def faults(tree: Tree, layers: Layers) -> list[str]:
    includes = list(tree.includes())
    return [
        *layers.faults(tree),
        *layering(tree, layers),
        *unit_circles(includes),
        *fixtures(includes),
        *foreign_headers(tree, includes),
        *backend_names(tree),
    ]


def found_in(tree: Tree) -> list[str]:
    return faults(tree, Layers(tree.text("ctest/layers.txt")))


if __name__ == "__main__":
    sys.exit(run(found_in, lambda t: f"layering holds for {len(t.sources)} files"))
