# SPDX-License-Identifier: Apache-2.0
"""Reads the folders of `assay train` and groups runs that differ by the seed alone.

    groups = group_runs([read_training(folder) for folder in folders])
    groups[0].by_samples("accuracy")   # [(64, low, middle, high), ...]

A band is the range over the seeds that still run, around their median; no
distribution is assumed.
"""

import csv
import math
import statistics
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assay_report.run_folder import RunFolderError

COLUMNS = ("epoch", "step", "samples", "seconds", "set", "loss", "accuracy")
# The least seeds for the exact test of two groups: with fewer, even ranges that do not
# meet come about by chance more than once in twenty.
LEAST_SEEDS = 4
_GRID = 40
_NEEDED = ("run", "model", "dataset", "batch", "micro_batch", "seed")
# These say how a run was started, or nothing of what it learns.
_OF_THE_START = ("request", "out", "goes_on", "parent", "checkpoint_every")
# The facts that groups differ by, as a name says them.
_SAID = {
    "model": "{}",
    "batch": "batch {}",
    "micro_batch": "parts of {}",
    "epochs": "{} epochs",
    "stop_at": "stops at {}",
    "seconds": "at most {} s",
}

# x, and y of the seeds: least, median, greatest.
Band = list[tuple[float, float, float, float]]
# x and y of one seed.
Curve = list[tuple[float, float]]
# An epoch, and of its batches: 5th percentile, quartile, median, quartile, 95th.
Boxes = list[tuple[int, float, float, float, float, float]]


@dataclass(frozen=True)
class Point:
    """A row of curves.csv."""

    epoch: int
    samples: int
    seconds: float
    loss: float
    accuracy: float


@dataclass(frozen=True)
class Epoch:
    """The training set of one epoch, whose mean loss is over samples."""

    number: int
    end: Point
    samples: int
    loss: float


@dataclass(frozen=True)
class TrainingRun:
    """One run folder: what it is a run of, and its rows by set."""

    folder: Path
    facts: dict[str, str]
    test: list[Point]
    train: list[Point]

    def epochs(self) -> list[Epoch]:
        """A batch that is smaller weighs less."""
        found: dict[int, list[tuple[Point, int]]] = {}
        before = 0
        for point in self.train:
            new = point.samples - before
            found.setdefault(point.epoch, []).append((point, new))
            before = point.samples
        epochs = []
        for number, points in found.items():
            samples = sum(new for _, new in points)
            total = sum(point.loss * new for point, new in points)
            mean = total / samples if samples else math.nan
            epochs.append(Epoch(number, points[-1][0], samples, mean))
        return epochs


def read_training(folder: Path) -> TrainingRun:
    """Refuses what is no training run with RunFolderError."""
    facts = _facts(_lines(folder / "train.txt"))
    missing = [name for name in _NEEDED if name not in facts]
    if missing:
        raise RunFolderError(
            f"{folder / 'train.txt'}: found no {missing[0]}, wanted a folder of "
            "assay train"
        )
    points = _points(folder / "curves.csv")
    if not points["test"]:
        raise RunFolderError(
            f"{folder / 'curves.csv'}: found no row of a test set, wanted one epoch "
            "at least"
        )
    return TrainingRun(folder, facts, points["test"], points["train"])


def _facts(lines: list[str]) -> dict[str, str]:
    """Fields of a request, as "micro_batch,0"; earlier runs left two lines for it,
    "--micro-batch" and "0"."""
    if lines and lines[0].startswith("--"):
        names = (name.removeprefix("--").replace("-", "_") for name in lines[::2])
        return dict(zip(names, lines[1::2]))
    return {row[0]: row[1] for row in csv.reader(lines) if len(row) == 2}


def _lines(file: Path) -> list[str]:
    try:
        return file.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        raise RunFolderError(
            f"{file}: not found, wanted a folder of assay train"
        ) from None
    except UnicodeDecodeError as error:
        raise RunFolderError(f"{file}: no text in UTF-8: {error}") from None


def _points(file: Path) -> dict[str, list[Point]]:
    rows = list(csv.reader(_lines(file)))
    if not rows or tuple(rows[0]) != COLUMNS:
        raise RunFolderError(
            f"{file}: found the columns {','.join(rows[0]) if rows else 'of nothing'}, "
            f"wanted {','.join(COLUMNS)}"
        )
    points: dict[str, list[Point]] = {"train": [], "test": []}
    for line, row in enumerate(rows[1:], start=2):
        try:
            epoch, _, samples, seconds, of, loss, accuracy = row
            numbers = map(float, (seconds, loss, accuracy))
            points[of].append(Point(int(epoch), int(samples), *numbers))
        except (ValueError, KeyError):
            raise RunFolderError(
                f"{file}:{line}: found '{','.join(row)}', wanted numbers, and train or "
                "test"
            ) from None
    return points


@dataclass(frozen=True)
class Range:
    """The values of one number over seeds; `n_missing` seeds have none."""

    values: tuple[float, ...]
    n_missing: int = 0

    @property
    def low(self) -> float:
        return min(self.values)

    @property
    def middle(self) -> float:
        return statistics.median(self.values)

    @property
    def high(self) -> float:
        return max(self.values)

    def is_apart(self, other: "Range") -> bool:
        """True where chance alone seldom does it."""
        if self.n_missing or other.n_missing:
            return False
        if min(len(self.values), len(other.values)) < LEAST_SEEDS:
            return False
        return self.high < other.low or other.high < self.low


@dataclass(frozen=True)
class Group:
    """Runs whose train.txt differs by the seed alone."""

    name: str
    runs: list[TrainingRun]

    def curves(self, by: str, name: str) -> list[Curve]:
        """The test set's `name`, "accuracy" or "loss", by "samples" or "seconds"."""
        return [[(getattr(p, by), getattr(p, name)) for p in r.test] for r in self.runs]

    def by_samples(self, name: str) -> Band:
        """The seeds that were tested behind so many samples."""
        return _band([dict(curve) for curve in self.curves("samples", name)])

    def by_seconds(self, name: str) -> Band:
        """The seeds that still run, from where each was tested once."""
        curves = self.curves("seconds", name)
        begin = max(curve[0][0] for curve in curves)
        ends = {begin, *(curve[-1][0] for curve in curves if curve[-1][0] > begin)}
        end = max(ends)
        grid = {begin + (end - begin) * i / _GRID for i in range(_GRID + 1)}
        band = []
        for x in sorted(grid | ends):
            going = [curve for curve in curves if x <= curve[-1][0]]
            band.append((x, *_spread([_between(curve, x) for curve in going])))
        return band

    def training_loss(self) -> Band:
        """The mean loss of each epoch, by the samples at its end."""
        return _band(
            [{e.end.samples: e.loss for e in run.epochs()} for run in self.runs]
        )

    def batch_losses(self) -> Boxes:
        """How the losses of an epoch's batches are spread, those of all seeds."""
        by_epoch: dict[int, list[float]] = {}
        for run in self.runs:
            for point in run.train:
                if math.isfinite(point.loss):
                    by_epoch.setdefault(point.epoch, []).append(point.loss)
        shares = (0.05, 0.25, 0.5, 0.75, 0.95)
        return [
            (epoch, *(_quantile(sorted(losses), share) for share in shares))
            for epoch, losses in sorted(by_epoch.items())
        ]

    def final_accuracy(self) -> Range:
        return Range(tuple(run.test[-1].accuracy for run in self.runs))

    def samples_to(self, accuracy: float) -> Range:
        return self._until(accuracy, "samples")

    def seconds_to(self, accuracy: float) -> Range:
        return self._until(accuracy, "seconds")

    def _until(self, accuracy: float, name: str) -> Range:
        found = [
            next((getattr(p, name) for p in run.test if p.accuracy >= accuracy), None)
            for run in self.runs
        ]
        values = tuple(value for value in found if value is not None)
        return Range(values, len(found) - len(values))


def _quantile(ordered: list[float], share: float) -> float:
    """Between the two neighbours, as NumPy's default."""
    place = share * (len(ordered) - 1)
    at = math.floor(place)
    above = ordered[min(at + 1, len(ordered) - 1)]
    return ordered[at] + (place - at) * (above - ordered[at])


def _band(curves: Sequence[Mapping[Any, float]]) -> Band:
    """Where a curve has a number, over those that have one."""
    return [
        (x, *_spread([curve[x] for curve in curves if x in curve]))
        for x in sorted(set().union(*curves))
    ]


def _spread(values: Sequence[float]) -> tuple[float, float, float]:
    return min(values), statistics.median(values), max(values)


def _between(curve: Curve, x: float) -> float:
    """On the straight line between two points; `x` is within them."""
    at = min(bisect_left(curve, (x, -math.inf)), len(curve) - 1)
    (left, low), (right, high) = curve[max(at - 1, 0)], curve[at]
    if right <= left:
        return high
    return low + min(max((x - left) / (right - left), 0.0), 1.0) * (high - low)


def group_runs(runs: Iterable[TrainingRun]) -> list[Group]:
    """By everything but the seed, in the order of their names.

    Refuses runs of several datasets, and two of one seed, with RunFolderError."""
    groups: dict[tuple[str, ...], list[TrainingRun]] = {}
    runs = list(runs)
    datasets = sorted({run.facts["dataset"] for run in runs})
    if len(datasets) != 1:
        raise RunFolderError(
            f"found runs on {' and '.join(datasets)}, wanted runs on one dataset"
        )
    known = {name for run in runs for name in run.facts}
    names = ["run", *sorted(known - {"run", "seed", *_OF_THE_START})]
    for run in runs:
        key = tuple(run.facts.get(name, "") for name in names)
        for other in groups.setdefault(key, []):
            if other.facts["seed"] == run.facts["seed"]:
                raise RunFolderError(
                    f"{run.folder} and {other.folder}: found seed "
                    f"{run.facts['seed']} twice, wanted each seed once"
                )
        groups[key].append(run)
    return [Group(_name_of(key, names, groups), groups[key]) for key in sorted(groups)]


def _name_of(
    key: Sequence[str], names: Sequence[str], groups: Iterable[Sequence[str]]
) -> str:
    """The run, and what else differs between groups; its module where runs of one
    name have several."""
    parts = [key[0]]
    for place, name in enumerate(names):
        others = [one for one in groups if name != "module" or one[0] == key[0]]
        if place and len({one[place] for one in others}) > 1 and key[place] != "0":
            said = _SAID.get(name, f"{name.replace('_', ' ')} {{}}")
            parts.append(said.format(key[place] or "none"))
    return ", ".join(parts)


def goal_of(groups: Sequence[Group]) -> float:
    """The greatest of some round accuracies that every run comes to, else the greatest
    that any does."""
    goals = (0.99, 0.98, 0.97, 0.95, 0.9, 0.85, 0.8, 0.7, 0.6, 0.5, 0.3, 0.1, 0.0)
    best = [
        max(point.accuracy for point in run.test)
        for group in groups
        for run in group.runs
    ]
    for of in (min(best), max(best)):
        for goal in goals:
            if goal <= of and goal > 0:
                return goal
    return 0.0
