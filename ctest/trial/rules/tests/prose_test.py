# SPDX-License-Identifier: Apache-2.0
"""Sentences are found in each kind of file, and lines that are too long."""

from __future__ import annotations

import unittest

import prose
from scratch import ScratchTest

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


class Prose(ScratchTest):
    def test_sentences(self) -> None:
        for name, text, wanted in PLACES:
            with self.subTest(name=name, text=text):
                tree = self.tree({f"perf/{name}": text})
                found = [place for place, _ in prose.faults(tree)]
                self.assertEqual(found, [f"perf/{name}:{line}" for line in wanted])

    def test_columns(self) -> None:
        lines = ("x" * 80, "x" * 81, f'#include "{"x" * 80}"')
        tree = self.tree({"perf/a.h": "\n".join(lines), "perf/generated/b.h": lines[1]})
        found = list(prose.faults(tree))
        self.assertEqual(found, [("perf/a.h:2", "is over 80 columns")])


if __name__ == "__main__":
    unittest.main()
