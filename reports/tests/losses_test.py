# SPDX-License-Identifier: Apache-2.0
"""Losses of networks that ranks train: groups, lines, bands, and what the page says."""

import math
import unittest

from assay_report.losses import Losses, Point, losses_of
from distributed_test import failed_ranks, ranked, words
from synthetic import RunFiles

ACME = "acme+ranks=threads"


def trained() -> RunFiles:
    """A network that ranks train for four steps, and to an accuracy."""
    files = RunFiles(["threads", ACME])
    rows = (
        ("network", "train_all_reduce", "ring", "1", "4", "1.5"),
        ("network", "train_all_reduce", "ring", "2", "4", "1.5"),
        ("network", "train_all_reduce", "ring", "4", "4", "1.25"),
        ("network", "train_all_reduce", "own", "4", "4", "1.75"),
        ("network", "train_signs", "ring", "4", "4", "nan"),
        ("goal", "train_all_reduce", "ring", "2", "62", "0.25"),
        ("goal", "train_all_reduce", "ring", "4", "124", "0.5"),
    )
    for mode, scheme, way, ranks, steps, last in rows:
        model = "lenet5_to_95" if mode == "goal" else "lenet5"
        test_id = f"distributed/{model}/{scheme}.{way}.momentum#n{ranks}"
        files.add(test_id, ACME, "pass")
        files.add_ranks(
            *(test_id, ACME),
            **{"scheme": f"lenet5/{scheme}", "collective": way, "ranks": ranks},
            **{"mode": mode, "steps": steps, "loss_first": "2.5", "loss_last": last},
        )
    ring = "distributed/train_all_reduce/ring.adam#n4"
    files.add(ring, "threads", "pass")
    files.add_ranks(ring, "threads", scheme="train_all_reduce", collective="ring")
    return files


def assessed(files: RunFiles) -> tuple[Losses, ...]:
    return losses_of(*ranked(files))


class LossesTest(unittest.TestCase):
    # Kills: runs of other ends in one line, a loss on another number of ranks, the
    # first loss for the last, a scheme without a loss that is shown.
    def test_losses_stand_by_scheme_way_and_ranks(self) -> None:
        goal, network = assessed(trained())
        self.assertEqual((network.backend, network.network), (ACME, "lenet5"))
        self.assertEqual((network.columns, network.steps), ((1, 2, 4), (4, 4)))
        self.assertEqual(
            [(one.scheme, one.way) for one in network.lines],
            [
                ("train_all_reduce", "own"),
                ("train_all_reduce", "ring"),
                ("train_signs", "ring"),
            ],
        )
        own, ring, signs = network.lines
        self.assertEqual(own.points, (None, None, Point(4, 2.5, 1.75)))
        self.assertEqual([p.last for p in ring.points if p], [1.5, 1.5, 1.25])
        self.assertEqual(ring.first, 2.5)
        assert signs.points[2] is not None
        self.assertTrue(math.isnan(signs.points[2].last))
        self.assertEqual(goal.columns, (2, 4))
        self.assertEqual(goal.steps, (62, 124))

    # Kills: a band of one way, a loss that is no number on an axis.
    def test_plot_has_a_line_for_each_scheme(self) -> None:
        network = assessed(trained())[1]
        ((schemes, plot),) = network.plots
        self.assertEqual(schemes, ("train_all_reduce", "train_signs"))
        bands = dict(plot.series)
        self.assertEqual(
            bands["train_all_reduce"],
            [(1, 1.5, 1.5, 1.5), (2, 1.5, 1.5, 1.5), (4, 1.25, 1.75, 1.75)],
        )
        self.assertEqual(bands["train_signs"], [])
        self.assertEqual(network.n_unplotted, 1)
        self.assertIn("<title>loss in the last step against ranks", plot.svg())

    def test_more_schemes_than_strokes_have_plots_of_their_own(self) -> None:
        files = trained()
        for number in range(9):
            test_id = f"distributed/lenet5/train_{number}.ring.momentum#n2"
            files.add(test_id, ACME, "pass")
            files.add_ranks(
                *(test_id, ACME),
                **{"scheme": f"lenet5/train_{number}", "collective": "ring"},
                **{"ranks": "2", "mode": "network", "steps": "4"},
                **{"loss_first": "2.5", "loss_last": "1"},
            )
        plots = assessed(files)[1].plots
        self.assertEqual([len(schemes) for schemes, _ in plots], [8, 3])

    def test_page_says_what_a_loss_is_of(self) -> None:
        text = words(trained())
        for wanted in (
            "Loss by scheme and ranks",
            f"lenet5 on {ACME}, 4 steps",
            f"lenet5 on {ACME}, 62 to 124 steps",
            "train_all_reduce own 2.5 1.75",
            "train_all_reduce ring 2.5 1.5 1.5 1.25",
            "train_signs ring 2.5 nan",
            "train_all_reduce ring 2.5 0.25 in 62 0.5 in 124",
            "1 of these losses has no place in a plot",
        ):
            self.assertIn(wanted, text)

    def test_run_without_losses_says_nothing_of_them(self) -> None:
        self.assertEqual(assessed(failed_ranks()), ())
        self.assertNotIn("Loss by scheme", words(failed_ranks()))
