# SPDX-License-Identifier: Apache-2.0
"""A violation of each rule, planted in every top folder, is found there; the same
tree without it has none."""

from __future__ import annotations

import json
import re
import sys
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
from scratch import ScratchTest
from sources import TOPS, Fault, Tree, said

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


Rule = Callable[[Tree, BuildTree], list[str]]


def by(faults: Callable[[Tree], Iterable[Fault]]) -> Rule:
    return lambda tree, _: said(faults(tree))


def found_by(checks: Iterable[Check]) -> list[str]:
    return said(fault for check in checks for fault in check.look())


def by_tidy(tree: Tree, build: BuildTree) -> list[str]:
    looker = tidy.Tidy(str(CLANG_TIDY), tree, build)
    files = [(name, build.commands[name]) for name in tidy.sources_of(tree, build)]
    return found_by(looker.checks(files))


def by_examples(tree: Tree, _: BuildTree, clang_tidy: str = "") -> list[str]:
    return found_by(examples.checks(tree, "g++", [], clang_tidy).values())


def by_examples_with_tidy(tree: Tree, build: BuildTree) -> list[str]:
    return by_examples(tree, build, str(CLANG_TIDY))


NEED_CLANG_TIDY = (by_tidy, by_examples_with_tidy)


@dataclass(frozen=True)
class Plant:
    rule: str
    faults: Rule
    file: str  # in the room
    text: Callable[[str], str]  # of the file, by the top folder
    place: str = ""  # below the top folder, where the fault does not name the file
    main_includes: bool = False
    tops: tuple[str, ...] = TOPS


def _text(text: str) -> Callable[[str], str]:
    return lambda top: text


def _header(body: str) -> Callable[[str], str]:
    return lambda top: f"#pragma once\n\n{spaced(top, body)}"


def _example(call: str) -> Callable[[str], str]:
    """A header whose example calls its function so, behind the function's name."""
    return lambda top: (
        f"// SPDX\n//\n// G.\n//\n//   G{top}({call});\n\n"
        + _header(f"int G{top}(int x);")(top)
    )


_LONG_FUNCTION = "inline int G(int x) {\n" + "  ++x;\n" * 59 + "  return x;\n}"
_LONG_CLASS = "struct A {\n" + "  int x;\n" * 199 + "};"
PLANTS = [
    Plant(
        "an include that is not allowed",
        lambda tree, _: layering.found_in(tree),
        "b.h",
        lambda top: f'#include "{room_of(TOPS[TOPS.index(top) - 1])}/a.h"\n',
    ),
    Plant("26 files", by(rooms.sizes), "../many/{}.txt", _text(""), "many"),
    Plant("no README", by(rooms.readmes), "../bare/b.h", _text(""), "bare"),
    Plant("no header of its own", by(rooms.own_headers), "b.cc", _text("")),
    Plant(
        "a type that is defined twice",
        by(names.doubles),
        "b.h",
        _header("struct A {};\nstruct A {};"),
    ),
    Plant(
        "another namespace",
        by(names.misplaced),
        "b.h",
        _text("namespace assay::other {}\n"),
    ),
    Plant(
        "a name without its header",
        lambda tree, _: includes.faults(tree),
        "b.h",
        _header("using Rows = std::map<int, int>;"),
    ),
    Plant("a long function", by(budgets.faults), "b.h", _header(_LONG_FUNCTION)),
    Plant("a long class", by(budgets.faults), "b.h", _header(_LONG_CLASS)),
    Plant("a long file", by(budgets.faults), "b.py", _text("x = 1\n" * 501)),
    Plant("a file of no kind", by(budgets.faults), "b.xyz", _text("")),
    *(
        Plant(
            f"a sentence of {file}",
            by(prose.faults),
            file,
            _text(f"{mark} {prose.OPENINGS[0]} is known.\n"),
        )
        for file, mark in (("b.h", "//"), ("b.py", "#"), ("b.md", "#"))
    ),
    Plant(
        "a page that names what is not there",
        by(pages.faults),
        "b.md",
        lambda top: f"See `{room_of(top)}/gone.h`.\n",
    ),
    Plant("81 columns", by(prose.faults), "b.h", _text(f"// {'x' * 78}\n")),
    Plant(
        "a format",
        lambda tree, _: found_by(format.checks(tree, "clang-format")),
        "b.h",
        _text("int  x;\n"),
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
    Plant("an example with a wrong call", by_examples, "b.h", _example("given, 1")),
    Plant(
        "an example that names another argument",
        by_examples_with_tidy,
        "b.h",
        _example("/*y=*/1"),
    ),
    Plant(
        "a name of another style",
        by_tidy,
        "b.h",
        _header("struct bad_name {};"),
        main_includes=True,
    ),
]


class Planted(ScratchTest):
    def setUp(self) -> None:
        super().setUp()
        for files in (settings(), *map(sound, TOPS)):
            for name, text in files.items():
                self.write(name, text)
        self.write_commands()

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
