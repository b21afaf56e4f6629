# SPDX-License-Identifier: Apache-2.0
"""The files that a rule which takes long looks at: with --all each one, else those
that changed since the last green night, what that reaches, and a sample that the
commit draws.

    options = parser_of(__doc__).parse_args()
    choice = Choice(tree, options.all)
    for name in choice.of(names, choice.reached, sampled=12):
        ...
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Set
from functools import cached_property
from pathlib import Path

from sources import Tree, reached

sys.path.append(str(Path(__file__).parents[1]))

from changed import changed_since, head_of, sample


def parser_of(doc: str | None) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=doc, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("program", help="the compiler, or clang-tidy")
    parser.add_argument("build", type=Path, help="folder of a configured build")
    parser.add_argument("--all", action="store_true", help="looks at every file")
    return parser


class Choice:
    def __init__(self, tree: Tree, whole: bool) -> None:
        self.tree = tree
        self.whole = whole

    @cached_property
    def changed(self) -> Set[str]:
        return changed_since(self.tree.root).files or frozenset()

    @cached_property
    def reached(self) -> Set[str]:
        """The files that changed, and all that include them."""
        return reached(self.tree.including, self.changed)

    def of(self, names: Iterable[str], wanted: Set[str], sampled: int) -> list[str]:
        """Those of the names that are wanted, and as many more as are sampled."""
        every = sorted(names)
        if self.whole:
            return every
        drawn = sample(every, sampled, head_of(self.tree.root))
        return [name for name in every if name in wanted or name in drawn]
