// Chromium without a window, with WebGPU on SwiftShader. The same Vulkan must draw the rest of the page: else Chromium loses
// the device when it shows a canvas.
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
