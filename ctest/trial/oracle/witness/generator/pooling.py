# SPDX-License-Identifier: Apache-2.0
"""Pools from ONNX's pages: of windows, of whole images, of regions.

A window of a pool with ceil_mode may reach beyond the padded image; what lies
there is no element of it (the page follows PyTorch). A region of MaxRoiPool is
rounded to whole places, as in Fast R-CNN, which the operator comes from.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from arithmetic import (
    attribute,
    by_place,
    made,
    mean,
    places,
    power,
    reduced,
    total,
    zeros,
)
from convolution import Layout, Window, inside
from mpmath import mp, mpf
from problem import Array, Draw, Given, Operator, Problem, Shape


@dataclass(frozen=True)
class Pool(Layout):
    """The choices of a draw for a pool."""

    ceil_mode: bool | None = None

    STATED: ClassVar = ("strides", "dilations", "pads", "auto_pad", "ceil_mode")

    def window(self) -> tuple[Window, Shape]:
        """The window and the spatial shape of the output."""
        window, output = super().window()
        if self.is_same or not self.ceil_mode:
            return window, output
        output = []
        for n, b, e, r, s in zip(self.image, *self.margins, self.reach, self.steps):
            count = -(-(n + b + e - r) // s) + 1
            output.append(count - 1 if (count - 1) * s >= n + b else count)
        return window, tuple(output)

    def padded(self, place: Shape) -> bool:
        """True where a place lies in the image or in its padding."""
        begins, ends = self.margins
        return self.is_same or all(
            -begin <= k < size + end
            for k, size, begin, end in zip(place, self.image, begins, ends)
        )

    def attributes(self) -> dict[str, object]:
        """Those that are given, for a node's text."""
        return {"kernel_shape": self.kernel, **super().attributes()}


LAYOUTS = [
    Pool((6,), (3,)),
    Pool((7,), (3,), strides=(2,), pads=(1, 1)),
    Pool((6,), (3,), strides=(2,), ceil_mode=True),
    Pool((5,), (2,), strides=(3,), pads=(1, 0), ceil_mode=True),
    Pool((6,), (2,), dilations=(3,)),
    Pool((6,), (2,), dilations=(2,), pads=(1, 1)),
    Pool((3, 3), (2, 2)),
    Pool((3, 3), (2, 2), channels=2),
    Pool((3, 4), (2, 3), strides=(1, 2), pads=(0, 1, 1, 1)),
    Pool((4, 4), (3, 3), strides=(2, 2), ceil_mode=True),
    Pool((3, 3), (2, 2), auto_pad="SAME_UPPER"),
    Pool((3, 3), (2, 2), auto_pad="SAME_LOWER"),
    Pool((4, 3), (2, 2), strides=(2, 1), auto_pad="VALID"),
    Pool((2, 2, 3), (2, 1, 2)),
]


def pooled(x: Array, layout: Pool, pool: Callable[..., object]) -> Array:
    """Each window's numbers, their places and the count with padding go to a
    function."""
    window, spatial = layout.window()

    def value(n: int, c: int, *output: int) -> object:
        seen = [window.at(output, tap) for tap in places(layout.kernel)]
        whole = [(n, c, *place) for place in seen if inside(place, layout.image)]
        count = sum(1 for place in seen if layout.padded(place))
        return pool([x[place] for place in whole], whole, count)

    return made((*x.shape[:2], *spatial), value)


def draw_pool(draw: Draw) -> tuple[Pool, np.ndarray, Shape]:
    """A layout, its input and the shape of its output."""
    layout = draw.choice(LAYOUTS)
    batch = draw.choice([1, 1, 2]) if len(layout.image) == 1 else 1
    x = draw.floats((batch, layout.channels, *layout.image))
    _, spatial = layout.window()
    return layout, x, (batch, layout.channels, *spatial)


def draw_average(draw: Draw) -> Problem:
    layout, x, shape = draw_pool(draw)
    include = draw.flag()

    def average(numbers: list, _: list, count: int) -> mpf:
        return total(numbers) / (count if include else len(numbers))

    return draw.problem(
        "AveragePool",
        {"x": x},
        shape,
        lambda given: [pooled(given["x"], layout, average)],
        count_include_pad=include or None,
        **layout.attributes(),
    )


def draw_max(draw: Draw) -> Problem:
    layout, x, shape = draw_pool(draw)
    column = len(layout.image) == 2 and draw.flag(0.3)

    def flat(place: Shape) -> int:
        if column:
            n, c, row, col = place
            height, width = layout.image
            return ((n * layout.channels + c) * width + col) * height + row
        return int(np.ravel_multi_index(place, x.shape))

    def largest(numbers: list, whole: list[Shape], _: int) -> tuple[mpf, int]:
        best = max(numbers)
        return best, flat(whole[numbers.index(best)])

    def compute(given: Given) -> list[Array]:
        pairs = pooled(given["x"], layout, largest).ravel()
        return [np.array(numbers, object).reshape(shape) for numbers in zip(*pairs)]

    return draw.problem(
        "MaxPool",
        {"x": x},
        {"y": shape, "indices": shape},
        compute,
        types={"indices": "int64"},
        storage_order=column or None,
        **layout.attributes(),
    )


def norm(numbers: list, p: int) -> mpf:
    """The Lp norm."""
    return power(total(abs(x) ** p for x in numbers), mpf(1) / p)


def draw_lp(draw: Draw) -> Problem:
    layout, x, shape = draw_pool(draw)
    p = draw.choice([None, 1, 2, 3])
    return draw.problem(
        "LpPool",
        {"x": x},
        shape,
        lambda given: [
            pooled(given["x"], layout, lambda numbers, *_: norm(numbers, p or 2))
        ],
        p=p,
        **layout.attributes(),
    )


def draw_global(
    draw: Draw, operator: str, pool: Callable[[list], object], **given: object
) -> Problem:
    """A pool over each channel's whole image."""
    shape = draw.choice([(1, 2, 4), (2, 2, 3), (1, 2, 2, 3), (1, 1, 2, 2, 2)])
    axes = range(2, len(shape))
    small = (*shape[:2], *(1 for _ in axes))
    inputs = {"x": draw.floats(shape)}
    return draw.problem(
        operator,
        inputs,
        small,
        lambda of: [reduced(pool, of["x"], axes, True)],
        **given,
    )


def draw_global_lp(draw: Draw) -> Problem:
    p = draw.choice([None, 1, 2, 3])
    return draw_global(draw, "GlobalLpPool", lambda numbers: norm(numbers, p or 2), p=p)


def draw_max_unpool(draw: Draw) -> Problem:
    kernel, shape, pads, spatial = draw.choice(
        [
            ((2,), (1, 2, 3), None, (6,)),
            ((2, 2), (1, 1, 2, 2), None, (4, 4)),
            ((2, 2), (1, 2, 2, 1), None, (4, 2)),
            ((3,), (1, 1, 4), (1, 1), (7,)),
        ]
    )
    whole = (*shape[:2], *spatial)
    free = list(range(math.prod(whole)))
    draw.random.shuffle(free)
    indices = np.array(sorted(free[: math.prod(shape)]), np.int64).reshape(shape)
    inputs = {"x": draw.floats(shape), "indices": indices}
    if draw.flag():
        inputs["shape"] = whole

    def compute(given: Given) -> list[Array]:
        y = zeros((math.prod(whole),))
        y[given["indices"].ravel()] = given["x"].ravel()
        return [y.reshape(whole)]

    given = {"kernel_shape": kernel, "strides": (2,) * len(kernel), "pads": pads}
    return draw.problem("MaxUnpool", inputs, whole, compute, **given)


# ------------------------------------------------------------------- regions


def rounded(x: mpf) -> int:
    """To the nearest integer, a half away from 0, as C's round."""
    return int(mp.sign(x)) * int(mp.floor(abs(x) + mpf(1) / 2))


def draw_max_roi(draw: Draw) -> Problem:
    sizes = height, width = draw.choice([(4, 4), (3, 5)])
    pooled_shape = draw.choice([(1, 1), (2, 2), (1, 2)])
    scale = draw.choice([None, 0.5, 1.0])
    factor = scale or 1.0
    rois = []
    for _ in range(draw.integer(1, 2)):
        left, top = draw.integer(0, width - 2), draw.integer(0, height - 2)
        right = draw.integer(left, width - 1)
        bottom = draw.integer(top, height - 1)
        # A quarter off, so that no rounding decides a tie.
        box = [(k + 0.25) / factor for k in (left, top, right, bottom)]
        rois.append([0.0, *box])
    shape = (len(rois), 1, *pooled_shape)

    def value(given: Given, r: int, _: int, *cell: int) -> mpf:
        box = [rounded(v * attribute(factor)) for v in given["rois"][r, 1:]]
        spans = []
        for axis in (0, 1):
            low, high = box[1 - axis], box[3 - axis]
            size = max(high - low + 1, 1)
            bins = pooled_shape[axis]
            ends = cell[axis] * size // bins, -(-(cell[axis] + 1) * size // bins)
            spans.append(range(*(min(max(end + low, 0), sizes[axis]) for end in ends)))
        found = [given["x"][0, 0, i, j] for i in spans[0] for j in spans[1]]
        return max(found) if found else mpf(0)

    inputs = {"x": draw.floats((1, 1, height, width)), "rois": rois}
    given = {"pooled_shape": pooled_shape, "spatial_scale": scale}
    compute = by_place(shape, value)
    return draw.problem("MaxRoiPool", inputs, shape, compute, still=["rois"], **given)


def corners(image: Array, position: tuple[mpf, mpf]) -> list[mpf]:
    """The four terms of a bilinear sample; all are 0 far outside.

    Within one place of the border the sample is the border's.
    """
    ends = []
    for p, size in zip(position, image.shape):
        if p < -1 or p > size:
            return [mpf(0)] * 4
        p = min(max(p, mpf(0)), mpf(size - 1))
        low = int(mp.floor(p))
        high = min(low + 1, size - 1)
        ends.append([(low, 1 - (p - low)), (high, p - low)])
    return [
        image[row, column] * down * right
        for row, down in ends[0]
        for column, right in ends[1]
    ]


def roi_align(
    given: Given, shape: Shape, mode: str, ratio: int, shift: mpf, scale: mpf
) -> Array:
    """RoiAlign: the mean of each bin's samples, or the greatest of their terms.

    The page means the greatest sample; ONNX's published case of the mode max
    takes the greatest weighted corner, and so does every backend that passes.
    """

    def value(r: int, c: int, *cell: int) -> mpf:
        roi = [v * scale - shift for v in given["rois"][r]]
        image = given["x"][int(given["batch"][r]), c]
        points = []
        for axis in (0, 1):
            begin, end = roi[1 - axis], roi[3 - axis]
            size = end - begin
            if shift == 0:
                size = max(size, mpf(1))
            step = size / shape[2 + axis]
            count = ratio or int(mp.ceil(step))
            halves = [(2 * k + 1) * step / (2 * count) for k in range(count)]
            points.append([begin + cell[axis] * step + h for h in halves])
        samples = [corners(image, at) for at in itertools.product(*points)]
        terms = [term for sample in samples for term in sample]
        return max(terms) if mode == "max" else total(terms) / len(samples)

    return made(shape, value)


def draw_roi_align(draw: Draw) -> Problem:
    height, width = draw.choice([(3, 4), (4, 4)])
    count = draw.integer(1, 2)
    bins = draw.choice([(1, 1), (2, 1), (2, 2)])
    mode = draw.choice([None, "avg", "max"])
    half = draw.choice([None, "half_pixel", "output_half_pixel"])
    shift = mpf(0) if half == "output_half_pixel" else mpf(1) / 2
    ratio = draw.choice([0, 1, 2])
    scale = draw.choice([None, 0.5, draw.uniform(0.4, 1.2)])
    rois = []
    for _ in range(count):
        left, top = draw.random.uniform(0, 1), draw.random.uniform(0, 1)
        box = [left, top, left + 2.3, top + draw.random.uniform(1, 2.5)]
        rois.append([float(draw.rounded(v / (scale or 1))) for v in box])
    inputs = {"x": draw.floats((1, 1, height, width)), "rois": rois}
    inputs["batch"] = np.zeros(count, np.int64)
    shape = (count, 1, *bins)
    factor = 1.0 if scale is None else scale
    return draw.problem(
        "RoiAlign",
        inputs,
        shape,
        lambda of: [roi_align(of, shape, mode, ratio, shift, attribute(factor))],
        still=["rois"],
        mode=mode,
        coordinate_transformation_mode=half,
        output_height=bins[0],
        output_width=bins[1],
        sampling_ratio=ratio or None,
        spatial_scale=scale,
    )


OPERATORS = [
    Operator("AveragePool", draw_average),
    Operator("MaxPool", draw_max),
    Operator("LpPool", draw_lp),
    Operator(
        "GlobalAveragePool", lambda draw: draw_global(draw, "GlobalAveragePool", mean)
    ),
    Operator("GlobalMaxPool", lambda draw: draw_global(draw, "GlobalMaxPool", max)),
    Operator("GlobalLpPool", draw_global_lp),
    Operator("MaxUnpool", draw_max_unpool),
    Operator("MaxRoiPool", draw_max_roi),
    Operator("RoiAlign", draw_roi_align),
]
