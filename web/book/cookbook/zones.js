// Zonal statistics: each pixel belongs to the nearest of 200 sites, and each zone has the mean of its pixels.
export default function picture(zs, photo) {
  const x = photo.slice(2, 0, 3).cast('f32').div(255);
  const [height, width] = x.shape;
  const sites = 200;
  const down = zs.uniform([sites], 7).mul(height);
  const across = zs.uniform([sites], 8).mul(width);
  const away = zs.iota([height, width, 1], 0, 'f32').sub(down).square().add(zs.iota([height, width, 1], 1, 'f32').sub(across).square());
  const zone = away.argmin(2).reshape([-1]);
  const means = x.reshape([-1, 3]).segment('mean', zone, sites); // one row for each zone
  return means.take(zone, 0).reshape([height, width, 3]);
}
