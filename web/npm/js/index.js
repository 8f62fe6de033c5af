// Tensors on WebGPU, with the same bits on the CPU path: https://www.npmjs.com/package/zerostride
export { Tensor, ZerostrideError, concat, einsum, matmul, repeat, repeatWhile, stack, where } from './tensor.js';
export {
  Device, arange, array, device, eye, fromBuffer, fromImage, full, iota, linspace, normal, ones, open, randomBits, uniform, zeros,
} from './device.js';
export { toCanvas } from './canvas.js';
export * from './operations.js';
