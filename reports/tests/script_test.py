# SPDX-License-Identifier: Apache-2.0
"""The page's scripts, in Chromium; skipped where there is none."""

import csv
import io

from browser import BrowserCase
from distributed_test import failed_ranks
from gradients_test import failed_run
from synthetic import RunFiles, chance_run
from words import HOSTILE


def searched_run() -> RunFiles:
    """Cells that queries tell apart: a0 is case 0 of the id order on alpha."""
    files = RunFiles(["alpha@2", "beta"])
    rows = (
        ("node/Add/test_add", {"opset": "14", "dtype": "float32 int64"}),
        (
            "node/Conv/test_conv",
            {"opset": "22", "dtype": "float16", "shape_sig": "[2,N];sequence;[10]"},
        ),
        ("special/Conv/test_conv_1x1", {"opset": "11", "dtype": "float32"}),
    )
    for test_id, facts in rows:
        files.add(test_id, "alpha@2", "pass", **facts)
    files.add("node/Add/test_add", "beta", "pass", **rows[0][1], vacuous="1")
    files.tables["plan"][0]["claimed"] = "1"
    files.tables["plan"][2].update(corpus="special", comparator="exact")
    files.add(
        "node/Conv/test_conv",
        "beta",
        "fail",
        **rows[1][1],
        reason_code="value",
        message="9 of 60 Elements differ (NaN)",
    )
    return files


class ScriptTest(BrowserCase):
    def test_only_rows_in_view_are_in_the_document(self) -> None:
        nodes = self.seen(
            chance_run(cases=3000, backends=8),
            "return document.querySelectorAll('#work *').length;",
        )
        self.assertGreater(nodes, 100)
        self.assertLess(nodes, 700)

    def test_typing_filters_and_enters_the_address(self) -> None:
        self.assert_sees(
            [
                "0 of 3 cases, 0 cells",
                "1 of 3 cases, 1 cells",
                "#q=op%3AConv+and+backend%3Abeta",
            ],
            searched_run(),
            """
            const query = get('query');
            query.value = 'op:Conv and backend:beta';
            query.dispatchEvent(new Event('input'));
            const chips = all('.chip');
            chips.find((chip) => chip.dataset.outcome === 'pass').click();
            const none = get('count').textContent;
            document.querySelector('[data-outcome=pass]').click();
            return [none, get('count').textContent,
              location.hash];
            """,
        )

    def test_link_into_a_closed_group_opens_it(self) -> None:
        self.assert_sees(
            ["test_add"],
            searched_run(),
            """
            await until(() => panel.open);
            return all('.rows .leaf').map(
              (leaf) => leaf.textContent);
            """,
            hash_text="g=op&case=node/Add/test_add&backend=beta",
        )

    def test_cases_are_ordered_by_their_numbers(self) -> None:
        files = RunFiles(["alpha", "beta"])
        for name, run_us, headroom, peak in (
            ("a", "1500", "0.5", "2048"),
            ("b", "20", "-inf", "2048"),
            ("c", "", "", "5120"),
            ("d", "3000000", "0.25", "5220"),
        ):
            files.add(
                *(f"node/Add/{name}", "alpha", "pass"),
                **{"run_us": run_us, "headroom": headroom, "peak_rss_kb": peak},
                **{"worker": "7", "started_us": str(100 + ord(name))},
            )
            files.add(f"node/Add/{name}", "beta", "unsupported")
        script = """
            const texts = () => all('.rows .name').map(
              (name) => name.textContent);
            await until(() => texts().length);
            return texts();
            """
        rows = [
            ("time", ["d3 s", "a1.5 ms", "b20 \u00b5s", "c"]),
            ("headroom", ["b-inf", "d0.25", "a0.5", "c"]),
            ("memory", ["c3 MiB", "d100 KiB", "b0 KiB", "a"]),
            ("nonsense", ["a", "b", "c", "d"]),
        ]
        for order, wanted in rows:
            with self.subTest(order):
                found = self.seen(files, script, hash_text=f"s={order}")
                ends = [" on alpha" if len(one) > 1 else "" for one in wanted]
                self.assertEqual(
                    found, [f"node/Add/{one}{end}" for one, end in zip(wanted, ends)]
                )

    def test_view_is_saved_as_csv(self) -> None:
        files = searched_run()
        files.tables["results"][4]["message"] = 'two "quoted",\nlines'
        found = self.seen(
            files,
            """
            const saved = [];
            saveCsv = (name, text) => saved.push(name, text);
            get('save').click();
            await until(() => saved.length);
            return saved;
            """,
            hash_text="q=op:Conv+and+backend:beta",
        )
        self.assertEqual(found[0], "view.csv")
        head, row = csv.reader(io.StringIO(found[1]))
        cell = dict(zip(head, row, strict=True))
        for name, wanted in {
            "test_id": "node/Conv/test_conv",
            "backend": "beta",
            "outcome": "fail",
            "message": 'two "quoted",\nlines',
            "corpus": "onnx",
            "repro": "assay run --backend beta --filter id:node/Conv/test_conv",
        }.items():
            self.assertEqual(cell[name], wanted)

    def test_operators_are_drawn_when_they_come_into_view(self) -> None:
        self.assert_sees(
            [0, 40, 440, 0],
            chance_run(cases=300, backends=8),
            """
            const rows = () => document.querySelectorAll('#operator-table tbody tr');
            const before = rows().length;
            get('operators').scrollIntoView();
            await until(() => rows().length);
            const first = rows().length;
            all('.rest button').pop().click();
            return [before, first, rows().length, sideways()];
            """,
            width=500,
        )

    def test_operators_are_counted_and_sorted(self) -> None:
        files = RunFiles(["alpha", "beta"])
        times = {"load_us": "10", "run_us": "5", "judge_us": "4"}
        files.add("node/Add/one", "alpha", "pass", claimed="1", headroom="1", **times)
        files.add("node/Add/two", "alpha", "fail", claimed="1", headroom="-2")
        files.add_output("node/Add/two", "alpha", max_ulp="12345.678")
        files.add_output("node/Add/two", "alpha", max_ulp="99999", reference="oracle")
        files.add("node/Conv/one", "alpha", "pass", run_us="2000")
        files.add_output("node/Conv/one", "alpha", max_ulp="0", nan_mismatch="1")
        files.add("contract/bind/twice", "alpha", "pass")
        for number, code in enumerate(("dtype", "opset", "dtype")):
            case = f"node/Add/{number}"
            files.add(case, "beta", "unsupported", reason_code=code)
        found = self.seen(
            files,
            """
            const page = new Page(new Store(await unpack('data-matrix')));
            const table = page.drawOperators(
              operatorRows(await unpack('data-operators')));
            const texts = () => [...table.body.rows].map((row) =>
              [...row.cells].map((cell) => cell.textContent));
            const orders = ['Operator', 'Operator', 'Time',
              'Worst ULP'].map((name) => {
              [...table.head.querySelectorAll('button')].find(
                (one) => one.textContent === name).click();
              return texts().map(([op, backend]) => `${op} ${backend}`);
            });
            return {texts: texts(), orders, csv: table.csv()};
            """,
        )
        self.assertEqual(
            found["texts"],
            [
                ["Add", "alpha", "1 of 2", "1 of 2", "1", "", "", "12350", "-2",
                 "15 \u00b5s"],
                ["Add", "beta", "0 of 3", "", "", "3", "dtype 2, opset 1", "", "",
                 ""],
                ["Conv", "alpha", "1 of 1", "", "", "", "", "", "", "2 ms"],
            ],
        )  # fmt: skip
        self.assertEqual(
            found["orders"],
            [
                ["Conv alpha", "Add alpha", "Add beta"],
                ["Add alpha", "Add beta", "Conv alpha"],
                ["Conv alpha", "Add alpha", "Add beta"],
                ["Add alpha", "Add beta", "Conv alpha"],
            ],
        )
        self.assertEqual(found["csv"].count("\n"), 4)

    def test_address_of_an_unknown_case_says_so(self) -> None:
        self.assert_sees(
            "no case node/Cnov/test on beta in this run",
            searched_run(),
            "return get('problem').textContent;",
            hash_text="case=node/Cnov/test&backend=beta",
        )

    def test_long_reason_leaves_room_for_the_others(self) -> None:
        files = RunFiles(["alpha"])
        files.add("node/Add/one", "alpha", "fail", message="long words " * 9000)
        files.add("node/Add/two", "alpha", "fail", message="short")
        heights = self.seen(
            files,
            """
            return all('#unexpected-rows tr').map(
              (row) => row.offsetHeight);
            """,
        )
        self.assertLess(max(heights), 200)

    def test_keyboard_walks_opens_and_closes(self) -> None:
        self.assert_sees(
            ["fail", "node/Conv/test_conv", "fail", ""],
            searched_run(),
            """
            const press = (key) => document.activeElement.dispatchEvent(
              new KeyboardEvent('keydown', {key, bubbles: true}));
            document.querySelector('#grid [tabindex="0"]').focus();
            ['ArrowDown', 'ArrowRight', 'ArrowRight'].forEach(press);
            const cell = document.activeElement.textContent;
            press('Enter');
            await until(() => panel.open);
            const title = document.activeElement.textContent;
            press('Escape');
            await until(() => !panel.open &&
              document.activeElement.role === 'gridcell');
            return [cell, title, document.activeElement.textContent,
              location.hash];
            """,
        )

    def test_groups_count_all_cases_whatever_the_filter(self) -> None:
        self.assert_sees(
            [["Conv1 of 2 match", "2/2", "1 0/1"]],
            searched_run(),
            """
            return all('.group').map(
              (row) => [...row.children].map((cell) => cell.textContent));
            """,
            hash_text="g=op&q=is:unexpected",
        )

    def test_all_unexpected_results_can_be_shown(self) -> None:
        files = RunFiles(["alpha"])
        for number in range(102):
            files.add(f"node/Add/{number:03}", "alpha", "fail", message=f"m{number}")
        files.unexpected[101]["reason"] = "lost from passing.txt"
        whole_run = {"backend": "alpha", "test_id": "", "outcome": "", "reason": "old"}
        files.unexpected.append(whole_run)
        found = self.seen(
            files,
            """
            get('all-unexpected').click();
            const rows = all('#unexpected-rows tr');
            return rows.map((row) => row.lastElementChild.textContent);
            """,
        )
        messages = [f"m{number}" for number in range(101)]
        self.assertEqual(found, ["old", *messages, "lost from passing.txt"])

    def test_hostile_text_stays_text(self) -> None:
        files = RunFiles(["alpha"])
        for number, text in enumerate(HOSTILE):
            files.add(
                f"node/Add/{number}{text}",
                "alpha",
                "fail",
                message=text,
                placement=text,
                repro=text,
            )
            files.add_output(
                f"node/Add/{number}{text}", "alpha", output_name=text, worst_got=text
            )
        found = self.seen(
            files,
            """
            globalThis.alert = () => { throw new Error('a script ran'); };
            const texts = [];
            for (let at = 0; at < 5; at += 1) {
              const cell = document.querySelectorAll('.rows .o-fail')[at];
              const id = cell.parentElement.firstChild.textContent;
              cell.click();
              await until(() => panel.querySelector('h2')?.textContent === id);
              texts.push([panel.querySelector('.message').textContent,
                panel.querySelector('.copyable code').textContent,
                panel.querySelector('h4').firstChild.textContent]);
            }
            return {texts, images: document.images.length};
            """,
        )
        self.assertEqual(found["texts"], [[text] * 3 for text in HOSTILE])
        self.assertEqual(found["images"], 0)

    def test_page_does_not_scroll_sideways(self) -> None:
        rows = (
            ("matrix", chance_run(cases=60, backends=8), (360,), ""),
            ("gradients", failed_run(), (360, 1280), "all('.op')[0].click();"),
            (
                *("ranks", failed_ranks(), (360, 1280)),
                "for (const one of all('.ranks details')) one.open = true;",
            ),
        )
        for name, files, widths, script in rows:
            for width in widths:
                with self.subTest(name, width=width):
                    found = self.seen(
                        files, f"drawLater(); {script} return sideways();", width=width
                    )
                    self.assertEqual(found, 0)

    def test_page_without_gradients_or_ranks_has_no_errors(self) -> None:
        files = RunFiles(["alpha"])
        files.add("node/Add/one", "alpha", "fail")
        script = "return [document.title, document.querySelector('.ranks')];"
        title, section = self.seen(files, script)
        self.assertTrue(title.startswith("1 unexpected result"))
        self.assertIsNone(section)
