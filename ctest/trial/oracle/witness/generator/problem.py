# SPDX-License-Identifier: Apache-2.0
"""The words of the witness: an operator, a problem of it, and how it is drawn.

A family file (elementwise.py, products.py ...) exports `OPERATORS`. Each draws
problems: a node, inputs that are exact in their type, and `compute`, the page's
formula in mpmath at the present precision. For example:

    def draw_erf(draw: Draw) -> Problem:
        x = draw.floats(draw.shape())
        return draw.problem(
            "Erf", {"x": x}, x.shape, lambda given: [each(mp.erf, given["x"])]
        )

    OPERATORS = [Operator("Erf", draw_erf, pointwise=True)]

The files import each other as neighbours, `from problem import Draw`, so none
may have the name of a module of Python's own: signal.py would hide it.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import ml_dtypes
import numpy as np
from arithmetic import Array, Given, Line, Shape, along

Compute = Callable[[Given], list[Array]]

FLOATS = {
    "double": np.float64,
    "float": np.float32,
    "float16": np.float16,
    "bfloat16": ml_dtypes.bfloat16,
}
# Types of less than 16 bits, in which no sum is computed.
NARROW_FLOATS = {
    "float8e4m3fn": ml_dtypes.float8_e4m3fn,
    "float8e4m3fnuz": ml_dtypes.float8_e4m3fnuz,
    "float8e5m2": ml_dtypes.float8_e5m2,
    "float8e5m2fnuz": ml_dtypes.float8_e5m2fnuz,
    "float8e8m0": ml_dtypes.float8_e8m0fnu,
    "float4e2m1": ml_dtypes.float4_e2m1fn,
    "float6e2m3": ml_dtypes.float6_e2m3fn,
    "float6e3m2": ml_dtypes.float6_e3m2fn,
}
SCALES = ("tame", "edge", "wild")
# The numbers of TensorProto.DataType.
DATA_TYPES = {"float": 1, "float16": 10, "double": 11, "bfloat16": 16}

# The types of operators that ONNX has not for every float type.
NO_DOUBLE = ("float", "float16", "bfloat16")
NO_BFLOAT16 = ("float", "float16", "double")


class Undrawable(Exception):
    """These draws make no problem: generate.py takes the next seed."""


@dataclass
class Problem:
    """A node (or a few), its inputs, and the formula of its exact outputs."""

    node: str  # nodes in ONNX's text syntax: 'y = Gelu <...> (x)'
    inputs: dict[str, np.ndarray]  # float64, int64 or bool; exact in the type
    types: dict[str, str]  # of each input: "float", "int64"
    outputs: list[tuple[str, str, Shape]]
    compute: Compute  # by name, floats as mpf; one array for each output
    moved: list[str] = field(default_factory=list)  # differentiated inputs
    opsets: dict[str, int] = field(default_factory=dict)  # if not the newest


@dataclass(frozen=True)
class Operator:
    """An operator and how a problem of it is drawn."""

    name: str
    draw: Callable[[Draw], Problem]
    pointwise: bool = False  # input x, output y, element by element
    types: tuple[str, ...] = tuple(FLOATS)  # that ONNX has it for
    weight: int = 1  # how often it is drawn, to others' once


# ----------------------------------------------------------------- drawing


class Draw:
    """Random numbers of one seed, in one float type and on one scale."""

    def __init__(self, seed: str, type: str = "double", scale: str = "tame"):
        self.random = random.Random(seed)
        self.type = type
        self.scale = scale

    def choice(self, among: Sequence[Any]) -> Any:
        """One of several."""
        return self.random.choice(among)

    def flag(self, probability: float = 0.5) -> bool:
        """True as often as wanted."""
        return self.random.random() < probability

    def integer(self, low: int, high: int) -> int:
        """An integer between two bounds, both included."""
        return self.random.randint(low, high)

    def integers(self, shape: Shape, low: int, high: int) -> np.ndarray:
        """Integers between two bounds, both included."""
        return self._filled(shape, lambda: self.integer(low, high), np.int64)

    def flags(self, shape: Shape) -> np.ndarray:
        """An array of bools."""
        return self._filled(shape, self.flag, np.bool_)

    def shape(self, low: int = 1, high: int = 3, most: int = 12) -> Shape:
        """A shape of a few dimensions and of at most so many elements."""
        while True:
            rank = self.integer(low, high) or self.integer(low, high)
            shape = tuple(self.integer(1, 4) for _ in range(rank))
            if 2 <= math.prod(shape) <= most or (low == 0 and rank == 0):
                return shape

    def uniform(self, low: float, high: float) -> float:
        """A number of a float32 attribute: exact in float32."""
        return float(np.float32(self.random.uniform(low, high)))

    def floats(
        self, shape: Shape, low: float | None = None, high: float | None = None
    ) -> np.ndarray:
        """Floats of the draw's scale, exact in its type, within the bounds."""
        count = math.prod(shape)
        lower = -self.largest if low is None else low
        upper = self.largest if high is None else high
        if self.scale == "tame":
            numbers = self._tame(count, low, high)
        elif self.scale == "edge":
            numbers = self._edge(count, lower, upper)
        else:
            numbers = self._wild(count, lower, upper)
        return np.array(numbers, np.float64).reshape(shape)

    def rounded(self, numbers: Any) -> np.ndarray:
        """Float64 numbers, rounded to the draw's type."""
        wide = np.asarray(numbers, np.float64)
        wide = np.clip(wide, -self.largest, self.largest)
        return wide.astype(FLOATS[self.type]).astype(np.float64)

    def narrow(self, type: str, shape: Shape) -> np.ndarray:
        """Numbers of a narrow type, each code as likely, that the draw's has too."""
        codes = np.arange(
            2 ** ml_dtypes.finfo(NARROW_FLOATS[type]).bits, dtype=np.uint8
        )
        every = codes.view(NARROW_FLOATS[type]).astype(np.float64)
        own = every[np.isfinite(every) & (abs(every) <= self.largest)]
        if self.scale == "tame":
            own = own[(abs(own) >= 2.0**-4) & (abs(own) <= 64)]
        own = own[own == self.rounded(own)]
        return self._filled(shape, lambda: self.choice(own), np.float64)

    def problem(
        self,
        operator: str,
        inputs: Mapping[str, Any],
        outputs: Mapping[str, Sequence[int]] | Sequence[int],
        compute: Compute,
        /,
        types: dict[str, str] | None = None,
        still: Sequence[str] = (),
        opsets: dict[str, int] | None = None,
        **attributes: Any,
    ) -> Problem:
        """A problem of one node; an input of None is left out, as in the node.

        Inputs are arrays, or numbers and lists of them; `outputs` has shapes by
        name, or is the shape of y alone.
        """
        shapes = outputs if isinstance(outputs, Mapping) else {"y": outputs}
        drawn = {name: np.asarray(x) for name, x in inputs.items() if x is not None}
        names = [name if name in drawn else "" for name in inputs]
        text = node(shapes, operator, names, **attributes)
        return problem(self, text, drawn, shapes, compute, types, still, opsets)

    @property
    def largest(self) -> float:
        """The greatest finite number of the type."""
        return float(ml_dtypes.finfo(FLOATS[self.type]).max)

    @property
    def epsilon(self) -> float:
        """The step from 1 to the next number of the type."""
        return float(ml_dtypes.finfo(FLOATS[self.type]).eps)

    @property
    def decades(self) -> tuple[float, float]:
        """The powers of ten over which wild numbers spread."""
        least, most = {
            "double": (-120.0, 120.0),
            "float": (-30.0, 30.0),
            "bfloat16": (-30.0, 30.0),
            "float16": (-7.0, 4.0),
        }[self.type]
        return least, most

    def _filled(self, shape: Shape, one: Callable[[], Any], type: Any) -> Any:
        numbers = [one() for _ in range(math.prod(shape))]
        return np.array(numbers, type).reshape(shape)

    def _tame(self, count: int, low: float | None, high: float | None) -> list[float]:
        """Distinct numbers of size about 1, none next to 0."""
        low = -3.0 if low is None else low
        high = low + 6.0 if high is None else high
        if high - low > 50:  # bounds for the wild, not for these
            low, high = max(low, -3.0), min(high, max(low, -3.0) + 6.0)
        numbers: list[float] = []
        for _ in range(100000):
            if len(numbers) == count:
                break
            number = float(self.rounded(self.random.uniform(low, high)))
            away = abs(number) > 1e-3 * (high - low)
            if away and low <= number <= high and number not in numbers:
                numbers.append(number)
        if len(numbers) < count:
            raise Undrawable(f"no {count} distinct numbers in {low}..{high}")
        return numbers

    def _edge(self, count: int, low: float, high: float) -> list[float]:
        """One edge for the whole array, or another for each element."""
        kinds = ["one", "tiny", "large", "hot", "mean", "zero", "tame"]
        whole = self.choice([*kinds, "mixed"])
        numbers = []
        for at in range(count):
            kind = self.choice(kinds) if whole == "mixed" else whole
            for _ in range(50):
                number = float(self.rounded(self._one_edge(kind, at)))
                if low <= number <= high:
                    break
                kind = self.choice(kinds)
            else:
                number = self._within(low, high)
            numbers.append(number)
        return numbers

    def _one_edge(self, kind: str, at: int) -> float:
        sign = self.choice([-1.0, 1.0])
        uniform = self.random.uniform
        if kind == "one":
            return sign * (1 + self.epsilon * self.integer(-3, 3))
        if kind == "tiny":
            return sign * uniform(1, 9) * 10.0 ** max(-30, self.decades[0])
        if kind == "large":  # where sigmoid, tanh and erf saturate
            return sign * uniform(4, 40)
        if kind == "hot":  # the first is far above the others
            return uniform(20, 60) if at == 0 else uniform(-2, 2)
        if kind == "mean":
            return 1e4 + uniform(-2, 2)
        if kind == "zero" and self.flag(0.5):
            return 0.0
        return uniform(-2, 2)

    def _wild(self, count: int, low: float, high: float) -> list[float]:
        """Numbers over many decades, as even in the logarithm as bounds allow."""
        numbers = []
        for _ in range(count):
            for _ in range(50):
                decade = self.random.uniform(*self.decades)
                number = self.choice([-1.0, 1.0]) * 10.0**decade
                number = float(self.rounded(number))
                if low <= number <= high:
                    break
            else:
                number = self._within(low, high)
            numbers.append(number)
        return numbers

    def _within(self, low: float, high: float) -> float:
        for _ in range(1000):
            number = float(self.rounded(self.random.uniform(low, high)))
            if low <= number <= high:
                return number
        raise Undrawable(f"no number of {self.type} in {low}..{high}")


# ------------------------------------------------------------- text of nodes


def node(
    outputs: str | Iterable[str],
    operator: str,
    inputs: str | Iterable[str],
    **attributes: Any,
) -> str:
    """A node as ONNX's text; an input left out is "", an attribute None."""
    outputs = outputs if isinstance(outputs, str) else ", ".join(outputs)
    if not isinstance(inputs, str):
        names = list(inputs)
        while names and not names[-1]:
            names.pop()
        inputs = ", ".join(name or '""' for name in names)
    given = [
        f"{key} = {attribute_text(value)}"
        for key, value in attributes.items()
        if value is not None
    ]
    middle = f" <{', '.join(given)}>" if given else ""
    return f"{outputs} = {operator}{middle} ({inputs})"


class Literal(str):
    """The text of an attribute that is a tensor or a graph."""


def attribute_text(value: Any) -> str:
    """An attribute's value as ONNX's text; a float stays a float."""
    if isinstance(value, Literal):
        return value
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, (bool, np.bool_, int, np.integer)):
        return str(int(value))
    if isinstance(value, (float, np.floating)):
        text = repr(float(value))
        return text if set(text) & set(".en") else text + ".0"
    return f"[{', '.join(attribute_text(item) for item in value)}]"


def type_text(type: str, shape: Shape) -> str:
    """A tensor type as ONNX's text has it: a scalar has no brackets."""
    return type if shape == () else f"{type}[{','.join(map(str, shape))}]"


def tensor_text(type: str, numbers: Any) -> Literal:
    """An attribute's tensor; ONNX's text has the narrow floats as their bits."""
    numbers = np.asarray(numbers)
    if type in FLOATS and np.dtype(FLOATS[type]).itemsize == 2:
        numbers = numbers.astype(FLOATS[type]).view(np.uint16)
    elements = ", ".join(attribute_text(number) for number in numbers.ravel())
    return Literal(f"{type_text(type, numbers.shape)} {{{elements}}}")


def body(name: str, inputs: str, outputs: str, nodes: str) -> Literal:
    """A graph as an attribute in ONNX's text syntax."""
    return Literal(f"{name} ({inputs}) => ({outputs}) {{ {nodes} }}")


def constant(name: str, type: str, numbers: Any) -> str:
    """A node of a tensor that is known."""
    return node(name, "Constant", "", value=tensor_text(type, numbers))


def problem(
    draw: Draw,
    text: str,
    inputs: dict[str, np.ndarray],
    outputs: Mapping[str, Sequence[int]],
    compute: Compute,
    types: dict[str, str] | None = None,
    still: Sequence[str] = (),
    opsets: dict[str, int] | None = None,
) -> Problem:
    """A problem whose floats are of the drawn type, unless `types` says else.

    Every input of the drawn type is moved for derivatives, but those that are
    named in `still`.
    """
    named = dict.fromkeys(outputs, draw.type)
    for name, values in inputs.items():
        kind = np.asarray(values).dtype.kind
        named[name] = {"i": "int64", "b": "bool"}.get(kind, draw.type)
    named |= types or {}
    moved = [name for name in inputs if named[name] == draw.type and name not in still]
    return Problem(
        node=text,
        inputs=inputs,
        types={name: named[name] for name in inputs},
        outputs=[(name, named[name], tuple(shape)) for name, shape in outputs.items()],
        compute=compute,
        moved=moved,
        opsets=opsets or {},
    )


def of_lines(
    draw: Draw,
    operator: str,
    x: np.ndarray,
    line: Callable[[Line], Line],
    axis: int | None,
    /,
    **given: Any,
) -> Problem:
    """A problem of a function of each line of an axis, by default the last."""
    at = -1 if axis is None else axis
    return draw.problem(
        operator, {"x": x}, x.shape, lambda of: [along(line, of["x"], at)], **given
    )
