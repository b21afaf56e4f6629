// SPDX-License-Identifier: Apache-2.0
//
// A table that is sorted by its heads, shows its first rows, one backend at a time
// where there are several, and is saved as CSV.
//
//   class TimeTable extends SortedTable { drawName(row) {...} csv() {...} }
//   super({name: 'time', columns: [...], words: new Set(), rows, first: 40});

// Columns are [heading, what a row says, what it is sorted by, is large first]; one
// of numbers has a large first or none.
class SortedTable {
  // `name` begins the ids of its elements; `words` are heads of columns of text;
  // `column` is the one that it is sorted by at first.
  constructor({name, columns, words, rows, first, column = 0, isDown = false}) {
    this.name = name;
    this.columns = columns;
    this.words = words;
    this.rows = rows;
    this.first = first;
    this.backend = '';
    this.column = column;
    this.isDown = isDown;
    this.isWhole = false;
    this.root = document.getElementById(`${name}-table`);
    this.root.hidden = false;
    this.head = element('tr', {}, ...columns.map(([heading], at) => {
      const button = pressable('', heading, () => this.sortBy(at));
      return element('th', {scope: 'col', class: this.kind(heading)}, button);
    }));
    this.body = element('tbody', {});
    this.root.append(element('table', {},
      element('thead', {}, this.head), this.body));
    this.drawTools();
    this.draw();
  }

  kind(heading) {
    return this.words.has(heading) ? null : 'num';
  }

  // One chip per backend, and the table as CSV.
  drawTools() {
    const tools = document.getElementById(`${this.name}-tools`);
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
      () => saveCsv(`${this.name}s.csv`, this.csv()));
    this.rest = pressable('copy', 'Show all', () => {
      this.isWhole = true;
      this.draw();
    });
    tools.append(...chips, csv);
    this.root.after(element('p', {class: 'rest'}, this.rest));
  }

  sortBy(column) {
    const largeFirst = this.columns[column][3] === true;
    this.isDown = this.column === column ? !this.isDown : largeFirst;
    this.column = column;
    this.draw();
  }

  sorted() {
    const chosen = this.rows.filter(
      (row) => !this.backend || row.backend === this.backend);
    return sortRows(chosen, this.columns[this.column][2], this.isDown);
  }

  draw() {
    [...this.head.children].forEach((cell, at) => {
      const way = this.isDown ? 'descending' : 'ascending';
      if (at === this.column) cell.setAttribute('aria-sort', way);
      else cell.removeAttribute('aria-sort');
    });
    const rows = this.sorted();
    const shown = this.isWhole ? rows : rows.slice(0, this.first);
    this.body.replaceChildren(...shown.map((row) => this.drawRow(row)));
    this.rest.hidden = shown.length === rows.length;
    this.rest.textContent = `Show all ${rows.length.toLocaleString('en')}`;
  }

  drawRow(row) {
    const [, ...others] = this.columns;
    return element('tr', {},
      element('th', {scope: 'row'}, this.drawName(row)),
      ...others.map(([heading, text]) => element('td', {
        'class': [this.kind(heading), heading === 'Unexpected' && row.unexpected ?
          'bad' : ''].filter(Boolean).join(' ') || null,
        'data-label': heading.toLowerCase(),
      }, text(row))));
  }
}
