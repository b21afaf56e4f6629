# SPDX-License-Identifier: Apache-2.0
"""A page names only what is there: the target of each relative link, each path
in backquotes that begins at the root of the tree, and each function that stands
after its file, as `framework/core/shape.cc`: `NumElements`.

    python3 ctest/trial/rules/pages.py [ROOT]

A path may leave out the end `.h` or `.cc`. What the build makes (`generated/`)
and names in capitals, which stand for others, are not looked for.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from sources import TOPS, report

_TOPS = (*TOPS, "reports")
_CODE = re.compile(r"^(```.*?^```|~~~.*?^~~~)$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\(([\w./-]+)(?:#[\w-]+)?\)")
_PATH = re.compile(rf"`((?:{'|'.join(_TOPS)})/[\w./-]*)`")
_FUNCTIONS = re.compile(r"`([\w./-]+\.(?:h|cc|py))`:\s+(`\w+`(?:,\s+`\w+`)*)")
_STANDS_FOR_OTHERS = re.compile(r"(^|/)[A-Z_]+(\.\w+)?(/|$)|/generated(/|$)")


def pages(root: Path) -> list[Path]:
    found = list(root.glob("*.md"))
    for top in _TOPS:
        found.extend((root / top).rglob("*.md"))
    return sorted(found)


def is_there(root: Path, path: str) -> bool:
    return any((root / f"{path}{end}").exists() for end in ("", ".h", ".cc"))


def faults_of(root: Path, page: Path) -> Iterator[str]:
    text = page.read_text(encoding="utf-8")
    prose = _CODE.sub(lambda block: "\n" * block[0].count("\n"), text)

    def at(match: re.Match[str]) -> str:
        line = prose.count("\n", 0, match.start()) + 1
        return f"{page.relative_to(root)}:{line}"

    for match in _LINK.finditer(prose):
        if not (page.parent / match[1]).exists():
            yield f"{at(match)}: links to {match[1]}, which is not there"
    for match in _PATH.finditer(prose):
        path = match[1]
        if not is_there(root, path) and not _STANDS_FOR_OTHERS.search(path):
            yield f"{at(match)}: names {path}, which is not there"
    for match in _FUNCTIONS.finditer(prose):
        file = root / match[1]
        source = file.read_text(encoding="utf-8") if file.is_file() else ""
        for name in re.findall(r"`(\w+)`", match[2]):
            if not re.search(rf"\b{name}\b", source):
                yield f"{at(match)}: names {name}, which {match[1]} has not"


def main() -> int:
    root = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    all_pages = pages(root)
    found = [fault for page in all_pages for fault in faults_of(root, page)]
    return report(found, f"{len(all_pages)} pages name what is there")


if __name__ == "__main__":
    sys.exit(main())
