// The package in a real Chromium, on pages of a few lines: node test.js PACKAGE
//
// ZEROSTRIDE_WEB=full takes more random expressions.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { copyFileSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { serve } from '../../serve.js';
import { launch, run } from '../../tests/browser.js';
import { hashes } from './programs.js';

const own = resolve(process.argv[2]);
const here = new URL('.', import.meta.url).pathname;
const tool = (name) => join(process.env.ZEROSTRIDE_PACKAGES, 'node_modules', '.bin', name);

// A folder as a user has it: the package among its packages, and pages.
const folder = mkdtempSync(join(tmpdir(), 'package-'));
const installed = join(folder, 'node_modules', 'zerostride');
mkdirSync(join(folder, 'node_modules'));
cpSync(own, installed, { recursive: true });
for (const name of ['ten.js', 'strict.ts', 'programs.js']) copyFileSync(join(here, name), join(folder, name));
copyFileSync(join(here, '../../../examples/data/astronaut.png'), join(folder, 'photograph.png'));
writeFileSync(join(folder, 'package.json'), '{"type": "module"}');

const map = '<script type="importmap">{"imports": {"zerostride": "/node_modules/zerostride/index.js"}}</script>';
const page = (name, body) => writeFileSync(join(folder, name), `<!doctype html><meta charset="utf-8"><title>page</title><link rel="icon" href="data:,"><body>${body}`);
page('blank.html', map);
page('ten.html', `${map}<script type="module" src="ten.js"></script>`);
page('bundled.html', '<script type="module" src="bundled.js"></script>');
page('loaded.html', '<script type="module" src="loaded.js"></script>');
page('plain.html', `<script src="node_modules/zerostride/global.js"></script><script>
  zs.open().then(async (device) => {
    document.body.append(device.isGPU, ' ', await zs.arange(4).mul(zs.array([[1], [2]])).sum().item());
    document.title = 'done';
  });</script>`);

const { address, server } = await serve(folder);
const browser = await launch();
const messages = [];

async function open(name, { gpu = true } = {}) {
  const context = await browser.newContext({ viewport: { width: 390, height: 400 } });
  context.setDefaultTimeout(120000);
  const opened = await context.newPage();
  opened.on('console', (message) => { if (['error', 'warning', 'assert'].includes(message.type())) messages.push(message.text()); });
  opened.on('pageerror', (error) => messages.push(error.stack));
  if (!gpu) await opened.addInitScript(() => delete Navigator.prototype.gpu);
  await opened.goto(address + name);
  return opened;
}

/** The text of a page, once it is done. */
async function done(name, options) {
  const opened = await open(name, options);
  await opened.waitForFunction(() => document.title === 'done');
  const text = (await opened.locator('body').innerText()).trim();
  await opened.context().close();
  return text;
}

/** Runs a function in a blank page that has opened a device as `zs`. */
async function inPage(run, argument) {
  const opened = await open('blank.html');
  await opened.evaluate(async () => {
    globalThis.zs = await import('zerostride');
    globalThis.device = await zs.open({ device: 'webgpu' });
  });
  const result = await opened.evaluate(run, argument);
  await opened.context().close();
  return result;
}

const tests = {
  async 'ten lines on a blank page run on WebGPU and without it'() {
    const text = /^(WebGPU|CPU) (3,2,3) ([\d.e,-]+)$/;
    const [, on, shape, sums] = text.exec(await done('ten.html'));
    assert.equal(on, 'WebGPU');
    assert.deepEqual(text.exec(await done('ten.html', { gpu: false })).slice(1), ['CPU', shape, sums]);
    assert(Math.abs(sums.split(',').reduce((sum, n) => sum + Number(n), 0) - 6) < 1e-5, sums);
  },

  async 'a script tag and a bundler load it'() {
    assert.equal(await done('plain.html'), 'true 18');
    assert.equal(await done('plain.html', { gpu: false }), 'false 18');
    // The module beside the bundle, where the package looks for it.
    const line = ['ten.js', '--bundle', '--minify', '--format=esm', '--log-level=warning', '--outfile=bundled.js'];
    execFileSync(tool('esbuild'), line, { cwd: folder, stdio: 'inherit' });
    copyFileSync(join(installed, 'core_bg.wasm'), join(folder, 'core_bg.wasm'));
    assert.match(await done('bundled.html'), /^WebGPU 3,2,3/);
    // The module as a file of the bundler's.
    const loads = "import module from 'zerostride/core_bg.wasm'; import * as zs from 'zerostride'; await zs.open({ module }); document.title = 'done';";
    writeFileSync(join(folder, 'loads.js'), loads);
    execFileSync(tool('esbuild'), ['loads.js', '--bundle', '--format=esm', '--loader:.wasm=file', '--log-level=warning', '--outfile=loaded.js'], { cwd: folder, stdio: 'inherit' });
    rmSync(join(folder, 'core_bg.wasm'));
    await done('loaded.html');
    console.log(`    the script has ${readFileSync(join(folder, 'bundled.js')).length} bytes bundled`);
  },

  async 'the snippets of the guide run'() {
    const guide = readFileSync(new URL('../../../docs/guide/browser.md', import.meta.url), 'utf8');
    const snippets = [...guide.matchAll(/```js\n([^]*?)```/g)];
    assert(snippets.length >= 4);
    for (const [i, [, snippet]] of snippets.entries()) {
      writeFileSync(join(folder, `snippet${i}.js`), `${snippet}\ndocument.title = 'done';`);
      page(`snippet${i}.html`, `${map}<img src="photograph.png" alt=""><canvas></canvas><script type="module" src="snippet${i}.js"></script>`);
      await done(`snippet${i}.html`);
    }
  },

  async 'the types are strict, and made from the op table'() {
    const flags = ['--noEmit', '--strict', '--target', 'esnext', '--module', 'nodenext', '--lib', 'esnext,dom', 'strict.ts'];
    execFileSync(tool('tsc'), flags, { cwd: folder, stdio: 'inherit' });
    const types = readFileSync(join(installed, 'index.d.ts'), 'utf8');
    const { table } = await import(pathToFileURL(join(installed, 'core.js')));
    const zs = await import(pathToFileURL(join(installed, 'node.js')));
    await zs.open();
    const rows = table();
    for (const { name } of rows) {
      const camel = name.replace(/_(\w)/g, (_, letter) => letter.toUpperCase());
      assert(typeof zs[camel] === 'function' && typeof zs.Tensor.prototype[camel] === 'function', name);
      assert(new RegExp(`^  ${camel}\\(`, 'm').test(types), name);
    }
    assert(rows.length > 120);
  },

  async 'random expressions have the same bits on WebGPU, on the CPU path and in Node.js'() {
    // Each compiles a kernel or two.
    const count = process.env.ZEROSTRIDE_WEB === 'full' ? 60 : 12;
    const [gpu, cpu] = await inPage(async (count) => {
      const { hashes } = await import('/programs.js');
      return [await hashes(zs, device, count), await hashes(zs, await zs.open({ device: 'cpu' }), count)];
    }, count);
    const zs = await import(pathToFileURL(join(installed, 'node.js')));
    assert.deepEqual(gpu, cpu);
    assert.deepEqual(cpu, await hashes(zs, await zs.open(), count));
    assert(new Set(cpu).size > count * 0.8, `${new Set(cpu).size} different results`);
  },

  async 'errors are exceptions with the text of the crate'() {
    const texts = await inPage(async () => {
      const x = zs.zeros([2, 3]);
      const kept = zs.zeros([2]);
      kept.dispose();
      const wrong = [
        () => x.add(zs.ones([4])), () => x.matmul(x), () => x.sum(2), () => x.and(x), () => zs.exp(1), () => x.cast('f31'),
        () => zs.array([[1], [2, 3]]), () => zs.array('text'), () => kept.add(1), () => x.add(null), () => zs.add(x),
        () => zs.repeat(2, [x], () => { throw new RangeError('of the page'); }),
        () => zs.array(new Uint8Array(3), [2]),
      ];
      return wrong.map((run) => {
        try {
          return `no error: ${run()}`;
        } catch (error) {
          return `${error.name} ${error.kind}: ${error.message}`;
        }
      });
    });
    assert.deepEqual(texts, [
      'ZerostrideError Shape: cannot broadcast [2, 3] with [4]: axis 1 has lengths 3 and 4 (numpy rule)',
      'ZerostrideError Shape: matmul of [2, 3] and [2, 3]: 3 columns meet 2 rows',
      'ZerostrideError Axis: axis 2 of [2, 3] is out of range: axes go from -2 to 1',
      'ZerostrideError Operation: and takes no f32: cast the operands',
      'ZerostrideError Type: exp of numbers alone: it takes a tensor at least',
      "ZerostrideError Type: no element type is called 'f31': they are f32, f16, bf16, f64, i8, u8, i16, u16, i32, u32, i64, u64, bool",
      'ZerostrideError Data: an array of 2 beside one of 1: arrays of one depth have one length',
      'ZerostrideError Type: array of String: it takes typed arrays, arrays, numbers and ImageData',
      'ZerostrideError Type: a tensor that was disposed of: make it again, or dispose of it later',
      'ZerostrideError Type: add of null: it takes tensors, numbers, and arrays beside a tensor',
      'ZerostrideError Type: add takes 2 operands and not 1',
      'RangeError undefined: of the page',
      'ZerostrideError Data: upload of 3 bytes as u8 [2], which has 2: data and shape must agree',
    ]);
  },

  async 'pictures and buffers come and go without the host'() {
    const { shown, plain, back, own } = await inPage(async () => {
      const picture = new ImageData(3, 2);
      picture.data.set(Array.from({ length: 24 }, (_, i) => (i % 4 === 3 ? 255 : i * 10)));
      const inverted = zs.fromImage(picture).slice(2, 0, 3).cast('f32').div(-255).add(1);
      const seen = async (context) => {
        const canvas = new OffscreenCanvas(1, 1);
        if (context) canvas.getContext('2d');
        const shown = inverted.toCanvas(canvas);
        await shown;
        const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext('2d');
        copy.drawImage(canvas, 0, 0);
        return [...copy.getImageData(0, 0, canvas.width, canvas.height).data];
      };
      const buffer = device.gpu.createBuffer({ size: 16, usage: GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST });
      device.gpu.queue.writeBuffer(buffer, 0, new Float32Array([1, 2, 3, 4]));
      const lent = zs.fromBuffer(buffer, { shape: [2, 2] }).T.mul(2).buffer();
      const target = device.gpu.createBuffer({ size: 16, usage: GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST });
      const encoder = device.gpu.createCommandEncoder();
      encoder.copyBufferToBuffer(lent.buffer, lent.offset, target, 0, 16);
      device.gpu.queue.submit([encoder.finish()]);
      await target.mapAsync(GPUMapMode.READ);
      return { shown: await seen(false), plain: await seen(true), back: [...new Float32Array(target.getMappedRange())], own: lent.size };
    });
    assert.deepEqual(back, [2, 6, 4, 8]);
    assert.equal(own, 16);
    assert.deepEqual(plain, Array.from({ length: 24 }, (_, i) => (i % 4 === 3 ? 255 : 255 - i * 10)));
    assert.deepEqual(shown, plain);
  },

  async '1000 arrays that are made and dropped leave memory flat'() {
    for (const way of ['dispose', 'finalizer']) {
      const { before, after } = await inPage(async (way) => {
        const rounds = async (count) => {
          for (let i = 0; i < count; i++) {
            const x = zs.array(new Float32Array(1 << 14));
            const y = x.add(1).eval();
            if (i % 50 === 0) await y.sum().item();
            if (way === 'dispose') [x, y].forEach((own) => own.dispose());
            else if (i % 50 === 0) {
              gc();
              await new Promise((resolve) => setTimeout(resolve, 5));
            }
          }
          gc();
          await new Promise((resolve) => setTimeout(resolve, 100));
          gc();
          await device.synchronize();
          const { used, idle, module } = device.memory();
          return { heap: performance.memory.usedJSHeapSize, module, used, idle };
        };
        return { before: await rounds(1000), after: await rounds(1000) };
      }, way);
      console.log(`    by ${way}: ${JSON.stringify(before)} to ${JSON.stringify(after)}`);
      assert(after.heap - before.heap < 1e6 && after.module - before.module <= 4 * 65536, way);
      assert(after.used <= before.used + 4 * 65536 && after.idle <= before.idle * 1.5 + 65536, way);
    }
  },
};

const failed = await run(tests, messages);
await browser.close();
server.close();
rmSync(folder, { recursive: true });
process.exit(failed ? 1 : 0);
