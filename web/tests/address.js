// Addresses that nobody's page wrote: whatever stands behind # or ?, the page stays whole and its console empty.
import assert from 'node:assert/strict';

/** Names that every object of JavaScript has, numbers at the ends, texts that look like a page, and long texts. */
const TEXTS = [
  'toString', '__proto__', 'constructor', 'hasOwnProperty', 'valueOf', '', ' ', 'NaN', '-0', '1e999', '-1e999', '4294967296',
  '9007199254740993', '-2147483648', '0x10', 'null', 'undefined', '\0', '\ud800', '<script>alert(1)</script>', '"><img src=x onerror=alert(1)>',
  'javascript:alert(1)', '../../etc/passwd', '#', '%', ';', '=', ',', 'é'.repeat(300), 'x'.repeat(1900), 'x'.repeat(100000),
];
const NAMES = ['part', 'operands', 'expression', 'rule', 'axis', 'axes', 'element', 'map', 'exposure', 'sharpness', 'toString', '__proto__'];

/** Fragments as they are. */
const FRAGMENTS = ['#', '##', '#%', '#%ff', '#%00', '#&&&', '#=', '#===', '#part', '#part=', '#part=toString&part=speed', '#a[b]=1', `#${'&'.repeat(5000)}`];

/** Typed texts that are large, deep, or at the ends of a number. */
const a = 'a = [2, 3]';
const TYPED = [
  { operands: ';'.repeat(1500) }, { operands: '=;'.repeat(900) }, { operands: 'a=[1];'.repeat(300) }, { operands: 'a,b = [1]' },
  { operands: 'a = [1]; b = [1]', expression: 'a + b' }, { operands: 'rows = [2, x]' }, { operands: 'a = [4294967298]' },
  { operands: 'a = [0, 9999999999999999999]' }, { operands: 'a = [0, 4294967295, 4294967295]' }, { operands: `a = [${'1,'.repeat(400)}1]` },
  { operands: 'a = [65536]', expression: 'sum(outer(a, a))' }, { operands: 'a = [65536]', expression: 'sum(outer(outer(a, a), outer(a, a)))' },
  { operands: a, expression: 'a[4294967296]' }, { operands: a, expression: 'a[2147483647]' }, { operands: a, expression: 'a[-9223372036854775808]' },
  { operands: a, expression: 'a[::4294967296]' }, { operands: a, expression: 'a[::-9223372036854775808]' }, { operands: a, expression: 'a[::0]' },
  { operands: a, expression: 'sum(a, 4294967296)' }, { operands: a, expression: 'sum(a, 9223372036854775807)' }, { operands: a, expression: 'index(a, 2147483647)' },
  { operands: a, expression: 'windows(a, 9223372036854775807, 0)' }, { operands: a, expression: 'windows(a, 0, 0)' },
  { operands: a, expression: 'a / 0 + 1e999 - nan' }, { operands: a, expression: `a${' + a'.repeat(240)}` }, { operands: a, expression: `a${'.T'.repeat(490)}` },
  { operands: a, expression: `a${'[::-1]'.repeat(160)}` }, { operands: a, expression: `a[${'None,'.repeat(190)}None]` }, { operands: a, expression: '-'.repeat(990) },
  { operands: a, expression: '['.repeat(990) }, { operands: a, expression: `${'sin('.repeat(58)}a${')'.repeat(58)}` }, { operands: a, expression: '2 ** '.repeat(190) + 'a' },
  { operands: 'a = [2, 3]; b = [4]', expression: 'a + b', rule: 'pdpd', axis: '2147483647' },
  { operands: 'a = [2, 3]; b = [4]', expression: 'a + b', rule: 'paddle', axis: '2147483647' },
  { operands: 'a = [2, 3]; b = [4]', expression: 'b + a', rule: 'paddle', axis: '2147483646' },
  { operands: 'a = [2, 3]; b = [4]', expression: 'a + b', rule: 'explicit', axes: '4294967295' },
  { operands: 'a = [2, 3]; b = [4, 5]', expression: 'a + b', rule: 'explicit', axes: '1000000000, 2000000000' },
  { operands: a, expression: 'a', element: '4294967295,0' }, { operands: a, expression: 'a', element: '1e3,-1' }, { operands: a, expression: 'a', element: '1,,2' },
];

const typed = (values) => `#${new URLSearchParams(values)}`;
const PARTS = ['playground', 'picture', 'speed', 'bits'];

/** Checks that one part is shown, in its whole, and that the module computes. */
async function whole(page, hash) {
  const found = await page.evaluate(async (parts) => {
    const shown = parts.filter((part) => !document.getElementById(part).hidden);
    const { values } = await zerostride.page.evaluate('a = [3]', 'numpy', -1, '', 'a * 2', 0);
    return { shown, selected: parts.filter((part) => document.getElementById(`tab-${part}`).ariaSelected === 'true'), values: [...values], hidden: document.getElementById('main').hidden };
  }, PARTS);
  const part = new URLSearchParams(hash.slice(1)).get('part');
  const own = [PARTS.includes(part) ? part : 'playground'];
  assert.deepEqual(found, { shown: own, selected: own, values: [2, 4, 6], hidden: false }, hash.slice(0, 200));
}

export async function anyAddress({ open, acts, settled, address, messages }) {
  // What a text means is asked without WebGPU, which takes its time to compile.
  let page = await open('', { before: () => delete Navigator.prototype.gpu });
  await settled(page);
  const go = async (hash) => {
    const state = await acts(page, () => page.evaluate((hash) => {
      location.hash = hash;
      // An address that stays the same is not a change.
      dispatchEvent(new Event('hashchange'));
    }, hash));
    assert.deepEqual(messages, [], hash.slice(0, 200));
    await whole(page, hash);
    return state;
  };
  for (const hash of FRAGMENTS) await go(hash);
  for (const text of TEXTS) {
    await go(typed(Object.fromEntries(NAMES.map((name) => [name, text]))));
    await go(typed({ operands: 'a = [2]', expression: text, axis: text, element: text }));
  }
  // Sliders stay between their ends.
  await page.evaluate(() => { location.hash = '#part=picture'; });
  await page.waitForFunction(() => document.documentElement.dataset.kernels);
  for (const text of TEXTS) {
    const hash = typed({ part: 'picture', map: text, exposure: text, sharpness: text, vignette: text });
    await page.evaluate((hash) => { location.hash = hash; }, hash);
    await page.waitForFunction((hash) => location.hash === hash || location.hash.length > 1000, new URL(hash, address).hash);
    await whole(page, hash);
    const wrong = await page.evaluate(() => [...document.querySelectorAll('#develop .slider')]
      .map((slider) => [slider.querySelector('input'), Number.parseFloat(slider.querySelector('output').textContent)])
      .filter(([input, told]) => !(told >= input.min && told <= input.max && told === Number(input.value))).map(([input, told]) => `${input.id}: ${told}`));
    assert.deepEqual(wrong, [], hash.slice(0, 200));
    assert.equal(await page.locator('#map').inputValue(), 'night');
  }
  await page.context().close();
  page = await open();
  await settled(page);
  for (const values of TYPED) await go(typed({ expression: 'a + 1', ...values }));
  assert.equal(await go(typed({ operands: 'a = [2, 3]', expression: 'a + 1' })), 'done');
  await page.context().close();
  // A page that begins with such an address.
  for (const hash of ['#part=toString', '#part=__proto__&map=constructor', '#part=picture&map=toString&exposure=NaN&red=1e999', '?%ff&part=toString#%', typed({ operands: 'x'.repeat(100000) })]) {
    const page = await open(hash);
    await whole(page, hash.slice(hash.indexOf('#')));
    await page.context().close();
  }
}
