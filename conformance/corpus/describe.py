# SPDX-License-Identifier: Apache-2.0
"""Describes a case: its entry in manifest.json."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import numpy as np
from onnx import GraphProto, ValueInfoProto

import nodes
from case import Case, CorpusError, sha256
from tolerance import Judgement, admit, judge
from values import DTYPE_NAMES, arrays, vacuity, value_type

TEST_ID = re.compile(r"[A-Za-z0-9_.#+-]+(/[A-Za-z0-9_.#+-]+){2}")


def operator_name(domain: str, op_type: str) -> str:
    """The operator as test_ids name it.

    Outside ai.onnx the last component of the domain stands before it:
    ml.TreeEnsemble, training.Adam, preview.FlexAttention.
    """
    if domain in ("", "ai.onnx"):
        return op_type
    return f"{domain.rpartition('.')[2]}.{op_type}"


def _identity(case: Case) -> tuple[str, str, str]:
    """suite, op and domain of a case."""
    if case.tested is None:
        return "model", case.group, "ai.onnx"
    domain = nodes.domain_name(case.tested.domain)
    return "node", operator_name(domain, case.tested.op_type), domain


def check_test_id(test_id: str) -> None:
    """Raises when an id is not `suite/op/case` in the allowed characters."""
    if TEST_ID.fullmatch(test_id) is None:
        raise CorpusError(
            f"found test_id {test_id!r}, wanted {TEST_ID.pattern}"
        )


def _value_entry(info: ValueInfoProto) -> dict[str, Any]:
    found = value_type(info.type)
    entry: dict[str, Any] = {"name": info.name, "kind": found.kinds[0]}
    if len(found.kinds) > 1 and found.kinds[1:] != ("tensor",):
        entry["of"] = "/".join(found.kinds[1:])
    return {**entry, "dtype": found.dtype, "shape": found.shape}


def _graph_dtypes(graph: GraphProto) -> set[str]:
    """Element types of a graph's values, its subgraphs included."""
    infos = (*graph.input, *graph.output, *graph.value_info)
    typed = (info for info in infos if info.type.WhichOneof("value"))
    found = {value_type(info.type).dtype for info in typed}
    found.update(DTYPE_NAMES[t.data_type] for t in graph.initializer)
    found.update(
        DTYPE_NAMES[t.values.data_type] for t in graph.sparse_initializer
    )
    for node in graph.node:
        for subgraph in nodes.subgraphs(node):
            found |= _graph_dtypes(subgraph)
    return found - {"undefined"}


def _output_arrays(case: Case) -> list[np.ndarray]:
    found = []
    for data in case.data_sets:
        infos = case.model.graph.output
        for content, info in zip(data.outputs, infos, strict=True):
            found += arrays(content, value_type(info.type).kinds[0])
    return found


def _fed_tensors(case: Case) -> dict[str, np.ndarray]:
    """The tensors that the first data set feeds, by input name."""
    return {
        info.name: arrays(content, "tensor")[0]
        for content, info in zip(
            case.data_sets[0].inputs, case.fed_inputs, strict=True
        )
        if value_type(info.type).kinds[0] == "tensor"
    }


def _check_counts(case: Case) -> None:
    if not case.data_sets:
        raise CorpusError(f"{case.name}: found no data set")
    wanted = (len(case.fed_inputs), len(case.model.graph.output))
    for index, data in enumerate(case.data_sets):
        found = (len(data.inputs), len(data.outputs))
        if found != wanted:
            raise CorpusError(
                f"{case.name}, data set {index}: found (inputs, outputs) "
                f"{found}, wanted {wanted}"
            )


def _kinds(infos: Iterable[ValueInfoProto]) -> list[str]:
    found = {kind for i in infos for kind in value_type(i.type).kinds}
    return sorted(found)


def judgement(case: Case) -> Judgement:
    """How the case is judged."""
    dtypes = [value_type(info.type).dtype for info in case.model.graph.output]
    random = nodes.random_operators(case.model, _fed_tensors(case))
    found = judge(dtypes, random, case.rtol, case.atol)
    return admit(found, case.published) if case.published else found


def describe(case: Case) -> dict[str, Any]:
    """The manifest entry of a case; its keys stand in the manifest's order."""
    _check_counts(case)
    suite, op, domain = _identity(case)
    test_id = f"{suite}/{op}/{case.name}"
    check_test_id(test_id)
    model = case.model
    versions = nodes.imports(model)
    # An expansion need not import the domain of what was expanded.
    opset = versions.get(domain) or versions.get("ai.onnx", 0)
    values = (*case.fed_inputs, *model.graph.output)
    outputs = [_value_entry(info) for info in model.graph.output]
    limit = judgement(case)
    return {
        "test_id": test_id,
        "case": case.name,
        "kind": case.kind,
        "suite": suite,
        "op": op,
        "domain": domain,
        "opset": opset,
        "imports": versions,
        "operators": nodes.operators(model),
        "attributes": nodes.attributes(case.tested),
        "dtypes": sorted(_graph_dtypes(model.graph)),
        "value_kinds": _kinds(values),
        "inputs": [_value_entry(info) for info in case.fed_inputs],
        "outputs": outputs,
        "comparator": limit.comparator,
        "rtol": limit.rtol,
        "atol": limit.atol,
        "tolerance_source": limit.source,
        "n_data_sets": len(case.data_sets),
        "vacuous": vacuity(_output_arrays(case)),
        "directory": case.folder,
        "sha256": {
            "model": sha256(case.model_bytes),
            "inputs": [list(map(sha256, d.inputs)) for d in case.data_sets],
            "outputs": [list(map(sha256, d.outputs)) for d in case.data_sets],
        },
    }
