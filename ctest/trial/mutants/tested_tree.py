# SPDX-License-Identifier: Apache-2.0
"""How a build folder of Ninja compiles a source and links the unit tests that cover it,
so that a changed source can be compiled and linked in front of the library that holds
the right one, or into a copy of a shared library. A source that is joined with others
is compiled alone, with the flags of the joined one. Programs with mutants in them are
made so.

    tree = TestedTree(root, build)
    for test, is_near in tree.tests_of("framework/metric/ulp.cc"):
        print(test.target)
    make_mutant_programs(tree, mutants, build / "mutants")

A test covers a source when its program has that library in it and one of its own
sources stands in the same folder or includes a header of that folder.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath

sys.path.append(str(Path(__file__).resolve().parents[1] / "rules"))

from build_tree import BuildTree
from harness_mutant import HarnessMutant, schema_of
from sources import folder as folder_of

_ASSAY = "bin/assay"
_INCLUDE = re.compile(r'^#include "([^"]*)', re.MULTILINE)


def shell(command: str) -> tuple[str, int]:
    """The output of a command, and its exit code."""
    done = subprocess.run(
        ["sh", "-c", command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    return done.stdout.decode(errors="replace"), done.returncode


def _printed(command: str, what: str) -> str:
    text, code = shell(command)
    if code != 0:
        raise ValueError(f"{what}: {text}")
    return text


@dataclass(frozen=True, eq=False)
class UnitTest:
    """A program whose target ends in _test, or the assay program."""

    target: str  # from the build folder
    link: str  # the command that links it
    sources: frozenset[str]  # from the root
    folders: frozenset[str]  # of the headers that these include


@dataclass(frozen=True)
class _Compiled:
    command: str  # up to the name of the object
    library: str  # "/libassay_case."


class TestedTree:
    def __init__(self, root: Path, build: Path) -> None:
        self.root = root
        self.build = build
        self._entries = BuildTree(build, root).entries

    def _links(self, rule: str, names: str) -> dict[str, str]:
        """The commands that link, by target, by rules that begin so."""
        ninja = f"ninja -C '{self.build}' -t "
        targets = [
            line.partition(":")[0]
            for line in _printed(f"{ninja}targets all", "ninja").splitlines()
            if f": {rule}" in line
        ]
        targets = [target for target in targets if re.search(names, target)]
        text = _printed(f"{ninja}commands -s {' '.join(targets)}", "ninja")
        if len(text.splitlines()) != len(targets):
            raise ValueError(f"ninja: {text}")
        return dict(zip(targets, text.splitlines()))

    @cached_property
    def shared_libraries(self) -> dict[str, str]:
        """The commands that link them, by target."""
        return self._links("CXX_SHARED_LIBRARY_LINKER", "")

    @cached_property
    def tests(self) -> dict[str, UnitTest]:
        """By target."""
        links = self._links("CXX_EXECUTABLE_LINKER", f"_test$|^{_ASSAY}$")
        joined = {e.words[e.words.index("-o") + 1]: e.sources for e in self._entries}
        found = {}
        for target, link in links.items():
            sources = {s for word in link.split() for s in joined.get(word, ())}
            folders = {
                folder_of(header)
                for source in sources
                if (self.root / source).is_file()
                for header in _INCLUDE.findall(
                    (self.root / source).read_text(encoding="utf-8", errors="replace")
                )
            }
            found[target] = UnitTest(
                target, link, frozenset(sources), frozenset(folders)
            )
        return found

    @cached_property
    def _compiled(self) -> dict[str, _Compiled]:
        """Sources of libraries that a test has in it."""
        links = "\n".join(test.link for test in self.tests.values())
        found: dict[str, _Compiled] = {}
        for entry in self._entries:
            library = f"/lib{entry.target}."
            # Programs have the objects themselves of one that is no archive.
            if library not in links:
                library = f"/{entry.target}.dir/"
            if library not in links or library.endswith("_test.dir/"):
                continue
            command = shlex.join(entry.words[: entry.words.index("-o")])
            for source in entry.sources:
                found.setdefault(source, _Compiled(command, library))
        return dict(sorted(found.items()))

    def has(self, source: str) -> bool:
        """True where a library that a test has in it has the source."""
        return source in self._compiled

    def sources_under(self, path: str) -> list[str]:
        """The sources under a folder, or the one of that path, in a library that a test
        has in it."""
        return [s for s in self._compiled if s == path or s.startswith(f"{path}/")]

    def tests_of(self, source: str) -> list[tuple[UnitTest, bool]]:
        """The tests that cover a source, that with a source of its name first, those
        that only include a header last, and whether they have one in its folder."""
        library = self._compiled[source].library
        folder = folder_of(source)
        own = f"{source.rpartition('.')[0]}_test.cc"
        named, near, including = [], [], []
        for test in self.tests.values():
            if test.target == _ASSAY or library not in test.link:
                continue
            if own in test.sources:
                named.append((test, True))
            elif folder in map(folder_of, test.sources):
                near.append((test, True))
            elif folder in test.folders:
                including.append((test, False))
        return named + near + including

    def compile_command(
        self, source: str, changed: Path, options: str, into: Path
    ) -> str:
        """The command that compiles `changed` in the place of `source`."""
        # A name that a change leaves unused is no fault.
        command = self._compiled[source].command
        return (
            f"cd '{self.build}' && {command} -w -g0 {options} -o '{into}'"
            f" -c '{changed}'"
        )

    def _shared_library_of(self, source: str, test: UnitTest) -> str:
        """The shared library that the test has the source from, as a target; empty
        where it has it from elsewhere."""
        for library in self.shared_libraries:
            is_its = self._compiled[source].library in f"/{library}"
            if is_its and f" {library} " in test.link:
                return library
        return ""

    def link_command(
        self, test: UnitTest, objects: Mapping[str, Path], program: Path
    ) -> str:
        """The command that links the test with objects, by the source that each is a
        change of, in front, whose symbols hold where the libraries have them, too. A
        shared library shows a program a part of its symbols alone: one that has such a
        source is linked in the same way, into a folder beside the program."""
        libraries: dict[str, list[Path]] = defaultdict(list)
        for source, changed in objects.items():
            libraries[self._shared_library_of(source, test)].append(changed)
        front = libraries.pop("", [])
        commands = [f"cd '{self.build}'"]
        words, link = "", test.link
        for library, changed in libraries.items():
            right = self.shared_libraries[library]
            folder = program.with_name(f"{program.name}.lib")
            into = folder / re.search(r"-soname,(\S+)", right)[1]  # type: ignore[index]
            commands.append(f"mkdir -p '{folder}'")
            commands.append(_with_front(right, library, changed, "", into))
            words += f" -Wl,-rpath,'{folder}'"
            link = link.replace(f" {library} ", f" '{into}' ")
        commands.append(_with_front(link, test.target, front, words, program))
        return " && ".join(commands)


def _with_front(
    link: str, target: str, objects: Iterable[Path], words: str, into: Path
) -> str:
    """A command that links `target`, with these objects and words in front of all
    others, since the first definition and the first folder hold."""
    before, _, behind = link.partition(f" -o {target} ")
    compiler, cxx, others = before.partition("c++ ")
    front = " ".join(f"'{each}'" for each in objects)
    return (
        f"{compiler}{cxx} -Wl,--allow-multiple-definition{words} {front} {others}"
        f" -o '{into}' {behind}"
    )


def test_of(killer: str) -> str:
    """The test of a killer, as a target: tests/NAME_test of unit/NAME, and
    tests/cli_test of program, which runs the assay program."""
    name = "cli" if killer == "program" else killer.removeprefix("unit/")
    return f"tests/{name.replace('/', '_')}_test"


def host_of(killer: str) -> str:
    """The target that has a killer's mutants in it: its test, or bin/assay."""
    return _ASSAY if killer == "program" else test_of(killer)


def _compile(
    tree: TestedTree, file: str, mutants: list[HarnessMutant], into: Path
) -> None:
    """Compiles one source with its mutants. It stands where nobody else's does."""
    if not tree.has(file):
        raise ValueError(
            f"no library of a test has the source {file} of the mutant"
            f" {mutants[0].name}: a module or a program alone has it"
        )
    right = (tree.root / file).read_text(encoding="utf-8")
    try:
        schema = schema_of(mutants, right)
    except ValueError as error:
        raise ValueError(f"{file}: {error}") from None
    changed = into.with_suffix(".cc")
    changed.parent.mkdir(parents=True, exist_ok=True)
    changed.write_text(schema, encoding="utf-8")
    command = tree.compile_command(file, changed, "", into)
    _printed(command, f"cannot compile the mutants of {file}")


def _at_once(jobs: Iterable[Callable[[], object]]) -> None:
    """Runs all of them, one a processor at a time; raises the first error."""
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(lambda job: job(), jobs))


def make_mutant_programs(
    tree: TestedTree, mutants: Iterable[HarnessMutant], folder: Path
) -> None:
    """Writes a program for each killer of `mutants` into `folder`, under the name of
    its host, and compiles as many sources at a time as there are processors: each
    changed source once, with all of its mutants. A value error with what the compiler
    or the linker said."""
    by_file: dict[str, list[HarnessMutant]] = defaultdict(list)
    files_of: dict[str, set[str]] = defaultdict(set)  # by host
    for mutant in mutants:
        by_file[mutant.file].append(mutant)
        files_of[host_of(mutant.killer)].add(mutant.file)

    def object_of(file: str) -> Path:
        return (folder / "objects" / file).with_suffix(".o")

    def link(target: str) -> None:
        if target not in tree.tests:
            raise ValueError(f"found no program {target} in {tree.build}")
        objects = {file: object_of(file) for file in sorted(files_of[target])}
        program = folder / PurePosixPath(target).name
        command = tree.link_command(tree.tests[target], objects, program)
        _printed(command, f"cannot link {target} with mutants")

    assert tree.tests and tree.shared_libraries  # read before threads ask for them
    _at_once(
        lambda file=file: _compile(tree, file, by_file[file], object_of(file))
        for file in sorted(by_file)
    )
    _at_once(lambda target=target: link(target) for target in sorted(files_of))
