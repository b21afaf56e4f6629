# SPDX-License-Identifier: Apache-2.0
"""The search language of the page, in Chromium; skipped where there is none."""

import json
from typing import Any

from browser import BrowserCase, browse
from script_test import searched_run

# Cells in order: a0 b0 a1 b1 a2; nothing was planned for b2.
QUERIES = (
    ("", "a0 b0 a1 b1 a2"),
    ("  ", "a0 b0 a1 b1 a2"),
    ("op:Conv", "a1 b1 a2"),
    ("op:C*v", "a1 b1 a2"),
    ("op:?dd", "a0 b0"),
    ("op:Conv and backend:beta and not outcome:pass", "b1"),
    ("op:Conv backend:beta", "b1"),
    ("not op:Conv", "a0 b0"),
    ("not not op:Conv", "a1 b1 a2"),
    ("op:Add or outcome:fail", "a0 b0 b1"),
    ("op:Add or op:Conv and outcome:fail", "a0 b0 b1"),
    ("(op:Add or op:Conv) and outcome:fail", "b1"),
    ("(op:Add)(outcome:pass)", "a0 b0"),
    ("not (op:Add or outcome:fail)", "a1 a2"),
    ("id:node/Conv/test_conv", "a1 b1"),
    ("id:*/test_conv*", "a1 b1 a2"),
    ("suite:special", "a2"),
    ("corpus:special kind:node comparator:exact", "a2"),
    ("corpus:onnx", "a0 b0 a1 b1"),
    ("dtype:int64", "a0 b0"),
    ("dtype:float*", "a0 b0 a1 b1 a2"),
    ("opset>=14", "a0 b0 a1 b1"),
    ("opset>14", "a1 b1"),
    ("opset<14", "a2"),
    ("opset<=14", "a0 b0 a2"),
    ("opset=14", "a0 b0"),
    ("opset:14", "a0 b0"),
    ("opset:1?", "a0 b0 a2"),
    ("extent=10", "a1 b1"),
    ("extent:2", "a1 b1"),
    ("not extent<3", "a0 b0 a2"),
    ("backend:alpha", "a0 a1 a2"),
    ("backend:alpha@2", "a0 a1 a2"),
    ("outcome:fail", "b1"),
    ("outcome:f*", "b1"),
    ("reason:value", "b1"),
    ('reason:""', "a0 b0 a1 a2"),
    ("message:elements", "b1"),
    ("vacuous:yes", "b0"),
    ("vacuous:no", "a0 a1 b1 a2"),
    ("is:unexpected", "b1"),
    ("is:different", "a1 b1"),
    ("is:claimed", "a0"),
    ("1x1", "a2"),
    ("test_conv", "a1 b1 a2"),
    ('"test_co"nv', "a1 b1 a2"),
    ("t?st_conv node", "a1 b1"),
    ('message:"60 elements"', "b1"),
    ('message:"(nan)"', "b1"),
    ('op:Add or op:"Conv"', "a0 b0 a1 b1 a2"),
)

# Queries that no cell matches, and the answer to each.
NOTHING = (
    ("op:Con", "this run has no op:Con; did you mean Conv?"),
    ("op:conv", "this run has no op:conv; did you mean Conv?"),
    ("op:Cnov", "this run has no op:Cnov; did you mean Conv?"),
    ("op:Softmax", "this run has no op:Softmax"),
    ("id:node/Conv", "this run has no id:node/Conv"),
    ("backend:bta", "this run has no backend:bta; did you mean beta?"),
    ("reason:valve", "this run has no reason:valve; did you mean value?"),
    ("dtype:flaot32", "this run has no dtype:flaot32; did you mean float32?"),
    (
        "Elements",
        "no id of a case has 'Elements' in it; "
        'message:"Elements" looks into messages',
    ),
    ('"and"', "no id of a case has 'and' in it; message:\"and\" looks into messages"),
    ("op:Add outcome:fail", ""),
)

MISTAKES = (
    ("colour:red", "column 1: found the key 'colour', wanted one of id, suite,"),
    ("opp:Conv", "outcome, reason, rank, extent, message, is; did you mean op?"),
    ("-op:Conv", "; 'not op:Conv' excludes"),
    ("max_ulp>10", "column 1: found the key 'max_ulp', wanted one of id,"),
    ("op:", "column 4: found 'op:', wanted a value"),
    ("op:Conv and", "column 12: found the end, wanted a term"),
    ("and op:Conv", "column 1: found 'and', wanted a term"),
    ("op:Add AND op:Add", "column 8: found 'AND', wanted and, or, not in small"),
    ("(op:Conv", "column 9: found the end, wanted the ')' of column 1"),
    ("op:Conv)", "column 8: found ')', wanted the end: this ')' closes nothing"),
    ("()", "column 2: found ')', wanted a term"),
    ('"open', "column 1: found a quote that is not closed"),
    ("opset>=new", "column 8: found 'new', wanted an integer"),
    ("op>=3", "wanted ':' behind the key: only opset, rank and extent are"),
    ("op=Conv", "wanted ':' behind the key: only opset, rank and extent are"),
    ("attr:axis=1", "attr: is read from models, which a run does not keep"),
    ("rank>2", "rank: is read from models, which a run does not keep"),
    ("is:odd", "found is:odd, wanted is:unexpected, is:different or"),
    ("outcome:failed", "found outcome:failed, wanted one of pass, waived,"),
    ("outcome:failed", "unavailable; did you mean fail?"),
    ("vacuous:maybe", "found vacuous:maybe, wanted one of yes, no"),
)

SEARCH = """
const store = new Store(await unpack('data-matrix'));
return %s.map((text) => {
  try {
    const mask = store.search(parseQuery(text));
    return ['a0', 'b0', 'a1', 'b1', 'a2', 'b2'].filter((_, k) => mask[k])
      .concat(store.notes.map((note) => `! ${note}`)).join(' ');
  } catch (error) {
    if (!(error instanceof QueryError)) throw error;
    return error.message;
  }
});
"""


class QueryTest(BrowserCase):
    def search(self, queries: list[str]) -> Any:
        return browse(searched_run().page(), SEARCH % json.dumps(queries))

    def test_query_finds(self) -> None:
        found = self.search([query for query, _ in QUERIES])
        for (query, cells), answer in zip(QUERIES, found, strict=True):
            with self.subTest(query):
                self.assertEqual(answer, cells)

    def test_mistake_in_a_query_is_named(self) -> None:
        found = self.search([query for query, _ in MISTAKES])
        for (query, message), answer in zip(MISTAKES, found, strict=True):
            with self.subTest(query):
                self.assertIn(message, answer)

    def test_query_that_no_cell_answers_says_so(self) -> None:
        found = self.search([query for query, _ in NOTHING])
        for (query, note), answer in zip(NOTHING, found, strict=True):
            with self.subTest(query):
                self.assertEqual(answer, f"! {note}" if note else "")

    def test_query_with_a_mistake_marks_the_list_as_old(self) -> None:
        self.assert_sees(
            [
                [True, "The list is that of the query before."],
                [False, "2 of 3 cases, 3 cells"],
            ],
            searched_run(),
            """
            const grid = get('grid');
            const query = get('query');
            const type = (text) => {
              query.value = text;
              query.dispatchEvent(new Event('input'));
              return [grid.classList.contains('stale'),
                get('count').textContent];
            };
            return [type('opp:Conv'), type('op:Conv')];
            """,
        )

    def test_back_undoes_a_query(self) -> None:
        self.assert_sees(
            ["", "3 of 3 cases, 5 cells"],
            searched_run(),
            """
            const query = get('query');
            query.focus();
            for (const text of ['op:Con', 'op:Conv']) {
              query.value = text;
              query.dispatchEvent(new Event('input'));
            }
            history.back();
            await new Promise((done) => addEventListener('popstate', done));
            return [query.value, get('count').textContent];
            """,
        )
