# SPDX-License-Identifier: Apache-2.0
"""The rows of time.csv by cell and phase.

rows = time_rows(run, cells)
warm = rows.phase(cell, "warm")   # None where that was not timed
warm.median, warm.low, warm.high  # nanoseconds of a call
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from assay_report.payload import Cells, rows_of_cells
from assay_report.run_folder import Run, RunFolderError, Table

# Phases in the order of a network's life; others come behind.
PHASES = (
    *("load", "create", "first", "warm", "cold", "backward", "step", "transfer"),
    "destroy",
)
# Outcomes behind which a time is one of the right work.
_RIGHT = ("pass", "waived", "flaky", "xpass")


@dataclass(frozen=True)
class Phase:
    """One row; nanoseconds of a call, and what was not measured is None."""

    row: int
    name: str
    median: float
    low: float | None  # of the 95 % interval of the median
    high: float | None
    noisy: bool

    @property
    def half_width(self) -> float | None:
        """Half of the interval over the median."""
        if self.low is None or self.high is None or self.median <= 0:
            return None
        return (self.high - self.low) / 2 / self.median


class TimeRows:
    """Phases of each cell that has any, those of a cell in their order."""

    def __init__(self, table: Table, of_cell: Mapping[int, Sequence[Phase]]) -> None:
        self.table = table
        self.of_cell = of_cell

    def phase(self, cell: int, name: str) -> Phase | None:
        return next((p for p in self.of_cell.get(cell, ()) if p.name == name), None)

    def number(self, column: str, row: int) -> float | None:
        return number(self.table, column, row)


def time_rows(run: Run, cells: Cells) -> TimeRows:
    """The rows of each cell's last attempt; RunFolderError for what is no time."""
    table = run.time
    of_cell = {}
    for cell, found in rows_of_cells(table, cells, range(len(table))).items():
        phases = [phase for row in found if (phase := _phase(table, row))]
        of_cell[cell] = sorted(phases, key=lambda one: _place(one.name))
    return TimeRows(table, of_cell)


def is_right(outcome: str) -> bool:
    """False where a call did not do its work, or where nobody believes the time."""
    return outcome in _RIGHT


def number(table: Table, column: str, row: int) -> float | None:
    """A number of a table; None where there is none."""
    text = table[column][row]
    if not text:
        return None
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if math.isfinite(value):
        return value
    raise RunFolderError(
        f"{table.path}: found {column} {text!r} in record {row + 1}, wanted a number "
        "or nothing"
    )


def _phase(table: Table, row: int) -> Phase | None:
    median = number(table, "median_ns", row)
    if median is None:
        return None
    return Phase(
        row=row,
        name=table["phase"][row],
        median=median,
        low=number(table, "ci95_lo_ns", row),
        high=number(table, "ci95_hi_ns", row),
        noisy=table["noisy"][row] == "1",
    )


def _place(name: str) -> int:
    return PHASES.index(name) if name in PHASES else len(PHASES)
