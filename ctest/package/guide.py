# SPDX-License-Identifier: Apache-2.0
"""Runs a page of commands as a reader would: in an empty folder, in order.

    python3 ctest/package/guide.py backends/README.md FOLDER [FILE...]

The folder is emptied first; FILEs are put into it, folders as copies, which the
page may change. It takes from the page

- blocks of `sh`, which one shell runs and which must not fail,
- a block after a line that ends in "`NAME`:", which becomes that file, or in
  "`NAME`, at its end:", which is appended to it,
- a block of `text` after one of `sh`: its lines must be printed, in that order.
  Three dots stand for anything.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_FILE = re.compile(r"`([\w./-]+)`(, at its end)?:\n\n$")
_MARK = "guide-step"
_TAIL = 4000  # characters of what a step printed


@dataclass
class Step:
    """A command of the page, and what it should print."""

    line: int
    script: str
    wanted: str = ""


def steps_of(page: str) -> list[Step]:
    steps: list[Step] = []
    for block in _BLOCK.finditer(page):
        kind, text = block[1], block[2]
        line = page.count("\n", 0, block.start()) + 1
        named = _FILE.search(page[: block.start()])
        if named:
            into = ">>" if named[2] else ">"
            end = "END_OF_FILE"
            steps.append(Step(line, f"cat {into}{named[1]} <<'{end}'\n{text}{end}\n"))
        elif kind == "sh":
            steps.append(Step(line, text))
        elif kind == "text" and steps:
            steps[-1].wanted = text
    return steps


def missing_line(wanted: str, printed: str) -> str | None:
    """The first wanted line that is not printed after those before it."""
    rest = iter(printed.splitlines())
    for line in wanted.splitlines():
        parts = map(re.escape, line.rstrip().split("..."))
        pattern = re.compile(".*".join(parts))
        if not any(pattern.fullmatch(found.rstrip()) for found in rest):
            return line
    return None


def run(page: Path, folder: Path) -> list[str]:
    """Lists the faults of the page; nothing after a step that failed is tried."""
    steps = steps_of(page.read_text(encoding="utf-8"))
    script = "set -euo pipefail\n"
    for index, step in enumerate(steps):
        script += f"echo {_MARK} {index}\n{step.script}"
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    faults = []
    printed = re.split(rf"^{_MARK} \d+\n", done.stdout, flags=re.MULTILINE)[1:]
    for step, output in zip(steps, printed, strict=False):
        print(f"{page}:{step.line}\n{output}", end="")
        if (line := missing_line(step.wanted, output)) is not None:
            faults.append(f"{page}:{step.line}: not printed: {line}")
    if done.returncode != 0:
        last = steps[len(printed) - 1]
        faults.append(
            f"{page}:{last.line}: exit code {done.returncode}:\n{printed[-1][-_TAIL:]}"
        )
    if not steps:
        faults.append(f"{page}: has no commands")
    return faults


def put(file: Path, folder: Path) -> None:
    """Links a file into the folder, or copies a folder."""
    if file.is_dir():
        shutil.copytree(file, folder / file.name)
    else:
        os.symlink(file, folder / file.name)


def main() -> int:
    page, folder = Path(sys.argv[1]).resolve(), Path(sys.argv[2])
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for file in sys.argv[3:]:
        put(Path(file).absolute(), folder)
    faults = run(page, folder)
    print("\n".join(faults) or "every command of the page holds")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
