# SPDX-License-Identifier: Apache-2.0
"""Says whether an exported corpus is still the one that would be exported.

Beside a corpus the file NAME.digest has the digest of what its maker made. A run
is over a default corpus only if that has this digest.

The stamp is written last into the corpus: a key over everything that decides
its content, and how many files and bytes lie beside it. Only the standard
library is imported, so that the answer takes tens of milliseconds.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import os
import re
import sys
from pathlib import Path

FILE_NAME = "stamp.txt"
INSENSITIVE = Path(__file__).parent / "insensitive.txt"
RECOMPUTED = Path(__file__).parent / "recomputed.txt"
PACKAGES = ("onnx", "numpy", "ml_dtypes", "protobuf")


def package_version(name: str) -> str:
    """The installed version of a package, or "missing"."""
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return "missing"


def key(digests: Path) -> str:
    """A digest of the exporter's sources, its packages and `digests`."""
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        if not path.name.endswith("_test.py"):
            digest.update(f"{path.name}\0".encode())
            digest.update(hashlib.sha256(path.read_bytes()).digest())
    for name in PACKAGES:
        digest.update(f"{name}={package_version(name)}\0".encode())
    digest.update(f"python={sys.version_info[:2]}\0".encode())
    for path in (digests, INSENSITIVE, RECOMPUTED):
        digest.update(path.read_bytes() if path.is_file() else b"")
    return digest.hexdigest()


def digest_of(corpus: Path) -> tuple[str, str]:
    """The name of a corpus and its digest, as ReadCorpus computes it."""
    with (corpus / "manifest.json").open("rb") as manifest:
        head = manifest.read(1 << 16).decode("ascii")
    found = [
        re.search(rf'^"{key}": "([^"]+)",$', head, re.MULTILINE)
        for key in ("name", "corpus_hash")
    ]
    name, digest = (match[1] if match else "" for match in found)
    insensitive = corpus / INSENSITIVE.name
    if insensitive.is_file():
        text = digest.encode() + insensitive.read_bytes()
        digest = hashlib.sha256(text).hexdigest()
    return name, digest


def _is_noted(corpus: Path) -> bool:
    name, digest = digest_of(corpus)
    file = corpus.parent / f"{name}.digest"
    return file.is_file() and file.read_text("ascii") == digest + "\n"


def note(corpus: Path) -> None:
    """Writes down the digest of a corpus that was just made."""
    name, digest = digest_of(corpus)
    partial = corpus.parent / f".{name}.digest.partial"
    partial.write_text(digest + "\n", "ascii")
    partial.replace(corpus.parent / f"{name}.digest")


def _measure(folder: str) -> tuple[int, int]:
    """Number of files and of bytes below a folder, the stamp left out."""
    files = size = 0
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                inner_files, inner_size = _measure(entry.path)
                files += inner_files
                size += inner_size
            elif entry.name != FILE_NAME:
                files += 1
                size += entry.stat(follow_symlinks=False).st_size
    return files, size


def _text(corpus: Path, stamp_key: str) -> str:
    files, size = _measure(str(corpus))
    return f"{stamp_key} {files} files {size} bytes\n"


def write(corpus: Path, stamp_key: str) -> None:
    """Seals a complete corpus."""
    (corpus / FILE_NAME).write_text(_text(corpus, stamp_key), "ascii")


def is_current(corpus: Path, stamp_key: str) -> bool:
    """True where `corpus` was sealed with this key and has all its files."""
    try:
        found = (corpus / FILE_NAME).read_text("ascii")
        # The cheap half of the comparison first.
        current = found.startswith(stamp_key)
        current = current and _is_noted(corpus)
        return current and found == _text(corpus, stamp_key)
    except (OSError, UnicodeDecodeError):
        return False
