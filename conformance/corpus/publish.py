# SPDX-License-Identifier: Apache-2.0
"""Turns collected cases into a corpus on disk, and checks them on the way."""

from __future__ import annotations

import hashlib
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import digests
import stamp
import store
from baseline import Features
from case import Case, CorpusError
from describe import describe

SCHEMA = "assay.corpus/1"
_MAX_NAMES = 20

Entry = dict[str, Any]


class Target(NamedTuple):
    """Where the corpus goes, and what it is held against."""

    place: Path
    digests: Path
    accept: bool  # whether digests.txt is rewritten instead of compared


class Versions(NamedTuple):
    """The software that the corpus was made with."""

    onnx: str
    numpy: str
    features: Features


class Published(NamedTuple):
    """The manifest as written, and the test_ids whose outputs drifted."""

    header: Mapping[str, Any]
    entries: list[Entry]
    drift: list[str]


def check_names(entries: Iterable[Entry]) -> None:
    """Raises when two cases share an id or a folder, also ignoring case.

    Test names and folders must stay apart on file systems, and in tools,
    that do not tell A from a.
    """
    for key in ("test_id", "directory"):
        seen: dict[str, str] = {}
        for entry in entries:
            name = entry[key]
            if name.lower() in seen:
                raise CorpusError(
                    f"found {key} {name!r} beside {seen[name.lower()]!r}, "
                    "wanted names that differ in more than letter case"
                )
            seen[name.lower()] = name


def _listed(test_ids: Sequence[str], what: str) -> Iterator[str]:
    if not test_ids:
        return
    yield f"{len(test_ids)} cases {what}:"
    yield from (f"  {test_id}" for test_id in test_ids[:_MAX_NAMES])
    if len(test_ids) > _MAX_NAMES:
        yield f"  and {len(test_ids) - _MAX_NAMES} more"


def _check(
    path: Path,
    pinned: Mapping[str, digests.Digest],
    found: Mapping[str, digests.Digest],
) -> list[str]:
    """The drifted test_ids; raises when models or inputs differ."""
    difference = digests.compare(pinned, found)
    problems = [
        *_listed(difference.changed, "have another model or other inputs"),
        *_listed(difference.missing, "are pinned, but were not found"),
        *_listed(difference.added, "were found, but are not pinned"),
    ]
    if problems:
        raise CorpusError(
            f"the corpus is not the one of {path}\n"
            + "\n".join(problems)
            + "\nif that is wanted, run again with --accept-digests"
        )
    return difference.drifted


def corpus_hash(entries: Iterable[Entry]) -> str:
    """A digest of all that the manifest says about its cases."""
    digest = hashlib.sha256()
    for entry in entries:
        digest.update(store.case_line(entry).encode("ascii") + b"\n")
    return digest.hexdigest()


def _header(
    entries: Sequence[Entry], versions: Versions, drift: Sequence[str]
) -> Entry:
    return {
        "schema": SCHEMA,
        "name": "onnx",
        "onnx_version": versions.onnx,
        "numpy_version": versions.numpy,
        "cpu_features": versions.features.cpu,
        "blas_kernels": versions.features.blas,
        "n_cases": len(entries),
        "corpus_hash": corpus_hash(entries),
        "drift": list(drift),
    }


def publish(
    cases: Iterable[Case], target: Target, versions: Versions
) -> Published:
    """Writes the corpus and its manifest at the target's place."""
    stamp_key = stamp.key(target.digests)
    pinned = {} if target.accept else digests.read(target.digests)
    with store.replacing(target.place) as corpus:
        entries: list[Entry] = []
        for case in cases:
            entries.append(describe(case))
            store.write_case(corpus, case)
        entries.sort(key=lambda entry: str(entry["test_id"]))
        check_names(entries)
        found = {entry["test_id"]: digests.digest(entry) for entry in entries}
        drift: list[str] = []
        if target.accept:
            digests.write(target.digests, found)
            stamp_key = stamp.key(target.digests)
        else:
            drift = _check(target.digests, pinned, found)
        header = _header(entries, versions, drift)
        text = store.manifest_text(header, entries)
        (corpus / store.MANIFEST).write_text(text, "ascii")
        shutil.copyfile(stamp.INSENSITIVE, corpus / stamp.INSENSITIVE.name)
        stamp.write(corpus, stamp_key)
    return Published(header, entries, drift)


def _counts(entries: Iterable[Entry], key: str) -> str:
    counter = Counter(str(entry[key]) for entry in entries)
    parts = (f"{name} {count}" for name, count in sorted(counter.items()))
    return ", ".join(parts)


def summary(published: Published) -> str:
    """The written corpus, in a few lines for a person."""
    header, entries = published.header, published.entries
    models = [entry for entry in entries if entry["kind"] == "model"]
    vacuous = [entry for entry in entries if entry["vacuous"]]
    rows = {
        "kinds": _counts(entries, "kind"),
        "models": _counts(models, "op"),
        "comparators": _counts(entries, "comparator"),
        "vacuous": f"{len(vacuous)}: {_counts(vacuous, 'kind')}",
        "numpy": f"{header['numpy_version']} on {header['cpu_features']}",
        "BLAS kernels": header["blas_kernels"],
        "drift of expected outputs": len(published.drift),
    }
    lines = [f"  {name}: {value}" for name, value in rows.items()]
    return "\n".join(
        [*lines, *(f"    {test_id}" for test_id in published.drift)]
    )
