# SPDX-License-Identifier: Apache-2.0
"""How a case is judged, as ONNX's own runner judges it.

`Runner.assert_similar_outputs` (onnx/backend/test/runner/__init__.py) compares
strings for equality and everything else by `assert_allclose` with the case's
rtol and atol, where bfloat16 is compared as float32 with rtol at least 2^-6.
Two departures, both stricter: integers and booleans must be equal, and a case
that draws random numbers is judged by its distribution. Floats of 8 bits and
fewer have no rule of their own: they are wider apart than rtol 1e-3, so that
only equal values pass (float8e8m0 apart, whose values below atol all do).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from case import CorpusError, Published
from values import FLOAT_DTYPES

BFLOAT16_RTOL = 2.0**-6  # two units in the last place

DEFAULT_RTOL = 1e-3
DEFAULT_ATOL = 1e-7


class Judgement(NamedTuple):
    """The comparator of a case, its effective tolerance, and the rule."""

    comparator: str  # exact, tolerance, text or distribution
    rtol: float
    atol: float
    source: str


def judge(
    dtypes: Sequence[str], random: Sequence[str], rtol: float, atol: float
) -> Judgement:
    """The judgement of a case.

    `dtypes` are the element types of its outputs, `random` the operators in
    it that draw random numbers, and rtol and atol what ONNX states for it.
    """
    if random:
        source = f"random: {', '.join(random)}"
        return Judgement("distribution", rtol, atol, source)
    floats = FLOAT_DTYPES.intersection(dtypes)
    if not floats:
        if "string" in dtypes:
            return Judgement("text", 0.0, 0.0, "strings are equal")
        return Judgement("exact", 0.0, 0.0, "integers and booleans are equal")
    if "bfloat16" in floats and rtol < BFLOAT16_RTOL:
        if len(floats) > 1:
            # One rtol a case would loosen the others.
            raise CorpusError(
                f"found outputs of {sorted(floats)}, wanted bfloat16 alone"
            )
        return Judgement(
            "tolerance", BFLOAT16_RTOL, atol, "onnx runner: bfloat16, 2^-6"
        )
    if (rtol, atol) == (DEFAULT_RTOL, DEFAULT_ATOL):
        return Judgement("tolerance", rtol, atol, "onnx runner: default")
    return Judgement("tolerance", rtol, atol, "onnx runner: stated by the case")


def admit(limit: Judgement, published: Published) -> Judgement:
    """The judgement of a case whose expected data were computed again.

    The tolerance stays ONNX's, but is wide enough for ONNX's own data: who
    computes as ONNX does is not at fault.
    """
    note = (
        f"expected data computed again in float64: ONNX's own take "
        f"{published.share:.2f} of the tolerance"
    )
    atol = limit.atol
    if published.excess > 0:
        # Three digits, rounded up.
        step = 10.0 ** (math.floor(math.log10(atol + published.excess)) - 2)
        atol = float(
            f"{math.ceil((atol + published.excess) / step) * step:.2e}"
        )
        note += f", atol raised from {limit.atol:g} to admit them"
    return limit._replace(atol=atol, source=f"{limit.source}; {note}")
