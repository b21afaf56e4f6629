# SPDX-License-Identifier: Apache-2.0
"""A test runs again when, and only when, something that it reads has changed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import unittest
from pathlib import Path

from scratch import ScratchTest

SCRIPT = Path(__file__).with_name("unchanged.py")


class Unchanged(ScratchTest):
    def setUp(self) -> None:
        super().setUp()
        script = SCRIPT.read_text(encoding="utf-8")
        self.script = self.write("ctest/unchanged.py", script)
        self.write("program", 'echo ran; exit "$CODE"\n')

    def run_test(self, code: int = 0, **settings: str) -> subprocess.CompletedProcess:
        program = str(self.root / "program")
        words = ["a/test", str(self.root / "build"), "--reads", "lib/**/*"]
        words += ["--reads", str(self.root / "browser.md")]
        return subprocess.run(
            [sys.executable, self.script, *words, "--", "sh", program],
            env={**os.environ, "ASSAY_REMEMBER": "1", "CODE": str(code), **settings},
            stdout=subprocess.PIPE,
            text=True,
            check=False,
        )

    def ran(self, **settings: str) -> bool:
        done = self.run_test(**settings)
        self.assertEqual(done.returncode, 0)
        return done.stdout == "ran\n"

    def test_only_what_is_read_counts(self) -> None:
        self.assertTrue(self.ran())
        self.assertFalse(self.ran())
        for name, counts in {
            "program": True,
            "build/lib/libcore.so": True,
            "build/lib/assay/module.so": True,
            "build/tests/module.so": True,
            "build/tests/other_test": False,
            "policy.txt": True,
            "browser.md": True,
            "source.cc": False,
            "README.md": False,
        }.items():
            with self.subTest(name):
                self.write(name, 'echo ran; exit "$CODE"\n')
                self.assertEqual(self.ran(), counts)
                self.assertFalse(self.ran())

    def test_settings_count(self) -> None:
        self.assertTrue(self.ran())
        self.assertTrue(self.ran(ONEDNN_MAX_CPU_ISA="SSE41"))
        self.assertTrue(self.ran())
        self.assertFalse(self.ran(ASSAY_JOBS="7"))

    def test_a_failure_is_not_remembered(self) -> None:
        for _ in range(2):
            self.assertEqual(self.run_test(code=3).returncode, 3)
        self.assertTrue(self.ran())
        self.write("policy.txt", "")
        self.assertEqual(self.run_test(code=3).returncode, 3)
        self.assertTrue(self.ran())

    def test_no_signal_is_ignored_that_python_ignores(self) -> None:
        self.write("program", "grep SigIgn /proc/self/status")
        for remember in ("0", "1"):
            done = self.run_test(ASSAY_REMEMBER=remember)
            ignored = int(done.stdout.split()[1], 16)
            for one in (signal.SIGPIPE, signal.SIGXFSZ):
                self.assertFalse(ignored >> (one - 1) & 1, (remember, one))

    def test_nothing_is_remembered_unless_asked_for(self) -> None:
        for _ in range(2):
            self.assertTrue(self.ran(ASSAY_REMEMBER=""))
        self.assertFalse((self.root / "build/remembered").exists())


if __name__ == "__main__":
    unittest.main()
