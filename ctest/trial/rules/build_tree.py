# SPDX-License-Identifier: Apache-2.0
"""What a build tree knows: how each source is compiled, and what each includes.

    tree = BuildTree(Path("build"))
    tree.commands["framework/core/shape.cc"].output
    tree.read("framework/core/shape.cc")  # by ninja's log of dependencies
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path


@dataclass(frozen=True)
class Command:
    words: tuple[str, ...]
    output: str

    def include_flags(self) -> list[str]:
        """A flag of two words has a NUL between them."""
        words = iter(self.words)
        return [
            f"{word}\0{next(words)}" if word == "-isystem" else word
            for word in words
            if word == "-isystem" or word.startswith("-I")
        ]


class BuildTree:
    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @cached_property
    def commands(self) -> dict[str, Command]:
        """By source; of one compiled more than once, the first."""
        text = (self.folder / "compile_commands.json").read_text(encoding="utf-8")
        found: dict[str, Command] = {}
        for entry in json.loads(text):
            name = os.path.relpath(entry["file"])
            words = tuple(shlex.split(entry["command"]))
            found.setdefault(name, Command(words, words[words.index("-o") + 1]))
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
        for command in self.commands.values():
            found |= dict.fromkeys(command.include_flags())
        return [part for flag in found for part in flag.split("\0")]

    def read(self, source: str) -> list[str]:
        """Empty where the source was not compiled yet."""
        return self._dependencies.get(self.commands[source].output, [])

    @cached_property
    def _dependencies(self) -> dict[str, list[str]]:
        log = subprocess.run(
            ["ninja", "-C", str(self.folder), "-t", "deps"],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        found: dict[str, list[str]] = {}
        for block in log.split("\n\n"):
            head, *lines = block.strip("\n").split("\n")
            output, _, state = head.partition(": ")
            if "(VALID)" in state:
                names = (self.folder / line.strip() for line in lines)
                found[output] = [os.path.normpath(name) for name in names]
        return found
