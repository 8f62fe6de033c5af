// Same bits: a deep zoom by double-single arithmetic, beside the same loop in plain WGSL, and the hashes of all work.

import { same_bits, total_hash } from './zerostride/core.js';
import { $, el } from './dom.js';
import { demos } from './demos.js';

/** Devices that had one total, with the date of the measurement: `cargo run --release --example hash`. */
const KNOWN = [
  ['CPU path, x86-64', '2026-11-29'],
  ['lavapipe, Vulkan (LLVM 15)', '2026-11-29'],
  ['llvmpipe, OpenGL (LLVM 15)', '2026-11-29'],
  ['SwiftShader, Vulkan', '2026-11-29'],
  ['Chromium, WebGPU on SwiftShader', '2026-11-29'],
];
const KNOWN_HASH = 'c33906f35c1648f32af2e3b6e36889f778e874a8f08b190f5ff30d8cea65b3eb';

/** The zoom's middle and step, as in examples/hash/work.rs. */
const CENTER = [-0.101096363845622, 0.956286510809142];
const STEP = 2 ** -30;

let context = null;

const bits = (value) => `bitcast<f32>(0x${new Uint32Array(new Float32Array([value]).buffer)[0].toString(16)}u)`;
const double = (value) => `Double(${bits(Math.fround(value))}, ${bits(value - Math.fround(value))})`;

/** The zoom as plain WGSL. A compiler may cancel the terms that hold rounding errors. */
const plain = ([rows, columns], most) => `
struct Double { high: f32, low: f32 }
@group(0) @binding(0) var<storage, read_write> result: array<u32>;

fn quick(a: f32, b: f32) -> Double { let high = a + b; return Double(high, b - (high - a)); }
fn sum(a: f32, b: f32) -> Double {
  let high = a + b;
  let of_b = high - a;
  return Double(high, (a - (high - of_b)) + (b - of_b));
}
fn product(a: f32, b: f32) -> Double {
  let sa = a * 4097.0; let a0 = sa - (sa - a); let a1 = a - a0;
  let sb = b * 4097.0; let b0 = sb - (sb - b); let b1 = b - b0;
  let high = a * b;
  return Double(high, ((a0 * b0 - high) + a0 * b1 + a1 * b0) + a1 * b1);
}
fn plus(x: Double, y: Double) -> Double { let s = sum(x.high, y.high); return quick(s.high, s.low + (x.low + y.low)); }
fn minus(x: Double, y: Double) -> Double { return plus(x, Double(-y.high, -y.low)); }
fn times(x: Double, y: Double) -> Double {
  let p = product(x.high, y.high);
  return quick(p.high, p.low + (x.high * y.low + x.low * y.high));
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  if (id.x >= ${rows * columns}u) { return; }
  let row = i32(id.x / ${columns}u); let column = i32(id.x % ${columns}u);
  let x = plus(${double(CENTER[0])}, Double(f32(column - ${columns / 2}) * ${bits(STEP)}, 0.0));
  let y = plus(${double(CENTER[1])}, Double(f32(row - ${rows / 2}) * ${bits(STEP)}, 0.0));
  var a = Double(0.0, 0.0); var b = Double(0.0, 0.0); var n = 0u;
  while (n < ${most}u) {
    let aa = times(a, a); let bb = times(b, b); let ab = times(a, b);
    if (aa.high + bb.high > 4.0) { break; }
    a = plus(minus(aa, bb), x);
    b = plus(plus(ab, ab), y);
    n++;
  }
  result[id.x] = n;
}`;

/** The bytes of the plain loop's result. */
async function run(size, most) {
  const device = await (await navigator.gpu.requestAdapter()).requestDevice();
  const bytes = size[0] * size[1] * 4;
  const module = device.createShaderModule({ code: plain(size, most) });
  const pipeline = await device.createComputePipelineAsync({ layout: 'auto', compute: { module, entryPoint: 'main' } });
  const buffer = device.createBuffer({ size: bytes, usage: GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC });
  const staging = device.createBuffer({ size: bytes, usage: GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST });
  const encoder = device.createCommandEncoder();
  const pass = encoder.beginComputePass();
  pass.setPipeline(pipeline);
  pass.setBindGroup(0, device.createBindGroup({ layout: pipeline.getBindGroupLayout(0), entries: [{ binding: 0, resource: { buffer } }] }));
  pass.dispatchWorkgroups(Math.ceil(bytes / 256));
  pass.end();
  encoder.copyBufferToBuffer(buffer, 0, staging, 0, bytes);
  device.queue.submit([encoder.finish()]);
  await staging.mapAsync(GPUMapMode.READ);
  const result = new Uint8Array(staging.getMappedRange()).slice();
  device.destroy();
  return result;
}

const digest = async (bytes) => [...new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))]
  .map((byte) => byte.toString(16).padStart(2, '0')).join('');

/** Draws counts of iterations: fewer are darker. */
function draw(canvas, bytes, [rows, columns]) {
  const counts = new Uint32Array(bytes.slice().buffer);
  const [least, greatest] = [Math.min(...counts), Math.max(...counts)];
  const image = new ImageData(columns, rows);
  counts.forEach((count, i) => {
    const grey = 255 * (count - least) / Math.max(1, greatest - least);
    image.data.set([grey, grey, grey, 255], 4 * i);
  });
  Object.assign(canvas, { width: columns, height: rows });
  canvas.getContext('2d').putImageData(image, 0, 0);
}

const short = (hash) => hash.slice(0, 16) + '…';
const cell = (hash) => el('td', { 'data-hash': hash, title: hash }, el('code', {}, hash ? short(hash) : '—'));
const picture = (id, title) => el('figure', {}, el('canvas', { id, role: 'img', 'aria-label': title }),
  el('figcaption', {}, title, el('br', {}), el('code', { id: `${id}-hash` })));

function build() {
  $('bits').replaceChildren(el('div', { className: 'card' },
    el('h2', {}, 'The same bits on every device'),
    el('p', {}, 'The picture is a zoom into Mandelbrot\'s set. Neighbouring pixels lie closer together than floats do, so each number is the sum of two floats, and the second is the rounding error of the first. A compiler that treats floats as real numbers makes that error 0. In kernels of this crate it cannot.'),
    el('div', { className: 'zooms' }, picture('zoom', 'this crate'), picture('plain', 'the same loop in plain WGSL')),
    el('p', { id: 'plain-about' }),
    el('p', { id: 'bits-status', role: 'status' }),
    el('div', { className: 'scroll', tabIndex: 0, role: 'region', 'aria-label': 'Hashes' },
      el('table', { id: 'hashes' }, el('caption', {}, 'SHA-256 of the results'),
        el('thead', {}, el('tr', {}, ['work', 'WebGPU', 'CPU path'].map((text) => el('th', { scope: 'col' }, text)))), el('tbody', {})),
      el('table', {}, el('caption', {}, 'Devices that were measured'),
        el('thead', {}, el('tr', {}, ['device', 'all of it', 'date'].map((text) => el('th', { scope: 'col' }, text)))),
        el('tbody', {}, KNOWN.map(([device, date]) => el('tr', {}, el('th', { scope: 'row' }, device), cell(KNOWN_HASH), el('td', {}, date))))))));
}

async function measure() {
  const { names, size, most } = same_bits();
  const hasGpu = document.documentElement.dataset.device === 'webgpu';
  const totals = ['', ''];
  const add = (name, hashes) => $('hashes').tBodies[0].append(el('tr', {}, el('th', { scope: 'row', 'data-hash': '' }, name), hashes.map(cell)));
  let zoom = null;
  for (const [number, name] of names.entries()) {
    $('bits-status').textContent = `${name} …`;
    const results = [hasGpu ? await context.page.hash(number, false) : { hash: '' }, await context.page.hash(number, true)];
    results.forEach(({ hash }, i) => { totals[i] += hash; });
    add(name, results.map(({ hash }) => hash));
    if (number > 0) continue;
    zoom = (hasGpu ? results[0] : results[1]);
    draw($('zoom'), zoom.bytes, size);
    $('zoom-hash').textContent = short(zoom.hash);
    if (!hasGpu) {
      $('plain-about').textContent = 'There is no WebGPU here to run the plain loop.';
      continue;
    }
    const bytes = await run(size, most);
    draw($('plain'), bytes, size);
    const hash = await digest(bytes);
    $('plain-hash').textContent = short(hash);
    const [own, other] = [zoom.bytes, bytes].map((all) => new Uint32Array(all.slice().buffer));
    const apart = own.filter((count, i) => count !== other[i]).length;
    $('plain-about').textContent = apart
      ? `This browser's compiler changed ${apart} of ${own.length} pixels of the plain loop.`
      : 'This browser and driver left the plain loop alone: its hash is the same here. Nothing promises it elsewhere.';
  }
  add('all of it', totals.map((hashes) => (hashes ? total_hash(hashes) : '')));
  const same = !hasGpu || totals[0] === totals[1];
  $('bits-status').textContent = same ? 'All hashes are the same.' : 'Hashes differ: this is a defect.';
  $('bits-status').dataset.done = String(same);
}

export async function show(shared) {
  context = shared;
  if ($('hashes')) return;
  build();
  try {
    await measure();
  } catch (error) {
    if (error.kind === 'Lost') context.lost(error.message);
    $('bits-status').textContent = error.message ?? String(error);
  }
  $('bits').append(...demos(context));
}
