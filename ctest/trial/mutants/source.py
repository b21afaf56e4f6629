# SPDX-License-Identifier: Apache-2.0
"""A C++ source as tokens, as far as a change of it needs them, and where the bodies of
its functions stand, by its braces alone.

    for token in tokens_of("if (a <= 1) b();"):
        print(token.text)
    for body in function_bodies(source):
        print(source[body.begin : body.end])
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

# Comments and preprocessor lines are skipped. The longer symbols stand first, since
# the first that fits is taken.
_TOKEN = re.compile(
    r"""
    (?: //|\# ) (?: [^\n]*\\\n )* [^\n]* \n? | /\* .*? (?: \*/ | \Z ) | [ \n\t]+
    | (?P<text> R"(?P<mark>[^(]*)\( .*? (?: \)(?P=mark)" | \Z )
                | "(?: \\. | [^"\\] )*"? | '(?: \\. | [^'\\] )*'? )
    | (?P<number> 0x (?: [\w.'] | (?<=p)[+-] )* | [0-9] (?: [\w.'] | (?<=e)[+-] )* )
    | (?P<word> \w+ )
    | (?P<symbol> <=>|<<=|>>=|\.\.\.|::|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||\+=|-=|\*=
                  |/=|%=|&=|\|=|\^=|. )
    """,
    re.VERBOSE | re.DOTALL | re.ASCII,
)
_SPACES = frozenset(" \n\t")


class Token(NamedTuple):
    kind: str  # word, number, text or symbol
    text: str
    at: int  # its first character in the source
    # A blank stands before it and one after it, as clang-format has it for an operator
    # of two sides and not for the angle bracket of a template.
    apart: bool

    @property
    def end(self) -> int:
        return self.at + len(self.text)


class Range(NamedTuple):
    """A range of characters, without the one at the end."""

    begin: int
    end: int


def tokens_of(source: str) -> list[Token]:
    tokens = []
    for match in _TOKEN.finditer(source):
        if kind := match.lastgroup:
            begin, end = match.span()
            apart = (
                source[begin - 1 : begin] in _SPACES
                and source[end : end + 1] in _SPACES
            )
            tokens.append(Token(kind, match[0], begin, apart))
    return tokens


_CLASSES = frozenset(("class", "struct", "union", "enum"))
_QUALIFIERS = frozenset(
    ("const", "noexcept", "override", "final", "mutable", "&", "&&")
)


def _opened(head: Sequence[str]) -> str:
    """A brace after these tokens opens this: a scope, which is a namespace or a class,
    a function or something other. Between the parameters of a function and its body
    stand no more than qualifiers and its type. Right after a block stands nothing but
    the body of a constructor whose last member has braces."""
    is_call = ")" in head
    if not {"namespace", "extern"}.isdisjoint(head) or (
        not is_call and not _CLASSES.isdisjoint(head)
    ):
        return "scope"
    if not head:
        return "function"
    if not is_call:
        return "other"
    behind = head[len(head) - list(reversed(head)).index(")") :]
    if "->" in behind:
        behind = behind[: list(behind).index("->")]
    return "function" if _QUALIFIERS.issuperset(behind) else "other"


def function_bodies(source: str) -> list[Range]:
    """Text between the braces of each function, in order: those in namespaces and in
    classes, and lambdas that are there, but none within another function. A value error
    where braces do not match."""
    bodies: list[Range] = []
    opened: list[str] = []
    head: list[str] = []  # of what the next brace opens
    for token in tokens_of(source):
        if token.text == "{":
            is_in_scope = not opened or opened[-1] == "scope"
            opened.append(_opened(head) if is_in_scope else "other")
            if opened[-1] == "function":
                bodies.append(Range(token.end, token.end))
        elif token.text == "}":
            if not opened:
                raise ValueError("found a closing brace that nothing opened")
            if opened.pop() == "function":
                bodies[-1] = bodies[-1]._replace(end=token.at)
        elif token.text != ";":
            head.append(token.text)
            continue
        head = []
    if opened:
        raise ValueError(f"found {len(opened)} open braces at the end, wanted none")
    return bodies
