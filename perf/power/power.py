# SPDX-License-Identifier: Apache-2.0
"""Measures what a comparison of times finds, and how often it finds what is not there.

    python perf/power/power.py --build build --out build/power --seeds 6

The module slowed is compared with itself, and with costs planted in its kernels, of
which it is known how long they take or that they are there. power.csv has a row for
each cost: the verdicts, the share that is worse, with its interval by Wilson, and how
far ratios are from the truth. A comparison of two that are the same must never say
better or worse; nor may more than 1 in 1,000 that are drawn from those that were
recorded (alarms.h). Exit code 1 is for a false alarm. A slowdown that is not found is
shown: a busy machine may hide it.
"""

import argparse
import csv
import math
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

OPERATORS = (
    "Add/test_add",
    "Relu/test_relu",
    "Softmax/test_softmax_large_number",
    "MatMul/test_matmul_3d",
    "Gemm/test_gemm_default_vector_bias",
    "Conv/test_basic_conv_with_padding",
    "MaxPool/test_maxpool_2d_default",
    "ReduceSum/test_reduce_sum_default_axes_keepdims_random",
    "Transpose/test_transpose_default",
    "LayerNormalization/test_layer_normalization_default_axis",
)
MOST_ALARMS = 1 / 1000
DRAWN = 200_000  # comparisons, for the alarms


@dataclass
class Cost:
    """A cost in the candidate's kernels, beside a base without it."""

    name: str
    base: str = ""
    candidate: str = ""
    truth: float | None = None  # ratio
    threshold: float = 0.01
    rows: list[dict[str, str]] = field(default_factory=list)

    def count(self, verdict: str) -> int:
        """Comparisons that say so."""
        return sum(row["verdict"] == verdict for row in self.rows)


COSTS = (
    Cost("none", truth=1),
    Cost("spin 1 %", "+spin=0", "+spin=1", 1.01, threshold=0.003),
    Cost("spin 3 %", "+spin=0", "+spin=3", 1.03),
    Cost("spin 10 %", "+spin=0", "+spin=10", 1.10),
    Cost("copy", candidate="+copy=1"),
    Cost("allocation", candidate="+allocation=1"),
)


def compare(
    build: Path, cost: Cost, cases: str, seed: int, budget: float, out: Path
) -> None:
    """Adds the rows of one comparison to those of the cost."""
    module = build / "tests" / "slowed.so"
    command = [build / "bin" / "assay", "compare", f"{module}{cost.base}"]
    command += [f"{module}{cost.candidate}", "--filter", cases, "--tier", "nightly"]
    command += ["--seed", seed, "--budget", budget, "--threshold", cost.threshold]
    done = subprocess.run(
        [*map(str, command), "--out", out], capture_output=True, text=True, check=False
    )
    table = out / "compare.csv"
    if done.returncode not in (0, 1) or not table.exists():
        sys.exit(f"power: {done.stdout}{done.stderr}")
    with table.open(newline="") as file:
        rows = list(csv.DictReader(file))
    if not rows:
        sys.exit(f"power: found no case that was compared: {done.stdout}")
    cost.rows += rows


def wilson(found: int, count: int) -> tuple[float, float]:
    """The 95 % interval of a share (E. Wilson, 1927)."""
    if count == 0:
        return 0.0, 1.0
    z = 1.96
    share = found / count
    middle = share + z * z / (2 * count)
    apart = z * math.sqrt(share * (1 - share) / count + z * z / (4 * count * count))
    scale = 1 + z * z / count
    return (middle - apart) / scale, (middle + apart) / scale


def percentile(values: list[float], p: float) -> float:
    """Linearly between neighbours."""
    place = (len(values) - 1) * p
    below = int(place)
    above = min(below + 1, len(values) - 1)
    ordered = sorted(values)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)


def table_row(cost: Cost) -> dict[str, object]:
    """A row of power.csv."""
    ratios = [float(row["ratio"]) for row in cost.rows]
    low, high = wilson(cost.count("worse"), len(cost.rows))
    row: dict[str, object] = {"cost": cost.name, "threshold": cost.threshold}
    row |= {"n": len(cost.rows)}
    row |= {
        verdict: cost.count(verdict)
        for verdict in ("worse", "better", "same", "unsure")
    }
    row |= {"power_lo": round(low, 4), "power_hi": round(high, 4)}
    row |= {"ratio_p50": round(percentile(ratios, 0.5), 5)}
    for name, p in (("error_p50", 0.5), ("error_p95", 0.95), ("error_max", 1.0)):
        errors = [abs(ratio / (cost.truth or 1) - 1) for ratio in ratios]
        row[name] = round(percentile(errors, p), 5) if cost.truth else ""
    return row


def false_alarms(build: Path, tables: list[Path], families: int) -> list[str]:
    """The faults of what is drawn from recorded comparisons, which are printed."""
    command = [build / "bin" / "power_alarms", 0.01, families, *tables]
    done = subprocess.run(
        list(map(str, command)), capture_output=True, text=True, check=True
    )
    faults = []
    for line in done.stdout.splitlines():
        way, drawn, apart, told = line.split()
        print(
            f"drawn by {way}: {drawn}, apart in one set {apart}, better or worse {told}"
        )
        if int(told) > MOST_ALARMS * int(drawn):
            faults.append(f"{told} of {drawn} drawn by {way} are false alarms")
    return faults


def main() -> int:
    """Runs all costs, writes the table, and tells the false alarms."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seeds", type=int, default=6, help="comparisons of each case")
    parser.add_argument("--same", type=int, default=50, help="the same, with no cost")
    parser.add_argument(
        "--budget", type=float, default=2, help="seconds of a comparison"
    )
    parser.add_argument("--cost", action="append", help="these alone, by name")
    options = parser.parse_args()
    build = options.build.resolve()
    options.out.mkdir(parents=True, exist_ok=True)
    cases = " or ".join(f"id:compare/{case}" for case in OPERATORS)
    costs = [cost for cost in COSTS if not options.cost or cost.name in options.cost]
    tables = []
    for seed in range(max(options.seeds, options.same)):
        for cost in costs:
            if seed >= (options.seeds if cost.name != "none" else options.same):
                continue
            folder = (options.out / f"{cost.name}.{seed}".replace(" %", "")).resolve()
            compare(build, cost, cases, seed, options.budget, folder)
            if cost.name == "none":
                tables.append(folder / "compare.csv")
    rows = [table_row(cost) for cost in costs]
    with (options.out / "power.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys(), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    for row in rows:
        print(
            ", ".join(f"{name} {value}" for name, value in row.items() if value != "")
        )
    faults = []
    for cost in costs:
        wrong = cost.count("better") + (cost.count("worse") if cost.truth == 1 else 0)
        if wrong:
            faults.append(
                f"{wrong} false alarms of {len(cost.rows)} with cost {cost.name}"
            )
    if tables:
        faults += false_alarms(build, tables, DRAWN // len(OPERATORS))
    for fault in faults:
        print(f"power: {fault}", file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
