# SPDX-License-Identifier: Apache-2.0
"""Tests of guide.py: what a page is taken for, and what is seen to be wrong."""

from __future__ import annotations

import tempfile
import unittest
from pathlib import Path

import guide

_PAGE = """# A page

`greeting.txt`:

```text
hello
```

`greeting.txt`, at its end:

```text
world
```

```sh
cat greeting.txt
```

```text
hello
wor...
```

```cpp
int not_a_step;
```
"""


class GuideTest(unittest.TestCase):
    def faults(self, page: str) -> list[str]:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "page.md"
            file.write_text(page, encoding="utf-8")
            return guide.run(file, Path(folder))

    def test_files_and_commands_hold(self) -> None:
        self.assertEqual(len(guide.steps_of(_PAGE)), 3)
        self.assertEqual(self.faults(_PAGE), [])

    def test_what_does_not_hold_is_named(self) -> None:
        for about, page, wanted in (
            ("another text", _PAGE.replace("wor...", "moon"), "not printed: moon"),
            ("another order", _PAGE.replace("hello\nw", "wor...\nhel"), "not printed"),
            ("a command that fails", _PAGE.replace("cat", "false"), "exit code 1"),
            ("no commands", "# nothing\n", "has no commands"),
        ):
            with self.subTest(about):
                self.assertIn(wanted, "\n".join(self.faults(page)))

    def test_a_folder_is_copied_and_a_file_linked(self) -> None:
        with tempfile.TemporaryDirectory() as tree, tempfile.TemporaryDirectory() as to:
            room, folder = Path(tree) / "room", Path(to)
            room.mkdir()
            (room / "note.txt").write_text("before", encoding="utf-8")
            guide.put(room, folder)
            guide.put(room / "note.txt", folder)
            (folder / "room/note.txt").write_text("after", encoding="utf-8")
            self.assertEqual((folder / "note.txt").read_text("utf-8"), "before")


if __name__ == "__main__":
    unittest.main()
