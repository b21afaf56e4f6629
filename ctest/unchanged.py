# SPDX-License-Identifier: Apache-2.0
"""Runs a test, unless nothing that it reads has changed since it passed.

    python3 ctest/unchanged.py NAME BUILD [--reads GLOB]... -- COMMAND...

Only with ASSAY_REMEMBER=1, which ctest/check.sh sets; otherwise the test always
runs. A test reads its program, the core library, the modules and settings of the
environment, every file of the source tree but C++ and prose, and what the globs
name, relative to BUILD, or one file by its whole path, be it there or not. Two files
are the same when their times, sizes and numbers are, so that even a file that was
only touched counts as changed. A test that did not end with 0 is never remembered.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

# The files of the build that every test reads: libraries, the results of bootstrap.sh,
# and modules that stand beside the tests.
_ALWAYS = ("lib/*.so*", "deps/stamp/*", "tests/*.so", "../.venv/pyvenv.cfg")
_SETTINGS = re.compile("ASSAY_|GTEST_|ONEDNN_|OMP_|PYTHON|LC_|LANG")
_UNSETTING = {"ASSAY_REMEMBER", "ASSAY_JOBS"}
# The compiler reads these, and a program that it made of them shows it.
_COMPILED = (".cc", ".h", ".md")
_DERIVED = re.compile(r"(build.*|runs|\..*|__pycache__)$")


def _sources(root: str) -> Iterator[str]:
    for folder, names, files in os.walk(root):
        names[:] = sorted(n for n in names if not _DERIVED.match(n))
        for name in sorted(files):
            if not name.startswith(".") and not name.endswith(_COMPILED):
                yield os.path.join(folder, name)


def _state(path: str) -> str:
    try:
        found = os.stat(path)
    except OSError:
        return f"{path} absent"
    times = f"{found.st_mtime_ns} {found.st_ctime_ns}"
    return f"{path} {found.st_size} {found.st_ino} {times}"


def _processor() -> str:
    """Its model and what it can do, where the system tells."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return os.uname().machine
    lines = re.findall(r"^(?:model name|flags)\s*:.*", text, re.MULTILINE)
    return "\n".join(sorted(set(lines)))


def state_of(build: Path, command: list[str], globs: list[str]) -> str:
    """A digest of all that decides what the command comes to."""
    settings = (
        f"{name}={value}"
        for name, value in sorted(os.environ.items())
        if _SETTINGS.match(name) and name not in _UNSETTING
    )
    parts = [os.uname().release, _processor(), *command, *settings]
    files = [word for word in command if os.path.isfile(word)]
    for glob in (*_ALWAYS, *globs):
        is_path = os.path.isabs(glob)
        files += [glob] if is_path else map(str, sorted(build.glob(glob)))
    files += _sources(os.getcwd())
    parts += map(_state, files)
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("name")
    parser.add_argument("build", type=Path)
    parser.add_argument("--reads", action="append", default=[])
    at = arguments.index("--")
    options = parser.parse_args(arguments[:at])
    command = arguments[at + 1 :]
    if os.environ.get("ASSAY_REMEMBER") != "1":
        # Python ignores them, and what it turns into would, too.
        for ignored in (signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(ignored, signal.SIG_DFL)
        os.execvp(command[0], command)
    # The tree is where this file stands; a test may start in another place.
    start = os.getcwd()
    os.chdir(Path(__file__).resolve().parent.parent)
    stamp = options.build / "remembered" / options.name.replace("/", "_")
    # Before the test, so that a change meanwhile is not taken for tested.
    state = state_of(options.build, command, options.reads)
    if stamp.is_file() and stamp.read_text(encoding="utf-8") == state:
        print(f"{options.name} passed before, and nothing that it reads has changed")
        return 0
    stamp.unlink(missing_ok=True)
    done = subprocess.run(command, cwd=start, check=False)
    if done.returncode == 0:
        stamp.parent.mkdir(parents=True, exist_ok=True)
        stamp.write_text(state, encoding="utf-8")
    # As a shell says it, where a signal ended the test.
    return done.returncode if done.returncode >= 0 else 128 - done.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
