# SPDX-License-Identifier: Apache-2.0
"""Computes expected outputs again where ONNX's own are not exact enough.

ONNX computes expected data in the element type of the case. Where that leaves
them further from the exact result than half of the case's tolerance, an
implementation can be right and fail. For the cases in recomputed.txt ONNX's
own reference evaluator runs once more, with float64 in place of every float it
is fed, and its results are rounded once. framework/decisions/0017.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np
from onnx import ValueInfoProto
from onnx.reference import ReferenceEvaluator

from case import Case, CorpusError, DataSet, Published
from collect import serialize_value
from describe import judgement
from stamp import RECOMPUTED
from tolerance import Judgement
from values import arrays, value_type

_LINE = re.compile(r"(\w+) (\d+\.\d\d): .+")

_FLOATS = ("float16", "bfloat16", "float32", "float64")

# Published data that take no more of the tolerance than this leave the other
# half to the implementation, and stay.
FAIR_SHARE = 0.5


def read(path: Path = RECOMPUTED) -> dict[str, str]:
    """The listed cases, each with the share it is listed with."""
    listed: dict[str, str] = {}
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        if not line or line.startswith("#"):
            continue
        found = _LINE.fullmatch(line)
        if found is None or found[1] in listed:
            raise CorpusError(
                f"{path}:{number}: found {line[:60]!r}, wanted "
                "'case share: why', each case once"
            )
        listed[found[1]] = found[2]
    return listed


class _Output(NamedTuple):
    """An output three times: exact, as published, and rounded from exact."""

    exact: np.ndarray
    published: np.ndarray
    rounded: np.ndarray


def _is_float(info: ValueInfoProto) -> bool:
    return value_type(info.type).dtype in _FLOATS


def _evaluate(case: Case, data: DataSet) -> list[_Output]:
    feeds = {}
    for info, content in zip(case.fed_inputs, data.inputs, strict=True):
        (array,) = arrays(content, "tensor")
        feeds[info.name] = array.astype("f8") if _is_float(info) else array
    found = ReferenceEvaluator(case.model).run(None, feeds)
    outputs = []
    for exact, info, content in zip(
        found, case.model.graph.output, data.outputs, strict=True
    ):
        (published,) = arrays(content, "tensor")
        if exact.shape != published.shape:
            raise CorpusError(
                f"{case.name}: ONNX's evaluator gives the shape {exact.shape}, "
                f"and its data {published.shape}"
            )
        if not _is_float(info):
            exact = published
        outputs.append(_Output(exact, published, exact.astype(published.dtype)))
    return outputs


def _error(got: np.ndarray, want: np.ndarray) -> np.ndarray:
    return np.abs(got.astype("f8") - want)


def _published(outputs: Iterable[_Output], limit: Judgement) -> Published:
    share = excess = 0.0
    for output in outputs:
        exact, rounded = output.exact, output.rounded.astype("f8")
        allowed = limit.atol + limit.rtol * np.abs(exact)
        error = _error(output.published, exact)
        share = max(share, float(np.max(error / allowed, initial=0)))
        allowed = limit.atol + limit.rtol * np.abs(rounded)
        beyond = _error(output.published, rounded) - allowed
        excess = max(excess, float(np.max(beyond, initial=0)))
    return Published(share, excess)


def recompute(case: Case) -> Case:
    """The case with its floats computed in float64 and rounded.

    Raises when ONNX's data are good enough to stay.
    """
    evaluated = [_evaluate(case, data) for data in case.data_sets]
    published = _published(chain.from_iterable(evaluated), judgement(case))
    if not published.share > FAIR_SHARE:
        raise CorpusError(
            f"{RECOMPUTED.name}: ONNX's data of {case.name} take "
            f"{published.share:.2f} of the tolerance, wanted more than "
            f"{FAIR_SHARE}; it need not be listed"
        )
    infos = case.model.graph.output
    data_sets = tuple(
        replace(
            data,
            outputs=tuple(
                serialize_value(output.rounded, info)
                for output, info in zip(outputs, infos, strict=True)
            ),
        )
        for data, outputs in zip(case.data_sets, evaluated, strict=True)
    )
    return replace(case, data_sets=data_sets, published=published)


def recomputed(
    cases: Iterable[Case], listed: Mapping[str, str]
) -> Iterator[Case]:
    """All cases, those that are listed with their outputs computed again.

    An expansion follows its case, and is given the same outputs.
    """
    done: dict[str, tuple[Case, Case]] = {}  # as published, and computed again
    for case in cases:
        base = case.name.rpartition("_expanded")[0]
        if case.expanded and base in done:
            before, after = done[base]
            if case.data_sets != before.data_sets:
                raise CorpusError(
                    f"{case.name}: found other data than those of {base}"
                )
            yield replace(
                case, data_sets=after.data_sets, published=after.published
            )
        elif case.name in listed:
            after = recompute(case)
            done[case.name] = case, after
            yield after
        else:
            yield case
    missing = sorted(listed.keys() - done.keys())
    if missing:
        raise CorpusError(
            f"{RECOMPUTED.name}: found no case {', '.join(missing)}"
        )
