// A TCP proxy before a real part: it passes everything on, or has one of the faults of a network or a server.
import { randomBytes } from 'node:crypto';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/**
 * `refuses`: nothing listens. `hangs`: connections are open and nothing passes. `garbage`: random bytes answer
 * whatever is sent. `cuts`: a connection ends in the middle of the first answer. `slow`: each piece of an answer
 * comes `delay` milliseconds late.
 */
export type Fault = 'none' | 'refuses' | 'hangs' | 'garbage' | 'cuts' | 'slow';

export interface FaultyProxy {
  readonly port: number;
  /** Sets the fault for open and for new connections. */
  set(fault: Fault): Promise<void>;
  close(): Promise<void>;
}

/** Starts a proxy to a port of this machine; it listens at `port` of `address`, by default on a free one. */
export async function faultyProxy(
  to: number,
  { host = '127.0.0.1', delay = 50, address = '127.0.0.1', port = 0 } = {},
): Promise<FaultyProxy> {
  let fault: Fault = 'none';
  let server: Server | null = null;
  const open = new Set<Socket>();
  /** Called when a fault ends. */
  const resumed: (() => unknown)[] = [];
  const handle = (socket: Socket) => {
    const onward = connect(to, host);
    for (const end of [socket, onward]) {
      open.add(end);
      end.on('error', () => {});
      end.on('close', () => open.delete(end));
    }
    // Connections that hung stay so, and end with the fault: the server sees then that its client has gone.
    let stuck = false;
    const isStuck = () => {
      if (fault === 'hangs') stuck = true;
      return stuck;
    };
    resumed.push(() => stuck && onward.destroy());
    socket.on('data', (piece) => {
      if (fault === 'garbage') socket.write(randomBytes(64));
      else if (!isStuck()) onward.write(piece);
    });
    onward.on('data', (piece: Buffer) => {
      if (fault === 'garbage' || isStuck()) return;
      if (fault === 'cuts') {
        socket.write(piece.subarray(0, Math.ceil(piece.length / 2)));
        // The half must be sent before the connection ends.
        setTimeout(() => socket.destroy(), 5);
      } else if (fault === 'slow') setTimeout(() => socket.write(piece), delay);
      else socket.write(piece);
    });
    socket.on('end', () => isStuck() || onward.end());
    onward.on('end', () => isStuck() || socket.end());
    onward.on('close', () => socket.destroy());
  };
  const listen = async () => {
    const fresh = createServer({ allowHalfOpen: true }, handle).listen(port, address);
    await new Promise((resolve) => fresh.once('listening', resolve));
    port = (fresh.address() as AddressInfo).port;
    server = fresh;
  };
  const stop = async () => {
    const closed = new Promise((resolve) => (server === null ? resolve(null) : server.close(resolve)));
    for (const socket of open) socket.destroy();
    server = null;
    await closed;
  };
  await listen();
  return {
    get port() {
      return port;
    },
    async set(next) {
      fault = next;
      if (next === 'none') for (const resume of resumed.splice(0)) resume();
      if (next === 'refuses') await stop();
      else if (server === null) await listen();
    },
    close: stop,
  };
}
