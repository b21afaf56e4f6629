# SPDX-License-Identifier: Apache-2.0
"""Forward of the light models: a backend of ours beside ONNX Runtime.

    python perf/ort_light_bench.py [--set isa=avx2] [--repeats 15] [MODEL...]

needs onnxruntime, onnx and numpy (in a venv of their own), and build/ made with
ASSAY_BUILD_BENCHMARKS. Both run in one thread, warm, on the same inputs, in
turn, one run each. Printed: milliseconds, median (least to greatest), and the
ratio of the medians; with --random also ONNX Runtime with every weight random,
since those of the corpus are constant fills, which it may fold or shortcut.
Nothing is asserted.
"""

import argparse
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
LEVEL = ort.GraphOptimizationLevel.ORT_ENABLE_ALL  # ONNX Runtime's default


class OnnxRuntime:
    """A session with one thread and its feed."""

    def __init__(self, model: Path, data: Path) -> None:
        options = ort.SessionOptions()
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        options.graph_optimization_level = LEVEL
        options.log_severity_level = 3
        start = time.perf_counter()
        self.session = ort.InferenceSession(
            str(model), options, providers=["CPUExecutionProvider"]
        )
        self.load = (time.perf_counter() - start) * 1e3
        content = (data / "input_0.pb").read_bytes()
        value = numpy_helper.to_array(onnx.TensorProto.FromString(content))
        self.feed = {self.session.get_inputs()[0].name: value}

    def forward(self) -> float:
        """Milliseconds of one run."""
        start = time.perf_counter()
        self.session.run(None, self.feed)
        return (time.perf_counter() - start) * 1e3


class Ours:
    """The program light_bench with a case loaded."""

    def __init__(self, build: Path, backend: str, case: Path,
                 settings: list[str]) -> None:
        module = build / "lib" / "assay" / f"{backend}.so"
        self.process = subprocess.Popen(
            [build / "bin" / "light_bench", module, case, *settings],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.load = self._answer()

    def forward(self) -> float:
        """Milliseconds of one run."""
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return self._answer()

    def close(self) -> None:
        """Ends the program."""
        self.process.stdin.close()
        self.process.wait()

    def _answer(self) -> float:
        line = self.process.stdout.readline()
        if not line:
            sys.exit(f"light_bench ended with {self.process.wait()}")
        return float(line)


def random_weights(model: Path, folder: Path) -> Path:
    """The model with every constant fill of two or more axes random."""
    proto = onnx.load(model)
    known = {i.name: numpy_helper.to_array(i) for i in proto.graph.initializer}
    generator = np.random.default_rng(1)
    nodes = []
    for node in proto.graph.node:
        shape = known.get(node.input[0]) if node.input else None
        if node.op_type != "ConstantOfShape" or shape is None or len(shape) < 2:
            nodes.append(node)
            continue
        fan_in = max(int(np.prod(shape[1:])), 1)
        values = generator.standard_normal(shape, np.float32) / fan_in**0.5
        proto.graph.initializer.append(
            numpy_helper.from_array(values.astype(np.float32), node.output[0]))
    del proto.graph.node[:]
    proto.graph.node.extend(nodes)
    made = folder / "random.onnx"
    onnx.save(proto, made)
    return made


def text(samples: list[float]) -> str:
    """Median (least to greatest)."""
    return (f"{statistics.median(samples):8.1f} "
            f"({min(samples):.1f} to {max(samples):.1f})")


def compare(case: Path, options: argparse.Namespace) -> float:
    """Measures one case and prints its row; returns the ratio."""
    ours = Ours(options.build, options.backend, case, options.set)
    data = case / "test_data_set_0"
    sides = {"ours": ours, "ort": OnnxRuntime(case / "model.onnx", data)}
    with tempfile.TemporaryDirectory() as folder:
        if options.random:
            made = random_weights(case / "model.onnx", Path(folder))
            sides["ort, random weights"] = OnnxRuntime(made, data)
    times: dict[str, list[float]] = {name: [] for name in sides}
    for side in sides.values():
        side.forward()  # warm
        side.forward()
    for _ in range(options.repeats):
        for name, side in sides.items():
            times[name].append(side.forward())
    ours.close()
    median = {name: statistics.median(each) for name, each in times.items()}
    ratios = "  ".join(
        f"{name} {text(times[name])}" for name in sides)
    ratio = median["ours"] / median["ort"]
    print(f"{case.name:24} {ratio:5.2f}x  {ratios}", flush=True)
    return ratio


def main() -> None:
    """Prints a row for each model, and the worst ratio."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="*", help="names; default: all nine")
    parser.add_argument("--build", type=Path, default=ROOT / "build")
    parser.add_argument("--backend", default="reference")
    parser.add_argument("--set", action="append", default=[],
                        metavar="NAME=VALUE")
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--random", action="store_true")
    options = parser.parse_args()
    folder = options.build / "corpus" / "onnx" / "model" / "light"
    cases = sorted(case for case in folder.iterdir()
                   if not options.models
                   or case.name.removeprefix("test_") in options.models)
    print(f"{options.backend} {' '.join(options.set)} beside ONNX Runtime "
          f"{ort.__version__} ({LEVEL.name}), one thread each, "
          f"{options.repeats} runs in turn; ms, median (least to greatest)")
    ratios = [compare(case, options) for case in cases]
    print(f"worst ratio {max(ratios):.2f}")


if __name__ == "__main__":
    main()
