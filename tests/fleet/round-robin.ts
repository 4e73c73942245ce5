// Program of the fleet test where nginx is not installed: a round-robin proxy that repeats a call at the next process
// when no connection can be made, and a GET also when a connection ends before an answer. Arguments: the file with the
// processes, as nginx reads it (read again at SIGHUP), and the port.
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';

const [file = '', port = ''] = process.argv.slice(2);
const PATIENCE = 25_000;
const read = () => [...readFileSync(file, 'utf8').matchAll(/server ([^ ;]+)/g)].map(([, member]) => member!);
let members = read();
process.on('SIGHUP', () => {
  members = read();
});

let turn = 0;

function forward(call: IncomingMessage, body: Buffer, answer: ServerResponse, tried: string[], left: string[]): void {
  const [member, ...others] = left;
  if (member === undefined) {
    answer.writeHead(502, { 'X-Upstream': tried.join(', ') }).end();
    return;
  }
  const [hostname = '', at = ''] = member.split(':');
  const forwarded = [call.headers['x-forwarded-for'], call.socket.remoteAddress].filter(Boolean).join(', ');
  const headers = { ...call.headers, 'x-forwarded-for': forwarded };
  const sent = request(
    { hostname, port: at, method: call.method, path: call.url, headers, timeout: PATIENCE },
    (response) => {
      answer.writeHead(response.statusCode ?? 502, {
        ...response.headers,
        'X-Upstream': [...tried, member].join(', '),
      });
      response.on('error', () => answer.destroy());
      response.pipe(answer);
    },
  );
  sent.on('timeout', () => sent.destroy(new Error('timeout')));
  sent.on('error', (error: NodeJS.ErrnoException) => {
    if (answer.headersSent) return void answer.destroy();
    const mayRepeat = call.method === 'GET' || error.code === 'ECONNREFUSED' || error.code === 'EHOSTUNREACH';
    forward(call, body, answer, [...tried, member], mayRepeat ? others : []);
  });
  sent.end(body);
}

createServer((call, answer) => {
  const pieces: Buffer[] = [];
  call.on('data', (piece: Buffer) => pieces.push(piece));
  call.on('end', () => {
    turn += 1;
    const first = turn % members.length;
    forward(call, Buffer.concat(pieces), answer, [], [...members.slice(first), ...members.slice(0, first)]);
  });
}).listen(Number(port), '127.0.0.1');
