#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of apt_sources.py: odd but valid source lists, and what apt says."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import NamedTuple

SCRIPT = Path(__file__).with_name("apt_sources.py")
DEBIAN = "http://a.example/debian"
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"
SIGNED = f"Signed-By: {KEYRING}"
KEY = (
    "Signed-By:\n -----BEGIN PGP PUBLIC KEY BLOCK-----\n .\n mDMEYCQjIxYJKwYB\n"
    " -----END PGP PUBLIC KEY BLOCK-----"
)


def src(uri: str, suite: str, components: str, *more: str) -> str:
    head = f"Types: deb-src\nURIs: {uri}\nSuites: {suite}\nComponents: {components}\n"
    return head + "".join(line + "\n" for line in more)


class Row(NamedTuple):
    about: str
    name: str  # of the file in /etc/apt
    text: str
    wanted: list[str]  # stanzas


ROWS = [
    Row(
        about="a plain line",
        name="sources.list",
        text=f"deb {DEBIAN} bookworm main\n",
        wanted=[src(DEBIAN, "bookworm", "main")],
    ),
    Row(
        about="options in brackets: those about trust are kept, architectures are not",
        name="sources.list",
        text=(
            f"deb [ arch=amd64,i386 signed-by={KEYRING} check-valid-until=no ] "
            f"{DEBIAN} bookworm main contrib\n"
        ),
        wanted=[
            src(DEBIAN, "bookworm", "main contrib", SIGNED, "Check-Valid-Until: no")
        ],
    ),
    Row(
        about="comments, empty lines, compact discs and lines that are no entries",
        name="sources.list",
        text=(
            "# deb http://off.example/debian bookworm main\n\n"
            "deb cdrom:[Debian GNU/Linux 12 _Bookworm_]/ bookworm main\nnonsense\n"
            "deb cdrom:[debian]/ bookworm main\n"
            f"  deb\t{DEBIAN}  bookworm main # a.example contrib\n"
        ),
        wanted=[src(DEBIAN, "bookworm", "main")],
    ),
    Row(
        about="deb and deb-src of one suite give one stanza, with all components",
        name="sources.list.d/a.list",
        text=f"deb {DEBIAN} bookworm main\ndeb-src {DEBIAN}/ bookworm main non-free\n",
        wanted=[src(DEBIAN, "bookworm", "main non-free")],
    ),
    Row(
        about="other vendors: by component, suite, keyring, or address",
        name="sources.list.d/a.list",
        text=(
            "deb https://boxes.example/linux/debian bookworm stable\n"
            "deb https://compiler.example/debian compiler-bookworm main\n"
            "deb [signed-by=/k/maria.gpg] https://maria.example/debian bookworm main\n"
            "deb https://packages.example.com/apt bookworm main\n"
            "deb http://other.example/ubuntu jammy main\n"
            "deb [trusted=yes] file:/srv/debian ./\n"
            f"deb {DEBIAN}-security bookworm-security main\n"
        ),
        wanted=[src(f"{DEBIAN}-security", "bookworm-security", "main")],
    ),
    Row(
        about="a mirror of another name, known by its keyring",
        name="sources.list.d/a.sources",
        text=(
            "Types: deb\nURIs: https://mirror.example/d12\nSuites: bookworm\n"
            f"Components: main\n{SIGNED}\n"
        ),
        wanted=[src("https://mirror.example/d12", "bookworm", "main", SIGNED)],
    ),
    Row(
        about="a list of mirrors, as cloud images have it",
        name="sources.list.d/a.sources",
        text=(
            "Types: deb deb-src\nURIs: mirror+file:///etc/apt/mirrors/debian.list\n"
            "Suites: bookworm bookworm-updates\nComponents: main\n"
        ),
        wanted=[
            src("mirror+file:///etc/apt/mirrors/debian.list", suite, "main")
            for suite in ("bookworm", "bookworm-updates")
        ],
    ),
    Row(
        about="a stanza that is switched off, comments within, field names in any case",
        name="sources.list.d/a.sources",
        text=(
            f"Enabled: no\nTypes: deb\nURIs: {DEBIAN}\nSuites: sid\nComponents: main\n"
            "\n  \n# about the next\n"
            f"types: deb\n# within\nURIS: {DEBIAN}\nsuites: stable\ncomponents: main\n"
        ),
        wanted=[src(DEBIAN, "stable", "main")],
    ),
    Row(
        about="several types, addresses and suites, folded fields, a key in the list",
        name="sources.list.d/a.sources",
        text=(
            f"Types: deb deb-src\nURIs: {DEBIAN} http://b.example/debian\n"
            "Suites: bookworm\n bookworm-backports\n"
            "Components: main\n# not: these\n contrib\n"
            f"{KEY}\n"
        ),
        wanted=[
            src(uri, suite, "main contrib", KEY)
            for uri in (DEBIAN, "http://b.example/debian")
            for suite in ("bookworm", "bookworm-backports")
        ],
    ),
    Row(
        about="files that apt does not read",
        name="sources.list.d/a.list.save",
        text=f"deb {DEBIAN} bookworm main\n",
        wanted=[],
    ),
    Row(about="no entry at all", name="sources.list", text="", wanted=[]),
]


class AptSources(unittest.TestCase):
    def test_derives_what_apt_can_read(self) -> None:
        for about, name, text, wanted in ROWS:
            with self.subTest(about), tempfile.TemporaryDirectory() as folder:
                etc = Path(folder)
                (etc / "sources.list.d").mkdir()
                (etc / name).write_text(text)
                got = subprocess.run(
                    [sys.executable, SCRIPT, "--etc", etc, "--codename", "bookworm"],
                    check=False,
                    capture_output=True,
                    text=True,
                )
                self.assertEqual(got.stdout, "\n".join(wanted))
                self.assertEqual(got.returncode, 0 if wanted else 1, got.stderr)
                if not wanted:
                    self.assertIn("wanted one for bookworm", got.stderr)
                parts = etc / "derived"
                parts.mkdir()
                (parts / "derived.sources").write_text(got.stdout)
                self.assert_apt_reads(parts)

    def assert_apt_reads(self, parts: Path) -> None:
        apt = ["apt-get", "-o", "Dir::Etc::SourceList=/dev/null"]
        apt += ["-o", f"Dir::Etc::SourceParts={parts}", "indextargets"]
        got = subprocess.run(apt, check=False, capture_output=True, text=True)
        self.assertEqual((got.returncode, got.stderr), (0, ""))


if __name__ == "__main__":
    unittest.main()
