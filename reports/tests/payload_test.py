# SPDX-License-Identifier: Apache-2.0
"""All that is packed comes back, and small runs lose nothing."""

import base64
import gzip
import json
import unittest
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import mock

from assay_report import payload, run_folder
from assay_report.run_folder import Run, Table
from assay_report.verdict import assess
from synthetic import RunFiles, chance_run


def unpacked(block: str) -> Any:
    """The head of a block, every column in it as its list of texts."""
    raw = gzip.decompress(base64.b64decode(block))
    head, planes = raw.split(b"\n", 1)
    at = 0

    def column(made: dict[str, Any]) -> Any:
        nonlocal at
        if "rows" not in made:
            return made
        rows = made["rows"]
        numbers = [0] * rows
        for plane in range(made["bytes"]):
            for row, byte in enumerate(planes[at : at + rows]):
                numbers[row] += byte << (8 * plane)
            at += rows
        return [made["values"][n] for n in numbers] if "values" in made else numbers

    found = json.loads(head, object_hook=column)
    assert at == len(planes), "bytes without a column"
    return found


def blocks_of(run: Run) -> payload.Blocks:
    assessment = assess(run)
    return payload.pack(run, assessment, payload.cells_of(run, assessment))


def packed(files: RunFiles) -> tuple[Any, Any, bool]:
    blocks = blocks_of(files.read())
    return unpacked(blocks.matrix), unpacked(blocks.detail), blocks.is_rounded


class PayloadTest(unittest.TestCase):
    def test_every_cell_comes_back(self) -> None:
        files = chance_run(cases=300, backends=3)
        matrix, detail, is_rounded = packed(files)
        self.assertFalse(is_rounded)
        for row in files.tables["results"]:
            case = matrix["ids"].index(row["test_id"])
            cell = case * 3 + matrix["backends"].index(row["backend"])
            self.assertEqual(matrix["cell"]["outcome"][cell], row["outcome"])
            self.assertEqual(matrix["case"]["op"][case], row["op"])
            self.assertEqual(detail["cell"]["run_us"][cell], row.get("run_us", ""))

    def test_outputs_come_back_in_the_order_of_cells(self) -> None:
        files = chance_run(cases=300, backends=3)
        matrix, detail, _ = packed(files)
        cell, found = 0, []
        for step, want in zip(
            detail["output"]["cell_step"], detail["output"]["column"]["worst_want"]
        ):
            cell += step
            test_id = matrix["ids"][cell // 3]
            found.append((test_id, matrix["backends"][cell % 3], want))
        wanted = [
            (row["test_id"], row["backend"], row.get("worst_want", ""))
            for row in files.tables["accuracy"]
        ]
        self.assertEqual(sorted(found), sorted(wanted))

    def test_case_that_a_backend_did_not_plan_is_an_empty_cell(self) -> None:
        files = RunFiles(["a", "b"])
        files.add("node/Add/one", "a", "pass")
        files.add("node/Add/two", "b", "pass")
        matrix, _, _ = packed(files)
        self.assertEqual(matrix["cell"]["outcome"], ["pass", "", "", "pass"])

    def test_unexpected_cells_are_marked(self) -> None:
        files = RunFiles(["a", "b", "c"])
        for backend, outcome in (("a", "pass"), ("b", "crash"), ("c", "fail")):
            files.add("node/Add/one", backend, outcome, message="9 differ")
        files.unexpected[1]["reason"] = "lost from passing.txt"
        matrix, _, _ = packed(files)
        self.assertEqual(
            matrix["cell"]["unexpected"], ["", "\x01m", "lost from passing.txt"]
        )

    def test_repro_lines_share_one_text(self) -> None:
        files = RunFiles(["alpha", "beta"])
        for backend in ("alpha", "beta"):
            for op in ("Add", "Sub"):
                files.add(f"node/{op}/test", backend, "pass", message="a \x01 b")
        matrix, detail, _ = packed(files)
        self.assertEqual(
            set(detail["cell"]["repro"]),
            {"assay run --backend \x01b --filter id:\x01i"},
        )
        self.assertEqual(set(matrix["cell"]["message"]), {"a \x01\x01 b"})

    def test_only_passes_of_a_large_run_lose_distances_to_an_oracle(self) -> None:
        references = ["expected", "oracle", "expected_oracle"]
        rows = [
            ("small run", 10**9, "pass", references),
            ("pass of a large run", 0, "pass", ["expected"]),
            ("fail of a large run", 0, "fail", references),
        ]
        for name, limit, outcome, wanted in rows:
            files = RunFiles(["a"])
            files.add("node/Add/one", "a", outcome)
            for reference in references:
                files.add_output("node/Add/one", "a", reference=reference)
            bound = mock.patch.object(payload, "FULL_DETAIL_CELLS", limit)
            with self.subTest(name), bound:
                _, detail, _ = packed(files)
                self.assertEqual(detail["output"]["column"]["reference"], wanted)

    def test_numbers_are_those_of_the_last_attempt_that_has_any(self) -> None:
        rows = [
            ("run again without numbers", "4", ["1"], ["1"]),
            ("run again with numbers", "2", ["1", "2"], ["2"]),
            ("not in order, two digits", "10", ["10", "9"], ["10"]),
            ("two outputs", "3", ["2", "1", "2"], ["2", "2"]),
        ]
        for name, attempts, found, wanted in rows:
            with self.subTest(name):
                files = RunFiles(["a"])
                files.add("node/Add/one", "a", "fail", attempt=attempts)
                for attempt in found:
                    files.add_output("node/Add/one", "a", attempt=attempt)
                _, detail, _ = packed(files)
                self.assertEqual(detail["output"]["column"]["attempt"], wanted)

    def test_attempts_that_are_alike_are_told_once(self) -> None:
        rows = [
            ("alike", ["fail a", "fail a", "fail a"], "3 of 3 alike"),
            ("another message", ["fail a", "fail b"],
             "1 of 2 (number 1): fail value: a\n1 of 2 (number 2): fail value: b"),
            ("flaky", ["fail a", "pass", "fail a", "fail a", "pass"],
             "3 of 5 (number 1, 3 to 4): fail value: a\n2 of 5 (number 2, 5): pass"),
            ("one", ["fail a"], ""),
        ]  # fmt: skip
        for name, attempts, wanted in rows:
            with self.subTest(name):
                files = RunFiles(["a"])
                files.add("node/Add/one", "a", "fail", attempt=str(len(attempts)))
                for number, said in enumerate(attempts, 1):
                    outcome, _, message = said.partition(" ")
                    files.add_attempt(
                        *("node/Add/one", "a"),
                        **{"attempt": str(number), "outcome": outcome},
                        **{"message": message, "reason_code": message and "value"},
                    )
                _, detail, _ = packed(files)
                self.assertEqual(detail["cell"]["attempts"], [wanted])

    def test_memory_is_what_a_case_adds_to_its_worker(self) -> None:
        rows = [  # backend, worker, started, peak, own
            ("a", "1", "9", "100", ""),
            ("a", "1", "10", "150", "50"),
            ("a", "1", "11", "150", "0"),
            ("a", "2", "12", "90", ""),
            ("b", "1", "1000", "300", ""),
            ("a", "1", "2000", "151", "1"),
            ("a", "", "", "", ""),
        ]
        files = RunFiles(["a", "b"])
        for number, (backend, worker, started, peak, _) in enumerate(rows):
            files.add(
                *(f"node/Add/{number}", backend, "pass"),
                **{"worker": worker, "started_us": started, "peak_rss_kb": peak},
            )
        _, detail, _ = packed(files)
        found = [
            detail["cell"]["own_rss_kb"][2 * number + (backend == "b")]
            for number, (backend, *_) in enumerate(rows)
        ]
        self.assertEqual(found, [own for *_, own in rows])

    def test_number_of_a_new_column_needs_no_list_here(self) -> None:
        columns = run_folder.schema_columns("accuracy")
        new = {**columns, "chance_of_rain": "number or empty"}
        with mock.patch.object(payload, "schema_columns", return_value=new):
            files = RunFiles(["a"])
            files.add("node/Add/one", "a", "pass")
            run = files.read()
            files.add_output("node/Add/one", "a", chance_of_rain="0.123456")
            rows = files.tables["accuracy"]
            accuracy = Table(
                Path("accuracy.csv"), {n: [rows[0].get(n, "")] for n in new}
            )
            blocks = blocks_of(replace(run, accuracy=accuracy))
        column = unpacked(blocks.detail)["output"]["column"]
        self.assertEqual(column["chance_of_rain"], ["0.1235"])

    def test_long_text_is_cut_and_says_so(self) -> None:
        files = RunFiles(["a"])
        files.add("node/Add/one", "a", "fail", message="x" * 10_000)
        matrix, _, _ = packed(files)
        (text,) = matrix["cell"]["message"]
        self.assertLess(len(text), 2_100)
        self.assertTrue(
            text.endswith("(the first 2,000 of 10,000 characters; results.csv has all)")
        )
        self.assertEqual(matrix["cell"]["unexpected"], ["\x01m"])

    def test_digits(self) -> None:
        numbers = {"max_abs_err": "1.23456789e-07", "headroom": "-inf", "max_ulp": "3"}
        numbers |= {"worst_want": "0.12345678901234567", "rmse": "0.0123456"}
        numbers |= {"n_elem": "12345"}
        short = ["1.235e-07", "-inf", "3", "0.12345678901234567", "0.01235", "12345"]
        shortest = ["1.2e-07", "-inf", "3", "", "", "12345"]
        rows = [
            ("any result", 10**9, "pass", short),
            ("pass of a large run", 0, "pass", shortest),
            ("fail of a large run", 0, "fail", short),
        ]
        for name, limit, outcome, wanted in rows:
            files = RunFiles(["a"])
            files.add("node/Add/one", "a", outcome)
            files.add_output("node/Add/one", "a", **numbers)
            bound = mock.patch.object(payload, "FULL_DETAIL_CELLS", limit)
            with self.subTest(name), bound:
                _, detail, is_rounded = packed(files)
                column = detail["output"]["column"]
                found = [column.get(one, [""])[0] for one in numbers]
                self.assertEqual(found, wanted)
                self.assertEqual(is_rounded, limit == 0)

    def test_columns_of_many_texts_come_back(self) -> None:
        files = RunFiles(["a"])
        for number in range(70_000):
            files.add(f"node/Add/{number:05}", "a", "pass", reason_code=f"r{number}")
        matrix, _, _ = packed(files)
        self.assertEqual(
            matrix["cell"]["reason_code"], [f"r{number}" for number in range(70_000)]
        )
