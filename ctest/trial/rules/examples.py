# SPDX-License-Identifier: Apache-2.0
"""The examples in the openings of headers compile.

    python3 ctest/trial/rules/examples.py COMPILER BUILD_DIRECTORY [OPTION]...

An example is what stands three spaces deep, as above; what stands deeper is a
formula or a file. It is compiled in its header's namespace: as declarations when
it begins like one, as members of a visitor when it overrides, or else as the
body of a function. Variables that it takes for given, by the style of lower case,
need no declaration: a second pass declares them as an Anything (examples_test.h),
so that the compiler checks each call that has one, and clang-tidy, where it is
given, the comments that name arguments. Three dots stand for anything.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from build_tree import BuildTree
from choice import Choice, parser_of
from owed import Owed
from remembered import Check, Memory, errors_of, version_of
from sources import VENDORS, Fault, Tree, folder, is_test, reached, report

PRELUDE = "ctest/trial/rules/examples_test.h"
_SAMPLED = 2
_PRIVATE = re.compile(r"/onnx_(reader|writer)|/gen_|/proto_text\.h")
_DECLARES = re.compile(
    r"(//.*\n)*(class |struct |template |namespace |constexpr |const bool k"
    r"|ASSAY_REGISTER_BACKEND|ASSAY_REGISTER_COMMUNICATOR|ASSAY_MISDEED"
    r"|(?!if|for|while|return)[\w:<>]+ \w+\(.*\) \{\n)"
)
_ROOM = re.compile(r"^namespace assay::(\w+) \{", re.MULTILINE)
_NAMESPACE = re.compile(r"^namespace (?:\[\[.*?\]\] )?([\w:]+(?:inline v1)?)", re.M)
# An error, with the notes that explain it.
_ERROR = re.compile(
    r"^([^:\s]+):(\d+):\d+: (?:fatal )?error: (.*\n(?:(?![^:\s]+:\d+:\d+: (?:fatal )?"
    r"error: ).*\n)*)",
    re.MULTILINE,
)
_GIVEN = re.compile(r"'([a-z][a-z0-9_]*)' was not declared in this scope")
_LAMBDA = re.compile(r"(\](?: ?\([^()]*\))?) \{ *\.\.\. *\}")
_MEMBER = re.compile(r"(?:\.|->)([A-Za-z]\w*)")
# An overload cannot be chosen by an Anything, nor a braced list be given to one.
_NOT_CHECKED = re.compile(
    r"call of overloaded '.*example::Anything.*' is ambiguous"
    r"|conversion from 'example::Anything' to .* is ambiguous"
    r"|no match for call to '\(example::Anything\) .*<brace-enclosed"
)
_NO_FUNCTION = re.compile(r"no matching function for call to '(.*)'\n")
_CANDIDATE = re.compile(r"note: candidate: '(.*)'\n")
_DEDUCED = re.compile(r"note:   .*(example::Anything|couldn't deduce template)")


_NAMED = re.compile(r"/\*\w+=\*/")
_NAMES = "bugprone-argument-comment"
_LINE = re.compile(r'#line (\d+) "(.*)"')
_SOURCE = "{source}"  # in a command: the file


@dataclass(frozen=True)
class Example:
    header: str
    line: int
    text: str


def _given(code: str, rooms: Set[str]) -> str:
    """`op` and the rooms are namespaces; variables of their names are given."""
    names = "|".join(sorted({"op", *rooms}))
    return re.sub(rf"(?<![.>:\w])({names})\b(?!::)", r"\1_", code)


def examples_of(header: str, text: str, rooms: Set[str] = frozenset()) -> list[Example]:
    """The C++ of the opening; sentences divide it into examples."""
    found: list[Example] = []
    lines: list[str] = []
    begun, first = "", 0

    def end() -> None:
        code = _given("\n".join(lines).rstrip(), rooms)
        if code:
            found.append(Example(header, first, code))
        lines.clear()

    for number, line in enumerate(text.split("\n")[1:], 2):
        if not line.startswith("//"):
            break
        if not line.startswith("//   "):
            begun = ""
            if line.startswith("// "):
                end()
        elif not begun:
            begun = "text" if line.startswith("//    ") else "code"
            if begun == "code" and not lines:
                first = number
        if begun == "code" or lines:
            lines.append(line[5:] if begun == "code" else "")
    end()
    return found


def _anything(code: str) -> str:
    """Three dots are all of a body, a statement or a value."""
    code = _LAMBDA.sub(r"\1 { return Anything(); }", code)
    code = re.sub(r"\{ *\.\.\. *\}|\{ \.\.\.$", lambda m: m[0].replace("...", ""), code)
    code = re.sub(r"^(\s*)\.\.\.(\s*//.*)?$", r"\1;", code, flags=re.MULTILINE)
    code = re.sub(r"\) \.\.\.( *//.*)?$", ") {}", code, flags=re.MULTILINE)
    return code.replace("...", "Anything()")


def compiled(
    example: Example, namespace: str, index: int, given: Set[str] = frozenset()
) -> str:
    code = _anything(example.text)
    if _DECLARES.match(code):
        before, after = "", ""
    elif " override {" in code:
        before = "struct Example : OperatorVisitor { using OperatorVisitor::Visit;"
        after = "};"
    else:
        before = "[[maybe_unused]] Anything Example() {"
        after = "return Anything(); }"
    names = "".join(f"extern Anything {name}; " for name in sorted(given))
    return (
        f"namespace {namespace} {{ namespace example_{index} {{\n"
        f"using namespace example; {names}{before}\n"
        f'#line {example.line} "{example.header}"\n{code}\n{after}}} }}\n'
    )


def _batch_of(name: str) -> str:
    """A whole folder, whose headers are read once, where all names of its rooms can
    stand together; else the one in it; in the reference a room, since Value is a
    function in one and a type in another."""
    depth = 2
    if name.startswith(("conformance/", "gradcheck/")):
        depth = 1
    elif name.startswith("backends/reference"):
        depth = 3
    return "/".join(folder(name).split("/")[:depth])


def is_private(name: str) -> bool:
    return bool("/generated/" in name or is_test(name) or _PRIVATE.search(name))


@dataclass
class Batch:
    """Examples that are compiled together, and the headers that stand before."""

    examples: list[Example] = field(default_factory=list)
    headers: list[str] = field(default_factory=list)
    namespaces: dict[str, str] = field(default_factory=dict)  # by header

    def source(self, given: Mapping[Example, Set[str]]) -> str:
        text = "".join(example.text for example in self.examples)
        # Those of a Result among them, which macros ask for.
        members = sorted({*_MEMBER.findall(text), "ok", "status"} - {"begin", "end"})
        listed = "".join(f"{name}, " for name in members)
        parts = [f'#include "{name}"\n' for name in self.headers]
        parts += [f"#define ASSAY_EXAMPLE_MEMBERS {listed}\n#include \"{PRELUDE}\"\n"]
        if re.search(r"EXPECT_|ASSERT_", text):
            parts.append("#include <gtest/gtest.h>\n")
        for index, example in enumerate(self.examples):
            namespace = self.namespaces[example.header]
            names = given.get(example, set())
            parts.append(compiled(example, namespace, index, names))
        return "".join(parts)

    def at(self, header: str, line: int) -> Example | None:
        """The example that a line of a header lies in."""
        for example in self.examples:
            last = example.line + example.text.count("\n")
            if example.header == header and example.line <= line <= last:
                return example
        return None

    def given(self, errors: str) -> Mapping[Example, Set[str]]:
        """The names that each example takes for given, by the errors of a pass."""
        found: dict[Example, set[str]] = defaultdict(set)
        for header, line, message in _ERROR.findall(errors):
            name = _GIVEN.match(message)
            example = self.at(header, int(line))
            if name and example:
                found[example].add(name[1])
        return found


def batches(tree: Tree) -> dict[str, Batch]:
    found: dict[str, Batch] = defaultdict(Batch)
    rooms = set()
    for name in tree.sources:
        rooms |= set(_ROOM.findall(tree.text(name)))
    for name in tree.sources:
        if not name.endswith(".h") or is_private(name):
            continue
        batch = found[_batch_of(name)]
        batch.headers.append(name)
        space = _NAMESPACE.search(tree.text(name))
        # Without its `inline`, which stands at the first opening only.
        # A vendor's source says `using namespace assay`.
        none = "assay::vendor" if name.startswith(VENDORS) else "none"
        batch.namespaces[name] = space[1].replace("::inline", "") if space else none
        batch.examples += examples_of(name, tree.text(name), rooms)
    return {name: batch for name, batch in found.items() if batch.examples}


def arguments(signature: str) -> int:
    """The number of them in the last parentheses, those of a function."""
    depth, found, text = 0, 0, signature[: signature.rindex(")") + 1]
    for i, letter in enumerate(reversed(text)):
        depth += (letter in ")>]}") - (letter in "(<[{")
        found += letter == "," and depth == 1
        if depth == 0 and letter == "(":
            return found + (i > 1)
    return 0


def _is_checked(message: str) -> bool:
    """False where an Anything keeps the compiler from finding the function: where
    a template with so many parameters cannot be deduced from one."""
    call = _NO_FUNCTION.match(message)
    if not call:
        return not _NOT_CHECKED.match(message)
    _, *candidates = _CANDIDATE.split(message)
    return not any(
        _DEDUCED.search(notes)
        and ("..." in signature or arguments(signature) == arguments(call[1]))
        for signature, notes in zip(candidates[::2], candidates[1::2], strict=True)
    )


def faults_of(batch: Batch, errors: str) -> Iterator[Fault]:
    """In a function of ours that an example calls, an Anything says nothing."""
    for name, line, message in _ERROR.findall(errors):
        if batch.at(name, int(line)) is None and "example::" in message:
            continue
        if _is_checked(message):
            yield name, f"line {line}: {message.splitlines()[0]}"


def _errors(root: Path, command: list[str], source: str) -> str:
    said, code = errors_of(root, command, source)
    if code and not _ERROR.search(said):
        return f"examples:0:0: error: {said[:500]}\n"
    return said


def _place(source: str, line: int) -> str:
    """The header and the line that a line of the source comes from."""
    before = source.split("\n")[:line]
    for number in range(line, 0, -1):
        if found := _LINE.match(before[number - 1]):
            return f"{found[2]} {int(found[1]) + line - number - 1}"
    return "examples 0"


def wrong_names(root: Path, tidy: list[str], source: str) -> Iterator[Fault]:
    """Comments that name another argument than the one that they stand before."""
    if not _NAMED.search(source):
        return
    with tempfile.NamedTemporaryFile("w", suffix=".cc") as file:
        file.write(source)
        file.flush()
        words = [word.replace(_SOURCE, file.name) for word in tidy]
        done = subprocess.run(words, cwd=root, capture_output=True, text=True)
        finding = re.compile(rf"^{file.name}:(\d+):\d+: \w+: (.*{_NAMES}.*)", re.M)
        for number, what in finding.findall(done.stdout):
            header, line = _place(source, int(number)).split()
            yield header, f"line {line}: {what}"


def look(
    root: Path, command: list[str], tidy: list[str], batch: Batch
) -> list[Fault]:
    source = batch.source({})
    errors = _errors(root, command, source)
    if given := batch.given(errors):
        source = batch.source(given)
        errors = _errors(root, command, source)
    names = wrong_names(root, tidy, source) if tidy else ()
    return [*faults_of(batch, errors), *names]


def checks(
    tree: Tree, compiler: str, flags: Iterable[str], tidy: str = ""
) -> dict[str, Check]:
    # In C the messages have plain quotes.
    command = ["env", "LC_ALL=C", compiler, "-fsyntax-only", "-x", "c++", "-"]
    shared = ["-std=c++20", "-w", *flags, "-I."]
    named = [tidy, "--config={}", f"--checks=-*,{_NAMES}", _SOURCE, "--"]
    checked = [*named, *shared] if tidy else []
    return {
        name: Check(
            name,
            sorted(reached(tree.included, [*batch.headers, PRELUDE])),
            partial(look, tree.root, [*command, *shared], checked, batch),
            about=" ".join([*command, *shared, tidy, batch.source({})]),
        )
        for name, batch in batches(tree).items()
    }


def main() -> int:
    parser = parser_of(__doc__)
    parser.add_argument("--tidy", default="", help="clang-tidy")
    options = parser.parse_args()
    build = BuildTree(options.build)
    tree = Tree(Path("."), build.leaves_out)
    every = checks(tree, options.program, build.include_flags(), options.tidy)
    choice = Choice(tree, options.all)
    wanted = {name for name in every if choice.changed & set(every[name].read)}
    chosen = choice.of(every, wanted, _SAMPLED)
    memory = Memory(build.folder / "rules/examples", version_of(options.program))
    found = memory.run(every[name] for name in chosen)
    return report(
        list(Owed.of(tree).filter("example", found, whole=options.all)),
        f"the examples of {len(chosen)} of {len(every)} folders compile",
    )


if __name__ == "__main__":
    sys.exit(main())
