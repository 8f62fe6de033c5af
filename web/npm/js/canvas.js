// Pictures: from what a page draws, and to a canvas.
import { Tensor, ZerostrideError, concat } from './tensor.js';

/** The `ImageData` of what a canvas can draw. */
export function pixelsOf(image) {
  if (globalThis.ImageData && image instanceof ImageData) return image;
  const width = image.videoWidth || image.naturalWidth || image.displayWidth || image.width;
  const height = image.videoHeight || image.naturalHeight || image.displayHeight || image.height;
  const context = new OffscreenCanvas(width, height).getContext('2d', { willReadFrequently: true });
  context.drawImage(image, 0, 0);
  return context.getImageData(0, 0, width, height);
}

/** Bytes of red, green, blue and opacity. Floats are from 0 to 1. */
function rgba(tensor) {
  const isByte = tensor.dtype === 'u8';
  if (!isByte) tensor = (tensor.dtype === 'bool' ? tensor.cast('f32') : tensor).mul(255).round().cast('u8');
  if (tensor.ndim === 2) tensor = tensor.unsqueeze(2).expand([-1, -1, 3]);
  const [height, width, channels] = tensor.shape;
  if (tensor.ndim !== 3 || ![1, 3, 4].includes(channels)) {
    throw new ZerostrideError(`a picture of [${tensor.shape.join(', ')}]: it has a height, a width, and 1, 3 or 4 channels or none`, 'Shape');
  }
  if (channels === 1) tensor = tensor.expand([-1, -1, 3]);
  if (channels === 4) return tensor;
  return concat([tensor, tensor.device.full([height, width, 1], 255, 'u8')], 2);
}

/** Canvases that show a device's texture. */
const shown = new WeakMap();

function contextOf(canvas, gpu) {
  if (shown.get(canvas)?.gpu === gpu) return shown.get(canvas).context;
  const context = gpu && canvas.getContext('webgpu');
  if (!context) return null;
  context.configure({ device: gpu, format: 'rgba8unorm', usage: GPUTextureUsage.COPY_DST | GPUTextureUsage.RENDER_ATTACHMENT, alphaMode: 'opaque' });
  shown.set(canvas, { gpu, context });
  return context;
}

/**
 * Shows a tensor of height, width and 1, 3 or 4 channels: bytes, or floats from 0 to 1. On WebGPU the pixels stay on the
 * device, unless the canvas has a context of another kind. The canvas gets the picture's size.
 */
export async function toCanvas(tensor, canvas) {
  const pixels = rgba(tensor);
  const [height, width] = pixels.shape;
  if (canvas.width !== width) canvas.width = width;
  if (canvas.height !== height) canvas.height = height;
  const { gpu } = tensor.device;
  const context = contextOf(canvas, gpu);
  if (!context) {
    const bytes = await pixels.data();
    canvas.getContext('2d').putImageData(new ImageData(new Uint8ClampedArray(bytes.buffer, bytes.byteOffset, bytes.length), width, height), 0, 0);
    return;
  }
  // A row of a copied texture begins at a multiple of 256 bytes.
  const more = -width & 63;
  const lent = (more ? pixels.pad([[0, 0], [0, more], [0, 0]]) : pixels).buffer();
  const encoder = gpu.createCommandEncoder();
  const { buffer, offset } = lent;
  encoder.copyBufferToTexture({ buffer, offset, bytesPerRow: 4 * (width + more) }, { texture: context.getCurrentTexture() }, [width, height]);
  gpu.queue.submit([encoder.finish()]);
  lent.dispose();
}

Tensor.prototype.toCanvas = function method(canvas) { return toCanvas(this, canvas); };
