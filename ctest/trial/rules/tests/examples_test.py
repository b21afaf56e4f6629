# SPDX-License-Identifier: Apache-2.0
"""An example is found, wrapped, and compiled a second time with what it takes for
given; errors count where a compiler can know."""

from __future__ import annotations

import unittest

from examples import Batch, Example, arguments, compiled, examples_of, faults_of

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
    ("run([] { ... });", "run([] { return Anything(); });"),
    ("if (x) { ... }", "if (x) {  }"),
    ("return f(...);  // x", "return f(Anything());"),
]

FIRST = """a.h:3:1: error: 'rows' was not declared in this scope
a.h:4:1: error: 'MakePlan' was not declared in this scope
a.h:9:1: error: 'beyond' was not declared in this scope
b.h:5:1: error: 'struct Plan' has no member named 'Shard'
b.h:5:2: note: here
"""

BATCH = Batch([Example("a.h", 3, "Use(rows);\nMakePlan();"), Example("b.h", 5, "x")])

# The errors of the second pass, and whether they count.
ERRORS = [
    ("a.h:4:1: error: 'MakePlan' was not declared in this scope\n", True),
    ("a.h:3:1: error: too few arguments to function 'int F(int, int)'\n", True),
    (
        "a.h:3:1: error: no matching function for call to 'F(example::Anything&)'\n"
        "a.h:1:9: note: candidate: 'template<class T> int F(T, T)'\n"
        "a.h:1:9: note:   candidate expects 2 arguments, 1 provided\n",
        True,
    ),
    (
        "a.h:3:1: error: no matching function for call to 'F(example::Anything&)'\n"
        "a.h:1:9: note: candidate: 'template<class T> int F(map<int, T>)'\n"
        "a.h:1:9: note:   'example::Anything' is not derived from 'map<int, T>'\n",
        False,
    ),
    (
        "a.h:3:1: error: no matching function for call to 'F(example::Anything&)'\n"
        "a.h:1:9: note: candidate: 'template<class T> int F(span<T>, T)'\n"
        "a.h:1:9: note:   'example::Anything' is not derived from 'span<T>'\n",
        True,
    ),
    ("a.h:3:1: error: call of overloaded 'F(example::Anything)' is ambiguous\n", False),
    ("a.h:3:1: error: call of overloaded 'F(int)' is ambiguous\n", True),
    # In the function that the example calls.
    ("a.h:40:1: error: 'example::Anything' has no member named 'x'\n", False),
    ("a.h:40:1: error: 'struct Plan' has no member named 'x'\n", True),
]


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
        given = BATCH.given(FIRST)
        self.assertEqual(given, {BATCH.examples[0]: {"rows"}})
        text = compiled(BATCH.examples[0], "assay::v1", 0, given[BATCH.examples[0]])
        self.assertIn("extern Anything rows; [[maybe", text)

    def test_the_number_of_arguments(self) -> None:
        for signature, number in (
            ("F()", 0),
            ("int A<B, C>::F(map<int, int>&)", 1),
            ("template<class A, class B> A F(B (*)(A, A), A) const", 2),
        ):
            self.assertEqual(arguments(signature), number)

    def test_errors_that_say_something(self) -> None:
        for text, counts in ERRORS:
            with self.subTest(text):
                self.assertEqual(len(list(faults_of(BATCH, text))), int(counts))


if __name__ == "__main__":
    unittest.main()
