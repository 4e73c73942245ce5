// Runs before every test file: console.error fails a test, and no test reaches the network.
import { Socket } from 'node:net';
import { afterEach, beforeEach } from 'vitest';

const LOOPBACK = new Set(['localhost', '127.0.0.1', '::1', '::ffff:127.0.0.1', '0.0.0.0', '::']);

let errors: string[] = [];

beforeEach(() => {
  errors = [];
  console.error = (...parts: unknown[]) => {
    errors.push(parts.map(String).join(' '));
  };
});

afterEach(() => {
  if (errors.length > 0) throw new Error(`console.error was called ${errors.length}×, first: ${errors[0]}`);
});

/**
 * The host of a connect call, which takes (options), (port, host) or (path); node passes its own normalised
 * array too.
 */
function hostOf(parts: unknown[]): string {
  const [first, second] = Array.isArray(parts[0]) ? (parts[0] as unknown[]) : parts;
  if (typeof first === 'object' && first !== null) {
    const options = first as { host?: string; path?: string };
    return options.path !== undefined ? 'localhost' : (options.host ?? 'localhost');
  }
  return typeof second === 'string' ? second : 'localhost';
}

/** Marks `connect` as guarded: files share their worker, and each runs this file first. */
const GUARDED = Symbol.for('dataset-register.guarded');

const connect = Socket.prototype.connect as ((...parts: unknown[]) => Socket) & { [GUARDED]?: true };
if (!connect[GUARDED])
  Socket.prototype.connect = Object.assign(
    function (this: Socket, ...parts: unknown[]): Socket {
      const host = hostOf(parts);
      if (!LOOPBACK.has(host)) throw new Error(`tests have no network: something tried to connect to ${host}`);
      return connect.apply(this, parts);
    },
    { [GUARDED]: true },
  ) as typeof Socket.prototype.connect;
