# SPDX-License-Identifier: Apache-2.0
"""Each header compiles alone, those for tests only apart. The build has shown it
where a source includes the header first; the others are compiled here.

    python3 ctest/trial/rules/headers.py COMPILER BUILD_DIRECTORY
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from build_tree import BuildTree
from remembered import DEPENDENCIES, Check, Memory, version_of
from sources import Tree, is_test

_STRICT = "-std=c++20 -Wall -Wextra -Wpedantic -Werror -Wno-missing-field-initializers"
_INCLUDE = re.compile(r'^#include [<"]([^">]+)[">]', re.MULTILINE)


def unseen_headers(tree: Tree, built: set[str]) -> list[str]:
    """Those that no source of the build includes before anything else."""
    used = {i.header for i in tree.includes() if not is_test(i.file)}
    first = set()
    for name in tree.sources:
        include = _INCLUDE.search(tree.text(name))
        if name in built and include:
            first.add(include[1])
    return [
        name
        for name in tree.sources
        if name in used - first and "/generated/" not in name
    ]


def main() -> int:
    compiler, build = sys.argv[1], BuildTree(Path(sys.argv[2]))
    headers = unseen_headers(
        Tree(Path("."), build.leaves_out), set(build.commands)
    )
    command = [compiler, *_STRICT.split(), *build.include_flags(), "-fsyntax-only"]
    command += ["-x", "c++", "-MD", "-MF", DEPENDENCIES, "-MT", "header"]
    memory = Memory(build.folder / "rules/headers", version_of(compiler))
    faults = memory.run(
        Check(name, [*command, "-include", name, "/dev/null"]) for name in headers
    )
    print("\n".join(faults) or f"{len(headers)} headers compile alone")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
