// Ten lines of a page, which its tests run on WebGPU and without it.
import * as zs from 'zerostride';

const device = await zs.open();
const image = zs.array(Uint8Array.from({ length: 2 * 3 * 3 }, (_, i) => i * 14), { shape: [2, 3, 3] });
const mean = zs.array([0.485, 0.456, 0.406]);
using chw = image.cast('f32').div(255).sub(mean).permute([2, 0, 1]);
const rows = chw.clamp(-2, 2).softmax(2).sum([0, 1]);
const text = `${device.isGPU ? 'WebGPU' : 'CPU'} ${chw.shape} ${await rows.toList()}`;
document.body.append(text);
document.title = 'done';
