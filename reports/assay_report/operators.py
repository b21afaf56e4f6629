# SPDX-License-Identifier: Apache-2.0
"""Each operator on each backend: one row for the two.

    for row in operator_rows(run, cells):
        print(row.op, row.backend, row.n_pass, "of", row.n_planned)

A row counts the cases of every suite that are about the operator. Networks,
promises, optimizers and collectives have no row: their group is no operator.
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from assay_report.payload import Cells, Packer, significant
from assay_report.run_folder import Run, is_operator

# Counts of a row, as they are packed; the numbers follow.
COUNTS = (
    *("n_planned", "n_pass", "n_claimed", "n_claimed_pass"),
    *("n_unsupported", "n_unexpected"),
)


@dataclass
class OperatorRow:
    """The results of one operator on one backend."""

    op: str
    backend: str
    n_planned: int = 0
    n_pass: int = 0
    n_claimed: int = 0
    n_claimed_pass: int = 0
    n_unsupported: int = 0
    n_unexpected: int = 0
    # Over outputs that were compared; none where no output was.
    max_ulp: float | None = None
    headroom: float | None = None
    # Load and run of all its cases, without the judge; none where not measured.
    time_us: int | None = None
    declined: Counter[str] = field(default_factory=Counter)

    @property
    def why(self) -> str:
        """ "dtype 3, opset 1": why cases were declined, the most frequent first."""
        return ", ".join(f"{code} {n}" for code, n in self.declined.most_common())


def operator_rows(run: Run, cells: Cells, unexpected: set[int]) -> list[OperatorRow]:
    """One row per operator and backend, by operator, then as backends stand."""
    rows: dict[tuple[str, str], OperatorRow] = {}
    row_of: list[OperatorRow | None] = [None] * cells.n
    ops = cells.case_column("op")
    outcomes, reasons = cells.column("outcome"), cells.column("reason_code")
    claimed = cells.plan_column("claimed")
    headroom = cells.column("headroom")
    times = [cells.column(name) for name in ("load_us", "run_us")]
    for cell, outcome in enumerate(outcomes):
        if not outcome or not is_operator(ops[cell // cells.n_backends]):
            continue
        key = (ops[cell // cells.n_backends], cells.backends[cell % cells.n_backends])
        row = rows.get(key) or rows.setdefault(key, OperatorRow(*key))
        row_of[cell] = row
        is_claimed, passed = claimed[cell] == "1", outcome == "pass"
        row.n_planned += 1
        row.n_pass += passed
        row.n_claimed += is_claimed
        row.n_claimed_pass += is_claimed and passed
        row.n_unexpected += cell in unexpected
        if outcome == "unsupported":
            row.n_unsupported += 1
            row.declined[reasons[cell] or "no reason"] += 1
        if text := headroom[cell]:
            row.headroom = min(
                float(text), math.inf if row.headroom is None else row.headroom
            )
        for one in times:
            if text := one[cell]:
                row.time_us = (row.time_us or 0) + int(text)
    _add_ulps(run, cells, row_of)
    order = {name: at for at, name in enumerate(cells.backends)}
    return sorted(rows.values(), key=lambda row: (row.op, order[row.backend]))


def pack_operators(rows: Sequence[OperatorRow]) -> str:
    """The rows as a block; templates/operators.js draws them."""
    pack = Packer()
    head: dict[str, object] = {
        name: pack.numbers([getattr(row, name) for row in rows]) for name in COUNTS
    }
    head["time_us"] = pack.texts(
        ["" if row.time_us is None else str(row.time_us) for row in rows]
    )
    for name in ("op", "backend", "why"):
        head[name] = pack.texts([getattr(row, name) for row in rows])
    for name in ("max_ulp", "headroom"):
        head[name] = pack.texts([_text(getattr(row, name)) for row in rows])
    return pack.finish(head)


def _add_ulps(run: Run, cells: Cells, row_of: Sequence[OperatorRow | None]) -> None:
    accuracy = run.accuracy
    names = ("test_id", "backend", "reference", "max_ulp")
    special = ("nan_mismatch", "inf_mismatch")
    for test_id, backend, reference, ulp, *mismatches in zip(
        *(accuracy[name] for name in (*names, *special))
    ):
        # Beside NaN or infinity on one side a zero was not measured.
        is_blank = ulp == "0" and any(one not in ("", "0") for one in mismatches)
        if not ulp or is_blank or reference != "expected":
            continue
        row = row_of[cells.of(test_id, backend)]
        if row is not None:
            value = float(ulp)
            if row.max_ulp is None or value > row.max_ulp:
                row.max_ulp = value


def _text(number: float | None) -> str:
    if number is None:
        return ""
    return significant(f"{number:g}" if number.is_integer() else repr(number), 4)
