# SPDX-License-Identifier: Apache-2.0
"""The exceptions from rules, with a reason each: owed.txt, whose lines read

    RULE SUBJECT: REASON

A subject may have stars. A line without stars that nothing needs is a fault too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatch

from sources import Tree

_LIST = "ctest/trial/rules/owed.txt"


@dataclass(frozen=True)
class Line:
    rule: str
    subject: str
    reason: str


class Owed:
    def __init__(self, text: str) -> None:
        self.lines: list[Line] = []
        for line in text.splitlines():
            if not line.strip() or line.startswith("#"):
                continue
            head, _, reason = line.partition(": ")
            rule, _, subject = head.partition(" ")
            self.lines.append(Line(rule, subject.strip(), reason.strip()))

    @classmethod
    def of(cls, tree: Tree) -> Owed:
        return cls(tree.text(_LIST) if _LIST in tree.files else "")

    def filter(
        self, rule: str, faults: Iterable[tuple[str, str]], whole: bool = True
    ) -> Iterator[str]:
        """The faults of a rule that no line names, and, where the whole tree was
        looked at, lines without a fault."""
        mine = [line for line in self.lines if line.rule == rule]
        needed: set[Line] = set()
        for subject, what in faults:
            named = {line for line in mine if fnmatch(subject, line.subject)}
            needed |= named
            if not named:
                yield f"{subject}: {what}"
        for line in mine:
            if whole and line not in needed and "*" not in line.subject:
                yield f"owed.txt: nothing needs '{rule} {line.subject}' any more"
            elif not line.reason:
                yield f"owed.txt: '{rule} {line.subject}' has no reason"
