# SPDX-License-Identifier: Apache-2.0
"""Ratios of what takes turns, with intervals, and the table of them.

ratio = ratio_of(ours=[1.0, 1.1], theirs=[2.0, 2.1])
print(table([Row("node cases", "ONNX Runtime", ratio)]))
"""

import csv
import math
import statistics
from dataclasses import dataclass
from pathlib import Path

_LEAST = 6  # turns, below which no interval of 95 % is there


@dataclass(frozen=True)
class Ratio:
    """Ours over theirs: the median over the turns, and its interval of 95 %."""

    median: float
    low: float | None = None
    high: float | None = None

    def __str__(self) -> str:
        """Two digits behind the point, as 0.33 [0.31, 0.36]."""
        if self.low is None or self.high is None:
            return f"{self.median:.2f}"
        return f"{self.median:.2f} [{self.low:.2f}, {self.high:.2f}]"


@dataclass(frozen=True)
class Row:
    """A line of the table; `processor` is the ratio of processor times."""

    what: str
    peer: str
    ratio: Ratio
    processor: Ratio | None = None


def rank(n: int) -> int:
    """The greatest l for which fewer than l of n fall below their median in 2.5 % of
    cases at most (H. David and H. Nagaraja, Order Statistics, 2003, section 7.1)."""
    least, tail = 0, 0
    while 40 * (tail + math.comb(n, least)) <= 2**n:
        tail += math.comb(n, least)
        least += 1
    return least


def ratio_of(ours: list[float], theirs: list[float]) -> Ratio:
    """Turn by turn, so that a drift of the machine counts for neither."""
    if len(ours) != len(theirs) or not ours:
        raise ValueError(
            f"found {len(ours)} times of ours and {len(theirs)} of "
            "theirs, wanted as many, and one at least"
        )
    ratios = sorted(a / b for a, b in zip(ours, theirs, strict=True))
    median = statistics.median(ratios)
    if len(ratios) < _LEAST:
        return Ratio(median)
    end = rank(len(ratios))
    return Ratio(median, ratios[end - 1], ratios[-end])


def epochs(file: Path, peer: str) -> list[Row]:
    """The rows of overhead.csv in which epochs of a peer stand beside Train's."""
    with file.open(newline="") as text:
        return [
            Row(
                f"an epoch of {row['test_id'].split('/')[-1].removesuffix('#peer')} "
                f"by Train on `{row['backend']}`",
                peer,
                Ratio(
                    float(row["paired_ratio"]),
                    float(row["ratio_ci95_lo"]),
                    float(row["ratio_ci95_hi"]),
                ),
            )
            for row in csv.DictReader(text)
            if row["test_id"].endswith("#peer")
        ]


def table(rows: list[Row]) -> str:
    """Markdown, ours over the peer's."""
    lines = [
        "| ours | peer | ratio [95 %] | processor time |",
        "| --- | --- | --- | --- |",
    ]
    lines += [
        f"| {row.what} | {row.peer} | {row.ratio} | {row.processor or ''} |"
        for row in rows
    ]
    return "\n".join(lines) + "\n"
