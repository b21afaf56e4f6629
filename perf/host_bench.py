# SPDX-License-Identifier: Apache-2.0
"""Measures what the judge apart costs: runs with --host apart and in-process.

    python perf/host_bench.py --build build --pairs 3

The two take turns. Printed are medians of the wall time of a run of tier ci with
its page, the first of a machine, which asks the oracle, and one after it, which
finds the answers kept; and the median of the ratios of each pair, beside the
budget, which holds on a quiet machine. For processor time take `perf stat`: that
of hosts behind walls is not in what a parent is told of its children.
"""

import argparse
import os
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

BUDGET = 1.2  # apart over in-process
WAYS = ("in-process", "apart")


def run(build: Path, way: str, backend: str, kept: Path) -> float:
    """Wall seconds of one run."""
    with tempfile.TemporaryDirectory() as folder:
        command = [build / "bin" / "assay", "run", "--tier", "ci", "--host", way]
        command += ["--backend", backend, "--out", Path(folder) / "run"]
        environment = os.environ | {"XDG_CACHE_HOME": str(kept)}
        start = time.monotonic()
        subprocess.run(command, check=True, capture_output=True, env=environment)
        return time.monotonic() - start


def show(title: str, times: dict[str, list[float]]) -> None:
    """Prints the medians of both ways, and of the ratios of each pair."""
    print(title)
    for way in WAYS:
        print(f"  {way:20} {statistics.median(times[way]):6.2f} s")
    pairs = zip(times["apart"], times["in-process"], strict=True)
    ratio = statistics.median(apart / in_process for apart, in_process in pairs)
    print(f"  {'apart / in-process':20} {ratio:6.2f} (budget {BUDGET})")


def main() -> None:
    """Runs the pairs and prints the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=Path, default=Path("build"))
    parser.add_argument("--pairs", type=int, default=3)
    parser.add_argument("--backend", default="reference")
    arguments = parser.parse_args()
    first, again = ({way: [] for way in WAYS} for _ in range(2))
    for _ in range(arguments.pairs):
        for way in WAYS:
            with tempfile.TemporaryDirectory() as kept:
                for times in (first, again):
                    times[way].append(
                        run(arguments.build, way, arguments.backend, Path(kept))
                    )
    show("first run", first)
    show("answers kept", again)


if __name__ == "__main__":
    main()
