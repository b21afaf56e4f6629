# SPDX-License-Identifier: Apache-2.0
"""Each row is a page of a small tree, and what must be found in it."""

from __future__ import annotations

import unittest

from pages import faults
from scratch import ScratchTest

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


class PagesTest(ScratchTest):
    def test_faults(self) -> None:
        for about, text, wanted in ROWS:
            with self.subTest(about):
                files = {"perf/a.cc": "Run(); Stop();", "perf/page.md": text}
                found = list(faults(self.tree(files)))
                self.assertEqual(len(found), 0 if wanted is None else 1, found)
                self.assertIn(wanted or "", "".join(what for _, what in found))


if __name__ == "__main__":
    unittest.main()
