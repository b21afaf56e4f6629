# SPDX-License-Identifier: Apache-2.0
"""The ranks of the page: cases by scheme and number of ranks, and their fails.

    rows = rank_rows(run, cells)
    ranks = assess_ranks(cells, rows)
    ranks.grids[0].rows[0].squares[0].n_pass   # 44, of a scheme on so many ranks

The rows of distributed.csv are those of each case's last attempt that has any; what
they measured is in rank_costs.py. A case without a row, as one whose process died, has
the place of the same case on another backend, or the one that its id tells. Nothing is
judged again.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from assay_report.gradients import NO_FAIL
from assay_report.payload import Cells, rows_of_cells, shown
from assay_report.run_folder import (
    Run,
    RunFolderError,
    Table,
    reason_meanings,
    schema_columns,
)

# Outcomes from the worst to the best; the worst of several gives its sign to all.
_WORST_FIRST = (
    *("crash", "timeout", "error", "missing", "fail", "xpass", "flaky", "suspect"),
    *("xfail", "waived", "pass", "unsupported", "unavailable"),
)
_OPERATIONS = (
    *("allgather", "allreduce", "alltoall", "barrier", "broadcast", "gather"),
    *("neighbor_alltoall", "reduce", "reduce_scatter", "scatter"),
)
_NUMBERS = (
    *("ranks", "steps", "differing_bits", "max_ulp", "rank_agreement"),
    *("bytes_sent", "bytes_formula", "messages", "messages_formula"),
    *("staleness_max", "staleness_bound", "consensus", "contraction_err"),
    *("loss_first", "loss_last", "simulated_us"),
)
# A page holds no more than these; the tables and the matrix of cases have all.
MOST_ROWS = 200
_MOST_COLUMNS = 24
_MOST_FAULTS = 30
_MOST_CASES = 8
_RANKS_OF_ID = re.compile(r"#n(\d+)(?:\.|$)")
_WORD_OF_ID = re.compile(r"[A-Za-z0-9_+-]+")


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """The subject of a case; `detail` is a scheme's topology or a way to collect."""

    is_scheme: bool
    name: str
    detail: str
    ranks: int

    @property
    def key(self) -> tuple[bool, str, str]:
        return self.is_scheme, self.name, self.detail


@dataclass(frozen=True)
class RankRows:
    """The rows that count, of each cell, with their numbers; and each case's place."""

    table: Table
    numbers: Mapping[str, Sequence[float | None]]
    of_cell: Mapping[int, Sequence[int]]
    place_of: Mapping[int, Place]  # by the number of the case


@dataclass(frozen=True)
class Square:
    """The cases of one scheme on so many ranks; without any where `n` is 0."""

    counts: tuple[tuple[str, int], ...] = ()
    fault: int = 0  # its number; 0 where nothing failed, or the page has no more
    query: str = ""  # of what failed

    @property
    def n(self) -> int:
        return sum(count for _, count in self.counts)

    @property
    def n_pass(self) -> int:
        return dict(self.counts).get("pass", 0)

    @property
    def worst(self) -> str:
        """The outcome that is shown for all."""
        order = {name: at for at, name in enumerate(_WORST_FIRST)}
        return min((name for name, _ in self.counts), key=lambda one: order.get(one, 0))

    @property
    def others(self) -> tuple[tuple[str, int], ...]:
        return tuple(one for one in self.counts if one[0] != "pass")


@dataclass(frozen=True)
class GridRow:
    """One scheme of one topology."""

    name: str
    detail: str
    algorithms: tuple[str, ...]
    n_optimizers: int
    squares: tuple[Square, ...]


@dataclass(frozen=True)
class Grid:
    """Schemes by numbers of ranks, on one backend."""

    backend: str
    transports: tuple[str, ...]
    total: Square
    columns: tuple[int, ...]
    rows: tuple[GridRow, ...]
    n_more_rows: int
    n_more_columns: int


@dataclass(frozen=True)
class FaultCase:
    """One case that did not pass."""

    test_id: str
    outcome: str
    reason: str
    message: str


@dataclass(frozen=True)
class RankFault:
    """The cases of one place that did not pass on one backend."""

    number: int
    backend: str
    place: Place
    ranks: tuple[int, ...]
    counts: tuple[tuple[str, int], ...]
    meanings: tuple[tuple[str, str], ...]
    cases: tuple[FaultCase, ...]
    n_cases: int
    query: str

    @property
    def worst(self) -> str:
        return Square(self.counts).worst


@dataclass(frozen=True)
class Ranks:
    """The part of the section that counts cases."""

    n_cases: int
    n_rows: int
    grids: tuple[Grid, ...]
    faults: tuple[RankFault, ...]
    n_more_faults: int
    n_failed: int
    # The squares of each place by backend; a backend without cases there is left out.
    by_place: Mapping[tuple[bool, str, str], Mapping[str, Square]]


def rank_rows(run: Run, cells: Cells) -> RankRows:
    """Reads the rows; raises RunFolderError for a number that is none."""
    table = run.ranks
    numbers = {name: _numbers(table, name) for name in _NUMBERS}
    of_cell = rows_of_cells(table, cells, range(len(table)))
    place_of: dict[int, Place] = {}
    for cell, rows in of_cell.items():
        case = cell // cells.n_backends
        if case not in place_of:
            place_of[case] = _place(table, rows[0], int(numbers["ranks"][rows[0]] or 0))
    known = {place.key for place in place_of.values()}
    for case, is_ours in enumerate(cells.cases_beside(of_cell)):
        if is_ours and case not in place_of:
            place_of[case] = _place_of_id(cells.ids[case], known)
    return RankRows(table, numbers, of_cell, dict(sorted(place_of.items())))


def _numbers(table: Table, name: str) -> list[float | None]:
    kind = float if schema_columns("distributed")[name].startswith("number") else int
    known: dict[str, float | None] = {"": None}
    for text in set(table[name]) - {""}:
        try:
            known[text] = kind(text)
        except ValueError as error:
            raise RunFolderError(
                f"{table.path}: found {name} {text!r} in record "
                f"{table[name].index(text) + 1}, wanted a number or nothing"
            ) from error
    return [known[text] for text in table[name]]


def _place(table: Table, row: int, ranks: int) -> Place:
    if scheme := table["scheme"][row]:
        return Place(True, scheme, table["topology"][row], ranks)
    operation, _, algorithm = table["collective"][row].partition("/")
    return Place(False, operation, algorithm, ranks)


def _place_of_id(test_id: str, known: set[tuple[bool, str, str]]) -> Place:
    """The place of distributed/gossip/ring#n16, as a row would have said it."""
    parts = test_id.split("/", 2)
    name = parts[1] if len(parts) > 1 else ""
    detail = re.split(r"[.#]", parts[2])[0] if len(parts) > 2 else ""
    ranks = _RANKS_OF_ID.search(test_id)
    is_scheme = name not in _OPERATIONS
    if is_scheme and (True, name, detail) not in known:
        detail = ""
    return Place(is_scheme, name, detail, int(ranks[1]) if ranks else 0)


def assess_ranks(cells: Cells, rows: RankRows) -> Ranks:
    """Counts and groups; `cells` gives the order of the backends."""
    members = _members(cells, rows)
    faults = _faults(cells, rows, members)
    shown_faults = faults[:_MOST_FAULTS]
    number_of = {(one.backend, _group(one.place)): one for one in shown_faults}
    outcomes = cells.column("outcome")

    def square(backend: str, place: Place, of: Sequence[int]) -> Square:
        fault = number_of.get((backend, _group(place)))
        failed = Counter(outcomes[cell] for cell in of)
        query = _query(cells, backend, place, of) if _failed(outcomes, of) else ""
        return Square(tuple(failed.most_common()), fault.number if fault else 0, query)

    by_place: dict[tuple[bool, str, str], dict[str, Square]] = {}
    grids = []
    for backend, name in enumerate(cells.backends):
        mine = {place: of for (at, place), of in members.items() if at == backend}
        of_key: dict[tuple[bool, str, str], list[int]] = {}
        for place, of in mine.items():
            of_key.setdefault(place.key, []).extend(of)
        for key, of in sorted(of_key.items()):
            by_place.setdefault(key, {})[name] = square(name, Place(*key, 0), of)
        schemes = {place: of for place, of in mine.items() if place.is_scheme}
        if squares := {key: square(name, key, of) for key, of in schemes.items()}:
            grids.append(_grid(cells, rows, backend, squares))
    return Ranks(
        n_cases=len(rows.place_of),
        n_rows=len(rows.table),
        grids=tuple(grids),
        faults=tuple(shown_faults),
        n_more_faults=len(faults) - len(shown_faults),
        n_failed=sum(one.n_cases for one in faults),
        by_place=dict(sorted(by_place.items())),
    )


def _members(cells: Cells, rows: RankRows) -> dict[tuple[int, Place], list[int]]:
    """The planned cells of each backend and place."""
    outcomes = cells.column("outcome")
    members: dict[tuple[int, Place], list[int]] = {}
    for case, place in rows.place_of.items():
        for backend in range(cells.n_backends):
            cell = case * cells.n_backends + backend
            if outcomes[cell]:
                members.setdefault((backend, place), []).append(cell)
    return members


def _group(place: Place) -> Place:
    """The place to list under: a square, or a collective on any number of ranks."""
    return place if place.is_scheme else replace(place, ranks=0)


def _failed(outcomes: Sequence[str], of: Sequence[int]) -> list[int]:
    return [cell for cell in of if outcomes[cell] not in NO_FAIL]


def _grid(
    cells: Cells, rows: RankRows, backend: int, squares: Mapping[Place, Square]
) -> Grid:
    columns = sorted({place.ranks for place in squares})
    kept = columns[:_MOST_COLUMNS]
    names = sorted({place.key for place in squares})
    algorithms: dict[tuple[bool, str, str], set[str]] = {}
    optimizers: dict[tuple[bool, str, str], set[str]] = {}
    transports: dict[str, None] = {}
    for cell, of_cell in rows.of_cell.items():
        case, at = divmod(cell, cells.n_backends)
        if at != backend:
            continue
        key = rows.place_of[case].key
        for row in of_cell:
            transports.setdefault(rows.table["transport"][row])
            algorithms.setdefault(key, set()).add(rows.table["collective"][row])
            optimizers.setdefault(key, set()).add(rows.table["optimizer"][row])
    total: Counter[str] = Counter()
    for square in squares.values():
        total.update(dict(square.counts))
    return Grid(
        backend=cells.backends[backend],
        transports=tuple(filter(None, transports)),
        total=Square(tuple(total.most_common())),
        columns=tuple(kept),
        rows=tuple(
            GridRow(
                name=key[1],
                detail=key[2],
                algorithms=tuple(sorted(filter(None, algorithms.get(key, ())))),
                n_optimizers=len(optimizers.get(key, set()) - {""}),
                squares=tuple(squares.get(Place(*key, n), Square()) for n in kept),
            )
            for key in names[:MOST_ROWS]
        ),
        n_more_rows=max(0, len(names) - MOST_ROWS),
        n_more_columns=len(columns) - len(kept),
    )


def _faults(
    cells: Cells, rows: RankRows, members: Mapping[tuple[int, Place], Sequence[int]]
) -> list[RankFault]:
    outcomes = cells.column("outcome")
    groups: dict[tuple[int, Place], list[int]] = {}
    for (backend, place), of in members.items():
        if failed := _failed(outcomes, of):
            groups.setdefault((backend, _group(place)), []).extend(failed)

    def order(key: tuple[int, Place]) -> tuple[bool, int, Place]:
        return all(outcomes[cell] == "xfail" for cell in groups[key]), *key

    return [
        _fault(cells, rows, number, groups[key])
        for number, key in enumerate(sorted(groups, key=order), 1)
    ]


def _fault(cells: Cells, rows: RankRows, number: int, of: Sequence[int]) -> RankFault:
    def text(column: str, cell: int) -> str:
        return cells.results[column][cells.records[cell]]

    def ranks(cell: int) -> int:
        return rows.place_of[cell // cells.n_backends].ranks

    backend = cells.backends[of[0] % cells.n_backends]
    place = rows.place_of[of[0] // cells.n_backends]
    counts = Counter(text("outcome", cell) for cell in of).most_common()
    meanings = reason_meanings()
    codes = dict.fromkeys(text("reason_code", cell) for cell in of)
    return RankFault(
        number=number,
        backend=backend,
        place=place,
        ranks=tuple(sorted(set(map(ranks, of)))),
        counts=tuple(counts),
        meanings=tuple((code, meanings[code]) for code in codes if code in meanings),
        cases=tuple(
            FaultCase(
                cells.ids[cell // cells.n_backends],
                text("outcome", cell),
                text("reason_code", cell),
                shown(text("message", cell)),
            )
            for cell in sorted(of, key=ranks)[:_MOST_CASES]
        ),
        n_cases=len(of),
        query=_query(cells, backend, _group(place), of),
    )


def _query(cells: Cells, backend: str, place: Place, of: Sequence[int]) -> str:
    """Finds in the matrix of cases what failed of a place; see query.js."""
    suite, op, *_ = cells.ids[of[0] // cells.n_backends].split("/")
    parts = [f"suite:{suite}", f'op:"{op}"', f'backend:"{backend}"']
    if _WORD_OF_ID.fullmatch(place.detail):
        start = f"id:{suite}/{op}/{place.detail}"
        parts.append(f"({start}.* or {start}#*)")
    if place.ranks:
        parts.append(f"(id:*#n{place.ranks} or id:*#n{place.ranks}.*)")
    wanted = ("pass", "unsupported", "unavailable", "waived")
    return " and ".join((*parts, *(f"not outcome:{one}" for one in wanted)))
