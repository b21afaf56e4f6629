# SPDX-License-Identifier: Apache-2.0
"""Tests of the export: files, digests, replacement, and the whole corpus."""

from __future__ import annotations

import importlib
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import unittest
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import baseline
import collect
import digests
import recompute
import stamp
import store
from case import Case, CorpusError, DataSet
from describe import describe
from export import DIGESTS, ONNX_VERSION
from publish import Published, Target, Versions, check_names, publish

VERSIONS = Versions("1.2.3", "4.5.6", baseline.Features("X", "Y", ""))


def tensor(array: Any, name: str = "") -> bytes:
    """A serialized tensor."""
    proto = numpy_helper.from_array(np.asarray(array), name)
    return bytes(proto.SerializeToString(deterministic=True))


def relu_case(name: str = "test_relu", scale: float = 1.0) -> Case:
    """A small node case; `scale` changes its expected output."""
    info = [
        helper.make_tensor_value_info(n, TensorProto.FLOAT, [2]) for n in "xy"
    ]
    node = helper.make_node("Relu", ["x"], ["y"])
    graph = helper.make_graph([node], name, info[:1], info[1:])
    imports = [helper.make_operatorsetid("", 14)]
    model = helper.make_model(graph, opset_imports=imports)
    x = np.array([-1, 1], np.float32)
    y = np.array([0, scale], np.float32)
    data = DataSet((tensor(x, "x"),), (tensor(y, "y"),))
    content = model.SerializeToString(deterministic=True)
    return Case(name, "node", content, (data,), 1e-3, 1e-7, node)


def with_input(case: Case, array: Any) -> Case:
    """The case with another input."""
    data = replace(case.data_sets[0], inputs=(tensor(array, "x"),))
    return replace(case, data_sets=(data,))


class PillowTest(unittest.TestCase):
    """Kills: a corpus that hangs on a package of the reports."""

    def test_images_are_those_that_onnx_keeps(self) -> None:
        self.assertIsNone(sys.modules["PIL"])
        with self.assertRaises(ImportError):
            importlib.import_module("PIL.Image")


class PublishTest(unittest.TestCase):
    """Writing, pinning and replacing a corpus, on two small cases."""

    def setUp(self) -> None:
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.place = self.folder / "out" / "small"
        self.digests = self.folder / "digests.txt"
        self.cases = [relu_case(), relu_case("test_other")]
        self.publish(self.cases, accept=True)

    def publish(
        self, cases: Iterator[Case] | list[Case], accept: bool = False
    ) -> Published:
        target = Target(self.place, self.digests, accept)
        return publish(cases, target, VERSIONS)

    def content(self) -> dict[str, bytes]:
        files = (p for p in self.place.rglob("*") if p.is_file())
        return {str(p.relative_to(self.place)): p.read_bytes() for p in files}

    def siblings(self) -> list[str]:
        names = (path.name for path in self.place.parent.iterdir())
        return sorted(name for name in names if not name.endswith(".lock"))

    def test_layout_is_onnx_own_with_a_manifest(self) -> None:
        case = "node/test_relu"
        data = f"{case}/test_data_set_0"
        found = self.content()
        self.assertEqual(found[f"{case}/model.onnx"], self.cases[0].model_bytes)
        inputs = self.cases[0].data_sets[0].inputs
        self.assertEqual(found[f"{data}/input_0.pb"], inputs[0])
        self.assertIn(f"{data}/output_0.pb", found)
        manifest = json.loads(found["manifest.json"])
        self.assertEqual(manifest["schema"], "assay.corpus/1")
        self.assertEqual(manifest["n_cases"], 2)
        self.assertEqual(
            [entry["test_id"] for entry in manifest["cases"]],
            ["node/Relu/test_other", "node/Relu/test_relu"],
        )
        lines = found["manifest.json"].decode().splitlines()
        self.assertEqual(sum('"test_id"' in line for line in lines), 2)

    def test_the_same_cases_give_the_same_bytes_in_any_order(self) -> None:
        before = self.content()
        published = self.publish(self.cases[::-1])
        self.assertEqual(published.drift, [])
        self.assertEqual(self.content(), before)

    def test_another_model_or_input_or_case_is_an_error(self) -> None:
        first, second = self.cases
        old = helper.make_operatorsetid("", 13)
        model = onnx.ModelProto.FromString(first.model_bytes)
        model.opset_import[0].CopyFrom(old)
        changed = replace(first, model_bytes=model.SerializeToString())
        fed = with_input(first, np.array([3, 4], np.float32))
        extra = relu_case("test_extra")
        rows = [
            ([changed, second], "1 cases have another model or other inputs"),
            ([fed, second], "1 cases have another model or other inputs"),
            ([first], "1 cases are pinned, but were not found"),
            ([first, second, extra], "1 cases were found, but are not pinned"),
        ]
        before = self.content()
        for cases, want in rows:
            with self.subTest(want=want):
                with self.assertRaisesRegex(CorpusError, want):
                    self.publish(cases)
                self.assertEqual(self.content(), before)

    def test_a_value_too_many_or_too_few_is_an_error(self) -> None:
        case = self.cases[0]
        inputs, outputs = case.data_sets[0].inputs, case.data_sets[0].outputs
        rows = [
            ((), "found no data set"),
            ((DataSet((), outputs),), r"found .* \(0, 1\), wanted \(1, 1\)"),
            ((DataSet(inputs, outputs * 2),), r"\(1, 2\), wanted \(1, 1\)"),
        ]
        for data_sets, want in rows:
            raises = self.assertRaisesRegex(CorpusError, want)
            with self.subTest(want=want), raises:
                describe(replace(case, data_sets=data_sets))

    def test_another_output_is_drift(self) -> None:
        published = self.publish([relu_case(scale=2.0), self.cases[1]])
        self.assertEqual(published.drift, ["node/Relu/test_relu"])
        manifest = json.loads(self.content()["manifest.json"])
        self.assertEqual(manifest["drift"], ["node/Relu/test_relu"])

    def test_accepting_rewrites_the_digests(self) -> None:
        cases = [relu_case(scale=2.0), self.cases[1]]
        self.publish(cases, accept=True)
        self.assertEqual(self.publish(cases).drift, [])
        self.assertEqual(
            self.publish(self.cases).drift, ["node/Relu/test_relu"]
        )

    def test_a_twin_stands_behind_its_case(self) -> None:
        one = digests.Digest("1" * 32, "a" * 32)
        two = digests.Digest("2" * 32, "b" * 32)
        other = digests.Digest("3" * 32, "a" * 32)
        for twin, apart in ((other, False), (two, True), (one, False)):
            pinned = {"a/x": one, "a/x_expanded": twin}
            digests.write(self.digests, pinned)
            self.assertEqual(digests.read(self.digests), pinned)
            text = self.digests.read_text("ascii")
            self.assertEqual(len(text.splitlines()), 2)
            self.assertEqual("x_expanded" in text, apart)
            with self.digests.open("a") as file:
                file.write(f"a: x_expanded {'1' * 32} {'a' * 32}\n")
            with self.assertRaisesRegex(CorpusError, "once"):
                digests.read(self.digests)

    def test_a_damaged_digests_file_is_an_error(self) -> None:
        text = self.digests.read_text("ascii")
        head, cases = text.splitlines()
        first, second = cases.split(", ")
        rows = [
            ("", "found ''"),
            (head, "found 0 cases, wanted 2"),
            (f"{head}\n{first}\n", "found 1 cases, wanted 2"),
            (text[:-5], ":2: found 'test_relu "),
            (f"{head}\n{first}\n{first}\n", ":3: found .*each test_id once"),
            (f"{head}\n{cases}, {second}\n", ":2: found .*each test_id once"),
            (f"{head}\n\n", ":2: found ''"),
            (f"{cases}\n", ":1: found"),
        ]
        for content, want in rows:
            with self.subTest(want=want):
                self.digests.write_text(content, "ascii")
                with self.assertRaisesRegex(CorpusError, want):
                    self.publish(self.cases)
        self.digests.unlink()
        with self.assertRaisesRegex(CorpusError, "cannot read digests"):
            self.publish(self.cases)

    def test_a_failure_half_way_leaves_the_old_corpus(self) -> None:
        def breaking() -> Iterator[Case]:
            yield relu_case(scale=2.0)
            raise OSError("disk full")

        before = self.content()
        with self.assertRaisesRegex(OSError, "disk full"):
            self.publish(breaking())
        self.assertEqual(self.content(), before)
        self.assertEqual(self.siblings(), ["onnx.digest", "small"])

    def test_a_kill_half_way_leaves_the_old_corpus(self) -> None:
        script = (
            "import os, sys; sys.path.insert(0, sys.argv[1])\n"
            "import export_test as t\n"
            "from pathlib import Path\n"
            "def cases():\n"
            "    yield t.relu_case(scale=2.0)\n"
            "    os.kill(os.getpid(), 9)\n"
            "target = t.Target(Path(sys.argv[2]), Path(sys.argv[3]), False)\n"
            "t.publish(cases(), target, t.VERSIONS)\n"
        )
        arguments = [str(HERE), str(self.place), str(self.digests)]
        before = self.content()
        killed = subprocess.run(
            [sys.executable, "-c", script, *arguments], check=False
        )
        self.assertEqual(killed.returncode, -signal.SIGKILL)
        self.assertEqual(
            self.siblings(), [".small.partial", "onnx.digest", "small"]
        )
        self.assertEqual(self.content(), before)
        self.publish(self.cases)
        self.assertEqual(self.siblings(), ["onnx.digest", "small"])

    def test_a_kill_between_the_renames_is_mended(self) -> None:
        before = self.content()
        self.place.rename(self.place.with_name(".small.old"))
        with self.assertRaises(CorpusError):
            self.publish([])
        self.assertEqual(self.content(), before)

    def test_a_folder_that_is_no_corpus_is_not_replaced(self) -> None:
        store.check_place(self.place)
        store.check_place(self.folder / "nothing")
        foreign = self.folder / "foreign"
        foreign.mkdir()
        store.check_place(foreign)
        (foreign / "thesis.txt").write_text("mine", "ascii")
        with self.assertRaisesRegex(CorpusError, "not replaced"):
            store.check_place(foreign)

    def run_program(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Runs export.py where onnx and numpy cannot be imported."""
        for name in ("onnx", "numpy"):
            module = self.folder / "broken" / f"{name}.py"
            module.parent.mkdir(exist_ok=True)
            module.write_text("raise ImportError('imported')\n", "ascii")
        return subprocess.run(
            [sys.executable, str(HERE / "export.py"), *arguments],
            env={**os.environ, "PYTHONPATH": str(self.folder / "broken")},
            capture_output=True,
            text=True,
            check=False,
        )

    def test_a_second_run_does_nothing(self) -> None:
        arguments = (f"--out={self.place}", f"--digests={self.digests}")
        inode = self.place.stat().st_ino
        again = self.run_program(*arguments)
        self.assertEqual((again.returncode, again.stderr), (0, ""))
        self.assertIn("up to date", again.stdout)
        self.assertEqual(self.place.stat().st_ino, inode)
        # The same program does want to work when a file is gone.
        next(self.place.rglob("input_0.pb")).unlink()
        again = self.run_program(*arguments)
        self.assertEqual(again.returncode, 99)
        self.assertIn("cannot import numpy", again.stderr)

    def test_the_stamp_notices_what_changes_the_corpus(self) -> None:
        key = stamp.key(self.digests)
        self.assertTrue(stamp.is_current(self.place, key))
        with (self.place / "manifest.json").open("a") as manifest:
            manifest.write(" ")
        self.assertFalse(stamp.is_current(self.place, key))
        self.publish(self.cases)
        self.assertTrue(stamp.is_current(self.place, key))
        # So does the digest of what was made.
        made = self.place.parent / "onnx.digest"
        before = made.read_text("ascii")
        made.write_text("0" * 64 + "\n", "ascii")
        self.assertFalse(stamp.is_current(self.place, key))
        self.publish(self.cases)
        self.assertEqual(made.read_text("ascii"), before)
        self.digests.write_text("other", "ascii")
        self.assertNotEqual(stamp.key(self.digests), key)
        self.assertFalse(stamp.is_current(self.place, stamp.key(self.digests)))


class RecomputeTest(unittest.TestCase):
    """Expected data computed again, on Relu of -1 and 1 in float32."""

    def listed(self, text: str) -> dict[str, str]:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "recomputed.txt"
            path.write_text(text, "ascii")
            return recompute.read(path)

    def outputs(self, case: Case) -> list[float]:
        proto = TensorProto.FromString(case.data_sets[0].outputs[0])
        return [float(x) for x in numpy_helper.to_array(proto)]

    def test_a_listed_case_and_its_expansion_get_exact_outputs(self) -> None:
        wrong = relu_case("test_relu", scale=1.0006)
        twin = replace(wrong, name="test_relu_expanded", expanded=True)
        other = relu_case("test_other", scale=1.0006)
        cases = [wrong, twin, other]
        found = list(recompute.recomputed(cases, {"test_relu": "0.60"}))
        self.assertEqual([c.name for c in found], [c.name for c in cases])
        self.assertEqual(self.outputs(found[0]), [0, 1])
        self.assertEqual(self.outputs(found[1]), [0, 1])
        self.assertEqual(found[2], other)
        self.assertIn("take 0.60 of", describe(found[1])["tolerance_source"])
        self.assertEqual(describe(found[0])["atol"], 1e-7)

    def test_a_limit_admits_what_is_published_and_no_more(self) -> None:
        wrong = relu_case("test_relu", scale=1.00212)
        (found,) = recompute.recomputed([wrong], {"test_relu": "2.12"})
        entry = describe(found)
        self.assertEqual((entry["atol"], entry["rtol"]), (1.13e-3, 1e-3))
        self.assertIn("atol raised from 1e-07", entry["tolerance_source"])

    def test_what_need_not_be_listed_or_is_not_there_is_an_error(self) -> None:
        good = relu_case("test_relu", scale=1.0004)
        twin = relu_case("test_relu_expanded", scale=1.1)
        twin = replace(twin, expanded=True)
        rows = [
            ([good], "take 0.40 of the tolerance, .* need not be listed"),
            ([relu_case("test_other")], "found no case test_relu"),
            ([relu_case("test_relu", scale=2), twin], "found other data"),
        ]
        for cases, want in rows:
            raises = self.assertRaisesRegex(CorpusError, want)
            with self.subTest(want=want), raises:
                list(recompute.recomputed(cases, {"test_relu": "0.60"}))

    def test_a_line_has_a_case_a_share_and_a_reason(self) -> None:
        good = "test_a 0.60: because"
        self.assertEqual(self.listed(f"# x\n\n{good}\n"), {"test_a": "0.60"})
        for line in ("test_a", "test_a 0.6: x", f"{good}\n{good}"):
            with self.assertRaisesRegex(CorpusError, r":\d: found 'test_a"):
                self.listed(line)


class WholeCorpusTest(unittest.TestCase):
    """All cases of the installed onnx package."""

    entries: list[dict[str, Any]]
    by_id: dict[str, dict[str, Any]]
    listed: dict[str, str]

    @classmethod
    def setUpClass(cls) -> None:
        cls.listed = recompute.read()
        cases = recompute.recomputed(collect.collect(), cls.listed)
        cls.entries = [describe(case) for case in cases]
        cls.by_id = {entry["test_id"]: entry for entry in cls.entries}

    def counted(
        self, key: str, is_meant: Callable[[dict[str, Any]], object]
    ) -> Counter[str]:
        """The cases of each group of models, and of the others by `key`."""
        return Counter(
            entry["op"] if entry["suite"] == "model" else entry[key]
            for entry in self.entries
            if is_meant(entry)
        )

    def test_every_case_is_there_once(self) -> None:
        self.assertEqual(stamp.package_version("onnx"), ONNX_VERSION)
        check_names(self.entries)
        groups = self.counted("kind", lambda entry: True)
        wanted = {"node": 1404, "expanded": 480, "simple": 26, "light": 9}
        wanted |= {"pytorch-converted": 82, "pytorch-operator": 35}
        self.assertEqual(groups, wanted)
        self.assertEqual(digests.read(DIGESTS).keys(), self.by_id.keys())

    def test_ids_keep_to_the_grammar(self) -> None:
        grammar = re.compile(r"(node|model)/[A-Za-z0-9.-]+/[A-Za-z0-9_.#+-]+")
        for entry in self.entries:
            self.assertIsNotNone(
                grammar.fullmatch(entry["test_id"]), entry["test_id"]
            )

    def test_random_cases_are_found_by_their_operator(self) -> None:
        entries = self.entries
        random = (e for e in entries if e["comparator"] == "distribution")
        found = Counter(entry["op"] for entry in random)
        self.assertEqual(found, {"Bernoulli": 6, "Dropout": 4})

    def test_what_is_computed_again_is_listed_with_its_share(self) -> None:
        note = re.compile(r"computed again .* take (\d+\.\d\d) of the tol")
        found = {}
        for entry in self.entries:
            share = note.search(entry["tolerance_source"])
            if share and entry["kind"] == "node":
                found[entry["case"]] = share[1]
        self.assertEqual(found, self.listed)
        of_twins = sum(
            "computed again" in entry["tolerance_source"]
            for entry in self.entries
        )
        self.assertEqual((len(found), of_twins), (11, 20))

    def test_only_the_noise_of_a_float32_transform_widens_a_limit(self) -> None:
        found = {
            entry["case"]: entry["atol"]
            for entry in self.entries
            if "atol raised" in entry["tolerance_source"]
        }
        names = ("test_dft_inverse", "test_dft_inverse_opset19")
        self.assertEqual(found, dict.fromkeys(names, 1.91e-7))

    def test_vacuous_cases_are_counted(self) -> None:
        found = self.counted("suite", lambda entry: entry["vacuous"])
        self.assertEqual(found, {"node": 57, "simple": 7, "light": 9})

    def test_facts_of_single_cases(self) -> None:
        rows: list[tuple[str, dict[str, Any]]] = [
            (
                "node/Conv/test_conv_with_strides_padding",
                {"opset": 22, "operators": ["ai.onnx::Conv"], "vacuous": ""}
                | {"dtypes": ["float32"]},
            ),
            (
                "node/preview.FlexAttention/test_flexattention_expanded_ver26",
                {"kind": "expanded", "domain": "ai.onnx.preview", "opset": 1},
            ),
            ("node/training.Adam/test_adam", {"opset": 1}),
            ("model/light/test_densenet121", {"rtol": 2e-3, "opset": 9}),
            ("node/Trilu/test_triu_zero", {"vacuous": "zero-size output"}),
            (
                "node/Identity/test_identity_opt",
                {"value_kinds": ["optional", "sequence", "tensor"]},
            ),
            (
                "node/LSTM/test_lstm_reverse",
                {"attributes": {"direction": "reverse", "hidden_size": "3"}},
            ),
        ]
        for test_id, facts in rows:
            for key, want in facts.items():
                with self.subTest(test_id=test_id, key=key):
                    self.assertEqual(self.by_id[test_id][key], want)

    def test_light_models_are_fed_their_data_only(self) -> None:
        entry = self.by_id["model/light/test_inception_v1"]
        names = [value["name"] for value in entry["inputs"]]
        self.assertEqual(names, ["data_0"])
