# SPDX-License-Identifier: Apache-2.0
"""No sentence of a comment or a page opens with a word of OPENINGS, which leaves
open what the sentence is about; no line of C++ is over 80 columns.

    python3 ctest/trial/rules/prose.py [--accept]

debts.txt has the number that each folder still has of either: one more is a
fault, and so is one fewer, until --accept has lowered the number. It rewrites the
list where the sum does not rise, as after a move.
"""

from __future__ import annotations

import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from textwrap import dedent

from sources import Fault, Tree, folder, report

_DEBTS = "ctest/trial/rules/debts.txt"
OPENINGS = ("What", "Whether", "Of", "That")
_MOST_COLUMNS = 80
_FAULTS = {
    "sentences": f"opens with {', '.join(OPENINGS)}",
    "columns": f"is over {_MOST_COLUMNS} columns",
}
_OPENS = re.compile(rf"(?:{'|'.join(OPENINGS)})\b")
_CPP = (".cc", ".h")
_HASH = (".py", ".sh", ".cmake", "CMakeLists.txt", ".ci/run")
_DOCSTRING = re.compile(r'^[ \t]*r?"""(.*?)"""', re.MULTILINE | re.DOTALL)
# The beginning of a line of a page: of a heading, an item, a quotation or a cell.
_MARK = re.compile(r"\s*(?:#+|[-*>|]|\d+\.)\s+|\s*$")
_FENCE = re.compile(r"^\s*```.*?^\s*```", re.MULTILINE | re.DOTALL)

_HEAD = (
    "# Sentences that open with a word that they may not, and lines of C++ over 80",
    "# columns, in each folder: numbers that may only fall (prose.py --accept).",
)

Debts = Mapping[tuple[str, str], int]  # by kind and folder
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


def places(tree: Tree) -> Iterator[tuple[str, str, int]]:
    """Kind, file and line of all that is owed."""
    for name in tree.files:
        if "/generated/" in name or not name.endswith((*_CPP, *_HASH, ".md")):
            continue
        text = tree.text(name)
        for number, sentence in sentences(lines_of(name, text)):
            if _OPENS.match(sentence):
                yield "sentences", name, number
        if name.endswith(_CPP):
            for number, line in enumerate(text.splitlines(), 1):
                if len(line) > _MOST_COLUMNS and not line.startswith("#include"):
                    yield "columns", name, number


def _room(name: str) -> str:
    return "/".join(folder(name).split("/")[:2])


def read_debts(text: str) -> Debts:
    lines = (line.partition("#")[0].split() for line in text.splitlines())
    return {(kind, room): int(number) for kind, room, number in filter(None, lines)}


def faults(tree: Tree, debts: Debts) -> Iterator[Fault]:
    found: dict[tuple[str, str], list[str]] = defaultdict(list)
    for kind, name, number in places(tree):
        found[kind, _room(name)].append(f"{name}:{number}")
    for kind, room in sorted({*found, *debts}):
        owed, held = debts.get((kind, room), 0), found[kind, room]
        if len(held) > owed:
            yield room, f"{len(held)} {kind} are owed, at most {owed} may be"
            yield from ((place, _FAULTS[kind]) for place in held)
        elif len(held) < owed:
            yield room, f"{len(held)} {kind} are owed of {owed}: --accept lowers it"


def accepted(tree: Tree, debts: Debts) -> str:
    """The new list; empty where a sum would rise."""
    now = Counter((kind, _room(name)) for kind, name, _ in places(tree))
    for kind in _FAULTS:
        sums = (sum(n for (k, _), n in d.items() if k == kind) for d in (now, debts))
        after, before = sums
        if debts and after > before:
            return ""
    lines = (f"{kind} {room} {number}" for (kind, room), number in sorted(now.items()))
    return "\n".join([*_HEAD, *lines, ""])


def main() -> int:
    tree = Tree(Path("."))
    file = tree.root / _DEBTS
    debts = read_debts(file.read_text(encoding="utf-8") if file.is_file() else "")
    if "--accept" in sys.argv[1:]:
        text = accepted(tree, debts)
        if not text:
            print(f"{_DEBTS}: more is owed than before")
            return 1
        file.write_text(text, encoding="utf-8")
        debts = read_debts(text)
    found = [f"{name}: {what}" for name, what in faults(tree, debts)]
    return report(found, f"{sum(debts.values())} sentences and lines are owed")


if __name__ == "__main__":
    sys.exit(main())
