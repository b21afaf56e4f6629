# SPDX-License-Identifier: Apache-2.0
"""Tests of turns.py."""

import tempfile
import unittest
from pathlib import Path

from turns import Ratio, Row, epochs, rank, ratio_of, table


class TurnsTest(unittest.TestCase):
    """Ratios, their intervals, and the table."""

    def test_the_rank_is_that_of_the_binomial_law(self) -> None:
        """Kills: an interval of one tail, or a rank too narrow or too wide."""
        # R: qbinom(0.025, n, 0.5), which is the rank.
        for n, want in ((6, 1), (8, 1), (9, 2), (11, 2), (12, 3), (20, 6), (100, 40)):
            with self.subTest(n=n):
                self.assertEqual(rank(n), want)

    def test_a_ratio_is_that_of_each_turn(self) -> None:
        """Kills: a ratio of medians, which a drift moves."""
        theirs = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0]
        ours = [
            x * r for x, r in zip(theirs, (0.5, 0.4, 0.6, 0.5, 0.5, 0.5), strict=True)
        ]
        self.assertEqual(ratio_of(ours, theirs), Ratio(0.5, 0.4, 0.6))
        self.assertEqual(ratio_of(ours[:5], theirs[:5]), Ratio(0.5))
        for wrong in (([], []), ([1.0], [1.0, 2.0])):
            with self.assertRaises(ValueError):
                ratio_of(*wrong)

    def test_epochs_are_those_beside_a_peer(self) -> None:
        """Kills: a row of another pair, and an end in the place of the other."""
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "overhead.csv"
            file.write_text(
                "test_id,backend,paired_ratio,ratio_ci95_lo,ratio_ci95_hi\n"
                "overhead/epoch/lenet5#events,onednn,1.01,1,1.02\n"
                "overhead/epoch/lenet5#peer,onednn,0.5,0.4,0.6\n"
            )
            self.assertEqual(
                epochs(file, "LibTorch"),
                [
                    Row(
                        "an epoch of lenet5 by Train on `onednn`",
                        "LibTorch",
                        Ratio(0.5, 0.4, 0.6),
                    )
                ],
            )

    def test_a_table_has_a_line_of_each_row(self) -> None:
        """Kills: a number in the column of another."""
        rows = [
            Row("a", "b", Ratio(0.5, 0.4, 0.6), Ratio(0.7)),
            Row("c", "d", Ratio(2)),
        ]
        self.assertEqual(
            table(rows).splitlines()[2:],
            ["| a | b | 0.50 [0.40, 0.60] | 0.70 |", "| c | d | 2.00 |  |"],
        )


if __name__ == "__main__":
    unittest.main()
