// The examples from the documents of the rules, a button each.

import { el, shape } from './dom.js';

const SYSTEMS = { paddle: 'PaddlePaddle', torch: 'PyTorch', openvino: 'OpenVINO' };

/** The fields of the playground for a case. */
function typed({ mode, a, b, target, axis, axes }) {
  const expression = mode === 'inplace' ? 'a + b' : 'a + b';
  return { operands: `a = ${shape(a)}; b = ${shape(b ?? target)}`, rule: mode, expression, axis: String(axis ?? -1), axes: axes?.join(', ') };
}

/** OpenVINO's example of explicit axes: two axes of a target other than its last ones. */
const EXPLICIT = { system: 'openvino', mode: 'explicit', a: [16], target: [1, 16, 50, 50], axes: [1], error: false };

export async function examples(place, choose) {
  const lines = (await (await fetch('examples.jsonl')).text()).trim().split('\n').map((line) => JSON.parse(line));
  const seen = new Set();
  const groups = new Map(Object.keys(SYSTEMS).map((system) => [system, []]));
  for (const one of [...lines, EXPLICIT]) {
    const fields = typed(one);
    const key = JSON.stringify([one.system, fields]);
    if (seen.has(key) || !groups.has(one.system)) continue;
    seen.add(key);
    const rule = one.mode === 'numpy' ? '' : ` ${one.mode}${['paddle', 'pdpd'].includes(one.mode) ? ` ${one.axis ?? -1}` : ''}`;
    const button = el('button', {
      type: 'button', className: one.error ? 'refused' : '', 'data-refused': String(Boolean(one.error)),
      'data-result': one.result ? shape(one.result) : '', 'aria-label': `${shape(one.a)} with ${shape(one.b ?? one.target)}${rule && `, rule${rule}`}: ${one.error ? 'refused' : 'accepted'} by ${SYSTEMS[one.system]}`,
      onclick: (event) => {
        for (const other of place.querySelectorAll('[aria-pressed]')) other.removeAttribute('aria-pressed');
        event.currentTarget.setAttribute('aria-pressed', 'true');
        choose(fields);
      },
    }, `${shape(one.a)} ${shape(one.b ?? one.target)}${rule} ${one.error ? '✗' : '✓'}`);
    groups.get(one.system).push(el('li', {}, button));
  }
  place.replaceChildren(...[...groups].flatMap(([system, buttons]) => [el('h3', {}, SYSTEMS[system]), el('ul', {}, buttons)]));
}
