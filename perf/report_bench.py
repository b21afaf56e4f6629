# SPDX-License-Identifier: Apache-2.0
"""Measures the HTML page on a made run: size, writing, ready and filter time.

    python perf/report_bench.py --cases 20000 --backends 8

Times in the page are Chromium's own, over several loads from disk; without
Chromium only size and writing are measured. Printed beside the budgets,
which hold on a quiet machine.
"""

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

REPORTS = Path(__file__).parents[1] / "reports"
sys.path[:0] = [str(REPORTS), str(REPORTS / "tests")]

from browser import CHROMIUM, browse  # noqa: E402
from synthetic import whole_run  # noqa: E402

LOADS = 5
QUERIES = (
    "op:Conv and backend:onednn and not outcome:pass",
    "not outcome:pass",
    "message:differ",
    "is:different and (dtype:float16 or opset>=22)",
    "id:node/Conv/*",
    "",
)
# Reloads in one browser: the first load also starts processes of the browser.
PROBE = """
await main();
const seen = JSON.parse(sessionStorage.getItem('seen') ?? '[]');
const ready = performance.getEntriesByName('assay-ready')[0].startTime;
const input = document.getElementById('query');
const filters = %s.map((text) => {
  const before = performance.now();
  input.value = text;
  input.dispatchEvent(new Event('input'));
  document.getElementById('grid').getBoundingClientRect();
  return performance.now() - before;
});
seen.push({ready, filters, nodes: document.querySelectorAll('*').length});
if (seen.length <= %d) {
  sessionStorage.setItem('seen', JSON.stringify(seen));
  location.reload();
  await new Promise(() => {});
}
return seen;
"""


def main() -> None:
    """Makes a run, writes its page, loads it."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--cases", type=int, default=20_000)
    parser.add_argument("--backends", type=int, default=8)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        run = whole_run(options.cases, options.backends).write(Path(scratch) / "run")
        page = Path(scratch) / "report.html"
        print(f"{options.cases:,} cases x {options.backends} backends")
        write(run, page)
        show("page size", page.stat().st_size / 1e6, "MB", "1.5")
        if CHROMIUM is None:
            print("no chromium: ready and filter time are not measured")
        else:
            load(page.read_text(encoding="utf-8"))


def write(run: Path, page: Path) -> None:
    """Times the command as a run ends with it, Python's start included."""
    page_of = [sys.executable, "-m", "assay_report", "page", str(run)]
    command = [*page_of, "--out", str(page)]
    start = time.perf_counter()
    subprocess.run(command, check=True, env=os.environ | {"PYTHONPATH": str(REPORTS)})
    show("writing, wall", time.perf_counter() - start, "s", "5")
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    show("writing, processor", usage.ru_utime + usage.ru_stime, "s", "5")
    show("writing, peak memory", usage.ru_maxrss / 1e3, "MB", "500")


def load(page: str) -> None:
    """Loads the page several times; medians over the loads behind the first."""
    first, *found = browse(page, PROBE % (list(QUERIES), LOADS))
    show("ready, first load of a browser", first["ready"], "ms", "-")
    ready = statistics.median(one["ready"] for one in found)
    show("ready, median of loads", ready, "ms", "500")
    for query, times in zip(QUERIES, zip(*(one["filters"] for one in found))):
        show(f"filter {query or '(empty)'}", statistics.median(times), "ms", "50")
    show("elements in the document", found[-1]["nodes"], "", "1500")


def show(name: str, value: float, unit: str, budget: str) -> None:
    """One line: measured, and what it may be."""
    print(f"  {name:58} {value:9.3f} {unit:2} of {budget}")


if __name__ == "__main__":
    main()
