// Particles around two suns: 150 steps are one loop in a kernel, and a scatter counts them in cells.
export default function picture(zs) {
  const [count, side] = [8000, 128];
  const angle = zs.uniform([count], 1).mul(2 * Math.PI);
  const radius = zs.uniform([count], 2).mul(0.5).add(0.25);
  const start = [angle.cos().mul(radius), angle.sin().mul(radius), angle.sin().mul(-1.2), angle.cos().mul(1.2)];
  const pull = (x, y, sun) => {
    const [dx, dy] = [x.sub(sun), y];
    const strength = zs.rsqrt(dx.square().add(dy.square()).add(0.02)).pow(3).mul(-0.5);
    return [dx.mul(strength), dy.mul(strength)];
  };
  const [x, y] = zs.repeat(150, start, (x, y, vx, vy) => {
    const [[ax, ay], [bx, by]] = [pull(x, y, -0.3), pull(x, y, 0.3)];
    const [ux, uy] = [vx.add(ax.add(bx).mul(0.01)), vy.add(ay.add(by).mul(0.01))];
    return [x.add(ux.mul(0.01)), y.add(uy.mul(0.01)), ux, uy];
  });
  const cell = (own) => own.add(1).mul(side / 2).floor().cast('i32'); // outside: dropped
  const density = zs.zeros([side, side]).scatterAdd([cell(y), cell(x)], zs.ones([count]));
  return density.log1p().div(density.log1p().max());
}
