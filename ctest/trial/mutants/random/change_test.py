# SPDX-License-Identifier: Apache-2.0
"""Sources, and all that they may become."""

from __future__ import annotations

import sys
import unittest
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))

from change import changed, changes_of

_ROWS: list[tuple[str, list[str]]] = [
    # operators
    ("bool b = x < y;", ["bool b = x <= y;"]),
    ("bool b = x <= y;", ["bool b = x < y;"]),
    ("bool b = x > y;", ["bool b = x >= y;"]),
    ("bool b = x >= y;", ["bool b = x > y;"]),
    ("bool b = x == y;", ["bool b = x != y;"]),
    ("bool b = x != y;", ["bool b = x == y;"]),
    ("bool b = x && y;", ["bool b = x || y;"]),
    ("bool b = x || y;", ["bool b = x && y;"]),
    ("int b = x + y;", ["int b = x - y;"]),
    ("int b = x * y;", ["int b = x / y;"]),
    ("int b = x & y;", ["int b = x | y;"]),
    ("int b = -x % y << z;", []),
    ("for (;; ++i) n -= i;", ["for (;; --i) n -= i;", "for (;; ++i) n += i;"]),
    # what only looks like one
    ("vector<int> v; T&& x = f<T>(*p, &q);", []),
    ("template <class T> void F(T&&... t);", []),
    ("#define A 1 + \\\n  2\n// a < b\n/* a < b */", []),
    ("auto t = \"a < b\\\" + 1\"; auto c = '\\'';", []),
    ('auto t = R"x(a < 1")x";', []),
    ("static_assert(sizeof(int) == 4);", []),
    # constants
    ("int x = 0;", ["int x = 1;"]),
    ("auto x = 1U;", ["auto x = 0U;"]),
    ("int x = 10;", ["int x = (10 + 1);"]),
    (
        "double x = 0x1p-3 - 1.5e+2;",
        [
            "double x = (0x1p-3 + 1) - 1.5e+2;",
            "double x = 0x1p-3 + 1.5e+2;",
            "double x = 0x1p-3 - (1.5e+2 + 1);",
        ],
    ),
    ("bool x = true;", ["bool x = false;"]),
    ("bool x = false;", ["bool x = true;"]),
    # statements, in the body of a function only
    ("void F() {}", []),
    ("int a; F(b);", []),
    ("void F() { g(a); }", ["void F() { return; g(a); }", "void F() { ; }"]),
    ("F::F() { x.g(a, {b}); }", ["F::F() { ; }"]),
    ("F::F() { ns::g([&] { return; }); }", ["F::F() { ; }"]),
    (
        "F::F() { if (a) b = c; else d(); }",
        [
            "F::F() { if (!(a)) b = c; else d(); }",
            "F::F() { if (a) ; else d(); }",
            "F::F() { if (a) b = c; else ; }",
        ],
    ),
    (
        "F::F() { switch (a) { case kB: c(); break; default: d(); } }",
        [
            "F::F() { switch (a) { case kB: ; break; default: d(); } }",
            "F::F() { switch (a) { case kB: c(); ; default: d(); } }",
            "F::F() { switch (a) { case kB: c(); break; default: ; } }",
        ],
    ),
    # no break that only the end of its switch follows
    ("F::F() { switch (a) { case kB: break; } }", []),
    (
        "F::F() { for (;;) { if (a) { break; } } }",
        [
            "F::F() { for (;;) { if (!(a)) { break; } } }",
            "F::F() { for (;;) { if (a) { ; } } }",
        ],
    ),
    ("F::F() { T a; T b(c); T* d = e; auto f = g(); std::set<T> h; }", []),
    ("F::F() { f(a,\n  b,\n  c); }", ["F::F() { \n\n; }"]),
    # conditions
    ("F::F() { while (a(b, c)) { } }", ["F::F() { while (!(a(b, c))) { } }"]),
    ("F::F() { if constexpr (a) { } }", ["F::F() { if constexpr (!(a)) { } }"]),
    (
        "F::F() { if (T b = c; !b.ok()) { } }",
        ["F::F() { if (T b = c; !(!b.ok())) { } }"],
    ),
    ("F::F() { if (const T* b = c()) { } }", []),
    # early returns and other values
    (
        "int F() { T a; return a; }",
        ["int F() { return {}; T a; return a; }", "int F() { T a; return {}; }"],
    ),
    ("void* F(T (*g)(void)) { T a; }", ["void* F(T (*g)(void)) { return {}; T a; }"]),
    ("class A { A(T a) { T b; } explicit A(T a) { T b; } ~A() { T b; } };", []),
    (
        "namespace n { struct A { bool F() const { T a; } }; }",
        ["namespace n { struct A { bool F() const { return {}; T a; } }; }"],
    ),
    ("int F() { return {}; }", []),
    ("bool F() { return a; }", ["bool F() { return {}; }"]),
    ("S F() { return OkStatus(); }", []),
    (
        "F::F() { auto g = [](T a) -> R<T> { return a; }; }",
        ["F::F() { auto g = [](T a) -> R<T> { return {}; }; }"],
    ),
    (
        "F::F() { g(T{a, b}, [&] { h(); }); }",
        ["F::F() { ; }", "F::F() { g(T{a, b}, [&] { ; }); }"],
    ),
]


class Changes(unittest.TestCase):
    # Kills: an operator, a constant or a statement that is never drawn; a template, a
    # comment, a text or a declaration that is.
    def test_they_are_those_of_the_table(self) -> None:
        for source, wanted in _ROWS:
            found = [changed(source, change) for change in changes_of(source)]
            self.assertEqual(found, wanted, source)

    # Kills: an equivalent one or a survivor that is said to be on another line.
    def test_lines_are_counted_from_one_and_stay_where_they_are(self) -> None:
        source = "int x = 2;\n\nF::F() {\n  f(a,\n    b);\n  g(c);\n}\n"
        changes = changes_of(source)
        self.assertEqual([change.line for change in changes], [1, 4, 6])
        for change in changes:
            self.assertEqual(changed(source, change).count("\n"), 7)


if __name__ == "__main__":
    unittest.main()
