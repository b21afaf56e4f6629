# SPDX-License-Identifier: Apache-2.0
"""The page of a run that a real, broken backend failed.

ctest names the program in ASSAY_PROGRAM; by hand, without it, this is skipped.
"""

import os
import subprocess
import tempfile
import unittest
from pathlib import Path

from assay_report.payload import pack
from assay_report.run_folder import read_run
from assay_report.verdict import assess
from payload_test import unpacked

PROGRAM = os.environ.get("ASSAY_PROGRAM", "")
BACKEND = "faulty+mutant=ignore:Gemm.alpha"
CASE = "special/Gemm/half_float32"


@unittest.skipUnless(PROGRAM, "ASSAY_PROGRAM does not name the program")
class RealRunTest(unittest.TestCase):
    def test_fail_that_was_run_again_has_its_numbers(self) -> None:
        with tempfile.TemporaryDirectory() as scratch:
            command = [PROGRAM, "run", "--backend", BACKEND, "--corpus", "special"]
            command += ["--filter", f"id:{CASE}", "--no-report", "--out", "run"]
            ran = subprocess.run(
                command, cwd=scratch, capture_output=True, text=True, check=False
            )
            self.assertEqual(ran.returncode, 1, ran.stdout + ran.stderr)
            run = read_run(Path(scratch) / "run")
        self.assertEqual(run.results["outcome"], ["fail"])
        self.assertGreater(int(run.results["attempt"][0]), 1)
        output = unpacked(pack(run, assess(run)).detail)["output"]
        self.assertEqual(output["cell_step"], [0])
        found = {name: texts[0] for name, texts in output["column"].items()}
        wanted = {"worst_want": "2", "worst_got": "3", "out_of_limit": "4"}
        self.assertEqual({name: found.get(name) for name in wanted}, wanted)


if __name__ == "__main__":
    unittest.main()
