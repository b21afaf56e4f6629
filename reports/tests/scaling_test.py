# SPDX-License-Identifier: Apache-2.0
"""Simulated times: paths by hand, what the table gives, how seconds are written."""

import re
import unittest
from fractions import Fraction
from pathlib import Path

from assay_report.plot import LogPlot, seconds_text
from assay_report.scaling import SMPI, Network, path_of, path_of_totals


class PathTest(unittest.TestCase):
    # By hand from Thakur, Rabenseifner and Gropp (2005), and for the ring from
    # Patarasuk and Yuan (2009). Kills: a ring of n steps, doubling that forgets the
    # ranks beyond a power of two, halving that sends the whole vector.
    def test_closed_forms_are_those_by_hand(self) -> None:
        rows = (
            ("ring", 2, 2, (1, 1)),
            ("ring", 3, 4, (4, 3)),
            ("ring", 8, 14, (7, 4)),
            ("ring", 1024, 2046, (1023, 512)),
            ("recursive_doubling", 2, 1, (1, 1)),
            ("recursive_doubling", 3, 3, (3, 1)),
            ("recursive_doubling", 8, 3, (3, 1)),
            ("recursive_doubling", 61, 7, (7, 1)),
            ("rabenseifner", 2, 2, (1, 1)),
            ("rabenseifner", 3, 4, (3, 1)),
            ("rabenseifner", 8, 6, (7, 4)),
            ("rabenseifner", 61, 12, (63, 16)),
            ("rabenseifner", 1024, 20, (1023, 512)),
        )
        for algorithm, ranks, messages, shares in rows:
            with self.subTest(algorithm=algorithm, ranks=ranks):
                path = path_of(algorithm, ranks)
                self.assertEqual(path.messages, messages)
                self.assertEqual(path.shares, Fraction(*shares))

    # The totals are of all ranks together, for 1,021 numbers of 4 bytes.
    def test_totals_of_a_run_give_the_same_path(self) -> None:
        rows = (
            ("ring", 4, 24, 24_504),
            ("ring", 8, 112, 57_176),
            ("recursive_doubling", 4, 8, 32_672),
            ("recursive_doubling", 7, 14, 57_176),
            ("recursive_doubling", 16, 64, 261_376),
            ("rabenseifner", 5, 18, 32_672),
            ("rabenseifner", 7, 22, 49_008),
            ("rabenseifner", 16, 128, 122_520),
        )
        for algorithm, ranks, messages, sent in rows:
            with self.subTest(algorithm=algorithm, ranks=ranks):
                path = path_of_totals(algorithm, ranks, messages, Fraction(sent, 4084))
                self.assertEqual(path, path_of(algorithm, ranks))

    def test_an_algorithm_without_a_form_is_refused(self) -> None:
        with self.assertRaisesRegex(ValueError, "found 'magic', wanted one of ring, "):
            path_of("magic", 8)


class NetworkTest(unittest.TestCase):
    # 14 us and 7/4 MiB at 0.8 ns; 3 us and 3 MiB; 6 us and 7/4 MiB.
    def test_seconds_are_messages_and_bytes(self) -> None:
        rows = (
            ("ring", 1.4820064e-3),
            ("recursive_doubling", 2.5195824e-3),
            ("rabenseifner", 1.4740064e-3),
        )
        for algorithm, seconds in rows:
            with self.subTest(algorithm):
                found = SMPI.seconds(path_of(algorithm, 8), 1 << 20)
                self.assertAlmostEqual(found, seconds, delta=1e-12)

    def test_smpi_has_the_links_of_its_backend(self) -> None:
        header = Path(__file__).parents[2] / "backends/smpi/machine.h"
        said = dict(re.findall(r"double (k\w+) = ([0-9.e-]+);", header.read_text()))
        self.assertEqual(SMPI.alpha, 2 * float(said["kLinkSeconds"]))
        self.assertEqual(SMPI.beta, 1 / float(said["kLinkBytesPerSecond"]))

    def test_a_network_says_what_it_is(self) -> None:
        one = Network("fast", 2e-6, 6.4e-11, "a paper")
        self.assertEqual(
            (one.alpha_text, one.beta_text, one.rate_text),
            ("2 \u00b5s", "0.064 ns", "125 Gbit/s"),
        )

    def test_seconds_have_three_digits_and_a_unit(self) -> None:
        rows = (
            (0, "0 ns"),
            (8e-10, "0.8 ns"),
            (1e-6, "1 \u00b5s"),
            (0.0009996, "1 ms"),
            (1.4820064e-3, "1.48 ms"),
            (0.1024, "102 ms"),
            (1.0, "1 s"),
            (1234.5, "1230 s"),
        )
        for value, wanted in rows:
            with self.subTest(value):
                self.assertEqual(seconds_text(value), wanted)


class LogPlotTest(unittest.TestCase):
    def test_both_axes_are_logarithmic(self) -> None:
        line = [(n, *[1e-6 * n] * 3) for n in (2, 4, 8)]
        svg = LogPlot("ranks", "seconds", [("a", line)], marks=[[(4, 4e-6)]]).svg()
        (_, middle, _) = svg.split('points="')[1].split('"')[0].split(" ")
        self.assertIn('cx="{}" cy="{}"'.format(*middle.split(",")), svg)
        for tick in (">2<", ">4<", ">8<", ">1 \u00b5s<", ">10 \u00b5s<"):
            self.assertIn(tick, svg)

    def test_nothing_at_all_has_axes(self) -> None:
        svg = LogPlot("ranks", "seconds", []).svg()
        self.assertIn("<title>seconds against ranks", svg)
