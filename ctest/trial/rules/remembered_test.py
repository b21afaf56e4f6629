# SPDX-License-Identifier: Apache-2.0
"""What is looked at again, and what is not."""

from __future__ import annotations

import contextlib
import io
import os
import tempfile
import unittest
from pathlib import Path

import headers
import together
from build_tree import BuildTree
from remembered import DEPENDENCIES, Check, Memory, digest_of, files_of
from sources import Tree


class Remembered(unittest.TestCase):
    def setUp(self) -> None:
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.root = Path(scratch.name)
        for name in ("a.h", "b.h", "both.h"):
            self.write(name, "sound\n")

    def write(self, name: str, text: str) -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        digest_of.cache_clear()

    def checks(self) -> list[Check]:
        """Sound is what has that word; each reads its file and both.h."""
        script = 'echo "$1: $1 $2" >"$3"; echo $1 >>"$4"; grep -q sound $1'
        found = []
        for name in ("a.h", "b.h"):
            words = [str(self.root / name), str(self.root / "both.h"), DEPENDENCIES]
            command = ["sh", "-c", script, "sh", *words, str(self.root / "seen")]
            found.append(Check(name, command))
        return found

    def seen(self, about: str = "") -> tuple[list[str], int]:
        """The files that were looked at, and the number of faults."""
        self.write("seen", "")
        memory = Memory(self.root / "memory", about)
        with contextlib.redirect_stdout(io.StringIO()):
            faults = memory.run(self.checks())
        text = (self.root / "seen").read_text(encoding="utf-8")
        return sorted(os.path.basename(name) for name in text.split()), len(faults)

    def test_only_what_a_file_or_its_headers_changed_is_looked_at(self) -> None:
        self.assertEqual(self.seen(), (["a.h", "b.h"], 0))
        self.assertEqual(self.seen(), ([], 0))
        self.write("a.h", "sound again\n")
        self.assertEqual(self.seen(), (["a.h"], 0))
        self.write("both.h", "other\n")
        self.assertEqual(self.seen(), (["a.h", "b.h"], 0))
        self.assertEqual(self.seen("version 2"), (["a.h", "b.h"], 0))

    def test_a_fault_is_not_remembered(self) -> None:
        self.write("b.h", "broken\n")
        self.assertEqual(self.seen(), (["a.h", "b.h"], 1))
        self.assertEqual(self.seen(), (["b.h"], 1))

    def test_a_check_that_says_nothing_of_what_it_read_is_not_remembered(self) -> None:
        memory = Memory(self.root / "memory")
        with contextlib.redirect_stdout(io.StringIO()) as out:
            for _ in range(2):
                self.assertEqual(memory.run([Check("x", ["true"])]), [])
        self.assertEqual(out.getvalue(), "1 to look at\n" * 2)

    def test_sources_together(self) -> None:
        def text(name: str, calls: str = "") -> str:
            own = f"namespace {{\n\nint {name}(int x) {{\n  return x;\n}}\n\n"
            return f"{own}}}  // namespace\n\nint Use() {{ return {calls}; }}\n"

        texts = {
            "a.cc": text("A"),
            "a2.cc": text("A"),  # the same name
            "b.cc": text("B"),
            "calls_b.cc": text("C", "B(1)"),  # one that another hides
            "d.cc": text("D"),
        }
        self.assertEqual(
            together.groups(texts, texts, limit=3),
            [["a.cc", "b.cc", "d.cc"], ["a2.cc", "calls_b.cc"]],
        )

    def test_what_keeps_sources_apart(self) -> None:
        own = "namespace {\n\nint A(int x) {\n  return x;\n}\n\n}  // namespace\n"
        alias = "namespace fs = std::filesystem;\nfs::path At();\n"
        for first, second, declared_to, apart in (
            (own, "int x = std::A(1);", {}, False),
            (own, "int x = thing.A(1);", {}, False),
            (own, "int x = Thing::A(1);", {}, False),
            (own, "int x = ours::A(1);", {}, True),
            (own, "int x;", {"b": {"A"}}, True),
            ("int x;", "A y;", {"a": {"A"}}, True),
            ("int x;", "A y;", {"a": {"A"}, "b": {"A"}}, False),
            ("using other::A;", "int x = A(1);", {}, True),
            ("using other::A;", "int x = our::A(1);", {}, False),
            (alias, alias, {}, False),
            (alias, "int fs = 1;", {}, True),
            ("int main() {", "int main() {", {}, True),
        ):
            with self.subTest(first=first, second=second):
                texts = {"a": first, "b": second}
                found = together.groups(texts, texts, 2, declared_to)
                self.assertEqual(len(found), 2 if apart else 1)

    def test_what_a_header_declares(self) -> None:
        text = "struct A {\n  int inner;\n};\nint F(int x);\n// class B\nusing C = A;\n"
        self.assertEqual(together.declared(text), {"A", "F", "C"})

    def test_a_fault_in_one_of_several_is_found(self) -> None:
        def join(checks: list[Check]) -> list[tuple[Check, list[Check]]]:
            files = " ".join(str(self.root / check.name) for check in checks)
            script = f"echo all >>{self.root}/seen; ! grep -L sound {files} | grep ."
            return [(Check("all", ["sh", "-c", script]), checks)]

        def seen() -> tuple[list[str], int]:
            self.write("seen", "")
            checks = self.checks()
            for check in checks:
                check.read = [str(self.root / check.name)]
            with contextlib.redirect_stdout(io.StringIO()):
                faults = Memory(self.root / "memory").run(checks, join)
            text = (self.root / "seen").read_text(encoding="utf-8")
            return sorted(os.path.basename(name) for name in text.split()), len(faults)

        self.assertEqual(seen(), (["all"], 0))
        self.write("a.h", "sound too\n")
        self.write("b.h", "broken\n")
        self.assertEqual(seen(), (["a.h", "all", "b.h"], 1))

    def test_names_in_rules_of_make(self) -> None:
        self.assertEqual(files_of("x.o: a.h \\\n b\\ c.h\n"), ["a.h", "b c.h"])

    def test_headers_that_no_source_includes_first(self) -> None:
        core = "framework/core/"
        self.write(core + "a.cc", f'#include "{core}a.h"\n#include "{core}b.h"\n')
        self.write(core + "b.cc", f'#include "{core}b.h"\n')
        self.write(core + "c_test.cc", f'#include "{core}c.h"\n')
        for name in "abc":
            self.write(f"{core}{name}.h", "")
        found = headers.unseen_headers(Tree(self.root), {core + "a.cc"})
        self.assertEqual(found, [core + "b.h"])

    def test_files_of_a_backend_that_is_not_built(self) -> None:
        self.write(
            "compile_commands.json",
            f'[{{"directory": "{self.root}", "command": "c++ -o a.o -c a.cc",'
            f' "file": "{os.getcwd()}/backends/here/a.cc"}}]',
        )
        build = BuildTree(self.root)
        names = ["backends/here/b.h", "framework/core/c.h"]
        for name in [*names, "backends/gone/d.h"]:
            self.write(name, "")
        found = Tree(self.root, build.leaves_out).sources
        self.assertEqual(found, names)

    def test_the_flags_of_a_build(self) -> None:
        here = os.getcwd()
        command = "c++ -DX -I/r -isystem /s -O2 -o a.o -c a.cc"
        self.write(
            "compile_commands.json",
            f'[{{"directory": "{self.root}", "command": "{command}",'
            f' "file": "{here}/a.cc"}}]',
        )
        tree = BuildTree(self.root)
        self.assertEqual(tree.commands["a.cc"].output, "a.o")
        self.assertEqual(tree.include_flags(), ["-I/r", "-isystem", "/s"])


if __name__ == "__main__":
    unittest.main()
