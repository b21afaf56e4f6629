// SPDX-License-Identifier: Apache-2.0
//
// The search language: text -> tree -> one byte per cell. Pure functions.
//
//   const tree = parseQuery('op:Conv and not outcome:pass');
//   const mask = evaluateQuery(tree, (term) => columnMask(term), cellCount);
//
//   either := both ("or" both)*          both := unary (["and"] unary)*
//   unary  := "not" unary | "(" either ")" | term
//   term   := word | key (":" | "=" | "<" | "<=" | ">" | ">=") value

const QUERY_KEYS = ['id', 'suite', 'op', 'domain', 'opset', 'dtype', 'backend',
  'outcome', 'reason', 'vacuous', 'is'];

class QueryError extends Error {}

// Tokens: {kind: 'open' | 'close' | 'and' | 'or' | 'not' | 'term', ...}.
function queryTokens(text) {
  const pattern =
    /\s+|([()])|(?:([a-z]+)(<=|>=|[:=<>]))?(?:"((?:[^"\\]|\\.)*)"|([^\s()"]+))?/giy;
  const tokens = [];
  while (pattern.lastIndex < text.length) {
    const at = pattern.lastIndex;
    const [whole, paren, key, relation, quoted, plain] = pattern.exec(text);
    if (!whole) {
      throw new QueryError(`a quote at ${at + 1} has no end`);
    }
    const value = quoted === undefined ? plain :
      quoted.replace(/\\(.)/g, '$1');
    if (paren) {
      tokens.push({kind: paren === '(' ? 'open' : 'close'});
    } else if (key && value === undefined) {
      throw new QueryError(`${key}${relation} has no value`);
    } else if (key) {
      tokens.push(queryTerm(key, relation, value));
    } else if (quoted === undefined && /^(and|or|not)$/i.test(plain ?? '')) {
      tokens.push({kind: plain.toLowerCase()});
    } else if (value) {
      tokens.push({kind: 'term', key: '', relation: ':', value});
    }
  }
  return tokens;
}

function queryTerm(key, relation, value) {
  const name = key.toLowerCase();
  if (!QUERY_KEYS.includes(name)) {
    throw new QueryError(
      `unknown key ${key}, wanted one of ${QUERY_KEYS.join(', ')}`);
  }
  if (/[<>]/.test(relation) && name !== 'opset') {
    throw new QueryError(`only opset can be compared with ${relation}`);
  }
  return {kind: 'term', key: name, relation, value};
}

// null for a query without words, which every cell answers with yes.
function parseQuery(text) {
  const tokens = queryTokens(text);
  let next = 0;
  const peek = () => tokens[next]?.kind;

  function either() {
    const parts = [both()];
    while (peek() === 'or') {
      next += 1;
      parts.push(both());
    }
    return parts.length === 1 ? parts[0] : {kind: 'or', parts};
  }

  function both() {
    const parts = [unary()];
    while (['and', 'not', 'open', 'term'].includes(peek())) {
      next += peek() === 'and' ? 1 : 0;
      parts.push(unary());
    }
    return parts.length === 1 ? parts[0] : {kind: 'and', parts};
  }

  function unary() {
    const token = tokens[next];
    next += 1;
    switch (token?.kind) {
      case 'not':
        return {kind: 'not', parts: [unary()]};
      case 'term':
        return token;
      case 'open': {
        const inner = either();
        if (peek() !== 'close') throw new QueryError('a ( has no )');
        next += 1;
        return inner;
      }
      default:
        throw new QueryError(
          token ? `found ${QUERY_SIGNS[token.kind]}, wanted a word` :
            'the query stops early, wanted a word');
    }
  }

  if (!tokens.length) return null;
  const tree = either();
  if (next < tokens.length) throw new QueryError('a ) has no (');
  return tree;
}

const QUERY_SIGNS = {and: 'and', or: 'or', close: ')'};

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

// A test of one value: equal without regard to case; * stands for anything, ?
// for one character.
function valueMatcher(value) {
  const pattern = value.replace(/[^\w*?]/g, '\\$&')
    .replaceAll('*', '[^]*').replaceAll('?', '[^]');
  const whole = new RegExp(`^${pattern}$`, 'i');
  return (text) => whole.test(text);
}
