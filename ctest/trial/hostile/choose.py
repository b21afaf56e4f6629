# SPDX-License-Identifier: Apache-2.0
"""Runs a command with a choice of hostile behaviours: one of each file, which the
commit draws, and all of a file that has changed since the last green night.

    python3 ctest/trial/hostile/choose.py [--of FOLDER] COMMAND...

The command finds their names in ASSAY_CHOSEN_BEHAVIOURS. They are those of the folder
behaviours where no other one beside this file is named.
"""

from __future__ import annotations

import os
import re
import sys
from datetime import date
from pathlib import Path

_HERE = Path(__file__).resolve().parent
sys.path.append(str(_HERE.parent))

from changed import changed_since, describe, head_of, sample  # noqa: E402

_ROOT = _HERE.parents[2]
_NAME = re.compile(r"^ASSAY_MISDEED\(\s*(\w+)", re.MULTILINE)


def names_in(folder: Path) -> dict[str, list[str]]:
    """The behaviours of each file in a folder, in order."""
    return {
        path.name: _NAME.findall(path.read_text(encoding="utf-8"))
        for path in sorted(folder.glob("*.cc"))
    }


def chosen(names: dict[str, list[str]], changed: set[str], seed: str) -> list[str]:
    """One of each file, and all of the files that have changed."""
    found: list[str] = []
    for file, of_file in names.items():
        found += of_file if file in changed else sample(of_file, 1, f"{seed} {file}")
    return found


def main(command: list[str]) -> int:
    folder = _HERE / "behaviours"
    if command[0] == "--of":
        folder = _HERE / command[1]
        command = command[2:]
    changed = changed_since(_ROOT)
    below = f"{folder.relative_to(_ROOT).as_posix()}/"
    files = {file.removeprefix(below) for file in changed.files or ()}
    names = chosen(names_in(folder), files, head_of(_ROOT))
    os.environ["ASSAY_CHOSEN_BEHAVIOURS"] = " ".join(names)
    print(describe(changed, date.today()))
    print(f"{len(names)} behaviours: {' '.join(names)}", flush=True)
    os.execvp(command[0], command)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
