# SPDX-License-Identifier: Apache-2.0
"""The panel of a cell, in Chromium; skipped where there is none."""

from browser import BrowserCase
from script_test import searched_run
from synthetic import RunFiles


class PanelTest(BrowserCase):
    def test_address_opens_a_cell(self) -> None:
        files = searched_run()
        files.add_output(
            *("node/Conv/test_conv", "beta"),
            **{"worst_index": "17", "worst_want": "0.5", "worst_got": "nan"},
            **{"max_ulp": "3", "atol": "1e-07", "rtol": "0.001"},
            **{"limit": "0.0005001", "limit_source": "corpus"},
        )
        text = self.panel_of(files, "node/Conv/test_conv", "beta", "q=op:Add&")
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
            **{"worst": "2:-0:6 5:1:2", "error_bins": "40 0 0 0 0 8 0 12 0 0 0"},
        )
        one = ("node/Add/one", "alpha")
        for attempt in "1234":
            files.add_attempt(*one, attempt=attempt, outcome="fail")
        files.add_output(
            *("node/Add/one", "alpha"),
            **{**exact, "reference": "oracle", "max_ulp": "0.5"},
            worst="2:0.3:6",
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
            "The 2 elements furthest out element exact want got "
            "2 = [0, 0, 2] 0.3 -0 6 5 = [0, 1, 0] not known 1 2",
            "Elements by their error, in limits 40 0 1/16 1/8 1/4 1/2 8 1 2 12 4",
            "Attempts 4 of 4 alike: it does the same each time.",
            "Commands Repeat it assay run --backend alpha --filter id:node/Add/one",
            "Say why assay explain node/Add/one --backend alpha --run runs/2026",
            "Make it small assay shrink node/Add/one --backend alpha --run runs/2026",
            "Hand it on assay capsule node/Add/one --backend alpha --run runs/2026",
        ):
            self.assertIn(wanted, text)

    def test_panel_of_a_program_offers_no_command_that_refuses_it(self) -> None:
        files = RunFiles(["alpha"])
        files.add("node/Add/one", "alpha", "flaky")
        files.add("contract/bind/count", "alpha", "fail", directory="")
        files.add("distributed/ring/n4", "alpha", "fail", directory="", ranks="4")
        for test_id, shrinks, writes in (
            ("node/Add/one", False, True),
            ("contract/bind/count", False, False),
            ("distributed/ring/n4", True, False),
        ):
            text = self.panel_of(files, test_id, "alpha")
            self.assertEqual("assay shrink" in text, shrinks, test_id)
            self.assertEqual("assay capsule" in text, writes, test_id)

    # Kills: a zero that stands for what was not measured.
    def test_panel_says_no_zero_where_nothing_was_measured(self) -> None:
        rows = (
            ({"nan_mismatch": "2", "max_abs_err": "0", "max_ulp": "0"}, False),
            ({"inf_mismatch": "1", "max_abs_err": "0.5", "max_ulp": "0"}, True),
            ({"nan_mismatch": "0", "max_abs_err": "0", "max_ulp": "0"}, True),
        )
        for columns, has_error in rows:
            with self.subTest(columns):
                files = RunFiles(["alpha"])
                files.add("node/Add/one", "alpha", "fail")
                files.add_output("node/Add/one", "alpha", **columns)
                text = self.panel_of(files, "node/Add/one", "alpha")
                self.assertEqual("max abs error" in text, has_error)

    def test_panel_of_a_crash_has_its_frames_and_no_unmeasured_time(self) -> None:
        files = RunFiles(["alpha"])
        message = "signal 11 in forward\n#0 add at add.cc:7\n#1 main"
        files.add("node/Add/one", "alpha", "crash", message=message)
        script = """
            await until(() => panel.open);
            const frames = panel.querySelector('.message');
            return [frames.innerText.split('\\n'),
              panel.innerText.includes('did not come to the end of the case')];
            """
        found = self.seen(files, script, hash_text="case=node/Add/one&backend=alpha")
        self.assertEqual(found, [message.split("\n"), True])

    def test_panel_of_a_pass_offers_nothing_to_make_small(self) -> None:
        files = RunFiles(["alpha"])
        files.run["command"] = "assay run --out 'my runs/one'"
        files.add("node/Add/one", "alpha", "pass")
        text = self.panel_of(files, "node/Add/one", "alpha")
        self.assertIn("--run 'my runs/one' Copy Hand it on assay capsule", text)
        self.assertNotIn("shrink", text)
        self.assertNotIn("Attempts", text)
