# SPDX-License-Identifier: Apache-2.0
"""Arrays of exact numbers, and the functions of numbers that families share."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from mpmath import mp, mpf

Array = np.ndarray  # of mpf where the elements are floats, else of ints
Given = Mapping[str, Array]  # inputs by name
Line = list[Any]
Shape = tuple[int, ...]


def exact(numbers: Any) -> Array:
    """Floats as mpf, integers and bools as they are, in an object array."""
    numbers = np.asarray(numbers)
    if numbers.dtype == object or numbers.dtype.kind != "f":
        return numbers
    flat = [mpf(float(number)) for number in numbers.ravel()]
    return filled(numbers.shape, flat)


def filled(shape: Shape, flat: Iterable[Any]) -> Array:
    """An object array of a shape from its elements in order."""
    made = np.empty(math.prod(shape), object)
    for at, value in enumerate(flat):
        made[at] = value
    return made.reshape(shape)


def places(shape: Sequence[int]) -> Iterator[Shape]:
    """All indices of a shape, in row-major order."""
    return itertools.product(*(range(size) for size in shape))


def made(shape: Sequence[int], value: Callable[..., Any]) -> Array:
    """An object array of a function of the indices of each place."""
    return filled(tuple(shape), (value(*index) for index in places(shape)))


def by_place(
    shape: Sequence[int], value: Callable[..., Any]
) -> Callable[[Given], list[Array]]:
    """The formula of one output, by a function of the inputs and of each place."""
    return lambda given: [made(shape, lambda *index: value(given, *index))]


def zeros(shape: Shape) -> Array:
    """An object array of exact zeros."""
    return filled(shape, [mpf(0)] * math.prod(shape))


def each(function: Callable[..., Any], *arrays: Any) -> Array:
    """A function of scalars, element by element, with broadcasting."""
    boxed = [np.asarray(array, object) for array in arrays]
    spread = np.broadcast_arrays(*boxed)
    rows = zip(*(array.ravel() for array in spread))
    return filled(spread[0].shape, (function(*row) for row in rows))


def total(terms: Iterable[Any]) -> Any:
    """The sum of exact numbers, of none 0, at the present precision."""
    result = mpf(0)
    for term in terms:
        result = result + term
    return result


def dot(a: Iterable[Any], b: Iterable[Any]) -> Any:
    """The sum of the products of two lines."""
    return total(x * y for x, y in zip(a, b))


def mean(terms: Sequence[Any]) -> Any:
    """The mean of exact numbers."""
    return total(terms) / len(terms)


def along(function: Callable[[list[Any]], Any], x: Array, axis: int) -> Array:
    """Each line of an axis goes through a function from list to list."""
    moved = np.moveaxis(x, axis, -1)
    result = np.empty(moved.shape, object)
    for at in np.ndindex(moved.shape[:-1]):
        for place, value in enumerate(function(list(moved[at]))):
            result[(*at, place)] = value
    return np.moveaxis(result, -1, axis)


def reduced(
    function: Callable[[list[Any]], Any],
    x: Array,
    axes: Sequence[int],
    keepdims: bool,
) -> Array:
    """Each slice over some axes goes through a function from list to scalar."""
    axes = sorted(axis % x.ndim for axis in axes)
    kept = [axis for axis in range(x.ndim) if axis not in axes]
    moved = np.transpose(x, kept + axes)
    outer = moved.shape[: len(kept)]
    blocks = (np.asarray(moved[at], object) for at in np.ndindex(outer))
    results = [function(list(block.ravel())) for block in blocks]
    shape = outer
    if keepdims:
        shape = tuple(1 if i in axes else n for i, n in enumerate(x.shape))
    return filled(shape, results)


def attribute(value: float) -> mpf:
    """A float attribute as ONNX stores it: in float32."""
    return mpf(float(np.float32(value)))


def divided(a: mpf, b: mpf) -> mpf:
    """a / b as IEEE 754 has it where b is 0."""
    if b != 0:
        return a / b
    if a == 0 or mp.isnan(a):
        return mpf("nan")
    return mpf("inf") if a > 0 else mpf("-inf")


def logarithm(x: mpf) -> mpf:
    """The natural logarithm: -inf at 0, nan below."""
    if x < 0:
        return mpf("nan")
    return mpf("-inf") if x == 0 else mp.log(x)


def root(x: mpf) -> mpf:
    """The square root: nan below 0."""
    return mpf("nan") if x < 0 else mp.sqrt(x)


def power(x: mpf, exponent: mpf) -> mpf:
    """x to a power, as C's pow has it."""
    if exponent == 0 or x == 1:
        return mpf(1)
    whole = exponent == mp.floor(exponent)
    if x == 0:
        if exponent > 0:
            return mpf(0)
        return mpf("inf")
    if x < 0 and not whole:
        return mpf("nan")
    if whole and abs(exponent) < 1000:
        return x ** int(exponent)
    result = mp.exp(exponent * mp.log(abs(x)))
    odd = whole and int(exponent) % 2 == 1
    return -result if x < 0 and odd else result
