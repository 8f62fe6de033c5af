// The package for a plain script tag: everything is in `zs`.
import * as own from './index.js';

const module = new URL('core_bg.wasm', document.currentScript.src);
globalThis.zs = { ...own, open: (options = {}) => own.open({ module, ...options }) };
