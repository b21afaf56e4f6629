# SPDX-License-Identifier: Apache-2.0
"""The page of a run that a real, broken backend failed.

ctest names the program in ASSAY_PROGRAM; by hand, without it, this is skipped.
"""

import csv
import io
import json
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

from assay_report.page import render_page
from assay_report.run_folder import read_run
from browser import CHROMIUM, browse
from payload_test import blocks_of, unpacked

PROGRAM = os.environ.get("ASSAY_PROGRAM", "")
BACKEND = "faulty+mutant=ignore:Gemm.alpha"
CASE = "special/Gemm/half_float32"


# For each of these the page and the program must select the same results.
QUERIES = (
    *("", "op:Gemm", "op:gemm", "op:G*", "not op:Gemm", "half", "HALF", "f?oat32"),
    *("outcome:fail", "outcome:pass dtype:float32", "outcome:failed", "reason:value"),
    *("reason:*", 'reason:""', "suite:special", "corpus:special", "corpus:onnx"),
    *("kind:node", "kind:*", "comparator:exact", "comparator:close", "vacuous:no"),
    *("vacuous:maybe", "opset>=11", "opset<11", "opset:13", "opset>x", "opset:1*"),
    *("backend:faulty", "backend:faulty*", "backend:onednn", "domain:ai.onnx"),
    *("id:special/Gemm/half_float32", "id:special/Gemm", '"id:special"', "op:"),
    *("op:Gemm or suite:x and outcome:pass", "(op:Gemm or suite:x) outcome:pass"),
    *("op:Gemm AND op:Gemm", "op:Gemm and", "(op:Gemm", "op:Gemm)", '"open', "()"),
    *("not not outcome:fail", "-op:Gemm", "op=Gemm", "op>3", "attr:alpha", "a:b"),
    *('sp"ecial/"Gemm', 'op:"Gemm"', 'op:"Gemm" "float 32"', "dtype:flaot32"),
)


def ran(*arguments: str, folder: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [PROGRAM, *arguments], cwd=folder, capture_output=True, text=True, check=False
    )


def selected_by_program(query: str, folder: str) -> list[list[str]]:
    """test_id and backend of each result; none also for a query that is wrong."""
    said = ran("list", "results", "--run", "run", "--csv", "--filter", query,
               folder=folder)  # fmt: skip
    rows = csv.DictReader(io.StringIO(said.stdout))
    return sorted([row["test_id"], row["backend"]] for row in rows)


SELECT = """
const store = new Store(await unpack('data-matrix'));
const selected = (query) => {
  try {
    const mask = store.search(parseQuery(query));
    return [...mask.keys()].filter((k) => mask[k]).map(
      (k) => [store.ids[store.rowOf(k)], store.backends[store.columnOf(k)]]);
  } catch (error) {
    if (!(error instanceof QueryError)) throw error;
    return [];
  }
};
const operators = operatorRows(await unpack('data-operators'));
document.getElementById('operator-table').hidden = false;
return {keys: QUERY_KEYS, operators: new OperatorTable(operators).csv(),
  selected: %s.map(selected)};
"""


@unittest.skipUnless(PROGRAM and CHROMIUM, "no program, or no chromium")
class LanguageTest(unittest.TestCase):
    def test_page_and_program_select_the_same(self) -> None:
        with tempfile.TemporaryDirectory() as scratch:
            said = ran("run", "--backend", BACKEND, "--corpus", "special", "--out",
                       "run", "--no-report", "--repeats", "0", "--filter",
                       "op:Gemm or op:MatMul or op:Softmax",
                       folder=scratch)  # fmt: skip
            self.assertEqual(said.returncode, 1, said.stdout + said.stderr)
            page = render_page(read_run(Path(scratch) / "run"))
            wanted = [selected_by_program(query, scratch) for query in QUERIES]
            operators = ran("list", "operators", "--run", "run", "--csv",
                            folder=scratch)  # fmt: skip
            wrong = ran("list", "cases", "--filter", "colour:red", folder=scratch)
        found = browse(page, SELECT % json.dumps(QUERIES))
        for query, ours, theirs in zip(QUERIES, found["selected"], wanted, strict=True):
            with self.subTest(query):
                self.assertEqual(sorted(ours), theirs)
        theirs = list(csv.DictReader(io.StringIO(operators.stdout)))
        ours = list(csv.DictReader(io.StringIO(found["operators"])))
        self.assertEqual([row["op"] for row in theirs], ["Gemm", "MatMul", "Softmax"])
        counts = {*theirs[0]} - {"max_ulp"}  # of which the page has four digits
        self.assertEqual(
            [{name: row[name] for name in counts} for row in ours],
            [{name: row[name] for name in counts} for row in theirs],
        )
        keys = wrong.stderr.partition("wanted one of ")[2].strip().split(", ")
        self.assertLessEqual({"op", "opset", "reason"}, set(keys), wrong.stderr)
        self.assertLessEqual(set(keys), set(found["keys"]))


@unittest.skipUnless(PROGRAM, "ASSAY_PROGRAM does not name the program")
class RealRunTest(unittest.TestCase):
    def test_fail_that_was_run_again_has_its_numbers(self) -> None:
        with tempfile.TemporaryDirectory() as scratch:
            said = ran("run", "--backend", BACKEND, "--corpus", "special", "--filter",
                       f"id:{CASE}", "--no-report", "--out", "run",
                       folder=scratch)  # fmt: skip
            self.assertEqual(said.returncode, 1, said.stdout + said.stderr)
            run = read_run(Path(scratch) / "run")
        self.assertEqual(run.results["outcome"], ["fail"])
        self.assertGreater(int(run.results["attempt"][0]), 1)
        output = unpacked(blocks_of(run).detail)["output"]
        self.assertEqual(output["cell_step"], [0])
        found = {name: texts[0] for name, texts in output["column"].items()}
        wanted = {
            "worst_want": "2",
            "worst_got": "3",
            "out_of_limit": "4",
            "worst": "0:2:3 1:3:5.5 2:4:6 3:7:12.5",
            "error_bins": "0 0 0 0 0 0 0 0 0 0 4",
        }
        self.assertEqual({name: found.get(name) for name in wanted}, wanted)
