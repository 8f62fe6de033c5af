// Makes every check of src/checks.rs, and then runs the conformance tool on each device in a worker. What comes of it
// is on the page and in the console; a line that begins with WRONG is a failure, and the last one is "end".
import init, { checks, check } from './pkg/zerostride_conformance.js';

const say = (line) => {
  document.getElementById('said').textContent += `${line}\n`;
  console.log(line);
};
addEventListener('unhandledrejection', ({ reason }) => say(`WRONG nobody heard of: ${reason}`));
addEventListener('error', ({ message }) => say(`WRONG ${message}`));
addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) => say(`WRONG ${blockedURI} against ${violatedDirective}`));

// While setMemory(false) holds, buffers of more than 1 MiB are not there: they are what a device gives that has no
// memory for them, and their scopes say so.
let isThere = true, untold = 0;
globalThis.setMemory = (there) => { isThere = there; };
const { createBuffer, popErrorScope, pushErrorScope } = GPUDevice.prototype;
const scopes = new WeakMap();
GPUDevice.prototype.pushErrorScope = function (filter) {
  if (!scopes.has(this)) scopes.set(this, []);
  scopes.get(this).push(filter);
  return pushErrorScope.call(this, filter);
};
GPUDevice.prototype.createBuffer = function (descriptor) {
  if (isThere || descriptor.size <= 1 << 20) return createBuffer.call(this, descriptor);
  untold += 1;
  pushErrorScope.call(this, 'validation');
  const buffer = createBuffer.call(this, { ...descriptor, usage: 0 });
  popErrorScope.call(this);
  return buffer;
};
GPUDevice.prototype.popErrorScope = async function () {
  const tells = scopes.get(this)?.pop() === 'out-of-memory' && untold > 0;
  if (tells) untold -= 1;
  const error = await popErrorScope.call(this);
  return tells ? new GPUOutOfMemoryError('a test') : error;
};

await init();
const asked = new URLSearchParams(location.search);
const names = asked.get('checks')?.split(',') ?? checks();
for (const name of names.filter(Boolean)) {
  const start = performance.now();
  const late = new Promise((resolve) => { setTimeout(resolve, 120000, 'no answer'); });
  const wrong = await Promise.race([check(name).catch((error) => `it ends with ${error}`), late]);
  say(`${wrong ? 'WRONG' : 'right'} ${name}, ${Math.round(performance.now() - start)} ms ${wrong ?? ''}`);
}
const worker = new Worker('./worker.js', { type: 'module' });
worker.onerror = ({ message }) => say(`WRONG ${message}`);
worker.onmessage = ({ data }) => say(data);
const devices = asked.get('devices') ?? 'webgpu,cpu', files = asked.get('files') ?? 'shapes,values,reductions,joining,products,pools';
// Of the cases one part of so many.
const [part, parts] = (asked.get('part') ?? '0/1').split('/').map(Number);
// A software driver takes one of so many reductions, since its compiler takes seconds for a scan; `each=1` takes all, as a GPU
// does.
const adapter = await navigator.gpu?.requestAdapter();
const isSoftware = adapter?.info.isFallbackAdapter ?? adapter?.isFallbackAdapter;
const each = isSoftware ? Number(asked.get('each') ?? 5) : 1;
worker.postMessage({ devices: devices.split(',').filter(Boolean), files: files.split(','), part, parts, each });
