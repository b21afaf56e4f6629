# SPDX-License-Identifier: Apache-2.0
"""No type is defined twice in one namespace: two of one name in one program
are the same to the linker, which takes the functions of either. A room has a
namespace of its own, and assay::v1 is that of the installed headers.

    python3 ctest/trial/rules/names.py [ROOT]
"""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from owed import Owed
from sources import Tree, folder, run

# Comments, attributes, literals and lines of the preprocessor: braces in them do
# not count.
NOISE = re.compile(
    r'//[^\n]*|/\*.*?\*/|\[\[[^\]]*\]\]|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"'
    r"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'|^[ \t]*#(?:\\\n|[^\n])*",
    re.DOTALL | re.MULTILINE,
)
TOKEN = re.compile(r"[{}();]|[^{}();]+")
_NAMESPACE = re.compile(r"\bnamespace\b\s*([\w:\s]*)$")
TYPE = re.compile(
    r"(?:^|\s)(?:class|struct|union|enum(?:\s+(?:class|struct))?)\s+"
    r"(?:[A-Z_]+\s+)*?(?!final\b)(\w+(?:::\w+)*)\s*(?:final\s*)?(?::[^:].*)?$",
    re.DOTALL,
)

_OPENED = re.compile(
    r"^(?:inline )?namespace (?:\[\[.*?\]\] )?([\w:]+(?:inline v\d)?[\w:]*) \{", re.M
)
# Rooms whose namespace is not called as their folder.
_NAMES = {
    "backends/example_plugin": "",  # a vendor's tree
    "backends/example_onnxruntime": "",
    "backends/example_whole_model": "",
    "ctest/trial/mutants": "harness_mutants",
    "ctest/trial/types": "retype",
    "perf/peers": "gradcheck",
    "framework/graph/generated": "types",
    "framework/testing/case": "cases",
}
# Folders that are one namespace with all of their rooms.
_WHOLE = re.compile(
    r"^backends/(\w+)|^framework/(kernels)$"
    r"|^framework/(train)(?!/(?:bisect|converge|on_reference|optdiff|program|quad)\b)"
    r"|^framework/(ranks)\b"
    r"|^conformance/(distributed)\b|^(gradcheck)\b|^perf/(times)\b"
)
# The library that vendors link against: its sources define what they see.
_PUBLIC = re.compile(r"^framework/(core|graph|backend|kernels)\b")
_INSTALLED = re.compile(r"set\(assay_(?:vendor_)?headers\s(.*?)\)", re.DOTALL)


@dataclass(frozen=True)
class Definition:
    name: str
    file: str
    line: int


def blank(match: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", match[0])


def definitions(text: str, file: str) -> Iterator[Definition]:
    """The types that a file defines at the scope of a namespace."""
    scopes: list[str | None] = []  # a namespace's name; None is no namespace
    head, line = "", 1
    for token in TOKEN.findall(NOISE.sub(blank, text)):
        if token == "{":
            space = _NAMESPACE.search(head)
            kind = TYPE.search(head)
            if space:
                name = re.sub(r"\binline\b|\s", "", space[1])
                scopes.append(name or f"({file})")
            else:
                if kind and None not in scopes:
                    yield Definition("::".join([*scopes, kind[1]]), file, line)
                scopes.append(None)
        elif token == "}" and scopes:
            scopes.pop()
        head = token if token not in "{};" else ""
        line += token.count("\n")


def doubles(tree: Tree) -> Iterator[tuple[str, str]]:
    places: dict[str, list[str]] = defaultdict(list)
    for name in tree.sources:
        for found in definitions(tree.text(name), name):
            places[found.name].append(f"{found.file}:{found.line}")
    for name, where in sorted(places.items()):
        if len(where) > 1:
            yield name, f"is defined {len(where)} times: {' '.join(where)}"


def namespace_of(room: str) -> str:
    """The namespace of a room below assay."""
    if room in _NAMES:
        return _NAMES[room]
    whole = _WHOLE.match(room)
    if whole:
        return str(whole[whole.lastindex or 0])
    return room.rpartition("/")[2]


def installed(tree: Tree) -> set[str]:
    """The headers that a vendor sees."""
    file = tree.root / "framework/install.cmake"
    text = file.read_text(encoding="utf-8") if file.is_file() else ""
    lists = (names.split() for names in _INSTALLED.findall(text))
    return {f"framework/{name}" for names in lists for name in names}


def _opened(text: str) -> Iterator[str]:
    """The namespaces below assay that a file opens, "inline v1" one of them."""
    outer = False
    for match in _OPENED.finditer(NOISE.sub(blank, text)):
        inline = "inline " if match[0].startswith("inline") else ""
        name = inline + match[1]
        if name == "assay":
            outer = True
        elif name.startswith("assay::"):
            yield name.removeprefix("assay::")
        elif outer and name:
            yield name


def misplaced(tree: Tree) -> Iterator[tuple[str, str]]:
    """Files that open another namespace than their room's."""
    public = installed(tree)
    for name in tree.sources:
        wanted = namespace_of(folder(name))
        for found in _opened(tree.text(name)):
            v1 = found.startswith(("v1", "inline v1"))
            if found.split("::")[0] == wanted or found.startswith(f"{wanted}::"):
                continue
            if v1 and (
                name in public or (name.endswith(".cc") and _PUBLIC.match(name))
            ):
                continue
            yield name, f"opens assay::{found}, wanted assay::{wanted}"


def found_in(tree: Tree) -> list[str]:
    owed = Owed.of(tree)
    faults = {"name": doubles(tree), "namespace": misplaced(tree)}
    return [line for rule in faults for line in owed.filter(rule, faults[rule])]


if __name__ == "__main__":
    held = "files keep to their namespaces"
    sys.exit(run(found_in, lambda tree: f"{len(tree.sources)} {held}"))
