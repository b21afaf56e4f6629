# SPDX-License-Identifier: Apache-2.0
"""Losses of networks that ranks train, by scheme and number of ranks.

    group = losses_of(cells, rows)[0]      # lenet5 on one backend
    group.lines[0].points[2].last          # 1.93, of a scheme on the third number

A row has the loss of the first step's batch and of the last step's, each before that
step and the mean over ranks; nothing is trained or measured again.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from assay_report.distributed import RankRows
from assay_report.payload import Cells
from assay_report.plot import SERIES, Plot
from assay_report.scaling import MOST_RANKS
from assay_report.training import Band

# A page holds no more than these; distributed.csv has all.
_MOST_GROUPS = 8
_MOST_LINES = 48
_MOST_PLOTS = 3
_MOST_COLUMNS = 12
# A loss beyond has no place on an axis with others.
_MOST_LOSS = 1e6


@dataclass(frozen=True, slots=True)
class Point:
    """One case: a network that so many ranks trained."""

    steps: int
    first: float
    last: float


@dataclass(frozen=True)
class Line:
    """One scheme by one way, on each number of ranks; None where there is no case."""

    scheme: str
    way: str
    points: tuple[Point | None, ...]

    @property
    def first(self) -> float:
        """On the fewest ranks; all begin alike."""
        return next(point.first for point in self.points if point)


@dataclass(frozen=True)
class Losses:
    """A network on a backend, trained to one end."""

    backend: str
    network: str
    columns: tuple[int, ...]  # numbers of ranks
    lines: tuple[Line, ...]
    n_more: int
    n_unplotted: int  # points that have no place on the axis
    plots: tuple[tuple[tuple[str, ...], Plot], ...]  # each with its schemes

    @property
    def steps(self) -> tuple[int, int]:
        """The fewest and the most."""
        found = [p.steps for line in self.lines for p in line.points if p]
        return min(found), max(found)


def losses_of(cells: Cells, rows: RankRows) -> tuple[Losses, ...]:
    """By backend, network and what ends a run, in the order of names."""
    table, numbers = rows.table, rows.numbers
    found: dict[tuple[str, str, str], dict[tuple[str, str], dict[int, Point]]] = {}
    for cell, of_cell in rows.of_cell.items():
        backend = cells.backends[cell % cells.n_backends]
        for row in of_cell:
            first, last = numbers["loss_first"][row], numbers["loss_last"][row]
            ranks = numbers["ranks"][row]
            if first is None or last is None or not ranks or ranks > MOST_RANKS:
                continue
            network, _, scheme = table["scheme"][row].rpartition("/")
            group = found.setdefault((backend, network, table["mode"][row]), {})
            line = group.setdefault((scheme, table["collective"][row]), {})
            steps = int(numbers["steps"][row] or 0)
            line[int(ranks)] = Point(steps, first, last)
    return tuple(
        _group(backend, network, lines)
        for (backend, network, _), lines in sorted(found.items())[:_MOST_GROUPS]
    )


def _group(
    backend: str, network: str, lines: Mapping[tuple[str, str], Mapping[int, Point]]
) -> Losses:
    columns = sorted({ranks for line in lines.values() for ranks in line})
    kept = tuple(columns[:_MOST_COLUMNS])
    whole = [
        Line(scheme, way, tuple(line.get(ranks) for ranks in kept))
        for (scheme, way), line in sorted(lines.items())
        if any(ranks in line for ranks in kept)
    ]
    points = [point.last for line in whole for point in line.points if point]
    schemes = sorted({line.scheme for line in whole})
    return Losses(
        backend=backend,
        network=network,
        columns=kept,
        lines=tuple(whole[:_MOST_LINES]),
        n_more=max(0, len(whole) - _MOST_LINES),
        n_unplotted=sum(not _has_place(loss) for loss in points),
        plots=tuple(
            (tuple(some), _plot(some, kept, whole))
            for some in (
                schemes[at : at + SERIES]
                for at in range(0, min(len(schemes), SERIES * _MOST_PLOTS), SERIES)
            )
        ),
    )


def _has_place(loss: float) -> bool:
    return math.isfinite(loss) and abs(loss) <= _MOST_LOSS


def _plot(schemes: Sequence[str], columns: Sequence[int], of: Sequence[Line]) -> Plot:
    """One line per scheme: the median of its ways, and the least and the greatest."""

    def band(scheme: str) -> Band:
        places: Band = []
        for at, ranks in enumerate(columns):
            points = [line.points[at] for line in of if line.scheme == scheme]
            found = sorted(p.last for p in points if p and _has_place(p.last))
            if found:
                places.append((ranks, found[0], found[len(found) // 2], found[-1]))
        return places

    series = [(scheme, band(scheme)) for scheme in schemes]
    lows = [low for _, places in series for _, low, _, _ in places]
    return Plot("ranks", "loss in the last step", series, floor=min([0.0, *lows]))
