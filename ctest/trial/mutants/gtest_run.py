# SPDX-License-Identifier: Apache-2.0
"""Runs a GoogleTest program in a folder of its own, up to its first failure, and reads
how many tests passed, which failed first, and in which it ended when it did not come to
its end.

    seen = run_test(TestRun(folder=Path("work/a"), test=Path("a_test")))
    if not seen.clean:
        print(seen.describe())
"""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

_KEPT = 1 << 20  # bytes of what a program prints
# The test's name: what follows it is a parameter or the time it took.
_LINE = re.compile(r"\[ *(RUN|OK|FAILED|SKIPPED) *\] ([^ ,]*)(.*)")
_A_SECOND = re.compile(r"\(\d{4,} ms\)$")


@dataclass
class TestOutput:
    exit_code: int = -1  # of the shell; below 0, the signal that ended it
    n_passed: int = 0
    first_failure: str = ""  # the test that failed, or was never left
    slow: list[str] = field(default_factory=list)  # that passed in a second or more

    @property
    def clean(self) -> bool:
        """A green run of at least one test; a skipped test is none."""
        return self.exit_code == 0 and self.n_passed > 0 and not self.first_failure

    @property
    def killed(self) -> bool:
        """A test failed or was never left. An ending outside of any test, as where the
        program does not start, says nothing about its tests."""
        return self.exit_code != 0 and bool(self.first_failure)

    def describe(self) -> str:
        code = self.exit_code
        how = f"signal {-code}" if code < 0 else f"exit code {code}"
        failed = f", failed: {self.first_failure}" if self.first_failure else ""
        return f"{how}, {self.n_passed} tests passed{failed}"


def read_test_output(text: str, exit_code: int) -> TestOutput:
    output = TestOutput(exit_code)
    entered = ""
    for line in text.split("\n"):
        match = _LINE.match(line)
        if match is None:
            continue
        word, name, rest = match.groups()
        if word == "RUN":
            entered = name
            continue
        entered = ""
        if word == "OK":
            output.n_passed += 1
            output.slow += [name] if _A_SECOND.search(rest) else []
        elif word == "FAILED":
            output.first_failure = output.first_failure or name
    output.first_failure = output.first_failure or entered
    return output


@dataclass(frozen=True)
class TestRun:
    folder: Path  # made for the run, and removed
    test: Path
    filter: str = ""  # as GoogleTest's; empty: all tests
    assay: Path = Path()  # the assay program that it may start
    mutant: str = ""  # the one that is on; empty: none
    seconds: int = 120  # then it is ended
    cpu_seconds: int = 0  # 0: no limit of its own
    memory_mib: int = 0  # of addresses; 0: no limit
    within: str = ""  # a command in which it runs, as "unshare --mount"

    def command(self) -> str:
        limits = ""
        if self.cpu_seconds > 0:
            limits += f"ulimit -t {self.cpu_seconds} && "
        if self.memory_mib > 0:
            limits += f"ulimit -v {self.memory_mib * 1024} && "
        chosen = f" '--gtest_filter={self.filter}'" if self.filter else ""
        return (
            f"cd '{self.folder}' && {limits}TEST_TMPDIR='{self.folder}'"
            f" ASSAY_PROGRAM='{self.assay}' ASSAY_MUTANT='{self.mutant}'"
            f" {self.within} timeout -k 5 {self.seconds} '{self.test}'"
            " --gtest_fail_fast"
            f" --gtest_color=no{chosen}"
        )


def run_test(run: TestRun) -> TestOutput:
    shutil.rmtree(run.folder, ignore_errors=True)
    run.folder.mkdir(parents=True, exist_ok=True)
    text = b""
    with subprocess.Popen(
        run.command(), shell=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    ) as process:
        assert process.stdout is not None
        while block := process.stdout.read(4096):
            text += block if len(text) < _KEPT else b""
    shutil.rmtree(run.folder, ignore_errors=True)
    return read_test_output(text.decode(errors="replace"), process.returncode)
