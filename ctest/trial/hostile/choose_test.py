# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import unittest
from pathlib import Path

from choose import chosen, names_in

_NAMES = {
    "crash.cc": ["abort", "segfault", "kill_group"],
    "hang.cc": ["sleep"],
    "at_load.cc": ["door", "throws"],
}


class ChooseTest(unittest.TestCase):
    def test_a_commit_draws_one_of_each_file(self) -> None:
        for commit in ("", "abc", "def"):
            choice = chosen(_NAMES, set(), commit)
            self.assertEqual(choice, chosen(_NAMES, set(), commit))
            self.assertEqual(len(choice), 3)
            for of_file in _NAMES.values():
                self.assertEqual(len(set(of_file) & set(choice)), 1)

    def test_commits_draw_each_in_time(self) -> None:
        drawn = {n for i in range(64) for n in chosen(_NAMES, set(), str(i))}
        self.assertEqual(drawn, {n for names in _NAMES.values() for n in names})

    def test_a_changed_file_is_tried_whole_and_once(self) -> None:
        choice = chosen(_NAMES, {"crash.cc", "README.md"}, "abc")
        self.assertEqual(len(choice), 5)
        self.assertEqual(len(set(choice)), 5)
        self.assertLessEqual(set(_NAMES["crash.cc"]), set(choice))

    def test_all_behaviours_of_the_tree_are_found(self) -> None:
        names = names_in(Path(__file__).parent / "behaviours")
        self.assertGreaterEqual(len(names), 12)
        self.assertGreaterEqual(sum(map(len, names.values())), 136)
        of_times = names_in(Path(__file__).parent / "forged_times")
        self.assertGreaterEqual(sum(map(len, of_times.values())), 21)


if __name__ == "__main__":
    unittest.main()
