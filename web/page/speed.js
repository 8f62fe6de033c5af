// The benchmark: layouts on WebGPU, in turns with TensorFlow.js on the same operands.

import { $, el } from './dom.js';
import { Tensorflow } from './tensorflow.js';
import { plot } from './plot.js';

const LAYOUTS = ['same', 'row', 'column', 'scalar', 'outer', 'nchw', 'middle', 'odd', 'shifted', 'reversed', 'transposed',
  'nhwc to nchw', 'exp', 'exp, fast', 'pow', 'pow, fast', 'compare', 'select', 'chain of 5', 'chain of 20'];
const SIZES = [256, 512, 1024, 2048];

/** The number of turns of each library, and the least milliseconds of a turn. */
const TURNS = 7;
const LEAST = 30;

let context = null;
let other = null;
let stopped = true;

function build(version) {
  $('speed').replaceChildren(el('div', { className: 'card' },
    el('h2', {}, 'Layouts, beside TensorFlow.js'),
    el('p', {}, 'Elementwise work is bound by memory, so this measures what a layout costs. Both libraries compute the same results on the same adapter, in turns, and the median counts. exp and pow are within 2 and 4 units in the last place here. Their fast forms are the adapter\'s own functions, which the other library uses.'),
    el('p', { id: 'speed-about', className: 'hint' }, version
      ? `TensorFlow.js ${version} with its WebGPU backend.`
      : 'This page was built without npm, by which scripts/web gets TensorFlow.js. So this crate is measured alone.'),
    el('div', { className: 'row sized' },
      el('div', {}, el('label', { for: 'size' }, 'Size'), el('select', { id: 'size' }, SIZES.map((n) => el('option', { value: n, selected: n === 1024 }, `${n} × ${n}`)))),
      el('button', { type: 'button', id: 'measure', onclick: toggle }, 'Measure')),
    el('p', { id: 'speed-status', role: 'status' }),
    el('div', { className: 'measured' }, el('div', { className: 'scroll', tabIndex: 0, role: 'region', 'aria-label': 'Times' }, el('table', { id: 'speeds' },
      el('caption', {}, 'Milliseconds of an evaluation. The ratio is our time over the time of TensorFlow.js'),
      el('thead', {}, el('tr', {}, ['layout', 'zerostride', 'GB/s', 'TensorFlow.js', 'ratio', 'results'].map((text, i) => el('th', { scope: 'col', className: i && i < 5 ? 'number' : '' }, text)))),
      el('tbody', {}))),
    el('div', { id: 'plot', className: 'scroll' }))));
}

const median = (all) => [...all].sort((a, b) => a - b)[all.length >> 1];

/** The number of evaluations that make a turn long enough to be timed. */
async function enough(side) {
  // The first call compiles the kernel.
  await timed(side, 1);
  for (let times = 1; ; times *= 2) {
    const took = await timed(side, times);
    if (took >= LEAST || times >= 256) return times;
  }
}

async function timed(side, times) {
  const start = performance.now();
  side.run(times);
  await side.done();
  return performance.now() - start;
}

/** The greatest difference of results, relative to the larger one. */
function apart(a, b) {
  if (a.length !== b.length) return Infinity;
  let most = 0;
  for (let i = 0; i < a.length; i++) {
    const scale = Math.max(1, Math.abs(a[i]), Math.abs(b[i]));
    const difference = Math.abs(a[i] - b[i]) / scale;
    if (!(difference <= most)) most = difference;
  }
  return most;
}

async function measure(name, n) {
  const bench = context.page.bench(name, n);
  const theirs = other?.bench(name, n);
  try {
    let agree = null;
    if (theirs) agree = apart(await bench.values(), await theirs.values());
    const ownTimes = await enough(bench);
    const theirTimes = theirs ? await enough(theirs) : 0;
    const times = [[], []];
    for (let turn = 0; turn < TURNS && !stopped; turn++) {
      times[0].push(await timed(bench, ownTimes) / ownTimes);
      if (theirs) times[1].push(await timed(theirs, theirTimes) / theirTimes);
    }
    const [own, their] = [median(times[0]), theirs ? median(times[1]) : null];
    return { name, own, their, ratio: theirs ? own / their : null, rate: bench.bytes() / own / 1e6, agree };
  } finally {
    bench.free();
    theirs?.free();
  }
}

function line({ name, own, their, ratio, rate, agree }) {
  const cell = (text) => el('td', { className: 'number' }, text);
  return el('tr', { 'data-ratio': ratio ?? '', 'data-agree': agree ?? '' }, el('th', { scope: 'row' }, name),
    cell(own.toFixed(3)), cell(rate.toFixed(1)), cell(their?.toFixed(3) ?? '—'), cell(ratio?.toFixed(2) ?? '—'),
    el('td', {}, agree === null ? '—' : agree < 1e-4 ? 'agree' : `differ by ${agree.toPrecision(2)}`));
}

async function toggle() {
  if (!stopped) {
    stopped = true;
    return;
  }
  stopped = false;
  $('measure').textContent = 'Stop';
  const n = Number($('size').value);
  const body = $('speeds').tBodies[0];
  body.replaceChildren();
  $('plot').replaceChildren();
  const results = [];
  try {
    if (!context.device.isGPU && document.documentElement.dataset.device !== 'webgpu') throw new Error('There is no WebGPU here to measure.');
    await other?.begin();
    for (const name of LAYOUTS) {
      if (stopped) break;
      $('speed-status').textContent = `${name} …`;
      const result = await measure(name, n);
      if (stopped) break;
      results.push(result);
      body.append(line(result));
      $('plot').replaceChildren(plot(results));
    }
    const ratios = results.map(({ ratio }) => ratio).filter((ratio) => ratio !== null);
    const mean = Math.exp(ratios.reduce((sum, ratio) => sum + Math.log(ratio), 0) / ratios.length);
    $('speed-status').textContent = ratios.length
      ? `Geometric mean of the ratios: ${mean.toFixed(2)}; the largest ${Math.max(...ratios).toFixed(2)}.`
      : `${results.length} layouts measured.`;
    $('speed-status').dataset.done = String(results.length);
  } catch (error) {
    if (error.kind === 'Lost') context.lost(error.message);
    $('speed-status').textContent = error.message;
  }
  stopped = true;
  $('measure').textContent = 'Measure';
}

export function hide() {
  stopped = true;
}

export async function show(shared) {
  context = shared;
  if ($('speeds')) return;
  const { tfjs } = await (await fetch('parts.json')).json();
  other = tfjs ? new Tensorflow() : null;
  build(tfjs);
}
