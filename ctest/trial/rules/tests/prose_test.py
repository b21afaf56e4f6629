# SPDX-License-Identifier: Apache-2.0
"""Sentences are found in each kind of file, and the list of debts only falls."""

from __future__ import annotations

import tempfile
import unittest
from pathlib import Path

import prose
from sources import Tree

WORD = prose.OPENINGS[0]
PLACES = [
    ("a.h", f"// {WORD} is it?\n", [1]),
    ("a.h", f"/// Rows.\n/// {WORD} is it?\n", [2]),
    ("a.h", f"// Rows: {WORD} is it?\n", [1]),
    ("a.h", f"// Rows and\n// {WORD} is it?\n", []),  # goes on
    ("a.h", f"// Rows and\n\n// {WORD} is it?\n", [3]),
    ("a.h", f"//   {WORD} example();\n", []),
    ("a.h", f'const char* a = "{WORD} is it?";\n', []),
    ("a.py", f'# Rows.\nx = 1  \n# {WORD} is it?\n', [3]),
    ("a.py", f'"""{WORD} is it?\n\n    {WORD} example()\n\nRows.\n"""\n', [1]),
    ("a.py", f'def f():\n    """Rows.\n\n    {WORD} is it?"""\n', [4]),
    ("CMakeLists.txt", f"# {WORD} is it?\n", [1]),
    ("a.txt", f"# {WORD} is it?\n", []),
    ("a.md", f"# {WORD} is it\n\nRows.\n{WORD} is it?\n", [1, 4]),
    ("a.md", f"Rows. {WORD} is it?\n- {WORD} is it?\n", [1, 2]),
    ("a.md", f"| {WORD} | rows |\n| rows | {WORD} is it? |\n", [2]),
    ("a.md", f"```\n{WORD} is it?\n```\n**{WORD}.** Rows.\n", []),
]


class Prose(unittest.TestCase):
    def setUp(self) -> None:
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.root = Path(scratch.name)

    def tree(self, files: dict[str, str]) -> Tree:
        for name, text in files.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return Tree(self.root)

    def test_sentences(self) -> None:
        for name, text, wanted in PLACES:
            with self.subTest(name=name, text=text):
                self.setUp()
                found = prose.places(self.tree({f"perf/{name}": text}))
                self.assertEqual([line for _, _, line in found], wanted)

    def test_columns(self) -> None:
        lines = ("x" * 80, "x" * 81, f'#include "{"x" * 80}"')
        tree = self.tree({"perf/a.h": "\n".join(lines), "perf/generated/b.h": lines[1]})
        self.assertEqual(list(prose.places(tree)), [("columns", "perf/a.h", 2)])

    def test_debts_only_fall(self) -> None:
        tree = self.tree({"perf/a.h": "x" * 81, "gradcheck/text/case/b.h": "x" * 81})
        held = {("columns", "perf"): 1, ("columns", "gradcheck/text"): 1}
        for debts, subjects in (
            (held, []),
            ({**held, ("columns", "perf"): 0}, ["perf", "perf/a.h:1"]),
            ({**held, ("columns", "perf"): 2}, ["perf"]),  # fewer than stated
            ({**held, ("sentences", "gone"): 1}, ["gone"]),
        ):
            found = [subject for subject, _ in prose.faults(tree, debts)]
            self.assertEqual(found, subjects)
        moved = {("columns", "perf"): 0, ("columns", "gone"): 2}
        self.assertEqual(prose.read_debts(prose.accepted(tree, moved)), held)
        self.assertEqual(prose.accepted(tree, {("columns", "perf"): 1}), "")


if __name__ == "__main__":
    unittest.main()
