# SPDX-License-Identifier: Apache-2.0
"""A run folder is read whole, or refused with what, wanted and where."""

import re
import tempfile
import unittest
from collections.abc import Callable
from pathlib import Path
from unittest import mock

from assay_report import run_folder
from assay_report.run_folder import RunFolderError, read_run, schema_columns
from synthetic import RunFiles


def small_run() -> RunFiles:
    files = RunFiles(["alpha", "beta"])
    files.add("node/Relu/test_relu", "alpha", "pass", run_us="77")
    files.add("node/Relu/test_relu", "beta", "unsupported", reason_code="operator")
    files.add_output("node/Relu/test_relu", "alpha", max_abs_err="1", max_ulp="0")
    return files


def first_line_twice(text: str) -> str:
    lines = text.splitlines(keepends=True)
    return "".join([*lines, lines[1]])


def without_column(column: str) -> Callable[[str], str]:
    def edit(text: str) -> str:
        header, rest = text.split("\n", 1)
        return header.replace(column, f"{column}_renamed") + "\n" + rest

    return edit


class RunFolderTest(unittest.TestCase):
    def setUp(self) -> None:
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = Path(scratch.name) / "run"

    def test_whole_folder_is_read(self) -> None:
        run = read_run(small_run().write(self.folder))
        self.assertEqual(run.facts["tier"], "ci")
        self.assertEqual(run.results["outcome"], ["pass", "unsupported"])
        self.assertEqual(run.accuracy["output_name"], ["y"])
        self.assertEqual([t.n_planned for t in run.summary.tallies], [1, 1])

    def test_text_survives_quoting(self) -> None:
        text = 'comma, "quote", line\nend, \u2028 separator, \u00e9, \x0b tab'
        files = small_run()
        files.tables["results"][0]["message"] = text
        run = read_run(files.write(self.folder))
        self.assertEqual(run.results["message"][0], text)

    def test_tables_without_rows_are_read(self) -> None:
        run = read_run(RunFiles([]).write(self.folder))
        self.assertEqual((len(run.results), len(run.accuracy)), (0, 0))

    def test_many_rows_are_read_in_order(self) -> None:
        files = RunFiles(["alpha"])
        ids = [f"node/Add/test_{number}" for number in range(2000)]
        for test_id in ids:
            files.add(test_id, "alpha", "pass")
        self.assertEqual(read_run(files.write(self.folder)).results["test_id"], ids)

    def test_damaged_folder_is_refused(self) -> None:
        rows: list[tuple[str, str, Callable[[str], str] | None, str]] = [
            ("missing column", "results.csv", without_column("outcome"),
             ": found columns .*; wanted also outcome$"),
            ("column twice", "env.csv", lambda t: t.replace("key", "value", 1),
             ": found a column name twice"),
            ("cut off in a record", "results.csv", lambda t: t[:-5],
             ": found no line end at the end"),
            ("cut off within quotes", "results.csv", lambda t: t + '1,"two\n',
             r":\d+: unexpected end of data"),
            ("short record", "accuracy.csv", lambda t: t + "1,2\n",
             r": found 2 fields in record 2, wanted \d+"),
            ("empty file", "backends.csv", lambda t: "", ": found no line end"),
            ("file not there", "env.csv", None, ": not there"),
            ("bytes that are no text", "env.csv", lambda t: t + "\udcff\n",
             ": found bytes that are not UTF-8 in line 5$"),
            ("no run", "runs.csv", lambda t: t.split("\n")[0] + "\n",
             ": found 0 runs, wanted one"),
            ("verdict twice", "results.csv", first_line_twice,
             ": found two verdicts for node/Relu/test_relu on alpha"),
            ("accuracy without a verdict", "accuracy.csv",
             lambda t: t.replace("alpha", "gamma"),
             ": found node/Relu/test_relu on gamma, .* no verdict"),
            ("another run's results", "results.csv",
             lambda t: t.replace("-5a5a", "-0000", 1),
             ": found run_id '.*-0000' in record 1, wanted '.*-5a5a'"),
            ("another run's summary", "summary.json",
             lambda t: t.replace("-5a5a", "-0000"),
             ": found run_id '.*-0000', wanted '.*-5a5a'"),
            ("attempt that is no number", "accuracy.csv",
             lambda t: t.replace("5a5a,1,", "5a5a,x,"),
             ": found attempt 'x', wanted a number"),
            ("distance that is no number", "accuracy.csv",
             lambda t: t.replace(",0,", ",far,"),
             ": found max_ulp 'far', wanted a number or nothing"),
            ("time that is no number", "results.csv",
             lambda t: t.replace(",77,", ",1.5,"),
             ": found run_us '1.5', wanted a number or nothing"),
            ("unknown schema in a table", "results.csv",
             lambda t: t.replace("\n1,", "\n2,", 1),
             ": found schema '2' in record 1, wanted '1'"),
            ("unknown schema in the summary", "summary.json",
             lambda t: t.replace("summary/1", "summary/7"),
             ": found schema 'assay.summary/7', wanted .*/1'"),
            ("summary that is not JSON", "summary.json", lambda t: t[:-1],
             ": not readable as JSON"),
            ("summary without a key", "summary.json",
             lambda t: t.replace("exit_code", "exit"),
             ": key missing or of the wrong kind: 'exit_code'"),
        ]
        for name, file, edit, message in rows:
            with self.subTest(name):
                damaged = small_run().write(self.folder) / file
                if edit is None:
                    damaged.unlink()
                else:
                    text = edit(damaged.read_text())
                    damaged.write_text(text, errors="surrogateescape")
                wanted = re.escape(file) + message
                with self.assertRaisesRegex(RunFolderError, wanted):
                    read_run(self.folder)

    def test_other_schema_is_refused(self) -> None:
        with (
            mock.patch.object(run_folder, "SCHEMA", 2),
            self.assertRaisesRegex(RunFolderError, "found schema 1, wanted 2"),
        ):
            schema_columns("runs")
