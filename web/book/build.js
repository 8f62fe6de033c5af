// Writes the site: the guides and all that they link to, the gallery, the cookbook and the first page, around the page of
// web/page, which is in `playground` already.
//
//   node build.js REPOSITORY SITE      ZEROSTRIDE_PACKAGES names the folder of marked and highlight.js
import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, extname, join, posix, resolve } from 'node:path';
import { CHAPTERS, RECIPES, frame, gallery, home, recipes } from './pages.js';

const require = createRequire(join(process.env.ZEROSTRIDE_PACKAGES, 'package.json'));
const { Marked } = require('marked');
const highlighter = require('highlight.js');

const [repository, site] = process.argv.slice(2).map((path) => resolve(path));
const own = new URL('.', import.meta.url).pathname;
const LANGUAGES = { rs: 'rust', js: 'javascript', py: 'python', wgsl: 'rust', toml: 'ini', sh: 'bash', text: 'plaintext', console: 'bash' };
const PICTURES = ['.png', '.jpg', '.svg'];

const escaped = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
const read = (path) => readFileSync(join(repository, path), 'utf8');

/** Code with spans for its words. */
export function code(text, language = 'text') {
  const known = LANGUAGES[language] ?? language;
  const body = highlighter.getLanguage(known) ? highlighter.highlight(text, { language: known }).value : escaped(text);
  return `<pre tabindex="0"><code>${body}\n</code></pre>`;
}

/** Lines of an example that rustdoc hides. */
const shown = (text) => text.split('\n').filter((line) => !/^\s*#( |$)/.test(line)).join('\n');

/** The anchor of a heading, as GitHub makes it. */
function anchors() {
  const seen = new Map();
  return (text) => {
    const plain = text.replace(/<[^>]+>/g, '').replace(/&\w+;|&#\d+;/g, '');
    const slug = plain.trim().toLowerCase().replace(/[^\p{L}\p{N}\s_-]/gu, '').replace(/\s/g, '-');
    const count = seen.get(slug) ?? 0;
    seen.set(slug, count + 1);
    return count ? `${slug}-${count}` : slug;
  };
}

/** Pages by their path, each with its anchors and links. */
const pages = new Map();
const waiting = [];
const problems = [];

const isMarkdown = (path) => extname(path) === '.md';
const addressOf = (path) => (isMarkdown(path) ? path.replace(/\.md$/, '.html') : PICTURES.includes(extname(path)) ? path : `${path}.html`);

/** The address of a link from a page to a file of the repository, which becomes a page too. */
function link(from, href) {
  // The names of rustdoc, which has an address for each.
  const [, guide] = /^crate::guide::(\w+)$/.exec(href) ?? [];
  if (guide) return link(from, posix.relative(posix.dirname(from), `docs/guide/${guide.replaceAll('_', '-')}.md`));
  if (href.startsWith('crate::')) return `https://docs.rs/zerostride/latest/zerostride/?search=${encodeURIComponent(href.slice(7))}`;
  if (/^[a-z]+:\/\//.test(href)) return href;
  const [path, anchor = ''] = href.split('#');
  const target = path ? posix.normalize(posix.join(posix.dirname(from), path)) : from;
  if (target.startsWith('..') || !existsSync(join(repository, target))) {
    problems.push(`${from}: no file ${href}`);
    return href;
  }
  if (statSync(join(repository, target)).isDirectory()) {
    problems.push(`${from}: ${href} is a folder`);
    return href;
  }
  want(target);
  pages.get(from)?.links.push([target, anchor, href]);
  const to = target === from ? '' : posix.relative(posix.dirname(from), addressOf(target));
  return `${to}${anchor && `#${anchor}`}`;
}

function want(path) {
  if (pages.has(path)) return;
  pages.set(path, { links: [], anchors: new Set() });
  waiting.push(path);
}

function write(path, text) {
  mkdirSync(dirname(join(site, path)), { recursive: true });
  writeFileSync(join(site, path), text);
}

/** A page of Markdown. */
function markdown(path) {
  const slug = anchors();
  const page = pages.get(path);
  let title = path;
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth }) {
        const text = this.parser.parseInline(tokens);
        const id = slug(text);
        page.anchors.add(id);
        if (depth === 1) title = text.replace(/<[^>]+>/g, '');
        return `<h${depth} id="${id}">${text}${depth > 1 ? ` <a class="anchor" href="#${id}" aria-label="Link to this section">#</a>` : ''}</h${depth}>\n`;
      },
      code({ text, lang }) {
        const language = (lang ?? '').split(/[,\s]/)[0];
        return code(language === 'rust' ? shown(text) : text, language);
      },
      link({ href, tokens }) {
        return `<a href="${escaped(link(path, href))}">${this.parser.parseInline(tokens)}</a>`;
      },
      image({ href, text }) {
        return `<img src="${escaped(link(path, href))}" alt="${escaped(text)}">`;
      },
      table(token) {
        const cells = (tag, row) => `<tr>${row.map((cell) => `<${tag}>${this.parser.parseInline(cell.tokens)}</${tag}>`).join('')}</tr>`;
        return `<div class="scroll" tabindex="0" role="region" aria-label="Table"><table><thead>${cells('th', token.header)}</thead><tbody>${token.rows.map((row) => cells('td', row)).join('')}</tbody></table></div>\n`;
      },
    },
  });
  const body = marked.parse(read(path));
  write(addressOf(path), frame({ path: addressOf(path), title, body: `<article>${body}</article>`, chapters: true }));
}

/** A page of source text. */
function source(path) {
  const body = `<article><h1>${escaped(path)}</h1>${code(read(path), extname(path).slice(1))}</article>`;
  write(addressOf(path), frame({ path: addressOf(path), title: path, body, chapters: true }));
}

for (const { path } of CHAPTERS.flatMap(({ pages }) => pages)) want(path);
const examples = readdirSync(join(repository, 'examples')).filter((name) => name.endsWith('.rs')).map((name) => `examples/${name}`);
for (const path of [...examples, 'examples/hash/main.rs', 'examples/hash/work.rs', 'examples/render/main.rs']) want(path);
while (waiting.length) {
  const path = waiting.pop();
  if (isMarkdown(path)) markdown(path);
  else if (PICTURES.includes(extname(path))) {
    mkdirSync(dirname(join(site, path)), { recursive: true });
    cpSync(join(repository, path), join(site, path));
  } else source(path);
}
for (const [path, { links }] of pages) {
  for (const [target, anchor, href] of links) {
    if (anchor && isMarkdown(target) && !pages.get(target).anchors.has(anchor)) problems.push(`${path}: no section ${href}`);
  }
}

for (const path of ['docs/normalize.jpg', 'docs/same-bits.png']) cpSync(join(repository, path), join(site, path));
const tools = { read, code, escaped, isDrawn: (path) => existsSync(join(site, path)) };
write('index.html', frame({ path: 'index.html', title: 'zerostride', body: home(tools), script: 'home.js' }));
write('gallery.html', frame({ path: 'gallery.html', title: 'Gallery', body: gallery(tools) }));
write('cookbook.html', frame({ path: 'cookbook.html', title: 'Cookbook', body: recipes(tools), script: 'cookbook.js' }));
for (const name of ['home.js', 'cookbook.js', 'book.css']) cpSync(join(own, name), join(site, name));
mkdirSync(join(site, 'cookbook'), { recursive: true });
for (const { name } of RECIPES) cpSync(join(own, 'cookbook', `${name}.js`), join(site, 'cookbook', `${name}.js`));
// The page has a way back.
const page = join(site, 'playground/index.html');
const text = readFileSync(page, 'utf8');
const title = '<h1>zerostride</h1>';
if (!text.includes(title)) problems.push('playground/index.html has no title to stand before the links');
writeFileSync(page, text.replace(title, '<h1><a href="../index.html">zerostride</a></h1>'));

for (const problem of problems) console.error(problem);
console.error(`${pages.size} files of the repository are in the site`);
process.exit(problems.length ? 1 : 0);
