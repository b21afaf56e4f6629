# SPDX-License-Identifier: Apache-2.0
"""A room, which is a folder with C++ sources, holds at most 25 files and a
README; every .cc in it has a header of its own name.

No header of its own have tests, programs, and rows: sources whose functions one
header of the room declares as the rows of a table, families.h or commands.h.

    python3 ctest/trial/rules/rooms.py [ROOT]
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path

from owed import Owed
from sources import Tree, folder, is_test, report, unit

_MOST_FILES = 25
_DERIVED = ("*/generated", "*/install_test", "*/random/toy")
_PROGRAM = re.compile(r"^int main\(|^extern \"C\" int LLVM|^BENCHMARK", re.M)
_INCLUDE = re.compile(r'^#include "([^"]+)"', re.MULTILINE)
# Headers that declare a table: what they list, a source each.
_TABLES = (
    "backends/*/families.h",  # families of operators
    "backends/*/rules.h",  # rules of primitives
    "backends/faulty/gradient_defect.h",
    "backends/faulty/mutants.h",
    "backends/reference/image/codec.h",
    "backends/reference/image/plain.h",
    "backends/threads/mutants/mutant.h",
    "conformance/contract/cases.h",
    "ctest/trial/hostile/attempt.h",
    "ctest/trial/hostile/forged_answer.h",
    "ctest/trial/hostile/intercepted.h",
    "ctest/trial/hostile/misdeed.h",
    "ctest/trial/hostile/shared_memory.h",
    "framework/cli/commands.h",
    "perf/peers/methods.h",
    "framework/graph/reader/onnx_reader.h",  # a message of ONNX each
    "framework/graph/upgrade/upgrade_rules.h",
)
# A backend's one source declares nothing: it registers itself.
_REGISTRATION = re.compile(
    r"^ASSAY_REGISTER_(BACKEND|COMMUNICATOR)\(|Register(Backend|Communicator)\(", re.M
)


def is_derived(room: str) -> bool:
    """Generated code, test modules and an example of another tree."""
    return any(fnmatch(room, d) for d in _DERIVED) or is_test(f"{room}/x.cc")


def rooms(tree: Tree) -> list[str]:
    return sorted({folder(n) for n in tree.sources if not is_derived(folder(n))})


def sizes(tree: Tree) -> Iterator[tuple[str, str]]:
    count = Counter(folder(name) for name in tree.files)
    for room in rooms(tree):
        if count[room] > _MOST_FILES:
            yield room, f"{count[room]} files, at most {_MOST_FILES} are wanted"


def readmes(tree: Tree) -> Iterator[tuple[str, str]]:
    for room in rooms(tree):
        readme = tree.root / room / "README.md"
        if not readme.is_file() or not readme.read_text(encoding="utf-8").strip():
            yield room, "has no README.md: what it is, why, how to add one"


def _is_row(name: str, text: str) -> bool:
    """A row may include its table's header, which stands in its room or above, at
    any place."""
    tables = (
        header
        for header in _INCLUDE.findall(text)
        if f"{folder(name)}/".startswith(f"{folder(header)}/")
    )
    if any(fnmatch(header, table) for header in tables for table in _TABLES):
        return True
    return name.startswith("backends/") and bool(_REGISTRATION.search(text))


def own_headers(tree: Tree) -> Iterator[tuple[str, str]]:
    sources = set(tree.sources)
    for name in tree.sources:
        if not name.endswith(".cc") or f"{unit(name)}.h" in sources:
            continue
        if is_test(name) or is_derived(folder(name)):
            continue
        text = tree.text(name)
        if not _PROGRAM.search(text) and not _is_row(name, text):
            yield name, "has no header of its name"


def main() -> int:
    tree = Tree(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
    owed = Owed.read(tree.root / "ctest/trial/rules/owed.txt")
    found = [
        *owed.filter("files", sizes(tree)),
        *owed.filter("readme", readmes(tree)),
        *owed.filter("header", own_headers(tree)),
    ]
    return report(found, f"{len(rooms(tree))} rooms hold")


if __name__ == "__main__":
    sys.exit(main())
