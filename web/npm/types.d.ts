export type TypedArray =
  | Float32Array | Float64Array | Int8Array | Uint8Array | Uint8ClampedArray | Int16Array | Uint16Array | Int32Array
  | Uint32Array | BigInt64Array | BigUint64Array;

/** Numbers in arrays in arrays, of one depth. */
export type Nested = number | boolean | bigint | readonly Nested[];
/** What becomes a tensor. Arrays of numbers are f32, of truth values bool. */
export type Data = TypedArray | Nested | ImageData | Tensor;
/** What an operation takes beside a tensor. A number takes the type of the tensors. */
export type Operand = Tensor | number | boolean | TypedArray | readonly Nested[];
/** The lengths of axes, or the length of one. */
export type Shape = readonly number[] | number;
/** One axis or several, from the end if negative; all without. */
export type Axes = number | readonly number[];

export interface ReduceOptions {
  /** Reduced axes stay, with length 1. */
  keepdim?: boolean;
  /** Subtracted from the count that a variance is divided by. */
  correction?: number;
}

export interface ScanOptions {
  /** Each cumulative result leaves its own element out. */
  exclusive?: boolean;
  /** Each covers the element and those after it. */
  reverse?: boolean;
}

/** An error of a call, with the crate's text: the values, the rule and the remedy. */
export class ZerostrideError extends Error {
  constructor(message: string, kind?: string);
  /** The name of the crate's `ErrorKind`. */
  readonly kind: string;
}

export interface OpenOptions {
  /** `best` is WebGPU, and the CPU path where there is none. `webgpu` is an error where there is none. */
  device?: 'best' | 'webgpu' | 'cpu';
  /** The WebAssembly module, where its address is not beside the package's scripts: an address, bytes, a response. */
  module?: string | URL | Request | Response | BufferSource | WebAssembly.Module;
  /** `total` has the same bytes for subnormals and NaN too; `fast` takes the adapter's functions. */
  math?: 'precise' | 'fast' | 'total';
}

/** Opens WebGPU, or the CPU path where there is none, as the device of later calls. */
export function open(options?: OpenOptions): Promise<Device>;
/** The device that was opened last. */
export function device(): Device;

export interface ArrayOptions {
  shape?: Shape;
  dtype?: DType;
}

/** What makes tensors. The functions of the same names use the device that was opened last. */
export interface Creation {
  /** A tensor of data of the page. */
  array(data: Data, options?: ArrayOptions | readonly number[]): Tensor;
  full(shape: Shape, value: number | boolean, dtype?: DType): Tensor;
  zeros(shape: Shape, dtype?: DType): Tensor;
  ones(shape: Shape, dtype?: DType): Tensor;
  /** Numbers in steps, up to but not including the end. */
  arange(end: number): Tensor;
  arange(start: number, end: number, step?: number, dtype?: DType): Tensor;
  /** Floats at equal distances, both ends included. */
  linspace(start: number, end: number, count: number, dtype?: DType): Tensor;
  eye(rows: number, columns?: number, dtype?: DType): Tensor;
  /** The coordinates along an axis of a shape. */
  iota(shape: Shape, axis: number, dtype?: DType): Tensor;
  /** Random floats from 0 to below 1: the same for a seed on every device. */
  uniform(shape: Shape, seed: number, dtype?: DType): Tensor;
  /** Random numbers of the normal distribution. */
  normal(shape: Shape, seed: number, dtype?: DType): Tensor;
  /** Random words, u32. */
  randomBits(shape: Shape, seed: number): Tensor;
  /** Pixels: u8 of height, width and 4 channels. */
  fromImage(image: ImageData | CanvasImageSource): Tensor;
  /** A copy of a buffer of this device's `gpu`, made on it. The buffer needs `COPY_SRC`. */
  fromBuffer(buffer: GPUBufferLike, options: { shape: Shape; dtype?: DType; offset?: number }): Tensor;
}

/** A `GPUBuffer`. `@webgpu/types` has its type. */
export interface GPUBufferLike {
  readonly size: number;
  readonly usage: number;
  destroy(): undefined;
}

export interface Memory {
  /** Bytes of tensors. */
  readonly used: number;
  /** Bytes that are kept for later tensors. */
  readonly idle: number;
  /** Bytes created in all. */
  readonly created: number;
  /** Compiled kernels. */
  readonly pipelines: number;
  /** Bytes of the WebAssembly module's memory. */
  readonly module: number;
}

/** Where tensors are computed. */
export class Device implements Creation {
  private constructor();
  /** The adapter's name. */
  readonly name: string;
  /** Why there is no WebGPU, or an empty text. */
  readonly missing: string;
  readonly isGPU: boolean;
  /** The `GPUDevice`, for buffers and passes of the page's own, or undefined on the CPU path. */
  readonly gpu: any;
  array: Creation['array'];
  full: Creation['full'];
  zeros: Creation['zeros'];
  ones: Creation['ones'];
  arange: Creation['arange'];
  linspace: Creation['linspace'];
  eye: Creation['eye'];
  iota: Creation['iota'];
  uniform: Creation['uniform'];
  normal: Creation['normal'];
  randomBits: Creation['randomBits'];
  fromImage: Creation['fromImage'];
  fromBuffer: Creation['fromBuffer'];
  memory(): Memory;
  /** Lets go of the device. It is freed with its last tensor. */
  dispose(): void;
  [Symbol.dispose](): void;
  /** Throws when the device is lost. */
  check(): void;
  /** Waits until the device is done. */
  synchronize(): Promise<void>;
}

export const array: Creation['array'];
export const full: Creation['full'];
export const zeros: Creation['zeros'];
export const ones: Creation['ones'];
export const arange: Creation['arange'];
export const linspace: Creation['linspace'];
export const eye: Creation['eye'];
export const iota: Creation['iota'];
export const uniform: Creation['uniform'];
export const normal: Creation['normal'];
export const randomBits: Creation['randomBits'];
export const fromImage: Creation['fromImage'];
export const fromBuffer: Creation['fromBuffer'];

/** A buffer of a tensor, which nothing else uses until it is disposed of. */
export interface Lent {
  /** A `GPUBuffer`, which may be larger than the tensor. */
  readonly buffer: any;
  readonly offset: number;
  readonly size: number;
  dispose(): void;
  [Symbol.dispose](): void;
}

/** Elements on a device, or an expression of them, which a read computes as one kernel. */
export class Tensor {
  private constructor();
  readonly device: Device;
  readonly shape: number[];
  readonly dtype: DType;
  readonly size: number;
  readonly ndim: number;
  /** The last two axes exchanged. */
  readonly T: Tensor;

  /** Lets go of the elements, as `using` does at the end of a block, and a finalizer at some time. */
  dispose(): void;
  [Symbol.dispose](): void;

  /** Every element converted to a type. Floats to integers truncate and saturate. */
  cast(dtype: DType): Tensor;

  /** Axes in another order. */
  permute(axes: readonly number[]): Tensor;
  transpose(a?: number, b?: number): Tensor;
  broadcastTo(shape: readonly number[]): Tensor;
  /** `broadcastTo`, where -1 keeps a length. */
  expand(shape: readonly number[]): Tensor;
  /** Another shape, where one length may be -1. */
  reshape(shape: readonly number[]): Tensor;
  flip(axis: number): Tensor;
  squeeze(axis: number): Tensor;
  unsqueeze(axis: number): Tensor;
  /** Every `step`-th index of an axis from `start` to before `end`, as Python's. */
  slice(axis: number, start?: number | null, end?: number | null, step?: number): Tensor;
  /** The subtensor at an index of an axis, which it lacks. */
  pick(axis: number, at: number): Tensor;
  /** Windows along axes, which become the last axes. */
  windows(lengths: readonly number[], axes: readonly number[], options?: { steps?: readonly number[]; dilations?: readonly number[] }): Tensor;
  /** The coordinates along an axis, i32. */
  coordinate(axis: number): Tensor;

  roll(shifts: readonly number[], axes: readonly number[]): Tensor;
  tile(times: readonly number[]): Tensor;
  repeatInterleave(times: number, axis: number): Tensor;
  /** Elements before and after each axis. */
  pad(widths: readonly (readonly [number, number])[], options?: { mode?: 'constant' | 'edge' | 'reflect' | 'wrap'; value?: number }): Tensor;
  /** Elements at indices, one tensor for each axis. */
  at(...indices: Operand[]): Tensor;
  take(indices: Operand, axis: number): Tensor;
  takeAlong(indices: Operand, axis: number): Tensor;
  putAlong(indices: Operand, values: Operand, axis: number): Tensor;
  /** Updates at indices of leading axes. */
  scatter(indices: readonly Operand[], updates: Operand): Tensor;
  scatterAdd(indices: readonly Operand[], updates: Operand): Tensor;
  scatterMin(indices: readonly Operand[], updates: Operand): Tensor;
  scatterMax(indices: readonly Operand[], updates: Operand): Tensor;
  /** The elements of each key from 0 to below `count` reduced, or accumulated. */
  segment(name: 'sum' | 'prod' | 'min' | 'max' | 'mean' | 'cumsum' | 'cumprod', keys: Operand, count: number): Tensor;

  sort(axis?: number, options?: { descending?: boolean }): Tensor;
  argsort(axis?: number, options?: { descending?: boolean }): Tensor;
  /** The greatest elements and their indices. */
  topk(k: number, axis?: number): [Tensor, Tensor];
  kthvalue(k: number, axis?: number): [Tensor, Tensor];
  median(axis?: number): Tensor;
  nanmedian(axis?: number): Tensor;
  quantile(q: number, axis?: number): Tensor;
  nanquantile(q: number, axis?: number): Tensor;
  searchsorted(values: Operand, options?: { right?: boolean }): Tensor;
  isin(test: Operand): Tensor;
  bincount(bins: number): Tensor;
  denseRank(axis?: number): Tensor;

  diff(axis?: number): Tensor;
  /** Each NaN replaced by the last number before it. */
  ffill(axis?: number): Tensor;
  bfill(axis?: number): Tensor;
  /** A statistic of each element and the ones before it, without NaN. */
  rolling(name: 'sum' | 'mean' | 'var' | 'std' | 'min' | 'max' | 'median', window: number, options?: { minCount?: number; axis?: number }): Tensor;

  matmul(other: Operand): Tensor;
  dot(other: Operand): Tensor;
  outer(other: Operand): Tensor;
  vecdot(other: Operand, axis?: number): Tensor;
  tensordot(other: Operand, pairs: readonly (readonly [number, number])[]): Tensor;

  /** `a` where this is true, and `b` elsewhere. */
  select(a: Operand, b: Operand): Tensor;

  /** Computes and stores the elements. On WebGPU it does not wait. */
  eval(): this;
  /** Writes a value to the elements, which it stretches to. A slice writes those of the tensor that it is of. */
  assign(value: Operand): this;
  /** The elements in row-major order. f16 and bf16 come as f32, bool as bytes. */
  data(): Promise<TypedArray>;
  /** The only element. */
  item(): Promise<number | bigint | boolean>;
  /** The elements as arrays in arrays. */
  toList(): Promise<any>;
  /** What would run, and why. */
  explain(): string;
  /** The last kernel that would run, in WGSL. */
  wgsl(): string | undefined;
  /** The `GPUBuffer` of the elements in row-major order. */
  buffer(): Lent;
  /** Shows a picture: height, width and 1, 3 or 4 channels of bytes, or of floats from 0 to 1. */
  toCanvas(canvas: HTMLCanvasElement | OffscreenCanvas): Promise<void>;
  toString(): string;
}

export function toCanvas(tensor: Tensor, canvas: HTMLCanvasElement | OffscreenCanvas): Promise<void>;
/** `a` where a condition is true, and `b` elsewhere. */
export function where(condition: Tensor, a: Operand, b: Operand): Tensor;
export function concat(parts: readonly Operand[], axis?: number): Tensor;
export function stack(parts: readonly Operand[], axis?: number): Tensor;
export function matmul(a: Operand, b: Operand): Tensor;
/** Sums of products by an equation with `->`. */
export function einsum(equation: string, ...values: Operand[]): Tensor;
/** What `n` iterations of a step make of some tensors: one loop in a kernel. The step runs once, to be recorded. */
export function repeat(n: number, state: readonly Operand[], step: (...state: Tensor[]) => readonly Operand[]): Tensor[];
/** The same for as long as a condition holds: the step returns the condition and the next state. */
export function repeatWhile(
  n: number, state: readonly Operand[], step: (...state: Tensor[]) => readonly [Operand, readonly Operand[]],
): Tensor[];
