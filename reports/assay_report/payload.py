# SPDX-License-Identifier: Apache-2.0
"""Packs a run's cells for the page: columns, gzip, base64.

    blocks = pack(run, assess(run))
    blocks.matrix   # what the matrix and its search need, decoded at once
    blocks.detail   # the rest, decoded when the page is idle

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
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from assay_report.run_folder import Run, Table
from assay_report.verdict import OUTCOMES, Assessment

# 160,000 cells must fit into 1.5 MB. So above this many cells a pass keeps two
# digits of its numbers, and none of those in _LEFT_OUT.
FULL_DETAIL_CELLS = 40_000

_CASE_COLUMNS = ("suite", "op", "domain", "opset", "dtype", "shape_sig")
_CELL_TEXTS = (
    *("settings", "via_function", "placement", "limit_source", "attempt"),
    "seed",
)
_CELL_NUMBERS = ("load_us", "run_us", "judge_us", "peak_rss_kb", "headroom")
# Distances that no verdict rests on: an oracle's, in the tables alone.
_NOT_JUDGED = ("oracle", "expected_oracle")
_OUTPUT_TEXTS = (
    *("output_index", "output_name", "dtype", "shape", "n_elem"),
    *("reference", "atol", "rtol", "limit_source", "bitwise_equal"),
)
_COUNTS = ("nan_mismatch", "inf_mismatch", "out_of_limit")
_FOUR_DIGITS = ("max_abs_err", "max_rel_err", "max_ulp", "limit", "headroom")
_WORST = ("worst_index", "worst_want", "worst_got")
_LEFT_OUT = (
    *("judge_us", "peak_rss_kb", "max_rel_err", "limit"),
    *_WORST,
)


# An unexpected cell about which nothing but its own message was said.
_SEE_MESSAGE = "="


@dataclass(frozen=True)
class Blocks:
    """Two base64 texts; is_rounded says that passes lost digits."""

    matrix: str
    detail: str
    is_rounded: bool


def pack(run: Run, assessment: Assessment) -> Blocks:
    """Packs the cells; the assessment gives the order of the backends."""
    cells = _Cells(run.results, [one.name for one in assessment.backends])
    is_rounded = cells.n > FULL_DETAIL_CELLS
    return Blocks(
        matrix=_matrix(cells, assessment),
        detail=_detail(run, cells, is_rounded),
        is_rounded=is_rounded,
    )


class _Packer:
    """Collects columns; `finish` gives the block's text."""

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


class _Cells:
    """Which record of results.csv stands in which cell; -1 for none."""

    def __init__(self, results: Table, backends: Sequence[str]) -> None:
        self.results = results
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

    def of(self, test_id: str, backend: str) -> int | None:
        return self._cell_of.get((test_id, backend))

    def column(self, name: str) -> list[str]:
        """One value per cell; empty where nothing was planned."""
        values = [*self.results[name], ""]
        return [values[record] for record in self.records]

    def case_column(self, name: str) -> list[str]:
        """One value per case: the first that is not empty."""
        values = self.column(name)
        step = self.n_backends
        return [
            next(filter(None, values[case * step : (case + 1) * step]), "")
            for case in range(len(self.ids))
        ]


def _matrix(cells: _Cells, assessment: Assessment) -> str:
    pack = _Packer()
    messages = cells.column("message")
    unexpected = [""] * cells.n
    for entry in assessment.unexpected:
        cell = cells.of(entry.test_id, entry.backend)
        if cell is not None:
            said = entry.reason and entry.reason != messages[cell]
            unexpected[cell] = entry.reason if said else _SEE_MESSAGE
    head = {
        "backends": [one.name for one in assessment.backends],
        "outcomes": list(OUTCOMES),
        "ids": cells.ids,
        "case": {name: pack.texts(cells.case_column(name)) for name in _CASE_COLUMNS},
        "cell": {
            "outcome": pack.texts(cells.column("outcome")),
            "reason_code": pack.texts(cells.column("reason_code")),
            "message": pack.texts(_templates(cells, messages)),
            "vacuous": pack.texts(cells.column("vacuous")),
            "unexpected": pack.texts(_templates(cells, unexpected)),
        },
    }
    return pack.finish(head)


def _detail(run: Run, cells: _Cells, is_rounded: bool) -> str:
    pack = _Packer()
    outcomes = cells.column("outcome")
    is_brief = [is_rounded and outcome == "pass" for outcome in outcomes]
    columns = {name: cells.column(name) for name in _CELL_TEXTS}
    columns["repro"] = _templates(cells, cells.column("repro"))
    for name in _CELL_NUMBERS:
        columns[name] = _rounded(name, cells.column(name), is_brief)
    packed = {name: pack.texts(values) for name, values in columns.items()}
    return pack.finish(
        {"cell": packed, "output": _outputs(pack, run.accuracy, cells, is_brief)}
    )


def _outputs(
    pack: _Packer, accuracy: Table, cells: _Cells, is_brief: Sequence[bool]
) -> dict[str, object]:
    """The rows of the final attempts, sorted by cell and output."""
    attempts = cells.results["attempt"]
    rows: list[tuple[int, int]] = []
    keys = zip(
        accuracy["test_id"],
        accuracy["backend"],
        accuracy["attempt"],
        accuracy["reference"],
    )
    for row, (test_id, backend, attempt, reference) in enumerate(keys):
        if reference in _NOT_JUDGED:
            continue
        cell = cells.of(test_id, backend)
        if cell is not None and attempts[cells.records[cell]] == attempt:
            rows.append((cell, row))
    rows.sort()
    brief = [is_brief[cell] for cell, _ in rows]
    starts = [cell for cell, _ in rows]
    step = pack.numbers([b - a for a, b in zip([0, *starts], starts)])
    columns: dict[str, object] = {}
    for name in (*_OUTPUT_TEXTS, *_COUNTS, *_FOUR_DIGITS, *_WORST):
        values = accuracy[name]
        column = [values[row] for _, row in rows]
        if name not in _OUTPUT_TEXTS:
            column = _rounded(name, column, brief)
        columns[name] = pack.texts(column)
    return {"cell_step": step, "column": columns}


def _rounded(name: str, values: Sequence[str], is_brief: Sequence[bool]) -> list[str]:
    """The column as the page keeps it: brief rows get two digits or nothing."""
    distinct = dict.fromkeys(values)
    full_digits = 4 if name in _FOUR_DIGITS else 0
    full = {text: _significant(text, full_digits) for text in distinct}
    if name in _COUNTS:
        full["0"] = ""
    if True not in is_brief:
        return [full[text] for text in values]
    brief = {
        text: "" if name in _LEFT_OUT else _significant(short, 2)
        for text, short in full.items()
    }
    return [
        brief[text] if is_short else full[text]
        for text, is_short in zip(values, is_brief)
    ]


def _significant(text: str, digits: int) -> str:
    """The number with so many significant digits; 0 keeps the text."""
    if not digits or len(text) <= digits:
        return text
    try:
        return f"{float(f'{float(text):.{digits}g}'):g}"
    except ValueError:
        return text


def _templates(cells: _Cells, texts: Sequence[str]) -> list[str]:
    """One text per cell with the cell's own id, backend and seed left out.

    A repro line differs in every cell only by these three, so that the
    column packs to a handful of distinct values. \\x01 marks a gap.
    """
    texts = [text.replace("\x01", "\x01\x01") for text in texts]
    for mark, name in (("i", "test_id"), ("b", "backend"), ("s", "seed")):
        texts = [
            text.replace(part, f"\x01{mark}") if len(part) > 3 else text
            for text, part in zip(texts, cells.column(name))
        ]
    return texts
