# SPDX-License-Identifier: Apache-2.0
"""The section on ranks in Chromium: what opens, what links find, narrow pages."""

import tempfile
import unittest
from pathlib import Path
from typing import Any

from assay_report.page import render_page
from assay_report.run_folder import read_run
from browser import CHROMIUM, browse
from distributed_test import GOSSIP, OWN, TRAIN, failed_ranks
from synthetic import RunFiles

READ = """
await main();
const section = document.querySelector('.ranks');
const faults = () => [...section.querySelectorAll('.fault')].map((one) => one.open);
const found = (query) => {
  const mask = page.store.search(parseQuery(query));
  return [...mask.keys()].filter((k) => mask[k]).map((k) =>
    `${page.store.ids[page.store.rowOf(k)]} ${
      page.store.backends[page.store.columnOf(k)]}`);
};
const page = {store: new Store(await unpack('data-matrix'))};
"""


def seen(files: RunFiles, script: str, **options: Any) -> Any:
    with tempfile.TemporaryDirectory() as scratch:
        page = render_page(read_run(files.write(Path(scratch))))
    return browse(page, READ + script, **options)


@unittest.skipUnless(CHROMIUM, "no chromium on this machine")
class RanksScriptTest(unittest.TestCase):
    def test_square_opens_the_list_of_its_fails(self) -> None:
        found = seen(
            failed_ranks(),
            """
            const before = faults();
            const button = section.querySelector('[data-opens="rank-fault-3"]');
            button.click();
            return [before, faults(), document.activeElement.tagName,
              document.activeElement.parentElement.id,
              section.querySelectorAll('.shown').length];
            """,
        )
        opened = [True, True, True]
        self.assertEqual(
            found, [[True, True, False], opened, "SUMMARY", "rank-fault-3", 1]
        )

    # Kills: a link that finds cases of another number of ranks, topology,
    # algorithm or backend, or none.
    def test_links_find_what_failed(self) -> None:
        files = failed_ranks()
        for name in ("gossip/ring#n80", "gossip/ring_2#n8", "gossip/torus#n8"):
            files.add(f"distributed/{name}", "openmpi", "fail")
            files.add_ranks(
                *(f"distributed/{name}", "openmpi"),
                **{"scheme": "gossip", "topology": name[7:].partition("#")[0]},
                ranks=name.partition("#n")[2],
            )
        files.add("distributed/reduce/own_two.float32.sum.61#n8", "openmpi", "fail")
        found = seen(
            files,
            """
            return [...section.querySelectorAll('.fault')].map((fault) => {
              const link = [...fault.querySelectorAll('a')].pop();
              return found(new URLSearchParams(link.hash.slice(1)).get('q'));
            });
            """,
        )
        cases = [
            GOSSIP.format(8),
            "distributed/gossip/ring#n80",
            "distributed/gossip/ring_2#n8",
            "distributed/gossip/torus#n8",
            "distributed/reduce/own_two.float32.sum.61#n8",
            TRAIN.format("ring"),
            OWN,
        ]
        self.assertCountEqual(found, [[f"{one} openmpi"] for one in cases])

    def test_page_without_ranks_has_no_errors(self) -> None:
        files = RunFiles(["alpha"])
        files.add("node/Add/one", "alpha", "pass")
        self.assertIsNone(seen(files, "return section;"))

    def test_page_does_not_scroll_sideways(self) -> None:
        for width in (500, 1280):
            found = seen(
                failed_ranks(),
                """
                for (const one of section.querySelectorAll('details')) one.open = true;
                const {scrollWidth, clientWidth} = document.documentElement;
                return scrollWidth - clientWidth;
                """,
                width=width,
            )
            self.assertEqual(found, 0, width)


if __name__ == "__main__":
    unittest.main()
