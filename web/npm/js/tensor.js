// Tensors: views, operations and reads. An operation builds an expression, and a read runs it as one kernel.
import { Operands, call, index, join, repeat as loop } from './core.js';
import { ofData } from './data.js';

/** What the elements of a read are. The others are read as f32. */
const VIEWS = {
  f32: Float32Array, f64: Float64Array, i8: Int8Array, u8: Uint8Array, i16: Int16Array, u16: Uint16Array,
  i32: Int32Array, u32: Uint32Array, i64: BigInt64Array, u64: BigUint64Array, bool: Uint8Array,
};

/** An error of a call: its text is the crate's, and `kind` the name of its `ErrorKind`. */
export class ZerostrideError extends Error {
  constructor(message, kind = 'Type') {
    super(message);
    this.name = 'ZerostrideError';
    this.kind = kind;
  }
}

const refused = (message) => { throw new ZerostrideError(message); };
const list = (axes) => (axes === undefined || axes === null ? undefined : Int32Array.from(typeof axes === 'number' ? [axes] : axes));
const numbers = (...all) => Float64Array.from(all.flat());

/** Values as operands of the module. Data of the host goes to the device of the first tensor. */
function operands(name, values) {
  const all = new Operands();
  const device = values.find((value) => value instanceof Tensor)?.device;
  for (const value of values) {
    if (value instanceof Tensor) all.tensor(value.core);
    else if (typeof value === 'number') all.number(value);
    else if (typeof value === 'boolean') all.truth(value);
    else if (device && value !== null && typeof value === 'object') all.tensor(ofData(value, {}, device).core);
    else refused(`${name} of ${value === null ? 'null' : typeof value}: it takes tensors, numbers, and arrays beside a tensor`);
  }
  return all;
}

/** Runs a function of the module over operands, and frees these. */
function over(name, values, run) {
  const all = operands(name, values);
  try {
    return run(all);
  } finally {
    all.free();
  }
}

const deviceOf = (values) => values.find((value) => value instanceof Tensor)?.device;
const joined = (name, values, ...more) => over(name, values, (all) => new Tensor(join(name, all, numbers(...more)), deviceOf(values)));
const indexed = (name, values, ...more) => over(name, values, (all) => new Tensor(index(name, all, numbers(...more)), deviceOf(values)));

export class Tensor {
  #core;

  /** The package makes tensors: call `array`, `zeros` or an operation. */
  constructor(core, device) {
    this.#core = core;
    this.device = device;
    Object.freeze(this);
  }

  /** The object of the module. */
  get core() {
    if (this.#core.__wbg_ptr === 0) refused('a tensor that was disposed of: make it again, or dispose of it later');
    return this.#core;
  }

  get shape() { return [...this.core.shape]; }
  get dtype() { return this.core.dtype; }
  get size() { return this.shape.reduce((n, length) => n * length, 1); }
  get ndim() { return this.core.shape.length; }
  /** The last two axes exchanged. */
  get T() { return this.transpose(); }

  /** Lets go of the elements. They are freed with the last tensor that shares them. */
  dispose() { this.#core.free(); }

  #method(name, ...all) { return new Tensor(this.core.method(name, numbers(...all)), this.device); }

  cast(dtype) { return new Tensor(this.core.cast(dtype), this.device); }

  // Views, which copy nothing.
  permute(axes) { return this.#method('permute', axes); }
  transpose(a = -2, b = -1) { return this.#method('transpose', a, b); }
  broadcastTo(shape) { return this.#method('broadcast_to', shape); }
  expand(shape) { return this.#method('expand', shape); }
  reshape(shape) { return this.#method('reshape', shape); }
  flip(axis) { return this.#method('flip', axis); }
  squeeze(axis) { return this.#method('squeeze', axis); }
  unsqueeze(axis) { return this.#method('unsqueeze', axis); }
  slice(axis, start, end, step = 1) { return this.#method('slice', axis, start ?? NaN, end ?? NaN, step); }
  /** The subtensor at an index of an axis, which it lacks. */
  pick(axis, at) { return this.slice(axis, at, at === -1 ? undefined : at + 1).squeeze(axis); }
  windows(lengths, axes, { steps, dilations } = {}) {
    const ones = axes.map(() => 1);
    return this.#method('windows', lengths, axes, steps ?? ones, dilations ?? ones);
  }
  coordinate(axis) { return this.#method('coordinate', axis); }

  // Joins and lookups.
  roll(shifts, axes) { return this.#method('roll', shifts, axes); }
  tile(times) { return this.#method('tile', times); }
  repeatInterleave(times, axis) { return this.#method('repeat_interleave', times, axis); }
  pad(widths, { mode = 'constant', value = 0 } = {}) { return new Tensor(this.core.pad(numbers(...widths), mode, value), this.device); }
  at(...indices) { return indexed('at', [this, ...indices]); }
  take(indices, axis) { return indexed('take', [this, indices], axis); }
  takeAlong(indices, axis) { return indexed('take_along', [this, indices], axis); }
  putAlong(indices, values, axis) { return indexed('put_along', [this, indices, values], axis); }
  scatter(indices, updates) { return indexed('scatter', [this, updates, ...indices]); }
  scatterAdd(indices, updates) { return indexed('scatter_add', [this, updates, ...indices]); }
  scatterMin(indices, updates) { return indexed('scatter_min', [this, updates, ...indices]); }
  scatterMax(indices, updates) { return indexed('scatter_max', [this, updates, ...indices]); }
  /** The elements of each key from 0 to below `count` reduced: by `sum`, `prod`, `min`, `max`, `mean`, `cumsum`, `cumprod`. */
  segment(name, keys, count) { return indexed(`segment_${name}`, [this, keys], count); }

  // Sorts.
  sort(axis = -1, { descending = false } = {}) { return this.#method(descending ? 'sort_descending' : 'sort', axis); }
  argsort(axis = -1, { descending = false } = {}) { return this.#method(descending ? 'argsort_descending' : 'argsort', axis); }
  topk(k, axis = -1) { return this.#pair('topk', k, axis); }
  kthvalue(k, axis = -1) { return this.#pair('kthvalue', k, axis); }
  median(axis = -1) { return this.#method('median', axis); }
  nanmedian(axis = -1) { return this.#method('nanmedian', axis); }
  quantile(q, axis = -1) { return this.#method('quantile', q, axis); }
  nanquantile(q, axis = -1) { return this.#method('nanquantile', q, axis); }
  searchsorted(values, { right = false } = {}) { return joined('searchsorted', [this, values], right ? 1 : 0); }
  isin(test) { return joined('isin', [this, test]); }
  bincount(bins) { return this.#method('bincount', bins); }
  denseRank(axis = -1) { return this.#method('dense_rank', axis); }

  #pair(name, k, axis) {
    const both = this.core.pair(name, k, axis);
    const results = [0, 1].map((i) => new Tensor(both.take(i), this.device));
    both.free();
    return results;
  }

  // Series with gaps, which are NaN.
  diff(axis = -1) { return this.#method('diff', axis); }
  ffill(axis = -1) { return this.#method('ffill', axis); }
  bfill(axis = -1) { return this.#method('bfill', axis); }
  /** A statistic of moving windows: `sum`, `mean`, `var`, `std`, `min`, `max`, `median`. */
  rolling(name, window, { minCount = 1, axis = -1 } = {}) { return this.#method(`rolling_${name}`, window, minCount, axis); }

  // Products.
  matmul(other) { return joined('matmul', [this, other]); }
  dot(other) { return joined('dot', [this, other]); }
  outer(other) { return joined('outer', [this, other]); }
  vecdot(other, axis = -1) { return joined('vecdot', [this, other], axis); }
  tensordot(other, pairs) { return joined('tensordot', [this, other], pairs.flat()); }

  /** `a` where this is true, and `b` elsewhere. */
  select(a, b) { return where(this, a, b); }

  /** Computes and stores the elements. On WebGPU it does not wait. */
  eval() {
    this.core.eval();
    return this;
  }

  /** Writes a value to the elements, which it stretches to. A slice writes those of the tensor that it is of. */
  assign(value) {
    over('assign', [value], (all) => this.core.assign(all));
    return this;
  }

  /** The elements in row-major order, as a typed array. */
  async data() {
    const View = VIEWS[this.dtype];
    if (!View) return this.cast('f32').data();
    const bytes = await this.core.read();
    return new View(bytes.buffer, bytes.byteOffset, bytes.byteLength / View.BYTES_PER_ELEMENT);
  }

  /** The only element. */
  async item() {
    if (this.size !== 1) refused(`item of [${this.shape.join(', ')}]: reduce it to one element`);
    const { dtype } = this;
    const [value] = await this.data();
    return dtype === 'bool' ? value !== 0 : value;
  }

  /** The elements as arrays in arrays. */
  async toList() {
    const { shape, dtype } = this;
    let all = Array.from(await this.data(), dtype === 'bool' ? Boolean : undefined);
    if (shape.length === 0) return all[0];
    for (const length of shape.slice(1).reverse()) {
      const count = length === 0 ? shape[0] : all.length / length;
      all = Array.from({ length: count }, (_, i) => all.slice(i * length, (i + 1) * length));
    }
    return all;
  }

  /** What would run, and why. */
  explain() { return this.core.explain(); }
  /** The last kernel that would run, in WGSL. */
  wgsl() { return this.core.wgsl(); }

  /** The `GPUBuffer` of the elements in row-major order. It is not used for others until the result is disposed of. */
  buffer() {
    const lent = this.core.buffer();
    const { buffer, offset, size } = lent;
    const dispose = () => lent.free();
    return { buffer, offset, size, dispose, [Symbol.dispose ?? 'disposed']: dispose };
  }

  toString() { return `Tensor ${this.dtype} [${this.shape.join(', ')}]`; }
}

if (Symbol.dispose) Tensor.prototype[Symbol.dispose] = Tensor.prototype.dispose;

const camel = (name) => name.replace(/_(\w)/g, (_, letter) => letter.toUpperCase());

/** The function of an operation, which becomes a method too. */
export function operation(name, arity) {
  const own = (...values) => {
    if (values.length !== arity) refused(`${camel(name)} takes ${arity} operands and not ${values.length}`);
    return over(name, values, (all) => new Tensor(call(name, all), deviceOf(values)));
  };
  Tensor.prototype[camel(name)] = function method(...more) { return own(this, ...more); };
  return own;
}

/** The function of a reduction, which becomes a method too. */
export function reduction(name) {
  Tensor.prototype[camel(name)] = function method(axes, { keepdim = false, correction = 0, exclusive = false, reverse = false } = {}) {
    return new Tensor(this.core.reduce(name, list(axes), keepdim, correction, exclusive, reverse), this.device);
  };
  return (x, ...more) => {
    if (!(x instanceof Tensor)) refused(`${camel(name)} takes a tensor: make one by array`);
    return x[camel(name)](...more);
  };
}

export const where = (condition, a, b) => over('where', [condition, a, b], (all) => new Tensor(call('select', all), deviceOf([condition, a, b])));
export const concat = (parts, axis = 0) => joined('concat', parts, axis);
export const stack = (parts, axis = 0) => joined('stack', parts, axis);
export const matmul = (a, b) => joined('matmul', [a, b]);
/** Sums of products by an equation with `->`. */
export const einsum = (equation, ...values) => joined(equation.includes('->') ? equation : refused(`einsum '${equation}': it names a result after ->`), values);

function looped(n, state, step, isWhile) {
  const device = deviceOf(state);
  const next = (cores) => {
    const results = step(...cores.map((core) => new Tensor(core, device)));
    return operands('repeat', isWhile ? [results[0], ...results[1]] : results);
  };
  return over('repeat', state, (all) => {
    const results = loop(n, all, next, isWhile);
    const tensors = state.map((_, i) => new Tensor(results.take(i), device));
    results.free();
    return tensors;
  });
}

/** What `n` iterations of a step make of some tensors: one loop in a kernel. The step runs once, to be recorded. */
export const repeat = (n, state, step) => looped(n, state, step, false);
/** The same for as long as a condition holds: the step returns the condition and the next state. */
export const repeatWhile = (n, state, step) => looped(n, state, step, true);
