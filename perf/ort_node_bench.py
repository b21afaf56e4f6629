# SPDX-License-Identifier: Apache-2.0
"""The node suite: a backend of ours beside ONNX Runtime driven from Python.

    python perf/ort_node_bench.py [--backend reference] [--repeats 5]

needs onnxruntime, onnx and numpy (in a venv of their own). Both do the cases
that both pass: read model and data, prepare, run once, compare with what the
corpus expects under the case's own tolerance. Ours is `assay run`, which also
writes its tables; theirs is this file with --cases, one thread. Whole
processes, from start to exit, in turn; printed are seconds, median (least to
greatest), processor time, which a loaded machine disturbs less, and the ratios
of the medians. Nothing is asserted.
"""

import argparse
import csv
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import onnx
import onnxruntime as ort
from onnx import numpy_helper

ROOT = Path(__file__).parents[1]


def read_value(path: Path, kind: onnx.TypeProto) -> object:
    """A tensor, sequence or optional file as ONNX Runtime takes it."""
    data = path.read_bytes()
    which = kind.WhichOneof("value")
    if which == "sequence_type":
        sequence = onnx.SequenceProto()
        sequence.ParseFromString(data)
        return numpy_helper.to_list(sequence)
    if which == "optional_type":
        optional = onnx.OptionalProto()
        optional.ParseFromString(data)
        return numpy_helper.to_optional(optional)
    tensor = onnx.TensorProto()
    tensor.ParseFromString(data)
    return numpy_helper.to_array(tensor)


def close(got: object, want: object, case: dict) -> bool:
    """Whether they agree in type, shape and values."""
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


def passes(case: dict, corpus: Path, options: ort.SessionOptions) -> bool:
    """Runs a case from its files."""
    folder = corpus / case["directory"]
    model = onnx.load(folder / "model.onnx")
    session = ort.InferenceSession(
        str(folder / "model.onnx"), options,
        providers=["CPUExecutionProvider"])
    fed = [i.name for i in session.get_inputs()]
    kinds = {v.name: v.type for v in model.graph.input}
    wanted = [v.type for v in model.graph.output]
    for index in range(case["n_data_sets"]):
        data = folder / f"test_data_set_{index}"
        feed = {name: read_value(data / f"input_{i}.pb", kinds[name])
                for i, name in enumerate(kinds) if name in fed}
        for i, got in enumerate(session.run(None, feed)):
            want = read_value(data / f"output_{i}.pb", wanted[i])
            if not close(got, want, case):
                return False
    return True


def run_ort(cases: list[dict], corpus: Path) -> list[str]:
    """The test_ids of the cases that ONNX Runtime passes."""
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 4
    passed = []
    for case in cases:
        try:
            if passes(case, corpus, options):
                passed.append(case["test_id"])
        except Exception:  # whatever it throws is no pass
            pass
    return passed


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
    (to / "manifest.json").write_text(
        json.dumps(manifest | {"cases": cases, "n_cases": len(cases)}))
    for name in os.listdir(corpus):
        if (corpus / name).is_dir():
            (to / name).symlink_to(corpus / name)


def passed_by(run: Path) -> set[str]:
    """The test_ids that a run folder of ours says pass."""
    with (run / "results.csv").open(newline="") as file:
        return {row["test_id"] for row in csv.DictReader(file)
                if row["outcome"] == "pass"}


def compare(options: argparse.Namespace, work: Path) -> None:
    """Finds the cases that both pass, and times both on them."""
    corpus = (options.build / "corpus" / "onnx").resolve()
    manifest = json.loads((corpus / "manifest.json").read_text())
    cases = [c for c in manifest["cases"] if c["test_id"].startswith("node/")]
    run = [(options.build / "bin" / "assay").resolve(), "run", "--backend",
           options.backend, "--suite", "node", "--no-report"]
    subprocess.run([*run, "--out", work / "all"], stdout=subprocess.DEVNULL,
                   check=False)
    ours = passed_by(work / "all")
    ort_passes = set(run_ort(cases, corpus))
    both = ours & ort_passes
    subset(manifest, both, corpus, work / "both")
    print(f"of {len(cases)} cases {options.backend} passes {len(ours)}, "
          f"ONNX Runtime {ort.__version__} {len(ort_passes)}, both {len(both)}")
    mine, theirs = Timer(), Timer()
    for i in range(options.repeats):
        out = work / f"run{i}"
        mine.run([*run, "--corpus", work / "both", "--out", out])
        if passed_by(out) != both:
            sys.exit("other cases pass in the timed run")
        theirs.run([sys.executable, __file__, "--cases", work / "both"])
    print(f"{options.backend:14} {mine}\n{'ONNX Runtime':14} {theirs}")
    wall = statistics.median(mine.wall) / statistics.median(theirs.wall)
    cpu = statistics.median(mine.cpu) / statistics.median(theirs.cpu)
    print(f"ratio {wall:.2f}, of processor time {cpu:.2f}")


def main() -> None:
    """Compares; or, with --cases, is the side of ONNX Runtime."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=Path, default=ROOT / "build")
    parser.add_argument("--backend", default="reference")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--cases", type=Path, help="run ONNX Runtime on these")
    options = parser.parse_args()
    if options.cases is not None:
        cases = json.loads((options.cases / "manifest.json").read_text())[
            "cases"]
        if len(run_ort(cases, options.cases)) != len(cases):
            sys.exit("ONNX Runtime passes other cases in the timed run")
        return
    with tempfile.TemporaryDirectory() as folder:
        compare(options, Path(folder))


if __name__ == "__main__":
    main()
