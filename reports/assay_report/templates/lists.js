// SPDX-License-Identifier: Apache-2.0
//
// Which cases are listed, in which order and groups, and the list as CSV. Pure
// functions of the run's data and of a mask: one byte per cell, whether it
// matches.
//
//   const rows = matchingCases(store, mask);
//   orderCases(store, detail, mask, rows, 'time', new Map());

// Counts per outcome of the cells that match.
function countOutcomes(store, mask) {
  const {values, indices} = store.cell.outcome;
  const counts = new Uint32Array(values.length);
  for (let k = 0; k < store.size; k += 1) counts[indices[k]] += mask[k];
  return new Map(values.map((name, at) => [name, counts[at]])
    .filter(([name]) => name !== ''));
}

// Numbers of the cases that have a matching cell.
function matchingCases(store, mask) {
  const rows = [];
  for (let row = 0; row < store.cases; row += 1) {
    const first = store.cellAt(row, 0);
    const end = store.cellAt(row + 1, 0);
    for (let k = first; k < end; k += 1) {
      if (mask[k]) {
        rows.push(row);
        break;
      }
    }
  }
  return rows;
}

// Orders of cases other than by name: what a cell counts by, how it is written,
// and whether large numbers come first.
const ORDERS = {
  time: {
    of: (detail, k) => numberOf(detail.cell.run_us.at(k)),
    text: (value) => microseconds(String(value)),
    isDown: true,
  },
  memory: {
    of: (detail, k) => numberOf(detail.cell.own_rss_kb.at(k)),
    text: (value) => memoryText(value),
    isDown: true,
  },
  headroom: {
    of: (detail, k) => numberOf(detail.cell.headroom.at(k)),
    text: (value) => (Number.isFinite(value) ?
      String(Number(value.toPrecision(4))) : '-inf'),
    isDown: false,
  },
};

// The cases by the first in the order of their matching cells; `texts` gets the
// number of each.
function orderCases(store, detail, mask, rows, order, texts) {
  const {of, text, isDown} = ORDERS[order];
  const {short} = store;
  const first = (row) => {
    const end = store.cellAt(row + 1, 0);
    let best = NaN;
    let whose = '';
    for (let k = store.cellAt(row, 0); k < end; k += 1) {
      if (!mask[k]) continue;
      const value = of(detail, k);
      if (Number.isNaN(best) || (isDown ? value > best : value < best)) {
        best = value;
        whose = short.length > 1 ? ` on ${short[store.columnOf(k)]}` : '';
      }
    }
    if (!Number.isNaN(best)) texts.set(row, text(best) + whose);
    return best;
  };
  return sortRows(rows, first, isDown);
}

// Roll-up over all cases of the run: a filter changes what is listed, never
// the score. {name, cases, matching, isOpen, backends: [{pass, planned, ...}]}
function rollUp(store, column) {
  const groups = new Map();
  for (let row = 0; row < store.cases; row += 1) {
    const name = column.at(row);
    if (!groups.has(name)) {
      groups.set(name, {name, cases: 0, matching: 0, isOpen: false,
        backends: store.backends.map(
          () => ({pass: 0, planned: 0, unexpected: 0}))});
    }
    const group = groups.get(name);
    group.cases += 1;
    group.backends.forEach((sum, at) => {
      const k = store.cellAt(row, at);
      sum.planned += store.planned[k];
      sum.unexpected += store.unexpected[k];
      sum.pass += store.cell.outcome.at(k) === 'pass' ? 1 : 0;
    });
  }
  return [...groups.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

// The rows to list, grouped: headings, and the cases of open groups.
function groupRows(groups, column, rows) {
  const members = new Map(groups.map((group) => [group.name, []]));
  for (const row of rows) members.get(column.at(row)).push(row);
  const listed = [];
  groups.forEach((group, at) => {
    const mine = members.get(group.name);
    group.matching = mine.length;
    if (!mine.length) return;
    listed.push(-1 - at);
    if (group.isOpen) listed.push(...mine);
  });
  return listed;
}

// CSV of RFC 4180, in UTF-8 with \n.
function csvText(rows) {
  const field = (value) => {
    const text = String(value ?? '');
    return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return rows.map((row) => `${row.map(field).join(',')}\n`).join('');
}

function saveCsv(name, text) {
  const address = URL.createObjectURL(new Blob([text], {type: 'text/csv'}));
  element('a', {href: address, download: name}).click();
  URL.revokeObjectURL(address);
}

const VIEW_CASE = ['suite', 'op', 'domain', 'opset', 'dtype', 'shape_sig',
  'corpus', 'kind', 'comparator'];
const VIEW_CELL = ['attempt', 'load_us', 'run_us', 'judge_us', 'headroom'];

// The matching cells of the listed cases, in the order of the list.
function viewCsv(store, detail, cases, mask) {
  const head = ['test_id', 'backend', 'outcome', 'reason_code', 'message',
    'vacuous', 'claimed', ...VIEW_CASE, ...VIEW_CELL, 'repro'];
  const rows = [head];
  for (const row of cases) {
    store.backends.forEach((backend, column) => {
      const k = store.cellAt(row, column);
      if (!mask[k]) return;
      const seed = detail.cell.seed.at(k);
      rows.push([store.ids[row], backend, store.cell.outcome.at(k),
        store.cell.reason_code.at(k), store.text(store.cell.message, k, seed),
        store.cell.vacuous.at(k), store.cell.claimed.at(k),
        ...VIEW_CASE.map((name) => store.case[name].at(row)),
        ...VIEW_CELL.map((name) => detail.cell[name].at(k)),
        store.text(detail.cell.repro, k, seed)]);
    });
  }
  return csvText(rows);
}
