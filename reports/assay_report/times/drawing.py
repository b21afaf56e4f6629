# SPDX-License-Identifier: Apache-2.0
"""Figures of matplotlib as inline SVG, in the colours of the page.

    drawing = Drawing("roofline", 440, 320)
    axes = drawing.axes(left=60, right=10, top=10, bottom=40)
    axes.set(xlim=(1, 10), ylim=(1, 10))
    draw_marks(axes, [(2, 3), (4, 5)], shape=0, color="s0")
    drawing.svg("Speed", "Two cases, the faster one at 5 GFLOP/s.")

A unit is a pixel of the page. Colours are names of the style sheet (page.css and
plot.css), so that a figure is right in the light and in the dark; text is text, in the
font of the page. A series is one path, however many points it has. The same numbers
give the same bytes.
"""

import importlib.util
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from math import cos, sin, tau
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from markupsafe import Markup, escape

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TEXT = 11.5
SHAPES = 6
_NAMES = (
    *("ink", "quiet", "line", "hair", "card", "good", "bad", "warn", "calm"),
    *(f"s{at}" for at in range(8)),
)
# Each name as a colour that matplotlib takes, and that stands for nothing else.
_CODES = {name: f"#0102{at:02x}" for at, name in enumerate(_NAMES)}
_SVG = "http://www.w3.org/2000/svg"
_NUMBER = re.compile(r"-?\d+\.\d+(?:e-?\d+)?")
# The style sheet says these.
_NOT_OURS = ("font", "stroke-linejoin", "stroke-linecap:butt")
# So many signs of one series are a cloud, in which dots or squares are enough.
_MANY = 400
_SETTINGS: Any = {
    "svg.fonttype": "none",
    "svg.hashsalt": "assay",
    "path.simplify": False,
    "font.size": TEXT,
    "text.parse_math": False,
    "text.color": _CODES["ink"],
    "axes.labelcolor": _CODES["ink"],
    "axes.edgecolor": _CODES["line"],
    "axes.linewidth": 1.0,
    "axes.facecolor": "none",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "figure.facecolor": "none",
    "grid.color": _CODES["hair"],
    "grid.linewidth": 1.0,
    **{f"{axis}tick.labelcolor": _CODES["quiet"] for axis in "xy"},
    **{f"{axis}tick.{kind}.size": 0 for axis in "xy" for kind in ("major", "minor")},
    **{f"{axis}tick.major.pad": 5 for axis in "xy"},
}
# Corners, and by how much of a turn the first of them leans.
_POLYGONS = ((10, 0.0), (4, 0.125), (4, 0.0), (3, 0.0), (3, 0.5), (5, 0.0))


def is_at_hand() -> bool:
    """True where figures can be drawn."""
    return importlib.util.find_spec("matplotlib") is not None


def color(name: str) -> str:
    """The colour of the style sheet, as matplotlib takes it."""
    return _CODES[name]


class Drawing:
    """One figure; `name` is its own on the page."""

    def __init__(self, name: str, width: float, height: float) -> None:
        import matplotlib  # noqa: PLC0415  half a second, for times alone
        from matplotlib.figure import Figure  # noqa: PLC0415

        self.name = name
        self.size = (width, height)
        self._settings = matplotlib.rc_context
        with self._settings(_SETTINGS):
            self._figure = Figure(figsize=(width / 72, height / 72), dpi=72)

    def axes(self, left: float, right: float, top: float, bottom: float) -> "Axes":
        """Axes with so many pixels around them, and a grid."""
        width, height = self.size
        place = (
            left / width,
            bottom / height,
            (width - left - right) / width,
            (height - top - bottom) / height,
        )
        with self._settings(_SETTINGS):
            made = self._figure.add_axes(place)
            made.tick_params(which="both", left=False, bottom=False)
            made.grid(True)
        return made

    def svg(self, title: str, description: str) -> Markup:
        """The figure; a reader that sees none hears title and description."""
        out = io.StringIO()
        with self._settings(_SETTINGS):
            nothing = dict.fromkeys(("Date", "Creator", "Format", "Type"))
            self._figure.savefig(out, format="svg", metadata=nothing)
        width, height = self.size
        root = ElementTree.fromstring(out.getvalue())
        head = f'viewBox="0 0 {width:g} {height:g}" style="max-width:{1.3 * width:g}px"'
        parts = "".join(part for child in root for part in _lean(child))
        texts = Markup('<title id="{0}-t">{1}</title><desc id="{0}-d">{2}</desc>')
        return Markup(
            f'<svg {head} role="img" aria-labelledby="{self.name}-t {self.name}-d">'
            f"{texts.format(self.name, title, description)}{parts}</svg>"
        )


def _lean(node: ElementTree.Element) -> Iterator[str]:
    """The element as text without what a page has no use for: names, clips, groups of
    nothing but an order, grounds that are not painted."""
    tag = node.tag.removeprefix(f"{{{_SVG}}}")
    if tag in ("metadata", "defs"):
        return
    inside = "".join(part for child in node for part in _lean(child))
    own = {key: _attribute(key, value) for key, value in node.attrib.items()}
    if own.get("style") == "fill:none":
        return
    made = Markup("").join(
        Markup(' {}="{}"').format(key, value)
        for key, value in own.items()
        if value and key not in ("id", "clip-path")
    )
    if tag == "g" and not made:
        yield inside
        return
    text = escape((node.text or "").strip())
    yield f"<{tag}{made}>{text}{inside}</{tag}>"


def _attribute(key: str, value: str) -> str:
    """Colours by their names, the font of the page, tenths of a pixel."""
    if key == "style":
        for name, code in _CODES.items():
            value = value.replace(code, f"var(--{name})")
        rules = (one.strip().replace(": ", ":", 1) for one in value.split(";"))
        return ";".join(one for one in rules if one and not one.startswith(_NOT_OURS))
    value = _NUMBER.sub(lambda found: f"{round(float(found[0]), 1):g}", value)
    is_level = value.startswith(("rotate(-0 ", "rotate(0 "))
    return "" if is_level else " ".join(value.split())


def sign(shape: int) -> Markup:
    """The mark of a series for a legend, around the origin."""
    corners, turn = _POLYGONS[shape % SHAPES]
    size = 4.6 if corners < 5 else 4.0
    turns = [0.25 + turn + at / corners for at in range(corners)]
    places = [(cos(tau * one) * size, -sin(tau * one) * size) for one in turns]
    path = "L".join(f"{x:.1f} {y:.1f}" for x, y in places)
    return Markup('<path d="M{}Z"/>').format(path)


def draw_marks(
    axes: "Axes",
    points: Sequence[tuple[float, float]],
    shape: int,
    color: str,
    size: float = 3.6,
    hollow: bool = False,
) -> None:
    """Signs at the points, as one path. The limits of the axes are set before."""
    from matplotlib.patches import PathPatch  # noqa: PLC0415
    from matplotlib.path import Path  # noqa: PLC0415
    from matplotlib.transforms import Affine2D, IdentityTransform  # noqa: PLC0415

    if not points:
        return
    if len(points) > _MANY:
        _draw_cloud(axes, points, "round" if shape % 2 == 0 else "projecting", color)
        return
    corners, turn = _POLYGONS[shape % SHAPES]
    form = Path.unit_regular_polygon(corners).transformed(
        Affine2D().rotate_deg(360 * turn).scale(size * (1.25 if corners < 5 else 1))
    )
    places = axes.transData.transform(points)
    paths = [Path(form.vertices + place, form.codes) for place in places]
    axes.add_artist(
        PathPatch(
            Path.make_compound_path(*paths),
            transform=IdentityTransform(),
            facecolor=_CODES["card"] if hollow else _CODES[color],
            edgecolor=_CODES[color],
            linewidth=1.3,
            clip_on=False,
        )
    )


def _draw_cloud(
    axes: "Axes", points: Sequence[tuple[float, float]], cap: Any, color: str
) -> None:
    """Lines of next to no length, of which a browser draws the ends."""
    from matplotlib.patches import PathPatch  # noqa: PLC0415
    from matplotlib.path import Path  # noqa: PLC0415
    from matplotlib.transforms import IdentityTransform  # noqa: PLC0415

    places = axes.transData.transform(points)
    ends = [end for x, y in places for end in ((x, y), (x + 0.1, y))]
    axes.add_artist(
        PathPatch(
            Path(ends, [Path.MOVETO, Path.LINETO] * len(places)),
            transform=IdentityTransform(),
            facecolor="none",
            edgecolor=_CODES[color],
            linewidth=3.4,
            alpha=0.6,
            capstyle=cap,
            clip_on=False,
        )
    )


def draw_spans(
    axes: "Axes",
    spans: Sequence[tuple[float, float, float]],
    color: str,
    width: float = 1.6,
) -> None:
    """Level lines (from, to, height), as one path."""
    nowhere = float("nan")
    xs = [x for low, high, _ in spans for x in (low, high, nowhere)]
    ys = [y for _, _, height in spans for y in (height, height, nowhere)]
    axes.plot(xs, ys, color=_CODES[color], linewidth=width, clip_on=False)


def draw_boxes(
    axes: "Axes",
    boxes: Sequence[tuple[float, Sequence[float]]],
    half: float,
    color: str,
) -> None:
    """Boxes that lie at a height: of whiskers, quartiles and the median between."""
    nowhere = (float("nan"),) * 2
    lines: list[tuple[float, float]] = []
    for y, (low, q1, _, q3, high) in boxes:
        corners = ((q1, y - half), (q3, y - half), (q3, y + half), (q1, y + half))
        lines += [*corners, corners[0], nowhere, (low, y), (q1, y), nowhere]
        lines += [(q3, y), (high, y), nowhere]
    middles = [
        one
        for y, (_, _, middle, _, _) in boxes
        for one in ((middle, y - half), (middle, y + half), nowhere)
    ]
    for places, width in ((lines, 1.4), (middles, 3.2)):
        xs, ys = [x for x, _ in places], [y for _, y in places]
        axes.plot(xs, ys, color=_CODES[color], linewidth=width, clip_on=False)


def log_limits(values: Iterable[float], least: float = 10.0) -> tuple[float, float]:
    """Somewhat below the least to somewhat above the greatest, of numbers above 0."""
    known = [value for value in values if value > 0]
    if not known:
        return (1.0, least)
    low, high = min(known) / 1.35, max(known) * 1.35
    if high / low < least:
        middle = (low * high) ** 0.5
        return (middle / least**0.5, middle * least**0.5)
    return (low, high)


def decades(low: float, high: float, most: int = 9) -> list[float]:
    """The powers of ten within, or 1, 2, 5 of them where there are few."""
    first = -18
    powers = [10.0**at for at in range(first, 19)]
    for steps in ((1.0, 2.0, 5.0), (1.0, 3.0), (1.0,)):
        found = [s * p for p in powers for s in steps if low <= s * p <= high]
        if len(found) <= most:
            return found
    return found[:: -(-len(found) // most)]


def set_log(
    axes: "Axes", axis: str, limits: tuple[float, float], said: Any, most: int = 9
) -> None:
    """A logarithmic axis 'x' or 'y', whose ticks `said` writes."""
    getattr(axes, f"set_{axis}scale")("log")
    getattr(axes, f"set_{axis}lim")(limits)
    ticks = decades(*limits, most)
    getattr(axes, f"set_{axis}ticks")(ticks, [said(one) for one in ticks])
    getattr(axes, f"set_{axis}ticks")([], minor=True)
