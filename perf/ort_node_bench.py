# SPDX-License-Identifier: Apache-2.0
"""The node suite: a backend of ours beside ONNX Runtime and ONNX's evaluator.

    python perf/ort_node_bench.py [--backend reference] [--repeats 5]

needs onnxruntime, onnx and numpy (in a venv of their own), and build/ made with
ASSAY_BUILD_BENCHMARKS for ONNX Runtime called through its C ABI. All do the
cases that all pass: read model and data, prepare, run once, compare with what
the corpus expects under the case's own tolerance. Ours is `assay run` with one
worker, which also writes its tables; theirs are this file with --cases, and
ort_c_bench; one thread each. Whole processes, from start to exit, in turn;
printed are seconds, median (least to greatest), processor time, which a loaded
machine disturbs less, and the ratios of ours to theirs. Nothing is asserted.
"""

import argparse
import csv
import hashlib
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
import onnx
import onnxruntime as ort
from onnx import numpy_helper

ROOT = Path(__file__).parents[1]
SIDES = {"python": "ONNX Runtime from Python", "evaluator": "ONNX's evaluator"}


def read_value(path: Path, kind: onnx.TypeProto) -> object:
    """A tensor, sequence or optional file as ONNX Runtime takes it."""
    data = path.read_bytes()
    which = kind.WhichOneof("value")
    if which == "sequence_type":
        return numpy_helper.to_list(onnx.SequenceProto.FromString(data))
    if which == "optional_type":
        return numpy_helper.to_optional(onnx.OptionalProto.FromString(data))
    return numpy_helper.to_array(onnx.TensorProto.FromString(data))


def close(got: object, want: object, case: dict) -> bool:
    """True where they agree in type, shape and values."""
    if isinstance(want, list):
        return (isinstance(got, list) and len(got) == len(want)
                and all(map(close, got, want, [case] * len(want))))
    if want is None or got is None:
        return got is want
    got, want = np.asarray(got), np.asarray(want)
    if got.shape != want.shape or got.dtype != want.dtype:
        return False
    if case["comparator"] != "tolerance":
        return bool(np.array_equal(got, want))
    return np.allclose(got, want, case["rtol"], case["atol"], equal_nan=True)


class Python:
    """A runtime driven from Python."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.options = ort.SessionOptions()
        self.options.intra_op_num_threads = 1
        self.options.inter_op_num_threads = 1
        self.options.log_severity_level = 4

    def prepare(self, path: Path, model: onnx.ModelProto) -> object:
        """A session with run(None, feed)."""
        if self.name == "evaluator":
            warnings.filterwarnings("ignore", category=RuntimeWarning)
            from onnx.reference import ReferenceEvaluator
            return ReferenceEvaluator(model)
        return ort.InferenceSession(str(path), self.options,
                                    providers=["CPUExecutionProvider"])

    def passes(self, case: dict, corpus: Path) -> bool:
        """Runs a case from its files."""
        folder = corpus / case["directory"]
        model = onnx.load(folder / "model.onnx")
        network = self.prepare(folder / "model.onnx", model)
        stored = {i.name for i in model.graph.initializer}
        kinds = {v.name: v.type for v in model.graph.input
                 if v.name not in stored}
        wanted = [v.type for v in model.graph.output]
        for index in range(case["n_data_sets"]):
            data = folder / f"test_data_set_{index}"
            feed = {name: read_value(data / f"input_{i}.pb", kind)
                    for i, (name, kind) in enumerate(kinds.items())}
            for i, got in enumerate(network.run(None, feed)):
                want = read_value(data / f"output_{i}.pb", wanted[i])
                if not close(got, want, case):
                    return False
        return True

    def passed(self, cases: list[dict], corpus: Path) -> list[str]:
        """The test_ids of the cases that it passes."""
        passed = []
        for case in cases:
            try:
                if self.passes(case, corpus):
                    passed.append(case["test_id"])
            except Exception:  # whatever it throws is no pass
                pass
        return passed


def c_abi(build: Path) -> list[Path] | None:
    """The command, but for the corpus; None where it was not built."""
    program = build / "bin" / "ort_c_bench"
    found = sorted(Path(ort.__file__).parent.glob(
        "capi/libonnxruntime.so.*"))
    return [program, found[0]] if program.exists() and found else None


class Timer:
    """Seconds of processes: by the clock, and of processors."""

    def __init__(self) -> None:
        self.wall: list[float] = []
        self.cpu: list[float] = []

    def run(self, command: list[str | Path]) -> None:
        """Runs a process to its end."""
        start, before = time.perf_counter(), self._cpu()
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
        self.wall.append(time.perf_counter() - start)
        self.cpu.append(self._cpu() - before)

    def _cpu(self) -> float:
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return used.ru_utime + used.ru_stime

    def __str__(self) -> str:
        return (f"{statistics.median(self.wall):6.2f} s "
                f"({min(self.wall):.2f} to {max(self.wall):.2f}), "
                f"of processors {statistics.median(self.cpu):.2f} s")


def subset(manifest: dict, test_ids: set[str], corpus: Path, to: Path) -> None:
    """A corpus of these cases only, their files linked."""
    cases = [c for c in manifest["cases"] if c["test_id"] in test_ids]
    to.mkdir()
    lines = [json.dumps(case, separators=(",", ":")) for case in cases]
    header = {key: manifest[key] for key in ("schema", "name", "drift")}
    header["n_cases"] = len(cases)
    header["corpus_hash"] = hashlib.sha256(
        "".join(line + "\n" for line in lines).encode()).hexdigest()
    (to / "manifest.json").write_text(
        json.dumps(header)[:-1] + ',\n"cases": [\n' + ",\n".join(lines)
        + "\n]\n}\n")
    for name in os.listdir(corpus):
        if (corpus / name).is_dir():
            (to / name).symlink_to(corpus / name)


def passed_by(run: Path) -> set[str]:
    """The test_ids that a run folder of ours says pass."""
    with (run / "results.csv").open(newline="") as file:
        return {row["test_id"] for row in csv.DictReader(file)
                if row["outcome"] == "pass"}


def compare(options: argparse.Namespace, work: Path) -> None:
    """Finds the cases that all pass, and times all on them."""
    corpus = (options.build / "corpus" / "onnx").resolve()
    manifest = json.loads((corpus / "manifest.json").read_text())
    cases = [c for c in manifest["cases"] if c["test_id"].startswith("node/")]
    run = [(options.build / "bin" / "assay").resolve(), "run", "--backend",
           options.backend, "--suite", "node", "--no-report", "--jobs", "1"]
    subprocess.run([*run, "--out", work / "all"], stdout=subprocess.DEVNULL,
                   check=False)
    every = passed_by(work / "all")
    print(f"of {len(cases)} cases {options.backend} passes {len(every)}")
    subset(manifest, {c["test_id"] for c in cases}, corpus, work / "nodes")
    commands = {}
    for name, title in SIDES.items():
        ids = Python(name).passed(cases, corpus)
        every &= set(ids)
        print(f"{title} {len(ids)}")
        commands[title] = [sys.executable, __file__, "--side", name, "--cases"]
    if (program := c_abi(options.build)) is not None:
        listed = subprocess.run([*program, work / "nodes", "--list"],
                                capture_output=True, text=True, check=True)
        every &= set(listed.stdout.split())
        print(f"ONNX Runtime by its C ABI {len(listed.stdout.split())}")
        commands["ONNX Runtime by its C ABI"] = program
    print(f"onnxruntime {ort.__version__}, onnx {onnx.__version__}; all pass "
          f"{len(every)}")
    subset(manifest, every, corpus, work / "each")
    mine = Timer()
    theirs = {title: Timer() for title in commands}
    for i in range(options.repeats):
        out = work / f"run{i}"
        mine.run([*run, "--corpus", work / "each", "--out", out])
        if passed_by(out) != every:
            sys.exit("other cases pass in the timed run")
        for title, command in commands.items():
            theirs[title].run([*command, work / "each"])
    print(f"{options.backend:26} {mine}")
    for title, timer in theirs.items():
        wall = statistics.median(mine.wall) / statistics.median(timer.wall)
        cpu = statistics.median(mine.cpu) / statistics.median(timer.cpu)
        print(f"{title:26} {timer}; ratio {wall:.2f}, of processor time "
              f"{cpu:.2f}")


def main() -> None:
    """Compares; or, with --cases, is one side."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=Path, default=ROOT / "build")
    parser.add_argument("--backend", default="reference")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--cases", type=Path, help="run one side on these")
    parser.add_argument("--side", choices=SIDES)
    options = parser.parse_args()
    if options.cases is not None:
        cases = json.loads((options.cases / "manifest.json").read_text())[
            "cases"]
        if len(Python(options.side).passed(cases, options.cases)) != len(cases):
            sys.exit("other cases pass in the timed run")
        return
    with tempfile.TemporaryDirectory() as folder:
        compare(options, Path(folder))


if __name__ == "__main__":
    main()
