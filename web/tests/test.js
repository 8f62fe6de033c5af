// The page in a real Chromium. Every part is clicked through, and results are compared with the CPU path.
//
//   node test.js SITE SCREENSHOTS      ZEROSTRIDE_WEB=full runs all rounds of the memory tests
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { serve } from '../serve.js';
import { anyAddress } from './address.js';
import { launch, run } from './browser.js';

const [site, screenshots] = process.argv.slice(2);
const full = process.env.ZEROSTRIDE_WEB === 'full';
mkdirSync(screenshots, { recursive: true });

const { address, server } = await serve(site);
const browser = await launch(['--use-fake-device-for-media-stream', '--use-fake-ui-for-media-stream']);
const messages = [];

/** A new page, with its console recorded. `before` runs in the page before its own scripts. */
async function open(hash = '', { before } = {}) {
  const context = await browser.newContext({ viewport: { width: 1600, height: 1000 }, permissions: ['camera'] });
  // A hung page ends here. A busy machine is faster than this.
  context.setDefaultTimeout(180000);
  const page = await context.newPage();
  page.on('console', (message) => messages.push(`${message.type()}: ${message.text()}`));
  page.on('pageerror', (error) => messages.push(`error: ${error.stack}`));
  page.on('requestfailed', (request) => messages.push(`not loaded: ${request.url()}`));
  page.on('request', (request) => {
    if (!/^(blob:|data:|http:\/\/127\.0\.0\.1:)/.test(request.url())) messages.push(`asks the network: ${request.url()}`);
  });
  // The devices that the page opens, so that one can be lost.
  await page.addInitScript(() => {
    addEventListener('securitypolicyviolation', (event) => console.error(`${event.blockedURI} against ${event.violatedDirective}`));
    globalThis.devices = [];
    const request = globalThis.GPUAdapter?.prototype.requestDevice;
    if (request) {
      GPUAdapter.prototype.requestDevice = async function (...args) {
        const device = await request.apply(this, args);
        globalThis.devices.push(device);
        return device;
      };
    }
  });
  if (before) await page.addInitScript(before);
  await page.goto(address + hash);
  await page.waitForFunction(() => document.documentElement.dataset.ready === 'true');
  return page;
}

const data = (page, name) => page.evaluate((name) => document.documentElement.dataset[name], name);

/** Waits until the playground has processed the typed text. */
async function settled(page, states = ['done', 'refused']) {
  await page.waitForFunction((states) => states.includes(document.documentElement.dataset.playground), states);
  return data(page, 'playground');
}

/** Does something in the playground, and waits for the outcome. */
async function acts(page, act) {
  await page.evaluate(() => { document.documentElement.dataset.playground = 'asked'; });
  await act();
  return settled(page, ['done', 'refused', 'failed']);
}

const type = (page, fields) => acts(page, () => page.evaluate((fields) => {
  const values = { operands: '', expression: '', rule: 'numpy', axis: '-1', axes: '0', ...fields };
  location.hash = '#' + new URLSearchParams(values);
}, fields));

const text = (page, selector) => page.locator(selector).innerText();

const tests = {
  async 'the device is WebGPU, and the first result is there soon'() {
    const page = await open();
    assert.equal(await data(page, 'device'), 'webgpu', `the device is ${await text(page, '#device')}: ${await text(page, '#notice')}`);
    await settled(page);
    const first = Number(await data(page, 'first'));
    const loaded = await page.evaluate(() => performance.getEntriesByType('navigation')[0].loadEventEnd);
    console.log(`    ${await text(page, '#device')}; first result ${first} ms after the page was asked for, ${(first - loaded).toFixed(0)} after it was loaded`);
    assert.match(await text(page, '#compared'), /same bits/);
    await page.context().close();
  },

  async 'layouts, elements and lines of the kernel'() {
    const page = await open('#' + new URLSearchParams({ operands: 'a = [2, 3, 4]; b = [4]', expression: 'a * 10 + b[::-1]' }));
    await settled(page);
    assert.equal(await text(page, '#verdict'), 'f32 [2, 3, 4]');
    const rows = await page.locator('#layouts tbody tr').allInnerTexts();
    assert.equal(rows.length, 3);
    assert.match(rows[1], /1→2[^]*1→3[^]*\[0, 0, -1\][^]*3/);
    assert.equal(await page.locator('#layouts td.stretched').count(), 2);
    // The keyboard moves in the result's grid.
    await page.locator('#grids [role=gridcell][tabindex="0"]').focus();
    for (const key of ['ArrowRight', 'ArrowRight', 'ArrowDown', 'PageDown']) await page.keyboard.press(key);
    assert.match(await text(page, '#place'), /result\[1, 1, 2\] = 192$/);
    assert.match(await text(page, '#grids'), /element 1 = 3 \+ 2·-1: 2/);
    await page.click('#forth');
    assert.match(await text(page, '#place'), /result\[1, 1, 3\] = 201$/);
    assert.match(page.url(), /element=1%2C1%2C3/);
    // The lines of b are its binding, its load and the step that takes it.
    await page.locator('.chip').nth(1).hover();
    const lit = await page.locator('#wgsl .lit').allInnerTexts();
    assert(lit.some((line) => line.includes('var<storage, read> in1')) && lit.some((line) => /let v\d+ = .*in1\[/.test(line)), lit.join('\n'));
    assert(!lit.some((line) => line.includes('in0[')));
    // The address has the whole state.
    const again = await open(new URL(page.url()).hash);
    await settled(again);
    assert.match(await text(again, '#place'), /result\[1, 1, 3\] = 201$/);
    await again.context().close();
    await page.context().close();
  },

  async 'mistakes are shown where they are, and recovered from'() {
    const page = await open();
    await settled(page);
    const refused = [
      [{ operands: 'a = [2, 3, 4]; b = [2, 3, 6]', expression: 'a + b' }, /axis 2 has lengths 4 and 6 \(numpy rule\) \(column 3\)/],
      [{ operands: 'a = [2, 3]', expression: 'a + ' }, /the end stands where .* \(column 5\)/],
      [{ operands: 'a = [2, 3]', expression: 'a + q' }, /no operand is called q: there are a \(column 5\)/],
      [{ operands: 'a = [2, 3]', expression: 'clamp(a, 1)' }, /clamp takes 3 operands and not 2 \(column 1\)/],
      [{ operands: 'a = [2, 3]; b = i32[3]', expression: 'a + b' }, /f32 and i32: cast one of them/],
      [{ operands: 'a = [2, x]', expression: 'a' }, /'x' stands where a length/],
      [{ operands: 'a = f31[2]', expression: 'a' }, /no element type is called f31/],
      [{ operands: 'a = [1, 3, 1]; b = [3, 1, 7]', expression: 'a + b', rule: 'inplace' }, /a destination keeps its shape/],
      [{ operands: 'a = [99999, 99999]', expression: 'a' }, /more than the 65536 elements/],
      [{ operands: 'a = [2]', expression: '('.repeat(200) }, /more than 60 deep/],
      [{ operands: 'a = [2, 3]; b = [2, 3]', expression: 'matmul(a, b)' }, /3 columns meet 2 rows/],
    ];
    for (const [fields, pattern] of refused) {
      assert.equal(await type(page, fields), 'refused', JSON.stringify(fields));
      assert.match((await text(page, '#mistake')).replace(/\n/g, ' '), pattern);
      if (/axis 2/.test(String(pattern))) assert.equal(await page.locator('#layouts td.clash').count(), 2);
    }
    assert.equal(await type(page, { operands: 'a = [2, 3]; b = [3, 4]', expression: 'matmul(a, b) + 1' }), 'done');
    assert.equal(await text(page, '#verdict'), 'f32 [2, 4]');
    assert.match(await text(page, '#compared'), /same bits/);
    assert.equal(await type(page, { operands: 'a = [2, 3]', expression: 'a + 1' }), 'done');
    assert.equal(await text(page, '#mistake'), '');
    assert.equal(await text(page, '#verdict'), 'f32 [2, 3]');
    // Character by character, as a user types.
    await acts(page, () => page.fill('#expression', 'a +'));
    assert.equal(await page.getAttribute('#expression', 'aria-invalid'), 'true');
    await acts(page, () => page.fill('#expression', 'a + a'));
    assert.equal(await page.getAttribute('#expression', 'aria-invalid'), null);
    await acts(page, () => page.click('#more'));
    await acts(page, () => page.fill('#operand-b', '[3]'));
    await acts(page, () => page.fill('#expression', 'a - b'));
    assert.equal(await text(page, '#verdict'), 'f32 [2, 3]');
    await page.context().close();
  },

  async 'an address may hold any text'() {
    await anyAddress({ open, acts, settled, address, messages });
  },

  async 'the policy refuses scripts of a text, styles and other hosts'() {
    const page = await open();
    await settled(page);
    const outcome = await page.evaluate(async () => {
      const refused = [];
      addEventListener('securitypolicyviolation', (event) => refused.push(event.effectiveDirective));
      const add = (name, properties) => document.body.append(Object.assign(document.createElement(name), properties));
      add('script', { textContent: 'globalThis.executed = "a script"' });
      add('style', { textContent: 'body { display: none }' });
      add('div', { innerHTML: '<img src="none.png" onerror="globalThis.executed = \'a handler\'">' });
      add('iframe', { src: 'icon.svg' });
      // In a task of the page, as the browser lets a debugger run any text.
      setTimeout(() => { try { new Function('globalThis.executed = "a text"')(); } catch { /* as the policy wants it */ } });
      await fetch('http://127.0.0.2:9/').catch(() => {});
      await new Promise((resolve) => { setTimeout(resolve, 500); });
      return { executed: globalThis.executed, refused: [...new Set(refused)].sort(), display: getComputedStyle(document.body).display !== 'none' };
    });
    assert.deepEqual(outcome, {
      executed: undefined, display: true,
      refused: ['connect-src', 'frame-src', 'script-src', 'script-src-attr', 'script-src-elem', 'style-src-elem'],
    });
    // The browser reports each in its console.
    messages.length = 0;
    await page.context().close();
  },

  async 'the examples of the documents end as their systems say'() {
    const page = await open();
    await settled(page);
    const buttons = page.locator('#examples button');
    const count = await buttons.count();
    assert(count > 40, `${count} examples`);
    for (let i = 0; i < count; i++) {
      const button = buttons.nth(i);
      const [refused, result, label] = await button.evaluate((b) => [b.dataset.refused, b.dataset.result, b.getAttribute('aria-label')]);
      const state = await acts(page, () => button.click());
      assert.equal(state, refused === 'true' ? 'refused' : 'done', label);
      if (result) assert.equal(await text(page, '#verdict'), `f32 ${result}`, label);
      if (state === 'done') assert.match(await text(page, '#compared'), /same bits|The result|All 0/, label);
    }
    console.log(`    ${count} examples`);
    await page.context().close();
  },

  async 'every operation, composition, reduction and type has the bits of the CPU path'() {
    const page = await open();
    await settled(page);
    const outcome = await page.evaluate(async () => {
      const { page, table } = globalThis.zerostride;
      const operands = (dtype) => `a = ${dtype}[2, 3, 4]; b = ${dtype}[4]; c = ${dtype}[3, 1]`;
      const wrong = [];
      let count = 0;
      const one = async (dtype, expression) => {
        try {
          const { compared, values } = await page.evaluate(operands(dtype), 'numpy', -1, '', expression, 0);
          count += 1;
          if (!compared || compared.ulp > 0 || values.length === 0) wrong.push(`${expression} of ${dtype}: ${JSON.stringify(compared)}`);
        } catch (error) {
          wrong.push(`${expression} of ${dtype}: ${error.text ?? error.message}`);
        }
      };
      const takes = (plan) => !plan.error;
      for (const { name, arity, kind } of table) {
        const args = ['a', 'b', 'c'].slice(0, arity ?? 1);
        for (const dtype of ['f32', 'i32', 'bool', 'u8']) {
          const expression = kind === 'reduction' ? `${name}(a, 1)` : `${name}(${args.join(', ')})`;
          // The adapter has no types of 64 bits.
          if (['i64', 'u64', 'f64'].includes(name)) continue;
          const plan = page.plan(operands(dtype), 'numpy', -1, '', expression);
          if (takes(plan)) await one(dtype, expression);
          else if (dtype === 'f32' && !/takes no f32|takes bool/.test(plan.error.text)) wrong.push(`${expression}: ${plan.error.text}`);
        }
      }
      for (const sign of ['+', '-', '*', '/', '//', '%', '==', '!=', '<', '<=', '>', '>=']) await one('f32', `a ${sign} b`);
      for (const sign of ['&', '|', '^', '<<', '>>', '+', '-', '*', '//', '%', '**']) await one('i32', `a ${sign} b`);
      for (const expression of ['-a + ~b', 'a.T', 'a[:, ::2, 1:]', 'a[1, -1]', 'a[:, None]', 'index(a, 1)', 'sum(windows(windows(a, 2, 1), 2, 2), -2, -1)', '2 ** a', '-(a)', '(a < b) | (a > c)']) await one('i32', expression);
      for (const expression of ['select(a > b, a, 0)', '(a - mean(a)) / sqrt(var(a) + 1e-5)', 'softmax(a, 2)', 'f16(a) * 2', 'a * -2.5e-1', 'pi', '2 ** 3 ** 2', 'where((a > 3) & (b < 2), b, c)']) await one('f32', expression);
      return { wrong, count };
    });
    console.log(`    ${outcome.count} expressions`);
    assert.deepEqual(outcome.wrong, []);
    assert(outcome.count > 150);
    await page.context().close();
  },

  async 'the picture is that of the CPU path'() {
    const page = await open('#part=picture');
    const moved = { exposure: '0.5', red: '1.2', blue: '0.8', vignette: '0.7', colours: '0.4', normalized: '0.5', sharpness: '1.5' };
    for (const [name, value] of Object.entries(moved)) await page.fill(`#slider-${name}`, value);
    await page.selectOption('#map', 'heat');
    await page.waitForTimeout(800);
    assert.equal(await data(page, 'kernels'), '1 of 1', 'the picture is one kernel');
    const outcome = await page.evaluate(async () => {
      const { seen } = await import('./picture.js');
      const { page } = globalThis.zerostride;
      const canvas = document.getElementById('canvas');
      const { width, height } = canvas;
      const draw = (source) => {
        const context = Object.assign(document.createElement('canvas'), { width, height }).getContext('2d', { willReadFrequently: true });
        context.drawImage(source, 0, 0);
        return context.getImageData(0, 0, width, height).data;
      };
      const own = await new Promise((resolve) => requestAnimationFrame(() => {
        seen().picture.frame();
        resolve(draw(canvas));
      }));
      const photo = await createImageBitmap(await (await fetch('photograph.png')).blob());
      const host = page.picture(width, height, draw(photo), undefined);
      const value = (name) => Number(document.getElementById(`slider-${name}`).value);
      const sliders = ['vignette', 'colours', 'normalized', 'sharpness', 'red', 'green', 'blue'].map(value);
      host.set(new Float32Array([2 ** value('exposure'), ...sliders]));
      host.colours(seen().map);
      const reference = await host.pixels();
      host.free();
      let differ = 0;
      let most = 0;
      for (let i = 0; i < own.length; i++) {
        const apart = Math.abs(own[i] - reference[i]);
        if (apart > 0) differ += 1;
        most = Math.max(most, apart);
      }
      const bright = own.reduce((sum, n) => sum + n, 0) / own.length;
      return { differ, most, count: own.length, bright };
    });
    console.log(`    ${outcome.differ} of ${outcome.count} bytes differ from the CPU path's, by ${outcome.most} at most`);
    assert(outcome.bright > 20 && outcome.bright < 250, `mean of ${outcome.bright}`);
    assert(outcome.differ * 1000 <= outcome.count);
    const { cost, fps, rate, bytes } = await page.evaluate(async () => {
      const { seen } = await import('./picture.js');
      await new Promise((resolve) => setTimeout(resolve, 2000));
      const sorted = seen().costs.sort((a, b) => a - b);
      const figure = (id) => document.getElementById(`figure-${id}`).textContent;
      return { cost: sorted[sorted.length >> 1], fps: figure('fps'), rate: figure('rate'), bytes: figure('moved') };
    });
    console.log(`    a frame takes ${cost.toFixed(2)} ms of JavaScript and wasm; ${fps} frames a second, ${bytes} each, ${rate} a second`);
    assert.match(fps, /^\d/);
    // Another photograph, a file that is no picture, and a camera.
    const png = await page.evaluate(() => new Promise((resolve) => {
      const canvas = Object.assign(document.createElement('canvas'), { width: 33, height: 21 });
      canvas.getContext('2d').fillRect(0, 0, 20, 20);
      canvas.toBlob(async (blob) => resolve([...new Uint8Array(await blob.arrayBuffer())]));
    }));
    await page.setInputFiles('#photo-file', { name: 'own.png', mimeType: 'image/png', buffer: Buffer.from(png) });
    await page.waitForFunction(() => document.getElementById('figure-size').textContent === '32 × 21');
    await page.setInputFiles('#photo-file', { name: 'none.png', mimeType: 'image/png', buffer: Buffer.from('no picture') });
    await page.waitForFunction(() => document.getElementById('picture-error').textContent.includes('cannot read the picture'));
    await page.click('#camera');
    await page.waitForFunction(() => document.getElementById('figure-size').textContent === '640 × 480');
    await page.waitForTimeout(500);
    assert.equal(await text(page, '#picture-error'), '');
    await page.click('#camera');
    await page.click('#reset');
    await page.context().close();
  },

  async 'the benchmark agrees with TensorFlow.js'() {
    const page = await open('#part=speed');
    await page.selectOption('#size', '256');
    await page.click('#measure');
    await page.waitForFunction(() => document.getElementById('speed-status').dataset.done, null, { timeout: 600000 });
    const rows = await page.locator('#speeds tbody tr').evaluateAll((rows) => rows.map((row) => [row.cells[0].textContent, row.dataset.ratio, row.dataset.agree]));
    assert.equal(rows.length, 20);
    const has = await page.evaluate(async () => (await (await fetch('parts.json')).json()).tfjs !== null);
    if (has) {
      for (const [name, ratio, agree] of rows) assert(ratio > 0 && agree !== '' && agree < 1e-3, `${name}: ${agree}`);
      console.log(`    ${await text(page, '#speed-status')}`);
    }
    assert.equal(await page.locator('.bars rect.own').count(), 21);
    await page.context().close();
  },

  async 'WebGPU and the CPU path have one hash, and stay in lockstep'() {
    const page = await open('#part=bits');
    await page.waitForFunction(() => document.getElementById('bits-status')?.dataset.done, null, { timeout: 600000 });
    const rows = await page.locator('#hashes tbody tr').evaluateAll((rows) => rows.map((row) => [...row.cells].map((cell) => cell.dataset.hash)));
    assert.equal(rows.length, 10);
    for (const [, gpu, cpu] of rows) assert(gpu === cpu && /^[0-9a-f]{64}$/.test(gpu), `${gpu} and ${cpu}`);
    const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
    assert(readme.includes(rows.at(-1)[1]), `the README does not name ${rows.at(-1)[1]}`);
    console.log(`    plain WGSL: ${await text(page, '#plain-about')}`);
    for (const demo of ['lockstep', 'chaos']) {
      await page.click(`#${demo}-run`);
      await page.waitForFunction((id) => document.getElementById(id).dataset.done, `${demo}-status`, { timeout: 600000 });
      console.log(`    ${demo}: ${await text(page, `#${demo}-status`)}`);
      assert.equal(await page.getAttribute(`#${demo}-status`, 'data-done'), 'true');
    }
    await page.screenshot({ path: join(screenshots, 'demonstrations.png'), fullPage: true });
    await page.context().close();
  },

  async 'a lost device is told, and one press opens another'() {
    for (const [hash, wait] of [['', () => document.documentElement.dataset.playground === 'done'], ['#part=picture', () => document.documentElement.dataset.kernels]]) {
      const page = await open(hash);
      await page.waitForFunction(wait);
      await page.evaluate(() => devices.at(-1).destroy());
      await page.waitForFunction(() => document.documentElement.dataset.device === 'lost');
      assert.match(await text(page, '#notice'), /was lost/);
      await page.evaluate(() => { document.documentElement.dataset.playground = ''; delete document.documentElement.dataset.kernels; });
      await page.click('#reopen');
      await page.waitForFunction(() => document.documentElement.dataset.device === 'webgpu');
      await page.waitForFunction(wait);
      assert(await page.locator('#notice').isHidden());
      await page.context().close();
    }
  },

  async 'without WebGPU the CPU path does it, and is named'() {
    const page = await open('', { before: () => delete Navigator.prototype.gpu });
    assert.equal(await data(page, 'device'), 'cpu');
    assert.match(await text(page, '#notice'), /no WebGPU.*CPU path/);
    await settled(page);
    assert.match(await text(page, '#compared'), /Only the CPU path/);
    await page.click('#tab-picture');
    await page.waitForFunction(() => document.getElementById('canvas')?.getContext('2d', { willReadFrequently: true })?.getImageData(50, 50, 1, 1).data[3] === 255);
    await page.click('#tab-speed');
    await page.click('#measure');
    await page.waitForFunction(() => /no WebGPU/.test(document.getElementById('speed-status').textContent));
    await page.context().close();
  },

  async 'memory stays flat over evaluations and over devices'() {
    const page = await open();
    await settled(page);
    const session = await page.context().newCDPSession(page);
    const heap = async () => {
      await session.send('HeapProfiler.collectGarbage');
      return page.evaluate(() => [performance.memory.usedJSHeapSize, zerostride.device.memory().module, zerostride.device.memory().used + zerostride.device.memory().idle]);
    };
    const rounds = full ? 10000 : 500;
    const evaluate = (times) => page.evaluate(async (times) => {
      for (let i = 0; i < times; i++) await zerostride.page.evaluate('a = [2, 3, 4]; b = [4]; c = [3, 1]', 'numpy', -1, '', '(a - b) / c * 2', 0);
    }, times);
    await evaluate(rounds / 5);
    const before = await heap();
    await evaluate(rounds);
    const after = await heap();
    const mb = (n) => `${(n / 1e6).toFixed(2)} MB`;
    console.log(`    ${rounds} evaluations: heap ${mb(before[0])} to ${mb(after[0])}, wasm ${mb(before[1])} to ${mb(after[1])}, device ${mb(before[2])} to ${mb(after[2])}`);
    assert(after[0] - before[0] < 1.5e6 && after[1] - before[1] <= 65536 * 4 && after[2] <= before[2] * 1.5 + 65536);
    const times = full ? 100 : 15;
    const reopen = (times) => page.evaluate(async (times) => {
      for (let i = 0; i < times; i++) {
        if (!(await zerostride.reopen()).isGPU) throw new Error('no WebGPU');
        await zerostride.page.evaluate('a = [4]', 'numpy', -1, '', 'a + 1', 0);
        devices.length = 0;
      }
    }, times);
    await reopen(5);
    const first = await heap();
    await reopen(times);
    const last = await heap();
    console.log(`    ${times} devices: heap ${mb(first[0])} to ${mb(last[0])}, wasm ${mb(first[1])} to ${mb(last[1])}`);
    assert(last[0] - first[0] < 1.5e6 && last[1] - first[1] <= 65536 * 8);
    await page.context().close();
  },

  async 'it fits narrow and wide, light and dark, and screen readers'() {
    for (const part of ['playground', 'picture', 'speed', 'bits']) {
      // One part names the adapter. The others would compile for it.
      const named = part === 'playground';
      const page = await open(named ? '' : `#part=${part}`, named ? {} : { before: () => delete Navigator.prototype.gpu });
      if (named) await settled(page);
      else await page.waitForTimeout(part === 'picture' ? 1500 : 200);
      for (const width of [360, 1600]) {
        await page.setViewportSize({ width, height: 1000 });
        for (const colorScheme of ['light', 'dark']) {
          await page.emulateMedia({ colorScheme });
          const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
          assert(over <= 0, `${part} is ${over} pixels too wide at ${width}`);
          // Every control has a name.
          const nameless = await page.evaluate(() => [...document.querySelectorAll('button, input, select, [role=img], [role=grid]')]
            .filter((e) => e.checkVisibility() && !(e.ariaLabel || e.labels?.length || e.textContent.trim())).map((e) => e.outerHTML.slice(0, 120)));
          assert.deepEqual(nameless, []);
          await page.screenshot({ path: join(screenshots, `${part}-${width}-${colorScheme}.png`), fullPage: true });
        }
      }
      await page.context().close();
    }
    // The keyboard moves through the tabs.
    const page = await open();
    await page.locator('#tab-playground').focus();
    await page.keyboard.press('ArrowRight');
    await page.locator('#develop').waitFor();
    await page.context().close();
  },
};

const failed = await run(tests, messages);
await browser.close();
server.close();
console.log(failed ? `${failed} failed` : `all passed; screenshots in ${screenshots}`);
process.exit(failed ? 1 : 0);
