// A spectrogram: overlapping windows are a view, and a Fourier transform of few frequencies is two products.
export default function picture(zs) {
  const [count, size, hop] = [24000, 256, 64];
  const time = zs.arange(count).div(count);
  const chirp = time.square().mul(2 * Math.PI * 3500).sin();
  const tone = time.mul(2 * Math.PI * 2200).sin().mul(time.mul(40).sin().gt(0).cast('f32'));
  const signal = chirp.add(tone.mul(0.5)).add(zs.normal([count], 5).mul(0.05));
  const frames = signal.windows([size], [0], { steps: [hop] });
  const hann = zs.arange(size).mul((2 * Math.PI) / size).cos().mul(-0.5).add(0.5);
  const turns = zs.iota([size, size / 2], 0).mul(zs.iota([size, size / 2], 1)).remFloor(size).cast('f32').mul((2 * Math.PI) / size);
  const power = frames.mul(hann).matmul(turns.cos()).square().add(frames.mul(hann).matmul(turns.sin()).square());
  const level = power.add(1e-3).log().add(6).div(16).clamp(0, 1).T.flip(0);
  return zs.stack([level, level.square(), level.pow(4)], 2);
}
