# SPDX-License-Identifier: Apache-2.0
"""A page names only what is there: the target of each relative link, each path
in backquotes that begins at the root of the tree, and each function that stands
after its file, as `framework/core/shape.cc`: `NumElements`.

    python3 ctest/trial/rules/pages.py [ROOT]

A path may leave out the end `.h` or `.cc`. Files that the build makes
(`generated/`) and names in capitals, which stand for others, are not looked for.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from sources import TOPS, Fault, Tree, run, said

_CODE = re.compile(r"^(```.*?^```|~~~.*?^~~~)$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\(([\w./-]+)(?:#[\w-]+)?\)")
_PATH = re.compile(rf"`((?:{'|'.join(TOPS)})/[\w./-]*)`")
_FUNCTIONS = re.compile(r"`([\w./-]+\.(?:h|cc|py))`:\s+(`\w+`(?:,\s+`\w+`)*)")
_STANDS_FOR_OTHERS = re.compile(r"(^|/)[A-Z_]+(\.\w+)?(/|$)|/generated(/|$)")


def pages(tree: Tree) -> list[str]:
    return [name for name in tree.files if name.endswith(".md")]


def is_there(root: Path, path: str) -> bool:
    return any((root / f"{path}{end}").exists() for end in ("", ".h", ".cc"))


def faults_of(tree: Tree, page: str) -> Iterator[Fault]:
    prose = _CODE.sub(lambda block: "\n" * block[0].count("\n"), tree.text(page))

    def at(match: re.Match[str]) -> str:
        return f"{page}:{prose.count(chr(10), 0, match.start()) + 1}"

    for match in _LINK.finditer(prose):
        if not (tree.root / page).parent.joinpath(match[1]).exists():
            yield at(match), f"links to {match[1]}, which is not there"
    for match in _PATH.finditer(prose):
        path = match[1]
        if not is_there(tree.root, path) and not _STANDS_FOR_OTHERS.search(path):
            yield at(match), f"names {path}, which is not there"
    for match in _FUNCTIONS.finditer(prose):
        source = tree.text(match[1]) if match[1] in tree.files else ""
        for name in re.findall(r"`(\w+)`", match[2]):
            if not re.search(rf"\b{name}\b", source):
                yield at(match), f"names {name}, which {match[1]} has not"


def faults(tree: Tree) -> Iterator[Fault]:
    for page in pages(tree):
        yield from faults_of(tree, page)


if __name__ == "__main__":
    sys.exit(
        run(
            lambda tree: said(faults(tree)),
            lambda tree: f"{len(pages(tree))} pages name what is there",
        )
    )
