# SPDX-License-Identifier: Apache-2.0
"""The traffic of ranks and its results: bits, bytes, messages, agreement, mixing.

    costs = assess_costs(cells, rows, ranks)
    costs.collectives[0].bytes.n_off   # 0: all rows have the bytes of the formula
    agreement_of(cells, rows).n_off    # 0: all backends have the same bits

Numbers are those of distributed.csv, row by row; a row is a case on a backend, for one
root where a collective has one.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import combinations

from assay_report.distributed import MOST_ROWS, Place, RankRows, Ranks, Square
from assay_report.payload import Cells, ranges

_MOST_DIFFERENCES = 40


@dataclass
class Check:
    """How many rows have a number, and how many of them not the one that is wanted."""

    n: int = 0
    n_off: int = 0
    first: str = ""  # of those that are off

    def add(self, found: float | None, wanted: float | None, where: str) -> None:
        if found is None or wanted is None:
            return
        self.n += 1
        if found == wanted:
            return
        self.n_off += 1
        self.first = self.first or f"found {found:,}, wanted {wanted:,} ({where})"


@dataclass
class Cost:
    """All rows of a collective's algorithm, or of a scheme's topology."""

    name: str
    detail: str
    squares: Mapping[str, Square]  # by backend
    ranks: str = ""
    bits: Check = field(default_factory=Check)
    bytes: Check = field(default_factory=Check)
    messages: Check = field(default_factory=Check)
    alike: Check = field(default_factory=Check)
    # The facts that the bits of a rounded sum do not depend on, with their backends.
    determinism: dict[str, list[str]] = field(default_factory=dict)
    max_ulp: float | None = None

    @property
    def total(self) -> Square:
        counts: Counter[str] = Counter()
        for square in self.squares.values():
            counts.update(dict(square.counts))
        return Square(tuple(counts.most_common()))

    @property
    def failed(self) -> list[tuple[str, Square]]:
        return [(name, one) for name, one in self.squares.items() if one.query]


@dataclass
class Costs:
    """Two tables of one kind."""

    collectives: list[Cost]
    schemes: list[Cost]
    n_more: int


@dataclass(frozen=True)
class Difference:
    """A case of which backends have different bits; each hash with who has it."""

    test_id: str
    root: str
    backends: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Pair:
    """Two backends, and in how many rows both have a hash."""

    first: str
    second: str
    n: int
    n_off: int


@dataclass(frozen=True)
class Agreement:
    """The cases and roots that two backends or more have a hash of."""

    n: int
    n_off: int
    n_expected: int  # of these, in cases that fail as expected on one of them
    pairs: tuple[Pair, ...]
    differences: tuple[Difference, ...]


@dataclass
class Mixing:
    """A scheme whose ranks differ on so many ranks: the worst of all backends."""

    place: Place
    steps: int | None = None
    contraction: float | None = None
    consensus: float | None = None
    bound: int | None = None
    staleness: dict[str, int] = field(default_factory=dict)  # by backend

    @property
    def is_too_stale(self) -> bool:
        return self.bound is not None and any(
            one > self.bound for one in self.staleness.values()
        )


def _all_rows(cells: Cells, rows: RankRows) -> Iterator[tuple[str, Place, int]]:
    """Each row that counts, with its backend and place."""
    for cell, of_cell in rows.of_cell.items():
        case, backend = divmod(cell, cells.n_backends)
        for row in of_cell:
            yield cells.backends[backend], rows.place_of[case], row


def assess_costs(cells: Cells, rows: RankRows, ranks: Ranks) -> Costs:
    """Adds up the rows of each place, in the order of names."""
    known = {
        key: Cost(key[1], key[2], squares) for key, squares in ranks.by_place.items()
    }
    of_ranks: dict[tuple[bool, str, str], set[int]] = {}
    for backend, place, row in _all_rows(cells, rows):
        of_ranks.setdefault(place.key, set()).add(place.ranks)
        _add(known[place.key], rows, row, f"{backend}, {place.ranks} ranks")
        if word := rows.table["determinism"][row]:
            names = known[place.key].determinism.setdefault(word, [])
            if backend not in names:
                names.append(backend)
    for key, numbers in of_ranks.items():
        known[key].ranks = ranges(sorted(numbers))
    collectives = [cost for key, cost in known.items() if not key[0]]
    schemes = [cost for key, cost in known.items() if key[0]]
    return Costs(
        collectives[:MOST_ROWS],
        schemes[:MOST_ROWS],
        max(0, len(collectives) - MOST_ROWS) + max(0, len(schemes) - MOST_ROWS),
    )


def _add(cost: Cost, rows: RankRows, row: int, where: str) -> None:
    def of(name: str) -> float | None:
        return rows.numbers[name][row]

    cost.bits.add(of("differing_bits"), 0, where)
    cost.bytes.add(of("bytes_sent"), of("bytes_formula"), where)
    cost.messages.add(of("messages"), of("messages_formula"), where)
    cost.alike.add(of("rank_agreement"), 1, where)
    cost.max_ulp = _greater(cost.max_ulp, of("max_ulp"))


def _greater(one: float | None, other: float | None) -> float | None:
    """The greater number; NaN is greater than all."""
    if one is None or other is None:
        return other if one is None else one
    return one if math.isnan(one) or one >= other else other


def agreement_of(cells: Cells, rows: RankRows) -> Agreement | None:
    """None where no case has hashes of two backends.

    Ranks that train networks of different backends are not compared.
    """
    hashes: dict[tuple[str, str, str], dict[str, str]] = {}
    table = rows.table
    for backend, _, row in _all_rows(cells, rows):
        if table["hash"][row]:
            key = (table["test_id"][row], table["root"][row], _networks(backend))
            hashes.setdefault(key, {})[backend] = table["hash"][row]
    outcomes = cells.column("outcome")
    shared = {key: found for key, found in hashes.items() if len(found) > 1}
    if not shared:
        return None
    off = {key: of for key, of in shared.items() if len(set(of.values())) > 1}
    return Agreement(
        n=len(shared),
        n_off=len(off),
        n_expected=sum(
            any(outcomes[cells.of(key[0], backend)] == "xfail" for backend in of)
            for key, of in off.items()
        ),
        pairs=tuple(_pairs(cells.backends, shared.values())),
        differences=tuple(
            Difference(test_id, root, _who_has(found))
            for (test_id, root, _), found in list(off.items())[:_MOST_DIFFERENCES]
        ),
    )


def _networks(backend: str) -> str:
    """The onednn of onednn+ranks=openmpi; nothing where ranks have no networks."""
    return re.sub(r"\+ranks=[^+]*", "", backend) if "+ranks=" in backend else ""


def _pairs(names: list[str], shared: Iterable[Mapping[str, str]]) -> Iterator[Pair]:
    n: Counter[tuple[str, str]] = Counter()
    n_off: Counter[tuple[str, str]] = Counter()
    for found in shared:
        for pair in combinations((name for name in names if name in found), 2):
            n[pair] += 1
            n_off[pair] += found[pair[0]] != found[pair[1]]
    for pair, count in n.items():
        yield Pair(*pair, count, n_off[pair])


def _who_has(found: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    backends: dict[str, list[str]] = {}
    for backend, text in found.items():
        backends.setdefault(text, []).append(backend)
    return tuple((text, ", ".join(names)) for text, names in backends.items())


def mixing_of(cells: Cells, rows: RankRows) -> list[Mixing]:
    """The schemes that mix or wait, in the order of names and ranks."""
    found: dict[Place, Mixing] = {}
    for backend, place, row in _all_rows(cells, rows):

        def of(name: str, row: int = row) -> float | None:
            return rows.numbers[name][row]

        names = ("contraction_err", "consensus", "staleness_max", "staleness_bound")
        if not place.is_scheme or all(of(name) is None for name in names):
            continue
        one = found.setdefault(place, Mixing(place))
        one.steps = _whole(_greater(one.steps, of("steps")))
        one.contraction = _greater(one.contraction, of("contraction_err"))
        one.consensus = _greater(one.consensus, of("consensus"))
        # Where bounds differ, the least one counts.
        if (bound := _whole(of("staleness_bound"))) is not None:
            one.bound = bound if one.bound is None else min(one.bound, bound)
        if (stale := _whole(of("staleness_max"))) is not None:
            one.staleness[backend] = max(stale, one.staleness.get(backend, 0))
    return [
        found[place]
        for place in sorted(found, key=lambda one: (one.name, one.detail, one.ranks))
    ]


def _whole(number: float | None) -> int | None:
    return None if number is None else int(number)
