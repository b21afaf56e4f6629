# SPDX-License-Identifier: Apache-2.0
"""Each row is a page of a small tree, and what must be found in it."""

from __future__ import annotations

import tempfile
import unittest
from pathlib import Path

from pages import _TOPS, faults_of, pages

ROWS = [
    ("a file, a folder, a unit", "`{top}/a.cc` [a](../{top}/a.cc) `{top}/a`", None),
    ("a link to nothing", "[gone](gone.md)", "links to gone.md"),
    ("a path to nothing", "see `{top}/gone.h`", "names {top}/gone.h"),
    ("a function", "`{top}/a.cc`: `Run`,\n`Stop`", None),
    ("a function that is gone", "`{top}/a.cc`: `Run`,\n`Go`", "names Go"),
    ("a function of a file that is gone", "`b/b.cc`: `Run`", "names Run"),
    ("a part of a name", "`{top}/a.cc`: `Sto`", "names Sto"),
    ("what stands for others", "`{top}/ROOM/NAME.cc` `{top}/generated/a.h`", None),
    ("another site", "[x](https://example.org/a)", None),
    ("code", "```\n`{top}/gone.h`\n```", None),
]


class PagesTest(unittest.TestCase):
    def test_faults_are_found_in_every_folder(self) -> None:
        for top in _TOPS:
            for about, text, wanted in ROWS:
                with (
                    self.subTest(top=top, about=about),
                    tempfile.TemporaryDirectory() as to,
                ):
                    root = Path(to)
                    (root / top).mkdir()
                    (root / top / "a.cc").write_text("Run(); Stop();", encoding="utf-8")
                    page = root / top / "page.md"
                    page.write_text(text.format(top=top), encoding="utf-8")
                    found = [f for p in pages(root) for f in faults_of(root, p)]
                    self.assertEqual(len(found), 0 if wanted is None else 1, found)
                    self.assertIn((wanted or "").format(top=top), "".join(found))


if __name__ == "__main__":
    unittest.main()
