# SPDX-License-Identifier: Apache-2.0
"""The tool on toy/, whose test does not look at one of three functions. ASSAY_BUILD is
the folder of a build that has both."""

from __future__ import annotations

import os
import subprocess
import sys
import unittest
from pathlib import Path

from harness_mutant import HarnessMutant
from scratch import ScratchTest
from tested_tree import TestedTree, make_mutant_programs

_HERE = Path(__file__).resolve().parent
_TOY = "ctest/trial/mutants/random/toy"
_EQUIVALENT = (_HERE / "toy/equivalent.txt").read_text(encoding="utf-8")
_BUILD = os.environ.get("ASSAY_BUILD", "")


@unittest.skipUnless(_BUILD, "ASSAY_BUILD names no build")
class Tool(ScratchTest):
    def run_tool(self, equivalent: str, *options: str) -> tuple[str, int]:
        """The output of the tool with this list, and its exit code."""
        file = self.write("equivalent.txt", equivalent)
        words = [sys.executable, "-B", _HERE / "random_mutants.py", f"{_TOY}/toy.cc"]
        words += ["--build", _BUILD, "--out", self.root, "--equivalent", file]
        done = subprocess.run(
            [*words, "--seconds", "1", *options],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        return done.stdout, done.returncode

    # Kills: a survivor reported as killed, a mutant that does not end as one that
    # nobody kills, a run that is green with survivors.
    def test_survivors_of_a_test_that_does_not_look_are_reported(self) -> None:
        text, code = self.run_tool(_EQUIVALENT, "--count", "99", "--least", "100")
        self.assertEqual(code, 1, text)
        table = (self.root / "random_mutants.csv").read_text(encoding="utf-8")
        for line in (
            "8,condition,a < b,!(a < b),killed,",
            "8,operator,<,<=,equivalent,",
            "8,value,a,{},killed,",
            "12,operator,>,>=,same code,",
            "12,value,a > b ? a : b,{},survived,",
            "15,constant,0,1,killed,",
            f"17,operator,--,++,killed,{_TOY}_test ToyTest.StepsAreCounted",
            "17,statement,--n,,killed,",
            "20,value,steps,{},killed,",
            f'23,value,"Sum(a, a)",{{}},killed,{_TOY}_test ToyTest.TwiceIsTheSum',
        ):
            self.assertIn(f"{_TOY}/toy.cc,{line}", table)
        self.assertIn("\nSurvivors:\n", text)

    def test_the_same_seed_draws_the_same(self) -> None:
        seven, again, eight = (
            self.run_tool(_EQUIVALENT, "--list", "--seed", seed)[0] for seed in "778"
        )
        self.assertEqual(seven, again)
        self.assertNotEqual(seven, eight)

    # Kills: a list of equivalent ones that excuses what is no longer there.
    def test_a_stale_equivalent_one_is_an_error(self) -> None:
        head = f"mutant m of operator in {_TOY}/toy.cc killed by nobody because"
        for texts, message in (
            ("- if (a < c) return a;\n+ if (a <= c) return a;", "0 times"),
            ("- if (a < b) return a;\n+ if (a > b) return a;", "no change that is"),
        ):
            text, code = self.run_tool(f'{head} "x"\n{texts}', "--list")
            self.assertEqual(code, 99)
            self.assertIn(message, text)

    # Kills: a mutant that nothing links, and that passes for one that is killed.
    def test_a_source_that_no_test_has_is_refused_by_name(self) -> None:
        tree = TestedTree(_HERE.parents[3], Path(_BUILD))
        mutant = HarnessMutant("m", file="backends/null/null.cc", killer="unit/case")
        with self.assertRaisesRegex(
            ValueError, "has the source backends/null/null.cc of the mutant m: a module"
        ):
            make_mutant_programs(tree, [mutant], self.root)


if __name__ == "__main__":
    unittest.main()
