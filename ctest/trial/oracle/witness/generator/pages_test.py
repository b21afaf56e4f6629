# SPDX-License-Identifier: Apache-2.0
"""Numbers of ONNX's pages and cases, and of tables, where its evaluator has none.

PYTHONPATH=... python ctest/trial/oracle/witness/generator/pages_test.py
"""

from __future__ import annotations

import unittest
from fractions import Fraction

import numpy as np
import onnx
from arithmetic import exact
from attention import SIZES, Way, attend
from convolution import Layout, Transposed, convolve_transposed
from gathering import overlap
from generate import draw_problem, operators
from learned import coupled, probit
from movement import source
from mpmath import mp, mpf
from pooling import corners, norm
from problem import NARROW_FLOATS, SCALES, Draw, Problem
from products import UNIMODULAR, determinant, transform
from quantization import clipped
from recurrent import Cell, activation, lstm_step, rnn_step
from resampling import Axis, Style, keys, reflect, resize
from trees import MODES, Leaf, Question, votes_of


def problems(name: str, count: int) -> list[Problem]:
    """The first tame problems of an operator."""
    operator = next(one for one in operators() if one.name == name)
    return [draw_problem(operator, "double", "tame", seed) for seed in range(count)]


def computed(problem: Problem) -> list[np.ndarray]:
    """The outputs of a problem."""
    return problem.compute({k: exact(v) for k, v in problem.inputs.items()})


def plain(array: np.ndarray) -> list[float]:
    """Exact numbers as a list of floats."""
    return [float(number) for number in array.ravel()]


class ProductsTest(unittest.TestCase):
    def test_an_integer_matrix_has_its_integer_determinant(self) -> None:
        self.assertEqual(determinant(exact(np.array(UNIMODULAR, float))), 1)
        self.assertEqual(determinant(exact(np.array([[1.0, 2.0], [2.0, 4.0]]))), 0)

    def test_windows_have_the_shapes_of_the_pages(self) -> None:
        rows = [
            (Layout((5,), (3,), strides=(2,), pads=(1, 1)), (3,)),
            (Layout((5,), (3,), auto_pad="SAME_UPPER", strides=(2,)), (3,)),
            (Transposed((3, 3), (3, 3), strides=(3, 2)), (9, 7)),
            (Transposed((3, 3), (3, 3), strides=(3, 2), output_shape=(10, 8)), (10, 8)),
        ]
        for layout, wanted in rows:
            self.assertEqual(layout.window()[1], wanted)

    def test_a_bias_of_a_group_is_its_own(self) -> None:
        ones = exact(np.ones((1, 2, 1)))
        bias = exact(np.array([10.0, 20.0]))
        layout = Transposed((1,), (1,), channels=2, filters=2, group=2)
        given = {"x": ones, "w": exact(np.ones((2, 1, 1))), "b": bias}
        y = convolve_transposed(given, layout)
        self.assertEqual(plain(y), [11, 21])


class PoolsTest(unittest.TestCase):
    def test_indices_point_at_the_maxima(self) -> None:
        for problem in problems("MaxPool", 60):
            if "storage_order" in problem.node:
                continue
            y, indices = computed(problem)
            found = problem.inputs["x"].ravel()[indices.ravel().astype(int)]
            self.assertEqual(plain(y), list(found))

    def test_a_norm_is_that_of_tables(self) -> None:
        for numbers, p, wanted in [
            ((3, -4), 2, 5),
            ((3, -4), 1, 7),
            ((1, -2, 3), 3, 36),
        ]:
            found = float(norm([mpf(number) for number in numbers], p))
            self.assertAlmostEqual(found, wanted if p < 3 else wanted ** (1 / 3))

    def test_regions_are_cut_as_in_fast_rcnn(self) -> None:
        for problem in problems("MaxRoiPool", 30):
            if "pooled_shape = [1, 1]" not in problem.node:
                continue
            if "spatial_scale = 0.5" in problem.node:
                continue
            x = problem.inputs["x"][0, 0]
            wanted = []
            for _, x1, y1, x2, y2 in problem.inputs["rois"].astype(int):
                wanted.append(x[y1 : y2 + 1, x1 : x2 + 1].max())
            self.assertEqual(plain(computed(problem)[0]), wanted)

    def test_samples_within_one_place_of_the_border_are_its_own(self) -> None:
        image = exact(np.array([[1.0, 2.0], [4.0, 8.0]]))
        rows = [((0.0, 0.5), 1.5), ((-0.5, 0.0), 1.0), ((1.5, 1.9), 8.0)]
        for (y, x), wanted in [*rows, ((0.5, 0.5), 3.75), ((2.5, 0.0), 0.0)]:
            self.assertEqual(sum(corners(image, (mpf(y), mpf(x)))), wanted)


class ResamplingTest(unittest.TestCase):
    def test_the_page_reflects_twice(self) -> None:
        # "If pixel location x = -3.5 reflects by border -1 and becomes x' = 1.5,
        # then reflects by border 1 and becomes x'' = 0.5."
        self.assertEqual(reflect(mpf(-3.5), mpf(-1), mpf(1)), 0.5)

    def test_the_cubic_kernel_sums_to_one(self) -> None:
        for part in (0.0, 0.25, 0.7):
            taps = [keys(mpf(part) - k, mpf(-0.75)) for k in range(-1, 3)]
            self.assertAlmostEqual(float(sum(taps)), 1)

    def test_places_are_those_of_the_page(self) -> None:
        axis = Axis(4, 8, Fraction(2))
        rows = [
            ("half_pixel", Fraction(5, 4)),
            ("asymmetric", Fraction(3, 2)),
            ("align_corners", Fraction(9, 7)),
        ]
        for coordinates, wanted in rows:
            self.assertEqual(axis.original(3, coordinates), wanted)

    def test_one_pixel_of_pytorch_is_the_first(self) -> None:
        axes = [Axis(3, 1, Fraction(1, 3))]
        style = Style("cubic", "pytorch_half_pixel")
        x = exact(np.array([5.0, 7.0, 9.0]))
        self.assertEqual(plain(resize(x, axes, style)), [5])


class SequencesTest(unittest.TestCase):
    def cell(self, names: list[str], gates: int, clip: float | None) -> Cell:
        """One unit whose weights are all 1, and whose biases are 0."""
        functions = [activation(name, None, None) for name in names]
        ones = exact(np.ones((gates, 1)))
        bias = exact(np.zeros(2 * gates))
        limit = None if clip is None else mpf(clip)
        return Cell(functions, ones, ones, bias, None, 1, limit)

    def test_a_clip_bounds_what_an_activation_sees(self) -> None:
        cell = self.cell(["Relu"], 1, 0.5)
        h, _ = rnn_step(cell, exact(np.array([2.0])), [mpf(1)], [mpf(0)])
        self.assertEqual(h, [0.5])

    def test_a_coupled_gate_forgets_what_it_does_not_take(self) -> None:
        cell = self.cell(["HardSigmoid", "Relu", "Relu"], 4, None)
        # i = 0.2 * 1 + 0.5, so f = 0.3: C = 0.3 * 2 + 0.7 * 1.
        args = (cell, exact(np.array([1.0])), [mpf(0)], [mpf(2)])
        _, c = lstm_step(*args, True)
        self.assertAlmostEqual(float(c[0]), 1.3, 6)
        _, c = lstm_step(*args, False)
        self.assertAlmostEqual(float(c[0]), 0.7 * 2 + 0.7, 6)

    def test_steps_past_the_end_are_zero(self) -> None:
        for name in ("RNN", "LSTM", "GRU"):
            for problem in problems(name, 60):
                lengths = problem.inputs.get("lengths")
                if lengths is None or "layout = 1" in problem.node:
                    continue
                y = computed(problem)[0]
                for n, length in enumerate(lengths):
                    self.assertFalse(np.any(y[length:, :, n]))
                    if "activations" not in problem.node:
                        self.assertTrue(np.all(y[:length, :, n]))

    def test_a_query_that_sees_no_key_gives_zeros(self) -> None:
        way = Way(SIZES[0], False, None, None, None, None, None, None)
        shapes = {"q": (1, 1, 2, 2), "k": (1, 1, 3, 2), "v": (1, 1, 3, 2)}
        given = {name: exact(np.ones(shape)) for name, shape in shapes.items()}
        given["mask"] = np.array([[True, True, False], [False, False, False]])
        self.assertEqual(plain(attend(given, way)[0]), [1, 1, 0, 0])

    def test_a_pulse_has_a_flat_spectrum(self) -> None:
        pulse = [(mpf(1), mpf(0))] + [(mpf(0), mpf(0))] * 4
        self.assertEqual(transform(pulse, 5, False), [(1, 0)] * 5)
        with mp.workdps(30):
            back = transform(transform(pulse, 5, False), 5, True)
            self.assertLess(abs(back[0][0] - 1) + abs(back[2][0]), mpf("1e-25"))


class MovementTest(unittest.TestCase):
    def test_padding_repeats_as_the_page_shows(self) -> None:
        rows = [
            ("reflect", [2, 1, 0, 1, 2, 1, 0]),
            ("edge", [0, 0, 0, 1, 2, 2, 2]),
            ("wrap", [1, 2, 0, 1, 2, 0, 1]),
            ("constant", [None, None, 0, 1, 2, None, None]),
        ]
        for mode, wanted in rows:
            found = [source(k, 3, mode) for k in range(-2, 5)]
            self.assertEqual(found, wanted)

    def test_scatter_is_scatter_elements(self) -> None:
        for problem in problems("Scatter", 20):
            x = problem.inputs["x"].copy()
            axis = -x.ndim
            if "axis = " in problem.node:
                axis = int(problem.node.split("axis = ")[1].split(">")[0])
            at = problem.inputs["indices"]
            np.put_along_axis(x, at, problem.inputs["updates"], axis)
            if at.shape[:axis] == x.shape[:axis]:
                self.assertEqual(plain(computed(problem)[0]), list(x.ravel()))

    def test_boxes_overlap_by_a_third(self) -> None:
        one = [mpf(k) for k in (0, 0, 1, 2)]
        other = [mpf(k) for k in (1, 3, 0, 1)]  # its corners are turned round
        self.assertEqual(overlap(one, other), mpf(1) / 3)


class NarrowTest(unittest.TestCase):
    def test_casts_saturate_at_the_largest_of_the_page(self) -> None:
        # "Float stored in 8 bits", "4 bit floating point types" and OCP's MX.
        rows = [
            ("float8e4m3fn", 448),
            ("float8e4m3fnuz", 240),
            ("float8e5m2", 57344),
            ("float8e5m2fnuz", 57344),
            ("float4e2m1", 6),
            ("float6e2m3", 7.5),
            ("float6e3m2", 28),
        ]
        for type, most in rows:
            for x, wanted in ((most + 1, most), (-1e9, -most), (0.3, 0.3)):
                self.assertEqual(clipped(type)(mpf(x)), wanted)

    def test_narrow_draws_are_of_the_type(self) -> None:
        for type, kind in NARROW_FLOATS.items():
            for scale in SCALES:
                x = Draw("narrow", "float16", scale).narrow(type, (40,))
                np.testing.assert_array_equal(x, x.astype(kind).astype(np.float64))
                np.testing.assert_array_equal(x, x.astype(np.float16))


class LearnedTest(unittest.TestCase):
    def test_a_missing_number_goes_where_it_is_told(self) -> None:
        for mode in MODES:
            for missing in (False, True):
                leaves = [Leaf(((0, weight),)) for weight in (1.0, 2.0)]
                tree = Question(0, mode, 0.5, (0.5,), missing, *leaves)
                wanted = 1 if missing else 2
                self.assertEqual(votes_of(tree, [mpf("nan")]), {0: wanted})

    def test_modes_compare_with_the_border(self) -> None:
        wanted = {
            "BRANCH_LEQ": "yyn",
            "BRANCH_LT": "ynn",
            "BRANCH_GTE": "nyy",
            "BRANCH_GT": "nny",
            "BRANCH_EQ": "nyn",
            "BRANCH_NEQ": "yny",
            "BRANCH_MEMBER": "nyn",
        }
        self.assertEqual(tuple(wanted), MODES)
        for mode, answers in wanted.items():
            end = Leaf(())
            node = Question(0, mode, 0.5, (3.0, 0.5), False, end, end)
            found = [node.says([mpf(x)]) for x in (0.25, 0.5, 0.75)]
            self.assertEqual(found, [answer == "y" for answer in answers])

    def test_pairs_that_agree_have_their_probabilities(self) -> None:
        p = [mpf(part) / 8 for part in (4, 3, 1)]
        share = {(i, j): p[i] / (p[i] + p[j]) for i in range(3) for j in range(3)}
        for found, wanted in zip(coupled(3, share), p):
            self.assertAlmostEqual(float(found), float(wanted), 2)

    def test_probit_is_near_the_inverse_of_the_normal_distribution(self) -> None:
        # Abramowitz and Stegun, table 26.1: P(1) and P(2).
        for x, p in ((1, "0.841344746068543"), (2, "0.977249868051821")):
            self.assertAlmostEqual(float(probit(mpf(p))), x, 2)
            self.assertAlmostEqual(float(probit(1 - mpf(p))), -x, 2)

    def test_a_weight_is_that_of_an_ngram(self) -> None:
        # "the i-th element in weights would be used to scale the count of the
        # i-th n-gram in pool", whose place ngram_indexes states.
        for problem in problems("TfIdfVectorizer", 60):
            found = onnx.parser.parse_node(problem.node)
            given = {
                a.name: onnx.helper.get_attribute_value(a) for a in found.attribute
            }
            if given["mode"] != b"IDF" or "weights" not in given:
                continue
            y = computed(problem)[0].reshape(-1, len(given["weights"]))
            for weight, place in zip(given["weights"], given["ngram_indexes"]):
                self.assertLessEqual(set(plain(y[:, place])), {0.0, weight})


if __name__ == "__main__":
    unittest.main()
