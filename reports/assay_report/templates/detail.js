// SPDX-License-Identifier: Apache-2.0
//
// The panel that says everything about one cell. Texts are set as text, never
// parsed as HTML.
//
//   drawDetail(panel, store, {detail, gradients, times}, cell, {open, close});

// The numbers of cells, and of their outputs as rows.
class Detail extends Rows {
  constructor(data, isRounded) {
    super(data.output);
    this.cell = data.cell;
    this.isRounded = isRounded;
  }
}

// One line of a list; nothing when the value was not measured.
function line(label, value) {
  if (value === '' || value === undefined || value === null ||
      value === false) return null;
  return element('div', {}, element('dt', {}, explained(label)),
    element('dd', {}, explained(value)));
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

function memoryText(kilobytes) {
  const value = Number(kilobytes);
  return value < 1024 ? `${value} KiB` :
    `${Number((value / 1024).toPrecision(3))} MiB`;
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

// Columns that have a place of their own in drawOutput. Every other number of
// a row is listed under its name, so that a new one needs no line here.
const PLACED = new Set(['attempt', 'output_index', 'output_name', 'dtype',
  'shape', 'n_elem', 'reference', 'bitwise_equal', 'worst_index', 'worst_want',
  'worst_got', 'max_abs_err', 'max_rel_err', 'max_ulp', 'atol', 'rtol', 'limit',
  'limit_source', 'headroom', 'out_of_limit', 'nan_mismatch', 'inf_mismatch',
  'worst', 'error_bins']);

// The names of the bins of error_bins, in units of the limit.
const ERROR_BINS = ['0', '1/16', '1/8', '1/4', '1/2', '1', '2', '4', '8', '16',
  'more'];
const BINS_WITHIN = 6;

// How many elements are how far off, as bars; the limit is a line.
function drawHistogram(text) {
  if (!text) return null;
  const counts = text.split(' ').map(Number);
  const most = Math.max(...counts);
  const said = counts.map((n, bin) => (n ? `${ERROR_BINS[bin]}: ${n}` : ''))
    .filter(Boolean).join(', ');
  const bars = counts.map((n, bin) => {
    const name = bin === 0 ? 'no error' : bin === counts.length - 1 ?
      'over 16 limits' : `to ${ERROR_BINS[bin]} of the limit`;
    return element('div', {
      class: bin < BINS_WITHIN ? 'bin' : 'bin beyond', title: `${name}: ${n}`,
    },
    element('span', {class: 'count'}, n ? n.toLocaleString('en') : ''),
    element('span', {
      class: 'height', style: `height:${n ? 2 + 46 * n / most : 0}px`}),
    element('span', {class: 'edge'}, ERROR_BINS[bin]));
  });
  return element('figure', {class: 'bins'},
    element('figcaption', {}, 'Elements by their error, in limits'),
    element('div', {role: 'img', 'aria-label': said}, ...bars));
}

// "4:2:3 0:1:nan": elements as [index, want, got].
function worstElements(text) {
  return text.split(' ').filter(Boolean).map((one) => one.split(':'));
}

// The elements furthest out; with an oracle, what is exact there.
function drawWorst(detail, {judged, oracle, expected_oracle: expected}) {
  const elements = worstElements(detail.get('worst', judged));
  if (elements.length < 2) return null;
  const exact = new Map([oracle, expected].filter((row) => row !== undefined)
    .flatMap((row) => worstElements(detail.get('worst', row)))
    .map(([index, value]) => [index, value]));
  const shape = detail.get('shape', judged);
  const heads = ['element', exact.size ? 'exact' : '', 'want', 'got']
    .filter(Boolean);
  const rows = elements.map(([index, want, got]) => element('tr', {},
    element('th', {scope: 'row'}, elementName(index, shape)),
    exact.size ? element('td', {}, exact.get(index) ?? 'not known') : null,
    element('td', {}, want), element('td', {}, got)));
  return element('div', {
    'class': 'worst', 'role': 'group', 'tabindex': '0',
    'aria-label': 'Elements furthest out'}, element('table', {},
    element('caption', {}, `The ${elements.length} elements furthest out`),
    element('thead', {}, element('tr', {},
      ...heads.map((name) => element('th', {scope: 'col'}, name)))),
    element('tbody', {}, ...rows)));
}

// The rows of a cell by output and data set: {judged, oracle, expected_oracle},
// each a row, those of the oracle only where the run has one.
function byOutput(detail, rows) {
  const groups = new Map();
  const seen = new Map();
  for (const row of rows) {
    const reference = detail.get('reference', row);
    const kind = reference.endsWith('oracle') ? reference : 'judged';
    const name = detail.get('output_name', row);
    const nth = seen.get(`${kind} ${name}`) ?? 0;
    seen.set(`${kind} ${name}`, nth + 1);
    const key = `${nth} ${name}`;
    groups.set(key, {...groups.get(key), [kind]: row});
  }
  return [...groups.values()];
}

// How far one side is from the exact value. A share that is empty beside a
// bound means that the bound is too wide to tell.
function exactText(detail, row) {
  const get = (name) => detail.get(name, row);
  const special = Number(get('nan_mismatch')) + Number(get('inf_mismatch'));
  const share = get('share_correctly_rounded');
  const rounded = share ? `${Number((100 * share).toPrecision(4))} % correctly rounded` :
    get('oracle_bound') ? 'undecided' : '';
  return [
    special ? `${special} elements of NaN or infinity on one side` : '',
    get('max_ulp') && `${get('max_ulp')} ULP`,
    isTrue(get('bitwise_equal')) ? 'all bits as rounded' : rounded,
    get('worst_index') && `[${get('worst_index')}]: ${get('worst_got')}, ` +
      `exact ${get('worst_want')}`,
  ].filter(Boolean).join('; ');
}

function drawOracle(detail, {oracle, expected_oracle: expected}) {
  const rows = [oracle, expected].filter((row) => row !== undefined);
  if (!rows.length) return null;
  const bound = rows.map((row) => detail.get('oracle_bound', row))
    .reduce((a, b) => (Number(b) > Number(a) ? b : a));
  return list(
    line('got, from exact', oracle !== undefined && exactText(detail, oracle)),
    line('want, from exact',
      expected !== undefined && exactText(detail, expected)),
    line('oracle\'s bound', bound && `off by at most ${bound} ULP`));
}

// The numbers without a place of their own, as [name, value].
function drawMore(numbers) {
  const lines = list(...numbers.filter(([, value]) => value !== '0')
    .map(([name, value]) => line(name.replaceAll('_', ' '), value)));
  return lines && element('details', {},
    element('summary', {}, 'More numbers'), lines);
}

function drawJudged(detail, row) {
  const get = (name) => detail.get(name, row);
  const elements = get('n_elem');
  const ofAll = (text) => (text && text !== '0' && elements ?
    `${text} of ${elements}` : '');
  // Elements of want 0 have no relative error; NaN and infinity have none at all,
  // and a zero beside them was not measured.
  const relative = get('max_rel_err');
  const isSpecial = Number(get('nan_mismatch')) + Number(get('inf_mismatch')) > 0;
  const measured = (text) => (isSpecial && Number(text) === 0 ? '' : text);
  const hasRelative = relative !== '0' || get('max_abs_err') === '0';
  return [
    isTrue(get('bitwise_equal')) ?
      element('p', {}, 'Equal, bit for bit.') : null,
    list(
      line('worst element', elementName(get('worst_index'), get('shape'))),
      line('want', get('worst_want')),
      line('got', get('worst_got')),
      line('max abs error', measured(get('max_abs_err'))),
      line('max rel error', measured(hasRelative ? relative : '')),
      line('max ULP', measured(get('max_ulp'))),
      line('limit', limitText(get)),
      line('headroom', get('headroom')),
      line('outside the limit', ofAll(get('out_of_limit'))),
      line('NaN mismatch', ofAll(get('nan_mismatch'))),
      line('infinity mismatch', ofAll(get('inf_mismatch'))),
      line('judged against', get('reference'))),
  ];
}

function drawOutput(detail, group, isBrief) {
  const {judged} = group;
  const first = judged ?? group.oracle ?? group.expected_oracle;
  const get = (name) => detail.get(name, first);
  const name = get('output_name') || `output ${get('output_index')}`;
  return element('section', {class: 'output'}, ...[
    element('h4', {}, name, ' ', element('small', {},
      [get('dtype'), get('shape')].filter(Boolean).join(' '))),
    ...(judged === undefined ? [] : [...drawJudged(detail, judged),
      drawWorst(detail, group), drawHistogram(get('error_bins'))]),
    drawOracle(detail, group),
    judged === undefined ? null : drawMore(Object.keys(detail.column)
      .filter((one) => !PLACED.has(one)).map((one) => [one, get(one)])),
    isBrief ? element('p', {class: 'quiet'},
      'In a run of this size the page keeps two digits of what passed; all ' +
      'digits and the worst element stand in accuracy.csv.') : null,
  ].filter((part) => part !== null));
}

// Attempts after the first may have no numbers of their own.
function drawOutputs(detail, cell, isBrief) {
  const rows = detail.rows(cell);
  if (!rows.length) return [];
  const attempts = detail.cell.attempt.at(cell);
  const attempt = detail.get('attempt', rows[0]);
  return [
    element('h3', {}, 'Outputs ',
      attempts === attempt ? null :
        element('small', {}, `of attempt ${attempt} of ${attempts}`)),
    ...byOutput(detail, rows).map(
      (group) => drawOutput(detail, group, isBrief)),
  ];
}

function drawOthers(store, cell, open) {
  const buttons = store.backends.map((name, column) => {
    const k = store.cellAt(store.rowOf(cell), column);
    if (!store.planned[k]) return null;
    const outcome = store.cell.outcome.at(k);
    return pressable(`outcome o-${outcome}`, `${name}: ${outcome}`,
      () => open(k), {'aria-pressed': String(k === cell)});
  });
  return element('div', {
    'class': 'others', 'role': 'group', 'aria-label': 'The same case elsewhere',
  }, ...buttons);
}

// The command that repeats a cell; a gradient's own where it has another.
function reproOf(store, detail, gradients, cell) {
  const seed = detail.cell.seed.at(cell);
  return (gradients && store.text(gradients.repro, cell, seed)) ||
    store.text(detail.cell.repro, cell, seed);
}

// Outcomes of which a smaller case can be looked for.
const SHRINKABLE = new Set(['fail', 'xfail', 'error', 'crash', 'timeout']);

// The word of a shell as it stands, or in quotes.
function quoted(word) {
  return /^[\w./:=@%+,#-]+$/.test(word) && word[0] !== '#' ? word :
    `'${word.replaceAll('\'', '\'\\\'\'')}'`;
}

// The commands that repeat a cell, and look further into it.
function drawCommands(store, cell, repro) {
  const outcome = store.cell.outcome.at(cell);
  const {folder, programs, sized} =
    document.getElementById('data-detail').dataset;
  const id = store.ids[store.rowOf(cell)];
  const isIn = (suites) => suites.split(' ').includes(id.split('/')[0]);
  const about = [id, '--backend',
    store.backends[store.columnOf(cell)], '--run', folder].map(quoted).join(' ');
  const lines = [
    ['Repeat it', repro],
    ['Say why', `assay explain ${about}`],
    ['Make it small',
      SHRINKABLE.has(outcome) && (!isIn(programs) || isIn(sized)) ?
        `assay shrink ${about} --out small` : ''],
    ['Hand it on',
      isIn(programs) ? '' : `assay capsule ${about} --out capsule`],
  ];
  return element('section', {class: 'commands'},
    element('h3', {}, 'Commands'),
    ...lines.filter(([, text]) => text).flatMap(([label, text]) => [
      element('p', {}, label),
      copyable(text, {'aria-label': `Copy: ${label}`})]));
}

function drawReason(store, cell, seed) {
  const code = store.cell.reason_code.at(cell);
  const message = store.text(store.cell.message, cell, seed);
  if (!code && !message) return null;
  return element('p', {class: 'message'},
    code ? element('b', {}, code) : null, code && message ? ': ' : null, message);
}

// The part of the verdict's reason that is not the message, such as a case
// lost from a floor, or the word of an oracle.
function drawUnexpected(store, cell, seed) {
  const message = store.text(store.cell.message, cell, seed);
  const reason = store.unexpectedReason(cell, seed);
  const rest = message && reason.startsWith(message) ?
    reason.slice(message.length).replace(/^; /, '') : reason;
  return rest ? element('p', {class: 'message bad'}, rest) : null;
}

// Whether it gives the same when it is run again.
function drawAttempts(detail, cell) {
  const text = detail.cell.attempts.at(cell);
  if (!text) return null;
  return element('section', {},
    element('h3', {}, 'Attempts'),
    ...(text.endsWith(' alike') ?
      [element('p', {}, `${text}: it does the same each time.`)] :
      text.split('\n').map((one) => element('p', {}, one))));
}

// Outcomes behind which no number of a case can be.
const NOT_ENDED = new Set(['crash', 'timeout', 'missing']);

function drawCellFacts(store, detail, cell, outcome) {
  const get = (name) => detail.cell[name].at(cell);
  const kept = (name) => store.case[name].at(store.rowOf(cell));
  const domain = kept('domain') === 'ai.onnx' ? '' : kept('domain');
  const attempt = get('attempt');
  const own = get('own_rss_kb');
  const peak = get('peak_rss_kb');
  return [
    element('h3', {}, 'Times and memory'),
    list(
      line('load', microseconds(get('load_us'))),
      line('run', microseconds(get('run_us'))),
      line('judge', microseconds(get('judge_us'))),
      line('memory of its own', own &&
        `${memoryText(own)} more than the cases before it took`),
      line('worker\'s peak', peak &&
        `${memoryText(peak)}, with all cases before it`)) ??
      element('p', {class: 'quiet'}, NOT_ENDED.has(outcome) ?
        'None: the process did not come to the end of the case.' :
        'Not measured.'),
    element('h3', {}, 'Case and setting'),
    list(
      line('operator', kept('op')),
      line('domain', domain),
      line('opset', kept('opset')),
      line('element type', kept('dtype')),
      line('shapes', kept('shape_sig')),
      line('settings', get('settings')),
      line('placement', get('placement')),
      line('through function', isTrue(get('via_function')) ? 'yes' : ''),
      line('corpus', kept('corpus')),
      line('claims', isTrue(store.cell.claimed.at(cell)) ? 'inside' : 'outside'),
      line('limit from', get('limit_source')),
      line('headroom', get('headroom')),
      line('seed', get('seed')),
      line('attempts', attempt === '1' ? '' : outcome === 'flaky' ? attempt :
        `${attempt}, none passed`)),
  ];
}

function drawDetail(panel, store, data, cell, {open, close}) {
  const {detail, gradients} = data;
  const outcome = store.cell.outcome.at(cell);
  const seed = detail.cell.seed.at(cell);
  const id = store.ids[store.rowOf(cell)];
  const isBrief = detail.isRounded && outcome === 'pass';
  panel.replaceChildren(...[
    element('div', {class: 'panel-head'},
      element('p', {},
        outcomeName(outcome), ` on ${store.backends[store.columnOf(cell)]}`,
        store.unexpected[cell] ? element('b', {class: 'bad'}, ' unexpected') : null),
      pressable('close', 'Close', close)),
    element('h2', {id: 'panel-title', tabindex: '-1'}, id),
    drawReason(store, cell, seed),
    drawUnexpected(store, cell, seed),
    store.isVacuous(cell) ? element('p', {class: 'vacuity'},
      `Vacuous: ${WORDS.vacuous}.`) : null,
    drawOthers(store, cell, open),
    ...drawGradients(gradients, cell),
    ...drawOutputs(detail, cell, isBrief),
    ...drawTimes(store, data.times, cell),
    drawAttempts(detail, cell),
    drawCommands(store, cell, reproOf(store, detail, gradients, cell)),
    ...drawCellFacts(store, detail, cell, outcome),
  ].filter((part) => part !== null));
}
