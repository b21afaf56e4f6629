# SPDX-License-Identifier: Apache-2.0
"""Where the bodies of functions stand; tokens are tried by random/change_test.py."""

from __future__ import annotations

import unittest

from source import function_bodies


def bodies(source: str) -> list[str]:
    return [source[body.begin : body.end] for body in function_bodies(source)]


class FunctionBodies(unittest.TestCase):
    # Kills: a brace of a comment, a literal or a macro that counts as one of the code.
    def test_braces_of_other_than_code_do_not_count(self) -> None:
        for text in (
            "// {\n",
            "/* {\n */",
            '"{\\"}"',
            "'{'",
            "'\\''",
            "1'000'000 + 0xF'F",
            'R"q()" {)q"',
            "\n#define A { \\\n {\n",
            "\n  # if {\n",
        ):
            self.assertEqual(bodies(f"void F() {{{text}}}"), [text])

    def test_bodies_are_those_of_functions_at_any_depth_of_scopes(self) -> None:
        for source, wanted in (
            (
                "int F(int n) { if (n) { G(); } return 1; }",
                [" if (n) { G(); } return 1; "],
            ),
            (
                "namespace a::b { namespace { void F() {1} } void G(){2} }",
                ["1", "2"],
            ),
            (
                "class A final : public B { public: A(int a) : a_(a), b_{a} {1} "
                "int F() const override {2} bool operator==(const A&) const = "
                "default; auto G() noexcept -> std::vector<int> {3} int a_ = 0, "
                "b_{0}; };",
                ["1", "2", "3"],
            ),
            ("template <class T>\nResult<T> F(T&& t) & {1}", ["1"]),
            ("const auto kF = [](int n) {1};", ["1"]),
        ):
            self.assertEqual(bodies(source), wanted)

    # Kills: a table or a list of enumerators that passes for a function.
    def test_lists_are_no_bodies(self) -> None:
        for source in (
            "const int kAll[] = {1, 2};",
            "enum class A : int { kB, kC };",
            "std::map<int, int> M() ; int a = F(b) + C{2};",
            "struct A { int b; };",
            "std::array<int, F(3)> kA = {1};",
        ):
            self.assertEqual(bodies(source), [], source)

    def test_braces_that_do_not_match_are_refused(self) -> None:
        with self.assertRaisesRegex(ValueError, "found 2 open braces at the end"):
            bodies("void F() { {")
        with self.assertRaisesRegex(ValueError, "closing brace that nothing opened"):
            bodies("void F() {}}")


if __name__ == "__main__":
    unittest.main()
