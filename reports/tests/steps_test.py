# SPDX-License-Identifier: Apache-2.0
"""Heat maps of optimizer steps: shares of limits, the worst of each cell, faults."""

import unittest

from assay_report.run_folder import RunFolderError
from assay_report.steps import Cell, Steps, assess_steps
from synthetic import RunFiles
from words import Words

ADAM = "optimizer/adam/paper.mlp#locked.float32"
FREE = "optimizer/adam/paper.mlp#free.float32"


def files_of(*rows: tuple[str, dict[str, str]]) -> RunFiles:
    files = RunFiles(["alpha"])
    for test_id in dict.fromkeys(test_id for test_id, _ in rows):
        files.add(test_id, "alpha", "pass")
    for test_id, columns in rows:
        files.add_step(test_id, "alpha", **columns)
    return files


def steps_of(*rows: tuple[str, dict[str, str]]) -> Steps:
    steps = assess_steps(files_of(*rows).read().steps)
    assert steps is not None
    return steps


class StepsTest(unittest.TestCase):
    def test_locked_runs_are_judged_by_elements_and_free_ones_by_the_norm(self) -> None:
        (alpha,) = steps_of((ADAM, {}), (FREE, {"mode": "free"})).backends
        ((preset, cells),) = alpha.by_case.rows
        self.assertEqual(preset, "adam/paper")
        self.assertEqual(
            alpha.by_case.columns, ["mlp#free.float32", "mlp#locked.float32"]
        )
        self.assertEqual([cell.share for cell in cells], [2.0, 0.5])

    def test_a_cell_has_the_worst_of_its_steps(self) -> None:
        (alpha,) = steps_of(
            (ADAM, {"step": "1", "linf_diff": "0.125", "limit": "1"}),
            (ADAM, {"step": "7", "linf_diff": "0.75", "limit": "1", "tensor": "b"}),
            (ADAM, {"step": "9", "linf_diff": "0.25", "limit": "1"}),
        ).backends
        ((_, (cell,)),) = alpha.by_case.rows
        self.assertEqual(cell, Cell(0.75, "step 7, b"))
        self.assertEqual(alpha.by_step.columns, ["1", "5-9"])
        ((_, by_step),) = alpha.by_step.rows
        self.assertEqual([cell.text for cell in by_step], ["0.12", "0.75"])
        self.assertEqual(alpha.worst, Cell(0.75, f"{ADAM}, step 7, b"))

    def test_the_first_step_beyond_the_limit_is_a_fault(self) -> None:
        steps = steps_of(
            (ADAM, {"step": "2"}),
            (ADAM, {"step": "3", "linf_diff": "0.004", "tensor": "b"}),
            (ADAM, {"step": "4", "linf_diff": "nan"}),
        )
        (fault,) = steps.faults
        self.assertEqual((fault.step, fault.tensor, fault.text), (3, "b", "4"))
        ((_, (cell,)),) = steps.backends[0].by_case.rows
        self.assertEqual((cell.text, cell.level), ("NaN", 5))

    def test_a_fail_is_never_within_its_limit(self) -> None:
        for columns in ({"limit": ""}, {"linf_diff": "0.0001"}, {"limit": "0"}):
            steps = steps_of((ADAM, {"outcome": "fail", **columns}))
            self.assertEqual(len(steps.faults), 1, columns)

    def test_a_word_in_the_place_of_a_number_is_refused(self) -> None:
        with self.assertRaisesRegex(RunFolderError, "found '.*many.*', wanted numbers"):
            steps_of((ADAM, {"linf_diff": "many"}))

    def test_the_page_has_a_section_of_steps(self) -> None:
        text = Words(files_of((ADAM, {})).page()).text
        self.assertIn("1 cases, the farthest 0.50 of its limit", text)
