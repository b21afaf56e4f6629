# SPDX-License-Identifier: Apache-2.0
"""The committed digests: what the corpus was when someone last looked.

One line a case, sorted: test_id, the digest of the model and its inputs, the
digest of the expected outputs; each the first 128 bits of a SHA-256. A case with
a twin, test_id_expanded, that has the same expected outputs has the digest of the
twin's model and inputs behind them. The first line states how many cases
follow, so that a truncated file is noticed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from case import CorpusError, sha256

SCHEMA = "assay.digests/2"
_TWIN = "_expanded"
_LENGTH = 32
_LINE = re.compile(r"(\S+) ([0-9a-f]{32}) ([0-9a-f]{32})(?: ([0-9a-f]{32}))?")


class Digest(NamedTuple):
    """What pins a case."""

    given: str  # model and inputs
    expected: str  # outputs


class Difference(NamedTuple):
    """What a corpus has otherwise than its digests; test_ids, sorted."""

    changed: list[str]  # another model or other inputs
    missing: list[str]  # pinned, but not in the corpus
    added: list[str]  # in the corpus, but not pinned
    drifted: list[str]  # other expected outputs only


def _join(parts: Iterable[str]) -> str:
    return sha256("\n".join(parts).encode("ascii"))[:_LENGTH]


def digest(entry: Mapping[str, Any]) -> Digest:
    """The digest of a manifest entry, from the digests of its files."""
    hashes = entry["sha256"]
    inputs = [f"{i} {h}" for i, s in enumerate(hashes["inputs"]) for h in s]
    outputs = [f"{i} {h}" for i, s in enumerate(hashes["outputs"]) for h in s]
    return Digest(_join([hashes["model"], *inputs]), _join(outputs))


def write(path: Path, pinned: Mapping[str, Digest]) -> None:
    """Replaces the file in one step."""
    lines = [f"{SCHEMA} {len(pinned)} cases: test_id model+inputs outputs [twin]"]
    for test_id, value in sorted(pinned.items()):
        case = None
        if test_id.endswith(_TWIN):
            case = pinned.get(test_id.removesuffix(_TWIN))
        if case is not None and case.expected == value.expected:
            continue  # it stands behind its case
        twin = pinned.get(test_id + _TWIN)
        line = f"{test_id} {value.given} {value.expected}"
        if twin is not None and twin.expected == value.expected:
            line += f" {twin.given}"
        lines.append(line)
    partial = path.with_name(path.name + ".partial")
    partial.write_text("\n".join(lines) + "\n", "ascii")
    partial.replace(path)


def read(path: Path) -> dict[str, Digest]:
    """The pinned digests by test_id."""
    try:
        text = path.read_text("ascii")
    except (OSError, UnicodeDecodeError) as error:
        raise CorpusError(f"cannot read digests: {path}: {error}") from error
    head, *lines = text.splitlines() or [""]
    start = re.match(rf"{SCHEMA} (\d+) cases", head)
    if start is None:
        raise CorpusError(
            f"{path}:1: found {head[:60]!r}, wanted '{SCHEMA} N cases ...'"
        )
    pinned: dict[str, Digest] = {}
    for number, line in enumerate(lines, 2):
        found = _LINE.fullmatch(line)
        if found is None or found[1] in pinned:
            raise CorpusError(
                f"{path}:{number}: found {line[:60]!r}, wanted "
                "'test_id digest digest', each test_id once"
            )
        pinned[found[1]] = Digest(found[2], found[3])
        if found[4]:
            pinned[found[1] + _TWIN] = Digest(found[4], found[3])
    if len(pinned) != int(start[1]):
        raise CorpusError(
            f"{path}: found {len(pinned)} cases, wanted {start[1]} as its "
            "first line says; the file is truncated or was edited by hand"
        )
    return pinned


def compare(
    pinned: Mapping[str, Digest], found: Mapping[str, Digest]
) -> Difference:
    """What `found` has otherwise than `pinned`."""
    both = sorted(pinned.keys() & found.keys())
    same = [i for i in both if pinned[i].given == found[i].given]
    return Difference(
        changed=sorted(set(both) - set(same)),
        missing=sorted(pinned.keys() - found.keys()),
        added=sorted(found.keys() - pinned.keys()),
        drifted=[i for i in same if pinned[i].expected != found[i].expected],
    )
