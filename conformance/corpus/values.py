# SPDX-License-Identifier: Apache-2.0
"""Types and values: the names of element types, and what a file holds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from onnx import (
    OptionalProto,
    SequenceProto,
    TensorProto,
    TypeProto,
    numpy_helper,
)

from case import CorpusError

_RENAMED = {"float": "float32", "double": "float64"}

DTYPE_NAMES = {
    number: _RENAMED.get(name.lower(), name.lower())
    for name, number in TensorProto.DataType.items()
}

# The types whose values a tolerance applies to.
FLOAT_DTYPES = frozenset(
    name
    for name in DTYPE_NAMES.values()
    if name.startswith(("float", "bfloat", "complex"))
)

_KINDS = {
    "tensor_type": "tensor",
    "sequence_type": "sequence",
    "optional_type": "optional",
    "map_type": "map",
    "sparse_tensor_type": "sparse",
}


class ValueType(NamedTuple):
    """A type, from the outside in: sequence of tensor of float32 [2, 3]."""

    kinds: tuple[str, ...]
    dtype: str
    shape: list[int | str | None] | None


def _shape(proto: TypeProto.Tensor) -> list[int | str | None] | None:
    if not proto.HasField("shape"):
        return None
    return [
        dim.dim_value if dim.HasField("dim_value") else (dim.dim_param or None)
        for dim in proto.shape.dim
    ]


def value_type(proto: TypeProto) -> ValueType:
    """The type that a graph declares for a value."""
    field = proto.WhichOneof("value")
    if field not in _KINDS:
        raise CorpusError(f"found a value of type {field}, wanted {_KINDS}")
    inner = getattr(proto, field)
    kind = _KINDS[field]
    if kind in ("tensor", "sparse"):
        dtype = DTYPE_NAMES[inner.elem_type]
        return ValueType((kind,), dtype, _shape(inner))
    of = value_type(inner.value_type if kind == "map" else inner.elem_type)
    return ValueType((kind, *of.kinds), of.dtype, of.shape)


def _leaves(value: Any) -> Iterator[np.ndarray]:
    if value is None:
        return
    if isinstance(value, dict):
        yield np.asarray(list(value.keys()))
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from _leaves(item)
    else:
        yield np.asarray(value)


def arrays(content: bytes, kind: str) -> list[np.ndarray]:
    """The tensors inside a value file whose outermost kind is `kind`."""
    if kind == "tensor":
        return [numpy_helper.to_array(TensorProto.FromString(content))]
    if kind == "sequence":
        sequence = SequenceProto.FromString(content)
        return list(_leaves(numpy_helper.to_list(sequence)))
    if kind == "optional":
        optional = OptionalProto.FromString(content)
        return list(_leaves(numpy_helper.to_optional(optional)))
    # ONNX's own runner reads no other kind either.
    raise CorpusError(
        f"found a {kind} value, wanted tensor, sequence, optional"
    )


def _one_value(array: np.ndarray) -> bool:
    flat = array.reshape(-1)
    nan = np.not_equal(flat, flat)
    return bool(np.all(flat == flat[0]) or np.all(nan))


def vacuity(outputs: list[np.ndarray]) -> str:
    """Why a right answer proves little; empty when it does prove something.

    A case is vacuous when each of its expected tensors has no element, or
    repeats a single value: a backend that fills its output with that value
    passes. A single element is an answer, not a repetition.
    """
    if all(array.size == 0 for array in outputs):
        return "zero-size output"
    if all(
        array.size == 0 or (array.size > 1 and _one_value(array))
        for array in outputs
    ):
        return "constant output"
    return ""
