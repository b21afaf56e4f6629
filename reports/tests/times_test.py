# SPDX-License-Identifier: Apache-2.0
"""The times of a run: figures, panel, table, and the JSON of Google Benchmark."""

import gzip
import json
import re
import tempfile
import unittest
from pathlib import Path
from unittest.mock import patch

from assay_report.__main__ import main
from assay_report.payload import cells_of
from assay_report.run_folder import RunFolderError, read_run
from assay_report.times.drawing import decades, log_limits
from assay_report.times.growth import line_of
from assay_report.times.section import assess_times
from assay_report.verdict import assess
from browser import BrowserCase
from synthetic import RunFiles, timed_run
from words import HOSTILE, Words, WordsCase

TAGS = {"path", "text", "svg", "g", "title", "desc", "figure", "figcaption"}
ELEMENTS = 1500


def timed(
    files: RunFiles, test_id: str, backend: str = "alpha", outcome: str = "pass",
    warm: float = 1500.0, **columns: str,
) -> None:  # fmt: skip
    """A case with a warm and a cold phase."""
    files.add(test_id, backend, outcome)
    for phase, ns in (("warm", warm), ("cold", 2 * warm), ("first", 9 * warm)):
        interval = {"ci95_lo_ns": f"{0.98 * ns:g}", "ci95_hi_ns": f"{1.02 * ns:g}"}
        known = {"median_ns": f"{ns:g}", **interval} | columns
        files.add_time(test_id, backend, phase, **known)


def small_run() -> RunFiles:
    """Four cases, one of each kind."""
    files = RunFiles(["alpha"])
    timed(files, "time/Add/test_add")
    timed(files, "time/Conv/test_conv", warm=7e6, noisy="1")
    timed(files, "time/Mul/test_mul", outcome="suspect")
    timed(files, "time/Sub/test_sub", outcome="fail")
    return files


def growing_run() -> RunFiles:
    """Two backends over five sizes, by exact laws: size^3 and 10 size^1.5."""
    files = RunFiles(["alpha", "beta"])
    rows = []
    for backend, scale, power in (("alpha", 1.0, 3.0), ("beta", 10.0, 1.5)):
        timed(files, "time/Gemm/scaling.product#size64", backend)
        sizes = [64, 128, 256, 512, 1024]
        ns = [scale * size**power for size in sizes]
        rows.append({"test_id": "time/Gemm/scaling.product#size", "backend": backend})
        rows[-1] |= {"sizes": "64 128 256 512 1024"}
        rows[-1] |= {"median_ns": " ".join(map(str, ns))}
        rows[-1] |= {"ci95_lo_ns": " ".join(["nan", *(f"{0.9 * n}" for n in ns[1:])])}
        rows[-1] |= {"ci95_hi_ns": " ".join(["nan", *(f"{1.1 * n}" for n in ns[1:])])}
        rows[-1] |= {"exponent": f"{power}", "ci95_lo": "1.25", "ci95_hi": "3.125"}
    files.beside["scaling"] = rows
    return files


def section_of(page: str) -> str:
    return page.partition('<section class="times"')[2].partition("</section>")[0]


class TimesTest(WordsCase):
    def test_section_counts_what_is_not_as_it_should_be(self) -> None:
        text = Words(small_run().page()).text
        for wanted in (
            "Times 4 cases",
            "alpha 4 \u00b12 %, \u00b12 % 1 1 1",
            "Latency by operator 3",
            "The roofs of the machine were not measured",
            "0 calls without a floating-point operation and 2 whose operations nobody",
        ):
            self.assertIn(wanted, text)

    # Kills: a time of wrong work among those that are compared.
    def test_figure_marks_what_is_doubted_and_leaves_out_what_is_wrong(self) -> None:
        section = section_of(small_run().page())
        texts = re.findall(r"<text[^>]*>([^<]*)</text>", section)
        self.assertLessEqual({"Add", "Conv *", "Mul ?"}, set(texts))
        self.assertFalse([text for text in texts if text.startswith("Sub")])
        self.assertIn("Medians from 7 ms (Conv) to 1.5 \u00b5s", section)

    def test_run_without_times_has_no_section(self) -> None:
        files = RunFiles(["alpha"])
        files.add("node/Add/one", "alpha", "pass")
        self.assertEqual(section_of(files.page()), "")

    def test_figures_have_the_colours_of_the_page_and_words(self) -> None:
        pages = {timed_run(60, 2).page() for _ in range(2)}
        page = next(iter(pages))
        found = self.assert_is_steady(pages)
        figures = re.findall(r"<figure>.*?</figure>", section_of(page), re.DOTALL)
        self.assertEqual(len(figures), 5)
        for figure in figures:
            self.assertRegex(figure, r'role="img" aria-labelledby="(\S+)-t \1-d"')
            self.assertRegex(
                figure, r"<title id=[^>]+>[^<]+</title><desc id=[^>]+>[^<]"
            )
            self.assertNotRegex(figure, r"#[0-9a-f]{6}|clip-path|font-family|nan")
            self.assertIn("var(--s1)", figure)
        names = [name for name in found.ids if name.endswith("-d")]
        self.assertEqual(len(names), 5)

    def test_texts_of_a_run_stay_texts(self) -> None:
        for text in HOSTILE[:3]:
            files = RunFiles(["alpha"])
            timed(files, f"time/light/{text}")
            files.add("node/Add/one", "alpha", "fail", message=text)
            page = files.page()
            self.assertNotIn(f">{text}", section_of(page))
            self.assertEqual(page.count("<script>"), 1)

    def test_page_without_matplotlib_says_so(self) -> None:
        with patch("importlib.util.find_spec", return_value=None):
            page = small_run().page()
        self.assertIn("Figures need matplotlib", Words(page).text)
        self.assertNotIn("<figure>", section_of(page))

    def test_roofs_are_lines_and_what_is_above_them_is_told(self) -> None:
        files = RunFiles(["alpha"])
        rates = {"flops": "1000", "gflop_s": "12", "intensity": "8", "gb_s": "1.5"}
        timed(files, "time/Gemm/test_gemm", **rates, roof_frac="1.25")
        roof = {"level": "", "type": "", "threads": "1", "gflop_s": "", "gb_s": ""}
        files.beside["roofs"] = [
            {**roof, "level": "compute", "type": "float32", "gflop_s": "9.2"},
            {**roof, "level": "compute", "type": "float32", "gflop_s": "9.6"},
            {**roof, "level": "memory", "threads": "2", "gb_s": "7"},
        ]
        page = files.page()
        text = Words(page).text
        self.assertIn("1 above its roof: the roof or the time is wrong.", text)
        self.assertIn("no higher than the lines", text)
        for name in ("float32 9.6 GFLOP/s", "memory 7 GB/s, 2 threads"):
            self.assertIn(name, section_of(page))

    def test_exponents_stand_beside_the_lines_of_their_families(self) -> None:
        files = growing_run()
        page = files.page()
        text = Words(page).text
        self.assertIn("Scaling 1 family The cases of a family differ", text)
        self.assertNotIn("are drawn; scaling.csv", text)
        figures = re.findall(r"<figure>.*?</figure>", section_of(page), re.DOTALL)
        (figure,) = (one for one in figures if "by size" in one)
        for wanted in ("alpha: size^3.00 [1.25, 3.12]", "beta: size^1.50 ["):
            self.assertIn(wanted, figure)
        self.assertIn("var(--s1)", figure)
        self.assertNotRegex(figure, r"#[0-9a-f]{6}|clip-path|font-family|nan")

    # Kills: a line that misses the points of an exact law, or turns with one of them.
    def test_fitted_line_is_that_of_the_law(self) -> None:
        run = growing_run().read()
        for at, (scale, power) in enumerate(((1.0, 3.0), (10.0, 1.5))):
            run.scaling["median_ns"][at] += "0"  # the greatest, ten times
            line = line_of(run.scaling, at, at)
            for size in (1, 100):
                self.assertAlmostEqual(line.fitted(size) / (scale * size**power), 1)

    def test_lists_that_do_not_fit_are_refused(self) -> None:
        for column, text in (("sizes", "64"), ("median_ns", "a"), ("exponent", "")):
            files = growing_run()
            files.beside["scaling"][1][column] = text
            with self.assertRaisesRegex(RunFolderError, "in record 2, wanted"):
                files.page()

    def test_number_that_is_none_is_refused(self) -> None:
        files = RunFiles(["alpha"])
        timed(files, "time/Add/test_add", median_ns="soon")
        with self.assertRaisesRegex(
            RunFolderError, "found median_ns 'soon' in record 1"
        ):
            files.page()

    def test_gradients_and_steps_have_figures_of_their_own(self) -> None:
        files = small_run()
        for op, phase in (("Relu", "backward"), ("adam", "step")):
            files.add(f"time/{op}/a#locked.float32", "alpha", "pass")
            known = {"median_ns": "5e4"}
            files.add_time(f"time/{op}/a#locked.float32", "alpha", phase, **known)
        text = Words(files.page()).text
        self.assertIn("Gradients 1 Of each operator", text)
        self.assertIn("Steps of optimizers 1 A step is that of a trainer", text)
        self.assertEqual(text.count("1 to 1 of 1, the slowest first Times."), 2)

    def test_operator_is_told_by_the_case_that_most_backends_have(self) -> None:
        files = RunFiles(["alpha", "beta"])
        timed(files, "time/Add/both", "alpha", warm=1e3)
        timed(files, "time/Add/both", "beta", warm=2e3)
        timed(files, "time/Add/slow", "alpha", warm=9e3)
        run = files.read()
        times = assess_times(run, cells_of(run, assess(run)))
        assert times is not None
        self.assertIn("from 2 \u00b5s (Add)", times.latency[0].figures[0].svg)

    # Kills: a figure that grows by a picture of each of thousands of points.
    def test_page_of_a_whole_corpus_is_small(self) -> None:
        page = timed_run(1800, 2).page()
        self.assertLess(len(page), 1.5e6)
        self.assertLess(len(section_of(page)), 2.5e5)
        cloud = re.search(r'd="([^"]+)" style="[^"]*stroke-linecap:round', page)
        assert cloud is not None
        self.assertGreater(cloud[1].count("L"), 1500)

    def test_axes(self) -> None:
        self.assertEqual(decades(0.9, 11), [1, 2, 5, 10])
        self.assertEqual(decades(1, 1e6, most=3), [1, 1000, 1e6])
        low, high = log_limits([5.0, 0.0])
        self.assertLess(low, 5 / 3)
        self.assertGreater(high, 15)


class PackedTest(unittest.TestCase):
    def test_compressed_table_is_read_and_a_cut_one_refused(self) -> None:
        with tempfile.TemporaryDirectory() as scratch:
            folder = small_run().write(Path(scratch))
            plain = read_run(folder).time.columns
            packed = gzip.compress((folder / "time.csv").read_bytes())
            (folder / "time.csv").unlink()
            (folder / "time.csv.gz").write_bytes(packed)
            self.assertEqual(read_run(folder).time.columns, plain)
            (folder / "time.csv.gz").write_bytes(packed[:-9])
            with self.assertRaisesRegex(RunFolderError, r"time\.csv\.gz:"):
                read_run(folder)

    # Kills: a column of which every row has seventeen digits.
    def test_table_of_5000_cases_is_at_most_2_mb_compressed(self) -> None:
        files = timed_run(5000, 1)
        self.assertEqual(len(files.tables["time"]), 30_000)
        with tempfile.TemporaryDirectory() as scratch:
            table = (files.write(Path(scratch)) / "time.csv").read_bytes()
        self.assertLess(len(gzip.compress(table)), 2e6)


class GoogleBenchmarkTest(unittest.TestCase):
    def test_samples_are_repetitions_and_what_is_wrong_has_no_time(self) -> None:
        files = small_run()
        key = {"test_id": "time/Add/test_add", "backend": "alpha", "attempt": "1"}
        files.beside["time_samples"] = [
            {**key, "phase": "warm", "first": "2", "ns": "1600"},
            {**key, "phase": "warm", "first": "0", "ns": "1400 1500"},
        ]
        for row in files.tables["time"]:
            row |= {"inner_iters": "2", "mean_ns": "750", "stdev_ns": "50"}
        with tempfile.TemporaryDirectory() as scratch:
            folder, out = files.write(Path(scratch)), Path(scratch) / "times.json"
            words = ["google-benchmark", str(folder), "--out", str(out)]
            self.assertEqual(main(words), 0)
            found = json.loads(out.read_text())
        self.assertEqual(found["context"]["json_schema_version"], 1)
        self.assertIn("not measured", found["context"]["cpu_time"])
        name = "time/Add/test_add/warm/alpha"
        own = [one for one in found["benchmarks"] if one["run_name"] == name]
        repeated = [one for one in own if one["run_type"] == "iteration"]
        self.assertEqual([one["real_time"] for one in repeated], [700, 750, 800])
        self.assertEqual([one["repetition_index"] for one in repeated], [0, 1, 2])
        self.assertEqual({one["iterations"] for one in repeated}, {2})
        aggregates = {one["name"]: one["real_time"] for one in own[3:]}
        wanted = {f"{name}_mean": 750, f"{name}_median": 1500, f"{name}_stddev": 50}
        self.assertEqual(aggregates, wanted)
        # The fields that tools/compare.py of google/benchmark reads of each.
        for one in found["benchmarks"]:
            self.assertLessEqual(
                {"name", "run_type", "real_time", "cpu_time", "time_unit"}, one.keys()
            )
            if one["run_type"] == "aggregate":
                self.assertIn("aggregate_name", one)
        wrong = {
            "time/Mul/test_mul/alpha": "suspect",
            "time/Sub/test_sub/alpha": "fail",
        }
        self.assertEqual(found["context"]["left_out"], wrong)
        timed = {one["run_name"].split("/")[1] for one in found["benchmarks"]}
        self.assertEqual(timed, {"Add", "Conv"})

    def test_run_without_times_is_refused(self) -> None:
        files = RunFiles(["alpha"])
        files.add("node/Add/one", "alpha", "pass")
        with tempfile.TemporaryDirectory() as scratch:
            folder = str(files.write(Path(scratch)))
            out = Path(scratch) / "times.json"
            self.assertEqual(main(["google-benchmark", folder, "--out", str(out)]), 99)
            self.assertFalse(out.exists())


class TimesBrowserTest(BrowserCase):
    def test_panel_shows_the_phases_of_a_case_and_of_its_source(self) -> None:
        files = small_run()
        more = {"p90_ns": "1700", "p99_ns": "1900", "inner_iters": "7"}
        more |= {"n_outlier_mild": "3", "n_outlier_severe": "1"}
        timed(files, "time/Relu/test_relu", **more, noisy="1")
        files.add("node/Relu/test_relu", "alpha", "pass")
        files.add("node/Relu/other", "alpha", "pass")
        text = self.panel_of(files, "time/Relu/test_relu", "alpha")
        for wanted in (
            "The same case, judged: node/Relu/test_relu.",
            "warm noisy 1.5 \u00b5s (1.47 \u00b5s to 1.53 \u00b5s, \u00b12 %)",
            "90 % 1.7 \u00b5s, 99 % 1.9 \u00b5s",
            "40 samples of 7 calls, behind 9 calls that do not count, "
            "3 mild and 1 severe outliers, kept, ended since the interval was narrow",
            "cold noisy 3 \u00b5s",
        ):
            self.assertIn(wanted, text)
        source = self.panel_of(files, "node/Relu/test_relu", "alpha")
        self.assertIn("Measured as time/Relu/test_relu, pass.", source)
        self.assertIn("1.5 \u00b5s (1.47", source)
        other = self.panel_of(files, "node/Relu/other", "alpha")
        self.assertNotIn("Times of a call", other)
        doubted = self.panel_of(files, "time/Mul/test_mul", "alpha")
        self.assertIn("Suspect: nobody believes these times.", doubted)

    def test_table_lists_the_slowest_first_and_is_saved(self) -> None:
        script = """
            drawLater();
            const rows = all('#time-table tbody tr').map((row) =>
              [...row.children].map((one) => one.textContent.replace(/\\s/g, ' ')));
            const {times} = await new Page(new Store(
              await unpack('data-matrix'))).unpacked();
            const store = new Store(await unpack('data-matrix'));
            const text = TimeTable.prototype.csv.call(
              {sorted: () => timeRows(store, times).slice(0, 1)});
            return [rows[0], rows.length, text.split('\\n')[1]];
            """
        first = ["time/Conv/test_conv", "alpha", "7 ms", "14 ms", "63 ms"]
        first += ["\u00b12 %", "", "", "noisy"]
        line = "time/Add/test_add,alpha,1500,3000,,,13500,,2.00,,,"
        self.assert_sees([first, 4, line], small_run(), script)

    def test_families_are_legible_on_a_phone(self) -> None:
        script = """
            drawLater();
            return [sideways(), Math.min(...all('.times figure text').map(
              (one) => one.getBoundingClientRect().height)) > 9];
            """
        self.assert_sees([0, True], growing_run(), script, width=360)

    def test_page_stays_narrow_and_light(self) -> None:
        script = """
            const n = document.querySelectorAll('*').length;
            drawLater();
            return [n, sideways(), all('.times figure').length];
            """
        for width in (360, 1280):
            with self.subTest(width=width):
                n, over, figures = self.seen(timed_run(300, 2), script, width=width)
                self.assertLessEqual(n, ELEMENTS)
                self.assertEqual((over, figures), (0, 5))

    # Kills: text of figures that no one can read on a phone.
    def test_text_of_figures_is_readable_on_a_phone(self) -> None:
        script = """
            drawLater();
            return Math.min(...all('.times figure text').map(
              (one) => one.getBoundingClientRect().height));
            """
        self.assertGreater(self.seen(timed_run(60, 2), script, width=360), 9)
