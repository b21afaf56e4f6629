# SPDX-License-Identifier: Apache-2.0
"""Checks of files, each remembered by a digest of all that it read, so that a
changed file costs its own checks only.

    memory = Memory(Path("build/rules/headers"))
    failed = memory.run([Check("a.h", command)])

A check's command writes the files that it read as a compiler does (-MD -MF), or
they are known before it runs.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import tempfile
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

DEPENDENCIES = "{dependencies}"  # in a command: the file that -MF names


@dataclass
class Check:
    name: str
    command: list[str]
    read: list[str] = field(default_factory=list)
    stdin: str = ""
    # From what the command printed and its exit code to the faults.
    faults: Callable[[str, int], list[str]] = lambda text, code: (
        [text or f"exit code {code}"] if code else []
    )


# From checks to pairs: a check of several at once, and those.
Join = Callable[[list[Check]], list[tuple[Check, list[Check]]]]


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


def files_of(rule: str) -> list[str]:
    """The prerequisites of one rule of make, the form of -MD."""
    _, _, names = rule.replace("\\\n", " ").partition(": ")
    return [n.replace("\0", " ") for n in names.replace("\\ ", "\0").split()]


class Memory:
    def __init__(self, folder: Path, *about: str) -> None:
        """`about`: what else decides, as versions and settings."""
        self.folder = folder
        self.about = hashlib.sha256("\0".join(about).encode()).hexdigest()
        folder.mkdir(parents=True, exist_ok=True)

    def run(self, checks: Iterable[Check], join: Join | None = None) -> list[str]:
        """The faults of those that are not remembered as sound. `join` makes
        checks of several: where such a one finds nothing, its parts are sound."""
        todo = [check for check in checks if not self._remembers(check)]
        print(f"{len(todo)} to look at", flush=True)
        parts = join(todo) if join else [(check, [check]) for check in todo]
        jobs = int(os.environ.get("ASSAY_JOBS") or os.cpu_count() or 1)
        with ThreadPoolExecutor(jobs) as pool:
            found = pool.map(lambda part: self._try_joined(*part), parts)
            return [fault for faults in found for fault in faults]

    def _try_joined(self, whole: Check, parts: list[Check]) -> list[str]:
        if len(parts) == 1:
            return self._try(parts[0])
        before = [self._digest(check, check.read) for check in parts]
        done = subprocess.run(
            whole.command, input=whole.stdin, stdout=subprocess.PIPE, text=True
        )
        if whole.faults(done.stdout, done.returncode):
            return [fault for check in parts for fault in self._try(check)]
        for check, digest in zip(parts, before, strict=True):
            if check.read:
                self._remember(check, digest, check.read)
        return []

    def _try(self, check: Check) -> list[str]:
        with tempfile.TemporaryDirectory() as folder:
            out = f"{folder}/dependencies"
            # Before, so that a change meanwhile is not taken for looked at.
            before = self._digest(check, check.read)
            done = subprocess.run(
                [word.replace(DEPENDENCIES, out) for word in check.command],
                input=check.stdin,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
            )
            found = check.faults(done.stdout.strip(), done.returncode)
            if found:
                return found
            read = check.read
            if Path(out).exists():
                names = files_of(Path(out).read_text(encoding="utf-8"))
                read = sorted({os.path.normpath(n) for n in names if n != "-"})
                before = self._digest(check, read)
        if read:
            self._remember(check, before, read)
        return []

    def _remember(self, check: Check, digest: str, read: list[str]) -> None:
        stamp = "\n".join([digest, *read])
        self._stamp(check).write_text(stamp, encoding="utf-8")

    def _stamp(self, check: Check) -> Path:
        return self.folder / check.name.replace("/", "_")

    def _remembers(self, check: Check) -> bool:
        try:
            stamp = self._stamp(check).read_text(encoding="utf-8")
        except OSError:
            return False
        digest, *read = stamp.split("\n")
        return bool(read) and digest == self._digest(check, read)

    def _digest(self, check: Check, read: list[str]) -> str:
        parts = [self.about, *check.command, check.stdin]
        parts += [f"{name} {digest_of(name)}" for name in read]
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()
