// The server of a folder, asked by raw sockets for what no browser asks: node --test web/tests/server.js
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { serve } from '../serve.js';

const SECRET = 'outside of the folder';
let outer, server, port;

before(async () => {
  outer = mkdtempSync(join(tmpdir(), 'serve-'));
  const site = join(outer, 'site');
  mkdirSync(join(site, 'empty'), { recursive: true });
  mkdirSync(join(outer, 'site-beside'));
  writeFileSync(join(site, 'index.html'), 'the page');
  writeFileSync(join(site, 'a b.js'), 'a script');
  writeFileSync(join(outer, 'secret'), SECRET);
  writeFileSync(join(outer, 'site-beside', 'secret'), SECRET);
  symlinkSync(join(outer, 'secret'), join(site, 'link'));
  symlinkSync('loop', join(site, 'loop'));
  const served = await serve(site);
  server = served.server;
  port = Number(new URL(served.address).port);
});

after(() => {
  server.close();
  server.closeAllConnections();
  rmSync(outer, { recursive: true });
});

/** The whole answer to bytes. A server that does not answer within 5 seconds is an error. */
function ask(bytes) {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    let found = '';
    socket.setTimeout(5000, () => socket.destroy(new Error('no answer')));
    socket.on('data', (data) => { found += data.toString('latin1'); });
    socket.on('error', reject);
    socket.on('close', () => resolve(found));
    socket.write(bytes, 'latin1');
  });
}

const request = (target, method = 'GET', headers = '') => ask(`${method} ${target} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n${headers}\r\n`);
const status = (found) => Number(/^HTTP\/1\.1 (\d{3}) /.exec(found)?.[1]);

/** Targets that name no file of the folder. Node itself refuses some. */
const NOTHING = [
  '/%', '/%f', '/%zz', '/%ff', '/%c0%af', '//x', '/..', '/../secret', '/../site-beside/secret', '/..%2fsecret',
  '/%2e%2e/secret', '/%2e%2e%2fsecret', '/empty/../../secret', '/..%5csecret', '/..\\secret', '/%00', '/index.html%00', '/a%00/index.html',
  '/link', '/loop', '/empty', '/empty/', '/index.html/', '/index.html/x', `/${'x'.repeat(300)}`, `/${'x/'.repeat(3000)}`,
  `/${'../'.repeat(3000)}secret`, '/%25', '/__proto__', '/toString', 'http://localhost/none', 'https://example.com/', 'x', '*', ':', '?', '#',
];

test('a target that names no file has a status, and the next request its file', async () => {
  for (const target of NOTHING) {
    const found = await request(target);
    assert(status(found) >= 400 && status(found) < 500, `${target.slice(0, 60)}: ${found.slice(0, 60)}`);
    assert(!found.includes(SECRET), target);
    assert.equal(status(await request('/')), 200, `after ${target.slice(0, 60)}`);
  }
});

test('files are served with their types', async () => {
  for (const target of ['/', '//', '///', '/index.html', '/?%ff', '/#%', '/./index.html', '/empty/../index.html', '/index.html?a=/../x']) {
    const found = await request(target);
    assert.equal(status(found), 200, target);
    assert(found.endsWith('\r\n\r\nthe page') && found.includes('text/html') && found.includes("frame-ancestors 'none'"), found);
  }
  assert.match(await request('/a%20b.js'), /text\/javascript[^]*a script$/);
  const head = await request('/', 'HEAD');
  assert(status(head) === 200 && head.includes('content-length: 8') && head.endsWith('\r\n\r\n'), head);
});

test('other methods and what is no request have a status', async () => {
  for (const method of ['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'TRACE', 'PROPFIND']) assert.equal(status(await request('/', method)), 405, method);
  assert.equal(status(await request('localhost:80', 'CONNECT')), 405);
  assert.equal(status(await request('/', 'POST', 'content-length: 4\r\n')), 405);
  assert.equal(status(await request('/', 'GET', 'upgrade: websocket\r\n')), 200);
  assert.equal(status(await request('/', 'GET', 'expect: nothing\r\n')), 417);
  for (const bytes of ['\0\xff\r\n\r\n', 'GET\r\n\r\n', 'GET / HTTP/9.9\r\n\r\n', 'NONE / HTTP/1.1\r\n\r\n', 'GET /\0 HTTP/1.1\r\n\r\n', `GET /${'x'.repeat(100000)} HTTP/1.1\r\n\r\n`]) {
    const found = await ask(bytes).catch((error) => error);
    // Node may close a request that is too long before all of it is sent.
    assert(status(found) >= 400 || found.code === 'ECONNRESET' || found.code === 'EPIPE', `${bytes.slice(0, 40)}: ${found}`);
  }
  assert.equal(status(await request('/')), 200);
});

test('a client that goes away leaves the server', async () => {
  for (const bytes of ['', 'GET', 'GET / HTTP/1.1\r\nhost: x\r\n\r\n', 'CONNECT a:1 HTTP/1.1\r\nhost: x\r\n\r\n', 'POST / HTTP/1.1\r\ncontent-length: 9\r\n\r\n']) {
    await new Promise((resolve) => {
      const socket = connect(port, '127.0.0.1', () => {
        socket.write(bytes, () => socket.resetAndDestroy());
      });
      socket.on('error', () => {});
      socket.on('close', resolve);
    });
    assert.equal(status(await request('/')), 200, bytes);
  }
});
