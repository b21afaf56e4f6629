# SPDX-License-Identifier: Apache-2.0
"""A folder holds at most 25 files and a README, pages apart that its README lists;
a room, which is a folder with code, has a README, or without C++ one in a folder
around it; and every .cc in it has a header of its own name, or one of its room or
above that declares a function of it. Tests, programs and what registers itself need
none.

    python3 ctest/trial/rules/rooms.py [ROOT]
"""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath

from owed import Owed
from sources import TOPS, Fault, Tree, folder, is_test, run, unit

_MOST_FILES = 25
_CODE = (".cc", ".h", ".py", ".sh", ".js", ".css", ".html")
_DERIVED = ("*/generated", "*/install_test", "*/random/toy")
# A program, or a suite, which registers itself.
_PROGRAM = re.compile(
    r"^int main\(|^extern \"C\" int LLVM|suite::AddSuite\(\s*\{", re.M
)
_INCLUDE = re.compile(r'^#include "([^"]+)"', re.MULTILINE)
# Headers whose macros declare what a source defines.
_TABLES = (
    "conformance/contract/cases.h",
    "ctest/trial/hostile/attempt.h",
    "ctest/trial/hostile/forged_answer.h",
    "ctest/trial/hostile/forged_times/negate.h",
    "ctest/trial/hostile/misdeed.h",
    "framework/graph/upgrade/upgrade_rules.h",
)
# A function that begins at the margin, or a line of it that has its name.
_DEFINED = re.compile(r"^(?!static|return|using|#)[A-Za-z][^;={}()\n]*?(\w+)\(", re.M)
_CALLED = re.compile(r"\b(\w+)\(")
# A backend's one source declares nothing: it registers itself.
_REGISTRATION = re.compile(
    r"^ASSAY_REGISTER_(BACKEND|COMMUNICATOR)\(|Register(Backend|Communicator)\(", re.M
)


def is_derived(room: str) -> bool:
    """Generated code, test modules and an example of another tree."""
    return any(fnmatch(room, d) for d in _DERIVED) or is_test(f"{room}/x.cc")


def folders(tree: Tree) -> dict[str, list[str]]:
    """The files of each folder but its README."""
    found: dict[str, list[str]] = defaultdict(list)
    for name in tree.files:
        if name.startswith(tuple(f"{top}/" for top in TOPS)):
            found[folder(name)] += [] if name.endswith("/README.md") else [name]
    return found


def rooms(tree: Tree) -> list[str]:
    return [
        room
        for room, names in folders(tree).items()
        if any(name.endswith(_CODE) for name in names) and not is_derived(room)
    ]


def _readme(tree: Tree, room: str) -> str:
    name = f"{room}/README.md"
    return tree.text(name) if name in tree.files else ""


def sizes(tree: Tree) -> Iterator[Fault]:
    for room, names in folders(tree).items():
        listed = _readme(tree, room)
        if all(name.endswith(".md") and Path(name).name in listed for name in names):
            continue
        if len(names) > _MOST_FILES and not is_derived(room):
            yield room, f"{len(names)} files, at most {_MOST_FILES} are wanted"


def readmes(tree: Tree) -> Iterator[Fault]:
    has_cpp = {folder(name) for name in tree.sources}
    for room in rooms(tree):
        around = [] if room in has_cpp else PurePosixPath(room).parents
        if not any(_readme(tree, str(place)).strip() for place in (room, *around)):
            yield room, "has no README.md: what it is, why, how to add one"


def _is_declared(tree: Tree, name: str, text: str) -> bool:
    """Its header may be included at any place."""
    defined = set(_DEFINED.findall(text))
    for header in _INCLUDE.findall(text):
        if f"{folder(name)}/".startswith(f"{folder(header)}/") and header in tree.files:
            declared = _CALLED.findall(tree.text(header))
            if header in _TABLES or not defined.isdisjoint(declared):
                return True
    return name.startswith("backends/") and bool(_REGISTRATION.search(text))


def own_headers(tree: Tree) -> Iterator[Fault]:
    sources = set(tree.sources)
    for name in tree.sources:
        if not name.endswith(".cc") or f"{unit(name)}.h" in sources:
            continue
        if is_test(name) or is_derived(folder(name)):
            continue
        text = tree.text(name)
        if not _PROGRAM.search(text) and not _is_declared(tree, name, text):
            yield name, "has no header of its name"


def found_in(tree: Tree) -> list[str]:
    owed = Owed.of(tree)
    rules = {"files": sizes, "readme": readmes, "header": own_headers}
    return [line for rule in rules for line in owed.filter(rule, rules[rule](tree))]


if __name__ == "__main__":
    sys.exit(run(found_in, lambda tree: f"{len(rooms(tree))} rooms hold"))
