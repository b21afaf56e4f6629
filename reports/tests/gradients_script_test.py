# SPDX-License-Identifier: Apache-2.0
"""The table of gradients and its part of the panel, in Chromium."""

from browser import BrowserCase
from gradients_test import case, failed_run
from synthetic import RunFiles
from words import HOSTILE

READ = """
drawLater();
const table = get('gradient-table');
const texts = (nodes) => [...nodes].map(
  (node) => node.textContent.replace(/\\s+/g, ' ').trim());
const rows = () => [...table.querySelectorAll('.operator')].map(
  (row) => texts(row.children));
const press = (key) => table.querySelector(`[data-key="${key}"]`).click();
"""


def graded_run() -> RunFiles:
    """Errors in units of the limit: Abs 0.25 and 0, Exp 0.75, Log not judged."""
    files = RunFiles(["alpha", "beta"])
    rows = (
        ("Abs", "one", "float32", "0.75"),
        ("Abs", "two", "float32", "0.9"),
        ("Abs", "one", "float64", "1"),
        ("Exp", "one", "float32", "0.25"),
        ("Log", "one", "float32", ""),
    )
    for op, name, dtype, headroom in rows:
        test_id = case(op, name, dtype)
        files.add(test_id, "alpha", "pass")
        files.add_gradient(test_id, "alpha", headroom="0.99", cotangent="ones")
        files.add_gradient(test_id, "alpha", headroom=headroom)
        if not headroom:
            files.tables["gradients"] = files.tables["gradients"][:-2]
    files.add(case("Abs", "one"), "beta", "xfail", message="known", opset="21")
    files.add_gradient(case("Abs", "one"), "beta", headroom="-inf", outcome="fail")
    files.add(case("Exp", "one"), "beta", "unsupported")
    files.add("node/Abs/one", "alpha", "pass")
    return files


class GradientTableTest(BrowserCase):
    prelude = READ

    # Kills: a worst error that is that of the first row, of another type or of
    # another backend; a case of another suite that is counted.
    def test_operators_have_the_worst_of_each_type(self) -> None:
        found = self.seen(
            graded_run(),
            """
            const first = rows();
            document.querySelectorAll('#gradient-tools button')[1].click();
            return [first, rows(), texts(document.querySelectorAll(
              '#gradient-tools [aria-pressed=true]'))];
            """,
        )
        alpha = [
            ["Exp", "1", "0.75 1 pass", "0.75 1 pass", "no case"],
            ["Abs", "3", "0.25 3 pass", "0.25 2 pass", "0.01 1 pass"],
            ["Log", "1", "\u2013 1 pass", "\u2013 1 pass", "no case"],
        ]
        beta = [
            ["Abs", "1", "\u2715 \u221e 1 xfail", "\u2715 \u221e 1 xfail", "no case"],
            ["Exp", "1", "\u2013 1 unsupported", "\u2013 1 unsupported", "no case"],
        ]
        self.assertEqual(found, [alpha, beta, ["beta"]])

    # Kills: a scale that is off by a step, or that takes a fail for a pass.
    def test_colours_have_the_steps_of_the_scale(self) -> None:
        texts = ["0", "1e-9", "0.01", "0.011", "0.1", "0.5", "0.51", "1", "1.002"]
        texts += ["3.3e44", "\u221e"]
        self.assert_sees(
            [0, 1, 1, 2, 2, 3, 4, 4, 5, 5, 5],
            graded_run(),
            f"return {texts!r}.map((text) => gradientStep(gradientError(text)));",
        )

    def test_head_sorts_and_says_so(self) -> None:
        found = self.seen(
            graded_run(),
            """
            const order = () => [rows().map(([op]) => op).join(' '),
              ...[...table.querySelectorAll('[aria-sort]')].map((head) =>
                `${head.textContent} ${head.getAttribute('aria-sort')}`)];
            const seen = [order()];
            for (const key of ['op', 'op', 'cases', '.float64', '.float64']) {
              press(key);
              seen.push(order());
            }
            return [seen, document.activeElement.dataset.key];
            """,
        )
        wanted = [
            ["Exp Abs Log", "All types descending"],
            ["Abs Exp Log", "Operator ascending"],
            ["Log Exp Abs", "Operator descending"],
            ["Abs Exp Log", "Cases descending"],
            ["Abs Exp Log", "float64 descending"],
            ["Exp Log Abs", "float64 ascending"],
        ]
        self.assertEqual(found, [wanted, ".float64"])

    def test_row_opens_to_its_cases_by_keyboard(self) -> None:
        files = graded_run()
        files.tables["results"][1].update(reason_code="subgradient_ok")
        found = self.seen(
            files,
            """
            const button = table.querySelectorAll('.op')[1];
            button.focus();
            button.click();
            const opened = [button.getAttribute('aria-expanded'),
              texts(table.querySelectorAll('.cases li'))];
            press('op');
            const kept = table.querySelectorAll('.cases li').length;
            table.querySelector('.op').click();
            return [...opened, kept, table.querySelectorAll('.cases').length];
            """,
        )
        expanded, cases, kept, closed = found
        self.assertEqual((expanded, kept, closed), ("true", 3, 0))
        self.assertEqual(
            cases[0],
            "pass one#redrawn.float32 0.25class redrawn by x cotangent random 1 kind "
            "smooth worst element 4 = [1, 1] got 1 want 1 limit 0.001 assay run "
            f"--backend alpha --filter id:{case('Abs', 'one')}Copy",
        )
        self.assertIn(
            "subgradient_ok: at a kink the gradient is one of those that it may be "
            "there.",
            cases[1],
        )

    def test_many_cases_are_drawn_when_asked_for(self) -> None:
        files = RunFiles(["alpha"])
        for number in range(45):
            test_id = case("Abs", f"n{number:02}")
            files.add(test_id, "alpha", "pass")
            files.add_gradient(test_id, "alpha", headroom=repr(number / 45))
        found = self.seen(
            files,
            """
            table.querySelector('.op').click();
            const drawn = () => table.querySelectorAll('.cases li').length;
            const before = drawn();
            table.querySelector('.rest button').click();
            return [before, drawn(), texts(table.querySelectorAll('.cases a'))[0],
              document.activeElement.textContent];
            """,
        )
        name = "n{}#redrawn.float32".format
        self.assertEqual(found, [40, 45, name("00"), name("40")])

    def test_first_backend_is_the_one_that_fails(self) -> None:
        files = graded_run()
        files.add(case("Sin"), "beta", "fail", message="wrong")
        pressed = (
            "return texts(document.querySelectorAll('.chips [aria-pressed=true]'))"
        )
        self.assertEqual(self.seen(graded_run(), pressed), ["alpha"])
        self.assertEqual(self.seen(files, pressed), ["beta"])

    def test_panel_has_the_worst_gradient_and_all_that_failed(self) -> None:
        files = failed_run()
        files.tables["gradients"][-1].update(
            dir_err="3", kink_count="2", kink_convention="split"
        )
        files.add_gradient(
            case("Conv", "small"), "alpha", input="b", outcome="fail", headroom="-8"
        )
        text = self.panel_of(files, case("Conv", "small"), "alpha")
        for wanted in (
            "Gradients the worst and what failed, of 3 by b [2,3] random 1 error 9 in",
            "by w [2,3] random 1 error 2 in units of the limit worst element 4 = [1, 1]"
            " want 1.25 got -1.25 limit 1e-06 kind smooth at kinks 2 elements, "
            "convention split",
            "More numbers n in 6 n out 6 dir err 3",
        ):
            self.assertIn(wanted, text)
        self.assertNotIn("by x", text)

    def test_hostile_text_stays_text(self) -> None:
        files = RunFiles(["alpha"])
        names = ("input", "cotangent", "class", "got", "want", "limit", "worst_index")
        for number, text in enumerate(HOSTILE):
            test_id = case(f"Op{number}", f"t{number}")
            files.add(test_id, "alpha", "fail", message=text, repro=text, op=text)
            files.add_gradient(
                test_id, "alpha", outcome="fail", **dict.fromkeys(names, text)
            )
        found = self.seen(
            files,
            """
            globalThis.alert = () => { throw new Error('a script ran'); };
            for (const button of [...table.querySelectorAll('.op')]) button.click();
            return {
              ops: [...table.querySelectorAll('.op')].map((one) => one.textContent),
              repros: [...table.querySelectorAll('.cases code')].map(
                (one) => one.textContent),
              images: document.images.length,
            };
            """,
        )
        self.assertCountEqual(found["ops"], HOSTILE)
        self.assertCountEqual(found["repros"], HOSTILE)
        self.assertEqual(found["images"], 0)
