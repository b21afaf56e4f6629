# SPDX-License-Identifier: Apache-2.0
"""At most 500 lines a file, 200 a class, 60 a function, and each file in a top
folder and of a kind that this rule knows. Generated code is exempt, and the rows
of a test's table (lines of a TEST that end with a comma) are data.

    python3 ctest/trial/rules/budgets.py [ROOT]
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from names import NOISE, TOKEN, blank
from sources import TOPS, Fault, Tree, run, said

_MOST = {"file": 500, "class": 200, "function": 60}
_WRITTEN = (
    ".cc .h .py .sh .cmake .js .css .html .md .in .map .toml CMakeLists.txt"
    " CMakePresets.json .clang-format .clang-tidy .ci/run"
)
# Rows of tables, pictures and a text that is not ours.
_DATA = ".txt .json .png LICENSE"
# Settings and pages.
_OF_ROOT = re.compile(r"\.ci/run|\.clang-\w+|LICENSE|CMake\w+\.\w+|\w+\.(md|toml)")
_NAMESPACE = re.compile(r"\bnamespace\b|\bextern\s*$")
_CLASS = re.compile(r"(?:^|\s)(?:class|struct|union)\s[^()]*$")
# The members that a constructor sets before its body, so far.
_SETTING = re.compile(r"\)\s*(noexcept\s*)?:[^:].*[\w>]\s*$", re.DOTALL)


@dataclass(frozen=True)
class Size:
    kind: str
    lines: int
    place: str


def _is_of(name: str, kinds: str) -> bool:
    return name.endswith(tuple(kinds.split()))


def _kind_of(head: str, inside: list[str]) -> str:
    """The kind of a brace after `head`, inside of others."""
    if "function" in inside or "other" in inside or "enum" in head.split():
        return "other"
    if _NAMESPACE.search(head):
        return "namespace"
    if _CLASS.search(head):
        return "class"
    return "function" if ")" in head and head.rstrip()[-1] != "=" else "other"


def bodies(text: str) -> Iterator[tuple[str, int, int]]:
    """The classes and functions of C++, with their first and last lines."""
    scopes: list[tuple[str, int, str]] = []  # kind, first line, what stood before
    head, first, line, depth = "", 1, 1, 0
    for token in TOKEN.findall(NOISE.sub(blank, text)):
        if not head.strip() and token.strip():
            first = line + token[: -len(token.lstrip())].count("\n")
        if token in "()":
            depth += 1 if token == "(" else -1
            head += token
        elif depth:
            pass
        elif token == "{":
            inside = [kind for kind, _, _ in scopes]
            setting = "setting" if _SETTING.search(head) else ""
            scopes.append((setting or _kind_of(head, inside), first, head))
            head = ""
        elif token == "}" and scopes:
            kind, begun, before = scopes.pop()
            head = ""
            if kind == "setting":
                head, first = before, begun
            elif kind in _MOST:
                yield kind, begun, line
        else:
            head = "" if token == ";" else head + token
        line += token.count("\n")


def _rows(lines: list[str]) -> int:
    if not lines[0].startswith("TEST"):
        return 0
    return sum(line.endswith(",") for line in lines)


def sizes(tree: Tree) -> Iterator[Size]:
    for name in tree.files:
        if not _is_of(name, _WRITTEN) or "/generated/" in name:
            continue
        text = tree.text(name)
        lines = text.splitlines()
        yield Size("file", len(lines), name)
        if _is_of(name, ".cc .h"):
            for kind, first, last in bodies(text):
                rows = _rows(lines[first - 1 : last]) if kind == "function" else 0
                yield Size(kind, last - first + 1 - rows, f"{name}:{first}")


def over(found: Iterable[Size]) -> Iterator[Fault]:
    for size in found:
        if size.lines > (most := _MOST[size.kind]):
            what = f"a {size.kind} of {size.lines} lines, at most {most} are wanted"
            yield size.place, what


def unknown(tree: Tree) -> Iterator[Fault]:
    """Files that no rule looks at."""
    for name in tree.files:
        if name.split("/")[0] not in TOPS and not _OF_ROOT.fullmatch(name):
            yield name, f"lies in no top folder of {', '.join(TOPS)}"
        elif not _is_of(name, f"{_WRITTEN} {_DATA}"):
            yield name, "is of no kind that has a budget"


def faults(tree: Tree) -> list[Fault]:
    return [*over(sizes(tree)), *unknown(tree)]


def found_in(tree: Tree) -> list[str]:
    found = sorted(sizes(tree), key=lambda size: -size.lines)
    for kind, most in _MOST.items():
        print(f"largest, of at most {most} lines:")
        for size in [size for size in found if size.kind == kind][:3]:
            print(f"{size.lines} {kind} {size.place}")
    return said([*over(found), *unknown(tree)])


if __name__ == "__main__":
    held = "files keep to their budgets"
    sys.exit(run(found_in, lambda tree: f"{len(tree.files)} {held}"))
