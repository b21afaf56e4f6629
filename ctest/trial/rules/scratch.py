# SPDX-License-Identifier: Apache-2.0
"""A test with a folder of its own, which it fills with small files.

    class Sizes(ScratchTest):
        def test_a_long_line(self) -> None:
            found = faults(self.tree({"perf/a.h": "x" * 81}))
"""

from __future__ import annotations

import tempfile
import unittest
from collections.abc import Mapping
from pathlib import Path

from sources import Tree


class ScratchTest(unittest.TestCase):
    root: Path

    def setUp(self) -> None:
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.root = Path(scratch.name).resolve()

    def write(self, name: str, text: str) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def tree(self, files: Mapping[str, str]) -> Tree:
        """These files alone, in another folder than those before."""
        ScratchTest.setUp(self)
        for name, text in files.items():
            self.write(name, text)
        return Tree(self.root)
