# SPDX-License-Identifier: Apache-2.0
"""The verb `trace`: the picture of a trace, own and inherited errors by depth.

    write_trace(Path("out/trace.csv"), Path("out/trace.svg"))

The file needs no style sheet and no network.
"""

import csv
import io
import math
from pathlib import Path

from markupsafe import Markup, escape

from assay_report.page import write_whole
from assay_report.plot import HEIGHT, WIDTH, Plot, ticks
from assay_report.run_folder import RunFolderError

_COLUMNS = {"name", "op", "depth", "verdict", "own", "inherited"}
# An error that may be anything stands above all others, and one of 0 below.
_LEAST, _MOST = 1e-4, 1e9
_STYLE = """<style>
text { font: 12px sans-serif; fill: #333 } .name { font-size: 13px }
.end { text-anchor: end } .mid { text-anchor: middle }
.grid { stroke: #ddd; fill: none } .axis { stroke: #333; fill: none }
.limit { stroke: #b00020; stroke-dasharray: 4 3; fill: none }
.own { fill: #1a6fb5 } .inherited { fill: none; stroke: #b26b00 }
.wrong { fill: #b00020 }
</style>"""


class TracePlot(Plot):
    """Errors in limits, on a logarithmic axis, by depth."""

    def __init__(self, rows: list[dict[str, str]]) -> None:
        self._rows = rows
        super().__init__("depth, in nodes", "error, in limits of its node", [])

    def __post_init__(self) -> None:
        found = [value for row in self._rows for value in self._errors(row).values()]
        low = math.floor(math.log10(min([*found, 0.1])))
        high = math.ceil(math.log10(max([*found, 10.0])))
        self._x = ticks(
            0.0, max((float(row["depth"]) for row in self._rows), default=1)
        )
        self._y = [10.0**at for at in range(low, high + 1, 1 + (high - low) // 8)]
        if self._y[-1] < 10.0**high:
            self._y.append(self._y[-1] * self._y[-1] / self._y[-2])

    @staticmethod
    def _errors(row: dict[str, str]) -> dict[str, float]:
        """Those that are known, within the axis."""
        return {
            kind: min(max(float(row[kind]), _LEAST), _MOST)
            for kind in ("inherited", "own")
            if row[kind]
        }

    def _share(self, value: float, axis: list[float]) -> float:
        if axis is self._y:
            return math.log(value / axis[0]) / math.log(axis[-1] / axis[0])
        return super()._share(value, axis)

    def _y_text(self, tick: float) -> str:
        return f"{tick:g}"

    def _points(self) -> list[str]:
        left, limit = self._place(self._x[0], 1.0)
        right, _ = self._place(self._x[-1], 1.0)
        parts = [
            f'<path class="limit" d="M{left} {limit}H{right}"/>',
            f'<text x="{left + 6}" y="12">filled: own, red beyond its limit; '
            "rings: inherited</text>",
        ]
        for row in self._rows:
            for kind, error in self._errors(row).items():
                x, y = self._place(float(row["depth"]), error)
                wrong = kind == "own" and row["verdict"] == "wrong"
                said = f"{row['op']} {row['name']}: {kind} {float(row[kind]):.3g}"
                parts.append(
                    f'<circle class="{"wrong" if wrong else kind}" cx="{x}" '
                    f'cy="{y}" r="{4 if wrong else 3}">'
                    f"<title>{escape(said)}</title></circle>"
                )
        return parts

    def file(self) -> str:
        """The figure as a file of its own."""
        begin = f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img">'
        whole = (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" '
            f'height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}" role="img">'
        )
        return str(self.svg().replace(Markup(begin), Markup(whole + _STYLE), 1)) + "\n"


def write_trace(table: Path, out: Path) -> None:
    """Reads the table of `assay trace` and writes its picture."""
    rows = list(csv.DictReader(io.StringIO(table.read_text(encoding="utf-8"))))
    if not rows or not set(rows[0]) >= _COLUMNS:
        raise RunFolderError(f"{table}: found no table of nodes, wanted a trace.csv")
    write_whole(out, TracePlot(rows).file())
