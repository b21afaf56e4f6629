# SPDX-License-Identifier: Apache-2.0
"""clang-tidy over the sources of a build, tests apart.

    python3 ctest/trial/rules/tidy.py .venv/bin/clang-tidy BUILD_DIRECTORY [--all]

Most of its time are the headers. With --all it reads what the build joins as one
source; else each source that changed, and of a header that changed one source that
includes it.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from build_tree import BuildTree, Entry
from choice import Choice, parser_of
from remembered import Check, Memory, version_of
from sources import Fault, Tree, is_test, reached, report, unit

_CHECKS = ".clang-tidy"
_SAMPLED = 4
_FINDING = re.compile(r"^(/[^:\n]+):(\d+:\d+: (?:error|warning): .*)$", re.MULTILINE)
# Flags that change the code that comes out, or are for the linker, and no finding.
_NOT_READ = re.compile(
    r"-O|-W|-f(PIC|PIE|visibility|function-sections|data-sections)|-D\w+_EXPORTS$"
)


def flags_of(entry: Entry) -> list[str]:
    flags = []
    words = iter(entry.flags())
    for word in words:
        if word in ("-include", "-MF", "-MT"):
            next(words)
        elif not _NOT_READ.match(word):
            flags.append(word)
    return flags


def sources_of(tree: Tree, build: BuildTree) -> list[str]:
    return [
        name
        for name in tree.sources
        if name.endswith(".cc")
        and not is_test(name)
        and name in build.commands
        and "/generated/" not in name
    ]


def findings(tree: Tree, text: str) -> list[Fault]:
    """Those in files of the tree, tests and generated ones apart; and whatever keeps
    a file from being read."""
    found = []
    for path, what in _FINDING.findall(text):
        name = os.path.relpath(path, tree.root.resolve())
        is_ours = name in tree.sources and not is_test(name)
        is_written = "/generated/" not in name
        if (is_ours and is_written) or "clang-diagnostic-error" in what:
            found.append((name, what))
    return found


@dataclass(frozen=True)
class Tidy:
    program: str
    tree: Tree
    build: BuildTree

    def checks(self, files: Iterable[tuple[str, Entry]]) -> list[Check]:
        """A check of each file, which is read as the entry says."""
        # The compiler, which knows its own headers (omp.h), is the one that warns.
        include = subprocess.run(
            ["g++", "-print-file-name=include"],
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        command = [self.program, "--quiet", f"--config-file={_CHECKS}"]
        command += ["--header-filter=.*", "--extra-arg=-w"]
        command.append(f"--extra-arg=-idirafter{include}")
        found = []
        for file, entry in files:
            words = [*command, file, "--", *flags_of(entry)]
            start = entry.sources if file == entry.file else [file]
            read = sorted(reached(self.tree.included, start))
            look = partial(self._look, file, words)
            found.append(Check(file, [_CHECKS, *read], look, about=" ".join(words)))
        return found

    def _look(self, file: str, words: list[str]) -> list[Fault]:
        # Not what clang-tidy says on how many warnings it suppressed.
        done = subprocess.run(
            words, cwd=self.tree.root, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True, errors="replace",
        )
        found = findings(self.tree, done.stdout)
        if done.returncode and not _FINDING.search(done.stdout):
            found.append((file, f"clang-tidy ends with {done.returncode}"))
        return found


def touched(tree: Tree, names: list[str], changed: Iterable[str]) -> set[str]:
    """The sources that changed; for a header its own one, or one that includes it."""
    found = set()
    for name in changed:
        if name in names:
            found.add(name)
        elif name.endswith(".h"):
            near = {f"{unit(name)}.cc"} & set(names)
            far = reached(tree.including, [name]) & set(names)
            found |= set(sorted(near or far)[:1])
    return found


def main() -> int:
    options = parser_of(__doc__).parse_args()
    build = BuildTree(options.build)
    tree = Tree(Path("."), build.leaves_out)
    names = sources_of(tree, build)
    choice = Choice(tree, options.all)
    chosen = choice.of(names, touched(tree, names, choice.changed), _SAMPLED)
    files = {(name, build.commands[name]) for name in chosen}
    if options.all:
        files = {(entry.file, entry) for _, entry in files}
    tidy = Tidy(options.program, tree, build)
    memory = Memory(build.folder / "rules/tidy", version_of(options.program))
    faults = memory.run(tidy.checks(sorted(files, key=lambda file: file[0])))
    return report(
        [f"{name}:{what}" for name, what in faults],
        f"{len(chosen)} of {len(names)} sources are tidy",
    )


if __name__ == "__main__":
    sys.exit(main())
