// The playground: the expression, the result of the rule, and the kernel.

import { $, el, milliseconds, shape } from './dom.js';
import * as state from './state.js';
import { Elements } from './elements.js';
import { Kernel } from './kernel.js';
import { drawLayouts, drawRefusal } from './layouts.js';
import { examples } from './examples.js';

const START = { operands: 'a = [2, 3, 4]; b = [4]; c = [3, 1]', expression: '(a - b) / c * 2', rule: 'numpy', axis: '-1', axes: '0' };
const NAMES = 'abcdefghijklmnopqrstuvwxyz';
const AGAIN = 5;

let context = null;
let turn = 0;
let timer = 0;
let opened = 0;
const elements = new Elements();
const kernel = new Kernel();

const typed = (name) => state.get(name, START[name]);

/** Operands as rows: the name of each, and the text behind its = sign. */
function rows() {
  const parts = typed('operands').split(';').map((part) => part.trim()).filter(Boolean);
  return parts.map((part) => {
    const [name, ...rest] = part.split('=');
    return { name: name.trim(), text: rest.join('=').trim() };
  });
}

const joined = (all) => all.map(({ name, text }) => `${name} = ${text}`).join('; ');

/** Writes the state to the fields, except the field that the user types in. */
function fill() {
  for (const id of ['expression', 'rule', 'axis', 'axes']) {
    if ($(id) !== document.activeElement || id === 'rule') $(id).value = typed(id);
  }
  $('axis-field').hidden = !['paddle', 'pdpd'].includes(typed('rule'));
  $('axes-field').hidden = typed('rule') !== 'explicit';
  const all = rows();
  const own = [...$('rows').children];
  if (own.length !== all.length || own.some((row, i) => row.dataset.name !== all[i].name)) {
    $('rows').replaceChildren(...all.map(operandRow));
  } else {
    all.forEach((row, i) => {
      const input = own[i].querySelector('input');
      if (input !== document.activeElement) input.value = row.text;
    });
  }
}

function operandRow({ name, text }, i) {
  const id = `operand-${name}`;
  const edit = (change) => {
    state.set({ operands: joined(change(rows())), element: '' });
    update();
  };
  return el('div', { className: 'operand', 'data-name': name, style: { '--own': colour(i) } },
    el('label', { for: id }, name),
    el('input', { id, value: text, spellcheck: false, autocapitalize: 'off', 'aria-label': `Shape of ${name}`, 'aria-describedby': 'mistake',
      oninput: (event) => edit((all) => all.map((row) => (row.name === name ? { name, text: event.target.value } : row))) }),
    el('button', { type: 'button', 'aria-label': `Remove ${name}`, onclick: () => {
      edit((all) => all.filter((row) => row.name !== name));
      $('more').focus();
    } }, '×'));
}

export const colour = (i) => `var(--o${i % 6})`;

/** Shows the typed expression after a short delay. */
function update(now = false) {
  fill();
  clearTimeout(timer);
  timer = setTimeout(run, now ? 0 : 120);
}

function clearMistake() {
  $('mistake').replaceChildren();
  for (const input of $('typed').querySelectorAll('input')) input.removeAttribute('aria-invalid');
}

/** Shows a mistake under the text of its field, with its columns marked. */
function showMistake({ field, text, from, to }) {
  let line = field === 'operands' ? typed('operands') : typed('expression');
  let input = $('expression');
  if (field === 'operands') {
    // The operand's declaration that has the mistake.
    const before = line.slice(0, from);
    const start = before.lastIndexOf(';') + 1;
    const end = line.indexOf(';', from);
    const part = line.slice(start, end < 0 ? undefined : end);
    const lead = part.length - part.trimStart().length;
    line = part.trim();
    [from, to] = [from - start - lead, to - start - lead];
    input = $(`operand-${line.split('=')[0].trim()}`);
  }
  input?.setAttribute('aria-invalid', 'true');
  const marked = [];
  if (to > from || from > 0) {
    from = Math.max(0, Math.min(from, line.length));
    to = Math.max(from, Math.min(to, line.length));
    marked.push(el('pre', {}, line.slice(0, from), el('mark', {}, line.slice(from, to) || '‸'), line.slice(to)));
    text = `${text} (column ${from + 1})`;
  }
  $('mistake').replaceChildren(...marked, el('span', {}, text));
}

async function run() {
  const own = ++turn;
  const args = [typed('operands'), typed('rule'), Number(typed('axis')), typed('axes'), typed('expression')];
  clearMistake();
  let plan;
  try {
    plan = context.page.plan(...args);
  } catch (error) {
    failed(error);
    return;
  }
  document.documentElement.dataset.playground = 'laid';
  for (const id of ['elements', 'ran', 'kernel']) $(id).hidden = Boolean(plan.error);
  if (plan.error) {
    const { refusal } = plan.error;
    $('verdict').textContent = '';
    showMistake(plan.error);
    $('laid').hidden = !refusal;
    if (refusal) drawRefusal(refusal);
    document.documentElement.dataset.playground = 'refused';
    return;
  }
  $('laid').hidden = false;
  $('verdict').textContent = `${plan.dtype} ${shape(plan.shape)}`;
  // The colours and names of operands.
  plan.reads.forEach((read, i) => {
    const at = plan.operands.findIndex((operand) => operand.name === read.name);
    read.operand = plan.operands[at] ?? null;
    read.colour = colour(at < 0 ? plan.operands.length + i : at);
    read.label = read.name ?? 'computed before';
  });
  drawLayouts(plan, point);
  kernel.draw(plan, point);
  elements.draw(plan, null);
  try {
    // The first run shows the result soon. The next ones measure with a compiled kernel.
    const result = await context.page.evaluate(...args, 0);
    if (own !== turn) return;
    showResult(plan, result);
    document.documentElement.dataset.first ??= performance.now().toFixed(0);
    const again = await context.page.evaluate(...args, AGAIN);
    if (own !== turn) return;
    showTimes(result, again);
    document.documentElement.dataset.playground = 'done';
  } catch (error) {
    if (own === turn) failed(error);
  }
}

/** Shows an error of the device, as opposed to a mistake in the typed text. */
function failed(error) {
  if (error.kind === 'Lost') context.lost(error.message);
  else showMistake({ field: 'device', text: error.text ?? error.message, from: 0, to: 0 });
  document.documentElement.dataset.playground = 'failed';
}

function showResult(plan, result) {
  elements.draw(plan, result.values);
  showTimes(result, null);
  const count = plan.shape.reduce((n, length) => n * length, 1);
  const { compared } = result;
  $('compared').textContent = !compared ? 'Only the CPU path computed this.'
    : compared.differ === 0 ? `${count === 1 ? 'The element has' : `All ${count} elements have`} the same bits on both.`
      : `${compared.differ} of ${count} elements differ, by ${compared.ulp} unit${compared.ulp === 1 ? '' : 's'} in the last place at most.`;
  $('compared').dataset.differ = compared ? compared.differ : '';
  $('compared').dataset.ulp = compared ? compared.ulp : '';
}

/** The time of the first evaluation, and the fastest time of later ones once they are done. */
function showTimes(first, again) {
  const cell = (ms) => el('td', { className: 'number' }, ms === undefined ? '—' : milliseconds(ms));
  const row = (name, own) => el('tr', {}, el('th', { scope: 'row' }, name), cell(first[own]?.first), cell(again?.[own]?.least));
  $('times').tBodies[0].replaceChildren(row('WebGPU', 'gpu'), row('CPU path', 'cpu'));
}

/** Marks an operand in every table; null unmarks it. */
function point(i) {
  kernel.light(i);
  for (const row of $('layouts').tBodies[0].rows) row.classList.toggle('pointed', row.dataset.read === String(i));
}

function fields() {
  $('typed').addEventListener('submit', (event) => event.preventDefault());
  for (const id of ['expression', 'axis', 'axes']) {
    $(id).addEventListener('input', () => {
      state.set({ [id]: $(id).value || ' ', element: '' });
      update();
    });
  }
  $('rule').addEventListener('change', () => {
    state.set({ rule: $('rule').value, element: '' });
    update(true);
  });
  $('more').addEventListener('click', () => {
    const all = rows();
    const name = [...NAMES].find((letter) => !all.some((row) => row.name === letter));
    if (!name) return;
    state.set({ operands: joined([...all, { name, text: '[1]' }]) });
    update(true);
    $(`operand-${name}`).focus();
  });
  const list = context.table.map(({ name, arity, doc, kind }) => el('button', {
    type: 'button', title: `${doc}${arity ? ` (${arity})` : ''}`, 'data-kind': kind, 'data-arity': arity ?? '',
    onclick: () => insert(name, arity),
  }, name));
  $('operation-list').replaceChildren(...list);
  examples($('examples'), (changes) => {
    state.set({ axis: '', axes: '', element: '', ...changes });
    $('rows').replaceChildren();
    update(true);
  });
}

/** Puts a call around the expression. */
function insert(name, arity) {
  const others = rows().map((row) => row.name);
  const inner = $('expression').value.trim() || others[0] || '1';
  const rest = Array.from({ length: Math.max(0, (arity ?? 1) - 1) }, (_, i) => others[(i + 1) % others.length] ?? '1');
  state.set({ expression: `${name}(${[inner, ...rest].join(', ')})`, element: '' });
  update(true);
  $('expression').focus();
}

export async function show(shared) {
  const isNew = !context;
  context = shared;
  if (isNew) {
    fields();
    elements.begin();
  }
  fill();
  // Without a delay, because the user waits for the first result.
  if (isNew || opened !== shared.opened) {
    opened = shared.opened;
    clearTimeout(timer);
    await run();
  } else update(true);
}

