# SPDX-License-Identifier: Apache-2.0
"""The simulated clock beside the formula: by hand, without one, on the page."""

import unittest

from assay_report.page import render_page
from assay_report.scaling import Network
from assay_report.simulated import Simulated, assess_simulated
from distributed_test import failed_ranks, ranked, words
from synthetic import RunFiles
from words import Words

RING = "distributed/allreduce/ring.float32.sum.{}#n8"
SCHEME = "distributed/train_all_reduce/{}.adam#n{}"


def clocked() -> RunFiles:
    """An all-reduce and a scheme with a clock, and others that have no formula.

    By hand, with 1 us a message and 0.8 ns a byte: the ring of 4,084 bytes takes
    14 messages and 7/4 of the bytes, 19.7176 us; of 64 bytes 14.0896 us. A step of
    148 bytes on 4 ranks takes 6 messages and 3/2 of the bytes, 6.1776 us.
    """
    files = RunFiles(["smpi", "threads"])
    collectives = (
        (RING.format(1021), "smpi", "20.70348"),  # 1.05 times the formula
        (RING.format(16), "smpi", "14.0896"),
        ("distributed/allreduce/own.float32.sum.61#n8", "smpi", "5"),
        ("distributed/broadcast/linear.float32.61#n8", "smpi", "7"),
        (RING.format(1021), "threads", ""),
    )
    for test_id, backend, time in collectives:
        files.add(test_id, backend, "pass")
        files.add_ranks(test_id, backend, ranks="8", simulated_us=time)
    schemes = (
        ("ring", "4", "4440", "61.776"),  # twice the formula
        ("recursive_doubling", "3", "2960", "50"),
    )
    for way, ranks, sent, time in schemes:
        test_id = SCHEME.format(way, ranks)
        files.add(test_id, "smpi", "pass")
        files.add_ranks(
            *(test_id, "smpi"),
            **{"scheme": "train_all_reduce", "collective": way, "ranks": ranks},
            **{"steps": "5", "bytes_formula": sent, "simulated_us": time},
        )
    return files


def assessed(files: RunFiles) -> Simulated | None:
    return assess_simulated(ranked(files)[1])


class SimulatedTest(unittest.TestCase):
    # Kills: microseconds for seconds, a run for a step, a formula of other bytes.
    def test_clock_stands_beside_the_formula(self) -> None:
        found = assessed(clocked())
        assert found is not None
        self.assertEqual(
            [(one.name, one.algorithm, one.ranks, one.size) for one in found.rows],
            [("allreduce", "ring", 8, 4084), ("train_all_reduce", "ring", 4, 148)],
        )
        wanted = ((20.70348e-6, 19.7176e-6, 1.05), (12.3552e-6, 6.1776e-6, 2))
        for one, (simulated, formula, ratio) in zip(found.rows, wanted, strict=True):
            self.assertAlmostEqual(one.simulated, simulated, delta=1e-15)
            self.assertAlmostEqual(one.formula, formula, delta=1e-15)
            self.assertAlmostEqual(one.ratio, ratio, delta=1e-9)
        self.assertEqual(found.n_timed, 3)
        self.assertAlmostEqual(found.least, 1, delta=1e-9)
        self.assertAlmostEqual(found.most, 2, delta=1e-9)

    def test_steps_of_schemes_stand_by_ranks(self) -> None:
        found = assessed(clocked())
        assert found is not None
        self.assertEqual(found.columns, (3, 4))
        self.assertEqual(
            [(one.name, one.way, one.times) for one in found.steps],
            [
                ("train_all_reduce", "recursive_doubling", ("10 \u00b5s", "")),
                ("train_all_reduce", "ring", ("", "12.4 \u00b5s")),
            ],
        )

    # Kills: a clock of other computers beside the formula of these.
    def test_another_transport_has_no_formula(self) -> None:
        files = clocked()
        for row in files.tables["distributed"]:
            row.update(transport="acme")
        self.assertIsNone(assessed(files))

    def test_page_marks_each_as_simulated(self) -> None:
        stated = Network("fast", 2e-6, 6.4e-11, "a paper")
        page = render_page(clocked().read(), stated)
        text = Words(page).text
        for wanted in (
            "Seconds of the simulated clock simulated",
            "Simulation by SimGrid's SMPI, not measured.",
            "2 \u00b5s a message and \u03b2 = 0.064 ns a byte",
            "backend smpi with \u03b1 = 1 \u00b5s a message",
            "is 1 to 2 over 3 rows",
            "allreduce ring 8 4,084 20.7 \u00b5s 19.7 \u00b5s 1.05",
            "train_all_reduce ring 4 148 12.4 \u00b5s 6.18 \u00b5s 2",
            "A step of each scheme by the number of ranks, simulated",
        ):
            self.assertIn(wanted, text)
        self.assertEqual(page.count("<small>simulated</small></figcaption>"), 4)
        self.assertEqual(page.count("<title>simulated seconds against ranks"), 4)

    def test_run_without_a_clock_says_nothing_of_it(self) -> None:
        self.assertIsNone(assessed(failed_ranks()))
        self.assertNotIn("simulated clock", words(failed_ranks()))
