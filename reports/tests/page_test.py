# SPDX-License-Identifier: Apache-2.0
"""The page as text: what it says, what it never contains, how it is written."""

import contextlib
import html.parser
import io
import re
import tempfile
import unittest
from pathlib import Path

from assay_report.__main__ import main
from assay_report.page import render_page
from assay_report.run_folder import read_run
from synthetic import RunFiles, chance_run

HOSTILE = (
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "\" onmouseover='alert(1)",
    "{{ 7 * 7 }} {% raw %} &lt;b&gt;",
    "line\nbreak\u2028and \u202e\u00e9\U0001f600",
)


class Words(html.parser.HTMLParser):
    """Collects elements, and the text of a page without scripts and styles."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.ids: list[str] = []
        self._silent = 0
        self._words: list[str] = []
        self.feed(page)
        self.text = " ".join(" ".join(self._words).split())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self.ids += [value for name, value in attrs if name == "id" and value]
        self._silent += tag in ("script", "style")

    def handle_endtag(self, tag: str) -> None:
        self._silent -= tag in ("script", "style")

    def handle_data(self, data: str) -> None:
        if not self._silent:
            self._words.append(data)


def rendered(files: RunFiles) -> str:
    with tempfile.TemporaryDirectory() as scratch:
        return render_page(read_run(files.write(Path(scratch))))


def small_run() -> RunFiles:
    files = RunFiles(["alpha", "beta"])
    files.add("node/Add/one", "alpha", "pass", claimed="1")
    files.add("node/Add/two", "alpha", "pass", vacuous="1")
    files.add("node/Add/one", "beta", "fail", message="9 of 60 elements differ")
    files.add("node/Add/two", "beta", "unsupported", reason_code="dtype")
    return files


class PageTest(unittest.TestCase):
    def test_page_says(self) -> None:
        def partial(files: RunFiles) -> None:
            files.run["complete"] = "0"
            files.summary_edits["partial"] = True
            files.summary_edits["selection"] = {
                "filter": "op:Add",
                "suites": ["node"],
            }

        def incomplete(files: RunFiles) -> None:
            files.run["complete"] = "0"

        def dirty(files: RunFiles) -> None:
            files.run["dirty"] = "1"

        def drifted(files: RunFiles) -> None:
            files.summary_edits["drift"] = {"onnx": ["a", "b"]}

        def survivor(files: RunFiles) -> None:
            files.summary_edits["mutants"] = {
                "assessed": True,
                "killed": 2,
                "killed_by_all": 2,
                "total": 3,
                "survivors": ["pad_off_by_one"],
            }

        def selection(files: RunFiles) -> None:
            files.summary_edits["partial"] = True
            files.run["complete"] = "0"
            files.summary_edits["mutants"] = {
                "assessed": True,
                "killed": 1,
                "killed_by_all": 3,
                "total": 3,
                "survivors": [],
            }

        def sampled(files: RunFiles) -> None:
            files.summary_edits["mutants"] = {
                "assessed": True,
                "killed": 2,
                "killed_by_all": 2,
                "tried": 2,
                "total": 1000,
                "nightly": "commit 0123456789ab, 2026-11-29",
                "survivors": [],
            }

        def unassessed(files: RunFiles) -> None:
            files.summary_edits["mutants"] = {
                "assessed": False,
                "reason": "mutants.csv is of another build",
                "killed": 0,
                "killed_by_all": 0,
                "total": 0,
                "survivors": [],
            }

        rows = [
            (None, "Deliberate defects 3 of 3 seen by these suites"),
            (survivor, "2 of 3 seen , not: pad_off_by_one"),
            (
                selection,
                "at least 1 of 3 seen by the cases of this run; whole suites see 3",
            ),
            (selection, "Partial run , corpora onnx , tier ci ; never enough"),
            (
                sampled,
                "2 of 2 seen by these suites, a sample; "
                "whole list of 1,000: commit 0123456789ab, 2026-11-29",
            ),
            (unassessed, "not assessed: mutants.csv is of another build"),
            (None, "1 unexpected result"),
            (None, "pass 2 (vacuous 1) of 2"),
            (None, "2 planned = 2 pass pass, but not claimed: 1 Not conformant : no"),
            (None, "2 planned = 1 fail + 1 unsupported unsupported: dtype 1 Not"),
            (None, "fail node/Add/one beta 9 of 60 elements differ"),
            (None, "Complete run , every case of tier ci : 2 cases on 2 backends"),
            (None, "2026-03-01 12:00:00 UTC"),
            (None, "took 42.5 s"),
            (partial, "Partial run , suites node and cases where op:Add"),
            (incomplete, "Incomplete run , not every case of tier ci"),
            (dirty, "0123456789ab with uncommitted changes"),
            (drifted, "onnx: 2 expected outputs differ from the pinned ones"),
        ]
        for edit, wanted in rows:
            with self.subTest(wanted):
                files = small_run()
                if edit:
                    edit(files)
                self.assertIn(wanted, Words(rendered(files)).text)

    def test_run_without_a_judged_case_is_not_green(self) -> None:
        files = RunFiles(["alpha"])
        files.add("node/Add/one", "alpha", "unsupported")
        for name, made in (("declined", files), ("empty", RunFiles([]))):
            with self.subTest(name):
                page = rendered(made)
                self.assertIn('<h1 class="headline none">Nothing was judged', page)

    def test_backend_without_a_judged_case_says_so(self) -> None:
        files = small_run()
        files.tables["results"] = files.tables["results"][:2]
        files.unexpected.clear()
        text = Words(rendered(files)).text
        self.assertIn("pass 0 (vacuous 0) of 0 nothing was judged", text)
        self.assertIn("beta: not one case was judged", text)

    def test_hostile_text_stays_text(self) -> None:
        plain = Words(rendered(small_run()))
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
                words = Words(rendered(files))
                self.assertIn(" ".join(text.split()), words.text)
                self.assertEqual(
                    {tag for tag, _ in words.tags}, {tag for tag, _ in plain.tags}
                )
                self.assertFalse(
                    [a for _, a in words.tags if any(k.startswith("on") for k in a)]
                )

    def test_page_needs_nothing_from_outside(self) -> None:
        page = rendered(chance_run(cases=40, backends=2))
        words = Words(page)
        policy = [a["content"] for _, a in words.tags if "http-equiv" in a]
        self.assertEqual(
            policy,
            [
                "default-src 'none'; style-src 'unsafe-inline'; "
                "script-src 'unsafe-inline'"
            ],
        )
        for tag, attributes in words.tags:
            self.assertNotIn("src", attributes, tag)
            if "href" in attributes:
                self.assertTrue((attributes["href"] or "").startswith("#"))
        self.assertEqual(re.findall(r"https?://\S+|url\(|@import|\bfetch\(", page), [])

    def test_ids_are_unique(self) -> None:
        ids = Words(rendered(small_run())).ids
        self.assertEqual(len(ids), len(set(ids)))

    def test_long_list_of_unexpected_names_the_rest(self) -> None:
        files = RunFiles(["alpha"])
        for number in range(81):
            files.add(f"node/Add/{number}", "alpha", "crash")
        text = Words(rendered(files)).text
        self.assertIn("The first 80 of 81.", text)

    def test_same_run_gives_the_same_bytes(self) -> None:
        pages = {rendered(chance_run(cases=40, backends=2)) for _ in range(2)}
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


if __name__ == "__main__":
    unittest.main()
