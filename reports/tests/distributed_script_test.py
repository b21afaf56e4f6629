# SPDX-License-Identifier: Apache-2.0
"""The section on ranks in Chromium: what opens, what links find."""

from browser import BrowserCase
from distributed_test import GOSSIP, OWN, TRAIN, failed_ranks

READ = """
drawLater();
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


class RanksScriptTest(BrowserCase):
    prelude = READ

    def test_square_opens_the_list_of_its_fails(self) -> None:
        found = self.seen(
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
        found = self.seen(
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
