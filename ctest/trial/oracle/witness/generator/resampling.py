# SPDX-License-Identifier: Apache-2.0
"""Resize, Upsample, GridSample and AffineGrid from ONNX's pages.

The places where Resize samples are fractions of integers, so that no rounding
decides between two pixels. Where the page is silent (what a filter sees beyond
the border, where GridSample clamps), ONNX's published cases decide.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import astuple, dataclass, replace
from fractions import Fraction

import numpy as np
from arithmetic import Given, Shape, attribute, by_place, dot, made, places, total
from mpmath import mp, mpf
from problem import NO_BFLOAT16, Array, Draw, Operator, Problem, Undrawable

# Places and weights along one axis; None is outside, where zeros are.
Taps = list[tuple[int | None, mpf]]
HALF = Fraction(1, 2)


def keys(x: mpf, a: mpf) -> mpf:
    """Keys' cubic kernel, equation (4) of his paper."""
    x = abs(x)
    if x <= 1:
        return (a + 2) * x**3 - (a + 3) * x**2 + 1
    if x < 2:
        return a * x**3 - 5 * a * x**2 + 8 * a * x - 4 * a
    return mpf(0)


def tent(x: mpf, _: mpf) -> mpf:
    """The kernel of linear interpolation."""
    return max(mpf(0), 1 - abs(x))


def blend(image: Array, taps: list[Taps]) -> mpf:
    """The sum over the taps of all axes."""
    value = mpf(0)
    for pairs in itertools.product(*taps):
        place = tuple(place for place, _ in pairs)
        if None not in place:
            value += math.prod((w for _, w in pairs), start=mpf(1)) * image[place]
    return value


# -------------------------------------------------------------------- Resize


@dataclass(frozen=True)
class Style:
    """How a resize samples, by Resize's attributes in the order of its fields."""

    mode: str | None = None
    coordinates: str | None = None
    nearest: str | None = None
    coefficient: float | None = None
    exclude: bool | None = None
    antialias: bool | None = None
    extrapolation: float | None = None

    def attributes(self) -> dict[str, object]:
        """Those that are given, for a node's text."""
        names = ("mode", "coordinate_transformation_mode", "nearest_mode")
        names += ("cubic_coeff_a", "exclude_outside", "antialias")
        return dict(zip((*names, "extrapolation_value"), astuple(self)))


@dataclass(frozen=True)
class Axis:
    """The lengths, the scale and the region of one axis."""

    length: int
    resized: int
    scale: Fraction
    start: Fraction = Fraction(0)
    end: Fraction = Fraction(1)

    def original(self, at: int, coordinates: str) -> Fraction:
        """The page's x_original of x_resized."""
        last, resized = self.length - 1, self.resized
        plain = (at + HALF) / self.scale - HALF
        if coordinates == "half_pixel":
            return plain
        if coordinates == "half_pixel_symmetric":
            adjustment = resized / (self.length * self.scale)
            return Fraction(self.length, 2) * (1 - adjustment) + plain
        if coordinates == "pytorch_half_pixel":
            return plain if resized > 1 else Fraction(0)
        if coordinates == "align_corners":
            return Fraction(at * last, resized - 1)
        if coordinates == "asymmetric":
            return at / self.scale
        if resized == 1:
            return HALF * (self.start + self.end) * last
        span = at * (self.end - self.start) * last / (resized - 1)
        return self.start * last + span


NEAREST: dict[str, Callable[[Fraction], int]] = {
    "round_prefer_floor": lambda x: math.ceil(x - HALF),
    "round_prefer_ceil": lambda x: math.floor(x + HALF),
    "floor": math.floor,
    "ceil": math.ceil,
}


def weights(x: Fraction, axis: Axis, style: Style) -> Taps:
    """The taps of one place: beyond the border is the border's pixel."""
    last = axis.length - 1
    if style.mode in (None, "nearest"):
        place = NEAREST[style.nearest or "round_prefer_floor"](x)
        return [(min(max(place, 0), last), mpf(1))]
    kernel, reach = (tent, 1) if style.mode == "linear" else (keys, 2)
    stretch = min(axis.scale, Fraction(1)) if style.antialias else Fraction(1)
    a = attribute(-0.75 if style.coefficient is None else style.coefficient)
    near = range(math.floor(x - reach / stretch), math.ceil(x + reach / stretch) + 1)
    found = [(k, kernel(fraction((k - x) * stretch), a)) for k in near]
    if style.exclude:
        found = [(k, w) for k, w in found if 0 <= k <= last]
    whole = total(weight for _, weight in found)
    return [(min(max(k, 0), last), w / whole) for k, w in found]


def fraction(x: Fraction) -> mpf:
    """A fraction at the present precision."""
    return mpf(x.numerator) / x.denominator


def resize(x: Array, axes: list[Axis], style: Style) -> Array:
    """Resize, with one Axis for each dimension."""
    coordinates = style.coordinates or "half_pixel"
    crops = coordinates == "tf_crop_and_resize"

    def value(*index: int) -> mpf:
        taps: list[Taps] = []
        for at, axis in zip(index, axes):
            if axis.length == axis.resized and axis.scale == 1 and not crops:
                taps.append([(at, mpf(1))])
                continue
            original = axis.original(at, coordinates)
            if crops and not 0 <= original <= axis.length - 1:
                return attribute(style.extrapolation or 0.0)
            taps.append(weights(original, axis, style))
        return blend(x, taps)

    return made([axis.resized for axis in axes], value)


COORDINATES = [
    None,
    "half_pixel",
    "half_pixel_symmetric",
    "pytorch_half_pixel",
    "align_corners",
    "asymmetric",
    "tf_crop_and_resize",
]


def draw_style(draw: Draw) -> Style:
    """A mode with the attributes that it knows."""
    mode = draw.choice([None, "nearest", "linear", "linear", "cubic", "cubic"])
    coordinates = draw.choice(COORDINATES)
    style = Style(mode, coordinates)
    if mode in (None, "nearest"):
        return replace(style, nearest=draw.choice([None, *NEAREST]))
    if mode == "cubic":
        style = replace(style, coefficient=draw.choice([None, -0.5, -0.6]))
        style = replace(style, exclude=draw.choice([None, True]))
    if coordinates == "tf_crop_and_resize":
        return replace(style, extrapolation=draw.choice([None, 1.7]))
    if draw.flag(0.3):
        style = replace(style, antialias=True)
    return style


def draw_axes(draw: Draw, style: Style, lengths: Shape) -> tuple[list[Axis], bool]:
    """The axes, and whether scales state them; else sizes do."""
    whole = style.coordinates in ("align_corners", "tf_crop_and_resize")
    by_scale = not whole and draw.flag(0.4)
    axes = []
    for length in lengths:
        if by_scale:
            number = float(np.float32(draw.random.uniform(0.5, 2.4)))
            scale = Fraction(draw.choice([number, 2.0, 0.5, 1.5]))
            axes.append(Axis(length, max(1, math.floor(length * scale)), scale))
            if length * scale < 1:
                raise Undrawable("nothing is left of an axis")
        else:
            resized = draw.integer(2 if whole else 1, 2 * length)
            if style.coordinates == "pytorch_half_pixel" and draw.flag(0.3):
                resized = 1
            axes.append(Axis(length, resized, Fraction(resized, length)))
    return axes, by_scale


def draw_resize(draw: Draw) -> Problem:
    style = draw_style(draw)
    outer, lengths = draw.choice(
        [((), (4,)), ((1, 1), (5,)), ((2,), (3,)), ((), (2, 4)), ((1, 1), (3, 3))]
    )
    axes, by_scale = draw_axes(draw, style, lengths)
    inputs = {"x": draw.floats((*outer, *lengths))}
    inputs |= dict.fromkeys(("roi", "scales", "sizes"))
    named = bool(outer) and (by_scale or draw.flag())
    fixed = [Axis(size, size, Fraction(1)) for size in outer]
    if style.coordinates == "tf_crop_and_resize":
        starts = [draw.integer(-2, 3) / 8 for _ in axes]
        ends = [draw.integer(4, 9) / 8 for _ in axes]
        axes = [
            replace(axis, start=Fraction(start), end=Fraction(end))
            for axis, start, end in zip(axes, starts, ends)
        ]
        others = 0 if named else len(outer)
        inputs["roi"] = [0.0] * others + starts + [1.0] * others + ends
    stated = axes if named else [*fixed, *axes]
    if by_scale:
        inputs["scales"] = [float(axis.scale) for axis in stated]
    else:
        inputs["sizes"] = [axis.resized for axis in stated]
    axes = [*fixed, *axes]
    return draw.problem(
        "Resize",
        inputs,
        [axis.resized for axis in axes],
        lambda given: [resize(given["x"], axes, style)],
        types={"roi": "float", "scales": "float"},
        still=["roi", "scales"],
        axes=range(len(outer), len(axes)) if named else None,
        **style.attributes(),
    )


def draw_upsample(draw: Draw) -> Problem:
    """Deprecated; it samples at x / scale, and the nearest is below that."""
    mode = draw.choice([None, "nearest", "linear"])
    style = Style(mode, "asymmetric", nearest="floor")
    scales = draw.choice([(2.0, 2.0), (2.0, 1.0), (1.0, 2.0), (1.5, 2.0), (2.0, 3.0)])
    shape = (2, 3)
    axes = [
        Axis(size, math.floor(size * scale), Fraction(scale))
        for size, scale in zip(shape, scales)
    ]
    return draw.problem(
        "Upsample",
        {"x": draw.floats(shape), "scales": scales},
        [axis.resized for axis in axes],
        lambda given: [resize(given["x"], axes, style)],
        types={"scales": "float"},
        still=["scales"],
        opsets={"": 9},
        mode=mode,
    )


# ---------------------------------------------------------------- GridSample


def reflect(x: mpf, low: mpf, high: mpf) -> mpf:
    """Back from border to border until it lies between them."""
    span = high - low
    turns = mp.floor((x - low) / span)
    rest = (x - low) - turns * span
    return low + rest if int(turns) % 2 == 0 else high - rest


@dataclass(frozen=True)
class Grid:
    """How GridSample samples, in the words of its attributes."""

    mode: str | None
    padding: str | None
    align: bool

    def position(self, n: mpf, size: int) -> mpf:
        """From -1..1 to pixels."""
        if self.align:
            return (n + 1) / 2 * (size - 1)
        return ((n + 1) * size - 1) / 2

    def place(self, k: int, size: int) -> int | None:
        """The pixel that stands at a place; None for zeros."""
        if 0 <= k < size:
            return k
        if self.padding == "border":
            return min(max(k, 0), size - 1)
        if self.padding == "reflection":
            low, high = self.borders(size)
            return int(reflect(mpf(k), low, high))
        return None

    def borders(self, size: int) -> tuple[mpf, mpf]:
        """Where an axis of the image begins and ends, in pixels."""
        edge = mpf(0) if self.align else mpf(1) / 2
        return -edge, size - 1 + edge

    def taps(self, n: mpf, size: int) -> Taps:
        """The pixels along one axis and their weights."""
        x = self.position(n, size)
        if self.mode == "nearest":
            x = mp.nint(x)
        low, high = self.borders(size)
        if x < low or x > high:
            if self.padding == "border":
                x = min(max(x, mpf(0)), mpf(size - 1))
            elif self.padding == "reflection":
                x = reflect(x, low, high)
        if self.mode == "nearest":
            return [(self.place(int(x), size), mpf(1))]
        kernel, before = (keys, 1) if self.mode == "cubic" else (tent, 0)
        first = int(mp.floor(x)) - before
        return [
            (self.place(k, size), kernel(x - k, mpf(-3) / 4))
            for k in range(first, first + 2 * before + 2)
        ]


def draw_grid_sample(draw: Draw) -> Problem:
    way = Grid(
        draw.choice([None, "linear", "nearest", "cubic", "cubic"]),
        draw.choice([None, "zeros", "border", "reflection"]),
        draw.flag(),
    )
    image = draw.choice([(4,), (3, 3), (3, 4), (2, 2, 2)])
    if way.mode == "cubic" and len(image) == 3:
        image = (3, 3)
    spots = draw.choice([(2,), (3,)]) if len(image) == 1 else (1, 2, 1)[: len(image)]
    grid = draw.floats((1, *spots, len(image)), -1.8, 1.8)
    if way.mode == "nearest":
        for index in places(grid.shape):
            size = image[len(image) - 1 - index[-1]]
            x = way.position(mpf(float(grid[index])), size)
            if mp.frac(2 * x) == 0 and mp.frac(x) != 0:
                raise Undrawable("halfway between two pixels")
    shape = (1, 1, *spots)

    def value(given: Given, n: int, c: int, *at: int) -> mpf:
        point = reversed(list(given["grid"][(n, *at)]))
        taps = [way.taps(coordinate, size) for coordinate, size in zip(point, image)]
        return blend(given["x"][n, c], taps)

    return draw.problem(
        "GridSample",
        {"x": draw.floats((1, 1, *image)), "grid": grid},
        shape,
        by_place(shape, value),
        still=["grid"] if way.mode == "nearest" else [],
        mode=way.mode,
        padding_mode=way.padding,
        align_corners=way.align or None,
    )


# ---------------------------------------------------------------- AffineGrid


def draw_affine_grid(draw: Draw) -> Problem:
    size = draw.choice([(1, 1, 2, 3), (2, 1, 2, 2), (1, 2, 2, 2, 3)])
    align = draw.flag()
    image = size[2:]
    rank = len(image)
    shape = (size[0], *image, rank)

    def value(given: Given, n: int, *index: int) -> mpf:
        *at, row = index
        # The last axis of the image is x, the first coordinate.
        point = []
        for k, length in zip(reversed(at), reversed(image)):
            steps = length - 1 if align else length
            edge = 0 if align else 1
            point.append(mpf(2 * k + edge) / steps - 1)
        return dot(given["theta"][n, row], [*point, mpf(1)])

    inputs = {"theta": draw.floats((size[0], rank, rank + 1)), "size": size}
    return draw.problem(
        "AffineGrid", inputs, shape, by_place(shape, value), align_corners=align or None
    )


OPERATORS = [
    Operator("Resize", draw_resize),
    Operator("Upsample", draw_upsample, types=NO_BFLOAT16),
    Operator("GridSample", draw_grid_sample),
    Operator("AffineGrid", draw_affine_grid),
]
