// SPDX-License-Identifier: Apache-2.0
//
// Ties the page together. The address's hash is the state: q (query), o
// (outcomes), g (group), s (order), case and backend (the open cell).

const UNEXPECTED_PRINTED = 120;

function readState() {
  const hash = new URLSearchParams(location.hash.slice(1));
  return {
    query: hash.get('q') ?? '',
    outcomes: new Set((hash.get('o') ?? '').split(',').filter(Boolean)),
    group: hash.get('g') ?? '',
    order: hash.get('s') ?? '',
    testId: hash.get('case') ?? '',
    backend: hash.get('backend') ?? '',
  };
}

// A new entry of the history is one that Back can undo.
function writeState(state, isStep = false) {
  const hash = new URLSearchParams();
  const parts = {q: state.query, o: [...state.outcomes].join(','),
    g: state.group, s: state.order, case: state.testId, backend: state.backend};
  for (const [name, value] of Object.entries(parts)) {
    if (value) hash.set(name, value);
  }
  if (`#${hash}` === (location.hash || '#')) return;
  if (isStep) history.pushState(null, '', `#${hash}`);
  else history.replaceState(null, '', `#${hash}`);
}

class Page {
  constructor(store) {
    const get = (id) => document.getElementById(id);
    this.store = store;
    this.query = get('query');
    this.group = get('group');
    this.order = get('order');
    this.chips = get('chips');
    this.panel = get('panel');
    this.count = get('count');
    this.problem = get('problem');
    this.state = readState();
    this.data = null;
    this.groups = [];
    this.groupedBy = '';
    this.matrix = new Matrix(get('grid'), store, {
      open: (cell) => this.open(cell, true),
      toggle: (group) => this.toggle(group),
      move: (cell) => {
        if (this.panel.open) this.open(cell, false);
      },
    });
    this.listen();
    this.applyState();
  }

  listen() {
    for (const [name, kind] of [
      ['query', 'input'], ['group', 'change'], ['order', 'change']]) {
      this[name].addEventListener(kind, () => {
        this.state[name] = this[name].value;
        this.matrix.toTop();
        this.refresh();
      });
    }
    // A query is one step of the history, however many letters it takes.
    this.query.addEventListener('focus', () => {
      this.isStep = true;
    });
    document.getElementById('save').addEventListener('click', async () => {
      const {detail} = await this.unpacked();
      saveCsv('view.csv', viewCsv(this.store, detail, this.cases, this.found));
    });
    this.chips.addEventListener('click', (event) => {
      const chip = event.target.closest('button');
      if (chip) this.toggleOutcome(chip.dataset.outcome);
    });
    this.panel.addEventListener('close', () => this.closed());
    document.querySelector('.skip').addEventListener('click', (event) => {
      event.preventDefault();  // the address holds the state
      const matrix = document.getElementById('matrix');
      matrix.scrollIntoView();
      matrix.focus();
    });
    window.addEventListener('popstate', () => {
      this.isStep = false;
      this.state = readState();
      this.applyState();
      if (this.state.testId) this.panel.scrollIntoView({block: 'nearest'});
      else document.getElementById('matrix').scrollIntoView();
    });
    document.addEventListener('keydown', (event) => this.onKey(event));
    window.addEventListener('beforeprint', () => this.print());
    window.addEventListener('afterprint', () => {
      this.matrix.redraw();
      this.operators?.draw();
      this.gradients?.draw();
      this.times?.draw();
    });
  }

  onKey(event) {
    const isTyping = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
    if (event.key === '/' && !isTyping) {
      event.preventDefault();
      this.query.focus();
    } else if (event.key === 'Escape' && this.panel.open) {
      event.preventDefault();
      this.panel.close();
    }
  }

  // Shows what this.state says.
  applyState() {
    this.query.value = this.state.query;
    const known = [...this.group.options].map((option) => option.value);
    if (!known.includes(this.state.group)) this.state.group = '';
    this.group.value = this.state.group;
    if (!(this.state.order in ORDERS)) this.state.order = '';
    this.order.value = this.state.order;
    const {testId, backend} = this.state;
    const cell = this.store.cellOf(testId, backend);
    const unknown = testId && `no case ${testId} on ${backend} in this run`;
    this.refresh();
    if (cell < 0) {
      if (this.panel.open) this.panel.close();
      else if (unknown) this.problem.textContent = unknown;
      return;
    }
    this.openGroupOf(this.store.rowOf(cell));
    const row = this.matrix.rows.indexOf(this.store.rowOf(cell));
    if (row >= 0) {
      this.matrix.focus = {row, column: 1 + this.store.columnOf(cell)};
      this.matrix.reveal(row);
    }
    this.open(cell, true);
  }

  // A case that an address names is shown, also where its group is closed.
  openGroupOf(row) {
    if (!this.state.group) return;
    const name = this.store.case[this.state.group].at(row);
    const group = this.groups.findIndex((one) => one.name === name);
    if (group >= 0 && !this.groups[group].isOpen) this.toggle(group);
  }

  // Filters and lists again. A query with a mistake leaves the list as it is.
  refresh() {
    let found;
    try {
      found = this.store.search(parseQuery(this.state.query));
      this.problem.textContent = this.store.notes.join('; ');
      this.matrix.root.classList.remove('stale');
    } catch (error) {
      if (!(error instanceof QueryError)) throw error;
      this.problem.textContent = error.message;
      this.count.textContent = 'The list is that of the query before.';
      this.matrix.root.classList.add('stale');
      return;
    }
    this.drawChips(countOutcomes(this.store, found));
    if (this.state.outcomes.size) {
      const chosen = this.store.cell.outcome.mask(
        (outcome) => this.state.outcomes.has(outcome));
      for (let k = 0; k < this.store.size; k += 1) found[k] &= chosen[k];
    }
    this.list(found);
    writeState(this.state, this.isStep);
    this.isStep = false;
  }

  // Lists the cases that have a matching cell. An order by numbers needs those
  // of the panel, which take a moment.
  list(mask) {
    this.found = mask;
    const cases = matchingCases(this.store, mask);
    const {order} = this.state;
    if (!order) {
      this.listCases(cases, new Map());
      return;
    }
    this.unpacked().then(({detail}) => {
      if (this.found !== mask || this.state.order !== order) return;
      const texts = new Map();
      this.listCases(
        orderCases(this.store, detail, mask, cases, order, texts), texts);
    });
  }

  listCases(cases, texts) {
    const {store, state, found: mask} = this;
    this.cases = cases;
    let rows = cases;
    if (state.group) {
      const column = store.case[state.group];
      if (this.groupedBy !== state.group) this.groups = rollUp(store, column);
      rows = groupRows(this.groups, column, cases);
    }
    this.groupedBy = state.group;
    this.matrix.show(rows, mask, this.groups, texts);
    let cells = 0;
    for (let k = 0; k < store.size; k += 1) cells += mask[k];
    this.count.textContent =
      `${cases.length.toLocaleString('en')} of ` +
      `${store.cases.toLocaleString('en')} cases, ` +
      `${cells.toLocaleString('en')} cells`;
  }

  drawChips(counts) {
    const focused = document.activeElement?.dataset.outcome;
    const names = inOrder(this.store, counts);
    this.chips.replaceChildren(...names.map((name) => element('button', {
      'type': 'button',
      'class': `chip outcome o-${name}`,
      'data-outcome': name,
      'title': WORDS[name] ?? null,
      'aria-pressed': String(this.state.outcomes.has(name)),
    }, `${name} `, element('span', {class: 'n'},
      counts.get(name).toLocaleString('en')))));
    if (focused) {
      this.chips.querySelector(`[data-outcome="${CSS.escape(focused)}"]`)
        ?.focus();
    }
  }

  toggleOutcome(name) {
    const {outcomes} = this.state;
    if (!outcomes.delete(name)) outcomes.add(name);
    this.matrix.toTop();
    this.refresh();
  }

  toggle(group) {
    this.groups[group].isOpen = !this.groups[group].isOpen;
    this.list(this.found);
  }

  // Opens the panel on a cell; beside the grid where there is room.
  async open(cell, takeFocus) {
    if (!this.store.planned[cell]) return;
    this.state.testId = this.store.ids[this.store.rowOf(cell)];
    this.state.backend = this.store.backends[this.store.columnOf(cell)];
    writeState(this.state);
    this.wanted = cell;
    const data = await this.unpacked();
    if (this.wanted !== cell) return;
    drawDetail(this.panel, this.store, data, cell, {
      open: (other) => this.open(other, true),
      close: () => this.panel.close(),
    });
    const isWide = matchMedia('(min-width: 1100px)').matches;
    if (!this.panel.open) {
      if (isWide) this.panel.show();
      else this.panel.showModal();
    }
    this.panel.scrollTop = 0;
    this.matrix.select(cell);
    if (takeFocus) document.getElementById('panel-title').focus();
  }

  // What the panel shows, made whole when it is first asked for.
  unpacked() {
    const {dataset} = document.getElementById('data-detail');
    this.data ??= Promise.all([
      unpack('data-detail').then(
        (data) => new Detail(data, dataset.rounded === 'yes')),
      document.getElementById('data-gradients') ?
        unpack('data-gradients').then((data) => new GradientData(data)) : null,
      document.getElementById('data-times') ?
        unpack('data-times').then((data) => new Rows(data)) : null,
    ]).then(([detail, gradients, times]) => ({detail, gradients, times}));
    return this.data;
  }

  // The table of operators is drawn when it is about to be seen; a page that is
  // printed cannot wait for its numbers.
  async watchOperators() {
    const root = document.getElementById('operator-table');
    if (!root) return;
    root.hidden = false;
    const rows = operatorRows(await unpack('data-operators'));
    document.getElementById('operator-count').textContent =
      new Set(rows.map(({op}) => op)).size.toLocaleString('en');
    whenSeen(root, () => {
      this.operators = this.drawOperators(rows);
    });
  }

  drawOperators(rows) {
    return new OperatorTable(rows, (query) => {
      this.state.query = query;
      this.state.outcomes.clear();
      this.isStep = true;
      this.applyState();
      document.getElementById('matrix').scrollIntoView();
    });
  }

  async watchGradients() {
    const root = document.getElementById('gradient-table');
    if (!root) return;
    const {detail, gradients} = await this.unpacked();
    root.hidden = false;
    whenSeen(root, () => {
      this.gradients = new GradientTable(this.store, gradients,
        (cell) => reproOf(this.store, detail, gradients, cell));
    });
  }

  // Drawn when it is about to be seen, as that of operators.
  async watchTimes() {
    const root = document.getElementById('time-table');
    if (!root) return;
    const {times} = await this.unpacked();
    if (!times) return;
    root.hidden = false;
    whenSeen(root, () => {
      this.times = new TimeTable(timeRows(this.store, times));
    });
  }

  closed() {
    this.wanted = -1;
    this.state.testId = '';
    this.state.backend = '';
    writeState(this.state);
    this.matrix.select(-1);
    this.matrix.focusCell(this.matrix.focus.row, this.matrix.focus.column);
  }

  // A fail in everything is not a hundred pages.
  printUnexpected() {
    const note = document.getElementById('unexpected-shown');
    if (!note || note.parentElement.hidden) return;
    const n = Math.min(UNEXPECTED_PRINTED, this.store.byCause.length);
    drawUnexpectedRows(this.store, document.getElementById('unexpected-rows'), n);
    note.textContent = n.toLocaleString('en');
  }

  // On paper stand the operators, the unexpected results, and of the cases those
  // that were searched for.
  print() {
    drawLater();
    for (const table of [this.operators, this.gradients]) if (table) drawWhole(table);
    this.printUnexpected();
    const isChosen = this.state.query !== '' || this.state.outcomes.size > 0;
    this.matrix.root.classList.toggle('unprinted', !isChosen);
    const shown = isChosen ? this.matrix.drawForPrint() : 0;
    const rows = this.matrix.rows.length;
    document.getElementById('print-note').textContent = !isChosen ?
      'The cases that a search finds are printed here.' :
      shown < rows ? `The first ${shown} of ${rows} rows.` : '';
  }
}

// Copies the text beside the button; where copying is not allowed, selects it.
async function copyBeside(button) {
  const code = button.parentElement.querySelector('code');
  try {
    await navigator.clipboard.writeText(code.textContent);
    button.textContent = 'Copied';
  } catch {
    getSelection().selectAllChildren(code);
    button.textContent = 'Selected';
  }
  setTimeout(() => {
    button.textContent = 'Copy';
  }, 2000);
}

// The unexpected results that the page's head leaves out for their number.
function drawUnexpectedRows(store, table, most = Infinity) {
  const rows = [];
  for (const k of store.byCause.slice(0, most)) {
    const cells = [outcomeName(store.cell.outcome.at(k)), cellLink(store, k),
      store.backends[store.columnOf(k)],
      element('div', {class: 'reason'}, store.unexpectedReason(k))];
    rows.push(element('tr', {}, ...cells.map((one) => element('td', {}, one))));
  }
  for (const row of table.querySelectorAll('tr[data-cell]')) row.remove();
  table.append(...rows);
}

// A square of a grid opens the list of what failed in it; see distributed.html.
function listenToRanks(section) {
  section?.addEventListener('click', (event) => {
    const button = event.target.closest('[data-opens]');
    if (!button) return;
    const fault = document.getElementById(button.dataset.opens);
    for (const one of section.querySelectorAll('.fault.shown')) {
      one.classList.remove('shown');
    }
    fault.classList.add('shown');
    fault.open = true;
    fault.scrollIntoView({block: 'nearest'});
    fault.querySelector('summary').focus();
  });
}

function sayAge(time, target) {
  const days = (Date.now() - Date.parse(time.dateTime)) / 86400e3;
  if (!(days >= 0)) return;
  const ago = new Intl.RelativeTimeFormat('en', {numeric: 'always'});
  const text = days >= 1 ? ago.format(-Math.floor(days), 'day') :
    days * 24 >= 1 ? ago.format(-Math.floor(days * 24), 'hour') :
      ago.format(-Math.floor(days * 1440), 'minute');
  target.textContent = ` (${text})`;
}

async function main() {
  document.addEventListener('click', (event) => {
    const button = event.target.closest('.copyable .copy');
    if (button) copyBeside(button);
    const word = event.target.closest('abbr[title]');
    if (word) toggleMeaning(word);
    // A query shows in the matrix, which may be far away.
    if (event.target.closest('a[href^="#q="]')) {
      document.getElementById('matrix').scrollIntoView();
    }
  });
  for (const button of document.querySelectorAll('.copy')) button.hidden = false;
  sayAge(document.querySelector('time'), document.getElementById('age'));
  listenToRanks(document.querySelector('.ranks'));
  const store = new Store(await unpack('data-matrix'));
  document.getElementById('tools').hidden = false;
  document.getElementById('work').hidden = false;
  const all = document.getElementById('all-unexpected');
  all?.addEventListener('click', () => {
    drawUnexpectedRows(store, document.getElementById('unexpected-rows'));
    all.parentElement.hidden = true;
  });
  const page = new Page(store);
  if (page.state.query && !page.state.testId) {
    document.getElementById('matrix').scrollIntoView();
  }
  watchLater();
  performance.mark('assay-ready');
  await page.watchOperators();
  await page.watchGradients();
  await page.watchTimes();
  performance.mark('assay-gradients');
}

main();
