# SPDX-License-Identifier: Apache-2.0
"""Reads a run folder: the CSV tables and summary.json, checked, as columns.

    run = read_run(Path("runs/latest"))
    run.results["outcome"][0]   # "pass"

A folder that is not exactly one whole run is refused with RunFolderError: a
page that guesses is worse than none. Every message says what was found, what
was wanted and where.
"""

import csv
import gzip
import io
import itertools
import json
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any, TextIO, TypeVar

SCHEMA = 1
_SUMMARY_SCHEMA = f"assay.summary/{SCHEMA}"

# The tables that the page reads, with every column that schema.json lists...
TABLES = (
    *("runs", "env", "backends", "results", "accuracy", "gradients"),
    *("optimizer_steps", "distributed", "time", "plan", "attempts"),
)
# ...and of these no more than it needs, since they are long.
_NEEDED = {
    "plan": (
        *("test_id", "backend", "corpus", "kind", "comparator", "claimed"),
        *("directory", "ranks"),
    ),
    "optimizer_steps": (
        *("schema", "run_id", "test_id", "backend", "mode", "step", "tensor"),
        *("l2_diff", "linf_diff", "limit", "outcome"),
    ),
    "distributed": (
        *("schema", "run_id", "attempt", "test_id", "backend", "scheme"),
        *("optimizer", "collective", "transport", "ranks", "root", "topology"),
        *("steps", "mode", "differing_bits", "max_ulp", "hash", "determinism"),
        "rank_agreement",
        *("bytes_sent", "bytes_formula", "messages", "messages_formula"),
        *("staleness_max", "staleness_bound", "consensus", "contraction_err"),
        *("loss_first", "loss_last", "simulated_us"),
    ),
    "time": (
        *("schema", "run_id", "attempt", "test_id", "backend", "phase"),
        *("inner_iters", "n_samples", "min_ns", "p25_ns", "median_ns", "p75_ns"),
        *("p90_ns", "p99_ns", "max_ns", "mean_ns", "stdev_ns"),
        *("ci95_lo_ns", "ci95_hi_ns", "n_outlier_mild", "n_outlier_severe"),
        *("lag1_autocorr", "stop_reason", "warmup_iters", "steal_ticks"),
        *("psi_cpu_some_pct", "noisy", "flops", "bytes", "gflop_s", "gb_s"),
        *("intensity", "peak_gflop_s", "peak_gb_s", "roof_frac"),
    ),
    "attempts": (
        *("attempt", "test_id", "backend", "outcome", "reason_code", "message"),
    ),
}
# Suites write these; a run without such a suite may lack the file.
_OF_SUITES = ("gradients", "optimizer_steps", "distributed", "time")

# Other tables of times, which most runs lack: what each needs, and what it may have.
_BESIDE = {
    "compare": (
        *("test_id", "backend", "base", "ratio", "ci95_lo", "ci95_hi", "base_ns"),
        *("candidate_ns", "n_blocks", "noisy"),
    ),
    "overhead": (
        *("test_id", "backend", "native_median_ns", "framework_median_ns"),
        *("paired_ratio", "ratio_ci95_lo", "ratio_ci95_hi", "n_pairs"),
    ),
    "roofs": ("level", "type", "threads", "gflop_s", "gb_s"),
    "scaling": ("test_id", "backend", "sizes", "median_ns", "exponent"),
    "time_samples": ("test_id", "backend", "attempt", "phase", "first", "ns"),
}
# Columns that tables of times may have.
_MORE = {
    "time": ("bound",),
    "compare": ("verdict", "second_ratio", "margin", "least_slowdown"),
    "overhead": ("noisy",),
    "scaling": ("ci95_lo", "ci95_hi", "ci95_lo_ns", "ci95_hi_ns"),
}
_OF_TIMES = ("compare", "overhead", "roofs", "scaling")
_OF_CASES = ("gradients", "distributed", "time")

# Columns that the page computes with.
_NUMBERS: tuple[tuple[str, str, type[int] | type[float]], ...] = (
    *(("results", f"{name}_us", int) for name in ("started", "load", "run", "judge")),
    ("results", "peak_rss_kb", int),
    ("results", "headroom", float),
    ("accuracy", "max_ulp", float),
)

_SCHEMA_FILE = Path(__file__).with_name("schema.json")
# An operator of ONNX, or of another domain: ml.TreeEnsemble.
_OPERATOR = re.compile(r"(?:\w+\.)*[A-Z]\w*")
_FIELD_LIMIT_BYTES = 1 << 24
_CHUNK_ROWS = 512
_Kind = TypeVar("_Kind")


class RunFolderError(Exception):
    """A run folder that cannot be trusted, with the reason."""


@dataclass(frozen=True)
class Table:
    """One CSV table as columns of text; empty text is `not measured`."""

    path: Path
    columns: Mapping[str, list[str]]

    def __getitem__(self, column: str) -> list[str]:
        return self.columns[column]

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))


@dataclass(frozen=True)
class Unexpected:
    """A result that nothing excuses; test_id is empty for a whole backend."""

    backend: str
    test_id: str
    outcome: str
    reason: str
    reason_code: str  # empty in runs of before there were any

    @property
    def subject(self) -> str:
        """A case; or whose fault it is, which of one's own folders is the run's."""
        whole = f"the {'backend' if self.backend else 'run'} as a whole"
        return self.test_id or whole


@dataclass(frozen=True)
class Tally:
    """The merge's count for one backend in one corpus, and its verdict."""

    backend: str
    corpus: str
    n_planned: int
    equation: str
    verdict: str
    reason: str


@dataclass(frozen=True)
class Mutants:
    """How many mutants the run's cases see, and all suites do."""

    is_assessed: bool
    reason: str  # why it is not
    n_killed: int
    n_killed_by_all: int
    n_total: int  # of the lists
    n_tried: int  # of these, on the run's build
    nightly: str  # when all were tried; empty where that is not known
    survivors: tuple[str, ...]


@dataclass(frozen=True)
class Summary:
    """summary.json, as far as the page reads it."""

    exit_code: int
    is_partial: bool
    suites: tuple[str, ...]
    query: str
    tallies: tuple[Tally, ...]
    n_drifted: Mapping[str, int]
    unexpected: tuple[Unexpected, ...]
    mutants: Mutants


@dataclass(frozen=True)
class Run:
    """One run folder; `facts` is the single row of runs.csv."""

    facts: Mapping[str, str]
    env: Table
    backends: Table
    results: Table
    accuracy: Table
    gradients: Table
    steps: Table
    ranks: Table
    time: Table
    plan: Table
    attempts: Table  # without rows where no case was run again
    # Without rows where there is no such file.
    compare: Table
    overhead: Table
    roofs: Table
    scaling: Table
    summary: Summary


def is_operator(name: str) -> bool:
    """False for the group of a network, such as light."""
    return _OPERATOR.fullmatch(name) is not None


def flag(text: str, where: str) -> bool:
    """1 or 0."""
    if text not in ("0", "1"):
        raise RunFolderError(f"{where}: found {text!r}, wanted 1 or 0")
    return text == "1"


def read_run(folder: Path) -> Run:
    """Reads and checks the run folder; raises RunFolderError."""
    tables = {name: read_table(folder, name) for name in TABLES[:-1]}
    again = any(attempt != "1" for attempt in tables["results"]["attempt"])
    tables["attempts"] = (
        read_table(folder, "attempts") if again else _empty(folder, "attempts")
    )
    runs = tables["runs"]
    if len(runs) != 1:
        raise RunFolderError(f"{runs.path}: found {len(runs)} runs, wanted one")
    facts = {name: values[0] for name, values in runs.columns.items()}
    judged = ("results", "accuracy", *_OF_SUITES)
    for name in ("backends", *judged):
        _check_constant(tables[name], "run_id", facts["run_id"])
    for name in ("runs", *judged):
        _check_constant(tables[name], "schema", str(SCHEMA))
    of_cells = ("results", "accuracy", *_OF_CASES, "attempts")
    _check_cells(*(tables[name] for name in of_cells))
    for name, column, kind in _NUMBERS:
        _check_numbers(tables[name], column, kind)
    summary = _read_summary(folder / "summary.json", facts["run_id"])
    names = ("env", "backends", "results", "accuracy", "gradients", "plan", "attempts")
    return Run(
        facts=facts,
        steps=tables["optimizer_steps"],
        ranks=tables["distributed"],
        time=tables["time"],
        **{name: read_beside(folder, name) for name in _OF_TIMES},
        summary=summary,
        **{name: tables[name] for name in names},
    )


def read_table(folder: Path, name: str) -> Table:
    """Reads `name`.csv; keeps the columns of the published schema, or fewer."""
    path = _file_of(folder, name)
    if name in _OF_SUITES and not path.exists():
        return _empty(folder, name)
    return _read(path, _wanted(name), _MORE.get(name, ()))


def read_beside(folder: Path, name: str) -> Table:
    """Reads a table that not every run folder has, such as `overhead`.

    Without rows where it is not there; what it may lack and lacks is empty.
    """
    path = _file_of(folder, name)
    needed, more = _BESIDE[name], _MORE.get(name, ())
    if not path.exists():
        return Table(path, {column: [] for column in (*needed, *more)})
    return _read(path, needed, more)


def _file_of(folder: Path, name: str) -> Path:
    """The table, which may be compressed."""
    packed = folder / f"{name}.csv.gz"
    return packed if packed.exists() else folder / f"{name}.csv"


def _open(path: Path) -> TextIO:
    if path.suffix == ".gz":  # which has a check sum and a length at its end
        return gzip.open(path, "rt", encoding="utf-8", newline="")
    _check_end(path)
    return path.open(encoding="utf-8", newline="")


def _read(path: Path, needed: Sequence[str], more: Sequence[str] = ()) -> Table:
    csv.field_size_limit(_FIELD_LIMIT_BYTES)
    with _open(path) as file:
        reader = csv.reader(file, strict=True)
        try:
            header = next(reader)
            _check_header(path, needed, header)
            wanted = [*needed, *(column for column in more if column in header)]
            places = [header.index(column) for column in wanted]
            columns = _read_columns(path, reader, len(header), places)
        except (csv.Error, EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise RunFolderError(f"{path}:{reader.line_num}: {error}") from error
        except UnicodeDecodeError as error:
            raise RunFolderError(
                f"{path}: found bytes that are not UTF-8 in line {_bad_line(path)}"
            ) from error
    empty = [""] * len(columns[0])
    found = dict.fromkeys(more, empty) | dict(zip(wanted, columns))
    return Table(path, found)


def _bad_line(path: Path) -> int:
    """The first line that is not UTF-8: text is decoded far ahead of its records."""
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rb") as file:
        for number, line in enumerate(file, 1):
            try:
                line.decode("utf-8")
            except UnicodeDecodeError:
                return number
    return 0


def _wanted(name: str) -> tuple[str, ...]:
    return _NEEDED.get(name) or tuple(schema_columns(name))


def _empty(folder: Path, name: str) -> Table:
    columns = (*_wanted(name), *_MORE.get(name, ()))
    return Table(folder / f"{name}.csv", {column: [] for column in columns})


def _check_end(path: Path) -> None:
    """A table ends with a line end; one that was cut off mostly does not."""
    try:
        with path.open("rb") as file:
            size = file.seek(0, io.SEEK_END)
            file.seek(max(0, size - 1))
            last = file.read(1)
    except FileNotFoundError as error:
        raise RunFolderError(
            f"{path}: not there; wanted a run folder that has it"
        ) from error
    if last != b"\n":
        raise RunFolderError(
            f"{path}: found no line end at the end of the file, wanted a whole "
            "table; it is empty or cut off"
        )


def _check_header(path: Path, wanted: Iterable[str], header: list[str]) -> None:
    if len(set(header)) != len(header):
        raise RunFolderError(
            f"{path}: found a column name twice in {', '.join(header)}"
        )
    missing = [c for c in wanted if c not in header]
    if missing:
        raise RunFolderError(
            f"{path}: found columns {', '.join(header)}; "
            f"wanted also {', '.join(missing)}"
        )


def _read_columns(
    path: Path, reader: Iterator[list[str]], width: int, places: list[int]
) -> list[list[str]]:
    """The fields at `places` as columns; equal texts are kept once."""
    columns: list[list[str]] = [[] for _ in places]
    while chunk := list(itertools.islice(reader, _CHUNK_ROWS)):
        if set(map(len, chunk)) != {width}:
            first = len(columns[0]) + 1
            at, row = next(
                (first + at, row) for at, row in enumerate(chunk) if len(row) != width
            )
            raise RunFolderError(
                f"{path}: found {len(row)} fields in record {at}, wanted {width}"
            )
        fields = list(zip(*chunk))
        seen: dict[str, str] = {}
        for column, place in zip(columns, places):
            texts = fields[place]
            if texts.count(texts[0]) == len(texts):  # often, and much faster
                column.extend([seen.setdefault(texts[0], texts[0])] * len(texts))
            else:
                column.extend(map(seen.setdefault, texts, texts))
    return columns


def schema_columns(name: str) -> dict[str, str]:
    """The columns of a table with their types, as its writer published them."""
    return {one["name"]: one["type"] for one in _published()["tables"][name]}


def reason_meanings() -> dict[str, str]:
    """The meaning of each reason code, as a sentence without its full stop."""
    return dict(_published()["reasons"])


def _published() -> dict[str, Any]:
    published = _read_published()
    if published["schema"] != SCHEMA:
        raise RunFolderError(
            f"{_SCHEMA_FILE}: found schema {published['schema']!r}, wanted {SCHEMA}"
        )
    return published


@cache
def _read_published() -> dict[str, Any]:
    published: dict[str, Any] = json.loads(_SCHEMA_FILE.read_text(encoding="utf-8"))
    return published


def _check_constant(table: Table, column: str, wanted: str) -> None:
    for at, found in enumerate(table[column]):
        if found != wanted:
            raise RunFolderError(
                f"{table.path}: found {column} {found!r} in record {at + 1}, "
                f"wanted {wanted!r}"
            )


def _check_numbers(table: Table, column: str, kind: type[int] | type[float]) -> None:
    for text in set(table[column]):
        try:
            kind(text or 0)
        except ValueError as error:
            raise RunFolderError(
                f"{table.path}: found {column} {text!r}, wanted a number or nothing"
            ) from error


def _check_cells(results: Table, *parts: Table) -> None:
    """Exactly one verdict per case and backend; rows of parts only for those."""
    cells: set[tuple[str, str]] = set()
    for cell in zip(results["test_id"], results["backend"]):
        if cell in cells:
            raise RunFolderError(
                f"{results.path}: found two verdicts for {cell[0]} on "
                f"{cell[1]}, wanted one"
            )
        cells.add(cell)
    for table in parts:
        for text in set(table["attempt"]):
            if not text.isdecimal():
                raise RunFolderError(
                    f"{table.path}: found attempt {text!r}, wanted a number"
                )
        for cell in zip(table["test_id"], table["backend"]):
            if cell not in cells:
                raise RunFolderError(
                    f"{table.path}: found {cell[0]} on {cell[1]}, which has no "
                    f"verdict in {results.path.name}"
                )


def _read_summary(path: Path, run_id: str) -> Summary:
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        for key, wanted in (("schema", _SUMMARY_SCHEMA), ("run_id", run_id)):
            if data[key] != wanted:
                raise RunFolderError(
                    f"{path}: found {key} {data[key]!r}, wanted {wanted!r}"
                )
        return _summary(data)
    except (FileNotFoundError, json.JSONDecodeError, UnicodeDecodeError) as error:
        raise RunFolderError(f"{path}: not readable as JSON: {error}") from error
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise RunFolderError(
            f"{path}: key missing or of the wrong kind: {error}; wanted schema, "
            "run_id, exit_code, partial, selection, backends, drift, unexpected"
        ) from error


def _of(kind: type[_Kind], entry: Mapping[str, Any], **others: int | str) -> _Kind:
    """Its fields are texts of the entry under the same names, but for others."""
    names = {field.name for field in fields(kind)} - others.keys()
    return kind(**{name: str(entry[name]) for name in names}, **others)


def _summary(data: Mapping[str, Any]) -> Summary:
    mutants = data["mutants"]
    return Summary(
        exit_code=int(data["exit_code"]),
        is_partial=bool(data["partial"]),
        suites=tuple(map(str, data["selection"]["suites"])),
        query=str(data["selection"]["filter"]),
        tallies=tuple(
            _of(Tally, entry, n_planned=int(entry["planned"]))
            for entry in data["backends"]
        ),
        n_drifted={name: len(ids) for name, ids in data["drift"].items()},
        unexpected=tuple(
            _of(Unexpected, entry, reason_code=str(entry.get("reason_code", "")))
            for entry in data["unexpected"]
        ),
        mutants=Mutants(
            is_assessed=bool(mutants["assessed"]),
            reason=str(mutants.get("reason", "")),
            n_killed=int(mutants["killed"]),
            n_killed_by_all=int(mutants.get("killed_by_all", mutants["killed"])),
            n_total=int(mutants["total"]),
            n_tried=int(mutants.get("tried", mutants["total"])),
            nightly=str(mutants.get("nightly", "")),
            survivors=tuple(map(str, mutants["survivors"])),
        ),
    )
