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
from pathlib import Path

_WORD = re.compile(r"\b[A-Za-z_]\w*\b")
_TEXT = re.compile(r'(?<!\})(?<!\}  )//.*|"(?:\\.|[^"\\\n])*"')  # that is no code
_PRIVATE = re.compile(
    r"^namespace \{\n(.*?)^\}  // namespace$", re.MULTILINE | re.DOTALL
)
# At the margin: a type, a function or a variable.
_TYPE = re.compile(r"^(?:struct|class|enum(?: class)?|using|union) (\w+)", re.MULTILINE)
_NAME = re.compile(
    r"^(?!using|template|return|#)[A-Za-z].*?\b(\w+)(?:\(| =|\{|\[|;)", re.MULTILINE
)


def own_names(text: str) -> set[str]:
    """What the text defines for itself, in a namespace without a name."""
    found: set[str] = set(re.findall(r"^#define (\w+)", text, re.MULTILINE))
    for body in _PRIVATE.findall(text):
        found |= set(_TYPE.findall(body)) | set(_NAME.findall(body))
    # `using` and `namespace fs =` at the margin hold for what follows.
    found |= set(re.findall(r"^using (?:\w+::)*(\w+)", text, re.MULTILINE))
    return found - {"operator", "inline", "constexpr"}


def groups(
    names: Iterable[str], text_of: Mapping[str, str], limit: int
) -> list[list[str]]:
    """At most `limit` sources each, in the order of the names."""
    found: list[tuple[list[str], set[str], set[str]]] = []
    for name in names:
        text = _TEXT.sub("", text_of[name])
        own, words = own_names(text), set(_WORD.findall(text))
        for members, taken, mentioned in found:
            if len(members) < limit and not (own & mentioned or taken & words):
                members.append(name)
                taken |= own
                mentioned |= words
                break
        else:
            found.append(([name], set(own), set(words)))
    return [members for members, _, _ in found]


def source_of(group: Iterable[str]) -> str:
    return "".join(f'#include "{Path(name).resolve()}"\n' for name in group)
