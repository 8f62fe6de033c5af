// The picture: a photograph through one kernel, shown each frame from the device's buffer.

import { $, bytes, el } from './dom.js';
import * as state from './state.js';

/** The longest side of a photograph, which is less on the CPU path with its one thread. A larger photograph is scaled. */
const LONGEST = { webgpu: 1024, cpu: 320 };

/** The sliders: labels, ends and start values. */
const SLIDERS = {
  exposure: { label: 'Exposure', unit: ' stops', min: -2, max: 2, step: 0.05, start: 0 },
  red: { label: 'White balance: red', min: 0.5, max: 1.5, step: 0.01, start: 1 },
  green: { label: 'White balance: green', min: 0.5, max: 1.5, step: 0.01, start: 1 },
  blue: { label: 'White balance: blue', min: 0.5, max: 1.5, step: 0.01, start: 1 },
  vignette: { label: 'Vignette', min: 0, max: 1, step: 0.01, start: 0.3 },
  colours: { label: 'Map of colours', min: 0, max: 1, step: 0.01, start: 0 },
  normalized: { label: 'Normalization', min: 0, max: 1, step: 0.01, start: 0 },
  sharpness: { label: 'Unsharp mask', min: 0, max: 4, step: 0.05, start: 0.8 },
};

const MAPS = {
  night: [[10, 12, 40], [40, 60, 130], [200, 120, 90], [255, 220, 150], [255, 250, 230]],
  forest: [[8, 20, 16], [24, 72, 52], [110, 140, 70], [220, 210, 130], [250, 248, 220]],
  heat: [[0, 0, 4], [87, 16, 110], [188, 55, 84], [249, 142, 9], [252, 255, 164]],
};

let context = null;
let own = null;
let opened = -1;
let photo = null;
let camera = null;
let running = false;
let frames = [];
let costs = [];
/** Bytes of a frame, whether the sliders moved since the CPU path drew, and when figures were shown last. */
let moved = 0;
let isNew = true;
let figured = 0;

const value = (name) => state.number(name, SLIDERS[name]);
const map = () => state.choice('map', Object.keys(MAPS));

/** 256 colours, interpolated between a few. */
function spread(colours) {
  const map = new Float32Array(256 * 3);
  for (let i = 0; i < 256; i++) {
    const at = (i / 255) * (colours.length - 1);
    const k = Math.min(colours.length - 2, Math.floor(at));
    for (let c = 0; c < 3; c++) map[i * 3 + c] = (colours[k][c] * (1 - at + k) + colours[k + 1][c] * (at - k)) / 255;
  }
  return map;
}

function build() {
  const slider = ([name, { label, unit = '', min, max, step, start }]) => {
    const id = `slider-${name}`;
    const out = el('output', { for: id, id: `${id}-value` }, `${value(name)}${unit}`);
    return el('div', { className: 'slider' }, el('label', { for: id }, label), out, el('input', {
      id, type: 'range', min, max, step, value: value(name),
      oninput: (event) => {
        const now = Number(event.target.value);
        state.set({ [name]: now === start ? '' : String(now) });
        out.textContent = `${now}${unit}`;
        apply();
      },
    }));
  };
  const file = el('input', { type: 'file', accept: 'image/*', id: 'photo-file', onchange: () => file.files[0] && take(file.files[0]) });
  $('picture').replaceChildren(el('div', { className: 'columns' },
    el('div', { className: 'card', id: 'develop' },
      el('h2', {}, 'Develop'),
      Object.entries(SLIDERS).map(slider),
      el('label', { for: 'map' }, 'Colours of the map'),
      el('select', { id: 'map', onchange: (event) => {
        state.set({ map: event.target.value === 'night' ? '' : event.target.value });
        apply();
      } }, Object.keys(MAPS).map((name) => el('option', { value: name, selected: name === map() }, name))),
      el('p', {}, el('button', { type: 'button', id: 'reset', onclick: reset }, 'Reset'))),
    el('div', { className: 'side' },
      el('div', { className: 'card', id: 'shown' },
        el('h2', {}, 'The picture'),
        el('div', { id: 'drop' }, el('div', { id: 'canvas-place' })),
        el('div', { className: 'sources' },
          el('label', { for: 'photo-file' }, 'Your own photograph (or drop one on the picture)'), file,
          el('button', { type: 'button', id: 'camera', 'aria-pressed': 'false', onclick: toggleCamera }, 'Camera'),
          el('button', { type: 'button', id: 'pause', 'aria-pressed': 'false', onclick: (event) => {
            running = !running;
            event.currentTarget.setAttribute('aria-pressed', String(!running));
            if (running) loop();
          } }, 'Pause')),
        el('p', { id: 'picture-error', role: 'alert' }),
        el('dl', { id: 'figures' },
          ['fps', 'cost', 'moved', 'rate', 'size'].map((id, i) => el('div', {},
            el('dt', {}, ['frames a second', 'JavaScript and wasm', 'bytes moved a frame', 'moved a second', 'pixels'][i]), el('dd', { id: `figure-${id}` }, '—'))))),
      el('div', { className: 'card' },
        el('h2', {}, 'What runs each frame'),
        el('p', { className: 'hint' }, 'One kernel reads the photograph and the sliders and writes bytes. A triangle shows the bytes, and nothing is read back.'),
        el('details', {}, el('summary', {}, 'In words'), el('pre', { id: 'picture-text', tabIndex: 0 })),
        el('details', {}, el('summary', {}, 'The kernel'), el('pre', { id: 'picture-wgsl', tabIndex: 0 }))))));
  const drop = $('drop');
  drop.addEventListener('dragover', (event) => { event.preventDefault(); drop.classList.add('over'); });
  drop.addEventListener('dragleave', () => drop.classList.remove('over'));
  drop.addEventListener('drop', (event) => {
    event.preventDefault();
    drop.classList.remove('over');
    if (event.dataTransfer.files[0]) take(event.dataTransfer.files[0]);
  });
}

function reset() {
  state.set(Object.fromEntries([...Object.keys(SLIDERS), 'map'].map((name) => [name, ''])));
  for (const [name, { unit = '', start }] of Object.entries(SLIDERS)) {
    $(`slider-${name}`).value = start;
    $(`slider-${name}-value`).textContent = `${start}${unit}`;
  }
  $('map').value = 'night';
  apply();
}

const problem = (text) => { $('picture-error').textContent = text; };

/** The pixels of an image or a video, scaled to the longest side, with rows of whole vectors. */
function pixels(source, width, height) {
  const scale = Math.min(1, LONGEST[onDevice() ? 'webgpu' : 'cpu'] / Math.max(width, height));
  const canvas = el('canvas', { width: Math.max(4, Math.round((width * scale) / 4) * 4), height: Math.max(1, Math.round(height * scale)) });
  const draw = canvas.getContext('2d', { willReadFrequently: true });
  draw.drawImage(source, 0, 0, canvas.width, canvas.height);
  return draw.getImageData(0, 0, canvas.width, canvas.height);
}

async function take(blob) {
  try {
    stopCamera();
    const bitmap = await createImageBitmap(blob);
    photo = { source: bitmap, width: bitmap.width, height: bitmap.height };
    open();
    problem('');
  } catch (error) {
    problem(`This browser cannot read the picture: ${error.message}`);
  }
}

async function toggleCamera() {
  if (camera) {
    stopCamera();
    return;
  }
  try {
    const stream = await navigator.mediaDevices.getUserMedia({ video: { width: 640, height: 480 } });
    const video = el('video', { srcObject: stream, muted: true, playsInline: true });
    await video.play();
    camera = { stream, video };
    $('camera').setAttribute('aria-pressed', 'true');
    photo = { source: video, width: video.videoWidth, height: video.videoHeight };
    open();
    problem('');
  } catch (error) {
    problem(`The camera cannot be used: ${error.message}`);
  }
}

function stopCamera() {
  for (const track of camera?.stream.getTracks() ?? []) track.stop();
  camera = null;
  $('camera').setAttribute('aria-pressed', 'false');
}

const onDevice = () => document.documentElement.dataset.device === 'webgpu';

/** Uploads the photograph and compiles the kernel. */
function open() {
  own?.free();
  own = null;
  const image = pixels(photo.source, photo.width, photo.height);
  const canvas = el('canvas', { id: 'canvas', width: image.width, height: image.height, role: 'img', 'aria-label': 'The photograph, developed' });
  $('canvas-place').replaceChildren(canvas);
  try {
    own = context.page.picture(image.width, image.height, image.data, onDevice() ? canvas : undefined);
    const told = own.told();
    $('picture-text').textContent = told.text;
    $('picture-wgsl').textContent = told.wgsl ?? 'The CPU path runs no kernel.';
    moved = told.moved + told.shown;
    $('figure-moved').textContent = bytes(moved);
    $('figure-size').textContent = `${image.width} × ${image.height}`;
    document.documentElement.dataset.kernels = `${told.kernels} of ${told.stages}`;
  } catch (error) {
    failed(error);
    return;
  }
  frames = [];
  costs = [];
  apply();
}

function failed(error) {
  running = false;
  if (error.kind === 'Lost') context.lost(error.message);
  else problem(error.message ?? String(error));
}

/** Writes the sliders' values to the device. */
function apply() {
  if (!own) return;
  try {
    const sliders = ['vignette', 'colours', 'normalized', 'sharpness', 'red', 'green', 'blue'].map(value);
    own.set(new Float32Array([2 ** value('exposure'), ...sliders]));
    own.colours(spread(MAPS[map()]));
    isNew = true;
  } catch (error) {
    failed(error);
  }
}

/** Draws one frame, and measures the time of JavaScript and WebAssembly. */
function frame(now) {
  if (!running || !own) return;
  if (document.documentElement.dataset.device === 'lost') {
    running = false;
    return;
  }
  try {
    if (camera) own.photo(pixels(camera.video, photo.width, photo.height).data);
    if (onDevice()) {
      const start = performance.now();
      own.frame();
      costs.push(performance.now() - start);
      if (costs.length > 120) costs.shift();
    } else if (isNew || camera) drawOnHost().catch(failed);
  } catch (error) {
    failed(error);
    return;
  }
  frames.push(now);
  while (frames[0] < now - 1000) frames.shift();
  if (frames.length > 1 && now - figured > 250) figures(now);
  requestAnimationFrame(frame);
}

const loop = () => requestAnimationFrame(frame);

/** Draws the CPU path's picture onto the canvas once it is computed. */
async function drawOnHost() {
  const picture = own;
  isNew = false;
  const start = performance.now();
  const data = await picture.pixels();
  costs.push(performance.now() - start);
  if (picture !== own) return;
  const canvas = $('canvas');
  canvas.getContext('2d', { willReadFrequently: true }).putImageData(new ImageData(new Uint8ClampedArray(data), canvas.width, canvas.height), 0, 0);
}

function figures(now) {
  figured = now;
  const rate = ((frames.length - 1) * 1000) / (frames.at(-1) - frames[0]);
  $('figure-fps').textContent = rate.toFixed(1);
  const sorted = [...costs].sort((a, b) => a - b);
  const middle = sorted[sorted.length >> 1] ?? 0;
  $('figure-cost').textContent = `${middle.toFixed(2)} ms`;
  $('figure-rate').textContent = bytes(moved * rate);
}

/** For tests: the canvas's pixels and the times of frames. */
export const seen = () => ({ costs: [...costs], frames: frames.length, picture: own, map: spread(MAPS[map()]) });

export function hide() {
  running = false;
  if (camera) stopCamera();
}

export async function show(shared) {
  context = shared;
  if (!$('develop')) build();
  if (!photo) {
    const response = await fetch('photograph.png');
    const bitmap = await createImageBitmap(await response.blob());
    photo = { source: bitmap, width: bitmap.width, height: bitmap.height };
  }
  for (const [name, { unit = '' }] of Object.entries(SLIDERS)) {
    $(`slider-${name}`).value = value(name);
    $(`slider-${name}-value`).textContent = `${value(name)}${unit}`;
  }
  $('map').value = map();
  if (opened !== shared.opened || !own) {
    opened = shared.opened;
    open();
  } else apply();
  $('pause').setAttribute('aria-pressed', 'false');
  if (!running) {
    running = true;
    loop();
  }
}
