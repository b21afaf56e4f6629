# SPDX-License-Identifier: Apache-2.0
"""Seconds that backend smpi simulated, beside the alpha-beta model of its network.

    found = assess_simulated(rows)
    found.rows[0].ratio          # 1.013, of an all-reduce by a ring
    found.steps[0].times         # of a step of a scheme, by the number of ranks

Both are simulations: smpi's clock counts each message of a run in its order, and the
formula the longest chain of messages. Computing takes no time in either.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from assay_report.distributed import MOST_ROWS, RankRows
from assay_report.plot import seconds_text
from assay_report.scaling import (
    ALGORITHMS,
    MOST_RANKS,
    SMPI,
    Network,
    path_of,
    vector_of,
)

# Formulas stand beside the clock of these computers alone.
_TRANSPORT = "smpi"
_MICROSECOND = 1e-6
# The scheme that a step of which is one all-reduce of all gradients.
_ALL_REDUCE_SCHEME = "train_all_reduce"
_MOST_COLUMNS = 12


@dataclass(frozen=True, slots=True)
class Timed:
    """One all-reduce, or a step of a scheme that is one."""

    name: str
    algorithm: str
    ranks: int
    size: int  # of the vector, in bytes
    simulated: float  # seconds
    formula: float

    @property
    def ratio(self) -> float:
        return self.simulated / self.formula


@dataclass(frozen=True)
class StepTimes:
    """The times of a step of a scheme, by the number of ranks."""

    name: str
    way: str
    times: tuple[str, ...]  # empty where there is no case


@dataclass(frozen=True)
class Simulated:
    """The simulated seconds of the page."""

    network: Network
    # The longest vector of each algorithm and number of ranks.
    rows: tuple[Timed, ...]
    n_timed: int
    least: float  # ratio of all that were timed
    most: float
    columns: tuple[int, ...]
    steps: tuple[StepTimes, ...]
    n_more: int


def assess_simulated(rows: RankRows) -> Simulated | None:
    """None for a run without a simulated clock."""
    timed = [one for row in _rows(rows) if (one := _timed(rows, row))]
    longest: dict[tuple[str, str, int], Timed] = {}
    for one in timed:
        key = one.name, one.algorithm, one.ranks
        if key not in longest or one.size > longest[key].size:
            longest[key] = one
    columns, steps = _steps(rows)
    if not timed and not steps:
        return None
    ratios = [one.ratio for one in timed]
    return Simulated(
        network=SMPI,
        rows=tuple(longest[key] for key in sorted(longest))[:MOST_ROWS],
        n_timed=len(timed),
        least=min(ratios, default=0.0),
        most=max(ratios, default=0.0),
        columns=columns,
        steps=steps[:MOST_ROWS],
        n_more=max(0, len(longest) - MOST_ROWS) + max(0, len(steps) - MOST_ROWS),
    )


def _rows(rows: RankRows) -> Iterator[int]:
    """Those that count and have a time of the clock."""
    for of_cell in rows.of_cell.values():
        for row in of_cell:
            is_smpi = rows.table["transport"][row] == _TRANSPORT
            has_time = rows.numbers["simulated_us"][row] is not None
            if is_smpi and has_time and 0 < _ranks(rows, row) <= MOST_RANKS:
                yield row


def _ranks(rows: RankRows, row: int) -> int:
    return int(rows.numbers["ranks"][row] or 0)


def _timed(rows: RankRows, row: int) -> Timed | None:
    """None where no formula says the time."""

    def of(name: str) -> float:
        return rows.numbers[name][row] or 0

    ranks, seconds = _ranks(rows, row), of("simulated_us") * _MICROSECOND
    scheme, way = rows.table["scheme"][row], rows.table["collective"][row]
    if not scheme:
        name, _, algorithm = way.partition("/")
        size = vector_of(rows.table["test_id"][row])
        if name != "allreduce" or algorithm not in ALGORITHMS or not size or ranks < 2:
            return None
        return _beside(name, algorithm, ranks, size, seconds)
    steps = int(of("steps"))
    if scheme.rpartition("/")[2] != _ALL_REDUCE_SCHEME or way not in ALGORITHMS:
        return None
    # All ranks send alike here; beyond a power of two they do by a ring alone.
    if ranks < 2 or not steps or (way != "ring" and ranks & (ranks - 1)):
        return None
    sent = Fraction(int(of("bytes_formula")), steps * ranks)
    size = int(sent / path_of(way, ranks).shares)
    return _beside(scheme, way, ranks, size, seconds / steps) if size else None


def _beside(name: str, algorithm: str, ranks: int, size: int, seconds: float) -> Timed:
    formula = SMPI.seconds(path_of(algorithm, ranks), size)
    return Timed(name, algorithm, ranks, size, seconds, formula)


def _steps(rows: RankRows) -> tuple[tuple[int, ...], tuple[StepTimes, ...]]:
    """The numbers of ranks, and each scheme's line."""
    found: dict[tuple[str, str], dict[int, float]] = {}
    for row in _rows(rows):
        scheme, steps = rows.table["scheme"][row], rows.numbers["steps"][row]
        if scheme and steps:
            time = (rows.numbers["simulated_us"][row] or 0) * _MICROSECOND / steps
            line = found.setdefault((scheme, rows.table["collective"][row]), {})
            # Optimizers differ by nothing that is sent.
            line.setdefault(_ranks(rows, row), time)
    columns = sorted({ranks for line in found.values() for ranks in line})
    kept = tuple(columns[:_MOST_COLUMNS])
    return kept, tuple(
        StepTimes(
            name, way, tuple(seconds_text(line[n]) if n in line else "" for n in kept)
        )
        for (name, way), line in sorted(found.items())
    )
