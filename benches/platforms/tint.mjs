// Compiles kernels by Tint, as Chrome does: `node tint.mjs WEBGPU_FOLDER LIST`, where LIST has a file a line. Dawn's
// null backend validates a module and its pipeline and runs nothing. The exit code is 1 if one is refused.
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { basename, join, resolve } from 'node:path';

const [folder, list] = process.argv.slice(2);
const { create } = await import(pathToFileURL(resolve(join(folder, 'index.js'))));
const gpu = create(['backend=null']);
const adapter = await gpu.requestAdapter();
// Kernels keep to the limits of their device, here WebGPU's default limits. The type f16 is used if the device has it.
const requiredFeatures = adapter.features.has('shader-f16') ? ['shader-f16'] : [];
const device = await adapter.requestDevice({ requiredFeatures });

// WGSL features that wgpu has and a browser lacks.
const lacking = { i64: /\b(i64|vec[234]<i64>)/, u64: /\b(u64|vec[234]<u64>)/, f64: /\b(f64|vec[234]<f64>)/ };
const apart = {};
let taken = 0, refused = 0;
for (const file of readFileSync(list, 'utf8').split('\n').filter(Boolean)) {
  const code = readFileSync(file, 'utf8');
  const types = Object.keys(lacking).filter(name => lacking[name].test(code.replace(/\/\/.*/g, '')));
  if (types.length > 0) {
    const key = types.join(', ');
    apart[key] = (apart[key] ?? 0) + 1;
    continue;
  }
  device.pushErrorScope('validation');
  const module = device.createShaderModule({ code });
  device.createComputePipeline({ layout: 'auto', compute: { module, entryPoint: 'main' } });
  const error = await device.popErrorScope();
  if (error) {
    refused += 1;
    const { messages } = await module.getCompilationInfo();
    const told = messages.filter(({ type }) => type === 'error');
    const text = told.map(({ lineNum, message }) => `${lineNum}: ${message}`).join('\n  ') || error.message;
    if (refused <= 20) console.log(`refused ${basename(file)}\n  ${text}`);
  } else {
    taken += 1;
  }
}
for (const [types, count] of Object.entries(apart)) console.log(`${count} kernels have ${types}, which WebGPU lacks`);
console.log(`Tint takes ${taken} kernels and refuses ${refused}`);
process.exit(refused > 0 || taken === 0 ? 1 : 0);
