# SPDX-License-Identifier: Apache-2.0
"""Optimizer steps of a run: how near their limits they come, as two heat maps each.

    steps = assess_steps(run.steps)
    steps.backends[0].by_case      # rows are presets, columns are cases
    steps.backends[0].by_step      # columns are steps

A share is a tensor's distance from the judge over its limit: above 1 it is wrong. What
is judged is the greatest element where each step begins from one state, and the norm
where a run goes its own way (conformance/optimizer).
"""

import math
from bisect import bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from assay_report.run_folder import RunFolderError, Table

# The first step of each column.
_STEPS = (1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000)
# A share from which on a colour is darker; the last one is beyond the limit.
LEVELS = (0.02, 0.1, 0.3, 0.7)


@dataclass(frozen=True)
class Cell:
    """The worst of what falls into it; None where nothing does."""

    share: float | None = None
    where: str = ""

    @property
    def level(self) -> int:
        """0 to 4 within the limit, 5 beyond it."""
        if self.share is None:
            return 0
        if not self.share <= 1:
            return 5
        return bisect_right(LEVELS, self.share)

    @property
    def text(self) -> str:
        if self.share is None:
            return ""
        if math.isnan(self.share):
            return "NaN"
        if self.share > 1:
            return f"{self.share:.3g}"
        return f"{self.share:.2f}"


@dataclass
class Map:
    """Rows of cells by name, under the names of columns."""

    columns: list[str]
    rows: list[tuple[str, list[Cell]]]


@dataclass(frozen=True)
class Fault:
    """A case's first step beyond its limit."""

    backend: str
    test_id: str
    step: int
    tensor: str
    share: float

    @property
    def text(self) -> str:
        return Cell(self.share).text


@dataclass
class BackendSteps:
    """The steps of one backend."""

    name: str
    n_cases: int
    worst: Cell
    by_case: Map
    by_step: Map


@dataclass
class Steps:
    """The section; `n_rows` are those of the table."""

    n_rows: int
    backends: list[BackendSteps]
    faults: list[Fault]


@dataclass
class _Gathered:
    """The numbers of one backend, while rows are read."""

    cases: set[str] = field(default_factory=set)
    by_case: dict[tuple[str, str], Cell] = field(default_factory=dict)
    by_step: dict[tuple[str, int], Cell] = field(default_factory=dict)
    worst: Cell = field(default_factory=Cell)


def assess_steps(table: Table) -> Steps | None:
    """None for a run without such rows; RunFolderError for a number that is none."""
    if not len(table):
        return None
    gathered: dict[str, _Gathered] = {}
    faults: dict[tuple[str, str], Fault] = {}
    columns = (
        *("backend", "test_id", "mode", "step", "tensor"),
        *("l2_diff", "linf_diff", "limit", "outcome"),
    )
    for row in zip(*(table[name] for name in columns)):
        backend, test_id, mode, step_text, tensor, l2, linf, limit, outcome = row
        try:
            step = int(step_text)
            share = _share(linf if mode == "locked" else l2, limit)
        except ValueError:
            raise RunFolderError(
                f"{table.path}: found '{','.join(row)}', wanted numbers"
            ) from None
        if outcome == "fail" and (share is None or share <= 1):
            share = math.inf
        if share is None:
            continue
        cell = Cell(share, f"{test_id}, step {step}, {tensor}")
        _gather(gathered.setdefault(backend, _Gathered()), test_id, step, cell)
        if not share <= 1:
            faults.setdefault(
                (backend, test_id), Fault(backend, test_id, step, tensor, share)
            )
    return Steps(
        len(table),
        [_of_backend(name, of) for name, of in gathered.items()],
        list(faults.values()),
    )


def _share(difference: str, limit: str) -> float | None:
    """None where nothing was judged."""
    if not limit or not difference:
        return None
    off, most = float(difference), float(limit)
    if off == 0:
        return 0.0
    return off / most if most > 0 else math.inf


def _gather(of: _Gathered, test_id: str, step: int, cell: Cell) -> None:
    preset, case = _split(test_id)
    of.cases.add(test_id)
    # The case is said by its row and column.
    here = Cell(cell.share, cell.where.partition(", ")[2])
    of.by_case[preset, case] = _worse(of.by_case.get((preset, case)), here)
    column = bisect_right(_STEPS, step) - 1
    of.by_step[preset, column] = _worse(of.by_step.get((preset, column)), cell)
    of.worst = _worse(of.worst, cell)


def _split(test_id: str) -> tuple[str, str]:
    """optimizer/adam/paper.mlp#free.float32 into adam/paper and mlp#free.float32."""
    preset, _, case = test_id.removeprefix("optimizer/").partition(".")
    return preset, case


def _worse(one: Cell | None, other: Cell) -> Cell:
    if one is None or one.share is None:
        return other
    assert other.share is not None
    if math.isnan(one.share):
        return one
    return other if not other.share <= one.share else one


def _of_backend(name: str, of: _Gathered) -> BackendSteps:
    presets = list(dict.fromkeys(preset for preset, _ in of.by_case))
    cases = _ordered({case for _, case in of.by_case})
    columns = sorted({column for _, column in of.by_step})

    def rows(
        found: Mapping[tuple[str, Any], Cell], columns: Iterable[Any]
    ) -> list[tuple[str, list[Cell]]]:
        return [
            (preset, [found.get((preset, one), Cell()) for one in columns])
            for preset in presets
        ]

    return BackendSteps(
        name,
        len(of.cases),
        of.worst,
        Map(cases, rows(of.by_case, cases)),
        Map([_steps_text(one) for one in columns], rows(of.by_step, columns)),
    )


def _ordered(cases: Iterable[str]) -> list[str]:
    networks = ("quadratic", "logistic", "mlp", "cnn")

    def place(case: str) -> tuple[int, str]:
        network = case.partition("#")[0]
        known = network in networks
        return (networks.index(network) if known else len(networks), case)

    return sorted(cases, key=place)


def _steps_text(column: int) -> str:
    first = _STEPS[column]
    if column + 1 == len(_STEPS):
        return f"{first}"
    last = _STEPS[column + 1] - 1
    return f"{first}" if first == last else f"{first}-{last}"
