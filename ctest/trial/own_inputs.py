#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tries inputs of a person's own, each with the answer that is right.

    ctest/trial/own_inputs.py BUILD

The folders of own_cases.py are one corpus, those of own_faults.py another. A row of
_COMMANDS is a command on a model, with the exit code and part of the answer. Exit
codes: 0 each is answered so, 1 one is not, 2 usage.
"""

import csv
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnx

from own_cases import FOLDERS, OTHER, make_model, npy, npz, put
from own_faults import NEW_COMMANDS, NEW_FILES, NEW_FOLDERS, NEW_MODELS

_RUN = "run --no-report --out run --backend reference "
_TWO = (
    "(float[n,m] x) => (float[n,2] y) <float[3,2] w = {1, 2, 3, 4, 5, 6.5}>"
    " { h = MatMul(x, w) y = Tanh(h) }"
)
_LESS = (
    "(float[2,3] x) => (float[2,3] y) <float w = {1.01}> "
    "{ h = Div(x, w) y = Identity(h) }"
)


def _drawn(dtype: str, body: str, out: str, opset: int = 21) -> onnx.ModelProto:
    return make_model(f"({dtype}[2,4] x) => ({out}[2,4] y) {{ {body} }}", opset)


_MODELS = {
    "two": make_model(_TWO),
    "less": make_model(_LESS),
    "apart": make_model("(float[n] a, float[m] b) => (float[k] y) { y = Add(a, b) }"),
    "string": _drawn("string", "y = Identity(x)", "string"),
    "float8": _drawn("float8e4m3fn", "y = Cast<to = 1>(x)", "float"),
    "scale8": _drawn("float8e8m0", "y = Cast<to = 1>(x)", "float", 24),
    "int4": _drawn("int4",
        "s = Constant<value_float = 0.5>() y = DequantizeLinear(x, s)", "float"),
    "bfloat16": _drawn("bfloat16", "y = Exp(x)", "bfloat16", 22),
    "complex": _drawn("complex64", "y = Identity(x)", "complex64"),
    "sequence": make_model(
        "(seq(float[2]) x) => (float[k] y) { y = ConcatFromSequence<axis = 0>(x) }"),
    "integers": make_model(
        "(float[2,3] x) => (int64[2,1] y) { y = ArgMax<axis = 1>(x) }"),
    "other": OTHER,
}
_ONES = np.ones((2, 3), np.float32)
_FILES = {
    "by_name/x.npy": npy(_ONES),
    "x.npz": npz(x=_ONES),
    "z.npz": npz(z=_ONES),
    "wide.npz": npz(x=np.ones((2, 4, 1), np.float32)),
    "double.npz": npz(x=_ONES.astype(np.float64)),
    "nan/input_0.npy": npy(np.full((2, 3), np.nan, np.float32)),
    "zoo/resnet-7.onnx": _MODELS["two"].SerializeToString(),
    "zoo/test_data_0.npz": npz(x=_ONES),
    "bare/two.onnx": _MODELS["two"].SerializeToString(),
}

# Name, words, exit code, part of the answer.
_COMMANDS: list[tuple[str, str, int, str]] = [
    ("extents", _RUN + "--model two.onnx --dim n=2 --dim m=3", 0, "own: 1 = pass 1"),
    ("no_extents", _RUN + "--model two.onnx", 2, "--dim n=EXTENT --dim m=EXTENT"),
    ("extent_of_none", _RUN + "--model two.onnx --dim k=2", 2, "n=EXTENT"),
    ("extent_below_0", _RUN + "--model two.onnx --dim n=-1 --dim m=3", 2, "--dim n=-1"),
    ("extent_that_does_not_fit", _RUN + "--model two.onnx --dim n=2 --dim m=4", 2,
     "MatMul 'h' of x float32[2,4] and w [3,2]: Incompatible"),
    ("extents_that_do_not_fit", _RUN + "--model apart.onnx --dim n=2 --dim m=5", 2,
     "Add 'y' of a float32[2] and b float32[5]: Incompatible"),
    ("extent_of_all_memory", _RUN + "--model two.onnx --dim n=999999999999 --dim m=3",
     2, "bytes"),
    ("string", _RUN + "--model string.onnx", 0, "pass 1"),
    ("float8", _RUN + "--model float8.onnx", 0, "pass 1"),
    ("scale8", _RUN + "--model scale8.onnx", 0, "pass 1"),
    ("int4", _RUN + "--model int4.onnx", 0, "pass 1"),
    ("bfloat16", _RUN + "--model bfloat16.onnx", 0, "pass 1"),
    ("complex", _RUN + "--model complex.onnx", 1, "is undecided: "),
    ("sequence", _RUN + "--model sequence.onnx", 2, "'x' is"),
    ("unknown", _RUN + "--model other.onnx", 1, "unsupported 1"),
    ("gradients", _RUN + "--model two.onnx --dim n=2 --dim m=3 --gradients", 0,
     "gradcheck: "),
    ("no_gradients", _RUN + "--model integers.onnx --gradients", 0, "own: 1 = pass 1"),
    ("1_percent",
     "run --no-report --repeats 0 --out run --backend TESTS/misbehaving.so --model "
     "less.onnx", 1, "fail 1"),
    ("given_by_name", _RUN + "--model two.onnx --inputs by_name", 0, "pass 1"),
    ("given_npz", _RUN + "--model two.onnx --inputs x.npz", 0, "pass 1"),
    ("given_another", _RUN + "--model two.onnx --inputs z.npz", 2, "wanted x"),
    ("given_wide", _RUN + "--model two.onnx --inputs wide.npz", 2, "float32[2,4,1]"),
    ("given_double", _RUN + "--model two.onnx --inputs double.npz", 2, "float64"),
    ("given_nan", _RUN + "--model two.onnx --inputs nan", 0, "pass 1"),
    ("given_none", _RUN + "--model none.onnx", 2, "bad case"),
    ("zoo", _RUN + "--model zoo", 0, "pass 1"),
    ("bare", _RUN + "--model bare --dim n=1 --dim m=3", 0, "pass 1"),
    ("trace_extents", "trace --backend reference --model two.onnx --dim n=2 --dim m=3",
     0, "each of 2 stays"),
    ("trace_npz", "trace --backend reference --model two.onnx --inputs x.npz", 0, "2"),
    ("trace_zoo", "trace --backend faulty+mutant=scaled:h --model zoo", 1,
     "The first wrong node: MatMul 'h'"),
    ("trace_double", "trace --backend reference --model two.onnx --inputs double.npz",
     2, "float64"),
]


def _say(wrong: list[str], name: str, wanted: str, found: str) -> None:
    wrong.append(name)
    print(f"{name}: wanted {wanted}, found {found[-600:]}")


def _folders(assay: Path, folder: Path, rows: list, wrong: list[str]) -> None:
    for name, build, *_ in rows:
        build().write(folder / "mine" / name)
    ran = subprocess.run(
        [assay, "run", "--no-report", "--repeats", "0", "--out", "run", "--corpus",
         "./mine", "--backend", "reference", "--backend", "onednn"],
        cwd=folder, capture_output=True, text=True, errors="replace",
    )  # fmt: skip
    bad: dict[str, str] = {}
    for line in ran.stderr.splitlines():
        match = re.match(r"assay: bad case mine/([^/:]+): (.*)", line)
        if match is not None:
            bad[match[1]] = match[2]
    found: dict[tuple[str, str], str] = {}
    if (folder / "run/results.csv").exists():
        with open(folder / "run/results.csv", newline="") as file:
            for row in csv.DictReader(file):
                name = row["test_id"].rsplit("/", 1)[1]
                found[name, row["backend"]] = f"{row['outcome']}: {row['message']}"
    for name, _, *outcomes in rows:
        shown = re.sub(r"[\x00-\x1f]", lambda c: f"\\x{ord(c[0]):02X}", name)
        for backend, wanted in zip(("reference", "onednn"), outcomes):
            got = found.get((name, backend), "nothing")
            if shown in bad:
                got = f"bad: {shown}: {bad[shown]}"
            kind, _, says = wanted.partition(": ")
            right = got.partition(":")[0] in kind.split("|")
            if wanted and not (right and re.search(says, got)):
                _say(wrong, f"{shown} on {backend}", wanted, got)
    if ran.returncode != 1:
        _say(wrong, "the corpus", "exit code 1", f"{ran.returncode} {ran.stderr}")


def _commands(build: Path, folder: Path, wrong: list[str]) -> None:
    for name, model in (_MODELS | NEW_MODELS).items():
        put(folder / f"{name}.onnx", model.SerializeToString())
    for file, data in (_FILES | NEW_FILES).items():
        put(folder / file, data)
    for name, words, exit_code, says in _COMMANDS + NEW_COMMANDS:
        subprocess.run(["rm", "-rf", folder / "run"], check=True)
        typed = shlex.split(words.replace("TESTS", str(build / "tests")))
        ran = subprocess.run(
            [build / "bin/assay", *typed], cwd=folder, capture_output=True, text=True
        )
        text = ran.stdout + ran.stderr
        if ran.returncode != exit_code or says not in text:
            _say(wrong, name, f"{exit_code} '{says}'", f"{ran.returncode} {text}")


def main() -> int:
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    build = Path(sys.argv[1]).absolute()
    wrong: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        for rows in (FOLDERS, NEW_FOLDERS):
            corpus = Path(tempfile.mkdtemp(dir=folder))
            _folders(build / "bin/assay", corpus, rows, wrong)
        _commands(build, Path(folder), wrong)
    inputs = len(FOLDERS + NEW_FOLDERS) + len(_COMMANDS + NEW_COMMANDS)
    names = {name.partition(" on ")[0] for name in wrong}
    print(f"{inputs - len(names)} of {inputs} inputs are answered as they should be")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
