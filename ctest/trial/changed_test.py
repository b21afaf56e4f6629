# SPDX-License-Identifier: Apache-2.0
"""Files that changed since a green night, in repositories of their own."""

from __future__ import annotations

import subprocess
import unittest
from datetime import date

from changed import Changed, changed_since, describe, head_of, sample
from scratch import ScratchTest


class Repositories(ScratchTest):
    def setUp(self) -> None:
        super().setUp()
        self.git("init", "--quiet")
        for name in ("kept", "edited", "moved", "deleted"):
            self.write(name, f"{name}\n")
        self.write(".gitignore", "ignored\n")
        self.green = self.commit()

    def git(self, *words: str) -> str:
        who = ("-c", "user.name=A", "-c", "user.email=a@example.com")
        return subprocess.run(
            ["git", "-C", str(self.root), *who, *words],
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()

    def commit(self) -> str:
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", "test: change")
        return self.git("rev-parse", "HEAD")

    def name(self, commit: str) -> None:
        line = f"{commit} 2026-11-29\n" if commit else ""
        self.write("ctest/trial/nightly.txt", f"# a comment\n{line}")

    def test_files_that_differ_are_gone_or_new(self) -> None:
        self.name(self.green)
        self.write("edited", "other\n")
        self.git("mv", "moved", "there")
        self.commit()
        (self.root / "deleted").unlink()
        self.write("new file", "")
        self.write("ignored", "")
        found = changed_since(self.root)
        wanted = {"edited", "moved", "there", "deleted", "new file"}
        self.assertEqual(found.files, wanted | {"ctest/trial/nightly.txt"})
        self.assertEqual((found.commit, found.day), (self.green, "2026-11-29"))

    def test_states_in_which_they_are_not_known(self) -> None:
        self.name("")
        self.assertIn("names no commit", changed_since(self.root).reason)
        self.name("0" * 40)
        self.assertIn("not in this history", changed_since(self.root).reason)
        self.git("checkout", "--quiet", "--orphan", "other")
        self.name(self.green)
        self.commit()
        self.assertIn("not in this history", changed_since(self.root).reason)
        below = self.root / "archive"
        self.write("archive/ctest/trial/nightly.txt", f"{self.green} 2026-11-29\n")
        self.assertIn("no git repository", changed_since(below).reason)
        for root in (self.root, below):
            self.assertIsNone(changed_since(root).files)
        self.assertEqual(head_of(below), "")

    def test_a_sample_is_that_of_the_seed(self) -> None:
        items = [f"mutant {i}" for i in range(100)]
        first = sample(items, 10, self.green)
        self.assertEqual(first, sample(reversed(items), 10, self.green))
        self.assertEqual(first, sorted(set(first)))
        self.assertNotEqual(first, sample(items, 10, "another"))
        self.assertLess(set(first), set(sample(items, 11, self.green)))
        self.assertEqual(sample(items[:3], 10, ""), sorted(items[:3]))

    def test_a_line_for_a_person(self) -> None:
        day = date(2026, 12, 1)
        for changed, wanted in (
            (changed_since(self.root), "none (ctest/trial/nightly.txt names no"),
            (Changed("abc", "2026-11-29", frozenset("ab")), "2 days ago, 2 files"),
            (Changed("abc", "2026-11-30", reason="gone"), "1 days ago (gone)"),
        ):
            self.assertIn(wanted, describe(changed, day))


if __name__ == "__main__":
    unittest.main()
