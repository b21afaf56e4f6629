# SPDX-License-Identifier: Apache-2.0
"""Each row is a page of a small tree, and what must be found in it."""

from __future__ import annotations

import tempfile
import unittest
from pathlib import Path

from pages import faults
from sources import Tree

ROWS = [
    ("a file, a folder, a unit", "`perf/a.cc` [a](../perf/a.cc) `perf/a`", None),
    ("a link to nothing", "[gone](gone.md)", "links to gone.md"),
    ("a path to nothing", "see `perf/gone.h`", "names perf/gone.h"),
    ("a function", "`perf/a.cc`: `Run`,\n`Stop`", None),
    ("a function that is gone", "`perf/a.cc`: `Run`,\n`Go`", "names Go"),
    ("a function of a file that is gone", "`b/b.cc`: `Run`", "names Run"),
    ("a part of a name", "`perf/a.cc`: `Sto`", "names Sto"),
    ("what stands for others", "`perf/ROOM/NAME.cc` `perf/generated/a.h`", None),
    ("another site", "[x](https://example.org/a)", None),
    ("code", "```\n`perf/gone.h`\n```", None),
]


class PagesTest(unittest.TestCase):
    def test_faults(self) -> None:
        for about, text, wanted in ROWS:
            with self.subTest(about), tempfile.TemporaryDirectory() as folder:
                root = Path(folder)
                (root / "perf").mkdir()
                (root / "perf/a.cc").write_text("Run(); Stop();", encoding="utf-8")
                page = root / "perf/page.md"
                page.write_text(text, encoding="utf-8")
                found = list(faults(Tree(root)))
                self.assertEqual(len(found), 0 if wanted is None else 1, found)
                self.assertIn(wanted or "", "".join(what for _, what in found))


if __name__ == "__main__":
    unittest.main()
