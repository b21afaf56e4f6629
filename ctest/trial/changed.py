# SPDX-License-Identifier: Apache-2.0
"""The files that changed since the last night that was green: nightly.txt names
its commit. Trials of ourselves look at these in tier ci, and at a sample.

    python3 ctest/trial/changed.py [--files]

    changed = changed_since(Path("."))
    if changed.files is None:
        print(changed.reason)
    for mutant in sample(mutants, 20, head_of(Path("."))):
        ...
"""

from __future__ import annotations

import argparse
import hashlib
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from pathlib import Path

_NIGHTLY = "ctest/trial/nightly.txt"


@dataclass(frozen=True)
class Changed:
    commit: str = ""  # empty where none is named
    day: str = ""  # on which it was found green, as 2026-11-29
    files: frozenset[str] | None = None  # None where they are not known
    reason: str = ""  # why they are not


def _git(root: Path, *words: str) -> str | None:
    """None where git fails, or is not there."""
    try:
        done = subprocess.run(
            ["git", "-C", str(root), *words], capture_output=True, text=True
        )
    except OSError:
        return None
    return done.stdout if done.returncode == 0 else None


def _is_repository(root: Path) -> bool:
    top = _git(root, "rev-parse", "--show-toplevel")
    return top is not None and Path(top.strip()).resolve() == root.resolve()


def head_of(root: Path) -> str:
    """The commit that is checked out; empty where there is none."""
    found = _git(root, "rev-parse", "HEAD") if _is_repository(root) else None
    return (found or "").strip()


def _named(root: Path) -> tuple[str, str]:
    """The commit and the day of nightly.txt."""
    file = root / _NIGHTLY
    text = file.read_text(encoding="utf-8") if file.is_file() else ""
    lines = (line.partition("#")[0].split() for line in text.splitlines())
    for words in lines:
        if len(words) == 2:
            return words[0], words[1]
    return "", ""


def changed_since(root: Path) -> Changed:
    """Files of the work tree that differ from the commit's, those that are gone or
    new among them."""
    commit, day = _named(root)
    if not commit:
        return Changed(reason=f"{_NIGHTLY} names no commit")
    if not _is_repository(root):
        return Changed(commit, day, reason="there is no git repository here")
    if _git(root, "merge-base", "--is-ancestor", commit, "HEAD") is None:
        return Changed(commit, day, reason="the commit is not in this history")
    diff = _git(root, "diff", "--name-only", "--no-renames", "-z", commit)
    new = _git(root, "ls-files", "--others", "--exclude-standard", "-z")
    if diff is None or new is None:
        return Changed(commit, day, reason="git cannot compare with the commit")
    return Changed(commit, day, frozenset(filter(None, (diff + new).split("\0"))))


def sample(items: Iterable[str], k: int, seed: str) -> list[str]:
    """At most k of the items, sorted; the same ones for the same seed."""

    def rank(item: str) -> str:
        return hashlib.sha256(f"{seed} {item}".encode()).hexdigest()

    return sorted(sorted(items, key=rank)[:k])


def describe(changed: Changed, today: date) -> str:
    """One line, for a person."""
    if not changed.commit:
        return f"last green night: none ({changed.reason})"
    age = (today - date.fromisoformat(changed.day)).days
    since = f"last green night: {changed.commit[:12]}, {age} days ago"
    if changed.files is None:
        return f"{since} ({changed.reason})"
    return f"{since}, {len(changed.files)} files changed"


def main() -> int:
    parser = argparse.ArgumentParser(description="what changed since a green night")
    parser.add_argument("--files", action="store_true", help="lists them")
    options = parser.parse_args()
    changed = changed_since(Path(__file__).parents[2])
    if not options.files:
        print(describe(changed, date.today()))
    elif changed.files is None:
        print(f"not known: {changed.reason}", file=sys.stderr)
        return 1
    else:
        print(*sorted(changed.files), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
