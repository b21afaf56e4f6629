# SPDX-License-Identifier: Apache-2.0
"""Simulated times of an all-reduce by the number of ranks: the alpha-beta model.

    path_of("ring", 8)                          # 14 messages and 7/4 of the vector
    SMPI.seconds(path_of("ring", 8), 1 << 20)   # 1.48e-3

A message of b bytes takes alpha + b beta; a rank sends one and receives one at a time.
The time of an algorithm is that of its longest chain of messages, by the formulas of
R. Thakur, R. Rabenseifner and W. Gropp, "Optimization of collective communication
operations in MPICH" (2005), section 4, without the time of additions; for the ring, of
P. Patarasuk and X. Yuan, "Bandwidth optimal all-reduce algorithms for clusters of
workstations" (2009). Nothing here is measured.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from assay_report.distributed import RankRows
from assay_report.plot import LogPlot, mark, seconds_text

ALGORITHMS = ("ring", "recursive_doubling", "rabenseifner")
# 2 to 1,024, or to as many as the run has.
_LEAST_RANKS = 1024
MOST_RANKS = 1 << 20
_IN_NUMBERS = (2, 8, 64, 1024)
_SIZES = (
    (1 << 10, "1 KiB"),
    (1 << 16, "64 KiB"),
    (1 << 20, "1 MiB"),
    (25_557_032 * 4, "102 MB, all gradients of ResNet-50 in float32"),
)
_CASE = re.compile(
    r"distributed/allreduce/(\w+)\.[a-z]+(\d+)\.\w+\.(\d+)#n(\d+)(?:\.\w+)?"
)


@dataclass(frozen=True)
class Network:
    """Where a message of b bytes takes `alpha` + b `beta` seconds."""

    name: str
    alpha: float  # seconds per message
    beta: float  # seconds per byte
    source: str

    def seconds(self, path: "Path", size: int) -> float:
        return float(path.messages * Fraction(self.alpha)) + float(
            path.shares * size * Fraction(self.beta)
        )

    @property
    def alpha_text(self) -> str:
        return seconds_text(self.alpha)

    @property
    def beta_text(self) -> str:
        return seconds_text(self.beta)

    @property
    def rate_text(self) -> str:
        return f"{8e-9 / self.beta:.4g} Gbit/s"


# The simulated computers of backends/smpi, whose links are passed twice.
SMPI = Network(
    name="the simulated computers of backend smpi",
    alpha=2 * 0.5e-6,
    beta=1 / 1.25e9,
    source="backends/smpi/machine.h: two links of 0.5 \u00b5s each, 1.25 GB/s",
)


@dataclass(frozen=True)
class Path:
    """The longest chain: its messages, and its bytes as a share of the vector."""

    messages: Fraction
    shares: Fraction


def _power_below(ranks: int) -> int:
    return 1 << (ranks.bit_length() - 1)


def path_of(algorithm: str, ranks: int) -> Path:
    """By the closed form; ValueError for an algorithm that has none here.

    Doubling and halving are done by the greatest power of two ranks; each rank beyond
    hands its vector to one of these before, and has the result from it behind.
    """
    if algorithm == "ring":
        return Path(Fraction(2 * (ranks - 1)), Fraction(2 * (ranks - 1), ranks))
    power = _power_below(ranks)
    rounds = Fraction(power.bit_length() - 1)
    there_and_back = 0 if power == ranks else 2
    if algorithm == "recursive_doubling":
        return Path(rounds + there_and_back, rounds + there_and_back)
    if algorithm == "rabenseifner":
        shares = Fraction(2 * (power - 1), power)
        return Path(2 * rounds + there_and_back, shares + there_and_back)
    raise ValueError(f"found {algorithm!r}, wanted one of {', '.join(ALGORITHMS)}")


def path_of_totals(algorithm: str, ranks: int, messages: int, shares: Fraction) -> Path:
    """From what all ranks send together, as distributed.csv has it.

    In these algorithms all ranks send alike, but in doubling and halving those
    beyond a power of two send one vector and receive one.
    """
    if algorithm == "ring":
        return Path(Fraction(messages, ranks), shares / ranks)
    power = _power_below(ranks)
    beyond = ranks - power
    there_and_back = 2 if beyond else 0
    return Path(
        Fraction(messages - 2 * beyond, power) + there_and_back,
        (shares - 2 * beyond) / power + there_and_back,
    )


@dataclass(frozen=True)
class Curves:
    """Plots, their numbers, and how the table stands beside the closed forms."""

    network: Network
    algorithms: tuple[str, ...]
    plots: tuple[tuple[str, LogPlot], ...]
    columns: tuple[int, ...]
    rows: tuple[tuple[str, tuple[tuple[str, tuple[str, ...]], ...]], ...]
    n_rows: int  # of the table that a path follows from
    n_off: int  # and that have another than the closed form
    off: str

    def mark(self, at: int, x: float, y: float) -> str:
        """The sign of an algorithm, for the legend."""
        return mark(at, x, y)


def assess_curves(rows: RankRows, network: Network = SMPI) -> Curves | None:
    """None for a run without an all-reduce by one of the algorithms."""
    found = _paths(rows)
    if not found:
        return None
    off = [
        f"{algorithm} on {ranks} ranks"
        for algorithm, ranks, path in found
        if path != path_of(algorithm, ranks)
    ]
    marks = {(algorithm, ranks): path for algorithm, ranks, path in found}
    most = max(_LEAST_RANKS, *(ranks for _, ranks, _ in found))
    powers = [1 << at for at in range(1, most.bit_length())]
    columns = tuple(n for n in _IN_NUMBERS if n <= most)

    def times(algorithm: str, size: int) -> tuple[str, ...]:
        paths = (path_of(algorithm, n) for n in columns)
        return tuple(seconds_text(network.seconds(path, size)) for path in paths)

    return Curves(
        network=network,
        algorithms=ALGORITHMS,
        plots=tuple(
            (title, _plot(network, size, powers, marks)) for size, title in _SIZES
        ),
        columns=columns,
        rows=tuple(
            (title, tuple((name, times(name, size)) for name in ALGORITHMS))
            for size, title in _SIZES
        ),
        n_rows=len(found),
        n_off=len(off),
        off=off[0] if off else "",
    )


def vector_of(test_id: str) -> int:
    """The bytes that a rank has in a case of an all-reduce; 0 in another one."""
    case = _CASE.fullmatch(test_id)
    return int(case[2]) * int(case[3]) // 8 if case else 0


def _paths(rows: RankRows) -> list[tuple[str, int, Path]]:
    """The paths by the formulas of the table, row by row."""
    table, numbers = rows.table, rows.numbers
    found = []
    for row in (row for of_cell in rows.of_cell.values() for row in of_cell):
        case = _CASE.fullmatch(table["test_id"][row])
        size, messages = numbers["bytes_formula"][row], numbers["messages_formula"][row]
        if not case or case[1] not in ALGORITHMS or size is None or messages is None:
            continue
        vector, ranks = vector_of(table["test_id"][row]), int(case[4])
        if vector and 2 <= ranks <= MOST_RANKS:
            shares = Fraction(int(size), vector)
            path = path_of_totals(case[1], ranks, int(messages), shares)
            found.append((case[1], ranks, path))
    return found


def _plot(
    network: Network,
    size: int,
    powers: Sequence[int],
    marks: dict[tuple[str, int], Path],
) -> LogPlot:
    def line(algorithm: str) -> list[tuple[float, float, float, float]]:
        times = (network.seconds(path_of(algorithm, n), size) for n in powers)
        return [(n, time, time, time) for n, time in zip(powers, times)]

    return LogPlot(
        "ranks",
        "simulated seconds",
        [(name, line(name)) for name in ALGORITHMS],
        marks=[
            [
                (ranks, network.seconds(path, size))
                for (algorithm, ranks), path in sorted(marks.items())
                if algorithm == name
            ]
            for name in ALGORITHMS
        ],
    )
