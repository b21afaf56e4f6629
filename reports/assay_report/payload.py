# SPDX-License-Identifier: Apache-2.0
"""Packs a run's cells for the page: columns, gzip, base64.

    blocks = pack(run, assessment, cells_of(run, assessment))
    blocks.matrix   # what the matrix and its search need, decoded at once
    blocks.detail   # the rest, decoded when the page is idle

Other blocks are made with Packer and Cells: see gradient_payload.py.

A cell is a case on a backend; cell k is case k // n_backends on backend
k % n_backends. A column is {"values": distinct texts, "rows": n, "bytes": w}
in a JSON head; its n indices into the texts follow behind the head, column
after column, as w planes of n bytes, lowest plane first: that is what gzip
packs best. The reader is templates/store.js.
"""

import base64
import gzip
import json
import sys
from array import array
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress

from assay_report.causes import short_names
from assay_report.run_folder import Run, Table, schema_columns
from assay_report.verdict import OUTCOMES, Assessment

# 160,000 cells must fit into 1.5 MB. So above this many cells a pass keeps two
# digits of the numbers named here, and no other number.
FULL_DETAIL_CELLS = 40_000
_BRIEF_CELL = ("run_us", "headroom")
_BRIEF_OUTPUT = (
    *("n_elem", "nan_mismatch", "inf_mismatch", "out_of_limit"),
    *("max_abs_err", "max_ulp", "atol", "rtol", "headroom"),
)
# The longest text of a run that the page shows; the tables have all of it.
SHOWN_CHARACTERS = 2_000

_PLAN_COLUMNS = ("corpus", "kind", "comparator")
_CASE_COLUMNS = (
    *("suite", "op", "domain", "opset", "dtype", "shape_sig"),
    *_PLAN_COLUMNS,
)
_CELL_TEXTS = (
    *("settings", "via_function", "placement", "limit_source", "attempt"),
    "seed",
)
_CELL_NUMBERS = ("load_us", "run_us", "judge_us", "peak_rss_kb", "headroom")
# Distances that no verdict rests on: to an oracle.
_NOT_JUDGED = ("oracle", "expected_oracle")
_OF_THE_CELL = ("schema", "run_id", "test_id", "backend", "settings")


def shown(text: str) -> str:
    """The text, cut where it is too long for a page."""
    if len(text) <= SHOWN_CHARACTERS:
        return text
    return (
        f"{text[:SHOWN_CHARACTERS]} ... (the first {SHOWN_CHARACTERS:,} of "
        f"{len(text):,} characters; results.csv has all)"
    )


@dataclass(frozen=True)
class Blocks:
    """Two base64 texts; is_rounded says that passes lost digits."""

    matrix: str
    detail: str
    is_rounded: bool


def pack(run: Run, assessment: Assessment, cells: "Cells") -> Blocks:
    """Packs the cells."""
    is_rounded = cells.n > FULL_DETAIL_CELLS
    return Blocks(
        matrix=_matrix(cells, assessment),
        detail=_detail(run, cells, is_rounded),
        is_rounded=is_rounded,
    )


def cells_of(run: Run, assessment: Assessment) -> "Cells":
    """The cells of a run, backends in the order of the assessment."""
    names = [one.name for one in assessment.backends]
    return Cells(run.results, names, run.plan)


class Packer:
    """Collects columns of one block; `finish` gives the block's text."""

    def __init__(self) -> None:
        self._planes: list[bytes] = []

    def texts(self, values: Sequence[str]) -> dict[str, object]:
        """Packs one column; the most frequent text gets the least index."""
        distinct = [text for text, _ in Counter(values).most_common()]
        index_of = {text: at for at, text in enumerate(distinct)}
        width = self._indices([index_of[text] for text in values], len(distinct))
        return {"values": distinct, "rows": len(values), "bytes": width}

    def numbers(self, values: Sequence[int]) -> dict[str, object]:
        """Packs whole numbers from 0 to 2**32 - 1 without texts."""
        width = self._indices(values, max(values, default=0) + 1)
        return {"rows": len(values), "bytes": width}

    def finish(self, head: Mapping[str, object]) -> str:
        text = json.dumps(head, ensure_ascii=False, separators=(",", ":"))
        packed = gzip.compress(
            b"\n".join([text.encode("utf-8"), b"".join(self._planes)]),
            compresslevel=8,
            mtime=0,
        )
        return base64.b64encode(packed).decode("ascii")

    def _indices(self, values: Sequence[int], end: int) -> int:
        """Appends the planes of the numbers below `end`; returns how many."""
        packed = array("I", values)
        if sys.byteorder == "big":
            packed.byteswap()
        width = (max(end - 1, 1).bit_length() + 7) // 8
        raw = packed.tobytes()
        self._planes += [raw[at :: packed.itemsize] for at in range(width)]
        return width


class Cells:
    """The records of results.csv and plan.csv for each cell; -1 for none."""

    def __init__(self, results: Table, backends: Sequence[str], plan: Table) -> None:
        self.results = results
        self.backends = list(backends)
        self.ids = sorted(set(results["test_id"]))
        self.n_backends = len(backends)
        self.n = len(self.ids) * len(backends)
        self.records = [-1] * self.n
        first_of = {test_id: at * len(backends) for at, test_id in enumerate(self.ids)}
        offset_of = {name: at for at, name in enumerate(backends)}
        self._cell_of = {}
        pairs = zip(results["test_id"], results["backend"])
        for record, pair in enumerate(pairs):
            cell = first_of[pair[0]] + offset_of[pair[1]]
            self.records[cell] = record
            self._cell_of[pair] = cell
        self._plan = plan
        self._planned = [-1] * self.n
        for record, pair in enumerate(zip(plan["test_id"], plan["backend"])):
            if (known := self._cell_of.get(pair)) is not None:
                self._planned[known] = record

    def has(self, test_id: str, backend: str) -> bool:
        return (test_id, backend) in self._cell_of

    def of(self, test_id: str, backend: str) -> int:
        """The cell of a verdict that results.csv holds."""
        return self._cell_of[test_id, backend]

    def column(self, name: str) -> list[str]:
        """One value per cell; empty where nothing was planned."""
        values = [*self.results[name], ""]
        return [values[record] for record in self.records]

    def plan_column(self, name: str) -> list[str]:
        """One value of plan.csv per cell; empty where nothing was planned."""
        values = [*self._plan[name], ""]
        return [values[record] for record in self._planned]

    def cases_beside(self, cells: Iterable[int]) -> list[bool]:
        """Which cases are of a suite that one of these cells is of."""
        suites = self.case_column("suite")
        theirs = {suites[cell // self.n_backends] for cell in cells}
        return [suite in theirs for suite in suites]

    def case_column(self, name: str) -> list[str]:
        """One value per case: the first that is not empty."""
        values = (self.plan_column if name in _PLAN_COLUMNS else self.column)(name)
        step = self.n_backends
        return [
            next(filter(None, values[case * step : (case + 1) * step]), "")
            for case in range(len(self.ids))
        ]


def _matrix(cells: Cells, assessment: Assessment) -> str:
    pack = Packer()
    messages = [shown(text) for text in cells.column("message")]
    unexpected = [""] * cells.n
    by_cause: list[int] = []
    for entry in assessment.unexpected:
        if cells.has(entry.test_id, entry.backend):
            cell = cells.of(entry.test_id, entry.backend)
            by_cause.append(cell)
            unexpected[cell] = shown(entry.reason) or messages[cell] or "unexpected"
    head = {
        "backends": [one.name for one in assessment.backends],
        "short": short_names([one.name for one in assessment.backends]),
        "outcomes": list(OUTCOMES),
        "ids": cells.ids,
        "case": {name: pack.texts(cells.case_column(name)) for name in _CASE_COLUMNS},
        "cell": {
            "outcome": pack.texts(cells.column("outcome")),
            "reason_code": pack.texts(cells.column("reason_code")),
            "message": pack.texts(templates(cells, messages)),
            "vacuous": pack.texts(cells.column("vacuous")),
            "claimed": pack.texts(cells.plan_column("claimed")),
            "unexpected": pack.texts(templates(cells, unexpected, messages)),
        },
        "by_cause": pack.numbers(by_cause),
    }
    return pack.finish(head)


def _detail(run: Run, cells: Cells, is_rounded: bool) -> str:
    pack = Packer()
    outcomes = cells.column("outcome")
    is_brief = [is_rounded and outcome == "pass" for outcome in outcomes]
    columns = {name: cells.column(name) for name in _CELL_TEXTS}
    columns["repro"] = templates(cells, cells.column("repro"))
    for name in _CELL_NUMBERS:
        short = 2 if name in _BRIEF_CELL else None
        columns[name] = _rounded(cells.column(name), 0, is_brief, short)
    columns["own_rss_kb"] = _rounded(_own_memory(cells), 0, is_brief, None)
    columns["attempts"] = _attempts(run.attempts, cells)
    packed = {name: pack.texts(values) for name, values in columns.items()}
    return pack.finish(
        {"cell": packed, "output": _outputs(pack, run.accuracy, cells, is_brief)}
    )


def _own_memory(cells: Cells) -> list[str]:
    """By how much each cell raised the peak of the worker that ran it.

    The peak of a worker, as the table has it, is that of all its cases so far,
    so the first case of a worker has no number of its own.
    """
    workers, peaks = cells.column("worker"), cells.column("peak_rss_kb")
    started = cells.column("started_us")
    ran = [k for k in range(cells.n) if workers[k] and peaks[k] and started[k]]
    ran.sort(key=lambda k: int(started[k]))
    own = [""] * cells.n
    last: dict[tuple[int, str], int] = {}
    for cell in ran:
        worker = (cell % cells.n_backends, workers[cell])
        peak = int(peaks[cell])
        if worker in last:
            own[cell] = str(max(0, peak - last[worker]))
        last[worker] = max(peak, last.get(worker, 0))
    return own


def _attempts(attempts: Table, cells: Cells) -> list[str]:
    """Each cell's attempts in words, alike ones together; empty for a single one."""
    by_cell: dict[int, dict[tuple[str, str, str], list[int]]] = {}
    columns = (attempts[name] for name in ("outcome", "reason_code", "message"))
    for test_id, backend, attempt, *what in zip(
        attempts["test_id"], attempts["backend"], attempts["attempt"], *columns
    ):
        kinds = by_cell.setdefault(cells.of(test_id, backend), {})
        outcome, reason, message = what
        kinds.setdefault((outcome, reason, message), []).append(int(attempt))
    texts = [""] * cells.n
    for cell, kinds in by_cell.items():
        n = sum(map(len, kinds.values()))
        if n > 1 and len(kinds) == 1:
            texts[cell] = f"{n} of {n} alike"
        elif n > 1:
            texts[cell] = "\n".join(
                f"{len(numbers)} of {n} (number {ranges(numbers)}): {outcome}"
                f"{f' {reason}' if reason else ''}{f': {shown(text)}' if text else ''}"
                for (outcome, reason, text), numbers in kinds.items()
            )
    return texts


def ranges(numbers: Sequence[int]) -> str:
    """1, 3 to 5."""
    runs: list[list[int]] = []
    for number in sorted(numbers):
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ", ".join(str(a) if a == b else f"{a} to {b}" for a, b in runs)


def _outputs(
    pack: Packer, accuracy: Table, cells: Cells, is_brief: Sequence[bool]
) -> dict[str, object]:
    """The rows of each cell's last attempt that has any, sorted by cell.

    A column that schema.json does not have today is packed like the others,
    under its own name, and detail.js draws it.
    """
    shown_rows = (
        row
        for row, (test_id, backend, reference) in enumerate(
            zip(accuracy["test_id"], accuracy["backend"], accuracy["reference"])
        )
        if reference not in _NOT_JUDGED or not is_brief[cells.of(test_id, backend)]
    )
    last = rows_of_cells(accuracy, cells, shown_rows)
    starts = [cell for cell, rows in last.items() for _ in rows]
    rows = [row for rows in last.values() for row in rows]
    brief = [is_brief[cell] for cell in starts]
    step = pack.numbers([b - a for a, b in zip([0, *starts], starts)])
    columns: dict[str, object] = {}
    for name, kind in schema_columns("accuracy").items():
        values = accuracy[name]
        if name in _OF_THE_CELL or not any(values):
            continue
        column = [values[row] for row in rows]
        if name.startswith("worst_") or kind.endswith("or empty"):
            digits, short = (4, 2) if kind.startswith("number") else (0, 0)
            kept = short if name in _BRIEF_OUTPUT else None
            column = _rounded(column, digits, brief, kept)
        if any(column):
            columns[name] = pack.texts(column)
    return {"cell_step": step, "column": columns}


def rows_of_cells(
    table: Table, cells: Cells, rows: Iterable[int]
) -> dict[int, list[int]]:
    """The rows of each cell's last attempt that has any of these, by cell."""
    of_attempt: dict[tuple[int, int], list[int]] = {}
    ids, backends, attempts = table["test_id"], table["backend"], table["attempt"]
    for row in rows:
        key = (cells.of(ids[row], backends[row]), int(attempts[row]))
        of_attempt.setdefault(key, []).append(row)
    return {cell: of_attempt[cell, at] for cell, at in sorted(of_attempt)}


def _rounded(
    values: Sequence[str], digits: int, is_brief: Sequence[bool], short: int | None
) -> list[str]:
    """The column in `digits`, brief rows in `short` digits or without a text."""
    is_full = [not one for one in is_brief]
    full = {t: significant(t, digits) for t in set(compress(values, is_full))}
    brief = {
        text: "" if short is None else significant(text, short)
        for text in set(compress(values, is_brief))
    }
    return [
        brief[text] if is_short else full[text]
        for text, is_short in zip(values, is_brief)
    ]


def significant(text: str, digits: int) -> str:
    """The number with so many significant digits; 0 keeps the text."""
    if not digits or len(text) <= digits:
        return text
    try:
        return f"{float(f'{float(text):.{digits}g}'):g}"
    except ValueError:
        return text


def templates(
    cells: Cells, texts: Sequence[str], messages: Sequence[str] = ()
) -> list[str]:
    """One text per cell; the cell's own message, id, backend, seed left out.

    A repro line differs in every cell only by the last three, so that the
    column packs to a handful of distinct values. \\x01 marks a gap.
    """

    def doubled(texts: Sequence[str]) -> list[str]:
        return [text.replace("\x01", "\x01\x01") for text in texts]

    parts = [("m", doubled(messages))] if messages else []
    parts += [
        (mark, cells.column(name))
        for mark, name in (("i", "test_id"), ("b", "backend"), ("s", "seed"))
    ]
    texts = doubled(texts)
    for mark, column in parts:
        texts = [
            text.replace(part, f"\x01{mark}") if len(part) > 3 else text
            for text, part in zip(texts, column)
        ]
    return texts
