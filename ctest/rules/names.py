# SPDX-License-Identifier: Apache-2.0
"""No type is defined twice in one namespace: two of one name in one program
are the same to the linker, which takes the functions of either.

    python3 ctest/rules/names.py [ROOT]
"""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from owed import Owed
from sources import Tree

# Comments, attributes, literals and lines of the preprocessor: braces in them do
# not count.
_NOISE = re.compile(
    r'//[^\n]*|/\*.*?\*/|\[\[[^\]]*\]\]|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"'
    r"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'|^[ \t]*#(?:\\\n|[^\n])*",
    re.DOTALL | re.MULTILINE,
)
_TOKEN = re.compile(r"[{}();]|[^{}();]+")
_NAMESPACE = re.compile(r"\bnamespace\b\s*([\w:\s]*)$")
_TYPE = re.compile(
    r"(?:^|\s)(?:class|struct|union|enum(?:\s+(?:class|struct))?)\s+"
    r"(?:[A-Z_]+\s+)*?(?!final\b)(\w+(?:::\w+)*)\s*(?:final\s*)?(?::[^:].*)?$",
    re.DOTALL,
)


@dataclass(frozen=True)
class Definition:
    name: str
    file: str
    line: int


def _blank(match: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", match[0])


def definitions(text: str, file: str) -> Iterator[Definition]:
    """The types that a file defines at the scope of a namespace."""
    scopes: list[str | None] = []  # a namespace's name; None is no namespace
    head, line = "", 1
    for token in _TOKEN.findall(_NOISE.sub(_blank, text)):
        if token == "{":
            space = _NAMESPACE.search(head)
            kind = _TYPE.search(head)
            if space:
                name = re.sub(r"\binline\b|\s", "", space[1])
                scopes.append(name or f"({file})")
            else:
                if kind and None not in scopes:
                    yield Definition("::".join([*scopes, kind[1]]), file, line)
                scopes.append(None)
        elif token == "}" and scopes:
            scopes.pop()
        head = token if token not in "{};" else ""
        line += token.count("\n")


def doubles(tree: Tree) -> Iterator[tuple[str, str]]:
    places: dict[str, list[str]] = defaultdict(list)
    for name in tree.sources:
        for found in definitions(tree.text(name), name):
            places[found.name].append(f"{found.file}:{found.line}")
    for name, where in sorted(places.items()):
        if len(where) > 1:
            yield name, f"is defined {len(where)} times: {' '.join(where)}"


def main() -> int:
    tree = Tree(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
    owed = Owed.read(tree.root / "ctest/rules/owed.txt")
    found = list(owed.filter("name", doubles(tree)))
    for line in found:
        print(line)
    if not found:
        print(f"each type of {len(tree.sources)} files has one definition")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
