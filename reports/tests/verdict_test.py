# SPDX-License-Identifier: Apache-2.0
"""Counts, and when a run may be called good."""

import tempfile
import unittest
from pathlib import Path

from assay_report.run_folder import RunFolderError, read_run
from assay_report.verdict import Assessment, assess
from synthetic import RunFiles


def assessed(files: RunFiles) -> Assessment:
    with tempfile.TemporaryDirectory() as scratch:
        return assess(read_run(files.write(Path(scratch))))


def run_of(**outcomes: str) -> RunFiles:
    """One backend per name, with the outcomes in order, case by case."""
    files = RunFiles(list(outcomes))
    for backend, listed in outcomes.items():
        for number, outcome in enumerate(listed.split()):
            files.add(f"node/Add/test_{number}", backend, outcome)
    return files


class VerdictTest(unittest.TestCase):
    def test_headline(self) -> None:
        rows = [
            ("all pass", run_of(a="pass pass"), "good", "Every result is as expected"),
            ("expected", run_of(a="pass waived xfail unsupported"), "good", "Every"),
            ("one fail", run_of(a="pass fail"), "bad", "1 unexpected result"),
            ("two", run_of(a="crash pass", b="pass flaky"), "bad", "2 unexpected"),
            ("missing", run_of(a="pass missing"), "bad", "1 unexpected result"),
            ("no case", run_of(a=""), "none", "Nothing was judged"),
            ("no backend", RunFiles([]), "none", "Nothing was judged"),
            ("all declined", run_of(a="unsupported"), "none", "Nothing was judged"),
            ("idle", run_of(a="pass", b="unavailable"), "none", "Part of the run"),
        ]
        for name, files, state, text in rows:
            with self.subTest(name):
                headline = assessed(files).headline
                self.assertEqual(headline.state, state)
                self.assertTrue(headline.text.startswith(text), headline.text)

    def test_verdict_that_summary_forgot_is_unexpected(self) -> None:
        files = run_of(a="pass timeout")
        files.unexpected.clear()
        self.assertEqual(
            [(u.test_id, u.outcome) for u in assessed(files).unexpected],
            [("node/Add/test_1", "timeout")],
        )

    def test_lost_case_stays_unexpected_though_it_is_unsupported(self) -> None:
        files = run_of(a="pass unsupported")
        files.unexpected.append(
            {
                "backend": "a",
                "test_id": "node/Add/test_1",
                "outcome": "unsupported",
                "reason": "lost from passing.txt",
            }
        )
        result = assessed(files)
        self.assertEqual(result.headline.state, "bad")
        self.assertEqual(result.backends[0].n_unexpected, 1)

    def test_exit_code_without_a_listed_reason_is_not_good(self) -> None:
        files = run_of(a="pass")
        files.summary_edits["exit_code"] = 99
        headline = assessed(files).headline
        self.assertEqual(headline.state, "bad")
        self.assertIn("99", headline.text)

    def test_counts_follow_the_equation(self) -> None:
        files = run_of(a="pass pass unsupported xfail")
        files.tables["results"][0]["vacuous"] = "1"
        files.tables["results"][2]["vacuous"] = "1"
        one = assessed(files).backends[0]
        self.assertEqual(one.terms, [("pass", 2), ("xfail", 1), ("unsupported", 1)])
        self.assertEqual((one.n_vacuous, one.n_judged, one.n_planned), (1, 3, 4))
        self.assertTrue(one.adds_up)

    def test_contradictions_are_told(self) -> None:
        def fewer_planned(files: RunFiles) -> None:
            one = {"backend": "a", "corpus": "onnx", "planned": 3, "equation": ""}
            word = {"verdict": "not conformant", "reason": ""}
            files.summary_edits["backends"] = [one | word]

        def other_count(files: RunFiles) -> None:
            files.run["n_pass"] = "7"

        def unnamed_in_summary(files: RunFiles) -> None:
            files.reasons.clear()

        def unnamed_in_backends(files: RunFiles) -> None:
            files.tables["backends"].clear()

        rows = [
            (fewer_planned, "a: 3 cases were planned, results.csv holds 2"),
            (other_count, "runs.csv says n_pass = 7, the tables hold 2"),
            (unnamed_in_summary, "a: summary.json does not name this backend"),
            (unnamed_in_backends, "a: backends.csv does not name this backend"),
        ]
        for damage, note in rows:
            with self.subTest(note):
                files = run_of(a="pass pass")
                damage(files)
                headline = assessed(files).headline
                self.assertEqual(headline.state, "bad")
                self.assertIn(note, headline.notes)

    def test_unknown_words_are_refused(self) -> None:
        for column, text in (("outcome", "passed"), ("vacuous", "maybe")):
            with self.subTest(column):
                files = run_of(a="pass")
                files.tables["results"][0][column] = text
                with self.assertRaisesRegex(RunFolderError, text):
                    assessed(files)


if __name__ == "__main__":
    unittest.main()
