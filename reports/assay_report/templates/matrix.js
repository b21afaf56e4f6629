// SPDX-License-Identifier: Apache-2.0
//
// The grid of cases and backends. Only rows in view are in the document, and
// the row that holds the focus. A row is a case (its number) or the heading of
// a group (-1 - its number).
//
//   const matrix = new Matrix(element, store, {open, toggle, move});
//   matrix.show(rows, mask, groups);

const OVERSCAN_ROWS = 2;
const PRINTED_ROWS = 200;

class Matrix {
  constructor(root, store, handlers) {
    this.root = root;
    this.store = store;
    this.handlers = handlers;
    this.rows = [];
    this.texts = new Map();
    this.focus = {row: 0, column: 0};
    this.selected = -1;
    this.drawn = new Map();  // row -> element
    root.setAttribute('aria-colcount', store.backends.length + 1);
    root.style.setProperty('--backends', store.backends.length);
    root.classList.toggle('many', store.backends.length > 3);
    this.head = this.drawHead();
    if (store.backends.length > 3) root.before(this.drawNumbers());
    this.body = element('div', {role: 'rowgroup', class: 'rows'});
    root.append(this.head, this.body);
    root.addEventListener('scroll', () => requestAnimationFrame(
      () => this.draw()), {passive: true});
    new ResizeObserver(() => this.draw()).observe(root);
    root.addEventListener('keydown', (event) => this.onKey(event));
    root.addEventListener('click', (event) => this.onClick(event));
  }

  drawHead() {
    const {short} = this.store;
    const cells = this.store.backends.map((name, at) => element(
      'div', {role: 'columnheader', class: 'cell', title: name},
      element('span', {class: 'number'}, String(at + 1)),
      element('span', {class: 'short'}, short[at])));
    const row = element('div', {role: 'row', class: 'row', 'aria-rowindex': 1},
      element('div', {role: 'columnheader', class: 'name'}, 'Case'), ...cells);
    return element('div', {role: 'rowgroup', class: 'head'}, row);
  }

  // The backends by number, for a screen without room for their names.
  drawNumbers() {
    return element('ol', {class: 'numbers-of-backends'},
      ...this.store.backends.map((name) => element('li', {}, name)));
  }

  toTop() {
    this.focus.row = 0;
    this.root.scrollTop = 0;
  }

  // rows: numbers; mask: which cells match; groups: see groupRows in lists.js;
  // texts: the numbers of cases that they are ordered by.
  show(rows, mask, groups, texts) {
    this.rows = rows;
    this.texts = texts;
    this.mask = mask;
    this.groups = groups;
    this.focus.row = Math.min(this.focus.row, Math.max(0, rows.length - 1));
    this.root.setAttribute('aria-rowcount', rows.length + 1);
    this.redraw();
  }

  select(cell) {
    this.selected = cell;
    this.redraw();
  }

  redraw() {
    const hadFocus = this.body.contains(document.activeElement);
    this.body.replaceChildren(...(this.rows.length ? [] : [element(
      'div', {role: 'row'},
      element('div', {role: 'gridcell', class: 'nothing'}, 'No case matches.'))]));
    this.drawn.clear();
    this.draw();
    if (hadFocus) this.focusCell(this.focus.row, this.focus.column);
  }

  get rowHeight() {
    return parseFloat(getComputedStyle(this.root).getPropertyValue('--row'));
  }

  draw() {
    const height = this.rowHeight;
    this.body.style.height = `${this.rows.length * height}px`;
    const top = this.root.scrollTop;
    const first = Math.max(0, Math.floor(top / height) - OVERSCAN_ROWS);
    const last = Math.min(this.rows.length,
      Math.ceil((top + this.root.clientHeight) / height) + OVERSCAN_ROWS);
    const wanted = new Set([this.focus.row]);
    for (let at = first; at < last; at += 1) wanted.add(at);
    for (const [at, row] of this.drawn) {
      if (wanted.has(at)) continue;
      row.remove();
      this.drawn.delete(at);
    }
    for (const at of wanted) {
      if (at >= this.rows.length) continue;
      if (!this.drawn.has(at)) {
        const row = this.drawRow(at);
        this.drawn.set(at, row);
        this.body.append(row);
      }
      this.drawn.get(at).style.transform = `translateY(${at * height}px)`;
    }
  }

  drawRow(at) {
    const number = this.rows[at];
    const cells = number < 0 ? drawGroup(this.groups[-1 - number]) :
      drawCase(this.store, number, this.mask, this.selected,
        this.texts.get(number));
    cells.forEach((cell, column) => {
      const isFocus = at === this.focus.row && column === this.focus.column;
      cell.tabIndex = isFocus ? 0 : -1;
      cell.dataset.row = at;
      cell.dataset.column = column;
    });
    return element('div', {
      'role': 'row',
      'class': number < 0 ? 'row group' : 'row',
      'aria-rowindex': at + 2,
    }, ...cells);
  }

  // Scrolls the row into view and moves the focus there.
  focusCell(row, column) {
    this.focus = {
      row: Math.max(0, Math.min(row, this.rows.length - 1)),
      column: Math.max(0, Math.min(column, this.store.backends.length)),
    };
    this.reveal(this.focus.row);
    for (const other of this.body.querySelectorAll('[tabindex="0"]')) {
      other.tabIndex = -1;
    }
    const cell = this.drawn.get(this.focus.row)?.children[this.focus.column];
    if (!cell) return;
    cell.tabIndex = 0;
    cell.focus({preventScroll: true});
  }

  reveal(row) {
    const height = this.rowHeight;
    const top = row * height;
    const room = this.root.clientHeight - this.head.offsetHeight - height;
    if (top < this.root.scrollTop) this.root.scrollTop = top;
    else if (top > this.root.scrollTop + room) this.root.scrollTop = top - room;
    this.draw();
  }

  onKey(event) {
    const {row, column} = this.focus;
    const page = Math.max(1,
      Math.floor(this.root.clientHeight / this.rowHeight) - 2);
    const ends = event.ctrlKey || event.metaKey;
    const moves = {
      ArrowUp: [row - 1, column],
      ArrowDown: [row + 1, column],
      ArrowLeft: [row, column - 1],
      ArrowRight: [row, column + 1],
      PageUp: [row - page, column],
      PageDown: [row + page, column],
      Home: [ends ? 0 : row, 0],
      End: [ends ? this.rows.length - 1 : row, this.store.backends.length],
    };
    if (moves[event.key]) {
      this.focusCell(...moves[event.key]);
      if (this.rows[this.focus.row] >= 0) {
        this.handlers.move(this.cellAtFocus());
      }
    } else if (event.key === 'Enter' || event.key === ' ') {
      this.activate();
    } else {
      return;
    }
    event.preventDefault();
  }

  onClick(event) {
    const cell = event.target.closest('[data-row]');
    if (!cell) return;
    this.focusCell(Number(cell.dataset.row), Number(cell.dataset.column));
    this.activate();
  }

  activate() {
    const number = this.rows[this.focus.row];
    if (number === undefined) return;
    if (number < 0) this.handlers.toggle(-1 - number);
    else this.handlers.open(this.cellAtFocus());
  }

  // The focused cell; for a case's name the first cell that matches.
  cellAtFocus() {
    const {store} = this;
    const row = this.rows[this.focus.row];
    if (this.focus.column > 0) return store.cellAt(row, this.focus.column - 1);
    const matching = store.backends.findIndex(
      (_, column) => this.mask[store.cellAt(row, column)]);
    return store.cellAt(row, Math.max(0, matching));
  }

  // For paper: the first rows as ordinary, unscrolled ones.
  drawForPrint() {
    const count = Math.min(this.rows.length, PRINTED_ROWS);
    for (let at = 0; at < count; at += 1) {
      if (!this.drawn.has(at)) this.drawn.set(at, this.drawRow(at));
    }
    const rows = [...this.drawn].filter(([at]) => at < count);
    rows.sort(([a], [b]) => a - b);
    this.body.replaceChildren(...rows.map(([, row]) => row));
    return count;
  }
}
