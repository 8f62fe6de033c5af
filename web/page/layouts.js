// A table of operands under the axes of the result.

import { $, el, shape } from './dom.js';

function head(axes, title, clash) {
  const axis = (length, k) => el('th', { scope: 'col', className: k === clash ? 'clash' : '' }, `axis ${k}`);
  return el('tr', {}, el('th', { scope: 'col' }, 'operand'), axes.map(axis), title.map((text) => el('th', { scope: 'col' }, text)));
}

/** A cell of an axis, which has its own length or stretches. */
function cell(length, stride) {
  const stretched = stride === 0 && length !== 1;
  return el('td', { className: `axis${stretched ? ' stretched' : ''}`, 'aria-label': stretched ? `stretched from 1 to ${length}, stride 0` : `length ${length}, stride ${stride}` },
    el('span', {}, stretched ? `1→${length}` : String(length)), el('small', {}, `×${stride}`));
}

/** Row-major strides of a shape. */
function strides(lengths) {
  const own = lengths.map(() => 1);
  for (let k = lengths.length - 2; k >= 0; k--) own[k] = own[k + 1] * Math.max(1, lengths[k + 1]);
  return own;
}

export function drawLayouts(plan, point) {
  const table = $('layouts');
  const lengths = plan.reads[0]?.shape ?? plan.shape;
  table.caption.textContent = `Below each length its stride, in elements. The result is ${plan.dtype} ${shape(plan.shape)}.`;
  table.tHead.replaceChildren(head(lengths, ['strides', 'offset', 'accessed']));
  const row = (read, i) => el('tr', {
    'data-read': i, style: { '--own': read.colour },
    onpointerenter: () => point(i), onpointerleave: () => point(null),
  },
  el('th', { scope: 'row' }, `${read.label}: ${read.dtype}`),
  read.shape.map((length, k) => cell(length, read.strides[k])),
  el('td', { className: 'mono' }, shape(read.strides)),
  el('td', { className: 'mono number' }, String(read.offset)),
  el('td', {}, read.access ?? '—'));
  const rows = plan.reads.map(row);
  if (shape(lengths) === shape(plan.shape)) {
    const own = strides(plan.shape);
    rows.push(el('tr', { style: { '--own': 'var(--out)' } },
      el('th', { scope: 'row' }, `result: ${plan.dtype}`),
      plan.shape.map((length, k) => el('td', { className: 'axis', 'aria-label': `length ${length}, stride ${own[k]}` }, String(length), el('small', {}, `×${own[k]}`))),
      el('td', { className: 'mono' }, shape(own)), el('td', { className: 'mono number' }, '0'), el('td', {}, 'written')));
  }
  table.tBodies[0].replaceChildren(...rows);
}

/** Two shapes that a rule refused, aligned by the rule, with the axis at which they clash. */
export function drawRefusal({ shapes, places, axis }) {
  const table = $('layouts');
  const rank = Math.max(0, ...places.flat().map((k) => k + 1));
  table.caption.textContent = axis === null ? 'The rule does not match these shapes.' : `They clash at axis ${axis}.`;
  table.tHead.replaceChildren(head(Array(rank).fill(0), [], axis));
  table.tBodies[0].replaceChildren(...shapes.map((own, i) => {
    const cells = Array.from({ length: rank }, (_, k) => {
      const at = places[i].indexOf(k);
      const clash = k === axis ? ' clash' : '';
      return at < 0 || at >= own.length
        ? el('td', { className: `absent${clash}`, 'aria-label': 'no axis' }, '·')
        : el('td', { className: `axis${clash}`, 'aria-label': `length ${own[at]}${clash && ', which clashes'}` }, String(own[at]));
    });
    return el('tr', { style: { '--own': `var(--o${i})` } }, el('th', { scope: 'row' }, `${i ? 'second' : 'first'}: ${shape(own)}`), cells);
  }));
}
