// SPDX-License-Identifier: Apache-2.0
//
// Elements, and the cells of the matrix's rows. Texts are set as text, never
// parsed as HTML.
//
//   element('p', {class: 'quiet'}, 'text', element('b', {}, 'bold'));
//   drawCase(store, 7, mask, selected);   // the name and a cell per backend

function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === 'class') made.className = value;
    else if (value !== null) made.setAttribute(name, value);
  }
  made.append(...children.filter((child) => child !== null));
  return made;
}

// A button of a kind that does something when it is pressed.
function pressable(kind, text, press, attributes = {}) {
  const made = element(
    'button', {'type': 'button', 'class': kind, ...attributes}, text);
  made.addEventListener('click', press);
  return made;
}

// An outcome with its sign.
function outcomeName(outcome) {
  return element('span',
    {class: `outcome o-${outcome}`, title: WORDS[outcome] ?? null}, outcome);
}

// Meanings of the words that only this project uses; see glossary.py.
const WORDS = JSON.parse(document.getElementById('data-words').textContent);

// The text, with its meaning where it is a word of the list.
function explained(text) {
  return Object.hasOwn(WORDS, text) ?
    element('abbr', {title: WORDS[text]}, text) : text;
}

// A touch shows the meaning of a word behind it, and takes it away again.
function toggleMeaning(word) {
  const next = word.nextElementSibling;
  if (next?.matches('.meaning')) next.remove();
  else word.after(element('span', {class: 'meaning'}, ` (${word.title})`));
}

// The outcomes of a map of counts, in the order in which they are shown.
function inOrder(store, counts) {
  return [...counts.keys()].sort(
    (a, b) => store.outcomes.indexOf(a) - store.outcomes.indexOf(b));
}

// A link to a cell.
function cellLink(store, cell, text) {
  const id = store.ids[store.rowOf(cell)];
  const backend = store.backends[store.columnOf(cell)];
  const hash = new URLSearchParams({case: id, backend});
  return element('a', {href: `#${hash}`}, text ?? id);
}

// A command, whose words are not broken at their hyphens, to be copied.
function copyable(text, attributes = {}) {
  const words = text.split(' ').flatMap(
    (word) => [' ', element('span', {class: 'word'}, word)]);
  return element('span', {class: 'copyable'},
    element('code', {}, ...words.slice(1)),
    element('button', {'type': 'button', 'class': 'copy', ...attributes}, 'Copy'));
}

// `text` is the number that the case is ordered by, if any.
function drawCase(store, row, mask, selected, text = '') {
  const id = store.ids[row];
  const cut = id.lastIndexOf('/') + 1;
  const name = element('div', {role: 'rowheader', class: 'name', title: id},
    element('span', {class: 'path'}, id.slice(0, cut)),
    element('span', {class: 'leaf'}, id.slice(cut)),
    text ? element('small', {class: 'ordered'}, text) : null);
  const cells = store.backends.map((_, column) => {
    const k = store.cellAt(row, column);
    return drawCell(store, k, mask[k], k === selected);
  });
  return [name, ...cells];
}

function drawCell(store, k, matches, isSelected) {
  if (!store.planned[k]) {
    return element('div', {role: 'gridcell', class: 'cell none'}, 'not planned');
  }
  const outcome = store.cell.outcome.at(k);
  const vacuous = outcome === 'pass' && store.isVacuous(k);
  const unexpected = store.unexpected[k] === 1;
  const words = [outcome, vacuous ? 'vacuous' : '',
    unexpected ? 'unexpected' : ''].filter(Boolean).join(', ');
  return element('div', {
    'role': 'gridcell',
    'class': `cell outcome o-${outcome}${unexpected ? ' unexpected' : ''}` +
      (matches ? '' : ' dim'),
    'aria-label': words,
    'aria-selected': isSelected ? 'true' : null,
    'title': words,
  }, vacuous ? `${outcome} (v)` : outcome);
}

// For paper: all of a table that shows its first rows.
function drawWhole(table) {
  const {isWhole} = table;
  table.isWhole = true;
  table.draw();
  table.isWhole = isWhole;
}

// The unexpected results stand first, so that a narrow cell cannot cut them.
function drawGroupCell({pass, planned, unexpected}) {
  const words = `${pass} of ${planned} pass` +
    (unexpected ? `, ${unexpected} unexpected` : '');
  const kind = unexpected ? 'outcome o-fail unexpected' :
    pass ? 'outcome o-pass' : 'idle';
  return element('div', {
    'role': 'gridcell',
    'class': `cell ${kind}`,
    'aria-label': words,
    'title': words,
  }, unexpected ? element('b', {}, `${unexpected} `) : null,
  element('span', {class: 'passing'}, `${pass}`,
    element('span', {class: 'of'}, `/${planned}`)));
}

// A group's name and, per backend, how many of all its cases pass.
function drawGroup(group) {
  const count = group.matching === group.cases ? `${group.cases}` :
    `${group.matching} of ${group.cases} match`;
  const name = element('div', {
    'role': 'rowheader',
    'class': 'name',
    'aria-expanded': String(group.isOpen),
  }, group.name || '(none)', element('small', {}, count));
  return [name, ...group.backends.map(drawGroupCell)];
}
