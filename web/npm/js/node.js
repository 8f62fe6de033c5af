// The package for Node.js, which reads the module from a file.
import { readFile } from 'node:fs/promises';
import { open as openHere } from './index.js';

export * from './index.js';

export async function open(options = {}) {
  const module = options.module ?? await readFile(new URL('./core_bg.wasm', import.meta.url));
  return openHere({ ...options, module });
}
