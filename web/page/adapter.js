// Starts WebGPU in the browser while the module loads.
navigator.gpu?.requestAdapter();
