# SPDX-License-Identifier: Apache-2.0
"""One change of one of our sources, and what became of it. Tables of trials, for people
and for other programs."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from dataclasses import astuple, dataclass, fields
from enum import StrEnum


class End(StrEnum):
    KILLED = "killed"
    SURVIVED = "survived"
    SAME_CODE = "same code"  # the optimised object is that of the right source
    EQUIVALENT = "equivalent"  # listed as one that no test can see
    NOT_COMPILED = "not compiled"  # another is drawn in its place


@dataclass
class Trial:
    file: str
    line: int
    kind: str  # of the change
    before: str  # the text that went, and what came
    after: str
    end: End = End.NOT_COMPILED
    killed_by: str = ""  # program and test
    seconds: float = 0

    def describe(self) -> str:
        """ "a.cc:12 operator: < becomes <=" """
        before, after = _short(self.before), _short(self.after)
        return f"{self.file}:{self.line} {self.kind}: {before} becomes {after}"


def _short(text: str) -> str:
    """On one line, and not longer than a line should be."""
    line = " ".join(text.split()) + (" " if text.endswith((" ", "\n")) else "")
    return line if len(line) <= 60 else line[:57] + "..."


class Kills:
    """Killed and survived trials, those that a test could see, and equivalent ones,
    which are listed or of the same code."""

    def __init__(self, trials: Iterable[Trial]) -> None:
        ends = [trial.end for trial in trials]
        self.killed = ends.count(End.KILLED)
        self.survived = ends.count(End.SURVIVED)
        self.equivalent = ends.count(End.SAME_CODE) + ends.count(End.EQUIVALENT)
        self.seen = self.killed + self.survived

    @property
    def percent(self) -> float:
        """Kills of the mutants that are not equivalent; 0 of none."""
        return 100 * self.killed / self.seen if self.seen else 0

    @property
    def share(self) -> str:
        return f"{self.percent:.1f} %" if self.seen else "-"


def trials_csv(trials: Iterable[Trial]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    columns = [column.name for column in fields(Trial)]
    writer.writerow(columns)
    for trial in trials:
        *values, seconds = astuple(trial)
        writer.writerow([*values, f"{seconds:g}"])
    return text.getvalue()


def _table(head: str, trials: list[Trial], column: str) -> str:
    text = (
        f"| {head} | killed | survived | equivalent | kill rate |\n"
        "| --- | ---: | ---: | ---: | ---: |\n"
    )
    for name in sorted({getattr(trial, column) for trial in trials}):
        kills = Kills(t for t in trials if getattr(t, column) == name)
        text += (
            f"| {name} | {kills.killed} | {kills.survived} | {kills.equivalent} |"
            f" {kills.share} |\n"
        )
    return text + "\n"


def trials_markdown(trials: Iterable[Trial]) -> str:
    """Kills by file and by kind, and each survivor."""
    tried = [trial for trial in trials if trial.end != End.NOT_COMPILED]
    kills = Kills(tried)
    text = (
        f"# Random mutants\n\n{kills.killed} of {kills.seen} killed, {kills.share};"
        f" {kills.equivalent} more are equivalent.\n\n"
    )
    text += _table("kind", tried, "kind") + _table("file", tried, "file")
    survivors = [t.describe() for t in tried if t.end == End.SURVIVED]
    if survivors:
        text += "Survivors:\n\n" + "".join(f"- {line}\n" for line in survivors)
    return text
