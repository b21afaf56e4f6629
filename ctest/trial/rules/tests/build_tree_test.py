# SPDX-License-Identifier: Apache-2.0
"""A build that joins sources is read as one that does not; which sources a rule
looks at after a change."""

from __future__ import annotations

import json
import unittest

import headers
from build_tree import BuildTree
from choice import Choice
from scratch import ScratchTest
from sources import Tree
from tidy import flags_of, touched

JOINED = "build/core/CMakeFiles/core.dir/Unity/unity_0_cxx.cxx"
FLAGS = "-DX -I/r -isystem /s -O2 -include pch.hxx"


class Builds(ScratchTest):
    def build(self, *compiled: tuple[str, str]) -> BuildTree:
        """A build of pairs of a target and a file."""
        entries = [
            {
                "file": str(self.root / file),
                "command": f"c++ {FLAGS} -o CMakeFiles/{target}.dir/x.o -c {file}",
            }
            for target, file in compiled
        ]
        self.write("build/compile_commands.json", json.dumps(entries))
        return BuildTree(self.root / "build", self.root)

    def test_sources_that_are_joined(self) -> None:
        core = "framework/core"
        includes = (f'#include "{self.root}/{core}/{name}.cc"\n' for name in "ab")
        self.write(JOINED, "/* CMake */\n\n" + "\n".join(includes))
        build = self.build(("core", JOINED), ("core_test", f"{core}/b.cc"))
        self.assertEqual(sorted(build.commands), [f"{core}/a.cc", f"{core}/b.cc"])
        self.assertEqual(build.commands[f"{core}/b.cc"].file, JOINED)
        self.assertEqual(build.targets[f"{core}/b.cc"], {"core", "core_test"})

    def test_flags(self) -> None:
        build = self.build(("a", "a.cc"))
        self.assertEqual(build.include_flags(), ["-I/r", "-isystem", "/s"])
        entry = build.commands["a.cc"]
        self.assertEqual(" ".join(entry.flags()), FLAGS)
        self.assertEqual(flags_of(entry), ["-DX", "-I/r", "-isystem", "/s"])

    def test_files_of_a_backend_that_is_not_built(self) -> None:
        build = self.build(("here", "backends/here/a.cc"))
        names = ["backends/here/b.h", "framework/core/c.h"]
        for name in [*names, "backends/gone/d.h"]:
            self.write(name, "")
        self.assertEqual(Tree(self.root, build.leaves_out).sources, names)

    def core(self) -> Tree:
        """b.h includes a.h; a.cc, b.cc and c_test.cc include one each."""
        core = "framework/core"
        names = {"a.h": "", "b.h": "a", "c.h": "", "a.cc": "a", "b.cc": "b"}
        names |= {"d.cc": "b", "c_test.cc": "c"}
        texts = {n: f'#include "{core}/{h}.h"\n' if h else "" for n, h in names.items()}
        return self.tree({f"{core}/{name}": text for name, text in texts.items()})

    def test_headers_that_not_only_tests_use(self) -> None:
        found = headers.headers_of(self.core())
        self.assertEqual(found, ["framework/core/a.h", "framework/core/b.h"])

    def test_what_a_change_reaches(self) -> None:
        tree = self.core()
        choice = Choice(tree, whole=False)
        choice.changed = frozenset({"framework/core/b.h", "framework/core/gone.cc"})
        names = [name for name in tree.sources if name.endswith(".cc")]
        for sampled, wanted in ((0, "bd"), (len(names), "abcd")):
            found = choice.of(names, choice.reached, sampled)
            initials = "".join(name.split("/")[-1][0] for name in found)
            self.assertEqual(initials, wanted)
        self.assertEqual(Choice(tree, whole=True).of(names, set(), 0), names)

    def test_a_header_that_changed_is_tidied_once(self) -> None:
        tree, core = self.core(), "framework/core"
        names = [f"{core}/{name}.cc" for name in "abd"]
        for changed, wanted in (
            (["a.h"], ["a.cc"]),  # its own source
            (["b.h", "d.cc"], ["b.cc", "d.cc"]),
            (["c.h", "gone.h"], []),  # a header of tests
        ):
            found = touched(tree, names, [f"{core}/{name}" for name in changed])
            self.assertEqual(sorted(found), [f"{core}/{name}" for name in wanted])


if __name__ == "__main__":
    unittest.main()
