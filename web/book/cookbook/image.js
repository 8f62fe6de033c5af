// A photograph: grey balance, a sharper picture by windows, and a vignette.
export default function picture(zs, photo) {
  const x = photo.slice(2, 0, 3).cast('f32').div(255); // height, width, channel
  const [height, width] = x.shape;
  const balanced = x.mul(x.mean().div(x.mean([0, 1])));
  const framed = balanced.pad([[1, 1], [1, 1], [0, 0]], { mode: 'edge' });
  const blurred = framed.windows([3, 3], [0, 1]).mean([-2, -1]);
  const down = zs.linspace(-1, 1, height).reshape([height, 1, 1]);
  const across = zs.linspace(-1, 1, width).reshape([width, 1]);
  const vignette = down.square().add(across.square()).mul(-0.4).exp();
  return balanced.mul(2).sub(blurred).mul(vignette).clamp(0, 1);
}
