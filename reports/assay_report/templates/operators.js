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

class OperatorTable {
  constructor(rows, show) {
    this.rows = rows;
    this.show = show;
    this.backend = '';
    this.column = 0;
    this.isDown = false;
    this.isWhole = false;
    this.root = document.getElementById('operator-table');
    this.root.hidden = false;
    this.head = element('tr', {}, ...OPERATOR_COLUMNS.map(([name], at) => {
      const button = pressable('', name, () => this.sortBy(at));
      return element('th', {scope: 'col', class: this.kind(name)}, button);
    }));
    this.body = element('tbody', {});
    this.root.append(element('table', {},
      element('thead', {}, this.head), this.body));
    this.drawTools();
    this.draw();
  }

  kind(name) {
    return WORD_COLUMNS.has(name) ? null : 'num';
  }

  // One chip per backend, and the table as CSV.
  drawTools() {
    const tools = document.getElementById('operator-tools');
    tools.hidden = false;
    const names = [...new Set(this.rows.map((row) => row.backend))];
    const chosen = names.length < 2 ? [] : names;
    const chips = chosen.map((name) => pressable('chip', name, () => {
      this.backend = this.backend === name ? '' : name;
      for (const one of chips) {
        one.setAttribute('aria-pressed', String(one.textContent === this.backend));
      }
      this.draw();
    }, {'aria-pressed': 'false'}));
    const csv = pressable('copy', 'CSV of this table',
      () => saveCsv('operators.csv', this.csv()));
    this.rest = pressable('copy', 'Show all', () => {
      this.isWhole = true;
      this.draw();
    });
    tools.append(...chips, csv);
    this.root.after(element('p', {class: 'rest'}, this.rest));
  }

  sortBy(column) {
    const largeFirst = OPERATOR_COLUMNS[column][3] === true;
    this.isDown = this.column === column ? !this.isDown : largeFirst;
    this.column = column;
    this.draw();
  }

  sorted() {
    const chosen = this.rows.filter(
      (row) => !this.backend || row.backend === this.backend);
    return sortRows(chosen, OPERATOR_COLUMNS[this.column][2], this.isDown);
  }

  draw() {
    [...this.head.children].forEach((cell, at) => {
      const way = this.isDown ? 'descending' : 'ascending';
      if (at === this.column) cell.setAttribute('aria-sort', way);
      else cell.removeAttribute('aria-sort');
    });
    const rows = this.sorted();
    const shown = this.isWhole ? rows : rows.slice(0, FIRST_OPERATORS);
    this.body.replaceChildren(...shown.map((row) => this.drawRow(row)));
    this.rest.hidden = shown.length === rows.length;
    this.rest.textContent = `Show all ${rows.length.toLocaleString('en')}`;
  }

  drawRow(row) {
    const [, ...others] = OPERATOR_COLUMNS;
    const link = pressable('link', row.op, () => this.show(
      `op:"${row.op}" and backend:"${row.backend}"`));
    return element('tr', {},
      element('th', {scope: 'row'}, link),
      ...others.map(([name, text]) => element('td', {
        class: [this.kind(name), name === 'Unexpected' && row.unexpected ?
          'bad' : ''].filter(Boolean).join(' ') || null,
        'data-label': name.toLowerCase(),
      }, text(row))));
  }

  csv() {
    const names = ['op', 'backend', 'planned', 'pass', 'claimed', 'claimed_pass',
      'unexpected', 'unsupported', 'why', 'max_ulp', 'headroom', 'time_us'];
    return csvText([names, ...this.sorted().map((row) => [row.op, row.backend,
      row.planned, row.pass, row.claimed, row.claimedPass, row.unexpected,
      row.unsupported, row.why, row.ulp, row.headroom, row.time])]);
  }
}
