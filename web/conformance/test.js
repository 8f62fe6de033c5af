// The checks and the conformance tool in Chromium: node test.js SITE [QUERY]
import { serve } from '../serve.js';
import { launch } from '../tests/browser.js';

const [site, query = ''] = process.argv.slice(2);
const { address, server } = await serve(site);
const browser = await launch();
const page = await browser.newPage();
let wrong = 0, right = 0, ended;
const end = new Promise((resolve) => { ended = resolve; });
page.on('console', (message) => {
  const line = message.text();
  // What is asked for on purpose to see it refused is reported by the browser too.
  if (message.type() !== 'log') return;
  console.log(line);
  if (line.startsWith('WRONG')) wrong += 1;
  if (line.startsWith('right') || / [1-9]\d* passed/.test(line)) right += 1;
  if (line === 'end') ended();
});
page.on('pageerror', (error) => { console.log(`WRONG ${error.message}`); wrong += 1; });
page.on('crash', () => { console.log('WRONG the page is gone'); wrong += 1; ended(); });
await page.goto(`${address}${query}`);
await end;
await browser.close();
server.close();
process.exit(wrong > 0 || right === 0 ? 1 : 0);
