# SPDX-License-Identifier: Apache-2.0
"""Run folders made by hand and by chance, for tests and for the benchmark.

files = RunFiles(["alpha"])
files.add("node/Relu/test_relu", "alpha", "pass")
files.write(folder)

chance_run(cases=20_000, backends=8).write(folder)
"""

import csv
import itertools
import json
import math
import random
import tempfile
from collections import Counter
from pathlib import Path

from assay_report.page import render_page
from assay_report.run_folder import TABLES, Run, read_run, schema_columns
from assay_report.verdict import OUTCOMES

RUN_ID = "20260301T120000Z-5a5a"
OPERATORS = (
    *("Abs", "Add", "And", "ArgMax", "Attention", "AveragePool", "BatchNorm"),
    *("Cast", "Clip", "Concat", "Conv", "ConvTranspose", "CumSum", "Div", "Einsum"),
    *("Equal", "Erf", "Exp", "Expand", "Flatten", "Gather", "Gelu", "Gemm", "If"),
    *("LSTM", "LayerNorm", "Log", "Loop", "MatMul", "MaxPool", "Mod", "Mul", "Pad"),
    *("Pow", "QuantizeLinear", "ReduceMean", "ReduceSum", "Relu", "Reshape"),
    *("Resize", "Scan", "ScatterND", "Shape", "Sigmoid", "Slice", "Softmax"),
    *("Split", "Sqrt", "StringConcat", "Sub", "TopK", "Transpose", "Unique"),
    *("Where", "ml.TreeEnsemble"),
)
# The columns of a row where a test says nothing else. A gradient and a step pass at
# half of their limits; four ranks are all as they should be.
_ROWS = {
    "runs": "schema=1; started_utc=2026-03-01T12:00:00Z; duration_s=42.5; dirty=0; "
    "assay_version=0.1.0; env_id=e0; seed=1; tier=ci; complete=1; "
    "commit=0123456789abcdef0123456789abcdef01234567",
    "backends": "settings=cpu:f32:all:1; version=1.0; device=cpu",
    "results": "opset=21; dtype=float32; vacuous=0",
    "plan": "corpus=onnx; kind=node; comparator=tolerance; claimed=0; directory=x; "
    "ranks=0",
    "accuracy": "output_index=0; output_name=y; dtype=float32; shape=[3,4,5]; "
    "n_elem=60; reference=expected",
    "attempts": "",
    "gradients": "domain=ai.onnx; input=x; input_index=0; shape=[2,3]; n_in=6; "
    "n_out=6; class=smooth; cotangent=random 1; headroom=0.5; limit=0.001; "
    "worst_index=4; want=1; got=1.0005; nan_mismatch=0; unknown=0; kink_count=0; "
    "outcome=pass",
    "optimizer_steps": "mode=locked; step=1; tensor=w; l2_diff=0.002; "
    "linf_diff=0.0005; limit=0.001; outcome=pass",
    "time": "inner_iters=1; n_samples=40; warmup_iters=9; n_outlier_mild=0; "
    "n_outlier_severe=0; stop_reason=half_width; noisy=0",
    "distributed": "ranks=4; mode=exact; differing_bits=0; hash=77; bytes_sent=96; "
    "bytes_formula=96; messages=24; messages_formula=24; run_us=5; seed=0",
}
# Without a line of a policy, which a test that has one adds by itself.
_UNEXPECTED = (
    *("fail", "suspect", "xpass", "flaky", "error", "crash", "timeout"),
    "missing",
)


def _row(table: str) -> dict[str, str]:
    return dict(one.split("=", 1) for one in _ROWS[table].split("; ") if one)


class RunFiles:
    """The files of one run; `write` fills in the counts of runs.csv."""

    def __init__(self, backends: list[str]) -> None:
        self.tables: dict[str, list[dict[str, str]]] = {name: [] for name in TABLES}
        # Tables that are no run's own, by name; the first row has all columns.
        self.beside: dict[str, list[dict[str, str]]] = {}
        self.run = _row("runs") | {
            "run_id": RUN_ID,
            "corpus_hash": "c0ffee" * 8,
            "policy_hash": "5eed" * 12,
            "command": "assay run --tier ci --backend " + " ".join(backends),
        }
        self.reasons = dict.fromkeys(backends, ("not conformant", "no claims"))
        self.unexpected: list[dict[str, str]] = []
        self.summary_edits: dict[str, object] = {}
        self.tables["backends"] = [
            {"run_id": RUN_ID, "backend": name, "module_sha256": "ab" * 32}
            | _row("backends")
            for name in backends
        ]
        environment = ("cpu", "a processor, 2 cores"), ("os", "Debian 12")
        self.tables["env"] = [
            {"env_id": "e0", "key": key, "value": value}
            for key, value in (*environment, ("compiler", "g++ 12.2.0"))
        ]

    def add(self, test_id: str, backend: str, outcome: str, **columns: str) -> None:
        """One verdict; what is unexpected also enters summary.json."""
        of_plan = {name: columns.pop(name) for name in _row("plan") if name in columns}
        key = {"test_id": test_id, "backend": backend}
        self.tables["plan"].append(key | _row("plan") | of_plan)
        suite, op = test_id.split("/")[:2]
        repro = f"assay run --backend {backend} --filter id:{test_id}"
        own = {"suite": suite, "op": op, "outcome": outcome, "repro": repro}
        self._append("results", test_id, backend, own | columns)
        if outcome in _UNEXPECTED:
            said = {"outcome": outcome, "reason": columns.get("message", "")}
            self.unexpected.append(key | said)

    def add_output(self, test_id: str, backend: str, **columns: str) -> None:
        """One row of accuracy.csv."""
        self._append("accuracy", test_id, backend, columns)

    def add_attempt(self, test_id: str, backend: str, **columns: str) -> None:
        """One row of attempts.csv."""
        self._append("attempts", test_id, backend, columns)

    def add_gradient(self, test_id: str, backend: str, **columns: str) -> None:
        """One row of gradients.csv."""
        _, _, variant = test_id.partition("#")
        input_class, _, dtype = variant.partition(".")
        own = {"op": test_id.split("/")[1], "dtype": dtype, "input_class": input_class}
        self._append("gradients", test_id, backend, own | columns)

    def add_step(self, test_id: str, backend: str, **columns: str) -> None:
        """One row of optimizer_steps.csv."""
        self._append("optimizer_steps", test_id, backend, columns)

    def add_ranks(self, test_id: str, backend: str, **columns: str) -> None:
        """One row of distributed.csv."""
        _, op, rest = test_id.split("/", 2)
        own = {"collective": f"{op}/{rest.partition('.')[0]}", "transport": backend}
        self._append("distributed", test_id, backend, own | columns)

    def add_time(self, test_id: str, backend: str, phase: str, **columns: str) -> None:
        """One row of time.csv."""
        self._append("time", test_id, backend, {"phase": phase} | columns)

    def _append(
        self, table: str, test_id: str, backend: str, columns: dict[str, str]
    ) -> None:
        key = {"schema": "1", "run_id": self.run["run_id"], "attempt": "1"}
        key |= {"test_id": test_id, "backend": backend, "settings": "cpu:f32:all:1"}
        self.tables[table].append(key | _row(table) | columns)

    def summary(self) -> dict[str, object]:
        """The content of summary.json."""
        planned = Counter(row["backend"] for row in self.tables["results"])
        return {
            "schema": "assay.summary/1",
            "run_id": self.run["run_id"],
            "exit_code": 1 if self.unexpected else 0,
            "partial": False,
            "selection": {"filter": "", "suites": [], "tier": "ci"},
            "drift": {"onnx": []},
            "backends": [
                {"backend": name, "corpus": "onnx", "planned": planned[name]}
                | {"equation": f"{planned[name]} = ...", "verdict": verdict}
                | {"reason": reason}
                for name, (verdict, reason) in self.reasons.items()
            ],
            "unexpected": self.unexpected,
            "mutants": mutants_of(3, 3) | {"build_id": "0" * 64},
        } | self.summary_edits

    def write(self, folder: Path) -> Path:
        """Writes all files; returns the folder."""
        results = self.tables["results"]
        counts = Counter(row["outcome"] for row in results)
        run = {f"n_{name}": str(counts[name]) for name in OUTCOMES}
        run["n_planned"] = str(len(results))
        run["n_vacuous"] = str(
            sum(r["vacuous"] == "1" and r["outcome"] == "pass" for r in results)
        )
        self.tables["runs"] = [run | self.run]
        folder.mkdir(parents=True, exist_ok=True)
        for name, rows in self.tables.items():
            described = "results" if name == "attempts" else name
            header = [*schema_columns(described), "a_column_of_tomorrow"]
            with (folder / f"{name}.csv").open("w", newline="") as file:
                writer = csv.DictWriter(file, header, "", lineterminator="\n")
                writer.writeheader()
                writer.writerows(rows)
        for name, rows in self.beside.items():
            with (folder / f"{name}.csv").open("w", newline="") as file:
                writer = csv.DictWriter(file, [*rows[0]], lineterminator="\n")
                writer.writeheader()
                writer.writerows(rows)
        (folder / "summary.json").write_text(json.dumps(self.summary()))
        return folder

    def read(self) -> Run:
        """The run that these files are."""
        with tempfile.TemporaryDirectory() as scratch:
            return read_run(self.write(Path(scratch)))

    def page(self) -> str:
        """The page of that run."""
        return render_page(self.read())


def mutants_of(killed: int, total: int, **others: object) -> dict[str, object]:
    """The part of summary.json on mutants: assessed, none survived."""
    counts = {"killed": killed, "killed_by_all": killed, "total": total}
    return {"assessed": True, **counts, "survivors": [], **others}


def chance_run(cases: int, backends: int, seed: int = 1) -> RunFiles:
    """A run with the habits of a real one: passes and declined operators."""
    chance = random.Random(seed)
    known = ("reference", "onednn", "onnxruntime", "openvino", "libtorch")
    names = [*known, *(f"vendor{n}" for n in range(backends))][:backends]
    files = RunFiles(names)
    declined = {
        name: set(chance.sample(OPERATORS, int(len(OPERATORS) * share)))
        for name, share in zip(names, (0.02, 0.55, 0.05, 0.25, 0.3, 0.4, 0.1, 0.6))
    }
    for number in range(cases):
        op = OPERATORS[number * len(OPERATORS) // cases]
        test_id = f"node/{op}/test_{op.lower()}_{_words(chance)}_{number}"
        case = {
            "op": op,
            "opset": str(chance.choice((13, 18, 21, 22, 24))),
            "dtype": chance.choice(("float32", "float32", "float16", "int64")),
            "vacuous": "1" if chance.random() < 0.01 else "0",
            "seed": str(chance.getrandbits(32)),
            "shape_sig": "[3,4,5]",
            "limit_source": "corpus",
        }
        shape = f"[{chance.randint(1, 9)},{chance.randint(1, 64)}]"
        cost_us = math.exp(chance.gauss(3, 1))
        for name in names:
            is_declined = op in declined[name]
            outcome, columns = _chance_verdict(chance, case, cost_us, is_declined)
            repro = (
                f"assay run --backend {name} --corpus onnx --filter 'id:{test_id}' "
                f"--seed {case['seed']}"
            )
            files.add(test_id, name, outcome, **case, **columns, repro=repro)
            if outcome in ("pass", "fail"):
                output = _chance_output(chance, outcome, case["dtype"])
                common = {"dtype": case["dtype"], "limit_source": "corpus"}
                files.add_output(test_id, name, shape=shape, **common, **output)
    return files


def add_times(
    files: RunFiles, test_id: str, backend: str, chance: random.Random, ns: float
) -> None:
    """The rows of a case whose warm call takes so long, give and take."""
    phases = {"load": 40.0, "create": 0.5, "first": 9.0, "warm": 1.0, "cold": 2.4}
    for phase, share in (phases | {"destroy": 2.0}).items():
        middle = ns * share * math.exp(chance.gauss(0, 0.3))
        spread = middle * abs(chance.gauss(0, 0.03))
        at = {"min": -2.0, "p25": -1, "median": 0, "p75": 1, "p90": 3, "p99": 8}
        times = {f"{name}_ns": middle + spread * by for name, by in at.items()}
        times |= {"ci95_lo_ns": middle - spread / 3, "ci95_hi_ns": middle + spread / 3}
        times |= {"max_ns": middle + 11 * spread, "mean_ns": middle + spread / 7}
        times |= {"stdev_ns": spread, "lag1_autocorr": chance.gauss(0, 0.2)}
        own = {name: f"{value:.5g}" for name, value in times.items()}
        own["n_samples"] = str(chance.randint(8, 400))
        own["n_outlier_mild"] = str(chance.randint(0, 12))
        if phase in ("warm", "cold"):
            intensity = math.exp(chance.gauss(0, 2))
            bytes_ = ns * math.exp(chance.gauss(1, 1))
            rates = {"flops": intensity * bytes_, "bytes": bytes_}
            rates |= {"gflop_s": intensity * bytes_ / middle, "gb_s": bytes_ / middle}
            rates |= {"intensity": intensity, "roof_frac": chance.random()}
            rates |= {"instructions": chance.randint(900, 10**7)}
            own |= {name: f"{value:.5g}" for name, value in rates.items()}
        own["noisy"] = "1" if chance.random() < 0.05 else "0"
        files.add_time(test_id, backend, phase, **own)


def timed_run(cases: int, backends: int, seed: int = 1) -> RunFiles:
    """A run of the suite time over all operators, with suspects and fails."""
    chance = random.Random(seed)
    files = RunFiles(["reference", "onednn", *(f"vendor{n}" for n in range(backends))])
    names = list(files.reasons)[:backends]
    files = RunFiles(names)
    for number in range(cases):
        op = OPERATORS[number * len(OPERATORS) // cases]
        test_id = f"time/{op}/test_{op.lower()}_{_words(chance)}_{number}"
        cost = math.exp(chance.gauss(9, 2))
        for at, name in enumerate(names):
            draw = chance.random()
            outcome = "suspect" if draw < 0.02 else "fail" if draw < 0.04 else "pass"
            files.add(test_id, name, outcome, corpus="time", kind="node")
            add_times(files, test_id, name, chance, cost * (1 + at))
    return files


def add_pairs(files: RunFiles, cases: int, seed: int = 1) -> None:
    """A comparison of two backends, and the overhead of one."""
    chance = random.Random(seed)
    words = ("same", "worse", "better", "unsure")
    compared, overhead = [], []
    for number in range(cases):
        op = OPERATORS[number * len(OPERATORS) // cases]
        key = {"test_id": f"compare/{op}/test_{op.lower()}_{number}"}
        word = chance.choices(words, (6, 1, 1, 3))[0]
        about = {"same": 0.0, "worse": 0.15, "better": -0.1, "unsure": 0.02}[word]
        log = about * math.exp(chance.gauss(0, 0.5)) + chance.gauss(0, 0.004)
        width = abs(chance.gauss(0, 0.004)) + (0.06 if word == "unsure" else 0.003)
        ends = [f"{math.exp(log + by):.6g}" for by in (0, -width, width)]
        base = math.exp(chance.gauss(9, 2))
        compared.append(
            {**key, "backend": "alpha+opt=1", "base": "alpha", "verdict": word}
            | dict(zip(("ratio", "ci95_lo", "ci95_hi"), ends))
            | {"base_ns": f"{base:.5g}", "candidate_ns": f"{base * math.exp(log):.5g}"}
            | {"n_blocks": str(chance.randint(40, 400)), "second_ratio": ends[0]}
            | {"noisy": "1" if chance.random() < 0.1 else "0"}
        )
        ratio = 1 + abs(chance.gauss(0, 0.004))
        ends = [f"{ratio + by:.6g}" for by in (0, -0.002, 0.003)]
        overhead.append(
            {**key, "backend": "alpha", "native_median_ns": f"{base:.5g}"}
            | {"framework_median_ns": f"{base * ratio:.5g}", "n_pairs": "200"}
            | dict(zip(("paired_ratio", "ratio_ci95_lo", "ratio_ci95_hi"), ends))
        )
    files.beside |= {"compare": compared, "overhead": overhead}


def whole_run(cases: int, backends: int) -> RunFiles:
    """A run with every section that a page can have, of the sizes of a real one."""
    files = chance_run(cases, backends)
    names = list(files.reasons)
    for at, op in enumerate((*OPERATORS, "block", "light")):
        types = ("float16", "bfloat16", "float32", "float64")
        for backend, dtype in itertools.product(names, types):
            test_id = f"gradcheck/{op}/test_{at}#redrawn.{dtype}"
            failed = (at + names.index(backend)) % 9 == 0
            outcome = ("fail" if at < 9 else "xfail") if failed else "pass"
            files.add(test_id, backend, outcome, op=op, reason_code="fail_backward")
            units = {"outcome": "fail", "headroom": "-9"} if failed else {}
            kink = {"kink_convention": "0", "kink_count": "3"} if at % 3 == 0 else {}
            files.add_gradient(test_id, backend, **units, **kink)
    chance = random.Random(1)
    for op, backend in itertools.product(OPERATORS, names[:2]):
        test_id = f"time/{op}/test_timed"
        files.add(test_id, backend, "pass")
        add_times(files, test_id, backend, chance, math.exp(chance.gauss(9, 2)))
    add_pairs(files, 10)
    for preset, net, step in itertools.product(range(30), range(10), (1, 7, 90)):
        for backend in names[:2]:
            test_id = f"optimizer/rule{preset}/paper.net{net}#locked.float32"
            if step == 1:
                files.add(test_id, backend, "pass")
            files.add_step(test_id, backend, step=str(step))
    for scheme, ranks in itertools.product(range(12), (2, 4, 8, 16, 32)):
        for backend in names[:2]:
            test_id = f"distributed/scheme{scheme}/ring#n{ranks}"
            files.add(test_id, backend, "fail" if ranks == 8 else "pass")
            files.add_ranks(
                *(test_id, backend),
                **{"scheme": f"scheme{scheme}", "topology": "ring", "steps": "5"},
                **{"ranks": str(ranks), "consensus": "0.5", "contraction_err": "0"},
            )
    return files


def _chance_verdict(
    chance: random.Random, case: dict[str, str], cost_us: float, is_declined: bool
) -> tuple[str, dict[str, str]]:
    """An outcome, and its other columns of results.csv."""
    op = case["op"]
    times = {
        "load_us": str(int(cost_us * 4 * math.exp(chance.gauss(0, 0.3)))),
        "run_us": str(int(cost_us * math.exp(chance.gauss(0, 0.3)))),
        "judge_us": str(int(5 * math.exp(chance.gauss(0, 0.3)))),
        "peak_rss_kb": str(chance.randint(30, 36) * 1024),
    }
    if is_declined:
        message = f"no implementation of {op} for opset {case['opset']}"
        return "unsupported", {"reason_code": "operator", "message": message}
    draw = chance.random()
    if draw < 0.012:
        message = f"output y: {chance.randint(1, 60)} of 60 elements differ"
        return "fail", {**times, "reason_code": "value", "message": message}
    if draw < 0.0125:
        message = "signal 11 while running"
        return "crash", {**times, "reason_code": "signal", "message": message}
    return "pass", times


def _chance_output(chance: random.Random, outcome: str, dtype: str) -> dict[str, str]:
    """The numbers of a row of accuracy.csv."""
    if outcome == "pass" and (dtype == "int64" or chance.random() < 0.4):
        return {"bitwise_equal": "1", "max_abs_err": "0"}
    want = chance.gauss(0, 3)
    error = abs(want) * 10 ** chance.uniform(-8, -6) + 1e-9
    if outcome == "fail":
        error = abs(want) * 10 ** chance.uniform(-3, 0) + 1e-3
    limit = 1e-3 * abs(want) + 1e-7
    return {
        **dict.fromkeys(("bitwise_equal", "nan_mismatch", "inf_mismatch"), "0"),
        "out_of_limit": str(chance.randint(1, 60)) if outcome == "fail" else "0",
        "max_abs_err": repr(error),
        "max_rel_err": repr(error / abs(want)),
        "max_ulp": str(math.ceil(error / abs(want) * 2**23)),
        "worst_index": str(chance.randint(0, 59)),
        "worst_want": repr(want),
        "worst_got": repr(want + error),
        "limit": repr(limit),
        "headroom": repr(1 - error / limit),
    }


def _words(chance: random.Random) -> str:
    words = ("default", "axis", "expanded", "ver18", "3d", "bcast", "neg", "example")
    return "_".join(chance.sample(words, 2))
