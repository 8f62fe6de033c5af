// Two demonstrations of the same bits: a flock in lockstep on WebGPU and on the CPU path, and three bodies beside plain WGSL.

import { el } from './dom.js';

const BOIDS = 10000;
const FRAMES = 80;
const BACK = 60;
/** Looks at the bodies, of a hundred steps each. */
const LOOKS = 400;
const SIDE = 384;

const hex = (number) => (number >>> 0).toString(16).padStart(8, '0');

/** A part with a button. `run` returns what the status says at the end. */
function card(context, id, title, about, label, run) {
  const canvas = el('canvas', { id: `${id}-canvas`, role: 'img', width: SIDE, height: SIDE, 'aria-label': title });
  const status = el('p', { id: `${id}-status`, role: 'status' });
  const button = el('button', { id: `${id}-run`, onclick: async () => {
    button.disabled = true;
    delete status.dataset.done;
    const say = (text) => { status.textContent = text; };
    try {
      const { same, text } = await run(context.page, canvas.getContext('2d'), say);
      say(text);
      status.dataset.done = String(same);
    } catch (error) {
      if (error.kind === 'Lost') context.lost(error.message);
      say(error.message ?? String(error));
      status.dataset.done = 'false';
    }
    button.disabled = false;
  } }, label);
  return el('div', { className: 'card' }, el('h2', {}, title), el('p', {}, about), button, status, canvas);
}

const hasGpu = () => document.documentElement.dataset.device === 'webgpu';

function drawFlock(canvas, places) {
  const count = places.length / 3;
  const image = canvas.createImageData(SIDE, SIDE);
  for (let i = 3; i < image.data.length; i += 4) image.data[i] = 255;
  for (let i = 0; i < count; i++) {
    const place = (way) => Math.min(SIDE - 1, Math.floor(way * SIDE));
    const at = 4 * (SIDE * (SIDE - 1 - place(places[count + i])) + place(places[i]));
    const channel = (turn) => 150 + 105 * Math.cos(places[2 * count + i] + turn);
    image.data.set([channel(0), channel(-2.1), channel(2.1)], at);
  }
  canvas.putImageData(image, 0, 0);
}

async function lockstep(page, canvas, say) {
  let flocks = (hasGpu() ? [false, true] : [true]).map((onCpu) => page.flock(BOIDS, onCpu));
  let kept = flocks;
  let last = '';
  const step = async (frame) => {
    flocks = flocks.map((flock) => flock.step());
    const sums = await Promise.all(flocks.map((flock) => flock.checksum()));
    say(`Frame ${frame}: ${sums.map(hex).join(' and ')}`);
    if (new Set(sums).size > 1) throw new Error(`Frame ${frame} has other bits on the CPU path: this is a defect.`);
    last = hex(sums[0]);
  };
  for (let frame = 1; frame <= FRAMES; frame++) {
    if (frame === FRAMES - BACK + 1) kept = flocks;
    await step(frame);
    drawFlock(canvas, await flocks[0].places());
  }
  const first = last;
  flocks = kept;
  for (let frame = FRAMES - BACK + 1; frame <= FRAMES; frame++) await step(frame);
  const same = last === first;
  const where = hasGpu() ? 'WebGPU and the CPU path' : 'the CPU path';
  return { same, text: same ? `Frame ${FRAMES} is ${first} on ${where}, and again after going ${BACK} frames back.` : 'Other bits after going back: this is a defect.' };
}

/** The values after each dispatch of plain WGSL. */
async function plainBodies({ first, wgsl }) {
  const device = await (await navigator.gpu.requestAdapter()).requestDevice();
  const module = device.createShaderModule({ code: wgsl });
  const pipeline = await device.createComputePipelineAsync({ layout: 'auto', compute: { module, entryPoint: 'main' } });
  const size = first.byteLength;
  const buffer = device.createBuffer({ size, usage: GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST });
  const trace = device.createBuffer({ size: size * LOOKS, usage: GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST });
  device.queue.writeBuffer(buffer, 0, first);
  const group = device.createBindGroup({ layout: pipeline.getBindGroupLayout(0), entries: [{ binding: 0, resource: { buffer } }] });
  for (let look = 0; look < LOOKS; look++) {
    const encoder = device.createCommandEncoder();
    const pass = encoder.beginComputePass();
    pass.setPipeline(pipeline);
    pass.setBindGroup(0, group);
    pass.dispatchWorkgroups(1);
    pass.end();
    encoder.copyBufferToBuffer(buffer, 0, trace, size * look, size);
    device.queue.submit([encoder.finish()]);
  }
  await trace.mapAsync(GPUMapMode.READ);
  const all = new Float32Array(trace.getMappedRange().slice());
  device.destroy();
  return Array.from({ length: LOOKS }, (_, look) => all.subarray(look * first.length, (look + 1) * first.length));
}

/** The path of the lightest body of the first system, on a square from -6 to 6. */
function drawPath(canvas, looks, systems, colour) {
  canvas.strokeStyle = colour;
  canvas.beginPath();
  for (const values of looks) canvas.lineTo((values[0] / 12 + 0.5) * SIDE, (0.5 - values[systems] / 12) * SIDE);
  canvas.stroke();
}

async function chaos(page, canvas, say) {
  const about = page.about_bodies();
  let all = (hasGpu() ? [false, true] : [true]).map((onCpu) => page.bodies(onCpu));
  const looks = [];
  for (let look = 1; look <= LOOKS; look++) {
    all = all.map((bodies) => bodies.later());
    const [own, other] = await Promise.all(all.map((bodies) => bodies.values()));
    const bits = (values) => new Uint32Array(values.buffer);
    if (other && bits(own).some((word, i) => word !== bits(other)[i])) {
      return { same: false, text: `Step ${look * about.steps} has other bits on the CPU path: this is a defect.` };
    }
    looks.push(own);
    if (look % 20 === 0) say(`Step ${look * about.steps}`);
  }
  canvas.fillStyle = 'white';
  canvas.fillRect(0, 0, SIDE, SIDE);
  let beside = 'There is no WebGPU here to run plain WGSL.';
  if (hasGpu()) {
    const plain = await plainBodies(about);
    drawPath(canvas, plain, about.systems, '#ec7c20');
    const differs = looks.findIndex((own, look) => own.some((value, i) => !Object.is(value, plain[look][i])));
    beside = differs < 0
      ? 'This browser and driver left the plain steps alone. Nothing promises it elsewhere.'
      : `Plain WGSL has other bits by step ${(differs + 1) * about.steps}.`;
  }
  drawPath(canvas, looks, about.systems, '#1c5cbe');
  return { same: true, text: `${LOOKS * about.steps} steps have the same bits on all devices of the page. ${beside}` };
}

/** Both parts. */
export function demos(context) {
  return [
    card(context, 'lockstep', 'A flock in lockstep',
      `${BOIDS} boids turn towards those around them, by rotations, atan2, sums by cell and a random kick. Both devices step the same flock and compare a checksum in each frame. Then they go ${BACK} frames back and arrive at the same one.`,
      'Fly', lockstep),
    card(context, 'chaos', 'Three bodies',
      'They attract each other, and one wrong bit grows until their paths have nothing in common. This crate in blue, over plain WGSL in orange.',
      'Step', chaos),
  ];
}
