# SPDX-License-Identifier: Apache-2.0
"""Training runs: bands over seeds, what is told apart, what is refused; the tables."""

import tempfile
import unittest
from collections.abc import Sequence
from pathlib import Path

from assay_report.__main__ import main
from assay_report.deep500 import export_deep500
from assay_report.plot import ticks
from assay_report.run_folder import RunFolderError
from assay_report.training import COLUMNS, Group, Range, group_runs, read_training
from assay_report.training_page import render_training_page
from synthetic import RunFiles
from words import Words

HEADER = ",".join(COLUMNS)


def folder_of(
    root: Path,
    seed: int,
    accuracies: Sequence[float],
    run: str = "alpha:adam",
    dataset: str = "digits",
) -> Path:
    """A run of epochs of 100 samples in batches of 64 and 36, a second each."""
    words = "".join(c if c.isalnum() else "-" for c in run)
    folder = root / f"{words}-{dataset}-{seed}"
    folder.mkdir()
    facts = {"batch": "64", "dataset": dataset, "micro_batch": "0", "model": "mlp"}
    facts |= {"run": run, "seed": str(seed)}
    fields = [("request", "train"), *facts.items()]
    (folder / "train.txt").write_text(
        "".join(f"{name},{value}\n" for name, value in fields)
    )
    lines = [HEADER]
    for epoch, accuracy in enumerate(accuracies):
        first, behind = 100 * epoch + 64, 100 * (epoch + 1)
        second = epoch + 1 + seed / 10
        step = 2 * epoch
        lines.append(f"{epoch},{step + 1},{first},{second - 0.5},train,2,0.5")
        lines.append(f"{epoch},{step + 2},{behind},{second - 0.1},train,1,0.75")
        lines.append(f"{epoch},{step + 2},{behind},{second},test,0.5,{accuracy}")
    (folder / "curves.csv").write_text("\n".join(lines) + "\n")
    return folder


class TrainingTest(unittest.TestCase):
    def setUp(self) -> None:
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.root = Path(scratch.name)

    def groups(self, *folders: Path) -> list[Group]:
        return group_runs([read_training(folder) for folder in folders])

    def test_a_band_is_the_range_over_seeds(self) -> None:
        (group,) = self.groups(
            folder_of(self.root, 0, [0.5, 0.9]),
            folder_of(self.root, 1, [0.7, 0.8]),
            folder_of(self.root, 2, [0.6, 0.95, 0.96]),
        )
        self.assertEqual(
            group.by_samples("accuracy"),
            [(100, 0.5, 0.6, 0.7), (200, 0.8, 0.9, 0.95), (300, 0.96, 0.96, 0.96)],
        )
        self.assertEqual(group.samples_to(0.9), Range((200, 200), 1))

    # Kills: a line that ends where the fastest seed does, or a seed that is counted
    # behind its end.
    def test_a_median_is_over_the_seeds_that_still_run(self) -> None:
        folders = [
            folder_of(self.root, 0, [0.5, 0.9]),  # tested at 1 and 2 seconds
            folder_of(self.root, 10, [0.7, 0.8]),  # at 2 and 3
        ]
        (group,) = self.groups(*folders)
        band = {x: rest for x, *rest in group.by_seconds("accuracy")}
        for found, wanted in zip(band[2.0], (0.7, 0.8, 0.9), strict=True):
            self.assertAlmostEqual(found, wanted)
        self.assertAlmostEqual(band[2.5][1], 0.75)
        self.assertEqual((min(band), max(band)), (2.0, 3.0))
        page = render_training_page([group])
        self.assertEqual(page.count('class="seed s0"'), 8)  # two in each of four plots
        self.assertEqual(page.count('r="2"'), 8)

    def test_groups_differ_by_all_but_the_seed_and_say_by_what(self) -> None:
        rows: tuple[tuple[dict[str, str], str], ...] = (
            ({"epochs": "15"}, "15 epochs"),
            ({"stop_at": "0.97"}, "stops at 0.97"),
            ({"module": "/opt/beta.so"}, "module /opt/beta.so"),
            ({"batch": "32"}, "batch 32"),
            ({"tomorrow": "1"}, "tomorrow 1"),
            ({"checkpoint_every": "7", "goes_on": "1", "out": "x"}, ""),
        )
        for at, (facts, said) in enumerate(rows):
            with self.subTest(said):
                first = folder_of(self.root, 2 * at, [0.5])
                second = folder_of(self.root, 2 * at + 1, [0.5])
                with (second / "train.txt").open("a") as file:
                    file.writelines(f"{name},{text}\n" for name, text in facts.items())
                groups = self.groups(first, second)
                names = [group.name for group in groups]
                self.assertEqual(len(groups), 2 if said else 1, names)
                wanted = f"alpha:adam, {said}" if said else "alpha:adam"
                self.assertIn(wanted, names)

    def test_module_is_named_where_one_run_has_several(self) -> None:
        folders = [folder_of(self.root, 0, [0.5], run) for run in ("a:adam", "b:adam")]
        for folder in folders:
            with (folder / "train.txt").open("a") as file:
                file.write(f"module,{folder.name}\nstop_at,0\n")
        names = [group.name for group in self.groups(*folders)]
        self.assertEqual(names, ["a:adam", "b:adam"])

    def test_the_loss_of_an_epoch_is_over_samples(self) -> None:
        (group,) = self.groups(folder_of(self.root, 0, [0.5, 0.9]))
        mean = (64 * 2 + 36 * 1) / 100
        self.assertEqual(
            group.training_loss(), [(100, *[mean] * 3), (200, *[mean] * 3)]
        )

    def test_boxes_are_the_quantiles_of_batches(self) -> None:
        (group,) = self.groups(
            folder_of(self.root, 0, [0.5]), folder_of(self.root, 1, [0.5, 0.6])
        )
        first, second = group.batch_losses()
        # 1, 1, 2, 2 of two seeds, then 1, 2 of one.
        self.assertEqual(first, (0, 1, 1, 1.5, 2, 2))
        self.assertEqual(second[:4], (1, 1.05, 1.25, 1.5))
        page = render_training_page([group])
        self.assertEqual(page.count('class="box s0"'), 2)

    def test_only_ranges_of_four_seeds_that_do_not_meet_are_apart(self) -> None:
        low, high = Range((1, 2, 3, 4)), Range((5, 6, 7, 8))
        self.assertTrue(low.is_apart(high))
        self.assertTrue(high.is_apart(low))
        self.assertFalse(low.is_apart(Range((4, 5, 6, 7))))
        self.assertFalse(low.is_apart(Range((5, 6, 7))))
        self.assertFalse(low.is_apart(Range((5, 6, 7, 8), n_missing=1)))

    def test_the_page_ranks_nothing_that_is_not_apart(self) -> None:
        folders = [
            folder_of(self.root, seed, [0.9 + seed / 100], run)
            for run in ("alpha:adam", "beta:adam")
            for seed in range(4)
        ]
        text = Words(render_training_page(self.groups(*folders))).text
        self.assertIn("8 runs in 2 groups", text)
        self.assertIn("alpha:adam and beta:adam : not told apart", text)
        self.assertIn("0.9150 (0.9000 to 0.9300)", text)
        for seed in range(4):
            folders.append(folder_of(self.root, seed, [0.5 + seed / 100], "gamma:adam"))
        text = Words(render_training_page(self.groups(*folders))).text
        self.assertIn("final accuracy: 0.9150 (0.9000 to 0.9300) and 0.5150", text)

    def test_a_run_that_left_words_is_read(self) -> None:
        folder = folder_of(self.root, 0, [0.5])
        facts = read_training(folder).facts
        del facts["request"]
        words = (f"--{name.replace('_', '-')}\n{facts[name]}\n" for name in facts)
        (folder / "train.txt").write_text("".join(words))
        self.assertEqual(read_training(folder).facts, facts)

    def test_names_of_a_run_are_text(self) -> None:
        folder = folder_of(self.root, 0, [0.5], "<script>alert(1)</script>")
        page = render_training_page(self.groups(folder))
        self.assertNotIn("<script>", page)

    def test_what_is_no_run_is_refused(self) -> None:
        good = folder_of(self.root, 0, [0.5])
        curves = (good / "curves.csv").read_text()
        for text, says in (
            ("", "found the columns of nothing, wanted epoch,step"),
            ("epoch,loss\n0,1\n", "found the columns epoch,loss, wanted"),
            (f"{HEADER}\n", "found no row of a test set"),
            (f"{curves}0,1,2,3,test,x,1\n", r"csv:5: found '0,1,2,3,test,x,1'"),
            (f"{curves}0,1,2,3,other,1,1\n", r"csv:5: found"),
            (f"{curves}0,1\n", r"csv:5: found '0,1', wanted numbers"),
        ):
            (good / "curves.csv").write_text(text)
            with self.assertRaisesRegex(RunFolderError, says):
                read_training(good)
        (good / "train.txt").write_text("request,train\nrun,alpha\n")
        with self.assertRaisesRegex(RunFolderError, "found no model"):
            read_training(good)
        with self.assertRaisesRegex(RunFolderError, "not found, wanted a folder"):
            read_training(self.root)

    def test_runs_that_cannot_be_held_together_are_refused(self) -> None:
        one = folder_of(self.root, 0, [0.5])
        other = folder_of(self.root, 0, [0.5], dataset="drawn")
        with self.assertRaisesRegex(RunFolderError, "found runs on digits and drawn"):
            self.groups(one, other)
        with self.assertRaisesRegex(RunFolderError, "found seed 0 twice"):
            self.groups(one, one)

    def test_the_program_says_what_is_wrong(self) -> None:
        out = self.root / "page.html"
        self.assertEqual(main(["training", str(self.root), "--out", str(out)]), 99)
        self.assertFalse(out.exists())
        good = folder_of(self.root, 0, [0.5])
        self.assertEqual(main(["training", str(good), "--out", str(out)]), 0)
        self.assertIn("Content-Security-Policy", out.read_text())

    def test_ticks_are_round_and_enclose(self) -> None:
        self.assertEqual(ticks(0.82, 0.93), [0.82, 0.84, 0.86, 0.88, 0.9, 0.92, 0.94])
        self.assertEqual(ticks(0, 16000), [0, 5000, 10000, 15000, 20000])
        self.assertEqual(ticks(3, 3)[0], 3)

    def test_the_tables_of_deep500(self) -> None:
        files = RunFiles(["alpha"])
        case = "optimizer/adam/paper.mlp#locked.float32"
        files.add(case, "alpha", "pass", run_us="1500")
        files.add_output(case, "alpha", min_diff="-0.5", max_diff="0.25")
        files.add_output(case, "alpha", min_diff="-2", max_diff="")
        files.add_gradient("gradcheck/Conv/x#redrawn.float32", "alpha")
        files.add("gradcheck/Conv/x#redrawn.float32", "alpha", "pass")
        files.add_step(case, "alpha", l2_diff="0.125")
        files.add_step(case, "alpha", l2_diff="0.5", tensor="b")
        files.add_step(case, "alpha", l2_diff="1", step="2")
        run = files.write(self.root / "run")
        out = self.root / "tables"
        export_deep500(out, run, [folder_of(self.root, 3, [0.5, 0.75])])

        def text(name: str) -> str:
            return (out / name).read_text()

        self.assertEqual(
            text("accuracy.csv"),
            f"test,backend,min difference,max difference\n{case},alpha,-2,0.25\n",
        )
        self.assertIn(f"{case},alpha,0.001500,0.001500,,\n", text("time.csv"))
        self.assertIn("gradcheck/Conv/x#redrawn.float32,alpha,,,,\n", text("time.csv"))
        self.assertIn(",x,random 1,", text("gradient.csv"))
        self.assertEqual(
            text("optimizer_steps/adam-paper.mlp#locked.float32@alpha.csv"),
            "step,w,b\n1,0.125,0.5\n2,1,\n",
        )
        rows = text("epochs.csv").splitlines()
        self.assertEqual(len(rows), 3)
        wanted = "alpha:adam,3,1,1.64,0.75,25,2,0.5,0.75,2.300000,64"
        self.assertTrue(rows[2].endswith(wanted), rows[2])
        with self.assertRaisesRegex(RunFolderError, "found a file, wanted a folder"):
            export_deep500(run / "runs.csv", run)
