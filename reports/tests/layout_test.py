# SPDX-License-Identifier: Apache-2.0
"""Where things stand on the page: on phones and wide screens, and on paper."""

from browser import BrowserCase
from causes_test import wrong_slope
from gradients_test import failed_run
from script_test import searched_run
from synthetic import RunFiles, chance_run, whole_run

WIDTHS = (320, 360, 390, 1280)
# The most elements that a page has before a reader asks for more.
ELEMENTS = 1500
LONG = "a reason of some length, as real ones are, with numbers such as 14030; "


def red_run(backends: int) -> RunFiles:
    """Long names, and more causes than there is room for."""
    names = [f"faulty+mutant=ignore:Gemm.attribute{at}" for at in range(backends)]
    files = RunFiles(names if backends > 1 else ["alpha"])
    for backend in files.reasons:
        for at in range(7):
            outcome = ("fail", "crash", "xpass")[at % 3]
            test_id = f"gradcheck/BatchNormalization{at}/test_of_a_long_name_{at}"
            files.add(test_id, backend, outcome, message=LONG * 6)
    return files


class LayoutTest(BrowserCase):
    prelude = """
        const isIn = (box) => box.left >= 0 && box.right <= innerWidth + 0.5;
        """

    # Kills: a panel that is wider than the window, whose Close nobody can press.
    def test_every_button_of_the_panel_lies_in_the_window(self) -> None:
        files = searched_run()
        files.add_output("node/Conv/test_conv", "beta", worst="2:-0:6 5:1:2")
        many = chance_run(cases=20, backends=8)
        case, backend = many.unexpected[0]["test_id"], many.unexpected[0]["backend"]
        one = RunFiles(["alpha"])
        one.add("node/Add/one", "alpha", "fail", message=LONG)
        rows = (
            *((files, "node/Conv/test_conv", "beta", width) for width in WIDTHS),
            (one, "node/Add/one", "alpha", 320),
            (many, case, backend, 320),
        )
        for files, test_id, backend, width in rows:
            with self.subTest(backends=len(files.reasons), width=width):
                script = """
                    await until(() => panel.open);
                    const buttons = [...panel.querySelectorAll('button, a')];
                    const close = panel.querySelector('.close');
                    close.scrollIntoView();
                    const box = close.getBoundingClientRect();
                    const top = document.elementFromPoint(
                      (box.left + box.right) / 2, (box.top + box.bottom) / 2);
                    const cut = buttons.filter(
                      (one) => !isIn(one.getBoundingClientRect()));
                    return [innerWidth, top === close,
                      cut.map((one) => one.textContent)];
                    """
                cell = f"case={test_id}&backend={backend}"
                found = self.seen(files, script, hash_text=cell, width=width)
                self.assertEqual(found, [width, True, []])

    # Kills: what is hidden for the eye, and makes the page longer than its content.
    def test_page_ends_where_its_content_ends(self) -> None:
        for name, files in (
            ("all", whole_run(60, 2)),
            ("gradients", failed_run()),
            ("many", chance_run(60, 8)),
        ):
            for width in (360, 1280):
                with self.subTest(name, width=width):
                    script = """
                        drawLater();
                        for (const one of all('.rest button')) one.click();
                        const root = document.documentElement;
                        return [sideways(), root.scrollHeight -
                          Math.ceil(document.body.getBoundingClientRect().bottom +
                            scrollY)];
                        """
                    found = self.seen(files, script, width=width)
                    self.assertEqual(found[0], 0)
                    self.assertLessEqual(abs(found[1]), 1)

    def test_what_scrolls_can_be_reached_by_keyboard(self) -> None:
        script = """
            drawLater();
            for (const one of all('details')) one.open = true;
            drawLater();
            return all('body *').filter((one) => {
              const {overflowX, overflowY} = getComputedStyle(one);
              const scrolls = /auto|scroll/.test(overflowX + overflowY) &&
                (one.scrollWidth > one.clientWidth + 1 ||
                  one.scrollHeight > one.clientHeight + 1);
              return scrolls && one.tabIndex < 0 &&
                !one.querySelector('[tabindex="0"], button, a[href]');
            }).map((one) => one.className);
            """
        for width in (360, 1280):
            with self.subTest(width=width):
                self.assertEqual(self.seen(whole_run(60, 2), script, width=width), [])

    # Kills: a table beside whose first column the others are cut on a phone.
    def test_tables_are_as_wide_as_a_phone(self) -> None:
        files = red_run(8)
        for backend in files.reasons:
            files.add("gradcheck/Abs/a#redrawn.float32", backend, "fail")
            files.add_gradient("gradcheck/Abs/a#redrawn.float32", backend)
        script = """
            drawLater();
            return all('[role=group][tabindex]').filter((one) =>
              one.scrollWidth > one.clientWidth + 1).map((one) => one.className);
            """
        self.assert_sees([], files, script, width=360)

    # Kills: causes that begin below the first screen, behind facts and hashes.
    def test_causes_stand_on_the_first_screen(self) -> None:
        script = """
            const causes = document.querySelector('.causes');
            const before = all('main, .lead, .facts').filter((one) =>
              one.compareDocumentPosition(causes) & 4);
            return [causes.children.length, before.length,
              causes.getBoundingClientRect().bottom];
            """
        for backends, width in ((b, w) for b in (1, 8) for w in (360, 1280)):
            with self.subTest(backends=backends, width=width):
                files = red_run(backends) if backends > 1 else wrong_slope()
                n, before, bottom = self.seen(files, script, width=width)
                self.assertEqual((n, before), (5 if backends > 1 else 4, 0))
                self.assertLess(bottom, 780)

    def test_link_of_a_cause_finds_its_cases(self) -> None:
        script = """
            const store = new Store(await unpack('data-matrix'));
            return all('.causes a[href^="#q"]').map((link) => {
              const query = new URLSearchParams(link.hash.slice(1)).get('q');
              const n = store.search(parseQuery(query)).reduce((a, b) => a + b);
              return [parseInt(link.textContent, 10), n];
            });
            """
        # One of the three promises on bind is counted with its probe.
        slope = [[3, 3], [2, 2], [2, 3], [1, 1]]
        joined = [[16, 16], [16, 16], [1, 1], [1, 1], [1, 1]]
        self.assert_sees(slope, wrong_slope(), script)
        self.assert_sees(joined, red_run(8), script)

    # Kills: heads of backends that are cut where their names begin to differ.
    def test_heads_of_backends_are_told_apart(self) -> None:
        script = """
            const heads = all('.head .cell');
            const texts = heads.map((one) => one.innerText.replace(/\\s/g, ''));
            const cut = heads.filter((one) => one.scrollWidth > one.clientWidth + 1 ||
              one.scrollHeight > one.clientHeight + 1);
            return [texts.length, new Set(texts).size, cut.length];
            """
        for width in (360, 1280):
            with self.subTest(width=width):
                self.assert_sees([8, 8, 0], red_run(8), script, width=width)

    def test_page_that_was_opened_has_few_elements(self) -> None:
        script = "return [document.querySelectorAll('*').length, unseen.size > 3];"
        for backends in (2, 8):
            with self.subTest(backends=backends):
                n, waits = self.seen(whole_run(2000, backends), script, width=1280)
                self.assertLessEqual(n, ELEMENTS)
                self.assertTrue(waits)

    # Kills: a table that is empty on paper since nobody scrolled to it.
    def test_paper_has_operators_and_unexpected_results(self) -> None:
        script = """
            dispatchEvent(new Event('beforeprint'));
            const rows = (selector) => all(`${selector} tbody tr`).length;
            return [rows('#operator-table'), rows('.surprises'),
              get('unexpected-shown').textContent, rows('#gradient-table') > 30,
              all('#grid.unprinted').length, rows('.steps-map') > 0, unseen.size];
            """
        files = whole_run(600, 2)
        n = len(files.unexpected)
        self.assertGreater(n, 30)
        shown = [110, min(n, 120), str(min(n, 120)), True]
        self.assert_sees([*shown, 1, True, 0], files, script)
        query = "q=is:unexpected"
        self.assert_sees([*shown, 0, True, 0], files, script, hash_text=query)

    def test_panel_explains_its_words(self) -> None:
        files = failed_run()
        script = """
            await until(() => panel.open);
            return [...new Set([...panel.querySelectorAll('abbr')].map(
              (one) => one.textContent))];
            """
        one = files.unexpected[0]
        cell = f"case={one['test_id'].replace('#', '%23')}&backend={one['backend']}"
        found = self.seen(files, script, hash_text=cell)
        self.assertLessEqual({"limit", "claims"}, {*found})

    def test_word_says_its_meaning_where_it_stands(self) -> None:
        script = """
            const word = all('.card abbr').find((one) => one.textContent === 'vacuous');
            word.click();
            const said = word.nextElementSibling.textContent;
            word.click();
            return [said, word.title, all('.meaning').length];
            """
        meaning = "the expected outputs are constant or empty, so that a pass says "
        meaning += "little"
        self.assert_sees([f" ({meaning})", meaning, 0], searched_run(), script)
