# SPDX-License-Identifier: Apache-2.0
"""The committed digests: what the corpus was when someone last looked.

One line a folder, sorted, with its cases: a case's name, the digest of the model
and its inputs, the digest of the expected outputs; each the first 128 bits of a
SHA-256. A case with a twin, test_id_expanded, that has the same expected outputs
has the digest of the twin's model and inputs behind them. The first line states
how many cases follow, so that a truncated file is noticed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from case import CorpusError, sha256

SCHEMA = "assay.digests/3"
_TWIN = "_expanded"
_LENGTH = 32
_CASE = re.compile(r"(\S+) ([0-9a-f]{32}) ([0-9a-f]{32})(?: ([0-9a-f]{32}))?")


class Digest(NamedTuple):
    """The digests that pin a case."""

    given: str  # model and inputs
    expected: str  # outputs


class Difference(NamedTuple):
    """Where a corpus differs from its digests: test_ids, sorted."""

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
    folders: dict[str, list[str]] = {}
    for test_id, value in sorted(pinned.items()):
        case = None
        if test_id.endswith(_TWIN):
            case = pinned.get(test_id.removesuffix(_TWIN))
        if case is not None and case.expected == value.expected:
            continue  # it stands behind its case
        twin = pinned.get(test_id + _TWIN)
        folder, _, name = test_id.rpartition("/")
        text = f"{name} {value.given} {value.expected}"
        if twin is not None and twin.expected == value.expected:
            text += f" {twin.given}"
        folders.setdefault(folder, []).append(text)
    head = f"{SCHEMA} {len(pinned)} cases: name model+inputs outputs [twin]"
    lines = [f"{folder}: {', '.join(c)}" for folder, c in folders.items()]
    partial = path.with_name(path.name + ".partial")
    partial.write_text("\n".join([head, *lines]) + "\n", "ascii")
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
        folder, _, cases = line.partition(": ")
        for case in cases.split(", "):
            found = _CASE.fullmatch(case)
            test_id = f"{folder}/{found[1]}" if found else ""
            if found is None or test_id in pinned:
                raise CorpusError(
                    f"{path}:{number}: found {(case or line)[:60]!r}, wanted "
                    "'folder: name digest digest, ...', each test_id once"
                )
            pinned[test_id] = Digest(found[2], found[3])
            if found[4]:
                pinned[test_id + _TWIN] = Digest(found[4], found[3])
    if len(pinned) != int(start[1]):
        raise CorpusError(
            f"{path}: found {len(pinned)} cases, wanted {start[1]} as its "
            "first line says; the file is truncated or was edited by hand"
        )
    return pinned


def compare(
    pinned: Mapping[str, Digest], found: Mapping[str, Digest]
) -> Difference:
    """Where `found` differs from `pinned`."""
    both = sorted(pinned.keys() & found.keys())
    same = [i for i in both if pinned[i].given == found[i].given]
    return Difference(
        changed=sorted(set(both) - set(same)),
        missing=sorted(pinned.keys() - found.keys()),
        added=sorted(found.keys() - pinned.keys()),
        drifted=[i for i in same if pinned[i].expected != found[i].expected],
    )
