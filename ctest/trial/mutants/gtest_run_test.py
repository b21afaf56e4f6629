# SPDX-License-Identifier: Apache-2.0
"""A program's run, and what GoogleTest's lines say of it."""

from __future__ import annotations

import unittest
from pathlib import Path

from gtest_run import TestOutput, TestRun, read_test_output, run_test
from scratch import ScratchTest

_RUN = "[ RUN      ] "
_OK = "[       OK ] "
_FAILED = "[  FAILED  ] "


class Outputs(unittest.TestCase):
    # Kills: a run of no test, of skipped ones, or one that never ends, as green; a
    # program that does not start as a killed mutant.
    def test_a_kill_needs_a_test_and_so_does_a_green_run(self) -> None:
        green = f"{_RUN}A.b\n{_OK}A.b (0 ms)\n"
        red = f"{_RUN}A.b\n{_FAILED}A.b (0 ms)\n"
        typed = f"{_RUN}A/0.b\n{_FAILED}A/0.b, where TypeParam = int (0 ms)\n"
        for what, text, code, clean, killed, first in (
            ("green", green, 0, True, False, ""),
            ("red", red, 1, False, True, "A.b"),
            ("typed", typed, 1, False, True, "A/0.b"),
            ("the first of two", red + red.replace("b", "c"), 1, False, True, "A.b"),
            ("crash", f"{green}{_RUN}A.c\n", -11, False, True, "A.c"),
            ("red, but says 0", red, 0, False, False, "A.b"),
            ("no test", "[==========] 0 tests ran.\n", 0, False, False, ""),
            ("skipped", f"{_RUN}A.b\n[  SKIPPED ] A.b (0 ms)\n", 0, False, False, ""),
            ("no start", "cannot open shared object\n", 127, False, False, ""),
        ):
            output = read_test_output(text, code)
            self.assertEqual(output.clean, clean, what)
            self.assertEqual(output.killed, killed, what)
            self.assertEqual(output.first_failure, first, what)

    def test_slow_tests_and_a_description(self) -> None:
        slow = read_test_output(f"{_OK}A.b (999 ms)\n{_OK}A.c (1000 ms)\n", 0)
        self.assertEqual(slow.slow, ["A.c"])
        crash = read_test_output(f"{_RUN}A.b\n{_OK}A.b (0 ms)\n{_RUN}A.c\n", -11)
        self.assertEqual(crash.describe(), "signal 11, 1 tests passed, failed: A.c")
        self.assertEqual(TestOutput(1).describe(), "exit code 1, 0 tests passed")


class Runs(ScratchTest):
    def program(self, script: str) -> Path:
        path = self.write("a_test", f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
        return path

    # Kills: a run without its mutant, its filter or the program that it starts.
    def test_a_run_has_its_settings(self) -> None:
        test = self.program('echo "$ASSAY_MUTANT $ASSAY_PROGRAM $PWD $*" >../seen')
        run = self.root / "run"
        for within in ("", "env ASSAY_PROGRAM=/x/assay"):
            assay = Path("/x/other" if within else "/x/assay")
            run_test(TestRun(run, test, "A.*", assay, "wrong", within=within))
            self.assertEqual(
                (self.root / "seen").read_text(encoding="utf-8"),
                f"wrong /x/assay {run} --gtest_fail_fast --gtest_color=no"
                " --gtest_filter=A.*\n",
            )
            self.assertFalse(run.exists())

    # Kills: a test that never ends, or computes for ever, as one that is waited for.
    def test_a_run_is_ended_at_its_limits(self) -> None:
        endless = self.program(f"echo '{_RUN}A.b'; while :; do :; done")
        for run in (
            TestRun(self.root / "run", endless, seconds=1),
            TestRun(self.root / "run", endless, cpu_seconds=1),
        ):
            seen = run_test(run)
            self.assertTrue(seen.killed)
            self.assertEqual(seen.first_failure, "A.b")

    def test_a_program_that_is_not_there_kills_nothing(self) -> None:
        seen = run_test(TestRun(self.root / "run", self.root / "none"))
        self.assertFalse(seen.clean or seen.killed)


if __name__ == "__main__":
    unittest.main()
