// Sends one hostile call to a service of this machine and reads what comes back, within a time limit.
import { Agent, request } from 'node:http';
import { connect } from 'node:net';
import type { HostileCall } from './generate.ts';

export interface HostileAnswer {
  /** Status; 0: the connection ended without one. */
  status: number;
  headers: string;
  body: string;
  /** Whether the answer went on until the time limit, as streams do. */
  open: boolean;
}

/** Milliseconds until a call is ended by this side. */
const PATIENCE = 12_000;
/** Milliseconds of a raw connection without an answer, and of a stream of events after its first byte. */
const HALF_OPEN = 300;
/** Bytes of a body that are read; the rest of a download is not searched. */
const MOST = 4_000_000;

export class Sender {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 16 });
  readonly #port: number;

  constructor(base: string) {
    this.#port = Number(new URL(base).port);
  }

  send(call: HostileCall): Promise<HostileAnswer> {
    return call.raw === undefined ? this.#request(call) : this.#raw(call.raw);
  }

  close(): void {
    this.#agent.destroy();
  }

  #request({ method, path, headers, body }: HostileCall): Promise<HostileAnswer> {
    return new Promise((resolve) => {
      const answer: HostileAnswer = { status: 0, headers: '', body: '', open: false };
      const pieces: Buffer[] = [];
      let size = 0;
      const finish = () => {
        clearTimeout(timer);
        resolve({ ...answer, body: Buffer.concat(pieces).toString() });
      };
      const own = { ...headers };
      if (body !== undefined) own['Content-Length'] = String(Buffer.byteLength(body));
      let sent: ReturnType<typeof request>;
      const timer = setTimeout(() => {
        answer.open = true;
        sent?.destroy();
        finish();
      }, PATIENCE);
      try {
        sent = request({ host: '127.0.0.1', port: this.#port, agent: this.#agent, method, path, headers: own });
      } catch {
        // Node refuses to send some characters; raw requests send them.
        return finish();
      }
      sent.on('error', finish);
      sent.on('response', (response) => {
        answer.status = response.statusCode ?? 0;
        answer.headers = JSON.stringify(response.rawHeaders);
        const streams = /event-stream/.test(response.headers['content-type'] ?? '');
        response.on('data', (piece: Buffer) => {
          size += piece.length;
          if (size <= MOST) pieces.push(piece);
          if (streams) setTimeout(() => response.destroy(), HALF_OPEN).unref();
          else if (size > MOST) response.destroy();
        });
        response.on('error', finish);
        response.on('close', finish);
      });
      sent.end(body);
    });
  }

  #raw(bytes: Buffer): Promise<HostileAnswer> {
    return new Promise((resolve) => {
      const pieces: Buffer[] = [];
      const socket = connect(this.#port, '127.0.0.1', () => socket.write(bytes));
      const end = setTimeout(() => socket.destroy(), HALF_OPEN);
      socket.on('data', (piece: Buffer) => pieces.push(piece));
      socket.on('error', () => {});
      socket.on('close', () => {
        clearTimeout(end);
        const body = Buffer.concat(pieces).toString('latin1');
        // The worst status of a pipeline.
        const statuses = [...body.matchAll(/^HTTP\/1\.1 (\d{3})/gm)].map(([, status]) => Number(status));
        resolve({ status: Math.max(0, ...statuses), headers: '', body, open: false });
      });
    });
  }
}
