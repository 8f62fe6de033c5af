// Chromium without a window, with WebGPU on SwiftShader. The same Vulkan must draw the rest of the page: else Chromium loses
// the device when it shows a canvas.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

const require = createRequire(join(process.env.ZEROSTRIDE_PACKAGES, 'package.json'));
const { chromium } = require('playwright-core');

const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** The browser to test. CHROMIUM names one. */
export const executable = () => process.env.CHROMIUM ?? PLACES.find((place) => existsSync(place));

export function launch(more = []) {
  return chromium.launch({
    executablePath: executable(),
    headless: true,
    args: [
      '--no-sandbox', '--enable-unsafe-webgpu', '--use-webgpu-adapter=swiftshader',
      '--enable-features=Vulkan', '--use-vulkan=swiftshader', '--use-angle=swiftshader', '--disable-background-networking',
      '--disable-component-update', '--disable-sync', '--no-first-run', '--enable-precise-memory-info',
      '--js-flags=--expose-gc', ...more,
    ],
  });
}

/**
 * Runs tests, each with a name, one after another. A test also fails if pages left messages. Returns how many failed.
 * ZEROSTRIDE_WEB_ONLY is a part of the names of those to run.
 */
export async function run(tests, messages) {
  let failed = 0;
  for (const [name, test] of Object.entries(tests)) {
    if (!name.includes(process.env.ZEROSTRIDE_WEB_ONLY ?? '')) continue;
    messages.length = 0;
    const begin = performance.now();
    try {
      await test();
      assert.deepEqual(messages, [], 'the console stays empty');
      console.log(`ok   ${name} (${((performance.now() - begin) / 1000).toFixed(1)} s)`);
    } catch (error) {
      failed += 1;
      console.log(`FAIL ${name}\n${error.stack}\n${messages.join('\n')}`);
    }
  }
  return failed;
}
