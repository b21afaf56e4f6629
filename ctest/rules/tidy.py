# SPDX-License-Identifier: Apache-2.0
"""clang-tidy over the sources of a build, tests apart.

    python3 ctest/rules/tidy.py .venv/bin/clang-tidy BUILD_DIRECTORY
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from build_tree import BuildTree
from remembered import Check, Memory, version_of
from sources import Tree, is_test

_CHECKS = ".clang-tidy"


def main() -> int:
    tidy, build = sys.argv[1], BuildTree(Path(sys.argv[2]))
    # The compiler, which knows its own headers (omp.h), is the one that warns.
    include = subprocess.run(
        ["g++", "-print-file-name=include"], capture_output=True, text=True, check=True
    ).stdout.strip()
    flags = ["--quiet", "--extra-arg=-w", f"--extra-arg=-idirafter{include}"]
    checks = []
    for name in Tree(Path(".")).sources:
        if not name.endswith(".cc") or is_test(name) or name not in build.commands:
            continue
        if not re.match("framework/|backends/|conformance/", name):
            continue
        if "/generated/" in name:
            continue
        read = build.read(name)
        command = [tidy, *flags, "-p", str(build.folder), name]
        # Not what clang-tidy says on how many warnings it suppressed.
        checks.append(
            Check(
                name,
                ["sh", "-c", '"$@" 2>/dev/null', "sh", *command],
                [_CHECKS, *read] if read else [],
                stdin=" ".join(build.commands[name].words),
            )
        )
    memory = Memory(build.folder / "rules/tidy", version_of(tidy))
    faults = memory.run(checks)
    print("\n".join(faults) or f"{len(checks)} files are tidy")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
