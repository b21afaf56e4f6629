# SPDX-License-Identifier: Apache-2.0
"""Tests of the witness: known numbers, and ONNX's reference on tame draws.

ONNX's evaluator computes in the type with numpy, so it only tells a wrong
formula from a right one. Where it is the one that is wrong, DIFFERENT says why.

    PYTHONPATH=... python ctest/trial/oracle/witness/generator/witness_test.py
"""

from __future__ import annotations

import contextlib
import re
import unittest
import warnings
from collections.abc import Sequence
from pathlib import Path

import ml_dtypes
import numpy as np
import onnx
from arithmetic import each, power
from chains import renamed
from differences import evaluated, exact_inputs, jacobian, values
from generate import draw_problem, operators
from mpmath import mp, mpf
from onnx.reference import ReferenceEvaluator
from problem import (
    FLOATS,
    NARROW_FLOATS,
    SCALES,
    Draw,
    Operator,
    Problem,
    Undrawable,
    node,
)
from text import case_text, graph_text, number_text

SEEDS = 12  # of each operator

# Where ONNX's reference does not follow the operator's page, or has no answer:
# the operator, words in the node's text, and how so.
DIFFERENT: list[tuple[str, str, str]] = [
    ("LRN", "", "sums over the channels' squares for the first N channels only"),
    ("LpNormalization", "p = 1", "adds the numbers and not their magnitudes"),
    ("Chain", "= LpNormalization", "as above"),
    ("Chain", "= LRN", "as above"),
    ("Lost", "", "has numbers that double loses"),
    ("Outside", "", "has numbers beyond double's range"),
    ("Softsign", "(double x)", "raises for a scalar"),
    ("ConvTranspose", "output_shape", "fits no output less than the whole"),
    ("ConvTranspose", "group = 2", "adds the first group's bias to every group"),
    ("MaxPool", "", "counts indices within a channel, and in the padding"),
    ("LpPool", "ceil_mode", "scales a sum of fewer elements up, as if a mean"),
    ("GlobalMaxPool", "[1,2,4] x", "reduces the channels of a line"),
    ("GlobalMaxPool", "[2,2,3] x", "reduces the channels of a line"),
    ("GlobalMaxPool", "[1,1,2,2,2] x", "has an axis too many"),
    ("GlobalLpPool", "", "has none"),
    ("MaxRoiPool", "", "has none"),
    ("Resize", "pytorch_half_pixel", "takes -0.5, not 0, where one pixel is left"),
    ("Upsample", "", "knows few factors"),
    *(
        (name, words, "ignores it")
        for name in ("RNN", "LSTM", "GRU")
        for words in ("clip", "activations", "lengths")
    ),
    ("LSTM", "input_forget", "ignores it"),
    ("Attention", "qk_matmul_output_mode = 0", "shows capped scores as raw ones"),
    ("Pad", "cuts", "takes no negative pads"),
    ("GatherElements", "axis = -", "takes a negative axis for another"),
    ("Scatter", "", "has none"),
    ("QLinearConv", "", "rounds a half after the zero point is added"),
    ("LoopUntil", '(n, ""', "takes no condition as false"),
    ("Scan", "scan_input_directions", "has none"),
    (
        *("SVMClassifier", "[5, 2, 9], prob_a"),
        "multiplies pairs of a class with each other's",
    ),
    ("CastToNarrow", "{ n = ", "rounds between the casts"),
    ("QLinearMatMulNarrow", "", "knows integers alone"),
    ("Optional", "= Optional", "gives a list of one"),
    ("TfIdfVectorizer", 'IDF", weights', "takes them for those of places"),
    ("TreeEnsemble", "post_transform", "ignores it"),
    ("TreeEnsembleRegressor", 'transform = "SOFTMAX"', "has no transforms"),
    ("TreeEnsembleRegressor", 'transform = "LOGISTIC"', "has no transforms"),
    ("LinearRegressor", "transform", "has no transforms"),
    ("Gradient", "", "has none"),
    ("Unique", "sorted = 0", "loses subtensors, or counts beyond the end"),
]

# Operators with results of floats that no family draws, and why.
RANDOM = "draws at random: its distribution is judged"
MAPS = "takes or gives maps, which the text of a case has not"
LEFT_OUT = {
    **dict.fromkeys(("Bernoulli", "RandomNormal", "RandomNormalLike"), RANDOM),
    **dict.fromkeys(("RandomUniform", "RandomUniformLike"), RANDOM),
    **dict.fromkeys(("CastMap", "DictVectorizer", "ZipMap"), MAPS),
    "BitCast": "the oracle declines it: the bits of an exact number are no value",
}


def type_of(text: str) -> type:
    """The numpy type of an ONNX text type."""
    known = {**FLOATS, **NARROW_FLOATS}.get(text) or getattr(ml_dtypes, text, None)
    return known or np.dtype(text).type


def model_of(problem: Problem) -> onnx.ModelProto:
    """The model of a problem's graph."""
    opset = problem.opsets.get("", onnx.defs.onnx_opset_version())
    learned = problem.opsets.get("ai.onnx.ml", 3)
    others = f'"ai.onnx.ml" : {learned}, "ai.onnx.preview" : 1, '
    others += '"ai.onnx.preview.training" : 1'
    header = f'<ir_version: 10, opset_import: ["" : {opset}, {others}]>\n'
    return onnx.parser.parse_model(header + graph_text(problem))


def reference_outputs(problem: Problem) -> list[np.ndarray]:
    """The outputs of ONNX's ReferenceEvaluator."""
    model = model_of(problem)
    fed = {
        name: value.astype(type_of(problem.types[name]))
        for name, value in problem.inputs.items()
    }
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return ReferenceEvaluator(model).run(None, fed)


def as_floats(array: np.ndarray) -> np.ndarray:
    """Exact numbers, or those of any type, in float64."""
    return np.array([float(x) for x in array.ravel()]).reshape(array.shape)


def difference(
    operator: Operator, seed: int, known: Sequence[tuple[str, str, str]] = DIFFERENT
) -> str | None:
    """How a tame problem's outputs differ from the reference; None if not.

    A difference that is among those known is none.
    """
    found = None
    for type, rtol in (("double", 3e-4), ("float", 3e-3)):
        try:
            problem = draw_problem(operator, type, "tame", seed)
            with mp.workdps(50):
                own = evaluated(problem, exact_inputs(problem))
        except Undrawable:
            return None
        text = graph_text(problem)
        if any(operator.name == name and words in text for name, words, _ in known):
            return None
        try:
            theirs = reference_outputs(problem)
        except Exception as error:  # not every form or type has a reference
            found = f"{text}: raises {error!r:.300}"
            continue
        return unlike(problem, own, theirs, rtol)
    return found


def unlike(
    problem: Problem, own: list[np.ndarray], theirs: list[np.ndarray], rtol: float
) -> str | None:
    """The first output that differs by more than a tolerance."""
    text = graph_text(problem)
    for (name, type, _), mine, other in zip(problem.outputs, own, theirs):
        tolerance = max(rtol, {"float16": 2e-3, "bfloat16": 1e-2}.get(type, 0))
        if type in NARROW_FLOATS:
            tolerance = float(ml_dtypes.finfo(NARROW_FLOATS[type]).eps) * 0.51
        mine, other = as_floats(mine), as_floats(np.asarray(other))
        if mine.shape != other.shape:
            return f"{text}: {name} is of {other.shape}, not {mine.shape}"
        if not np.allclose(mine, other, tolerance, tolerance, equal_nan=True):
            return f"{text}: {name} is {other.tolist()}, not {mine.tolist()}"
    return None


def gives_floats(schema: onnx.defs.OpSchema) -> bool:
    """True where an output may be of floats, or of a type that holds floats."""
    types = [
        type
        for output in schema.outputs
        for constraint in schema.type_constraints
        if output.type_str == constraint.type_param_str
        for type in constraint.allowed_type_strs
    ]
    types += [output.type_str for output in schema.outputs]
    return any("float" in type or "double" in type for type in types)


def operators_of(graph: onnx.GraphProto) -> set[str]:
    """The operators of a graph and of the graphs in it."""
    found = {one.op_type for one in graph.node}
    given = [attribute for one in graph.node for attribute in one.attribute]
    return found.union(
        *(operators_of(a.g) for a in given if a.type == onnx.AttributeProto.GRAPH)
    )


class EveryOperatorTest(unittest.TestCase):
    def test_operators_that_give_floats_are_drawn_or_left_out(self) -> None:
        every = {
            each.name for each in onnx.defs.get_all_schemas() if gives_floats(each)
        }
        drawn = set()
        for operator in operators():
            for seed in range(40 if operator.name == "Sequence" else 4):
                with contextlib.suppress(Undrawable):
                    problem = draw_problem(operator, "float", "tame", seed)
                    drawn |= operators_of(model_of(problem).graph)
        self.assertEqual(every - drawn, set(LEFT_OUT))
        self.assertFalse(drawn & set(LEFT_OUT))

    def test_the_sample_has_one_case_of_each(self) -> None:
        text = (Path(__file__).parents[1] / "sample.txt").read_text(encoding="utf-8")
        sampled = re.findall(r"(\w+)/\w+/(?:tame|edge|wild)/\d+", text)
        self.assertEqual(sorted(sampled), [one.name for one in operators()])


class ReferenceTest(unittest.TestCase):
    def test_formulas_agree_with_onnx(self) -> None:
        for operator in operators():
            for seed in range(SEEDS):
                with self.subTest(operator=operator.name, seed=seed):
                    self.assertIsNone(difference(operator, seed))

    def test_known_differences_are_there(self) -> None:
        by_name = {operator.name: operator for operator in operators()}
        for name, words, reason in DIFFERENT:
            if reason == "as above":
                continue
            with self.subTest(operator=name, words=words):
                found = [
                    seed
                    for seed in range(150)
                    if words in text_of(by_name[name], seed)
                    and difference(by_name[name], seed, ())
                ]
                self.assertTrue(found, "is not different any more")


def text_of(operator: Operator, seed: int) -> str:
    """The text of the graph of a seed, empty where it draws none."""
    try:
        return graph_text(draw_problem(operator, "double", "tame", seed))
    except Undrawable:
        return ""


class KnownNumbersTest(unittest.TestCase):
    def one(self, name: str, x: float) -> mpf:
        """An operator without attributes of one number."""
        operator = next(one for one in operators(["elementwise"]) if one.name == name)
        problem = draw_problem(operator, "double", "tame", 1)
        return problem.compute({"x": np.array([mpf(x)], object)})[0][0]

    def test_functions_have_the_values_of_tables(self) -> None:
        # Abramowitz and Stegun: tables 4.1, 4.3, 4.6, 4.14 and 7.1.
        rows = [
            ("Erf", 0.5, "0.5204998778"),
            ("Exp", 1.0, "2.718281828459045235360287"),
            ("Log", 2.0, "0.693147180559945309417232"),
            ("Sin", 1.0, "0.84147098480789650665250"),
            ("Tanh", 0.5, "0.462117157260010"),
            ("Round", 2.5, "2"),
            ("Round", -1.5, "-2"),
            ("HardSwish", 1.0, "0.66666666666666666667"),
        ]
        with mp.workdps(60):
            for name, x, wanted in rows:
                with self.subTest(name=name):
                    digits = len(wanted.lstrip("-0.").replace(".", ""))
                    off = abs(self.one(name, x) - mpf(wanted))
                    self.assertLess(off, mpf(10) ** (1 - digits))

    def test_powers_are_those_of_c(self) -> None:
        self.assertEqual(power(mpf(-2), mpf(3)), -8)
        self.assertEqual(power(mpf(0), mpf(0)), 1)
        self.assertTrue(mp.isnan(power(mpf(-2), mpf("0.5"))))


class ModelsTest(unittest.TestCase):
    def test_onnx_takes_every_type(self) -> None:
        for operator in operators():
            # ONNX's own function of it fails its type inference.
            if operator.name in ("MeanVarianceNormalization", "Chain"):
                continue
            for type in operator.types:
                for seed in range(4):
                    with self.subTest(operator=operator.name, type=type, seed=seed):
                        self.check(operator, type, seed)

    def check(self, operator: Operator, type: str, seed: int) -> None:
        """ONNX's checker and its inference of types and shapes."""
        try:
            problem = draw_problem(operator, type, SCALES[seed % 3], seed)
        except Undrawable:
            return
        model = model_of(problem)
        onnx.checker.check_model(model)
        onnx.shape_inference.infer_shapes(
            model, check_type=True, strict_mode=True, data_prop=True
        )


def cube(x: np.ndarray, function=lambda x: x**3) -> Problem:
    """A problem of one input whose derivative is known."""
    return Problem(
        node=node("y", "Test", "x"),
        inputs={"x": x},
        types={"x": "double"},
        outputs=[("y", "double", x.shape)],
        compute=lambda given: [each(function, given["x"])],
        moved=["x"],
    )


class DifferencesTest(unittest.TestCase):
    def test_slopes_have_sixty_digits(self) -> None:
        for diagonal in (False, True):
            found = jacobian(cube(np.array([2.0, 0.0, -3.0])), diagonal)
            self.assertIsNotNone(found)
            slopes = np.diag(found["x"][0])
            with mp.workdps(420):
                for slope, wanted in zip(slopes, (12, 0, 27)):
                    self.assertLess(abs(slope - wanted), mpf("1e-60"))

    def test_kinks_and_jumps_have_no_slopes(self) -> None:
        for function in (abs, mp.floor, mp.sign, lambda x: max(x, 2 * x)):
            self.assertIsNone(jacobian(cube(np.zeros(1), function), False))
            self.assertIsNotNone(jacobian(cube(np.full(1, 0.5), function), False))

    def test_saturated_slopes_are_small_and_right(self) -> None:
        found = jacobian(cube(np.array([300.0]), mp.tanh), False)
        self.assertIsNotNone(found)
        slope = found["x"][0][0, 0]
        with mp.workdps(420):
            wanted = 4 * mp.exp(-600)
            self.assertLess(abs(slope - wanted) / wanted, mpf("1e-60"))

    def test_sines_of_great_numbers_keep_their_digits(self) -> None:
        found = jacobian(cube(np.array([1e300]), mp.sin), False)
        with mp.workdps(1600):
            off = abs(found["x"][0][0, 0] - mp.cos(mpf(1e300)))
        self.assertLess(off, mpf("1e-60"))

    def test_small_slopes_of_great_numbers_are_not_lost(self) -> None:
        norm = cube(np.array([1e-114, 1e105]))
        norm.outputs = [("y", "double", ())]
        norm.compute = lambda given: [
            np.array(mp.sqrt(given["x"][0] ** 2 + given["x"][1] ** 2), object)
        ]
        found = jacobian(norm, False)
        self.assertAlmostEqual(float(found["x"][0][0, 0] * mpf("1e219")), 1.0)

    def test_digits_rise_until_values_agree(self) -> None:
        shift = mpf("1e-300")
        problem = cube(np.ones(1), lambda x: (x + shift) - x)
        self.assertLess(abs(values(problem)[0][0] / shift - 1), mpf("1e-100"))


class DrawTest(unittest.TestCase):
    def test_numbers_are_exact_and_within_bounds(self) -> None:
        for type in FLOATS:
            for scale in SCALES:
                for bounds in ((None, None), (0.5, 2.0), (-1.0, 1.0), (0.0, None)):
                    with self.subTest(type=type, scale=scale, bounds=bounds):
                        draw = Draw("exact", type, scale)
                        numbers = draw.floats((20,), *bounds)
                        np.testing.assert_array_equal(numbers, draw.rounded(numbers))
                        low, high = (b or 0 for b in bounds)
                        self.assertTrue(bounds[0] is None or numbers.min() >= low)
                        self.assertTrue(bounds[1] is None or numbers.max() <= high)

    def test_seeds_repeat(self) -> None:
        for operator in operators():
            texts = {graph_text(drawn_or_none(operator)) for _ in range(2)}
            self.assertEqual(len(texts), 1, operator.name)


def drawn_or_none(operator: Operator) -> Problem:
    """The first problem that some seed draws."""
    for seed in range(100):
        with contextlib.suppress(Undrawable):
            return draw_problem(operator, operator.types[0], "tame", seed)
    raise AssertionError(f"{operator.name} is never drawn")


class TextTest(unittest.TestCase):
    def test_links_of_chains_are_renamed(self) -> None:
        text = 'y = Gelu <approximate = "x"> (x)'
        wanted = 't2 = Gelu <approximate = "x"> (t1)'
        self.assertEqual(renamed(text, {"x": "t1", "y": "t2"}), wanted)

    def test_numbers_have_a_rest(self) -> None:
        with mp.workdps(60):
            self.assertEqual(number_text(mpf(1)), "0x1.0000000000000p+0")
            value, rest = number_text(mpf(1) / 3).split(":")
            both = mpf(float.fromhex(value)) + mpf(float.fromhex(rest))
            self.assertLess(abs(3 * both - 1), mpf(2) ** -104)
            self.assertEqual(number_text(mpf("-inf")), "-inf")
            self.assertRaises(Undrawable, number_text, mpf("1e400"))

    def test_case_states_all_of_its_lines(self) -> None:
        text = case_text("Cube/double/tame/1", cube(np.array([2.0])), True)
        words = " ".join(line.split(" ")[0] for line in text.splitlines())
        wanted = "case graph input output cotangent gradient tangent jvp condition"
        self.assertEqual(words, wanted)
        self.assertIn("condition y 0x1.8000000000000p+4", text)


if __name__ == "__main__":
    unittest.main()
