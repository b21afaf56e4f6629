# SPDX-License-Identifier: Apache-2.0
"""Writes a corpus as a folder, all of it or nothing.

The corpus is written beside its place and renamed at the end, so that a
reader, or the next export after a kill, finds the old corpus, the new one, or
none. A lock beside it keeps two exports apart.
"""

from __future__ import annotations

import fcntl
import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import stamp
from case import Case, CorpusError

MANIFEST = "manifest.json"


def _sibling(place: Path, what: str) -> Path:
    return place.with_name(f".{place.name}.{what}")


def check_place(place: Path) -> None:
    """Refuses to replace a folder that is no corpus."""
    if not place.exists():
        return
    if not place.is_dir():
        raise CorpusError(f"{place}: found a file, wanted a folder")
    ours = (place / MANIFEST).is_file() or (place / stamp.FILE_NAME).is_file()
    if any(place.iterdir()) and not ours:
        raise CorpusError(
            f"{place}: found a folder without {MANIFEST}, wanted a corpus or "
            "an empty place; it is not replaced"
        )


@contextmanager
def locked(place: Path) -> Iterator[None]:
    """Holds the right to replace the corpus at `place`; waits for it."""
    place.parent.mkdir(parents=True, exist_ok=True)
    with _sibling(place, "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def write_case(corpus: Path, case: Case) -> None:
    """Writes one case in ONNX's layout below `corpus`."""
    folder = corpus / case.folder
    folder.mkdir(parents=True)
    (folder / "model.onnx").write_bytes(case.model_bytes)
    for index, data in enumerate(case.data_sets):
        inner = folder / f"test_data_set_{index}"
        inner.mkdir()
        for stem, files in (("input", data.inputs), ("output", data.outputs)):
            for number, content in enumerate(files):
                (inner / f"{stem}_{number}.pb").write_bytes(content)


def case_line(entry: Mapping[str, Any]) -> str:
    """The line of a case in the manifest, without the comma."""
    return json.dumps(entry, separators=(",", ":"))


def manifest_text(
    header: Mapping[str, Any], entries: Sequence[Mapping[str, Any]]
) -> str:
    """The manifest: a line for each part of the header and for each case."""
    lines = [
        f"{json.dumps(key)}: {json.dumps(value)},"
        for key, value in header.items()
    ]
    cases = ",\n".join(map(case_line, entries))
    return "\n".join(["{", *lines, '"cases": [', cases, "]", "}", ""])


@contextmanager
def replacing(place: Path) -> Iterator[Path]:
    """A fresh folder that takes the place of `place` when all went well."""
    partial, old = _sibling(place, "partial"), _sibling(place, "old")
    if old.exists() and not place.exists():
        old.rename(place)  # killed between the two renames below
    for leftover in (partial, old):
        shutil.rmtree(leftover, ignore_errors=True)
    partial.mkdir(parents=True)
    try:
        yield partial
        if place.exists():
            place.rename(old)
        partial.rename(place)
        stamp.note(place)
    except BaseException:
        if old.exists() and not place.exists():
            old.rename(place)
        raise
    finally:
        for leftover in (partial, old):
            shutil.rmtree(leftover, ignore_errors=True)
