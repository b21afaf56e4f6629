# SPDX-License-Identifier: Apache-2.0
"""Sentences of mutants, where their texts stand, and sources that have many in them."""

from __future__ import annotations

import subprocess
import unittest
from pathlib import Path

from harness_mutant import HarnessMutant, mutated, parse_harness_mutants, schema_of
from scratch import ScratchTest

_ROOT = Path(__file__).resolve().parents[3]
_HEAD = (
    "# a comment\n"
    "mutant a of limit in x/a.cc\n"
    '  killed by unit/x:A.* because "nothing is \\"out\\""\n'
)
_SOURCE = """
#include <cstdio>
int Half(int n) { return n / 2; }
int Twice(int n) {
  int twice = 2 * n;
  return twice;
}
int main() { std::printf("%d %d", Half(6), Twice(6)); }
"""


def mutant(name: str, find: str, replacement: str = "") -> HarnessMutant:
    return HarnessMutant(name, file="f.cc", find=find, replacement=replacement)


class Lists(unittest.TestCase):
    def test_a_sentence_and_its_texts_are_read(self) -> None:
        a, b = parse_harness_mutants(
            f"{_HEAD}- n += a;\n- n += b;\n+ n += 0;\n\n"
            'mutant b of limit in y.cc killed by program because "y"\n- z'
        )
        self.assertEqual(
            a,
            HarnessMutant(
                *("a", "limit", "x/a.cc", "unit/x", "A.*", 'nothing is "out"'),
                find=" n += a;\n n += b;",
                replacement=" n += 0;",
            ),
        )
        self.assertEqual((b.killer, b.filter, b.replacement), ("program", "", ""))

    # Kills: a list that is read up to its first fault, or past it.
    def test_what_is_no_sentence_is_named_with_its_line(self) -> None:
        for text, message in (
            ("- x", "line 1: found no mutant before"),
            ("mutant a of b\n- x", "line 2: found '', wanted in"),
            (
                'mutant a of b in c killed by d because "e"\n- x',
                "line 2: found the killer 'd', wanted unit/NAME, program or nobody",
            ),
            (
                "mutant a of b in c killed by program because e\n- x",
                "line 2: found 'e', wanted a reason in quotes",
            ),
            (
                'mutant a of b in c killed by program because "e" f\n- x',
                "wanted a reason in quotes",
            ),
            (f"{_HEAD}- x\n{_HEAD}- y", "line 8: a is there a second time"),
            (f"{_HEAD}+ x", "a says no text to find"),
            (f"{_HEAD}+ x\nmutant b of c", "line 5: a says no text to find"),
        ):
            with self.assertRaises(ValueError, msg=text) as raised:
                parse_harness_mutants(text)
            self.assertIn(message, str(raised.exception))

    def test_every_mutant_of_the_tree_has_its_place(self) -> None:
        text = Path(__file__).with_name("harness.txt").read_text(encoding="utf-8")
        mutants = parse_harness_mutants(text)
        self.assertEqual(len(mutants), text.count("\nmutant "))
        for file in {one.file for one in mutants}:
            source = (_ROOT / file).read_text(encoding="utf-8")
            schema_of([one for one in mutants if one.file == file], source)


class Places(unittest.TestCase):
    def test_blanks_and_line_breaks_match_each_other(self) -> None:
        found = mutated(
            mutant("m", " if (a) b();", "c();"), "x;\n  if (a)\n    b();\ny;\n"
        )
        self.assertEqual(found, "x;\n  c();\ny;\n")

    # Kills: a mutant that no longer is one and passes for killed.
    def test_a_text_that_is_not_there_once_is_refused(self) -> None:
        for source, message in (
            ("b; ab", "mutant m: found its text 0 times in f.cc"),
            ("a; a;", "mutant m: found its text 2 times in f.cc"),
            ("", "0 times"),
        ):
            with self.assertRaisesRegex(ValueError, message):
                mutated(mutant("m", " a;"), source)


class Schemas(ScratchTest):
    # Kills: a mutant that is never on, or always, or that another one is on with.
    def test_each_mutant_is_on_by_its_name_and_none_by_default(self) -> None:
        schema = schema_of(
            (
                mutant("half_is_third", " return n / 2;", " return n / 3;"),
                mutant("twice_is_same", " 2 * n", " n"),
                mutant("twice_is_one_more", " return twice;", " return twice + 1;"),
            ),
            _SOURCE,
        )
        source, program = self.write("f.cc", schema), self.root / "f"
        subprocess.run(
            ["c++", "-std=c++20", f"-I{_ROOT}", source, "-o", program], check=True
        )
        for on, printed in (
            (None, "3 12"),
            ("", "3 12"),
            ("half", "3 12"),
            ("half_is_third", "2 12"),
            ("twice_is_same", "3 6"),
            ("twice_is_one_more", "3 13"),
        ):
            setting = {} if on is None else {"ASSAY_MUTANT": on}
            done = subprocess.run(
                [program], env=setting, capture_output=True, text=True, check=True
            )
            self.assertEqual(done.stdout, printed, on)

    # Kills: a change that no function takes, and that would be lost.
    def test_a_text_outside_of_a_function_is_refused(self) -> None:
        for find, message in (
            (" int Half(int n)", "mutant m: its text in f.cc is not within the body"),
            (" return n / 2; } int Twice(int n) {", "is not within the body"),
            (" n", "mutant m: found its text"),
        ):
            with self.assertRaisesRegex(ValueError, message):
                schema_of([mutant("m", find)], _SOURCE)

    def test_without_mutants_the_source_stays(self) -> None:
        self.assertIn(_SOURCE, schema_of((), _SOURCE))


if __name__ == "__main__":
    unittest.main()
