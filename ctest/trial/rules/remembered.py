# SPDX-License-Identifier: Apache-2.0
"""Checks of files, each remembered by a digest of all that it reads, so that a
changed file costs its own checks only.

    memory = Memory(Path("build/rules/headers"), version_of("g++"))
    faults = memory.run([Check("a.h", read=["a.h", "b.h"], look=try_it)])
"""

from __future__ import annotations

import hashlib
import os
import subprocess
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from sources import Fault


@dataclass(frozen=True)
class Check:
    name: str
    read: list[str]
    look: Callable[[], list[Fault]]
    about: str = ""  # what else decides, as a command


@cache
def digest_of(path: str) -> str:
    try:
        return hashlib.sha256(Path(path).read_bytes()).hexdigest()
    except OSError:
        return "absent"


def version_of(program: str) -> str:
    return subprocess.run(
        [program, "--version"], capture_output=True, text=True, check=True
    ).stdout


def errors_of(root: Path, command: list[str], text: str = "") -> tuple[str, int]:
    """The standard error of a program that is given a text, and its exit code."""
    done = subprocess.run(
        command, cwd=root, input=text, capture_output=True, text=True, errors="replace"
    )
    return done.stderr, done.returncode


class Memory:
    def __init__(self, folder: Path, *about: str) -> None:
        """`about`: what decides for all, as versions and settings."""
        self.folder = folder
        self.about = about
        folder.mkdir(parents=True, exist_ok=True)

    def run(self, checks: Iterable[Check]) -> list[Fault]:
        """The faults of those that are not remembered as sound."""
        todo = [check for check in checks if not self._remembers(check)]
        print(f"{len(todo)} to look at", flush=True)
        jobs = int(os.environ.get("ASSAY_JOBS") or os.cpu_count() or 1)
        with ThreadPoolExecutor(jobs) as pool:
            found = pool.map(self._try, todo)
            return sorted({fault for faults in found for fault in faults})

    def _try(self, check: Check) -> list[Fault]:
        # Before, so that a change meanwhile is not taken for looked at.
        digest = self._digest(check)
        found = check.look()
        if not found:
            self._stamp(check).write_text(digest, encoding="utf-8")
        return found

    def _remembers(self, check: Check) -> bool:
        stamp = self._stamp(check)
        return stamp.is_file() and stamp.read_text("utf-8") == self._digest(check)

    def _stamp(self, check: Check) -> Path:
        return self.folder / check.name.replace("/", "_")

    def _digest(self, check: Check) -> str:
        parts = [*self.about, check.about]
        parts += [f"{name} {digest_of(name)}" for name in check.read]
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()
