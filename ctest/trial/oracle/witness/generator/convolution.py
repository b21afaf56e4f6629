# SPDX-License-Identifier: Apache-2.0
"""Convolutions from ONNX's pages, each a sum over its window."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from arithmetic import Array, Given, Shape, made, places, total, zeros
from mpmath import mp, mpf
from problem import NO_DOUBLE, Draw, Operator, Problem


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


@dataclass(frozen=True)
class Layout:
    """The choices of a draw for a window that slides, by the node's attributes."""

    image: Shape
    kernel: Shape
    strides: Shape | None = None
    dilations: Shape | None = None
    pads: Shape | None = None
    auto_pad: str | None = None
    channels: int = 1
    filters: int = 1
    group: int | None = None

    # The attributes of a node's text, in their order.
    STATED: ClassVar = ("strides", "dilations", "pads", "auto_pad", "group")

    def attributes(self) -> dict[str, object]:
        """Those that are given, for a node's text."""
        return {name: getattr(self, name) for name in self.STATED}

    @property
    def parts(self) -> int:
        """The groups; without the attribute all channels are one."""
        return self.group or 1

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
        return tuple((k - 1) * d + 1 for k, d in zip(self.kernel, self.spread))

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

    def window(self) -> tuple[Window, Shape]:
        """The window and the spatial shape of the output, by Conv's page."""
        sizes = list(zip(self.image, *self.margins, self.reach, self.steps))
        if not self.is_same:
            output = tuple((n + b + e - r) // s + 1 for n, b, e, r, s in sizes)
            return self.window_at(self.margins[0]), output
        output = tuple(-(-n // s) for n, *_, s in sizes)
        sums = [max(0, (o - 1) * s + r - n) for o, (n, *_, r, s) in zip(output, sizes)]
        return self.window_at(self.begins_of(sums)), output

    def shapes(self, batch: int = 1) -> tuple[Shape, Shape, Shape]:
        """Those of the image, of the weights and of the output."""
        image = (batch, self.channels, *self.image)
        weights = (self.filters, self.channels // self.parts, *self.kernel)
        return image, weights, (batch, self.filters, *self.window()[1])


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


def convolve(given: Given, layout: Layout) -> Array:
    """Conv: each filter sees the channels of its group."""
    x, w = given["x"], given["w"]
    window, spatial = layout.window()
    filters, depth = w.shape[:2]

    def value(n: int, m: int, *output: int) -> mpf:
        first = m // (filters // layout.parts) * depth
        sum_ = given["b"][m] if "b" in given else mpf(0)
        for c, *tap in places((depth, *layout.kernel)):
            place = window.at(output, tuple(tap))
            if inside(place, layout.image):
                sum_ += x[(n, first + c, *place)] * w[(m, c, *tap)]
        return sum_

    return made((x.shape[0], filters, *spatial), value)


def draw_conv(draw: Draw) -> Problem:
    layout = draw.choice(LAYOUTS)
    batch = draw.choice([1, 1, 2]) if len(layout.image) == 1 else 1
    image, weights, shape = layout.shapes(batch)
    inputs = {"x": draw.floats(image), "w": draw.floats(weights)}
    if draw.flag():
        inputs["b"] = draw.floats((layout.filters,))
    return draw.problem(
        "Conv",
        inputs,
        shape,
        lambda given: [convolve(given, layout)],
        **layout.attributes(),
    )


# ------------------------------------------------------------- ConvTranspose


@dataclass(frozen=True)
class Transposed(Layout):
    """The choices of a draw for a transposed convolution."""

    output_padding: Shape | None = None
    output_shape: Shape | None = None

    STATED: ClassVar = (
        *("strides", "dilations", "pads", "output_padding", "output_shape"),
        *("auto_pad", "group"),
    )

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


def convolve_transposed(given: Given, layout: Transposed) -> Array:
    """ConvTranspose: each input adds its filter at its place of the output."""
    x, w = given["x"], given["w"]
    window, spatial = layout.window()
    batch, channels = x.shape[:2]
    depth = w.shape[1]
    y = zeros((batch, depth * layout.parts, *spatial))
    for n, c, *source in places((batch, channels, *layout.image)):
        first = c // (channels // layout.parts) * depth
        for m, *tap in places((depth, *layout.kernel)):
            place = window.at(tuple(source), tuple(tap))
            if inside(place, spatial):
                term = x[(n, c, *source)] * w[(c, m, *tap)]
                y[(n, first + m, *place)] += term
    if "b" in given:
        y = y + given["b"].reshape(-1, *(1 for _ in spatial))
    return y


def draw_conv_transpose(draw: Draw) -> Problem:
    layout = draw.choice(TRANSPOSED)
    depth = layout.filters // layout.parts
    inputs = {
        "x": draw.floats((1, layout.channels, *layout.image)),
        "w": draw.floats((layout.channels, depth, *layout.kernel)),
    }
    if draw.flag():
        inputs["b"] = draw.floats((layout.filters,))
    return draw.problem(
        "ConvTranspose",
        inputs,
        (1, layout.filters, *layout.window()[1]),
        lambda given: [convolve_transposed(given, layout)],
        **layout.attributes(),
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


def deform(given: Given, layout: Layout, offset_group: int) -> Array:
    """DeformConv: every tap moves by its offset and is scaled by its mask."""
    x, w = given["x"], given["w"]
    window, spatial = layout.window()
    filters, depth = w.shape[:2]
    taps = list(places(layout.kernel))
    rank = len(layout.kernel)

    def value(_: int, m: int, *output: int) -> mpf:
        sum_ = given["b"][m] if "b" in given else mpf(0)
        first = m // (filters // layout.parts) * depth
        for c in range(depth):
            channel = first + c
            group = channel // (x.shape[1] // offset_group)
            for k, tap in enumerate(taps):
                row = group * len(taps) + k
                base = window.at(output, tap)
                position = [
                    base[axis] + given["offset"][(0, row * rank + axis, *output)]
                    for axis in range(rank)
                ]
                term = interpolated(x[0, channel], position) * w[(m, c, *tap)]
                if "mask" in given:
                    term *= given["mask"][(0, row, *output)]
                sum_ += term
        return sum_

    return made((1, filters, *spatial), value)


def draw_deform_conv(draw: Draw) -> Problem:
    layout = draw.choice(DEFORMED)
    offset_group = draw.choice([1, layout.channels])
    image, weights, shape = layout.shapes()
    taps = offset_group * layout.kernel[0] * layout.kernel[1]
    inputs = {
        "x": draw.floats(image),
        "w": draw.floats(weights),
        "offset": draw.floats((1, 2 * taps, *shape[2:]), -1.5, 1.5),
        "b": draw.floats((layout.filters,)) if draw.flag() else None,
        "mask": draw.floats((1, taps, *shape[2:]), 0.0, 2.0) if draw.flag() else None,
    }
    return draw.problem(
        "DeformConv",
        inputs,
        shape,
        lambda given: [deform(given, layout, offset_group)],
        offset_group=None if offset_group == 1 else offset_group,
        **layout.attributes(),
    )


# ------------------------------------------------------- CausalConvWithState


def draw_causal_conv(draw: Draw) -> Problem:
    channels, length, size = draw.choice([(1, 4, 3), (2, 3, 2), (2, 2, 4)])
    activation = draw.choice([None, "none", "silu", "swish"])
    shape, state = (1, channels, length), (1, channels, size - 1)
    inputs = {
        "x": draw.floats(shape),
        "w": draw.floats((channels, 1, size)),
        "b": draw.floats((channels,)) if draw.flag() else None,
        "past": draw.floats(state) if draw.flag() else None,
    }

    def compute(given: Given) -> list[Array]:
        past = given.get("past", zeros(state))
        line = np.concatenate([past, given["x"]], axis=2)

        def value(_: int, c: int, at: int) -> mpf:
            sum_ = given["b"][c] if "b" in given else mpf(0)
            sum_ += total(line[0, c, at + k] * given["w"][c, 0, k] for k in range(size))
            if activation in ("silu", "swish"):
                sum_ /= 1 + mp.exp(-sum_)
            return sum_

        return [made(shape, value), line[:, :, length:]]

    outputs = {"y": shape, "state": state}
    return draw.problem(
        "CausalConvWithState", inputs, outputs, compute, activation=activation
    )


def draw_conv_integer(draw: Draw) -> Problem:
    layout = draw.choice(LAYOUTS)
    image, weights, shape = layout.shapes()
    inputs = {
        "x": draw.integers(image, 0, 255),
        "w": draw.integers(weights, 0, 255),
        "x_zero": draw.integers((), 0, 255) if draw.flag() else None,
    }
    types = dict.fromkeys(inputs, "uint8") | {"y": "int32"}

    return draw.problem(
        "ConvInteger",
        inputs,
        shape,
        lambda given: [whole_sums(given, layout, "x_zero").astype(np.int64)],
        types,
        **layout.attributes(),
    )


def whole_sums(given: Given, layout: Layout, zero: str) -> Array:
    """The convolution of whole numbers, less the zero point of x."""
    x = given["x"].astype(object) - int(given.get(zero, 0))
    w = given["w"].astype(object)
    return convolve({**given, "x": x, "w": w}, layout)


def draw_qlinear_conv(draw: Draw) -> Problem:
    """Whole numbers times scales, rounded half to even and saturated."""
    layout = draw.choice([one for one in LAYOUTS if one.auto_pad is None])
    image, weights, shape = layout.shapes()
    rows = draw.choice([(), (layout.filters,)]) if len(shape) > 3 else ()
    # A scale of two to a power makes ties at a half.
    scale = draw.choice([0.5, 0.25, draw.uniform(0.01, 0.1)])
    inputs = {
        "x": draw.integers(image, 0, 255),
        "xs": scale,
        "xz": draw.integers((), 0, 255),
        "w": draw.integers(weights, -9, 9),
        "ws": np.full(rows, 0.125),
        "wz": np.zeros(rows, np.int64),
        "ys": draw.choice([2.0, 4.0, draw.uniform(0.5, 4.0)]),
        "yz": draw.integers((), 0, 255),
        "b": draw.integers((layout.filters,), -999, 999) if draw.flag() else None,
    }
    types = dict.fromkeys(("x", "xz", "y", "yz"), "uint8")
    types |= {"w": "int8", "wz": "int8", "b": "int32"}

    def compute(given: Given) -> list[Array]:
        sums = whole_sums(given, layout, "xz")
        scales = np.broadcast_to(given["ws"], (layout.filters,))

        def value(*index: int) -> int:
            factor = given["xs"][()] * scales[index[1]] / given["ys"][()]
            number = int(mp.nint(sums[index] * factor)) + int(given["yz"])
            return min(max(number, 0), 255)

        return [made(sums.shape, value)]

    given = layout.attributes()
    still = ["xs", "ws", "ys"]
    return draw.problem("QLinearConv", inputs, shape, compute, types, still, **given)


OPERATORS = [
    Operator("Conv", draw_conv),
    Operator("ConvTranspose", draw_conv_transpose),
    Operator("DeformConv", draw_deform_conv),
    Operator("CausalConvWithState", draw_causal_conv, types=NO_DOUBLE),
    Operator("ConvInteger", draw_conv_integer),
    Operator("QLinearConv", draw_qlinear_conv, types=("float",)),
]
