# SPDX-License-Identifier: Apache-2.0
"""The changes of one token, or of one statement, that a C++ source admits and that a
test should see:

    operator   < <=   > >=   == !=   && ||   + -   * /   & |   ++ --   += -=
    constant   0 1   n n + 1   true false
    statement  f();             ->  ;
    condition  if (a < b)       ->  if (!(a < b))
    return     int F() { G();   ->  int F() { return {}; G();
    value      return x;        ->  return {};

    for change in changes_of(source):
        print(change.kind, changed(source, change))

The source is read as tokens and not parsed, so that some of the changes do not compile.
"""

from __future__ import annotations

import re
from collections.abc import Container
from dataclasses import dataclass

from source import tokens_of

_PAIRS = "< <=  > >=  == !=  && ||  + -  * /  & |  += -=  &= |=  ++ --  true false"
_SIDES = _PAIRS.split()
_SWAPS = dict(zip(_SIDES[::2], _SIDES[1::2])) | dict(zip(_SIDES[1::2], _SIDES[::2]))
_TRIVIAL = {"{}", "0", "false", "nullptr", "std::nullopt", "OkStatus()", '""'}
_SCOPES = {"namespace", "class", "struct", "union", "enum"}
_LABELS = {"case", "default", "public", "private", "protected"}
# The tokens before the opening brace of a body; the first tokens of statements that
# declare something or are not drawn; the tokens after the first name of a statement
# that does something.
_BODY = ") ; else do try const noexcept override mutable"
_OTHER = (
    "case goto throw static const constexpr auto using typedef template class struct"
    " continue delete"
)
_DEED = "( . -> [ = += -= *= /= |= &= ^= %= <<= >>= ++ -- << ;"
_BODIES, _OTHERS, _DEEDS = (set(words.split()) for words in (_BODY, _OTHER, _DEED))


@dataclass(frozen=True)
class Change:
    kind: str
    at: int  # the first character of the text that goes
    size: int  # of that text; 0 where something is only added
    replacement: str
    line: int  # from 1


def _another(constant: str) -> str:
    """The constant that takes the place of another."""
    bit = re.fullmatch(r"([01])([uUlLzZ]*)", constant)
    if bit:
        return ("1" if bit[1] == "0" else "0") + bit[2]
    return f"({constant} + 1)"


class _Tokens:
    """The tokens of a source, and the brackets among them."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.tokens = tokens_of(source)
        self.close: dict[int, int] = {}  # by the bracket that opens
        opened: list[int] = []
        for i, token in enumerate(self.tokens):
            if token.text in ("(", "[", "{"):
                opened.append(i)
            elif token.text in (")", "]", "}") and opened:
                self.close[opened.pop()] = i

    def text(self, i: int) -> str:
        """Empty where there is no token."""
        return self.tokens[i].text if 0 <= i < len(self.tokens) else ""

    def is_word(self, i: int) -> bool:
        return i < len(self.tokens) and self.tokens[i].kind == "word"

    def find(self, first: int, last: int, texts: Container[str]) -> int:
        """The first token that is one of these, or the last."""
        while first < last and self.text(first) not in texts:
            first += 1
        return first

    def text_of(self, first: int, last: int) -> str:
        return self.source[self.tokens[first].at : self.tokens[last - 1].end]


class _Walk(_Tokens):
    """Walks over the tokens and keeps in mind which statement each is part of."""

    def __init__(self, source: str) -> None:
        super().__init__(source)
        self.changes: list[Change] = []
        self.statement = 0  # its first token
        # An expression, a scope or a body, and the statement that it stands in.
        self.opened: list[tuple[str, int]] = []
        for i in range(len(self.tokens)):
            self.visit(i)

    @property
    def in_expression(self) -> bool:
        return bool(self.opened) and self.opened[-1][0] == "expression"

    @property
    def in_scope(self) -> bool:
        """Where functions are declared, and not within one."""
        return not self.opened or self.opened[-1][0] == "scope"

    def add(self, kind: str, at: int, size: int, replacement: str) -> None:
        line = self.source.count("\n", 0, at) + 1
        self.changes.append(Change(kind, at, size, replacement, line))

    def add_for(self, kind: str, first: int, last: int, replacement: str) -> None:
        size = len(self.text_of(first, last))
        self.add(kind, self.tokens[first].at, size, replacement)

    def visit(self, i: int) -> None:
        text = self.text(i)
        if self.text(self.statement) not in ("static_assert", "using"):
            self.change_token(i)
        if text in ("if", "while"):
            self.change_condition(i)
        if text in ("(", "["):
            self.opened.append(("expression", self.statement))
        elif text in (")", "]"):
            self.leave(i)
        elif text == "{":
            self.enter_brace(i)
        elif text == "}":
            self.leave_brace(i)
        elif not self.in_expression:
            self.walk_statement(i)

    def leave(self, i: int) -> None:
        if self.opened:
            self.opened.pop()
        # The statement after if (...) is one of its own.
        if (
            not self.in_expression
            and self.text(i) == ")"
            and self.text(self.statement) in ("if", "for", "while", "switch")
        ):
            self.statement = i + 1

    def enter_brace(self, i: int) -> None:
        kind = "expression"
        parameters = self.find(self.statement, i, ("(",))
        if (
            self.in_scope
            and parameters == i
            and self.find(self.statement, i, _SCOPES) != i
        ):
            kind = "scope"
        elif self.opens_body(i):
            if self.in_scope:
                self.change_function(i, parameters)
            kind = "body"
        self.opened.append((kind, self.statement))
        if kind != "expression":
            self.statement = i + 1

    def leave_brace(self, i: int) -> None:
        if not self.opened:
            return
        kind, statement = self.opened.pop()
        goes_on = kind == "expression" or self.in_expression
        self.statement = statement if goes_on else i + 1

    def opens_body(self, i: int) -> bool:
        """A brace that opens statements and not the elements of a value."""
        if i == self.statement:
            return not self.in_expression
        before = self.text(i - 1)
        if before in _BODIES or (before == "]" and self.in_expression):
            return True
        # The type after an arrow, as in [] -> Result<int> {
        first = i
        while first > self.statement and (
            self.is_word(first - 1)
            or self.text(first - 1) in ("::", "<", ">", "*", "&")
        ):
            first -= 1
        arrow = (self.text(first - 2), self.text(first - 1))
        return first < i and arrow == (")", "->")

    def walk_statement(self, i: int) -> None:
        text = self.text(i)
        if text == ";":
            if not self.in_scope:
                self.change_statement(i)
            self.statement = i + 1
        elif (text == ":" and self.text(self.statement) in _LABELS) or (
            text in ("else", "do") and i == self.statement
        ):
            self.statement = i + 1

    def change_token(self, i: int) -> None:
        token = self.tokens[i]
        if token.kind == "number":
            self.add_for("constant", i, i + 1, _another(token.text))
        elif token.text in ("true", "false"):
            self.add_for("constant", i, i + 1, _SWAPS[token.text])
        elif token.text in _SWAPS and (token.apart or token.text in ("++", "--")):
            self.add_for("operator", i, i + 1, _SWAPS[token.text])

    def change_condition(self, i: int) -> None:
        at = i + 2 if self.text(i + 1) == "constexpr" else i + 1
        if self.text(at) != "(" or at not in self.close:
            return
        last = self.close[at]
        first = k = at + 1
        while k < last:
            if self.text(k) in ("(", "[", "{"):
                k = self.close[k]
            elif self.text(k) == ";":
                first = k + 1
            elif self.text(k) == "=" and self.find(k, last, (";",)) == last:
                return  # declares what it asks
            k += 1
        if first < last:
            self.add_for("condition", first, last, f"!({self.text_of(first, last)})")

    def change_function(self, i: int, parameters: int) -> None:
        if parameters == self.statement or self.text(i + 1) in ("return", "}"):
            return
        name = parameters - 1
        before = self.text(name - 1)
        if (
            name == self.statement
            or before in ("explicit", "~")
            or (before == "::" and self.text(name - 2) == self.text(name))
        ):
            return  # a constructor
        nothing = self.find(self.statement, parameters, ("void",))
        returns = nothing == parameters or self.text(nothing + 1) == "*"
        at = self.tokens[i].end
        self.add("return", at, 0, " return {};" if returns else " return;")

    def change_statement(self, i: int) -> None:
        """At the semicolon that ends a statement."""
        first = self.statement
        if self.text(first) == "return":
            if first + 1 < i and self.text_of(first + 1, i) not in _TRIVIAL:
                self.add_for("value", first + 1, i, "{}")
        elif self.is_deed(i) and not self.ends_switch(i):
            self.add_for("statement", first, i, "")

    def ends_switch(self, i: int) -> bool:
        """A break behind which its switch ends, where control goes anyway."""
        if self.text(self.statement) != "break" or self.text(i + 1) != "}":
            return False
        brace = self.opened[-1][1]
        heads = [first for first, last in self.close.items() if last == brace - 1]
        return any(self.text(head - 1) == "switch" for head in heads)

    def is_deed(self, i: int) -> bool:
        """It does something, and declares nothing."""
        k = self.statement
        if self.text(k) in ("break", "continue"):
            return True
        if self.text(k) in _OTHERS:
            return False
        while k < i and self.text(k) in ("++", "--", "*"):
            k += 1
        if not self.is_word(k):
            return False
        while self.is_word(k) and self.text(k + 1) == "::":
            k += 2
        return self.text(k + 1) in _DEEDS


def changes_of(source: str) -> list[Change]:
    """In the order of the source, at most one of each kind for a place."""
    return sorted(_Walk(source).changes, key=lambda change: change.at)


def changed(source: str, change: Change) -> str:
    """The source with the change in it. It has as many lines as before."""
    end = change.at + change.size
    gone = source[change.at : end]
    lines = gone.count("\n") - change.replacement.count("\n")
    return source[: change.at] + change.replacement + "\n" * lines + source[end:]
