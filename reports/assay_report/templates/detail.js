// SPDX-License-Identifier: Apache-2.0
//
// The panel that says everything about one cell. Texts are set as text, never
// parsed as HTML.
//
//   drawDetail(panel, store, detail, cell, {open, close});

class Detail {
  constructor(data, isRounded) {
    this.cell = data.cell;
    this.output = data.output.column;
    this.isRounded = isRounded;
    let cell = 0;
    this.cellOfOutput = data.output.cell_step.map((step) => (cell += step));
  }

  // The numbers of the cell's outputs. Cells of outputs ascend.
  outputs(cell) {
    let low = 0;
    let high = this.cellOfOutput.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.cellOfOutput[middle] < cell) low = middle + 1;
      else high = middle;
    }
    const found = [];
    for (; this.cellOfOutput[low] === cell; low += 1) found.push(low);
    return found;
  }
}

// One line of a list; nothing when the value was not measured.
function line(label, value) {
  if (value === '' || value === undefined || value === null) return null;
  return element('div', {}, element('dt', {}, label), element('dd', {}, value));
}

function list(...lines) {
  const present = lines.filter((one) => one !== null);
  return present.length ? element('dl', {class: 'lines'}, ...present) : null;
}

function microseconds(text) {
  const value = Number(text);
  if (text === '' || Number.isNaN(value)) return text;
  if (value < 1000) return `${value} \u00b5s`;
  return value < 1e6 ? `${Number((value / 1e3).toPrecision(4))} ms` :
    `${Number((value / 1e6).toPrecision(4))} s`;
}

// A flat index with its place in the shape: 17 of 3x4x5 is 17 = [0, 3, 2].
function elementName(index, shape) {
  const dimensions = (shape.match(/\d+/g) ?? []).map(Number);
  if (index === '' || dimensions.length < 2) return index;
  let rest = Number(index);
  const place = dimensions.reverse().map((size) => {
    const at = rest % size;
    rest = Math.floor(rest / size);
    return at;
  });
  return rest === 0 ? `${index} = [${place.reverse().join(', ')}]` : index;
}

// The limit at the worst element, how it is made up, and who set it.
function limitText(get) {
  const parts = [get('limit'), get('atol') && `atol ${get('atol')}`,
    get('rtol') && `rtol ${get('rtol')}`].filter(Boolean).join(', ');
  const source = get('limit_source');
  return parts && source ? `${parts} (${source})` : parts || source;
}

function drawOutput(detail, row, isBrief) {
  const get = (name) => detail.output[name].at(row);
  const name = get('output_name') || `output ${get('output_index')}`;
  const shape = get('shape');
  const isEqual = isTrue(get('bitwise_equal'));
  const elements = get('n_elem');
  const ofAll = (text) => (text && elements ? `${text} of ${elements}` : text);
  return element('section', {class: 'output'},
    element('h4', {}, name, element('small', {},
      [get('dtype'), shape].filter(Boolean).join(' '))),
    isEqual ? element('p', {}, 'Equal, bit for bit.') : null,
    list(
      line('worst element', elementName(get('worst_index'), shape)),
      line('want', get('worst_want')),
      line('got', get('worst_got')),
      line('max abs error', get('max_abs_err')),
      line('max rel error', get('max_rel_err')),
      line('max ULP', get('max_ulp')),
      line('limit', limitText(get)),
      line('headroom', get('headroom')),
      line('outside the limit', ofAll(get('out_of_limit'))),
      line('NaN mismatch', ofAll(get('nan_mismatch'))),
      line('infinity mismatch', ofAll(get('inf_mismatch'))),
      line('judged against', get('reference'))),
    isBrief ? element('p', {class: 'quiet'},
      'In a run of this size the page keeps two digits of what passed; all ' +
      'digits and the worst element stand in accuracy.csv.') : null);
}

function drawOthers(store, cell, open) {
  const buttons = store.backends.map((name, column) => {
    const k = store.cellAt(store.rowOf(cell), column);
    if (!store.planned[k]) return null;
    const outcome = store.cell.outcome.at(k);
    const button = element('button', {
      'type': 'button',
      'class': `outcome o-${outcome}`,
      'aria-pressed': String(k === cell),
    }, `${name}: ${outcome}`);
    button.addEventListener('click', () => open(k));
    return button;
  });
  return element('div', {
    'class': 'others', 'role': 'group', 'aria-label': 'The same case elsewhere',
  }, ...buttons);
}

function drawRepro(text) {
  if (!text) return null;
  return element('section', {},
    element('h3', {}, 'Repeat it'),
    element('span', {class: 'copyable'}, command(text),
      element('button', {type: 'button', class: 'copy'}, 'Copy')));
}

function drawReason(store, cell, seed) {
  const code = store.cell.reason_code.at(cell);
  const message = store.text(store.cell.message, cell, seed);
  if (!code && !message) return null;
  return element('p', {class: 'message'},
    code ? element('b', {}, code) : null, code && message ? ': ' : null, message);
}

// What the verdict said beyond the message, such as a case lost from a floor.
function drawUnexpected(store, cell) {
  const reason = store.cell.unexpected.at(cell);
  return reason === '' || reason === '=' ? null :
    element('p', {class: 'message bad'}, store.unexpectedReason(cell));
}

function drawCellFacts(store, detail, cell) {
  const get = (name) => detail.cell[name].at(cell);
  const kept = (name) => store.case[name].at(store.rowOf(cell));
  const domain = kept('domain') === 'ai.onnx' ? '' : kept('domain');
  const attempt = get('attempt');
  const peak = get('peak_rss_kb');
  return [
    element('h3', {}, 'Times'),
    list(
      line('load', microseconds(get('load_us'))),
      line('run', microseconds(get('run_us'))),
      line('judge', microseconds(get('judge_us'))),
      line('peak memory', peak && `${peak} kB`)) ??
      element('p', {class: 'quiet'}, 'Not measured.'),
    element('h3', {}, 'Case and setting'),
    list(
      line('operator', kept('op')),
      line('domain', domain),
      line('opset', kept('opset')),
      line('element type', kept('dtype')),
      line('shapes', kept('shape_sig')),
      line('settings', get('settings')),
      line('ran on', get('placement')),
      line('through function', isTrue(get('via_function')) ? 'yes' : ''),
      line('limit from', get('limit_source')),
      line('headroom', get('headroom')),
      line('seed', get('seed')),
      line('attempts', attempt === '1' ? '' : attempt)),
  ];
}

function drawDetail(panel, store, detail, cell, {open, close}) {
  const outcome = store.cell.outcome.at(cell);
  const seed = detail.cell.seed.at(cell);
  const id = store.ids[store.rowOf(cell)];
  const backend = store.backends[store.columnOf(cell)];
  const isBrief = detail.isRounded && outcome === 'pass';
  const shut = element('button', {type: 'button', class: 'close'}, 'Close');
  shut.addEventListener('click', close);
  const outputs = detail.outputs(cell).map(
    (row) => drawOutput(detail, row, isBrief));
  panel.replaceChildren(...[
    element('div', {class: 'panel-head'},
      element('p', {},
        element('span', {class: `outcome o-${outcome}`}, outcome),
        ` on ${backend}`,
        store.unexpected[cell] ? element('b', {class: 'bad'}, ' unexpected') : null),
      shut),
    element('h2', {id: 'panel-title', tabindex: '-1'}, id),
    drawReason(store, cell, seed),
    drawUnexpected(store, cell),
    store.isVacuous(cell) ? element('p', {class: 'vacuity'},
      'Vacuous: the expected outputs of this case are constant or empty, so ' +
      'a pass says little.') : null,
    drawOthers(store, cell, open),
    drawRepro(store.text(detail.cell.repro, cell, seed)),
    outputs.length ? element('h3', {}, 'Outputs') : null,
    ...outputs,
    ...drawCellFacts(store, detail, cell),
  ].filter((part) => part !== null));
}
