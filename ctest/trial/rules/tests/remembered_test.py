# SPDX-License-Identifier: Apache-2.0
"""A file is looked at again when something that it reads has changed."""

from __future__ import annotations

import contextlib
import io
import unittest
from functools import partial

from remembered import Check, Memory, digest_of
from scratch import ScratchTest
from sources import Fault


class Remembered(ScratchTest):
    def setUp(self) -> None:
        super().setUp()
        for name in ("a.h", "b.h", "both.h"):
            self.write(name, "sound\n")

    def seen(self, about: str = "", command: str = "") -> tuple[list[str], int]:
        """The files that were looked at, and the number of faults. Sound is what has
        that word."""
        seen: list[str] = []
        digest_of.cache_clear()

        def look(name: str) -> list[Fault]:
            seen.append(name)
            text = (self.root / name).read_text(encoding="utf-8")
            return [] if "sound" in text else [(name, "is not sound")]

        checks = [
            Check(
                name,
                [str(self.root / name), str(self.root / "both.h")],
                partial(look, name),
                command,
            )
            for name in ("a.h", "b.h")
        ]
        with contextlib.redirect_stdout(io.StringIO()):
            faults = Memory(self.root / "memory", about).run(checks)
        return sorted(seen), len(faults)

    def test_only_what_a_file_or_its_headers_changed_is_looked_at(self) -> None:
        self.assertEqual(self.seen(), (["a.h", "b.h"], 0))
        self.assertEqual(self.seen(), ([], 0))
        self.write("a.h", "sound again\n")
        self.assertEqual(self.seen(), (["a.h"], 0))
        self.write("both.h", "other\n")
        self.assertEqual(self.seen(), (["a.h", "b.h"], 0))
        self.assertEqual(self.seen("version 2"), (["a.h", "b.h"], 0))
        self.assertEqual(self.seen("version 2", "-Wall"), (["a.h", "b.h"], 0))

    def test_a_fault_is_not_remembered(self) -> None:
        self.write("b.h", "broken\n")
        self.assertEqual(self.seen(), (["a.h", "b.h"], 1))
        self.assertEqual(self.seen(), (["b.h"], 1))


if __name__ == "__main__":
    unittest.main()
