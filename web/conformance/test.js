// The checks and the conformance tool in Chromium: node test.js SITE [QUERY]. Cases are dealt to as many browsers as there
// are processors, but two at most, as each compiles kernels on one thread.
import { availableParallelism } from 'node:os';
import { serve } from '../serve.js';
import { launch } from '../tests/browser.js';

const [site, query = ''] = process.argv.slice(2);
const { address, server } = await serve(site);
const parts = Math.min(2, availableParallelism());
let wrong = 0, right = 0;
const counts = new Map();

async function run(part) {
  const url = new URL(`${address}${query}`);
  url.searchParams.set('part', `${part}/${parts}`);
  // Once is enough.
  if (part > 0) url.searchParams.set('checks', '');
  const browser = await launch();
  const page = await browser.newPage();
  let ended;
  const end = new Promise((resolve) => { ended = resolve; });
  page.on('console', (message) => {
    const line = message.text();
    // What is asked for on purpose to see it refused is reported by the browser too.
    if (message.type() !== 'log') return;
    console.log(line);
    if (line.startsWith('WRONG')) wrong += 1;
    if (line.startsWith('right') || / [1-9]\d* passed/.test(line)) right += 1;
    const [, device, ...own] = line.match(/^(\w+): (\d+) passed, (\d+) failed, (\d+) skipped$/) ?? [];
    if (device) counts.set(device, own.map((count, i) => Number(count) + (counts.get(device)?.[i] ?? 0)));
    if (line === 'end') ended();
  });
  page.on('pageerror', (error) => { console.log(`WRONG ${error.message}`); wrong += 1; ended(); });
  page.on('crash', () => { console.log('WRONG the page is gone'); wrong += 1; ended(); });
  await page.goto(url.href);
  await end;
  await browser.close();
}

await Promise.all(Array.from({ length: parts }, (_, part) => run(part)));
for (const [device, [passed, failed, skipped]] of counts) {
  console.log(`${device} in all: ${passed} passed, ${failed} failed, ${skipped} skipped`);
}
server.close();
process.exit(wrong > 0 || right === 0 ? 1 : 0);
