# SPDX-License-Identifier: Apache-2.0
"""No sentence of a comment or a page opens with a word of OPENINGS, which leaves
open what the sentence is about; no line of C++ is over 80 columns.

    python3 ctest/trial/rules/prose.py [ROOT]
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from textwrap import dedent

from sources import Fault, Tree, run, said

OPENINGS = ("What", "Whether", "Of", "That")
_MOST_COLUMNS = 80
_OPENS = re.compile(rf"(?:{'|'.join(OPENINGS)})\b")
_CPP = (".cc", ".h")
_HASH = (".py", ".sh", ".cmake", "CMakeLists.txt", ".ci/run")
_DOCSTRING = re.compile(r'^[ \t]*r?"""(.*?)"""', re.MULTILINE | re.DOTALL)
# The beginning of a line of a page: of a heading, an item, a quotation or a cell.
_MARK = re.compile(r"\s*(?:#+|[-*>|]|\d+\.)\s+|\s*$")
_FENCE = re.compile(r"^\s*```.*?^\s*```", re.MULTILINE | re.DOTALL)

Line = tuple[int, str]  # its number, and its text


def _comments(text: str, mark: str) -> Iterator[Line]:
    """Examples, which stand deeper, divide; so does what is no comment."""
    comment = re.compile(rf"\s*{mark} ?(?!SPDX)(\S.*)?$")
    for number, line in enumerate(text.splitlines(), 1):
        found = comment.match(line)
        yield number, found[1] or "" if found else ""


def _docstrings(text: str) -> Iterator[Line]:
    for found in _DOCSTRING.finditer(text):
        start = text.count("\n", 0, found.start()) + 1
        first, _, rest = found[1].partition("\n")
        for number, line in enumerate([first, *dedent(rest).split("\n")], start):
            yield number, "" if line.startswith("    ") else line


def _page(text: str) -> Iterator[Line]:
    plain = _FENCE.sub(lambda code: "\n" * code[0].count("\n"), text)
    plain = plain.replace("**", "")
    for number, line in enumerate(plain.splitlines(), 1):
        is_row = line.startswith("|")
        for part in line.strip("|").split("|") if is_row else [line]:
            mark = _MARK.match(part)
            if mark or is_row:
                yield number, ""
            yield number, part[mark.end() if mark else 0 :].strip()
        if is_row:
            yield number, ""


def lines_of(name: str, text: str) -> Iterator[Line]:
    """The lines of prose of a file; an empty one ends a paragraph."""
    if name.endswith(_CPP):
        yield from _comments(text, "///?")
    elif name.endswith(_HASH):
        yield from _comments(text, "#")
        if name.endswith(".py"):
            yield from _docstrings(text)
    elif name.endswith(".md"):
        yield from _page(text)


def sentences(lines: Iterator[Line]) -> Iterator[Line]:
    opens = True
    for number, line in lines:
        parts = re.split(r"(?<=[.:;?!])\s+", line) if line else []
        for i, part in enumerate(parts):
            if (opens or i > 0) and len(part.split()) > 1 and part[0].isupper():
                yield number, part
        opens = not line or line.endswith((".", ":", ";", "?", "!"))


def faults(tree: Tree) -> Iterator[Fault]:
    for name in tree.files:
        if "/generated/" in name or not name.endswith((*_CPP, *_HASH, ".md")):
            continue
        text = tree.text(name)
        for number, sentence in sentences(lines_of(name, text)):
            if _OPENS.match(sentence):
                yield f"{name}:{number}", f"opens with {', '.join(OPENINGS)}"
        if name.endswith(_CPP):
            for number, line in enumerate(text.splitlines(), 1):
                if len(line) > _MOST_COLUMNS and not line.startswith("#include"):
                    yield f"{name}:{number}", f"is over {_MOST_COLUMNS} columns"


if __name__ == "__main__":
    sys.exit(
        run(
            lambda tree: said(faults(tree)),
            lambda tree: f"{len(tree.files)} files read as plain prose",
        )
    )
