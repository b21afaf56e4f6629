# SPDX-License-Identifier: Apache-2.0
"""One plot of bands as inline SVG, with colours and strokes from the style sheet.

plot = Plot("samples", "accuracy", [("momentum", band)])
plot.svg()   # markup; classes s0, s1, ... colour the series
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from markupsafe import Markup, escape

from assay_report.training import Band, Boxes, Curve

WIDTH, HEIGHT = 560, 300
_LEFT, _RIGHT, _TOP, _BOTTOM = 58, 12, 12, 40
# The style sheet has as many.
SERIES = 8


def ticks(low: float, high: float, most: int = 6) -> list[float]:
    """Round numbers from below `low` to above `high`, at most `most` steps."""
    if not high > low:
        high = low + (abs(low) or 1.0)
    rough = (high - low) / most
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(
        (m * power for m in (1, 2, 2.5, 5, 10) if m * power >= rough), 10 * power
    )
    first = math.floor(low / step + 1e-9)
    last = math.ceil(high / step - 1e-9)
    return [round(i * step, 12) for i in range(first, last + 1)]


def number(value: float) -> str:
    """As a tick says it: 12k, 0.95."""
    if abs(value) >= 1000:
        return f"{value / 1000:g}k"
    return f"{value:.4g}"


def seconds_text(value: float) -> str:
    """As 1.25 ms: three digits and a unit."""
    for least, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "\u00b5s"), (0.0, "ns")):
        if float(f"{value:.3g}") >= least:
            scale = least or 1e-9
            return f"{float(f'{value / scale:.3g}'):g} {unit}"
    return f"{value:g} s"


def mark(at: int, x: float, y: float) -> Markup:
    """A point of series `at`: a circle, a square or a diamond, in turn."""
    color = f"dot s{at % SERIES}"
    if at % 3 == 0:
        return Markup(f'<circle class="{color}" cx="{x}" cy="{y}" r="3.5"/>')
    path = ("M-3-3H3V3H-3Z", "M0-4.5L4.5 0L0 4.5L-4.5 0Z")[at % 3 - 1]
    return Markup(f'<path class="{color}" transform="translate({x} {y})" d="{path}"/>')


@dataclass
class Plot:
    """Bands around lines; `dotted` are lines without a band, and `seeds` the thin
    lines that a band is made of, each with a point where it ends."""

    x_name: str
    y_name: str
    series: Sequence[tuple[str, Band]]
    dotted: Sequence[tuple[str, Band]] = ()
    floor: float | None = None
    seeds: Sequence[Sequence[Curve]] = ()
    _x: list[float] = field(init=False)
    _y: list[float] = field(init=False)

    def __post_init__(self) -> None:
        points = [p for _, band in (*self.series, *self.dotted) for p in band]
        xs = [p[0] for p in points] or [0.0, 1.0]
        lows = [p[1] for p in points] or [0.0]
        highs = [p[3] for p in points] or [1.0]
        self._x = ticks(0.0, max(xs))
        low = min(lows) if self.floor is None else self.floor
        self._y = ticks(low, max(highs))

    def svg(self) -> Markup:
        """The whole figure; its title is read in the place of the picture."""
        parts = [
            f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img">',
            f"<title>{escape(self.y_name)} against {escape(self.x_name)}</title>",
            *self._grid(),
            *self._drawn(),
            "</svg>",
        ]
        return Markup("\n".join(parts))

    def _drawn(self) -> list[str]:
        """Everything that stands on the grid."""
        parts = []
        for at, (_, band) in enumerate(self.series):
            parts += self._band(at, band)
        for at, (_, band) in enumerate(self.dotted):
            parts += self._line(at, band, "dotted")
        for at, curves in enumerate(self.seeds):
            for curve in curves:
                band = [(x, y, y, y) for x, y in curve]
                parts += self._line(at, band, "seed")
        return parts + self._points()

    def _points(self) -> list[str]:
        """The marks that stand on the lines."""
        return []

    def _y_text(self, tick: float) -> str:
        return number(tick)

    def _share(self, value: float, axis: Sequence[float]) -> float:
        """0 at the axis' first tick, 1 at its last."""
        return (value - axis[0]) / (axis[-1] - axis[0])

    def _place(self, x: float, y: float) -> tuple[float, float]:
        across = self._share(x, self._x)
        up = self._share(y, self._y)
        return (
            round(_LEFT + across * (WIDTH - _LEFT - _RIGHT), 1),
            round(HEIGHT - _BOTTOM - up * (HEIGHT - _TOP - _BOTTOM), 1),
        )

    def _grid(self) -> list[str]:
        left, bottom = self._place(self._x[0], self._y[0])
        right, top = self._place(self._x[-1], self._y[-1])
        parts = []

        def text(kind: str, x: float, y: float, said: str) -> None:
            parts.append(f'<text class="{kind}" x="{x}" y="{y}">{escape(said)}</text>')

        for tick in self._y:
            _, y = self._place(self._x[0], tick)
            parts.append(f'<path class="grid" d="M{left} {y}H{right}"/>')
            text("tick end", left - 7, y + 4, self._y_text(tick))
        for tick in self._x:
            x, _ = self._place(tick, self._y[0])
            text("tick mid", x, bottom + 16, number(tick))
        parts.append(f'<path class="axis" d="M{left} {top}V{bottom}H{right}"/>')
        text("name mid", (left + right) / 2, HEIGHT - 6, self.x_name)
        return parts

    def _band(self, at: int, band: Band) -> list[str]:
        if not band:
            return []
        over = [self._place(x, high) for x, _, _, high in band]
        under = [self._place(x, low) for x, low, _, _ in reversed(band)]
        outline = " ".join(f"{x},{y}" for x, y in (*over, *under))
        return [
            f'<polygon class="band s{at % SERIES}" points="{outline}"/>',
            *self._line(at, band, "line"),
        ]

    def _line(self, at: int, band: Band, kind: str) -> list[str]:
        points = [self._place(x, middle) for x, _, middle, _ in band]
        if not points:
            return []
        path = " ".join(f"{x},{y}" for x, y in points)
        color = f"s{at % SERIES}"
        parts = [f'<polyline class="{kind} {color}" points="{path}"/>']
        if radius := {"line": 3.5, "seed": 2}.get(kind):
            x, y = points[-1]
            parts.append(
                f'<circle class="dot {color}" cx="{x}" cy="{y}" r="{radius}"/>'
            )
        return parts


@dataclass
class BoxPlot(Plot):
    """Boxes beside each other at whole numbers; each has its whiskers and median."""

    boxes: Sequence[tuple[str, Boxes]] = ()

    def __post_init__(self) -> None:
        rows = [row for _, boxes in self.boxes for row in boxes]
        lows = [row[1] for row in rows] or [0.0]
        highs = [row[5] for row in rows] or [1.0]
        ends = [row[0] for row in rows] or [0]
        self._x = [float(x) for x in range(min(ends), max(ends) + 2)]
        while len(self._x) > 11:
            self._x = [*self._x[:-1:2], self._x[-1]]
        low = min(lows) if self.floor is None else self.floor
        self._y = ticks(low, max(highs))

    def _drawn(self) -> list[str]:
        width = 0.8 / max(len(self.boxes), 1)
        return [
            part
            for at, (_, boxes) in enumerate(self.boxes)
            for row in boxes
            for part in self._box(at, row[0] + 0.1 + width * at, 0.85 * width, row)
        ]

    def _box(
        self, at: int, begin: float, width: float, row: Sequence[float]
    ) -> list[str]:
        left, low = self._place(begin, row[1])
        right, high = self._place(begin + width, row[5])
        lower, middle, upper = (self._place(begin, y)[1] for y in row[2:5])
        across = round((left + right) / 2, 1)
        color = f"s{at % SERIES}"
        return [
            f'<path class="whisker {color}" d="M{across} {low}V{high}"/>',
            f'<rect class="box {color}" x="{left}" y="{upper}" '
            f'width="{round(right - left, 1)}" height="{round(lower - upper, 1)}"/>',
            f'<path class="middle {color}" d="M{left} {middle}H{right}"/>',
        ]


@dataclass
class LogPlot(Plot):
    """Lines of seconds by whole numbers, with both axes logarithmic.

    `marks` are points of the series, in their order.
    """

    marks: Sequence[Sequence[tuple[float, float]]] = ()

    def __post_init__(self) -> None:
        points = [(x, y) for _, band in self.series for x, _, y, _ in band]
        points += [point for marks in self.marks for point in marks]
        most = max((x for x, _ in points), default=2)
        doublings = max(2, math.ceil(math.log2(most)))
        step = math.ceil(doublings / 10)
        self._x = [2.0**at for at in range(1, doublings + step, step)]
        low = min((y for _, y in points), default=1.0)
        high = max((y for _, y in points), default=1.0)
        first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
        self._y = [10.0**at for at in range(first, max(last, first + 1) + 1)]

    def _points(self) -> list[str]:
        return [
            mark(at, *self._place(*point))
            for at, marks in enumerate(self.marks)
            for point in marks
        ]

    def _y_text(self, tick: float) -> str:
        return seconds_text(tick)

    def _share(self, value: float, axis: Sequence[float]) -> float:
        return math.log(value / axis[0]) / math.log(axis[-1] / axis[0])

    def _band(self, at: int, band: Band) -> list[str]:
        return self._line(at, band, "line")[:1]
