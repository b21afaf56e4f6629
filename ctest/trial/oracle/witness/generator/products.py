# SPDX-License-Identifier: Apache-2.0
"""Products of matrices and tensors, the determinant, DFT, STFT, the windows and
MelWeightMatrix from ONNX's pages.

Each sum is written out, term by term, with exact numbers; so is every transform. The
pages give no formulas of the windows and of the triangles: those are the ones that
ONNX publishes cases of.
"""

from __future__ import annotations

import itertools

import numpy as np
from arithmetic import Shape, attribute, by_place, dot, made, places, total, zeros
from mpmath import mp, mpf
from problem import DATA_TYPES, Array, Draw, Given, Operator, Problem


def matmul(a: Array, b: Array) -> Array:
    """numpy.matmul: stacks of matrices, a vector as a row or as a column."""
    left = a[np.newaxis, :] if a.ndim == 1 else a
    right = b[:, np.newaxis] if b.ndim == 1 else b
    stack = np.broadcast_shapes(left.shape[:-2], right.shape[:-2])
    left, right = (np.broadcast_to(x, (*stack, *x.shape[-2:])) for x in (left, right))
    y = made(
        (*stack, left.shape[-2], right.shape[-1]),
        lambda *at: dot(left[at[:-1]], right[(*at[:-2], slice(None), at[-1])]),
    )
    y = y[..., 0, :] if a.ndim == 1 else y
    return y[..., 0] if b.ndim == 1 else y


MATRICES: list[tuple[Shape, Shape, Shape]] = [
    ((2, 3), (3, 2), (2, 2)),
    ((3,), (3,), ()),
    ((4,), (4, 2), (2,)),
    ((2, 5), (5,), (2,)),
    ((2, 2, 2), (2, 2), (2, 2, 2)),
    ((2, 2), (2, 2, 2), (2, 2, 2)),
    ((2, 1, 2, 2), (2, 2, 1), (2, 2, 2, 1)),
    ((1, 8), (8, 1), (1, 1)),
]


def draw_matmul(draw: Draw) -> Problem:
    left, right, shape = draw.choice(MATRICES)
    return draw.problem(
        "MatMul",
        {"a": draw.floats(left), "b": draw.floats(right)},
        shape,
        lambda given: [matmul(given["a"], given["b"])],
    )


def draw_gemm(draw: Draw) -> Problem:
    rows, inner, columns = draw.choice([(2, 3, 2), (1, 4, 2), (3, 1, 2)])
    turn_a, turn_b = draw.flag(), draw.flag()
    alpha = draw.choice([None, draw.uniform(-2, 2)])
    beta = draw.choice([None, draw.uniform(-2, 2)])
    bias = draw.choice([None, (), (columns,), (rows, 1), (rows, columns)])
    inputs = {
        "a": draw.floats((inner, rows) if turn_a else (rows, inner)),
        "b": draw.floats((columns, inner) if turn_b else (inner, columns)),
        "c": None if bias is None else draw.floats(bias),
    }

    def compute(given: Given) -> list[Array]:
        a = given["a"].T if turn_a else given["a"]
        b = given["b"].T if turn_b else given["b"]
        y = matmul(a, b) * attribute(1 if alpha is None else alpha)
        if "c" in given:
            y = y + given["c"] * attribute(1 if beta is None else beta)
        return [y]

    given = {"alpha": alpha, "beta": beta}
    given |= {"transA": turn_a or None, "transB": turn_b or None}
    return draw.problem("Gemm", inputs, (rows, columns), compute, **given)


EQUATIONS: list[tuple[str, list[Shape]]] = [
    ("ij,jk->ik", [(2, 3), (3, 2)]),
    ("ij,kj->ik", [(2, 3), (2, 3)]),
    ("bij,bjk->bik", [(2, 2, 2), (2, 2, 2)]),
    ("i,i->", [(5,), (5,)]),
    ("i,j->ij", [(3,), (2,)]),
    ("ij->ji", [(2, 3)]),
    ("ij->", [(2, 3)]),
    ("ij->i", [(3, 2)]),
    ("ii->i", [(3, 3)]),
    ("ii", [(3, 3)]),
    ("ij,jk,kl->il", [(2, 2), (2, 3), (3, 2)]),
    ("ij,ij->ij", [(2, 2), (2, 2)]),
    ("ij,ij,ij->j", [(2, 2), (2, 2), (2, 2)]),
    ("...ij,...jk->...ik", [(2, 2, 2), (2, 2, 1)]),
    ("i...->...", [(3, 2)]),
    ("bhwd,bkd->bhwk", [(1, 2, 1, 3), (1, 2, 3)]),
    ("ij,jk", [(2, 2), (2, 3)]),
]
# The dots as a label; without "->" the labels that stand once come in order.
WRITTEN_OUT = {
    "...ij,...jk->...ik": "Zij,Zjk->Zik",
    "i...->...": "iZ->Z",
    "ii": "ii->",
    "ij,jk": "ij,jk->ik",
}


def einsum(equation: str, tensors: list[Array]) -> Array:
    """The sum over every label that is not in the output."""
    left, right = WRITTEN_OUT.get(equation, equation).split("->")
    terms = left.split(",")
    sizes: dict[str, int] = {}
    for term, tensor in zip(terms, tensors):
        sizes.update(zip(term, tensor.shape))
    result = zeros(tuple(sizes[label] for label in right))
    for index in places(list(sizes.values())):
        at = dict(zip(sizes, index))
        product = mpf(1)
        for term, tensor in zip(terms, tensors):
            product *= tensor[tuple(at[label] for label in term)]
        result[tuple(at[label] for label in right)] += product
    return result


def draw_einsum(draw: Draw) -> Problem:
    equation, shapes = draw.choice(EQUATIONS)
    inputs = {f"x{k}": draw.floats(shape) for k, shape in enumerate(shapes)}
    shape = einsum(equation, [zeros(one) for one in shapes]).shape
    return draw.problem(
        "Einsum",
        inputs,
        shape,
        lambda given: [einsum(equation, [given[name] for name in inputs])],
        equation=equation,
    )


def determinant(matrix: Array) -> mpf:
    """Leibniz' sum over all permutations."""
    size = matrix.shape[0]
    result = mpf(0)
    for order in itertools.permutations(range(size)):
        pairs = itertools.combinations(order, 2)
        swaps = sum(1 for first, second in pairs if first > second)
        product = mpf(-1 if swaps % 2 else 1)
        for row, column in enumerate(order):
            product *= matrix[row, column]
        result += product
    return result


UNIMODULAR = [
    [19823, 26218, -162],
    [3425023, 4578541, -28292],
    [6797157, -4031885, 25281],
]


def _hostile(draw: Draw) -> np.ndarray:
    """A matrix that is singular, or next to that, and exact in the type."""
    kind = draw.choice(["singular", "zero", "near", "third", "unimodular"])
    if kind == "singular":
        return np.array([[1.0, 2.0], [2.0, 4.0]])
    if kind == "zero":
        return np.array([[0.0, 0.0], [0.0, 3.0]])
    if kind == "unimodular" and draw.type in ("float", "double"):
        return np.array(UNIMODULAR, dtype=np.float64)
    third = float(draw.rounded(1 / 3))
    if kind == "third":
        return np.array([[1.0, third], [3.0, 1.0]])
    return np.array([[1.0, third, 2.0], [3.0, 1.0, 6.0], [0.5, 0.25, 1.0]])


def draw_det(draw: Draw) -> Problem:
    if draw.scale == "edge" and draw.flag(0.7):
        x = _hostile(draw)
    else:
        shapes = [(1, 1), (2, 2), (3, 3), (2, 2, 2), (4, 4)]
        x = draw.floats(draw.choice(shapes))
    stack = x.shape[:-2]
    compute = by_place(stack, lambda given, *at: determinant(given["x"][at]))
    return draw.problem("Det", {"x": x}, stack, compute)


# ---------------------------------------------------------------- transforms

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
    inputs = {"x": draw.floats((*shape, parts)), "length": None, "axis": None}
    if draw.flag():
        length = max(2, length + draw.integer(-1, 2))
        inputs["length"] = length
    if axis != len(shape) - 1 or draw.flag():
        # The page counts the last dimension, of the parts, too.
        below = axis - len(shape) - 1 if draw.flag() else axis
        inputs["axis"] = below
    kept = length // 2 + 1 if kind == "half" else length
    whole = [*shape, 1 if kind == "from half" else 2]
    whole[axis] = kept

    def compute(given: Given) -> list[Array]:
        lines = np.moveaxis(given["x"], axis, -2)
        result = zeros((*lines.shape[:-2], kept, whole[-1]))
        for at in places(lines.shape[:-2]):
            line = as_complex(lines[at])
            if kind == "from half":
                found = from_half(line, length)
            else:
                found = transform(line, length, kind == "inverse")
            for k, number in enumerate(found[:kept]):
                result[(*at, k)] = number[: whole[-1]]
        return [np.moveaxis(result, -2, axis)]

    return draw.problem(
        "DFT",
        inputs,
        whole,
        compute,
        inverse=kind in ("inverse", "from half") or None,
        onesided=kind in ("half", "from half") or None,
    )


def draw_stft(draw: Draw) -> Problem:
    parts = draw.choice([1, 1, 2])
    length, frame, step = draw.choice([(6, 4, 2), (5, 3, 1), (6, 3, 3), (4, 4, 1)])
    onesided = parts == 1 and draw.flag()
    batch = draw.choice([1, 2])
    inputs = {
        "signal": draw.floats((batch, length, parts)),
        "step": step,
        "window": draw.floats((frame,), 0.1, 1.0) if draw.flag() else None,
        "frame": None,
    }
    if inputs["window"] is None or draw.flag():
        inputs["frame"] = frame
    kept = frame // 2 + 1 if onesided else frame
    shape = (batch, (length - frame) // step + 1, kept, 2)

    def compute(given: Given) -> list[Array]:
        result = zeros(shape)
        window = given.get("window", [mpf(1)] * frame)
        for n, f in places(shape[:2]):
            signal = as_complex(given["signal"][n, f * step : f * step + frame])
            line = [(a * w, b * w) for (a, b), w in zip(signal, window)]
            result[n, f] = transform(line, frame, False)[:kept]
        return [result]

    return draw.problem("STFT", inputs, shape, compute, onesided=1 if onesided else 0)


def window(name: str, *factors: tuple[int, int]) -> Operator:
    """A sum of cosines of the multiples of a part of the circle, whose factors are
    fractions; of a few sizes, periodic or not."""

    def drawn(draw: Draw) -> Problem:
        size = draw.integer(2, 12)
        periodic = draw.choice([None, 1, 0])
        count = size - 1 if periodic == 0 else size

        def value(n: int) -> mpf:
            part = mpf(n) / count
            terms = (
                mpf(over) / under * mp.cospi(2 * k * part)
                for k, (over, under) in enumerate(factors)
            )
            return total(terms)

        given = {"periodic": periodic, "output_datatype": datatype(draw)}
        return draw.problem(
            name, {"size": size}, (size,), lambda _: [made((size,), value)], **given
        )

    return Operator(name, drawn)


def datatype(draw: Draw) -> int | None:
    """The attribute of an output's type, which is float without it."""
    return None if draw.type == "float" else DATA_TYPES[draw.type]


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
        **{"bins": bins, "length": length, "rate": rate},
        # An odd number of quarters: no bin ends exactly there.
        "low": draw.rounded(draw.integer(1, 300) + 0.25),
        "high": draw.rounded(rate / 2 - draw.integer(1, 300)),
    }
    shape = (length // 2 + 1, bins)

    def compute(given: Given) -> list[Array]:
        points = edges(bins, length, rate, given["low"][()], given["high"][()])
        y = zeros(shape)
        for i, (low, centre, high) in enumerate(zip(points, points[1:], points[2:])):
            for j in range(low, centre):
                y[j, i] = mpf(j - low) / (centre - low)
            y[centre, i] = mpf(1)
            for j in range(centre + 1, high):
                y[j, i] = mpf(high - j) / (high - centre)
        return [y]

    still, code = ["low", "high"], datatype(draw)
    return draw.problem(
        "MelWeightMatrix", inputs, shape, compute, still=still, output_datatype=code
    )


OPERATORS = [
    Operator("MatMul", draw_matmul),
    Operator("Gemm", draw_gemm),
    Operator("Einsum", draw_einsum),
    Operator("Det", draw_det),
    Operator("DFT", draw_dft),
    Operator("STFT", draw_stft),
    window("HannWindow", (1, 2), (-1, 2)),
    window("HammingWindow", (25, 46), (-21, 46)),
    window("BlackmanWindow", (42, 100), (-1, 2), (8, 100)),
    Operator("MelWeightMatrix", draw_mel),
]
