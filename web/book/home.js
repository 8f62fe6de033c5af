// The first page: *Same bits* of the playground, on its own.
import { show } from './playground/bits.js';
import { Page } from './playground/zerostride/core.js';
import * as zs from './playground/zerostride/index.js';

const $ = (id) => document.getElementById(id);

async function begin() {
  const device = await zs.open();
  document.documentElement.dataset.device = device.isGPU ? 'webgpu' : 'cpu';
  $('device').textContent = device.isGPU ? `WebGPU: ${device.name || 'an adapter without a name'}` : `CPU path, as ${device.missing}`;
  const page = new Page();
  page.take(device.core);
  await show({ page, lost: (text) => { throw new Error(text); } });
}

begin().catch((error) => {
  $('notice').textContent = error.message;
  $('notice').hidden = false;
}).finally(() => { document.documentElement.dataset.ready = 'true'; });
