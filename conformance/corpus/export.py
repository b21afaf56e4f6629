# SPDX-License-Identifier: Apache-2.0
"""Exports ONNX's test cases as files, with a manifest.

    python conformance/corpus/export.py --out build/corpus/onnx

Exit codes: 0 exported, or already there; 2 usage; 99 the cases are not those
of digests.txt, or could not be collected or written.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import baseline
import stamp

ONNX_VERSION = "1.23.2"
DIGESTS = Path(__file__).with_name("digests.txt")
HARNESS_ERROR = 99


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Reads the command line."""
    parser = argparse.ArgumentParser(
        prog="export.py", description="Export ONNX's test cases as files."
    )
    add = parser.add_argument
    text = "the corpus; an older one there is replaced"
    add("--out", required=True, type=Path, metavar="DIR", help=text)
    text = "rewrite digests.txt from what is exported"
    add("--accept-digests", action="store_true", help=text)
    text = "the pinned digests (default: %(default)s)"
    add("--digests", type=Path, default=DIGESTS, metavar="FILE", help=text)
    return parser.parse_args(arguments)


def fail(message: str) -> int:
    """Prints an error, and gives the exit code for it."""
    print(f"corpus: error: {message}", file=sys.stderr)
    return HARNESS_ERROR


def export(place: Path, digests: Path, accept: bool) -> int:
    """Collects, checks and writes the corpus; the exit code."""
    import store
    from case import CorpusError
    from collect import collect
    from publish import Target, Versions, publish, summary
    from recompute import read, recomputed

    start = time.monotonic()
    features = baseline.features()
    if features.problem:
        print(
            f"corpus: warning: {features.problem}; expected outputs may "
            "differ from those of other machines",
            file=sys.stderr,
        )
    versions = Versions(ONNX_VERSION, stamp.package_version("numpy"), features)
    try:
        store.check_place(place)
        with store.locked(place):
            if not accept and stamp.is_current(place, stamp.key(digests)):
                print(f"corpus: up to date: {place}")  # made while we waited
                return 0
            target = Target(place, digests, accept)
            cases = recomputed(collect(), read())
            published = publish(cases, target, versions)
    except (CorpusError, OSError) as error:
        return fail(str(error))
    seconds = time.monotonic() - start
    print(
        f"corpus: {len(published.entries)} cases of onnx {ONNX_VERSION} in "
        f"{place}, {seconds:.1f} s\n{summary(published)}"
    )
    return 0


def main() -> int:
    """The program; nothing heavy is imported when nothing is to be done."""
    options = parse(sys.argv[1:])
    place, digests = options.out.absolute(), options.digests
    accept = options.accept_digests
    if not accept and stamp.is_current(place, stamp.key(digests)):
        print(f"corpus: up to date: {place}")
        return 0
    found = stamp.package_version("onnx")
    if found != ONNX_VERSION:
        return fail(
            f"found onnx {found} in {sys.prefix}, wanted {ONNX_VERSION}; "
            "ctest/bootstrap.sh installs it"
        )
    try:
        baseline.restart_at_baseline()
    except ImportError as error:
        return fail(f"cannot import numpy: {error}")
    return export(place, digests, accept)


if __name__ == "__main__":
    sys.exit(main())
