# SPDX-License-Identifier: Apache-2.0
"""How times grow: the families of scaling.csv, a figure for each.

    growth = assess_growth(run.scaling, cells.backends)
    growth.figures[0].svg   # times over sizes, and the line of time ~ size^exponent

A family is of cases that differ in one number, its axis. A series is one backend.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from assay_report.run_folder import RunFolderError, Table
from assay_report.times.drawing import (
    Drawing,
    color,
    draw_marks,
    log_limits,
    set_log,
)
from assay_report.times.figures import WIDTH, Figure, cut, nanoseconds
from assay_report.times.rows import number

# Figures; those of the most lines and sizes come first.
_FIGURES = 9
_LINE = 16.0


@dataclass(frozen=True)
class Line:
    """One family on one backend; nan for an end of an interval that is not known."""

    backend: str
    series: int
    sizes: tuple[float, ...]
    medians: tuple[float, ...]  # nanoseconds
    lows: tuple[float, ...]
    highs: tuple[float, ...]
    exponent: float
    interval: tuple[float, float] | None

    @property
    def text(self) -> str:
        """As 2.85 [2.64, 3.08]."""
        ends = "[{:.2f}, {:.2f}]".format(*self.interval) if self.interval else ""
        return f"{self.exponent:.2f} {ends}".strip()

    def fitted(self, size: float) -> float:
        """The line through the middle of what the exponent leaves over."""
        left = (
            math.log(ns) - self.exponent * math.log(one)
            for one, ns in zip(self.sizes, self.medians)
        )
        return math.exp(median(left) + self.exponent * math.log(size))


@dataclass(frozen=True)
class Growth:
    figures: tuple[Figure, ...]
    n_families: int


def assess_growth(table: Table, backends: Sequence[str], can_draw: bool) -> Growth:
    """RunFolderError for lists of numbers that do not fit each other."""
    names = list(dict.fromkeys((*backends, *table["backend"])))
    families: dict[str, list[Line]] = {}
    for row, name in enumerate(table["test_id"]):
        series = names.index(table["backend"][row])
        families.setdefault(name, []).append(line_of(table, row, series))
    shown = sorted(families.items(), key=lambda one: (_rank(one[1]), one[0]))
    figures = [
        _figure(f"growth-{at}", name, lines)
        for at, (name, lines) in enumerate(shown[: _FIGURES if can_draw else 0])
    ]
    return Growth(tuple(figures), len(families))


def _rank(lines: Sequence[Line]) -> tuple[int, int]:
    return -len(lines), -max(len(line.sizes) for line in lines)


def line_of(table: Table, row: int, series: int) -> Line:
    """The line of a row; RunFolderError for lists that do not fit each other."""
    names = ("sizes", "median_ns", "ci95_lo_ns", "ci95_hi_ns")
    lists = [_numbers(table, name, row) for name in names]
    exponent, low, high = (
        number(table, name, row) for name in ("exponent", "ci95_lo", "ci95_hi")
    )
    known = [*lists[0], *lists[1]]
    if len({*map(len, lists)}) != 1 or exponent is None or not min(known) > 0:
        raise RunFolderError(
            f"{table.path}: found {table['sizes'][row]!r} and "
            f"{table['median_ns'][row]!r} in record {row + 1}, wanted an exponent and "
            "as many times and ends of intervals as sizes, above 0"
        )
    interval = None if low is None or high is None else (low, high)
    return Line(table["backend"][row], series, *lists, exponent, interval)


def _numbers(table: Table, column: str, row: int) -> tuple[float, ...]:
    text = table[column][row]
    try:
        return tuple(map(float, text.split()))
    except ValueError as error:
        raise RunFolderError(
            f"{table.path}: found {column} {text!r} in record {row + 1}, wanted "
            "numbers with blanks between them"
        ) from error


def _figure(name: str, family: str, lines: Sequence[Line]) -> Figure:
    """Points with their intervals, the fitted lines, and a legend above them."""
    case, _, axis = family.rpartition("#")
    _, op, leaf = case.split("/", 2)
    top = 12 + _LINE * len(lines)
    drawing = Drawing(name, WIDTH, 230 + top)
    axes = drawing.axes(left=66, right=22, top=top, bottom=44)
    xs = [size for line in lines for size in line.sizes]
    ends = [one for line in lines for one in (*line.lows, *line.highs)]
    far = [(min(line.sizes), max(line.sizes)) for line in lines]
    ends += [line.fitted(size) for line, both in zip(lines, far) for size in both]
    ys = [ns for line in lines for ns in line.medians] + ends
    set_log(axes, "x", log_limits(xs), lambda value: f"{value:g}", most=6)
    set_log(axes, "y", log_limits(ys), nanoseconds, most=7)
    axes.set_xlabel(axis)
    axes.set_ylabel("median of a call")
    for at, line in enumerate(lines):
        hue = f"s{line.series % 8}"
        fitted = [*map(line.fitted, far[at])]
        axes.plot(far[at], fitted, color=color(hue), linewidth=1.2)
        spans = zip(line.sizes, line.lows, line.highs)
        known = [one for one in spans if all(map(math.isfinite, one))]
        if known:
            axes.vlines(*zip(*known), colors=color(hue), linewidth=2.4)
        height = drawing.size[1] - 10 - _LINE * at
        sign = axes.transData.inverted().transform((14, height))
        points = [*zip(line.sizes, line.medians), (sign[0], sign[1])]
        draw_marks(axes, points, line.series, hue, 3)
        axes.annotate(
            f"{cut(line.backend)}: {axis}^{line.text}",
            (24, height),
            xycoords="figure pixels",
            va="center",
            color=color("ink"),
            annotation_clip=False,
        )
    said = "; ".join(
        f"{line.backend}: exponent {line.text} over {len(line.sizes)} sizes"
        for line in lines
    )
    title = f"{op}: {cut(leaf.removeprefix('test_'))} by {axis}"
    return Figure(title, drawing.svg(f"Times. {title}", f"{said}."))
