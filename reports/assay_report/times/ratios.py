# SPDX-License-Identifier: Apache-2.0
"""Ratios of two times with their intervals: pairs of a comparison, and overhead.

    for pairs in assess_pairs(run.compare):
        print(pairs.backend, "beside", pairs.base, dict(pairs.counts))

A ratio is the time of what is tried over that of what it is held against: above 1 is
slower.
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from markupsafe import Markup

from assay_report.run_folder import Table
from assay_report.times.drawing import (
    Drawing,
    color,
    draw_marks,
    draw_spans,
    is_at_hand,
)
from assay_report.times.figures import (
    FIGURES,
    NOISY,
    WIDTH,
    Figure,
    cut,
    nanoseconds,
    room_of,
)
from assay_report.times.rows import number

# By how much `assay compare` lets times differ, where its table does not say.
MARGIN = 0.03
# Verdicts as framework/timing/comparison.h has them: colour, shape, is hollow.
VERDICTS = {
    "worse": ("bad", 3, False),
    "better": ("good", 4, False),
    "same": ("calm", 0, False),
    "unsure": ("quiet", 0, True),
}
_LEAST_REACH = 0.01
_ROW = 15.0
_ROWS = 50
# Where a tick may stand: so much slower, and so much less time.
_SLOWER = (1.005, 1.01, 1.02, 1.05, 1.1, 1.2, 1.5, 2, 3, 5, 10, 30, 100, 1000)
_FASTER = (
    0.005,
    0.01,
    0.02,
    0.05,
    0.1,
    0.2,
    0.3,
    0.5,
    0.7,
    0.8,
    0.9,
    0.97,
    0.99,
    0.999,
)


@dataclass(frozen=True)
class Ratio:
    """One case; `verdict` is empty where nobody gave one."""

    test_id: str
    label: str
    ratio: float
    low: float | None
    high: float | None
    base_ns: float | None
    ns: float | None
    n: int
    verdict: str = ""
    noisy: bool = False
    seen: float | None = None  # the least slowdown that would be found, as a ratio
    second: str = ""  # ratio of the second set, as text

    @property
    def text(self) -> str:
        return percent(self.ratio)

    @property
    def interval(self) -> str:
        if self.low is None or self.high is None:
            return ""
        return f"{percent(self.low)} to {percent(self.high)}"

    @property
    def seen_text(self) -> str:
        return percent(self.seen) if self.seen else ""

    @property
    def half_width(self) -> float:
        if self.low is None or self.high is None:
            return math.nan
        return (self.high - self.low) / 2

    @property
    def times(self) -> str:
        known = [nanoseconds(one) for one in (self.base_ns, self.ns) if one]
        return " to ".join(known)


@dataclass(frozen=True)
class Ratios:
    """The cases of one table, those furthest from 1 first."""

    base: str
    backend: str
    rows: tuple[Ratio, ...]
    margin: float
    is_margin_known: bool
    counts: tuple[tuple[str, int], ...]
    figures: tuple[Figure, ...]
    widths: tuple[str, str] | None  # half widths in percent: the median, the worst
    seen: tuple[str, str] | None  # least slowdowns that would be found: the same
    n_without_interval: int

    @property
    def headline(self) -> tuple[str, str]:
        """A state, as of the headline of a run, and a sentence."""
        counts = dict(self.counts)
        unsure = counts.get("unsure", 0)
        rest = f"; {unsure:,} of {len(self.rows):,} unsure" if unsure else ""
        if worse := counts.get("worse", 0):
            many = "case" if worse == 1 else "cases"
            return "bad", f"{self.backend} is slower in {worse:,} {many}{rest}"
        if unsure == len(self.rows) or not counts:
            return "none", f"Nobody knows whether {self.backend} is slower{rest}"
        state = "none" if unsure else "good"
        return state, f"{self.backend} is slower in no case{rest}"


def percent(ratio: float) -> str:
    """+3.1 %; beyond a factor of two as a factor."""
    if not 0.5 < ratio < 2:
        return f"\u00d7{ratio:.3g}"
    return f"{100 * (ratio - 1):+.1f} %"


def assess_pairs(table: Table) -> tuple[Ratios, ...]:
    """compare.csv, one for each base and backend in it."""
    keys = list(dict.fromkeys(zip(table["base"], table["backend"])))
    return tuple(
        _pairs(table, at, base, backend) for at, (base, backend) in enumerate(keys)
    )


def _pairs(table: Table, at: int, base: str, backend: str) -> Ratios:
    own = [
        row
        for row, key in enumerate(zip(table["base"], table["backend"]))
        if key == (base, backend)
    ]
    rows = [one for row in own if (one := _pair(table, row))]
    margins = {value for row in own if (value := number(table, "margin", row))}
    return ratios_of(f"pairs-{at}", base, backend, rows, margins)


def _pair(table: Table, row: int) -> Ratio | None:
    ratio = number(table, "ratio", row)
    if ratio is None or ratio <= 0:
        return None
    second = number(table, "second_ratio", row)
    test_id = table["test_id"][row]
    return Ratio(
        test_id=test_id,
        label=_label(test_id),
        ratio=ratio,
        low=number(table, "ci95_lo", row),
        high=number(table, "ci95_hi", row),
        base_ns=number(table, "base_ns", row),
        ns=number(table, "candidate_ns", row),
        n=int(number(table, "n_blocks", row) or 0),
        verdict=table["verdict"][row],
        noisy=table["noisy"][row] == "1",
        seen=number(table, "least_slowdown", row),
        second=percent(second) if second else "",
    )


def assess_overhead(table: Table) -> tuple[Ratios, ...]:
    """overhead.csv, one for each backend: calls through this framework over calls of
    the library itself."""
    found: dict[str, list[Ratio]] = {}
    for row, (test_id, backend) in enumerate(zip(table["test_id"], table["backend"])):
        ratio = number(table, "paired_ratio", row)
        if ratio is None or ratio <= 0:
            continue
        one = Ratio(
            test_id=test_id,
            label=_label(test_id),
            ratio=ratio,
            low=number(table, "ratio_ci95_lo", row),
            high=number(table, "ratio_ci95_hi", row),
            base_ns=number(table, "native_median_ns", row),
            ns=number(table, "framework_median_ns", row),
            n=int(number(table, "n_pairs", row) or 0),
            noisy=table["noisy"][row] == "1",
        )
        found.setdefault(backend, []).append(one)
    return tuple(
        ratios_of(f"overhead-{at}", "the library alone", backend, rows, set())
        for at, (backend, rows) in enumerate(found.items())
    )


def _label(test_id: str) -> str:
    """Operator and case: "Conv conv_with_strides"."""
    _, _, rest = test_id.partition("/")
    op, _, leaf = rest.partition("/")
    short = leaf.removeprefix("test_").removeprefix(op.lower()).strip("_")
    return f"{op} {short}".strip() or test_id


def ratios_of(
    name: str, base: str, backend: str, rows: Sequence[Ratio], margins: set[float]
) -> Ratios:
    """The table and figures of these; without one margin for all, the default."""
    is_known = len(margins) == 1
    margin = next(iter(margins)) if is_known else MARGIN
    ordered = sorted(rows, key=lambda row: (-abs(math.log(row.ratio)), row.test_id))
    counts = Counter(row.verdict for row in rows if row.verdict)
    widths = [row.half_width for row in rows if not math.isnan(row.half_width)]
    seen = [row.seen - 1 for row in rows if row.seen is not None]
    shown = ordered[: _ROWS * FIGURES]
    is_judged = bool(counts)
    return Ratios(
        base=base,
        backend=backend,
        rows=tuple(ordered),
        margin=margin,
        is_margin_known=is_known,
        counts=tuple((word, counts[word]) for word in VERDICTS if is_judged),
        figures=tuple(_figures(name, shown, margin if is_judged else None)),
        widths=middle_and_most(widths),
        seen=middle_and_most(seen),
        n_without_interval=len(rows) - len(widths),
    )


def middle_and_most(shares: Sequence[float]) -> tuple[str, str] | None:
    """The median and the greatest, in percent."""
    if not shares:
        return None
    return (f"{100 * median(shares):.2g} %", f"{100 * max(shares):.2g} %")


def _figures(name: str, shown: Sequence[Ratio], margin: float | None) -> list[Figure]:
    if not shown or not is_at_hand():
        return []
    ordered = sorted(shown, key=lambda row: -row.ratio)
    ends = [n for row in ordered for n in (row.ratio, row.low, row.high) if n]
    least = math.log(1 + 2 * (margin or _LEAST_REACH))
    reach = max(least, *(abs(math.log(n)) for n in ends)) * 1.08
    limits = (math.exp(-reach), math.exp(reach))
    n_figures = min(FIGURES, -(-len(ordered) // 20))
    size = -(-len(ordered) // n_figures)
    figures = []
    for at in range(n_figures):
        part = ordered[at * size : (at + 1) * size]
        first, last = at * size + 1, at * size + len(part)
        title = f"Cases {first} to {last}, the slowest ratio first"
        figures.append(
            Figure(title, _draw(f"{name}-{at}", part, limits, margin, title))
        )
    return figures


def _draw(
    name: str,
    rows: Sequence[Ratio],
    limits: tuple[float, float],
    margin: float | None,
    title: str,
) -> Markup:
    labels = [f"{cut(row.label)} {NOISY * row.noisy}".strip() for row in rows]
    drawing = Drawing(name, WIDTH, 46 + _ROW * len(rows))
    axes = drawing.axes(
        left=room_of(labels), right=58 if margin else 18, top=24, bottom=22
    )
    axes.set_xscale("log")
    axes.set_xlim(limits)
    ticks = _ticks(limits)
    axes.set_xticks(ticks, [_change(one) for one in ticks])
    axes.set_xticks([], minor=True)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_yticks(range(len(rows)), labels, color=color("ink"))
    axes.tick_params(axis="x", labeltop=True)
    if margin:
        band = (1 / (1 + margin), 1 + margin)
        axes.axvspan(*band, facecolor=color("calm"), alpha=0.16, linewidth=0)
    axes.axvline(1, color=color("quiet"), linewidth=1)
    for verdict, (hue, shape, hollow) in (*VERDICTS.items(), ("", ("s0", 0, False))):
        own = [(at, row) for at, row in enumerate(rows) if row.verdict == verdict]
        spans = [(row.low, row.high, at) for at, row in own if row.low and row.high]
        draw_spans(axes, spans, hue)
        draw_marks(axes, [(row.ratio, at) for at, row in own], shape, hue, 3, hollow)
    for at, row in enumerate(rows):
        hue = VERDICTS.get(row.verdict, ("quiet", 0, False))[0]
        axes.annotate(
            row.verdict,
            (1, at),
            xycoords=("axes fraction", "data"),
            xytext=(8, 0),
            textcoords="offset points",
            va="center",
            fontsize=10.5,
            color=color(hue),
        )
    first, last = rows[0], rows[-1]
    said = f"From {first.text} ({first.label}) to {last.text} ({last.label})."
    return drawing.svg(title, f"{said} The table below has each.")


def _change(ratio: float) -> str:
    if not 0.5 < ratio < 2:
        return f"\u00d7{ratio:g}"
    return "0" if ratio == 1 else f"{100 * (ratio - 1):+.3g} %"


def _ticks(limits: tuple[float, float]) -> list[float]:
    """Round changes on either side of 1, with room between them."""
    room = math.log(limits[1] / limits[0]) / 3.6
    ticks = [1.0]
    for way in (_SLOWER, tuple(1 - one for one in _FASTER)):
        last = 1.0
        for tick in way:
            if abs(math.log(tick / last)) >= room and limits[0] <= tick <= limits[1]:
                ticks.append(tick)
                last = tick
    return sorted(ticks)
