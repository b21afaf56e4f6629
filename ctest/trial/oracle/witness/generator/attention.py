# SPDX-License-Identifier: Apache-2.0
"""Attention in three forms and RotaryEmbedding from ONNX's pages.

Each output is a loop over batch, head and position; masks are sets of the keys
that a query may see.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from arithmetic import Array, Given, Shape, attribute, dot, filled, places, total, zeros
from mpmath import mp, mpf
from problem import (
    DATA_TYPES,
    NO_DOUBLE,
    Draw,
    Operator,
    Problem,
    body,
    constant,
    type_text,
)


@dataclass(frozen=True)
class Sizes:
    """The sizes of an attention; `past` keys stand before the new ones."""

    batch: int
    heads: int
    groups: int  # heads of keys and values
    queries: int
    keys: int
    width: int
    value_width: int
    past: int = 0

    @property
    def total(self) -> int:
        return self.past + self.keys


@dataclass(frozen=True)
class Way:
    """The choices of a draw for an attention besides its sizes."""

    sizes: Sizes
    flat: bool  # three dimensions: heads lie side by side
    causal: bool | None
    scale: float | None
    softcap: float | None
    left: int | None
    right: int | None
    mode: int | None  # of the fourth output; None without it

    def attributes(self) -> dict[str, object]:
        """Those that are given, for a node's text."""
        return {
            "is_causal": self.causal,
            "scale": self.scale,
            "softcap": self.softcap,
            "left_window_size": self.left,
            "right_window_size": self.right,
            "qk_matmul_output_mode": self.mode,
            "q_num_heads": self.sizes.heads if self.flat else None,
            "kv_num_heads": self.sizes.groups if self.flat else None,
        }

    def sees(self, given: Given, n: int, h: int, i: int, j: int) -> bool:
        """True where query i may see key j."""
        offset = self.sizes.past
        if "nonpad" in given:
            valid = int(given["nonpad"][n])
            offset = valid - self.sizes.queries
            if j >= valid:
                return False
        at = offset + i
        if self.causal and j > at:
            return False
        if self.left is not None and j < at - self.left:
            return False
        if self.right is not None and j > at + self.right:
            return False
        if "mask" not in given:
            return True
        mask = given["mask"]
        if j >= mask.shape[-1]:
            return False
        return mask.dtype == object or bool(masked(mask, n, h, i, j))

    def bias(self, given: Given, n: int, h: int, i: int, j: int) -> mpf:
        """The number that a mask of floats adds to a score."""
        if "mask" not in given or given["mask"].dtype != object:
            return mpf(0)
        return masked(given["mask"], n, h, i, j)

    def capped(self, score: mpf) -> mpf:
        """A score below the soft cap."""
        if not self.softcap:
            return score
        cap = attribute(self.softcap)
        return cap * mp.tanh(score / cap)


def masked(mask: Array, n: int, h: int, i: int, j: int) -> mpf | bool:
    """The element of a mask that is broadcast to (batch, heads, q, keys)."""
    index = (n, h, i, j)[4 - mask.ndim :]
    spread = (0 if size == 1 else k for k, size in zip(index, mask.shape))
    return mask[tuple(spread)]


def by_head(x: Array, heads: int) -> Array:
    """Four dimensions, heads first, from (batch, sequence, heads * width)."""
    if x.ndim == 4:
        return x
    batch, length, whole = x.shape
    return x.reshape(batch, length, heads, whole // heads).transpose(0, 2, 1, 3)


def attend(given: Given, way: Way) -> list[Array]:
    """Attention: y, then of a cache the keys and values, and the scores."""
    sizes = way.sizes
    q = by_head(given["q"], sizes.heads)
    k, v = (by_head(given[name], sizes.groups) for name in "kv")
    if sizes.past:
        k = np.concatenate([given["past_k"], k], axis=2)
        v = np.concatenate([given["past_v"], v], axis=2)
    scale = scale_of(way.scale, sizes.width)
    y = zeros((sizes.batch, sizes.heads, sizes.queries, sizes.value_width))
    shown = zeros((*y.shape[:3], sizes.total))
    for n, h, i in places(y.shape[:3]):
        group = h // (sizes.heads // sizes.groups)
        exponentials: dict[int, mpf] = {}
        for j in range(sizes.total):
            score = scale * dot(q[n, h, i], k[n, group, j])
            capped = way.capped(score)
            final = mpf("-inf")
            if way.sees(given, n, h, i, j):
                final = capped + way.bias(given, n, h, i, j)
                exponentials[j] = mp.exp(final)
            shown[n, h, i, j] = [score, capped, final, mpf(0)][way.mode or 0]
        whole = total(exponentials.values())
        for j, e in exponentials.items():
            if way.mode == 3:
                shown[n, h, i, j] = e / whole
            y[n, h, i] = y[n, h, i] + v[n, group, j] * (e / whole)
    if way.flat:
        y = y.transpose(0, 2, 1, 3).reshape(sizes.batch, sizes.queries, -1)
    cache = [k, v] if sizes.past else []
    return [y, *cache] if way.mode is None else [y, *cache, shown]


def scale_of(scale: float | None, width: int) -> mpf:
    """The factor of scores: the attribute, or one over the root of the width."""
    return 1 / mp.sqrt(width) if scale is None else attribute(scale)


SIZES = [
    Sizes(1, 1, 1, 2, 3, 2, 2),
    Sizes(1, 2, 2, 1, 2, 1, 2),
    Sizes(1, 2, 1, 2, 2, 2, 1),
    Sizes(2, 1, 1, 1, 3, 2, 1),
    Sizes(1, 2, 1, 2, 1, 1, 2, past=2),
    Sizes(1, 1, 1, 2, 2, 2, 1, past=1),
]


def draw_way(draw: Draw) -> Way:
    sizes = draw.choice(SIZES)
    window = draw.flag(0.25)
    return Way(
        sizes,
        flat=draw.flag(),
        causal=draw.choice([None, None, True]),
        scale=draw.choice([None, None, draw.uniform(0.1, 2.0)]),
        softcap=draw.choice([None, None, draw.uniform(0.5, 3.0)]),
        left=draw.choice([0, 1, None]) if window else None,
        right=draw.choice([0, 1]) if window else None,
        mode=draw.choice([None, 0, 1, 3]) if sizes.past else None,
    )


def draw_mask(draw: Draw, sizes: Sizes) -> np.ndarray | None:
    """None, or a mask of bools or floats of a shape that is broadcast."""
    kind = draw.choice(["none", "none", "flags", "floats"])
    if kind == "none":
        return None
    last = (sizes.queries, sizes.total)
    shapes = [last, (1, 1, *last), (sizes.batch, sizes.heads, *last)]
    shape = draw.choice([*shapes, (sizes.queries, sizes.total - 1)])
    return draw.flags(shape) if kind == "flags" else draw.floats(shape)


def draw_attention(draw: Draw) -> Problem:
    way = draw_way(draw)
    sizes = way.sizes

    def shape_of(heads: int, length: int, width: int) -> Shape:
        if way.flat:
            return (sizes.batch, length, heads * width)
        return (sizes.batch, heads, length, width)

    inputs = {
        "q": draw.floats(shape_of(sizes.heads, sizes.queries, sizes.width)),
        "k": draw.floats(shape_of(sizes.groups, sizes.keys, sizes.width)),
        "v": draw.floats(shape_of(sizes.groups, sizes.keys, sizes.value_width)),
        "mask": draw_mask(draw, sizes),
        **dict.fromkeys(("past_k", "past_v", "nonpad")),
    }
    outputs = {"y": shape_of(sizes.heads, sizes.queries, sizes.value_width)}
    if sizes.past:
        first = (sizes.batch, sizes.groups)
        for name, width in (("k", sizes.width), ("v", sizes.value_width)):
            inputs[f"past_{name}"] = draw.floats((*first, sizes.past, width))
            outputs[f"present_{name}"] = (*first, sizes.total, width)
    elif draw.flag(0.25):
        inputs["nonpad"] = draw.integers((sizes.batch,), 1, sizes.keys)
    if way.mode is not None:
        outputs["scores"] = (sizes.batch, sizes.heads, sizes.queries, sizes.total)
    given = way.attributes()
    return draw.problem(
        "Attention", inputs, outputs, lambda of: attend(of, way), **given
    )


# ------------------------------------------------------------- FlexAttention


# Nodes from s to t or from p to r, and their function of a place and an element.
Body = tuple[str, Callable[[Shape, mpf], mpf]]


def score_bodies(draw: Draw, type: str, shape: Shape) -> list[Body]:
    """Bodies that change scores; a mask leaves every query a key."""
    cap, bias = draw.uniform(0.5, 3.0), draw.rounded(draw.floats(shape[2:], -9, 9))
    seen = draw.flags(shape[2:])
    seen[:, draw.integer(0, shape[3] - 1)] = True
    top, added = constant("c", type, cap), constant("b", type, bias)
    mask = constant("m", "bool", seen) + " " + constant("l", type, -np.inf)
    low = mpf("-inf")
    return [
        (
            f"{top} d = Div(s, c) e = Tanh(d) t = Mul(e, c)",
            lambda _, s: cap * mp.tanh(s / cap),
        ),
        (f"{added} t = Add(s, b)", lambda at, s: s + mpf(bias[at[2:]])),
        (f"{mask} t = Where(m, s, l)", lambda at, s: s if seen[at[2:]] else low),
        ("t = Relu(s)", lambda _, s: max(s, mpf(0))),
    ]


def probability_bodies(draw: Draw, type: str) -> list[Body]:
    """Bodies that change probabilities, with names that scores have not."""
    least = draw.choice([0.125, 0.25])
    less = constant("f", type, least) + " g = Sub(p, f) r = Relu(g)"
    return [
        ("r = Mul(p, p)", lambda _, p: p * p),
        (less, lambda _, p: max(p - least, mpf(0))),
        ("r = Exp(p)", lambda _, p: mp.exp(p)),
    ]


def flex_attend(
    given: Given, sizes: Sizes, scale: float | None, of: Body | None, by: Body | None
) -> list[Array]:
    """Softmax of scores, with a function before and one after."""
    factor = scale_of(scale, sizes.width)
    y = zeros((sizes.batch, sizes.heads, sizes.queries, sizes.value_width))
    for n, h, i in places(y.shape[:3]):
        group = h // (sizes.heads // sizes.groups)
        keys, values = given["k"][n, group], given["v"][n, group]
        spread = []
        for j, key in enumerate(keys):
            score = factor * dot(given["q"][n, h, i], key)
            score = of[1]((n, h, i, j), score) if of else score
            spread.append(mp.exp(score))
        whole = total(spread)
        for j, e in enumerate(spread):
            p = by[1]((n, h, i, j), e / whole) if by else e / whole
            y[n, h, i] = y[n, h, i] + values[j] * p
    return [y]


def draw_flex(draw: Draw) -> Problem:
    sizes = draw.choice(SIZES[:4])
    scale = draw.choice([None, draw.uniform(0.1, 2.0)])
    wide = draw.flag(0.3)
    type = "double" if wide or draw.type == "double" else "float"
    shape = (sizes.batch, sizes.heads, sizes.queries, sizes.keys)
    of = draw.choice([None, *score_bodies(draw, type, shape)])
    by = draw.choice([None, None, *probability_bodies(draw, type)])
    one, stored = type_text(type, shape), (sizes.batch, sizes.groups, sizes.keys)
    inputs = {
        "q": draw.floats((*shape[:3], sizes.width)),
        "k": draw.floats((*stored, sizes.width)),
        "v": draw.floats((*stored, sizes.value_width)),
    }
    return draw.problem(
        "ai.onnx.preview.FlexAttention",
        inputs,
        (*shape[:3], sizes.value_width),
        lambda given: flex_attend(given, sizes, scale, of, by),
        scale=scale,
        softmax_precision=DATA_TYPES[type] if wide else None,
        score_mod=of and body("scores", f"{one} s", f"{one} t", of[0]),
        prob_mod=by and body("shares", f"{one} p", f"{one} r", by[0]),
    )


# ----------------------------------------------------------- LinearAttention


def linear_attend(
    given: Given, rule: str, heads: int, groups: int, scale: float | None
) -> list[Array]:
    """The recurrence of the page, one token after the other."""
    batch, length, _ = given["q"].shape
    width = given["k"].shape[2] // groups
    value_width = given["v"].shape[2] // groups
    factor = scale_of(scale, width)
    state = zeros((batch, groups, width, value_width))
    if "past" in given:
        state = given["past"].copy()
    y = zeros((batch, length, heads * value_width))
    for n, t in places((batch, length)):
        for g in range(groups):
            key = given["k"][n, t, g * width : (g + 1) * width]
            value = given["v"][n, t, g * value_width : (g + 1) * value_width]
            before = state[n, g]
            if "gated" in rule:
                decay = given["decay"][n, t].reshape(groups, -1)[g]
                spread = [decay[d % len(decay)] for d in range(width)]
                before = before * filled((width, 1), map(mp.exp, spread))
            added = value
            if "delta" in rule:
                beta = given["beta"][n, t]
                recalled = filled((value_width,), (dot(key, c) for c in before.T))
                added = beta[g % len(beta)] * (value - recalled)
            state[n, g] = before + np.outer(key, added)
        for h in range(heads):
            query = given["q"][n, t, h * width : (h + 1) * width]
            now = state[n, h // (heads // groups)]
            for b in range(value_width):
                y[n, t, h * value_width + b] = factor * dot(query, now[:, b])
    return [y, state]


def draw_linear(draw: Draw) -> Problem:
    rule = draw.choice(["linear", "gated", "delta", "gated_delta"])
    heads, groups, length, width, value_width = draw.choice(
        [(1, 1, 3, 2, 1), (2, 1, 2, 2, 1), (2, 2, 2, 1, 2), (1, 1, 1, 2, 2)]
    )
    scale = draw.choice([None, draw.uniform(0.2, 2.0)])
    first, state = (1, length), (1, groups, width, value_width)
    inputs = {
        "q": draw.floats((*first, heads * width)),
        "k": draw.floats((*first, groups * width)),
        "v": draw.floats((*first, groups * value_width)),
        "past": draw.floats(state) if draw.flag() else None,
        **dict.fromkeys(("decay", "beta")),
    }
    if "gated" in rule:
        last = draw.choice([groups, groups * width])
        inputs["decay"] = draw.floats((*first, last), -3.0, -0.01)
    if "delta" in rule:
        inputs["beta"] = draw.floats((*first, groups), 0.01, 1.0)
    return draw.problem(
        "LinearAttention",
        inputs,
        {"y": (*first, heads * value_width), "state": state},
        lambda given: linear_attend(given, rule, heads, groups, scale),
        update_rule=None if rule == "gated_delta" else rule,
        q_num_heads=heads,
        kv_num_heads=groups,
        scale=scale,
    )


# ----------------------------------------------------------- RotaryEmbedding


def rotate(given: Given, heads: int, turned: int, interleaved: bool) -> Array:
    """Each pair of a token's first numbers turns by its position's angle."""
    x = by_head(given["x"], heads)
    y = x.copy()
    half = turned // 2
    for n, h, t in places(x.shape[:3]):
        at = (n, t)
        if "positions" in given:
            at = (int(given["positions"][n, t]),)
        for k in range(half):
            a, b = (2 * k, 2 * k + 1) if interleaved else (k, half + k)
            cosine, sine = given["cos"][(*at, k)], given["sin"][(*at, k)]
            y[n, h, t, a] = cosine * x[n, h, t, a] - sine * x[n, h, t, b]
            y[n, h, t, b] = sine * x[n, h, t, a] + cosine * x[n, h, t, b]
    if given["x"].ndim == 4:
        return y
    return y.transpose(0, 2, 1, 3).reshape(given["x"].shape)


def draw_rotary(draw: Draw) -> Problem:
    batch, heads, length, width = draw.choice(
        [(1, 2, 2, 2), (1, 1, 2, 4), (2, 1, 1, 4), (1, 1, 1, 6)]
    )
    flat = draw.flag()
    partial = width > 2 and draw.flag(0.4)
    turned = width - 2 if partial else width
    interleaved = draw.flag()
    shape = (batch, length, heads * width) if flat else (batch, heads, length, width)
    inputs = {"x": draw.floats(shape)}
    named = draw.flag()
    cache = (3,) if named else (batch, length)
    for name in ("cos", "sin"):
        inputs[name] = draw.floats((*cache, turned // 2), -1.0, 1.0)
    if named:
        inputs["positions"] = draw.integers((batch, length), 0, 2)
    return draw.problem(
        "RotaryEmbedding",
        inputs,
        shape,
        lambda given: [rotate(given, heads, turned, interleaved)],
        interleaved=interleaved or None,
        rotary_embedding_dim=turned if partial else None,
        num_heads=heads if flat else None,
    )


OPERATORS = [
    Operator("Attention", draw_attention),
    Operator("FlexAttention", draw_flex),
    Operator("LinearAttention", draw_linear, types=NO_DOUBLE),
    Operator("RotaryEmbedding", draw_rotary, types=NO_DOUBLE),
]
