# SPDX-License-Identifier: Apache-2.0
"""The section on ranks as text: counts, costs, agreement, mixing, curves, damages."""

import contextlib
import io
import tempfile
import unittest
from pathlib import Path

from assay_report.__main__ import main
from assay_report.distributed import RankRows, Ranks, assess_ranks, rank_rows
from assay_report.payload import Cells
from assay_report.rank_costs import (
    Agreement,
    Cost,
    Mixing,
    agreement_of,
    assess_costs,
    mixing_of,
)
from assay_report.run_folder import RunFolderError, read_run
from assay_report.scaling import Curves, assess_curves
from synthetic import RunFiles
from words import HOSTILE, Words, WordsCase

RING = "distributed/allreduce/ring.float32.sum.4#n4"
OWN = "distributed/reduce/own.float32.sum.61#n8.drawn"
GOSSIP = "distributed/gossip/ring#n{}"
TRAIN = "distributed/train_all_reduce/{}.adam#n4"
ASYNC = "distributed/async_server/slack1#n4"
# These columns of a collective are empty in the row of a scheme.
_SCHEME = {"collective": "", "bytes_formula": "", "messages_formula": ""}


def ranked(files: RunFiles) -> tuple[Cells, RankRows]:
    run = files.read()
    cells = Cells(run.results, run.backends["backend"], run.plan)
    return cells, rank_rows(run, cells)


class Assessed:
    """Everything that the page says of the ranks of a run."""

    def __init__(self, files: RunFiles) -> None:
        cells, rows = ranked(files)
        self.ranks: Ranks = assess_ranks(cells, rows)
        costs = assess_costs(cells, rows, self.ranks)
        self.costs: dict[str, Cost] = {
            f"{one.name}/{one.detail}": one
            for one in (*costs.collectives, *costs.schemes)
        }
        self.agreement: Agreement | None = agreement_of(cells, rows)
        self.mixing: list[Mixing] = mixing_of(cells, rows)
        self.curves: Curves | None = assess_curves(rows)


def words(files: RunFiles) -> str:
    return Words(files.page()).text


def failed_ranks() -> RunFiles:
    """A ring of 8 ranks fails on openmpi, a process dies, a sum is known as wrong."""
    files = RunFiles(["threads", "openmpi"])
    for backend in ("threads", "openmpi"):
        for ranks in ("4", "8", "16"):
            is_wrong = backend == "openmpi" and ranks == "8"
            test_id = GOSSIP.format(ranks)
            files.add(
                test_id,
                backend,
                "fail" if is_wrong else "pass",
                reason_code="fail_mixing" if is_wrong else "",
                message="rank 3: <b>sum</b> of weights 0.75, wanted 1"
                if is_wrong
                else "",
            )
            files.add_ranks(
                *(test_id, backend),
                **{**_SCHEME, "scheme": "gossip", "topology": "ring"},
                **{"ranks": ranks, "steps": "7", "hash": "", "differing_bits": ""},
                **{"consensus": "0.5", "contraction_err": "1e-16"},
            )
        for algorithm in ("ring", "linear"):
            test_id = TRAIN.format(algorithm)
            has_died = backend == "openmpi" and algorithm == "ring"
            files.add(
                *(test_id, backend, "crash" if has_died else "pass"),
                message="signal 11 on rank 2" if has_died else "",
            )
            if not has_died:
                files.add_ranks(
                    *(test_id, backend),
                    **{"scheme": "train_all_reduce", "collective": algorithm},
                    **{"optimizer": "adam", "steps": "5", "rank_agreement": "1"},
                )
        files.add(ASYNC, backend, "pass" if backend == "threads" else "unsupported")
        if backend == "threads":
            files.add_ranks(
                *(ASYNC, backend),
                **{**_SCHEME, "scheme": "async_server", "topology": "slack1"},
                **{"staleness_max": "7", "staleness_bound": "6", "steps": "6"},
            )
        files.add(RING, backend, "pass")
        files.add_ranks(RING, backend)
        files.add(
            *(OWN, backend, "pass" if backend == "threads" else "xfail"),
            message="" if backend == "threads" else "rank 0, element 4: found 3",
        )
        for root in ("0", "5"):
            is_off = backend == "openmpi" and root == "5"
            files.add_ranks(
                *(OWN, backend),
                **{"root": root, "ranks": "8", "mode": "float"},
                **{"bytes_formula": "", "messages_formula": "", "max_ulp": "6.5"},
                differing_bits="737" if is_off else "0",
                hash="99" if is_off else "77",
                determinism="run+sizes" if backend == "threads" else "run",
            )
    return files


class GridTest(unittest.TestCase):
    # Kills: a case that is lost where it has no row, one that counts on another
    # number of ranks or for another backend, a collective among schemes.
    def test_cases_stand_by_scheme_and_ranks(self) -> None:
        ranks = Assessed(failed_ranks()).ranks
        self.assertEqual((ranks.n_cases, ranks.n_rows, ranks.n_failed), (8, 16, 3))
        threads, openmpi = ranks.grids
        self.assertEqual((threads.backend, threads.columns), ("threads", (4, 8, 16)))
        found = {
            row.name: [(one.n_pass, one.n) for one in row.squares]
            for row in openmpi.rows
        }
        wanted = {
            "async_server": [(0, 1), (0, 0), (0, 0)],
            "gossip": [(1, 1), (0, 1), (1, 1)],
            "train_all_reduce": [(1, 2), (0, 0), (0, 0)],
        }
        self.assertEqual(found, wanted)
        train = threads.rows[2]
        self.assertEqual(
            (train.algorithms, train.n_optimizers), (("linear", "ring"), 1)
        )
        self.assertEqual(threads.total.worst, "pass")
        self.assertEqual(openmpi.total.worst, "crash")

    # Kills: a case that no backend has a row of and that is lost, or that stands
    # under another topology, algorithm or number of ranks than its id says.
    def test_case_without_any_row_stands_where_its_id_says(self) -> None:
        files = failed_ranks()
        for name in (
            "gossip/ring#n32",
            "train_all_reduce/ring.adam#n16",
            "scatter/linear.float32.61#n8.drawn",
            "new_scheme/odd",
        ):
            files.add(f"distributed/{name}", "threads", "crash")
        ranks = Assessed(files).ranks
        self.assertEqual(ranks.n_cases, 12)
        self.assertEqual(
            [(*one.place.key, one.ranks) for one in ranks.faults[:4]],
            [
                (False, "scatter", "linear", (8,)),
                (True, "gossip", "ring", (32,)),
                (True, "new_scheme", "", (0,)),
                (True, "train_all_reduce", "", (16,)),
            ],
        )

    def test_worst_outcome_gives_the_sign(self) -> None:
        openmpi = Assessed(failed_ranks()).ranks.grids[1]
        signs = {row.name: row.squares[0].worst for row in openmpi.rows}
        wanted = {"async_server": "unsupported", "gossip": "pass"}
        self.assertEqual(signs, {**wanted, "train_all_reduce": "crash"})

    def test_fails_have_their_messages_and_expected_ones_come_last(self) -> None:
        faults = Assessed(failed_ranks()).ranks.faults
        self.assertEqual(
            [(one.place.name, one.ranks, one.worst) for one in faults],
            [
                ("gossip", (8,), "fail"),
                ("train_all_reduce", (4,), "crash"),
                ("reduce", (8,), "xfail"),
            ],
        )
        text = words(failed_ranks())
        for wanted in (
            "Fails of ranks 3",
            "fail gossip ring on openmpi, 8 ranks; 1 case fail_mixing: what ranks mix "
            "is not kept, or is staler than its bound.",
            f"fail {GOSSIP.format(8)} fail_mixing : rank 3: <b>sum</b> of weights",
            "crash train_all_reduce on openmpi, 4 ranks; 1 case",
            f"crash {TRAIN.format('ring')} signal 11 on rank 2",
            "train_all_reduce linear crash, 1 /2 1 crash",
            "gossip ring pass, 1 /1 fail, 0 /1 1 fail pass, 1 /1",
        ):
            self.assertIn(wanted, text)

    def test_rows_of_the_last_attempt_count_alone(self) -> None:
        files = RunFiles(["threads"])
        files.add(RING, "threads", "flaky", attempt="2")
        files.add_ranks(RING, "threads", attempt="1", differing_bits="8")
        files.add_ranks(RING, "threads", attempt="2")
        files.add_attempt(RING, "threads", attempt="1", outcome="fail")
        bits = Assessed(files).costs["allreduce/ring"].bits
        self.assertEqual((bits.n, bits.n_off), (1, 0))


class CostsTest(unittest.TestCase):
    # Kills: a number that is compared where there is none, a difference that is
    # not seen, one that is counted twice.
    def test_numbers_are_counted_row_by_row(self) -> None:
        files = failed_ranks()
        files.tables["distributed"][-3].update(bytes_sent="97")
        costs = Assessed(files).costs
        own, ring = costs["reduce/own"], costs["allreduce/ring"]
        self.assertEqual((own.bits.n, own.bits.n_off), (4, 1))
        self.assertEqual(own.bits.first, "found 737, wanted 0 (openmpi, 8 ranks)")
        self.assertEqual((own.bytes.n, own.messages.n), (0, 0))
        self.assertEqual((ring.bytes.n, ring.bytes.n_off), (2, 1))
        self.assertEqual(ring.bytes.first, "found 97, wanted 96 (openmpi, 4 ranks)")
        self.assertEqual((ring.messages.n, ring.messages.n_off), (2, 0))
        self.assertEqual(costs["train_all_reduce/"].alike.n, 3)
        self.assertEqual(
            own.determinism, {"run+sizes": ["threads"], "run": ["openmpi"]}
        )
        text = words(files)
        for wanted in (
            "reduce own 8 openmpi xfail, 0 /1 1 xfail \u2715 1 of 4 differ found 737",
            "run+sizes threads run openmpi at most 6.5 ULP",
            "allreduce ring 4 pass, 2 /2 \u2713 0 in 2 \u2715 1 of 2 differ found 97, "
            "wanted 96 (openmpi, 4 ranks) \u2713 2 /2",
        ):
            self.assertIn(wanted, text)

    def test_bits_are_compared_between_backends(self) -> None:
        found = Assessed(failed_ranks()).agreement
        assert found is not None
        # A scheme, the ring, and two roots; async_server is on one backend.
        self.assertEqual((found.n, found.n_off, found.n_expected), (4, 1, 1))
        (one,) = found.differences
        self.assertEqual((one.test_id, one.root), (OWN, "5"))
        self.assertEqual(one.backends, (("77", "threads"), ("99", "openmpi")))
        files = failed_ranks()
        said = " : cases, each with its root"
        expected = f"1 of 4 differ, as expected fails (xfail) do{said}"
        self.assertIn(expected, words(files))
        for row in files.tables["results"]:
            row["outcome"] = "fail" if row["outcome"] == "xfail" else row["outcome"]
        self.assertIn(f"\u2715 1 of 4 differ{said}", words(files))

    def test_one_backend_agrees_with_nobody(self) -> None:
        files = RunFiles(["threads"])
        files.add(RING, "threads", "pass")
        files.add_ranks(RING, "threads")
        self.assertIsNone(Assessed(files).agreement)
        self.assertNotIn("Agreement of backends", words(files))

    def test_networks_of_other_backends_are_not_compared(self) -> None:
        hash_of = {
            "acme+ranks=threads": "1",
            "acme+ranks=openmpi+x=1": "5",
            "acme+x=1+ranks=threads": "4",
            "other+ranks=threads": "3",
            "threads": "2",
        }
        files = RunFiles(list(hash_of))
        for backend, text in hash_of.items():
            files.add(TRAIN, backend, "pass")
            files.add_ranks(TRAIN, backend, **{**_SCHEME, "hash": text})
        found = Assessed(files).agreement
        assert found is not None
        self.assertEqual((found.n, found.n_off), (1, 1))
        self.assertEqual(
            found.differences[0].backends,
            (("5", "acme+ranks=openmpi+x=1"), ("4", "acme+x=1+ranks=threads")),
        )

    def test_mixing_has_the_worst_of_all_backends(self) -> None:
        files = failed_ranks()
        files.tables["distributed"][0].update(consensus="0.75")
        files.tables["distributed"][1].update(contraction_err="nan")
        found = {
            (one.place.name, one.place.ranks): one for one in Assessed(files).mixing
        }
        self.assertEqual(len(found), 4)
        self.assertEqual(found["gossip", 4].consensus, 0.75)
        stale = found["async_server", 4]
        self.assertEqual((stale.staleness, stale.bound), ({"threads": 7}, 6))
        self.assertTrue(stale.is_too_stale)
        text = words(files)
        self.assertIn("async_server slack1 4 6 \u2715 threads 7 of 6 allowed", text)
        self.assertIn("gossip ring 8 7 nan 0.5", text)

    def test_curves_are_marked_as_simulated_and_held_to_the_table(self) -> None:
        curves = Assessed(failed_ranks()).curves
        assert curves is not None
        self.assertEqual((curves.n_rows, curves.n_off), (2, 0))
        text = words(failed_ranks())
        for wanted in (
            "Simulation by the alpha-beta model, not measured.",
            "\u03b1 = 1 \u00b5s a message and \u03b2 = 0.8 ns a byte (10 Gbit/s)",
            "All 2 rows give the path of the closed form.",
            "1 MiB ring 841 \u00b5s 1.48 ms 1.78 ms 3.72 ms",
        ):
            self.assertIn(wanted, text)
        files = failed_ranks()
        for row in files.tables["distributed"]:
            row.update(messages_formula="20")
        self.assertIn(
            "2 of 2 rows have another path than the closed form", words(files)
        )


class NetworkTest(unittest.TestCase):
    def test_a_network_may_be_stated(self) -> None:
        with tempfile.TemporaryDirectory() as scratch:
            folder = failed_ranks().write(Path(scratch) / "run")
            out = Path(scratch) / "page.html"
            asked = ["page", str(folder), "--out", str(out)]
            self.assertEqual(main([*asked, "--alpha", "2e-6", "--beta", "6.4e-11"]), 0)
            text = Words(out.read_text()).text
            self.assertIn("2 \u00b5s a message and \u03b2 = 0.064 ns a byte", text)
            self.assertIn("a network of the command line (--alpha, --beta)", text)
            for wrong, wanted in (
                (["--alpha", "1e-6"], "found --alpha alone, wanted --alpha and --beta"),
                (["--beta", "1e-9"], "found --beta alone, wanted --alpha and --beta"),
                (["--alpha", "0", "--beta", "1"], "--alpha: found '0', wanted seconds"),
                (["--alpha=-1", "--beta", "1"], "found '-1', wanted seconds above 0"),
                (["--alpha", "1", "--beta", "nan"], "--beta: found 'nan', wanted"),
                (["--alpha", "soon", "--beta", "1"], "--alpha: found 'soon', wanted"),
            ):
                said = io.StringIO()
                with self.assertRaises(SystemExit), contextlib.redirect_stderr(said):
                    main([*asked, *wrong])
                self.assertIn(wanted, said.getvalue())


class SectionTest(WordsCase):
    def test_damaged_rows_are_refused(self) -> None:
        rows = (
            (
                {"ranks": "many"},
                r"ranks 'many' in record 1, wanted a number or nothing",
            ),
            ({"bytes_sent": "1.5"}, r"found bytes_sent '1\.5' in record 1, wanted a"),
            ({"consensus": "near"}, r"distributed\.csv: found consensus 'near'"),
            ({"attempt": "x"}, r"distributed\.csv: found attempt 'x', wanted a number"),
            ({"test_id": "no"}, r"distributed\.csv: found no on threads, which has no"),
            ({"run_id": "old"}, r"distributed\.csv: found run_id 'old' in record 1"),
        )
        for edit, wanted in rows:
            with self.subTest(wanted):
                files = failed_ranks()
                files.tables["distributed"][0].update(edit)
                with self.assertRaisesRegex(RunFolderError, wanted):
                    files.page()

    def test_missing_columns_and_an_empty_file_are_refused(self) -> None:
        with tempfile.TemporaryDirectory() as scratch:
            folder = failed_ranks().write(Path(scratch))
            table = folder / "distributed.csv"
            text = table.read_text()
            table.write_text(text.replace("bytes_formula", "bytes", 1))
            with self.assertRaisesRegex(RunFolderError, "wanted also bytes_formula"):
                read_run(folder)
            table.write_text("")
            with self.assertRaisesRegex(RunFolderError, "found no line end at the end"):
                read_run(folder)

    def test_unknown_words_stand_as_they_are(self) -> None:
        files = RunFiles(["threads"])
        known = {"scheme": "telepathy", "topology": "sphere", "ranks": ""}
        for name, columns in (
            ("telepathy/x#n4", {**_SCHEME, **known}),
            ("shout/loud#n4", {"collective": "shout", "determinism": "moon"}),
        ):
            files.add(f"distributed/{name}", "threads", "fail")
            files.add_ranks(f"distributed/{name}", "threads", **columns)
        text = words(files)
        for wanted in ("telepathy sphere", "fail, 0 /1 1 fail", "moon threads"):
            self.assertIn(wanted, text)

    def test_size_is_bounded(self) -> None:
        files = RunFiles(["threads", "openmpi"])
        message = "<i>wrong</i> " * 400
        for number in range(5_000):
            test_id = f"distributed/scheme{number}/odd#n{number}"
            for backend in ("threads", "openmpi"):
                files.add(test_id, backend, "fail", message=f"{number} {message}")
                files.add_ranks(
                    *(test_id, backend), scheme=f"scheme{number}", ranks=str(number)
                )
        page = files.page()
        begin = page.index('<section aria-labelledby="distributed"')
        section = page[begin : page.index('<section aria-labelledby="reading"')]
        self.assertLess(len(section), 3_500_000)
        text = Words(section).text
        self.assertIn("4,800 more schemes and 4,976 more numbers of ranks stand", text)
        self.assertIn("9,970 more groups of fails stand in the matrix of cases", text)

    def test_hostile_text_stays_text(self) -> None:
        tags = {tag for tag, _ in Words(failed_ranks().page()).tags}
        names = ("scheme", "topology", "optimizer", "collective", "transport", "root")
        for text in HOSTILE:
            with self.subTest(text):
                files = failed_ranks()
                for row in files.tables["distributed"]:
                    row.update(dict.fromkeys((*names, "hash", "determinism"), text))
                for row in files.tables["results"]:
                    row.update(message=text, reason_code=text)
                self.assert_stays_text(text, files, tags)

    def test_same_run_gives_the_same_bytes_and_unique_ids(self) -> None:
        found = self.assert_is_steady({failed_ranks().page() for _ in range(2)})
        opened = [a["data-opens"] for _, a in found.tags if "data-opens" in a]
        self.assertEqual(len(opened), 3)
        self.assertLessEqual(set(opened), set(found.ids))
