// Helpers for the document.

export const $ = (id) => document.getElementById(id);

/** An element with properties and children. Names with `aria-` and `data-` are attributes. */
export function el(name, properties = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (key === 'style') for (const [k, v] of Object.entries(value)) element.style.setProperty(k, v);
    else if (key.startsWith('on')) element.addEventListener(key.slice(2), value);
    else if (/^(aria-|data-|role$|for$|colspan$|scope$|list$)/.test(key)) element.setAttribute(key, value);
    else element[key] = value;
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

export const shape = (lengths) => `[${lengths.join(', ')}]`;

/** A number of a type in the fewest digits that read back as that number. */
export function number(value, dtype) {
  if (dtype === 'bool') return value ? 'true' : 'false';
  if (!Number.isFinite(value)) return String(value).replace('Infinity', 'inf');
  const rounds = { f32: 9, bf16: 3, f16: 4 }[dtype];
  if (!rounds || Number.isInteger(value)) return String(value);
  for (let digits = 1; digits < rounds; digits++) {
    const short = Number(value.toPrecision(digits));
    if (dtype === 'f32' ? Math.fround(short) === value : false) return String(short);
  }
  return String(Number(value.toPrecision(rounds)));
}

/** Milliseconds in few digits. */
export const milliseconds = (ms) => (ms < 0.1 ? '< 0.1' : ms < 10 ? ms.toFixed(2) : ms.toFixed(1));

/** Bytes in few digits. */
export function bytes(n) {
  for (const unit of ['B', 'kB', 'MB']) {
    if (n < 1000) return `${n < 10 && unit !== 'B' ? n.toFixed(1) : Math.round(n)} ${unit}`;
    n /= 1000;
  }
  return `${n.toFixed(1)} GB`;
}
