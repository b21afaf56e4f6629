# SPDX-License-Identifier: Apache-2.0
"""Tests of the rules: tolerance, randomness, vacuity, identity, baseline."""

from __future__ import annotations

import sys
import unittest
from contextlib import nullcontext
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

import ml_dtypes
import numpy as np
import onnx
from onnx import helper
from onnx.backend.test.runner import Runner

import baseline
import nodes
import values
from case import CorpusError
from describe import check_test_id, operator_name
from publish import check_names
from tolerance import judge

# The setting of glibc that x86-64 runs with.
TUNABLES = baseline.LIBM_TUNABLES["x86_64"]


class ToleranceTest(unittest.TestCase):
    """The comparator and the effective tolerance of a case."""

    def test_rules_are_those_of_the_table(self) -> None:
        bf16 = 2.0**-6
        rows = [
            # dtypes, random, rtol -> comparator, rtol, atol
            (["float32"], [], 1e-3, "tolerance", 1e-3, 1e-7),
            (["float64"], [], 2e-3, "tolerance", 2e-3, 1e-7),
            (["float16", "bool"], [], 1e-3, "tolerance", 1e-3, 1e-7),
            (["float8e5m2"], [], 1e-3, "tolerance", 1e-3, 1e-7),
            (["complex64"], [], 1e-3, "tolerance", 1e-3, 1e-7),
            (["bfloat16"], [], 1e-3, "tolerance", bf16, 1e-7),
            (["bfloat16", "int64"], [], 1e-3, "tolerance", bf16, 1e-7),
            (["bfloat16"], [], 0.5, "tolerance", 0.5, 1e-7),
            (["int64", "bool"], [], 1e-3, "exact", 0, 0),
            (["uint4"], [], 1e-3, "exact", 0, 0),
            (["string"], [], 1e-3, "text", 0, 0),
            (["string", "int64"], [], 1e-3, "text", 0, 0),
            (["string", "float32"], [], 1e-3, "tolerance", 1e-3, 1e-7),
            (["float32"], ["Bernoulli"], 1e-3, "distribution", 1e-3, 1e-7),
            (["bool"], ["Dropout"], 1e-3, "distribution", 1e-3, 1e-7),
        ]
        for dtypes, random, rtol, comparator, want_rtol, want_atol in rows:
            with self.subTest(dtypes=dtypes, random=random, rtol=rtol):
                found = judge(dtypes, random, rtol, 1e-7)
                self.assertEqual(found[:3], (comparator, want_rtol, want_atol))
                self.assertTrue(found.source)

    def test_bfloat16_does_not_loosen_another_float(self) -> None:
        with self.assertRaisesRegex(CorpusError, "bfloat16 alone"):
            judge(["bfloat16", "float32"], [], 1e-3, 1e-7)

    def test_onnx_runner_agrees_at_the_limit(self) -> None:
        rows = [
            # dtype, a value within the limit of 1.0, the next one beyond it
            (np.dtype("float64"), 1.00099, 1.00101),
            (np.dtype("float32"), 1.00099, 1.00101),
            (np.dtype("float16"), 1 + 2**-10, 1 + 2**-9),
            (np.dtype(ml_dtypes.bfloat16), 1 + 2**-6, 1 + 3 * 2**-7),
            (np.dtype(ml_dtypes.float8_e4m3fn), 1.0, 1 + 2**-3),
            (np.dtype(ml_dtypes.float6_e3m2fn), 1.0, 1 + 2**-2),
        ]
        for dtype, near, far in rows:
            name = dtype.name.replace("_", "")
            limit = judge([name], [], 1e-3, 1e-7)
            for value, accepted in ((near, True), (far, False)):
                with self.subTest(dtype=name, value=value):
                    within = value - 1 <= limit.atol + limit.rtol
                    self.assertEqual(within, accepted)
                    self.assertEqual(self.runs(dtype, value), accepted)

    @staticmethod
    def runs(dtype: np.dtype[Any], value: float) -> bool:
        """True where ONNX's runner takes `value` for 1."""
        want, got = np.ones(1, dtype), np.array([value]).astype(dtype)
        try:
            Runner.assert_similar_outputs([want], [got], 1e-3, 1e-7)
        except AssertionError:
            return False
        return True


class RandomTest(unittest.TestCase):
    """Which models draw random numbers."""

    @staticmethod
    def model(
        op_type: str, inputs: list[str], opset: int, **attributes: Any
    ) -> onnx.ModelProto:
        node = helper.make_node(op_type, inputs, ["y"], **attributes)
        graph = helper.make_graph([node], "g", [], [])
        imports = [helper.make_operatorsetid("", opset)]
        return helper.make_model(graph, opset_imports=imports)

    def test_dropout_draws_in_training_with_a_ratio(self) -> None:
        three = ["x", "r", "t"]
        rows: list[tuple[list[str], int, dict[str, Any], dict[str, Any], bool]]
        rows = [
            # inputs, opset, attributes, fed -> draws
            (["x"], 13, {}, {}, False),
            (["x", "r"], 13, {}, {"r": 0.5}, False),
            (three, 13, {}, {"r": 0.5, "t": True}, True),
            (three, 13, {}, {"r": 0.0, "t": True}, False),
            (three, 13, {}, {"r": 0.5, "t": False}, False),
            (["x", "", "t"], 13, {}, {"t": True}, True),
            (["x", "", "t"], 13, {}, {}, True),
            (["x"], 7, {"ratio": 0.5}, {}, False),
            (["x"], 6, {"is_test": 0}, {}, True),
            (["x"], 6, {"is_test": 1}, {}, False),
        ]
        for inputs, opset, attributes, fed, draws in rows:
            with self.subTest(inputs=inputs, opset=opset, fed=fed):
                model = self.model("Dropout", inputs, opset, **attributes)
                arrays = {k: np.asarray(v) for k, v in fed.items()}
                found = nodes.random_operators(model, arrays)
                self.assertEqual(found, ["Dropout"] if draws else [])

    def test_a_subgraph_is_looked_into(self) -> None:
        body = helper.make_node("RandomNormal", [], ["z"], shape=[1])
        graph = helper.make_graph([body], "body", [], [])
        model = self.model(
            "If", ["c"], 13, then_branch=graph, else_branch=graph
        )
        self.assertEqual(nodes.random_operators(model, {}), ["RandomNormal"])

    def test_every_operator_that_onnx_calls_random_is_known(self) -> None:
        containers = {"If", "Loop", "Scan", "SequenceMap", "AffineGrid"}
        random = onnx.defs.OpSchema.NodeDeterminism.NonDeterministic
        found = {
            schema.name
            for schema in onnx.defs.get_all_schemas()
            if schema.node_determinism == random  # type: ignore[attr-defined]
        }
        self.assertEqual(
            found - containers, nodes.RANDOM_OPERATORS | {"Dropout"}
        )


class VacuityTest(unittest.TestCase):
    """Which expected outputs prove nothing."""

    def test_reasons_are_those_of_the_table(self) -> None:
        nan = float("nan")
        rows: list[tuple[list[Any], str]] = [
            ([[1.0, 2.0]], ""),
            ([[2.0, 2.0]], "constant output"),
            ([[nan, nan]], "constant output"),
            ([[nan, 1.0]], ""),
            ([[0.0, -0.0]], "constant output"),
            ([[]], "zero-size output"),
            ([[], []], "zero-size output"),
            ([[], [3, 3]], "constant output"),
            ([[3, 3], [4, 4]], "constant output"),
            ([[3, 3], [4, 5]], ""),
            ([[3]], ""),
            ([[3, 3], [3]], ""),
            ([[True, True]], "constant output"),
            ([np.array(["a", "a"], object)], "constant output"),
            ([np.array(["a", "b"], object)], ""),
        ]
        for outputs, want in rows:
            with self.subTest(outputs=outputs):
                arrays = [np.asarray(output) for output in outputs]
                self.assertEqual(values.vacuity(arrays), want)


class TestIdTest(unittest.TestCase):
    """The identity of a case."""

    def test_grammar(self) -> None:
        rows = [
            ("node/Relu/test_relu", True),
            ("node/ml.TreeEnsemble/test_a-b+c", True),
            ("node/Relu", False),
            ("no de/Relu/test_relu", False),
            ("node/Re lu/test_relu", False),
            ("node/Relu/test/relu", False),
            ("node//test_relu", False),
            ("node/Relu/test relu", False),
            ("node/Relu/test_relu\n", False),
            ("node/Relu/test_rélu", False),
        ]
        for test_id, good in rows:
            with self.subTest(test_id=test_id):
                raises = self.assertRaises(CorpusError)
                with nullcontext() if good else raises:
                    check_test_id(test_id)

    def test_domain_stands_before_the_operator(self) -> None:
        rows = [
            ("", "Conv", "Conv"),
            ("ai.onnx", "Conv", "Conv"),
            ("ai.onnx.ml", "Scaler", "ml.Scaler"),
            ("ai.onnx.preview.training", "Adam", "training.Adam"),
            ("ai.onnx.preview", "FlexAttention", "preview.FlexAttention"),
        ]
        for domain, op_type, want in rows:
            self.assertEqual(operator_name(domain, op_type), want)

    def test_names_differ_in_more_than_letter_case(self) -> None:
        apart = [{"test_id": i, "directory": i} for i in ("a", "b")]
        check_names(apart)
        for key in ("test_id", "directory"):
            for other in ("A", "a"):
                near = [apart[0], {**apart[1], key: other}]
                raises = self.assertRaisesRegex(CorpusError, key)
                with self.subTest(key=key, other=other), raises:
                    check_names(near)


class BaselineTest(unittest.TestCase):
    """The machine's own kernels are switched off, or it is said."""

    def test_environment_switches_off_what_is_used(self) -> None:
        before = {"NPY_ENABLE_CPU_FEATURES": "AVX2", "HOME": "/"}
        found = baseline.baseline_environment(before, ["A", "B"], "x86_64")
        self.assertEqual(found["NPY_DISABLE_CPU_FEATURES"], "A B")
        self.assertNotIn("NPY_ENABLE_CPU_FEATURES", found)
        self.assertEqual(found["OPENBLAS_CORETYPE"], "Nehalem")
        self.assertEqual(found["GLIBC_TUNABLES"], TUNABLES)
        self.assertEqual(found["HOME"], "/")

    def test_what_is_above_the_baseline_is_named(self) -> None:
        pinned = {"GLIBC_TUNABLES": TUNABLES}
        rows: list[tuple[list[str], str, str, dict[str, str], str]] = [
            ([], "Nehalem", "x86_64", pinned, ""),
            (["AVX2"], "Nehalem", "x86_64", pinned, "numpy uses AVX2"),
            ([], "SkylakeX", "x86_64", pinned, "BLAS kernels are SkylakeX"),
            ([], "Nehalem", "x86_64", {}, "libm runs without"),
            ([], "any", "riscv64", {}, "no BLAS baseline is known"),
            ([], "armv8", "aarch64", {}, ""),
        ]
        for used, blas, machine, environment, want in rows:
            with self.subTest(used=used, blas=blas, machine=machine):
                found = baseline.assess(
                    ["X86_V2"], used, blas, machine, environment
                )
                self.assertIn(want, found.problem)
                self.assertEqual(bool(want), bool(found.problem))
