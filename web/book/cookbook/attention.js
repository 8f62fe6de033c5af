// Attention with a causal mask: products of matrices, and a softmax that is one kernel. Shown: the weights of two heads.
export default function picture(zs) {
  const [heads, length, depth] = [2, 128, 32];
  const place = zs.iota([length, 1], 0, 'f32').mul(zs.arange(depth / 2).mul(-0.3).exp());
  const encoded = zs.concat([place.sin(), place.cos()], 1);
  const [q, k, v] = [1, 2, 3].map((seed) => zs.normal([heads, length, depth], seed).mul(0.4).add(encoded));
  const [row, column] = [zs.iota([length, length], 0), zs.iota([length, length], 1)];
  const scores = q.matmul(k.T).div(Math.sqrt(depth));
  const weights = zs.where(column.le(row), scores, -Infinity).softmax(2);
  const values = weights.matmul(v); // heads, length, depth
  const shown = weights.div(weights.max(2, { keepdim: true }));
  return zs.concat([shown.pick(0, 0), shown.pick(0, 1), values.permute([1, 0, 2]).reshape([length, -1]).sigmoid()], 1);
}
