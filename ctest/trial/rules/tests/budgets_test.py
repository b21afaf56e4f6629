# SPDX-License-Identifier: Apache-2.0
"""The bodies of C++ are found whatever their heads look like."""

from __future__ import annotations

import unittest

from budgets import bodies, sizes
from scratch import ScratchTest

BODIES = [
    ("int F() {\n}\n", [("function", 1, 2)]),
    ("template <class T>\nT F(\n    T x) {\n}\n", [("function", 1, 4)]),
    ("bool operator()(int x) const {\n}", [("function", 1, 2)]),
    ("bool operator==(const A& x) {\n}", [("function", 1, 2)]),
    ("auto F = [](int x) {\n};", [("function", 1, 2)]),
    ("void F() {\n  if (x) {\n  }\n  auto y = [] {\n  };\n}", [("function", 1, 6)]),
    ("A::A(int x)\n    : x_{x},\n      y_(x) {\n}", [("function", 1, 4)]),
    ("namespace a {\nclass B {\n  int F() {\n  }\n};\n}",
     [("function", 3, 4), ("class", 2, 5)]),
    ("struct A : B<C>,\n           D {\n};", [("class", 1, 3)]),
    ("template <>\nclass A<B> {\n};", [("class", 1, 3)]),
    ("class [[nodiscard]] A {\n};", [("class", 1, 2)]),
    ("constexpr A kRows[] = {\n  {1},\n};\nenum class E {\n  kA,\n};", []),
    ('auto s = R"(struct A {)";\nclass B;\nusing C = D<E{1}>;', []),
]


class Budgets(ScratchTest):
    def test_bodies(self) -> None:
        for text, wanted in BODIES:
            with self.subTest(text):
                self.assertEqual(list(bodies(text)), wanted)

    def test_the_rows_of_a_test_are_data(self) -> None:
        body = "  const Row rows[] = {\n" + "      {1},\n" * 5 + "  };\n}\n"
        for head, lines in (("TEST(A, B)", 4), ("void F()", 9)):
            with self.subTest(head):
                tree = self.tree({"perf/a.cc": f"{head} {{\n{body}"})
                found = {size.kind: size.lines for size in sizes(tree)}
                self.assertEqual(found, {"file": 9, "function": lines})


if __name__ == "__main__":
    unittest.main()
