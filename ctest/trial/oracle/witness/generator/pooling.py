# SPDX-License-Identifier: Apache-2.0
"""Pools from ONNX's pages: of windows, of whole images, of regions.

A window of a pool with ceil_mode may reach beyond the padded image; what lies
there is no element of it (the page follows PyTorch). A region of MaxRoiPool is
rounded to whole places, as in Fast R-CNN, which the operator comes from.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from convolution import Sliding, Window, inside
from mpmath import mp, mpf
from problem import (
    Array,
    Draw,
    Operator,
    Problem,
    Shape,
    attribute,
    filled,
    node,
    places,
    power,
    problem,
    total,
    zeros,
)


@dataclass(frozen=True)
class Layout(Sliding):
    """The choices of a draw for a pool."""

    ceil_mode: bool | None = None

    def window(self) -> tuple[Window, Shape]:
        """The window and the spatial shape of the output."""
        if self.is_same:
            return self.same_window()
        begins, ends = self.margins
        output = []
        for size, begin, end, reach, stride in zip(
            self.image, begins, ends, self.reach, self.steps
        ):
            room = size + begin + end - reach
            count = room // stride + 1
            if self.ceil_mode:
                count = -(-room // stride) + 1
                if (count - 1) * stride >= size + begin:
                    count -= 1
            output.append(count)
        return self.window_at(begins), tuple(output)

    def padded(self, place: Shape) -> bool:
        """True where a place lies in the image or in its padding."""
        begins, ends = self.margins
        return self.is_same or all(
            -begin <= k < size + end
            for k, size, begin, end in zip(place, self.image, begins, ends)
        )

    def attributes(self) -> dict[str, object]:
        """Those that are given, for a node's text."""
        return {
            "kernel_shape": self.kernel,
            "strides": self.strides,
            "dilations": self.dilations,
            "pads": self.pads,
            "auto_pad": self.auto_pad,
            "ceil_mode": self.ceil_mode,
        }


LAYOUTS = [
    Layout((6,), (3,)),
    Layout((7,), (3,), strides=(2,), pads=(1, 1)),
    Layout((6,), (3,), strides=(2,), ceil_mode=True),
    Layout((5,), (2,), strides=(3,), pads=(1, 0), ceil_mode=True),
    Layout((6,), (2,), dilations=(3,)),
    Layout((6,), (2,), dilations=(2,), pads=(1, 1)),
    Layout((3, 3), (2, 2)),
    Layout((3, 3), (2, 2), channels=2),
    Layout((3, 4), (2, 3), strides=(1, 2), pads=(0, 1, 1, 1)),
    Layout((4, 4), (3, 3), strides=(2, 2), ceil_mode=True),
    Layout((3, 3), (2, 2), auto_pad="SAME_UPPER"),
    Layout((3, 3), (2, 2), auto_pad="SAME_LOWER"),
    Layout((4, 3), (2, 2), strides=(2, 1), auto_pad="VALID"),
    Layout((2, 2, 3), (2, 1, 2)),
]


def pooled(
    x: Array, layout: Layout, pool: Callable[[list, list[Shape], int], object]
) -> Array:
    """Each window's numbers, their places and the count with padding go to a
    function."""
    window, spatial = layout.window()
    shape = (*x.shape[:2], *spatial)
    values = []
    for n, c, *output in places(shape):
        seen = [window.at(tuple(output), tap) for tap in places(layout.kernel)]
        found = [place for place in seen if inside(place, layout.image)]
        count = sum(1 for place in seen if layout.padded(place))
        numbers = [x[(n, c, *place)] for place in found]
        whole = [(n, c, *place) for place in found]
        values.append(pool(numbers, whole, count))
    return filled(shape, values)


def draw_pool(draw: Draw) -> tuple[Layout, np.ndarray, Shape]:
    """A layout, its input and the shape of its output."""
    layout = draw.choice(LAYOUTS)
    batch = draw.choice([1, 1, 2]) if len(layout.image) == 1 else 1
    x = draw.floats((batch, layout.channels, *layout.image))
    _, spatial = layout.window()
    return layout, x, (batch, layout.channels, *spatial)


def draw_average(draw: Draw) -> Problem:
    layout, x, shape = draw_pool(draw)
    include = draw.flag()

    def average(numbers, _, count):
        return total(numbers) / (count if include else len(numbers))

    text = node(
        "y",
        "AveragePool",
        "x",
        count_include_pad=include or None,
        **layout.attributes(),
    )
    return problem(
        draw,
        text,
        {"x": x},
        {"y": shape},
        lambda given: [pooled(given["x"], layout, average)],
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

    def compute(given):
        def largest(numbers, whole, _):
            best = max(numbers)
            return best, flat(whole[numbers.index(best)])

        both = pooled(given["x"], layout, largest)
        pairs = list(both.ravel())
        return [
            filled(shape, [value for value, _ in pairs]),
            filled(shape, [index for _, index in pairs]),
        ]

    text = node(
        "y, indices",
        "MaxPool",
        "x",
        storage_order=column or None,
        **layout.attributes(),
    )
    return problem(
        draw,
        text,
        {"x": x},
        {"y": shape, "indices": shape},
        compute,
        {"indices": "int64"},
    )


def norm(numbers: list, p: int) -> mpf:
    """The Lp norm."""
    return power(total(abs(x) ** p for x in numbers), mpf(1) / p)


def draw_lp(draw: Draw) -> Problem:
    layout, x, shape = draw_pool(draw)
    p = draw.choice([None, 1, 2, 3])
    text = node("y", "LpPool", "x", p=p, **layout.attributes())
    return problem(
        draw,
        text,
        {"x": x},
        {"y": shape},
        lambda given: [
            pooled(given["x"], layout, lambda numbers, *_: norm(numbers, p or 2))
        ],
    )


def draw_global(
    draw: Draw,
    operator: str,
    pool: Callable[[list], object],
    **attributes: object,
) -> Problem:
    """A pool over each channel's whole image."""
    shape = draw.choice([(1, 2, 4), (2, 2, 3), (1, 2, 2, 3), (1, 1, 2, 2, 2)])
    small = (*shape[:2], *(1,) * (len(shape) - 2))

    def compute(given):
        x = given["x"]
        channels = [x[index] for index in places(shape[:2])]
        return [filled(small, [pool(list(c.ravel())) for c in channels])]

    text = node("y", operator, "x", **attributes)
    x = draw.floats(shape)
    return problem(draw, text, {"x": x}, {"y": small}, compute)


def draw_global_average(draw: Draw) -> Problem:
    return draw_global(
        draw, "GlobalAveragePool", lambda numbers: total(numbers) / len(numbers)
    )


def draw_global_max(draw: Draw) -> Problem:
    return draw_global(draw, "GlobalMaxPool", max)


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
    strides = (2,) * len(kernel)
    size = math.prod(shape)
    free = list(range(math.prod(whole)))
    draw.random.shuffle(free)
    indices = np.array(sorted(free[:size]), np.int64).reshape(shape)
    inputs = {"x": draw.floats(shape), "indices": indices}
    if draw.flag():
        inputs["shape"] = np.array(whole, np.int64)

    def compute(given):
        y = zeros((math.prod(whole),))
        for index, value in zip(given["indices"].ravel(), given["x"].ravel()):
            y[int(index)] = value
        return [y.reshape(whole)]

    text = node(
        "y",
        "MaxUnpool",
        inputs,
        kernel_shape=kernel,
        strides=strides,
        pads=pads,
    )
    return problem(draw, text, inputs, {"y": whole}, compute)


# ------------------------------------------------------------------- regions


def rounded(x: mpf) -> int:
    """To the nearest integer, a half away from 0, as C's round."""
    return int(mp.sign(x)) * int(mp.floor(abs(x) + mpf(1) / 2))


def draw_max_roi(draw: Draw) -> Problem:
    height, width = draw.choice([(4, 4), (3, 5)])
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

    def compute(given):
        x, values = given["x"], []
        for r, _, *cell in places(shape):
            _, x1, y1, x2, y2 = (
                rounded(v * attribute(factor)) if k else int(v)
                for k, v in enumerate(given["rois"][r])
            )
            spans = []
            for axis, (low, high) in enumerate([(y1, y2), (x1, x2)]):
                size = max(high - low + 1, 1)
                bins = pooled_shape[axis]
                begin = cell[axis] * size // bins
                end = -(-(cell[axis] + 1) * size // bins)
                limit = (height, width)[axis]
                spans.append(
                    range(
                        min(max(begin + low, 0), limit),
                        min(max(end + low, 0), limit),
                    )
                )
            found = [x[0, 0, i, j] for i in spans[0] for j in spans[1]]
            values.append(max(found) if found else mpf(0))
        return [filled(shape, values)]

    text = node(
        "y",
        "MaxRoiPool",
        "x, rois",
        pooled_shape=pooled_shape,
        spatial_scale=scale,
    )
    inputs = {
        "x": draw.floats((1, 1, height, width)),
        "rois": np.array(rois),
    }
    return problem(draw, text, inputs, {"y": shape}, compute, still=["rois"])


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


def roi_align(given, shape: Shape, mode, ratio, shift, scale: mpf) -> Array:
    """RoiAlign: the mean of each bin's samples, or the greatest of their terms.

    The page means the greatest sample; ONNX's published case of the mode max
    takes the greatest weighted corner, and so does every backend that passes.
    """
    values = []
    for r, c, *cell in places(shape):
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
        samples = [corners(image, (y, x)) for y in points[0] for x in points[1]]
        terms = [term for sample in samples for term in sample]
        values.append(max(terms) if mode == "max" else total(terms) / len(samples))
    return filled(shape, values)


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
    inputs = {
        "x": draw.floats((1, 1, height, width)),
        "rois": np.array(rois),
        "batch": np.zeros(count, np.int64),
    }
    shape = (count, 1, *bins)
    text = node(
        "y",
        "RoiAlign",
        inputs,
        mode=mode,
        coordinate_transformation_mode=half,
        output_height=bins[0],
        output_width=bins[1],
        sampling_ratio=ratio or None,
        spatial_scale=scale,
    )
    factor = 1.0 if scale is None else scale

    def compute(given):
        return [roi_align(given, shape, mode, ratio, shift, attribute(factor))]

    return problem(draw, text, inputs, {"y": shape}, compute, still=["rois"])


OPERATORS = [
    Operator("AveragePool", draw_average),
    Operator("MaxPool", draw_max),
    Operator("LpPool", draw_lp),
    Operator("GlobalAveragePool", draw_global_average),
    Operator("GlobalMaxPool", draw_global_max),
    Operator("GlobalLpPool", draw_global_lp),
    Operator("MaxUnpool", draw_max_unpool),
    Operator("MaxRoiPool", draw_max_roi),
    Operator("RoiAlign", draw_roi_align),
]
