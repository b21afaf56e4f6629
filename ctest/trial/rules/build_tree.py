# SPDX-License-Identifier: Apache-2.0
"""A build tree: how each source is compiled, and into which target.

    tree = BuildTree(Path("build"))
    tree.commands["framework/core/shape.cc"].words
    for entry in tree.entries:
        print(entry.file, entry.sources)  # several where they are joined
"""

from __future__ import annotations

import json
import os
import re
import shlex
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

# CMake's own source for several, which includes them.
_JOINED = re.compile(r"/Unity/unity_\d+_cxx\.cxx$")
_INCLUDE = re.compile(r'^#include "([^"]+)"', re.MULTILINE)
_TARGET = re.compile(r"CMakeFiles/([^/]+)\.dir/")


@dataclass(frozen=True)
class Entry:
    """One compilation."""

    file: str
    sources: tuple[str, ...]  # the file itself, or those that it joins
    words: tuple[str, ...]
    target: str

    def flags(self) -> tuple[str, ...]:
        """The words but for the compiler, the file and its output."""
        found = []
        words = iter(self.words[1:])
        for word in words:
            if word in ("-o", "-c"):
                next(words)
            else:
                found.append(word)
        return tuple(found)

    def include_flags(self) -> list[str]:
        """Those that find a header, ONNX's own settings among them. A flag of two
        words has a NUL between them."""
        words = iter(self.words)
        return [
            f"{word}\0{next(words)}" if word == "-isystem" else word
            for word in words
            if word == "-isystem" or word.startswith(("-I", "-DONNX_"))
        ]


class BuildTree:
    def __init__(self, folder: Path, root: Path = Path(".")) -> None:
        """Sources are named as the tree at the root names them."""
        self.folder = folder
        self.root = root

    @cached_property
    def entries(self) -> list[Entry]:
        text = (self.folder / "compile_commands.json").read_text(encoding="utf-8")
        found = []
        for entry in json.loads(text):
            file = os.path.relpath(entry["file"], self.root)
            words = tuple(shlex.split(entry["command"]))
            target = _TARGET.search(words[words.index("-o") + 1])
            sources = (file,)
            if _JOINED.search(entry["file"]):
                joined = Path(entry["file"]).read_text(encoding="utf-8")
                names = _INCLUDE.findall(joined)
                sources = tuple(os.path.relpath(name, self.root) for name in names)
            found.append(Entry(file, sources, words, target[1] if target else ""))
        return found

    @cached_property
    def commands(self) -> dict[str, Entry]:
        """By source; of one compiled more than once, the first."""
        found: dict[str, Entry] = {}
        for entry in self.entries:
            for name in entry.sources:
                found.setdefault(name, entry)
        return found

    @cached_property
    def targets(self) -> Mapping[str, set[str]]:
        """The targets that each source is compiled into."""
        found: dict[str, set[str]] = defaultdict(set)
        for entry in self.entries:
            for name in entry.sources:
                found[name].add(entry.target)
        return found

    def leaves_out(self, name: str) -> bool:
        """True for a file of a backend of which nothing is built: its library need not
        be there."""
        folder = "/".join(name.split("/")[:2]) + "/"
        return folder.startswith("backends/") and folder not in self._folders

    @cached_property
    def _folders(self) -> set[str]:
        return {"/".join(name.split("/")[:2]) + "/" for name in self.commands}

    def include_flags(self) -> list[str]:
        """Where the sources find their headers, all of them together."""
        found: dict[str, None] = {}
        for entry in self.entries:
            found |= dict.fromkeys(entry.include_flags())
        return [part for flag in found for part in flag.split("\0")]
