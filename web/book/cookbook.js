// Runs the recipes one after another, each once it is near the visible part of the page.
import * as zs from './playground/zerostride/index.js';

const sections = [...document.querySelectorAll('[data-recipe]')];

/** The photograph, small enough for the CPU path. */
async function photograph() {
  const image = await createImageBitmap(await (await fetch('playground/photograph.png')).blob(), { resizeWidth: 192, resizeHeight: 192 });
  return zs.fromImage(image);
}

async function run(section, photo) {
  const told = section.querySelector('.told');
  const begin = performance.now();
  try {
    const { default: picture } = await import(`./cookbook/${section.dataset.recipe}.js`);
    const result = picture(zs, photo);
    await result.toCanvas(section.querySelector('canvas'));
    await zs.device().synchronize();
    told.textContent = `${result.shape.join(' x ')} in ${(performance.now() - begin).toFixed(0)} ms, with compiling`;
    result.dispose();
  } catch (error) {
    told.textContent = error.message;
    told.dataset.failed = 'true';
  }
  section.dataset.done = 'true';
}

const device = await zs.open({ math: 'total' });
document.getElementById('device').textContent = device.isGPU ? `WebGPU: ${device.name || 'an adapter without a name'}` : `CPU path, as ${device.missing}`;
const photo = await photograph();
let queue = Promise.resolve();
const observer = new IntersectionObserver((entries) => {
  for (const { isIntersecting, target } of entries) {
    if (!isIntersecting) continue;
    observer.unobserve(target);
    queue = queue.then(() => run(target, photo));
  }
}, { rootMargin: '300px' });
for (const section of sections) observer.observe(section);
document.documentElement.dataset.ready = 'true';
