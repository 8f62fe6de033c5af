// What `tsc --strict` takes, and what it refuses.
import * as zs from 'zerostride';

const device: zs.Device = await zs.open({ device: 'cpu' });
const x: zs.Tensor = zs.array(new Float32Array(6), { shape: [2, 3], dtype: 'f16' });
const y = x.mul(2).add([1, 2, 3]).exp().softmax(1).isNan().select(x, 0);
const [values, indices] = y.topk(2);
const all: zs.TypedArray = await values.sum([0, 1], { keepdim: true }).data();
const total = zs.var(zs.einsum('ij,jk->ik', x, x.T), 0, { correction: 1 });
const [state] = zs.repeat(3, [total], (own) => [own.mulAdd(2, 1)]);
const kernel: string | undefined = device.full([2], 1, 'i8').wgsl();
using held = device.array([[true, false]]);
try {
  x.reshape([5]);
} catch (error) {
  if (error instanceof zs.ZerostrideError) console.log(error.kind, error.message);
}
console.log(all.length, indices.dtype, state, kernel, held.shape);

// @ts-expect-error: no such type
x.cast('f31');
// @ts-expect-error: no such operation
x.expp();
// @ts-expect-error: an operand is missing
x.add();
// @ts-expect-error: a promise is no operand
x.add(y.data());
