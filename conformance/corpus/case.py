# SPDX-License-Identifier: Apache-2.0
"""One case of the corpus as collected: a model and its data sets, as bytes."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from onnx import ModelProto, NodeProto, ValueInfoProto


class CorpusError(Exception):
    """The corpus needs something that is missing; ends the export."""


def sha256(content: bytes) -> str:
    """The hexadecimal SHA-256 of some bytes."""
    return hashlib.sha256(content).hexdigest()


@dataclass(frozen=True)
class DataSet:
    """The serialized values of one `test_data_set_N` folder, in order."""

    inputs: tuple[bytes, ...]
    outputs: tuple[bytes, ...]


class Published(NamedTuple):
    """How ONNX's own expected data stand to those that were computed again."""

    share: float  # of the tolerance: their greatest error before rounding
    excess: float  # by how much they are beyond the tolerance; 0 within it


@dataclass(frozen=True)
class Case:
    """A case under ONNX's own name, with ONNX's tolerance for it."""

    name: str
    group: str  # node, or the group of a model: simple, light, pytorch-...
    model_bytes: bytes
    data_sets: tuple[DataSet, ...]
    rtol: float
    atol: float
    tested: NodeProto | None = None  # node cases: the operator's own node
    expanded: bool = False  # whether `tested` was replaced by its function
    published: Published | None = None  # outputs are not ONNX's: recompute.py

    @cached_property
    def model(self) -> ModelProto:
        """The parsed model."""
        return ModelProto.FromString(self.model_bytes)

    @cached_property
    def fed_inputs(self) -> list[ValueInfoProto]:
        """The graph's inputs that `input_K.pb` feed, in the order of K.

        Models of IR version 3 list their initializers as inputs too.
        """
        graph = self.model.graph
        given = {tensor.name for tensor in graph.initializer}
        given.update(tensor.values.name for tensor in graph.sparse_initializer)
        return [info for info in graph.input if info.name not in given]

    @property
    def folder(self) -> str:
        """Where the case lies in the corpus."""
        if self.group == "node":
            return f"node/{self.name}"
        return f"model/{self.group}/{self.name}"

    @property
    def kind(self) -> str:
        """node, expanded or model."""
        if self.group != "node":
            return "model"
        return "expanded" if self.expanded else "node"
