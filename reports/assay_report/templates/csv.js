// SPDX-License-Identifier: Apache-2.0
//
// What the page shows as CSV (RFC 4180, UTF-8, \n), to be saved as a file.
//
//   saveCsv('view.csv', csvText([['test_id'], ['node/Add/one']]));

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
