# SPDX-License-Identifier: Apache-2.0
"""Each header compiles alone, those for tests only apart.

    python3 ctest/trial/rules/headers.py COMPILER BUILD_DIRECTORY [--all]
"""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path

from build_tree import BuildTree
from choice import Choice, parser_of
from remembered import Check, Memory, errors_of, version_of
from sources import Fault, Tree, is_test, reached, report

_STRICT = "-std=c++20 -Wall -Wextra -Wpedantic -Werror -Wno-missing-field-initializers"
_SAMPLED = 6


def headers_of(tree: Tree) -> list[str]:
    used = {i.header for i in tree.includes() if not is_test(i.file)}
    return [name for name in tree.sources if name in used and "/generated/" not in name]


def _try(root: Path, command: list[str], name: str) -> list[Fault]:
    words = [*command, "-include", name, "/dev/null"]
    said, code = errors_of(root, words)
    return [(name, said.strip())] if code else []


def checks(tree: Tree, compiler: str, flags: list[str]) -> dict[str, Check]:
    command = [compiler, *_STRICT.split(), *flags, "-I.", "-fsyntax-only", "-x", "c++"]
    return {
        name: Check(
            name,
            sorted(reached(tree.included, [name])),
            partial(_try, tree.root, command, name),
            about=" ".join(command),
        )
        for name in headers_of(tree)
    }


def main() -> int:
    options = parser_of(__doc__).parse_args()
    build = BuildTree(options.build)
    tree = Tree(Path("."), build.leaves_out)
    every = checks(tree, options.program, build.include_flags())
    choice = Choice(tree, options.all)
    chosen = choice.of(every, choice.reached, _SAMPLED)
    memory = Memory(build.folder / "rules/headers", version_of(options.program))
    faults = memory.run(every[name] for name in chosen)
    return report(
        [what for _, what in faults],
        f"{len(chosen)} of {len(every)} headers compile alone",
    )


if __name__ == "__main__":
    sys.exit(main())
