# SPDX-License-Identifier: Apache-2.0
"""A small change of the text of one of our own sources, after which some test of ours
must fail. The list is data, harness.txt:

    mutant shape_unchecked of form in framework/testing/measure/compare.cc
    killed by unit/testing because "outputs of any shape are compared"
    - got.dtype() != want.dtype() || got.shape() != want.shape()
    + got.dtype() != want.dtype()

The text behind - must occur once, blanks and line breaks apart; further lines with - or
+ go on with it. The killer is unit/NAME, whose program then has the changed source in
it, or program, which is the test of the assay program run on one that has it;
":FILTER", as GoogleTest's, may follow. The killer nobody stands for a change that no
test can see (random/).

A schema is one source that has many mutants in it, so that they are compiled once
(R. Untch, A. J. Offutt and M. J. Harrold, "Mutation analysis using mutant schemata",
ISSTA 1993). The body of a function that a mutant changes is there twice, and is_on.h
says which is run:

    int Half(int n) {
      if (IsOn("half_is_more")) { return n / 2 + 1; } else { return n / 2; }
    }
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from source import Range, function_bodies

_BLANKS = " \t\n\r"
_SENTENCE = ("mutant", "of", "in", "killed", "by", "because")
_HELD = frozenset(("mutant", "of", "in", "by"))  # words that a value follows
_QUOTED = re.compile(r'"((?:\\["\\]|[^"])+)"', re.DOTALL)


@dataclass
class HarnessMutant:
    name: str = ""
    mutant_class: str = ""
    file: str = ""  # from the root of the tree
    killer: str = ""  # unit/NAME, program or nobody
    filter: str = ""  # of the killer's tests; empty: all
    because: str = ""
    find: str = ""
    replacement: str = ""


def _word(line: str) -> tuple[str, str]:
    """The first word of a line, and what follows it."""
    line = line.lstrip(_BLANKS)
    word = re.match(rf"[^{_BLANKS}]*", line)[0]  # type: ignore[index]
    return word, line[len(word) :]


def _sentence(line: str) -> HarnessMutant:
    """ "word what word what ... because "..."", as wanted."""
    held = {}
    for word in _SENTENCE:
        found, line = _word(line)
        if found != word:
            raise ValueError(f"found '{found}', wanted {word}")
        if word in _HELD:
            held[word], line = _word(line)
    line = line.strip(_BLANKS)
    because = _QUOTED.fullmatch(line)
    if because is None:
        raise ValueError(f"found '{line}', wanted a reason in quotes")
    killer, _, tests = held["by"].partition(":")
    if killer not in ("program", "nobody") and not killer.startswith("unit/"):
        raise ValueError(
            f"found the killer '{killer}', wanted unit/NAME, program or nobody"
        )
    reason = re.sub(r'\\(["\\])', r"\1", because[1])
    return HarnessMutant(held["mutant"], held["of"], held["in"], killer, tests, reason)


class _Reader:
    def __init__(self) -> None:
        self.mutants: list[HarnessMutant] = []
        self._names: set[str] = set()
        self._lines: list[str] = []  # of a sentence, so far

    def add(self, line: str) -> None:
        line = line.strip(_BLANKS)
        if not line or line.startswith("#"):
            return
        if line[0] in "-+":
            self._finish_sentence()
            if not self.mutants:
                raise ValueError("found no mutant before")
            side = "find" if line[0] == "-" else "replacement"
            text = getattr(self.mutants[-1], side)
            setattr(self.mutants[-1], side, f"{text}\n{line[1:]}" if text else line[1:])
            return
        if line.startswith("mutant "):
            self.finish_mutant()
        self._lines.append(line)

    def _finish_sentence(self) -> None:
        if not self._lines:
            return
        self.mutants.append(_sentence(" ".join(self._lines)))
        self._lines.clear()
        name = self.mutants[-1].name
        if name in self._names:
            raise ValueError(f"{name} is there a second time")
        self._names.add(name)

    def finish_mutant(self) -> None:
        self._finish_sentence()
        if self.mutants and not self.mutants[-1].find:
            raise ValueError(
                f"{self.mutants[-1].name} says no text to find, wanted one behind -"
            )


def parse_harness_mutants(text: str) -> list[HarnessMutant]:
    """A value error with the line number. Names are unique."""
    reader = _Reader()
    for number, line in enumerate(text.split("\n"), start=1):
        try:
            reader.add(line)
        except ValueError as error:
            raise ValueError(f"line {number}: {error}") from None
    reader.finish_mutant()
    return reader.mutants


def place_of(mutant: HarnessMutant, source: str) -> Range:
    """Where the text that is changed stands. A value error, naming the mutant and the
    count, unless it is there exactly once."""
    wanted = mutant.find.lstrip(_BLANKS)
    parts = map(re.escape, re.split(rf"[{_BLANKS}]+", wanted))
    pattern = rf"[{_BLANKS}]+".join(parts)
    places = [Range(*m.span(1)) for m in re.finditer(f"(?=({pattern}))", source)]
    if len(places) != 1:
        raise ValueError(
            f"mutant {mutant.name}: found its text {len(places)} times in"
            f" {mutant.file}, wanted it once: '{wanted}'"
        )
    return places[0]


def mutated(mutant: HarnessMutant, source: str) -> str:
    """The source with the change in it; fails as place_of."""
    place = place_of(mutant, source)
    return source[: place.begin] + mutant.replacement + source[place.end :]


def schema_of(mutants: Iterable[HarnessMutant], source: str) -> str:
    """The source with all of these mutants of it. Without one on, it is as it was. A
    value error, naming the mutant, where its text is not there exactly once, or is not
    within the body of one function."""
    bodies = function_bodies(source)
    branches: dict[Range, list[str]] = defaultdict(list)
    for mutant in mutants:
        text = place_of(mutant, source)
        found = [b for b in bodies if b.begin <= text.begin and text.end <= b.end]
        if not found:
            raise ValueError(
                f"mutant {mutant.name}: its text in {mutant.file} is not within the"
                " body of one function"
            )
        body = found[0]
        changed = (
            source[body.begin : text.begin]
            + mutant.replacement
            + source[text.end : body.end]
        )
        branches[body].append(
            "if (static const bool assay_mutant_is_on =\n"
            f'        ::assay::harness_mutants::IsOn("{mutant.name}");'
            f" assay_mutant_is_on) {{{changed}}} else "
        )
    schema = '#include "ctest/trial/mutants/is_on.h"\n'
    at = 0
    for body in sorted(branches):
        right = source[body.begin : body.end]
        schema += f"{source[at : body.begin]}\n{''.join(branches[body])}{{{right}}}\n"
        at = body.end
    return schema + source[at:]
