// SPDX-License-Identifier: Apache-2.0
//
// Times of calls: a part of the panel, and a table of all that were timed. A phase
// is a row of time.csv; phases are never mixed.
//
//   drawTimes(store, times, cell);   // for the panel
//   new TimeTable(timeRows(store, times));

const FIRST_TIMES = 40;
const STOP_REASONS = {
  half_width: 'the interval was narrow enough',
  stabilised: 'its width had settled',
  budget: 'the time was used up',
  count: 'there were as many as wanted',
};

// "1.25 ms" of nanoseconds as text.
function nanoseconds(text) {
  const value = Number(text);
  if (text === '' || Number.isNaN(value)) return '';
  const [unit, scale] = value >= 1e9 ? ['s', 1e9] : value >= 1e6 ? ['ms', 1e6] :
    value >= 1e3 ? ['\u00b5s', 1e3] : ['ns', 1];
  return `${Number((value / scale).toPrecision(4))}\u00a0${unit}`;
}

function intervalText(low, high) {
  return low && high ? `${nanoseconds(low)} to ${nanoseconds(high)}` : '';
}

// Half of the interval over the median, in percent; NaN where there is none.
function halfWidth(get) {
  const [low, high, middle] =
    ['ci95_lo_ns', 'ci95_hi_ns', 'median_ns'].map((name) => numberOf(get(name)));
  return 50 * (high - low) / middle;
}

function percentText(value) {
  return Number.isNaN(value) ? '' : `\u00b1${Number(value.toPrecision(2))}\u00a0%`;
}

function countOf(text, word) {
  return `${Number(text).toLocaleString('en')} ${word}${text === '1' ? '' : 's'}`;
}

// How a phase was sampled, as a sentence.
function samplingText(get) {
  const calls = get('inner_iters');
  const [mild, severe] = [get('n_outlier_mild'), get('n_outlier_severe')];
  const outliers = [mild !== '0' && mild && `${mild} mild`,
    severe !== '0' && severe && `${severe} severe`].filter(Boolean).join(' and ');
  return [
    countOf(get('n_samples'), 'sample') +
      (calls && calls !== '1' ? ` of ${countOf(calls, 'call')}` : ''),
    get('warmup_iters') !== '0' && get('warmup_iters') &&
      `behind ${countOf(get('warmup_iters'), 'call')} that do not count`,
    get('n_samples') === '1' ? '' : outliers ? `${outliers} outlier${outliers === '1 mild' ||
      outliers === '1 severe' ? '' : 's'}, kept` : 'no outlier',
    get('stop_reason') && `ended since ${
      STOP_REASONS[get('stop_reason')] ?? get('stop_reason')}`,
  ].filter(Boolean).join(', ');
}

// Five numbers of a phase on a line from its least to its greatest: the whiskers are
// 0 and 99 %, the box is of quartiles.
function drawSpread(get, most) {
  const [min, p25, middle, p75, p99] = ['min_ns', 'p25_ns', 'median_ns', 'p75_ns',
    'p99_ns'].map((name) => numberOf(get(name)));
  if ([min, p25, middle, p75, p99].some(Number.isNaN)) return null;
  const left = (value) => `${(100 * value / most).toFixed(2)}%`;
  const part = (kind, from, to) => element('span', {class: kind,
    style: `left:${left(from)};width:${left(to - from)}`});
  return element('div', {class: 'spread-line', 'aria-hidden': 'true'},
    part('whisker', min, p99), part('box', p25, p75),
    element('span', {class: 'middle', style: `left:${left(middle)}`}));
}

function drawPhase(times, row) {
  const get = (name) => times.get(name, row);
  const isNoisy = isTrue(get('noisy'));
  const most = Math.max(numberOf(get('p99_ns')) || 0, numberOf(get('p75_ns')) || 0);
  const isOne = get('n_samples') === '1';
  return element('section', {class: 'phase'},
    element('h4', {}, explained(get('phase')), ' ',
      isNoisy ? element('b', {class: 'noisy'}, explained('noisy')) : null),
    element('p', {class: 'median'}, element('b', {}, nanoseconds(get('median_ns'))),
      get('ci95_lo_ns') ? element('span', {},
        ` (${intervalText(get('ci95_lo_ns'), get('ci95_hi_ns'))}, ` +
        `${percentText(halfWidth(get))})`) :
        element('span', {class: 'quiet'}, ' without an interval: too few samples')),
    isOne ? null : drawSpread(get, most),
    isOne ? null : element('p', {class: 'quiet'},
      ['p25', 'p75', 'p90', 'p99'].filter((name) => get(`${name}_ns`)).map((name) =>
        `${name.slice(1)}\u00a0% ${nanoseconds(get(`${name}_ns`))}`).join(', ')),
    element('p', {class: 'quiet'}, `${samplingText(get)}.`));
}

// Speed of a warm call, where its operations are counted.
function drawRates(times, rows) {
  const warm = rows.find((row) => times.get('phase', row) === 'warm');
  if (warm === undefined) return null;
  const get = (name) => times.get(name, warm);
  const share = numberOf(get('roof_frac'));
  return list(
    line('speed', get('gflop_s') && `${get('gflop_s')} GFLOP/s`),
    line('bandwidth', get('gb_s') && `${get('gb_s')} GB/s at least`),
    line('intensity', get('intensity') && `${get('intensity')} operations a byte`),
    line('share of the roof', Number.isNaN(share) ? '' :
      `${Number((100 * share).toPrecision(3))} %`),
    line('bound by', get('bound')),
    line('lag-1 correlation', get('lag1_autocorr')),
    line('time that work waited', get('psi_cpu_some_pct') &&
      `${get('psi_cpu_some_pct')} %`),
    line('taken by other machines', get('steal_ticks') !== '0' &&
      get('steal_ticks') && countOf(get('steal_ticks'), 'tick')));
}

// The cell that times this one, or that this one times; -1 where the run has none.
function cellOfTimes(store, cell, suite) {
  const id = store.ids[store.rowOf(cell)];
  return store.cellOf(suite + id.slice(id.indexOf('/')),
    store.backends[store.columnOf(cell)]);
}

// The times of a cell, or of the case of suite time that is made of it. Nothing for
// a cell that has neither.
function drawTimes(store, times, cell) {
  if (!times) return [];
  const isTimed = times.rows(cell).length > 0;
  const source = isTimed ? cell : cellOfTimes(store, cell, 'time');
  const rows = source < 0 ? [] : times.rows(source);
  if (!rows.length) return [];
  const origin = isTimed ? store.case.suite.values.map((suite) =>
    cellOfTimes(store, cell, suite)).find((one) => one >= 0 && one !== cell) :
    undefined;
  return [
    element('h3', {}, 'Times of a call'),
    source === cell ? null : element('p', {class: 'quiet'}, 'Measured as ',
      cellLink(store, source), ', ', outcomeName(store.cell.outcome.at(source)), '.'),
    origin === undefined ? null : element('p', {class: 'quiet'},
      'The same case, judged: ', cellLink(store, origin), '.'),
    store.cell.outcome.at(source) === 'suspect' ? element('p', {class: 'vacuity'},
      'Suspect: nobody believes these times.') : null,
    ...rows.map((row) => drawPhase(times, row)),
    drawRates(times, rows),
  ].filter((part) => part !== null);
}

// Phases in the order of their columns; a table has those that its run has.
const TIME_PHASES = ['warm', 'cold', 'backward', 'step', 'first', 'load'];
const TIME_WORDS = new Set(['Case', 'Backend', 'Marks']);

function timeColumns(phases) {
  return [
    ['Case', (row) => row.id, (row) => row.id],
    ['Backend', (row) => row.backend, (row) => row.backend],
    ...phases.map((phase) => [phase[0].toUpperCase() + phase.slice(1),
      (row) => nanoseconds(row.medians[phase]),
      (row) => numberOf(row.medians[phase]), true]),
    ['Interval', (row) => percentText(row.width), (row) => row.width, true],
    ['GFLOP/s', (row) => row.speed, (row) => numberOf(row.speed), true],
    ['GB/s', (row) => row.rate, (row) => numberOf(row.rate), true],
    ['Marks', (row) => row.marks, (row) => row.marks, true],
  ];
}

// A row for each cell with times. Interval and speed are those of its first column
// of a phase that it has.
function timeRows(store, times) {
  return [...new Set(times.cellOfRow)].map((cell) => {
    const rows = times.rows(cell);
    const of = (phase) => rows.find((row) => times.get('phase', row) === phase);
    const main = of(TIME_PHASES.find((phase) => of(phase) !== undefined));
    const get = (name) => (main === undefined ? '' : times.get(name, main));
    const outcome = store.cell.outcome.at(cell);
    return {
      link: () => cellLink(store, cell), id: store.ids[store.rowOf(cell)],
      backend: store.backends[store.columnOf(cell)],
      medians: Object.fromEntries(TIME_PHASES.map((phase) => [phase,
        of(phase) === undefined ? '' : times.get('median_ns', of(phase))])),
      width: get('median_ns') ? halfWidth(get) : NaN,
      speed: get('gflop_s'), rate: get('gb_s'),
      marks: [outcome === 'pass' ? '' : outcome,
        rows.some((row) => isTrue(times.get('noisy', row))) ? 'noisy' : '',
      ].filter(Boolean).join(', '),
    };
  });
}

class TimeTable extends SortedTable {
  constructor(rows) {
    const phases = TIME_PHASES.filter(
      (phase) => rows.some((row) => row.medians[phase] !== ''));
    super({name: 'time', columns: timeColumns(phases), words: TIME_WORDS, rows,
      first: FIRST_TIMES, column: phases.length ? 2 : 0, isDown: phases.length > 0});
  }

  drawName({link}) {
    return link();
  }

  csv() {
    const names = ['test_id', 'backend', ...TIME_PHASES.map((phase) => `${phase}_ns`),
      'half_width_pct', 'gflop_s', 'gb_s', 'marks'];
    return csvText([names, ...this.sorted().map((row) => [row.id, row.backend,
      ...TIME_PHASES.map((phase) => row.medians[phase]),
      Number.isNaN(row.width) ? '' : row.width.toPrecision(3), row.speed, row.rate,
      row.marks])]);
  }
}
