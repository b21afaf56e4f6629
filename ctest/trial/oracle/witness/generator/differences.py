# SPDX-License-Identifier: Apache-2.0
"""The values of a problem and its Jacobian, both checked at other digits.

No derivative is written by hand: each is a central difference with a step so
small, at digits so many, that 60 and more of its digits are right.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from arithmetic import Array, exact
from mpmath import mp, mpf
from problem import Problem, Undrawable

DIGITS = (160, 420, 1600)  # an answer counts when two in a row agree
STEP = 3.8  # the digits of a step are those of the numbers over this
FAR = mpf(10) ** 10  # a second step is greater by this
AGREE = mpf("1e-60")  # derivatives, relative
NOTHING = mpf("1e-400")  # far below the least double


def is_float(array: Array) -> bool:
    """True where an output is of floats and not of integers or bools."""
    return array.dtype == object


def evaluated(problem: Problem, given: dict[str, Array]) -> list[Array]:
    """The outputs at the present precision, as arrays of their shapes."""
    results = problem.compute(given)
    if len(results) != len(problem.outputs):
        raise ValueError(f"{problem.node}: {len(results)} outputs computed")
    outputs = []
    for (name, type, shape), result in zip(problem.outputs, results):
        whole = type.startswith(("int", "uint", "bool"))
        result = np.asarray(result, None if whole else object)
        if result.shape != tuple(shape):
            raise ValueError(
                f"{problem.node}: {name} is of {result.shape}, wanted {shape}"
            )
        if not whole:
            for number in result.ravel():
                if not isinstance(number, mpf):
                    raise ValueError(f"{problem.node}: {name} has a {number!r}")
        outputs.append(result.astype(np.int64) if whole else result)
    return outputs


def exact_inputs(problem: Problem) -> dict[str, Array]:
    """The inputs, floats as mpf."""
    return {name: exact(value) for name, value in problem.inputs.items()}


def same(a: mpf, b: mpf, relative: mpf) -> bool:
    """True where two numbers agree, or are both nothing in double."""
    if mp.isnan(a) or mp.isnan(b):
        return bool(mp.isnan(a) and mp.isnan(b))
    if a == b:
        return True
    if mp.isinf(a) or mp.isinf(b):
        return False
    return abs(a - b) <= max(relative * abs(a), NOTHING)


def values(problem: Problem) -> list[Array]:
    """The outputs, at digits that agree with fewer."""
    before: list[Array] | None = None
    for digits in DIGITS:
        with mp.workdps(digits):
            now = evaluated(problem, exact_inputs(problem))
            if before is not None and all(map(agree, now, before)):
                return now
        before = now
    raise Undrawable(f"{problem.node}: {DIGITS[-1]} digits are too few")


def agree(now: Array, before: Array) -> bool:
    """True where two precisions give the same output."""
    if not is_float(now):
        return bool(np.array_equal(now, before))
    relative = mpf("1e-40")
    return all(same(a, b, relative) for a, b in zip(now.ravel(), before.ravel()))


def jacobian(
    problem: Problem, diagonal: bool, least_digits: int = 420
) -> dict[str, list[Array]] | None:
    """Derivatives of all float outputs by all moved inputs; None at kinks."""
    for digits in DIGITS[1:]:
        if digits < least_digits:
            continue
        with mp.workdps(digits):
            found = Differences(problem, diagonal).all()
        if found is not None:
            return found
    return None


class Differences:
    """Central differences of one problem at the present precision."""

    def __init__(self, problem: Problem, diagonal: bool):
        self.problem = problem
        self.diagonal = diagonal
        self.given = exact_inputs(problem)
        self.centre = self.flat(self.given)
        self.sizes = [
            int(np.prod(shape, dtype=int))
            for _, type, shape in problem.outputs
            if not type.startswith(("int", "uint", "bool"))
        ]
        self.step = mpf(10) ** int(-mp.dps / STEP)

    def flat(self, given: dict[str, Array]) -> list[mpf]:
        """All elements of the float outputs, in order."""
        outputs = evaluated(self.problem, given)
        return [x for each in outputs if is_float(each) for x in each.ravel()]

    def all(self) -> dict[str, list[Array]] | None:
        """The Jacobian, or None where two differences do not agree."""
        found = {}
        for name in self.problem.moved:
            columns = self.columns(name)
            if columns is None:
                return None
            whole = np.empty((len(self.centre), len(columns)), object)
            for at, column in enumerate(columns):
                whole[:, at] = column
            ends = np.cumsum(self.sizes)[:-1]
            found[name] = np.split(whole, ends)
        return found

    def columns(self, name: str) -> list[list[mpf]] | None:
        """For each element of an input the slopes of all outputs."""
        count = self.given[name].size
        if self.diagonal:
            slopes = self.slopes(name, range(count))
            if slopes is None:
                return None
            zero = mpf(0)
            return [
                [slope if i == at else zero for i, slope in enumerate(slopes)]
                for at in range(count)
            ]
        columns = []
        for at in range(count):
            column = self.slopes(name, [at])
            if column is None:
                return None
            columns.append(column)
        return columns

    def slopes(self, name: str, at: Sequence[int]) -> list[mpf] | None:
        """The slopes of all outputs as some elements of an input move.

        More than one element moves only when the Jacobian is diagonal.
        """
        x = self.given[name].ravel()
        steps = [self.step * (abs(number) if number != 0 else 1) for number in x]
        try:
            near = [self.moved(name, at, steps, side) for side in (1, -1)]
            far = [self.moved(name, at, steps, side * FAR) for side in (1, -1)]
        except (ArithmeticError, ValueError):
            return None  # nothing is defined on one side
        only = at[0]
        slopes = []
        still = False
        for i, centre in enumerate(self.centre):
            h = steps[i if self.diagonal else only]
            trial = slope((near[0][i], centre, near[1][i]), h)
            check = slope((far[0][i], centre, far[1][i]), h * FAR)
            if not is_smooth(trial, check):
                return None
            still = still or near[0][i] == near[1][i]
            slopes.append(trial[0])
        if still and mp.dps < DIGITS[-1] and not self.are_free(name, at, slopes):
            return None
        return slopes

    def are_free(self, name: str, at: Sequence[int], slopes: list[mpf]) -> bool:
        """True where outputs of slope 0 do not depend on some elements at all.

        A great output swallows what a small input adds. So the elements become
        nan, and other numbers: an output that changes depends on them, and then
        more digits must tell.
        """
        with mp.workdps(30):
            before = self.flat(self.given)
            for other in (lambda _: mpf("nan"), lambda x: -1.5 * x - 0.7):
                elements = self.given[name].copy().ravel()
                for index in at:
                    elements[index] = other(elements[index])
                changed = elements.reshape(self.given[name].shape)
                try:
                    after = self.flat({**self.given, name: changed})
                except Exception:  # whatever a formula does with nan
                    return False
                for slope, one, two in zip(slopes, before, after):
                    if slope == 0 and one != two:
                        return False
        return True

    def moved(
        self, name: str, at: Sequence[int], steps: list[mpf], by: mpf
    ) -> list[mpf]:
        """The outputs with some elements moved by a multiple of their steps."""
        elements = self.given[name].copy().ravel()
        for index in at:
            elements[index] = elements[index] + by * steps[index]
        changed = elements.reshape(self.given[name].shape)
        return self.flat({**self.given, name: changed})


def slope(around: tuple[mpf, mpf, mpf], h: mpf) -> tuple[mpf, mpf]:
    """The central difference, and how much the one-sided ones differ."""
    above, centre, below = around
    if above == below == centre and mp.isfinite(centre):
        return mpf(0), mpf(0)
    return (above - below) / (2 * h), abs(above - 2 * centre + below) / h


def is_smooth(near: tuple[mpf, mpf], far: tuple[mpf, mpf]) -> bool:
    """True where differences with two steps, and both sides, agree.

    The gap between the sides goes with the step when the function is smooth,
    and stays as it is at a kink.
    """
    (slope_near, gap_near), (slope_far, gap_far) = near, far
    if not (mp.isfinite(slope_near) and mp.isfinite(slope_far)):
        return False
    if not same(slope_near, slope_far, AGREE):
        return False
    if gap_near <= max(AGREE * abs(slope_near), NOTHING):
        return True
    return gap_near * mpf("1e5") <= gap_far
