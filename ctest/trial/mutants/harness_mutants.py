# SPDX-License-Identifier: Apache-2.0
"""Makes the programs with the mutants of our own checkers, runs our tests on each, of
which some test must fail, and on the same programs with no mutant on, which must pass.
Prints a table, and exits with 1 unless every mutant is killed.

    python3 ctest/trial/mutants/harness_mutants.py [--build BUILD] [NAME...]

NAMEs choose some of them, or those of killers. Their outcomes go into
trust/harness_mutants.csv (table mutants) in the build's folder. It has a row for every
mutant of the list; one that has not run yet is of no build.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import io
import os
import shutil
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from gtest_run import TestOutput, TestRun, run_test
from harness_mutant import HarnessMutant, parse_harness_mutants
from tested_tree import TestedTree, host_of, make_mutant_programs, test_of

_ROOT = Path(__file__).resolve().parents[3]
_LIST = Path(__file__).with_name("harness.txt")
_NAMES = "mutant class suite expected_killer killed_by killed case build_id"
_COLUMNS = _NAMES.split()  # of the table mutants
# The identity of a build, as BuildId of framework/file has it.
_JUDGES = ("bin/assay", "bin/assay-host", "bin/assay-worker", "lib/libassay_core.so")

Row = dict[str, str]


@dataclass(frozen=True)
class Job:
    """A test program, which of its tests to run, on which assay program, and with which
    mutant on."""

    name: str
    test: Path
    filter: str
    program: Path
    mutant: str = ""  # empty: none


def _job(name: str, mutant: HarnessMutant, build: Path) -> Job:
    """Tests on a program that has all mutants of their killer in it."""
    changed = build / "mutants" / PurePosixPath(host_of(mutant.killer)).name
    if mutant.killer == "program":
        return Job(name, build / test_of(mutant.killer), mutant.filter, changed)
    return Job(name, changed, mutant.filter, build / "bin" / "assay")


def jobs_of(mutants: list[HarnessMutant], build: Path) -> list[Job]:
    """A job a mutant, and then one for the same tests with none on."""
    jobs = [replace(_job(m.name, m, build), mutant=m.name) for m in mutants]
    once: dict[tuple[str, str], HarnessMutant] = {}
    for mutant in mutants:
        once.setdefault((mutant.killer, mutant.filter), mutant)
    return jobs + [_job(f"right{i}", m, build) for i, m in enumerate(once.values())]


def run_all(jobs: list[Job], build: Path) -> list[TestOutput]:
    """In the order of the jobs. Those that start the assay program, and take seconds,
    run first; two a processor, since they wait for limits of time more than they
    compute. They work outside of the build, which backends must not write into."""
    work = Path(tempfile.mkdtemp(prefix="assay_mutants."))

    def run(job: Job) -> TestOutput:
        return run_test(
            TestRun(work / job.name, job.test, job.filter, job.program, job.mutant)
        )

    plain = build / "bin" / "assay"
    order = sorted(jobs, key=lambda job: job.program == plain)
    with ThreadPoolExecutor(2 * (os.cpu_count() or 1)) as pool:
        outputs = dict(zip(order, pool.map(run, order)))
    shutil.rmtree(work, ignore_errors=True)
    return [outputs[job] for job in jobs]


def row_of(mutant: HarnessMutant, output: TestOutput, build_id: str = "") -> Row:
    killed = output.killed
    values = (
        mutant.name,
        mutant.mutant_class,
        "harness",
        mutant.killer,
        mutant.killer if killed else "",
        "1" if killed else "0",
        output.first_failure if killed else "",
        build_id,
    )
    return dict(zip(_COLUMNS, values))


def table_text(rows: Iterable[Row]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, _COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def put_into_table(
    mutants: list[HarnessMutant], rows: list[Row], build_id: str, table: Path
) -> None:
    """Puts the rows into the table in place of the old ones, of which those of other
    builds are as good as none. A table that stays as it is is not written, and need not
    be read again."""
    known = {mutant.name: row_of(mutant, TestOutput()) for mutant in mutants}
    old = table.read_text(encoding="utf-8") if table.is_file() else ""
    past = csv.DictReader(io.StringIO(old))
    if past.fieldnames == _COLUMNS:
        for row in past:
            if row["build_id"] == build_id and row["mutant"] in known:
                known[row["mutant"]] = row
    known |= {row["mutant"]: row for row in rows}
    text = table_text(known.values())
    if text != old:
        table.parent.mkdir(parents=True, exist_ok=True)
        table.write_text(text, encoding="utf-8")


def _cut(text: str, size: int) -> str:
    return text if len(text) <= size else text[: size - 3] + "..."


def print_table(rows: list[Row]) -> None:
    print(f"{'mutant':<29}{'class':<12}killed by")
    classes: dict[str, list[bool]] = defaultdict(list)
    for row in rows:
        killed = row["killed"] == "1"
        classes[row["class"]].append(killed)
        by = _cut(row["case"], 39) if killed else "nobody"
        print(f"{row['mutant']:<29}{row['class']:<12}{by}")
    print(f"\n{'class':<12}killed of")
    for name, found in sorted(classes.items()):
        print(f"{name:<12}{sum(found)} of {len(found)}")


def build_id_of(build: Path) -> str:
    digests = [hashlib.sha256((build / file).read_bytes()) for file in _JUDGES]
    return hashlib.sha256("".join(d.hexdigest() for d in digests).encode()).hexdigest()


def all_clean(jobs: Iterable[Job], outputs: Iterable[TestOutput]) -> bool:
    """True when every program without a mutant passed, with at least one test."""
    faults = [(j, o) for j, o in zip(jobs, outputs) if not j.mutant and not o.clean]
    for job, output in faults:
        print(
            f"{job.test.name} {job.filter}, with no mutant on, does not pass:"
            f" {output.describe()}"
        )
    return not faults


def try_mutants(names: set[str], build: Path) -> int:
    every = parse_harness_mutants(_LIST.read_text(encoding="utf-8"))
    mutants = [m for m in every if not names or names & {m.name, m.killer}]
    if not mutants:
        raise ValueError("no mutant is chosen")
    make_mutant_programs(TestedTree(_ROOT, build), mutants, build / "mutants")
    jobs = jobs_of(mutants, build)
    outputs = run_all(jobs, build)
    if not all_clean(jobs, outputs):
        return 1
    build_id = build_id_of(build)
    rows = [row_of(m, o, build_id) for m, o in zip(mutants, outputs)]
    print_table(rows)
    survivors = 0
    for mutant, output in zip(mutants, outputs):
        if not output.killed:
            survivors += 1
            print(
                f"{mutant.name} survives {mutant.killer}, {output.describe()}:"
                f" {mutant.because}"
            )
    print(f"{len(rows) - survivors} of {len(rows)} mutants are killed")
    table = build / "trust" / "harness_mutants.csv"
    put_into_table(every, rows, build_id, table)
    print(f"written to {table}")
    return 1 if survivors else 0


def main() -> int:
    parser = argparse.ArgumentParser(description="mutants of our own checkers")
    parser.add_argument("--build", type=Path, default=_ROOT / "build")
    parser.add_argument("names", nargs="*", help="of mutants or killers; none: all")
    options = parser.parse_args()
    try:
        return try_mutants(set(options.names), options.build.resolve())
    except (OSError, ValueError) as error:
        print(f"harness_mutants: {error}", file=sys.stderr)
        return 99


if __name__ == "__main__":
    sys.exit(main())
