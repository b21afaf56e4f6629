# SPDX-License-Identifier: Apache-2.0
"""Ratios of two times: the page of a comparison, and overhead and pairs of a run."""

import csv
import re
import tempfile
from pathlib import Path

from assay_report.__main__ import main
from assay_report.run_folder import Table, read_beside
from assay_report.times.pairs_page import render_pairs_page
from assay_report.times.ratios import Ratios, assess_pairs
from browser import BrowserCase
from synthetic import RunFiles, add_pairs
from words import HOSTILE, Words, WordsCase

ROW = {
    **{"test_id": "compare/Relu/test_relu", "backend": "new", "base": "old"},
    **{"ratio": "1.2", "ci95_lo": "1.18", "ci95_hi": "1.25", "base_ns": "1000"},
    **{"candidate_ns": "1200", "n_blocks": "60", "noisy": "0", "verdict": "worse"},
    "second_ratio": "1.21",
}


def table_of(name: str, *rows: dict[str, str]) -> Table:
    with tempfile.TemporaryDirectory() as scratch:
        if rows:
            with (Path(scratch) / f"{name}.csv").open("w", newline="") as file:
                writer = csv.DictWriter(file, [*rows[0]], lineterminator="\n")
                writer.writeheader()
                writer.writerows(rows)
        return read_beside(Path(scratch), name)


def page_of(*rows: dict[str, str]) -> str:
    return render_pairs_page(table_of("compare", *rows), table_of("overhead"))


def pairs_of(*rows: dict[str, str]) -> Ratios:
    (pairs,) = assess_pairs(table_of("compare", *rows))
    return pairs


def headline(page: str) -> str:
    text = Words(page).text.rpartition("Assay comparison ")[2]
    return text.partition(" new beside")[0]


class PairsTest(WordsCase):
    def test_page_says_which_is_slower(self) -> None:
        same = ROW | {"verdict": "same", "ratio": "1.01", "test_id": "compare/Add/a"}
        unsure = ROW | {"verdict": "unsure", "ratio": "9", "test_id": "compare/Sub/a"}
        unjudged = {name: value for name, value in ROW.items() if name != "verdict"}
        nobody = "Nobody knows whether new is slower"
        # Kills: a green headline where nothing is known.
        for rows, state, wanted in (
            ((ROW, same), "bad", "new is slower in 1 case"),
            ((same,), "good", "new is slower in no case"),
            ((same, unsure), "none", "new is slower in no case; 1 of 2 unsure"),
            ((unsure,), "none", f"{nobody}; 1 of 1 unsure"),
            ((unjudged,), "none", nobody),
        ):
            with self.subTest(wanted):
                page = page_of(*rows)
                self.assertEqual(headline(page), wanted)
                self.assertIn(f'<h1 class="headline {state}">', page)

    def test_row_has_verdict_interval_and_second_set(self) -> None:
        text = Words(page_of(ROW)).text
        row = "compare/Relu/test_relu worse +20.0 % +18.0 % to +25.0 % +21.0 % "
        self.assertIn(row + "1 \u00b5s to 1.2 \u00b5s 60", text)
        self.assertIn("Ratios are known to \u00b13.5 % in the median case", text)
        self.assertIn("counts for nothing: 3 %, where nothing else was said", text)

    def test_large_ratio_is_a_factor(self) -> None:
        ends = {"ratio": "11.25", "ci95_lo": "11", "ci95_hi": "12"}
        self.assertIn(
            "\u00d711.2 \u00d711 to \u00d712", Words(page_of(ROW | ends)).text
        )

    def test_what_the_table_may_have_is_told(self) -> None:
        text = Words(page_of(ROW | {"margin": "0.01", "least_slowdown": "1.042"})).text
        self.assertIn("counts for nothing: 1 %. Slower", text)
        self.assertIn("found in 95 of 100 comparisons from 4.2 % on", text)

    # Kills: a verdict that only a colour tells.
    def test_verdict_is_a_word_a_shape_and_a_colour(self) -> None:
        words = ("worse", "better", "same", "unsure")
        rows = [
            ROW | {"verdict": word, "test_id": f"compare/X/{word}"} for word in words
        ]
        (figure,) = pairs_of(*rows).figures
        texts = re.findall(r"<text[^>]*>([^<]*)</text>", figure.svg)
        self.assertLessEqual(set(words), set(texts))
        a_mark = r'<path d="(M [^"]+z)" style="(fill:[^"]+stroke[^"]+)"'
        marks = re.findall(a_mark, figure.svg)
        self.assertEqual(len({style for _, style in marks}), 4)
        corners = [path.count("L") for path, _ in marks]
        self.assertEqual(sorted(corners), [2, 2, 9, 9])

    def test_band_is_drawn_where_there_are_verdicts(self) -> None:
        unjudged = {name: value for name, value in ROW.items() if name != "verdict"}
        self.assertIn("opacity", pairs_of(ROW).figures[0].svg)
        self.assertNotIn("opacity", pairs_of(unjudged).figures[0].svg)

    def test_overhead_alone_is_a_page(self) -> None:
        times = {"native_median_ns": "200", "framework_median_ns": "201"}
        ends = {"ratio_ci95_lo": "1.004", "ratio_ci95_hi": "1.006"}
        row = {"test_id": "overhead/MatMul/small", "backend": "onednn", "n_pairs": "9"}
        overhead = table_of(
            "overhead", {**row, **times, **ends, "paired_ratio": "1.005"}
        )
        text = Words(render_pairs_page(table_of("compare"), overhead)).text
        self.assertIn("Overhead of onednn Overhead of onednn 1 case", text)
        self.assertIn("overhead/MatMul/small +0.5 % +0.4 % to +0.6 % 200 ns", text)

    def test_case_without_an_interval_has_none(self) -> None:
        pairs = pairs_of(ROW | {"ci95_lo": "", "ci95_hi": ""}, ROW)
        self.assertEqual(pairs.n_without_interval, 1)
        self.assertEqual([row.interval for row in pairs.rows].count(""), 1)

    def test_texts_stay_texts(self) -> None:
        for text in HOSTILE:
            page = page_of(ROW | {"test_id": f"compare/{text}", "backend": text})
            self.assertNotRegex(page, r"<img|<script|onmouseover='|<b>x")

    def test_folder_without_a_comparison_is_refused(self) -> None:
        with tempfile.TemporaryDirectory() as scratch:
            out = Path(scratch) / "pairs.html"
            self.assertEqual(main(["pairs", scratch, "--out", str(out)]), 99)
            self.assertFalse(out.exists())


class PairsBrowserTest(BrowserCase):
    def test_run_shows_pairs_and_overhead(self) -> None:
        files = RunFiles(["alpha"])
        files.add("node/Add/one", "alpha", "pass")
        add_pairs(files, 90)
        script = """
            drawLater();
            for (const one of all('.times details')) one.open = true;
            drawLater();
            return [sideways(), all('.times h3').map((one) => one.textContent),
              all('.times figure').length, all('.times tbody tr').length,
              all('.times .wide-table').filter((one) =>
                one.scrollWidth > one.clientWidth + 1).length];
            """
        heads = ["Overhead of alpha 90 cases", "alpha+opt=1 beside alpha 90 cases"]
        for width in (360, 1280):
            with self.subTest(width=width):
                self.assert_sees([0, heads, 6, 180, 0], files, script, width=width)
