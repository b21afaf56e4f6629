# SPDX-License-Identifier: Apache-2.0
"""The section on gradients as text: numbers, conventions, fails, damages."""

import math
import unittest

from assay_report.gradients import (
    Gradients,
    assess_gradients,
    gradient_rows,
    units_text,
    variant_of,
)
from assay_report.payload import Cells
from assay_report.run_folder import RunFolderError
from synthetic import RunFiles
from words import HOSTILE, Words, WordsCase


def assessed(files: RunFiles) -> Gradients:
    run = files.read()
    cells = Cells(run.results, run.backends["backend"], run.plan)
    return assess_gradients(cells, gradient_rows(run, cells))


def case(op: str, name: str = "test", dtype: str = "float32") -> str:
    return f"gradcheck/{op}/{name}#redrawn.{dtype}"


def failed_run() -> RunFiles:
    """Conv fails by its weights in two cases, of which the second is smaller."""
    files = RunFiles(["alpha", "beta"])
    for name, n_in in (("wide", "600"), ("small", "6")):
        files.add(
            *(case("Conv", name), "alpha", "fail"),
            reason_code="fail_backward",
            message=f"the gradient of 'w' in {name}",
        )
        files.add_gradient(case("Conv", name), "alpha", input="x", n_in=n_in)
        files.add_gradient(
            case("Conv", name),
            "alpha",
            **{"input": "w", "n_in": n_in, "outcome": "fail", "headroom": "-1"},
            **{"want": "1.25", "got": "-1.25", "limit": "1e-06"},
        )
    files.add(case("Conv", "small"), "beta", "unsupported", reason_code="operator")
    files.add("node/Conv/test", "beta", "fail", message="not a gradient")
    return files


class TextTest(unittest.TestCase):
    # Kills: two digits that hide that a limit was passed, or that it was not.
    def test_error_in_units_of_the_limit_is_short_and_true(self) -> None:
        rows = (
            (0.0, "0"),
            (0.3717, "0.37"),
            (0.00246, "0.0025"),
            (2.4e-7, "2.4e-7"),
            (0.9999, "1"),
            (1.0, "1"),
            (1.0023, "1.002"),
            (1.000001, "1.000001"),
            (11.4, "11"),
            (16887.1, "16887"),
            (1.9e45, "1.9e45"),
            (math.inf, "\u221e"),
        )
        for units, wanted in rows:
            with self.subTest(units):
                self.assertEqual(units_text(units), wanted)

    def test_variant_is_what_stands_behind_the_sign(self) -> None:
        rows = (
            ("gradcheck/Abs/a#redrawn.float64", ("redrawn", "float64")),
            ("gradcheck/Abs/a.b", ("", "")),
            ("gradcheck/Abs/a#kinks", ("kinks", "")),
        )
        for test_id, wanted in rows:
            with self.subTest(test_id):
                self.assertEqual(variant_of(test_id), wanted)


class StripTest(unittest.TestCase):
    def strip(self, *headrooms: str) -> tuple[str, dict[str, int]]:
        files = RunFiles(["alpha"])
        files.add(case("Abs"), "alpha", "pass")
        for headroom in headrooms:
            files.add_gradient(case("Abs"), "alpha", headroom=headroom)
        (strip,) = assessed(files).strips
        bars = {bar.name: bar.count for bar in strip.bars if bar.count}
        return (
            f"{strip.n} {strip.n_judged} {strip.n_exact} {strip.n_beyond} "
            f"{strip.median} {strip.p99} {strip.worst}",
            bars,
        )

    # Kills: an error that falls into the next bar, a limit that counts as
    # beyond, a NaN that counts as no error, an empty field that counts as 0.
    def test_every_gradient_stands_in_one_bar(self) -> None:
        rows = (
            (("1",), "1 1 1 0 0 0 0", {"no error": 1}),
            (("0.5", ""), "2 1 0 0 0.5 0.5 0.5", {"up to 1": 1}),
            (("0",), "1 1 0 0 1 1 1", {"up to 1": 1}),
            (("-0.5",), "1 1 0 1 1.5 1.5 1.5", {"up to 10": 1}),
            (("-inf",), "1 1 0 1 \u221e \u221e \u221e", {"above 10": 1}),
            (("nan",), "1 1 0 1 \u221e \u221e \u221e", {"above 10": 1}),
            (
                ("0.9", "1", "0.995"),
                "3 3 1 0 0.005 0.1 0.1",
                {"no error": 1, "up to 0.01": 1, "up to 0.1": 1},
            ),
            (("",), "1 0 0 0   ", {}),
        )
        for headrooms, numbers, bars in rows:
            with self.subTest(headrooms):
                self.assertEqual(self.strip(*headrooms), (numbers, bars))

    def test_rows_of_the_last_attempt_count_alone(self) -> None:
        files = RunFiles(["alpha"])
        files.add(case("Abs"), "alpha", "flaky", attempt="2")
        files.add_gradient(case("Abs"), "alpha", attempt="1", headroom="-9")
        files.add_gradient(case("Abs"), "alpha", attempt="2", headroom="0.75")
        self.assertEqual([s.worst for s in assessed(files).strips], ["0.25"])

    def test_types_stand_from_narrow_to_wide(self) -> None:
        files = RunFiles(["alpha", "beta"])
        for backend in ("beta", "alpha"):
            for dtype in ("int4", "float64", "float16", "bfloat16"):
                files.add(case("Abs", dtype=dtype), backend, "pass")
                files.add_gradient(case("Abs", dtype=dtype), backend)
        found = assessed(files)
        types = ("float16", "bfloat16", "float64", "int4")
        self.assertEqual(found.types, types)
        self.assertEqual(
            [(s.backend, s.dtype) for s in found.strips],
            [(backend, dtype) for backend in ("alpha", "beta") for dtype in types],
        )


class KinksTest(unittest.TestCase):
    # Kills: a difference that is counted where one backend has no such gradient,
    # and one that is not seen because both backends take both words elsewhere.
    def test_differences_are_between_the_same_gradients(self) -> None:
        files = RunFiles(["alpha", "beta"])
        rows = (
            ("Max", "one", "first", "split"),
            ("Max", "two", "split", "first"),
            ("Max", "three", "split", ""),
            ("Relu", "one", "0", "0"),
            ("Sign", "one", "", "1"),
        )
        for op, name, *chosen in rows:
            for backend, word in zip(("alpha", "beta"), chosen):
                if word:
                    files.add(case(op, name), backend, "pass")
                    files.add_gradient(
                        case(op, name), backend, kink_convention=word, kink_count="3"
                    )
        found = {one.op: one for one in assessed(files).kinks}
        self.assertEqual(list(found), ["Max", "Relu", "Sign"])
        self.assertEqual(
            {op: (one.n_different, one.n_shared) for op, one in found.items()},
            {"Max": (2, 2), "Relu": (0, 1), "Sign": (0, 0)},
        )
        first = found["Max"].choices[0]
        assert first is not None
        self.assertEqual(first.words, (("split", 2), ("first", 1)))
        self.assertEqual(first.n_elements, 9)
        self.assertIsNone(found["Sign"].choices[0])
        text = Words(files.page()).text
        for wanted in (
            "Max split 2 first 1 9 elements split 1 first 1 6 elements \u2260 2 of 2",
            "Relu 0 1 3 elements 0 1 3 elements none of 1",
            "Sign no kink judged 1 1 3 elements nothing shared",
        ):
            self.assertIn(wanted, text)


class FaultTest(unittest.TestCase):
    def test_fails_are_grouped_and_shown_by_the_smallest(self) -> None:
        (fault,) = assessed(failed_run()).faults
        self.assertEqual((fault.op, fault.backend, fault.n_cases), ("Conv", "alpha", 2))
        self.assertEqual(fault.test_id, case("Conv", "small"))
        self.assertEqual((fault.inputs, fault.ratio), (("w",), "-1"))
        text = Words(failed_run().page()).text
        for wanted in (
            "Fails of gradients 2",
            "fail Conv on alpha 2 cases, by w, worst 2 fail_backward",
            "fail_backward: a gradient differs from the exact one.",
            "the gradient of 'w' in small",
            "by w float32[2,3] , cotangent random 1, smooth",
            "worst element 4 of 6 got -1.25 want 1.25 got / want -1 limit 1e-06",
            "error 2 in units of the limit",
            f"assay run --backend alpha --filter id:{case('Conv', 'small')}",
            "All 2 in the matrix",
        ):
            self.assertIn(wanted, text)

    def test_command_of_the_gradient_goes_before_that_of_the_result(self) -> None:
        files = failed_run()
        for row in files.tables["gradients"]:
            row["repro"] = "assay gradient"
        (fault,) = assessed(files).faults
        self.assertEqual(fault.repro, "assay gradient")

    def test_fail_without_a_gradient_has_its_message(self) -> None:
        files = failed_run()
        files.add(
            case("Mish"), "beta", "xfail", reason_code="fail_forward", message="other y"
        )
        faults = assessed(files).faults
        self.assertEqual([one.outcome for one in faults], ["fail", "xfail"])
        self.assertEqual((faults[1].row, faults[1].worst), ({}, ""))
        self.assertIn(
            "xfail Mish on beta 1 case fail_forward", Words(files.page()).text
        )

    def test_first_fails_stand_open_and_expected_ones_do_not(self) -> None:
        files = failed_run()
        files.add(case("Mish"), "beta", "xfail", reason_code="fail_forward")
        page = files.page()
        self.assertEqual(page.count('<details class="fault" open>'), 1)
        self.assertEqual(page.count('<details class="fault">'), 2)
        text = Words(page).text
        self.assertIn("Fails of gradients 2 ", text)
        self.assertIn("Expected fails of gradients 1 case ", text)


class SectionTest(WordsCase):
    def test_damaged_gradients_are_refused(self) -> None:
        rows = (
            ({"headroom": "much"}, r"headroom in record 1: found 'much', wanted a num"),
            ({"attempt": "x"}, r"gradients\.csv: found attempt 'x', wanted a number"),
            ({"test_id": "no"}, r"gradients\.csv: found no on alpha, which has no ver"),
            ({"run_id": "old"}, r"gradients\.csv: found run_id 'old' in record 1"),
        )
        for edit, wanted in rows:
            with self.subTest(wanted):
                files = RunFiles(["alpha"])
                files.add(case("Abs"), "alpha", "pass")
                files.add_gradient(case("Abs"), "alpha")
                files.tables["gradients"][0].update(edit)
                with self.assertRaisesRegex(RunFolderError, wanted):
                    files.page()

    def test_hostile_text_stays_text(self) -> None:
        tags = {tag for tag, _ in Words(failed_run().page()).tags} | {"th", "b", "span"}
        names = ("input", "shape", "class", "cotangent", "want", "got", "limit")
        names += ("worst_index", "n_in", "repro", "kink_convention", "kink_count", "op")
        for text in HOSTILE:
            with self.subTest(text):
                files = failed_run()
                for row in files.tables["gradients"]:
                    row.update(dict.fromkeys(names, text))
                for row in files.tables["results"]:
                    row.update(message=text, reason_code=text, op=text)
                self.assert_stays_text(text, files, tags)

    def test_same_run_gives_the_same_bytes_and_unique_ids(self) -> None:
        self.assert_is_steady({failed_run().page() for _ in range(2)})
