# SPDX-License-Identifier: Apache-2.0
"""Unexpected results by their causes: operator, outcome and reason, on a backend.

    unexpected, causes = causes_of(run, unexpected)
    foremost(causes)[0].title   # "Relu"

A case of the contract whose probe is an operator that is wrong elsewhere cannot
be tried, nor can a gradient whose operator is wrong in forward runs. It is counted
with that operator, and its reason says so. Nothing is judged again.
"""

import math
import os.path
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from assay_report.run_folder import Run, Unexpected, is_operator, reason_meanings

# At most so many stand above everything else.
MOST = 5
_NAMED = 3
_PART = re.compile(r"(?=[@+])")  # of name@version+setting
_PROBE = re.compile(r"\bprobed with (\w+)")
_OTHER_GRADIENT, _OTHER_FORWARD = "fail_backward", "fail_forward"
_FLOOR = "floor"  # the code of what is lost from a floor


@dataclass(frozen=True)
class Cause:
    """Results that have operator, outcome, reason and backend in common."""

    # One that is never left out: "backend", "crash", "xpass" or "floor"; else empty.
    kind: str
    backend: str
    title: str
    outcome: str
    said: str  # the meaning of the reason
    n: int
    worst: float | None  # in limits; none where no limit was passed by a number
    test_id: str  # the first, of the backend that stands here
    first_backend: str
    message: str
    query: str  # finds the results; empty for a whole backend
    # These cannot be tried while the operator is wrong.
    n_promises: int = 0
    n_gradients: int = 0
    n_joined: int = 1  # causes that this one tells of

    @property
    def worst_text(self) -> str:
        """Three digits, in limits."""
        if self.worst is None:
            return ""
        if 100 <= self.worst < 1e6:
            return f"{self.worst:,.0f}"
        return f"{self.worst:.3g}".replace("e+0", "e").replace("e+", "e")

    @property
    def untried_text(self) -> str:
        """8 promises of the contract and 1 gradient."""
        counts = (
            (self.n_promises, "promise", " of the contract"),
            (self.n_gradients, "gradient", ""),
        )
        return " and ".join(
            f"{n:,} {name}{'' if n == 1 else 's'}{rest}"
            for n, name, rest in counts
            if n
        )


@dataclass(frozen=True)
class _Facts:
    """The columns of results.csv that causes are told apart by."""

    suite: str
    op: str
    code: str
    headroom: str


class _Key(NamedTuple):
    """The facts that the results of a cause have in common."""

    kind: str
    backend: str
    outcome: str
    op: str
    code: str

    @property
    def what(self) -> str:
        return f"{'the gradient of ' if self.code == _OTHER_GRADIENT else ''}{self.op}"


def causes_of(
    run: Run, unexpected: Sequence[Unexpected]
) -> tuple[tuple[Unexpected, ...], tuple[Cause, ...]]:
    """The results in the order of their causes, those that explain most first."""
    facts = _facts(run, unexpected)
    groups: dict[_Key, list[Unexpected]] = {}
    untried: dict[_Key, list[Unexpected]] = {}
    # A gradient whose forward is wrong may be the cause of a promise, not a promise
    # that of a gradient.
    for one in sorted(
        unexpected, key=lambda one: _place(facts[one.backend, one.test_id])
    ):
        of = facts[one.backend, one.test_id]
        if culprit := _culprit(groups, one, of):
            wrong = (
                f"{culprit.what} is wrong ({culprit.outcome} {len(groups[culprit]):,})"
            )
            told = f"{one.reason}; cannot be tried: {wrong}"
            untried.setdefault(culprit, []).append(replace(one, reason=told))
        else:
            groups.setdefault(_key(one, of), []).append(one)
    made = {
        key: _cause(key, of, facts, untried.get(key, ())) for key, of in groups.items()
    }
    ordered = _ordered(made)
    listed = [one for key in ordered for one in groups[key]]
    listed += [one for key in ordered for one in untried.get(key, ())]
    return tuple(listed), tuple(made[key] for key in ordered)


def short_names(names: Sequence[str]) -> list[str]:
    """The parts that tell backends apart: names without the parts that all of them
    have and without a beginning in common, if something is left of each."""
    parts = [_PART.split(name) for name in names]
    shared = set(parts[0]).intersection(*parts[1:]) if parts else set()
    short = ["".join(one for one in of if one not in shared) for of in parts]
    begin = re.search(r".*[=:+]|", os.path.commonprefix(short))  # noqa: RUF071
    short = [name[begin.end() if begin else 0 :] for name in short]
    are_apart = len(names) > 1 and len(set(short)) == len(names) and all(short)
    return short if are_apart else list(names)


def foremost(causes: Sequence[Cause], most: int = MOST) -> list[Cause]:
    """The first ones. No crash, xpass, lost floor or whole backend is left out: where
    they are too many, those of a kind are told as one."""
    kept = {at: [one] for at, one in enumerate(causes) if one.kind}
    others = {at: [one] for at, one in enumerate(causes) if not one.kind}
    if len(kept) + bool(others) > most:
        of_kind: dict[str, int] = {}
        for at, (one,) in list(kept.items()):
            if (first := of_kind.setdefault(one.kind, at)) != at:
                kept[first] += kept.pop(at)
    chosen = kept | dict(list(others.items())[: most - len(kept)])
    return [_joined(chosen[at]) for at in sorted(chosen)]


def _facts(run: Run, unexpected: Sequence[Unexpected]) -> dict[tuple[str, str], _Facts]:
    """Also of cases that results.csv no longer has."""
    facts = {
        (one.backend, one.test_id): _Facts(*_names(one.test_id), "", "")
        for one in unexpected
    }
    columns = ("backend", "test_id", "suite", "op", "reason_code", "headroom")
    for backend, test_id, *rest in zip(*(run.results[name] for name in columns)):
        if (backend, test_id) in facts:
            facts[backend, test_id] = _Facts(*rest)
    return facts


def _names(test_id: str) -> tuple[str, str]:
    suite, op, *_ = (*test_id.split("/"), "", "")
    return suite, op


def _key(one: Unexpected, of: _Facts) -> _Key:
    """A whole backend's has the kind of its reason, as the program groups on a
    terminal, for a code."""
    if not one.test_id:
        words = ("#" if re.search(r"[/\d]", w) else w for w in one.reason.split())
        return _Key("backend", one.backend, one.outcome, "", " ".join(words))
    kind = one.outcome if one.outcome in ("crash", "xpass") else ""
    if one.reason_code == _FLOOR:
        kind = _FLOOR
    return _Key(kind, one.backend, one.outcome, of.op, of.code)


def _place(of: _Facts) -> int:
    return 2 if of.suite == "contract" else int(of.code == _OTHER_FORWARD)


def _culprit(
    groups: Mapping[_Key, list[Unexpected]], one: Unexpected, of: _Facts
) -> _Key | None:
    """The greatest group by which the operator is wrong that this case is made with:
    the probe of a promise, or the operator of a gradient whose forward is other. One
    that is wrong by its gradient alone spoils promises about gradients alone."""
    op = of.op if of.code == _OTHER_FORWARD else ""
    if of.suite == "contract" and (probe := _PROBE.search(one.reason)):
        op = probe[1]
    if not op:
        return None
    is_gradient = of.suite == "contract" and of.op in ("gradient", "training")
    found = [
        key
        for key in groups
        if (key.backend, key.op, key.outcome) == (one.backend, op, "fail")
        and (is_gradient or key.code != _OTHER_GRADIENT)
        and (of.suite == "contract" or key.code != _OTHER_FORWARD)
    ]
    return max(found, key=lambda key: len(groups[key])) if found else None


def _cause(
    key: _Key,
    of: Sequence[Unexpected],
    facts: Mapping[tuple[str, str], _Facts],
    untried: Sequence[Unexpected],
) -> Cause:
    errors = [_error(facts[one.backend, one.test_id].headroom) for one in of]
    finite = [error for error in errors if error is not None]
    is_whole = key.kind == "backend"
    suite = facts[of[0].backend, of[0].test_id].suite
    title = key.op if is_operator(key.op) else f"{suite}/{key.op}"
    terms = ["is:unexpected", f'backend:"{key.backend}"', f"outcome:{key.outcome}"]
    terms += [f'op:"{key.op}"', f'reason:"{key.code}"']
    promises = [one for one in untried if _of_contract(one)]
    return Cause(
        kind=key.kind,
        backend=key.backend,
        title=of[0].subject if is_whole else title,
        outcome=key.outcome,
        said="lost from passing.txt" if key.kind == _FLOOR else _meaning(key.code),
        n=len(of),
        worst=max(finite) if finite else None,
        test_id=of[0].test_id,
        first_backend=key.backend,
        message="" if key.kind == _FLOOR else of[0].reason,
        query="" if is_whole else " and ".join(terms),
        n_promises=len(promises),
        n_gradients=len(untried) - len(promises),
    )


def _of_contract(one: Unexpected) -> bool:
    return one.test_id.startswith("contract/")


def _meaning(code: str) -> str:
    """Nothing where a fail says it all."""
    return "" if code == "value" else reason_meanings().get(code, "")


def _error(headroom: str) -> float | None:
    """In limits; none where it is no number or within the limit."""
    error = 1 - float(headroom) if headroom else math.nan
    return error if 1 < error < math.inf else None


def _ordered(made: Mapping[_Key, Cause]) -> list[_Key]:
    """Whole backends first; then the greatest of each backend, the second ones."""
    by_size = sorted(made, key=lambda key: (-made[key].n, not key.kind, key))
    places: Counter[str] = Counter()
    rank: dict[_Key, tuple[bool, int]] = {}
    for key in by_size:
        rank[key] = (key.kind != "backend", places[key.backend])
        places[key.backend] += 1
    return sorted(by_size, key=rank.__getitem__)


def _joined(causes: Sequence[Cause]) -> Cause:
    """Causes of one kind as one."""
    first = causes[0]
    if len(causes) == 1:
        return first
    is_whole = first.kind == "backend"
    backends = {one.backend for one in causes}
    titles = list(dict.fromkeys(one.title for one in causes))
    outcomes = {one.outcome for one in causes}
    terms = ["is:unexpected", *(f"outcome:{one}" for one in outcomes)]
    return replace(
        first,
        backend=backends.pop() if len(backends) == 1 else f"{len(backends)} backends",
        title=first.title if is_whole else _some(titles),
        n=sum(one.n for one in causes),
        worst=None,
        query=" and ".join(terms) if first.query and len(outcomes) == 1 else "",
        n_promises=sum(one.n_promises for one in causes),
        n_gradients=sum(one.n_gradients for one in causes),
        n_joined=len(causes),
    )


def _some(names: Sequence[str]) -> str:
    more = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {more} more" if more > 0 else "")
