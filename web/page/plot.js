// Bars of two libraries, drawn as SVG.

const SPACE = 'http://www.w3.org/2000/svg';

function svg(name, attributes, text) {
  const element = document.createElementNS(SPACE, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (text) element.textContent = text;
  return element;
}

const WIDTH = 640;
const LEFT = 110;
const ROW = 30;

/** Times as bars, a pair for each layout. The scale is logarithmic, because times differ by factors of hundreds. */
export function plot(results) {
  const all = results.flatMap(({ own, their }) => (their === null ? [own] : [own, their])).map(Math.log10);
  const [least, most] = [Math.floor(Math.min(...all)), Math.max(...all)];
  const height = results.length * ROW + 40;
  const root = svg('svg', { viewBox: `0 0 ${WIDTH} ${height}`, width: WIDTH, height, role: 'img', 'aria-label': 'The times of the table as bars', class: 'bars' });
  const scale = (ms) => ((Math.log10(ms) - least) / (most - least)) * (WIDTH - LEFT - 70);
  results.forEach(({ name, own, their }, i) => {
    const y = i * ROW + 8;
    root.append(svg('text', { x: LEFT - 8, y: y + 14, 'text-anchor': 'end' }, name));
    root.append(svg('rect', { x: LEFT, y, width: Math.max(1, scale(own)), height: 10, class: 'own' }));
    root.append(svg('text', { x: LEFT + scale(own) + 5, y: y + 9, class: 'small' }, own.toFixed(2)));
    if (their === null) return;
    root.append(svg('rect', { x: LEFT, y: y + 12, width: Math.max(1, scale(their)), height: 10, class: 'their' }));
    root.append(svg('text', { x: LEFT + scale(their) + 5, y: y + 21, class: 'small' }, their.toFixed(2)));
  });
  const y = results.length * ROW + 22;
  root.append(svg('rect', { x: LEFT, y: y - 9, width: 10, height: 10, class: 'own' }), svg('text', { x: LEFT + 16, y }, 'zerostride, ms'));
  root.append(svg('rect', { x: LEFT + 150, y: y - 9, width: 10, height: 10, class: 'their' }), svg('text', { x: LEFT + 166, y }, 'TensorFlow.js, ms; logarithmic scale'));
  return root;
}
