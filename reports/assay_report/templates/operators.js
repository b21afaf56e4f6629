// SPDX-License-Identifier: Apache-2.0
//
// The table of operators and backends: what passes, what is claimed, what is
// declined and why, the worst numbers, the time. It is drawn when it comes into
// view, since most readers of a green page never look.
//
//   new OperatorTable(store, (text) => showQuery(text));

const FIRST_OPERATORS = 40;

// Heading, what a row says, what it is sorted by, and whether large is first.
const OPERATOR_COLUMNS = [
  ['Operator', (row) => row.op, (row) => row.op],
  ['Backend', (row) => row.backend, (row) => row.backend],
  ['Pass', (row) => ofCount(row.pass, row.planned),
    (row) => row.pass / row.planned],
  ['Claimed', (row) => (row.claimed ? ofCount(row.claimedPass, row.claimed) : ''),
    (row) => (row.claimed ? row.claimedPass / row.claimed : NaN)],
  ['Unexpected', (row) => countText(row.unexpected), (row) => row.unexpected, true],
  ['Unsupported', (row) => countText(row.unsupported),
    (row) => row.unsupported, true],
  ['Why', (row) => row.why, (row) => row.why],
  ['Worst ULP', (row) => row.ulp, (row) => numberOf(row.ulp), true],
  ['Least headroom', (row) => row.headroom, (row) => numberOf(row.headroom)],
  ['Time', (row) => microseconds(row.time),
    (row) => numberOf(row.time), true],
];
const WORD_COLUMNS = new Set(['Operator', 'Backend', 'Why']);

function ofCount(part, whole) {
  return `${part.toLocaleString('en')} of ${whole.toLocaleString('en')}`;
}

function countText(count) {
  return count ? count.toLocaleString('en') : '';
}

// Tables write inf and -inf.
function numberOf(text) {
  return text === '' ? NaN : Number(text.replace('inf', 'Infinity'));
}

function operatorRows(data) {
  return Array.from(data.n_planned, (planned, at) => ({
    op: data.op.at(at), backend: data.backend.at(at), why: data.why.at(at),
    planned, pass: data.n_pass[at], claimed: data.n_claimed[at],
    claimedPass: data.n_claimed_pass[at], unexpected: data.n_unexpected[at],
    unsupported: data.n_unsupported[at], ulp: data.max_ulp.at(at),
    headroom: data.headroom.at(at), time: data.time_us.at(at),
  }));
}

// Sorts rows by a key; what has none stands last either way.
function sortRows(rows, key, isDown) {
  const sign = isDown ? -1 : 1;
  return rows.map((row) => [key(row), row]).sort(([a], [b]) => {
    if (Number.isNaN(a) || Number.isNaN(b)) {
      return Number(Number.isNaN(a)) - Number(Number.isNaN(b));
    }
    return a < b ? -sign : a > b ? sign : 0;
  }).map(([, row]) => row);
}

class OperatorTable extends SortedTable {
  constructor(rows, show) {
    super({name: 'operator', columns: OPERATOR_COLUMNS, words: WORD_COLUMNS, rows,
      first: FIRST_OPERATORS});
    this.show = show;
  }

  drawName({op, backend}) {
    return pressable('link', op,
      () => this.show(`op:"${op}" and backend:"${backend}"`));
  }

  csv() {
    const names = ['op', 'backend', 'planned', 'pass', 'claimed', 'claimed_pass',
      'unexpected', 'unsupported', 'why', 'max_ulp', 'headroom', 'time_us'];
    return csvText([names, ...this.sorted().map((row) => [row.op, row.backend,
      row.planned, row.pass, row.claimed, row.claimedPass, row.unexpected,
      row.unsupported, row.why, row.ulp, row.headroom, row.time])]);
  }
}
