# SPDX-License-Identifier: Apache-2.0
"""A problem of one node, and the places of a small tensor.

The families from products.py to movement.py write their sums as loops over
places, and state their inputs in one call.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import numpy as np
from problem import Compute, Draw, Problem, Shape

# Of TensorProto.DataType.
DATA_TYPES = {"float": 1, "float16": 10, "double": 11, "bfloat16": 16}

# Of operators that ONNX has not for every float type.
NO_DOUBLE = ("float", "float16", "bfloat16")
NO_BFLOAT16 = ("float", "float16", "double")


def places(shape: Sequence[int]) -> Iterator[Shape]:
    """All indices of a shape, in row-major order."""
    return itertools.product(*(range(size) for size in shape))


def problem(
    draw: Draw,
    text: str,
    inputs: dict[str, np.ndarray],
    outputs: dict[str, Sequence[int]],
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
