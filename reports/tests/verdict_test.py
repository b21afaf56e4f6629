# SPDX-License-Identifier: Apache-2.0
"""Counts, and when a run may be called good."""

import unittest
from collections.abc import Callable

from assay_report.run_folder import RunFolderError
from assay_report.verdict import Assessment, assess
from synthetic import RunFiles


def assessed(files: RunFiles) -> Assessment:
    return assess(files.read())


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

    def test_headline_also_says_what_is_conformant(self) -> None:
        good, waived = ("conformant", "all pass"), ("conformant with waivers", "")
        bad = ("not conformant", "6 of 4633 cases do not pass: xfail 6")
        part = ("partial", "a run with a filter says nothing on conformance")
        rows = [
            ((good,), "Conformant", "good", ()),
            ((waived,), "Conformant with waivers", "waivers", ()),
            ((bad,), "Not conformant", "warn", (bad[1],)),
            ((part,), "Partial", "none", ()),
            ((good, good), "Both backends conformant", "good", ()),
            ((good, waived), "2 of 2 backends conformant", "waivers", ()),
            (
                *((good, bad, good), "2 of 3 backends conformant, b is not", "warn"),
                (f"b: {bad[1]}",),
            ),
            ((bad, bad, bad), "All 3 backends not conformant", "warn", ()),
        ]
        for words, text, state, why in rows:
            with self.subTest(text):
                files = run_of(**dict.fromkeys("abc"[: len(words)], "pass"))
                files.reasons = dict(zip("abc", words))
                headline = assessed(files).headline
                self.assertEqual(headline.text, "Every result is as expected")
                self.assertEqual(headline.conformance, text)
                self.assertEqual(headline.conformance_state, state)
                self.assertEqual(headline.why, why)

    # Kills: a rule of red that only the page has.
    def test_run_is_red_by_the_list_of_its_summary_alone(self) -> None:
        files = run_of(a="pass unsupported timeout fail")
        files.unexpected.clear()
        self.assertEqual(assessed(files).headline.state, "good")
        one = {"backend": "a", "test_id": "node/Add/test_1", "outcome": "unsupported"}
        stale = {"reason": "expected fail", "reason_code": "expectation"}
        lost = {"reason": "lost from passing.txt", "reason_code": "floor"}
        files.unexpected += [one | stale, one | lost]
        result = assessed(files)
        self.assertEqual(result.headline.text, "1 unexpected result")
        self.assertEqual(result.backends[0].n_unexpected, 1)
        (found,) = result.unexpected
        self.assertEqual(found.reason, "expected fail; lost from passing.txt")
        self.assertEqual([cause.kind for cause in result.causes], ["floor"])

    def test_fault_of_no_case_is_the_backends_or_the_runs(self) -> None:
        files = run_of(a="pass")
        for backend in ("a", ""):
            whole = {"backend": backend, "test_id": "", "outcome": "policy"}
            files.unexpected.append(whole | {"reason": f"of {backend}"})
        titles = {cause.title for cause in assessed(files).causes}
        self.assertEqual(titles, {"the backend as a whole", "the run as a whole"})

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
        planned = {"backend": "a", "corpus": "onnx", "planned": 3, "equation": ""}
        said = {"verdict": "not conformant", "reason": ""}
        rows: list[tuple[Callable[[RunFiles], object], str]] = [
            (
                lambda files: files.summary_edits.update(backends=[planned | said]),
                "a: 3 cases were planned, results.csv holds 2",
            ),
            (
                lambda files: files.run.update(n_pass="7"),
                "runs.csv says n_pass = 7, the tables hold 2",
            ),
            (
                lambda files: files.reasons.clear(),
                "a: summary.json does not name this backend",
            ),
            (
                lambda files: files.tables["backends"].clear(),
                "a: backends.csv does not name this backend",
            ),
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
