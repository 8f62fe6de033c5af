// Elements of the result, one by one, with the element of each operand.

import { $, el, number, shape } from './dom.js';
import * as state from './state.js';

/** The most cells of a side of a grid. A longer side shows the cells around the element. */
const ROWS = 10;
const COLUMNS = 12;

export class Elements {
  /** The index of the element that is shown. */
  index = [];

  begin() {
    const count = () => this.plan.shape.reduce((n, length) => n * length, 1);
    const to = (place) => () => this.go(this.unravel(place(count())));
    $('first').addEventListener('click', to(() => 0));
    $('last').addEventListener('click', to((n) => n - 1));
    $('back').addEventListener('click', to((n) => (this.ravel() + n - 1) % n));
    $('forth').addEventListener('click', to((n) => (this.ravel() + 1) % n));
    $('grids').addEventListener('keydown', (event) => this.key(event));
  }

  draw(plan, values) {
    if (this.plan !== plan) {
      const kept = state.get('element').split(',').map(Number);
      const fits = kept.length === plan.shape.length && kept.every((i, k) => Number.isInteger(i) && i >= 0 && i < plan.shape[k]);
      this.index = fits && state.get('element') ? kept : plan.shape.map(() => 0);
    }
    this.plan = plan;
    this.values = values;
    // The operands of a reduction have another shape than the result.
    this.reads = plan.reads.filter((read) => shape(read.shape) === shape(plan.shape));
    this.isEmpty = plan.shape.includes(0);
    for (const id of ['first', 'back', 'forth', 'last']) $(id).disabled = this.isEmpty;
    this.render();
  }

  ravel() {
    return this.index.reduce((place, i, k) => place * this.plan.shape[k] + i, 0);
  }

  unravel(place) {
    const index = [];
    for (const length of [...this.plan.shape].reverse()) {
      index.unshift(place % length);
      place = Math.floor(place / length);
    }
    return index;
  }

  go(index, focus = false) {
    this.index = index;
    state.set({ element: index.some((i) => i) ? index.join(',') : '' });
    this.render();
    if (focus) $('grids').querySelector('[role=gridcell][tabindex="0"]')?.focus();
  }

  key(event) {
    const rank = this.plan.shape.length;
    const step = {
      ArrowRight: [rank - 1, 1], ArrowLeft: [rank - 1, -1], ArrowDown: [rank - 2, 1], ArrowUp: [rank - 2, -1],
      PageDown: [rank - 3, 1], PageUp: [rank - 3, -1], Home: [rank - 1, -Infinity], End: [rank - 1, Infinity],
    }[event.key];
    if (!step || step[0] < 0 || !event.target.closest('[role=grid]')) return;
    event.preventDefault();
    const [axis, by] = step;
    const index = [...this.index];
    index[axis] = Math.max(0, Math.min(this.plan.shape[axis] - 1, index[axis] + by));
    this.go(index, true);
  }

  address(read, index) {
    return index.reduce((at, i, k) => at + i * read.strides[k], read.offset);
  }

  render() {
    if (this.isEmpty) {
      $('place').textContent = 'The result has no elements.';
      $('grids').replaceChildren();
      return;
    }
    const value = this.values ? number(this.values[this.ravel()], this.plan.dtype) : '…';
    $('place').textContent = `result${shape(this.index)} = ${value}`;
    $('grid-hint').hidden = this.plan.shape.length === 0;
    const own = { label: 'result', colour: 'var(--out)', dtype: this.plan.dtype, shape: this.plan.shape, isResult: true };
    $('grids').replaceChildren(...[...this.reads, own].map((read) => this.grid(read)));
  }

  /** The element of an operand, in words. */
  gives(read) {
    if (read.isResult) return 'The element itself.';
    const at = this.address(read, this.index);
    const terms = this.index.map((i, k) => `${i}·${read.strides[k]}`).filter((_, k) => read.strides[k] !== 0);
    const sum = [...(read.offset || !terms.length ? [read.offset] : []), ...terms].join(' + ');
    const own = read.operand?.values[at];
    return `element ${at} = ${sum}${own === undefined ? '' : `: ${number(own, read.operand.dtype)}`}`;
  }

  grid(read) {
    const lengths = this.plan.shape;
    const [rows, columns] = [lengths.at(-2) ?? 1, lengths.at(-1) ?? 1];
    const [row, column] = [lengths.length > 1 ? this.index.at(-2) : 0, this.index.at(-1) ?? 0];
    const window = (at, length, most) => {
      const start = Math.max(0, Math.min(at - (most >> 1), length - most));
      return { start, end: Math.min(length, start + most) };
    };
    const [tall, wide] = [window(row, rows, ROWS), window(column, columns, COLUMNS)];
    const stride = (k) => (read.isResult || lengths.length < k ? 1 : read.strides.at(-k));
    const body = [];
    for (let r = tall.start; r < tall.end; r++) {
      const cells = [];
      for (let c = wide.start; c < wide.end; c++) {
        const index = [...this.index];
        if (lengths.length > 1) index[index.length - 2] = r;
        if (lengths.length > 0) index[index.length - 1] = c;
        const isHere = r === row && c === column;
        // Beside the first reading, elements that are read again.
        const again = !read.isResult && ((stride(1) === 0 && c > 0) || (stride(2) === 0 && r > 0));
        let value = '…';
        if (read.isResult) {
          const place = index.reduce((at, i, k) => at * lengths[k] + i, 0);
          value = this.values ? number(this.values[place], read.dtype) : '…';
        } else {
          const at = this.address(read, index);
          value = read.operand ? number(read.operand.values[at], read.operand.dtype) : `#${at}`;
        }
        cells.push(el('td', {
          className: `${again ? 'stretched' : ''}${isHere ? ' here' : ''}`.trim(),
          role: read.isResult ? 'gridcell' : undefined, tabIndex: read.isResult ? (isHere ? 0 : -1) : undefined,
          'aria-selected': read.isResult ? String(isHere) : undefined,
          onclick: read.isResult ? () => this.go(index, true) : undefined,
        }, el('span', {}, value.length > 9 && Number.isFinite(Number(value)) ? Number(value).toPrecision(4) : value)));
      }
      if (wide.end < columns) cells.push(el('td', { className: 'gap', 'aria-hidden': 'true' }, '…'));
      body.push(el('tr', { role: read.isResult ? 'row' : undefined }, cells));
    }
    if (tall.end < rows) body.push(el('tr', { 'aria-hidden': 'true' }, el('td', { className: 'gap' }, '⋮')));
    const outer = lengths.length > 2 ? ` at ${shape([...this.index.slice(0, -2), ':', ':'])}` : '';
    return el('figure', { className: 'grid', style: { '--own': read.colour } },
      el('figcaption', {}, el('b', {}, read.label), outer, el('span', { className: 'reads' }, this.gives(read))),
      el('div', { className: 'scroll' }, el('table', {
        className: 'cells', role: read.isResult ? 'grid' : undefined, 'aria-label': read.isResult ? 'Elements of the result' : `Elements of ${read.label}`,
        'aria-describedby': read.isResult ? 'grid-hint' : undefined,
      }, el('tbody', {}, body))));
  }
}
