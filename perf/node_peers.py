# SPDX-License-Identifier: Apache-2.0
"""The node suite: a backend of ours beside ONNX Runtime, from Python and by its C ABI,
ONNX's evaluator, and OpenVINO.

    python perf/node_peers.py [--backend reference] [--turns 9] [--epochs CSV PEER]

peers.sh starts it in a venv of its own with what it needs. A peer does the cases that
both pass: read model and data, prepare, run once, compare with what the corpus expects
under the case's own tolerance. Ours is `assay run` with one worker, which also writes
its tables; theirs are this file with --cases, and ort_c_bench; one thread each. Whole
processes, from start to exit, in turn, the one that begins drawn by a coin. Printed is
the ratio of ours to theirs by the clock, and that of processor time, which a loaded
machine disturbs less, with intervals; behind them, of an overhead.csv, the epochs
beside a peer's. Nothing is asserted.
"""

import argparse
import csv
import functools
import hashlib
import importlib.util
import json
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import numpy_helper
from turns import Row, epochs, ratio_of, table

ROOT = Path(__file__).parents[1]
# The package of each, and what it is called in the table.
SIDES = {
    "onnxruntime": "ONNX Runtime from Python",
    "onnx": "ONNX's evaluator",
    "openvino": "OpenVINO from Python",
}


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
        return (
            isinstance(got, list)
            and len(got) == len(want)
            and all(map(close, got, want, [case] * len(want)))
        )
    if want is None or got is None:
        return got is want
    got, want = np.asarray(got), np.asarray(want)
    if got.shape != want.shape or got.dtype != want.dtype:
        return False
    if case["comparator"] != "tolerance":
        return bool(np.array_equal(got, want))
    return np.allclose(got, want, case["rtol"], case["atol"], equal_nan=True)


def evaluator(path: Path, model: onnx.ModelProto) -> Callable[[dict], list]:
    """ONNX's evaluator, ready."""
    from onnx.reference import ReferenceEvaluator

    ready = ReferenceEvaluator(model)
    return lambda feed: ready.run(None, feed)


def onnxruntime(path: Path, model: onnx.ModelProto) -> Callable[[dict], list]:
    """A session of ONNX Runtime with one thread."""
    import onnxruntime as ort

    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 4
    session = ort.InferenceSession(
        str(path), options, providers=["CPUExecutionProvider"]
    )
    return lambda feed: session.run(None, feed)


@functools.cache
def openvino_core() -> Any:
    """One for all cases."""
    import openvino as ov

    return ov.Core()


def openvino(path: Path, model: onnx.ModelProto) -> Callable[[dict], list]:
    """A model of OpenVINO, compiled for one thread and the model's own types."""
    compiled = openvino_core().compile_model(
        str(path),
        "CPU",
        {
            "INFERENCE_NUM_THREADS": 1,
            "NUM_STREAMS": 1,
            "EXECUTION_MODE_HINT": "ACCURACY",
        },
    )
    outputs = compiled.outputs

    def run(feed: dict) -> list:
        results = compiled(list(feed.values()))
        return [results[output] for output in outputs]

    return run


class Python:
    """A runtime driven from Python."""

    def __init__(self, name: str) -> None:
        warnings.filterwarnings("ignore")
        self.prepare = {
            "onnx": evaluator,
            "onnxruntime": onnxruntime,
            "openvino": openvino,
        }[name]

    def passes(self, case: dict, corpus: Path) -> bool:
        """Runs a case from its files."""
        folder = corpus / case["directory"]
        model = onnx.load(folder / "model.onnx")
        network = self.prepare(folder / "model.onnx", model)
        stored = {i.name for i in model.graph.initializer}
        kinds = {v.name: v.type for v in model.graph.input if v.name not in stored}
        wanted = [v.type for v in model.graph.output]
        for index in range(case["n_data_sets"]):
            data = folder / f"test_data_set_{index}"
            feed = {
                name: read_value(data / f"input_{i}.pb", kind)
                for i, (name, kind) in enumerate(kinds.items())
            }
            for i, got in enumerate(network(feed)):
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
    import onnxruntime as ort

    found = sorted(Path(ort.__file__).parent.glob("capi/libonnxruntime.so.*"))
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


def subset(manifest: dict, test_ids: set[str], corpus: Path, to: Path) -> None:
    """A corpus of these cases only, their files linked."""
    cases = [c for c in manifest["cases"] if c["test_id"] in test_ids]
    to.mkdir()
    lines = [json.dumps(case, separators=(",", ":")) for case in cases]
    header = {key: manifest[key] for key in ("schema", "name", "drift")}
    header["n_cases"] = len(cases)
    header["corpus_hash"] = hashlib.sha256(
        "".join(line + "\n" for line in lines).encode()
    ).hexdigest()
    (to / "manifest.json").write_text(
        json.dumps(header)[:-1] + ',\n"cases": [\n' + ",\n".join(lines) + "\n]\n}\n"
    )
    for name in os.listdir(corpus):
        if (corpus / name).is_dir():
            (to / name).symlink_to(corpus / name)


def passed_by(run: Path) -> set[str]:
    """The test_ids that a run folder of ours says pass."""
    with (run / "results.csv").open(newline="") as file:
        return {
            row["test_id"] for row in csv.DictReader(file) if row["outcome"] == "pass"
        }


class Bench:
    """Runs of ours and of peers on the cases that both pass."""

    def __init__(self, options: argparse.Namespace, work: Path) -> None:
        self.options, self.work = options, work
        self.corpus = (options.build / "corpus" / "onnx").resolve()
        self.manifest = json.loads((self.corpus / "manifest.json").read_text())
        self.cases = [
            c for c in self.manifest["cases"] if c["test_id"].startswith("node/")
        ]
        subset(
            self.manifest,
            {c["test_id"] for c in self.cases},
            self.corpus,
            work / "nodes",
        )
        self.ours = [
            (options.build / "bin" / "assay").resolve(),
            "run",
            "--backend",
            options.backend,
            "--suite",
            "node",
            "--no-report",
            "--jobs",
            "1",
        ]
        subprocess.run(
            [*self.ours, "--out", work / "all"], stdout=subprocess.DEVNULL, check=False
        )
        self.passed = passed_by(work / "all")
        self.coin = random.Random(1)

    def row(self, peer: str, passes: set[str], command: list[str | Path]) -> Row:
        """Times both in turn."""
        both = self.passed & passes
        folder = self.work / peer.replace(" ", "_")
        subset(self.manifest, both, self.corpus, folder)
        ours, theirs = Timer(), Timer()
        for turn in range(self.options.turns):
            out = self.work / f"{folder.name}.{turn}"
            sides = [
                (ours, [*self.ours, "--corpus", folder, "--out", out]),
                (theirs, [*command, folder]),
            ]
            if self.coin.random() < 0.5:
                sides.reverse()
            for timer, words in sides:
                timer.run(words)
            if passed_by(out) != both:
                sys.exit("other cases pass in the timed run")
        print(
            f"{peer}: {len(both)} cases that both pass; ours "
            f"{statistics.median(ours.wall):.2f} s, theirs "
            f"{statistics.median(theirs.wall):.2f} s",
            file=sys.stderr,
        )
        return Row(
            f"{len(both)} node cases by `{self.options.backend}`",
            peer,
            ratio_of(ours.wall, theirs.wall),
            ratio_of(ours.cpu, theirs.cpu),
        )

    def rows(self) -> list[Row]:
        """A row a peer that is here; a line says which is not."""
        found = []
        for name, title in SIDES.items():
            if importlib.util.find_spec(name) is None:
                print(f"{title} is left out: no package {name}", file=sys.stderr)
                continue
            side = [sys.executable, "-B", __file__, "--side", name, "--cases"]
            listed = self.listed([*side, self.work / "nodes", "--list"])
            found.append(self.row(title, listed, side))
            if name == "onnxruntime" and (program := c_abi(self.options.build)):
                listed = self.listed([*program, self.work / "nodes", "--list"])
                found.append(self.row("ONNX Runtime by its C ABI", listed, program))
        return found

    @staticmethod
    def listed(command: list[str | Path]) -> set[str]:
        """The test_ids that a program prints."""
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        return set(done.stdout.split())


def main() -> None:
    """Compares; or, with --cases, is one side."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=Path, default=ROOT / "build")
    parser.add_argument("--backend", default="reference")
    parser.add_argument("--turns", type=int, default=9)
    parser.add_argument("--epochs", nargs=2, metavar=("CSV", "PEER"))
    parser.add_argument("--cases", type=Path, help="run one side on these")
    parser.add_argument("--list", action="store_true", help="print what passes")
    parser.add_argument("--side", choices=SIDES)
    options = parser.parse_args()
    if options.cases is not None:
        cases = json.loads((options.cases / "manifest.json").read_text())["cases"]
        passed = Python(options.side).passed(cases, options.cases)
        if options.list:
            print("\n".join(passed))
        elif len(passed) != len(cases):
            sys.exit("other cases pass in the timed run")
        return
    with tempfile.TemporaryDirectory() as folder:
        rows = Bench(options, Path(folder)).rows()
    if options.epochs is not None:
        rows += epochs(Path(options.epochs[0]), options.epochs[1])
    print(table(rows), end="")


if __name__ == "__main__":
    main()
