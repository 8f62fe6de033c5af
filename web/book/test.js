// Every page of the site in a real Chromium: node test.js SITE SCREENSHOTS
//
// ZEROSTRIDE_WEB=full opens all pages and waits for all recipes, else for two. Every recipe is compared, of a small photograph.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { serve } from '../serve.js';
import { launch, run } from '../tests/browser.js';
import { RECIPES } from './pages.js';

const [site, screenshots] = process.argv.slice(2);
const full = process.env.ZEROSTRIDE_WEB === 'full';
mkdirSync(screenshots, { recursive: true });
const all = readdirSync(site, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && entry.name.endsWith('.html')).map((entry) => relative(site, join(entry.parentPath, entry.name)));

const { address, server } = await serve(site);
const browser = await launch();
const messages = [];

async function open(path, { gpu = true } = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
  context.setDefaultTimeout(180000);
  const page = await context.newPage();
  page.on('console', (message) => { if (['error', 'warning'].includes(message.type())) messages.push(`${path}: ${message.text()}`); });
  page.on('pageerror', (error) => messages.push(`${path}: ${error.stack}`));
  page.on('requestfailed', (request) => messages.push(`${path}: not loaded: ${request.url()}`));
  page.on('request', (request) => {
    if (!request.url().startsWith(address) && !/^(blob|data):/.test(request.url())) messages.push(`${path} asks ${request.url()}`);
  });
  if (!gpu) await page.addInitScript(() => delete Navigator.prototype.gpu);
  await page.goto(address + path);
  return page;
}

const tests = {
  async 'links and anchors lead somewhere'() {
    const wrong = [];
    for (const path of all) {
      const text = readFileSync(join(site, path), 'utf8');
      for (const [, href] of text.matchAll(/(?:href|src)="([^"]*)"/g)) {
        if (/^(https?:|data:)/.test(href)) continue;
        const [file, anchor] = href.replaceAll('&amp;', '&').split('#');
        const target = file ? join(site, dirname(path), file) : join(site, path);
        if (!existsSync(target)) wrong.push(`${path}: ${href}`);
        else if (anchor && target.endsWith('.html') && !readFileSync(target, 'utf8').includes(`id="${anchor}"`)) wrong.push(`${path}: ${href}`);
      }
    }
    assert.deepEqual(wrong, []);
    assert(all.length > 40, `${all.length} pages`);
  },

  async 'every page fits narrow and wide, light and dark, without an error'() {
    for (const [i, path] of all.entries()) {
      if (path.startsWith('playground')) continue; // its own test has it
      if (!full && i % 10 && path.includes('/')) continue;
      const page = await open(path, { gpu: false });
      if (['index.html', 'cookbook.html'].includes(path)) await page.waitForFunction(() => document.documentElement.dataset.ready);
      for (const width of [390, 1280]) {
        for (const colorScheme of ['light', 'dark']) {
          await page.setViewportSize({ width, height: 900 });
          await page.emulateMedia({ colorScheme });
          const { over, closed } = await page.evaluate(() => ({
            over: document.documentElement.scrollWidth - innerWidth,
            // What scrolls takes the keyboard, and what is pressed has a name.
            closed: [...document.querySelectorAll('main *')].filter((own) => own.checkVisibility()
              && ((['auto', 'scroll'].includes(getComputedStyle(own).overflowX) && own.tabIndex < 0)
                || (own.matches('a, button') && !own.ariaLabel && !own.textContent.trim()))).map((own) => own.outerHTML.slice(0, 80)),
          }));
          assert(over <= 0, `${path} is ${over} pixels too wide at ${width}`);
          assert.deepEqual(closed, [], path);
          if (['index.html', 'gallery.html', 'cookbook.html', 'docs/guide/browser.html', 'docs/operations.html'].includes(path)) {
            await page.screenshot({ path: join(screenshots, `site-${path.replaceAll('/', '-')}-${width}-${colorScheme}.png`), fullPage: width === 1280 });
          }
        }
      }
      await page.context().close();
    }
  },

  async 'the keyboard alone goes from the first page to a guide'() {
    const page = await open('index.html');
    const focused = () => page.evaluate(() => document.activeElement.textContent.trim());
    await page.keyboard.press('Tab');
    assert.equal(await focused(), 'To the content');
    for (let i = 0; i < 12 && await focused() !== 'Guide'; i++) await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.waitForURL(/tour\.html$/);
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    assert.equal(await page.evaluate(() => document.activeElement.id), 'main');
    for (let i = 0; i < 60 && await page.evaluate(() => document.activeElement.closest('article') === null); i++) await page.keyboard.press('Tab');
    assert(await page.evaluate(() => document.activeElement.closest('article') !== null), 'no link of the text takes the focus');
    await page.context().close();
  },

  async 'the first page shows the same bits'() {
    for (const gpu of [true, false]) {
      const page = await open('index.html', { gpu });
      await page.waitForFunction(() => document.getElementById('bits-status')?.dataset.done);
      assert.equal(await page.locator('#bits-status').innerText(), 'All hashes are the same.');
      assert.match(await page.locator('#device').innerText(), gpu ? /^WebGPU/ : /^CPU path, as there is no WebGPU here/);
      if (gpu) await page.screenshot({ path: join(screenshots, 'site-first.png') });
      await page.context().close();
    }
  },

  async 'each recipe draws, with the same bits on WebGPU and on the CPU path'() {
    const page = await open('cookbook.html');
    for (const { name } of full ? RECIPES : RECIPES.slice(0, 2)) {
      await page.locator(`#${name}`).scrollIntoViewIfNeeded();
      await page.waitForFunction((name) => document.getElementById(name).dataset.done, name);
      const told = await page.locator(`#${name} .told`).innerText();
      console.log(`    ${name}: ${told}`);
      assert.match(told, /^\d+ x \d+.* ms/);
    }
    await page.screenshot({ path: join(screenshots, 'site-recipes.png'), fullPage: true });
    const compared = await page.evaluate(async (names) => {
      const zs = await import('./playground/zerostride/index.js');
      const bytes = {};
      for (const device of ['webgpu', 'cpu']) {
        const { name } = await zs.open({ device, math: 'total' });
        const image = await createImageBitmap(await (await fetch('playground/photograph.png')).blob(), { resizeWidth: 64, resizeHeight: 48 });
        const photo = zs.fromImage(image);
        for (const recipe of names) {
          const { default: picture } = await import(`./cookbook/${recipe}.js`);
          const data = await picture(zs, photo).data();
          (bytes[recipe] ??= []).push(new Uint8Array(data.buffer, data.byteOffset, data.byteLength), name);
        }
      }
      return names.map((recipe) => {
        const [gpu, , cpu] = bytes[recipe];
        const distinct = new Set(gpu).size;
        return { recipe, same: gpu.length === cpu.length && gpu.every((byte, i) => byte === cpu[i]), distinct };
      });
    }, RECIPES.map(({ name }) => name));
    for (const { recipe, same, distinct } of compared) assert(same && distinct > 3, `${recipe}: ${same ? 'the picture is empty' : 'bits differ'}`);
    await page.context().close();
  },
};

const failed = await run(tests, messages);
await browser.close();
server.close();
process.exit(failed ? 1 : 0);
