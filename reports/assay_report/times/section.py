# SPDX-License-Identifier: Apache-2.0
"""All that the page says of the times of a run.

times = assess_times(run, cells)   # None for a run without any
times.backends[0].n_suspect        # 0: nobody doubts a time
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import quantiles

from assay_report.payload import Cells
from assay_report.run_folder import Run, is_operator
from assay_report.times.drawing import is_at_hand
from assay_report.times.figures import (
    Figure,
    Latency,
    Point,
    Roof,
    latency_figures,
    phase_figure,
    roofline_figure,
)
from assay_report.times.growth import Growth, assess_growth
from assay_report.times.ratios import (
    Ratios,
    assess_overhead,
    assess_pairs,
    middle_and_most,
)
from assay_report.times.rows import PHASES, Phase, TimeRows, is_right, number, time_rows

_SUSPECT = "suspect"
# Phases that are drawn by operator, each with the one beside it.
_LATENCIES = (("warm", "cold"), ("backward", ""), ("step", ""))
# Fewer cases make no box of quartiles.
_LEAST_OF_A_BOX = 5


@dataclass(frozen=True)
class BackendTimes:
    """Counts of the cases that were timed on a backend."""

    name: str
    n_timed: int
    n_right: int
    n_suspect: int
    n_noisy: int
    n_left_out: int  # whose outputs are wrong, or that stopped
    widths: tuple[str, str] | None  # half widths in percent: the median, the worst


@dataclass(frozen=True)
class Roofline:
    figure: Figure | None
    n_points: int
    n_unknown: int  # warm calls whose operations nobody counted
    n_idle: int  # that have no floating-point operation
    n_above: int  # above a roof, which cannot be
    n_roofs: int


@dataclass(frozen=True)
class LatencyPart:
    """Calls of one phase, by operator, and where there is one a phase beside it."""

    phase: str
    beside: str
    figures: tuple[Figure, ...]
    n_rows: int
    n_drawn: int


@dataclass(frozen=True)
class Times:
    """The section of the page."""

    rows: TimeRows
    backends: tuple[BackendTimes, ...]
    n_cases: int
    latency: tuple[LatencyPart, ...]
    phases: Figure | None
    roofline: Roofline
    growth: Growth
    pairs: tuple[Ratios, ...]
    overhead: tuple[Ratios, ...]
    can_draw: bool


def assess_times(run: Run, cells: Cells) -> Times | None:
    """None for a run that has no times."""
    pairs, overhead = assess_pairs(run.compare), assess_overhead(run.overhead)
    if not (len(run.time) or pairs or overhead):
        return None
    rows = time_rows(run, cells)
    outcomes = cells.column("outcome")
    shown = {
        cell: phases
        for cell, phases in rows.of_cell.items()
        if is_right(outcomes[cell]) or outcomes[cell] == _SUSPECT
    }
    suspects = {cell for cell in shown if outcomes[cell] == _SUSPECT}
    can_draw = is_at_hand()
    latency = [_latency(cells, shown, suspects, *pair) for pair in _LATENCIES]
    return Times(
        rows=rows,
        backends=tuple(
            _backend(cells, at, rows, outcomes) for at in range(cells.n_backends)
        ),
        n_cases=len({cell // cells.n_backends for cell in rows.of_cell}),
        latency=tuple(part for part in latency if part.n_rows) if can_draw else (),
        phases=_phases(cells, shown, suspects) if can_draw else None,
        roofline=_roofline(run, cells, rows, shown, suspects, can_draw),
        growth=assess_growth(run.scaling, cells.backends, can_draw),
        pairs=pairs,
        overhead=overhead,
        can_draw=can_draw,
    )


def _backend(
    cells: Cells, at: int, rows: TimeRows, outcomes: Sequence[str]
) -> BackendTimes:
    own = {c: p for c, p in rows.of_cell.items() if c % cells.n_backends == at}
    right = [cell for cell in own if is_right(outcomes[cell])]
    suspect = sum(outcomes[cell] == _SUSPECT for cell in own)
    warm = [phase for cell in right if (phase := rows.phase(cell, "warm"))]
    widths = [w for phase in warm if (w := phase.half_width) is not None]
    return BackendTimes(
        name=cells.backends[at],
        n_timed=len(own),
        n_right=len(right),
        n_suspect=suspect,
        n_noisy=sum(any(p.noisy for p in own[cell]) for cell in right),
        n_left_out=len(own) - len(right) - suspect,
        widths=middle_and_most(widths),
    )


def _named(phases: Sequence[Phase], name: str) -> Phase | None:
    return next((phase for phase in phases if phase.name == name), None)


def _latency(
    cells: Cells,
    shown: Mapping[int, Sequence[Phase]],
    suspects: set[int],
    phase: str,
    beside: str,
) -> LatencyPart:
    """For each operator the case that most backends have and that takes longest; each
    network by itself."""
    ops = cells.case_column("op")
    best: dict[str, tuple[tuple[int, float], Latency]] = {}
    for case in {cell // cells.n_backends: None for cell in shown}:
        own = range(case * cells.n_backends, (case + 1) * cells.n_backends)
        warm = tuple(_named(shown.get(cell, ()), phase) for cell in own)
        cold = tuple(_named(shown.get(cell, ()), beside) for cell in own)
        if not any(warm):
            continue
        op, leaf = ops[case], cells.ids[case].rpartition("/")[2]
        label = op if is_operator(op) else leaf.removeprefix("test_")
        row = Latency(label, warm, cold, any(cell in suspects for cell in own))
        n_right = sum(bool(p) and c not in suspects for p, c in zip(warm, own))
        rank = (n_right, row.slowest)
        if label not in best or best[label][0] < rank:
            best[label] = (rank, row)
    rows = [row for _, row in best.values()]
    figures = latency_figures(phase, rows, cells.n_backends) if is_at_hand() else []
    n_drawn = sum(len(figure.rows) for figure in figures)
    return LatencyPart(phase, beside, tuple(figures), len(rows), n_drawn)


def _phases(
    cells: Cells, shown: Mapping[int, Sequence[Phase]], suspects: set[int]
) -> Figure | None:
    """Boxes over the cases that every backend with times has."""
    n = cells.n_backends
    timed = sorted({cell % n for cell in shown})
    cases = {cell // n for cell in shown}
    common = [
        case
        for case in sorted(cases)
        if all(case * n + at in shown and case * n + at not in suspects for at in timed)
    ]
    if len(common) < _LEAST_OF_A_BOX:
        return None
    met = {phase.name for case in common for phase in shown[case * n + timed[0]]}
    boxes = []
    for name in (*PHASES, *sorted(met - {*PHASES})):
        found: list[list[float] | None] = []
        for at in range(n):
            phases = (_named(shown.get(case * n + at, ()), name) for case in common)
            found.append(_box([phase.median for phase in phases if phase]))
        if any(found):
            boxes.append((name, found))
    return phase_figure(boxes, len(common))


def _box(medians: Sequence[float]) -> list[float] | None:
    if len(medians) < _LEAST_OF_A_BOX:
        return None
    cuts = quantiles(medians, n=20, method="inclusive")
    return [cuts[at] for at in (0, 4, 9, 14, 18)]


def _roofline(
    run: Run,
    cells: Cells,
    rows: TimeRows,
    shown: Mapping[int, Sequence[Phase]],
    suspects: set[int],
    can_draw: bool,
) -> Roofline:
    points = []
    n_unknown = n_idle = n_above = 0
    ops = cells.case_column("op")
    peaks: set[tuple[float | None, float | None]] = set()
    for cell, phases in shown.items():
        warm = _named(phases, "warm")
        if warm is None or cell in suspects:
            continue
        flops, speed, intensity = (
            rows.number(name, warm.row) for name in ("flops", "gflop_s", "intensity")
        )
        if flops is None:
            n_unknown += 1
        elif not speed or not intensity:
            n_idle += 1
        else:
            op = ops[cell // cells.n_backends]
            points.append(Point(op, cell % cells.n_backends, intensity, speed))
        n_above += (rows.number("roof_frac", warm.row) or 0) > 1
        peak = rows.number("peak_gflop_s", warm.row)
        peaks.add((peak, rows.number("peak_gb_s", warm.row)))
    roofs = _roofs(run) or _peaks(peaks)
    figure = roofline_figure(points, roofs) if points and can_draw else None
    return Roofline(figure, len(points), n_unknown, n_idle, n_above, len(roofs))


def _roofs(run: Run) -> list[Roof]:
    """The measured roofs of the machine, each the highest that was found."""
    table = run.roofs
    highest: dict[tuple[str, ...], float] = {}
    keys = zip(*(table[name] for name in ("level", "type", "threads")))
    for row, key in enumerate(keys):
        for unit in ("gflop_s", "gb_s"):
            rate = number(table, unit, row) or 0.0
            if rate > highest.get((*key, unit), 0.0):
                highest[(*key, unit)] = rate
    roofs = []
    for (level, dtype, threads, unit), rate in highest.items():
        many = "" if threads in ("", "1") else f", {threads} threads"
        if unit == "gflop_s":
            roofs.append(Roof(f"{dtype} {rate:.3g} GFLOP/s{many}", speed=rate))
        else:
            roofs.append(Roof(f"{level} {rate:.3g} GB/s{many}", rate=rate))
    return roofs


def _peaks(peaks: set[tuple[float | None, float | None]]) -> list[Roof]:
    """Those that stand beside the times."""
    speeds = sorted({speed for speed, _ in peaks if speed})
    rates = sorted({rate for _, rate in peaks if rate})
    return [
        *(Roof(f"{speed:.3g} GFLOP/s", speed=speed) for speed in speeds),
        *(Roof(f"{rate:.3g} GB/s", rate=rate) for rate in rates),
    ]
