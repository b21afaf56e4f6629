# SPDX-License-Identifier: Apache-2.0
"""clang-tidy over the sources of a build, tests apart.

    python3 ctest/rules/tidy.py .venv/bin/clang-tidy BUILD_DIRECTORY

Three quarters of its time are the headers: sources that can stand together are
looked at together, and one by one where something was found.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

from build_tree import BuildTree
from remembered import Check, Memory, version_of
from sources import Tree, is_test
from together import groups, source_of

_CHECKS = ".clang-tidy"
_TOGETHER = 12
# The findings in sources that another one includes count too.
_FILTER = r"/(framework|backends|conformance)/([a-z0-9_]+/)+[a-z0-9_]+\.(h|cc)$"


def flags_of(words: tuple[str, ...]) -> list[str]:
    """How a source is compiled, but for its name, its output and what was
    compiled before."""
    flags = []
    rest = iter(words[1:])
    for word in rest:
        if word in ("-o", "-c", "-include", "-MF", "-MT"):
            next(rest)
        elif word != "-Winvalid-pch":
            flags.append(word)
    return flags


class Tidy:
    def __init__(self, program: str, build: BuildTree, tree: Tree, scratch: str):
        self.build, self.tree, self.scratch = build, tree, scratch
        # The compiler, which knows its own headers (omp.h), is the one that warns.
        include = subprocess.run(
            ["g++", "-print-file-name=include"],
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        self.command = [program, "--quiet", "--extra-arg=-w"]
        self.command.append(f"--extra-arg=-idirafter{include}")

    def check(self, name: str) -> Check:
        read = self.build.read(name)
        flags = flags_of(self.build.commands[name].words)
        return self._check(name, self.command, flags, read)

    def join(self, checks: list[Check]) -> list[tuple[Check, list[Check]]]:
        by_name = {check.name: check for check in checks}
        alike: dict[tuple[str, ...], list[str]] = defaultdict(list)
        for name in by_name:
            alike[tuple(flags_of(self.build.commands[name].words))].append(name)
        found = []
        for flags, names in alike.items():
            texts = {name: self.tree.text(name) for name in names}
            for group in groups(names, texts, _TOGETHER):
                source = Path(self.scratch) / f"{len(found)}.cc"
                source.write_text(source_of(group), encoding="utf-8")
                command = [*self.command, "--extra-arg=-Wfatal-errors"]
                command += [f"--config-file={_CHECKS}", f"--header-filter={_FILTER}"]
                whole = self._check(str(source), command, list(flags), [])
                found.append((whole, [by_name[name] for name in group]))
        return found

    @staticmethod
    def _check(
        name: str, command: list[str], flags: list[str], read: list[str]
    ) -> Check:
        # Not what clang-tidy says on how many warnings it suppressed.
        quiet = ["sh", "-c", '"$@" 2>/dev/null', "sh"]
        words = [*quiet, *command, name, "--", *flags]
        return Check(name, words, [_CHECKS, *read] if read else [])


def main() -> int:
    program, build = sys.argv[1], BuildTree(Path(sys.argv[2]))
    tree = Tree(Path("."))
    names = [
        name
        for name in tree.sources
        if name.endswith(".cc")
        and not is_test(name)
        and name in build.commands
        and re.match("framework/|backends/|conformance/", name)
        and "/generated/" not in name
    ]
    memory = Memory(build.folder / "rules/tidy", version_of(program))
    with tempfile.TemporaryDirectory() as scratch:
        tidy = Tidy(program, build, tree, scratch)
        faults = memory.run(map(tidy.check, names), tidy.join)
    print("\n".join(faults) or f"{len(names)} files are tidy")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
