// SPDX-License-Identifier: Apache-2.0
//
// Which cases are listed, in which order and groups. Pure functions of the
// run's data and of a mask: one byte per cell, whether it matches.
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
    of: (detail, k) => ['load_us', 'run_us', 'judge_us'].reduce(
      (sum, name) => sum + Number(detail.cell[name].at(k)), 0),
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
  const first = (row) => {
    const end = store.cellAt(row + 1, 0);
    let best = NaN;
    for (let k = store.cellAt(row, 0); k < end; k += 1) {
      if (!mask[k]) continue;
      const value = of(detail, k);
      if (Number.isNaN(best) || (isDown ? value > best : value < best)) best = value;
    }
    if (!Number.isNaN(best)) texts.set(row, text(best));
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
