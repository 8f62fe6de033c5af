// Serves a folder on the loopback address: node serve.js FOLDER [PORT]. Port 0 is any.
import { readFile, realpath } from 'node:fs/promises';
import { createServer } from 'node:http';
import { extname, join, sep } from 'node:path';
import { pathToFileURL } from 'node:url';

const TYPES = {
  '.html': 'text/html; charset=utf-8', '.js': 'text/javascript; charset=utf-8', '.css': 'text/css; charset=utf-8',
  '.wasm': 'application/wasm', '.json': 'application/json', '.jsonl': 'text/plain; charset=utf-8',
  '.svg': 'image/svg+xml', '.jpg': 'image/jpeg', '.png': 'image/png',
};

/** What a page's own policy cannot say. */
const HEADERS = { 'cache-control': 'no-cache', 'content-security-policy': "frame-ancestors 'none'", 'x-content-type-options': 'nosniff' };

/** The status, headers and body for a request. */
async function answer(folder, { method, url }) {
  if (method !== 'GET' && method !== 'HEAD') return [405, { allow: 'GET, HEAD' }];
  try {
    const path = decodeURIComponent(url.split(/[?#]/, 1)[0]);
    const root = await realpath(folder);
    // The file behind every link and every `..`.
    const file = await realpath(join(root, path.endsWith('/') ? `${path}index.html` : path));
    if (!file.startsWith(root + sep)) return [404, {}];
    const body = await readFile(file);
    return [200, { ...HEADERS, 'content-type': TYPES[extname(file)] ?? 'application/octet-stream' }, body];
  } catch {
    // A path that is no text, or no path, or names no file.
    return [404, {}];
  }
}

/** Serves a folder. The promise resolves to the address. */
export function serve(folder, port = 0) {
  const server = createServer(async (request, response) => {
    const [status, headers, body = ''] = await answer(folder, request);
    response.writeHead(status, { ...headers, 'content-length': body.length }).end(body);
  });
  // Node would close these without an answer.
  server.on('connect', (request, socket) => {
    socket.on('error', () => {});
    socket.end('HTTP/1.1 405 Method Not Allowed\r\nallow: GET, HEAD\r\nconnection: close\r\n\r\n');
  });
  return new Promise((resolve, reject) => {
    server.on('error', reject);
    server.listen(port, '127.0.0.1', () => resolve({ address: `http://127.0.0.1:${server.address().port}/`, server }));
  });
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const [folder, port = '8080'] = process.argv.slice(2);
  try {
    console.log((await serve(folder, Number(port))).address);
  } catch (error) {
    if (error.code !== 'EADDRINUSE') throw error;
    console.log((await serve(folder)).address);
  }
}
