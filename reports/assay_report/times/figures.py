# SPDX-License-Identifier: Apache-2.0
"""Latency by operator, phases, and a roofline.

    for figure in latency_figures(choice, backends):
        figure.svg

Phases are never mixed, and a series is that of one backend: in a colour and in a shape
of its own.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from assay_report.plot import seconds_text
from assay_report.times.drawing import (
    TEXT,
    Drawing,
    color,
    draw_boxes,
    draw_marks,
    draw_spans,
    log_limits,
    set_log,
)
from assay_report.times.rows import Phase

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDTH = 372
_ROW = 15.0
# The longest name of a row.
_LABEL = 22
# Rows of a figure, and figures side by side: more is a table's.
_ROWS = 60
FIGURES = 3
# Marks of a label: the machine was not quiet; nobody believes a time.
NOISY, SUSPECT = "*", "?"


@dataclass(frozen=True)
class Figure:
    title: str
    svg: Markup
    rows: tuple[str, ...] = ()  # the names in it, where it has rows


@dataclass(frozen=True)
class Latency:
    """One operator by one case: a warm and a cold phase for each backend, or None."""

    label: str
    warm: tuple[Phase | None, ...]
    cold: tuple[Phase | None, ...]
    suspect: bool = False

    @property
    def slowest(self) -> float:
        return max(phase.median for phase in self.warm if phase)

    @property
    def marks(self) -> str:
        noisy = any(phase.noisy for phase in (*self.warm, *self.cold) if phase)
        return NOISY * noisy + SUSPECT * self.suspect


@dataclass(frozen=True)
class Point:
    """A case on a backend in the roofline."""

    label: str
    series: int
    intensity: float  # operations a byte
    speed: float  # 1e9 operations a second


@dataclass(frozen=True)
class Roof:
    """`speed` for one of computing, in GFLOP/s; `rate` for memory, in GB/s."""

    name: str
    speed: float = 0.0
    rate: float = 0.0


def nanoseconds(value: float) -> str:
    return seconds_text(value * 1e-9)


def seconds_from(phases: Sequence[Phase]) -> list[float]:
    """All numbers that stand on an axis of these."""
    return [n for p in phases for n in (p.median, p.low, p.high) if n]


def cut(label: str) -> str:
    return label if len(label) <= _LABEL else f"{label[: _LABEL - 1]}\u2026"


def room_of(labels: Sequence[str]) -> float:
    """The pixels left of axes whose rows have these names."""
    return 12 + 6.4 * max(map(len, labels))


def latency_figures(
    phase: str, rows: Sequence[Latency], n_backends: int
) -> list[Figure]:
    """The slowest first, in figures of one scale that stand side by side."""
    shown = sorted(rows, key=lambda row: -row.slowest)[: _ROWS * FIGURES]
    phases = [p for row in shown for p in (*row.warm, *row.cold) if p]
    limits = log_limits(seconds_from(phases), 100)
    n_figures = min(FIGURES, -(-len(shown) // 20))
    size = -(-len(shown) // max(n_figures, 1))
    figures = []
    for at in range(n_figures):
        part = shown[at * size : (at + 1) * size]
        first, last = at * size + 1, at * size + len(part)
        title = f"{first} to {last} of {len(rows)}, the slowest first"
        svg = _latency(f"{phase}-{at}", part, n_backends, limits, title)
        figures.append(Figure(title, svg, tuple(row.label for row in part)))
    return figures


def _latency(
    name: str,
    rows: Sequence[Latency],
    n_backends: int,
    limits: tuple[float, float],
    title: str,
) -> Markup:
    labels = [f"{cut(row.label)} {row.marks}".strip() for row in rows]
    drawing = Drawing(name, WIDTH, 46 + _ROW * len(rows))
    axes = drawing.axes(left=room_of(labels), right=22, top=24, bottom=22)
    set_log(axes, "x", limits, nanoseconds, most=5)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_yticks(range(len(rows)), labels, color=color("ink"), fontsize=TEXT)
    axes.tick_params(axis="x", labeltop=True)
    for series in range(n_backends):
        hue = f"s{series % 8}"
        shift = (series - (n_backends - 1) / 2) * min(0.3, 0.8 / n_backends)
        warm, cold, between = [], [], []
        for at, row in enumerate(rows):
            one, other, y = row.warm[series], row.cold[series], at + shift
            warm += [(one, y)] if one else []
            cold += [(other, y)] if other else []
            between += [(one.median, other.median, y)] if one and other else []
        draw_spans(axes, between, hue, 0.8)
        for phases in (warm, cold):
            spans = [(p.low, p.high, y) for p, y in phases if p.low and p.high]
            draw_spans(axes, spans, hue, 2.4)
        draw_marks(axes, [(p.median, y) for p, y in cold], series, hue, 2.6, True)
        draw_marks(axes, [(p.median, y) for p, y in warm], series, hue, 2.9)
    slow, fast = rows[0], rows[-1]
    return drawing.svg(
        f"Times. {title}",
        f"Medians from {nanoseconds(slow.slowest)} ({slow.label}) to "
        f"{nanoseconds(fast.slowest)} ({fast.label}); the table below has each.",
    )


def phase_figure(
    boxes: Sequence[tuple[str, Sequence[Sequence[float] | None]]], n_cases: int
) -> Figure:
    """A row for each phase, in it a box for each backend: 5, 25, 50, 75 and 95 % of the
    medians of the same cases."""
    n_backends = len(boxes[0][1])
    height = max(26.0, 12.0 * n_backends + 8)
    drawing = Drawing("phases", WIDTH, 56 + height * len(boxes))
    axes = drawing.axes(left=66, right=22, top=10, bottom=44)
    numbers = [n for _, found in boxes for box in found if box for n in box]
    set_log(axes, "x", log_limits(numbers, 100), nanoseconds, most=6)
    axes.set_ylim(len(boxes) - 0.5, -0.5)
    names = [name for name, _ in boxes]
    axes.set_yticks(range(len(boxes)), names, color=color("ink"))
    axes.set_xlabel("median of a case")
    step = 0.8 / n_backends
    for series in range(n_backends):
        shift = (series - (n_backends - 1) / 2) * step
        own = [(at + shift, found[series]) for at, (_, found) in enumerate(boxes)]
        known = [(y, box) for y, box in own if box]
        draw_boxes(axes, known, 0.35 * step, f"s{series % 8}")
    said = "; ".join(
        f"{name}: {', '.join(nanoseconds(box[2]) if box else 'none' for box in found)}"
        for name, found in boxes
    )
    svg = drawing.svg("Phases of a network", f"Medians by backend. {said}.")
    return Figure(f"Phases, over the {n_cases:,} cases that all backends have", svg)


def roofline_figure(points: Sequence[Point], roofs: Sequence[Roof]) -> Figure:
    """Speed over intensity, under the roofs of the machine where they are known."""
    drawing = Drawing("roofline", WIDTH, 330)
    axes = drawing.axes(left=62, right=22, top=14, bottom=44)
    rates = [roof for roof in roofs if roof.rate]
    speeds = [roof for roof in roofs if roof.speed]
    xs = [point.intensity for point in points]
    top = max((roof.speed for roof in speeds), default=0.0)
    if top and rates:  # where the highest roofs meet is within
        xs.append(top / max(roof.rate for roof in rates))
    x_limits = log_limits(xs)
    ys = [point.speed for point in points] + [roof.speed for roof in speeds]
    y_limits = log_limits(ys)
    set_log(axes, "x", x_limits, lambda value: f"{value:g}", most=6)
    set_log(axes, "y", y_limits, lambda value: f"{value:g}", most=7)
    axes.set_xlabel("operations a byte")
    axes.set_ylabel("GFLOP/s")
    _draw_roofs(axes, rates, speeds, (*x_limits, *y_limits))
    for series in sorted({point.series for point in points}):
        places = [(p.intensity, p.speed) for p in points if p.series == series]
        draw_marks(axes, places, series, f"s{series % 8}", 2.4)
    _name_points(axes, points)
    best = max(points, key=lambda point: point.speed)
    said = "" if roofs else " The roofs of this machine are not known."
    svg = drawing.svg(
        "Roofline of warm calls",
        f"{len(points):,} points; the fastest is {best.label} with {best.speed:.3g} "
        f"GFLOP/s at {best.intensity:.3g} operations a byte.{said}",
    )
    return Figure("Speed of warm calls over their intensity", svg)


def _draw_roofs(
    axes: "Axes",
    rates: Sequence[Roof],
    speeds: Sequence[Roof],
    limits: tuple[float, float, float, float],
) -> None:
    """Slopes of memory up to the highest level of computing, and those levels."""
    left, right, bottom, top = limits
    highest = max((roof.speed for roof in speeds), default=top)
    for roof in rates:
        x0, x1 = max(left, bottom / roof.rate), min(right, highest / roof.rate)
        if x0 >= x1:
            continue
        xs = (x0, x1)
        axes.plot(xs, [x * roof.rate for x in xs], color=color("quiet"), linewidth=1.3)
        axes.text(x0 * 1.05, x0 * 1.05 * roof.rate, f" {roof.name}", **_NOTE)
    for roof in speeds:
        start = max(left, min((roof.speed / one.rate for one in rates), default=left))
        axes.plot(
            (start, right), (roof.speed,) * 2, color=color("quiet"), linewidth=1.3
        )
        axes.text(right, roof.speed, roof.name, ha="right", **_NOTE)


_NOTE: Any = {"color": color("quiet"), "fontsize": 10, "va": "bottom"}
_NAMED = 5


def _name_points(axes: "Axes", points: Sequence[Point]) -> None:
    """Names of the fastest operators, as far as there is room."""
    taken: list[tuple[float, float]] = []
    named: set[str] = set()
    for point in sorted(points, key=lambda one: -one.speed):
        x, y = axes.transData.transform((point.intensity, point.speed))
        is_free = all(abs(x - a) > 110 or abs(y - b) > 16 for a, b in taken)
        if point.label in named or not is_free or len(named) == _NAMED:
            continue
        named.add(point.label)
        taken.append((x, y))
        is_right = x > 0.7 * WIDTH
        axes.annotate(
            point.label,
            (point.intensity, point.speed),
            xytext=(-6 if is_right else 6, -1),
            textcoords="offset points",
            ha="right" if is_right else "left",
            va="center",
            fontsize=10,
            color=color("ink"),
        )
