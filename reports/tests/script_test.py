# SPDX-License-Identifier: Apache-2.0
"""The page's scripts, in Chromium; skipped where there is none."""

import json
import tempfile
import unittest
from pathlib import Path
from typing import Any

from assay_report.page import render_page
from assay_report.run_folder import read_run
from browser import CHROMIUM, browse
from page_test import HOSTILE
from synthetic import RunFiles, chance_run


def rendered(files: RunFiles) -> str:
    with tempfile.TemporaryDirectory() as scratch:
        return render_page(read_run(files.write(Path(scratch))))


def searched_run() -> RunFiles:
    """Cells that queries tell apart: a0 is case 0 of the id order on alpha."""
    files = RunFiles(["alpha@2", "beta"])
    rows = (
        ("node/Add/test_add", {"opset": "14", "dtype": "float32 int64"}),
        ("node/Conv/test_conv", {"opset": "22", "dtype": "float16"}),
        ("special/Conv/test_conv_1x1", {"opset": "11", "dtype": "float32"}),
    )
    for test_id, facts in rows:
        files.add(test_id, "alpha@2", "pass", **facts)
    files.add("node/Add/test_add", "beta", "pass", **rows[0][1], vacuous="1")
    files.add(
        "node/Conv/test_conv",
        "beta",
        "fail",
        **rows[1][1],
        reason_code="value",
        message="9 of 60 Elements differ (NaN)",
    )
    return files


# Cells in order: a0 b0 a1 b1 a2; nothing was planned for b2.
QUERIES = (
    ("", "a0 b0 a1 b1 a2"),
    ("  ", "a0 b0 a1 b1 a2"),
    ("op:Conv", "a1 b1 a2"),
    ("op:conv", "a1 b1 a2"),
    ("op=Conv", "a1 b1 a2"),
    ("op:Con", ""),
    ("op:C*v", "a1 b1 a2"),
    ("op:?dd", "a0 b0"),
    ("op:Conv and backend:beta and not outcome:pass", "b1"),
    ("op:Conv backend:beta", "b1"),
    ("not op:Conv", "a0 b0"),
    ("not not op:Conv", "a1 b1 a2"),
    ("op:Add or outcome:fail", "a0 b0 b1"),
    ("op:Add or op:Conv and outcome:fail", "a0 b0 b1"),
    ("(op:Add or op:Conv) and outcome:fail", "b1"),
    ("not (op:Add or outcome:fail)", "a1 a2"),
    ("OP:Conv AND NOT outcome:pass", "b1"),
    ("id:node/Conv/test_conv", "a1 b1"),
    ("id:node/Conv", ""),
    ("id:*/test_conv*", "a1 b1 a2"),
    ("suite:special", "a2"),
    ("dtype:int64", "a0 b0"),
    ("dtype:float*", "a0 b0 a1 b1 a2"),
    ("opset>=14", "a0 b0 a1 b1"),
    ("opset>14", "a1 b1"),
    ("opset<14", "a2"),
    ("opset<=14", "a0 b0 a2"),
    ("opset:14", "a0 b0"),
    ("backend:alpha", "a0 a1 a2"),
    ("backend:alpha@2", "a0 a1 a2"),
    ("backend:alpha@3", ""),
    ("outcome:fail", "b1"),
    ("reason:value", "b1"),
    ("reason:elements", "b1"),
    ("vacuous:yes", "b0"),
    ("vacuous:no", "a0 a1 b1 a2"),
    ("is:unexpected", "b1"),
    ("is:different", "a1 b1"),
    ("1x1", "a2"),
    ("TEST_CONV", "a1 b1 a2"),
    ('"60 elements"', "b1"),
    ('"(nan)"', "b1"),
    ("test conv", "a1 b1 a2"),
    ('"and"', ""),
    ("(NaN)", "b1"),
)

MISTAKES = (
    ("colour:red", "unknown key colour, wanted one of id, suite, op,"),
    ("op:", "op: has no value"),
    ("op:Conv and", "the query stops early, wanted a word"),
    ("and op:Conv", "found and, wanted a word"),
    ("(op:Conv", "a ( has no )"),
    ("op:Conv)", "a ) has no ("),
    ("()", "found ), wanted a word"),
    ('"open', "a quote at 1 has no end"),
    ("opset>=new", "found opset new, wanted a number"),
    ("op>=3", "only opset can be compared with >="),
    ("is:odd", "found is:odd, wanted is:unexpected or is:different"),
    ("outcome:failed", "found outcome:failed, wanted one of pass, waived,"),
    ("vacuous:maybe", "found vacuous:maybe, wanted yes or no"),
)

SEARCH = """
const store = new Store(await unpack('data-matrix'));
return %s.map((text) => {
  try {
    const mask = store.search(parseQuery(text));
    return ['a0', 'b0', 'a1', 'b1', 'a2', 'b2'].filter((_, k) => mask[k])
      .join(' ');
  } catch (error) {
    if (!(error instanceof QueryError)) throw error;
    return error.message;
  }
});
"""


@unittest.skipUnless(CHROMIUM, "no chromium on this machine")
class ScriptTest(unittest.TestCase):
    def search(self, queries: list[str]) -> Any:
        return browse(rendered(searched_run()), SEARCH % json.dumps(queries))

    def test_query_finds(self) -> None:
        found = self.search([query for query, _ in QUERIES])
        for (query, cells), answer in zip(QUERIES, found, strict=True):
            with self.subTest(query):
                self.assertEqual(answer, cells)

    def test_mistake_in_a_query_is_named(self) -> None:
        found = self.search([query for query, _ in MISTAKES])
        for (query, message), answer in zip(MISTAKES, found, strict=True):
            with self.subTest(query):
                self.assertTrue(answer.startswith(message), answer)

    def test_only_rows_in_view_are_in_the_document(self) -> None:
        nodes = browse(
            rendered(chance_run(cases=3000, backends=8)),
            "await main(); return document.querySelectorAll('#work *').length;",
        )
        self.assertGreater(nodes, 100)
        self.assertLess(nodes, 700)

    def test_typing_filters_and_enters_the_address(self) -> None:
        found = browse(
            rendered(searched_run()),
            """
            await main();
            const query = document.getElementById('query');
            query.value = 'op:Conv and backend:beta';
            query.dispatchEvent(new Event('input'));
            const chips = [...document.querySelectorAll('.chip')];
            chips.find((chip) => chip.dataset.outcome === 'pass').click();
            const none = document.getElementById('count').textContent;
            document.querySelector('[data-outcome=pass]').click();
            return [none, document.getElementById('count').textContent,
              location.hash];
            """,
        )
        self.assertEqual(
            found,
            [
                "0 of 3 cases, 0 cells",
                "1 of 3 cases, 1 cells",
                "#q=op%3AConv+and+backend%3Abeta",
            ],
        )

    def test_address_opens_a_cell(self) -> None:
        files = searched_run()
        files.add_output(
            "node/Conv/test_conv",
            "beta",
            worst_index="17",
            worst_want="0.5",
            worst_got="nan",
            max_ulp="3",
            atol="1e-07",
            rtol="0.001",
            limit="0.0005001",
            limit_source="corpus",
        )
        text = browse(
            rendered(files),
            """
            await main();
            const panel = document.getElementById('panel');
            while (!panel.open) await new Promise(requestAnimationFrame);
            return panel.innerText.replace(/\\s+/g, ' ');
            """,
            hash_text="q=op:Add&case=node/Conv/test_conv&backend=beta",
        )
        for wanted in (
            "fail on beta unexpected",
            "value: 9 of 60 Elements differ (NaN)",
            "alpha@2: pass",
            "assay run --backend beta --filter id:node/Conv/test_conv",
            "worst element 17 = [0, 3, 2] want 0.5 got nan max ULP 3",
            "limit 0.0005001, atol 1e-07, rtol 0.001 (corpus)",
            "opset 22",
        ):
            self.assertIn(wanted, text)

    def panel_of(self, files: RunFiles, test_id: str, backend: str) -> str:
        text = browse(
            rendered(files),
            """
            await main();
            const panel = document.getElementById('panel');
            while (!panel.open) await new Promise(requestAnimationFrame);
            for (const one of panel.querySelectorAll('details')) one.open = true;
            return panel.innerText.replace(/\\s+/g, ' ');
            """,
            hash_text=f"case={test_id}&backend={backend}",
        )
        assert isinstance(text, str)
        return text

    def test_panel_has_the_numbers_of_a_fail_that_was_run_again(self) -> None:
        files = RunFiles(["alpha"])
        message = "output y: 12 of 60 elements out of limit"
        files.add("node/Add/one", "alpha", "fail", attempt="4", message=message)
        word = "by the oracle the expected data are the worse side"
        files.unexpected[0]["reason"] = f"{message}; {word}"
        exact = {"worst_index": "2", "worst_want": "0.3", "oracle_bound": "1e-09"}
        files.add_output(
            *("node/Add/one", "alpha"),
            **{"worst_got": "6", "worst_want": "-0", "out_of_limit": "12"},
            **{"max_abs_err": "6", "max_rel_err": "0", "rmse": "1.5"},
        )
        files.add_output(
            *("node/Add/one", "alpha"),
            **{**exact, "reference": "oracle", "max_ulp": "0.5"},
            share_correctly_rounded="0.75",
        )
        files.add_output(
            *("node/Add/one", "alpha"),
            **{**exact, "reference": "expected_oracle", "max_ulp": "3490"},
        )
        text = self.panel_of(files, "node/Add/one", "alpha")
        for wanted in (
            f"{message} {word} ",
            "Outputs of attempt 1 of 4 y float32 [3,4,5]",
            "want -0 got 6 max abs error 6 outside the limit 12 of 60",
            "got, from exact 0.5 ULP; 75 % correctly rounded; [2]: , exact 0.3",
            "want, from exact 3490 ULP; undecided; [2]",
            "oracle's bound off by at most 1e-09 ULP",
            "More numbers rmse 1.5",
            "attempts 4, none passed",
        ):
            self.assertIn(wanted, text)

    def test_address_of_an_unknown_case_says_so(self) -> None:
        found = browse(
            rendered(searched_run()),
            """
            await main();
            return document.getElementById('problem').textContent;
            """,
            hash_text="case=node/Cnov/test&backend=beta",
        )
        self.assertEqual(found, "no case node/Cnov/test on beta in this run")

    def test_long_reason_leaves_room_for_the_others(self) -> None:
        files = RunFiles(["alpha"])
        files.add("node/Add/one", "alpha", "fail", message="long words " * 9000)
        files.add("node/Add/two", "alpha", "fail", message="short")
        heights = browse(
            rendered(files),
            """
            await main();
            return [...document.querySelectorAll('#unexpected-rows tr')].map(
              (row) => row.offsetHeight);
            """,
        )
        self.assertLess(max(heights), 200)

    def test_keyboard_walks_opens_and_closes(self) -> None:
        found = browse(
            rendered(searched_run()),
            """
            await main();
            const press = (key) => document.activeElement.dispatchEvent(
              new KeyboardEvent('keydown', {key, bubbles: true}));
            const panel = document.getElementById('panel');
            const until = async (test) => {
              while (!test()) await new Promise(requestAnimationFrame);
            };
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
        self.assertEqual(found, ["fail", "node/Conv/test_conv", "fail", ""])

    def test_groups_count_all_cases_whatever_the_filter(self) -> None:
        found = browse(
            rendered(searched_run()),
            """
            await main();
            return [...document.querySelectorAll('.group')].map(
              (row) => [...row.children].map((cell) => cell.textContent));
            """,
            hash_text="g=op&q=is:unexpected",
        )
        self.assertEqual(found, [["Conv1 of 2 match", "2/2", "1 0/1"]])

    def test_all_unexpected_results_can_be_shown(self) -> None:
        files = RunFiles(["alpha"])
        for number in range(102):
            files.add(f"node/Add/{number:03}", "alpha", "fail", message=f"m{number}")
        files.unexpected[101]["reason"] = "lost from passing.txt"
        whole_run = {"backend": "alpha", "test_id": "", "outcome": "", "reason": "old"}
        files.unexpected.append(whole_run)
        found = browse(
            rendered(files),
            """
            await main();
            document.getElementById('all-unexpected').click();
            const rows = [...document.querySelectorAll('#unexpected-rows tr')];
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
        found = browse(
            rendered(files),
            """
            globalThis.alert = () => { throw new Error('a script ran'); };
            await main();
            const texts = [];
            const panel = document.getElementById('panel');
            for (let at = 0; at < 5; at += 1) {
              const cell = document.querySelectorAll('.rows .o-fail')[at];
              const id = cell.parentElement.firstChild.textContent;
              cell.click();
              while (panel.querySelector('h2')?.textContent !== id) {
                await new Promise(requestAnimationFrame);
              }
              texts.push([panel.querySelector('.message').textContent,
                panel.querySelector('.copyable code').textContent,
                panel.querySelector('h4').firstChild.textContent]);
            }
            return {texts, images: document.images.length};
            """,
        )
        self.assertEqual(found["texts"], [[text] * 3 for text in HOSTILE])
        self.assertEqual(found["images"], 0)

    def test_narrow_page_does_not_scroll_sideways(self) -> None:
        found = browse(
            rendered(chance_run(cases=60, backends=8)),
            """
            await main();
            const {scrollWidth, clientWidth} = document.documentElement;
            return scrollWidth - clientWidth;
            """,
            width=500,  # the least that a headless window takes
        )
        self.assertEqual(found, 0)


if __name__ == "__main__":
    unittest.main()
