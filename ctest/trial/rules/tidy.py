# SPDX-License-Identifier: Apache-2.0
"""clang-tidy over the sources of a build, tests apart.

    python3 ctest/trial/rules/tidy.py .venv/bin/clang-tidy BUILD_DIRECTORY

Most of its time are the headers: sources that can stand together are looked at
together, and one by one where something was found.
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
from together import declared, groups, source_of

_CHECKS = ".clang-tidy"
_TOGETHER = 24
_LOOKED_AT = "framework/|backends/|conformance/|gradcheck/|ctest/"
# The findings in sources that another one includes count too.
_FILTER = (
    r"/(framework|backends|conformance|gradcheck|ctest)/([a-z0-9_]+/)+[a-z0-9_]+\.(h|cc)$"
)
# What changes the code that comes out, or is for the linker, and no finding.
_NOT_READ = re.compile(
    r"-O|-W|-f(PIC|PIE|visibility|function-sections|data-sections)|-D\w+_EXPORTS$"
)


def flags_of(words: tuple[str, ...]) -> list[str]:
    """How a source is read: its flags but for its name, its output, what was
    compiled before, and the flags that no finding depends on."""
    flags = []
    rest = iter(words[1:])
    for word in rest:
        if word in ("-o", "-c", "-include", "-MF", "-MT"):
            next(rest)
        elif not _NOT_READ.match(word):
            flags.append(word)
    return flags


class Tidy:
    def __init__(self, program: str, build: BuildTree, tree: Tree, scratch: str):
        self.build, self.tree, self.scratch = build, tree, scratch
        self.declared: dict[str, set[str]] = {}  # by header
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
            declared_to = {name: self._declared_to(name) for name in names}
            for group in groups(names, texts, _TOGETHER, declared_to):
                source = Path(self.scratch) / f"{len(found)}.cc"
                source.write_text(source_of(group), encoding="utf-8")
                command = [*self.command, "--extra-arg=-Wfatal-errors"]
                command += [f"--config-file={_CHECKS}", f"--header-filter={_FILTER}"]
                whole = self._check(str(source), command, list(flags), [])
                found.append((whole, [by_name[name] for name in group]))
        return found

    def _declared_to(self, name: str) -> set[str]:
        """What the project's headers that a source reads declare."""
        found: set[str] = set()
        for header in self.build.read(name):
            if header.endswith(".h") and re.match(_LOOKED_AT, header):
                found |= self._declared_by(header)
        return found

    def _declared_by(self, header: str) -> set[str]:
        if header not in self.declared:
            self.declared[header] = declared(self.tree.text(header))
        return self.declared[header]

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
        and re.match(_LOOKED_AT, name)
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
