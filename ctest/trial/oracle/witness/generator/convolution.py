# SPDX-License-Identifier: Apache-2.0
"""Convolutions from ONNX's pages, each a sum over its window; products.py has them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from mpmath import mp, mpf
from problem import (
    NO_DOUBLE,
    Array,
    Draw,
    Operator,
    Problem,
    Shape,
    filled,
    node,
    places,
    problem,
    total,
    zeros,
)


@dataclass(frozen=True)
class Window:
    """A window that slides over an image, with the padding at its begin."""

    kernel: Shape
    strides: Shape
    dilations: Shape
    begins: Shape

    def at(self, output: Shape, tap: Shape) -> Shape:
        """The place in the image that a tap sees at a place of the output."""
        return tuple(
            o * s + t * d - b
            for o, s, t, d, b in zip(
                output, self.strides, tap, self.dilations, self.begins
            )
        )


def inside(place: Shape, image: Shape) -> bool:
    """True where a place lies in the image, and not in its padding."""
    return all(0 <= k < size for k, size in zip(place, image))


def extents(kernel: Shape, dilations: Shape) -> Shape:
    """The reach of a dilated kernel along each axis."""
    return tuple((k - 1) * d + 1 for k, d in zip(kernel, dilations))


@dataclass(frozen=True)
class Sliding:
    """The common part of operators that slide a window, by their attributes."""

    image: Shape
    kernel: Shape
    strides: Shape | None = None
    dilations: Shape | None = None
    pads: Shape | None = None
    auto_pad: str | None = None
    channels: int = 1

    @property
    def steps(self) -> Shape:
        """The strides; without them the window moves by one."""
        return self.strides or (1,) * len(self.image)

    @property
    def spread(self) -> Shape:
        """The dilations; without them taps lie side by side."""
        return self.dilations or (1,) * len(self.image)

    @property
    def reach(self) -> Shape:
        """The extents of the dilated kernel."""
        return extents(self.kernel, self.spread)

    @property
    def margins(self) -> tuple[Shape, Shape]:
        """The given pads before and behind the image."""
        rank = len(self.image)
        pads = self.pads or (0,) * (2 * rank)
        return pads[:rank], pads[rank:]

    @property
    def is_same(self) -> bool:
        """True where auto_pad says how large the output is."""
        return self.auto_pad in ("SAME_UPPER", "SAME_LOWER")

    def begins_of(self, sums: list[int]) -> Shape:
        """Halves of the whole padding; the odd one is behind in SAME_UPPER."""
        upper = self.auto_pad == "SAME_UPPER"
        return tuple(p // 2 if upper else p - p // 2 for p in sums)

    def window_at(self, begins: Shape) -> Window:
        """The window, with the padding before the image."""
        return Window(self.kernel, self.steps, self.spread, begins)

    def same_window(self) -> tuple[Window, Shape]:
        """The window and the spatial shape by auto_pad SAME_*."""
        output = tuple(-(-n // s) for n, s in zip(self.image, self.steps))
        sums = [
            max(0, (o - 1) * s + r - n)
            for o, s, r, n in zip(output, self.steps, self.reach, self.image)
        ]
        return self.window_at(self.begins_of(sums)), output


@dataclass(frozen=True)
class Layout(Sliding):
    """The choices of a draw for a convolution."""

    filters: int = 1
    group: int = 1

    def window(self) -> tuple[Window, Shape]:
        """The window and the spatial shape of the output, by Conv's page."""
        if self.is_same:
            return self.same_window()
        begins, ends = self.margins
        output = tuple(
            (n + b + e - r) // s + 1
            for n, b, e, r, s in zip(self.image, begins, ends, self.reach, self.steps)
        )
        return self.window_at(begins), output

    def attributes(self) -> dict[str, object]:
        """Those that are given, for a node's text."""
        return {
            "strides": self.strides,
            "dilations": self.dilations,
            "pads": self.pads,
            "auto_pad": self.auto_pad,
            "group": None if self.group == 1 else self.group,
        }


LAYOUTS = [
    Layout((5,), (3,)),
    Layout((6,), (2,), strides=(2,), pads=(1, 0)),
    Layout((6,), (3,), dilations=(2,), pads=(1, 1), filters=2),
    Layout((3, 3), (2, 2)),
    Layout((3, 3), (2, 2), pads=(1, 0, 0, 1)),
    Layout((3, 3), (3, 3), auto_pad="SAME_UPPER"),
    Layout((3, 4), (2, 2), strides=(2, 1), auto_pad="SAME_LOWER"),
    Layout((4, 3), (2, 2), strides=(2, 1), auto_pad="VALID"),
    Layout((2, 2), (2, 1), channels=2, filters=2),
    Layout((2, 2), (2, 2), channels=2, filters=2, group=2),
    Layout((4,), (2,), channels=2, filters=4, group=2),
    Layout((2, 2, 2), (2, 1, 2), pads=(0, 0, 1, 0, 0, 0)),
]


def convolve(x: Array, w: Array, bias: Array | None, layout: Layout) -> Array:
    """Conv: each filter sees the channels of its group."""
    window, spatial = layout.window()
    filters, depth = w.shape[:2]
    shape = (x.shape[0], filters, *spatial)
    values = []
    for n, m, *output in places(shape):
        first = m // (filters // layout.group) * depth
        value = mpf(0) if bias is None else bias[m]
        for c, *tap in places((depth, *layout.kernel)):
            place = window.at(tuple(output), tuple(tap))
            if inside(place, layout.image):
                value += x[(n, first + c, *place)] * w[(m, c, *tap)]
        values.append(value)
    return filled(shape, values)


def draw_conv(draw: Draw) -> Problem:
    layout = draw.choice(LAYOUTS)
    batch = draw.choice([1, 1, 2]) if len(layout.image) == 1 else 1
    depth = layout.channels // layout.group
    inputs = {
        "x": draw.floats((batch, layout.channels, *layout.image)),
        "w": draw.floats((layout.filters, depth, *layout.kernel)),
    }
    if draw.flag():
        inputs["b"] = draw.floats((layout.filters,))
    _, spatial = layout.window()
    return problem(
        draw,
        node("y", "Conv", inputs, **layout.attributes()),
        inputs,
        {"y": (batch, layout.filters, *spatial)},
        lambda given: [convolve(given["x"], given["w"], given.get("b"), layout)],
    )


# ------------------------------------------------------------- ConvTranspose


@dataclass(frozen=True)
class Transposed(Sliding):
    """The choices of a draw for a transposed convolution."""

    output_padding: Shape | None = None
    output_shape: Shape | None = None
    filters: int = 1
    group: int = 1

    def window(self) -> tuple[Window, Shape]:
        """The window and the spatial shape, by ConvTranspose's equations."""
        extra = self.output_padding or (0,) * len(self.image)
        whole = tuple(
            s * (n - 1) + e + r
            for s, n, e, r in zip(self.steps, self.image, extra, self.reach)
        )
        begins, ends = self.margins
        output = tuple(w - b - e for w, b, e in zip(whole, begins, ends))
        wanted = self.output_shape
        if self.is_same and wanted is None:
            wanted = tuple(n * s for n, s in zip(self.image, self.steps))
        if wanted is not None:
            output = wanted
            begins = self.begins_of([w - o for w, o in zip(whole, wanted)])
        return self.window_at(begins), output

    def attributes(self) -> dict[str, object]:
        """Those that are given, for a node's text."""
        return {
            "strides": self.strides,
            "dilations": self.dilations,
            "pads": self.pads,
            "output_padding": self.output_padding,
            "output_shape": self.output_shape,
            "auto_pad": self.auto_pad,
            "group": None if self.group == 1 else self.group,
        }


TRANSPOSED = [
    Transposed((4,), (3,)),
    Transposed((3,), (2,), strides=(2,), pads=(1, 0)),
    Transposed((3,), (2,), strides=(3,), output_padding=(1,)),
    Transposed((3,), (3,), dilations=(2,), pads=(1, 2)),
    Transposed((2, 2), (2, 2), strides=(2, 1), filters=2),
    Transposed((2, 2), (2, 2), strides=(2, 2), output_shape=(3, 4)),
    Transposed((2, 2), (3, 3), strides=(2, 2), auto_pad="SAME_UPPER"),
    Transposed((2, 2), (3, 3), strides=(2, 2), auto_pad="SAME_LOWER"),
    Transposed((2, 2), (2, 2), channels=2, filters=2, group=2),
    Transposed((3,), (2,), channels=2, filters=2),
]


def convolve_transposed(
    x: Array, w: Array, bias: Array | None, layout: Transposed
) -> Array:
    """ConvTranspose: each input adds its filter at its place of the output."""
    window, spatial = layout.window()
    batch, channels = x.shape[:2]
    depth = w.shape[1]
    y = zeros((batch, depth * layout.group, *spatial))
    for n, c, *source in places((batch, channels, *layout.image)):
        first = c // (channels // layout.group) * depth
        for m, *tap in places((depth, *layout.kernel)):
            place = window.at(tuple(source), tuple(tap))
            if inside(place, spatial):
                term = x[(n, c, *source)] * w[(c, m, *tap)]
                y[(n, first + m, *place)] += term
    if bias is not None:
        for index in places(y.shape):
            y[index] += bias[index[1]]
    return y


def draw_conv_transpose(draw: Draw) -> Problem:
    layout = draw.choice(TRANSPOSED)
    depth = layout.filters // layout.group
    inputs = {
        "x": draw.floats((1, layout.channels, *layout.image)),
        "w": draw.floats((layout.channels, depth, *layout.kernel)),
    }
    if draw.flag():
        inputs["b"] = draw.floats((layout.filters,))
    _, spatial = layout.window()
    return problem(
        draw,
        node("y", "ConvTranspose", inputs, **layout.attributes()),
        inputs,
        {"y": (1, layout.filters, *spatial)},
        lambda given: [
            convolve_transposed(given["x"], given["w"], given.get("b"), layout)
        ],
    )


# ---------------------------------------------------------------- DeformConv


def interpolated(image: Array, position: list[mpf]) -> mpf:
    """Linear along each axis, with zeros outside of the image."""
    lows = [int(mp.floor(p)) for p in position]
    value = mpf(0)
    for corner in places((2,) * len(position)):
        place = tuple(low + c for low, c in zip(lows, corner))
        if not inside(place, image.shape):
            continue
        weight = mpf(1)
        for p, k in zip(position, place):
            weight *= 1 - abs(p - k)
        value += weight * image[place]
    return value


DEFORMED = [
    Layout((3, 3), (2, 2)),
    Layout((2, 2), (2, 2), pads=(1, 0, 0, 0), strides=(2, 1)),
    Layout((3, 3), (2, 2), dilations=(2, 1)),
    Layout((2, 2), (1, 2), channels=2, filters=2),
    Layout((2, 2), (2, 1), channels=2, filters=2, group=2),
]


def deform(given: dict[str, Array], layout: Layout, offset_group: int) -> Array:
    """DeformConv: every tap moves by its offset and is scaled by its mask."""
    x, w = given["x"], given["w"]
    window, spatial = layout.window()
    filters, depth = w.shape[:2]
    taps = list(places(layout.kernel))
    rank = len(layout.kernel)
    values = []
    for m, *output in places((filters, *spatial)):
        value = given["b"][m] if "b" in given else mpf(0)
        first = m // (filters // layout.group) * depth
        for c in range(depth):
            channel = first + c
            group = channel // (x.shape[1] // offset_group)
            for k, tap in enumerate(taps):
                row = group * len(taps) + k
                base = window.at(tuple(output), tap)
                position = [
                    base[axis] + given["offset"][(0, row * rank + axis, *output)]
                    for axis in range(rank)
                ]
                term = interpolated(x[0, channel], position) * w[(m, c, *tap)]
                if "mask" in given:
                    term *= given["mask"][(0, row, *output)]
                value += term
        values.append(value)
    return filled((1, filters, *spatial), values)


def draw_deform_conv(draw: Draw) -> Problem:
    layout = draw.choice(DEFORMED)
    offset_group = draw.choice([1, layout.channels])
    _, spatial = layout.window()
    taps = offset_group * layout.kernel[0] * layout.kernel[1]
    depth = layout.channels // layout.group
    inputs = {
        "x": draw.floats((1, layout.channels, *layout.image)),
        "w": draw.floats((layout.filters, depth, *layout.kernel)),
        "offset": draw.floats((1, 2 * taps, *spatial), -1.5, 1.5),
    }
    names = ["x", "w", "offset", "", ""]
    if draw.flag():
        names[3] = "b"
        inputs["b"] = draw.floats((layout.filters,))
    if draw.flag():
        names[4] = "mask"
        inputs["mask"] = draw.floats((1, taps, *spatial), 0.0, 2.0)
    text = node(
        "y",
        "DeformConv",
        names,
        offset_group=None if offset_group == 1 else offset_group,
        **(layout.attributes() | {"auto_pad": None}),
    )
    return problem(
        draw,
        text,
        inputs,
        {"y": (1, layout.filters, *spatial)},
        lambda given: [deform(given, layout, offset_group)],
    )


# ------------------------------------------------------- CausalConvWithState


def draw_causal_conv(draw: Draw) -> Problem:
    channels, length, size = draw.choice([(1, 4, 3), (2, 3, 2), (2, 2, 4)])
    activation = draw.choice([None, "none", "silu", "swish"])
    inputs = {
        "x": draw.floats((1, channels, length)),
        "w": draw.floats((channels, 1, size)),
    }
    names = ["x", "w", "", ""]
    if draw.flag():
        names[2] = "b"
        inputs["b"] = draw.floats((channels,))
    if draw.flag():
        names[3] = "past"
        inputs["past"] = draw.floats((1, channels, size - 1))

    def compute(given):
        past = given.get("past", zeros((1, channels, size - 1)))
        line = np.concatenate([past, given["x"]], axis=2)
        values = []
        for c, at in places((channels, length)):
            value = given["b"][c] if "b" in given else mpf(0)
            value += total(
                line[0, c, at + k] * given["w"][c, 0, k] for k in range(size)
            )
            if activation in ("silu", "swish"):
                value /= 1 + mp.exp(-value)
            values.append(value)
        return [
            filled((1, channels, length), values),
            line[:, :, length:],
        ]

    return problem(
        draw,
        node("y, state", "CausalConvWithState", names, activation=activation),
        inputs,
        {"y": (1, channels, length), "state": (1, channels, size - 1)},
        compute,
    )


def draw_conv_integer(draw: Draw) -> Problem:
    layout = draw.choice(LAYOUTS)
    depth = layout.channels // layout.group
    inputs = {
        "x": draw.integers((1, layout.channels, *layout.image), 0, 255),
        "w": draw.integers((layout.filters, depth, *layout.kernel), 0, 255),
    }
    types = {"x": "uint8", "w": "uint8", "y": "int32"}
    if draw.flag():
        inputs["x_zero"] = draw.integers((), 0, 255)
        types["x_zero"] = "uint8"
    _, spatial = layout.window()

    def compute(given):
        x = given["x"].astype(object) - int(given.get("x_zero", 0))
        y = convolve(x, given["w"].astype(object), None, layout)
        return [filled(y.shape, [int(value) for value in y.ravel()])]

    text = node("y", "ConvInteger", inputs, **layout.attributes())
    shape = (1, layout.filters, *spatial)
    return problem(draw, text, inputs, {"y": shape}, compute, types)


def draw_qlinear_conv(draw: Draw) -> Problem:
    """Whole numbers times scales, rounded half to even and saturated."""
    layout = draw.choice([one for one in LAYOUTS if one.auto_pad is None])
    depth = layout.channels // layout.group
    _, spatial = layout.window()
    rows = draw.choice([(), (layout.filters,)]) if len(spatial) > 1 else ()
    # A scale of two to a power makes ties at a half.
    scale = draw.choice([0.5, 0.25, draw.uniform(0.01, 0.1)])
    inputs = {
        "x": draw.integers((1, layout.channels, *layout.image), 0, 255),
        "xs": np.array(scale),
        "xz": draw.integers((), 0, 255),
        "w": draw.integers((layout.filters, depth, *layout.kernel), -9, 9),
        "ws": np.full(rows, 0.125),
        "wz": np.zeros(rows, np.int64),
        "ys": np.array(draw.choice([2.0, 4.0, draw.uniform(0.5, 4.0)])),
        "yz": draw.integers((), 0, 255),
    }
    types = dict.fromkeys(("x", "xz", "y", "yz"), "uint8")
    types |= dict.fromkeys(("xs", "ws", "ys"), "float")
    types |= dict.fromkeys(("w", "wz"), "int8")
    if draw.flag():
        inputs["b"] = draw.integers((layout.filters,), -999, 999)
        types["b"] = "int32"

    def compute(given):
        x = given["x"].astype(object) - int(given["xz"])
        sums = convolve(x, given["w"].astype(object), given.get("b"), layout)
        scales = np.broadcast_to(given["ws"], (layout.filters,))
        values = []
        for index in places(sums.shape):
            factor = given["xs"][()] * scales[index[1]] / given["ys"][()]
            number = int(mp.nint(sums[index] * factor)) + int(given["yz"])
            values.append(min(max(number, 0), 255))
        return [filled(sums.shape, values)]

    text = node("y", "QLinearConv", inputs, **layout.attributes())
    shape = (1, layout.filters, *spatial)
    still = ["xs", "ws", "ys"]
    return problem(draw, text, inputs, {"y": shape}, compute, types, still)


OPERATORS = [
    Operator("Conv", draw_conv),
    Operator("ConvTranspose", draw_conv_transpose),
    Operator("DeformConv", draw_deform_conv),
    Operator("CausalConvWithState", draw_causal_conv, types=NO_DOUBLE),
    Operator("ConvInteger", draw_conv_integer),
    Operator("QLinearConv", draw_qlinear_conv, types=("float",)),
]
