// A wave on a torus: a step is one kernel, which reads its neighbours as shifted views.
export default function picture(zs) {
  const side = 160;
  const away = (axis, from) => zs.iota([side, side], axis, 'f32').sub(from).square();
  let before = away(0, 50).add(away(1, 60)).mul(-0.02).exp().eval();
  let now = before;
  for (let step = 0; step < 120; step++) {
    const around = now.roll([1], [0]).add(now.roll([-1], [0])).add(now.roll([1], [1])).add(now.roll([-1], [1]));
    const next = now.mul(2).sub(before).add(around.sub(now.mul(4)).mul(0.25)).eval();
    [before, now] = [now, next];
  }
  const high = now.mul(6).clamp(-1, 1);
  const [up, down] = [high.maximum(0), high.minimum(0).neg()];
  return zs.stack([up, up.add(down).mul(0.5), down], 2).add(0.05).clamp(0, 1);
}
