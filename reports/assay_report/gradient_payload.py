# SPDX-License-Identifier: Apache-2.0
"""Packs what the scripts show of gradients.

    block = pack_gradients(cells, gradient_rows(run, cells), types)

A run has tens of thousands of gradients. The page keeps the worst one of each
case on each backend, in four digits, and every failed one with all its
numbers; gradients.csv has the rest. The reader is templates/gradients.js.
"""

from itertools import pairwise

from assay_report.gradients import GradientRows, gradient_cases, units_text, variant_of
from assay_report.payload import (
    FULL_DETAIL_CELLS,
    Cells,
    Packer,
    significant,
    templates,
)
from assay_report.run_folder import is_operator, reason_meanings, schema_columns

_ALWAYS = (
    *("input", "shape", "class", "cotangent", "outcome", "nan_mismatch"),
    *("unknown", "kink_count", "kink_convention"),
)
# With how many digits of a gradient that passed; a large run leaves them out.
_WORST = {"worst_index": 0, "want": 4, "got": 4, "limit": 3}
_OF_THE_CASE = (
    *("schema", "run_id", "attempt", "test_id", "backend", "settings", "case"),
    *("expanded", "op", "domain", "opset", "dtype", "input_index", "input_class"),
    *("reason_code", "headroom", "repro"),
)


def pack_gradients(cells: Cells, rows: GradientRows, types: tuple[str, ...]) -> str:
    """The block's text."""
    pack = Packer()
    table = rows.table
    kept: list[int] = []
    cell_of: list[int] = []
    for cell, of_cell in rows.of_cell.items():
        chosen = [row for row in of_cell[1:] if table["outcome"][row] == "fail"]
        kept += [of_cell[0], *chosen]
        cell_of += [cell] * (1 + len(chosen))
    outcomes = cells.column("outcome")
    passed = [
        outcomes[cell] == "pass" and table["outcome"][row] == "pass"
        for cell, row in zip(cell_of, kept)
    ]
    is_brief = len(rows.of_cell) > FULL_DETAIL_CELLS
    columns = {name: [table[name][row] for row in kept] for name in _ALWAYS}
    for name, digits in _WORST.items():
        columns[name] = [
            table[name][row]
            if not is_passed
            else ""
            if is_brief
            else significant(table[name][row], digits)
            for row, is_passed in zip(kept, passed)
        ]
    columns["units"] = [
        "" if (known := rows.units[row]) is None else units_text(known) for row in kept
    ]
    columns["of"] = [str(len(rows.of_cell[cell])) for cell in cell_of]
    head = {
        "types": list(types),
        "networks": sorted(
            {op for op in cells.case_column("op") if not is_operator(op)}
        ),
        "reasons": _meanings(cells),
        "case": _cases(pack, cells, rows),
        "repro": pack.texts(_own_repros(cells, rows)),
        "row": {
            "cell_step": pack.numbers([b - a for a, b in pairwise([0, *cell_of])]),
            "column": {name: pack.texts(texts) for name, texts in columns.items()},
            "more": _more(pack, rows, kept, passed),
        },
    }
    return pack.finish(head)


def _cases(pack: Packer, cells: Cells, rows: GradientRows) -> dict[str, object]:
    """Class of inputs and type of every case; empty for other suites' cases."""
    variants = [
        variant_of(test_id) if is_gradient else ("", "")
        for test_id, is_gradient in zip(cells.ids, gradient_cases(cells, rows))
    ]
    return {
        "is_gradient": pack.texts(
            ["1" if one else "0" for one in gradient_cases(cells, rows)]
        ),
        "input_class": pack.texts([one for one, _ in variants]),
        "type": pack.texts([dtype for _, dtype in variants]),
    }


def _own_repros(cells: Cells, rows: GradientRows) -> list[str]:
    """Commands of gradients.csv, where results.csv has another or none."""
    of_results = cells.column("repro")
    own = [""] * cells.n
    for cell, of_cell in rows.of_cell.items():
        text = rows.table["repro"][of_cell[0]]
        own[cell] = "" if text == of_results[cell] else text
    return templates(cells, own)


def _more(
    pack: Packer, rows: GradientRows, kept: list[int], passed: list[bool]
) -> dict[str, object]:
    """All other columns, of gradients that did not pass."""
    made = {}
    for name in schema_columns("gradients"):
        if name in (*_ALWAYS, *_WORST, *_OF_THE_CASE):
            continue
        values = rows.table[name]
        column = ["" if ok else values[row] for row, ok in zip(kept, passed)]
        if any(column):
            made[name] = pack.texts(column)
    return made


def _meanings(cells: Cells) -> dict[str, str]:
    met = set(cells.column("reason_code"))
    return {code: text for code, text in reason_meanings().items() if code in met}
