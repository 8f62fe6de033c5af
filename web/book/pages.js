// What the site's own pages say, and the frame around all pages.
import { posix } from 'node:path';

/** The guides and other documents, in the order of reading. */
export const CHAPTERS = [
  ['Start', ['tour A tour', 'setup Devices and features', 'from-numpy For users of NumPy and PyTorch']],
  ['Broadcasting', ['broadcasting By pictures', 'rules Rules of other systems', 'windows Windows', 'series Time series and gaps']],
  ['Beyond elements', ['products Products of matrices', 'sorting Sorting and searching']],
  ['Programs', ['browser In a web page', 'wgpu Inside wgpu', 'python In Python', 'cluster On a cluster']],
  ['When in doubt', ['missing What is missing', 'performance Performance', 'errors Errors and remedies']],
  ['Reference', ['docs/operations.md Operations', 'docs/accuracy.md Accuracy', 'docs/performance.md Speed', 'CHANGELOG.md Changes']],
  ['Inside', ['DESIGN.md Design', 'CONTRIBUTING.md Contributing', 'SECURITY.md Security']],
].map(([title, lines]) => ({
  title,
  pages: lines.map((line) => {
    const [name, ...words] = line.split(' ');
    return { path: name.endsWith('.md') ? name : `docs/guide/${name}.md`, title: words.join(' ') };
  }),
}));

/** The recipes of the cookbook, each a file of `cookbook/`. */
export const RECIPES = [
  ['image', 'Image pipeline'], ['particles', 'Particle step'], ['wave', 'Wave'], ['attention', 'Attention'],
  ['zones', 'Zonal statistics'], ['series', 'Time series with gaps'], ['spectrogram', 'Spectrogram'], ['kmeans', 'k-means'],
].map(([name, title]) => ({ name, title }));

/** The examples with pictures: of the documents, or of `gallery/`, where `scripts/site` lets examples draw. */
const GALLERY = [
  ['hash', 'docs/same-bits.png', 'examples/hash/work.rs'], ['normalize', 'docs/normalize.jpg'], ['picture', 'gallery/developed.png'],
  ['fractal', 'gallery/mandelbrot.png'], ['reaction', 'gallery/reaction.png'], ['equalize', 'gallery/equalized.png'],
  ['statistics', 'gallery/clusters.png'], ['attention', 'gallery/attention.png'],
].map(([name, picture, path]) => ({ name, picture, path: path ?? `examples/${name}.rs` }));

const POLICY = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'";

function chaptersList(root, path) {
  const entry = (page) => {
    const address = page.path.replace(/\.md$/, '.html');
    return `<li><a href="${root}${address}"${address === path ? ' aria-current="page"' : ''}>${page.title}</a></li>`;
  };
  return CHAPTERS.map(({ title, pages }) => `<h2>${title}</h2><ul>${pages.map(entry).join('')}</ul>`).join('');
}

/** A whole page. Chapters are a list beside the text, and to be opened above it where there is no room. */
export function frame({ path, title, body, script, chapters }) {
  const root = posix.relative(posix.dirname(path), '.') === '' ? '' : `${posix.relative(posix.dirname(path), '.')}/`;
  const part = (address, name) => `<a href="${root}${address}"${address === path ? ' aria-current="page"' : ''}>${name}</a>`;
  const list = chapters ? `<nav class="chapters" aria-label="Chapters"><details><summary>Chapters</summary>${chaptersList(root, path)}</details><div>${chaptersList(root, path)}</div></nav>` : '';
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title === 'zerostride' ? 'zerostride: the same bits on every GPU' : `${title} - zerostride`}</title>
<link rel="icon" href="${root}playground/icon.svg">
<link rel="stylesheet" href="${root}playground/base.css">
<link rel="stylesheet" href="${root}book.css">
${script ? `<script type="module" src="${root}${script}"></script>\n` : ''}</head>
<body>
<a class="skip" href="#main">To the content</a>
<header>
  <a class="brand" href="${root}index.html"><img src="${root}playground/icon.svg" width="32" height="32" alt=""><strong>zerostride</strong></a>
  <nav aria-label="Site">${part('playground/index.html', 'Playground')} ${part('cookbook.html', 'Cookbook')} ${part('gallery.html', 'Gallery')} ${part('docs/guide/tour.html', 'Guide')}</nav>
</header>
<div class="${chapters ? 'book' : 'single'}">
${list}
<main id="main" tabindex="-1">
${body}
</main>
</div>
</body>
</html>
`;
}

/** The first page, which opens on *Same bits*. */
export function home({ code, read }) {
  // The first snippets of the documents, which tests run.
  const first = (path, language) => new RegExp(`\`\`\`${language}\n([^]*?)\`\`\``).exec(read(path))[1].trim();
  const [rust, python, js] = [first('README.md', 'rust'), first('README.md', 'python'), first('docs/guide/browser.md', 'js')];
  return `<h1>The same bits on every GPU, on the CPU and in this page</h1>
<p class="lead">Write NumPy-like expressions in Rust, Python or JavaScript. Each runs as one GPU kernel, and every device gives the same bits. Your browser shows it now:</p>
<p id="device" role="status">Opening a device…</p>
<div id="notice" role="alert" hidden></div>
<section id="bits" aria-label="Same bits"><p class="hint">The zoom and its hashes need JavaScript and WebAssembly.</p></section>
<div class="doors">
<section class="card"><h2>I make a web page</h2>${code(js, 'js')}<p><a href="docs/guide/browser.html">In a web page</a>, <a href="cookbook.html">the cookbook</a>, <a href="playground/index.html">the playground</a></p></section>
<section class="card"><h2>I have a Rust program</h2>${code(rust, 'rust')}<p><a href="docs/guide/tour.html">A tour</a>, <a href="docs/guide/wgpu.html">inside wgpu</a>, <a href="gallery.html">examples</a></p></section>
<section class="card"><h2>I write Python</h2>${code(python, 'python')}<p><a href="docs/guide/python.html">In Python</a>, <a href="docs/guide/from-numpy.html">for users of NumPy and PyTorch</a></p></section>
</div>`;
}

/** Pictures that examples draw, with their code. */
export function gallery({ read, code, escaped, isDrawn }) {
  const entry = ({ name, picture, path }) => {
    const whole = read(path);
    const about = (path.endsWith('work.rs') ? read('examples/hash/main.rs') : whole).split('\n').filter((line) => line.startsWith('//!')).map((line) => line.slice(4)).join('\n').split('\n\n')[0];
    const text = whole.replace(/^(\/\/!.*\n)+\n*/, '');
    const command = `cargo run --release --example ${name}`;
    return `<section class="card" id="${name}"><h2>${name}</h2><p>${escaped(about).replace(/`(.+?)`/g, '<code>$1</code>')}</p>
${isDrawn(picture) ? `<img src="${picture}" alt="What the example ${name} draws" loading="lazy">` : ''}
${code(command, 'sh')}<details><summary>The code of ${escaped(path)}</summary>${code(text.trimEnd(), 'rs')}</details></section>`;
  };
  return `<h1>Gallery</h1><p class="lead">What the examples draw. Each checks its picture against the CPU path or against plain loops.</p><div class="wall">${GALLERY.map(entry).join('\n')}</div>`;
}

/** The recipes, which run in the page. */
export function recipes({ read, code, escaped }) {
  const entry = ({ name, title }) => {
    const text = read(`web/book/cookbook/${name}.js`);
    const [first, ...rest] = text.split('\n');
    return `<section class="card recipe" id="${name}" data-recipe="${name}"><h2>${title} <a class="anchor" href="#${name}" aria-label="Link to this recipe">#</a></h2><p>${escaped(first.slice(3))}</p>
<canvas role="img" aria-label="${title}, computed here" width="1" height="1"></canvas><p class="told hint" role="status">Waiting…</p>${code(rest.join('\n').trim(), 'js')}</section>`;
  };
  return `<h1>Cookbook</h1><p class="lead">Eight recipes, which your browser runs as you look. <code>zs</code> is <a href="docs/guide/browser.html">the package</a>, and <code>photo</code> a photograph of bytes: height, width and four channels. Tests hold WebGPU and the CPU path to the same bits of each picture, in total mode.</p><p id="device" role="status">Opening a device…</p><div class="recipes">${RECIPES.map(entry).join('\n')}</div>`;
}
