# SPDX-License-Identifier: Apache-2.0
"""Features of ai.onnx.ml, picked, put together and encoded, and counts of n-grams."""

from __future__ import annotations

from typing import Any

import numpy as np
from learned import FEATURES, TYPES, numbers
from mpmath import mpf
from problem import (
    Array,
    Draw,
    Operator,
    Problem,
    Undrawable,
    attribute,
    filled,
    node,
    problem,
    tensor_text,
)


def draw_extractor(draw: Draw) -> Problem:
    """Columns of the last axis, by number."""
    x = draw.floats(draw.choice([(2, 3), (4,), (2, 1, 3)]))
    picked = draw.integers((draw.integer(1, 3),), 0, x.shape[-1] - 1)
    shape = (*x.shape[:-1], len(picked)) if x.ndim > 1 else (1, len(picked))
    text = node("y", "ai.onnx.ml.ArrayFeatureExtractor", ["x", "at"])

    def compute(given: Any) -> list[Array]:
        return [given["x"][..., picked].reshape(shape)]

    return problem(draw, text, {"x": x, "at": picked}, {"y": shape}, compute)


def draw_vectorizer(draw: Draw) -> Problem:
    """Rows side by side, each of as many features as stated."""
    rows = draw.integer(1, 3)
    widths = [draw.integer(1, 3) for _ in range(draw.integer(1, 3))]
    inputs = {f"x{at}": draw.floats((rows, wide)) for at, wide in enumerate(widths)}
    text = node("y", "ai.onnx.ml.FeatureVectorizer", inputs, inputdimensions=widths)
    return problem(
        draw,
        text,
        inputs,
        {"y": (rows, sum(widths))},
        lambda given: [np.concatenate([given[name] for name in inputs], axis=1)],
        types={"y": "float"},
    )


def draw_encoder(draw: Draw) -> Problem:
    """Keys to values; a number that is no key has the default.

    Attributes are of float32, tensors of any type.
    """
    shape, count = draw.choice(FEATURES), draw.integer(2, 4)
    kind = draw.choice(["int64", draw.type])
    keys: list[Any] = [3, -7, 2**40, 0][:count]
    if kind != "int64":
        keys = draw.floats((count,)).tolist()
        if len(set(keys)) < count:
            raise Undrawable("two keys are the same")
    wanted = [draw.choice([*keys, 5]) for _ in range(shape[0] * shape[1])]
    x = np.array(wanted, np.int64 if kind == "int64" else np.float64).reshape(shape)
    values, other = draw.floats((count,)).tolist(), draw.uniform(-1, 1)
    table = dict(zip(keys, values))

    def compute(given: Any) -> list[Array]:
        found = [mpf(table.get(plain, other)) for plain in x.ravel().tolist()]
        return [filled(shape, found)]

    given: dict[str, Any] = {
        "default_float": other,
        "values_floats": values,
        f"keys_{kind}s": keys,
    }
    if draw.type == "double":
        given = {
            "default_tensor": tensor_text("double", [other]),
            "keys_tensor": tensor_text(kind, keys),
            "values_tensor": tensor_text("double", values),
        }
    text = node("y", "ai.onnx.ml.LabelEncoder", "x", **given)
    types, opsets = {"x": kind, "y": draw.type}, {"ai.onnx.ml": 4}
    return problem(draw, text, {"x": x}, {"y": shape}, compute, types, ["x"], opsets)


def draw_one_hot_encoder(draw: Draw) -> Problem:
    """1 at the place of a number's category, else zeros."""
    count = draw.integer(2, 4)
    kinds = [3, 1, 8, 5][:count]
    shape = draw.choice([(3,), (2, 2), (1, 4)])
    x = np.array([float(draw.choice([*kinds, 2])) for _ in range(np.prod(shape))])
    text = node("y", "ai.onnx.ml.OneHotEncoder", "x", cats_int64s=kinds, zeros=1)

    def compute(given: Any) -> list[Array]:
        hot = [mpf(int(one == kind)) for one in x for kind in kinds]
        return [filled((*shape, count), hot)]

    inputs, outputs = {"x": x.reshape(shape)}, {"y": (*shape, count)}
    return problem(draw, text, inputs, outputs, compute, {"y": "float"}, still=["x"])


def draw_tfidf(draw: Draw) -> Problem:
    """Counts of 1-grams and 2-grams of integers, by weights."""
    shape = draw.choice([(5,), (2, 4), (1, 6)])
    ones, twos = [1, 3], [(1, 2), (2, 1), (1, 1)]
    grams: list[tuple[int, ...]] = [*((one,) for one in ones), *twos]
    places = draw.random.sample(range(len(grams)), len(grams))
    mode = draw.choice(["TF", "IDF", "TFIDF"])
    weights = numbers(draw, len(grams)) if draw.flag(0.8) else None
    low, high = draw.choice([(1, 1), (1, 2), (2, 2)])
    skips = draw.integer(0, 2)
    x = draw.integers(shape, 1, 3)

    def count(row: list[int], gram: tuple[int, ...]) -> int:
        size = len(gram)
        if not low <= size <= high:
            return 0
        strides = range(1, skips + 2) if size > 1 else [1]
        cut = [row[at::step][:size] for step in strides for at in range(len(row))]
        return sum(tuple(one) == gram for one in cut)

    def compute(given: Any) -> list[Array]:
        found = []
        for row in x.reshape(-1, shape[-1]).tolist():
            line = [mpf(0)] * len(grams)
            for at, (gram, place) in enumerate(zip(grams, places)):
                number = count(row, gram)
                line[place] = mpf(min(number, 1) if mode == "IDF" else number)
                if weights and mode != "TF":
                    line[place] = line[place] * attribute(weights[at])
            found += line
        return [filled((*shape[:-1], len(grams)), found)]

    text = node(
        "y",
        "TfIdfVectorizer",
        "x",
        max_gram_length=high,
        max_skip_count=skips,
        min_gram_length=low,
        mode=mode,
        weights=weights,
        ngram_counts=[0, len(ones)],
        ngram_indexes=places,
        pool_int64s=[*ones, *(one for two in twos for one in two)],
    )
    outputs = {"y": (*shape[:-1], len(grams))}
    return problem(draw, text, {"x": x}, outputs, compute, {"y": "float"})


OPERATORS = [
    Operator("ArrayFeatureExtractor", draw_extractor, types=TYPES),
    Operator("FeatureVectorizer", draw_vectorizer, types=TYPES),
    Operator("LabelEncoder", draw_encoder, types=TYPES),
    Operator("OneHotEncoder", draw_one_hot_encoder, types=("float",)),
    Operator("TfIdfVectorizer", draw_tfidf, types=("float",)),
]
