# SPDX-License-Identifier: Apache-2.0
"""Measures what the judge apart costs: runs with --host apart and in-process.

    python perf/host_bench.py --build build --pairs 5

The two take turns. Printed are medians of the wall and processor time of a run
of the node suite with its page, and the median of the ratios of each pair,
beside the budget, which holds on a quiet machine.
"""

import argparse
import resource
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

BUDGET = 1.2  # apart over in-process
WAYS = ("in-process", "apart")


def run(build: Path, way: str, backends: list[str]) -> tuple[float, float]:
    """Wall and processor seconds of one run, with all that it starts."""
    with tempfile.TemporaryDirectory() as folder:
        command = [build / "bin" / "assay", "run", "--suite", "node"]
        command += ["--host", way, "--out", Path(folder) / "run"]
        for backend in backends:
            command += ["--backend", backend]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        start = time.monotonic()
        subprocess.run(command, check=True, capture_output=True)
        wall = time.monotonic() - start
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return wall, used


def main() -> None:
    """Runs the pairs and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=Path, default=Path("build"))
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--backend", action="append")
    arguments = parser.parse_args()
    backends = arguments.backend or ["reference", "onednn"]
    times = {way: [] for way in WAYS}
    for _ in range(arguments.pairs + 1):  # the first warms the disk
        for way in WAYS:
            times[way].append(run(arguments.build, way, backends))
    print(f"{'':12} {'wall s':>8} {'cpu s':>8}")
    for way in WAYS:
        wall, used = (
            statistics.median(column) for column in zip(*times[way][1:], strict=True)
        )
        print(f"{way:12} {wall:8.2f} {used:8.2f}")
    pairs = list(zip(times["apart"][1:], times["in-process"][1:], strict=True))
    for name, index in (("wall", 0), ("cpu", 1)):
        ratio = statistics.median(a[index] / b[index] for a, b in pairs)
        print(f"{name} apart / in-process: {ratio:.2f} (budget {BUDGET})")


if __name__ == "__main__":
    main()
