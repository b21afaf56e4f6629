# SPDX-License-Identifier: Apache-2.0
"""The gradients of the page: nearness to limits, conventions, fails.

    cells = Cells(run.results, names, run.plan)
    gradients = assess_gradients(cells, gradient_rows(run, cells))
    gradients.strips[0].worst   # "0.37", in units of the limit

An error in units of the limit is 1 - headroom of gradients.csv: 0 is no error,
1 is at the limit, more is beyond it. The rows are those of each case's last
attempt that has any. Nothing is judged again.
"""

import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from assay_report.payload import Cells, rows_of_cells, shown
from assay_report.run_folder import Run, RunFolderError, Table, reason_meanings

# How a backend may choose at a kink, where every choice between is right.
CONVENTIONS = {
    "0": "nothing flows back",
    "1": "all flows back, the greatest slope",
    "first": "the first of several takes all",
    "last": "the last of several takes all",
    "split": "something between nothing and all",
    "mixed": "one thing at one element, another at the next",
}
_TYPES = ("float16", "bfloat16", "float32", "float64")
NO_FAIL = ("pass", "waived", "unsupported", "unavailable")
# Bars end here, in units of the limit; the first holds what has no error.
_ENDS = (0.0, *(10.0 ** (half / 2) for half in range(-8, 1)), 10.0, math.inf)
_NAMED_INPUTS = 6


@dataclass(frozen=True)
class GradientRows:
    """The rows that count, of each cell, the worst first."""

    table: Table
    units: Sequence[float | None]
    of_cell: dict[int, list[int]]


@dataclass(frozen=True)
class Bar:
    """How many gradients have an error above the bar before, up to this one."""

    place: int
    name: str
    kind: str  # within, near or beyond
    count: int
    height: float  # 1 is the highest of its strip


@dataclass(frozen=True)
class Strip:
    """The distribution of one backend's errors in one element type."""

    backend: str
    dtype: str
    n: int
    n_judged: int
    n_exact: int
    n_beyond: int
    median: str
    p99: str
    worst: str
    bars: tuple[Bar, ...]


@dataclass(frozen=True)
class Choice:
    """The choices of one backend at one operator's kinks; words with their number."""

    words: tuple[tuple[str, int], ...]
    n_elements: int


@dataclass(frozen=True)
class Kinks:
    """One operator's choices, by backend; None where it has no kinks there."""

    op: str
    choices: tuple[Choice | None, ...]
    n_shared: int  # gradients that several backends give
    n_different: int


@dataclass(frozen=True)
class Fault:
    """Cases of one operator that failed alike, and the smallest of them."""

    backend: str
    op: str
    suite: str
    outcome: str
    reason: str
    meaning: str
    n_cases: int
    types: tuple[tuple[str, int], ...]
    inputs: tuple[str, ...]
    n_more_inputs: int
    worst: str
    test_id: str
    message: str
    repro: str
    row: dict[str, str]  # of gradients.csv; empty where the case has none
    units: str
    ratio: str  # got over want


@dataclass(frozen=True)
class Gradients:
    """Everything that the section says without scripts."""

    backends: tuple[str, ...]
    n_cases: int
    strips: tuple[Strip, ...]
    kinks: tuple[Kinks, ...]
    faults: tuple[Fault, ...]
    n_failed: int
    n_expected: int
    types: tuple[str, ...]


def variant_of(test_id: str) -> tuple[str, str]:
    """Class of inputs and element type: what stands behind the # of an id."""
    input_class, _, dtype = test_id.rpartition("#")[2].partition(".")
    return (input_class, dtype) if "#" in test_id else ("", "")


def units_text(units: float) -> str:
    """Two digits, and more where they would hide that a limit was passed."""
    if math.isinf(units):
        return "\u221e"
    if 100 <= units < 1e6:
        return f"{units:.0f}"
    digits = 2
    while (float(f"{units:.{digits}g}") > 1) != (units > 1):
        digits += 1
    mantissa, _, exponent = f"{units:.{digits}g}".partition("e")
    return f"{mantissa}e{int(exponent)}" if exponent else mantissa


def gradient_rows(run: Run, cells: Cells) -> GradientRows:
    """Reads the rows; raises RunFolderError where a headroom is no number."""
    table = run.gradients
    where = f"{table.path}: headroom in record"
    units = [
        _units(text, f"{where} {at + 1}") for at, text in enumerate(table["headroom"])
    ]

    def badness(row: int) -> tuple[bool, float]:
        known = units[row]
        return table["outcome"][row] != "fail", 1.0 if known is None else -known

    of_cell = rows_of_cells(table, cells, range(len(table)))
    for rows in of_cell.values():
        rows.sort(key=badness)
    return GradientRows(table, units, of_cell)


def _units(headroom: str, where: str) -> float | None:
    if not headroom:
        return None
    try:
        units = 1 - float(headroom)
    except ValueError as error:
        raise RunFolderError(f"{where}: found {headroom!r}, wanted a number") from error
    return math.inf if math.isnan(units) else max(units, 0.0)


def gradient_cases(cells: Cells, rows: GradientRows) -> list[bool]:
    """Which cases are of a suite whose cases have gradients."""
    return cells.cases_beside(rows.of_cell)


def assess_gradients(cells: Cells, rows: GradientRows) -> Gradients:
    """Counts and sorts; `cells` gives the order of the backends."""
    is_gradient = gradient_cases(cells, rows)
    strips = _strips(cells, rows)
    types = {variant_of(i)[1] for i, of in zip(cells.ids, is_gradient) if of}
    faults = _faults(cells, rows, is_gradient)
    return Gradients(
        backends=tuple(cells.backends),
        n_cases=sum(is_gradient),
        strips=strips,
        kinks=_kinks(cells, rows),
        faults=faults,
        n_failed=sum(one.n_cases for one in faults if one.outcome != "xfail"),
        n_expected=sum(one.n_cases for one in faults if one.outcome == "xfail"),
        types=tuple(sorted(types, key=_type_order)),
    )


def _type_order(dtype: str) -> tuple[int, str]:
    return (_TYPES.index(dtype) if dtype in _TYPES else len(_TYPES), dtype)


def _strips(cells: Cells, rows: GradientRows) -> tuple[Strip, ...]:
    found: dict[tuple[int, str], list[float | None]] = {}
    for cell, of_cell in rows.of_cell.items():
        case, backend = divmod(cell, cells.n_backends)
        key = (backend, variant_of(cells.ids[case])[1])
        found.setdefault(key, []).extend(rows.units[row] for row in of_cell)
    ordered = sorted(found, key=lambda key: (key[0], _type_order(key[1])))
    return tuple(
        _strip(cells.backends[at], dtype, found[at, dtype]) for at, dtype in ordered
    )


def _strip(backend: str, dtype: str, all_units: Sequence[float | None]) -> Strip:
    units = sorted(one for one in all_units if one is not None)

    def at(share: float) -> str:
        last = len(units) - 1
        return units_text(units[math.ceil(share * last)]) if units else ""

    counts = Counter(bisect_left(_ENDS, one) for one in units)
    most = max(counts.values(), default=1)
    bars = []
    for place, end in enumerate(_ENDS):
        start = _ENDS[place - 1] if place else 0.0
        name = f"above {start:.2g}" if math.isinf(end) else f"up to {end:.2g}"
        kind = "beyond" if end > 1 else "near" if end > 0.4 else "within"
        name = name if place else "no error"
        bars.append(Bar(place, name, kind, counts[place], counts[place] / most))
    return Strip(
        backend=backend,
        dtype=dtype,
        n=len(all_units),
        n_judged=len(units),
        n_exact=counts[0],
        n_beyond=sum(one > 1 for one in units),
        median=at(0.5),
        p99=at(0.99),
        worst=at(1),
        bars=tuple(bars),
    )


def _kinks(cells: Cells, rows: GradientRows) -> tuple[Kinks, ...]:
    table = rows.table
    words: dict[tuple[str, int], Counter[str]] = {}
    elements: Counter[tuple[str, int]] = Counter()
    chosen: dict[tuple[str, int, str, str], list[str]] = {}
    for cell, of_cell in rows.of_cell.items():
        case, backend = divmod(cell, cells.n_backends)
        for row in of_cell:
            word, op = table["kink_convention"][row], table["op"][row]
            if not word:
                continue
            words.setdefault((op, backend), Counter())[word] += 1
            count = table["kink_count"][row]
            elements[op, backend] += int(count) if count.isdecimal() else 0
            one = (op, case, table["input"][row], table["cotangent"][row])
            chosen.setdefault(one, []).append(word)
    shared: Counter[str] = Counter()
    different: Counter[str] = Counter()
    for (op, *_), found in chosen.items():
        shared[op] += len(found) > 1
        different[op] += len(set(found)) > 1
    return tuple(
        Kinks(
            op=op,
            choices=tuple(
                Choice(tuple(words[op, at].most_common()), elements[op, at])
                if (op, at) in words
                else None
                for at in range(cells.n_backends)
            ),
            n_shared=shared[op],
            n_different=different[op],
        )
        for op in sorted({op for op, _ in words})
    )


def _faults(
    cells: Cells, rows: GradientRows, is_gradient: Sequence[bool]
) -> tuple[Fault, ...]:
    outcomes, ops = cells.column("outcome"), cells.column("op")
    codes = cells.column("reason_code")
    groups: dict[tuple[bool, int, str, str, str], list[int]] = {}
    for cell, outcome in enumerate(outcomes):
        case, backend = divmod(cell, cells.n_backends)
        if not outcome or outcome in NO_FAIL or not is_gradient[case]:
            continue
        key = (outcome == "xfail", backend, ops[cell], outcome, codes[cell])
        groups.setdefault(key, []).append(cell)
    return tuple(
        _fault(cells, rows, backend, outcome, members)
        for (_, backend, _, outcome, _), members in sorted(groups.items())
    )


def _fault(
    cells: Cells, rows: GradientRows, backend: int, outcome: str, members: list[int]
) -> Fault:
    cell = min(members, key=lambda one: _size(cells, rows, one))
    record = cells.records[cell]
    result = {name: texts[record] for name, texts in cells.results.columns.items()}
    worst = {one: rows.of_cell[one][0] for one in members if one in rows.of_cell}
    known = [u for row in worst.values() if (u := rows.units[row]) is not None]
    row, units = {}, None
    if cell in worst:
        row = {name: texts[worst[cell]] for name, texts in rows.table.columns.items()}
        units = rows.units[worst[cell]]
    types = Counter(
        variant_of(cells.ids[one // cells.n_backends])[1] for one in members
    )
    inputs = _failed_inputs(rows, members)
    return Fault(
        backend=cells.backends[backend],
        op=result["op"],
        suite=result["suite"],
        outcome=outcome,
        reason=result["reason_code"],
        meaning=reason_meanings().get(result["reason_code"], ""),
        n_cases=len(members),
        types=tuple(sorted(types.items(), key=lambda one: _type_order(one[0]))),
        inputs=tuple(inputs[:_NAMED_INPUTS]),
        n_more_inputs=max(0, len(inputs) - _NAMED_INPUTS),
        worst=units_text(max(known)) if known else "",
        test_id=result["test_id"],
        message=shown(result["message"]),
        repro=row.get("repro") or result["repro"],
        row=row,
        units="" if units is None else units_text(units),
        ratio=_ratio(row.get("got", ""), row.get("want", "")),
    )


def _size(cells: Cells, rows: GradientRows, cell: int) -> tuple[bool, int, int]:
    """A key for sorting: cases with few numbers, which are easy to look into, first."""
    found = rows.of_cell.get(cell)
    if not found:
        return True, 0, cell
    text = rows.table["n_in"][found[0]]
    return False, int(text) if text.isdecimal() else 0, cell


def _failed_inputs(rows: GradientRows, members: Sequence[int]) -> list[str]:
    names = (
        rows.table["input"][row]
        for member in members
        for row in rows.of_cell.get(member, [])
        if rows.table["outcome"][row] == "fail"
    )
    return list(dict.fromkeys(names))


def _ratio(got: str, want: str) -> str:
    """A sign or a factor shows here at once; empty where there is none."""
    try:
        return f"{float(got) / float(want):.6g}"
    except (ValueError, ZeroDivisionError):
        return ""
