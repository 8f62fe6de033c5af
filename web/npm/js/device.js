// Devices: WebGPU where there is one, else the CPU path; and what makes tensors on them.
import init, { CoreDevice, moduleBytes, setErrorClass } from './core.js';
import { pixelsOf } from './canvas.js';
import { ofData } from './data.js';
import { Tensor, ZerostrideError } from './tensor.js';

const lengths = (shape) => Float64Array.from(typeof shape === 'number' ? [shape] : shape);

/** Where tensors are computed. */
export class Device {
  constructor(core, missing) {
    this.core = core;
    /** The adapter's name. */
    this.name = core.name;
    /** Why there is no WebGPU, or an empty text. */
    this.missing = missing;
    Object.freeze(this);
  }

  /** The `GPUDevice`, for buffers and passes of the page's own, or undefined on the CPU path. */
  get gpu() { return this.core.gpu; }
  get isGPU() { return this.core.gpu !== undefined; }

  array(data, options) { return ofData(data, Array.isArray(options) ? { shape: options } : options, this); }
  full(shape, value, dtype = 'f32') { return new Tensor(this.core.full(dtype, lengths(shape), Number(value)), this); }
  zeros(shape, dtype) { return this.full(shape, 0, dtype); }
  ones(shape, dtype) { return this.full(shape, 1, dtype); }
  arange(start, end, step = 1, dtype = 'f32') {
    const [from, to] = end === undefined ? [0, start] : [start, end];
    return this.#generate('arange', dtype, [from, to, step]);
  }
  linspace(start, end, count, dtype = 'f32') { return this.#generate('linspace', dtype, [start, end, count]); }
  eye(rows, columns = rows, dtype = 'f32') { return this.#generate('eye', dtype, [rows, columns]); }
  /** The coordinates along an axis of a shape. */
  iota(shape, axis, dtype = 'i32') { return this.#generate('iota', dtype, [axis], shape); }
  uniform(shape, seed, dtype = 'f32') { return this.#generate('uniform', dtype, [seed], shape); }
  normal(shape, seed, dtype = 'f32') { return this.#generate('normal', dtype, [seed], shape); }
  randomBits(shape, seed) { return this.#generate('bits', 'u32', [seed], shape); }

  #generate(name, dtype, numbers, shape = []) {
    return new Tensor(this.core.generate(name, dtype, Float64Array.from(numbers), lengths(shape)), this);
  }

  /** Pixels of an image, a canvas, a video frame, `ImageData` or `ImageBitmap`: u8 of height, width and 4 channels. */
  fromImage(image) { return ofData(pixelsOf(image), {}, this); }

  /** A copy of a `GPUBuffer` of this device, made on it. The buffer needs `COPY_SRC`. */
  fromBuffer(buffer, { shape, dtype = 'f32', offset = 0 }) {
    const tensor = this.zeros(shape, dtype).eval();
    const own = tensor.buffer();
    try {
      if (own.size % 4) throw new ZerostrideError(`a buffer of ${own.size} bytes: copies on the device have a multiple of 4`, 'Resource');
      const encoder = this.gpu.createCommandEncoder();
      encoder.copyBufferToBuffer(buffer, offset, own.buffer, own.offset, own.size);
      this.gpu.queue.submit([encoder.finish()]);
    } finally {
      own.dispose();
    }
    return tensor;
  }

  /** Bytes of tensors: `used`, `idle`, and `created` in all. */
  memory() { return { ...this.core.memory(), module: moduleBytes() }; }
  /** Lets go of the device. It is freed with its last tensor. */
  dispose() { this.core.free(); }
  /** Throws when the device is lost. */
  check() { this.core.flush(); }
  /** Waits until the device is done. */
  async synchronize() { await this.core.synchronize(); }
}

if (Symbol.dispose) Device.prototype[Symbol.dispose] = Device.prototype.dispose;

let current = null;
let loading = null;

/** Loads the module once. */
function load(module) {
  loading ??= init(module === undefined ? undefined : { module_or_path: module }).then(() => setErrorClass(ZerostrideError), (error) => {
    loading = null;
    throw error;
  });
  return loading;
}

/**
 * Opens WebGPU, or the CPU path where there is none, as the device of later calls.
 *
 * `device` is `webgpu`, `cpu` or the better one; `module` the WebAssembly module, where its address is not beside this
 * file; `math` is `precise`, `fast` or `total`.
 */
export async function open({ device = 'best', module, math = 'precise' } = {}) {
  await load(module);
  let [core, missing] = [null, device === 'cpu' ? 'the CPU path was asked for' : ''];
  if (device !== 'cpu') {
    if (!globalThis.navigator?.gpu) missing = 'there is no WebGPU here';
    else {
      try {
        core = await CoreDevice.openWebGPU() ?? null;
        if (!core) missing = 'WebGPU has no adapter here';
      } catch (error) {
        missing = error.message;
      }
    }
    if (!core && device === 'webgpu') throw new ZerostrideError(missing, 'Device');
  }
  core ??= CoreDevice.cpu();
  core.setMath(math);
  current = new Device(core, missing);
  return current;
}

/** The device that was opened last. */
export function device() {
  if (!current) throw new ZerostrideError('no device is open: await open() first', 'Device');
  return current;
}

export const array = (data, options) => device().array(data, options);
export const full = (...all) => device().full(...all);
export const zeros = (...all) => device().zeros(...all);
export const ones = (...all) => device().ones(...all);
export const arange = (...all) => device().arange(...all);
export const linspace = (...all) => device().linspace(...all);
export const eye = (...all) => device().eye(...all);
export const iota = (...all) => device().iota(...all);
export const uniform = (...all) => device().uniform(...all);
export const normal = (...all) => device().normal(...all);
export const randomBits = (...all) => device().randomBits(...all);
export const fromImage = (image) => device().fromImage(image);
export const fromBuffer = (...all) => device().fromBuffer(...all);
