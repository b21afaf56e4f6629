# SPDX-License-Identifier: Apache-2.0
"""Sources that can be read as one, so that their headers are read once.

    for group in groups(["a.cc", "b.cc"], text_of={...}, limit=8):
        text = source_of(group)

Two sources cannot stand together when one defines a name for itself that the
other has too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

_WORD = re.compile(r"\b[A-Za-z_]\w*\b")
# What is looked up in the scopes around it: alone, or in a namespace of ours.
_ALONE = re.compile(r"(?<!::)(?<!\.)(?<!->)\b[A-Za-z_]\w*\b")
_IN_NAMESPACE = re.compile(r"\b(?!std::)[a-z][a-z0-9_]*::(\w+)")
_TEXT = re.compile(r'(?<!\})(?<!\}  )//.*|"(?:\\.|[^"\\\n])*"')  # that is no code
_PRIVATE = re.compile(
    r"^namespace \{\n(.*?)^\}  // namespace$", re.MULTILINE | re.DOTALL
)
# At the margin: a type, a function or a variable.
_TYPE = re.compile(
    r"^(?:struct|class|enum(?: class)?|using(?=.* =)|union) (\w+)", re.MULTILINE
)
_NAME = re.compile(
    r"^(?!using|template|return|#)[A-Za-z].*?\b(\w+)(?:\(| =|\{|\[|;)", re.MULTILINE
)

# `using std::max;`, `using Json = other;`, `namespace fs = std::filesystem;`
_BROUGHT = re.compile(
    r"^((?:using (?!namespace)|namespace (?=\w+ =))[\w:]+)(.*)$", re.MULTILINE
)
_NOT_NAMES = {"operator", "inline", "constexpr", "namespace", "noexcept", "requires"}


@dataclass
class Names:
    own: set[str]  # what a text defines for itself, in a namespace without a name
    brought: dict[str, str]  # by a `using` at the margin, which holds for what follows
    alone: set[str]  # words without a scope before them
    words: set[str]  # those, the words in a namespace, and what is declared
    declared: set[str] = field(default_factory=set)  # by its headers

    def hides_from(self, other: Names) -> bool:
        """True when it changes what the other's words mean. What both bring by the
        same line is one thing."""
        return (
            not other.words.isdisjoint(self.own)
            or not other.alone.isdisjoint(self.declared - other.declared)
            or any(
                name in other.alone and other.brought.get(name) != line
                for name, line in self.brought.items()
            )
        )

    def add(self, other: Names) -> None:
        self.own |= other.own
        self.brought |= other.brought
        self.alone |= other.alone
        self.words |= other.words
        self.declared |= other.declared


def names_of(text: str) -> Names:
    own: set[str] = set(re.findall(r"^#define (\w+)", text, re.MULTILINE))
    for body in _PRIVATE.findall(text):
        own |= set(_TYPE.findall(body)) | set(_NAME.findall(body))
    brought = {
        _WORD.findall(left)[-1]: left + rest for left, rest in _BROUGHT.findall(text)
    }
    own -= brought.keys() | _NOT_NAMES
    if re.search(r"^int main\(", text, re.MULTILINE):
        own.add("main")
    alone = set(_ALONE.findall(text))
    return Names(own, brought, alone, alone | set(_IN_NAMESPACE.findall(text)))


def declared(header: str) -> set[str]:
    """What the text of a header declares at the margin."""
    header = _TEXT.sub("", header)
    return {*_TYPE.findall(header), *_NAME.findall(header)} - _NOT_NAMES


def groups(
    names: Iterable[str],
    text_of: Mapping[str, str],
    limit: int,
    declared_to: Mapping[str, set[str]] = MappingProxyType({}),
) -> list[list[str]]:
    """At most `limit` sources each, in the order of the names. `declared_to` has
    what a source's headers declare."""
    found: list[tuple[list[str], Names]] = []
    for name in names:
        mine = names_of(_TEXT.sub("", text_of[name]))
        mine.declared = declared_to.get(name, set())
        mine.words |= mine.declared
        for members, theirs in found:
            if len(members) == limit:
                continue
            if mine.hides_from(theirs) or theirs.hides_from(mine):
                continue
            members.append(name)
            theirs.add(mine)
            break
        else:
            found.append(([name], mine))
    return [members for members, _ in found]


def source_of(group: Iterable[str]) -> str:
    return "".join(f'#include "{Path(name).resolve()}"\n' for name in group)
