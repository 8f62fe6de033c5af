// Data of the host as tensors.
import { Tensor, ZerostrideError } from './tensor.js';

const TYPES = new Map([
  [Float32Array, 'f32'], [Float64Array, 'f64'], [Int8Array, 'i8'], [Uint8Array, 'u8'], [Uint8ClampedArray, 'u8'], [Int16Array, 'i16'],
  [Uint16Array, 'u16'], [Int32Array, 'i32'], [Uint32Array, 'u32'], [BigInt64Array, 'i64'], [BigUint64Array, 'u64'],
]);
if (globalThis.Float16Array) TYPES.set(globalThis.Float16Array, 'f16');
/** The array of the host for each type. f16 and bf16 go there as f32. */
const HOST = { f16: Float32Array, bf16: Float32Array, bool: Uint8Array };
for (const [View, dtype] of TYPES) if (View !== Uint8ClampedArray) HOST[dtype] ??= View;

const refused = (message, kind = 'Data') => { throw new ZerostrideError(message, kind); };

/** Arrays in arrays as one, with their shape. */
function flat(nested) {
  const shape = [];
  for (let part = nested; Array.isArray(part) || ArrayBuffer.isView(part); part = part[0]) shape.push(part.length);
  const all = [];
  const walk = (part, depth) => {
    if (depth === shape.length) all.push(part);
    else if (part?.length !== shape[depth]) refused(`an array of ${part?.length} beside one of ${shape[depth]}: arrays of one depth have one length`);
    else for (const inner of part) walk(inner, depth + 1);
  };
  walk(nested, 0);
  return [all, shape];
}

const typeOf = (value) => ({ boolean: 'bool', bigint: 'i64' })[typeof value] ?? 'f32';

/** A tensor of typed arrays, arrays in arrays, numbers and pictures. */
export function ofData(data, { shape, dtype } = {}, device) {
  if (data instanceof Tensor) return dtype ? data.cast(dtype) : data;
  if (globalThis.ImageData && data instanceof ImageData) {
    return ofData(data.data, { shape: [data.height, data.width, 4], dtype }, device);
  }
  let own = TYPES.get(data?.constructor);
  let found = [data?.length];
  if (!own) {
    if (!Array.isArray(data) && !['number', 'boolean', 'bigint'].includes(typeof data)) {
      refused(`array of ${data?.constructor?.name ?? typeof data}: it takes typed arrays, arrays, numbers and ImageData`, 'Type');
    }
    [data, found] = flat(data);
    own = dtype ?? typeOf(data[0]);
    data = host(data, own);
  } else if (dtype && dtype !== own) {
    data = host(data, dtype);
    own = dtype;
  }
  const bytes = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  // Half floats come as f32, but for arrays of the browser's own.
  const isHalf = data instanceof Float32Array && own !== 'f32';
  const tensor = new Tensor(device.core.upload(bytes, isHalf ? 'f32' : own, Float64Array.from(shape ?? found)), device);
  return isHalf ? tensor.cast(own) : tensor;
}

/** Numbers as an array of the host for a type. */
function host(data, dtype) {
  const View = HOST[dtype] ?? refused(`no element type is called '${dtype}'`, 'Type');
  if (dtype === 'bool') return View.from(data, (value) => (value ? 1 : 0));
  const isBig = View === BigInt64Array || View === BigUint64Array;
  return View.from(data, isBig ? (value) => BigInt(value) : (value) => Number(value));
}
