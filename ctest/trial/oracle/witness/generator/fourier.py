# SPDX-License-Identifier: Apache-2.0
"""DFT, STFT, the windows and MelWeightMatrix from ONNX's pages.

Every transform is the sum of its definition. The pages give no formulas of the
windows and of the triangles: those are the ones that ONNX publishes cases of.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from mpmath import mp, mpf
from problem import (
    DATA_TYPES,
    Array,
    Draw,
    Operator,
    Problem,
    filled,
    node,
    places,
    problem,
    zeros,
)

Complex = tuple[mpf, mpf]


def turn(k: int, n: int, length: int, sign: int) -> Complex:
    """exp(sign 2 pi j k n / length)."""
    halves = mpf(2 * (k * n % length)) / length
    return mp.cospi(halves), sign * mp.sinpi(halves)


def transform(line: list[Complex], length: int, inverse: bool) -> list[Complex]:
    """The transform of a line that is cut or filled up with zeros."""
    found = []
    for k in range(length):
        real, imaginary = mpf(0), mpf(0)
        for n, (a, b) in enumerate(line[:length]):
            c, s = turn(k, n, length, 1 if inverse else -1)
            real += a * c - b * s
            imaginary += a * s + b * c
        if inverse:
            real, imaginary = real / length, imaginary / length
        found.append((real, imaginary))
    return found


def from_half(line: list[Complex], length: int) -> list[Complex]:
    """The real signal whose spectrum begins with the line."""
    half = line[: length // 2 + 1]
    found = []
    for n in range(length):
        value = mpf(0)
        for k, (a, b) in enumerate(half):
            c, s = turn(k, n, length, 1)
            if k == 0 or 2 * k == length:
                value += a * c
            else:
                value += 2 * (a * c - b * s)
        found.append((value / length, mpf(0)))
    return found


def as_complex(line: Array) -> list[Complex]:
    """Numbers from a line of [real] or [real, imaginary]."""
    return [(row[0], row[1] if len(row) == 2 else mpf(0)) for row in line]


def draw_dft(draw: Draw) -> Problem:
    kind = draw.choice(["real", "half", "complex", "inverse", "from half"])
    parts = 1 if kind in ("real", "half") else 2
    shape = draw.choice([(1, 4), (2, 3), (1, 5), (2, 2), (1, 2, 3), (6,)])
    axis = draw.choice(range(len(shape)))
    if shape[axis] == 1:
        axis = len(shape) - 1
    size = shape[axis]
    length = 2 * (size - 1) if kind == "from half" else size
    inputs = {"x": draw.floats((*shape, parts))}
    names = ["x", "", ""]
    if draw.flag():
        length = max(2, length + draw.integer(-1, 2))
        inputs["length"] = np.array(length, np.int64)
        names[1] = "length"
    if axis != len(shape) - 1 or draw.flag():
        # The page counts the last dimension, of the parts, too.
        below = axis - len(shape) - 1 if draw.flag() else axis
        inputs["axis"] = np.array(below, np.int64)
        names[2] = "axis"
    kept = length // 2 + 1 if kind == "half" else length
    whole = list(shape)
    whole[axis] = kept
    outputs = (*whole, 1 if kind == "from half" else 2)

    def compute(given):
        lines = np.moveaxis(given["x"], axis, -2)
        result = zeros((*lines.shape[:-2], kept, outputs[-1]))
        for at in places(lines.shape[:-2]):
            line = as_complex(lines[at])
            if kind == "from half":
                found = from_half(line, length)
            else:
                found = transform(line, length, kind == "inverse")
            for k, number in enumerate(found[:kept]):
                for part in range(outputs[-1]):
                    result[(*at, k, part)] = number[part]
        return [np.moveaxis(result, -2, axis)]

    text = node(
        "y",
        "DFT",
        names,
        inverse=kind in ("inverse", "from half") or None,
        onesided=kind in ("half", "from half") or None,
    )
    return problem(draw, text, inputs, {"y": outputs}, compute)


def draw_stft(draw: Draw) -> Problem:
    parts = draw.choice([1, 1, 2])
    length, frame, step = draw.choice([(6, 4, 2), (5, 3, 1), (6, 3, 3), (4, 4, 1)])
    onesided = parts == 1 and draw.flag()
    batch = draw.choice([1, 2])
    inputs = {
        "signal": draw.floats((batch, length, parts)),
        "step": np.array(step, np.int64),
    }
    names = ["signal", "step", "", ""]
    if draw.flag():
        inputs["window"] = draw.floats((frame,), 0.1, 1.0)
        names[2] = "window"
    if names[2] == "" or draw.flag():
        inputs["frame"] = np.array(frame, np.int64)
        names[3] = "frame"
    frames = (length - frame) // step + 1
    kept = frame // 2 + 1 if onesided else frame
    shape = (batch, frames, kept, 2)

    def compute(given):
        result = zeros(shape)
        window = given.get("window", filled((frame,), [mpf(1)] * frame))
        for n, f in places((batch, frames)):
            signal = as_complex(given["signal"][n, f * step : f * step + frame])
            line = [(a * w, b * w) for (a, b), w in zip(signal, window)]
            for k, number in enumerate(transform(line, frame, False)[:kept]):
                result[n, f, k, 0], result[n, f, k, 1] = number
        return [result]

    text = node("y", "STFT", names, onesided=1 if onesided else 0)
    return problem(draw, text, inputs, {"y": shape}, compute)


def cosines(*factors: mpf) -> Callable[[mpf], mpf]:
    """A sum of cosines of the multiples of a part of the circle."""

    def value(part: mpf) -> mpf:
        result = mpf(0)
        for k, factor in enumerate(factors):
            result += factor * mp.cospi(2 * k * part)
        return result

    return value


def draw_window(
    draw: Draw, operator: str, window: Callable[[], Callable[[mpf], mpf]]
) -> Problem:
    """A window of a few sizes, periodic or not."""
    size = draw.integer(2, 12)
    periodic = draw.choice([None, 1, 0])
    count = size - 1 if periodic == 0 else size

    def compute(_):
        value = window()
        return [filled((size,), [value(mpf(n) / count) for n in range(size)])]

    text = node(
        "y",
        operator,
        "size",
        periodic=periodic,
        output_datatype=None if draw.type == "float" else DATA_TYPES[draw.type],
    )
    inputs = {"size": np.array(size, np.int64)}
    return problem(draw, text, inputs, {"y": (size,)}, compute)


def draw_hann(draw: Draw) -> Problem:
    half = mpf(1) / 2
    return draw_window(draw, "HannWindow", lambda: cosines(half, -half))


def draw_hamming(draw: Draw) -> Problem:
    return draw_window(
        draw, "HammingWindow", lambda: cosines(mpf(25) / 46, -mpf(21) / 46)
    )


def draw_blackman(draw: Draw) -> Problem:
    return draw_window(
        draw,
        "BlackmanWindow",
        lambda: cosines(mpf(42) / 100, -mpf(1) / 2, mpf(8) / 100),
    )


def edges(bins: int, length: int, rate: int, low: mpf, high: mpf) -> list[int]:
    """The bins of the spectrum where the triangles begin, stand and end."""
    first, last = (2595 * mp.log10(1 + f / 700) for f in (low, high))
    step = (last - first) / (bins + 2)
    found = []
    for k in range(bins + 2):
        hertz = 700 * (mpf(10) ** ((first + k * step) / 2595) - 1)
        found.append(int(mp.floor((length + 1) * hertz / rate)))
    return found


def draw_mel(draw: Draw) -> Problem:
    bins, length, rate = draw.choice([(3, 16, 8192), (2, 8, 4000), (4, 32, 16000)])
    inputs = {
        "bins": np.array(bins, np.int64),
        "length": np.array(length, np.int64),
        "rate": np.array(rate, np.int64),
        # An odd number of quarters: no bin ends exactly there.
        "low": np.array(float(draw.rounded(draw.integer(1, 300) + 0.25))),
        "high": np.array(float(draw.rounded(rate / 2 - draw.integer(1, 300)))),
    }
    rows = length // 2 + 1

    def compute(given):
        points = edges(bins, length, rate, given["low"][()], given["high"][()])
        y = zeros((rows, bins))
        for i, (low, centre, high) in enumerate(zip(points, points[1:], points[2:])):
            for j in range(low, centre):
                y[j, i] = mpf(j - low) / (centre - low)
            y[centre, i] = mpf(1)
            for j in range(centre + 1, high):
                y[j, i] = mpf(high - j) / (high - centre)
        return [y]

    text = node(
        "y",
        "MelWeightMatrix",
        inputs,
        output_datatype=None if draw.type == "float" else DATA_TYPES[draw.type],
    )
    still = ["low", "high"]
    return problem(draw, text, inputs, {"y": (rows, bins)}, compute, still=still)


OPERATORS = [
    Operator("DFT", draw_dft),
    Operator("STFT", draw_stft),
    Operator("HannWindow", draw_hann),
    Operator("HammingWindow", draw_hamming),
    Operator("BlackmanWindow", draw_blackman),
    Operator("MelWeightMatrix", draw_mel),
]
