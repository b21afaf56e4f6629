# SPDX-License-Identifier: Apache-2.0
"""The verb `training`: one HTML file that compares runs of `assay train`.

    write_training_page([Path("runs/a"), Path("runs/b")], Path("training.html"))

The four plots of the Deep500 thesis (chapter 5): accuracy and loss against samples and
against seconds. Nothing is ranked: two groups of runs are apart where their ranges over
at least four seeds do not meet, and not told apart otherwise. No script is needed.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assay_report.page import environment, inline, write_whole
from assay_report.plot import BoxPlot, Plot, number
from assay_report.training import (
    LEAST_SEEDS,
    Curve,
    Group,
    Range,
    goal_of,
    group_runs,
    read_training,
)


@dataclass(frozen=True)
class Pair:
    """Two groups, and by what they are apart; by nothing where they are not."""

    first: str
    second: str
    apart: list[str]
    n_seeds: int


def write_training_page(
    folders: Sequence[Path], out: Path, goal: float | None = None
) -> None:
    """Reads the folders and replaces `out` in one step."""
    groups = group_runs([read_training(folder) for folder in folders])
    write_whole(out, render_training_page(groups, goal))


def render_training_page(groups: Sequence[Group], goal: float | None = None) -> str:
    """The page as text. `goal` is an accuracy, chosen where there is none."""
    if goal is None:
        goal = goal_of(groups)
    facts = groups[0].runs[0].facts
    models = sorted({run.facts["model"] for group in groups for run in group.runs})
    return (
        environment()
        .get_template("training.html")
        .render(
            dataset=facts["dataset"],
            models=models,
            n_runs=sum(len(group.runs) for group in groups),
            goal=number(goal),
            least_seeds=LEAST_SEEDS,
            plots=_plots(groups),
            rows=[_row(group, goal) for group in groups],
            pairs=[
                _pair(first, second, goal)
                for first, second in itertools.combinations(groups, 2)
            ],
            style=inline("page.css", "plot.css", "training.css"),
        )
    )


def _plots(groups: Sequence[Group]) -> list[tuple[str, Plot]]:
    def of(bands: str, *name: str) -> list[tuple[str, Any]]:
        return [(group.name, getattr(group, bands)(*name)) for group in groups]

    def seeds(by: str, name: str) -> list[list[Curve]]:
        return [g.curves(by, name) if len(g.runs) > 1 else [] for g in groups]

    def plot(by: str, name: str, floor: float | None = None, **more: Any) -> Plot:
        bands = of(f"by_{by}", name)
        return Plot(by, name, bands, floor=floor, seeds=seeds(by, name), **more)

    return [
        ("Test accuracy against samples", plot("samples", "accuracy")),
        ("Test accuracy against seconds", plot("seconds", "accuracy")),
        (
            "Loss against samples: test, and training as a dotted line",
            plot("samples", "loss", 0.0, dotted=of("training_loss")),
        ),
        ("Test loss against seconds", plot("seconds", "loss", 0.0)),
        (
            "Losses of an epoch's batches: median, quartiles, 5 to 95 %",
            BoxPlot("epoch", "loss", [], floor=0.0, boxes=of("batch_losses")),
        ),
    ]


def _row(group: Group, goal: float) -> dict[str, str | int]:
    return {
        "name": group.name,
        "seeds": len(group.runs),
        "accuracy": _text(group.final_accuracy(), ".4f"),
        "samples": _text(group.samples_to(goal), ",.0f"),
        "seconds": _text(group.seconds_to(goal), ".3g"),
    }


def _text(range_: Range, form: str) -> str:
    """Median and range; how many seeds have none."""
    missing = f"{range_.n_missing} not reached" if range_.n_missing else ""
    if not range_.values:
        return missing
    text = f"{range_.middle:{form}}"
    if len(range_.values) > 1:
        text += f" ({range_.low:{form}} to {range_.high:{form}})"
    return f"{text}, {missing}" if missing else text


def _pair(first: Group, second: Group, goal: float) -> Pair:
    apart = []
    for word, form, one, other in (
        ("final accuracy", ".4f", first.final_accuracy(), second.final_accuracy()),
        ("samples", ",.0f", first.samples_to(goal), second.samples_to(goal)),
        ("seconds", ".3g", first.seconds_to(goal), second.seconds_to(goal)),
    ):
        if one.is_apart(other):
            apart.append(f"{word}: {_text(one, form)} and {_text(other, form)}")
    seeds = min(len(first.runs), len(second.runs))
    return Pair(first.name, second.name, apart, seeds)
