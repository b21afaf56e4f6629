# SPDX-License-Identifier: Apache-2.0
"""Causes: what is counted as one, what is never left out, what cannot be tried."""

import unittest

from assay_report.causes import Cause, foremost, short_names
from assay_report.verdict import Assessment, assess
from synthetic import RunFiles
from words import Words

_SIGNAL = "a signal ended the worker"
LOST = "lost from passing.txt"


def assessed(*rows: tuple[str, str, dict[str, str]]) -> Assessment:
    """The assessment of results of one backend: test_id, outcome, other columns."""
    return assess(files_of(*rows).read())


def files_of(*rows: tuple[str, str, dict[str, str]]) -> RunFiles:
    files = RunFiles(["alpha"])
    for test_id, outcome, columns in rows:
        files.add(test_id, "alpha", outcome, **columns)
    return files


def lose(files: RunFiles, test_id: str) -> None:
    """The case is declined, though it stands in the floor."""
    files.add(test_id, "alpha", "unsupported", reason_code="dtype")
    entry = {"backend": "alpha", "test_id": test_id, "outcome": "unsupported"}
    files.unexpected.append(entry | {"reason": LOST, "reason_code": "floor"})


def wrong_slope() -> RunFiles:
    """Gradients of Relu, a vector's tail of Add, and promises probed with either."""
    files = RunFiles(["alpha"])
    for at, headroom in enumerate(("-3", "-27960", "-inf")):
        files.add(
            *(f"gradcheck/Relu/test_{at}#redrawn.float32", "alpha", "fail"),
            **{"reason_code": "fail_backward", "headroom": headroom},
            message=f"by x: element {at} is 1.01, wanted 1",
        )
    for at in range(2):
        files.add(
            *(f"node/Add/test_{at}", "alpha", "fail"),
            **{"reason_code": "value", "headroom": "0.5"},
            message=f"{at} of 60",
        )
    for name, op in (
        *(("gradient/twice", "Relu"), ("bind/twice", "Relu"), ("bind/other", "Add")),
        *(("bind/third", "Neg"),),
    ):
        said = f"probed with {op}: output y is 2, wanted 1"
        files.add(f"contract/{name}", "alpha", "fail", message=said)
    # Its forward is that of Add, which is wrong; that of Mul is wrong nowhere else.
    for op in ("Add", "Mul"):
        files.add(f"gradcheck/{op}/a", "alpha", "fail", reason_code="fail_forward")
    return files


def told(causes: list[Cause] | tuple[Cause, ...]) -> list[tuple[str, str, int]]:
    return [(one.title, one.outcome, one.n) for one in causes]


class CausesTest(unittest.TestCase):
    def test_results_of_operator_outcome_and_reason_are_one_cause(self) -> None:
        value, nan = {"reason_code": "value"}, {"reason_code": "nan"}
        found = assessed(
            ("node/Add/a", "fail", value | {"message": "3 of 60 differ"}),
            ("special/Add/b", "fail", value | {"message": "element 2 is 0"}),
            ("node/Add/c", "fail", nan),
            ("node/Add/d", "crash", {"reason_code": "signal"}),
            ("node/Sub/a", "fail", value),
            ("node/Sub/b", "pass", {}),
        )
        wanted = [("Add", "fail", 2), ("Add", "crash", 1), ("Add", "fail", 1)]
        self.assertEqual(told(found.causes), [*wanted, ("Sub", "fail", 1)])
        self.assertEqual(found.causes[0].message, "3 of 60 differ")
        self.assertEqual([one.said for one in found.causes[:2]], ["", _SIGNAL])

    def test_list_stands_in_the_order_of_causes(self) -> None:
        found = assessed(
            ("node/Abs/a", "fail", {}),
            ("node/Sub/a", "fail", {}),
            ("node/Sub/b", "fail", {}),
        )
        ids = [one.test_id for one in found.unexpected]
        self.assertEqual(ids, ["node/Sub/a", "node/Sub/b", "node/Abs/a"])

    def test_worst_is_in_limits_and_only_where_a_number_says_it(self) -> None:
        relu, add, *_ = assess(wrong_slope().read()).causes
        self.assertEqual((relu.title, relu.worst_text), ("Relu", "27,961"))
        self.assertEqual((add.title, add.worst_text), ("Add", ""))

    # Kills: a gradient's fail that excuses a promise about forward runs; a promise
    # that is excused though its probe is right.
    def test_promise_whose_probe_is_wrong_cannot_be_tried(self) -> None:
        found = assess(wrong_slope().read())
        said = {one.test_id: one.reason for one in found.unexpected}
        rows = (
            ("gradient/twice", "the gradient of Relu is wrong (fail 3)"),
            ("bind/twice", ""),
            ("bind/other", "Add is wrong (fail 2)"),
            ("bind/third", ""),
        )
        for name, wanted in rows:
            with self.subTest(name):
                _, _, why = said[f"contract/{name}"].partition("; cannot be tried: ")
                self.assertEqual(why, wanted)
        self.assertEqual(
            [(one.title, one.n, one.untried_text) for one in found.causes],
            [
                ("Relu", 3, "1 promise of the contract"),
                ("Add", 2, "1 promise of the contract and 1 gradient"),
                ("contract/bind", 2, ""),
                ("Mul", 1, ""),
            ],
        )
        self.assertEqual(len(found.unexpected), 11)

    def test_crash_xpass_and_lost_floor_are_never_left_out(self) -> None:
        rows = [(f"node/Op{at}/{i}", "fail", {}) for at in range(8) for i in range(9)]
        files = files_of(
            *rows,
            *((f"node/Sub{at}/a", "crash", {}) for at in range(7)),
            *((f"node/Neg{at}/a", "xpass", {}) for at in range(2)),
        )
        lose(files, "node/Exp/a")
        whole = {"backend": "alpha", "test_id": "", "outcome": "policy"}
        for line in (3, 7):
            files.unexpected.append(whole | {"reason": f"line {line} is of no use"})
        causes = foremost(assess(files.read()).causes)
        self.assertEqual(
            told(causes),
            [
                ("the backend as a whole", "policy", 2),
                ("Op0", "fail", 9),
                ("Sub0, Sub1, Sub2 and 4 more", "crash", 7),
                ("Exp", "unsupported", 1),
                ("Neg0, Neg1", "xpass", 2),
            ],
        )
        self.assertEqual([one.n_joined for one in causes], [1, 1, 7, 1, 2])
        self.assertEqual([one.kind for one in causes[2:]], ["crash", "floor", "xpass"])
        self.assertEqual([one.said for one in causes[2:]], ["", LOST, ""])

    # Kills: a cause of numbers that five crashes leave no room for.
    def test_crashes_are_one_where_they_leave_no_room(self) -> None:
        crashes = [(f"node/Sub{at}/a", "crash", {}) for at in range(5)]
        self.assertEqual(len(foremost(assessed(*crashes).causes)), 5)
        found = foremost(assessed(*crashes, ("node/Add/a", "fail", {})).causes)
        self.assertEqual([(one.outcome, one.n) for one in found][::-1],
                         [("fail", 1), ("crash", 5)])  # fmt: skip

    # Kills: a promise that is no longer excused once it stands before its operator.
    def test_promise_may_stand_before_its_operator(self) -> None:
        said = {"message": "probed with Add: output y is 2, wanted 1"}
        found = assessed(
            ("contract/bind/a", "fail", said), ("node/Add/a", "fail", {})
        ).causes
        self.assertEqual(told(found), [("Add", "fail", 1)])
        self.assertEqual(found[0].n_promises, 1)

    def test_each_backend_has_its_greatest_cause_before_second_ones(self) -> None:
        files = RunFiles(["alpha", "beta"])
        for at in range(9):
            files.add(f"node/Add/{at}", "alpha", "fail")
            files.add(f"node/Sub/{at % 5}{at}", "alpha", "fail")
        files.add("node/Mul/a", "beta", "fail")
        causes = assess(files.read()).causes
        self.assertEqual([one.title for one in causes], ["Add", "Mul", "Sub"])

    def test_short_names_are_what_tells_backends_apart(self) -> None:
        rows = (
            (["onednn", "reference"], ["onednn", "reference"]),
            (["a+isa=sse2", "a+isa=sse41"], ["sse2", "sse41"]),
            (["a+m=x:Gemm.alpha", "a+m=nan"], ["x:Gemm.alpha", "nan"]),
            (["a@1+t=2", "a@2+t=2"], ["@1", "@2"]),
            (["a", "a+isa=sse2"], ["a", "a+isa=sse2"]),
            (["a+b=1"], ["a+b=1"]),
            ([], []),
        )
        for names, wanted in rows:
            with self.subTest(names):
                self.assertEqual(short_names(names), wanted)

    def test_page_has_the_causes_above_everything_else(self) -> None:
        files = wrong_slope()
        for at in range(6):
            files.add(f"node/Op{at}/a", "alpha", "fail")
        text = Words(files.page()).text
        parts = (
            "17 unexpected results Not conformant",
            "fail Relu : 3 cases , a gradient differs from the exact one; the worst "
            "by 27,961 times its limit. 1 promise of the contract cannot be tried",
            "gradcheck/Relu/test_0#redrawn.float32 : by x: element 0 is 1.01, wanted 1",
            "fail Add : 2 cases . 1 promise of the contract and 1 gradient cannot be",
            "5 more causes, 5 results: the list below has all.",
            "Complete run",
        )
        places = [text.find(part) for part in parts]
        self.assertNotIn(-1, places)
        self.assertEqual(places, sorted(places))
