# SPDX-License-Identifier: Apache-2.0
"""Tables of trials."""

from __future__ import annotations

import unittest

from trial import End, Kills, Trial, trials_csv, trials_markdown

_TRIALS = [
    Trial("a.cc", 3, "operator", "<", "<=", End.KILLED, "t A.B", 0.5),
    Trial("a.cc", 4, "statement", "f(a,\n  b)", "", End.SURVIVED),
    Trial("a.cc", 5, "operator", "+", "-", End.KILLED, "t A.C", 1),
    Trial("b.cc", 6, "constant", "0", "1", End.SAME_CODE),
    Trial("b.cc", 7, "constant", "1", "0", End.EQUIVALENT),
    Trial("c.cc", 8, "constant", "1", "0", End.NOT_COMPILED),
]


class Tables(unittest.TestCase):
    # Kills: a survivor that is left out, or counted as killed; one that no test can see
    # counted for or against them.
    def test_kills_are_counted_by_kind_and_file(self) -> None:
        text = trials_markdown(_TRIALS)
        for line in (
            "2 of 3 killed, 66.7 %; 2 more are equivalent.",
            "| operator | 2 | 0 | 0 | 100.0 % |",
            "| statement | 0 | 1 | 0 | 0.0 % |",
            "| constant | 0 | 0 | 2 | - |",
            "| a.cc | 2 | 1 | 0 | 66.7 % |",
            "- a.cc:4 statement: f(a, b) becomes ",
        ):
            self.assertIn(line, text)
        self.assertNotIn("c.cc", text)
        self.assertEqual(Kills([]).percent, 0)

    def test_every_trial_is_a_line_of_the_table(self) -> None:
        self.assertEqual(
            trials_csv([_TRIALS[0], _TRIALS[3]]),
            "file,line,kind,before,after,end,killed_by,seconds\n"
            "a.cc,3,operator,<,<=,killed,t A.B,0.5\n"
            "b.cc,6,constant,0,1,same code,,0\n",
        )


if __name__ == "__main__":
    unittest.main()
