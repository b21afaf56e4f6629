# SPDX-License-Identifier: Apache-2.0
"""Each row is a small tree of its own and the faults that must be found."""

from __future__ import annotations

import tempfile
import unittest
from pathlib import Path

from includes import faults
from names import definitions, doubles, misplaced
from owed import Owed
from rooms import own_headers, readmes, sizes
from sources import Tree

GOOD = {
    "framework/core/README.md": "# core\n",
    "framework/core/status.h": "struct Status {};\n",
    "framework/core/status.cc": '#include "framework/core/status.h"\n',
    "framework/core/status_test.cc": "struct Row {};\n",
    "framework/core/main.cc": "int main() {}\n",
    "framework/cli/README.md": "# cli\n",
    "framework/cli/commands.h": "",
    "framework/cli/run.cc": '#include "framework/cli/commands.h"\n',
    "framework/core/generated/table.cc": "",
    "framework/core/data/cases.txt": "",
    "backends/acme/README.md": "# acme\n",
    "backends/acme/acme.cc": "ASSAY_REGISTER_BACKEND(Acme);\n",
}

ROWS = [
    ("nothing", {}, []),
    ("no README", {"perf/bench.h": ""}, ["perf"]),
    ("an empty README", {"framework/core/README.md": " \n"}, ["framework/core"]),
    (
        "a source without a header",
        {"framework/core/text.cc": '#include "framework/core/status.h"\n'},
        ["framework/core/text.cc"],
    ),
    (
        "a row's header, after another one",
        {
            "framework/cli/finish.cc": '#include "framework/core/status.h"\n'
            '#include "framework/cli/commands.h"\n'
        },
        [],
    ),
    (
        "the header of another room's rows",
        {"framework/core/finish.cc": '#include "framework/cli/commands.h"\n'},
        ["framework/core/finish.cc"],
    ),
    (
        "too many files",
        {f"framework/core/data{i}.txt": "" for i in range(21)},
        ["framework/core"],
    ),
    (
        "as many as may be",
        {f"framework/core/data{i}.txt": "" for i in range(20)},
        [],
    ),
]

ONE = "namespace assay::inline v1 {\nstruct A {};\n}\n"
TYPES = [
    (ONE, ["assay::v1::A"]),
    ("namespace a {\nclass B;\nenum class C : int { k };\n}\n", ["a::C"]),
    ("namespace a {\nstruct B { struct C {}; };\n}", ["a::B"]),
    ("namespace a {\nvoid F() { struct C {}; }\n}\nstruct D {\n};", ["D"]),
    ("namespace a {\nnamespace {\nstruct B {};\n}\n}", ["a::(f.cc)::B"]),
    ('namespace a {\nauto s = R"(struct B {)";\nchar c = \'{\';\n// {\nstruct D {};}',
     ["a::D"]),
    ('namespace [[gnu::visibility("hidden")]] a {\nclass [[nodiscard]] B final '
     ": public C<D> {};\n}", ["a::B"]),
    ("namespace a {\ntemplate <class T>\nstruct B {};\ntemplate <>\n"
     "struct B<int> {};\n}", ["a::B"]),
]


def tree_of(root: Path, files: dict[str, str]) -> Tree:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return Tree(root)


def found_in(files: dict[str, str]) -> list[str]:
    with tempfile.TemporaryDirectory() as root:
        tree = tree_of(Path(root), files)
        faults = [*sizes(tree), *readmes(tree), *own_headers(tree), *doubles(tree)]
        return [subject for subject, _ in faults]


class Rooms(unittest.TestCase):
    def test_what_a_source_names_it_includes(self) -> None:
        a = "framework/core/status"
        for include, code, wanted in [
            ("", "std::map<int, int> x; // std::set", 1),
            ("#include <map>", "std::map<int, int> x;", 0),
            (f'#include "{a}.h"', "std::map<int, int> x;", 0),
            ("", "uint8_t x;", 1),
            ("", 'auto x = "std::map";', 0),
        ]:
            source = f"{include}\n{code}\n"
            files = {f"{a}.h": "#include <map>\n", "framework/core/x.cc": source}
            with self.subTest(source), tempfile.TemporaryDirectory() as root:
                self.assertEqual(len(faults(tree_of(Path(root), files))), wanted)

    def test_each_fault_is_found_and_nothing_else(self) -> None:
        for name, changed, wanted in ROWS:
            with self.subTest(name):
                self.assertEqual(found_in(GOOD | changed), wanted)

    def test_two_definitions_of_a_name_in_one_namespace(self) -> None:
        core = "framework/core/"
        again = {core + "status.h": ONE, core + "main.cc": "int main() {}\n" + ONE}
        self.assertEqual(found_in(GOOD | again), ["assay::v1::A"])
        other = {core + "main.cc": "int main() {}\n" + ONE.replace("assay", "b")}
        self.assertEqual(found_in(GOOD | again | other), [])

    def test_types_at_the_scope_of_a_namespace(self) -> None:
        for text, wanted in TYPES:
            with self.subTest(text):
                found = [d.name for d in definitions(text, "f.cc")]
                self.assertEqual(found, wanted)

    def test_a_file_keeps_to_the_namespace_of_its_room(self) -> None:
        install = "install(FILES core/status.h DESTINATION ${assay_header_dir})"
        rows = [
            ("framework/core/status.h", "assay::inline v1", []),
            ("framework/core/hash.h", "assay::core", []),
            ("framework/core/hash.h", "assay::inline v1", ["inline v1"]),
            ("framework/core/hash.cc", "assay::inline v1", []),
            ("framework/testing/case/a.h", "assay::cases", []),
            ("framework/testing/case/a.cc", "assay::inline v1", ["inline v1"]),
            ("framework/testing/plan/a.cc", "assay::policy", ["policy"]),
            ("backends/acme/loop/a.cc", "assay::acme::loop", []),
            ("backends/acme/loop/a.cc", "assay::other", ["other"]),
        ]
        for name, space, wanted in rows:
            text = f"namespace {space} {{\nnamespace {{\n}}\n}}\n"
            with self.subTest(name=name, space=space), \
                    tempfile.TemporaryDirectory() as root:
                files = {name: text, "framework/install.cmake": install}
                for file, content in files.items():
                    path = Path(root) / file
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_text(content, encoding="utf-8")
                found = [what for _, what in misplaced(Tree(Path(root)))]
                self.assertEqual([w.split("assay::")[1][:-len(", wanted ")]
                                  for w in found], wanted)

    def test_what_is_owed_hides_its_fault_only_and_must_be_needed(self) -> None:
        owed = Owed("# comment\nfiles a/*: soon\nfiles c: gone\nname a/b: other\n")
        faults = [("a/b", "is large"), ("b", "is large")]
        self.assertEqual(
            list(owed.filter("files", faults)),
            ["b: is large", "owed.txt: nothing needs 'files c' any more"],
        )
        self.assertIn("no reason", *Owed("files a:").filter("files", [("a:", "")]))


if __name__ == "__main__":
    unittest.main()
