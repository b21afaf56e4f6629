# SPDX-License-Identifier: Apache-2.0
"""Makes the corpus `random`: the light models with random weights.

    python conformance/corpus/random_models.py --onnx build/corpus/onnx \
        --out build/corpus/random --corpus build/bin/assay-corpus

A case names a model of the corpus onnx and a seed; weights and inputs are made
in memory when it runs. The expected outputs are computed by assay-corpus.

Exit codes: 0 made; 2 usage; 99 the cases could not be read, run or written.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import publish
import stamp
import store
from case import CorpusError, sha256

HARNESS_ERROR = 99
SEED = 1
WEIGHTS = "random_weights.txt"
# At once: the largest model takes 4 GB of memory in float64.
_PROCESSES = 2

Entry = dict[str, Any]


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Reads the command line."""
    parser = argparse.ArgumentParser(
        prog="random_models.py",
        description="Make the corpus of models with random weights.",
    )
    for name, metavar, text in (
        ("--onnx", "DIR", "the exported corpus onnx"),
        ("--out", "DIR", "the corpus; an older one there is replaced"),
        ("--corpus", "PROGRAM", "assay-corpus of this build"),
    ):
        parser.add_argument(
            name, required=True, type=Path, metavar=metavar, help=text
        )
    return parser.parse_args(arguments)


def light_models(onnx: Path) -> list[Entry]:
    """The manifest's entries of the light models."""
    manifest = json.loads((onnx / store.MANIFEST).read_text("ascii"))
    entries = [case for case in manifest["cases"] if case["op"] == "light"]
    if not entries:
        raise CorpusError(f"{onnx}: found no light model")
    return entries


def randomised(entry: Entry) -> Entry:
    """The entry of the same model with random weights."""
    return entry | {
        "test_id": f"{entry['test_id']}#random",
        "vacuous": "",
        "n_data_sets": 1,
        "sha256": {"model": entry["sha256"]["model"]},
    }


def write_case(corpus: Path, onnx: Path, entry: Entry) -> Path:
    """Writes what a case is made of; its folder."""
    folder = corpus / entry["directory"]
    folder.mkdir(parents=True)
    model = os.path.relpath(onnx / entry["directory"] / "model.onnx", folder)
    text = f"model {model}\nseed {SEED}\n"
    (folder / WEIGHTS).write_text(text, "ascii")
    return folder


def expect(program: Path, folders: Sequence[Path]) -> None:
    """Lets the reference write the expected outputs of all cases."""
    running = [
        subprocess.Popen([program, "expect", *folders[i::_PROCESSES]])
        for i in range(_PROCESSES)
    ]
    codes = [process.wait() for process in running]
    if any(codes):
        raise CorpusError(f"{program.name} failed with exit codes {codes}")


def vacuity(folder: Path, entry: Entry) -> str:
    """Why a case would prove nothing after all: outputs of one value."""
    for index, output in enumerate(entry["outputs"]):
        size = 4 * math.prod(output["shape"])
        file = folder / "test_data_set_0" / f"output_{index}.pb"
        data = file.read_bytes()[-size:]  # the elements are written last
        if data != data[:4] * (size // 4):
            return ""
    return "constant output"


def make(options: argparse.Namespace) -> list[Entry]:
    """Writes the corpus; its entries."""
    entries = [randomised(entry) for entry in light_models(options.onnx)]
    with store.locked(options.out), store.replacing(options.out) as corpus:
        folders = [write_case(corpus, options.onnx, entry) for entry in entries]
        expect(options.corpus.absolute(), folders)
        for entry, folder in zip(entries, folders, strict=True):
            entry["vacuous"] = vacuity(folder, entry)
            entry["sha256"]["outputs"] = [
                [
                    sha256((folder / f"{data}/output_{i}.pb").read_bytes())
                    for i in range(len(entry["outputs"]))
                ]
                for data in ["test_data_set_0"]
            ]
            weights = (folder / WEIGHTS).read_bytes()
            entry["sha256"]["files"] = {WEIGHTS: sha256(weights)}
        header = {
            "schema": publish.SCHEMA,
            "name": "random",
            "seed": SEED,
            "n_cases": len(entries),
            "corpus_hash": publish.corpus_hash(entries),
            "drift": [],
        }
        text = store.manifest_text(header, entries)
        (corpus / store.MANIFEST).write_text(text, "ascii")
        stamp.write(corpus, header["corpus_hash"])
    return entries


def main() -> int:
    """The program."""
    options = parse(sys.argv[1:])
    options.onnx, options.out = options.onnx.absolute(), options.out.absolute()
    try:
        store.check_place(options.out)
        entries = make(options)
    except (CorpusError, OSError, ValueError, KeyError) as error:
        print(f"corpus: error: {error}", file=sys.stderr)
        return HARNESS_ERROR
    vacuous = sum(bool(entry["vacuous"]) for entry in entries)
    print(
        f"corpus: {len(entries)} models with random weights in {options.out}, "
        f"{vacuous} vacuous"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
