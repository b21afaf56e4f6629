# SPDX-License-Identifier: Apache-2.0
"""The examples in the openings of headers compile.

    python3 ctest/trial/rules/examples.py COMPILER BUILD_DIRECTORY

An example is what stands three spaces deep, as above; what stands deeper is a
formula or a file. It is compiled in its header's namespace: as declarations when
it begins like one, as members of a visitor when it overrides, or else as the
body of a function. Variables that it takes for given, by the style of lower case,
need no declaration, but what examples.h declares is checked by its type. Three
dots stand for anything.
"""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from collections.abc import Iterator, Set
from dataclasses import dataclass
from pathlib import Path

from build_tree import BuildTree
from owed import Owed
from remembered import DEPENDENCIES, Check, Memory, version_of
from sources import Tree, folder, is_test

_PRELUDE = "ctest/trial/rules/examples_test.h"
_PRIVATE = re.compile(r"/onnx_(reader|writer)|/gen_|/proto_text\.h")
_DECLARES = re.compile(
    r"(//.*\n)*(class |struct |template |namespace |constexpr |const bool k"
    r"|ASSAY_REGISTER_BACKEND|ASSAY_REGISTER_COMMUNICATOR|ASSAY_MISDEED"
    r"|(?!if|for|while|return)[\w:<>]+ \w+\(.*\) \{\n)"
)
_ROOM = re.compile(r"^namespace assay::(\w+) \{", re.MULTILINE)
_NAMESPACE = re.compile(r"^namespace (?:\[\[.*?\]\] )?([\w:]+(?:inline v1)?)", re.M)
_ERROR = re.compile(r"^([^:\s]+):(\d+):\d+: (?:fatal )?error: (.*)", re.MULTILINE)
_GIVEN = re.compile(
    r"^'[a-z][a-z0-9_]*' "
    r"(was not declared in this scope|is not captured|has not been declared)"
)


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
    code = re.sub(r"\{ *\.\.\. *\}|\{ \.\.\.$", lambda m: m[0].replace("...", ""), code)
    code = re.sub(r"^(\s*)\.\.\.(\s*//.*)?$", r"\1;", code, flags=re.MULTILINE)
    code = re.sub(r"\) \.\.\.( *//.*)?$", ") {}", code, flags=re.MULTILINE)
    return code.replace("...", "Anything()")


def compiled(example: Example, namespace: str, index: int) -> str:
    code = _anything(example.text)
    if _DECLARES.match(code):
        before, after = "", ""
    elif " override {" in code:
        before = "struct Example : OperatorVisitor { using OperatorVisitor::Visit;"
        after = "};"
    else:
        before = "[[maybe_unused]] Anything Example() {"
        after = "return Anything(); }"
    return (
        f"namespace {namespace} {{ namespace example_{index} {{\n"
        f"using namespace example; {before}\n"
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


def batches(tree: Tree) -> dict[str, list[Example]]:
    """The examples that are compiled together."""
    found: dict[str, list[Example]] = defaultdict(list)
    rooms = set()
    for name in tree.sources:
        rooms |= set(_ROOM.findall(tree.text(name)))
    for name in tree.sources:
        if not name.endswith(".h") or is_private(name):
            continue
        if examples := examples_of(name, tree.text(name), rooms):
            found[_batch_of(name)] += examples
    return found


def source_of(tree: Tree, examples: list[Example]) -> str:
    batch = _batch_of(examples[0].header)
    parts = [
        f'#include "{name}"\n'
        for name in tree.sources
        if name.endswith(".h") and _batch_of(name) == batch and not is_private(name)
    ]
    parts.append(f'#include "{_PRELUDE}"\n')
    if any(re.search(r"EXPECT_|ASSERT_", e.text) for e in examples):
        parts.append("#include <gtest/gtest.h>\n")
    for index, example in enumerate(examples):
        found = _NAMESPACE.search(tree.text(example.header))
        # Without its `inline`, which stands at the first opening only.
        namespace = found[1].replace("::inline", "") if found else "example"
        parts.append(compiled(example, namespace, index))
    return "".join(parts)


def faults_of(text: str, code: int) -> Iterator[tuple[str, str]]:
    errors = _ERROR.findall(text)
    for name, line, message in errors:
        if not _GIVEN.match(message):
            yield name, f"line {line}: {message}"
    if code and not errors:
        yield "examples", text[:500]


def main() -> int:
    compiler, build = sys.argv[1], BuildTree(Path(sys.argv[2]))
    tree = Tree(Path("."), build.leaves_out)
    # In C the messages have plain quotes.
    command = ["env", "LC_ALL=C", compiler, "-std=c++20", "-w", "-fsyntax-only"]
    command += build.include_flags()
    command += ["-I.", "-x", "c++", "-MD", "-MF", DEPENDENCIES, "-MT", "x", "-"]
    # One set of owed lines for all batches: a fault may lie in any of them.
    found: list[tuple[str, str]] = []

    def gather(text: str, code: int) -> list[str]:
        faults = list(faults_of(text, code))
        found.extend(faults)
        return [f"{name}: {what}" for name, what in faults]

    all_batches = batches(tree)
    memory = Memory(build.folder / "rules/examples", version_of(compiler))
    memory.run(
        Check(name, command, stdin=source_of(tree, examples), faults=gather)
        for name, examples in all_batches.items()
    )
    owed = Owed.read(tree.root / "ctest/trial/rules/owed.txt")
    faults = list(owed.filter("example", sorted(found)))
    number = sum(map(len, all_batches.values()))
    print("\n".join(faults) or f"{number} examples compile")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
