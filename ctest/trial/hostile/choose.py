# SPDX-License-Identifier: Apache-2.0
"""Runs a command with a choice of hostile behaviours: one of each file, and all
of a file that has changed.

    python3 ctest/trial/hostile/choose.py COMMAND...

The command finds their names in ASSAY_CHOSEN_BEHAVIOURS. The commit draws the one
of a file, so that a tree of the same commit tries the same ones. A file has changed
when it differs from the commit of the last green night, which the first word of
ctest/trial/nightly.txt names; without that, from HEAD.
"""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[3]
_BEHAVIOURS = Path(__file__).resolve().parent / "behaviours"
_NAME = re.compile(r"^ASSAY_MISDEED\(\s*(\w+)", re.MULTILINE)


def names_in(folder: Path) -> dict[str, list[str]]:
    """The behaviours of each file in a folder, in order."""
    return {
        path.name: _NAME.findall(path.read_text(encoding="utf-8"))
        for path in sorted(folder.glob("*.cc"))
    }


def chosen(names: dict[str, list[str]], changed: set[str], commit: str) -> list[str]:
    """One of each file, and all of the files that have changed."""
    found: list[str] = []
    for file, of_file in names.items():
        digest = hashlib.sha256(f"{commit} {file}".encode()).digest()
        found.append(of_file[int.from_bytes(digest[:8], "big") % len(of_file)])
    for file in sorted(changed & names.keys()):
        found += [name for name in names[file] if name not in found]
    return found


def _git(*arguments: str) -> list[str]:
    """The lines that git prints; none where it cannot."""
    try:
        done = subprocess.run(
            ["git", "-C", str(_ROOT), *arguments],
            capture_output=True,
            text=True,
            check=False,
        )
    except OSError:
        return []
    return done.stdout.splitlines() if done.returncode == 0 else []


def _changed() -> set[str]:
    """Files of behaviours that differ from those of the last green night."""
    nightly = _ROOT / "ctest/trial/nightly.txt"
    words = nightly.read_text(encoding="utf-8").split() if nightly.is_file() else []
    since = words[0] if words else "HEAD"
    below = _BEHAVIOURS.relative_to(_ROOT).as_posix()
    lines = _git("diff", "--name-only", since, "--", below)
    lines += _git("ls-files", "--others", "--exclude-standard", "--", below)
    return {line.removeprefix(f"{below}/") for line in lines}


def main(command: list[str]) -> int:
    commit = "".join(_git("rev-parse", "HEAD"))
    choice = " ".join(chosen(names_in(_BEHAVIOURS), _changed(), commit))
    os.environ["ASSAY_CHOSEN_BEHAVIOURS"] = choice
    print(f"behaviours: {choice}", flush=True)
    os.execvp(command[0], command)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
