# SPDX-License-Identifier: Apache-2.0
"""A violation of each rule, planted in every top folder, is found there; the same
tree without it has none."""

from __future__ import annotations

import json
import re
import sys
import tempfile
import unittest
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import budgets
import examples
import format
import headers
import includes
import layering
import names
import pages
import prose
import reachable
import rooms
import tidy
from build_tree import BuildTree
from remembered import Check
from sources import TOPS, Fault, Tree

RULES = Path(__file__).parents[1]
ROOT = RULES.parents[2]
CLANG_TIDY = Path(sys.executable).with_name("clang-tidy")
USERS = tuple(top for top in TOPS if f"{top}/" not in reachable.OWN_USERS)


def room_of(top: str) -> str:
    """The one room of a top folder of the tree."""
    return f"{top}/in_{top}"


def spaced(top: str, body: str) -> str:
    space = f"assay::{names.namespace_of(room_of(top))}"
    return f"namespace {space} {{\n{body}\n}}  // namespace {space}\n"


def sound(top: str) -> dict[str, str]:
    room = room_of(top)
    header = "// SPDX\n//\n// The room has one function.\n//\n//   F{}(given);\n\n{}"
    declared = spaced(top, f"int F{top}(int x);").replace("{\n", "{\n\n", 1)
    declared = declared.replace("\n}", "\n\n}")
    include = f'#include "{room}/a.h"\n'
    defined = spaced(top, f"\nint F{top}(int x) {{ return x; }}\n")
    main = f"int main() {{ return assay::{names.namespace_of(room)}::F{top}(0); }}\n"
    return {
        f"{room}/README.md": f"# {room}\n",
        f"{room}/a.h": header.format(top, declared),
        f"{room}/a.cc": f"{include}\n{defined}",
        f"{room}/a_main.cc": f"{include}\n{main}",
    }


def settings() -> dict[str, str]:
    prelude = (ROOT / examples.PRELUDE).read_text(encoding="utf-8")
    return {
        "ctest/layers.txt": "".join(f"[{top}]\nin_{top}\n" for top in TOPS),
        ".clang-format": (ROOT / ".clang-format").read_text(encoding="utf-8"),
        ".clang-tidy": (ROOT / ".clang-tidy").read_text(encoding="utf-8"),
        # Without the headers that it takes from the tree, and those that take long.
        examples.PRELUDE: re.sub(
            r'#include (".*"|<(filesystem|iostream|fcntl\.h)>)\n|namespace fs.*\n',
            "",
            prelude,
        ).replace("\n\n\n", "\n\n"),
        "ctest/trial/rules/README.md": "# rules\n",
    }


def found_by(checks: Iterable[Check]) -> list[str]:
    return [f"{name}: {what}" for check in checks for name, what in check.look()]


def said(faults: Iterable[Fault]) -> list[str]:
    return [f"{name}: {what}" for name, what in faults]


def by_layering(tree: Tree, _: BuildTree) -> list[str]:
    table = (tree.root / "ctest/layers.txt").read_text(encoding="utf-8")
    return layering.faults(tree, layering.Layers(table))


def by_tidy(tree: Tree, build: BuildTree) -> list[str]:
    looker = tidy.Tidy(str(CLANG_TIDY), tree, build)
    files = [(name, build.commands[name]) for name in tidy.sources_of(tree, build)]
    return found_by(looker.checks(files))


def by_examples_with_tidy(tree: Tree, _: BuildTree) -> list[str]:
    return found_by(examples.checks(tree, "g++", [], str(CLANG_TIDY)).values())


NEED_CLANG_TIDY = (by_tidy, by_examples_with_tidy)


@dataclass(frozen=True)
class Plant:
    rule: str
    faults: Callable[[Tree, BuildTree], list[str]]
    file: str  # in the room
    text: Callable[[str], str]  # of the file, by the top folder
    place: str = ""  # below the top folder, where the fault does not name the file
    main_includes: bool = False
    tops: tuple[str, ...] = TOPS


def _header(body: str) -> Callable[[str], str]:
    return lambda top: f"#pragma once\n\n{spaced(top, body)}"


PLANTS = [
    Plant(
        "an include that is not allowed",
        by_layering,
        "b.h",
        lambda top: f'#include "{room_of(TOPS[TOPS.index(top) - 1])}/a.h"\n',
    ),
    Plant(
        "26 files",
        lambda tree, _: said(rooms.sizes(tree)),
        "../many/{}.txt",
        lambda top: "",
        "many",
    ),
    Plant(
        "no README",
        lambda tree, _: said(rooms.readmes(tree)),
        "../bare/b.h",
        lambda top: "",
        "bare",
    ),
    Plant(
        "no header of its own",
        lambda tree, _: said(rooms.own_headers(tree)),
        "b.cc",
        lambda top: "",
    ),
    Plant(
        "a type that is defined twice",
        lambda tree, _: said(names.doubles(tree)),
        "b.h",
        _header("struct A {};\nstruct A {};"),
    ),
    Plant(
        "another namespace",
        lambda tree, _: said(names.misplaced(tree)),
        "b.h",
        lambda top: "namespace assay::other {}\n",
    ),
    Plant(
        "a name without its header",
        lambda tree, _: includes.faults(tree),
        "b.h",
        _header("using Rows = std::map<int, int>;"),
    ),
    Plant(
        "a long function",
        lambda tree, _: said(budgets.faults(tree)),
        "b.h",
        _header("inline int G(int x) {\n" + "  ++x;\n" * 59 + "  return x;\n}"),
    ),
    Plant(
        "a long class",
        lambda tree, _: said(budgets.faults(tree)),
        "b.h",
        _header("struct A {\n" + "  int x;\n" * 199 + "};"),
    ),
    Plant(
        "a long file",
        lambda tree, _: said(budgets.faults(tree)),
        "b.py",
        lambda top: "x = 1\n" * 501,
    ),
    Plant(
        "a file of no kind",
        lambda tree, _: said(budgets.faults(tree)),
        "b.xyz",
        lambda top: "",
    ),
    *(
        Plant(
            f"a sentence of {file}",
            lambda tree, _: said(prose.faults(tree)),
            file,
            lambda top, mark=mark: f"{mark} {prose.OPENINGS[0]} is known.\n",
        )
        for file, mark in (("b.h", "//"), ("b.py", "#"), ("b.md", "#"))
    ),
    Plant(
        "a page that names what is not there",
        lambda tree, _: said(pages.faults(tree)),
        "b.md",
        lambda top: f"See `{room_of(top)}/gone.h`.\n",
    ),
    Plant(
        "81 columns",
        lambda tree, _: said(prose.faults(tree)),
        "b.h",
        lambda top: f"// {'x' * 78}\n",
    ),
    Plant(
        "a format",
        lambda tree, _: found_by(format.checks(tree, "clang-format")),
        "b.h",
        lambda top: "int  x;\n",
    ),
    Plant(
        "code that tests alone reach",
        lambda tree, build: said(reachable.Users(tree, build).faults()),
        "b.h",
        _header("int G();"),
        tops=USERS,
    ),
    Plant(
        "a header that needs another one",
        lambda tree, _: found_by(headers.checks(tree, "g++", []).values()),
        "b.h",
        lambda top: _header(f"inline int G() {{ return F{top}(1); }}")(top),
        main_includes=True,
    ),
    Plant(
        "an example with a wrong call",
        lambda tree, _: found_by(examples.checks(tree, "g++", []).values()),
        "b.h",
        lambda top: f"// SPDX\n//\n// G.\n//\n//   G{top}(given, 1);\n\n"
        + _header(f"int G{top}(int x);")(top),
    ),
    Plant(
        "an example that names another argument",
        by_examples_with_tidy,
        "b.h",
        lambda top: f"// SPDX\n//\n// G.\n//\n//   G{top}(/*y=*/1);\n\n"
        + _header(f"int G{top}(int x);")(top),
    ),
    Plant(
        "a name of another style",
        by_tidy,
        "b.h",
        _header("struct bad_name {};"),
        main_includes=True,
    ),
]


class Planted(unittest.TestCase):
    def setUp(self) -> None:
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.root = Path(scratch.name).resolve()
        for files in (settings(), *map(sound, TOPS)):
            for name, text in files.items():
                self.write(name, text)
        self.write_commands()

    def write(self, name: str, text: str) -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def write_commands(self) -> None:
        """Each source belongs to a program of its top folder."""
        entries = []
        for top in TOPS:
            for name in ("a.cc", "a_main.cc"):
                file = self.root / room_of(top) / name
                out = f"{top}/CMakeFiles/{top}.dir/{name}.o"
                words = f"g++ -I{self.root} -std=c++20 -o {out} -c {file}"
                entries.append({"file": str(file), "command": words})
        self.write("build/compile_commands.json", json.dumps(entries))

    def plant(self, plant: Plant, top: str) -> str:
        """Returns the place that the fault must name."""
        for i in range(26 if plant.place == "many" else 1):
            self.write(f"{room_of(top)}/{plant.file.format(i)}", plant.text(top))
        if plant.main_includes:
            main = f"{room_of(top)}/a_main.cc"
            text = (self.root / main).read_text(encoding="utf-8")
            include = f'#include "{room_of(top)}/b.h"\n\nint main'
            self.write(main, text.replace("\nint main", include))
        return f"{top}/{plant.place}" if plant.place else f"{room_of(top)}/{plant.file}"

    def found(self, plant: Plant) -> list[str]:
        build = BuildTree(self.root / "build", self.root)
        return plant.faults(Tree(self.root, build.leaves_out), build)

    def test_each_rule_finds_its_violation_in_every_top_folder(self) -> None:
        for plant in PLANTS:
            with self.subTest(plant.rule):
                if plant.faults in NEED_CLANG_TIDY and not CLANG_TIDY.exists():
                    self.skipTest("clang-tidy stands beside the other Python")
                self.setUp()
                self.assertEqual(self.found(plant), [])
                places = {top: self.plant(plant, top) for top in TOPS}
                faults = "\n".join(self.found(plant))
                seen = [top for top, place in places.items() if place in faults]
                self.assertEqual(tuple(seen), plant.tops, faults)

    def test_a_file_in_no_top_folder(self) -> None:
        self.write("other/b.cc", "")
        self.write("b.cc", "")
        faults = dict(budgets.faults(Tree(self.root)))
        self.assertEqual(sorted(faults), ["b.cc", "other/b.cc"])


if __name__ == "__main__":
    unittest.main()
