#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints a deb-src list for the Debian archive this machine installs from.

`apt-get source` needs source entries, which most machines lack. This derives
them from the machine's own entries, so that mirrors, proxies and keyrings stay
as its owner set them, and leaves /etc as it is:

    apt_sources.py --etc /etc/apt --codename bookworm > private.sources

Both formats are read (man sources.list), one-line and deb822; deb822 is
written. Entries of other vendors are left out: a source index that they do
not have would be an error. Exit code 1 when no Debian entry is left.
"""

import argparse
import re
import sys
from collections.abc import Iterator
from pathlib import Path

Stanza = dict[str, str]  # field name in lower case -> value, continued lines in

COMPONENTS = ("main", "contrib", "non-free", "non-free-firmware")
# The fields of an entry about trust; the rest concerns binary packages.
KEPT = (
    "Signed-By", "Trusted", "Allow-Insecure", "Allow-Weak",
    "Allow-Downgrade-To-Insecure", "Check-Valid-Until", "Valid-Until-Min",
    "Valid-Until-Max", "Check-Date", "Date-Max-Future", "InRelease-Path",
    "Snapshot",
)  # fmt: skip


def read_one_line(text: str) -> Iterator[Stanza]:
    """deb [option=value ...] uri suite component..."""
    for line in text.splitlines():
        match = re.match(
            r"\s*(deb|deb-src)\s+(?:\[([^]]*)\]\s*)?(\S.*)", line.split("#")[0]
        )
        if match is None:
            continue
        words = match[3].split()
        if len(words) < 2:
            continue
        options = (word.partition("=") for word in (match[2] or "").split())
        stanza = {name.lower(): value.replace(",", " ") for name, _, value in options}
        stanza |= {"types": match[1], "uris": words[0], "suites": words[1]}
        yield stanza | {"components": " ".join(words[2:])}


def read_deb822(text: str) -> Iterator[Stanza]:
    """Fields, continued by indented lines; stanzas end at an empty line."""
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    for block in re.split(r"\n(?:[ \t]*\n)+", "\n".join(lines)):
        stanza: Stanza = {}
        name = ""
        for line in block.splitlines():
            if line[:1] in (" ", "\t") and name:
                stanza[name] += "\n" + line
            elif ":" in line:
                name, _, value = line.partition(":")
                name = name.strip().lower()
                stanza[name] = value.strip()
        no = ("no", "false", "without", "off", "disable", "0")
        if stanza and stanza.get("enabled", "yes").strip().lower() not in no:
            yield stanza


def is_debian(uri: str, suite: str, signed_by: str, codename: str) -> bool:
    """True when an entry is of Debian's archive or of a mirror of it.

    Other vendors also name their folder "debian" and their suite "bookworm",
    and a mirror may be named anything: a keyring's file name decides, or else
    the address.
    """
    names = (codename, "stable", "oldstable", "testing", "unstable", "sid")
    head = "|".join(re.escape(name) for name in names)
    tail = "-updates|-security|-backports|-proposed-updates|/updates"
    of_debian = re.fullmatch(f"(?:{head})(?:{tail})?", suite) is not None
    if not of_debian or uri.startswith("cdrom:"):
        return False
    if signed_by.startswith("/"):
        return "debian" in Path(re.split(r"[,\s]", signed_by)[0]).name
    return re.search(r"\bdebian\b", uri) is not None


def derive(stanzas: Iterator[Stanza], codename: str) -> list[str]:
    """One deb-src stanza for each URI and suite; the first to name it wins."""
    found: dict[tuple[str, str], tuple[Stanza, list[str]]] = {}
    for stanza in stanzas:
        for uri in stanza.get("uris", "").split():
            for suite in stanza.get("suites", "").split():
                signed_by = stanza.get("signed-by", "")
                if not is_debian(uri, suite, signed_by, codename):
                    continue
                first = found.setdefault((uri.rstrip("/"), suite), (stanza, []))
                for component in stanza.get("components", "").split():
                    if component in COMPONENTS and component not in first[1]:
                        first[1].append(component)
    result = []
    for (uri, suite), (stanza, components) in found.items():
        if not components:
            continue
        lines = ["Types: deb-src", f"URIs: {uri}", f"Suites: {suite}"]
        lines.append(f"Components: {' '.join(components)}")
        for name in KEPT:
            if value := stanza.get(name.lower()):
                lines.append(f"{name}: {value}".replace(": \n", ":\n"))
        result.append("\n".join(lines) + "\n")
    return result


def read_all(etc: Path) -> Iterator[Stanza]:
    """Every entry of the machine, in the order in which apt reads them."""
    parts = sorted((etc / "sources.list.d").glob("*"))
    for path in [etc / "sources.list", *parts]:
        if not path.is_file() or path.suffix not in (".list", ".sources"):
            continue
        text = path.read_text(encoding="utf-8", errors="replace")
        read = read_deb822 if path.suffix == ".sources" else read_one_line
        yield from read(text)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--etc", type=Path, default=Path("/etc/apt"))
    parser.add_argument("--codename", required=True, help="e.g. bookworm")
    args = parser.parse_args()
    stanzas = derive(read_all(args.etc), args.codename)
    if not stanzas:
        print(
            f"found no entry of Debian's archive in {args.etc}/sources.list or "
            f"{args.etc}/sources.list.d, wanted one for {args.codename} main",
            file=sys.stderr,
        )
        return 1
    print("\n".join(stanzas), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
