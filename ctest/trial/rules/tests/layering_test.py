# SPDX-License-Identifier: Apache-2.0
"""Each row is a small tree of its own and the faults that must be found."""

from __future__ import annotations

import unittest

from layering import Layers, faults
from scratch import ScratchTest
from sources import circles

LAYERS = """
# rooms from top to bottom
| framework/testing/support

[framework/cli] framework/core
run  . | framework/testing/case
.    framework/graph/*

[framework]
testing/case core
testing/support core
graph/reader graph core
graph        core | graph/reader
core
"""

GOOD = {
    "framework/cli/run/run.cc": "framework/cli/commands.h framework/core/status.h",
    "framework/cli/run/run_test.cc": "framework/testing/case/case.h",
    "framework/cli/commands.h": "framework/graph/reader/reader.h",
    "framework/testing/case/case.h": "framework/core/status.h",
    "framework/testing/case/case_fixture.h": "framework/core/status.h",
    "framework/graph/reader/reader.h": "framework/graph/model.h",
    "framework/graph/model_test.cc": "framework/graph/reader/reader.h "
    "framework/testing/support/tensors_fixture.h",
    "framework/testing/support/tensors_fixture.h": "framework/core/status.h",
    "framework/graph/model.h": "framework/core/status.h",
    "framework/core/status.h": "",
    "backends/acme/README.md": "",
}

ROWS = [
    ("nothing", {}, []),
    (
        "an include of vendors, from a room that may not",
        {"framework/graph/model.h": "assay/backend.h"},
        ["framework/graph may not include framework/include/assay/backend.h"],
    ),
    (
        "an include that is not allowed",
        {"framework/cli/run/run.cc": "framework/cli/x.h framework/graph/model.h"},
        ["run.cc:2: framework/cli/run may not include framework/graph/model.h"],
    ),
    (
        "an include of tests, in a source",
        {"framework/cli/run/run.cc": "framework/testing/case/case.h"},
        ["framework/cli/run may not include framework/testing/case/case.h"],
    ),
    (
        "an include of all tests, in a source",
        {"framework/graph/model.h": "framework/testing/support/tensors_fixture.h"},
        [
            "framework/graph may not include framework/testing/support/tensors_fixture",
            "model.h:1: only tests may include a fixture",
        ],
    ),
    (
        "a room of a room, at any depth",
        {"framework/graph/model.h": "framework/graph/reader/deep/er/x.h"},
        ["framework/graph may not include framework/graph/reader/deep/er/x.h"],
    ),
    (
        "a folder that the table does not know",
        {"framework/train/loss.h": "framework/core/status.h"},
        ["loss.h:1: framework/train is not in layers.txt"],
    ),
    (
        "a circle of units of one room",
        {
            "framework/core/a.h": "framework/core/b.h",
            "framework/core/b.cc": "framework/core/c.h",
            "framework/core/c.h": "framework/core/a.h",
        },
        ["each other: framework/core/a framework/core/b framework/core/c"],
    ),
    (
        "a fixture in a source",
        {"framework/testing/case/case.cc": "framework/testing/case/case_fixture.h"},
        ["case.cc:1: only tests may include a fixture"],
    ),
    (
        "protobuf in a public header",
        {"framework/graph/model.h": "google/protobuf/message.h"},
        ["model.h: includes what no public header may"],
    ),
    (
        "a vendor's name in shared code",
        {"framework/core/status.cc": '=  return name == "acme";'},
        ["status.cc:1: names a backend"],
    ),
    (
        "a vendor's name in a comment and in a test",
        {
            "framework/core/status.cc": '=  // --backend "acme"',
            "framework/core/status_test.cc": '=  Load("acme");',
        },
        [],
    ),
]


def text_of(content: str) -> str:
    """Includes of these headers, or the text behind "="."""
    if content.startswith("="):
        return content[1:]
    quoted = [f"<{h}>" if h.startswith("assay/") else f'"{h}"' for h in content.split()]
    return "".join(f"#include {header}\n" for header in quoted)


class Layering(ScratchTest):
    def found_in(self, files: dict[str, str], layers: str = LAYERS) -> list[str]:
        texts = {name: text_of(content) for name, content in files.items()}
        return faults(self.tree(texts), Layers(layers))

    def test_each_fault_is_found_and_nothing_else(self) -> None:
        for name, changed, wanted in ROWS:
            with self.subTest(name):
                found = self.found_in(GOOD | changed)
                self.assertEqual(len(found), len(wanted), found)
                for line, part in zip(found, wanted):
                    self.assertIn(part, line)

    def test_the_table_has_no_arrow_up_and_names_what_is_there(self) -> None:
        layers = LAYERS.replace("core | graph/reader", "core graph/reader gone")
        found = self.found_in(GOOD, layers.replace("run  .", "gone\nrun  ."))
        for part in (
            "framework/graph: framework/graph/reader stands above it",
            "framework/graph: there is no room framework/gone",
            "there is no room framework/cli/gone",
        ):
            self.assertTrue(any(part in line for line in found), found)

    def test_a_circle_is_a_set_of_nodes_that_reach_each_other(self) -> None:
        arrows = {"a": {"b"}, "b": {"c", "d"}, "c": {"b"}, "d": {"e"}, "e": set()}
        self.assertEqual(circles(arrows), [["b", "c"]])


if __name__ == "__main__":
    unittest.main()
