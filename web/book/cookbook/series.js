// A time series with gaps: filled from before, and a rolling mean of what is there. Drawn by comparing rows with values.
export default function picture(zs) {
  const [length, height] = [360, 160];
  const walk = zs.normal([length], 3).cumsum(0);
  const isGap = zs.uniform([length], 4).lt(0.3).or(zs.arange(length).sub(200).abs().lt(18));
  const series = zs.where(isGap, NaN, walk);
  const filled = series.ffill(0);
  const mean = series.rolling('mean', 30, { minCount: 5 });
  const [low, high] = [series.nanmin(), series.nanmax()];
  const row = zs.iota([height, length], 0, 'f32');
  const drawn = (own, thick) => own.sub(low).div(high.sub(low)).mul(20 - height).add(height - 10).sub(row).abs().lt(thick).cast('f32');
  const paper = zs.full([height, length, 3], 0.1);
  const ink = (own, colour) => own.unsqueeze(2).mul(zs.array(colour));
  return paper.add(ink(drawn(series, 1.5), [0.9, 0.9, 0.9])).add(ink(drawn(filled, 0.8), [0.2, 0.4, 0.8])).add(ink(drawn(mean, 1.5), [0.9, 0.4, 0])).clamp(0, 1);
}
