# SPDX-License-Identifier: Apache-2.0
"""Features of ai.onnx.ml, picked, put together and encoded, and counts of n-grams."""

from __future__ import annotations

from typing import Any

import numpy as np
from arithmetic import Array, Given, Line, attribute, each
from learned import FEATURES, TYPES, numbers
from mpmath import mpf
from problem import Draw, Operator, Problem, Undrawable, tensor_text


def draw_extractor(draw: Draw) -> Problem:
    """Columns of the last axis, by number."""
    x = draw.floats(draw.choice([(2, 3), (4,), (2, 1, 3)]))
    picked = draw.integers((draw.integer(1, 3),), 0, x.shape[-1] - 1)
    shape = (*x.shape[:-1], len(picked)) if x.ndim > 1 else (1, len(picked))
    return draw.problem(
        "ai.onnx.ml.ArrayFeatureExtractor",
        {"x": x, "at": picked},
        shape,
        lambda given: [given["x"][..., picked].reshape(shape)],
    )


def draw_vectorizer(draw: Draw) -> Problem:
    """Rows side by side, each of as many features as stated."""
    rows = draw.integer(1, 3)
    widths = [draw.integer(1, 3) for _ in range(draw.integer(1, 3))]
    inputs = {f"x{at}": draw.floats((rows, wide)) for at, wide in enumerate(widths)}
    return draw.problem(
        "ai.onnx.ml.FeatureVectorizer",
        inputs,
        (rows, sum(widths)),
        lambda given: [np.concatenate([given[name] for name in inputs], axis=1)],
        types={"y": "float"},
        inputdimensions=widths,
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
    found = {**dict.fromkeys(wanted, other), **dict(zip(keys, values))}

    def compute(_: Given) -> list[Array]:
        return [each(lambda key: mpf(found[key]), x)]

    given = {"default_float": other, "values_floats": values, f"keys_{kind}s": keys}
    if draw.type == "double":
        given = {
            "default_tensor": tensor_text("double", [other]),
            "keys_tensor": tensor_text(kind, keys),
            "values_tensor": tensor_text("double", values),
        }
    given |= {"types": {"x": kind}, "still": ["x"], "opsets": {"ai.onnx.ml": 4}}
    return draw.problem("ai.onnx.ml.LabelEncoder", {"x": x}, shape, compute, **given)


def draw_one_hot_encoder(draw: Draw) -> Problem:
    """1 at the place of a number's category, else zeros."""
    kinds = [3, 1, 8, 5][: draw.integer(2, 4)]
    shape = draw.choice([(3,), (2, 2), (1, 4)])
    x = np.array([float(draw.choice([*kinds, 2])) for _ in range(np.prod(shape))])
    x = x.reshape(shape)

    def compute(_: Given) -> list[Array]:
        return [
            each(lambda one, kind: mpf(int(one == kind)), x[..., np.newaxis], kinds)
        ]

    given = {"still": ["x"], "cats_int64s": kinds, "zeros": 1}
    after = (*shape, len(kinds))
    return draw.problem("ai.onnx.ml.OneHotEncoder", {"x": x}, after, compute, **given)


def draw_tfidf(draw: Draw) -> Problem:
    """Counts of 1-grams and 2-grams of integers, by weights."""
    shape = draw.choice([(5,), (2, 4), (1, 6)])
    grams = [(1,), (3,), (1, 2), (2, 1), (1, 1)]
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

    def line(row: Line) -> Line:
        found = [mpf(0)] * len(grams)
        for at, (gram, place) in enumerate(zip(grams, places)):
            number = count([int(one) for one in row], gram)
            found[place] = mpf(min(number, 1) if mode == "IDF" else number)
            if weights and mode != "TF":
                found[place] = found[place] * attribute(weights[at])
        return found

    return draw.problem(
        "TfIdfVectorizer",
        {"x": x},
        (*shape[:-1], len(grams)),
        lambda _: [np.apply_along_axis(line, -1, x)],
        max_gram_length=high,
        max_skip_count=skips,
        min_gram_length=low,
        mode=mode,
        weights=weights,
        ngram_counts=[0, 2],
        ngram_indexes=places,
        pool_int64s=[one for gram in grams for one in gram],
    )


OPERATORS = [
    Operator("ArrayFeatureExtractor", draw_extractor, types=TYPES),
    Operator("FeatureVectorizer", draw_vectorizer, types=TYPES),
    Operator("LabelEncoder", draw_encoder, types=TYPES),
    Operator("OneHotEncoder", draw_one_hot_encoder, types=("float",)),
    Operator("TfIdfVectorizer", draw_tfidf, types=("float",)),
]
