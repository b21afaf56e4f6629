# SPDX-License-Identifier: Apache-2.0
"""The verb `export`: the tables of the Deep500 thesis (chapter 5) from our records.

    export_deep500(Path("tables"), run=Path("runs/latest"), training=[Path("runs/a")])

| file | a row |
| --- | --- |
| accuracy.csv | a case on a backend: least and greatest difference of its outputs |
| time.csv | a case on a backend: seconds of its runs, and their mean; first, warm |
| gradient.csv | a gradient of a case on a backend: greatest difference |
| optimizer_steps/*.csv | a step: the norm of the difference of each parameter |
| epochs.csv | an epoch of a training run |

A cell for which there is no number is empty. Files are written whole or not at all.
"""

import csv
import io
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from assay_report.page import write_whole
from assay_report.run_folder import Run, RunFolderError, Table, read_run
from assay_report.training import TrainingRun, read_training

_MICROSECONDS = 1_000_000
_NANOSECONDS = 1_000_000_000
_PHASES = ("first", "warm")


def export_deep500(
    out: Path, run: Path | None = None, training: Sequence[Path] = ()
) -> None:
    """Reads everything before it writes anything."""
    files: dict[str, str] = {}
    if run is not None:
        read = read_run(run)
        files["accuracy.csv"] = accuracy_table(read)
        files["time.csv"] = time_table(read)
        files["gradient.csv"] = gradient_table(read)
        files.update(step_tables(read.steps))
    if training:
        files["epochs.csv"] = epoch_table([read_training(one) for one in training])
    if out.exists() and not out.is_dir():
        raise RunFolderError(f"{out}: found a file, wanted a folder to write")
    for name, text in files.items():
        file = out / name
        file.parent.mkdir(parents=True, exist_ok=True)
        write_whole(file, text)


def _csv(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return out.getvalue()


def accuracy_table(run: Run) -> str:
    """Least and greatest of got - want over the outputs of a case."""
    least: dict[tuple[str, str], tuple[str, str]] = {}
    columns = ("test_id", "backend", "min_diff", "max_diff")
    for test_id, backend, low, high in zip(*(run.accuracy[c] for c in columns)):
        before = least.get((test_id, backend), ("", ""))
        least[test_id, backend] = (
            _of_two(min, before[0], low),
            _of_two(max, before[1], high),
        )
    return _csv(
        ("test", "backend", "min difference", "max difference"),
        ((*key, *found) for key, found in least.items()),
    )


def _of_two(choose: Callable[..., str], one: str, other: str) -> str:
    """One of two numbers as text, either of which may be missing."""
    return choose(one, other, key=float) if one and other else one or other


def time_table(run: Run) -> str:
    """One run is measured: Bind, Forward, Synchronize and fetch. Beside it, of a run
    that has them, medians of suite time: cold and warm are not one number."""
    names = ("test_id", "backend", "phase", "median_ns")
    medians = {
        (test_id, backend, phase): f"{float(ns) / _NANOSECONDS:.9f}"
        for test_id, backend, phase, ns in zip(*(run.time[c] for c in names))
        if ns
    }
    columns = ("test_id", "backend", "run_us")
    rows = []
    for test_id, backend, run_us in zip(*(run.results[c] for c in columns)):
        seconds = f"{int(run_us) / _MICROSECONDS:.6f}" if run_us else ""
        timed = f"time/{test_id.partition('/')[2]}"
        known = (medians.get((timed, backend, phase), "") for phase in _PHASES)
        rows.append((test_id, backend, seconds, seconds, *known))
    return _csv(("test", "backend", "run 1", "avg", "first", "warm median"), rows)


def gradient_table(run: Run) -> str:
    """By inputs: the thesis' input and parameter differences are rows here."""
    columns = ("test_id", "backend", "input", "cotangent", "max_abs_err", "outcome")
    rows = zip(*(run.gradients[c] for c in columns))
    return _csv(
        ("test", "backend", "input", "cotangent", "max difference", "outcome"), rows
    )


def step_tables(table: Table) -> dict[str, str]:
    """A file for each case and backend, with a column for each tensor."""
    cells: dict[tuple[str, str], dict[int, dict[str, str]]] = {}
    columns = ("backend", "test_id", "step", "tensor", "l2_diff")
    for backend, test_id, step, tensor, l2 in zip(*(table[c] for c in columns)):
        rows = cells.setdefault((backend, test_id), {})
        rows.setdefault(int(step), {})[tensor] = l2
    files = {}
    for (backend, test_id), rows in cells.items():
        tensors = list(dict.fromkeys(t for row in rows.values() for t in row))
        name = f"{test_id.removeprefix('optimizer/')}@{backend}".replace("/", "-")
        files[f"optimizer_steps/{name}.csv"] = _csv(
            ("step", *tensors),
            (
                (str(step), *(row.get(tensor, "") for tensor in tensors))
                for step, row in rows.items()
            ),
        )
    return files


def epoch_table(runs: Sequence[TrainingRun]) -> str:
    """Epochs on the training and the test set; seconds are of the whole run so far."""
    rows = []
    for run in runs:
        batch = int(run.facts["batch"])
        tests = {point.epoch: point for point in run.test}
        for epoch in run.epochs():
            test = tests.get(epoch.number)
            accuracy = epoch.end.accuracy
            rows.append(
                (
                    str(run.folder),
                    run.facts["run"],
                    run.facts["seed"],
                    str(epoch.number),
                    f"{epoch.loss:.9g}",
                    f"{accuracy:.9g}",
                    str(round(epoch.samples * (1 - accuracy))),
                    str(-(-epoch.samples // batch)),
                    f"{test.loss:.9g}" if test else "",
                    f"{test.accuracy:.9g}" if test else "",
                    f"{(test or epoch.end).seconds:.6f}",
                    run.facts["batch"],
                )
            )
    return _csv(
        (
            *("folder", "run", "seed", "epoch", "avg_loss", "accuracy", "wrong"),
            *("n_batches", "test_loss", "test_accuracy", "total_used_time"),
            "train_batch_size",
        ),
        rows,
    )
