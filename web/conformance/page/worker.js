// Runs the conformance tool on devices of the page, and posts what comes of it.
import init, { conformance } from './pkg/zerostride_conformance.js';

/** Lines that are dealt at once: neighbours share kernels. */
const DEALT = 32;

onmessage = async ({ data: { devices, files, part, parts, each } }) => {
  await init();
  const isOwn = (_, line) => Math.floor(line / DEALT) % parts === part;
  for (const device of devices) {
    let [passed, failed, skipped] = [0, 0, 0];
    for (const file of files) {
      const start = performance.now();
      try {
        const cases = await (await fetch(`./data/${file}.jsonl`)).text();
        const share = device === 'webgpu' && file === 'reductions' ? each : 1;
        const own = cases.split('\n').filter(isOwn).filter((_, line) => line % share === 0).join('\n');
        const got = await conformance(device, own, () => {});
        passed += got.passed;
        failed += got.failed;
        skipped += got.skipped;
        got.failures.forEach((line) => postMessage(`WRONG ${line.slice(0, 2000)}`));
        const seconds = ((performance.now() - start) / 1000).toFixed(1);
        const counts = `${got.passed} passed, ${got.failed} failed, ${got.skipped} skipped`;
        postMessage(`${got.device}, ${file}: ${counts}, ${seconds} s`);
        for (const reason of got.reasons) postMessage(`  skipped: ${reason}`);
      } catch (error) {
        postMessage(`WRONG ${file} on ${device}: ${error}`);
      }
    }
    if (passed === 0) postMessage(`WRONG nothing passed on ${device}`);
    postMessage(`${device}: ${passed} passed, ${failed} failed, ${skipped} skipped`);
  }
  postMessage('end');
};
