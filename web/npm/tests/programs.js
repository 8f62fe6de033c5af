// Random expressions, which both devices compute with the same bits. The module runs in pages and in Node.js.

/** A generator of numbers from 0 to below 1 (mulberry32). */
function random(seed) {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

const UNARY = ['exp', 'log', 'sin', 'tanh', 'sqrt', 'abs', 'sigmoid', 'gelu', 'erf', 'floor', 'neg', 'square'];
const BINARY = ['add', 'sub', 'mul', 'div', 'minimum', 'maximum', 'pow', 'atan2', 'remFloor', 'hypot'];
const REDUCED = ['sum', 'mean', 'max', 'var', 'logsumexp', 'softmax', 'cumsum'];
const SHAPES = [[6, 5], [5], [6, 1], [1, 5], []];

/** A random expression over data of a device. */
export function program(zs, device, seed) {
  const next = random(seed);
  const of = (list) => list[Math.floor(next() * list.length)];
  const leaf = () => {
    const shape = of(SHAPES);
    const count = shape.reduce((n, length) => n * length, 1);
    return device.array(Float32Array.from({ length: count }, () => (next() - 0.4) * 10 ** Math.floor(next() * 6 - 2)), { shape });
  };
  const made = (depth) => {
    if (depth === 0) return leaf();
    const kind = next();
    if (kind < 0.3) return made(depth - 1)[of(UNARY)]();
    if (kind < 0.7) return zs[of(BINARY)](made(depth - 1), next() < 0.2 ? next() * 8 : made(depth - 1));
    const x = made(depth - 1);
    if (x.ndim === 0) return x;
    if (kind < 0.85) {
      const name = of(REDUCED);
      return ['softmax', 'cumsum'].includes(name) ? x[name](-1) : x[name](-1, { keepdim: true });
    }
    if (kind < 0.93) return x.flip(-1);
    return zs.where(x.gt(0), x, made(depth - 1));
  };
  return made(4);
}

/** A hash of each program's bytes (FNV-1a). NaN of any sign and payload counts as one. */
export async function hashes(zs, device, count) {
  const all = [];
  for (let seed = 1; seed <= count; seed++) {
    const result = program(zs, device, seed);
    const words = new Uint32Array((await result.data()).slice().buffer);
    let hash = 0x811c9dc5;
    for (const word of [...result.shape, ...words]) {
      const isNan = (word & 0x7fffffff) > 0x7f800000;
      hash = Math.imul(hash ^ (isNan ? 0x7fc00000 : word), 0x01000193);
    }
    all.push(hash >>> 0);
  }
  return all;
}
