# SPDX-License-Identifier: Apache-2.0
"""Each row is a small tree of its own and the faults that must be found."""

from __future__ import annotations

import unittest

from includes import faults
from names import definitions, doubles, misplaced
from owed import Owed
from rooms import own_headers, readmes, sizes
from scratch import ScratchTest

GOOD = {
    "framework/core/README.md": "# core\n",
    "framework/core/status.h": "struct Status {};\n",
    "framework/core/status.cc": '#include "framework/core/status.h"\n',
    "framework/core/status_test.cc": "struct Row {};\n",
    "framework/core/main.cc": "int main() {}\n",
    "framework/cli/README.md": "# cli\n",
    "framework/cli/commands.h": "int Run();\nint Finish(int x);\n",
    "framework/cli/run.cc": '#include "framework/cli/commands.h"\nint Run() {}\n',
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
        "the room's header, after another one",
        {
            "framework/cli/finish.cc": '#include "framework/core/status.h"\n'
            '#include "framework/cli/commands.h"\nint Finish(int x) {}\n'
        },
        [],
    ),
    (
        "a header of the room that declares no function of it",
        {"framework/cli/x.cc": '#include "framework/cli/commands.h"\nint X() {}\n'},
        ["framework/cli/x.cc"],
    ),
    (
        "the header of another room",
        {
            "framework/core/finish.cc": '#include "framework/cli/commands.h"\n'
            "int Finish(int x) {}\n"
        },
        ["framework/core/finish.cc"],
    ),
    (
        "too many files",
        {f"framework/core/data{i}.txt": "" for i in range(22)},
        ["framework/core"],
    ),
    (
        "as many as may be",
        {f"framework/core/data{i}.txt": "" for i in range(21)},
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


class Rooms(ScratchTest):
    def found_in(self, files: dict[str, str]) -> list[str]:
        tree = self.tree(files)
        faults = [*sizes(tree), *readmes(tree), *own_headers(tree), *doubles(tree)]
        return [subject for subject, _ in faults]

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
            with self.subTest(source):
                self.assertEqual(len(faults(self.tree(files))), wanted)

    def test_each_fault_is_found_and_nothing_else(self) -> None:
        for name, changed, wanted in ROWS:
            with self.subTest(name):
                self.assertEqual(self.found_in(GOOD | changed), wanted)

    def test_two_definitions_of_a_name_in_one_namespace(self) -> None:
        core = "framework/core/"
        again = {core + "status.h": ONE, core + "main.cc": "int main() {}\n" + ONE}
        self.assertEqual(self.found_in(GOOD | again), ["assay::v1::A"])
        other = {core + "main.cc": "int main() {}\n" + ONE.replace("assay", "b")}
        self.assertEqual(self.found_in(GOOD | again | other), [])

    def test_types_at_the_scope_of_a_namespace(self) -> None:
        for text, wanted in TYPES:
            with self.subTest(text):
                found = [d.name for d in definitions(text, "f.cc")]
                self.assertEqual(found, wanted)

    def test_a_file_keeps_to_the_namespace_of_its_room(self) -> None:
        install = "set(assay_headers core/status.h)"
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
            with self.subTest(name=name, space=space):
                files = {name: text, "framework/install.cmake": install}
                found = [what for _, what in misplaced(self.tree(files))]
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
