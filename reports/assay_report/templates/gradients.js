// SPDX-License-Identifier: Apache-2.0
//
// Gradients: a table of operators and element types for one backend, the cases
// of an operator, and a part of the panel. Errors are in units of the limit.
//
//   new GradientTable(store, new GradientData(data), (cell) => 'assay run ...');
//   drawGradients(gradients, cell);   // for the panel

// The greatest error of each step of the scale; see gradients.html.
const GRADIENT_STEPS = [0, 0.01, 0.1, 0.5, 1];
const GRADIENT_CASES_SHOWN = 40;
const GRADIENT_OPERATORS_SHOWN = 30;

// The kept gradients of cells as rows, the worst first.
class GradientData extends Rows {
  constructor(data) {
    super(data.row);
    this.types = data.types;
    this.networks = data.networks;  // groups that are no operators
    this.reasons = data.reasons;
    this.case = data.case;
    this.repro = data.repro;
    this.more = data.row.more;
  }
}

// -1 where nothing was judged.
function gradientError(text) {
  return text === '' ? -1 : text === '\u221e' ? Infinity : Number(text);
}

function gradientStep(error) {
  const step = GRADIENT_STEPS.findIndex((most) => error <= most);
  return step < 0 ? GRADIENT_STEPS.length : step;
}

function heat(text) {
  if (text === '') return element('span', {class: 'quiet'}, '\u2013');
  const step = gradientStep(gradientError(text));
  return element('span', {class: `heat l${step}`},
    step === GRADIENT_STEPS.length ?
      element('span', {'aria-hidden': 'true'}, '\u2715 ') : null, text);
}

// One sum: {cases: cells, counts: outcome -> number, worst: text}.
function addToSum(sums, key, store, cell, worst) {
  sums[key] ??= {cells: 0, counts: new Map(), worst: ''};
  const sum = sums[key];
  const outcome = store.cell.outcome.at(cell);
  sum.cells += 1;
  sum.counts.set(outcome, (sum.counts.get(outcome) ?? 0) + 1);
  if (gradientError(worst) > gradientError(sum.worst)) sum.worst = worst;
}

// [{op, cells, sums: {'': all types, float32: ...}}], by operator.
function rollUpGradients(store, data, column) {
  const found = new Map();
  for (let row = 0; row < store.cases; row += 1) {
    const cell = store.cellAt(row, column);
    if (!isTrue(data.case.is_gradient.at(row)) || !store.planned[cell]) continue;
    const op = store.case.op.at(row);
    if (!found.has(op)) found.set(op, {op, cells: [], sums: {}});
    const one = found.get(op);
    const [first] = data.rows(cell);
    const worst = first === undefined ? '' : data.get('units', first);
    one.cells.push(cell);
    addToSum(one.sums, '', store, cell, worst);
    addToSum(one.sums, `.${data.case.type.at(row)}`, store, cell, worst);
  }
  return [...found.values()];
}

// "30 pass, 12 xfail" as signs with numbers.
function drawCounts(store, counts) {
  const names = inOrder(store, counts);
  return element('span', {class: 'counts'}, ...names.flatMap((name, at) => [
    at ? ' ' : '',
    element('span', {class: `outcome o-${name}`, title: `${counts.get(name)} ${name}`},
      String(counts.get(name)), element('span', {class: 'unseen'}, ` ${name}`)),
  ]));
}

class GradientTable {
  // repro(cell) gives the line that repeats a case.
  constructor(store, data, repro) {
    this.store = store;
    this.data = data;
    this.repro = repro;
    this.root = document.getElementById('gradient-table');
    this.tools = document.getElementById('gradient-tools');
    this.columns = [['', 'All types'],
      ...data.types.map((name) => [`.${name}`, name || 'unknown'])];
    this.sort = {key: '', isDown: true};
    this.isWhole = false;
    this.open = new Set();
    this.all = new Set();  // operators whose cases are all drawn
    const sums = store.backends.map((_, at) => rollUpGradients(store, data, at));
    this.sums = sums;
    this.choose(this.mostFails());
    this.tools.hidden = store.backends.length < 2;
    this.root.hidden = false;
  }

  // The backend to begin with: most unexpected results, else the first.
  mostFails() {
    const fails = this.sums.map((ops) => ops.reduce((sum, {cells}) =>
      sum + cells.filter((cell) => this.store.unexpected[cell]).length, 0));
    return fails.indexOf(Math.max(...fails));
  }

  choose(backend) {
    this.backend = backend;
    this.open.clear();
    this.all.clear();
    const focused = this.tools.contains(document.activeElement);
    this.tools.replaceChildren(...this.store.backends.map((name, at) => pressable(
      'chip', name, () => this.choose(at), {'aria-pressed': String(at === backend)})));
    if (focused) this.tools.children[backend].focus();
    this.draw();
  }

  sorted() {
    const {key, isDown} = this.sort;
    const rank = ({op, cells, sums}) => (key === 'op' ? op :
      key === 'cases' ? cells.length : gradientError(sums[key]?.worst ?? ''));
    const byName = sortRows(this.sums[this.backend], ({op}) => op, false);
    return sortRows(byName, rank, isDown);
  }

  drawHead() {
    const heads = [['op', 'Operator'], ['cases', 'Cases'], ...this.columns];
    return element('thead', {}, element('tr', {}, ...heads.map(([key, title]) => {
      const isSorted = this.sort.key === key;
      const button = pressable('sort', title, () => {
        this.sort = {key, isDown: isSorted ? !this.sort.isDown : key !== 'op'};
        this.draw();
        this.root.querySelector(`[data-key="${CSS.escape(key)}"]`).focus();
      }, {'data-key': key});
      return element('th', {'scope': 'col', 'aria-sort': !isSorted ? null :
        this.sort.isDown ? 'descending' : 'ascending'}, button);
    })));
  }

  draw() {
    const name = this.store.backends[this.backend];
    const ops = this.sorted();
    const body = element('tbody');
    const shown = this.isWhole ? ops : ops.slice(0, GRADIENT_OPERATORS_SHOWN);
    for (const one of shown) {
      const row = this.drawOperator(one);
      body.append(row);
      if (this.open.has(one.op)) this.drawOpen(one, row);
    }
    const more = pressable('copy', `Show all ${ops.length}`, () => {
      this.isWhole = true;
      this.draw();
    });
    const nets = ops.filter(({op}) => this.data.networks.includes(op)).length;
    this.root.replaceChildren(element('table', {},
      element('caption', {}, `${name}: ${ops.length - nets} operators` +
        `${nets ? ` and ${nets} groups of networks` : ''}; worst error in ` +
        'units of the limit, and outcomes of cases. A row opens to its cases.'),
      this.drawHead(), body),
    shown.length === ops.length ? '' : element('p', {class: 'rest'}, more));
  }

  drawOperator(one) {
    const isOpen = this.open.has(one.op);
    const button = element('button', {'type': 'button', 'class': 'op',
      'aria-expanded': String(isOpen), 'title': WORDS[one.op] ?? null}, one.op);
    const row = element('tr', {class: 'operator'},
      element('th', {scope: 'row'}, button),
      element('td', {'class': 'n', 'data-label': 'cases'}, String(one.cells.length)),
      ...this.columns.map(([key, title]) => {
        const sum = one.sums[key];
        return element('td', {'data-label': title}, ...(sum ?
          [heat(sum.worst), ' ', drawCounts(this.store, sum.counts)] :
          [element('span', {class: 'quiet'}, 'no case')]));
      }));
    row.addEventListener('click', () => this.toggle(one, row, button));
    return row;
  }

  toggle(one, row, button) {
    const isOpen = !this.open.delete(one.op);
    button.setAttribute('aria-expanded', String(isOpen));
    if (!isOpen) {
      row.nextElementSibling?.matches('.opened') && row.nextElementSibling.remove();
      return;
    }
    this.open.add(one.op);
    this.drawOpen(one, row);
  }

  drawOpen(one, row) {
    const cell = element('td', {colspan: this.columns.length + 2});
    row.after(element('tr', {class: 'opened'}, cell));
    const known = (k) => this.data.rows(k)[0];
    const error = (k) => (known(k) === undefined ? -1 :
      gradientError(this.data.get('units', known(k))));
    const failed = (k) => (this.store.cell.outcome.at(k) === 'pass' ? 0 : 1);
    const cells = [...one.cells].sort((a, b) =>
      error(b) - error(a) || failed(b) - failed(a) || a - b);
    const shown = this.all.has(one.op) ? cells : cells.slice(0, GRADIENT_CASES_SHOWN);
    cell.append(element('ul', {class: 'cases', 'aria-label': `Cases of ${one.op}`},
      ...shown.map((k) => this.drawCase(k))));
    if (shown.length === cells.length) return;
    const more = pressable('copy', `Show all ${cells.length}`, () => {
      this.all.add(one.op);
      row.nextElementSibling.remove();
      this.drawOpen(one, row);
      row.nextElementSibling.querySelectorAll('a')[shown.length]?.focus();
    });
    cell.append(element('p', {class: 'rest'},
      `The worst ${shown.length} of ${cells.length}. `, more));
  }

  // A case on the chosen backend: its worst gradient, why, and how to repeat it.
  drawCase(cell) {
    const {store, data} = this;
    const caseRow = store.rowOf(cell);
    const id = store.ids[caseRow];
    const [row] = data.rows(cell);
    const repro = this.repro(cell);
    return element('li', {},
      element('div', {class: 'case-head'},
        outcomeName(store.cell.outcome.at(cell)), ' ',
        cellLink(store, cell, id.slice(id.lastIndexOf('/') + 1)),
        ' ', row === undefined ? null : heat(data.get('units', row))),
      row === undefined ? null : element('p', {},
        ...gradientFacts(data, row, data.case.input_class.at(caseRow))),
      drawGradientReason(store, data, cell),
      repro ? copyable(repro) : null);
  }
}

// "by X, redrawn, for random 1, smooth; element 3: got 1, want 2, limit 1e-6".
function gradientFacts(data, row, inputClass) {
  const get = (name) => data.get(name, row);
  const index = elementName(get('worst_index'), get('shape'));
  const facts = [['class', inputClass], ['by', get('input')],
    ['cotangent', get('cotangent')], ['kind', get('class')],
    ['worst element', index], ['got', get('got')], ['want', get('want')],
    ['limit', get('limit')]];
  return facts.filter(([, value]) => value !== '').flatMap(([name, value]) => [
    element('span', {class: 'fact'},
      element('span', {class: 'quiet'}, explained(name), ' '), explained(value)),
    ' ']);
}

// The code with its meaning, and the message of what did not pass.
function drawGradientReason(store, data, cell) {
  const code = store.cell.reason_code.at(cell);
  const meaning = data.reasons[code];
  const message = store.text(store.cell.message, cell);
  if (!code && !message) return null;
  const said = [meaning && `${meaning}.`, message].filter(Boolean).join(' ');
  return element('p', {class: 'gradient-reason'},
    code ? element('b', {}, code) : null, code && said ? ': ' : null, said);
}

function kinkText(get) {
  const count = get('kink_count');
  const word = get('kink_convention');
  return count && count !== '0' ?
    `${count} elements${word ? `, convention ${word}` : ''}` : '';
}

function drawGradient(data, row) {
  const get = (name) => data.get(name, row);
  const more = (name) => data.more[name]?.at(row) ?? '';
  const isInHull = more('hull_low') !== more('hull_high');
  return element('section', {class: 'output'},
    element('h4', {}, `by ${get('input')} `,
      element('small', {}, `${get('shape')} ${get('cotangent')}`)),
    list(
      line('error', get('units') && `${get('units')} in units of the limit`),
      line('worst element', elementName(get('worst_index'), get('shape'))),
      line(isInHull ? 'right at this kink' : 'want', isInHull ?
        `all from ${more('hull_low')} to ${more('hull_high')}` : get('want')),
      line('got', get('got')),
      line('limit', get('limit')),
      line('kind', get('class')),
      line('at kinks', kinkText(get)),
      line('NaN mismatch', get('nan_mismatch') === '0' ? '' : get('nan_mismatch')),
      line('unknown', get('unknown') === '0' ? '' : get('unknown'))) ?? '',
    drawMore(Object.entries(data.more).map(
      ([name, column]) => [name, column.at(row)])));
}

// The panel's part on the gradients of a cell; empty where there are none.
function drawGradients(data, cell) {
  const rows = data?.rows(cell) ?? [];
  if (!rows.length) return [];
  const of = data.get('of', rows[0]);
  return [
    element('h3', {}, 'Gradients ', element('small', {},
      rows.length === Number(of) ? '' :
        rows.length === 1 ? `the worst of ${of}` : `the worst and what failed, of ${of}`)),
    ...rows.map((row) => drawGradient(data, row)),
    element('p', {class: 'quiet'},
      'All gradients of the case, in all digits, stand in gradients.csv.'),
  ];
}
