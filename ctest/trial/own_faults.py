# SPDX-License-Identifier: Apache-2.0
"""Faulty folders and words of a person's own, each with the answer that is right.

FOLDERS are as in own_cases.py: an outcome on the reference and on onednn, or why the
folder is a bad case. Exactly one thing is wrong in each. COMMANDS are a name, words,
an exit code and part of what is said, as in own_inputs.py, over MODELS and FILES.
"""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, numpy_helper, parser

from own_cases import ABS, Case, Data, make_model, npy, npz
from own_layers import (
    functions,
    ir_3,
    layers,
    ml_models,
    overridden,
    passed_through,
    sequence_mapped,
    typed_data,
)
from own_operators import NUMBERS, case_of, f, i, optional_input, ramp

_Folder = tuple[str, Callable[[], Case], str, str]
_OK, _EITHER = "pass", "pass|unsupported"
_INPUT, _OUTPUT = "test_data_set_0/input_0.pb", "test_data_set_0/output_0.pb"
_X = f([1, -2, 3])
_OPEN = "(float[n] x) => (float[n] y) { y = Abs(x) }"
_WIDE = "(float[8,8] x) => (float[8,8] y) { y = Abs(x) }"
_64 = -ramp(8, 8)


def _raw(**fields: object) -> onnx.TensorProto:
    return onnx.TensorProto(**{"data_type": TensorProto.FLOAT, "dims": [3], **fields})


def _abs(
    text: str = ABS,
    given: Data = _X,
    wanted: Data | None = None,
    files: dict[str, bytes | Path | None] | None = None,
) -> Callable[[], Case]:
    """Abs of 3 numbers with its right answer, but for what is given."""

    def build() -> Case:
        outputs = [np.abs(_X) if wanted is None else wanted]
        case = Case(text, [given], outputs)
        case.files.update(files or {})
        return case

    return build


def _edited(edit: Callable[[onnx.ModelProto], object], text: str = ABS) -> Callable:
    """Abs of 3 numbers whose model is edited."""

    def build() -> Case:
        model = make_model(text)
        edit(model)
        return Case(model, [_X], [np.abs(_X)])

    return build


def _off(element: int, factor: float) -> np.ndarray:
    wanted = np.abs(_64)
    wanted.flat[element] *= factor
    return wanted


def _weight(model: onnx.ModelProto, **fields: object) -> None:
    model.graph.initializer.append(_raw(name="w", **fields))


def _outside(model: onnx.ModelProto, location: str, **entries: str) -> None:
    _weight(model, data_location=TensorProto.EXTERNAL)
    for key, value in {"location": location, **entries}.items():
        model.graph.initializer[0].external_data.add(key=key, value=value)


def _attribute(model: onnx.ModelProto, name: str, value: object) -> None:
    model.graph.node[0].attribute.append(onnx.helper.make_attribute(name, value))


def _called_by_itself() -> Case:
    model = parser.parse_model(
        '<ir_version: 10, opset_import: ["" : 21, "mine" : 1]>\n'
        "g (float[3] x) => (float[3] y) { y = mine.Again(x) }\n"
        '<domain: "mine", opset_import: ["" : 21, "mine" : 1]> '
        "Again (p) => (r) { r = mine.Again(p) }")
    return Case(model, [_X], [_X])


def _sequences() -> Case:
    model = "(float[2] x) => (seq(float[2]) y) { y = SequenceConstruct(x, x) }"
    return Case(model, [f([1, 2])], [numpy_helper.from_list([f([1, 2])], "y")])


_ADD = "(float[3] x) => (float[3] y) { y = Add(x, w) }"
_LEAKY = "(float[3] x) => (float[3] y) { y = LeakyRelu(x) }"
_MODEL = make_model(ABS).SerializeToString()

FAULTS: list[_Folder] = [
    # Odd, and not wrong.
    ("linked_data", _abs(files={_INPUT: Path("../kept.pb"), "kept.pb":
     numpy_helper.from_array(_X).SerializeToString()}), _OK, _OK),
    ("files_beside", _abs(files={"README.txt": b"a note", ".DS_Store": b"\0",
     "test_data_set_0/notes.md": b"a note"}), _OK, _OK),
    ("links_in_a_circle", _abs(files={"again": Path(".")}), _OK, _OK),
    ("negative_zero", _abs(given=f([0, -2, 3]), wanted=f([-0.0, 2, 3])), _OK, _OK),
    # The answer is wrong.
    ("one_element_off", _abs(_WIDE, _64, _off(37, 2)), "fail", "fail"),
    ("one_percent_off", _abs(_WIDE, _64, np.abs(_64) * np.float32(1.01)), "fail",
     "fail"),
    ("one_element_by_1_percent", _abs(_WIDE, _64, _off(63, 1.01)), "fail", "fail"),
    ("longer_than_it_is", _abs(_OPEN, wanted=f([1, 2, 3, 0])), "fail: .*\\[4\\]",
     "fail: .*\\[4\\]"),
    ("nan_wanted", _abs(wanted=f([1, np.nan, 3])), "fail", "fail"),
    ("infinity_of_other_sign", _abs(given=f([-np.inf, 1, 2]), wanted=f([-np.inf, 1, 2])
     ), "fail", "fail"),
    ("word_off", lambda: Case("(string[2] x) => (string[2] y) { y = Identity(x) }", [
     np.array(["a", "b"], object)], [np.array(["a", "B"], object)]), "fail",
     "fail|unsupported"),
    ("bool_off", lambda: Case("(float[2] x) => (bool[2] y) { y = IsNaN(x) }", [f([1,
     np.nan])], [np.array([True, True])]), "fail", "fail|unsupported"),
    ("sequence_too_short", _sequences, "fail", "fail|unsupported"),
    # The folder is.
    ("bad_type_wanted", _abs(wanted=np.abs(_X).astype(np.float64)),
     "bad: float64.*float32", ""),
    ("bad_shape_wanted", _abs(wanted=f([1, 2, 3, 0])),
     "bad: float32\\[4\\].*float32\\[3\\]", ""),
    ("bad_rank_wanted", _abs(_OPEN, wanted=np.abs(_X)[None]), "bad: float32\\[1,3\\]",
     ""),
    ("bad_torn_model", _abs(files={"model.onnx": _MODEL[:-9]}), "bad: model.onnx", ""),
    ("left_out_model_is_a_folder", _abs(files={"model.onnx": None}), "nothing", ""),
    ("bad_input_is_a_folder", _abs(files={_INPUT: None}), "bad: input_0.pb", ""),
    ("bad_link_to_nothing", _abs(files={_INPUT: Path("nowhere.pb")}),
     "bad: input_0.pb", ""),
    ("bad_empty_input", _abs(files={_INPUT: b""}), "bad: input_0.pb", ""),
    ("bad_type_99", _abs(given=_raw(data_type=99, raw_data=bytes(12))),
     "bad: input_0.pb.*99", ""),
    ("bad_extent_below_0", _abs(given=_raw(dims=[-3], raw_data=bytes(12))),
     "bad: input_0.pb.*-3", ""),
    ("bad_extents_of_all_memory", _abs(given=_raw(dims=[2**40, 2**40])),
     "bad: input_0.pb", ""),
    ("bad_two_forms_of_data", _abs(given=_raw(raw_data=_X.tobytes(), float_data=[9, 9,
     9])), "bad: input_0.pb", ""),
    ("bad_too_few_numbers", _abs(given=_raw(float_data=[1, 2])), "bad: input_0.pb", ""),
    ("bad_second_input_missing", lambda: Case(
     "(float[3] x, float[3] z) => (float[3] y) { y = Add(x, z) }", [_X], [_X]),
     "bad: 'z'", ""),
    ("bad_input_twice", _edited(lambda m: m.graph.input.append(m.graph.input[0])),
     "bad: 'x'", ""),
    ("bad_weight_twice", _edited(lambda m: [_weight(m, float_data=[1, 2, 3]), _weight(m,
     float_data=[4, 5, 6])], _ADD), "bad: 'w'", ""),
    ("bad_input_is_written", _edited(lambda m: m.graph.node[0].output.append("x"),
     "(float[3] x) => (float[3] y) { y = Dropout(x) }"), "bad: 'x'", ""),
    ("bad_read_before_it_is_there", _edited(lambda m: m.graph.node.reverse(),
     "(float[3] x) => (float[3] y) { a = Neg(x) y = Abs(a) }"), "bad: 'a'", ""),
    ("bad_output_of_nobody", _edited(lambda m: setattr(m.graph.output[0], "name",
     "nobody")), "bad: 'nobody'", ""),
    ("bad_opset_twice", _edited(lambda m: m.opset_import.add(domain="", version=13)),
     "bad: opset", ""),
    ("bad_function_of_itself", _called_by_itself, "bad: Again", ""),
    ("bad_no_graph", _edited(lambda m: m.ClearField("graph")), "bad: graph|input", ""),
    ("bad_weights_in_a_folder", _edited(lambda m: _outside(m, "test_data_set_0"), _ADD),
     "bad: test_data_set_0", ""),
    ("bad_weights_nowhere", _edited(lambda m: _outside(m, ""), _ADD), "bad: 'w'", ""),
    ("bad_weights_beyond", _edited(lambda m: _outside(m, "model.onnx", offset="10000000"
     ), _ADD), "bad: 'w'|model.onnx", ""),
    ("bad_words_in_bytes", _edited(lambda m: _weight(m, data_type=TensorProto.STRING,
     raw_data=b"abc"), _ADD), "bad: 'w'", ""),
    ("bad_one_input_of_two", _edited(lambda m: m.graph.node[0].input.pop(),
     "(float[3] x) => (float[3] y) { y = Add(x, x) }"), "bad: Add", ""),
    ("bad_no_attribute", _edited(lambda m: m.graph.node[0].attribute.pop(),
     "(float[3] x) => (float[3] y) { y = Cast<to = 1>(x) }"), "bad: 'to'.*Cast", ""),
    ("bad_attribute_of_words", _edited(lambda m: _attribute(m, "alpha", "steep"),
     _LEAKY), "bad: alpha", ""),
    ("bad_attribute_twice", _edited(lambda m: [_attribute(m, "alpha", 0.5), _attribute(
     m, "alpha", 0.25)], _LEAKY), "bad: alpha", ""),
    ("bad_operator_of_nobody", _abs(ABS.replace("Abs", "Abss")), "bad: Abss", ""),
    ("operator_of_later", lambda: Case(make_model(ABS.replace("Abs", "Gelu"), 13), [_X],
     [_X]), "unsupported|bad", "unsupported|bad"),
]  # fmt: skip


# oneDNN's maximum of 0 and NaN is 0, which the judge must see.
_ONEDNN = {"nan_stays": "fail: output a"}


def _plain(name: str, build: Callable[[], Case]) -> _Folder:
    return name, build, _OK, _ONEDNN.get(name, _EITHER)


NEW_FOLDERS: list[_Folder] = [
    *(_plain(row[0], lambda row=row: case_of(row)) for row in [*NUMBERS, *layers()]),
    _plain("functions", functions),
    _plain("ml_models", ml_models),
    _plain("passed_through", passed_through),
    _plain("overridden", overridden),
    _plain("ir_3", ir_3),
    _plain("sequence_mapped", sequence_mapped),
    _plain("typed_data", typed_data),
    _plain("optional_input", optional_input),
    *FAULTS,
]

_TWO = "(float[n,m] x) => (float[n,2] y) <float[3,2] w = {1, -2, 3, 4, -5, 6}>"
NEW_MODELS: dict[str, onnx.ModelProto] = {
    "wide": make_model(_TWO + " { h = MatMul(x, w) y = Sigmoid(h) }"),
    "fixed": make_model("(float[2,3] x) => (float[2,3] y) { h = Cos(x) y = Exp(h) }"),
    "nameless": make_model("(float[?,3] x) => (float[?,3] y) { y = Neg(x) }"),
    "scalar": make_model("(float x) => (float y) { y = Neg(x) }"),
    "log": make_model("(float[5] x) => (float[5] y) { y = Log(x) }"),
    "exp": make_model("(float[3] x) => (float[3] y) { y = Exp(x) }"),
    "random": make_model("(float[9] x) => (float[9] y) { y = RandomUniformLike(x) }"),
    "pair": make_model("(float[3] a, float[3] b) => (float[3] y) { y = Sub(a, b) }"),
    "letters": make_model("(float[3] x) => (float[3] y) { y = Neg(x) }"),
    "table": make_model("(int64[3] i) => (float[3,2] y) <float[4,2] w = {1, 2, 3, 4, 5,"
     " 6, 7, 8}> { g = Gather(w, i) y = Tanh(g) }"),
}
_LETTERS = NEW_MODELS["letters"].graph
_LETTERS.input[0].name = _LETTERS.node[0].input[0] = "größe"
_SUB = NEW_MODELS["fixed"].SerializeToString()
_ABS_CASE = Case(ABS, [_X], [np.abs(_X)]).files
NEW_FILES: dict[str, bytes | Path | None] = {
    **{f"my data/größe/{name}": data for name, data in _ABS_CASE.items()},
    **{f"my data/a b/{name}": data for name, data in _ABS_CASE.items()},
    "linked.onnx": Path("fixed.onnx"),
    "torn.onnx": _SUB[:-7],
    "empty.onnx": b"",
    "no_models": None,
    "log.npz": npz(x=f([-1, 0, 1, np.inf, np.nan])),
    "exp.npz": npz(x=f([1000, -1000, 88.5])),
    "a.npz": npz(a=_X),
    "twice/x.npy": npy(np.ones((2, 3), np.float32)),
    "twice/input_0.npy": npy(np.zeros((2, 3), np.float32)),
    "letters/größe.npy": npy(_X),
    "i.npz": npz(i=i([3, 0, 3])),
}

_RUN = "run --no-report --out run --backend reference "
_MPI = "run --no-report --out run --backend threads --filter id:distributed/allre"
NEW_COMMANDS: list[tuple[str, str, int, str]] = [
    ("blanks_and_letters", _RUN + "--corpus './my data'", 0, "= pass 2"),
    ("model_in_blanks", _RUN + "--model 'my data/größe/model.onnx'", 0, "pass 1"),
    ("model_linked", _RUN + "--model linked.onnx", 0, "own: 1 = pass 1"),
    ("two_backends", _RUN + "--backend onednn --model wide.onnx --dim n=4 --dim m=3", 0,
     "onednn on own: 1 = pass 1"),
    ("no_rows", _RUN + "--model wide.onnx --dim n=0 --dim m=3", 0, "vacuous 1"),
    ("nameless_extent", _RUN + "--model nameless.onnx", 2, "--dim x.0="),
    ("scalar", _RUN + "--model scalar.onnx", 0, "pass 1"),
    ("log_of_all", _RUN + "--backend onednn --model log.onnx --inputs log.npz", 0,
     "reference on own: 1 = pass 1"),
    ("exp_overflows", _RUN + "--backend onednn --model exp.onnx --inputs exp.npz", 0,
     "onednn on own: 1 = pass 1"),
    ("random_is_undecided", _RUN + "--model random.onnx", 1, "undecided"),
    ("given_half", _RUN + "--model pair.onnx --inputs a.npz", 2, "'b'"),
    ("given_twice", _RUN + "--model fixed.onnx --inputs twice", 2, "for 'x'"),
    ("given_by_letters", _RUN + "--model letters.onnx --inputs letters", 0, "pass 1"),
    ("gradients_of_a_table", _RUN + "--model table.onnx --inputs i.npz --gradients", 0,
     "reference on gradcheck: "),
    ("gradients_of_few_types", _RUN + "--model fixed.onnx --gradients", 0, "pass 4"),
    ("gradient_of_other_sign", "run --no-report --repeats 0 --out run --backend "
     "faulty+mutant=gradient:sign:Cos.0 --model fixed.onnx --gradients", 1, "fail 4"),
    ("zeros_for_a_model", "run --no-report --repeats 0 --out run --backend null "
     "--model pair.onnx", 1, "fail 1"),
    ("torn_model", _RUN + "--model torn.onnx", 2, "torn.onnx"),
    ("empty_model", _RUN + "--model empty.onnx", 2, "empty.onnx"),
    ("folder_without_models", _RUN + "--model no_models", 2, "no_models"),
    ("extent_twice", _RUN + "--model wide.onnx --dim n=2 --dim n=3 --dim m=3", 2, "n=3"
     ),
    ("extent_without_number", _RUN + "--model wide.onnx --dim n", 2, "--dim"),
    ("extent_and_a_half", _RUN + "--model wide.onnx --dim n=2.5 --dim m=3", 2, "2.5"),
    ("extents_and_inputs", _RUN + "--model wide.onnx --dim n=2 --inputs a.npz", 2,
     "--dim"),
    ("inputs_of_no_model", _RUN + "--inputs a.npz", 2, "--model"),
    ("model_twice", _RUN + "--model fixed.onnx --model log.onnx", 2, "--model"),
    ("tier_twice", _RUN + "--tier ci --tier smoke", 2, "--tier"),
    ("seed_twice", _RUN + "--model fixed.onnx --seed 1 --seed 2", 2, "--seed"),
    ("seed_of_words", _RUN + "--model fixed.onnx --seed some", 2, "some"),
    ("jobs_below_0", _RUN + "--model fixed.onnx --jobs -1", 2, "found -1"),
    ("no_time", _RUN + "--model fixed.onnx --timeout 0", 2, "found 0"),
    ("verb_of_nobody", "runn --backend reference", 2, "runn"),
    ("suite_of_nobody", _RUN + "--suite nodes", 2, "nodes"),
    ("backend_of_nobody", "run --backend onedn --model fixed.onnx", 2, "onedn"),
    ("tier_of_nobody", _RUN + "--tier weekly", 2, "weekly"),
    ("corpus_of_nobody", "list cases --corpus ./nothing", 2, "nothing"),
    ("list_of_nobody", "list nonsense", 2, "nonsense"),
    ("half_a_query", _RUN + "--filter 'op:Conv and'", 2, "found the end"),
    ("resume_nowhere", "run --resume nowhere", 2, "nowhere"),
    ("shard_of_no_plan", _RUN + "--shard 1/2", 2, "--plan"),
    ("collective_of_nobody", _MPI + "duse/ring.float32.sum.6#n3", 2, "allreduce"),
    ("type_of_nobody", _MPI + "duce/ring.float99.sum.6#n3", 2, "float99"),
    ("too_many_ranks", _MPI + "duce/ring.float32.sum.6#n99999", 2, "99999"),
    ("too_many_elements", _MPI + "duce/own.float32.sum.987654321#n3", 2, "987654321"),
    ("rate_twice", "train --optimizer 'adam/pytorch:rate=0.1 rate=0.2'", 2, "rate"),
    ("rate_of_words", "train --optimizer adam/pytorch:rate=fast", 2, "fast"),
    ("setting_of_nobody", "train --optimizer adam/pytorch:rat=0.1", 2, "rat"),
]  # fmt: skip
