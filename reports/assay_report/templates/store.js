// SPDX-License-Identifier: Apache-2.0
//
// The run's data as columns, and the answer of every search term over them.
// Cells stand case by case; see payload.py.

class Column {
  constructor(values, indices) {
    this.values = values;
    this.indices = indices;
  }

  at(row) {
    return this.values[this.indices[row]];
  }

  // Bytes, one per row: does the row's value pass the test?
  mask(test) {
    const known = this.values.map((value) => (test(value) ? 1 : 0));
    const mask = new Uint8Array(this.indices.length);
    for (let row = 0; row < mask.length; row += 1) {
      mask[row] = known[this.indices[row]];
    }
    return mask;
  }
}

// A flag of a table: 1 or 0.
function isTrue(text) {
  return text === '1';
}

// A block of the page as its JSON head, the columns in it made whole.
async function unpack(id) {
  const text = atob(document.getElementById(id).textContent);
  const packed = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i += 1) packed[i] = text.charCodeAt(i);
  const stream = new Blob([packed]).stream().pipeThrough(
    new DecompressionStream('gzip'));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  let at = bytes.indexOf(10) + 1;
  const head = new TextDecoder().decode(bytes.subarray(0, at));
  return JSON.parse(head, (_, value) => {
    if (value?.rows === undefined) return value;
    const indices = new Uint32Array(value.rows);
    for (let plane = 0; plane < value.bytes; plane += 1, at += value.rows) {
      for (let row = 0; row < value.rows; row += 1) {
        indices[row] += bytes[at + row] * 256 ** plane;
      }
    }
    return value.values ? new Column(value.values, indices) : indices;
  });
}

// Columns of texts whose rows stand by ascending cells.
class Rows {
  constructor({cell_step: steps, column}) {
    this.column = column;
    let cell = 0;
    this.cellOfRow = steps.map((step) => (cell += step));
  }

  // A text of a row; a column of no texts is not packed.
  get(name, row) {
    return this.column[name]?.at(row) ?? '';
  }

  // The rows of one cell.
  rows(cell) {
    let low = 0;
    let high = this.cellOfRow.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.cellOfRow[middle] < cell) low = middle + 1;
      else high = middle;
    }
    const found = [];
    for (; this.cellOfRow[low] === cell; low += 1) found.push(low);
    return found;
  }
}

class Store {
  constructor(data) {
    this.ids = data.ids;
    this.backends = data.backends;
    this.short = data.short;  // what tells them apart
    this.outcomes = data.outcomes;  // every outcome there is, in order
    this.cases = data.ids.length;
    this.size = this.cases * this.backends.length;
    this.case = data.case;
    this.cell = data.cell;
    this.unexpected = this.cell.unexpected.mask((reason) => reason !== '');
    this.planned = this.cell.outcome.mask((outcome) => outcome !== '');
    this.byCause = data.by_cause;  // the unexpected cells, in the page's order
    this.notes = [];
  }

  cellOf(testId, backend) {
    const row = this.ids.indexOf(testId);
    const column = this.backends.indexOf(backend);
    return row < 0 || column < 0 ? -1 : this.cellAt(row, column);
  }

  cellAt(row, column) {
    return row * this.backends.length + column;
  }

  rowOf(cell) {
    return Math.floor(cell / this.backends.length);
  }

  columnOf(cell) {
    return cell % this.backends.length;
  }

  isVacuous(cell) {
    return isTrue(this.cell.vacuous.at(cell));
  }

  // The cell's own text with its gaps filled again, see payload.py.
  text(column, cell, seed = '', message = '') {
    const own = {
      'm': message,
      'i': this.ids[this.rowOf(cell)],
      'b': this.backends[this.columnOf(cell)],
      's': seed,
      '\x01': '\x01',
    };
    return column.at(cell).replace(/\x01([mibs\x01])/g, (_, mark) => own[mark]);
  }

  // Why a cell is unexpected; empty for one that is not.
  unexpectedReason(cell, seed = '') {
    const message = this.text(this.cell.message, cell, seed);
    return this.text(this.cell.unexpected, cell, seed, message);
  }

  // One byte per cell from one answer per case.
  tile(perCase) {
    const mask = new Uint8Array(this.size);
    const step = this.backends.length;
    for (let row = 0; row < this.cases; row += 1) {
      if (perCase[row]) mask.fill(1, row * step, (row + 1) * step);
    }
    return mask;
  }

  // The cells that answer yes; cells that were not planned never do. What no
  // cell of the run can answer with yes is said in this.notes.
  search(tree) {
    this.notes = [];
    const mask = evaluateQuery(tree, (term) => this.term(term), this.size);
    for (let k = 0; k < this.size; k += 1) mask[k] &= this.planned[k];
    return mask;
  }

  term({key, relation, value}) {
    const matches = valueMatcher(value);
    switch (key) {
      case '':
        return this.words(value);
      case 'id':
        return this.noted(key, value, [], this.tile(this.ids.map(matches)));
      case 'opset':
        return this.known(key, value, comparison(relation, value));
      case 'dtype':
        return this.known(key, value, matches,
          (text) => text.split(/[^A-Za-z0-9]+/));
      case 'extent':
        return this.known(key, value, comparison(relation, value),
          (text) => text.match(/\d+/g) ?? [], 'shape_sig');
      case 'backend':
        return this.backendMask(value, matches);
      case 'outcome':
        this.oneOf(key, value, matches, this.outcomes);
        return this.cell.outcome.mask(matches);
      case 'reason':
        return this.noted(key, value, this.cell.reason_code.values,
          this.cell.reason_code.mask(matches));
      case 'message':
        return this.messages(value.toLowerCase());
      case 'vacuous':
        this.oneOf(key, value, matches, ['yes', 'no']);
        return this.cell.vacuous.mask(
          (text) => matches(isTrue(text) ? 'yes' : 'no'));
      case 'is':
        return this.property(value);
      case 'attr':
      case 'rank':
        throw new QueryError(`${key}: is read from models, which a run does ` +
          `not keep; assay list cases --filter ${key}... has the cases`);
      default:
        return this.known(key, value, matches);
    }
  }

  // A column of cases; split says which texts a value of it holds.
  known(key, value, matches, split = (text) => [text], name = key) {
    const column = this.case[name];
    return this.noted(key, value, column.values.flatMap(split),
      this.tile(column.mask((text) => split(text).some(matches))));
  }

  noted(key, value, values, mask) {
    if (!mask.includes(1)) {
      this.notes.push(`this run has no ${key}:${value}` +
        didYouMean(value, [...new Set(values)]));
    }
    return mask;
  }

  oneOf(key, value, matches, values) {
    if (values.some(matches)) return;
    throw new QueryError(`found ${key}:${value}, wanted one of ` +
      `${values.join(', ')}${didYouMean(value, values)}`);
  }

  // A part of the id.
  words(text) {
    const matches = /[*?]/.test(text) ? valueMatcher(`*${text}*`) :
      (id) => id.includes(text);
    const mask = this.tile(this.ids.map(matches));
    if (!mask.includes(1)) {
      this.notes.push(`no id of a case has '${text}' in it; ` +
        `message:"${text}" looks into messages`);
    }
    return mask;
  }

  messages(needle) {
    return this.cell.message.mask(
      (text) => text.toLowerCase().includes(needle));
  }

  // name@version+setting is found by its name, too.
  backendMask(value, matches) {
    const names = this.backends.map((name) => name.split(/[@+]/)[0]);
    const known = this.backends.map(
      (name, at) => matches(name) || matches(names[at]));
    const mask = new Uint8Array(this.size);
    for (let k = 0; k < this.size; k += 1) mask[k] = known[this.columnOf(k)];
    return this.noted('backend', value, [...this.backends, ...names], mask);
  }

  property(name) {
    switch (name) {
      case 'unexpected':
        return this.unexpected.slice();
      case 'claimed':
        return this.cell.claimed.mask(isTrue);
      case 'different':
        return this.tile(this.disagreement());
      default:
        throw new QueryError(`found is:${name}, wanted is:unexpected, ` +
          'is:different or is:claimed');
    }
  }

  // Cases whose planned cells do not all have the same outcome.
  disagreement() {
    const {values, indices} = this.cell.outcome;
    return this.ids.map((_, row) => {
      const end = this.cellAt(row + 1, 0);
      let first = '';
      for (let k = this.cellAt(row, 0); k < end; k += 1) {
        const outcome = values[indices[k]];
        if (outcome && first && outcome !== first) return true;
        first ||= outcome;
      }
      return false;
    });
  }
}
