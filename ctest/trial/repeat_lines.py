#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Types the lines that repeat a fail again, of runs on the mutants of a backend.

    ctest/trial/repeat_lines.py BUILD [--every N]

Each N-th mutant of backends/faulty/mutants.txt runs on the cases that it is tried
on. The command of the first case of each outcome and reason that was unexpected is
typed in an empty folder, and has to give the same outcome. Exit codes: 0 each did,
1 one did not, 2 usage.
"""

import argparse
import csv
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[2]
_MUTANT = re.compile(r"mutant (\S+) of \S+ where (.+) killed by (\S+) because ")
_UNEXPECTED = ("fail", "suspect", "xpass", "flaky", "error", "crash", "timeout")


def _run(assay: Path, words: list[str], folder: Path) -> list[dict[str, str]]:
    """The rows of results.csv of a run in that folder."""
    folder.mkdir()
    subprocess.run(
        [str(assay), *words, "--no-report", "--out", "run"],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    with open(folder / "run" / "results.csv", newline="") as file:
        return list(csv.DictReader(file))


def _first_of_each(rows: list[dict[str, str]]) -> Iterator[dict[str, str]]:
    seen: set[tuple[str, str]] = set()
    for row in rows:
        kind = row["outcome"], row["reason_code"]
        if row["outcome"] in _UNEXPECTED and kind not in seen:
            seen.add(kind)
            yield row


def _differs(assay: Path, row: dict[str, str], folder: Path) -> str:
    """The outcome of the command of a row, where it is another."""
    program, *words = shlex.split(row["repro"])
    again = _run(assay, words, folder) if program == "assay" else []
    for other in again:
        if other["test_id"] == row["test_id"]:
            return "" if other["outcome"] == row["outcome"] else other["outcome"]
    return "no such case"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=Path)
    parser.add_argument("--every", type=int, default=8)
    options = parser.parse_args()
    assay = options.build.resolve() / "bin" / "assay"
    text = (_ROOT / "backends" / "faulty" / "mutants.txt").read_text()
    mutants = [
        found.groups() for found in map(_MUTANT.match, text.splitlines()) if found
    ]
    n_lines = n_faults = 0
    with tempfile.TemporaryDirectory() as work:
        for name, query, _ in mutants[:: options.every]:
            folder = Path(work) / name.replace("/", "_")
            backend = f"faulty+mutant={name}"
            words = ["run", "--backend", backend, "--filter", query]
            rows = _run(assay, words, folder)
            for row in _first_of_each(rows):
                n_lines += 1
                found = _differs(assay, row, folder / f"again{n_lines}")
                if found:
                    n_faults += 1
                    print(f"{row['outcome']}, again {found}: {row['repro']}")
    print(f"{n_lines} lines, {n_faults} of them give another outcome")
    return 1 if n_faults or not n_lines else 0


if __name__ == "__main__":
    sys.exit(main())
