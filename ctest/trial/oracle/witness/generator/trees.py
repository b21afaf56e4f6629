# SPDX-License-Identifier: Apache-2.0
"""Trees that ask for features: ensembles that regress, classify, and are both.

TreeEnsembleRegressor and TreeEnsembleClassifier number the nodes of each tree
and their leaves among them; TreeEnsemble lists all questions, then all leaves.
Numbers stand on borders and next to them, and some are missing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from arithmetic import Array, Line, filled, total
from learned import AFTER, FEATURES, TYPES, exacts, learned, numbers
from mpmath import mp, mpf
from problem import NO_BFLOAT16, Draw, Operator, Problem, tensor_text

COMPARE: dict[str, Callable[[mpf, mpf], bool]] = {
    "BRANCH_LEQ": lambda x, border: x <= border,
    "BRANCH_LT": lambda x, border: x < border,
    "BRANCH_GTE": lambda x, border: x >= border,
    "BRANCH_GT": lambda x, border: x > border,
    "BRANCH_EQ": lambda x, border: x == border,
    "BRANCH_NEQ": lambda x, border: x != border,
}
AGGREGATE: dict[str, Callable[[Line], mpf]] = {"SUM": total, "MIN": min, "MAX": max}
AGGREGATES = ("AVERAGE", "SUM", "MIN", "MAX")  # as TreeEnsemble's page numbers them


@dataclass(frozen=True)
class Leaf:
    """The weights of targets or classes that a row which ends here gives."""

    votes: tuple[tuple[int, float], ...]


@dataclass(frozen=True)
class Question:
    """A node that compares a feature, and where it leads."""

    feature: int
    mode: str
    border: float
    members: tuple[float, ...]  # of BRANCH_MEMBER
    missing: bool  # the answer for a number that is not there
    yes: Tree
    no: Tree

    def says(self, row: Line) -> bool:
        """The answer for a row of features."""
        x = row[self.feature]
        if mp.isnan(x):
            return self.missing
        if self.mode == "BRANCH_MEMBER":
            return any(x == mpf(member) for member in self.members)
        return COMPARE[self.mode](x, mpf(self.border))


Tree = Leaf | Question


def votes_of(tree: Tree, row: Line) -> dict[int, mpf]:
    """The votes of the leaf where a row ends."""
    while isinstance(tree, Question):
        tree = tree.yes if tree.says(row) else tree.no
    return {target: mpf(weight) for target, weight in tree.votes}


def every(tree: Tree) -> list[Tree]:
    """All nodes of a tree, leaves as well, a node before those below it."""
    if isinstance(tree, Leaf):
        return [tree]
    return [tree, *every(tree.yes), *every(tree.no)]


def asked_in(trees: Sequence[Tree]) -> list[Question]:
    """All nodes of some trees that ask, a node before those below it."""
    return [one for tree in trees for one in every(tree) if isinstance(one, Question)]


def grown(
    draw: Draw,
    depth: int,
    ask: Callable[[], dict[str, Any]],
    leaf: Callable[[], Leaf],
) -> Tree:
    """A tree of a depth, some of whose branches end before."""
    if depth == 0:
        return leaf()
    below = [depth - 1, depth - 1 if draw.flag(0.6) else 0]
    yes, no = (grown(draw, one, ask, leaf) for one in below)
    return Question(**ask(), yes=yes, no=no)


def asker(draw: Draw, width: int, tensors: bool) -> Callable[[], dict[str, Any]]:
    """Draws questions about features, all in one mode as ONNX's reference wants.

    Borders are of double in tensors, else of float32.
    """
    mode = draw.choice(list(COMPARE))

    def ask() -> dict[str, Any]:
        border = draw.floats((), -100.0, 100.0)
        return {
            "border": float(border if tensors else border.astype(np.float32)),
            "feature": draw.integer(0, width - 1),
            "mode": mode,
            "members": (),
            "missing": draw.flag(),
        }

    return ask


def draw_borders(draw: Draw, x: np.ndarray, trees: Sequence[Tree]) -> list[str]:
    """Puts numbers of x on borders, next to them, or takes them away.

    Returns x where one is taken away: there is nothing to differentiate by.
    ONNX's reference leaves open what a missing number is unequal to: tame numbers
    are all there.
    """
    still = []
    for question in asked_in(trees):
        row = draw.integer(0, len(x) - 1)
        where = draw.choice(["on", "above", "below", "far", "far", "away"])
        step = {"on": 0, "above": 1, "below": -1}.get(where)
        if step is not None:
            near = question.border * (1 + step * draw.epsilon)
            x[row, question.feature] = draw.rounded(near)
        if where == "away" and draw.scale != "tame":
            x[row, question.feature] = np.nan
            still = ["x"]
    return still


def draw_classifier(draw: Draw) -> Problem:
    """Sums of votes, a transform of them, and the label of the greatest."""
    shape, classes = draw.choice(FEATURES), draw.integer(2, 4)
    binary = classes == 2 and draw.flag()
    x = draw.floats(shape)
    tensors = draw.type == "double" and draw.flag()
    after = draw.choice([None, *AFTER])
    low = (0.01, 0.1) if after == "PROBIT" else (-2.0, 2.0)

    def weight() -> float:
        return draw.integer(1, 3) / 32 if draw.flag(0.4) else draw.uniform(*low)

    def leaf() -> Leaf:
        among = [0] if binary else draw.random.sample(range(classes), 2)
        return Leaf(tuple((one, weight()) for one in sorted(among)))

    ask = asker(draw, shape[1], tensors)
    trees = [grown(draw, draw.integer(1, 3), ask, leaf) for _ in range(2)]
    base = numbers(draw, classes, *low) if draw.flag() and not binary else None
    still = draw_borders(draw, x, trees)
    labels = [5, 2, 9, 7][:classes]

    def compute(x: Array) -> list[Array]:
        best, scores = [], []
        for row in x:
            sums = exacts(base or [0.0] * classes)
            for tree in trees:
                for target, vote in votes_of(tree, row).items():
                    sums[target] = sums[target] + vote
            if binary:
                other = 1 - sums[0] if after in (None, "NONE", "PROBIT") else -sums[0]
                sums = [other, sums[0]]
            done = AFTER[after or "NONE"](sums)
            scores += done
            best.append(labels[done.index(max(done))])
        return [np.array(best, np.int64), filled((shape[0], classes), scores)]

    return learned(
        draw,
        "TreeEnsembleClassifier",
        x,
        compute,
        [("y", "int64", shape[:1]), ("scores", "float", (shape[0], classes))],
        still=still,
        **listed(trees, tensors, "class"),
        base_values=base,
        classlabels_int64s=labels,
        post_transform=after,
    )


def draw_regressor(draw: Draw) -> Problem:
    """Votes for targets, put together and then shifted by the base values."""
    shape, targets = draw.choice(FEATURES), draw.integer(1, 3)
    x = draw.floats(shape)
    tensors = draw.type == "double" and draw.flag()
    how = draw.choice(AGGREGATES)
    after = draw.choice([None, None, "NONE", "SOFTMAX", "LOGISTIC"])

    def leaf() -> Leaf:
        # A target for which nobody votes has no least vote.
        most = targets if how in ("MIN", "MAX") else draw.integer(1, targets)
        among = draw.random.sample(range(targets), most)
        return Leaf(tuple((one, draw.uniform(-2, 2)) for one in sorted(among)))

    ask, count = asker(draw, shape[1], tensors), draw.integer(1, 3)
    trees = [grown(draw, draw.integer(1, 3), ask, leaf) for _ in range(count)]
    base = numbers(draw, targets) if draw.flag() else None
    still = draw_borders(draw, x, trees)

    def line(row: Line) -> Line:
        shifts = exacts(base or [0.0] * targets)
        sums = together(trees, row, how, targets)
        return AFTER[after or "NONE"]([a + b for a, b in zip(sums, shifts)])

    return learned(
        draw,
        "TreeEnsembleRegressor",
        x,
        lambda x: [np.array([line(row) for row in x])],
        [("y", "float", (shape[0], targets))],
        still=still,
        **listed(trees, tensors, "target"),
        aggregate_function=how,
        base_values=base,
        n_targets=targets,
        post_transform=after,
    )


def together(trees: Sequence[Tree], row: Line, how: str, targets: int) -> Line:
    """The votes of trees for each target, of which not all trees know all."""
    found = [votes_of(tree, row) for tree in trees]
    every = [[votes[t] for votes in found if t in votes] for t in range(targets)]
    if how == "AVERAGE":  # by the trees, not by the votes
        return [total(votes) / len(found) for votes in every]
    return [AGGREGATE[how](votes) for votes in every]


def listed(trees: Sequence[Tree], tensors: bool, word: str) -> dict[str, Any]:
    """The nodes of all trees, each numbered from its root, and all votes."""
    kind = {True: "_as_tensor", False: ""}[tensors]
    columns: dict[str, list[Any]] = {
        f"nodes_{name}": []
        for name in (
            *("treeids", "nodeids", "modes", "featureids", f"values{kind}"),
            *("truenodeids", "falsenodeids", "missing_value_tracks_true"),
        )
    }
    votes: list[tuple[int, int, int, float]] = []
    for at, tree in enumerate(trees):
        nodes = every(tree)
        index = {id(node): number for number, node in enumerate(nodes)}
        for node in nodes:
            row: tuple[Any, ...] = (at, index[id(node)], "LEAF", 0, 0.0, 0, 0, 0)
            if isinstance(node, Question):
                ways = index[id(node.yes)], index[id(node.no)]
                asked = (node.mode, node.feature, node.border)
                row = (*row[:2], *asked, *ways, node.missing)
            else:
                votes += [(at, index[id(node)], *vote) for vote in node.votes]
            for column, value in zip(columns.values(), row):
                column.append(value)
    for name, place in (("treeids", 0), ("nodeids", 1), ("ids", 2)):
        columns[f"{word}_{name}"] = [vote[place] for vote in votes]
    columns[f"{word}_weights{kind}"] = [vote[3] for vote in votes]
    if not tensors:
        return columns
    return {
        name: tensor_text("double", column) if name.endswith(kind) else column
        for name, column in columns.items()
    }


# ------------------------------------------------------------------ TreeEnsemble

# As the page numbers them.
TRANSFORMS = ("NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT")
MODES = (*COMPARE, "BRANCH_MEMBER")


def draw_ensemble(draw: Draw) -> Problem:
    """Weights of one target a leaf, in the type of the features."""
    shape, targets = draw.choice(FEATURES), draw.integer(1, 3)
    how = draw.choice(AGGREGATES if targets == 1 else AGGREGATES[:2])
    after = draw.choice(["NONE", "NONE", "SOFTMAX", "LOGISTIC"])
    limits = (-100.0, 100.0) if after != "NONE" else (None, None)
    x = draw.floats(shape)

    def leaf() -> Leaf:
        weight = draw.floats((), *limits)
        return Leaf(((draw.integer(0, targets - 1), float(weight)),))

    def ask() -> dict[str, Any]:
        members = draw.floats((draw.integer(1, 3),), -100.0, 100.0)
        members = members[members != 0]  # ONNX's reference ends a set at 0
        mode = draw.choice(MODES if len(members) else MODES[:-1])
        given = {"feature": draw.integer(0, shape[1] - 1), "mode": mode}
        border = members[0] if mode == "BRANCH_MEMBER" else draw.floats((), -9.0, 9.0)
        members = tuple(map(float, members)) if mode == "BRANCH_MEMBER" else ()
        given |= {"border": float(border), "missing": draw.flag()}
        return {**given, "members": members}

    trees = [grown(draw, draw.integer(1, 3), ask, leaf) for _ in range(3)]
    still = draw_borders(draw, x, trees)

    def compute(x: Array) -> list[Array]:
        lines = (AFTER[after](together(trees, row, how, targets)) for row in x)
        return [np.array(list(lines))]

    return learned(
        draw,
        "TreeEnsemble",
        x,
        compute,
        [("y", draw.type, (shape[0], targets))],
        still=still,
        opsets={"ai.onnx.ml": 5},
        **ensemble_attributes(draw.type, trees),
        aggregate_function=AGGREGATES.index(how),
        n_targets=targets,
        post_transform=TRANSFORMS.index(after) or None,
    )


def ensemble_attributes(type: str, trees: Sequence[Tree]) -> dict[str, Any]:
    """All questions, and all leaves, of which a question knows the places."""
    asked = asked_in(trees)
    leaves = [one for tree in trees for one in every(tree) if isinstance(one, Leaf)]
    place = {id(one): at for among in (asked, leaves) for at, one in enumerate(among)}
    ways = [("true", [q.yes for q in asked]), ("false", [q.no for q in asked])]
    given: dict[str, Any] = {}
    for word, below in ways:
        given[f"nodes_{word}nodeids"] = [place[id(one)] for one in below]
        given[f"nodes_{word}leafs"] = [isinstance(one, Leaf) for one in below]
    sets = [(*q.members, np.nan) for q in asked if q.mode == "BRANCH_MEMBER"]
    members = [number for one in sets for number in one]
    modes = [MODES.index(q.mode) for q in asked]
    splits = [0.0 if q.members else q.border for q in asked]
    return {
        "tree_roots": [place[id(tree)] for tree in trees],
        "nodes_featureids": [q.feature for q in asked],
        "nodes_modes": tensor_text("uint8", modes),
        "nodes_splits": tensor_text(type, splits),
        "nodes_missing_value_tracks_true": [q.missing for q in asked],
        **given,
        "membership_values": tensor_text(type, members) if members else None,
        "leaf_targetids": [leaf.votes[0][0] for leaf in leaves],
        "leaf_weights": tensor_text(type, [leaf.votes[0][1] for leaf in leaves]),
    }


OPERATORS = [
    Operator("TreeEnsemble", draw_ensemble, types=NO_BFLOAT16, weight=2),
    Operator("TreeEnsembleClassifier", draw_classifier, types=TYPES, weight=2),
    Operator("TreeEnsembleRegressor", draw_regressor, types=TYPES, weight=2),
]
