# SPDX-License-Identifier: Apache-2.0
"""The verb `google-benchmark`: times as the JSON of Google Benchmark's reporter.

    export_google_benchmark(Path("runs/latest"), Path("times.json"))

Each raw sample of a phase is a repetition, so that tools/compare.py of that library can
test two files, or two backends of one file, against each other:

    compare.py benchmarks old.json new.json
    compare.py filters times.json onednn reference

A name is that of the case, the phase and the backend. The fields are those of version
1.8 (src/json_reporter.cc of google/benchmark). `real_time` is wall time of a call, by
the clock of the host. Processor time is not measured: `cpu_time` is the same number, as
the reporter requires one, and `context` says so, and which cases are left out as they
are wrong or suspect.
"""

import json
from collections.abc import Iterator
from pathlib import Path

from assay_report.page import write_whole
from assay_report.run_folder import Run, RunFolderError, Table, read_beside, read_run
from assay_report.times.rows import is_right, number

_AGGREGATES = (("mean", "mean_ns"), ("median", "median_ns"), ("stddev", "stdev_ns"))
_COUNTERS = ("flops", "bytes")


def export_google_benchmark(run_folder: Path, out: Path) -> None:
    """Reads everything before it writes anything."""
    run = read_run(run_folder)
    if not len(run.time):
        raise RunFolderError(
            f"{run.time.path}: found no row, wanted a run of the suite time"
        )
    samples = _samples(run_folder)
    families = list(_families(run, samples))
    lines = (json.dumps(one, allow_nan=False) for one in families)
    context = json.dumps(_context(run), indent=2)
    body = ",\n    ".join(lines)
    text = f'{{\n"context": {context},\n"benchmarks": [\n    {body}\n]\n}}\n'
    write_whole(out, text)


def _context(run: Run) -> dict[str, object]:
    env = dict(zip(run.env["key"], run.env["value"]))
    processors = env.get("cores", "").split(" ")[0]
    return {
        "date": run.facts["started_utc"],
        "host_name": "",
        "executable": run.facts["command"],
        "num_cpus": int(processors) if processors.isdecimal() else 0,
        "mhz_per_cpu": 0,
        "cpu_scaling_enabled": False,
        "caches": [],
        "load_avg": [],
        "library_version": f"assay {run.facts['assay_version']}",
        "library_build_type": "release",
        "json_schema_version": 1,
        "assay_run": run.facts["run_id"],
        "cpu_time": "not measured: real_time stands in its place",
        "left_out": _left_out(run),
    }


def _samples(folder: Path) -> dict[tuple[str, str, str, str], list[float]]:
    """The raw samples of each phase, nanoseconds of all calls of one together."""
    table = read_beside(folder, "time_samples")
    parts: dict[tuple[str, str, str, str], dict[int, list[float]]] = {}
    keys = ("test_id", "backend", "attempt", "phase")
    for row, key in enumerate(zip(*(table[name] for name in keys))):
        first = int(number(table, "first", row) or 0)
        try:
            ns = [float(text) for text in table["ns"][row].split()]
        except ValueError as error:
            raise RunFolderError(
                f"{table.path}: found {error} in record {row + 1}, wanted numbers"
            ) from error
        parts.setdefault(key, {})[first] = ns
    return {
        key: [ns for first in sorted(part) for ns in part[first]]
        for key, part in parts.items()
    }


def _families(
    run: Run, samples: dict[tuple[str, str, str, str], list[float]]
) -> Iterator[dict[str, object]]:
    """The repetitions and aggregates of each row of time.csv whose case is right."""
    table = run.time
    left_out = _left_out(run)
    keys = ("test_id", "backend", "attempt", "phase")
    for row, key in enumerate(zip(*(table[name] for name in keys))):
        test_id, backend, _, phase = key
        name = f"{test_id}/{phase}/{backend}"
        ns = samples.get(key, [])
        common: dict[str, object] = {"family_index": row}
        common |= {"per_family_instance_index": 0}
        common |= {"run_name": name, "repetitions": len(ns), "threads": 1}
        if f"{test_id}/{backend}" not in left_out:
            yield from _repetitions(table, row, common, ns)
            yield from _aggregates(table, row, common)


def _left_out(run: Run) -> dict[str, str]:
    """Outcomes of timed cases that are wrong, or whose times nobody believes."""
    timed = {*zip(run.time["test_id"], run.time["backend"])}
    results = zip(*(run.results[name] for name in ("test_id", "backend", "outcome")))
    return {
        f"{test_id}/{backend}": outcome
        for test_id, backend, outcome in results
        if (test_id, backend) in timed and not is_right(outcome)
    }


def _repetitions(
    table: Table, row: int, common: dict[str, object], ns: list[float]
) -> Iterator[dict[str, object]]:
    calls = int(number(table, "inner_iters", row) or 1)
    known = {column: number(table, column, row) for column in _COUNTERS}
    counters = {column: value for column, value in known.items() if value is not None}
    for at, one in enumerate(ns):
        time = one / calls
        yield {
            **{"name": common["run_name"], **common, "run_type": "iteration"},
            **{"repetition_index": at, "iterations": calls},
            **{"real_time": time, "cpu_time": time, "time_unit": "ns"},
            **counters,
        }


def _aggregates(
    table: Table, row: int, common: dict[str, object]
) -> Iterator[dict[str, object]]:
    for aggregate, column in _AGGREGATES:
        value = number(table, column, row)
        if value is None:
            continue
        yield {
            **{"name": f"{common['run_name']}_{aggregate}", **common},
            **{"run_type": "aggregate", "aggregate_name": aggregate},
            **{"aggregate_unit": "time", "iterations": common["repetitions"]},
            **{"real_time": value, "cpu_time": value, "time_unit": "ns"},
        }
