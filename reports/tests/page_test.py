# SPDX-License-Identifier: Apache-2.0
"""The page as text: what it says, what it never contains, how it is written."""

import contextlib
import io
import re
import tempfile
import unittest
from pathlib import Path

from assay_report.__main__ import main
from assay_report.run_folder import read_run
from synthetic import RunFiles, chance_run, mutants_of
from words import HOSTILE, Words, WordsCase


def small_run() -> RunFiles:
    files = RunFiles(["alpha", "beta"])
    files.add("node/Add/one", "alpha", "pass", claimed="1")
    files.add("node/Add/two", "alpha", "pass", vacuous="1")
    files.add("node/Add/one", "beta", "fail", message="9 of 60 elements differ")
    files.add("node/Add/two", "beta", "unsupported", reason_code="dtype")
    return files


class PageTest(WordsCase):
    def test_page_says(self) -> None:
        chosen = {"filter": "op:Add", "suites": ["node"]}
        incomplete = {"complete": "0"}
        other = "mutants.csv is of another build"
        nightly = "commit 0123456789ab, 2026-11-29"
        survivor = mutants_of(2, 3, survivors=["pad_off_by_one"])
        selection = mutants_of(1, 3, killed_by_all=3)
        none_alone = mutants_of(0, 3, killed_by_all=3)
        sampled = mutants_of(2, 1000, tried=2, nightly=nightly)
        unassessed = mutants_of(0, 0, assessed=False, reason=other)
        # Edits of runs.csv and of summary.json, and what the page says then.
        rows: list[tuple[dict[str, str], dict[str, object], str]] = [
            ({}, {}, "Mutants 3 of 3 killed by whole suites"),
            ({}, {"mutants": survivor}, "2 of 3 killed , not: pad_off_by_one"),
            (
                *(incomplete, {"partial": True, "mutants": selection}),
                "3 of 3 killed by whole suites, at least 1 of them by the cases of",
            ),
            (
                *(incomplete, {"partial": True, "mutants": none_alone}),
                "3 of 3 killed by whole suites Environment",
            ),
            (
                *(incomplete, {"partial": True, "mutants": selection}),
                "Partial run , corpora onnx , tier ci ; never enough",
            ),
            (
                *({}, {"mutants": sampled}),
                "2 of 2 killed by whole suites; "
                "a sample of 1,000: commit 0123456789ab, 2026-11-29",
            ),
            ({}, {"mutants": unassessed}, f"not assessed: {other}"),
            ({}, {}, "1 unexpected result"),
            ({}, {}, "pass 2 (vacuous 1) of 2"),
            ({}, {}, "2 planned = 2 pass pass, but not claimed: 1 Not conformant : no"),
            ({}, {}, "2 planned = 1 fail + 1 unsupported unsupported: dtype 1 Not"),
            ({}, {}, "fail node/Add/one beta 9 of 60 elements differ"),
            ({}, {}, "Complete run , every case of tier ci : 2 cases on 2 backends"),
            ({}, {}, "2026-03-01 12:00:00 UTC"),
            ({}, {}, "took 42.5 s"),
            (
                *(incomplete, {"partial": True, "selection": chosen}),
                "Partial run , suites node and cases where op:Add",
            ),
            (incomplete, {}, "Incomplete run , not every case of tier ci"),
            ({"dirty": "1"}, {}, "0123456789ab with uncommitted changes"),
            (
                *({}, {"drift": {"onnx": ["a", "b"]}}),
                "onnx: 2 expected outputs differ from the pinned ones",
            ),
        ]
        for run, summary, wanted in rows:
            with self.subTest(wanted):
                files = small_run()
                files.run |= run
                files.summary_edits |= summary
                self.assertIn(wanted, Words(files.page()).text)

    def test_counts_of_a_sentence_are_written_as_those_of_the_page(self) -> None:
        files = small_run()
        reason = "1234 of 14030 cases; v2.1000, 2026-11-29, drawn with seed 12345"
        files.reasons["beta"] = ("not conformant", reason)
        wanted = "1,234 of 14,030 cases; v2.1000, 2026-11-29, drawn with seed 12345"
        self.assertEqual(Words(files.page()).text.count(wanted), 2)

    def test_run_without_a_judged_case_is_not_green(self) -> None:
        files = RunFiles(["alpha"])
        files.add("node/Add/one", "alpha", "unsupported")
        for name, made in (("declined", files), ("empty", RunFiles([]))):
            with self.subTest(name):
                wanted = '<h1><span class="headline none">Nothing was judged'
                self.assertIn(wanted, made.page())

    def test_backend_without_a_judged_case_says_so(self) -> None:
        files = small_run()
        files.tables["results"] = files.tables["results"][:2]
        files.unexpected.clear()
        text = Words(files.page()).text
        self.assertIn("pass 0 (vacuous 0) of 0 nothing was judged", text)
        self.assertIn("beta: not one case was judged", text)

    def test_hostile_text_stays_text(self) -> None:
        tags = {tag for tag, _ in Words(small_run().page()).tags}
        for text in HOSTILE:
            with self.subTest(text):
                files = RunFiles([text, "beta"])
                for number, backend in enumerate((text, "beta")):
                    files.add(f"node/Add/{text}", backend, "fail", message=text)
                    files.add(f"node/Sub/{number}", backend, "pass", op=text)
                files.run.update(command=text, commit=text, tier=text, seed=text)
                files.tables["env"][0].update(key=text, value=text)
                files.tables["backends"][0].update(version=text, device=text)
                files.reasons[text] = (text, text)
                found = self.assert_stays_text(text, files, tags)
                self.assertEqual({tag for tag, _ in found.tags}, tags)

    def test_run_without_such_rows_has_no_section(self) -> None:
        page = small_run().page()
        for name in ("gradients", "distributed", "steps"):
            self.assertNotIn(f'id="{name}"', page)
        self.assertIn('id="operators"', page)
        files = RunFiles(["alpha"])
        files.add("distributed/gossip/ring#n8", "alpha", "pass")
        self.assertNotIn('id="operators"', files.page())
        self.assertNotIn('<script type="application/octet-stream" id="data-g', page)

    def test_run_folder_without_a_table_of_a_suite_is_whole(self) -> None:
        for name in ("gradients", "distributed", "optimizer_steps"):
            with self.subTest(name), tempfile.TemporaryDirectory() as scratch:
                folder = small_run().write(Path(scratch))
                (folder / f"{name}.csv").unlink()
                run = read_run(folder)
                self.assertFalse(len(run.gradients) + len(run.ranks) + len(run.steps))

    def test_page_needs_nothing_from_outside(self) -> None:
        page = chance_run(cases=40, backends=2).page()
        words = Words(page)
        policy = [a["content"] for _, a in words.tags if "http-equiv" in a]
        wanted = "default-src 'none'; style-src 'unsafe-inline'; "
        self.assertEqual(policy, [f"{wanted}script-src 'unsafe-inline'"])
        for tag, attributes in words.tags:
            self.assertNotIn("src", attributes, tag)
            if "href" in attributes:
                self.assertTrue((attributes["href"] or "").startswith("#"))
        self.assertEqual(re.findall(r"https?://\S+|url\(|@import|\bfetch\(", page), [])

    def test_ids_are_unique(self) -> None:
        self.assert_is_steady({small_run().page() for _ in range(2)})

    def test_long_list_of_unexpected_names_the_rest(self) -> None:
        files = RunFiles(["alpha"])
        for number in range(81):
            files.add(f"node/Add/{number}", "alpha", "crash")
        text = Words(files.page()).text
        self.assertIn("The first 30 of 81.", text)

    def test_same_run_gives_the_same_bytes(self) -> None:
        pages = {chance_run(cases=40, backends=2).page() for _ in range(2)}
        self.assertEqual(len(pages), 1)


class CommandTest(unittest.TestCase):
    def setUp(self) -> None:
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.scratch = Path(scratch.name)
        self.folder = small_run().write(self.scratch / "run")
        self.out = self.scratch / "out" / "report.html"
        self.out.parent.mkdir()

    def command(self) -> tuple[int, str]:
        said = io.StringIO()
        with contextlib.redirect_stderr(said):
            code = main(["page", str(self.folder), "--out", str(self.out)])
        return code, said.getvalue()

    def test_page_is_written_alone(self) -> None:
        self.assertEqual(self.command(), (0, ""))
        self.assertEqual(list(self.out.parent.iterdir()), [self.out])
        self.assertTrue(self.out.read_text().endswith("</html>\n"))

    def test_broken_run_leaves_the_old_page(self) -> None:
        self.out.write_text("old")
        (self.folder / "results.csv").unlink()
        code, said = self.command()
        self.assertEqual(code, 99)
        self.assertRegex(said, r"^assay_report: .*results\.csv: not there; wanted")
        self.assertEqual(self.out.read_text(), "old")

    def test_folder_that_is_not_there_is_an_error(self) -> None:
        self.out = self.scratch / "nowhere" / "report.html"
        code, said = self.command()
        self.assertEqual(code, 99)
        self.assertIn("nowhere", said)

    def test_failed_write_leaves_nothing_behind(self) -> None:
        self.out.mkdir()
        self.assertEqual(self.command()[0], 99)
        self.assertEqual(list(self.out.parent.iterdir()), [self.out])
