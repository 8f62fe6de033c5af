// The kernel's text, with the lines of an operand highlighted.

import { $, el } from './dom.js';

export class Kernel {
  draw(plan, point) {
    this.plan = plan;
    this.held = null;
    $('explained').textContent = plan.text;
    // An image, because the picture has a style of its own, which the page's policy refuses in the page.
    $('svg').replaceChildren(el('img', { src: `data:image/svg+xml,${encodeURIComponent(plan.svg)}`, alt: 'The layouts and the kernel of the explanation' }));
    $('kernel-about').textContent = plan.wgsl
      ? 'Point at an operand, here or in the table, to see its lines; press to keep them.'
      : 'The CPU path runs no kernel. On WebGPU, its WGSL stands here.';
    const chip = (read, i) => el('button', {
      type: 'button', className: 'chip', 'aria-pressed': 'false', style: { '--own': read.colour },
      onpointerenter: () => point(i), onpointerleave: () => point(null), onfocus: () => point(i), onblur: () => point(null),
      onclick: () => {
        this.held = this.held === i ? null : i;
        this.chips().forEach((chip, k) => chip.setAttribute('aria-pressed', String(k === this.held)));
        point(this.held);
      },
    }, `${read.label} (${read.lines.length} lines)`);
    $('chips').hidden = $('wgsl').hidden = !plan.wgsl;
    $('chips').replaceChildren(...plan.reads.map(chip));
    const lines = (plan.wgsl ?? '').trimEnd().split('\n');
    $('wgsl').replaceChildren(...lines.map((line, i) => el('span', { 'data-line': i + 1 }, line || ' ')));
    // The body of main stands behind declarations and functions.
    const main = $('wgsl').children[lines.findIndex((line) => line.startsWith('@compute'))];
    $('wgsl').scrollTop = main ? main.offsetTop - $('wgsl').offsetTop : 0;
  }

  chips() {
    return [...$('chips').children];
  }

  /** Highlights the lines of operand i, or of the pressed operand. */
  light(i) {
    const lit = i ?? this.held;
    const read = lit === null || lit === undefined ? null : this.plan.reads[lit];
    const lines = new Set(read?.lines);
    let number = 0;
    for (const line of $('wgsl').children) {
      const isLit = lines.has(++number);
      line.classList.toggle('lit', isLit);
      if (isLit) line.style.setProperty('--own', read.colour);
    }
    this.chips().forEach((chip, k) => chip.classList.toggle('pointed', k === lit));
  }
}
