# SPDX-License-Identifier: Apache-2.0
"""clang-format changes nothing.

    python3 ctest/trial/rules/format.py CLANG_FORMAT BUILD_DIRECTORY
"""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from functools import partial
from pathlib import Path

from remembered import Check, Memory, errors_of, version_of
from sources import Fault, Tree, folder, report

_STYLE = ".clang-format"
_FAULT = re.compile(r"^([^:\n]+):(\d+:\d+: error: .*)$", re.MULTILINE)


def _try(root: Path, command: list[str]) -> list[Fault]:
    said, code = errors_of(root, command)
    found: list[Fault] = _FAULT.findall(said)
    return found or ([("clang-format", said)] if code else [])


def checks(tree: Tree, program: str) -> list[Check]:
    """One for each folder."""
    names: dict[str, list[str]] = defaultdict(list)
    for name in tree.sources:
        if "/generated/" not in name:
            names[folder(name)].append(name)
    command = [program, "--dry-run", "--Werror"]
    return [
        Check(room, [_STYLE, *files], partial(_try, tree.root, [*command, *files]))
        for room, files in names.items()
    ]


def main() -> int:
    program, build = sys.argv[1], Path(sys.argv[2])
    tree = Tree(Path("."))
    found = Memory(build / "rules/format", version_of(program)).run(
        checks(tree, program)
    )
    faults = [f"{name}:{what}" for name, what in found]
    return report(faults, f"{len(tree.sources)} files are formatted")


if __name__ == "__main__":
    sys.exit(main())
