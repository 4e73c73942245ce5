// Bytes that are no request of HTTP, or only half of one: broken lines, chunks, lengths, pipelines.
import { pickOne, type Random } from '../support/random-records.ts';

const HOST = 'Host: 127.0.0.1\r\n';
const get = (path: string, headers = '') => `GET ${path} HTTP/1.1\r\n${HOST}${headers}\r\n`;
const post = (headers: string, body: string) =>
  `POST /mcp HTTP/1.1\r\n${HOST}Content-Type: application/json\r\n${headers}\r\n${body}`;

const REQUESTS: readonly string[] = [
  'GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Half',
  'GET',
  '\r\n\r\n\r\n',
  '\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\u00fc',
  'GET / HTTP/0.9\r\n\r\n',
  'GET / HTTP/9.9\r\n\r\n',
  'GET /\r\n\r\n',
  'get / http/1.1\r\n\r\n',
  `GET http://evil.example/v1/datasets HTTP/1.1\r\n${HOST}\r\n`,
  `GET //evil.example/ HTTP/1.1\r\n${HOST}\r\n`,
  `GET * HTTP/1.1\r\n${HOST}\r\n`,
  `OPTIONS * HTTP/1.1\r\n${HOST}\r\n`,
  'CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example\r\n\r\n',
  'GET /healthz HTTP/1.1\r\n\r\n',
  `GET /healthz HTTP/1.1\r\n${HOST}${HOST}\r\n`,
  'GET /healthz HTTP/1.0\r\n\r\n',
  get('/a b c'),
  get('/\u0000'),
  get(`/${'a'.repeat(20_000)}`),
  get('/', `X-Long: ${'a'.repeat(60_000)}\r\n`),
  get('/', 'X-Many: 1\r\n'.repeat(3000)),
  get('/', 'X-Null: \u0000\r\n'),
  get('/', 'X-Folded: a\r\n b\r\n'),
  get('/', 'No colon\r\n'),
  get('/', ': empty\r\n'),
  get('/', 'Content-Length: -1\r\n'),
  get('/', 'Content-Length: 99999999999999999999\r\n'),
  get('/', 'Transfer-Encoding: xchunked\r\n'),
  get('/v1/datasets', 'Connection: upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: x\r\n'),
  get('/v1/datasets', 'Connection: upgrade, http2-settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAA\r\n'),
  get('/v1/datasets', 'Expect: 200-maybe\r\n'),
  'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  post('Content-Length: 10\r\n', '{}'),
  post('Content-Length: 1\r\n', '{"jsonrpc":"2.0"}'),
  post('Content-Length: 2\r\nContent-Length: 3\r\n', '{}'),
  post('Content-Length: 4\r\nTransfer-Encoding: chunked\r\n', '0\r\n\r\nGET /ops HTTP/1.1\r\nHost: x\r\n\r\n'),
  post('Transfer-Encoding: chunked\r\n', 'zz\r\n{}\r\n0\r\n\r\n'),
  post('Transfer-Encoding: chunked\r\n', 'ffffffffffffffff\r\n{}\r\n'),
  post('Transfer-Encoding: chunked\r\n', '2;ext=a\r\n{}\r\n0\r\nTrailer: x\r\n\r\n'),
  post('Transfer-Encoding: chunked\r\n', '1\r\n{\r\n'.repeat(500)),
  post('Transfer-Encoding: chunked, identity\r\n', '2\r\n{}\r\n0\r\n\r\n'),
  post('Expect: 100-continue\r\nContent-Length: 5\r\n', ''),
  get('/v1/datasets').repeat(50),
  get('/v1/nowhere').repeat(20) + 'GET',
  `${get('/healthz')}${post('Content-Length: 2\r\n', '{}')}${get('/a')}`,
  `${post('Content-Length: 2\r\n', '{}')}garbage\r\n\r\n`,
];

/** A request as bytes. */
export function rawRequest(next: Random): Buffer {
  const text = pickOne(next, REQUESTS);
  const cut = next() < 0.2 ? text.slice(0, Math.ceil(next() * text.length)) : text;
  return Buffer.from(cut, 'latin1');
}
