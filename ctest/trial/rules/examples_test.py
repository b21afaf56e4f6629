# SPDX-License-Identifier: Apache-2.0
"""What is taken for an example, how it is wrapped, which errors count."""

from __future__ import annotations

import unittest

from examples import Example, compiled, examples_of, faults_of

HEADER = """// SPDX
//
// Tensor: bytes.
//
//   Tensor x = ...;
//
//   Use(x);
//
// A table is no example:
//
//     x   y
//
// But this is, and apart:
//
//   Print(op.x);

#ifndef A
//   Not(this);
"""

WRAPPED = [
    ("class A {};", "{ namespace example_7 {\nusing namespace example; \n"),
    ("int F() {\n  return 1;\n}", "using namespace example; \n"),
    ("if (a) {\n}", "Anything Example() {"),
    ("Result<Kernel> Visit() override {\n}", "struct Example : OperatorVisitor"),
    ("for (...) ...", "for (Anything()) {}"),
    ("run([] { ... });", "run([] {  });"),
    ("return f(...);  // x", "return f(Anything());"),
]

ERRORS = """a.h:3:1: error: 'rows' was not declared in this scope
a.h:4:1: error: 'MakePlan' was not declared in this scope
b.h:5:1: error: 'struct Plan' has no member named 'Shard'
b.h:5:2: note: here
"""


class Examples(unittest.TestCase):
    def test_only_the_opening_and_sentences_divide(self) -> None:
        self.assertEqual(
            examples_of("a.h", HEADER),
            [
                Example("a.h", 5, "Tensor x = ...;\n\nUse(x);"),
                Example("a.h", 15, "Print(op_.x);"),
            ],
        )

    def test_it_stands_where_its_kind_may(self) -> None:
        for code, wanted in WRAPPED:
            with self.subTest(code):
                text = compiled(Example("a.h", 9, code), "assay::v1", 7)
                self.assertIn(wanted, text)
                self.assertIn('#line 9 "a.h"\n', text)

    def test_variables_are_given_and_nothing_else(self) -> None:
        self.assertEqual(
            list(faults_of(ERRORS, 1)),
            [
                ("a.h", "line 4: 'MakePlan' was not declared in this scope"),
                ("b.h", "line 5: 'struct Plan' has no member named 'Shard'"),
            ],
        )
        self.assertEqual(list(faults_of("", 0)), [])
        self.assertEqual(next(iter(faults_of("g++: killed", 1)))[0], "examples")


if __name__ == "__main__":
    unittest.main()
