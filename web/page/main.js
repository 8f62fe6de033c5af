// The page: the module, the device, and the parts, of which one is visible.

import { Page, dtypes, table } from './zerostride/core.js';
import * as zs from './zerostride/index.js';
import { $ } from './dom.js';
import * as state from './state.js';
import * as playground from './playground.js';

const PARTS = {
  playground: async () => playground,
  picture: () => import('./picture.js'),
  speed: () => import('./speed.js'),
  bits: () => import('./bits.js'),
};

/** The part that the address names, or the playground. */
const asked = () => state.choice('part', Object.keys(PARTS));

/** The state that the parts share. `page` is the module's object, `device` the package's. */
const context = { page: null, device: null, table: [], opened: 0, lost, reopen };
const parts = {};
let shown = null;
let isLost = false;

function notice(text, canReopen) {
  $('notice-text').textContent = text;
  $('notice').hidden = !text;
  $('reopen').hidden = !canReopen;
}

/** Opens a device in place of the one before. */
async function reopen() {
  context.page?.close();
  context.device?.dispose();
  context.device = await zs.open();
  context.page ??= new Page();
  context.page.take(context.device.core);
  return context.device;
}

/** Opens a device, and shows its name. */
async function open() {
  $('device').textContent = 'Opening a device…';
  const { isGPU, name, missing } = await reopen();
  isLost = false;
  context.opened += 1;
  document.documentElement.dataset.device = isGPU ? 'webgpu' : 'cpu';
  $('device').textContent = isGPU ? `WebGPU: ${name || 'an adapter without a name'}` : 'CPU path';
  if (isGPU) notice('', false);
  else notice(`${missing[0].toUpperCase()}${missing.slice(1)}, so everything runs on the CPU path, in one thread. The answers are the same.`, true);
}

/** Reports a lost device, once. */
function lost(text) {
  if (isLost) return;
  isLost = true;
  document.documentElement.dataset.device = 'lost';
  $('device').textContent = 'The device is lost';
  notice(`${text}. Its tensors are gone, but the typed text is not.`, true);
}

/** Whether the device is still there. */
function check() {
  if (isLost || !context.device) return;
  try {
    context.device.check();
  } catch (error) {
    if (error.kind === 'Lost') lost(error.message);
  }
}

async function show(name) {
  for (const part of Object.keys(PARTS)) {
    $(part).hidden = part !== name;
    const tab = $(`tab-${part}`);
    tab.setAttribute('aria-selected', String(part === name));
    tab.tabIndex = part === name ? 0 : -1;
  }
  shown = name;
  for (const [own, part] of Object.entries(parts)) if (own !== name) part.hide?.();
  parts[name] ??= await PARTS[name]();
  if (shown === name) await parts[name].show(context);
}

function select(name) {
  state.set({ part: name === 'playground' ? '' : name });
  return show(name);
}

function tabs() {
  const names = Object.keys(PARTS);
  for (const name of names) {
    const tab = $(`tab-${name}`);
    tab.addEventListener('click', () => select(name));
    tab.addEventListener('keydown', (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      const next = names[(names.indexOf(name) + step + names.length) % names.length];
      $(`tab-${next}`).focus();
      select(next);
      event.preventDefault();
    });
  }
}

async function begin() {
  tabs();
  await open();
  const casts = dtypes().map((name) => ({ name, arity: 1, doc: 'Converted to this type.', kind: 'cast' }));
  context.table = [...table(), ...casts];
  $('reopen').addEventListener('click', async () => {
    await open();
    await show(shown);
  });
  state.changed(() => show(asked()));
  setInterval(check, 500);
  // A browser that draws and computes on one device draws first, so the parts appear with the first result.
  await show(asked()).finally(() => { $('main').hidden = false; });
  // For tests.
  globalThis.zerostride = context;
  document.documentElement.dataset.ready = 'true';
}

begin().catch((error) => notice(`The page cannot begin: ${error.message}`, false));
