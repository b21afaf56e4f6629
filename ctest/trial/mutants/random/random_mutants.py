# SPDX-License-Identifier: Apache-2.0
"""Draws random changes of our own sources, compiles each, links it in front of the
library that has the right source into the unit tests that cover it, and runs them up to
the first that fails. Writes random_mutants.csv and .md into trust/ of the build's
folder. Exits with 1 where fewer than the wanted share is killed.

    python3 ctest/trial/mutants/random/random_mutants.py --count 300 framework/metric
"""

from __future__ import annotations

import argparse
import itertools
import random
import resource
import sys
import threading
import time
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

_HERE = Path(__file__).resolve().parent
sys.path.append(str(_HERE.parent))

from change import Change, changed, changes_of  # noqa: E402
from gtest_run import TestRun, run_test  # noqa: E402
from harness_mutant import mutated, parse_harness_mutants  # noqa: E402
from tested_tree import TestedTree, UnitTest, shell  # noqa: E402
from trial import End, Kills, Trial, trials_csv, trials_markdown  # noqa: E402

_ROOT = _HERE.parents[3]


@dataclass(frozen=True)
class Draw:
    file: str
    change: Change


@dataclass(frozen=True)
class Right:
    """A program's run with the right source in it. A mutant that waits for ever is
    ended after five times as long."""

    cpu_seconds: float
    seconds: float  # by the clock
    slow: str  # tests, as a filter of GoogleTest


def _child_seconds() -> float:
    """Processor time of all programs that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _dense(text: str) -> str:
    """Blanks and line breaks apart, on which two texts may differ."""
    return text.replace(" ", "").replace("\n", "")


def read_equivalents(file: Path) -> dict[str, set[str]]:
    """The changes that no test can see, by source and without blanks. An entry that no
    change yields any more is an error."""
    try:
        mutants = parse_harness_mutants(file.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{file}: {error}") from None
    drawn: dict[str, set[str]] = {}
    listed: dict[str, set[str]] = defaultdict(set)
    for mutant in mutants:
        text = (_ROOT / mutant.file).read_text(encoding="utf-8")
        if mutant.file not in drawn:
            every = changes_of(text)
            drawn[mutant.file] = {_dense(changed(text, change)) for change in every}
        wrong = _dense(mutated(mutant, text))
        if wrong not in drawn[mutant.file]:
            raise ValueError(
                f"{file}: no change that is drawn of {mutant.file} is {mutant.name}"
            )
        listed[mutant.file].add(wrong)
    return listed


class RandomMutants:
    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.tree = TestedTree(_ROOT, options.build)
        self.folder = options.out / "random_mutants"
        sources: set[str] = set()
        for under in options.under:
            found = self.tree.sources_under(under)
            if not found:
                raise ValueError(f"no library with a test has a source {under}")
            sources |= set(found)
        self.texts = {
            source: (_ROOT / source).read_text(encoding="utf-8")
            for source in sorted(sources)
        }
        self.equivalents = read_equivalents(options.equivalent)
        self.right: dict[UnitTest, Right] = {}
        # A changed program of root's may mount something over the others' files.
        apart = "unshare --mount"
        self.within = apart if shell(f"{apart} true")[1] == 0 else ""
        self.draws = self._draws()
        self._next = itertools.count()
        self._lock = threading.Lock()
        self._tried = 0
        self._failure: ValueError | None = None
        self._trials: dict[int, Trial] = {}  # by place in draws

    def _draws(self) -> list[Draw]:
        """All changes of all sources, in an order that is the seed's."""
        draws = [
            Draw(source, change)
            for source, text in self.texts.items()
            for change in changes_of(text)
        ]
        random.Random(self.options.seed).shuffle(draws)
        if self.options.only is None:
            return draws
        only = set(self.options.only.read_text(encoding="utf-8").splitlines())
        return [draw for draw in draws if self._trial(draw).describe() in only]

    def _trial(self, draw: Draw) -> Trial:
        change = draw.change
        gone = self.texts[draw.file][change.at : change.at + change.size]
        return Trial(draw.file, change.line, change.kind, gone, change.replacement)

    def _tests_of(self, source: str) -> list[tuple[UnitTest, bool]]:
        """Those near by, and those far off that the options name; the far ones where
        there are no others."""
        tests = self.tree.tests_of(source)
        wanted, far = self.options.test, self.options.far
        none_near = not any(is_near for _, is_near in tests)
        return [
            (test, is_near)
            for test, is_near in tests
            if (not wanted or test.target in wanted)
            and (is_near or none_near or test.target in far)
        ]

    def _compiles(self, file: str, text: str, optimize: str, into: Path) -> bool:
        source = into.parent / Path(file).name
        source.write_text(text, encoding="utf-8")
        # An index behind the end is a fault that ends the program.
        checked = f"{optimize} -D_GLIBCXX_ASSERTIONS"
        return shell(self.tree.compile_command(file, source, checked, into))[1] == 0

    def _is_same_code(self, file: str, wrong: str, folder: Path) -> bool:
        into = folder / "optimized.o"
        objects = []
        for text in (self.texts[file], wrong):
            if not self._compiles(file, text, "-O2", into):
                return False
            objects.append(into.read_bytes())
        return objects[0] == objects[1]

    def _linked(self, test: UnitTest, source: str, changed_object: Path) -> Path:
        """The test with this object in front of its libraries, beside the object."""
        program = changed_object.parent / "changed_test"
        command = self.tree.link_command(test, {source: changed_object}, program)
        text, code = shell(command)
        if code != 0:
            raise ValueError(f"cannot link {test.target}: {text}")
        return program

    def _without(self, tests: str) -> str:
        """A filter that leaves out these tests, and those that the options name."""
        without = self.options.without
        return f"-{tests}:{without}" if tests or without else ""

    def _run(self, program: Path, tests: str) -> TestRun:
        assay = self.options.build / "bin" / "assay"
        folder = program.parent / "run"
        return TestRun(folder, program, tests, assay, within=self.within)

    def run_right_ones(self) -> None:
        """The right programs must pass; how long they take is their limit. They are
        compiled and linked as mutants are, so that nothing else kills those."""
        folder = self.folder / "right"
        folder.mkdir(parents=True, exist_ok=True)
        into = folder / "right.o"
        for source, text in self.texts.items():
            tests = [t for t, _ in self._tests_of(source) if t not in self.right]
            if not tests:
                continue
            if not self._compiles(source, text, self.options.optimize, into):
                raise ValueError(f"{source}, unchanged, does not compile")
            for test in tests:
                program = self._linked(test, source, into)
                before, start = _child_seconds(), time.monotonic()
                seen = run_test(self._run(program, self._without("")))
                if not seen.clean:
                    raise ValueError(
                        f"{test.target}, unchanged, does not pass: {seen.describe()}"
                    )
                taken = _child_seconds() - before
                wall = time.monotonic() - start
                self.right[test] = Right(taken, wall, ":".join(seen.slow))

    def print_list(self) -> None:
        for source in self.texts:
            print(source, *(test.target for test, _ in self._tests_of(source)))
        for draw in self.draws:
            print(self._trial(draw).describe())

    def run(self) -> list[Trial]:
        with ThreadPoolExecutor(max(1, self.options.jobs)) as pool:
            list(pool.map(self._work, range(max(1, self.options.jobs))))
        if self._failure is not None:
            raise self._failure
        trials = [trial for _, trial in sorted(self._trials.items())]
        compiled = [t for t in trials if t.end != End.NOT_COMPILED]
        return compiled[: self.options.count]

    def _work(self, worker: int) -> None:
        folder = self.folder / str(worker)
        folder.mkdir(parents=True, exist_ok=True)
        for i in self._next:
            ended = self._tried >= self.options.count or self._failure is not None
            if ended or i >= len(self.draws):
                return
            try:
                trial = self._try(self.draws[i], folder)
            except ValueError as error:
                # A change takes no symbol away: the build is not that of the tree.
                self._failure = error
                return
            with self._lock:
                self._tried += trial.end != End.NOT_COMPILED
                by = f", by {trial.killed_by}" if trial.killed_by else ""
                print(f"{trial.end} {trial.describe()}{by}", flush=True)
                self._trials[i] = trial

    def _try(self, draw: Draw, folder: Path) -> Trial:
        start = time.monotonic()
        trial = self._trial(draw)
        wrong = changed(self.texts[draw.file], draw.change)
        if _dense(wrong) in self.equivalents.get(draw.file, ()):
            trial.end = End.EQUIVALENT
            return trial
        into = folder / "changed.o"
        if self._compiles(draw.file, wrong, self.options.optimize, into):
            self._run_tests(draw.file, into, trial)
            if trial.end == End.SURVIVED and self._is_same_code(
                draw.file, wrong, folder
            ):
                trial.end = End.SAME_CODE
        trial.seconds = time.monotonic() - start
        return trial

    def _run_tests(self, file: str, changed_object: Path, trial: Trial) -> None:
        """The quick tests of all programs, then the slow ones of those near by."""
        trial.end = End.SURVIVED
        for slow in (False, True):
            for test, is_near in self._tests_of(file):
                right = self.right[test]
                if slow and not (is_near and right.slow):
                    continue
                program = self._linked(test, file, changed_object)
                tests = right.slow if slow else self._without(right.slow)
                run = replace(
                    self._run(program, tests),
                    seconds=max(6 * self.options.seconds, int(5 * right.seconds)),
                    cpu_seconds=self.options.seconds + int(5 * right.cpu_seconds),
                    memory_mib=8192,
                )
                seen = run_test(run)
                if seen.killed:
                    trial.end = End.KILLED
                    trial.killed_by = f"{test.target} {seen.first_failure}"
                    return


def _try_mutants(options: argparse.Namespace) -> int:
    start = time.monotonic()
    mutants = RandomMutants(options)
    if options.list:
        mutants.print_list()
        return 0
    mutants.run_right_ones()
    trials = mutants.run()
    base = mutants.folder
    base.with_suffix(".csv").write_text(trials_csv(trials), encoding="utf-8")
    base.with_suffix(".md").write_text(trials_markdown(trials), encoding="utf-8")
    print(
        f"\n{trials_markdown(trials)}\n{len(trials)} tried in"
        f" {time.monotonic() - start:g} s with seed {options.seed}, written to"
        f" {base}.csv and .md"
    )
    kills = Kills(trials)
    if not kills.seen:
        raise ValueError("none tried")
    return 0 if kills.percent >= options.least else 1


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="random mutants of our own sources")
    add = parser.add_argument
    add("under", nargs="+", help="sources or folders")
    add("--count", type=int, default=300, help="how many are tried")
    add("--seed", type=int, default=1, help="says which")
    add("--jobs", type=int, default=1, help="at a time")
    beyond = "of processor time beyond five times that of the right program"
    add("--seconds", type=int, default=5, help=beyond)
    add("--least", type=float, default=0, help="percent that must be killed")
    add("--test", action="append", default=[], help="only these targets")
    far = "also these targets, which include a header of the source's folder"
    add("--far", action="append", default=[], help=far)
    add("--without", default="", help="a filter of the tests that are not run")
    add("--only", type=Path, help="a file with the lines of changes to try")
    add("--optimize", default="-O0", help="option for the compiler")
    listed = _HERE / "equivalent.txt"
    add("--equivalent", type=Path, default=listed, help="list of equivalent ones")
    add("--build", type=Path, default=_ROOT / "build", help="folder of the build")
    add("--out", type=Path, help="folder of the tables")
    add("--list", action="store_true", help="prints the changes and tries none")
    options = parser.parse_args()
    options.build = options.build.resolve()
    options.out = (options.out or options.build / "trust").resolve()
    return options


def main() -> int:
    try:
        return _try_mutants(_options())
    except (OSError, ValueError) as error:
        print(f"random_mutants: {error}", file=sys.stderr)
        return 99


if __name__ == "__main__":
    sys.exit(main())
