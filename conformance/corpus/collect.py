# SPDX-License-Identifier: Apache-2.0
"""Collects every test case that the onnx package carries.

Where a case lies on disk in the wheel, its files are taken as they are, since
ONNX's own runner reads those. Content that exists in memory only (the node
cases, three simple models, the inputs of the light models) is serialized
deterministically, with the functions of ONNX's own exporter and runner.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx.backend.test.case.model
import onnx.backend.test.case.node
from onnx import numpy_helper
from onnx.backend.test.case.test_case import TestCase
from onnx.backend.test.loader import DATA_DIR, load_model_tests
from onnx.backend.test.runner import Runner

from case import Case, CorpusError, DataSet

# The images are those that ONNX keeps: where it finds Pillow, it encodes others,
# which hang on Pillow's version.
sys.modules["PIL"] = None  # type: ignore[assignment]

PACKAGE_ROOT = Path(onnx.__file__).parent.parent
DISK_GROUPS = ("simple", "pytorch-converted", "pytorch-operator")


def serialize_value(value: Any, info: onnx.ValueInfoProto) -> bytes:
    """The bytes of `input_K.pb` or `output_K.pb` for a collected value."""
    makers: dict[str | None, Any] = {
        "map_type": numpy_helper.from_dict,
        "sequence_type": numpy_helper.from_list,
        "optional_type": numpy_helper.from_optional,
        "tensor_type": lambda v, n: numpy_helper.from_array(np.asarray(v), n),
    }
    kind = info.type.WhichOneof("value")
    is_made = isinstance(value, onnx.TensorProto)
    if not is_made and kind not in makers:
        raise CorpusError(f"value {info.name}: no file format for {kind}")
    proto = value if is_made else makers[kind](value, info.name)
    return bytes(proto.SerializeToString(deterministic=True))


def _serialize_all(
    values: Sequence[Any], infos: Sequence[onnx.ValueInfoProto], where: str
) -> tuple[bytes, ...]:
    if len(values) != len(infos):
        raise CorpusError(
            f"{where}: found {len(values)} values, wanted {len(infos)}"
        )
    return tuple(map(serialize_value, values, infos))


def _from_memory(
    test: TestCase,
    group: str,
    tested: onnx.NodeProto | None = None,
    expanded: bool = False,
) -> Case:
    if test.model is None or test.data_sets is None:
        raise CorpusError(f"{group} case {test.name}: found no model or data")
    graph = test.model.graph
    sets = tuple(
        DataSet(
            _serialize_all(inputs, graph.input, f"inputs of {test.name}"),
            _serialize_all(outputs, graph.output, f"outputs of {test.name}"),
        )
        for inputs, outputs in test.data_sets
    )
    model_bytes = test.model.SerializeToString(deterministic=True)
    limits = (test.rtol, test.atol)
    return Case(test.name, group, model_bytes, sets, *limits, tested, expanded)


def _files(folder: Path, stem: str) -> tuple[bytes, ...]:
    count = len(list(folder.glob(f"{stem}_*.pb")))
    return tuple(
        (folder / f"{stem}_{index}.pb").read_bytes() for index in range(count)
    )


def _from_disk(test: TestCase, group: str) -> Case:
    if test.model_dir is None:
        raise CorpusError(f"{group} case {test.name}: found no folder")
    folder = Path(test.model_dir)
    sets = tuple(
        DataSet(_files(data, "input"), _files(data, "output"))
        for data in sorted(folder.glob("test_data_set_*"))
    )
    model_bytes = (folder / "model.onnx").read_bytes()
    return Case(test.name, group, model_bytes, sets, test.rtol, test.atol)


def _light(test: TestCase) -> Case:
    """A light model: ONNX's runner makes its input from the input's shape."""
    if test.url is None:
        raise CorpusError(f"light model {test.name}: found no address")
    path = PACKAGE_ROOT / test.url
    case = Case(test.name, "light", path.read_bytes(), (), test.rtol, test.atol)
    inputs = tuple(
        serialize_value(Runner.generate_dummy_data(info), info)
        for info in case.fed_inputs
    )
    outputs = tuple(
        path.with_name(f"{path.stem}_output_{index}.pb").read_bytes()
        for index in range(len(case.model.graph.output))
    )
    return replace(case, data_sets=(DataSet(inputs, outputs),))


def _node_cases() -> Iterator[Case]:
    with warnings.catch_warnings():
        # The cases divide by zero and overflow on purpose.
        warnings.simplefilter("ignore")
        tests = onnx.backend.test.case.node.collect_testcases()
    tested: dict[str, onnx.NodeProto] = {}
    for test in tests:
        # ONNX names the expansion of a case after it: X_expanded, or
        # X_expanded_verN for a function body of another opset.
        base, mark, _ = test.name.rpartition("_expanded")
        expanded = bool(mark) and base in tested
        if not expanded:
            if test.model is None or len(test.model.graph.node) != 1:
                raise CorpusError(f"{test.name}: wanted exactly one node")
            tested[test.name] = test.model.graph.node[0]
        node = tested[base if expanded else test.name]
        yield _from_memory(test, "node", node, expanded)


def _model_cases() -> Iterator[Case]:
    in_memory = {
        test.name: test
        for test in onnx.backend.test.case.model.collect_testcases()
        if test.kind == "simple"
    }
    for group in DISK_GROUPS:
        for test in load_model_tests(kind=group):
            if group == "simple":
                in_memory.pop(test.name, None)
            yield _from_disk(test, group)
    for test in in_memory.values():
        yield _from_memory(test, "simple")
    for test in load_model_tests(kind="real"):
        yield _light(test)


def collect() -> Iterator[Case]:
    """All cases of the installed onnx package, in no particular order."""
    if not Path(DATA_DIR).is_dir():
        raise CorpusError(f"found no test data of onnx in {DATA_DIR}")
    yield from _node_cases()
    yield from _model_cases()
