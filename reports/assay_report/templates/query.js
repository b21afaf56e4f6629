// SPDX-License-Identifier: Apache-2.0
//
// The search language, that of the command line (query.h): text -> tree -> one
// byte per cell. Pure functions.
//
//   const tree = parseQuery('op:Conv and not outcome:pass');
//   const mask = evaluateQuery(tree, (term) => columnMask(term), cellCount);
//
//   query  := term ("or" term)*          term := factor (["and"] factor)*
//   factor := "not" factor | "(" query ")" | word
//   word   := key ":" value | key ("=" | "<" | "<=" | ">" | ">=") number | text

const QUERY_KEYS = ['id', 'suite', 'op', 'domain', 'opset', 'dtype', 'kind',
  'backend', 'corpus', 'comparator', 'attr', 'vacuous', 'outcome', 'reason',
  'rank', 'extent'];
// The page's own: a part of the message, and what a cell is beside others.
const PAGE_KEYS = ['message', 'is'];
const NUMBER_KEYS = ['opset', 'rank', 'extent'];

class QueryError extends Error {}

class QueryParser {
  constructor(text) {
    this.text = text;
    this.at = 0;
    this.skip();
  }

  get atEnd() {
    return this.at >= this.text.length;
  }

  skip() {
    while (/\s/.test(this.text[this.at] ?? '')) this.at += 1;
  }

  // The bare word at the position, up to a blank or a parenthesis.
  peek() {
    return this.text.slice(this.at).match(/^[^\s()]*/)[0];
  }

  take(keyword) {
    if (this.peek() !== keyword) return false;
    this.at += keyword.length;
    this.skip();
    return true;
  }

  wanted(wanted, at = this.at, found = this.peek() || this.text[this.at]) {
    throw new QueryError(`column ${at + 1}: found ` +
      `${found === undefined ? 'the end' : `'${found}'`}, wanted ${wanted}`);
  }

  query() {
    const parts = [];
    do parts.push(this.term()); while (this.take('or'));
    return parts.length === 1 ? parts[0] : {kind: 'or', parts};
  }

  term() {
    const parts = [];
    do {
      parts.push(this.factor());
    } while (this.take('and') || (!this.atEnd && this.text[this.at] !== ')' &&
             this.peek() !== 'or'));
    return parts.length === 1 ? parts[0] : {kind: 'and', parts};
  }

  factor() {
    const next = this.text[this.at];
    const word = this.peek();
    if (next === undefined || next === ')' || word === 'and' || word === 'or') {
      this.wanted('a term');
    }
    if (/^(AND|OR|NOT)$/.test(word)) {
      this.wanted('and, or, not in small letters, or the word in quotes');
    }
    if (this.take('not')) return {kind: 'not', parts: [this.factor()]};
    return next === '(' ? this.group() : this.word();
  }

  group() {
    const begin = this.at;
    this.at += 1;
    this.skip();
    const inner = this.query();
    if (this.atEnd) this.wanted(`the ')' of column ${begin + 1}`);
    this.at += 1;
    this.skip();
    return inner;
  }

  // Quotes may stand anywhere in a word; one that begins with a quote is a text.
  word() {
    const begin = this.at;
    const isText = this.text[begin] === '"';
    let text = '';
    let split = -1;
    let isQuoted = false;
    while (!this.atEnd && !/[\s()]/.test(this.text[this.at])) {
      const letter = this.text[this.at];
      if (letter === '"') {
        text += this.quoted();
        isQuoted = true;
        continue;
      }
      if (!isText && split < 0 && /[:=<>]/.test(letter)) split = text.length;
      text += letter;
      this.at += 1;
    }
    this.skip();
    if (split < 0) return {kind: 'term', key: '', relation: ':', value: text};
    return this.keyed(text, split, begin, isQuoted);
  }

  quoted() {
    const held = this.text.slice(this.at).match(/^"((?:[^"\\]|\\.)*)"/s);
    if (!held) {
      throw new QueryError(`column ${this.at + 1}: found a quote that is not ` +
        'closed, wanted "');
    }
    this.at += held[0].length;
    return held[1].replace(/\\(["\\])/g, '$1');
  }

  keyed(text, split, begin, isQuoted) {
    const key = text.slice(0, split);
    const known = [...QUERY_KEYS, ...PAGE_KEYS];
    if (!known.includes(key)) {
      const rest = key.startsWith('-') && known.includes(key.slice(1)) ?
        `; 'not ${text.slice(1)}' excludes` : didYouMean(key, known);
      throw new QueryError(`column ${begin + 1}: found the key '${key}', wanted ` +
        `one of ${known.join(', ')}${rest}`);
    }
    const [relation] = text.slice(split).match(/^(:|<=|>=|[=<>])/);
    const value = text.slice(split + relation.length);
    if (value === '' && !(relation === ':' && isQuoted)) {
      this.wanted('a value', begin + text.length, text);
    }
    if (relation !== ':') {
      if (!NUMBER_KEYS.includes(key)) {
        this.wanted("':' behind the key: only opset, rank and extent are numbers",
          begin, text);
      }
      if (!/^-?\d+$/.test(value)) {
        this.wanted('an integer', begin + split + relation.length, value);
      }
    }
    return {kind: 'term', key, relation, value};
  }
}

// null for a query without words, which every cell answers with yes.
function parseQuery(text) {
  const parser = new QueryParser(text);
  if (parser.atEnd) return null;
  const tree = parser.query();
  if (!parser.atEnd) parser.wanted('the end: this \')\' closes nothing');
  return tree;
}

// Uint8Array of `size` zeros and ones. termMask(term) answers for one term.
function evaluateQuery(tree, termMask, size) {
  if (tree === null) return new Uint8Array(size).fill(1);
  if (tree.kind === 'term') return termMask(tree);
  const [first, ...rest] = tree.parts.map(
    (part) => evaluateQuery(part, termMask, size));
  for (const mask of rest) {
    for (let i = 0; i < size; i += 1) {
      first[i] = tree.kind === 'and' ? first[i] & mask[i] : first[i] | mask[i];
    }
  }
  if (tree.kind === 'not') {
    for (let i = 0; i < size; i += 1) first[i] ^= 1;
  }
  return first;
}

// A test of one value, letter case included; * stands for anything, ? for one
// character.
function valueMatcher(value) {
  if (!/[*?]/.test(value)) return (text) => text === value;
  const pattern = value.replace(/[^\w*?]/g, '\\$&')
    .replaceAll('*', '[^]*').replaceAll('?', '[^]');
  const whole = new RegExp(`^${pattern}$`);
  return (text) => whole.test(text);
}

// A test of one number in words; `:` matches it as text.
function comparison(relation, value) {
  const number = Number(value);
  const tests = {
    ':': valueMatcher(value),
    '=': (text) => Number(text) === number,
    '<': (text) => Number(text) < number,
    '<=': (text) => Number(text) <= number,
    '>': (text) => Number(text) > number,
    '>=': (text) => Number(text) >= number,
  };
  return (text) => text !== '' && tests[relation](text);
}

// "; did you mean Conv?" for the nearest of the texts, if any is near; of equal
// ones that which begins like it.
function didYouMean(text, known) {
  const most = Math.max(1, Math.floor(text.length / 3));
  const shared = (one) => {
    let at = 0;
    while (at < one.length && one[at] === text[at]) at += 1;
    return at;
  };
  const [best] = known.map((one) => [distance(text, one), one])
    .filter(([apart, one]) => apart <= most && one !== '')
    .sort(([a, one], [b, other]) => a - b || shared(other) - shared(one));
  return best ? `; did you mean ${best[1]}?` : '';
}

// Letters that are added, lost, changed or swapped with their neighbour; letter
// case counts for little.
function distance(from, to) {
  const a = from.toLowerCase();
  const b = to.toLowerCase();
  let before = [];
  let row = [...Array(b.length + 1).keys()];
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      next[j] = Math.min(row[j] + 1, next[j - 1] + 1,
        row[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        next[j] = Math.min(next[j], before[j - 2] + 1);
      }
    }
    [before, row] = [row, next];
  }
  return row[b.length];
}
