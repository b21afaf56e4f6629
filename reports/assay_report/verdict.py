# SPDX-License-Identifier: Apache-2.0
"""The verdicts of a run: counts with denominators, and one headline.

    assess(run).headline.text   # "3 unexpected results"

Nothing is judged again here. A run is red by the list in summary.json, which exit
code, JUnit and CTest have, too. Counts come from results.csv; where another
file of the same run says otherwise, that is a problem which the page shows in red,
because one of the two is wrong.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from assay_report.causes import Cause, causes_of, short_names
from assay_report.run_folder import Run, RunFolderError, Tally, Unexpected, flag

# Every outcome with what it means, in the order in which they are shown.
OUTCOMES = {
    "pass": "judged, and within its limit",
    "waived": "passed only under a loosened tolerance, for a stated reason",
    "xfail": "failed exactly as an expectation says",
    "fail": "wrong value, shape or type, or accepted what it must reject",
    "suspect": "passed, but there is evidence that the pass proves nothing",
    "xpass": "passed although an expectation says that it fails",
    "flaky": "passed only when repeated",
    "error": "a bad status or an exception",
    "crash": "the process died by a signal or an early exit",
    "timeout": "did not end within its time limit",
    "missing": "planned, but without a verdict",
    "unsupported": "declined by the backend, with a reason",
    "unavailable": "the library or device is not on this machine",
}
_NOT_JUDGED = ("missing", "unsupported", "unavailable")
# The words of conformance, worst first, with the state that each gives.
STATES = {
    "not conformant": "warn",
    "partial": "none",
    "conformant with waivers": "waivers",
    "conformant": "good",
}
_GOOD = ("conformant", "conformant with waivers")
_TOLD = 2  # backends whose reason stands in the headline


@dataclass(frozen=True)
class BackendVerdict:
    """One backend of one run."""

    name: str
    version: str
    settings: str
    device: str
    build_id: str
    module_sha256: str
    unavailable_reason: str
    counts: dict[str, int]
    n_vacuous: int
    tallies: tuple[Tally, ...]
    n_unexpected: int
    declined: tuple[tuple[str, int], ...]  # reason codes of unsupported cases
    n_unclaimed_pass: int

    @property
    def n_planned(self) -> int:
        return sum(tally.n_planned for tally in self.tallies)

    @property
    def words(self) -> list[tuple[str, str]]:
        """The word of conformance and its reason; one unless corpora differ."""
        said = dict.fromkeys((tally.verdict, tally.reason) for tally in self.tallies)
        return list(said) or [("not assessed", "summary.json does not name it")]

    @property
    def n_results(self) -> int:
        return sum(self.counts.values())

    @property
    def n_judged(self) -> int:
        return sum(n for one, n in self.counts.items() if one not in _NOT_JUDGED)

    @property
    def adds_up(self) -> bool:
        return self.n_results == self.n_planned

    @property
    def terms(self) -> list[tuple[str, int]]:
        """The accounting equation's right side; zero terms left out."""
        return [(o, self.counts[o]) for o in OUTCOMES if self.counts[o]]


@dataclass(frozen=True)
class Headline:
    """Two answers: is the run as expected, and are its backends conformant.

    state: good, bad, or none (no verdict); of conformance also waivers."""

    state: str
    text: str
    notes: tuple[str, ...] = ()
    conformance: str = ""
    conformance_state: str = "none"
    why: tuple[str, ...] = ()  # of backends that are not conformant


@dataclass(frozen=True)
class Assessment:
    """Everything that the page says of a run as a whole."""

    headline: Headline
    backends: tuple[BackendVerdict, ...]
    unexpected: tuple[Unexpected, ...]  # in the order of their causes
    causes: tuple[Cause, ...]


def assess(run: Run) -> Assessment:
    """Counts a run; backends stand in the order of backends.csv."""
    unexpected, causes = causes_of(run, _all_unexpected(run))
    backends = _backend_verdicts(run, unexpected)
    headline = _with_conformance(_headline(run, backends, len(unexpected)), backends)
    return Assessment(headline, backends, unexpected, causes)


@dataclass
class _Counted:
    """The results of one backend, while records are read."""

    outcomes: Counter[str] = field(default_factory=Counter)
    declined: Counter[str] = field(default_factory=Counter)
    n_vacuous: int = 0
    n_unclaimed_pass: int = 0


def _backend_verdicts(
    run: Run, all_unexpected: Sequence[Unexpected]
) -> tuple[BackendVerdict, ...]:
    counted: dict[str, _Counted] = {}
    results = run.results
    claimed = set(_claimed(run))
    columns = ("test_id", "backend", "outcome", "vacuous", "reason_code")
    for at, (test_id, backend, outcome, is_vacuous, code) in enumerate(
        zip(*(results[name] for name in columns))
    ):
        if outcome not in OUTCOMES:
            raise RunFolderError(
                f"{results.path}: found outcome {outcome!r} in record {at + 1}, "
                f"wanted one of {', '.join(OUTCOMES)}"
            )
        of = counted.setdefault(backend, _Counted())
        of.outcomes[outcome] += 1
        where = f"{results.path}: vacuous in record {at + 1}"
        of.n_vacuous += flag(is_vacuous, where) and outcome == "pass"
        if outcome == "unsupported":
            of.declined[code] += 1
        elif outcome == "pass" and (test_id, backend) not in claimed:
            of.n_unclaimed_pass += 1
    unexpected = Counter(entry.backend for entry in all_unexpected)
    described = {name: at for at, name in enumerate(run.backends["backend"])}
    return tuple(
        _backend_verdict(
            run,
            name,
            described.get(name),
            counted.get(name, _Counted()),
            unexpected[name],
        )
        for name in dict.fromkeys([*described, *counted])
    )


def _claimed(run: Run) -> Iterator[tuple[str, str]]:
    """The cases and backends that are inside the backend's claims."""
    columns = ("test_id", "backend", "claimed")
    for test_id, backend, is_claimed in zip(*(run.plan[name] for name in columns)):
        if is_claimed == "1":
            yield test_id, backend


def _backend_verdict(
    run: Run, name: str, at: int | None, counted: _Counted, n_unexpected: int
) -> BackendVerdict:
    described = (
        *("version", "settings", "device", "build_id", "module_sha256"),
        "unavailable_reason",
    )
    return BackendVerdict(
        name=name,
        counts={outcome: counted.outcomes[outcome] for outcome in OUTCOMES},
        n_vacuous=counted.n_vacuous,
        tallies=tuple(t for t in run.summary.tallies if t.backend == name),
        n_unexpected=n_unexpected,
        declined=tuple(counted.declined.most_common()),
        n_unclaimed_pass=counted.n_unclaimed_pass,
        **{one: "" if at is None else run.backends[one][at] for one in described},
    )


def _all_unexpected(run: Run) -> tuple[Unexpected, ...]:
    """summary.json's list, by which alone a run is red.

    A case that is listed twice, as when its expectation is stale and it was also
    lost from a floor, is one result with both reasons.
    """
    listed: dict[tuple[str, str, str], Unexpected] = {}
    for told in run.summary.unexpected:
        # Without a test_id it is about a backend; those are never the same.
        key = (told.backend, told.test_id, "" if told.test_id else told.reason)
        known = listed.get(key)
        reason = f"{known.reason}; {told.reason}" if known else told.reason
        listed[key] = replace(told, reason=reason)
    return tuple(listed.values())


def _problems(run: Run, verdicts: Sequence[BackendVerdict]) -> list[str]:
    """Where the files of the run contradict each other, in words."""
    found: list[str] = []
    for one in verdicts:
        if not one.tallies:
            found.append(f"{one.name}: summary.json does not name this backend")
        elif not one.adds_up:
            found.append(
                f"{one.name}: {one.n_planned:,} cases were planned, "
                f"results.csv holds {one.n_results:,}"
            )
        if one.name not in run.backends["backend"]:
            found.append(f"{one.name}: backends.csv does not name this backend")
    total: Counter[str] = Counter()
    for one in verdicts:
        total.update(one.counts)
        total.update({"vacuous": one.n_vacuous, "planned": one.n_planned})
    for name in (*OUTCOMES, "vacuous", "planned"):
        text = run.facts[f"n_{name}"]
        if text != str(total[name]):
            found.append(
                f"runs.csv says n_{name} = {text or 'nothing'}, the tables hold "
                f"{total[name]:,}"
            )
    return found


def _headline(
    run: Run, verdicts: Sequence[BackendVerdict], n_unexpected: int
) -> Headline:
    """Good only when everything was judged as planned and expected."""
    contradictions = tuple(_problems(run, verdicts))
    if contradictions:
        return Headline("bad", "The accounting does not add up", contradictions)
    if n_unexpected:
        plural = "" if n_unexpected == 1 else "s"
        return Headline("bad", f"{n_unexpected:,} unexpected result{plural}")
    if not sum(one.n_judged for one in verdicts):
        return Headline(
            "none", "Nothing was judged", ("no case reached a verdict in this run",)
        )
    failed = run.summary.exit_code != 0
    idle = tuple(
        f"{one.name}: not one case was judged{_because(one)}"
        for one in verdicts
        if not one.n_judged
    )
    if idle:
        state = "bad" if failed else "none"
        return Headline(state, "Part of the run judged nothing", idle)
    if failed:
        return Headline("bad", f"The run ended with exit code {run.summary.exit_code}")
    return Headline("good", "Every result is as expected")


def _because(verdict: BackendVerdict) -> str:
    return verdict.unavailable_reason and f": {verdict.unavailable_reason}"


def _with_conformance(
    headline: Headline, verdicts: Sequence[BackendVerdict]
) -> Headline:
    """The second answer, which does not follow from the first."""
    names = short_names([one.name for one in verdicts])
    found = {name: _word(one) for name, one in zip(names, verdicts)}
    if not found:
        return headline
    counts = Counter(word for word, _ in found.values())
    worst = min(counts, key=[*STATES, *counts].index)
    others = [name for name, (word, _) in found.items() if word not in _GOOD]
    if len(found) == 1:
        text = worst
    elif len(counts) == 1:
        text = f"{'both' if len(found) == 2 else f'all {len(found)}'} backends {worst}"
    else:
        n_good = len(found) - len(others)
        text = f"{n_good} of {len(found)} backends conformant"
        text += f", {others[0]} is not" if len(others) == 1 else ""
    why = tuple(
        (f"{name}: {reason}" if len(found) > 1 else reason)
        for name, (word, reason) in found.items()
        if word == "not conformant" and reason
    )
    return replace(
        headline,
        conformance=f"{text[:1].upper()}{text[1:]}",
        conformance_state=STATES.get(worst, "warn"),
        why=why if len(why) <= _TOLD else (),
    )


def _word(verdict: BackendVerdict) -> tuple[str, str]:
    """The worst of its words, with the reason of that."""
    return min(verdict.words, key=lambda said: [*STATES, said[0]].index(said[0]))
