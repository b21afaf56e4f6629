# SPDX-License-Identifier: Apache-2.0
"""Walks a model's nodes: which operators it uses and which draw at random."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
from onnx import (
    AttributeProto,
    GraphProto,
    ModelProto,
    NodeProto,
    helper,
    numpy_helper,
)

from values import DTYPE_NAMES

# Operators that draw random numbers whenever they run. Dropout draws in
# training mode only. (ONNX's own flag, NodeDeterminism, marks these too, and
# beside them the operators that merely contain others: If, Loop, Scan,
# SequenceMap, AffineGrid.)
RANDOM_OPERATORS = frozenset(
    (
        *("Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike"),
        *("RandomUniform", "RandomUniformLike"),
    )
)

_MAX_TEXT = 64


def domain_name(domain: str) -> str:
    """The domain with ONNX's default one spelled out."""
    return domain or "ai.onnx"


def imports(model: ModelProto) -> dict[str, int]:
    """Opset versions by domain."""
    pairs = [(domain_name(o.domain), o.version) for o in model.opset_import]
    return dict(sorted(pairs))


def subgraphs(node: NodeProto) -> Iterator[GraphProto]:
    """The graphs among a node's attributes."""
    for attribute in node.attribute:
        if attribute.type == AttributeProto.GRAPH:
            yield attribute.g
        yield from attribute.graphs


def _walk(node_list: list[NodeProto]) -> Iterator[NodeProto]:
    for node in node_list:
        yield node
        for graph in subgraphs(node):
            yield from _walk(list(graph.node))


def all_nodes(model: ModelProto) -> Iterator[NodeProto]:
    """Every node: of the graph, its subgraphs and the model's functions."""
    yield from _walk(list(model.graph.node))
    for function in model.functions:
        yield from _walk(list(function.node))


def operators(model: ModelProto) -> list[str]:
    """The distinct `domain::Op` of a model, sorted."""
    return sorted(
        {f"{domain_name(n.domain)}::{n.op_type}" for n in all_nodes(model)}
    )


def _constants(model: ModelProto) -> dict[str, np.ndarray]:
    known = {
        tensor.name: numpy_helper.to_array(tensor)
        for tensor in model.graph.initializer
    }
    for node in all_nodes(model):
        if node.op_type == "Constant" and node.attribute[0].name == "value":
            value = numpy_helper.to_array(node.attribute[0].t)
            known[node.output[0]] = value
    return known


def _dropout_draws(
    node: NodeProto, opset: int, known: Mapping[str, np.ndarray]
) -> bool:
    """True where a Dropout node draws, or where this cannot be told."""
    if opset < 7:
        test = [a.i for a in node.attribute if a.name == "is_test"]
        return not any(test)
    # Opset 12 brought the inputs; from 7 to 11 Dropout only infers.
    names = [*node.input, "", ""]
    ratio, training = names[1], names[2]
    if not training:
        return False
    if training in known and not known[training].any():
        return False
    return not (ratio in known and not known[ratio].any())


def random_operators(
    model: ModelProto, fed: Mapping[str, np.ndarray]
) -> list[str]:
    """The operators of a model that draw random numbers, sorted.

    `fed` are the values given to the model's inputs, by name: a Dropout's
    mode and ratio may be among them.
    """
    found = set()
    opset = imports(model).get("ai.onnx", 1)
    known: dict[str, np.ndarray] | None = None
    for node in all_nodes(model):
        if domain_name(node.domain) != "ai.onnx":
            continue
        if node.op_type in RANDOM_OPERATORS:
            found.add(node.op_type)
        if node.op_type == "Dropout":
            known = known or {**_constants(model), **fed}
            if _dropout_draws(node, opset, known):
                found.add(node.op_type)
    return sorted(found)


def _text(value: object) -> str:
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, float):
        # Attributes are float32: the shortest text that reads back the same.
        return str(np.float32(value))
    return str(value)


def attribute_text(attribute: AttributeProto) -> str:
    """A short text for an attribute: values, or the kind of what is larger."""
    value = helper.get_attribute_value(attribute)
    if attribute.type == AttributeProto.TENSOR:
        dims = ",".join(map(str, value.dims))
        return f"tensor({DTYPE_NAMES[value.data_type]},[{dims}])"
    plain = (AttributeProto.FLOAT, AttributeProto.INT, AttributeProto.STRING)
    lists = (AttributeProto.FLOATS, AttributeProto.INTS, AttributeProto.STRINGS)
    if attribute.type in plain:
        text = _text(value)
    elif attribute.type in lists:
        text = f"[{','.join(map(_text, value))}]"
    else:
        text = AttributeProto.AttributeType.Name(attribute.type).lower()
    return text if len(text) <= _MAX_TEXT else text[: _MAX_TEXT - 3] + "..."


def attributes(node: NodeProto | None) -> dict[str, str]:
    """The attributes of the tested operator's node, as short texts."""
    if node is None:
        return {}
    texts = {a.name: attribute_text(a) for a in node.attribute}
    return dict(sorted(texts.items()))
